/* Dynamic warp subdivision by hand: splits of splits, and a warp-split table of limited size. */
#include "test/toys/toy.h"
#include <stdio.h>

static struct reconv_cfg cfg;
static void *st;
static void setup(void) { st = NULL; }
static void teardown(void) { free(st); }

static void start(uint32_t threshold, uint32_t entries) {
    reconv_cfg_default(&cfg);
    cfg.dws_threshold = threshold;
    cfg.dws_wst_entries = entries;
    free(st);
    st = calloc(1, reconv_dws.size(&cfg));
    reconv_dws.start(st, &cfg, 0, 0xff);
}

/* What may be scheduled, as "pc:lanes ", by lowest lane. */
static const char *schedulable(void) {
    static char out[256];
    struct path p[MAX_PATHS];
    int n = reconv_dws.paths(st, p, MAX_PATHS);
    out[0] = 0;
    for (lanemask_t m = 0xff; m; m &= m - 1)
        for (int i = 0; i < n; i++)
            if (p[i].lanes & m & -m && !(p[i].lanes & ((m & -m) - 1)))
                snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x ", p[i].pc, p[i].lanes);
    return out;
}

static int id_at(uint32_t pc) {
    struct path p[MAX_PATHS];
    int n = reconv_dws.paths(st, p, MAX_PATHS);
    for (int i = 0; i < n; i++)
        if (p[i].pc == pc)
            return p[i].id;
    ck_abort_msg("nobody at %u: %s", pc, schedulable());
    return -1;
}

/* The path at `from` parts: `lanes` of it go to `pc`, the others to from + 1. The block at the branch's post-dominator,
 * 90, has `block` instructions. */
static void part(uint32_t from, lanemask_t all, uint32_t pc, lanemask_t lanes, uint32_t block) {
    struct target t[2] = {{pc, lanes}, {from + 1, all & ~lanes}};
    struct branch_site site = {.pc = from, .rpc = 90, .rpc_block = block, .taken_pc = pc};
    reconv_dws.branch(st, id_at(from), t, 2, &site);
}

/* "Nested branches within a split warp cause further splits" (2.2), however long the block at their post-dominator is:
 * a block of 1000 instructions keeps a whole warp on the stack, and a split goes on splitting. */
START_TEST(a_branch_inside_a_split_splits) {
    start(50, 0);
    part(0, 0xff, 20, 0x0f, 1000);
    ck_assert_str_eq(schedulable(), "20:f "); /* stack: one side after the other */
    start(50, 0);
    part(0, 0xff, 20, 0x0f, 10);
    ck_assert_str_eq(schedulable(), "20:f 1:f0 ");
    part(20, 0x0f, 30, 0x03, 1000);
    ck_assert_str_eq(schedulable(), "30:3 21:c 1:f0 ");
    struct target t[2] = {{40, 0x10}, {2, 0xe0}}; /* no post-dominator at all */
    struct branch_site site = {.pc = 1, .rpc = PC_EXIT, .taken_pc = 40};
    reconv_dws.branch(st, id_at(1), t, 2, &site);
    ck_assert_str_eq(schedulable(), "30:3 21:c 40:10 2:e0 ");
}
END_TEST

/* A table of two: both sides of the first branch fit. A split that parts keeps its entry for the side that comes first,
 * the other one is parked until a split ends (it reaches the end of the stack's entry, by exit here), and the oldest
 * comes first. */
START_TEST(splits_beyond_the_table_are_parked) {
    start(50, 2);
    part(0, 0xff, 20, 0x0f, 10);
    part(20, 0x0f, 30, 0x03, 10);
    ck_assert_str_eq(schedulable(), "30:3 1:f0 "); /* c is parked */
    part(1, 0xf0, 40, 0x30, 10);
    ck_assert_str_eq(schedulable(), "30:3 40:30 "); /* c0 too */
    reconv_dws.leave(st, id_at(30), 0x03, 31);
    ck_assert_str_eq(schedulable(), "21:c 40:30 ");
    reconv_dws.leave(st, id_at(21), 0x0c, 22);
    ck_assert_str_eq(schedulable(), "40:30 2:c0 ");
    reconv_dws.advance(st, id_at(40), 2); /* meets the other: merged, nobody is parked */
    ck_assert_str_eq(schedulable(), "2:f0 ");
}
END_TEST

/* A table of one never subdivides a warp; one of three has no room for the four sides of a switch. */
START_TEST(a_warp_whose_sides_do_not_fit_uses_the_stack) {
    start(50, 1);
    part(0, 0xff, 20, 0x0f, 10);
    ck_assert_str_eq(schedulable(), "20:f ");
    static const struct target t[4] = {{10, 0x03}, {20, 0x0c}, {30, 0x30}, {40, 0xc0}};
    struct branch_site site = {.rpc = 90, .rpc_block = 1, .taken_pc = PC_EXIT};
    start(50, 3);
    reconv_dws.branch(st, 0, t, 4, &site);
    ck_assert_str_eq(schedulable(), "10:3 ");
    start(50, 4);
    reconv_dws.branch(st, 0, t, 4, &site);
    ck_assert_str_eq(schedulable(), "10:3 20:c 30:30 40:c0 ");
}
END_TEST

/* Splits that wait at a barrier give their entries to those that have not come yet, and do not merge with one that
 * arrives where they wait; when it opens they are one. */
START_TEST(who_waits_at_a_barrier_makes_room) {
    start(50, 2);
    part(0, 0xff, 20, 0x0f, 10);
    part(20, 0x0f, 30, 0x03, 10);
    ck_assert_str_eq(schedulable(), "30:3 1:f0 ");
    reconv_dws.advance(st, id_at(30), 50);
    int first = id_at(50);
    reconv_dws.stall(st, first, STALL_OTHER);
    ck_assert_str_eq(schedulable(), "21:c 1:f0 ");
    reconv_dws.advance(st, id_at(21), 50);
    int second = id_at(50);
    reconv_dws.stall(st, second, STALL_OTHER);
    reconv_dws.advance(st, id_at(1), 50);
    reconv_dws.wake(st, first);
    reconv_dws.wake(st, second);
    ck_assert_str_eq(schedulable(), "50:ff ");
}
END_TEST

/* A load splits a warp into two splits, and a split into itself and one more, while the table has room for them. */
START_TEST(a_load_splits_while_there_is_room) {
    static const struct {
        uint32_t entries, splits; /* after the first load and a second one */
    } cases[] = {{0, 3}, {1, 1}, {2, 2}, {3, 3}};
    struct path slow;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(50, cases[i].entries);
        cfg.dws_memory = 1;
        reconv_dws.split(st, id_at(0), 0xf0, 5, &slow);
        ck_assert_str_eq(schedulable(), cases[i].splits > 1 ? "5:f 5:f0 " : "0:ff ");
        if (cases[i].splits == 1)
            continue;
        struct path p[MAX_PATHS];
        int n = reconv_dws.paths(st, p, MAX_PATHS), fast = p[0].lanes == 0x0f ? 0 : 1;
        ck_assert_int_eq(n, 2);
        reconv_dws.split(st, p[fast].id, 0x0c, 6, &slow);
        ck_assert_str_eq(schedulable(), cases[i].splits > 2 ? "6:3 6:c 5:f0 " : "5:f 5:f0 ");
    }
}
END_TEST

SUITE(timing_reconv_dws) {
    TEST(a_load_splits_while_there_is_room);
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_branch_inside_a_split_splits);
    TEST(splits_beyond_the_table_are_parked);
    TEST(a_warp_whose_sides_do_not_fit_uses_the_stack);
    TEST(who_waits_at_a_barrier_makes_room);
}
