#ifndef TIMING_SM_UNIT_CONTEXT_H
#define TIMING_SM_UNIT_CONTEXT_H
/* Contexts: warps of a unit without a CTA, in the last warp slots. A context runs a stream of the program (struct
 * program_stream) under the model of all warps: paths, fetch, scoreboard, pipes, and an issue slot for each
 * instruction. It has its own registers, local memory and barriers, and no shared memory. Its special registers have
 * the values of warp 0 of CTA (0,0,0). sm.context_cycles and sm.context_instructions count the context; statistics of
 * CTAs and warps do not. It runs while the SM has a CTA, and sleeps otherwise (PATH_ASLEEP): its instructions in flight
 * end, and no others issue. So a context neither delays the end of a launch nor takes the place of a CTA. */
#include "isa/types.h"
#include <stdbool.h>

struct sm;
struct sm_unit_ops;

struct sm_context_start {
    const char *name; /* for reports and traces, like "affine warp"; outlives the SM */
    uint32_t stream;  /* stream of the program; the context begins at the stream's entry */
    lanemask_t lanes; /* existing lanes; not 0 */
    /* The unit decides the next PC (sm_context_goto()), and also executes exits. execute() sets fx->lanes to the lanes
     * of the pipe that work. On a fault it sets the faulting thread in the context's warp and its CTA. The unit counts
     * its operands. */
    bool driven;
};
enum { NO_CONTEXT = UINT32_MAX };

/* Opens a context of the unit; returns its warp slot, NO_CONTEXT if memory is out. It may issue from the next cycle on.
 * Allowed in launch(), cta_start(), cta_end(), barrier() and tick(). Requires fewer than MAX_CONTEXTS open contexts.
 * All contexts end with the launch, without a call. */
uint32_t sm_context_open(struct sm *sm, const struct sm_unit_ops *ops, const struct sm_context_start *how,
                         uint64_t now);
/* Closes a context: it issues no further instructions. Its slot is free when the context has nothing in flight;
 * context_end() is then called, now or later. Allowed in the calls in which a context may be opened. */
void sm_context_close(struct sm *sm, uint32_t warp, uint64_t now);
/* Sets the next PC of a driven context, from execute(); the default is the next instruction. */
void sm_context_goto(struct sm *sm, uint32_t warp, uint32_t pc);
#endif
