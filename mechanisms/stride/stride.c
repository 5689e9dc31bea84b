/* The stride prefetcher: after an access, it prefetches the line one stride ahead of the access. */
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include "timing/strides/prefetch_stride.h"
#include <stdlib.h>

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)sm, (void)ctx;
    return stride_prefetcher_new(&(struct stride_kind){.name = "stride", .cfg = &cfg->stride});
}

static const struct sm_unit_ops unit = {
    .name = "stride", .make = make, .free = stride_prefetcher_free, .launch = stride_prefetcher_launch};

static void *make_watch(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    (void)ctx;
    return stride_watch_new(place, "stride", cfg->stride.level == STRIDE_INTO_L1);
}

static const struct prefetcher_ops watch = {.name = "stride", .make = make_watch, STRIDE_WATCH_CALLS};

const struct mechanism mechanism_stride = {
    .name = "stride",
    .help = "prefetching by the strides of loads into the L2, one stride ahead (docs/prefetching.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, sections III-B and IV-B",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("prefetchers"),
    .unit = &unit,
    .at_slices = &watch,
    .options = PREFIXES("stride."),
    .statistics = PREFIXES("stride."),
};
