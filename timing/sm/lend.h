#ifndef TIMING_SM_LEND_H
#define TIMING_SM_LEND_H
/* Lends the CTAs of an SM to the functional model while the clock stands still (timing/inside.h). The warps then
 * continue at later PCs. Results in flight, scoreboards, queues and caches stay as they are. */
#include "isa/interp/interp_lent.h"

struct sm;

/* What an SM keeps while its CTAs are lent. */
struct sm_loan {
    uint64_t counts[RECONV_COUNTERS]; /* of the model, which the functional model does not count */
};

/* Returns true if the functional model can run the CTAs of the launch: no unit takes part in their execution, and no
 * instruction works beside its warp. The answer holds for the whole launch. */
bool sm_lends(const struct sm *sm);
/* Returns true if the SM can lend its CTAs now: all ordered instructions are performed. */
bool sm_may_lend(const struct sm *sm);
/* Lends all CTAs at an edge. sm_take_back() must follow. */
void sm_lend(struct sm *sm, struct sm_loan *loan, uint64_t now);
/* Returns the number of CTA slots in use, or free between slots in use. */
uint32_t sm_lent_slots(const struct sm *sm);
/* Sets *out to the CTA in the slot. Returns false if the slot is free, or if its CTA has not begun. */
bool sm_lent_cta(struct sm *sm, uint32_t slot, struct lent_cta *out);
/* Sets issued[i] to the number of instructions that warp i of the CTA in the slot has issued since the last call. */
void sm_take_issued(struct sm *sm, uint32_t slot, uint32_t *issued);
/* Sets issued[pc] for each instruction that the SM has issued since its statistics were last collected. */
void sm_note_issued(const struct sm *sm, bool *issued);
/* Stops the SM with a fault of a lent warp. */
void sm_lent_fault(struct sm *sm, const struct warp *warp, uint32_t pc, const struct effects *fx, uint64_t now);
/* Takes back all CTAs: each warp continues in time at its present PCs. */
void sm_take_back(struct sm *sm, const struct sm_loan *loan, uint64_t now);
#endif
