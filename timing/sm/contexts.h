#ifndef TIMING_SM_CONTEXTS_H
#define TIMING_SM_CONTEXTS_H
/* Contexts: warps that units have without a CTA (unit.h). They use slots behind those of CTAs, sleep while the SM
 * has no CTA, and are like other warps in all else. Units open and close them by the calls in unit_access.h. */
#include "timing/config/warp_set.h"
#include "unit_calls.h"

/* In warp slot cfg->sm.warps + its index. The CTA slot with the same index behind those of CTAs holds a CTA of its own,
 * for instructions that read it. */
struct sm_context {
    const struct sm_unit *owner; /* NULL: closed */
    const char *name;
    bool driven;
    uint32_t next; /* driven: PC after this instruction */
};

/* Owns the contexts. */
struct sm_contexts {
    struct sm_context slot[MAX_CONTEXTS];
    uint32_t n;  /* open */
    bool asleep; /* no CTA has begun */
};

/* All sleep, or wake. */
void sm_contexts_sleep(struct sm *sm, bool asleep, uint64_t now);
/* The launch has ended: closes all, without a call. */
void sm_contexts_end(struct sm *sm);
/* The context in warp slot `w` has finished and nothing of it is in flight. */
void sm_context_gone(struct sm *sm, uint32_t w, uint64_t now);
/* A driven context goes to its next PC. */
void sm_context_step(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* An instruction of a context: true when its unit has executed it; sm->fx has the effects. */
bool sm_context_execute(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
#endif
