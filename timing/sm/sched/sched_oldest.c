/* Oldest first: picks the ready warp that started first, even if another warp issued last. */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state;
    return sched_pick_oldest(s, ready);
}

const struct sched_ops sched_oldest = {
    .name = "oldest",
    .help = "the ready warp that started first",
    .pick = pick,
    .always = true,
};
