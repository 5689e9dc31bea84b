#ifndef TIMING_DEAD_CTA_H
#define TIMING_DEAD_CTA_H
/* Finds CTAs that can never end: all their threads wait for threads of the same CTA, while other CTAs may run. A CTA
 * that waits at the barrier of its cluster is not found. */
#include "timing/sm/sm.h"

/* A CTA of an SM; `slot` is the SM's slot of the CTA. */
struct dead_cta {
    uint32_t sm, slot;
    uint64_t number; /* position of the CTA in the grid; CTA_NONE: no CTA */
    bool split;      /* the lanes of a warp do not all wait at one barrier */
};

/* Returns the first CTA of the `n` SMs whose live threads all wait at barriers of the CTA or for lanes of their warp,
 * without an instruction in flight. Skips SMs with copies in flight. A barrier may be complete but not open yet, so the
 * CTA is dead only if a later call returns the same CTA. */
struct dead_cta dead_cta_find(struct sm *const *sm, uint32_t n);
#endif
