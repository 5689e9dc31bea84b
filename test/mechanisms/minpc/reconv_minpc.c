/* Tests the model "lowest PC first": which path runs, where paths merge, and which paths sleep at a barrier. Expected
 * values are derived by hand. */
#include "test/bases.h"
#include "test/test.h"
#include <stdio.h>

static const struct reconv_ops *const ops = &reconv_minpc;
static struct reconv_cfg cfg;
static void *st;

static void setup(void) {
    reconv_cfg_default(&cfg);
    st = calloc(1, ops->size(&cfg, MAX_WARP_LANES));
    ops->start(st, &cfg, 10, 0xff);
}
static void teardown(void) { free(st); }

/* Returns the running path as "pc:lanes id", or "" if no path runs. */
static const char *running(void) {
    static char out[40];
    struct path p;
    out[0] = 0;
    if (ops->paths(st, &p, 1))
        snprintf(out, sizeof out, "%u:%x %u", p.pc, (rowmask_t)p.lanes, p.id);
    return out;
}
/* Returns all paths as "pc:lanes id" and a letter for the state: L runs at the lowest PC, h waits at a higher PC, s
 * sleeps. */
static const char *all(void) {
    static char out[256];
    struct path_desc d[MAX_PATHS];
    int n = ops->describe(st, d, MAX_PATHS);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x %u%c ", d[i].path.pc, (rowmask_t)d[i].path.lanes,
                 d[i].path.id,
                 strstr(d[i].state, "lowest")   ? 'L'
                 : strstr(d[i].state, "higher") ? 'h'
                                                : 's');
    return out;
}
/* Lets `lanes` of the running path branch to `pc`. The other lanes fall through. */
static void branch(uint32_t pc, lanemask_t lanes) {
    struct path p;
    ck_assert_int_eq(ops->paths(st, &p, 1), 1);
    struct target t[2] = {{pc, lanes}, {p.pc + 1, p.lanes & ~lanes}};
    struct branch_site site = {.pc = p.pc, .rpc = 99, .taken_pc = pc};
    ck_assert_uint_eq(ops->branch(st, p.id, t, 2, &site), RECONV_CHANGED);
}
static int id(void) {
    struct path p;
    ck_assert_int_eq(ops->paths(st, &p, 1), 1);
    return p.id;
}

START_TEST(the_lowest_runs) {
    struct path p;
    ck_assert_str_eq(running(), "10:ff 0");
    ck_assert_int_eq(ops->paths(st, &p, 0), 0);
    branch(20, 0x0f);
    ck_assert_str_eq(running(), "11:f0 4");
    ck_assert_str_eq(all(), "20:f 0h 11:f0 4L ");
    ck_assert_int_eq(ops->depth(st), 2);
    branch(15, 0xc0);
    ck_assert_str_eq(all(), "20:f 0h 12:30 4L 15:c0 6h ");
    ck_assert_uint_eq(ops->advance(st, id(), 15), RECONV_CHANGED); /* merges with the path at PC 15 */
    ck_assert_str_eq(all(), "20:f 0h 15:f0 4L ");
    ops->advance(st, id(), 21); /* the running path passes PC 20, so the lanes at PC 20 run, and this path waits */
    ck_assert_str_eq(running(), "20:f 0");
    ops->advance(st, id(), 21);
    ck_assert_str_eq(all(), "21:ff 0L ");
    ck_assert_int_eq(ops->depth(st), 1);
    branch(5, 0x81); /* backward */
    ck_assert_str_eq(running(), "5:81 0");
    ck_assert_str_eq(all(), "5:81 0L 22:7e 1h ");
}
END_TEST

START_TEST(lanes_exit) {
    branch(20, 0x0f);
    ops->leave(st, id(), 0x30, 12);
    ck_assert_str_eq(all(), "20:f 0h 12:c0 6L ");
    ops->leave(st, id(), 0xc0, PC_NOWHERE);
    ck_assert_str_eq(all(), "20:f 0L ");
    ck_assert(!ops->finished(st));
    ops->leave(st, id(), 0x07, 20);
    ck_assert_str_eq(running(), "20:8 3");
    ops->leave(st, id(), 0x08, 21);
    ck_assert_str_eq(running(), "");
    ck_assert(ops->finished(st));
    ck_assert_int_eq(ops->depth(st), 0);
}
END_TEST

/* Lanes f sleep at PC 30. Lanes f0 arrive at PC 30 later and sleep, too. They are two paths and wake separately. When
 * both are awake, they merge. */
START_TEST(paths_sleep_and_wake) {
    ck_assert_uint_eq(ops->stall(st, 0, STALL_LOAD_USE), 0); /* a stall for a load does not put the path to sleep */
    ck_assert_str_eq(running(), "10:ff 0");
    branch(30, 0x0f);
    ops->advance(st, id(), 40);
    ck_assert_str_eq(running(), "30:f 0");
    ck_assert_uint_eq(ops->stall(st, 0, STALL_OTHER), RECONV_CHANGED);
    ck_assert_str_eq(running(), "40:f0 4");
    ck_assert_str_eq(all(), "30:f 0s 40:f0 4L ");
    ops->advance(st, 4, 30);
    ck_assert_str_eq(running(), "30:f0 4"); /* lanes f0 do not merge with the sleeping lanes f */
    ops->stall(st, 4, STALL_OTHER);
    ck_assert_str_eq(running(), "");
    ck_assert(!ops->finished(st));
    ck_assert_str_eq(all(), "30:f 0s 30:f0 4s ");
    ck_assert_uint_eq(ops->wake(st, 4), RECONV_CHANGED);
    ck_assert_str_eq(all(), "30:f 0s 30:f0 4L ");
    ops->advance(st, 4, 31);
    ops->wake(st, 0);
    ck_assert_str_eq(running(), "30:f 0");
    ops->advance(st, 0, 31);
    ck_assert_str_eq(all(), "31:ff 0L ");
}
END_TEST

/* Bits of a warp: each thread has a PC of 32 bits, a live bit and a sleep bit. The model has no stack. */
START_TEST(storage) {
    ck_assert_uint_eq(ops->storage(&cfg).fixed, 32 * 32 + 32 + 32);
    ck_assert_uint_eq(ops->storage(&cfg).entry, 0);
    ck_assert_int_eq(ops->board(&cfg), RECONV_BOARD_LANES);
    ck_assert(ops->wants(&cfg).every_pc && !ops->wants(&cfg).switches);
}
END_TEST

SUITE(mechanisms_minpc) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(the_lowest_runs);
    TEST(lanes_exit);
    TEST(paths_sleep_and_wake);
    TEST(storage);
}
