#include "sched.h"
#include <string.h>

void sched_init(struct sched *s, const struct sm_cfg *cfg, uint32_t index) {
    memset(s, 0, sizeof *s);
    s->policy = cfg->policy;
    s->active_warps = cfg->active_warps;
    for (uint32_t w = index; w < cfg->warps; w += cfg->schedulers)
        s->mine |= 1ull << w;
    s->last = s->promoted = 63;
}

/* The first bit of `mask` after bit `last`, wrapping around. */
static inline int next_after(uint64_t mask, uint8_t last) {
    uint64_t above = last == 63 ? 0 : mask & (~0ull << (last + 1));
    return __builtin_ctzll(above ? above : mask);
}

static int oldest(uint64_t mask, const uint32_t *age) {
    int best = __builtin_ctzll(mask);
    for (mask &= mask - 1; mask; mask &= mask - 1) {
        int w = __builtin_ctzll(mask);
        if (age[w] < age[best])
            best = w;
    }
    return best;
}

int sched_pick(const struct sched *s, uint64_t ready, const uint32_t *age) {
    switch (s->policy) {
    case SCHED_GTO:
        return ready >> s->last & 1 ? s->last : oldest(ready, age);
    case SCHED_TWO_LEVEL:
        ready &= s->active;
        return ready ? next_after(ready, s->last) : -1;
    default:
        return next_after(ready, s->last);
    }
}

void sched_update(struct sched *s, uint64_t live, uint64_t parked) {
    if (s->policy != SCHED_TWO_LEVEL)
        return;
    s->active &= live & ~parked;
    uint64_t waiting = s->mine & live & ~parked & ~s->active;
    while (waiting && (uint32_t)__builtin_popcountll(s->active) < s->active_warps) {
        int w = next_after(waiting, s->promoted);
        s->active |= 1ull << w;
        waiting &= ~(1ull << w);
        s->promoted = (uint8_t)w;
    }
}
