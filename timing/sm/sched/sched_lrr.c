/* Loose round robin: picks the first ready warp after the warp that issued last. sched_pick() implements the same
 * policy inline. */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state;
    return (int)warp_set_after(ready, s->last, s->words);
}

const struct sched_ops sched_lrr = {
    .name = "lrr",
    .help = "loose round robin: the next ready warp after the warp that issued last",
    .pick = pick,
    .always = true,
};
