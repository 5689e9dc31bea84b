#ifndef ISA_INTERP_JIT_H
#define ISA_INTERP_JIT_H
/* Blocks of the interpreter as native code (isa/jit/jit.h). Only interp_native.h includes this. */
#include "isa/jit/jit.h"
#include "isa/machine/warp.h"

/* Of one CTA. */
struct native_cta {
    struct jit *code;       /* of the program; NULL: blocks are interpreted */
    struct warp *warp;      /* the warp that the frame belongs to */
    struct jit_frame frame; /* what the code reads and writes */
};

/* Has native code taken the entry of `in`, a branch, from its queue already? Says so once. */
static inline bool native_is_taken(struct native_cta *n, const struct inst *in) {
    bool taken = in == n->frame.taken;
    n->frame.taken = NULL;
    return taken;
}
/* The next native_block() may go on into other blocks: below `budget` warp instructions, and not at the PC `rpc`. */
static inline void native_may_go_on(struct native_cta *n, uint64_t budget, uint32_t rpc) {
    n->frame.budget = budget;
    n->frame.rpc = rpc;
}
/* The CTA of `r` starts. */
void native_cta_start(struct cta_run *r);
/* A warp's turn begins. */
static inline void native_turn(struct native_cta *n, struct warp *w) {
    n->warp = w;
    n->frame.bank[0] = w->bank[0];
    n->frame.local = w->local;
}
bool native_run(struct cta_run *r, const struct inst **in, jit_code *code, lanemask_t lanes, uint64_t *clock,
                struct tally *t);
/* Runs the block at *in as native code if it has any, and adds to *t and *clock what it executed. True: a block has
 * ended, with the instruction *in; NULL after a fault or a stop. False: the interpreter goes on at *in. */
static inline bool native_block(struct cta_run *r, struct native_cta *n, const struct warp *w, const struct inst **in,
                                lanemask_t lanes, uint64_t *clock, struct tally *t) {
    jit_code *code;
    return n->code && (code = jit_enter(n->code, (uint32_t)(*in - w->program->code), lanes != LANES_ALL)) &&
           native_run(r, in, code, lanes, clock, t);
}
#endif
