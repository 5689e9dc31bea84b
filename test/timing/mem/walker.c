/* Tests the walk unit. An instruction that arrives at 0 begins its first accesses at 1. At each visit, a ray makes one
 * access of 100 cycles (OWN), and then computes intersection tests for 10 cycles (walk.latency). */
#include "timing/mem/walker.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

enum { OWN = 100, MISS = 300 };
static struct config cfg;
static struct memsys *mem;
static struct lsu *lsu;
static uint64_t now, addr[WARP_LANES];
static const struct inst walk = {.kind = K_LOAD, .cache_op = CACHE_WALK, .space = SPACE_GLOBAL};

static void start(enum walk_memory memory, uint32_t warps, uint32_t queue) {
    config_default(&cfg);
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = MISS;
    cfg.walk.memory = memory;
    cfg.walk.own_latency = OWN;
    cfg.walk.warps = warps;
    cfg.walk.queue = queue;
    ck_assert_ptr_nonnull(mem = memsys_new(&cfg));
    ck_assert_ptr_nonnull(lsu = lsu_new(&cfg, mem, 0));
    now = 0;
}

static void stop(void) {
    lsu_free(lsu);
    memsys_free(mem);
}

/* Sends the walks of `lanes`; lane l reads list[l % n]. */
static void send(const uint64_t *const *list, int n, lanemask_t lanes, uint32_t tag) {
    for (int l = 0; l < WARP_LANES; l++)
        addr[l] = (uintptr_t)list[l % n];
    struct lsu_access a = {.inst = &walk, .lanes = lanes, .space = SPACE_GLOBAL, .kind = MEM_READ, .tag = tag};
    a.addr = addr;
    ck_assert(lsu_can_accept(lsu) && lsu_can_walk(lsu));
    lsu_accept(lsu, &a, now);
}

static void ends(uint64_t cycle, uint32_t tag) {
    uint32_t t = UINT32_MAX;
    bool missed;
    for (; now < 10000; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        if (lsu_done(lsu, &t, &missed))
            break;
        ck_assert_uint_gt(lsu_next(lsu, now), now);
    }
    ck_assert_uint_eq(now, cycle);
    ck_assert_uint_eq(t, tag);
}

static void counts(double accesses, double visits) {
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "walk.accesses"), accesses);
    ck_assert_double_eq(stats_get(&s, "walk.visits"), visits);
    stats_free(&s);
}

static const uint64_t none[] = {0}, two[] = {2, 0x10000000, 0x10000400}, one[] = {1, 0x10000000},
                      twice[] = {2, 0x10000000, 0x10000020};

/* A walk without a visit ends at 1, and a walk with two visits ends at 1 + 2 x (100 + 10). An instruction ends when the
 * longest walk of its warp ends. All lanes read the same 64 bytes, so they share both accesses. */
START_TEST(the_longest_ray_decides) {
    const uint64_t *const short_and_long[] = {none, two};
    start(WALK_OWN, 4, 4);
    send(short_and_long, 1, LANES_ALL, 5);
    ends(1, 5);
    send(short_and_long, 2, LANES_ALL, 6);
    ends(1 + 1 + 2 * (OWN + 10), 6);
    counts(2, 32);
    stop();
}
END_TEST

/* If the unit begins one access per cycle, the last of 32 lanes begins its access at 32. If it begins four accesses per
 * cycle, the last lane begins at 8. */
START_TEST(accesses_begin_at_the_rate) {
    uint64_t lists[WARP_LANES][2];
    const uint64_t *list[WARP_LANES];
    for (uint64_t l = 0; l < WARP_LANES; l++) {
        lists[l][0] = 1;
        lists[l][1] = 0x10000000 + 64 * l;
        list[l] = lists[l];
    }
    for (uint32_t rate = 1; rate <= 4; rate += 3) {
        start(WALK_OWN, 4, 4);
        cfg.walk.rate = rate;
        send(list, WARP_LANES, LANES_ALL, 1);
        ends(WARP_LANES / rate + OWN + 10, 1);
        counts(32, 32);
        stop();
    }
}
END_TEST

/* The unit reads through the L1. The first access enters the L1 at 1, reads the tags at 35 and misses. Its data arrive
 * at 335, and the intersection tests last until 345. The second access reads the same line: it enters at 345, hits at
 * 379, and the tests last until 389. */
START_TEST(accesses_go_through_the_l1) {
    const uint64_t *const list[] = {twice};
    start(WALK_L1, 4, 4);
    send(list, 1, LANES_ALL, 1);
    ends(389, 1);
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "l1.accesses"), 2);
    ck_assert_double_eq(stats_get(&s, "l1.misses"), 1);
    stats_free(&s);
    stop();
}
END_TEST

/* On a machine without an L1, the first request leaves at 1, its data arrive at 301, and the intersection tests last
 * until 311. The second visit takes as long. */
START_TEST(a_machine_without_an_l1) {
    const uint64_t *const list[] = {twice};
    start(WALK_L1, 4, 4);
    stop();
    cfg.l1.size = 0;
    mem = memsys_new(&cfg);
    lsu = lsu_new(&cfg, mem, 0);
    send(list, 1, LANES_ALL, 1);
    ends(1 + 2 * (MISS + 10), 1);
    stop();
}
END_TEST

/* The unit walks for one warp at a time, and its queue has room for one more warp. So the second warp begins when the
 * first warp ends at 111, and ends at 221. */
START_TEST(warps_wait_in_the_queue) {
    const uint64_t *const list[] = {one};
    start(WALK_OWN, 1, 1);
    send(list, 1, LANES_ALL, 1);
    send(list, 1, 1, 2);
    ck_assert(!lsu_can_walk(lsu));
    ends(1 + OWN + 10, 1);
    ck_assert(lsu_can_walk(lsu));
    ends(1 + 2 * (OWN + 10), 2);
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "walk.instructions"), 2);
    ck_assert_double_eq(stats_get(&s, "walk.rays"), 32 + 1);
    /* both instructions arrive in cycle 0, so the second also counts its wait */
    ck_assert_double_eq(stats_get(&s, "walk.cycles"), 111 + 221);
    stats_free(&s);
    stop();
}
END_TEST

static void load(uint32_t lines, uint32_t tag) {
    static const struct inst in = {.kind = K_LOAD, .space = SPACE_GLOBAL};
    struct lsu_access a = {.inst = &in, .space = SPACE_GLOBAL, .kind = MEM_READ, .n_elems = 1, .msize = 4, .tag = tag};
    for (uint32_t l = 0; l < lines; l++) {
        a.lanes |= 1u << l;
        addr[l] = 0x20000 + 128 * l;
    }
    a.addr = addr;
    ck_assert(lsu_can_accept(lsu));
    lsu_accept(lsu, &a, now);
}

/* Without an L1, the accesses of the walk unit go to memory. 20 loads of 32 lines fill the table of accesses past
 * the L1 (512 entries), since replies take 5000 cycles. So the access of a ray, which arrives at 600, is refused.
 * This must not change the table's free entry that the access would have taken: another load takes the entry, and
 * must end as a load. */
START_TEST(a_refused_access_leaves_no_mark) {
    enum { LOADS = 20, WALK = 100, LAST };
    uint32_t ended = 0, t;
    bool missed, last = false, walked = false;
    if (LEAST_TABLES) {
        test_skip("the smallest tables have fewer places than this test has loads");
        return;
    }
    config_default(&cfg);
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = 5000;
    cfg.lsu.queue = 64;
    cfg.l1.size = 0;
    cfg.walk.memory = WALK_L1;
    ck_assert_ptr_nonnull(mem = memsys_new(&cfg));
    ck_assert_ptr_nonnull(lsu = lsu_new(&cfg, mem, 0));
    const uint64_t *const list[] = {one};
    uint32_t sent = 0;
    for (now = 0; now < 20000; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        while (lsu_done(lsu, &t, &missed)) {
            ended += t < WALK;
            walked |= t == WALK;
            last |= t == LAST;
        }
        if (sent < LOADS && lsu_can_accept(lsu))
            load(32, sent++);
        if (now == 600)
            send(list, 1, 1, WALK);
        if (now == 610)
            load(1, LAST);
    }
    ck_assert_uint_eq(ended, LOADS);
    ck_assert(walked && last);
    stop();
}
END_TEST

SUITE(timing_mem_walker) {
    TEST(the_longest_ray_decides);
    TEST(accesses_begin_at_the_rate);
    TEST(accesses_go_through_the_l1);
    TEST(a_machine_without_an_l1);
    TEST(warps_wait_in_the_queue);
    TEST(a_refused_access_leaves_no_mark);
}
