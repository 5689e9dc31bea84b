#ifndef TIMING_SM_CTAS_H
#define TIMING_SM_CTAS_H
/* CTAs of an SM: the resources they hold, and how their warps begin and end. */
#include "isa/machine/launch.h"
#include "timing/config/warp_set.h"

struct sm;

enum { SM_CTA_SLOTS = 64 };
struct sm_cta {
    struct cta *cta; /* NULL until the slot is first used */
    struct dim3 id;
    struct warp_set warps; /* its warps that are not done; empty: the slot is free */
};

/* Owns the CTA slots and what their CTAs hold of the SM. */
struct sm_ctas {
    struct sm_cta slot[SM_CTA_SLOTS + MAX_CONTEXTS];  /* at the end: one for each context */
    uint32_t warps_used, registers_used, shared_used; /* shared: bytes */
    uint32_t warps_each, registers_each, shared_each; /* of one CTA of the launch */
};

/* EVENT_START: the warps of the CTA in slot `cta` begin. */
void sm_warps_start(struct sm *sm, uint32_t cta, uint64_t now);
/* A warp begins at `pc`; its slot, board and lanes are set. (warp_life.c) */
void sm_warp_start(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now);
/* It has finished, and nothing of it is in flight. (warp_life.c) */
bool sm_warp_over(const struct sm *sm, uint32_t w);
/* Frees the warp's slot if it has finished and nothing of it is in flight. Warps of a CTA leave together. */
void sm_warp_check_done(struct sm *sm, uint32_t w, uint64_t now);
#endif
