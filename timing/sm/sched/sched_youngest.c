/* Youngest first: picks the ready warp that started last. */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state;
    return sched_pick_youngest(s, ready);
}

const struct sched_ops sched_youngest = {
    .name = "youngest",
    .help = "the ready warp that started last",
    .pick = pick,
    .always = true,
};
