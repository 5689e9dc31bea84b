#ifndef TIMING_SCHED_H
#define TIMING_SCHED_H
/* Which ready warp a scheduler picks. Warps are bits of a 64-bit mask; warp w belongs to scheduler w % schedulers. */
#include "timing/config/config.h"

struct sched {
    uint32_t policy;       /* enum sched_policy */
    uint32_t active_warps; /* two_level: size of the active set */
    uint64_t mine;         /* warps of this scheduler */
    uint64_t active;       /* two_level: the active set */
    uint8_t last;          /* warp that issued last */
    uint8_t promoted;      /* two_level: warp that entered the active set last */
};

void sched_init(struct sched *s, const struct sm_cfg *cfg, uint32_t index);
/* The warp to issue from among `ready` (a subset of s->mine, not empty). `age[w]` orders warps by when they began, the
 * smallest first. lrr: the next after the one that issued last. gto: that one again, else the oldest. two_level: lrr
 * within the active set, and -1 when nobody in it is ready. */
int sched_pick(const struct sched *s, uint64_t ready, const uint32_t *age);
static inline void sched_issued(struct sched *s, int warp) { s->last = (uint8_t)warp; }
/* two_level: at the end of a cycle, warps of `parked` (long waits, and those that are gone) leave the active set, and
 * others of `live` take their places in turn. */
void sched_update(struct sched *s, uint64_t live, uint64_t parked);
#endif
