/* Tests dual-path execution step by step. The expected stack after each call is derived by hand from sections 3 and 7
 * of the paper. */
#include "test/bases.h"
#include "test/test.h"
#include <stdio.h>

static const struct reconv_ops *const ops = &reconv_dpe;
static struct reconv_cfg cfg;
static void *st;

static void setup(void) {
    reconv_cfg_default(&cfg);
    st = calloc(1, ops->size(&cfg, MAX_WARP_LANES));
    ops->start(st, &cfg, 0, 0xff);
}
static void teardown(void) { free(st); }

/* Returns the sides from the top of the stack down as "pc:lanes" and a letter: L or R for a side of the top entry, s
 * for a suspended side, w for a side that waits for the sides above it, h for half of a load that waits. */
static const char *stack(void) {
    static char out[512];
    struct path_desc d[MAX_PATHS];
    int n = ops->describe(st, d, MAX_PATHS);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x%c ", d[i].path.pc, (rowmask_t)d[i].path.lanes,
                 strstr(d[i].state, "left")        ? 'L'
                 : strstr(d[i].state, "right")     ? 'R'
                 : strstr(d[i].state, "suspended") ? 's'
                 : strstr(d[i].state, "half")      ? 'h'
                                                   : 'w');
    return out;
}
/* Returns the paths that may issue as "pc:lanes/scoreboard ". */
static const char *shown(void) {
    static char out[128];
    struct path p[2];
    int n = ops->paths(st, p, 2);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x/%u ", p[i].pc, (rowmask_t)p[i].lanes, p[i].board);
    return out;
}
static struct path at(uint32_t pc) {
    struct path p[2];
    int n = ops->paths(st, p, 2);
    for (int i = 0; i < n; i++)
        if (p[i].pc == pc)
            return p[i];
    ck_abort_msg("nobody at %u: %s", pc, shown());
    return p[0];
}
static unsigned to(uint32_t from, uint32_t pc) { return ops->advance(st, at(from).id, pc); }
/* Makes the path at PC `from` diverge: `lanes` branch to `pc`. The reconvergence PC is `rpc`. */
static unsigned diverge(uint32_t from, uint32_t pc, lanemask_t lanes, uint32_t rpc) {
    const struct path p = at(from);
    const struct target t[2] = {{pc, lanes}, {from + 1, p.lanes & ~lanes}};
    const struct branch_site site = {.pc = from, .rpc = rpc, .rpc_block = 1, .taken_pc = pc};
    return ops->branch(st, p.id, t, 2, &site);
}
enum { BOTH = RECONV_SHADOW_0 | RECONV_SHADOW_1 };

/* Figure 3 of the paper: both sides of a branch are in one entry, and the sides of nested branches are in entries above
 * it. A side becomes invalid when it reaches the reconvergence point. */
START_TEST(both_sides_in_one_entry) {
    ck_assert_str_eq(stack(), "0:ffL ");
    ck_assert_uint_eq(diverge(0, 20, 0x0f, 90) & BOTH, BOTH);
    ck_assert_str_eq(stack(), "20:fL 1:f0R 90:ffw ");
    ck_assert_str_eq(shown(), "20:f/0 1:f0/1 ");
    ck_assert_int_eq(ops->depth(st), 2);
    ck_assert_uint_eq(ops->runnable(st), 0xff);
    diverge(1, 50, 0x30, 60);
    ck_assert_str_eq(stack(), "50:30L 2:c0R 20:fs 60:f0w 90:ffw ");
    ck_assert_str_eq(shown(), "50:30/0 2:c0/1 ");
    ck_assert_uint_eq(ops->runnable(st), 0xf0);
    ck_assert_uint_eq(to(50, 51), 0); /* no event */
    ck_assert_uint_eq(to(51, 60), RECONV_CHANGED |
                                      /* the left side; its scoreboard now has pending registers of other paths */
                                      RECONV_SHADOW_0);
    ck_assert_str_eq(stack(), "2:c0R 20:fs 60:f0w 90:ffw ");
    ck_assert_uint_eq(to(2, 60), RECONV_CHANGED | RECONV_SHADOW_1);
    ck_assert_str_eq(stack(), "20:fL 60:f0R 90:ffw ");
    to(60, 90);
    to(20, 90);
    ck_assert_str_eq(stack(), "90:ffL ");
    ck_assert_int_eq(ops->depth(st), 1);
    ops->leave(st, at(90).id, 0xff, PC_NOWHERE);
    ck_assert(ops->finished(st));
}
END_TEST

/* In an if without else, the entry has one side. If lanes leave a loop one by one, one entry is enough. */
START_TEST(single_sides) {
    diverge(0, 20, 0x0f, 1); /* the other lanes are at the reconvergence point */
    ck_assert_str_eq(stack(), "20:fL 1:ffw ");
    /* the branch has the same reconvergence PC as its own entry, so the new entry replaces this entry */
    diverge(20, 30, 0x03, 1);
    ck_assert_str_eq(stack(), "30:3L 21:cR 1:ffw ");
    to(30, 1);
    to(21, 1);
    ck_assert_str_eq(stack(), "1:ffL ");
    teardown();
    setup();
    lanemask_t in = 0xff;
    for (int i = 0; i < 7; i++) {
        lanemask_t stays = in & (in - 1);
        const struct path p = at(0);
        const struct target t[2] = {{0, stays}, {1, in & ~stays}};
        const struct branch_site site = {.pc = 0, .rpc = 1, .rpc_block = 1, .taken_pc = 0};
        ops->branch(st, p.id, t, 2, &site);
        ck_assert_int_eq(ops->depth(st), 2);
        in = stays;
    }
    ck_assert_str_eq(stack(), "0:80L 1:ffw ");
    to(0, 1);
    ck_assert_str_eq(stack(), "1:ffL ");
}
END_TEST

/* A branch with four targets makes two entries with two sides each; the first pair is on top. With five targets, the
 * last target is a single side at the bottom, on the scoreboard of the path that diverged. */
START_TEST(more_than_two_ways) {
    static const struct target t[5] = {{10, 0x01}, {20, 0x02}, {30, 0x0c}, {40, 0x30}, {50, 0xc0}};
    const struct branch_site site = {.pc = 0, .rpc = 90, .taken_pc = PC_EXIT};
    ops->branch(st, at(0).id, t, 5, &site);
    ck_assert_str_eq(stack(), "10:1L 20:2R 30:cs 40:30s 50:c0s 90:ffw ");
    to(10, 90);
    to(20, 90);
    ck_assert_str_eq(shown(), "30:c/0 40:30/1 ");
    to(40, 90);
    ck_assert_str_eq(shown(), "30:c/0 ");
    to(30, 90);
    ck_assert_str_eq(shown(), "50:c0/0 ");
    to(50, 90);
    ck_assert_str_eq(stack(), "90:ffL ");
}
END_TEST

/* Lanes that exit leave all entries. The second branch has the reconvergence PC PC_EXIT, because all threads of one of
 * its sides exit. The lanes of the other side reconverge at PC 90, where the path that executed the branch
 * reconverges. */
START_TEST(lanes_exit) {
    diverge(0, 20, 0x0f, 90);
    diverge(20, 30, 0x03, PC_EXIT);
    ck_assert_str_eq(stack(), "30:3L 21:cR 90:fw 1:f0s 90:ffw ");
    ops->leave(st, at(30).id, 0x01, 31);
    ck_assert_str_eq(stack(), "31:2L 21:cR 90:ew 1:f0s 90:few ");
    ops->leave(st, at(31).id, 0x02, PC_NOWHERE);
    ck_assert_str_eq(stack(), "21:cR 90:cw 1:f0s 90:fcw ");
    to(21, 90);
    ck_assert_str_eq(stack(), "1:f0R 90:fcw ");
}
END_TEST

/* With the constrained scheduler, paths() returns one side. It returns the other side after a long operation, or while
 * the first side waits at a barrier. */
START_TEST(constrained_shows_one_side) {
    cfg.dpe_scheduler = 1;
    diverge(0, 20, 0x0f, 90);
    ck_assert_str_eq(shown(), "20:f/0 ");
    ck_assert_uint_eq(ops->runnable(st), 0xff); /* the other side could run, but paths() does not return it */
    ck_assert_uint_eq(ops->stall(st, at(20).id, STALL_LOAD_USE), RECONV_CHANGED);
    ck_assert_str_eq(shown(), "1:f0/1 ");
    ck_assert_uint_eq(ops->stall(st, at(1).id, STALL_LOAD_USE), RECONV_CHANGED);
    const int left = at(20).id;
    ck_assert_uint_eq(ops->stall(st, left, STALL_OTHER), RECONV_CHANGED);
    ck_assert_str_eq(shown(), "1:f0/1 ");
    ck_assert_uint_eq(ops->wake(st, left), RECONV_CHANGED);
    ck_assert_str_eq(shown(), "20:f/0 ");
    cfg.dpe_scheduler = 0;
    ck_assert_uint_eq(ops->stall(st, left, STALL_OTHER), 0);
    ck_assert_uint_eq(ops->wake(st, left), 0);
    ck_assert_uint_eq(ops->stall(st, left, STALL_LOAD_USE), 0);
}
END_TEST

/* Section 7.2: a load makes two halves. Lanes that hit continue in the slot of the path, and lanes that missed in the
 * free slot. At a branch, each half waits for the other half. After they join, they are one path on the left
 * scoreboard. This scoreboard then includes the pending registers of the right scoreboard. */
START_TEST(halves_of_a_load) {
    struct path slow;
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xf0, 5, &slow), 0); /* the option is off */
    cfg.dpe_memory_divergence = true;
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xff, 5, &slow), 0);  /* no lane would continue */
    ck_assert_uint_eq(ops->split(st, at(0).id, 0x100, 5, &slow), 0); /* the mask contains no lane of this path */
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xf0, 5, &slow), RECONV_CHANGED | RECONV_SHADOW_0);
    ck_assert(slow.pc == 5 && slow.lanes == 0xf0 && slow.board == 1);
    ck_assert_str_eq(shown(), "5:f/0 5:f0/1 ");
    const struct path fast = at(5);
    ck_assert_uint_eq(ops->split(st, fast.id, 0x1, 6, &slow), 0); /* no free slot */
    ck_assert_uint_eq(ops->gather(st, fast.id, 9), RECONV_CHANGED);
    ck_assert_str_eq(stack(), "9:fh 5:f0R ");
    ck_assert_str_eq(shown(), "5:f0/1 ");
    ck_assert_int_eq(ops->concurrent(st), 2);
    ck_assert_uint_eq(ops->gather(st, at(5).id, 9), RECONV_CHANGED | RECONV_SHADOW_1);
    ck_assert_str_eq(stack(), "9:ffL ");
    ck_assert_uint_eq(ops->gather(st, at(9).id, 9), 0); /* it is whole */
    ops->split(st, at(9).id, 0x0f, 10, &slow);
    const struct path half = at(10);
    ops->gather(st, half.id, 12);
    ops->leave(st, slow.id, 0x0f, PC_NOWHERE); /* its other half has exited, so this half does not wait */
    ck_assert_str_eq(stack(), "12:f0L ");
    diverge(12, 20, 0x30, 90);
    /* no slot is free, because both sides of the top entry exist */
    ck_assert_uint_eq(ops->split(st, at(20).id, 0x10, 21, &slow), 0);
}
END_TEST

/* Masks are hexadecimal. The lanes of mask 3 wait for lane 4, which is below them on the stack. So they move to a
 * separate stack at the bottom. If the lanes of mask c wait for lane 4, too, they also move, and the lanes of mask f0
 * run. Otherwise the lanes of mask c wait at a CTA barrier and stay on the stack. A path that moves gets a new id,
 * which is reported. */
START_TEST(waiting_paths_give_way) {
    for (int both = 0; both < 2; both++) {
        struct lane_waits ws = {.waiting = 0x0f};
        diverge(0, 20, 0x0f, 90);
        diverge(20, 30, 0x03, 40);
        ck_assert_str_eq(stack(), "30:3L 21:cR 40:fw 1:f0s 90:ffw ");
        ck_assert_uint_eq(ops->give_way(st, &ws), 0); /* these lanes wait for no other lane */
        ws.wants[0] = 0x10;
        ws.wants[2] = both ? 0x10 : 0;
        ck_assert_uint_eq(ops->give_way(st, &ws), RECONV_CHANGED | BOTH);
        ck_assert_str_eq(shown(), both ? "1:f0/1 " : "21:c/1 ");
        ck_assert_uint_eq(ops->give_way(st, &ws), 0);
        struct path p[2];
        for (int i = 0; i < 8 && !ops->finished(st); i++) { /* all end */
            ck_assert_int_ge(ops->paths(st, p, 2), 1);
            ops->leave(st, p[0].id, p[0].lanes, PC_NOWHERE);
        }
        ck_assert(ops->finished(st));
        ck_assert_int_eq(ops->depth(st), 0);
        teardown();
        setup();
    }
}
END_TEST

/* Bits of an entry: two PCs, two masks, and a reconvergence PC. With memory divergence, an entry also has bits for
 * whether it is split and which half waits. */
START_TEST(storage) {
    ck_assert_uint_eq(ops->storage(&cfg).entry, 5 * 32);
    cfg.dpe_memory_divergence = true;
    ck_assert_uint_eq(ops->storage(&cfg).entry, 5 * 32 + 3);
    ck_assert_int_eq(ops->board(&cfg), RECONV_BOARD_SIDES);
    cfg.dpe_scoreboard = 1;
    ck_assert_int_eq(ops->board(&cfg), RECONV_BOARD_LANES);
}
END_TEST

SUITE(mechanisms_dpe_steps) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(both_sides_in_one_entry);
    TEST(single_sides);
    TEST(more_than_two_ways);
    TEST(lanes_exit);
    TEST(constrained_shows_one_side);
    TEST(halves_of_a_load);
    TEST(waiting_paths_give_way);
    TEST(storage);
}
