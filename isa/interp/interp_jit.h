#ifndef ISA_INTERP_JIT_H
#define ISA_INTERP_JIT_H
/* Native code in the interpreter (isa/jit/jit.h). Included only by interp_native.h. */
#include "isa/jit/jit.h"
#include "isa/machine/warp.h"

/* Native code state of one CTA. */
struct native_cta {
    struct jit *code;  /* code of the program; NULL: blocks are interpreted */
    struct warp *warp; /* warp of the frame */
    const struct native_paths *paths;
    struct tally *tally; /* counts of the warp's turn */
    const struct inst
        *barrier_inst;      /* the latest barrier that native code has passed, which all threads reach; or NULL */
    uint32_t barrier;       /* its number */
    uint64_t budget;        /* number of warp instructions of a turn */
    uint64_t executed;      /* warp instructions that native code has executed and jit_executed() does not know */
    struct jit_frame frame; /* data that the code reads and writes */
};

/* Returns true if native code has already removed the entry of the branch `in` from the predicate queue of decoupled
 * affine computation. The call clears this state. */
static inline bool native_is_taken(struct native_cta *n, const struct inst *in) {
    bool taken = in == n->frame.taken;
    n->frame.taken = NULL;
    return taken;
}
/* Lets the next native_block() continue into other blocks: it executes at most `budget` warp instructions, and stops
 * at PC `rpc`. */
static inline void native_may_go_on(struct native_cta *n, uint64_t budget, uint32_t rpc) {
    n->frame.budget = budget;
    n->frame.rpc = rpc;
}
/* Returns true if the last native_block() has changed the paths of the warp. */
static inline bool native_has_moved(struct native_cta *n) {
    bool moved = n->frame.moved;
    n->frame.moved = false;
    return moved;
}
/* Starts the CTA of `r`. Native code calls `paths` at the end of a block. */
void native_cta_start(struct cta_run *r, const struct native_paths *paths);
/* Starts a turn of warp `w` with at most `budget` warp instructions. */
static inline void native_turn(struct native_cta *n, struct warp *w, uint64_t budget) {
    n->warp = w;
    n->budget = budget;
    n->frame.bank[0] = w->bank[0];
    n->frame.local = w->local;
}
/* Returns the warp that ran last in the turn that began with `w`. When a warp waits at a barrier, native code ends its
 * turn and begins the turn of the next warp. */
static inline struct warp *native_warp(const struct native_cta *n, struct warp *w) { return n->code ? n->warp : w; }
/* Runs `code` for native_block(). */
bool native_run(struct cta_run *r, const struct inst **in, jit_code *code, lanemask_t *lanes, uint64_t *clock,
                struct tally *t);
/* Runs the block at *in with *lanes as native code, if it has any, and adds the executed instructions to *t and *clock.
 * Returns true if native code ran to the end of a block. *in is then the last instruction of this block, or NULL after
 * a fault or a stop. Returns false if the interpreter must continue at *in. In both cases, *lanes are the lanes that
 * native code ran last, which may belong to another path (native_has_moved()). */
static inline bool native_block(struct cta_run *r, struct native_cta *n, const struct warp *w, const struct inst **in,
                                lanemask_t *lanes, uint64_t *clock, struct tally *t) {
    jit_code *code;
    return n->code && (code = jit_enter(n->code, (uint32_t)(*in - w->program->code), *lanes != LANES_ALL)) &&
           native_run(r, in, code, lanes, clock, t);
}
#endif
