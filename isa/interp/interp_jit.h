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
}
/* Executes from `in` on with all lanes. Returns how many instructions were executed, with a reason of jit.h added
 * (JIT_LEFT is seen to here, and is JIT_WAITS then); their lanes are r->frame.threads. */
uint32_t cta_jit_run(struct cta_run *r, const struct inst *in, jit_code *code, uint64_t clock);
#endif
