/* Tests ratios of statistics. Expected ratios follow from their meaning (docs/statistics.md), not from the table in
 * timing/report/stat.c. */
#include "test/test.h"
#include "timing/report/stat.h"

static const struct {
    const char *name, *num, *den;
} ratios[] = {
    {"gpu.ipc", "gpu.thread_instructions", "gpu.cycles"},
    {"gpu.warp_ipc", "gpu.warp_instructions", "gpu.cycles"},
    {"gpu.lane_utilization", "gpu.thread_instructions", "gpu.lane_slots"},
    {"gpu.avg_paths", "gpu.path_sum", "gpu.warp_instructions"},
    {"dac.static_share", "dac.static_affine", "dac.static_instructions"},
    /* gpu.warp_instructions includes the instructions of affine warps */
    {"dac.affine_share", "dac.affine_instructions", "gpu.warp_instructions"},
    {"dac.load_coverage", "dac.decoupled_loads", "dac.loads"},
    {"sm.occupancy", "sm.warp_cycles", "gpu.sm_cycles"},
    {"joint.lanes_per_slot", "joint.lanes", "joint.slots"},
    {"large.subwarps_each", "large.subwarps", "large.instructions"},
    {"fetch.miss_rate", "fetch.misses", "fetch.fetches"},
    {"util.utilization", "util.flops", "util.peak_flops"},
    {"util.pipe_busy", "pipe.sp_cycles", "util.pipe_cycles"},
    {"util.tensor", "tensor.busy_cycles", "util.tensor_cycles"},
    {"util.tma", "tma.busy_cycles", "gpu.sm_cycles"},
    {"util.dsmem", "cluster.bytes", "util.cluster_bytes"},
    {"util.lanes_busy", "util.busy_flops", "util.peak_flops"},
    {"walk.mean_cycles", "walk.cycles", "walk.instructions"},
    {"walk.visits_per_ray", "walk.visits", "walk.rays"},
    {"util.datapath", "util.lost_datapath", "util.peak_flops"},
    {"util.no_flops", "util.lost_no_flops", "util.peak_flops"},
    {"util.memory", "util.lost_memory", "util.peak_flops"},
    {"util.no_warp", "util.lost_no_warp", "util.peak_flops"},
    {"util.serialization", "util.lost_serialization", "util.peak_flops"},
    {"lsu.transactions_per_instruction", "lsu.transactions", "lsu.instructions"},
    {"l1.miss_rate", "l1.misses", "l1.accesses"},
    {"l1c.miss_rate", "l1c.misses", "l1c.accesses"},
    {"tex.miss_rate", "tex.misses", "tex.accesses"},
    {"gpc.miss_rate", "gpc.misses", "gpc.accesses"},
    {"l2.miss_rate", "l2.misses", "l2.accesses"},
    {"icnt.latency", "icnt.latency_sum", "icnt.request_packets"}, /* and replies: see timing_stat */
    {"dram.row_hit_rate", "dram.row_hits", "dram.requests"},
    {"dram.utilization", "dram.busy_clocks", "dram.clocks"},
    {"mem.latency", "mem.latency_sum", "mem.replies"},
    {"mem.prefetch_latency", "mem.prefetch_latency_sum", "mem.prefetch_replies"},
    {"dac.cta_wait_share", "dac.cta_wait_cycles", "dac.cta_cycles"},
    {"chain.operations_per_instruction", "chain.operations", "chain.instructions"},
    {"pipeline.interval", "pipeline.cycles", "pipeline.loops"},
    {"cae.share", "cae.affine_instructions", "gpu.warp_instructions"},
    {"cae.compact_registers", "cae.compact_sum", "gpu.warp_instructions"},
    {"mta.accuracy", "mta.useful", "mta.issued"},
    {"stride.confidence", "stride.confident", "stride.executions"},
    {"stride.accuracy", "stride.useful", "stride.issued"},
    {"stride.traffic", "stride.bytes", "dram.read_bytes"},
    {"ddp.confidence", "ddp.confident", "ddp.executions"},
    {"ddp.accuracy", "ddp.useful", "ddp.issued"},
    {"ddp.traffic", "ddp.bytes", "dram.read_bytes"},
    {"nextline.accuracy", "nextline.useful", "nextline.issued"},
    {"sld.accuracy", "sld.useful", "sld.issued"},
    {"ccws.held_share", "ccws.held_cycles", "sm.warp_cycles"},
    {"daws.held_share", "daws.held_cycles", "sm.warp_cycles"},
    {"daws.footprint", "daws.predicted", "daws.entries"},
    {"ddp.degree", "ddp.degree_sum", "ddp.confident"},
    {"lcs.limit", "lcs.limit_sum", "lcs.limits"},
    {"host.warp_instructions_per_second", "gpu.warp_instructions", "host.seconds"},
};
enum { N_RATIOS = sizeof ratios / sizeof ratios[0] };

/* The sums of each ratio are set so that the ratio is 30 / 40. Adding 7 to all other sums must not change it. */
START_TEST(each_is_of_two_sums) {
    struct stats s;
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < N_RATIOS; i++) {
        ck_assert(stats_init(&s));
        ck_assert_msg(stats_get(&s, ratios[i].name) == 0, "%s of nothing", ratios[i].name);
        stats_add(&s, ratios[i].num, 30);
        stats_add(&s, ratios[i].den, 40);
        ck_assert_msg(stats_get(&s, ratios[i].name) == 0.75, "%s is %g", ratios[i].name, stats_get(&s, ratios[i].name));
        for (int k = 0; k < n; k++)
            if (d[k].kind != STAT_RATIO && strcmp(d[k].name, ratios[i].num) != 0 &&
                strcmp(d[k].name, ratios[i].den) != 0 && strcmp(d[k].name, "icnt.reply_packets") != 0)
                stats_add(&s, d[k].name, 7);
        ck_assert_msg(stats_get(&s, ratios[i].name) == 0.75, "%s changes with others", ratios[i].name);
        stats_free(&s);
    }
}
END_TEST

START_TEST(all_are_here) {
    int n, found = 0;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        bool here = d[i].kind != STAT_RATIO;
        for (int k = 0; k < N_RATIOS; k++)
            here |= strcmp(d[i].name, ratios[k].name) == 0;
        ck_assert_msg(here, "no row above is for %s", d[i].name);
        found += d[i].kind == STAT_RATIO;
    }
    ck_assert_int_eq(found, N_RATIOS);
}
END_TEST

SUITE(timing_stat_ratios) {
    TEST(each_is_of_two_sums);
    TEST(all_are_here);
}
