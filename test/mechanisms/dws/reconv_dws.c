/* Tests dynamic warp subdivision step by step: splits of splits, and a warp-split table of limited size. */
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

/* Returns the paths that may issue as "pc:lanes ", by lowest lane. */
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

/* The path at `from` diverges: `lanes` branch to `pc`, the others fall through. The post-dominator, 90, starts a block
 * of `block` instructions. */
static void diverge(uint32_t from, lanemask_t all, uint32_t pc, lanemask_t lanes, uint32_t block) {
    struct target t[2] = {{pc, lanes}, {from + 1, all & ~lanes}};
    struct branch_site site = {.pc = from, .rpc = 90, .rpc_block = block, .taken_pc = pc};
    reconv_dws.branch(st, id_at(from), t, 2, &site);
}

/* "Nested branches within a split warp cause further splits" (section 2.2), whatever the block length at their
 * post-dominator. A block of 1000 instructions keeps a whole warp on the stack, but a split splits further. */
START_TEST(a_branch_inside_a_split_splits) {
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 1000);
    ck_assert_str_eq(schedulable(), "20:f "); /* stack: one side after the other */
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

/* A table of two entries. Both sides of the first branch fit. A split that diverges gives its entry to the first side;
 * the other side is parked until a split ends. Here a split ends at the stack entry's end, by exit. The oldest parked
 * side continues first. */
START_TEST(splits_beyond_the_table_are_parked) {
    start(50, 2);
    diverge(0, 0xff, 20, 0x0f, 10);
    diverge(20, 0x0f, 30, 0x03, 10);
    ck_assert_str_eq(schedulable(), "30:3 1:f0 "); /* c is parked */
    diverge(1, 0xf0, 40, 0x30, 10);
    ck_assert_str_eq(schedulable(), "30:3 40:30 "); /* c0, too */
    reconv_dws.leave(st, id_at(30), 0x03, 31);
    ck_assert_str_eq(schedulable(), "21:c 40:30 ");
    reconv_dws.leave(st, id_at(21), 0x0c, 22);
    ck_assert_str_eq(schedulable(), "40:30 2:c0 ");
    reconv_dws.advance(st, id_at(40), 2); /* merges with the other split; no split is parked */
    ck_assert_str_eq(schedulable(), "2:f0 ");
}
END_TEST

/* A table of one entry never subdivides a warp. A table of three has no room for the four sides of a switch. */
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

/* Splits that wait at a barrier give their entries to splits that have not arrived. A split that arrives at the barrier
 * does not merge with the waiting splits. When the barrier opens, all these splits merge. */
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

/* A load divides a warp into two splits, and a split into itself and one more split, while the table has room. */
START_TEST(a_load_splits_while_there_is_room) {
    static const struct {
        uint32_t entries, splits; /* after the first and the second load */
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

/* Returns all nodes by slot as "pc:lanes" and a letter: c (waits for children), b(elow the top), p(arked), s(plit),
 * t(op). */
static const char *nodes(void) {
    static char out[512];
    struct path_desc d[MAX_PATHS];
    int n = reconv_dws.describe(st, d, MAX_PATHS);
    ck_assert_int_eq(n, reconv_dws.depth(st));
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x%c ", d[i].path.pc, d[i].path.lanes,
                 strstr(d[i].state, "children")    ? 'c'
                 : strstr(d[i].state, "suspended") ? 'b'
                 : strstr(d[i].state, "entry")     ? 'p'
                 : strstr(d[i].state, "split")     ? 's'
                                                   : 't');
    return out;
}

/* The stack: the side pushed last runs first. This is the taken side, or with reconv.first = fallthrough the
 * fall-through side. The node below continues at the reconvergence PC when both have arrived. */
START_TEST(sides_on_the_stack) {
    for (uint32_t first = 0; first < 2; first++) {
        start(0, 0);
        cfg.first = first;
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

/* The threshold limits the length of the block at the post-dominator: a block of 50 instructions subdivides the warp, a
 * block of 51 does not. */
START_TEST(short_blocks_subdivide) {
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 51);
    ck_assert_str_eq(nodes(), "90:ffc 1:f0b 20:ft ");
    start(50, 0);
    diverge(0, 0xff, 20, 0x0f, 50);
    ck_assert_str_eq(schedulable(), "20:f 1:f0 ");
    ck_assert_int_eq(reconv_dws.depth(st), 3);
    reconv_dws.advance(st, id_at(20), 30);
    reconv_dws.advance(st, id_at(1), 30); /* splits of one node at one PC merge */
    ck_assert_str_eq(schedulable(), "30:ff ");
    ck_assert_int_eq(reconv_dws.depth(st), 2);
    struct target on = {40, 0xff};
    struct branch_site site = {.pc = 30, .rpc = PC_EXIT, .taken_pc = 40};
    ck_assert_uint_eq(reconv_dws.branch(st, id_at(30), &on, 1, &site), 0); /* a uniform branch does not diverge */
    ck_assert_str_eq(schedulable(), "40:ff ");
}
END_TEST

/* if without else on the stack: lanes at the reconvergence point are not pushed. Splits of a node that is a side end at
 * that side's reconvergence PC. */
START_TEST(nested_nodes) {
    start(0, 0);
    struct target t[2] = {{20, 0x0f}, {90, 0xf0}};
    struct branch_site site = {.pc = 0, .rpc = 90, .rpc_block = 100, .taken_pc = 20};
    reconv_dws.branch(st, id_at(0), t, 2, &site);
    ck_assert_str_eq(nodes(), "90:ffc 20:ft ");
    struct target u[2] = {{30, 0x03}, {21, 0x0c}};
    struct branch_site inner = {.pc = 20, .rpc = 60, .rpc_block = 0, .taken_pc = 30};
    reconv_dws.branch(st, id_at(20), u, 2, &inner); /* an empty block: the warp is subdivided, up to PC 90 */
    ck_assert_str_eq(schedulable(), "30:3 21:c ");
    reconv_dws.advance(st, id_at(30), 60);
    ck_assert_str_eq(schedulable(), "60:3 21:c "); /* not the branch's own reconvergence point */
    reconv_dws.advance(st, id_at(60), 90);
    reconv_dws.advance(st, id_at(21), 90);
    ck_assert_str_eq(nodes(), "90:fft ");
}
END_TEST

/* The path f, on top of the stack, waits for lane 4, which is below f. So f becomes a separate tree, and both paths
 * run. A path that waits for a running lane, or does not wait, stays in the stack. */
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
    reconv_dws.advance(st, id_at(20), 90); /* f no longer reconverges with another path */
    ck_assert_int_eq(reconv_dws.depth(st), 2);
    reconv_dws.leave(st, id_at(90), 0xff, PC_NOWHERE);
    ck_assert(reconv_dws.finished(st));
}
END_TEST

/* Two splits wait on top of the stack. Either may wait for a lane of the node below, so both are checked. */
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
        reconv_dws.advance(st, id_at(second ? 30 : 21), 90); /* the other split reconverges: now the node below runs */
        ck_assert_str_eq(schedulable(), second ? "21:c 1:f0 " : "30:3 1:f0 ");
    }
}
END_TEST

/* A load does not split a warp in these cases: with the option off, for no lanes, for all lanes, and at the end of the
 * node. */
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

/* Each entry: a PC, a mask and a reconvergence PC. */
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
