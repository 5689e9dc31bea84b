/* Tests counted scoreboards, which have six counters per warp or per lane. A compiler gives each load a counter;
 * loads may share one. */
#include "test/test.h"
#include "timing/sm/scoreboard/scoreboard.h"

enum { REGS = 8, A = 0x0000ffff, B = 0xffff0000 };
static void *board;
static const struct scoreboard_ops *ops;

static void open_board(const struct scoreboard_ops *o) {
    ops = o;
    board = calloc(1, ops->size(REGS));
    ops->start(board, REGS);
}

static uint16_t numbers[REGS] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Returns the register list of a load into `reg` that uses `counter`. */
static struct sb_regs load(unsigned reg, uint8_t counter) { return sb_regs_of(numbers, 0, numbers + reg, 1, counter); }

static enum sb_verdict reads(unsigned reg, lanemask_t lanes) {
    struct sb_regs r = sb_regs_of(numbers + reg, 1, numbers, 0, NO_COUNTER);
    return ops->check(board, 0, lanes, &r);
}

static void issue(struct sb_regs r, lanemask_t lanes) {
    ck_assert_int_eq(ops->check(board, 0, lanes, &r), SB_READY);
    ops->issue(board, 0, lanes, &r, true);
}

/* Two loads share a counter: a reader of the first result also waits for the second load, but not for a load with
 * another counter. */
START_TEST(loads_on_one_counter_are_waited_for_together) {
    struct sb_regs first = load(0, 2), second = load(1, 2), other = load(2, 3);
    open_board(_i ? &scoreboard_counted_lanes : &scoreboard_counted);
    issue(first, A);
    issue(second, A);
    issue(other, A);
    ops->writeback(board, 0, A, &first);
    ck_assert_int_eq(reads(0, A), SB_WAIT_LOAD); /* the value of the register has arrived, but counter 2 is 1 */
    ops->writeback(board, 0, A, &second);
    ck_assert_int_eq(reads(0, A), SB_READY);
    ck_assert_int_eq(reads(2, A), SB_WAIT_LOAD);
    ops->writeback(board, 0, A, &other);
    ck_assert_int_eq(reads(2, A), SB_READY);
    free(board);
}
END_TEST

/* A report names the register for which an instruction waits. Instructions that use other registers do not wait. */
START_TEST(the_awaited_register_is_reported) {
    struct sb_regs r = load(4, 5), only[REGS];
    open_board(_i ? &scoreboard_counted_lanes : &scoreboard_counted);
    issue(r, A);
    for (unsigned i = 0; i < REGS; i++) {
        only[i] = sb_regs_of(numbers + i, 1, numbers, 0, NO_COUNTER);
        ck_assert_int_eq(ops->waits_for(board, 0, A, &only[i]), i == 4 ? 4 : -1);
        ck_assert_int_eq(ops->waits_for(board, 0, B, &only[i]), -1);
    }
    /* the instruction reads registers 2 and 3, and writes register 4 */
    struct sb_regs many = sb_regs_of(numbers + 2, 2, numbers + 4, 1, NO_COUNTER);
    ck_assert_int_eq(ops->waits_for(board, 0, A, &many), 4);
    free(board);
}
END_TEST

/* After a counter has returned to zero, later loads with this counter do not delay readers of the register of an
 * earlier load. */
START_TEST(a_counter_forgets_at_zero) {
    struct sb_regs first = load(0, 2), second = load(1, 2);
    open_board(_i ? &scoreboard_counted_lanes : &scoreboard_counted);
    issue(first, A);
    ops->writeback(board, 0, A, &first);
    issue(second, A);
    ck_assert_int_eq(reads(0, A), SB_READY);
    free(board);
}
END_TEST

/* Subwarps A and B use the same counter number. They share one counter in the baseline, and each has its own counter
 * under SI. */
START_TEST(subwarps_share_counters_in_the_baseline_only) {
    struct sb_regs a = load(0, 2), b = load(0, 2);
    open_board(_i ? &scoreboard_counted_lanes : &scoreboard_counted);
    issue(a, A);
    issue(b, B);
    ops->writeback(board, 0, A, &a);
    ck_assert_int_eq(reads(0, A), _i ? SB_READY : SB_WAIT_LOAD);
    ops->writeback(board, 0, B, &b);
    ck_assert_int_eq(reads(0, A), SB_READY);
    free(board);
}
END_TEST

/* A counter of six bits counts to 63: the 64th load waits. */
START_TEST(a_full_counter_stalls_loads) {
    struct sb_regs r = load(0, 1), one_more = load(1, 1);
    open_board(_i ? &scoreboard_counted_lanes : &scoreboard_counted);
    for (int i = 0; i < 63; i++)
        ops->issue(board, 0, A, &r, true);
    ck_assert_int_eq(ops->check(board, 0, A, &one_more), SB_WAIT_LOAD);
    ops->writeback(board, 0, A, &r);
    ck_assert_int_eq(ops->check(board, 0, A, &one_more), SB_READY);
    free(board);
}
END_TEST

/* Results of fixed latency are tracked by register. */
START_TEST(arithmetic_uses_no_counter) {
    struct sb_regs r = sb_regs_of(numbers, 0, numbers + 3, 1, NO_COUNTER),
                   reader = sb_regs_of(numbers + 3, 1, numbers, 0, NO_COUNTER);
    open_board(&scoreboard_counted);
    ops->issue(board, 0, A, &r, false);
    ck_assert_int_eq(reads(3, A), SB_WAIT_ARITH);
    ck_assert_int_eq(ops->waits_for(board, 0, A, &reader), 3);
    ck_assert_int_eq(reads(3, B), SB_READY);
    ops->writeback(board, 0, A, &r);
    ck_assert_int_eq(reads(3, A), SB_READY);
    free(board);
}
END_TEST

/* Bits that hardware has for 64 registers:
 * - warp: one bit per register
 * - shadow: a pending bit and a shadow bit per register, for the left and for the right board
 * - exact: one bit per register and lane
 * - counted: 6 counters of 6 bits, for the warp or for each lane */
START_TEST(bits_of_a_warp) {
    ck_assert_uint_eq(scoreboard_warp.bits(64, 32), 64);
    ck_assert_uint_eq(scoreboard_shadow.bits(64, 32), 256);
    ck_assert_uint_eq(scoreboard_exact.bits(64, 32), 2048);
    ck_assert_uint_eq(scoreboard_counted.bits(64, 32), 36);
    ck_assert_uint_eq(scoreboard_counted_lanes.bits(64, 32), 32 * 36);
}
END_TEST

SUITE(timing_scoreboard_counted) {
    TEST_LOOP(loads_on_one_counter_are_waited_for_together, 0, 2);
    TEST_LOOP(the_awaited_register_is_reported, 0, 2);
    TEST_LOOP(a_counter_forgets_at_zero, 0, 2);
    TEST_LOOP(subwarps_share_counters_in_the_baseline_only, 0, 2);
    TEST_LOOP(a_full_counter_stalls_loads, 0, 2);
    TEST(arithmetic_uses_no_counter);
    TEST(bits_of_a_warp);
}
