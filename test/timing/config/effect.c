/* Tests that every option has an effect: for each option, some value at the edges of its range must change a statistic
 * of some kernel. The table `needs` lists the options that have an effect only together with other options. */
#include "host/heddle.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include "walk.h"
#include <limits.h>
#include <stdio.h>

enum { PARTS = 8, CTAS = 11, THREADS = 128, SIDE = 64, BYTES = 1 << 20, CYCLES = 100000000, MAX_STATS = 768 };

#define SMS "gpu.sms=2" /* the setting of all runs */

/* Statistics of one run. `n` is 0 if heddle refused the run, or if the run reached the cycle limit. */
struct figures {
    int n;
    double v[MAX_STATS];
};

/* Settings that an option needs in order to have an effect. A key that ends with a dot or an underscore stands for all
 * options with this prefix. */
struct ground {
    const char *key, *model, *config, *set[5];
    const char *value; /* another value to try if the usual values have no effect or are refused; NULL: none */
};

static const struct ground usual = {NULL, "spe", "fermi", {NULL}, NULL};
static const struct ground needs[] = {
    {"dpe.", "dpe", "fermi", {NULL}, NULL},
    {"dac.contexts", "spe+dac", "fermi", {"dac.batch=1", NULL}, NULL},
    {"dac.", "spe+dac", "fermi", {NULL}, "1"},
    {"energy.dac_", "spe+dac", "fermi", {NULL}, NULL},
    {"reduce.latency", "spe+reduce", "fermi", {NULL}, NULL},
    {"chain.latency6", "spe+chain", "fermi", {"chain.length=6", NULL}, NULL},
    {"chain.", "spe+chain", "fermi", {NULL}, NULL},
    {"energy.chained", "spe+chain", "fermi", {NULL}, NULL},
    {"fold.", "spe+fold", "fermi", {NULL}, NULL},
    {"reduce.", "spe+reduce", "fermi", {NULL}, NULL},
    {"pepsc.pipeline_", "spe", "fermi", {"pepsc.pipeline=on", NULL}, NULL},
    {"cae.", "spe+cae", "fermi", {NULL}, NULL},
    {"energy.cae_", "spe+cae", "fermi", {NULL}, NULL},
    {"pipe.affine.", "spe+cae", "fermi", {NULL}, NULL},
    /* settings with tables so small that the kernels fill them, and with periods so short that they end during the
     * kernels */
    {"mta.ways",
     "spe+mta",
     "fermi",
     {"mta.warp_entries=16", "mta.global_entries=16", "mta.inter_entries=16", NULL},
     "1"},
    {"mta.accuracy_high", "spe+mta", "fermi", {"mta.period=64", "mta.min_prefetches=1", NULL}, NULL},
    {"mta.merge_ratio",
     "spe+mta",
     "fermi",
     {"mta.period=64", "mta.min_prefetches=1", "mta.accuracy_low=0", "mta.accuracy_high=1", NULL},
     NULL},
    {"mta.", "spe+mta", "fermi", {NULL}, NULL},
    {"energy.mta_", "spe+mta", "fermi", {NULL}, NULL},
    /* late prefetches */
    {"ddp.max_degree", "spe+ddp", "fermi", {"ddp.train=1", "dram.latency=1000", NULL}, NULL},
    {"ddp.grow_by_prefetches", "spe+ddp", "fermi", {"ddp.train=1", "dram.latency=1000", NULL}, NULL},
    {"ddp.", "spe+ddp", "fermi", {NULL}, NULL},
    {"stride.", "spe+stride", "fermi", {NULL}, NULL},
    {"energy.stride_", "spe+ddp", "fermi", {NULL}, NULL},
    {"nextline.", "spe+nextline", "fermi", {NULL}, NULL},
    {"sld.", "spe+sld", "fermi", {NULL}, NULL},
    {"energy.sld_", "spe+sld", "fermi", {NULL}, NULL},
    /* an L1 so small that the warps evict each other's lines */
    {"ccws.", "spe+ccws", "fermi", {"l1.size=1024", NULL}, NULL},
    {"energy.ccws_", "spe+ccws", "fermi", {"l1.size=1024", NULL}, NULL},
    {"daws.", "spe+daws", "fermi", {NULL}, NULL},
    {"energy.daws_", "spe+daws", "fermi", {NULL}, NULL},
    {"lsu.prefetch_queue", "spe+mta", "fermi", {NULL}, NULL},
    {"dws.", "dws50", "fermi", {NULL}, NULL},
    {"multipath.", "multipath", "fermi", {NULL}, NULL},
    {"frontiers.", "frontiers", "fermi", {NULL}, NULL},
    {"specrecon.ratio", "its+specrecon", "fermi", {NULL}, NULL},
    {"dwf.", "anypc+dwf", "fermi", {NULL}, NULL},
    {"tbc.", "tbc", "fermi", {NULL}, NULL},
    {"joint.lanes", "anypc+dwf", "fermi", {NULL}, NULL},
    {"large.", "large", "fermi", {NULL}, NULL},
    {"its.", "its", "fermi", {NULL}, NULL},
    {"si.yield_after", "si", "fermi", {"si.yield=on", NULL}, NULL},
    {"si.", "si", "fermi", {NULL}, NULL},
    /* more than eight CTAs must fit, so that warp contexts or shared memory are the limit */
    {"sm.warps", "spe", "fermi", {"sm.ctas=64", NULL}, "8"},
    {"sm.swap_registers", "spe", "fermi", {"sm.running_warps=1", NULL}, NULL},
    {"sm.shared_bytes", "spe", "fermi", {NULL}, "2560"},
    {"sm.unified_bytes", "spe", "gv100", {"l1.size=512", "l1.ways=4", NULL}, NULL},
    {"sm.shared_unit", "spe", "fermi", {"sm.shared_bytes=8192", NULL}, NULL},
    {"core.kind", "spe", "turing", {NULL}, NULL},
    {"core.assembly", "spe", "ampere", {NULL}, NULL},
    {"core.select", "spe", "ampere", {NULL}, NULL},
    {"core.guard_latency", "spe", "ampere", {NULL}, NULL},
    {"core.uniform", "spe", "ampere", {"core.constant_operands=off", NULL}, NULL},
    {"core.convert_sfu", "spe", "ampere", {NULL}, NULL},
    {"core.constant_operands", "spe", "ampere", {NULL}, NULL},
    {"core.int_minmax", "spe", "ampere", {NULL}, NULL},
    {"core.entry", "spe", "ampere", {NULL}, NULL},
    {"core.fillers", "spe", "gv100", {NULL}, NULL},
    {"core.pointer_copies", "spe", "ampere", {NULL}, NULL},
    {"core.f64_gap", "spe", "rtx5070ti", {NULL}, NULL},
    {"core.read_ports", "spe", "ampere", {NULL}, NULL},
    {"core.f64_shared", "spe", "ampere", {NULL}, NULL},
    {"core.f32_multiplies", "spe", "ampere", {NULL}, NULL},
    {"core.wide_products", "spe", "ampere", {NULL}, NULL},
    {"core.multiplier_adds", "spe", "ampere", {NULL}, NULL},
    {"core.queue", "spe", "ampere", {NULL}, NULL},
    {"core.load_latency", "spe", "ampere", {NULL}, NULL},
    {"core.shared_latency", "spe", "ampere", {NULL}, NULL},
    {"core.consumers", "spe", "ampere", {"core.control_bits=off", NULL}, NULL},
    {"l2.dirty_hits", "spe", "fermi", {"l2.ways=2", "l2.size=24576", "l2.dirty_ways=1", NULL}, NULL},
    {"l2.request_sectors", "spe", "fermi", {"l2.sectored=true", NULL}, NULL},
    {"l2.dirty_ways", "spe", "fermi", {"l2.ways=2", "l2.size=24576", NULL}, "1"},
    /* options whose value divides the value of another option */
    {"sm.subcores", "spe", "fermi", {"pipe.sfu.units=2", "pipe.sfu.collectors=2", NULL}, NULL},
    {"tlb.entries", "spe", "fermi", {NULL}, NULL},
    {"tlb.", "spe", "fermi", {"tlb.entries=2", "tlb.page=4096", "tlb.l2_page=8192", NULL}, NULL},
    {"l2.slices", "spe", "fermi", {"dram.channels=1", NULL}, NULL},
    {"tex.ways", "spe", "fermi", {"tex.size=4096", "tex.ways=2", NULL}, NULL},
    {"l1.line", "spe", "fermi", {"lsu.line=32", NULL}, "64"},
    {"owl.prefetch", "spe", "fermi", {NULL}, NULL},
    {"owl.group_warps", "spe", "fermi", {"sched.policy=cta_groups", NULL}, NULL},
    {"owl.interval", "spe", "fermi", {"sched.policy=cta_locality", NULL}, NULL},
    {"sched.active_warps", "spe", "fermi", {"sched.policy=two_level", NULL}, NULL},
    {"pipe.branch.units", "spe", "fermi", {"pipe.branch.collectors=2", NULL}, NULL},
    {"pipe.branch.",
     "spe",
     "fermi",
     {"pipe.branch.units=2", "pipe.branch.collectors=4", "initiation.control=32", NULL},
     NULL},
    {"pipe.int.units", "spe", "fermi", {"pipe.int.collectors=2", NULL}, NULL},
    {"pipe.int.", "spe", "fermi", {"pipe.int.units=2", "pipe.int.collectors=2", NULL}, NULL},
    {"pipe.dp.units", "spe", "fermi", {"pipe.dp.collectors=2", NULL}, NULL},
    {"pipe.dp.", "spe", "fermi", {"pipe.dp.units=2", "pipe.dp.collectors=2", NULL}, NULL},
    /* these instruction caches are smaller than the kernels */
    {"l0i.", "spe", "fermi", {"l0i.size=1024", "sm.inst_bytes=64", NULL}, NULL},
    {"peer.fetch_retires_warps",
     "spe",
     "fermi",
     {"fetch.width=1", "icnt.latency=1", "sm.ctas=2", NULL},
     NULL}, /* no edges */
    {"peer.fetch_retry", "spe", "fermi", {"l1i.mshrs=1", "sm.inst_bytes=64", NULL}, NULL},
    {"peer.l2_sector_replies", "spe", "fermi", {"l2.sectored=true", NULL}, NULL},
    {"fetch.prefetch", "spe", "fermi", {"l0i.size=1024", "sm.inst_bytes=64", NULL}, NULL},
    {"energy.l0i", "spe", "fermi", {"l0i.size=1024", NULL}, NULL},
    {"l1i.latency", "spe", "fermi", {"l0i.size=1024", "l1i.size=16384", "sm.inst_bytes=64", NULL}, NULL},
    {"l1i.", "spe", "fermi", {"sm.inst_bytes=64", NULL}, NULL},
    {"gpc.sms", "spe", "fermi", {"sm.inst_bytes=64", NULL}, NULL},
    {"gpc.line", "spe", "fermi", {"gpc.sms=2", "gpc.size=4096", "sm.inst_bytes=64", NULL}, "128"},
    {"gpc.", "spe", "fermi", {"gpc.sms=2", "gpc.size=4096", "sm.inst_bytes=64", NULL}, NULL},
    {"energy.gpc", "spe", "fermi", {"gpc.sms=2", NULL}, NULL},
    /* with one bank, all operands are in the same bank */
    {"collector.lanes", "spe", "fermi", {"collector.banks=1", NULL}, NULL},
    {"collector.reads", "spe", "fermi", {"collector.banks=1", NULL}, NULL},
    {"peer.l1_banks", "spe", "fermi", {"l1.ports=4", NULL}, NULL},
    {"peer.l1_miss_queue", "spe", "fermi", {"l1.ports=4", NULL}, "1"},
    {"memory.latency", "spe", "fermi", {"memory.model=fixed", NULL}, NULL},
    {"memory.requests", "spe", "fermi", {"memory.model=fixed", NULL}, NULL},
};

/* Options that change no statistic of these kernels, each with the reason. */
static const struct {
    const char *key, *why;
} unfelt[] = {
    {"gpu.name", "for people"},
    {"gpu.capability", "which PTX of a compiled program is taken (host_elf_load)"},
    {"gpu.order", "of the functional model, in which it says how races end"},
    {"gpu.mma_accuracy", "changes results of mma, and no time"},
    {"gpu.jit", "of the functional model, in which it is another way to the same figures"},
    {"gpu.jit_after", "likewise"},
    {"gpu.cold_launches", "of contexts with several launches (timing_launches)"},
    {"gpu.poll", "another way to the same figures"},
    {"core.check", "of the functional model: an error in a program's control bits (frontend_passes_control)"},
    {"core.control_bits", "of programs with control bits (timing_sm_modern_core)"},
    {"core.reuse_cache", "of programs with control bits (timing_sm_modern_core)"},
    {"core.saves", "of calls (frontend_passes_saves)"},
    {"core.vectors", "of accesses to neighbouring words (frontend_passes_select_vectors)"},
    {"core.shared_gap", "of vectors from shared memory (frontend_passes_schedule)"},
    {"core.fragment_loads", "of wmma on modern cores (isa_exec_exec_tile)"},
    {"core.fragment_copies", "of wmma on modern cores (isa_exec_exec_tile)"},
    {"shared.parts", "of wide accesses to shared memory (timing_coalesce)"},
    {"core.uniform_addresses", "of accesses at parameters (frontend_passes_uniform)"},
    {"core.descriptors", "of calls through pointers (frontend_passes_descriptors)"},
    {"deadlock.cycles", "of launches that do not end"},
    {"deadlock.report", "of launches that do not end"},
    {"multipath.opportunistic", "of paths that meet before their reconvergence point (mechanisms_multipath)"},
    {"specrecon.trips", "of nested loops whose other code costs much (mechanisms_specrecon)"},
    {"specrecon.threshold", "of threads that gather late (mechanisms_specrecon)"},
    {"specrecon.line", "of lines in loops that have several places (mechanisms_specrecon)"},
    {"dac.corners", "of CTAs with several rows of threads (mechanisms_dac_costs)"},
    {"dac.tuples", "what is decoupled (mechanisms_dac)"},
    {"ccws.vta_ways", "of warps that lose several lines (mechanisms_ccws)"},
    {"daws.share", "of loops in which warps use many lines again (mechanisms_daws)"},
    {"daws.patience", "likewise"},
    {"l2.atomic_bytes", "of atomics with many addresses (timing_l2)"},
    {"l2.prefetch_queue", "of a slice's own prefetchers, which no model brings (timing_prefetch)"},
    {"walk.memory", "of heddle.walk, which these kernels do not have (timing_mem_walker)"},
    {"walk.own_latency", "likewise"},
    {"walk.warps", "likewise"},
    {"walk.queue", "likewise"},
    {"walk.rate", "likewise"},
    {"walk.latency", "likewise"},
    {"cluster.sms", "of launches with clusters, which these kernels do not have (host_clusters)"},
    {"cluster.latency", "likewise"},
    {"tma.queue", "of bulk copies, which these kernels do not have (host_tma)"},
    {"tma.latency", "likewise"},
    {"tma.interval", "likewise"},
    {"tma.requests", "likewise"},
    {"tensor.rate", "of wgmma, which these kernels do not have (timing_sm_tensor)"},
    {"tensor.latency", "likewise"},
    {"tensor.queue", "likewise"},
    {"tensor.shared_bytes", "likewise"},
    {"energy.cluster_byte", "of launches with clusters, which these kernels do not have (timing_report_energy)"},
    {"energy.tma_request", "of bulk copies, which these kernels do not have (timing_report_energy)"},
    {"energy.tensor_mac", "of wgmma, which these kernels do not have (timing_report_energy)"},
    {"energy.l2_tag", "of prefetches that the L2's tags answer"},
};

static bool is_unfelt(const struct opt *o) {
    for (size_t i = 0; i < sizeof unfelt / sizeof unfelt[0]; i++)
        if (strcmp(unfelt[i].key, o->key) == 0)
            return true;
    return false;
}

/* Returns the first row of `needs` whose key stands for this option. */
static const struct ground *ground_of(const struct opt *o) {
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        size_t len = strlen(needs[i].key);
        if (strncmp(o->key, needs[i].key, len) == 0 && (strchr("._", needs[i].key[len - 1]) || !o->key[len]))
            return &needs[i];
    }
    return &usual;
}

static struct figures run(const struct ground *g, const char *assignment, const char *kernel) {
    static struct figures f;
    const char *set[8] = {SMS};
    char err[1024];
    int n = 1;
    for (int i = 0; g->set[i]; i++)
        set[n++] = g->set[i];
    set[n] = assignment;
    f.n = 0;
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = g->model, .config = g->config, .set = set, .cycle_limit = CYCLES},
                    err, sizeof err);
    if (!h)
        return f;
    uint32_t texels[SIDE * SIDE], pair[2] = {1, 77};
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        texels[i] = i * i;
    bool spaces = strcmp(kernel, "spaces") == 0;
    struct heddle_module *m = heddle_module_file(h, spaces ? "test/kernels/spaces.ptx" : "test/kernels/traffic.ptx");
    ck_assert_msg(m, "%s", heddle_error(h));
    uint64_t in = heddle_alloc(h, BYTES), out = heddle_alloc(h, BYTES), sum = heddle_alloc(h, 8),
             tex = heddle_alloc(h, sizeof texels);
    struct heddle_texture t = {
        .data = tex, .width = SIDE, .height = SIDE, .format = HEDDLE_U32, .sampler = {.address = {HEDDLE_CLAMP}}};
    struct heddle_arg args[] = {{&in, 8}, {&out, 8}, {&sum, 8}, {pair, 8}};
    heddle_clear(h, in, BYTES);
    heddle_write(h, tex, texels, sizeof texels);
    ck_assert_int_eq(heddle_bind_texture(h, m, "image", &t), HEDDLE_OK);
    if (heddle_launch(h, m, kernel, (struct heddle_dim){CTAS, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args,
                      spaces ? 4 : 3) == HEDDLE_OK) {
        const struct stat_def *d = stat_defs(&f.n);
        ck_assert_int_lt(f.n, MAX_STATS);
        for (int i = 0; i < f.n; i++)
            f.v[i] = strncmp(d[i].name, "host.", 5) == 0 ? 0 : heddle_stat(h, -1, d[i].name);
    }
    heddle_close(h);
    return f;
}

/* Returns true if setting the option to this value, in addition to the settings of row `g`, changes a statistic.
 * `before` has the statistics with the row's settings only. */
static bool value_changes(const struct ground *g, const struct opt *o, const char *value, const char *kernel,
                          const struct figures *before) {
    char assignment[160];
    snprintf(assignment, sizeof assignment, "%s=%s", o->key, value);
    struct figures after = run(g, assignment, kernel);
    return after.n && memcmp(before->v, after.v, sizeof after.v[0] * (size_t)after.n) != 0;
}

static const char *const kernels[] = {"spaces",   "chains", "rows",  "sums",   "loops",
                                      "products", "faces",  "sides", "traffic"};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0], N_NEEDS = sizeof needs / sizeof needs[0] };

/* Returns the statistics of a kernel with the settings of row `g` of `needs` and no other option. Many options need the
 * same settings, so these statistics are kept. */
static const struct figures *figures_of(const struct ground *g, int kernel) {
    static struct figures seen[N_NEEDS + 1][N_KERNELS];
    struct figures *f = &seen[g == &usual ? N_NEEDS : g - needs][kernel];
    if (!f->n)
        *f = run(g, NULL, kernels[kernel]);
    return f;
}

/* Returns true if the settings of row `g` already give the option this value. */
static bool has_value(const struct ground *g, const struct opt *o, const char *value) {
    static struct config before, after;
    char assignment[160], err[1024];
    snprintf(assignment, sizeof assignment, "%s=%s", o->key, value);
    ck_assert_msg(config_load(&before, g->config, err, sizeof err), "%s", err);
    ck_assert_msg(config_set(&before, SMS, err, sizeof err), "%s", err);
    for (int i = 0; g->set[i]; i++)
        ck_assert_msg(config_set(&before, g->set[i], err, sizeof err), "%s", err);
    after = before;
    return config_set(&after, assignment, err, sizeof err) && config_same(&before, &after, o);
}

/* Returns true if a value of the option changes a statistic. Tries the value of row `g`, if it has one, then at most
 * `most` values of the option's range, beginning with its ends, but not the value that the option has anyway. Each
 * value is tried with all kernels before the next value, because even an option that affects only one kernel usually
 * shows its effect at an end of its range. */
static bool changes(const struct ground *g, const struct opt *o, int most) {
    char value[64];
    for (int v = g->value ? -1 : 0; v < most; v++) {
        if (v >= 0 && !walk_value(o, v, value, sizeof value))
            return false;
        if (v >= 0 && has_value(g, o, value))
            continue;
        for (int k = 0; k < N_KERNELS; k++) {
            const struct figures *before = figures_of(g, k);
            ck_assert_msg(before->n > 0, "%s: its ground is refused", o->key);
            if (value_changes(g, o, v < 0 ? g->value : value, kernels[k], before))
                return true;
        }
    }
    return false;
}

START_TEST(every_option_changes_a_figure) {
    const struct opt *o = config_options();
    char idle[1024] = "";
    for (int i = 0, seen = 0; o[i].key; i++)
        if (!is_unfelt(&o[i]) && seen++ % PARTS == _i && !changes(ground_of(&o[i]), &o[i], INT_MAX))
            snprintf(idle + strlen(idle), sizeof idle - strlen(idle), " %s", o[i].key);
    ck_assert_msg(!*idle, "these change nothing:%s", idle);
}
END_TEST

/* Each option in the tables must exist, and an option in `unfelt` must change no statistic. Tries only the least
 * value of each range; with HEDDLE_EVERY, all values. */
START_TEST(nothing_else_is_excused) {
    for (size_t i = 0; i < sizeof unfelt / sizeof unfelt[0]; i++) {
        const struct opt *o = config_options();
        while (o->key && strcmp(o->key, unfelt[i].key) != 0)
            o++;
        ck_assert_msg(o->key != NULL, "there is no %s", unfelt[i].key);
        ck_assert_msg(!changes(&usual, o, test_every() ? INT_MAX : 1), "%s changes a figure", o->key);
    }
}
END_TEST

SUITE(timing_config_effect) {
    /* with tables of the smallest size, some options would have no effect */
    TEST_LOOP(every_option_changes_a_figure, 0, LEAST_TABLES ? 0 : PARTS);
    TEST(nothing_else_is_excused);
}
