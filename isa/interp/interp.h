#ifndef ISA_INTERP_H
#define ISA_INTERP_H
/* The functional interpreter: runs a launch to completion as fast as possible, without timing. */
#include "isa/affine/engine.h"
#include "isa/exec/exec.h"
#include "isa/machine/workers.h"

struct jit;
struct late;

/* Statistics of programs with an affine stream. A batch of CTAs is counted once. */
struct interp_affine_stats {
    uint64_t instructions, slots;      /* number of instructions of the affine warps, and of their issue slots */
    uint64_t by_class[N_STEP_CLASSES]; /* number of instructions, by enum affine_step_class */
    /* number of tuples that were expanded to one value per thread, counted for each CTA */
    uint64_t fallbacks;
    uint64_t warp_divergences, thread_divergences;
    /* warp instructions that took load addresses, other addresses, or predicates from a queue */
    uint64_t loads, addresses, predicates;
    uint64_t compared[N_COMPARES]; /* number of predicates sent to warps, by enum affine_compare */
    /* number of warp instructions that load from global, local or generic addresses */
    uint64_t all_loads;
};

struct interp_stats {
    uint64_t warp_instructions; /* number of executed warp instructions, including those of affine warps */
    /* number of lanes with a true guard, summed over the instructions of the kernel's own warps */
    uint64_t thread_instructions;
    /* number of instructions of convergence barriers; warp_instructions does not include them */
    uint64_t barrier_instructions;
    /* sum of the number of schedulable paths over all issued warp instructions (for AvgPath) */
    uint64_t path_sum;
    uint64_t ctas, warps;
    uint32_t max_depth; /* maximum depth of the reconvergence state, in entries */
    struct interp_affine_stats affine;
    struct rounding_error rounding_error;
};

/* Callbacks that observe a launch. An observed launch runs on one host thread and without native code. */
struct interp_observer {
    void *ctx;
    /* called when `lanes` of a warp of up to 32 lanes enter a block at `pc`, or continue there after a wait */
    void (*block)(void *ctx, uint32_t pc, lanemask_t lanes);
    /* called after each instruction that is neither of kind K_LANE nor a branch; `fx` has its effects */
    void (*executed)(void *ctx, const struct warp *w, const struct inst *in, const struct effects *fx);
};

struct interp_cfg {
    const struct reconv_ops *model; /* NULL: reconv_spe */
    const struct reconv_cfg *reconv;
    uint32_t threads;        /* number of host threads; results do not depend on it */
    struct workers *workers; /* a thread pool to use; NULL: the launch starts its own threads */
    /* number of warp instructions that a warp executes before another warp runs; 0: a default */
    uint64_t quantum;
    void (*progress)(void *ctx, uint64_t ctas_done, uint64_t ctas_total); /* called at intervals; NULL: never */
    void *progress_ctx;
    bool turns;  /* model spe: if a path of a warp waits in a spin loop, the warp's other paths get turns */
    bool affine; /* collect affine statistics also for programs without an affine stream */
    /* number of CTAs for which an affine warp computes, at most AFFINE_CTAS; 0 means 1. In the interpreter each CTA
     * has its own affine warp, so a larger batch affects only statistics */
    uint32_t affine_batch;
    bool affine_corners; /* true: COMPARE_CORNERS counts as COMPARE_ENDS; false: as COMPARE_LANES */
    struct jit *native;  /* native code of the program's blocks; NULL: all blocks are interpreted */
    struct late *late;   /* tests the program's control bits (late.h), on one host thread; NULL: no test */
    const struct interp_observer *observer; /* NULL: none */
    /* Only the CTAs [first_cta, first_cta + n_ctas) run, if n_ctas is not 0. The launch must have no clusters then. */
    uint64_t first_cta, n_ctas;
    uint64_t resident;     /* CTAs that the machine holds at once; 0: not known */
    struct checker *check; /* the checker (check.h); NULL: no checks. A checked launch runs on one host thread */
};

/* Runs a launch. Returns true if it completes; otherwise `fault` says why (free it with fault_free()). Adds to `stats`.
 * CTAs run one after another, and the warps of a CTA take turns. A CTA that makes no progress because it waits for
 * another CTA yields to the next CTA, so kernels that synchronise across CTAs complete too. */
bool interp_run(const struct launch *l, const struct interp_cfg *cfg, struct interp_stats *stats, struct fault *fault);

/* Creates native code for the blocks of `p`, which must outlive it (docs/jit.md). A block is compiled once it has been
 * entered `after` times. Returns NULL if out of memory, if processor or host cannot run the code, and in a build with
 * JIT=0; the program is then interpreted with the same results. */
struct jit *native_new(const struct program *p, uint32_t after);
/* Frees native code. NULL is allowed. */
void native_free(struct jit *n);
/* The number of compiled blocks, and the seconds that their compilation took. Both are 0 for NULL. */
struct native_counts {
    uint32_t blocks;
    double seconds;
};
struct native_counts native_count(const struct jit *n);
#endif
