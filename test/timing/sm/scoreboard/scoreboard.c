/* The warp-wide scoreboard. */
#include "timing/sm/scoreboard/scoreboard.h"
#include "test/test.h"

static uint64_t state[64];
static const struct scoreboard_ops *const sb = &scoreboard_warp;

/* Boards of up to 64 registers are checked as one word, larger ones register by register, with equal results. */
static const uint32_t sizes[] = {10, 64, 65, 200};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static void start(uint32_t n_regs) {
    ck_assert_uint_le(sb->size(n_regs), sizeof state);
    memset(state, 0xff, sizeof state); /* left by another warp */
    sb->start(state, n_regs);
}

static struct sb_regs regs(const uint16_t *read, uint8_t n_read, const uint16_t *write, uint8_t n_write) {
    return sb_regs_of(read, n_read, write, n_write, NO_COUNTER);
}

START_TEST(reads_and_writes_wait_for_a_pending_write) {
    const uint16_t last[] = {(uint16_t)(sizes[_i] - 1)}, r5[] = {5};
    struct sb_regs writes = regs(NULL, 0, last, 1), reads = regs(last, 1, r5, 1), reads5 = regs(r5, 1, r5, 1);
    start(sizes[_i]);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &writes), SB_READY);
    sb->issue(state, 0, ~0u, &writes, false);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads), SB_WAIT_ARITH);  /* RAW */
    ck_assert_int_eq(sb->check(state, 0, ~0u, &writes), SB_WAIT_ARITH); /* WAW */
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads5), SB_READY);
    sb->writeback(state, 0, ~0u, &writes);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads), SB_READY);
}
END_TEST

START_TEST(a_load_is_the_cause_when_both_are_awaited) {
    const uint16_t r1[] = {1}, r2[] = {2}, both[] = {1, 2};
    struct sb_regs w1 = regs(NULL, 0, r1, 1), w2 = regs(NULL, 0, r2, 1), reads = regs(both, 2, NULL, 0);
    start(sizes[_i]);
    sb->issue(state, 0, ~0u, &w1, false);
    sb->issue(state, 0, ~0u, &w2, true);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads), SB_WAIT_LOAD);
    sb->writeback(state, 0, ~0u, &w2);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads), SB_WAIT_ARITH);
    ck_assert_int_eq(sb->waits_for(state, 0, ~0u, &reads), 1);
    sb->writeback(state, 0, ~0u, &w1);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &reads), SB_READY);
    ck_assert_int_eq(sb->waits_for(state, 0, ~0u, &reads), -1);
}
END_TEST

START_TEST(a_written_load_is_forgotten) {
    const uint16_t r9[] = {9};
    struct sb_regs w = regs(NULL, 0, r9, 1);
    start(sizes[_i]);
    sb->issue(state, 0, ~0u, &w, true);
    sb->writeback(state, 0, ~0u, &w);
    sb->issue(state, 0, ~0u, &w, false);
    ck_assert_int_eq(sb->check(state, 0, ~0u, &w), SB_WAIT_ARITH);
}
END_TEST

SUITE(timing_scoreboard) {
    TEST_LOOP(reads_and_writes_wait_for_a_pending_write, 0, N_SIZES);
    TEST_LOOP(a_load_is_the_cause_when_both_are_awaited, 0, N_SIZES);
    TEST_LOOP(a_written_load_is_forgotten, 0, N_SIZES);
}
