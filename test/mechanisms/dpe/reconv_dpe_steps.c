/* Dual-path execution step by step: what is on the stack after each call, by hand from sections 3 and 7 of the paper.
 * */
#include "test/bases.h"
#include "test/test.h"
#include <stdio.h>

static const struct reconv_ops *const ops = &reconv_dpe;
static struct reconv_cfg cfg;
static void *st;

static void setup(void) {
    reconv_cfg_default(&cfg);
    st = calloc(1, ops->size(&cfg));
    ops->start(st, &cfg, 0, 0xff);
}
static void teardown(void) { free(st); }

/* Sides from the top of the stack down, "pc:lanes" and a letter: L, R at the top, s(uspended), w(aits for those above),
 * h(alf of a load that waits). */
static const char *stack(void) {
    static char out[512];
    struct path_desc d[MAX_PATHS];
    int n = ops->describe(st, d, MAX_PATHS);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x%c ", d[i].path.pc, d[i].path.lanes,
                 strstr(d[i].state, "left")        ? 'L'
                 : strstr(d[i].state, "right")     ? 'R'
                 : strstr(d[i].state, "suspended") ? 's'
                 : strstr(d[i].state, "half")      ? 'h'
                                                   : 'w');
    return out;
}
/* What may be scheduled: "pc:lanes/board ". */
static const char *shown(void) {
    static char out[128];
    struct path p[2];
    int n = ops->paths(st, p, 2);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x/%u ", p[i].pc, p[i].lanes, p[i].board);
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
/* The path at `from` parts, `lanes` of it to `pc`; they join at `rpc`. */
static unsigned part(uint32_t from, uint32_t pc, lanemask_t lanes, uint32_t rpc) {
    const struct path p = at(from);
    const struct target t[2] = {{pc, lanes}, {from + 1, p.lanes & ~lanes}};
    const struct branch_site site = {.pc = from, .rpc = rpc, .rpc_block = 1, .taken_pc = pc};
    return ops->branch(st, p.id, t, 2, &site);
}
enum { BOTH = RECONV_SHADOW_0 | RECONV_SHADOW_1 };

/* Figure 3: both sides of a branch in one entry, nested ones above; a side that arrives is not valid any more. */
START_TEST(both_sides_in_one_entry) {
    ck_assert_str_eq(stack(), "0:ffL ");
    ck_assert_uint_eq(part(0, 20, 0x0f, 90) & BOTH, BOTH);
    ck_assert_str_eq(stack(), "20:fL 1:f0R 90:ffw ");
    ck_assert_str_eq(shown(), "20:f/0 1:f0/1 ");
    ck_assert_int_eq(ops->depth(st), 2);
    ck_assert_uint_eq(ops->runnable(st), 0xff);
    part(1, 50, 0x30, 60);
    ck_assert_str_eq(stack(), "50:30L 2:c0R 20:fs 60:f0w 90:ffw ");
    ck_assert_str_eq(shown(), "50:30/0 2:c0/1 ");
    ck_assert_uint_eq(ops->runnable(st), 0xf0);
    ck_assert_uint_eq(to(50, 51), 0); /* nothing new */
    ck_assert_uint_eq(to(51, 60),
                      RECONV_CHANGED | RECONV_SHADOW_0); /* the left one: its pending bits are others' now */
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

/* An if without else has one side; a loop that lanes leave one by one does not pile up entries. */
START_TEST(lone_sides) {
    part(0, 20, 0x0f, 1); /* the others are at the join */
    ck_assert_str_eq(stack(), "20:fL 1:ffw ");
    part(20, 30, 0x03, 1); /* joins where it itself does: the lone side's entry is replaced */
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

/* Four ways: pairs, the first on top; five: one alone at the bottom, on the board of the path that parted. */
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

/* Lanes that exit leave every entry; a branch in a path whose threads exit on one side joins where the path does. */
START_TEST(lanes_leave) {
    part(0, 20, 0x0f, 90);
    part(20, 30, 0x03, PC_EXIT);
    ck_assert_str_eq(stack(), "30:3L 21:cR 90:fw 1:f0s 90:ffw ");
    ops->leave(st, at(30).id, 0x01, 31);
    ck_assert_str_eq(stack(), "31:2L 21:cR 90:ew 1:f0s 90:few ");
    ops->leave(st, at(31).id, 0x02, PC_NOWHERE);
    ck_assert_str_eq(stack(), "21:cR 90:cw 1:f0s 90:fcw ");
    to(21, 90);
    ck_assert_str_eq(stack(), "1:f0R 90:fcw ");
}
END_TEST

/* Constrained: one is shown, the other one after a long operation, or while the first sleeps at a barrier. */
START_TEST(one_is_shown) {
    cfg.dpe_scheduler = 1;
    part(0, 20, 0x0f, 90);
    ck_assert_str_eq(shown(), "20:f/0 ");
    ck_assert_uint_eq(ops->runnable(st), 0xff); /* the other one is only not shown */
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

/* 7.2: lanes that hit go on in the slot of the path, those that missed in the free one; both wait for each other where
 * they may not part, and are one again on the left board, which learns what was pending on the right. */
START_TEST(halves_of_a_load) {
    struct path slow;
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xf0, 5, &slow), 0); /* it is off */
    cfg.dpe_memory_divergence = true;
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xff, 5, &slow), 0);  /* nobody would go on */
    ck_assert_uint_eq(ops->split(st, at(0).id, 0x100, 5, &slow), 0); /* nobody of it waits */
    ck_assert_uint_eq(ops->split(st, at(0).id, 0xf0, 5, &slow), RECONV_CHANGED | RECONV_SHADOW_0);
    ck_assert(slow.pc == 5 && slow.lanes == 0xf0 && slow.board == 1);
    ck_assert_str_eq(shown(), "5:f/0 5:f0/1 ");
    const struct path fast = at(5);
    ck_assert_uint_eq(ops->split(st, fast.id, 0x1, 6, &slow), 0); /* no slot is free */
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
    ops->leave(st, slow.id, 0x0f, PC_NOWHERE); /* whose other half has ended waits no longer */
    ck_assert_str_eq(stack(), "12:f0L ");
    part(12, 20, 0x30, 90);
    ck_assert_uint_eq(ops->split(st, at(20).id, 0x10, 21, &slow), 0); /* both sides are taken */
}
END_TEST

/* 3 waits for lane 4, which is below it on the stack: 3 becomes a tree of its own at the bottom. When c waits for it,
 * too, so does c, and f0 runs; when c waits at a barrier of the CTA, nobody runs, but who was moved has another name,
 * which is said. */
START_TEST(giving_way) {
    for (int both = 0; both < 2; both++) {
        struct lane_waits ws = {.waiting = 0x0f};
        part(0, 20, 0x0f, 90);
        part(20, 30, 0x03, 40);
        ck_assert_str_eq(stack(), "30:3L 21:cR 40:fw 1:f0s 90:ffw ");
        ck_assert_uint_eq(ops->give_way(st, &ws), 0); /* they want nobody */
        ws.wants[0] = 0x10;
        ws.wants[2] = both ? 0x10 : 0;
        ck_assert_uint_eq(ops->give_way(st, &ws), RECONV_CHANGED | BOTH);
        ck_assert_str_eq(shown(), both ? "1:f0/1 " : "21:c/1 ");
        ck_assert_uint_eq(ops->give_way(st, &ws), 0);
        struct path p[2];
        for (int i = 0; i < 8 && !ops->finished(st); i++) { /* and all end */
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

/* Two PCs and masks, an rpc; with memory divergence, that it is split and which half waits. */
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
    TEST(lone_sides);
    TEST(more_than_two_ways);
    TEST(lanes_leave);
    TEST(one_is_shown);
    TEST(halves_of_a_load);
    TEST(giving_way);
    TEST(storage);
}
