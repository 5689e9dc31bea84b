#ifndef ISA_INTERP_JIT_H
#define ISA_INTERP_JIT_H
/* Blocks of the interpreter as native code (isa/jit/jit.h). Internal to isa/interp. */
#include "interp_warp.h"

/* The frame of a CTA that starts. */
void cta_jit_start(struct cta_run *r);
/* A warp's turn begins. */
static inline void cta_jit_turn(struct cta_run *r, struct warp *w) {
    r->jit_warp = w;
    r->frame.bank[0] = w->bank[0];
    r->frame.local = w->local;
}
/* Executes from `in` on with these lanes, for which the code is, into other blocks while r->frame allows it. Returns
 * how many instructions of the last block were executed, with a reason of jit.h added (JIT_LEFT is seen to here, and is
 * JIT_WAITS then); that block is r->frame.first, r->frame.executed were executed before it, and r->frame.threads are
 * the lanes of all. */
uint32_t cta_jit_run(struct cta_run *r, const struct inst *in, jit_code *code, lanemask_t lanes, uint64_t clock);
#endif
