#ifndef TIMING_SCHED_H
#define TIMING_SCHED_H
/* Which ready warp a scheduler picks. Warp w belongs to scheduler w % schedulers. */
#include "timing/config/config.h"
#include "timing/config/warp_set.h"

struct sched {
    uint32_t policy;       /* enum sched_policy */
    uint32_t active_warps; /* two_level: size of the active set */
    uint32_t words;        /* words in use of the sets */
    uint8_t last;          /* warp that issued last */
    uint8_t promoted;      /* two_level: warp that entered the active set last */
    struct warp_set mine;
    struct warp_set active; /* two_level */
};

void sched_init(struct sched *s, const struct sm_cfg *cfg, uint32_t index);
/* Adds slot `w` to the scheduler's warps. */
void sched_add(struct sched *s, uint32_t w);
/* sched_pick() for the other policies. */
int sched_pick_other(const struct sched *s, struct warp_set ready, const uint32_t *age, uint32_t words);
/* The warp to issue from among `ready` (a subset of s->mine, not empty). `age[w]` orders warps by when they began, the
 * smallest first. lrr: the next after the one that issued last. gto: that one again, else the oldest. two_level: lrr
 * within the active set, and -1 when nobody in it is ready. `words`: in use, s->words at least. */
static inline int sched_pick(const struct sched *s, const struct warp_set *ready, const uint32_t *age, uint32_t words) {
    if (__builtin_expect(s->policy != SCHED_LRR, 0))
        return sched_pick_other(s, *ready, age, words);
    return (int)warp_set_after(ready, s->last, words);
}
static inline void sched_issued(struct sched *s, int warp) { s->last = (uint8_t)warp; }
/* two_level: at the end of a cycle, warps of `parked` (long waits, and ended warps) leave the active set, and
 * others of `live` take their places in turn. */
void sched_update(struct sched *s, const struct warp_set *live, const struct warp_set *parked);
#endif
