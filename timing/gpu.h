#ifndef TIMING_GPU_H
#define TIMING_GPU_H
/* The whole GPU: runs launches cycle by cycle and keeps caches and statistics between them. */
#include "isa/exec/exec.h"
#include "isa/interp/interp.h"
#include "timing/config/config.h"
#include "timing/mem/prefetch.h"
#include "timing/report/profile.h"
#include "timing/report/stat.h"
#include "timing/sm/unit.h"
#include "timing/view.h"

struct gpu;
struct replacement_ops;
struct sched_ops;

/* Policies of a GPU. NULL: the built-in policy of the configuration. */
struct gpu_policies {
    const struct sched_ops *scheduler;     /* timing/sm/sched_ops.h */
    const struct replacement_ops *l1, *l2; /* timing/mem/replacement.h */
};

struct gpu_options {
    const struct reconv_ops *model;
    uint32_t threads; /* host threads; statistics do not depend on it */
    /* Called every few thousand cycles that something happens in. True: `view` is wanted now. */
    bool (*progress)(void *ctx, uint64_t cycle, uint64_t ctas_done, uint64_t ctas_total);
    /* Called then, and as a launch ends, with what happened since the last call. NULL: never. */
    void (*view)(void *ctx, const struct gpu_view *v);
    void *progress_ctx; /* of both */
    /* What follows costs nothing when it is not asked for. */
    bool profile;             /* count by instruction: gpu_profile() */
    uint64_t sample_interval; /* cycles; 0: no samples */
    /* The statistics of [from, to) alone; cycles count from the launch's first. The last sample may be shorter. */
    void (*sample)(void *ctx, uint64_t from, uint64_t to, const struct stats *interval);
    void *sample_ctx;
    FILE *trace;                     /* see trace.h; the array is closed by gpu_free(). NULL: none */
    uint64_t trace_from, trace_to;   /* cycles of the GPU's clock; it is complete when the launch ends */
    const struct sm_unit_row *units; /* further extensions of each SM: timing/sm/unit.h */
    uint32_t n_units;
    const struct prefetcher_row *prefetchers; /* of each SM's L1, or of each slice of the L2: timing/mem/prefetch.h */
    uint32_t n_prefetchers;
    struct gpu_policies policies;
    uint32_t lane_operations; /* of one instruction on a lane of an f32 pipe at most, for util.*; 0: 2, of an fma */
};

/* A GPU as `cfg` says (copied). NULL when memory is out. */
struct gpu *gpu_new(const struct config *cfg, const struct gpu_options *opt);
void gpu_free(struct gpu *g);
/* Runs one launch to its end. Requires gpu_fits(). False when it faulted, deadlocked, met a limit or was stopped:
 * `fault` says so. The statistics of this launch alone are added to `s` under their registered names: up to its end, a
 * limit or a stop. */
bool gpu_run(struct gpu *g, const struct launch *l, struct stats *s, struct fault *fault);
/* Whether an SM can hold a CTA of the launch; if not, `why` says which resource is short, and by how much;
 * or what an extension is short of. */
bool gpu_fits(const struct gpu *g, const struct launch *l, char *why, size_t size);
/* From now on `watch`, which outlives the GPU, is told of the parts of a run, each when it ends. Requires a GPU of one
 * thread. */
struct windows_watch;
void gpu_watch(struct gpu *g, const struct windows_watch *watch);
/* Events that are missing in the trace so far, for want of memory. */
uint64_t gpu_trace_lost(const struct gpu *g);
/* The host has written device memory, between launches. */
void gpu_host_wrote(struct gpu *g, uint64_t address, uint64_t bytes);
/* By PC, `*n` of them; NULL without opt.profile or before the first launch. Valid until the next launch. */
const struct gpu_profile *gpu_profile(const struct gpu *g, uint32_t *n);
#endif
