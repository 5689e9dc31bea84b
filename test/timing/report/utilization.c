/* Tests how utilisation reports divide the peak performance into causes, against values computed by hand. */
#include "timing/report/utilization.h"
#include "test/test.h"

struct row {
    const char *name;
    double value;
};

static void check_rows(const struct stats *s, const struct row *rows) {
    for (; rows->name; rows++)
        ck_assert_msg(stats_get(s, rows->name) == rows->value, "%s: %g, not %g", rows->name, stats_get(s, rows->name),
                      rows->value);
}

static struct config machine(uint32_t units, uint32_t initiation) {
    struct config c;
    config_default(&c);
    c.sm.pipe[PIPE_SP].units = units;
    c.latency[LAT_F32_FMA].initiation = initiation;
    return c;
}

/* 1000 cycles of one SM with one scheduler. The SP pipe executed 60 fma with all lanes, 10 fma with 16 lanes, and 30
 * instructions without floating-point operations. Other pipes executed 200 instructions. */
static const struct row counts[] = {
    {"gpu.sm_cycles", 1000},
    {"pipe.sp", 100},
    {"pipe.sp_cycles", 100 * 4},
    {"pipe.sp_lane_cycles", (60 * 32 + 10 * 16 + 30 * 32) * 4},
    {"pipe.sp_flop_lane_cycles", (60 * 32 + 10 * 16) * 4},
    {"op.f32_fma", 60 * 32 + 10 * 16},
    {"issue.slots", 1000},
    {"issue.issued", 300},
    {"issue.scoreboard_load", 300},
    {"issue.queue", 50},
    {"issue.pipe_busy", 100},
    {"issue.pipe_busy_memory", 20},
    {"issue.barrier", 60},
    {"issue.reconvergence", 40},
    {"issue.no_warp", 50},
    {"issue.scoreboard_arith", 80},
    {"issue.fetch", 20},
    {NULL, 0},
};

static void count(struct stats *s, double times) {
    for (const struct row *r = counts; r->name; r++)
        stats_add(s, r->name, r->value * times);
}

/* - the pipe accepts an instruction every four cycles, so the peak is 32 x 2 / 4 = 16 operations per cycle
 * - the instructions occupy the pipe for 400 cycles, so 600 cycles, or 9600 operations, are left
 * - 900 issue slots had no SP instruction: warps waited for memory in 370 of them, the cause was serialisation in 150
 *   (in 50 of these the scheduler had no warp), and 200 issued to other pipes
 * - lanes that did not execute: 10 x 16, with 2 operations each
 * - other instructions of the SP pipe: 30 x 32 x 2 */
START_TEST(the_peak_is_divided) {
    struct config c = machine(1, 4);
    struct stats none, s;
    ck_assert(stats_init(&none) && stats_init(&s));
    count(&s, 1);
    utilization_stats(&c, 2, &none, &s);
    check_rows(&s, (const struct row[]){{"util.peak_flops", 16000},
                                        {"util.cluster_bytes", 1000 * 16}, /* cluster.bytes a cycle */
                                        {"util.pipe_cycles", 1000},        /* of one pipe */
                                        {"util.flops", 60 * 64 + 10 * 32},
                                        {"util.pipe_busy", 0.4},
                                        {"util.busy_flops", 6080}, /* 60 x 64 + 10 x 32 + 30 x 64 */
                                        {"util.lanes_busy", 0.38},
                                        {"util.lost_memory", 3946},              /* 9600 x 370 / 900 = 3946.7 */
                                        {"util.lost_serialization", 1600 + 320}, /* 9600 x 150 / 900 */
                                        {"util.lost_no_warp", 533},              /* 9600 x 50 / 900 = 533.3 */
                                        {"util.lost_no_flops", 4053},            /* 9600 x 200 / 900 + 1920 = 4053.3 */
                                        {"util.lost_datapath", 16000 - 4160 - 3946 - 1920},
                                        {"util.utilization", 4160. / 16000},
                                        {NULL, 0}});
    stats_free(&none);
    stats_free(&s);
}
END_TEST

/* An addition or a product counts as one operation per lane, an fma as two. */
START_TEST(operations_by_kind) {
    struct config c = machine(1, 1);
    struct stats none, s;
    ck_assert(stats_init(&none) && stats_init(&s));
    stats_add(&s, "gpu.sm_cycles", 100);
    stats_add(&s, "op.f32_add", 32);
    stats_add(&s, "op.f32_mul", 3 * 32);
    stats_add(&s, "op.f32_fma", 5 * 32);
    utilization_stats(&c, 2, &none, &s);
    check_rows(&s, (const struct row[]){{"util.flops", 32 + 96 + 320}, {"util.utilization", 448. / 6400}, {NULL, 0}});
    stats_free(&none);
    stats_free(&s);
}
END_TEST

/* - two pipes could accept one instruction per cycle each, but there is one issue slot per cycle: 1000 x 64 operations
 *   of the second pipe count as lost in the datapath
 * - with compound instructions of up to five operations, an instruction could do 5 operations per lane, and an fma
 *   does 2 */
START_TEST(pipes_without_slots_and_chains) {
    struct config c = machine(2, 1);
    struct stats none, s;
    ck_assert(stats_init(&none) && stats_init(&s));
    const struct row busy[] = {{"gpu.sm_cycles", 1000},
                               {"pipe.sp", 1000},
                               {"pipe.sp_cycles", 1000},
                               {"pipe.sp_lane_cycles", 32000},
                               {"pipe.sp_flop_lane_cycles", 32000},
                               {"op.f32_fma", 32000},
                               {"issue.slots", 1000},
                               {"issue.issued", 1000},
                               {NULL, 0}};
    for (const struct row *r = busy; r->name; r++)
        stats_add(&s, r->name, r->value);
    utilization_stats(&c, 2, &none, &s);
    check_rows(&s, (const struct row[]){{"util.peak_flops", 128000},
                                        {"util.flops", 64000},
                                        {"util.lost_datapath", 64000},
                                        {"util.lost_no_flops", 0},
                                        {"util.lost_memory", 0},
                                        {"util.lost_serialization", 0},
                                        {NULL, 0}});
    stats_free(&s);
    ck_assert(stats_init(&s));
    for (const struct row *r = busy; r->name; r++)
        stats_add(&s, r->name, r->value);
    utilization_stats(&c, 5, &none, &s);
    check_rows(&s, (const struct row[]){
                       {"util.peak_flops", 320000}, {"util.flops", 64000}, {"util.lost_datapath", 256000}, {NULL, 0}});
    stats_free(&none);
    stats_free(&s);
}
END_TEST

/* The values of all intervals add up to the value of the launch, although each is rounded. */
START_TEST(intervals_add_up) {
    struct config c = machine(1, 3);
    struct stats none, whole, first, second;
    ck_assert(stats_init(&none) && stats_init(&whole) && stats_init(&first) && stats_init(&second));
    count(&whole, 10);
    utilization_stats(&c, 2, &none, &whole);
    count(&first, 3);
    utilization_stats(&c, 2, &none, &first);
    count(&second, 7);
    utilization_stats(&c, 2, &first, &second);
    stats_merge(&first, &second);
    static const char *const rows[] = {"util.flops",       "util.peak_flops",         "util.lost_datapath",
                                       "util.lost_memory", "util.lost_serialization", "util.lost_no_flops",
                                       "util.lost_no_warp"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_double_eq(stats_get(&first, rows[i]), stats_get(&whole, rows[i]));
    stats_free(&none);
    stats_free(&whole);
    stats_free(&first);
    stats_free(&second);
}
END_TEST

SUITE(timing_utilization) {
    TEST(the_peak_is_divided);
    TEST(operations_by_kind);
    TEST(pipes_without_slots_and_chains);
    TEST(intervals_add_up);
}
