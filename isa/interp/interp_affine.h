#ifndef ISA_INTERP_AFFINE_H
#define ISA_INTERP_AFFINE_H
/* The affine warp of a CTA in the interpreter. The affine warp runs on demand, when one of the CTA's own warps needs
 * an entry from it. Private to the interpreter. */
#include "interp_warp.h"
#include "isa/affine/supply.h"

struct cta_affine {
    struct affine_engine *engine;
    struct supply supply;
    uint32_t batch; /* number of CTAs for which the affine warp computes; only its own CTA uses the results */
    uint32_t own;   /* index of the warp's own CTA in the batch */
    /* maximum number of queue entries; when it is reached, a warp that needs another entry must wait until other
     * warps have taken their entries */
    uint32_t ahead;
    /* indexed by site (struct program_site): index of the allocation that the site's last access was in */
    uint32_t *found;
    bool corners; /* copy of interp_cfg.affine_corners */
    bool full;    /* true if the queues had `ahead` entries or more, so that a warp had to wait */
    bool faulted; /* the fault is in the affine stream: cta_run.fault_pc and fault_warp are set */
};

/* Creates the affine warp for CTAs of a launch whose program has an affine stream. It computes for at most `batch`
 * CTAs together. Returns NULL if out of memory. */
struct cta_affine *cta_affine_new(const struct launch *l, uint32_t batch, const struct reconv_cfg *cfg);
/* Frees the affine warp. NULL is allowed. */
void cta_affine_free(struct cta_affine *a);
/* Starts a CTA. */
void cta_affine_start(struct cta_affine *a, const struct cta *c);
/* Lets an affine warp that has stopped because its queues are full run further ahead. Call it when no warp of the CTA
 * has made progress. */
void cta_affine_let_run(struct cta_affine *a);
/* Runs the affine warp to its end. Call it after all warps of the CTA have ended, until it no longer returns
 * WARP_SPENT. Returns WARP_DONE if the affine warp has ended. Returns WARP_SPENT if it has not ended yet. Returns
 * WARP_FAULT if the affine warp faulted, or if an entry was sent but never taken, which is a bug in Heddle. */
enum warp_end cta_affine_finish(struct cta_run *r);
/* Takes the queue entries that `in` (with HINT_DEQ) needs, for the lanes of a path about to execute it. Writes them to
 * the hidden registers program.deq_address and program.deq_predicate, which `in` reads. Returns false if `in` cannot
 * execute now; sets r->fx.fault if it never can. */
bool cta_affine_take(struct cta_run *r, struct warp *w, const struct inst *in, rowmask_t lanes);
/* Runs the affine warp until all lanes have an entry for `in`, a simple unguarded access (access_is_queued()). Returns
 * false under the same conditions as cta_affine_take() above. */
bool cta_affine_wait(struct cta_run *r, const struct warp *w, const struct inst *in);
/* Executes a simple unguarded access (access_is_queued()), whose entries have been sent, if each half of the warp
 * accesses consecutive elements or reads one element. Otherwise returns false, without any effect. */
bool cta_affine_row(struct cta_run *r, struct warp *w, const struct inst *in);
#endif
