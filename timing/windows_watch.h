#ifndef TIMING_WINDOWS_WATCH_H
#define TIMING_WINDOWS_WATCH_H
/* Tells callers that measure the time of the parts of a run which part has just ended (gpu_watch()). */
#include <stddef.h>

enum windows_event {
    WINDOWS_OUTSIDE,   /* time outside simulation, which ends when a launch begins */
    WINDOWS_ALONE,     /* serial work before jobs that several threads can share */
    WINDOWS_FEW,       /* serial work before jobs that are too few to share, or before the end of the launch */
    WINDOWS_PARTITION, /* a partition in a pass */
    WINDOWS_LEAD,      /* the rest of the memory side in a pass */
    WINDOWS_FOLLOW,    /* requests, which move at the same time as the passes; the next pass waits for them */
    WINDOWS_JOB,       /* an SM */
};
struct windows_watch {
    void (*told)(void *ctx, enum windows_event ended);
    void *ctx;
};

/* Calls the callback of `w`; NULL: there is none. */
static inline void windows_tell(const struct windows_watch *w, enum windows_event ended) {
    if (w)
        w->told(w->ctx, ended);
}
#endif
