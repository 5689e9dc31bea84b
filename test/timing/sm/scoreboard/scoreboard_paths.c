/* Tests scoreboards of warps with several paths, with the four cases of section 3.2 of the dual-path paper and the code
 * of its Figure 6.
 * - the blocks of the code: A loads r0; B loads r1; C adds r5 = r0 + r2; D adds r4 = r1 + r3; E subtracts into r4; F
 *   loads r7; G adds r8 = r1 + r7
 * - B uses the left board and C the right board; after the nested divergence, D uses the left board and E the right
 *   board */
#include "test/test.h"
#include "timing/sm/scoreboard/scoreboard.h"

enum { LEFT, RIGHT, N_REGS = 70 };
static const lanemask_t B_LANES = 0x1, D_LANES = 0x2, E_LANES = 0xc, C_LANES = 0xe, ALL = 0xf;

static struct sb_regs regs(const uint16_t *list, uint8_t n_read, uint8_t n_write) {
    return sb_regs_of(list, n_read, list + n_read, n_write, NO_COUNTER);
}
#define LOADS(r)      regs((const uint16_t[]){(r)}, 0, 1)
#define ADDS(d, a, b) regs((const uint16_t[]){(a), (b), (d)}, 2, 1)

static void *board(const struct scoreboard_ops *ops) {
    void *st = calloc(1, ops->size(N_REGS));
    ops->start(st, N_REGS);
    return st;
}
static void issue(const struct scoreboard_ops *ops, void *st, unsigned side, lanemask_t lanes, struct sb_regs r) {
    ck_assert_int_eq(ops->check(st, side, lanes, &r), SB_READY);
    ops->issue(st, side, lanes, &r, true);
}
static void write_back(const struct scoreboard_ops *ops, void *st, unsigned side, lanemask_t lanes, struct sb_regs r) {
    ops->writeback(st, side, lanes, &r);
}
static enum sb_verdict check(const struct scoreboard_ops *ops, void *st, unsigned side, lanemask_t lanes,
                             struct sb_regs r) {
    return ops->check(st, side, lanes, &r);
}
static void shadow(const struct scoreboard_ops *ops, void *st, unsigned boards) {
    if (ops->shadow)
        ops->shadow(st, boards);
}
static const struct scoreboard_ops *const both[] = {&scoreboard_shadow, &scoreboard_exact};

/* Case 1: r0 is pending before A diverges. B on the left and C on the right wait for r0, and both can issue when r0
 * has arrived. */
START_TEST(pending_before_divergence) {
    const struct scoreboard_ops *ops = both[_i];
    void *st = board(ops);
    issue(ops, st, LEFT, ALL, LOADS(0));
    shadow(ops, st, RECONV_SHADOW_0 | RECONV_SHADOW_1);
    ck_assert_int_eq(check(ops, st, RIGHT, C_LANES, ADDS(5, 0, 2)), SB_WAIT_LOAD);
    ck_assert_int_eq(check(ops, st, LEFT, B_LANES, ADDS(5, 0, 2)), SB_WAIT_LOAD);
    write_back(ops, st, LEFT, ALL, LOADS(0));
    ck_assert_int_eq(check(ops, st, RIGHT, C_LANES, ADDS(5, 0, 2)), SB_READY);
    ck_assert_int_eq(check(ops, st, LEFT, B_LANES, ADDS(5, 0, 2)), SB_READY);
    free(st);
}
END_TEST

/* Case 2: F loads r7 on the right, and G waits for it on the left. */
START_TEST(pending_before_reconvergence) {
    const struct scoreboard_ops *ops = both[_i];
    void *st = board(ops);
    issue(ops, st, RIGHT, C_LANES, LOADS(7));
    shadow(ops, st, RECONV_SHADOW_1);
    ck_assert_int_eq(check(ops, st, LEFT, ALL, ADDS(8, 1, 7)), SB_WAIT_LOAD);
    write_back(ops, st, RIGHT, C_LANES, LOADS(7));
    ck_assert_int_eq(check(ops, st, LEFT, ALL, ADDS(8, 1, 7)), SB_READY);
    free(st);
}
END_TEST

/* Only the bits of one board become shadow bits. Registers that are pending on the other board stay pending bits of
 * that board. */
START_TEST(shadow_of_one_side) {
    for (unsigned side = LEFT; side <= RIGHT; side++) {
        const struct scoreboard_ops *ops = both[_i];
        const lanemask_t mine = side == LEFT ? B_LANES : C_LANES, others = ALL & ~mine;
        void *st = board(ops);
        issue(ops, st, side, mine, LOADS(7));
        issue(ops, st, !side, others, LOADS(1));
        shadow(ops, st, side == LEFT ? RECONV_SHADOW_0 : RECONV_SHADOW_1);
        ck_assert_int_eq(check(ops, st, side, mine, ADDS(8, 2, 1)), SB_READY);
        ck_assert_int_eq(check(ops, st, !side, ALL, ADDS(8, 2, 7)), SB_WAIT_LOAD);
        free(st);
    }
}
END_TEST

/* Case 3: B loads r1 after the divergence, so C does not wait for it. */
START_TEST(written_on_one_side) {
    const struct scoreboard_ops *ops = both[_i];
    void *st = board(ops);
    issue(ops, st, LEFT, B_LANES, LOADS(1));
    ck_assert_int_eq(check(ops, st, RIGHT, C_LANES, ADDS(4, 1, 3)), SB_READY);
    ck_assert_int_eq(check(ops, st, LEFT, B_LANES, ADDS(4, 1, 3)), SB_WAIT_LOAD);
    free(st);
}
END_TEST

/* Case 4: r4 is pending on both sides, and each write-back clears the bit of its own side. */
START_TEST(pending_on_both_sides) {
    const struct scoreboard_ops *ops = both[_i];
    void *st = board(ops);
    issue(ops, st, LEFT, D_LANES, LOADS(4));
    issue(ops, st, RIGHT, E_LANES, LOADS(4));
    write_back(ops, st, RIGHT, E_LANES, LOADS(4));
    ck_assert_int_eq(check(ops, st, RIGHT, E_LANES, ADDS(6, 4, 3)), SB_READY);
    ck_assert_int_eq(check(ops, st, LEFT, D_LANES, ADDS(6, 4, 3)), SB_WAIT_LOAD);
    free(st);
}
END_TEST

/* The false dependence that the paper describes: r1 of B is pending when C diverges into D and E. Its shadow bit delays
 * E, and its pending bit delays D, though neither needs it. The optimistic board delays neither. */
START_TEST(false_dependence_of_block_b) {
    void *st = board(&scoreboard_shadow), *ideal = board(&scoreboard_exact);
    issue(&scoreboard_shadow, st, LEFT, B_LANES, LOADS(1));
    issue(&scoreboard_exact, ideal, LEFT, B_LANES, LOADS(1));
    shadow(&scoreboard_shadow, st, RECONV_SHADOW_0 | RECONV_SHADOW_1);
    ck_assert_int_eq(check(&scoreboard_shadow, st, LEFT, D_LANES, ADDS(4, 1, 3)), SB_WAIT_LOAD);
    ck_assert_int_eq(check(&scoreboard_shadow, st, RIGHT, E_LANES, ADDS(4, 1, 3)), SB_WAIT_LOAD);
    ck_assert_int_eq(check(&scoreboard_exact, ideal, LEFT, D_LANES, ADDS(4, 1, 3)), SB_READY);
    ck_assert_int_eq(check(&scoreboard_exact, ideal, RIGHT, E_LANES, ADDS(4, 1, 3)), SB_READY);
    free(st);
    free(ideal);
}
END_TEST

/* Registers above 63 are in the second word. A write after a write waits, too. */
START_TEST(high_registers_and_waw) {
    const struct scoreboard_ops *ops = both[_i];
    void *st = board(ops);
    issue(ops, st, LEFT, ALL, LOADS(69));
    ck_assert_int_eq(check(ops, st, LEFT, ALL, LOADS(69)), SB_WAIT_LOAD);
    ck_assert_int_eq(check(ops, st, LEFT, ALL, LOADS(5)), SB_READY);
    struct sb_regs r = LOADS(69);
    ck_assert_int_eq(ops->waits_for(st, LEFT, ALL, &r), 69);
    r = ADDS(69, 1, 2); /* for each operand */
    ck_assert_int_eq(ops->waits_for(st, LEFT, ALL, &r), 69);
    r = ADDS(4, 1, 69);
    ck_assert_int_eq(ops->waits_for(st, LEFT, ALL, &r), 69);
    r = ADDS(4, 1, 2);
    ck_assert_int_eq(ops->waits_for(st, LEFT, ALL, &r), -1);
    free(st);
}
END_TEST

/* Registers read and registers written are separate lists. Each register in either list delays an instruction and is
 * reported, and no other register does. */
START_TEST(each_register_delays) {
    static const struct scoreboard_ops *const all[] = {&scoreboard_warp, &scoreboard_shadow, &scoreboard_exact};
    const struct scoreboard_ops *ops = all[_i];
    const uint16_t read[] = {3, 65, 0, 69}, write[] = {40, 7, 66};
    for (unsigned n_read = 0; n_read <= 3; n_read++)
        for (unsigned n_write = 0; n_write <= 2; n_write++)
            for (uint16_t reg = 0; reg < N_REGS; reg++) {
                void *st = board(ops);
                bool is = false;
                for (unsigned i = 0; i < n_read; i++)
                    is |= read[i] == reg;
                for (unsigned i = 0; i < n_write; i++)
                    is |= write[i] == reg;
                const struct sb_regs r = sb_regs_of(read, (uint8_t)n_read, write, (uint8_t)n_write, NO_COUNTER);
                issue(ops, st, LEFT, ALL, LOADS(reg));
                ck_assert_int_eq(check(ops, st, LEFT, ALL, r), is ? SB_WAIT_LOAD : SB_READY);
                ck_assert_int_eq(ops->waits_for(st, LEFT, ALL, &r), is ? reg : -1);
                write_back(ops, st, LEFT, ALL, LOADS(reg));
                ck_assert_int_eq(check(ops, st, LEFT, ALL, r), SB_READY);
                free(st);
            }
}
END_TEST

SUITE(timing_scoreboard_paths) {
    TEST_LOOP(pending_before_divergence, 0, 2);
    TEST_LOOP(pending_before_reconvergence, 0, 2);
    TEST_LOOP(written_on_one_side, 0, 2);
    TEST_LOOP(pending_on_both_sides, 0, 2);
    TEST(false_dependence_of_block_b);
    TEST_LOOP(high_registers_and_waw, 0, 2);
    TEST_LOOP(each_register_delays, 0, 3);
    TEST_LOOP(shadow_of_one_side, 0, 2);
}
