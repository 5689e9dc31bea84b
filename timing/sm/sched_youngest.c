/* Youngest first: picks the ready warp that started last. */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, best = warp_set_first(ready);
    struct warp_walk at = warp_walk(ready);
    (void)state;
    while (warp_next(&at, ready, s->words, &w))
        if (s->age[w] > s->age[best])
            best = w;
    return (int)best;
}

const struct sched_ops sched_youngest = {
    .name = "youngest",
    .help = "the ready warp that started last",
    .pick = pick,
};
