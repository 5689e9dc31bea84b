#ifndef HOST_WATCH_H
#define HOST_WATCH_H
/* Telling who looks on (heddle_options.watch) what a launch is at. Nothing is done when nobody does. */
#include "heddle.h"

struct launch;
struct gpu_view;

struct watcher {
    void (*told)(void *ctx, const struct heddle_view *v); /* NULL: nobody looks on */
    void *ctx;
    double last; /* when he was told, in seconds of the monotonic clock */
    struct heddle_view view;
};

/* The launch begins, as number `n`. */
void watch_begin(struct watcher *w, int n, const struct launch *l);
/* Whether it is time for the next view. */
bool watch_due(const struct watcher *w);
/* What the launch is at: in a timing model, also as it ends; in the functional model. */
void watch_gpu(struct watcher *w, const struct gpu_view *v);
void watch_ctas(struct watcher *w, uint64_t done);
/* The launch has ended, with so many CTAs done. */
void watch_end(struct watcher *w, uint64_t done);
#endif
