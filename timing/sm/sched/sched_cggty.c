/* Compiler-guided greedy, then youngest: picks the warp that issued last if it is ready, else the ready warp that
 * started last. The compiler guides it by the stall counts and yield bits of a modern core (modern.h). */
#include "sched_ops.h"

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state;
    return s->last / 64 < s->words && warp_set_has(ready, s->last) ? (int)s->last : sched_pick_youngest(s, ready);
}

const struct sched_ops sched_cggty = {
    .name = "cggty",
    .help = "greedy, then youngest: stays with a warp until it stalls or yields, then takes the youngest",
    .pick = pick,
    .always = true,
    .greedy = true,
};
