/* G. Dasika et al., "PEPSC: a power-efficient processor for scientific computing", PACT 2011. */
#include "figures.h"
#include <stddef.h>

#define PAPER "PEPSC, "
/* The machine is about an eighth of a GTX 285, with 4 of its 30 SMs and one of its 8 memory channels, so that small
 * inputs can fill it. */
#define EIGHTH "gpu.sms=4 dram.channels=1 l2.slices=1"

/* Figure 2 counts all instructions and not only f32 operations: in the paper, nw has no f32 operation, but a
 * utilisation of 5 %. */
#define DATAPATH_STALLS "util.peak_flops+-1*util.busy_flops+-1*util.lost_memory+-1*util.lost_serialization"
static const struct series gpu[] = {
    {.label = "utilisation", .model = "spe"},
    {.label = "datapath stalls", .model = "spe", .value = DATAPATH_STALLS "/util.peak_flops"},
    {.label = "memory stalls", .model = "spe", .value = "util.memory"},
    {.label = "serialisation", .model = "spe", .value = "util.serialization"},
    {0},
};
static const struct series gpu_operations[] = {
    {.label = "utilisation", .model = "spe"},
    {.label = "datapath stalls", .model = "spe", .value = "util.datapath"},
    {0},
};
static const struct series bandwidth[] = {
    {.label = "as it is", .model = "spe"},
    {.label = "twice", .model = "spe", .set = "dram.bus_bytes=16 dram.atom=32"},
    {0},
};

/* The series of the core with n lanes, one series for each chain length. */
#define LANES(n, preset_)                                                                                              \
    {.label = n "x1", .model = "spe", .preset = preset_, .base = "8x1"},                                               \
        {.label = n "x2", .model = "spe+chain", .preset = preset_, .set = "chain.length=2", .base = "8x1"},            \
        {.label = n "x3", .model = "spe+chain", .preset = preset_, .set = "chain.length=3", .base = "8x1"},            \
        {.label = n "x4", .model = "spe+chain", .preset = preset_, .set = "chain.length=4", .base = "8x1"}, {          \
        .label = n "x5", .model = "spe+chain", .preset = preset_, .set = "chain.length=5", .base = "8x1"               \
    }
static const struct series widths[] = {
    LANES("8", "pepsc-8"), LANES("16", "pepsc-16"), LANES("32", "pepsc"), LANES("64", "pepsc-64"), {0}};
/* Energy of the core with and without its caches. */
#define DATAPATH                                                                                                       \
    "energy.total_joules+-1*energy.dram_joules+-1*energy.icnt_joules+-1*energy.shared_joules+-1*energy.l1_joules+-1*"  \
    "energy.l2_joules"
#define CORE "energy.total_joules+-1*energy.dram_joules+-1*energy.icnt_joules"

/* A series: the fraction of load executions with prefetch degree n. */
#define DEGREE(n)                                                                                                      \
    { .label = #n, .model = "spe+ddp", .value = "ddp.degree_" #n "/ddp.confident" }
static const struct series degrees[] = {
    DEGREE(1), DEGREE(2), DEGREE(3), DEGREE(4), DEGREE(5), DEGREE(6), DEGREE(7), DEGREE(8), {0},
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
/* Figure 9b is of "the specific problem solved in isolation" (section IV): no access misses. */
#define ALONE "memory.perfect_l1=true"
#define CHAIN_ALONE(n, dual, l)                                                                                        \
    { .label = l, .model = "spe+chain", .set = ALONE " chain.length=" #n " chain.dual=" #dual, .base = "spe" }
static const struct series lengths_alone[] = {
    {.label = "spe", .model = "spe", .set = ALONE, .hidden = true},
    CHAIN_ALONE(2, false, "2"),
    CHAIN_ALONE(3, false, "3"),
    CHAIN_ALONE(4, false, "4"),
    CHAIN_ALONE(5, false, "5"),
    CHAIN_ALONE(4, true, "4 dual"),
    CHAIN_ALONE(5, true, "5 dual"),
    CHAIN_ALONE(6, true, "6 dual"),
    {0},
};
/* The paper's cache study, in isolation: every instruction but a load takes one cycle, as in the simple processor of
 * the M5 simulator, and no register is spilled. */
#define ONE_CYCLE                                                                                                      \
    "pipe.forward=2 latency.f32_add=1 latency.f32_mul=1 latency.f32_fma=1 latency.f32_minmax=1 latency.f32_div=1 "     \
    "initiation.f32_div=1 latency.sfu=1 initiation.sfu=1 latency.int_div=1 initiation.int_div=1 pepsc.registers=0 "    \
    "pepsc.pipeline=false"
/* An L2 that holds all data after the host has copied them: the most that a prefetcher into the L2 can reach. */
#define L2_HITS "l2.size=268435456 l2.host_copies=true"
static const struct series prefetchers[] = {
    {.label = "none", .model = "spe", .hidden = true},
    {.label = "degree 1", .model = "spe+stride", .base = "none"},
    {.label = "ddp", .model = "spe+ddp", .base = "none"},
    {0},
};
static const struct series prefetchers_and_most[] = {
    {.label = "none", .model = "spe", .hidden = true},
    {.label = "degree 1", .model = "spe+stride", .base = "none"},
    {.label = "ddp", .model = "spe+ddp", .base = "none"},
    {.label = "every line in the L2", .model = "spe", .set = L2_HITS, .base = "none"},
    {0},
};
#define INACTIVE "32*gpu.warp_instructions+-1*gpu.thread_instructions"
#define LOST     "util.lost_serialization+-1*util.lost_no_warp"
static const struct series control[] = {
    {.label = "chains", .model = "spe+chain", .set = EIGHTH, .hidden = true},
    {.label = "folding, reduction", .model = "spe+chain+fold+reduce", .set = EIGHTH, .base = "chains"},
    {0},
};
/* Programs in source form on the core, in isolation: no misses, no spilled registers, and no folded selections, since
 * they are no control flow. The tree adds in its own order, as the hardware does. Without folding the core executes
 * both sides of a branch for every warp, under masks (section III-C1). The overhead is "executing fractions of a warp"
 * (section II-B) in instructions, as in figure 2. */
#define IN_SOURCE_FORM(l, ...) IN_SOURCE_FORM_(l, __VA_ARGS__)
#define IN_SOURCE_FORM_(l, model_, more, base_, hidden_)                                                               \
    {                                                                                                                  \
        .label = l, .model = model_, .preset = "pepsc", .suffix = "_sides", .base = base_, .hidden = hidden_,          \
        .set = ALONE " pepsc.registers=0 chain.ieee=false" more                                                        \
    }
#define MASKS  "spe+chain+fold", " fold.selections=false fold.parallel=false"
#define FOLDED "spe+chain+fold+reduce", " fold.selections=false"
static const struct series control_sides[] = {
    IN_SOURCE_FORM("masks", MASKS, NULL, true),
    IN_SOURCE_FORM("folding, reduction", FOLDED, "masks", false),
    IN_SOURCE_FORM("branches", "spe+chain", "", "masks", false),
    IN_SOURCE_FORM("old limits", "spe+chain+fold+reduce",
                   " fold.selections=false fold.operations=0 fold.guarded=0 fold.pairs=false", "masks", false),
    {0},
};
/* At 750 MHz, the power in mW is 1000 x 750e6 x joules / cycles, and the performance in GFLOP/s is 0.75 x operations /
 * cycles. */
static const struct series power[] = {
    {.label = "FPUs", .model = "pepsc", .value = "75e10*energy.float_joules+75e10*energy.sfu_joules/gpu.cycles"},
    {.label = "registers", .model = "pepsc", .value = "75e10*energy.regfile_joules/gpu.cycles"},
    {.label = "caches, shared memory",
     .model = "pepsc",
     .value = "75e10*energy.l1_joules+75e10*energy.l2_joules+75e10*energy.shared_joules/gpu.cycles"},
    {.label = "the rest",
     .model = "pepsc",
     .value = "75e10*energy.frontend_joules+75e10*energy.int_joules+75e10*energy.static_joules/gpu.cycles"},
    {0},
};
static const struct series speed[] = {
    {.label = "achieved", .model = "pepsc", .value = "0.75*util.flops/gpu.cycles"},
    {.label = "peak", .model = "pepsc", .value = "0.75*util.peak_flops/gpu.cycles"},
    {0},
};

static const struct claim used[] = {
    CLAIM("all", "utilisation", 0.45), CLAIM("black", "utilisation", 0.65), CLAIM("nw", "utilisation", 0.05), {0}};
static const struct claim efficient[] = {CLAIM("all", "32x5", 3.4), {0}};
static const struct claim chained[] = {CLAIM("all", "5", 1.12), CLAIM("all", "5 dual", 1.18), {0}};
static const struct claim prefetched[] = {CLAIM("all", "degree 1", 2.3), CLAIM("all", "ddp", 3.4), {0}};
/* ddp removes 53.1 % of what degree 1 leaves (1 - 0.622 = 0.378), so 0.378 x 0.469 = 0.177 remains */
static const struct claim sooner[] = {CLAIM("all", "degree 1", 1 - 0.622), CLAIM("all", "ddp", 0.177), {0}};
static const struct claim more_data[] = {CLAIM("all", "degree 1", 1.008), CLAIM("all", "ddp", 1.013), {0}};
static const struct claim overhead[] = {
    CLAIM("lps", "folding, reduction", 1 - 0.38),
    CLAIM("lu", "folding, reduction", 1 - 0.30),
    CLAIM("srad", "folding, reduction", 1 - 0.50),
    CLAIM("mc", "folding, reduction", 1 - 0.16),
    {0},
};
static const struct series faster[] = {
    {.label = "spe", .model = "spe", .set = EIGHTH, .hidden = true},
    {.label = "chaining", .model = "spe+chain", .set = EIGHTH, .base = "spe"},
    {.label = "folding, reduction", .model = "spe+chain+fold+reduce", .set = EIGHTH, .base = "spe"},
    {.label = "prefetching", .model = "spe+chain+fold+reduce+ddp", .set = EIGHTH, .base = "spe"},
    {0},
};
/* Figure 11 shows "our estimates": the losses of figure 2, each scaled by what a mechanism leaves of it when it is
 * measured alone. The mechanisms are added one after another. The stalls of the datapath scale with the idle cycles of
 * figure 9b, serialisation with the inactive lanes of section IV-C, and memory with the latency of figure 10. */
#define LOSS_DATAPATH DATAPATH_STALLS, "chains alone", "no chains", "gpu.idle_cycles"
#define LOSS_SERIAL   "util.lost_serialization", "folding alone", "no folding", INACTIVE
#define LOSS_MEMORY   "util.lost_memory", "ddp alone", "no ddp", "mem.latency"
static const struct estimate with_chains = {
    "spe", "util.busy_flops", {{LOSS_DATAPATH}, {.loss = "util.lost_serialization"}, {.loss = "util.lost_memory"}}};
static const struct estimate with_folding = {
    "spe", "util.busy_flops", {{LOSS_DATAPATH}, {LOSS_SERIAL}, {.loss = "util.lost_memory"}}};
static const struct estimate with_all = {"spe", "util.busy_flops", {{LOSS_DATAPATH}, {LOSS_SERIAL}, {LOSS_MEMORY}}};
#define CORE_ALONE(l, model_, set_, suffix_)                                                                           \
    { .label = l, .model = model_, .preset = "pepsc", .set = set_, .suffix = suffix_, .hidden = true }
static const struct series estimated[] = {
    {.label = "spe", .model = "spe"},
    {.label = "chaining", .estimate = &with_chains},
    {.label = "folding, reduction", .estimate = &with_folding},
    {.label = "prefetching", .estimate = &with_all},
    CORE_ALONE("no chains", "spe", ALONE, NULL),
    CORE_ALONE("chains alone", "spe+chain", ALONE, NULL),
    IN_SOURCE_FORM("no folding", MASKS, NULL, true),
    IN_SOURCE_FORM("folding alone", FOLDED, NULL, true),
    CORE_ALONE("no ddp", "spe", ONE_CYCLE, "_loop"),
    CORE_ALONE("ddp alone", "spe+ddp", ONE_CYCLE, "_loop"),
    {0},
};
static const struct claim in_all[] = {CLAIM("all", "spe", 0.45), CLAIM("all", "prefetching", 0.73), {0}};
static const struct claim peak_power[] = {
    CLAIM_AT_MOST("most", "FPUs", 1180),
    CLAIM_AT_MOST("most", "registers", 297),
    CLAIM_AT_MOST("most", "caches, shared memory", 580),
    CLAIM_AT_MOST("most", "the rest", 59),
    {0},
};
static const struct claim peak_speed[] = {CLAIM("most", "peak", 120), {0}};

#define EIGHTH_NOTE "the machine is an eighth of a GTX 285 (4 SMs, one channel), which the inputs fill"

const struct figure figures_pepsc[] = {
    {.name = "pepsc-2",
     .title = "where a GPU's performance goes",
     .paper = PAPER "figure 2",
     .programs = "pepsc",
     .preset = "gt200",
     .panels = {PANEL("shares of the lanes' time, counted in instructions", "util.lanes_busy", PANEL_VALUE,
                      MEAN_ARITHMETIC, SHOW_PERCENT, gpu, used),
                PANEL("utilisation with twice the bandwidth of DRAM, which changes it negligibly in the paper",
                      "util.lanes_busy", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, bandwidth, NULL),
                PANEL("shares of the peak, counted in f32 operations", "util.utilization", PANEL_VALUE, MEAN_ARITHMETIC,
                      SHOW_PERCENT, gpu_operations, NULL)},
     .note = "the small inputs do not fill the machine"},
    {.name = "pepsc-4",
     .title = "power efficiency by lanes and chain length",
     .paper = PAPER "figure 4",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("operations for energy over those of 8x1: the datapath", DATAPATH, PANEL_SPEEDUP, MEAN_GEOMETRIC,
                      SHOW_RATIO, widths, efficient),
                PANEL("the same with caches", CORE, PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, widths, NULL)},
     .note = "fewer lanes than 32 take an instruction in turns; 64 are two streams of 32 (docs/pepsc-core.md)"},
    {.name = "pepsc-6",
     .title = "degrees of prefetching",
     .paper = PAPER "figure 6",
     .programs = "pepsc-loops",
     .preset = "pepsc",
     .set = ONE_CYCLE,
     .panels = {PANEL("executions of loads by degree", "ddp.degree", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT,
                      degrees, NULL),
                PANEL("mean degree", "ddp.degree", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_RATIO, mean_degree, NULL)},
     .note = "the text says that lps has degrees from 1 to 8"},
    {.name = "pepsc-9b",
     .title = "chained floating-point units",
     .paper = PAPER "figure 9b",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("speed-up over no chains, by chain length, without misses", "gpu.cycles", PANEL_SPEEDUP,
                      MEAN_ARITHMETIC, SHOW_RATIO, lengths_alone, chained),
                PANEL("with memory", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO, lengths, NULL)}},
    {.name = "pepsc-10",
     .title = "prefetching",
     .paper = PAPER "figure 10",
     .programs = "pepsc-loops",
     .preset = "pepsc",
     .set = ONE_CYCLE,
     .panels = {PANEL("speed-up over no prefetching", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO,
                      prefetchers_and_most, prefetched),
                PANEL("latency of a miss over that without", "mem.latency", PANEL_RATIO, MEAN_ARITHMETIC, SHOW_RATIO,
                      prefetchers, sooner),
                PANEL("bytes read from DRAM over those without", "dram.read_bytes", PANEL_RATIO, MEAN_ARITHMETIC,
                      SHOW_RATIO, prefetchers, more_data)}},
    {.name = "pepsc-10-srad",
     .title = "prefetching for srad with an L2 of twice the size and 8 ways",
     .paper = PAPER "section IV-B",
     .programs = "srad_loop",
     .preset = "pepsc",
     .set = ONE_CYCLE " l2.size=262144 l2.ways=8",
     .panels = {PANEL("speed-up over no prefetching", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO,
                      prefetchers, NULL)},
     .note = "in the paper ddp is the better of the two here, and the worse with 4 ways (pepsc-10)"},
    {.name = "pepsc-control",
     .title = "control-flow overhead",
     .paper = PAPER "section IV-C",
     .programs = "lps lu srad mc",
     .preset = "gt200",
     .panels = {PANEL("inactive lanes of all instructions over those under masks, in isolation", INACTIVE, PANEL_RATIO,
                      MEAN_ARITHMETIC, SHOW_RATIO, control_sides, overhead),
                PANEL("operations of the FPUs lost to serialisation, likewise", LOST, PANEL_RATIO, MEAN_ARITHMETIC,
                      SHOW_RATIO, control_sides, NULL),
                PANEL("operations lost: CUDA programs with tiles, on an eighth of a GTX 285", LOST, PANEL_RATIO,
                      MEAN_ARITHMETIC, SHOW_RATIO, control, NULL)},
     .note = "source form: sides of branches keep their arithmetic (kernels/sides.cu); " EIGHTH_NOTE},
    {.name = "pepsc-11",
     .title = "a GPU with the parts of PEPSC",
     .paper = PAPER "figure 11",
     .programs = "pepsc",
     .preset = "gt200",
     .panels = {PANEL("utilisation, parts added in turn: losses scaled by what each part leaves of them alone",
                      "util.lanes_busy", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, estimated, in_all),
                PANEL("simulated: the speed of all parts together on an eighth of the machine", "gpu.cycles",
                      PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO, faster, NULL)},
     .note = "the paper's bars are estimates, too; an eighth has 4 SMs and one channel"},
    {.name = "pepsc-12",
     .title = "performance and power of the core",
     .paper = PAPER "figure 12",
     .programs = "pepsc",
     .preset = "pepsc",
     .panels = {PANEL("milliwatts", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_COUNT, power, peak_power),
                PANEL("GFLOP/s", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_RATIO, speed, peak_speed)},
     .note = "the paper's watts are of a core at its peak, ours of what each program does"},
    {0},
};
