/* Two levels: only warps of an active set issue, round-robin. When a parked warp leaves the set, another live warp
 * enters it, round-robin. */
#include "sched_ops.h"

struct two_level {
    struct warp_set active;
    uint32_t active_warps; /* size of the active set */
    uint16_t promoted;     /* warp that entered the active set last */
};

static size_t size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct two_level);
}

static void init(void *state, const struct sm_cfg *cfg) {
    struct two_level *t = state;
    t->active_warps = cfg->active_warps;
    t->promoted = NO_WARP_SLOT;
}

static int pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    const struct two_level *t = state;
    struct warp_set both = warp_sets_and(ready, &t->active);
    return warp_set_any(&both, s->words) ? (int)warp_set_after(&both, s->last, s->words) : -1;
}

static void cycle_ends(void *state, const struct sched_view *s, const struct warp_set *live,
                       const struct warp_set *parked) {
    struct two_level *t = state;
    struct warp_set may = warp_sets_without(live, parked), waiting;
    t->active = warp_sets_and(&t->active, &may);
    waiting = warp_sets_and(s->mine, &may);
    waiting = warp_sets_without(&waiting, &t->active);
    while (warp_set_any(&waiting, s->words) && warp_set_count(&t->active, s->words) < t->active_warps) {
        uint32_t w = warp_set_after(&waiting, t->promoted, s->words);
        warp_set_add(&t->active, w);
        warp_set_drop(&waiting, w);
        t->promoted = (uint16_t)w;
    }
}

const struct sched_ops sched_two_level = {
    .name = "two_level",
    .help = "round robin in an active set of warps (sched.active_warps); parked warps leave it",
    .size = size,
    .init = init,
    .pick = pick,
    .cycle_ends = cycle_ends,
};
