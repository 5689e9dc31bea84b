#ifndef ISA_INTERP_H
#define ISA_INTERP_H
/* The functional interpreter: runs a launch to its end, as fast as it can, without time. */
#include "isa/exec/exec.h"
#include "isa/machine/workers.h"

struct interp_stats {
    uint64_t warp_instructions, thread_instructions; /* thread: lanes that were active and whose guard held */
    uint64_t barrier_instructions; /* K_BSSY and K_BSYNC among them, counted apart from warp_instructions */
    uint64_t path_sum;             /* sum of schedulable paths over issued warp instructions (AvgPath) */
    uint64_t ctas, warps;
    uint32_t max_depth; /* deepest reconvergence state seen, in entries */
};

struct interp_cfg {
    const struct reconv_ops *model; /* NULL: reconv_spe */
    const struct reconv_cfg *reconv;
    uint32_t threads;        /* host threads; results do not depend on it */
    struct workers *workers; /* NULL: that many are started for the launch; else these are used instead */
    uint64_t quantum;        /* warp instructions of a warp before another gets its turn; 0: a default */
    void (*progress)(void *ctx, uint64_t ctas_done, uint64_t ctas_total); /* NULL: none; called now and then */
    void *progress_ctx;
    struct checker *check; /* NULL: none; see check.h. A launch that is checked runs on one host thread */
};

/* True when the launch ran to its end; else `fault` says why (free it with fault_free()). Statistics are added to
 * `stats`. CTAs run one after another, warps of a CTA in turns; a CTA that makes no progress by itself (it waits for
 * another) gives way to the next ones, so kernels that synchronise across CTAs end too. */
bool interp_run(const struct launch *l, const struct interp_cfg *cfg, struct interp_stats *stats, struct fault *fault);
#endif
