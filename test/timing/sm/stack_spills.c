/* Tests the exact cycles that stack entries cost when they move to memory and back, for a warp whose stack depth the
 * test sets. An entry of 70 bits is three words, and an L1 hit takes 11 cycles. So a spill takes 3 cycles, and a
 * fill takes 3 + 11 cycles. */
#include "test/bases.h"
#include "test/test.h"
#include "timing/mem/memsys.h"
#include "timing/sm/stages.h"

enum { ENTRIES = 3, WORDS = 3, L1 = 11, SPILL = WORDS, FILL = WORDS + L1, WARP = 2 };
static struct config cfg;
static struct reconv_cfg options;
static struct reconv_ops ops;
static struct memsys *mem;
static struct sm *sm;
static int deep;
static uint32_t entry_bits;

static int depth(const void *st) {
    (void)st;
    return deep;
}
static struct reconv_storage storage(const struct reconv_cfg *c) {
    (void)c;
    return (struct reconv_storage){.entry = entry_bits};
}

static void setup(void) {
    config_default(&cfg);
    reconv_cfg_default(&options);
    cfg.l1.latency = L1;
    ops = reconv_spe;
    ops.depth = depth;
    ops.storage = storage;
    entry_bits = 70;
    mem = memsys_new(&cfg);
    sm = sm_new(&cfg, &ops, &options, mem, 0);
    ck_assert_ptr_nonnull(sm);
    sm->model.wants.stack_entries = ENTRIES;
    sm->warps.slot[WARP].n_paths = 2;
}
static void teardown(void) {
    sm_free(sm);
    memsys_free(mem);
}

/* Sets the stack depth to `d` at cycle `now`. Checks how many cycles the warp may not issue, the spills and fills, and
 * the resident entries. */
static void moves(int d, uint64_t now, uint64_t cycles, uint64_t spills, uint64_t fills, uint32_t resident) {
    uint64_t before[] = {sm->n.stack_spills, sm->n.stack_fills, sm->n.stack_bytes};
    struct sm_path *p = sm->warps.slot[WARP].path;
    uint32_t what;
    p[0].switched = p[1].switched = p[2].switched = 1;
    deep = d;
    sm_stack_moved(sm, WARP, now);
    ck_assert_uint_eq(sm->warps.slot[WARP].stack_depth, (unsigned)d);
    ck_assert_uint_eq(sm->warps.slot[WARP].stack_resident, resident);
    ck_assert_uint_eq(sm->n.stack_spills - before[0], spills);
    ck_assert_uint_eq(sm->n.stack_fills - before[1], fills);
    ck_assert_uint_eq(sm->n.stack_bytes - before[2], (spills + fills) * WORDS * 4);
    ck_assert_uint_eq(p[0].switched, cycles ? now + cycles : 1);
    ck_assert_uint_eq(p[1].switched, cycles ? now + cycles : 1);
    ck_assert_uint_eq(p[2].switched, 1); /* there are two paths */
    if (cycles) {
        ck_assert(wheel_take(&sm->wheel, now + cycles, &what));
        ck_assert_uint_eq(what, event_make(EVENT_SWITCHED, WARP));
    }
    ck_assert_uint_eq(sm->wheel.n, 0); /* nothing else will happen */
}

/* - depth 1 and 3: the hardware has room
 * - depth 5: two entries are spilled
 * - depth 6: one more entry is spilled */
START_TEST(a_push_spills_entries_without_room) {
    moves(1, 100, 0, 0, 0, 1);
    moves(3, 110, 0, 0, 0, 3);
    moves(5, 120, 2 * SPILL, 2, 0, 3);
    moves(6, 140, SPILL, 1, 0, 3);
    moves(6, 150, 0, 0, 0, 3);
}
END_TEST

/* Six entries, three of them in memory.
 * - the first pop leaves two entries resident, the next pop leaves one
 * - the third pop leaves no resident entry and fills one, and so does each further pop
 * - two pops at once fill two entries */
START_TEST(a_pop_fills_needed_entries) {
    moves(6, 100, 3 * SPILL, 3, 0, 3);
    moves(5, 200, 0, 0, 0, 2);
    moves(4, 210, 0, 0, 0, 1);
    moves(3, 220, FILL, 0, 1, 1);
    moves(1, 300, 2 * FILL, 0, 2, 1);
}
END_TEST

/* Eight entries, three of them resident: three pops at once empty the hardware, and one entry is filled. */
START_TEST(several_pops_at_once) {
    moves(8, 100, 5 * SPILL, 5, 0, 3);
    moves(5, 200, FILL, 0, 1, 1);
    moves(7, 300, 0, 0, 0, 3);
    /* 3 resident entries, 4 pops: the entries uncovered by the third and the fourth pop are filled */
    moves(3, 400, 2 * FILL, 0, 2, 1);
    moves(1, 500, 2 * FILL, 0, 2, 1);
}
END_TEST

/* When all lanes have exited nothing is filled. */
START_TEST(the_end_fills_nothing) {
    moves(6, 100, 3 * SPILL, 3, 0, 3);
    moves(0, 200, 0, 0, 0, 3);
}
END_TEST

/* An entry takes whole words: 64 bits take two words, 65 bits take three. */
START_TEST(words_of_an_entry) {
    static const uint32_t rows[][2] = {{1, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {96, 3}, {160, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t bytes = sm->n.stack_bytes;
        entry_bits = rows[i][0];
        sm->warps.slot[WARP].stack_depth = sm->warps.slot[WARP].stack_resident = ENTRIES;
        deep = ENTRIES + 1;
        sm_stack_moved(sm, WARP, 100 * i);
        ck_assert_uint_eq(sm->n.stack_bytes - bytes, 4 * rows[i][1]);
        ck_assert_uint_eq(sm->warps.slot[WARP].path[0].switched, 100 * i + rows[i][1]);
    }
}
END_TEST

/* If a path already waits longer than a spill or fill takes, its wait is not shortened. */
START_TEST(a_longer_wait_is_not_made_shorter) {
    sm->warps.slot[WARP].stack_depth = sm->warps.slot[WARP].stack_resident = ENTRIES;
    sm->warps.slot[WARP].path[0].switched = 100 + SPILL + 1;
    sm->warps.slot[WARP].path[1].switched = 100 + SPILL - 1;
    deep = ENTRIES + 1;
    sm_stack_moved(sm, WARP, 100);
    ck_assert_uint_eq(sm->warps.slot[WARP].path[0].switched, 100 + SPILL + 1);
    ck_assert_uint_eq(sm->warps.slot[WARP].path[1].switched, 100 + SPILL);
}
END_TEST

SUITE(timing_sm_stack) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_push_spills_entries_without_room);
    TEST(a_pop_fills_needed_entries);
    TEST(several_pops_at_once);
    TEST(the_end_fills_nothing);
    TEST(words_of_an_entry);
    TEST(a_longer_wait_is_not_made_shorter);
}
