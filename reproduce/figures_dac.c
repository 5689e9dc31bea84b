/* K. Wang and C. Lin, "Decoupled affine computation for SIMT GPUs", ISCA 2017. */
#include "figures.h"
#include <stddef.h>

#define PAPER "decoupled affine computation, "

/* The paper's simulator, GPGPU-Sim 3.2.2 with its GTX 480, hashes the index of the L1, has 32 MSHRs, and schedules
 * greedy-then-oldest. */
#define SIMULATORS "l1.index=fermi l1.mshrs=32 sched.policy=gto"
#define AS_FERMI   "l1.index=linear l1.mshrs=64 sched.policy=lrr"

static const struct series dac_alone[] = {{.label = "spe+dac", .model = "spe+dac"}, {0}};
/* The series with the perfect L1 is included only because the split of the programs uses its speed-up. */
static const struct series designs[] = {
    {.label = "spe", .model = "spe", .hidden = true},
    {.label = "dac", .model = "spe+dac", .base = "spe"},
    {.label = "cae", .model = "spe+cae", .base = "spe"},
    {.label = "mta", .model = "spe+mta", .base = "spe"},
    {.label = "perfect L1", .model = "spe", .set = "memory.perfect_l1=true", .base = "spe"},
    {0},
};
static const struct series designs_as_fermi[] = {
    {.label = "spe, fermi", .model = "spe", .set = AS_FERMI, .hidden = true},
    {.label = "dac, fermi", .model = "spe+dac", .set = AS_FERMI, .base = "spe, fermi"},
    {.label = "cae, fermi", .model = "spe+cae", .set = AS_FERMI, .base = "spe, fermi"},
    {.label = "mta, fermi", .model = "spe+mta", .set = AS_FERMI, .base = "spe, fermi"},
    {0},
};
static const struct series counts[] = {
    {.label = "spe", .model = "spe", .hidden = true},
    {.label = "instructions", .model = "spe+dac", .base = "spe", .value = "gpu.warp_instructions"},
    {.label = "energy", .model = "spe+dac", .base = "spe", .value = "energy.total_joules"},
    {.label = "dynamic energy", .model = "spe+dac", .base = "spe", .value = "energy.dynamic_joules"},
    {0},
};
static const struct series shares[] = {
    {.label = "loads decoupled", .model = "spe+dac", .value = "dac.load_coverage"},
    {.label = "affine warp", .model = "spe+dac", .value = "dac.affine_share"},
    {.label = "scalar predicates", .model = "spe+dac", .value = "dac.predicates_cta/dac.masks"},
    {.label = "at most two", .model = "spe+dac", .value = "dac.predicates_cta+dac.predicates_ends/dac.masks"},
    {0},
};

static const struct split bound = {"perfect L1", "memory-bound", "compute-bound", 1.5};

static const struct claim half[] = {CLAIM("all", "spe+dac", 0.5), {0}};
static const struct claim faster[] = {
    CLAIM("all", "dac", 1.407),          CLAIM("compute-bound", "dac", 1.340), CLAIM("compute-bound", "cae", 1.110),
    CLAIM("memory-bound", "dac", 1.447), CLAIM("memory-bound", "mta", 1.167),  {0},
};
static const struct claim less[] = {CLAIM("all", "instructions", 1 - 0.260),
                                    CLAIM("all", "energy", 1 - 0.202),
                                    CLAIM("all", "dynamic energy", 1 - 0.184),
                                    {0}};
static const struct claim covered[] = {
    CLAIM("all", "loads decoupled", 0.798),
    CLAIM("all", "affine warp", 0.04),
    CLAIM("all", "scalar predicates", 0.64),
    CLAIM("all", "at most two", 0.93),
    {0},
};

#define OURS "the paper's list of 29 programs is not in its text; ours are those of the set dac"

const struct figure figures_dac[] = {
    {.name = "dac-6",
     .title = "instructions that could be affine",
     .paper = PAPER "figure 6",
     .programs = "dac",
     .preset = "fermi",
     .set = SIMULATORS,
     .panels = {PANEL("potentially affine, share of static instructions", "dac.static_share", PANEL_VALUE,
                      MEAN_ARITHMETIC, SHOW_PERCENT, dac_alone, half)},
     .note = OURS},
    {.name = "dac-summary",
     .title = "the numbers of its summary",
     .paper = PAPER "abstract and introduction",
     .programs = "dac",
     .preset = "fermi",
     .set = SIMULATORS,
     .panels = {PANEL("speed-up over spe", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, designs, faster,
                      .split = &bound),
                PANEL("over spe's", "gpu.cycles", PANEL_RATIO, MEAN_GEOMETRIC, SHOW_RATIO, counts, less),
                PANEL("shares", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, shares, covered),
                PANEL("speed-up over spe with a linear index, 64 MSHRs and round-robin", "gpu.cycles", PANEL_SPEEDUP,
                      MEAN_GEOMETRIC, SHOW_RATIO, designs_as_fermi, NULL)},
     .note = OURS "; memory-bound kernels: a perfect L1 makes them 1.5 times as fast (docs/dac.md)"},
    {0},
};
