/* Tests the timing and the statistics of a sum over a warp, with the tree and with the fallback (the separate
 * instructions). */
#include "isa/machine/effects.h"
#include "mechanisms/reduce/reduce_parts.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/sm/compound_timing.h"

static struct config cfg;

static void setup(void) {
    config_default(&cfg);
    cfg.latency[LAT_F32_ADD] = (struct latency_cfg){.latency = 6, .initiation = 2};
    cfg.latency[LAT_SHFL] = (struct latency_cfg){.latency = 20, .initiation = 7};
    cfg.latency[LAT_INT_OTHER] = (struct latency_cfg){.latency = 3, .initiation = 4};
    cfg.lsu.shared_latency = 24;
    cfg.sm.latch_collect = 3;
    cfg.sm.latch_dispatch = 4;
    cfg.sm.latch_writeback = 5;
}

/* The tree takes five additions, or reduce.latency if it is set. The fallback executes five shuffles, five additions
 * and two moves, one after another. Between two of these instructions are latches of 3, 4 and 5 cycles, and one cycle
 * each for reading operands and for leaving the pipe: 14 cycles. */
START_TEST(sums_by_shuffles) {
    const struct program_reduce reduce = {.moves = 2};
    for (uint32_t set = 0; set <= 9; set += 9) {
        struct compound_time t = {.latency = 6, .initiation = 2};
        cfg.reduce.latency = set;
        reduce_timing.time(&reduce, &cfg, &t);
        ck_assert_uint_eq(t.latency, set ? 9 : 5 * 6);
        ck_assert_uint_eq(t.initiation, 2);
        ck_assert_uint_eq(t.read_ports, 0);
        ck_assert_uint_eq(t.fallback_latency, 5 * (6 + 20) + 2 * 3 + 11 * 14);
        ck_assert_uint_eq(t.fallback_initiation, 5 * (2 + 7) + 2 * 4);
    }
    /* The tree takes as long as a chain of five additions, if this is longer than five single additions. With additions
     * of one cycle, a chain takes 1 + 4 x 2 = 9 cycles, or 12 cycles with chain.latency5 = 12. */
    for (uint32_t chain = 0; chain <= 12; chain += 12) {
        struct compound_time t = {.latency = 1, .initiation = 1};
        cfg.reduce.latency = 0;
        cfg.latency[LAT_F32_ADD].latency = 1;
        cfg.fused.latency[4] = chain;
        reduce_timing.time(&reduce, &cfg, &t);
        ck_assert_uint_eq(t.latency, chain ? 12 : 9);
    }
}
END_TEST

/* A step of a sum in shared memory has a load (24 cycles) instead of the shuffle. The fallback has ten instructions,
 * with nine gaps of 14 cycles between them (see the comment above). */
START_TEST(sums_in_shared_memory) {
    const struct program_reduce reduce = {.tree = true};
    struct compound_time t = {.latency = 6, .initiation = 2};
    reduce_timing.time(&reduce, &cfg, &t);
    ck_assert_uint_eq(t.latency, 5 * 6);
    ck_assert_uint_eq(t.fallback_latency, 5 * (6 + 24) + 9 * 14);
}
END_TEST

/* One lane adds eight words: a load, three levels of the tree, and the addition of the start value. The fallback has a
 * load and eight additions, each with a gap before it. Its eight loads take one cycle each. */
START_TEST(sums_of_one_lane) {
    const struct program_reduce reduce = {.serial = 8, .moves = 8};
    struct compound_time t = {.latency = 6, .initiation = 2};
    reduce_timing.time(&reduce, &cfg, &t);
    ck_assert_uint_eq(t.latency, 24 + 4 * 6);
    ck_assert_uint_eq(t.fallback_latency, 24 + 8 * (6 + 14));
    ck_assert_uint_eq(t.fallback_initiation, 8 * 2 + 8);
    cfg.reduce.latency = 9;
    reduce_timing.time(&reduce, &cfg, &t);
    ck_assert_uint_eq(t.latency, 24 + 9 + 6);
}
END_TEST

/* With the tree, a warp executes 31 additions in one instruction, which saves 11 of 12 instructions. In the fallback, 4
 * lanes execute five additions, five shuffles and two moves each. */
START_TEST(counts_of_both_ways) {
    const struct program_reduce reduce = {.moves = 2};
    struct effects whole = {.lanes = LANES_ALL, .taken = LANES_ALL}, part = {.lanes = 0xf};
    struct sm_counts n = {0};
    reduce_timing.count(&reduce, &whole, &n);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_ADD], 31);
    ck_assert_uint_eq(n.op_lanes[CLASS_SHFL], 0);
    ck_assert_uint_eq(n.reduce.saved, 11);
    reduce_timing.count(&reduce, &part, &n);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_ADD], 31 + 4 * 5);
    ck_assert_uint_eq(n.op_lanes[CLASS_SHFL], 4 * 5);
    ck_assert_uint_eq(n.op_lanes[CLASS_INT], 4 * 2);
    ck_assert_uint_eq(n.reduce.saved, 11);
    ck_assert_uint_eq(n.reduce.instructions, 2);
    ck_assert_uint_eq(n.reduce.fallbacks, 1);
    ck_assert_uint_eq(n.reduce.serial, 0);
}
END_TEST

SUITE(mechanisms_reduce_timing) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(sums_by_shuffles);
    TEST(sums_in_shared_memory);
    TEST(sums_of_one_lane);
    TEST(counts_of_both_ways);
}
