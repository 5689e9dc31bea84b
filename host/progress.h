#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H
/* A bar on stderr for work that takes longer than two seconds. Draws only on a terminal, and leaves nothing behind. */
#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted;           /* asked for, and stderr is a terminal */
    bool visible;          /* something is drawn now */
    double started, drawn; /* seconds of the monotonic clock */
    char label[48];
};

/* Seconds of the monotonic clock. */
double seconds_now(void);
/* Nothing will ever be drawn unless `wanted` and stderr is a terminal. */
void progress_init(struct progress *p, bool wanted);
void progress_start(struct progress *p, const char *label);
/* `note` says more, e.g. a cycle number; may be "". Cheap to call often. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *note);
/* Erases the bar. */
void progress_end(struct progress *p);
/* The text of the bar, `width` columns at most, without control characters. Split off for tests. */
void progress_text(char *out, int size, int width, const char *label, uint64_t done, uint64_t total, const char *note,
                   double seconds);
#endif
