#ifndef TIMING_SM_CONTEXTS_H
#define TIMING_SM_CONTEXTS_H
/* Contexts: warps of units, without a CTA (unit.h). They use the last warp slots, and sleep while the SM has no CTA. In
 * all other respects they are like other warps. Units open and close them with the calls of unit_access.h. */
#include "timing/config/warp_set.h"
#include "unit_calls.h"

/* A context. Context i uses warp slot cfg->sm.warps + i. CTA slot SM_CTA_SLOTS + i has the context's own CTA, for
 * instructions that read properties of their CTA. */
struct sm_context {
    const struct sm_unit *owner; /* NULL: closed */
    const char *name;
    bool driven;
    uint32_t next; /* if driven: PC after the present instruction */
};

/* Owns the contexts. */
struct sm_contexts {
    struct sm_context slot[MAX_CONTEXTS];
    uint32_t n;  /* open contexts */
    bool asleep; /* no CTA has begun */
};

/* Puts all contexts to sleep, or wakes them. */
void sm_contexts_sleep(struct sm *sm, bool asleep, uint64_t now);
/* Closes all contexts at the end of a launch, without calling their units. */
void sm_contexts_end(struct sm *sm);
/* Frees the context in warp slot `w`, which has finished and has nothing in flight. */
void sm_context_gone(struct sm *sm, uint32_t w, uint64_t now);
/* Moves a driven context to its next PC. */
void sm_context_step(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
/* Executes an instruction of a context. Returns true if the context's unit has executed it; sm->fx then has the
 * effects. */
bool sm_context_execute(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
#endif
