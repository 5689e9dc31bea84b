/* Tests the timing of a fused instruction, which executes several f32 operations, and its statistics. */
#include "isa/fused.h"
#include "isa/machine/effects.h"
#include "mechanisms/fused_inst.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/sm/compound_timing.h"

/* The latency depends on the longer of the two sequences. It is chain.latency<depth>, or, if this option is 0, the
 * latency of an addition plus two cycles for each further FPU. An instruction with two sequences needs one more read
 * port. A fused instruction never executes as separate operations (its fallback), so the times of the fallback are
 * 0. */
START_TEST(latency_is_that_of_the_deeper_sequence) {
    static const struct {
        struct fused fused;
        uint32_t depth;
    } of[] = {{{.n = 1, .split = 1, .part = {{.units = 1}}}, 1},
              {{.n = 2, .split = 2, .part = {{.units = 1}, {.units = 2}}}, 3},
              {{.n = 3, .split = 1, .part = {{.units = 2}, {.units = 1}, {.units = 2}}}, 3},  /* 2 and 3 */
              {{.n = 3, .split = 2, .part = {{.units = 2}, {.units = 2}, {.units = 1}}}, 4}}; /* 4 and 1 */
    struct config cfg;
    config_default(&cfg);
    cfg.latency[LAT_F32_ADD].latency = 50;
    memset(cfg.fused.latency, 0, sizeof cfg.fused.latency);
    cfg.fused.latency[3] = 7; /* of four */
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct compound_time t = {.latency = 50, .initiation = 9};
        fused_ops.timing->time(&of[i].fused, &cfg, &t);
        ck_assert_uint_eq(t.latency, of[i].depth == 4 ? 7 : 50 + 2 * (of[i].depth - 1));
        ck_assert_uint_eq(t.initiation, 9);
        ck_assert_uint_eq(t.read_ports, i >= 2);
        ck_assert_uint_eq(t.fallback_latency + t.fallback_initiation, 0);
    }
}
END_TEST

/* 8 lanes execute a folded instruction. 3 lanes keep the result of the first sequence: an addition and a fused
 * multiply-add (3 FPUs). 5 lanes keep the result of the second sequence: a multiplication and a minimum (2 FPUs). So
 * the addition and the fused multiply-add are used in 3 lanes and wasted in 5. The multiplication is used in 5 lanes
 * and wasted in 3. The minimum is counted in all 8 lanes. */
START_TEST(folded_instructions_count_wasted_operations) {
    static const struct fused fused = {.n = 4,
                                       .split = 2,
                                       .folded = true,
                                       .reads_saved = 2,
                                       .writes_saved = 3,
                                       .part = {{.op = FUSED_ADD, .units = 1},
                                                {.op = FUSED_FMA, .units = 2},
                                                {.op = FUSED_MUL, .units = 1},
                                                {.op = FUSED_MIN, .units = 1}}};
    struct effects fx = {.lanes = 0xff, .taken = 0x07};
    struct sm_counts n = {0};
    fused_ops.timing->count(&fused, &fx, &n);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_ADD], 3);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_FMA], 3);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_MUL], 5);
    ck_assert_uint_eq(n.op_lanes[CLASS_F32_MINMAX], 8);
    ck_assert_uint_eq(n.fused.wasted_adds, 5 + 5);
    ck_assert_uint_eq(n.fused.wasted_muls, 5 + 3);
    ck_assert_uint_eq(n.fused.instructions, 1);
    ck_assert_uint_eq(n.fused.folded, 1);
    ck_assert_uint_eq(n.fused.dual, 0);
    ck_assert_uint_eq(n.fused.operations, 5);
    /* in 8 lanes: 2 FPUs after the first in one sequence, 1 in the other */
    ck_assert_uint_eq(n.fused.later, 8 * (2 + 1));
    ck_assert_uint_eq(n.fused.by_length[2], 1);
    ck_assert_uint_eq(n.fused.by_length[1], 1);
    ck_assert_uint_eq(n.fused.reads_saved, 2);
    ck_assert_uint_eq(n.fused.writes_saved, 3);
}
END_TEST

SUITE(mechanisms_chain_fused_timing) {
    TEST(latency_is_that_of_the_deeper_sequence);
    TEST(folded_instructions_count_wasted_operations);
}
