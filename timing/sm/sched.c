#include "sched.h"
#include <string.h>

void sched_init(struct sched *s, const struct sm_cfg *cfg, uint32_t index) {
    memset(s, 0, sizeof *s);
    s->policy = cfg->policy;
    s->active_warps = cfg->active_warps;
    s->words = 1;
    for (uint32_t w = index; w < cfg->warps; w += cfg->schedulers)
        sched_add(s, w);
    s->last = s->words == 1 ? 63 : NO_WARP_SLOT; /* the first warp comes next; gto: slot 63, if it is the first ready */
    s->promoted = NO_WARP_SLOT;
}

void sched_add(struct sched *s, uint32_t w) {
    warp_set_add(&s->mine, w);
    if (s->words <= w / 64)
        s->words = w / 64 + 1;
}

static int oldest(const struct warp_set *set, uint32_t words, const uint32_t *age) {
    uint32_t w, best = 0;
    struct warp_walk at = warp_walk(set);
    for (bool first = true; warp_next(&at, set, words, &w); first = false)
        if (first || age[w] < age[best])
            best = w;
    return (int)best;
}

int sched_pick_other(const struct sched *s, struct warp_set ready, const uint32_t *age, uint32_t words) {
    if (s->policy == SCHED_GTO)
        return s->last / 64 < words && warp_set_has(&ready, s->last) ? s->last : oldest(&ready, words, age);
    struct warp_set both = warp_sets_and(&ready, &s->active);
    return warp_set_any(&both, words) ? (int)warp_set_after(&both, s->last, words) : -1;
}

void sched_update(struct sched *s, const struct warp_set *live, const struct warp_set *parked) {
    struct warp_set may = warp_sets_without(live, parked), waiting;
    if (s->policy != SCHED_TWO_LEVEL)
        return;
    s->active = warp_sets_and(&s->active, &may);
    waiting = warp_sets_and(&s->mine, &may);
    waiting = warp_sets_without(&waiting, &s->active);
    while (warp_set_any(&waiting, s->words) && warp_set_count(&s->active, s->words) < s->active_warps) {
        uint32_t w = warp_set_after(&waiting, s->promoted, s->words);
        warp_set_add(&s->active, w);
        warp_set_drop(&waiting, w);
        s->promoted = (uint8_t)w;
    }
}
