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

struct cta_ops;
struct gpu;
struct bypass_ops;
struct replacement_ops;
struct sched_ops;

/* Policies of a GPU. NULL: the built-in policy of the configuration. */
struct gpu_policies {
    const struct sched_ops *scheduler;              /* timing/sm/sched_ops.h */
    const struct replacement_ops *l1, *l2;          /* timing/mem/replacement.h */
    const struct bypass_ops *l1_bypass, *l2_bypass; /* timing/mem/bypass.h */
    const struct cta_ops *ctas;                     /* timing/sm/cta_ops.h */
};

struct gpu_options {
    const struct reconv_ops *model;
    uint32_t threads; /* number of host threads; statistics do not depend on it */
    /* Called every few thousand cycles in which something happens. Returns true to request a `view` now. */
    bool (*progress)(void *ctx, uint64_t cycle, uint64_t ctas_done, uint64_t ctas_total);
    /* Called after progress() returned true, and when a launch ends. `v` has the statistics since the previous call of
     * view(). NULL: not called. */
    void (*view)(void *ctx, const struct gpu_view *v);
    void *progress_ctx; /* argument of progress() and view() */
    /* The options below cost nothing unless they are used. */
    bool profile;             /* count by instruction: gpu_profile() */
    uint64_t sample_interval; /* cycles; 0: no samples */
    /* Receives the statistics of the cycles in [from, to) only; cycles count from the start of the launch. The last
     * sample may be shorter. */
    void (*sample)(void *ctx, uint64_t from, uint64_t to, const struct stats *interval);
    void *sample_ctx;
    /* First and last traced cycle, counted since gpu_new(). When a launch ends, all its events have been written to the
     * file. */
    FILE *trace;
    /* traced cycles, counted since gpu_new(); when a launch ends, all its events are in the file */
    uint64_t trace_from, trace_to;
    uint32_t trace_sms;              /* the SMs below this number are traced; 0: all */
    uint32_t trace_waits;            /* cycles of the shortest wait that is traced */
    const struct sm_unit_row *units; /* additional units of each SM: timing/sm/unit.h */
    uint32_t n_units;
    const struct prefetcher_row *prefetchers; /* for each L1, or for each slice of the L2: timing/mem/prefetch.h */
    uint32_t n_prefetchers;
    struct gpu_policies policies;
    /* largest number of operations of one instruction on one lane of an f32 pipe, for the statistics util.*; 0 means
     * 2 (an fma) */
    uint32_t lane_operations;
};

/* Returns a GPU with the configuration `cfg` (copied), or NULL if memory is out. */
struct gpu *gpu_new(const struct config *cfg, const struct gpu_options *opt);
void gpu_free(struct gpu *g);
/* Runs one launch to its end. Requires gpu_fits(). Returns false when the launch faulted, deadlocked, reached a
 * limit or was stopped: `fault` has the reason. Adds the statistics of this launch to `s`, up to the cycle in which
 * it ended, reached a limit or was stopped. */
bool gpu_run(struct gpu *g, const struct launch *l, struct stats *s, struct fault *fault);
/* Works like gpu_run(), but runs a part of the CTAs without time (gaps.h). `r` receives the contribution of these CTAs.
 * The CTA policy must be in_order, the launch must have no clusters, and its CTAs must not wait for each other. */
struct gap_orders;
struct gap_result;
bool gpu_run_sampled(struct gpu *g, const struct launch *l, const struct gap_orders *o, struct gap_result *r,
                     struct stats *s, struct fault *fault);
/* Returns true if the model's number of warp instructions depends on time (gap_orders.regroups): paths or warps join
 * where they meet. */
bool gpu_regroups(const struct gpu *g);
/* Warms the caches with an instruction that a warp executed without time; `fx` has its effects. `in_slot`: the warp has
 * a slot of its SM. Allowed between launches, and in gaps (gap_orders). Does nothing if the next launch begins with
 * empty caches. */
void gpu_warm(struct gpu *g, const struct warp *warp, bool in_slot, const struct inst *in, const struct effects *fx);
/* Warms the instruction caches of the SMs that would run the CTAs of a launch, which runs without time. An SM gets the
 * code of a kernel once, unless the kernel has run there in time. Returns false if memory is out. */
bool gpu_warm_code(struct gpu *g, const struct launch *l);
/* Ends a launch that ran without time and called gpu_warm(): empties the L1s, as gpu_run() does. */
void gpu_warmed(struct gpu *g);
/* Checks that an SM can hold a CTA of the launch. If not, `why` names the resource that is short, and by how much. */
bool gpu_fits(const struct gpu *g, const struct launch *l, char *why, size_t size);
/* Returns false if a machine could run the launch, but this configuration does not simulate it. `why` says why. */
bool gpu_simulates(const struct gpu *g, const struct launch *l, char *why, size_t size);
/* From now on, `watch` is called at the end of each part of a run (windows.h). `watch` must outlive the GPU.
 * Requires a GPU with one host thread. */
struct windows_watch;
void gpu_watch(struct gpu *g, const struct windows_watch *watch);
/* Returns the number of events that the trace lacks so far because memory ran out. */
uint64_t gpu_trace_lost(const struct gpu *g);
/* Builds the machine if no machine has been built yet. A launch does so, too: this call keeps the building out of the
 * measured time of the first launch. If memory is out, that launch reports it. */
void gpu_prepare(struct gpu *g);
/* Notifies the GPU that the host has written device memory between launches. */
void gpu_host_wrote(struct gpu *g, uint64_t address, uint64_t bytes);
/* Returns an array of counts by PC and sets `*n` to its length. Returns NULL without opt.profile, or before the
 * first launch. The array is valid until the next launch. */
const struct gpu_profile *gpu_profile(const struct gpu *g, uint32_t *n);
#endif
