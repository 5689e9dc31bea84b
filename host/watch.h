#ifndef HOST_WATCH_H
#define HOST_WATCH_H
/* Reports the progress of a launch to the callback heddle_options.watch. Does nothing without a callback. */
#include "heddle.h"

struct launch;
struct gpu_view;

struct watcher {
    void (*told)(void *ctx, const struct heddle_view *v); /* the callback, or NULL */
    void *ctx;
    double last; /* time of the latest call, in seconds of the monotonic clock */
    struct heddle_view view;
};

/* Reports that launch number `n` begins. */
void watch_begin(struct watcher *w, int n, const struct launch *l);
/* Returns true if the next report is due. */
bool watch_due(const struct watcher *w);
/* Report progress. watch_gpu() does so in a timing model, also at the end of the launch. watch_ctas() does so in the
 * functional model. */
void watch_gpu(struct watcher *w, const struct gpu_view *v);
void watch_ctas(struct watcher *w, uint64_t done);
/* Reports that the launch has ended, with `done` CTAs finished. */
void watch_end(struct watcher *w, uint64_t done);
#endif
