#ifndef TIMING_GPU_H
#define TIMING_GPU_H
/* The whole GPU: runs launches cycle by cycle and keeps caches and statistics between them. */
#include "isa/exec.h"
#include "isa/interp.h"
#include "config.h"
#include "stat.h"

struct gpu;

struct gpu_options {
    const struct reconv_ops *model;
    uint32_t threads;       /* host threads; statistics do not depend on it */
    void (*progress)(void *ctx, uint64_t cycle, uint64_t ctas_done, uint64_t ctas_total);
    void *progress_ctx;
};

/* A GPU as `cfg` says (copied). NULL when memory is out. */
struct gpu *gpu_new(const struct config *cfg, const struct gpu_options *opt);
void gpu_free(struct gpu *g);
/* Runs one launch to its end. False when it faulted, deadlocked or met a limit: `fault` says so. The statistics of this
 * launch alone are added to `s` under their registered names. */
bool gpu_run(struct gpu *g, const struct launch *l, struct stats *s, struct fault *fault);
#endif
