/* A warp scheduler that issues from the ready warp in the highest slot. */
#include "policies.h"
#include "timing/sm/sched/sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, best = 0;
    struct warp_walk at = warp_walk(ready);
    (void)state; /* it has none */
    while (warp_next(&at, ready, s->words, &w))
        best = w > best ? w : best;
    return (int)best;
}

const struct sched_ops sched_highest = {
    .name = "highest",
    .help = "the ready warp in the highest slot",
    .pick = pick,
};
