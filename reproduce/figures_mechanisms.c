/* All mechanisms on the same programs and the same machine, compared with the stack of one path. */
#include "figures.h"
#include <stddef.h>

/* MODEL: a series with a model's name as its label. WITH: a series with options, too. */
#define MODEL(model_)                                                                                                  \
    { .label = model_, .model = model_, .base = "spe" }
#define WITH(label_, model_, set_)                                                                                     \
    { .label = label_, .model = model_, .set = set_, .base = "spe" }

static const struct series all[] = {
    MODEL("spe"),
    /* reconvergence models */
    MODEL("dpe"),
    MODEL("dws10"),
    MODEL("dws50"),
    MODEL("dws100"),
    MODEL("multipath"),
    MODEL("minpc"),
    MODEL("frontiers"),
    WITH("frontiers, conservative", "frontiers", "frontiers.kind=conservative"),
    MODEL("its"),
    MODEL("si"),
    MODEL("its+specrecon"),
    /* several paths in one issue slot */
    MODEL("tbc"),
    MODEL("capri"),
    MODEL("large"),
    WITH("large, two_level", "large", "sched.policy=two_level"),
    MODEL("anypc"),
    MODEL("anypc+sbi"),
    MODEL("anypc+swi"),
    MODEL("spe+swi"),
    MODEL("anypc+dwf"),
    {.label = "anypc+mimd", .model = "anypc+mimd", .base = "spe", .bound = true},
    /* warp schedulers */
    WITH("gto", "spe", "sched.policy=gto"),
    WITH("two_level", "spe", "sched.policy=two_level"),
    WITH("oldest", "spe", "sched.policy=oldest"),
    WITH("youngest", "spe", "sched.policy=youngest"),
    WITH("gcaws", "spe", "sched.policy=gcaws"),
    WITH("cta_groups", "spe", "sched.policy=cta_groups"),
    WITH("cta_locality", "spe", "sched.policy=cta_locality"),
    WITH("cta_banks", "spe", "sched.policy=cta_banks"),
    WITH("cta_banks, row prefetches", "spe", "sched.policy=cta_banks owl.prefetch=8"),
    /* CTA schedulers */
    WITH("lcs", "spe", "gpu.cta_policy=lcs"),
    WITH("bcs", "spe", "gpu.cta_policy=bcs"),
    WITH("lbcs, baws", "spe", "gpu.cta_policy=lbcs sched.policy=baws"),
    /* replacement policies of the L1 */
    WITH("lip", "spe", "l1.replacement=lip"),
    WITH("bip", "spe", "l1.replacement=bip"),
    WITH("dip", "spe", "l1.replacement=dip"),
    WITH("srrip", "spe", "l1.replacement=srrip"),
    WITH("brrip", "spe", "l1.replacement=brrip"),
    WITH("drrip", "spe", "l1.replacement=drrip"),
    WITH("gcaws, cacp", "spe", "sched.policy=gcaws l1.replacement=cacp"),
    /* bypass policies of the L1 */
    WITH("stall", "spe", "l1.bypass=stall"),
    WITH("reuse", "spe", "l1.bypass=reuse"),
    /* fewer warps that load */
    MODEL("spe+ccws"),
    MODEL("spe+daws"),
    /* prefetchers */
    MODEL("spe+mta"),
    MODEL("spe+stride"),
    MODEL("spe+ddp"),
    MODEL("spe+nextline"),
    MODEL("spe+sld"),
    WITH("spe+sld, prefetch_aware", "spe+sld", "sched.policy=prefetch_aware"),
    /* other datapaths */
    MODEL("spe+dac"),
    MODEL("spe+cae"),
    MODEL("spe+chain"),
    MODEL("spe+fold"),
    MODEL("spe+reduce"),
    MODEL("pepsc"),
    /* combinations */
    MODEL("dpe+dac"),
    MODEL("dpe+mta"),
    MODEL("spe+dac+swi"),
    WITH("dpe, drrip", "dpe", "l1.replacement=drrip"),
    WITH("multipath, oldest", "multipath", "sched.policy=oldest"),
    {0},
};

/* Mechanisms on the core of 2010 and on a modern core. Each X has a label, a model and options. */
#define ON_BOTH_CORES(X)                                                                                               \
    X("spe", "spe", "")                                                                                                \
    X("dpe", "dpe", "")                                                                                                \
    X("dws50", "dws50", "")                                                                                            \
    X("multipath", "multipath", "")                                                                                    \
    X("its", "its", "")                                                                                                \
    X("si", "si", "")                                                                                                  \
    X("tbc", "tbc", "")                                                                                                \
    X("anypc+sbi", "anypc+sbi", "")                                                                                    \
    X("spe+swi", "spe+swi", "")                                                                                        \
    X("gto", "spe", "sched.policy=gto")                                                                                \
    X("drrip", "spe", "l1.replacement=drrip")                                                                          \
    X("spe+ccws", "spe+ccws", "")                                                                                      \
    X("spe+mta", "spe+mta", "")                                                                                        \
    X("spe+dac", "spe+dac", "")                                                                                        \
    X("spe+chain", "spe+chain", "")                                                                                    \
    X("dpe+dac", "dpe+dac", "")
#define OF_2010(label_, model_, set_) {.label = label_, .model = model_, .set = set_, .base = "spe"},
#define OF_TODAY(label_, model_, set_)                                                                                 \
    {.label = label_, .model = model_, .set = TODAY_PART " " set_, .preset = "a6000", .base = "spe"},
/* A part of an RTX A6000 with as many SMs as a GTX 480. */
#define TODAY_PART "gpu.sms=15 l2.size=1572864 l2.slices=12 dram.channels=6"

static const struct series of_2010[] = {ON_BOTH_CORES(OF_2010){0}}, of_today[] = {ON_BOTH_CORES(OF_TODAY){0}};

const struct figure figures_mechanisms[] = {
    {.name = "mechanisms",
     .title = "every mechanism on every program",
     .paper = "Heddle's mechanisms",
     .programs = "classic dual-path dual-path-regular dac pepsc subwarp pepsc-loops pepsc-sides",
     .preset = "fermi",
     .own = true,
     .contest = "spe",
     .panels = {PANEL("speed-up", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, all, NULL),
                PANEL("lanes used", "gpu.lane_utilization", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_PERCENT, all, NULL),
                PANEL("issue slots used", "issue.issued", PANEL_RATIO, MEAN_GEOMETRIC, SHOW_RATIO, all, NULL),
                PANEL("L1 misses", "l1.misses", PANEL_RATIO, MEAN_GEOMETRIC, SHOW_RATIO, all, NULL),
                PANEL("energy", "energy.total_joules", PANEL_RATIO, MEAN_GEOMETRIC, SHOW_RATIO, all, NULL)},
     .note = "the machine is that of the preset fermi for every mechanism, which is not the machine of each paper"},
    {.name = "today",
     .title = "what a modern core leaves of each gain",
     .own = true,
     .paper = "Heddle's mechanisms",
     .programs = "classic dual-path dual-path-regular dac pepsc subwarp pepsc-loops pepsc-sides",
     .preset = "fermi",
     .panels = {PANEL("speed-up on fermi", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, of_2010, NULL),
                PANEL("speed-up on a6000", "gpu.cycles", PANEL_SPEEDUP, MEAN_GEOMETRIC, SHOW_RATIO, of_today, NULL)},
     .note = "a6000 is reduced to as many SMs as fermi has, and to the corresponding share of L2 and DRAM channels"},
    {0},
};
