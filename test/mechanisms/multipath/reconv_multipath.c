/* Tests multi-path execution step by step: nested branches, loops, a splits table of limited size, and opportunistic
 * merging. */
#include "mechanisms/multipath/reconv_multipath.h"

#define PATHS_OPS reconv_multipath
#include "test/mechanisms/paths_rig.h"

static void start(uint32_t entries, bool opportunistic) {
    reconv_cfg_default(&cfg);
    cfg.multipath_entries = entries;
    cfg.multipath_opportunistic = opportunistic;
    free(st);
    st = calloc(1, reconv_multipath.size(&cfg, MAX_WARP_LANES));
    reconv_multipath.start(st, &cfg, 0, 0xff);
}

/* Makes the path at `from` diverge: `lanes` branch to `pc`, and the others of `all` fall through. The sides reconverge
 * at `rpc`. */
static void diverge(uint32_t from, lanemask_t all, uint32_t pc, lanemask_t lanes, uint32_t rpc) {
    struct target t[2] = {{pc, lanes}, {from + 1, all & ~lanes}};
    struct branch_site site = {.pc = from, .rpc = rpc, .rpc_block = 1, .taken_pc = pc};
    reconv_multipath.branch(st, id_at(from), t, 2, &site);
}

static void go(uint32_t from, uint32_t to) { reconv_multipath.advance(st, id_at(from), to); }

/* Three nested branches: four paths run side by side, and each join waits for its own two sides.
 * - 0: lanes f0 go to 20, lanes 0f to 1; they join at 90.
 * - 1: lanes 0c go to 10, lanes 03 to 2; they join at 15.
 * - 20: lanes c0 go to 30, lanes 30 to 21; they join at 35.
 * Under spe one of these paths would run at a time, under dpe two. */
START_TEST(all_sides_of_nested_branches_run) {
    start(0, false);
    diverge(0, 0xff, 20, 0xf0, 90);
    diverge(1, 0x0f, 10, 0x0c, 15);
    diverge(20, 0xf0, 30, 0xc0, 35);
    ck_assert_str_eq(schedulable(), "2:3 10:c 21:30 30:c0 ");
    ck_assert_int_eq(reconv_multipath.depth(st), 7); /* four leaves and three reconvergence points */
    go(10, 15);
    ck_assert_str_eq(schedulable(), "2:3 21:30 30:c0 ");
    go(2, 15);
    ck_assert_str_eq(schedulable(), "15:f 21:30 30:c0 ");
    go(15, 90);
    go(21, 35);
    ck_assert_str_eq(schedulable(), "30:c0 ");
    go(30, 35);
    ck_assert_str_eq(schedulable(), "35:f0 ");
    go(35, 90);
    ck_assert_str_eq(schedulable(), "90:ff ");
    ck_assert_int_eq(reconv_multipath.depth(st), 1);
}
END_TEST

/* Lanes leave a loop one by one and wait at PC 9. Each divergence has the same reconvergence point, so the loop has one
 * entry of the reconvergence table: the depth stays 2. */
START_TEST(a_loop_needs_one_entry) {
    start(0, false);
    lanemask_t in = 0xff;
    for (int lane = 0; lane < 7; lane++) {
        struct target t[2] = {{1, in & (in - 1)}, {9, in & -in}};
        struct branch_site site = {.pc = 8, .rpc = 9, .rpc_block = 1, .taken_pc = 1};
        go(lane ? 1 : 0, 8);
        reconv_multipath.branch(st, id_at(8), t, 2, &site);
        in &= in - 1;
        ck_assert_int_eq(reconv_multipath.depth(st), 2);
    }
    ck_assert_str_eq(schedulable(), "1:80 ");
    go(1, 9);
    ck_assert_str_eq(schedulable(), "9:ff ");
}
END_TEST

/* With two entries of the splits table, the third path waits until one of the others has reached its join. */
START_TEST(a_full_table_lets_paths_wait) {
    start(2, false);
    diverge(0, 0xff, 20, 0xf0, 90);
    ck_assert_str_eq(schedulable(), "1:f 20:f0 ");
    diverge(20, 0xf0, 30, 0xc0, 35);
    struct path p[MAX_PATHS];
    ck_assert_int_eq(reconv_multipath.paths(st, p, MAX_PATHS), 2);
    go(1, 90);
    ck_assert_str_eq(schedulable(), "21:30 30:c0 ");
    go(21, 35);
    go(30, 35);
    ck_assert_str_eq(schedulable(), "35:f0 ");
    go(35, 90);
    ck_assert_str_eq(schedulable(), "90:ff ");
}
END_TEST

/* Both sides of a branch reach PC 40, which is before their reconvergence point. Only with opportunistic merging do
 * they become one path there. A path with another reconvergence point does not merge with them. */
START_TEST(paths_merge_early_if_wanted) {
    for (int merges = 0; merges < 2; merges++) {
        start(0, merges);
        diverge(0, 0xff, 20, 0xf0, 90);
        diverge(20, 0xf0, 30, 0xc0, 80);
        go(1, 40);
        go(21, 40);
        ck_assert_str_eq(schedulable(), "40:f 40:30 30:c0 ");
        go(30, 40);
        ck_assert_str_eq(schedulable(), merges ? "40:f 40:f0 " : "40:f 40:30 40:c0 ");
    }
}
END_TEST

SUITE(mechanisms_multipath) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(all_sides_of_nested_branches_run);
    TEST(a_loop_needs_one_entry);
    TEST(a_full_table_lets_paths_wait);
    TEST(paths_merge_early_if_wanted);
}
