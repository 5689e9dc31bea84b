/* Ablations of the modern core: R. Huerta et al., "Dissecting and modeling the architecture of modern GPU cores", MICRO
 * 2025. */
#include "figures.h"
#include <stddef.h>

/* A part of an RTX A6000 with 15 of its SMs, as in the figure `today`. */
#define PART "gpu.sms=15 l2.size=1572864 l2.slices=12 dram.channels=6"
/* Each benchmark that sm_86 can run, but no micro-benchmark (subwarpsN, arith), and no second version of pepsc (loops,
 * sides) or shade1 (other scenes, shadeunitN). */
#define PROGRAMS "classic dual-path dual-path-regular dac pepsc shade1 flash2 large public"
#define ON(label_, set_)                                                                                               \
    { .label = label_, .model = "spe", .set = set_, .base = "none" }

static const struct series buffers[] = {
    {.label = "none", .model = "spe", .set = "fetch.prefetch=0", .hidden = true},
    ON("1 line", "fetch.prefetch=1"),
    ON("2 lines", "fetch.prefetch=2"),
    ON("4 lines", "fetch.prefetch=4"),
    ON("8 lines", "fetch.prefetch=8"),
    ON("16 lines", "fetch.prefetch=16"),
    ON("32 lines", "fetch.prefetch=32"),
    ON("perfect", "fetch.perfect=on"),
    {0},
};
static const struct claim of_buffers[] = {
    CLAIM("all", "1 line", 1.08),   CLAIM("all", "2 lines", 1.19),
    CLAIM("all", "4 lines", 1.29),  CLAIM("all", "8 lines", 1.37),
    CLAIM("all", "16 lines", 1.40), CLAIM("all", "32 lines", 1.40),
    CLAIM("all", "perfect", 1.50),  {0},
};

#undef ON
#define ON(label_, set_)                                                                                               \
    { .label = label_, .model = "spe", .set = set_, .base = "card" }
#define WHOLE                                                                                                          \
    { .label = "card", .model = "spe", .hidden = true }
static const struct series registers[] = {
    WHOLE,
    ON("no cache", "core.reuse_cache=off"),
    ON("two ports, no cache", "core.reuse_cache=off core.read_ports=2"),
    {0},
};
static const struct claim of_registers[] = {
    CLAIM("all", "no cache", 0.974),
    CLAIM("all", "two ports, no cache", 1.006),
    {0},
};

static const struct series scoreboards[] = {
    WHOLE,
    ON("1 consumer", "core.control_bits=off core.consumers=1"),
    ON("3 consumers", "core.control_bits=off core.consumers=3"),
    ON("63 consumers", "core.control_bits=off core.consumers=63"),
    {0},
};
static const struct claim of_scoreboards[] = {
    CLAIM("all", "1 consumer", 0.95),
    CLAIM("all", "3 consumers", 0.98),
    CLAIM("all", "63 consumers", 0.98),
    {0},
};

const struct figure figures_modern[] = {
    {.name = "modern-core",
     .title = "what parts of a modern core bring",
     .paper = "Huerta et al., MICRO 2025, stream buffers, register file and scoreboards",
     .programs = PROGRAMS,
     .preset = "a6000",
     .set = PART,
     .own = true,
     .panels = {PANEL("speed-up by a stream buffer", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, buffers,
                      of_buffers),
                PANEL("speed-up by register ports", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, registers,
                      of_registers),
                PANEL("speed-up by scoreboards", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, scoreboards,
                      of_scoreboards)},
     .note = "15 of 84 SMs, with their share of L2 and DRAM; the paper runs 128 programs"},
    {0},
};
