/* Tests dynamic warp subdivision step by step: splits that split again, and a warp-split table (WST) of limited size. A
 * node is an entry of the stack or of this table. */
#include "test/toys/toy.h"

#define PATHS_OPS reconv_dws
#include "test/mechanisms/paths_rig.h"

static void start_with(uint32_t threshold, uint32_t entries, enum reconv_first first) {
    reconv_cfg_default(&cfg);
    cfg.first = first;
    cfg.dws_threshold = threshold;
    cfg.dws_wst_entries = entries;
    free(st);
    st = calloc(1, reconv_dws.size(&cfg, MAX_WARP_LANES));
    reconv_dws.start(st, &cfg, 0, 0xff);
}

static void start(uint32_t threshold, uint32_t entries) { start_with(threshold, entries, FIRST_TAKEN); }

/* Makes the path at `from` diverge: `lanes` branch to `pc`, and the other lanes fall through. The post-dominator is at
 * PC 90, in a block of `block` instructions. */
static void diverge(uint32_t from, lanemask_t all, uint32_t pc, lanemask_t lanes, uint32_t block) {
    struct target t[2] = {{pc, lanes}, {from + 1, all & ~lanes}};
    struct branch_site site = {.pc = from, .rpc = 90, .rpc_block = block, .taken_pc = pc};
    reconv_dws.branch(st, id_at(from), t, 2, &site);
}

/* "Nested branches within a split warp cause further splits" (section 2.2), for any length of the block at their
 * post-dominator. If this block has 1000 instructions, a whole warp uses the stack, but a split still splits. */
START_TEST(a_branch_inside_a_split_splits) {
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 1000);
    ck_assert_str_eq(schedulable(), "20:f "); /* the whole warp uses the stack: one side after the other */
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 10);
    ck_assert_str_eq(schedulable(), "20:f 1:f0 ");
    diverge(20, 0x0f, 30, 0x03, 1000);
    ck_assert_str_eq(schedulable(), "30:3 21:c 1:f0 ");
    struct target t[2] = {{40, 0x10}, {2, 0xe0}}; /* no post-dominator */
    struct branch_site site = {.pc = 1, .rpc = PC_EXIT, .taken_pc = 40};
    reconv_dws.branch(st, id_at(1), t, 2, &site);
    ck_assert_str_eq(schedulable(), "30:3 21:c 40:10 2:e0 ");
}
END_TEST

/* The table has two entries. Both sides of the first branch fit. If a split diverges, its first side keeps the entry,
 * and its other side is parked until a split ends. In this test, splits end by exit. The side that was parked first
 * continues first. */
START_TEST(splits_beyond_the_table_are_parked) {
    start(50, 2);
    diverge(0, 0xff, 20, 0x0f, 10);
    diverge(20, 0x0f, 30, 0x03, 10);
    ck_assert_str_eq(schedulable(), "30:3 1:f0 "); /* lanes c are parked */
    diverge(1, 0xf0, 40, 0x30, 10);
    ck_assert_str_eq(schedulable(), "30:3 40:30 "); /* c0, too */
    reconv_dws.leave(st, id_at(30), 0x03, 31);
    ck_assert_str_eq(schedulable(), "21:c 40:30 ");
    reconv_dws.leave(st, id_at(21), 0x0c, 22);
    ck_assert_str_eq(schedulable(), "40:30 2:c0 ");
    reconv_dws.advance(st, id_at(40), 2); /* merges with the other split; afterwards no split is parked */
    ck_assert_str_eq(schedulable(), "2:f0 ");
}
END_TEST

/* With a table of one entry, a warp is never subdivided. A table of three entries has no room for the four sides of a
 * switch. */
START_TEST(a_warp_whose_sides_do_not_fit_uses_the_stack) {
    start(50, 1);
    diverge(0, 0xff, 20, 0x0f, 10);
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

/* Splits that wait at a barrier give their table entries to splits that have not yet arrived. A split that arrives does
 * not merge with the waiting splits. When the barrier opens, all these splits merge. */
START_TEST(waiting_splits_free_their_entries) {
    start(50, 2);
    diverge(0, 0xff, 20, 0x0f, 10);
    diverge(20, 0x0f, 30, 0x03, 10);
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

/* A load divides a warp into two splits. It divides a split into two splits if the table has room. */
START_TEST(a_load_splits_while_there_is_room) {
    static const struct {
        uint32_t entries, splits; /* expected number of splits after both loads */
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

/* Returns all nodes by slot as "pc:lanes" and a letter for the state: c waits for children, b is below the top of the
 * stack, p is parked, s is a split, t is the top. */
static const char *nodes(void) {
    static char out[512];
    struct path_desc d[MAX_PATHS];
    int n = reconv_dws.describe(st, d, MAX_PATHS);
    ck_assert_int_eq(n, reconv_dws.depth(st));
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x%c ", d[i].path.pc, (rowmask_t)d[i].path.lanes,
                 strstr(d[i].state, "children")    ? 'c'
                 : strstr(d[i].state, "suspended") ? 'b'
                 : strstr(d[i].state, "entry")     ? 'p'
                 : strstr(d[i].state, "split")     ? 's'
                                                   : 't');
    return out;
}

/* On the stack, the side that was pushed last runs first: the taken side, or with reconv.first = fallthrough the
 * fall-through side. The node below continues at the reconvergence PC when both sides have arrived. */
START_TEST(sides_on_the_stack) {
    for (uint32_t first = 0; first < 2; first++) {
        start_with(0, 0, first ? FIRST_FALLTHROUGH : FIRST_TAKEN);
        diverge(0, 0xff, 20, 0x0f, 1);
        ck_assert_str_eq(nodes(), first ? "90:ffc 20:fb 1:f0t " : "90:ffc 1:f0b 20:ft ");
        ck_assert_str_eq(schedulable(), first ? "1:f0 " : "20:f ");
        reconv_dws.advance(st, id_at(first ? 1 : 20), 90);
        ck_assert_str_eq(schedulable(), first ? "20:f " : "1:f0 ");
        reconv_dws.advance(st, id_at(first ? 20 : 1), 90);
        ck_assert_str_eq(nodes(), "90:fft ");
        diverge(90, 0xff, 95, 0x0f, 1);
        reconv_dws.leave(st, id_at(first ? 91 : 95), first ? 0xf0 : 0x0f, PC_NOWHERE);
        ck_assert_str_eq(schedulable(), first ? "95:f " : "91:f0 ");
        reconv_dws.leave(st, id_at(first ? 95 : 91), first ? 0x0f : 0xf0, PC_NOWHERE);
        ck_assert(reconv_dws.finished(st));
        ck_assert_str_eq(nodes(), "");
    }
}
END_TEST

/* The threshold limits the length of the block at the post-dominator. A block of 50 instructions lets a branch
 * subdivide the warp; a block of 51 does not. */
START_TEST(short_blocks_subdivide) {
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 51);
    ck_assert_str_eq(nodes(), "90:ffc 1:f0b 20:ft ");
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 50);
    ck_assert_str_eq(schedulable(), "20:f 1:f0 ");
    ck_assert_int_eq(reconv_dws.depth(st), 3);
    reconv_dws.advance(st, id_at(20), 30);
    reconv_dws.advance(st, id_at(1), 30); /* splits of one node merge if they are at the same PC */
    ck_assert_str_eq(schedulable(), "30:ff ");
    ck_assert_int_eq(reconv_dws.depth(st), 2);
    struct target on = {40, 0xff};
    struct branch_site site = {.pc = 30, .rpc = PC_EXIT, .taken_pc = 40};
    /* the branch is uniform, so it does not diverge */
    ck_assert_uint_eq(reconv_dws.branch(st, id_at(30), &on, 1, &site), 0);
    ck_assert_str_eq(schedulable(), "40:ff ");
}
END_TEST

/* An if without else on the stack: lanes that are already at the reconvergence point are not pushed. The stack entry of
 * one side of a branch may split; its splits end at the reconvergence PC of this branch. */
START_TEST(nested_nodes) {
    start(0, 0);
    struct target t[2] = {{20, 0x0f}, {90, 0xf0}};
    struct branch_site site = {.pc = 0, .rpc = 90, .rpc_block = 100, .taken_pc = 20};
    reconv_dws.branch(st, id_at(0), t, 2, &site);
    ck_assert_str_eq(nodes(), "90:ffc 20:ft ");
    struct target u[2] = {{30, 0x03}, {21, 0x0c}};
    struct branch_site inner = {.pc = 20, .rpc = 60, .rpc_block = 0, .taken_pc = 30};
    /* the block at PC 60 is short, so the lanes at PC 20 stay subdivided until PC 90 */
    reconv_dws.branch(st, id_at(20), u, 2, &inner);
    ck_assert_str_eq(schedulable(), "30:3 21:c ");
    reconv_dws.advance(st, id_at(30), 60);
    /* PC 60 is the inner branch's reconvergence point, but splits do not reconverge there */
    ck_assert_str_eq(schedulable(), "60:3 21:c ");
    reconv_dws.advance(st, id_at(60), 90);
    reconv_dws.advance(st, id_at(21), 90);
    ck_assert_str_eq(nodes(), "90:fft ");
}
END_TEST

/* Path f, on top of the stack, waits for lane 4, which is below f. So f leaves the stack, becomes a separate tree of
 * nodes, and both paths run. A path stays on the stack if it waits only for lanes that run, or does not wait. */
START_TEST(waiting_paths_give_way) {
    struct lane_waits ws = {.waiting = 0x0f};
    start(0, 0);
    diverge(0, 0xff, 20, 0x0f, 1);
    ck_assert_uint_eq(reconv_dws.give_way(st, &ws), 0);
    ws.wants[0] = 0x02;
    ck_assert_uint_eq(reconv_dws.give_way(st, &ws), 0);
    ws.wants[0] = 0x10;
    ws.waiting = 0x07; /* lane 3 continues */
    ck_assert_uint_eq(reconv_dws.give_way(st, &ws), 0);
    ws.waiting = 0x0f;
    ck_assert_uint_eq(reconv_dws.give_way(st, &ws), RECONV_CHANGED);
    ck_assert_str_eq(schedulable(), "20:f 1:f0 ");
    reconv_dws.advance(st, id_at(1), 90);
    ck_assert_str_eq(schedulable(), "20:f 90:f0 ");
    reconv_dws.advance(st, id_at(20), 90); /* f has left the stack, so it does not reconverge with another path */
    ck_assert_int_eq(reconv_dws.depth(st), 2);
    reconv_dws.leave(st, id_at(90), 0xff, PC_NOWHERE);
    ck_assert(reconv_dws.finished(st));
}
END_TEST

/* Two splits wait on top of the stack. A lane of either split may wait for a lane of the node below, so the model must
 * check both splits. */
START_TEST(each_path_may_give_way) {
    for (int second = 0; second < 2; second++) {
        struct lane_waits ws = {.waiting = 0x0f};
        start(0, 0);
        diverge(0, 0xff, 20, 0x0f, 1);
        struct target t[2] = {{30, 0x03}, {21, 0x0c}};
        struct branch_site site = {.pc = 20, .rpc = 60, .rpc_block = 0, .taken_pc = 30};
        reconv_dws.branch(st, id_at(20), t, 2, &site);
        ck_assert_str_eq(schedulable(), "30:3 21:c ");
        ws.wants[second ? 2 : 0] = 0x10;
        ck_assert_uint_eq(reconv_dws.give_way(st, &ws), RECONV_CHANGED);
        ck_assert_str_eq(schedulable(), "30:3 21:c ");
        reconv_dws.advance(st, id_at(second ? 30 : 21), 90); /* the other split reconverges, so the node below runs */
        ck_assert_str_eq(schedulable(), second ? "21:c 1:f0 " : "30:3 1:f0 ");
    }
}
END_TEST

/* Cases in which a load does not split a warp: the option is off; no lane or all lanes are in the mask; the next PC is
 * the end of the node. */
START_TEST(loads_that_do_not_split) {
    struct path slow;
    start(0, 0);
    ck_assert_uint_eq(reconv_dws.split(st, 0, 0xf0, 5, &slow), 0);
    cfg.dws_memory = 2;
    ck_assert_uint_eq(reconv_dws.split(st, 0, 0xff, 5, &slow), 0);
    ck_assert_uint_eq(reconv_dws.split(st, 0, 0xf00, 5, &slow), 0);
    diverge(0, 0xff, 20, 0x0f, 1);
    ck_assert_uint_eq(reconv_dws.split(st, id_at(20), 0x03, 90, &slow), 0);
    ck_assert_uint_eq(reconv_dws.split(st, id_at(20), 0xf3, 21, &slow), RECONV_CHANGED);
    ck_assert(slow.pc == 21 && slow.lanes == 0x03 && slow.board == 0);
    ck_assert_str_eq(schedulable(), "21:3 21:c "); /* not merged */
    reconv_dws.leave(st, id_at(21), 0x01, 22);
    ck_assert_uint_eq(reconv_dws.stall(st, 0, STALL_LOAD_USE), 0);
}
END_TEST

/* Bits of an entry: a PC, a mask and a reconvergence PC. */
START_TEST(storage) {
    start(0, 0);
    ck_assert_uint_eq(reconv_dws.storage(&cfg).entry, 96);
    ck_assert_uint_eq(reconv_dws.storage(&cfg).fixed, 0);
    ck_assert_int_eq(reconv_dws.board(&cfg), RECONV_BOARD_LANES);
    ck_assert(!reconv_dws.wants(&cfg).splits && !reconv_dws.wants(&cfg).revives);
    cfg.dws_memory = 1;
    ck_assert(reconv_dws.wants(&cfg).splits && !reconv_dws.wants(&cfg).revives);
    cfg.dws_memory = 2;
    ck_assert(reconv_dws.wants(&cfg).splits && reconv_dws.wants(&cfg).revives);
}
END_TEST

SUITE(mechanisms_dws) {
    TEST(a_load_splits_while_there_is_room);
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_branch_inside_a_split_splits);
    TEST(splits_beyond_the_table_are_parked);
    TEST(a_warp_whose_sides_do_not_fit_uses_the_stack);
    TEST(waiting_splits_free_their_entries);
    TEST(sides_on_the_stack);
    TEST(short_blocks_subdivide);
    TEST(nested_nodes);
    TEST(waiting_paths_give_way);
    TEST(each_path_may_give_way);
    TEST(loads_that_do_not_split);
    TEST(storage);
}
