/* The stride prefetcher: it prefetches one stride ahead. */
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

static const char *refuse(const struct model_spec *s) {
    if (model_has(s, "mta") || model_has(s, "ddp"))
        return "is one of the prefetchers mta, stride and ddp; take one of them";
    return model_needs_time(s);
}

const struct mechanism mechanism_stride = {
    .name = "stride",
    .help = "prefetching by the strides of loads into the L2, one stride ahead (docs/prefetching.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, sections III-B and IV-B",
    .kind = MECHANISM_EXTENSION,
    .refuse = refuse,
    .unit = &unit,
    .at_slices = &watch,
    .options = PREFIXES("stride."),
    .statistics = PREFIXES("stride."),
};
