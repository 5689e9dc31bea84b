#ifndef ISA_INTERP_H
#define ISA_INTERP_H
/* The functional interpreter: runs a launch to its end, as fast as it can, without time. */
#include "isa/affine/engine.h"
#include "isa/exec/exec.h"
#include "isa/machine/workers.h"

struct jit;

/* Of programs with an affine stream: what it and the kernel's own warps did. A batch of CTAs is counted once. */
struct interp_affine_stats {
    uint64_t instructions, slots;      /* of the affine warps; issue slots that these take */
    uint64_t by_class[N_STEP_CLASSES]; /* enum affine_step_class */
    uint64_t fallbacks;                /* tuples that became values of every thread, for a CTA */
    uint64_t warp_divergences, thread_divergences;
    uint64_t loads, addresses, predicates; /* warp instructions that took an address or a predicate from a queue */
    uint64_t compared[N_COMPARES];         /* predicates sent to warps: enum affine_compare */
    uint64_t all_loads;                    /* warp instructions: loads from global, local and generic addresses */
};

struct interp_stats {
    uint64_t warp_instructions;    /* those of affine warps among them */
    uint64_t thread_instructions;  /* lanes that were active and whose guard held, in the kernel's own warps */
    uint64_t barrier_instructions; /* of convergence barriers, counted apart from warp_instructions */
    uint64_t path_sum;             /* sum of schedulable paths over issued warp instructions (AvgPath) */
    uint64_t ctas, warps;
    uint32_t max_depth; /* deepest reconvergence state seen, in entries */
    struct interp_affine_stats affine;
    struct rounding_error rounding_error;
};

struct interp_cfg {
    const struct reconv_ops *model; /* NULL: reconv_spe */
    const struct reconv_cfg *reconv;
    uint32_t threads;        /* host threads; results do not depend on it */
    struct workers *workers; /* NULL: that many are started for the launch; else these are used instead */
    uint64_t quantum;        /* warp instructions of a warp before another gets its turn; 0: a default */
    void (*progress)(void *ctx, uint64_t ctas_done, uint64_t ctas_total); /* NULL: none; called now and then */
    void *progress_ctx;
    bool turns;            /* of spe: threads are independent, so paths of a warp that wait by spinning take turns */
    bool affine;           /* the statistics of affine streams are wanted of programs without one, too */
    uint32_t affine_batch; /* CTAs that an affine warp computes for, up to AFFINE_CTAS; 0: 1. Each CTA has an affine
                              warp of its own here, so that more than one only shows what a batch computes */
    struct jit *native;    /* of the program: its blocks as native code. NULL: all is interpreted */
    struct checker *check; /* NULL: none; see check.h. A launch that is checked runs on one host thread */
};

/* True when the launch ran to its end; else `fault` says why (free it with fault_free()). Statistics are added to
 * `stats`. CTAs run one after another, warps of a CTA in turns; a CTA that makes no progress by itself (it waits for
 * another) gives way to the next ones, so kernels that synchronise across CTAs end too. */
bool interp_run(const struct launch *l, const struct interp_cfg *cfg, struct interp_stats *stats, struct fault *fault);

/* Native code for the blocks of `p`, which outlives it (docs/jit.md): a block is compiled when it has been entered
 * `after` times. NULL when memory is out, where the processor or the host cannot run such code, and in a build with
 * JIT=0: everything is interpreted then, with the same results. */
struct jit *native_new(const struct program *p, uint32_t after);
void native_free(struct jit *n);
/* Blocks that were compiled so far, and seconds that this took; of NULL: none. */
struct native_counts {
    uint32_t blocks;
    double seconds;
};
struct native_counts native_count(const struct jit *n);
#endif
