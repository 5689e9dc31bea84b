#ifndef ISA_INTERP_AFFINE_H
#define ISA_INTERP_AFFINE_H
/* The affine warp of a CTA of the interpreter: runs when one of the CTA's own warps needs what it sends, and no
 * further. Internal to the interpreter. */
#include "interp_warp.h"
#include "isa/affine/supply.h"

struct cta_affine {
    struct affine_engine *engine;
    struct supply supply;
    uint32_t batch;  /* CTAs that it computes for; those beside its own are for nothing but their company */
    uint32_t own;    /* the CTA's place in the batch */
    uint32_t ahead;  /* entries that may wait to be taken before warps that need more have to let others take theirs */
    uint32_t *found; /* by site: where in the list of allocations its last row was */
    bool full;       /* that held a warp up */
    bool faulted;    /* the fault is the affine stream's: cta_run.fault_pc and fault_warp are set */
};

/* For CTAs of a launch whose program has an affine stream; at most `batch` of them are computed for together. NULL:
 * memory is out. */
struct cta_affine *cta_affine_new(const struct launch *l, uint32_t batch, const struct reconv_cfg *cfg);
void cta_affine_free(struct cta_affine *a);
/* The CTA begins. */
void cta_affine_start(struct cta_affine *a, const struct cta *c);
/* Nothing moves although `full`: it may run further ahead. */
void cta_affine_let_run(struct cta_affine *a);
/* All warps of the CTA have ended: so does the affine one. WARP_DONE; WARP_SPENT: not yet; WARP_FAULT: it has sent
 * something that nobody took, which is a mistake of ours. */
enum warp_end cta_affine_finish(struct cta_run *r);
/* Fills the hidden operand and guard of `in`, which has HINT_DEQ, for the lanes of a path that stands before it. False:
 * it cannot be executed now, or r->fx.fault says that it never can. */
bool cta_affine_take(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes);
/* For an access that takes plain addresses and no guard (jit_frame.row), by all lanes. The affine warp runs until they
 * have been sent. False: as above. */
bool cta_affine_wait(struct cta_run *r, const struct warp *w, const struct inst *in);
/* They have been sent. Takes them and executes it, if each half of the warp reads or writes a row of elements, or reads
 * one. False: nothing has been done. */
bool cta_affine_row(struct cta_run *r, struct warp *w, const struct inst *in);
#endif
