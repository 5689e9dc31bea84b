/* G. Dasika et al., "PEPSC: a power-efficient processor for scientific computing", PACT 2011. */
#include "figures.h"
#include <stddef.h>

#define PAPER "PEPSC, "
/* GTX 285: eight lanes an SM, each with a multiply-add a cycle. */
#define FLOPS "op.f32_add+op.f32_mul+2*op.f32_fma+op.f32_div+op.sfu/16*gpu.sm_cycles"

static const struct series gpu[] = {
    {.label = "utilisation", .model = "spe", .value = FLOPS},
    {.label = "waits for arithmetic", .model = "spe", .value = "issue.scoreboard_arith+issue.pipe_busy/issue.slots"},
    {.label = "waits for memory", .model = "spe", .value = "issue.scoreboard_load/issue.slots"},
    {.label = "lanes idle", .model = "spe", .value = "gpu.lane_slots+-1*gpu.thread_instructions/gpu.lane_slots"},
    {0},
};
static const struct series bandwidth[] = {
    {.label = "spe", .model = "spe", .hidden = true},
    {.label = "twice", .model = "spe", .set = "dram.data_rate=8", .base = "spe"},
    {0},
};

/* Executions of loads by the distance that they are prefetched at. */
#define DEGREE(n)                                                                                                      \
    { .label = #n, .model = "spe+ddp", .value = "ddp.degree_" #n "/ddp.believed" }
static const struct series degrees[] = {
    DEGREE(1), DEGREE(2), DEGREE(3),
    DEGREE(4), DEGREE(5), DEGREE(6),
    DEGREE(7), DEGREE(8), {.label = "mean", .model = "spe+ddp", .value = "ddp.degree", .hidden = true},
    {0},
};
static const struct series mean_degree[] = {{.label = "mean degree", .model = "spe+ddp"}, {0}};

#define CHAIN(n, dual, l)                                                                                              \
    { .label = l, .model = "spe+chain", .set = "chain.length=" #n " chain.dual=" #dual, .base = "spe" }
static const struct series lengths[] = {
    {.label = "spe", .model = "spe", .hidden = true},
    CHAIN(2, false, "2"),
    CHAIN(3, false, "3"),
    CHAIN(4, false, "4"),
    CHAIN(5, false, "5"),
    CHAIN(4, true, "4 dual"),
    CHAIN(5, true, "5 dual"),
    CHAIN(6, true, "6 dual"),
    {0},
};
static const struct series prefetchers[] = {
    {.label = "none", .model = "spe", .hidden = true},
    {.label = "degree 1", .model = "spe+stride", .base = "none"},
    {.label = "ddp", .model = "spe+ddp", .base = "none"},
    {0},
};
static const struct series cumulative[] = {
    {.label = "spe", .model = "spe", .value = FLOPS},
    {.label = "chaining", .model = "spe+chain", .value = FLOPS},
    {.label = "folding, reduction", .model = "spe+chain+fold+reduce", .value = FLOPS},
    {.label = "prefetching", .model = "spe+chain+fold+reduce+ddp", .value = FLOPS},
    {0},
};

static const struct claim used[] = {
    CLAIM("all", "utilisation", 0.45), CLAIM("black", "utilisation", 0.65), CLAIM("nw", "utilisation", 0.05), {0}};
static const struct claim negligible[] = {CLAIM("all", "twice", 1), {0}};
static const struct claim chained[] = {CLAIM("all", "5", 1.12), CLAIM("all", "5 dual", 1.18), {0}};
static const struct claim prefetched[] = {CLAIM("all", "degree 1", 2.3), CLAIM("all", "ddp", 3.4), {0}};
static const struct claim in_all[] = {CLAIM("all", "spe", 0.45), CLAIM("all", "prefetching", 0.73), {0}};

#define PEAK                                                                                                           \
    "utilisation is f32 operations (a fused multiply-add is two) over what eight lanes an SM could do, a "             \
    "multiply-add a "                                                                                                  \
    "cycle each; the waits are shares of issue slots, and do not add up with it"

const struct figure figures_pepsc[] = {
    {.name = "pepsc-2",
     .title = "where a GPU's performance goes",
     .paper = PAPER "figure 2",
     .programs = "pepsc",
     .preset = "gt200",
     .panels = {PANEL("shares", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, gpu, used),
                PANEL("speed-up with twice the bandwidth of DRAM", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC,
                      SHOW_RATIO, bandwidth, negligible)},
     .note = PEAK},
    {.name = "pepsc-4",
     .title = "power efficiency by lanes and chain length",
     .paper = PAPER "figure 4",
     .programs = "pepsc",
     .preset = "pepsc",
     .missing = "widths of 8 to 64 lanes and the energy of chained units are needed for it"},
    {.name = "pepsc-6",
     .title = "degrees of prefetching",
     .paper = PAPER "figure 6",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("executions of loads by degree", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT,
                      degrees, NULL),
                PANEL("mean degree", "ddp.degree", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_RATIO, mean_degree, NULL)},
     .note = "the text says that lps has degrees from 1 to 8"},
    {.name = "pepsc-9b",
     .title = "chained floating-point units",
     .paper = PAPER "figure 9b",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("speed-up over no chains, by chain length", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC,
                      SHOW_RATIO, lengths, chained)}},
    {.name = "pepsc-10",
     .title = "prefetching",
     .paper = PAPER "figure 10",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("speed-up over no prefetching", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO,
                      prefetchers, prefetched)}},
    {.name = "pepsc-11",
     .title = "a GPU with the parts of PEPSC",
     .paper = PAPER "figure 11",
     .programs = "pepsc",
     .preset = "gt200",
     .panels = {PANEL("utilisation, parts added in turn", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT,
                      cumulative, in_all)},
     .note = PEAK},
    {.name = "pepsc-12",
     .title = "peak performance and power",
     .paper = PAPER "figure 12",
     .programs = "pepsc",
     .preset = "pepsc",
     .missing = "the power of the core's components is needed for it (2.10 W and 120 GFLOP/s in the paper)"},
    {0},
};
