#ifndef TIMING_SM_UNIT_CONTEXT_H
#define TIMING_SM_UNIT_CONTEXT_H
/* Contexts. A context is a warp that belongs to an extension of the SM (unit.h) and not to a CTA; contexts have the
 * last warp slots. A context runs a stream of the program (struct program_stream) under the same model as all warps: it
 * has paths and a scoreboard, fetches instructions, uses pipes, and takes an issue slot for each instruction. It has
 * its own registers, local memory and barriers, and no shared memory. Its special registers have the values of warp 0
 * of CTA (0,0,0). sm.context_cycles and sm.context_instructions count contexts; statistics of CTAs and warps do not. A
 * context runs while the SM has a CTA, and sleeps at other times (PATH_ASLEEP). While it sleeps, its instructions in
 * flight end, but no instruction issues. So a context neither delays the end of a launch nor occupies the slot of a
 * CTA. */
#include "isa/types.h"
#include <stdbool.h>

struct sm;
struct sm_unit_ops;

struct sm_context_start {
    const char *name; /* name for reports and traces, such as "affine warp"; outlives the SM */
    uint32_t stream;  /* stream of the program; the context begins at the stream's entry */
    lanemask_t lanes; /* existing lanes; not 0 */
    /* True if the unit drives the context: it sets the next PC (sm_context_goto()), and also executes exits. The
     * unit's execute() sets fx->lanes to the lanes of the pipe that have work. On a fault, execute() stores the
     * faulting thread in the context's warp and CTA. The unit counts the operands. */
    bool driven;
};
enum { NO_CONTEXT = UINT32_MAX };

/* Opens a context of the unit. Returns the context's warp slot, or NO_CONTEXT if memory is out. The context may
 * issue from the next cycle on. Allowed in launch(), cta_start(), cta_end(), barrier() and tick(). Requires fewer
 * than MAX_CONTEXTS open contexts. At the end of the launch all contexts end, without a call of context_end(). */
uint32_t sm_context_open(struct sm *sm, const struct sm_unit_ops *ops, const struct sm_context_start *how,
                         uint64_t now);
/* Closes a context, which then issues no further instructions. Its slot is free when the context has nothing in
 * flight; context_end() is then called, now or later. Allowed in the same calls as sm_context_open(). */
void sm_context_close(struct sm *sm, uint32_t warp, uint64_t now);
/* Sets the next PC of a driven context. Called from execute(). Without this call, the context goes to the next
 * instruction in program order. */
void sm_context_goto(struct sm *sm, uint32_t warp, uint32_t pc);
#endif
