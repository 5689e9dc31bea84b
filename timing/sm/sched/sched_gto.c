/* Greedy then oldest: picks the warp that issued last if it is ready, else the ready warp that started first. */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state;
    return s->last / 64 < s->words && warp_set_has(ready, s->last) ? (int)s->last : sched_pick_oldest(s, ready);
}

const struct sched_ops sched_gto = {
    .name = "gto",
    .help = "greedy then oldest: stays with a warp until it stalls, then takes the oldest",
    .pick = pick,
    .always = true,
    .greedy = true,
};
