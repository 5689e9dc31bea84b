/* The dynamic-degree prefetcher. Its prefetch distance, in strides, grows until lines arrive before they are needed. */
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include "timing/strides/prefetch_stride.h"
#include <stdlib.h>

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)sm, (void)ctx;
    return stride_prefetcher_new(&(struct stride_kind){.name = "ddp",
                                                       .cfg = &cfg->ddp.strides,
                                                       .dynamic = true,
                                                       .both = cfg->ddp.both,
                                                       .max_degree = cfg->ddp.max_degree});
}

static const struct sm_unit_ops unit = {
    .name = "ddp", .make = make, .free = stride_prefetcher_free, .launch = stride_prefetcher_launch};

static void *make_watch(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    (void)ctx;
    return stride_watch_new(place, "ddp", cfg->ddp.strides.level == STRIDE_INTO_L1);
}

static const struct prefetcher_ops watch = {.name = "ddp", .make = make_watch, STRIDE_WATCH_CALLS};

const struct mechanism mechanism_ddp = {
    .name = "ddp",
    .help =
        "dynamic-degree prefetching: as far ahead as lines take to come, which differs by load (docs/prefetching.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, sections III-B and IV-B",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("prefetchers"),
    .unit = &unit,
    .at_slices = &watch,
    .options = PREFIXES("ddp."),
    .statistics = PREFIXES("ddp."),
};
