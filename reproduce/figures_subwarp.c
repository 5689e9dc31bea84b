/* S. Damani et al., "GPU subwarp interleaving", HPCA 2022. */
#include "figures.h"
#include <stddef.h>

#define PAPER "subwarp interleaving, "
/* The paper's machine has a unit that traverses the tree of boxes (section IV): the walk unit (docs/memory.md). */
static const char scenes[] =
    "shadeunit1 shadeunit2 shadeunit3 shadeunit4 shadeunit5 shadeunit6 shadeunit7 shadeunit8 shadeunit9"
    " shadeunit10";
static const char walked[] = "shade1 shade2 shade3 shade4 shade5 shade6 shade7 shade8 shade9 shade10";

#define AT "memory.latency=600"
#define FASTER(title, series, claims)                                                                                  \
    PANEL(title, "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO, series, claims)
#define BASE(l)                                                                                                        \
    { .label = l, .model = "its", .hidden = true }

static const struct series micro[] = {BASE("its"), {.label = "si", .model = "si", .base = "its"}, {0}};
/* The series `its` and `si`, each also with instruction caches that hold the whole code. */
static const struct series larger_caches[] = {
    BASE("its"),
    {.label = "si", .model = "si", .base = "its"},
    {.label = "its large", .model = "its", .set = "l1i.size=262144", .hidden = true},
    {.label = "L1I of 256K", .model = "si", .set = "l1i.size=262144", .base = "its large"},
    {.label = "its largest", .model = "its", .set = "l0i.size=131072 l1i.size=262144", .hidden = true},
    {.label = "and L0I of 128K", .model = "si", .set = "l0i.size=131072 l1i.size=262144", .base = "its largest"},
    {0},
};
static const struct series share_all[] = {
    {.label = "all", .model = "its", .value = "sm.exposed_load_stalls/gpu.sm_cycles"},
    {.label = "in divergent code", .model = "its", .value = "sm.exposed_load_stalls_divergent/gpu.sm_cycles"},
    {0},
};

static const struct series share_slots[] = {
    {.label = "waiting for loads", .model = "its", .value = "issue.scoreboard_load/issue.slots"},
    {0},
};

/* Six settings at one latency. `l` is the prefix of their labels. */
#define SIX(l, latency)                                                                                                \
    {.label = l "its", .model = "its", .set = latency, .hidden = true},                                                \
        {.label = l "SOS N=1", .model = "si", .set = latency " si.trigger=all", .base = l "its"},                      \
        {.label = l "SOS N>=0.5", .model = "si", .set = latency " si.trigger=half", .base = l "its"},                  \
        {.label = l "SOS N>0", .model = "si", .set = latency " si.trigger=any", .base = l "its"},                      \
        {.label = l "Both N=1", .model = "si", .set = latency " si.yield=true si.trigger=all", .base = l "its"},       \
        {.label = l "Both N>=0.5", .model = "si", .set = latency " si.yield=true si.trigger=half", .base = l "its"},   \
        {.label = l "Both N>0", .model = "si", .set = latency " si.yield=true si.trigger=any", .base = l "its"}, {     \
        .label = l "BestOf",                                                                                           \
        .best_of = l "SOS N=1|" l "SOS N>=0.5|" l "SOS N>0|" l "Both N=1|" l "Both N>=0.5|" l "Both N>0"               \
    }
static const struct series settings[] = {SIX("", AT), {0}};
static const struct series latencies[] = {
    SIX("300 ", "memory.latency=300"), SIX("600 ", "memory.latency=600"), SIX("900 ", "memory.latency=900"), {0}};
static const struct series stalls[] = {
    {.label = "its", .model = "its", .set = AT, .hidden = true},
    {.label = "total", .model = "si", .set = AT " si.yield=true si.trigger=half", .base = "its"},
    {0},
};
#define BEST "si.yield=true si.trigger=half"
#define NEAR AT " l1.latency=1"
static const struct series near_hits[] = {
    {.label = "its", .model = "its", .set = NEAR, .hidden = true},
    {.label = "Both N>=0.5", .model = "si", .set = NEAR " " BEST, .base = "its"},
    {0},
};
#define SLOTS(n)                                                                                                       \
    {.label = "its " #n, .model = "its", .set = "sm.warps=" #n, .hidden = true}, {                                     \
        .label = #n " warps", .model = "si", .set = BEST " sm.warps=" #n, .base = "its " #n                            \
    }
static const struct series slots[] = {SLOTS(8), SLOTS(16), SLOTS(32), {0}};
#define SUBWARPS(n)                                                                                                    \
    { .label = #n " subwarps", .model = "si", .set = BEST " si.max_subwarps=" #n, .base = "its" }
static const struct series subwarps[] = {BASE("its"), SUBWARPS(2), SUBWARPS(4), SUBWARPS(6), SUBWARPS(32), {0}};
static const struct series icaches[] = {
    BASE("its"),
    {.label = "as it is", .model = "si", .set = BEST, .base = "its"},
    {.label = "its small", .model = "its", .set = "l0i.size=4096 l1i.size=16384", .hidden = true},
    {.label = "a quarter", .model = "si", .set = BEST " l0i.size=4096 l1i.size=16384", .base = "its small"},
    {0},
};

static const struct claim table3[] = {
    CLAIM("subwarps2", "si", 1.98),   CLAIM("subwarps4", "si", 3.95),   CLAIM("subwarps8", "si", 7.84),
    CLAIM("subwarps16", "si", 15.22), CLAIM("subwarps32", "si", 12.66), {0},
};
static const struct claim at600[] = {
    CLAIM("all", "Both N>=0.5", 1.063), CLAIM("most", "Both N>=0.5", 1.20), CLAIM("all", "BestOf", 1.066), {0}};
static const struct claim divergent_stalls[] = {CLAIM("all", "total", 1 - 0.265), {0}};
static const struct claim by_latency[] = {
    CLAIM("all", "300 BestOf", 1.042), CLAIM("all", "600 BestOf", 1.066), CLAIM("all", "900 BestOf", 1.076), {0}};
static const struct claim by_slots[] = {
    CLAIM("all", "8 warps", 1.051), CLAIM("all", "16 warps", 1.057), CLAIM("all", "32 warps", 1.063), {0}};
static const struct claim by_subwarps[] = {
    CLAIM("all", "2 subwarps", 1.042), CLAIM("all", "4 subwarps", 1.052), CLAIM("all", "32 subwarps", 1.063), {0}};
static const struct claim by_icache[] = {CLAIM("all", "as it is", 1.063), CLAIM("all", "a quarter", 1.045), {0}};

#define SCENES                                                                                                         \
    "the paper's ten are traces of games; ours are ten settings of one path tracer. The walk unit walks through the "  \
    "tree; its latency was chosen by one number of the paper, the total load stalls (docs/reproduction.md)"

const struct figure figures_subwarp[] = {
    {.name = "subwarp-table3",
     .title = "the micro-benchmark",
     .paper = PAPER "table III",
     .programs = "subwarps2 subwarps4 subwarps8 subwarps16 subwarps32",
     .preset = "turing",
     .set = AT,
     .panels = {FASTER("speed-up over its", micro, table3)},
     .note =
         "the paper does not state the size of the code; its text says that 32 ways exceed the L1 instruction cache"},
    {.name = "subwarp-table3-caches",
     .title = "the micro-benchmark with larger instruction caches",
     .paper = PAPER "table III",
     .programs = "subwarps2 subwarps4 subwarps8 subwarps16 subwarps32",
     .preset = "turing",
     .set = AT,
     .panels = {FASTER("speed-up over its with the same caches", larger_caches, NULL)}},
    {.name = "subwarp-3",
     .title = "what favours interleaving",
     .paper = PAPER "figure 3",
     .programs = scenes,
     .preset = "turing",
     .set = AT,
     .panels = {PANEL("exposed load-to-use stalls, share of cycles", "sm.exposed_load_stalls/gpu.sm_cycles",
                      PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, share_all, NULL),
                PANEL("the same by issue slots of the four blocks", "issue.scoreboard_load/issue.slots", PANEL_VALUE,
                      MEAN_ARITHMETIC, SHOW_PERCENT, share_slots, NULL)},
     .note = SCENES},
    {.name = "subwarp-12",
     .title = "six settings at a latency of 600 cycles",
     .paper = PAPER "figure 12",
     .programs = scenes,
     .preset = "turing",
     .panels = {FASTER("speed-up over its", settings, at600),
                PANEL("exposed load-to-use stalls over its's", "sm.exposed_load_stalls", PANEL_RATIO, MEAN_ARITHMETIC,
                      SHOW_RATIO, stalls, NULL),
                PANEL("those in divergent code over its's", "sm.exposed_load_stalls_divergent", PANEL_RATIO,
                      MEAN_ARITHMETIC, SHOW_RATIO, stalls, divergent_stalls)},
     .note = SCENES},
    {.name = "subwarp-12-walk",
     .title = "the same with the walk through the tree in the kernel",
     .paper = PAPER "figure 12",
     .programs = walked,
     .preset = "turing",
     .panels = {FASTER("speed-up over its", settings, NULL),
                FASTER("speed-up over its where a hit of the L1 takes one cycle", near_hits, NULL)},
     .note = "the paper's machine has a unit for the walk: its numbers stand beside subwarp-12"},
    {.name = "subwarp-13",
     .title = "latency of an L1 miss",
     .paper = PAPER "figure 13",
     .programs = scenes,
     .preset = "turing",
     .panels = {FASTER("speed-up over its at the same latency", latencies, by_latency)},
     .note = SCENES},
    {.name = "subwarp-14",
     .title = "warp slots",
     .paper = PAPER "figure 14",
     .programs = scenes,
     .preset = "turing",
     .set = AT,
     .panels = {FASTER("speed-up over its with as many warps", slots, by_slots)},
     .note = SCENES},
    {.name = "subwarp-15",
     .title = "subwarps of a warp",
     .paper = PAPER "figure 15",
     .programs = scenes,
     .preset = "turing",
     .set = AT,
     .panels = {FASTER("speed-up over its", subwarps, by_subwarps)},
     .note = SCENES},
    {.name = "subwarp-icache",
     .title = "instruction caches of a quarter",
     .paper = PAPER "section V-C4",
     .programs = scenes,
     .preset = "turing",
     .set = AT,
     .panels = {FASTER("speed-up over its with the same caches", icaches, by_icache)},
     .note = SCENES},
    {0},
};
