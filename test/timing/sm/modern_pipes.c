/* Tests which pipes of a modern core take instructions, and when (timing/sm/modern_pipes.c, modern_queue.c), with
 * control bits set by hand. */
#include "modern_rig.h"
#include <string.h>

/* ---- the pipes of fixed-latency instructions ---- */

/* Two pairs of independent instructions. A pipe of 16 lanes takes one of them every two cycles (initiation 2). So two
 * instructions for one pipe issue two cycles apart, for two pipes one cycle. A product with its upper half holds the
 * multiplier twice as long, in ptxas' code, too. f32 waits for it only if all f32 lanes are in the same pipe. */
static const struct {
    const char *set, *pair;
    uint8_t at[4];
} pairs[] = {
    {"core.f32_multiplies=on", "add.u32 %%r1,%%r38,%%r39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 1, 2, 3}},
    {"core.f32_multiplies=off", "add.u32 %%r1,%%r38,%%r39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 2, 4, 6}},
    {"core.f32_multiplies=on", "add.u32 %%r1,%%r38,%%r39; mad.lo.u32 %%r2,%%r38,%%r39,1;\n", {0, 1, 2, 3}},
    {"core.f32_multiplies=on", "add.f32 %%f1,%%f38,%%f39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 2, 4, 6}},
    {"core.f32_multiplies=off", "add.f32 %%f1,%%f38,%%f39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 1, 2, 3}},
    {"core.f32_multiplies=on", "add.f32 %%f1,%%f38,%%f39; min.f32 %%f2,%%f38,%%f39;\n", {0, 1, 2, 3}},
    {"core.f32_multiplies=off", "add.f32 %%f1,%%f38,%%f39; min.f32 %%f2,%%f38,%%f39;\n", {0, 2, 4, 6}},
    {"core.f32_multiplies=on", "add.u32 %%r1,%%r38,%%r39; min.f32 %%f2,%%f38,%%f39;\n", {0, 2, 4, 6}},
    {"core.wide_products=2", "mul.wide.u32 %%q1,%%r38,%%r39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 4, 6, 10}},
    {"core.wide_products=1", "mul.wide.u32 %%q1,%%r38,%%r39; mul.lo.u32 %%r2,%%r38,%%r39;\n", {0, 2, 4, 6}},
    {"core.wide_products=3", "mad.hi.u32 %%r1,%%r38,%%r39,1; mul.hi.s32 %%r2,%%r38,%%r39;\n", {0, 6, 12, 18}},
    {"core.wide_products=2", "mul.hi.u32 %%r1,%%r38,%%r39; add.f32 %%f1,%%f38,%%f39;\n", {0, 2, 4, 6}},
    {"initiation.f32_fma=2", "mul.hi.u32 %%r1,%%r38,%%r39; add.f32 %%f1,%%f38,%%f39;\n", {0, 4, 6, 10}},
};

START_TEST(pipes_of_a_type_and_of_an_operation) {
    const char *const set[] = {"gpu.sms=1",
                               "core.assembly=off",
                               "initiation.f32_add=2",
                               "initiation.f32_minmax=2",
                               "core.wide_products=2",
                               pairs[_i].set,
                               NULL};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, pairs[_i].pair, 0, 2);
    rig_run(set, body, WARP, 2);
    for (uint32_t k = 0; k < 4; k++)
        ck_assert_uint_eq(rig_at(0, first + k) - rig_at(0, first), pairs[_i].at[k]);
}
END_TEST

/* A jump after an integer addition: with a unit of its own it issues in the next cycle, else when the integer pipe is
 * free. */
START_TEST(jumps_have_a_unit_of_their_own) {
    static const char *const none[] = {"gpu.sms=1", "core.assembly=off", "pipe.branch.units=0", NULL};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body), "add.u32 %%r1,%%r38,%%r39; bra L; L: add.u32 %%r2,%%r38,%%r39;\n");
    rig_run(_i ? rig_one_sm : none, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), _i ? 1 : 2);
    ck_assert_int_eq(rig_stat("pipe.branch") > 0, _i);
}
END_TEST

/* With scoreboards, the instruction after a jump issues 5 cycles after it, as with the stall count of ptxas. */
START_TEST(a_jump_stalls_with_scoreboards) {
    static const char *const set[] = {"gpu.sms=1", "core.assembly=off", "core.control_bits=off", NULL};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    sprintf(body + strlen(body), "add.u32 %%r1,%%r38,%%r39; bra L; L: add.u32 %%r2,%%r38,%%r39;\n");
    rig_run(set, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 2) - rig_at(0, first + 1), 5);
}
END_TEST

/* The cycles that a load of 32 constants takes more than with the defaults. Its accesses are n + m (words - 1) cycles
 * apart, with the interval n and m cycles for each further word, not 1: 31 gaps of n - 1 + m (words - 1) cycles. */
START_TEST(constants_come_at_an_interval) {
    static const struct {
        const char *load, *interval, *words;
        uint32_t more;
    } row[] = {{"ld.const.u32 %r1,[%q1];", "lsu.constant_interval=2", "lsu.constant_words=0", 31},
               {"ld.const.u32 %r1,[%q1];", "lsu.constant_interval=2", "lsu.constant_words=1", 31},
               {"ld.const.v2.u32 {%v0,%v1},[%q1];", "lsu.constant_interval=2", "lsu.constant_words=0", 31},
               {"ld.const.v2.u32 {%v0,%v1},[%q1];", "lsu.constant_interval=2", "lsu.constant_words=1", 62},
               {"ld.const.v2.u32 {%v0,%v1},[%q1];", "lsu.constant_interval=1", "lsu.constant_words=4", 124},
               {"ld.const.u32 %r1,[%q1];", "lsu.constant_interval=16", "lsu.constant_words=4", 465}};
    const char *const plain[] = {"gpu.sms=1", "core.assembly=off", NULL}, *const set[] = {
                                                                              "gpu.sms=1", "core.assembly=off",
                                                                              row[_i].interval, row[_i].words, NULL};
    uint64_t took[2];
    for (int i = 0; i < 2; i++) {
        char body[4096];
        const uint32_t first = rig_lead_in(body) + 4;
        sprintf(body + strlen(body),
                "cvta.const.u64 %%q0,k0; cvta.to.const.u64 %%q1,%%q0; mov.u32 %%r0,%%tid.x; "
                "mad.wide.u32 %%q1,%%r0,8,%%q1;\n%s add.f32 %%f1,%%f38,%%f39; %s add.f32 %%f2,%%f38,%%f39;\n",
                row[_i].load, row[_i].load);
        for (uint32_t k = first; k < first + 4; k += 2) { /* the second access hits */
            rig_bits[k].stall = 2;
            rig_bits[k].raise_write = 1;
            rig_bits[k + 1].wait = 1 << 1;
        }
        rig_run(i ? set : plain, body, WARP, 2);
        took[i] = rig_at(0, first + 3) - rig_at(0, first + 2);
    }
    ck_assert_uint_eq(took[1] - took[0], row[_i].more);
}
END_TEST

/* ---- the f64 pipe and the queue for variable latencies ---- */

/* Independent f64 additions of two warps, with an initiation interval of 16. With a pipe in each sub-core, each warp
 * issues one every 16 cycles. A shared pipe takes them in the order of issue, in cycles 6, 22, 38 and so on. The latch
 * of a sub-core is free one cycle after its instruction has entered the pipe. So after an instruction that enters in
 * cycle e, the next one issues in cycle e + 1 - 6. The first ones issue in cycle 0 and enter in cycles 6 (warp 0) and
 * 22 (warp 1). Warp 0 issues in cycle 1 (enters in 38), warp 1 in 17 (54), warp 0 in 33, warp 1 in 49. */
START_TEST(subcores_share_the_f64_pipe) {
    static const char *const own[] = {"gpu.sms=1", "core.assembly=off", "initiation.f64_add=16", "core.f64_shared=off",
                                      NULL};
    static const char *const shared[] = {"gpu.sms=1", "core.assembly=off", "initiation.f64_add=16",
                                         "core.f64_shared=on", NULL};
    static const uint8_t at[2][2][3] = {{{0, 16, 32}, {0, 16, 32}}, {{0, 1, 33}, {0, 17, 49}}};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "add.f64 %%d%d,%%d38,%%d39;\n", 0, 3);
    rig_run(_i ? shared : own, body, 2 * WARP, 2);
    const uint64_t from = rig_at(0, first);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t w = 0; w < 2; w++)
            ck_assert_uint_eq(rig_at(w, first + k) - from, at[_i][w][k]);
}
END_TEST

/* Special functions with an initiation interval of 8. Without a queue, each waits at issue for the pipe. With three
 * entries, they issue one a cycle until it is full: numbers 0, 1 and 2 in cycles 0, 1 and 2. They enter the pipe
 * in cycles 6, 14 and 22, so number 3 finds room in cycle 6, number 4 in cycle 14. */
START_TEST(a_queue_lets_variable_latencies_issue_early) {
    static const char *const none[] = {"gpu.sms=1", "core.assembly=off", "initiation.sfu=8", "core.queue=0", NULL};
    static const char *const three[] = {"gpu.sms=1", "core.assembly=off", "initiation.sfu=8", "core.queue=3", NULL};
    static const uint8_t at[2][5] = {{0, 8, 16, 24, 32}, {0, 1, 2, 6, 14}};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "sin.approx.f32 %%f%d,%%f39;\n", 0, 5);
    rig_run(_i ? three : none, body, WARP, 2);
    for (uint32_t k = 0; k < 5; k++)
        ck_assert_uint_eq(rig_at(0, first + k) - rig_at(0, first), at[_i][k]);
}
END_TEST

/* Shuffles share their pipe with fixed-latency instructions. A full queue holds the shuffles and lets an addition
 * issue. With an initiation interval of 8, shuffles 0 and 1 enter the pipe in cycles 6 and 14; shuffle 2 finds room in
 * the queue of two entries in cycle 6. */
START_TEST(a_full_queue_holds_shuffles) {
    static const char *const two[] = {"gpu.sms=1", "core.assembly=off", "initiation.shfl=8", "core.queue=2", NULL};
    char body[4096];
    const uint32_t first = rig_lead_in(body);
    rig_repeat(body, "shfl.sync.idx.b32 %%r%d,%%r39,0,31,-1;\n", 0, 3);
    rig_repeat(body, "add.f32 %%f1,%%f38,%%f39;\n", 0, 1);
    rig_run(two, body, WARP, 2);
    ck_assert_uint_eq(rig_at(0, first + 1) - rig_at(0, first), 1);
    ck_assert_uint_eq(rig_at(0, first + 2) - rig_at(0, first), 6);
    ck_assert_uint_eq(rig_at(0, first + 3) - rig_at(0, first), 7);
}
END_TEST

SUITE(timing_sm_modern_pipes) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_LOOP(pipes_of_a_type_and_of_an_operation, 0, 13);
    TEST_LOOP(jumps_have_a_unit_of_their_own, 0, 2);
    TEST(a_jump_stalls_with_scoreboards);
    TEST_LOOP(constants_come_at_an_interval, 0, 6);
    TEST_LOOP(subcores_share_the_f64_pipe, 0, 2);
    TEST_LOOP(a_queue_lets_variable_latencies_issue_early, 0, 2);
    TEST(a_full_queue_holds_shuffles);
}
