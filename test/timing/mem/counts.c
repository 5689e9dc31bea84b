/* Tests each statistic of the memory system for a few accesses of one SM. Expected counts are derived by hand. */
#include "test/timing/mem/rig.h"
#include "timing/mem/lsu_parts.h"
#include <stdio.h>

enum { A = 0x10000000, ATOM = 64, LINE = 128 };

static struct rig r;
static void setup(void) { one_clock(&r); }
static void teardown(void) { rig_stop(&r); }

struct count {
    const char *name;
    double value;
};

/* Checks how much the statistics have grown since the last call of this function. */
static void counted(const struct count *want) {
    struct stats s;
    ck_assert(stats_init(&s));
    ticks(&r, 2000); /* by then, all writes have arrived */
    lsu_stats(r.lsu[0], &s);
    memsys_stats(r.mem, &s);
    for (; want->name; want++)
        ck_assert_msg(stats_get(&s, want->name) == want->value, "%s: %g, not %g", want->name, stats_get(&s, want->name),
                      want->value);
    stats_free(&s);
}

/* A line takes two column commands of 64 bytes. Each command takes four clocks, with two transfers per clock.
 * - two lines of one row are read one after the other: the row is opened once
 * - a second read of the first line hits the L1, so there is no more traffic */
START_TEST(lines_of_one_row) {
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){{"lsu.instructions", 1},
                                   {"lsu.transactions", 1},
                                   {"l1.accesses", 1},
                                   {"l2.accesses", 1},
                                   {"l2.sectors", 4},
                                   {"l2.misses", 1},
                                   {"dram.requests", 1},
                                   {"dram.reads", 2},
                                   {"dram.read_bytes", 2 * ATOM},
                                   {"dram.activates", 1},
                                   {"dram.row_hits", 0},
                                   {"dram.busy_clocks", 8},
                                   {"dram.writes", 0},
                                   {"mem.replies", 1},
                                   {NULL, 0}});
    latency(&r, MEM_READ, A + LINE, 4);
    counted((const struct count[]){{"lsu.instructions", 1},
                                   {"dram.requests", 1},
                                   {"dram.reads", 2},
                                   {"dram.activates", 0},
                                   {"dram.row_hits", 1},
                                   {"l2.atomics", 0},
                                   {NULL, 0}});
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){{"lsu.instructions", 1},
                                   {"l1.hits", 1},
                                   {"l2.accesses", 0},
                                   {"dram.requests", 0},
                                   {"dram.busy_clocks", 0},
                                   {NULL, 0}});
}
END_TEST

/* If all lanes execute an atomic on one word, there is one packet. If they use words of four lines, there are four
 * packets. Lanes that use one word are served one after the other. Lanes that use different words of a packet are
 * served at once. */
START_TEST(atomics_of_lines) {
    latency(&r, MEM_ATOMIC, A, 0);
    counted((const struct count[]){{"l2.atomics", 32}, {"l2.accesses", 1}, {"dram.requests", 1}, {NULL, 0}});
    latency(&r, MEM_ATOMIC, A, 16);
    counted((const struct count[]){{"l2.atomics", 4}, {"l2.accesses", 4}, {"dram.requests", 3}, {NULL, 0}});
}
END_TEST

/* Passes with 32 banks of one word, by the distance between neighbouring lanes:
 * - 4 or 12 bytes: 1 pass
 * - 8 bytes: 2 passes
 * - 64 bytes: 16 passes, since every second lane uses the same bank
 * - 128 bytes: 32 passes, since all lanes use one bank
 * - 0 bytes: 1 pass, since all lanes use one word */
START_TEST(passes_of_shared_memory) {
    static const struct {
        unsigned stride;
        double passes;
    } cases[] = {{4, 1}, {8, 2}, {64, 16}, {128, 32}, {0, 1}, {12, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t addr[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = l * cases[i].stride;
        struct lsu_access a = {
            .lanes = LANES_ALL, .space = SPACE_SHARED, .kind = MEM_READ, .n_elems = 1, .msize = 4, .addr = addr};
        ticks(&r, 100);
        lsu_accept(r.lsu[0], &a, r.now);
        counted((const struct count[]){{"lsu.instructions", 1},
                                       {"shared.accesses", 1},
                                       {"shared.passes", cases[i].passes},
                                       {"shared.bank_conflicts", cases[i].passes - 1},
                                       {"l1.accesses", 0},
                                       {NULL, 0}});
        uint32_t tag;
        bool missed;
        ck_assert(lsu_done(r.lsu[0], &tag, &missed)); /* takes the reply, which otherwise stays in the queue */
    }
}
END_TEST

/* Restarts the memory with one channel, one slice, an L2 with `sets` sets of two ways, no L1, and one clock. Without an
 * L1, every read reads the L2's tags. */
static void one_slice(uint32_t sets, uint32_t mshrs) {
    rig_stop(&r);
    config_default(&r.cfg);
    r.cfg.gpu.sms = 1;
    r.cfg.gpu.core_mhz = r.cfg.gpu.icnt_mhz = r.cfg.gpu.l2_mhz = r.cfg.gpu.dram_mhz = 700;
    r.cfg.l1.size = 0;
    r.cfg.memory.l2_slices = r.cfg.dram.channels = 1;
    r.cfg.l2.size = sets * 2 * LINE;
    r.cfg.l2.ways = 2;
    r.cfg.l2.mshrs = mshrs;
    rig_start(&r);
}

static void both(enum mem_kind kind, uint64_t first, uint64_t second) {
    give(&r, 0, kind, first, 4, 1);
    while (!lsu_can_accept(r.lsu[0]))
        ticks(&r, 1);
    give(&r, 0, kind, second, 4, 2);
    ticks(&r, 2000);
    for (uint32_t tag, n = 0; n < 2; n++) {
        bool missed;
        ck_assert(lsu_done(r.lsu[0], &tag, &missed));
    }
}

/* Four reads: one misses, one misses on another line, one joins this second miss, and one hits the first line. */
START_TEST(ways_to_find_a_line) {
    one_slice(64, 8);
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){
        {"l2.accesses", 1}, {"l2.hits", 0}, {"l2.misses", 1}, {"l2.pending_hits", 0}, {"l2.stalls", 0}, {NULL, 0}});
    both(MEM_READ, A + LINE, A + LINE);
    counted((const struct count[]){
        {"l2.accesses", 2}, {"l2.hits", 0}, {"l2.misses", 2}, {"l2.pending_hits", 1}, {"l2.stalls", 0}, {NULL, 0}});
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){
        {"l2.accesses", 1}, {"l2.hits", 1}, {"l2.misses", 0}, {"l2.pending_hits", 0}, {"l2.writebacks", 0}, {NULL, 0}});
}
END_TEST

/* The L2 has four sets of two ways. A line is evicted when two other lines of its set are used. A line that was written
 * completely is written back in two bursts of 64 bytes. A line that was only read is dropped. */
START_TEST(dirty_lines_are_written_back) {
    for (int dirty = 0; dirty < 2; dirty++) {
        one_slice(4, 8);
        give(&r, 0, dirty ? MEM_WRITE : MEM_READ, A, 4, 1);
        ticks(&r, 2000);
        latency(&r, MEM_READ, A + 4 * LINE, 4);
        counted((const struct count[]){{"l2.writebacks", 0}, {"dram.writes", 0}, {NULL, 0}});
        latency(&r, MEM_READ, A + 8 * LINE, 4);
        counted((const struct count[]){
            {"l2.writebacks", dirty}, {"dram.writes", 2 * dirty}, {"dram.write_bytes", 2 * dirty * ATOM}, {NULL, 0}});
    }
}
END_TEST

/* With a single MSHR, a second miss waits until the line of the first miss arrives. Each additional cycle of DRAM
 * latency adds one stall cycle and no tag access. */
START_TEST(misses_wait_for_an_mshr) {
    double waited[2];
    for (uint32_t longer = 0; longer < 2; longer++) {
        struct stats s;
        one_slice(64, 1);
        rig_stop(&r);
        r.cfg.dram.latency += 50 * longer;
        rig_start(&r);
        both(MEM_READ, A, A + LINE);
        ck_assert(stats_init(&s));
        memsys_stats(r.mem, &s);
        waited[longer] = stats_get(&s, "l2.stalls");
        ck_assert_double_eq(stats_get(&s, "l2.accesses"), 2);
        ck_assert_double_eq(stats_get(&s, "l2.misses"), 2);
        ck_assert_double_eq(stats_get(&s, "l2.pending_hits"), 0);
        stats_free(&s);
    }
    ck_assert_double_gt(waited[0], 0);
    ck_assert_double_eq(waited[1] - waited[0], 50);
}
END_TEST

/* - A crossing of the crossbar takes 8 cycles, and the reply's four flits take three more. So an undisturbed read
 *   spends 19 cycles in the crossbar.
 * - A line in a closed row is in the DRAM queue from ACT to its second column command: RCD 12 + CCDL 3. */
START_TEST(sums_over_cycles) {
    one_slice(64, 8);
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){{"icnt.request_packets", 1},
                                   {"icnt.reply_packets", 1},
                                   {"icnt.reply_flits", 4},
                                   {"icnt.latency_sum", 8 + 8 + 3},
                                   {"dram.queue_sum", 12 + 3},
                                   {NULL, 0}});
}
END_TEST

/* A prefetcher of an L2 slice. After each line that is read, it requests the next line. */
static const struct prefetch_place *place;
static void *made(const struct config *c, const struct prefetch_place *at, void *ctx) {
    (void)c;
    place = at;
    return ctx;
}
static void next_line(void *p, const struct prefetch_seen *s) {
    (void)p;
    const struct prefetch_request q = {.address = s->line + LINE};
    if (s->kind == SEEN_LOAD)
        prefetch_ask(place, &q, s->cycle);
}
static const struct prefetcher_ops next_lines = {.name = "next", .make = made, .observe = next_line};

static void prefetching(uint32_t sets, uint32_t mshrs) {
    one_slice(sets, mshrs);
    ck_assert(memsys_add_prefetcher(r.mem, &next_lines, &r));
}

/* Outcomes of prefetches:
 * - in time
 * - late: the line is read 20 cycles after the first read, while its prefetch is in flight
 * - unused: the set of line 1 has two ways, so lines 5 and 9 evict line 1
 * - refused: no MSHR is free */
START_TEST(fates_of_prefetches) {
    prefetching(64, 8);
    latency(&r, MEM_READ, A, 4);
    ticks(&r, 2000);
    latency(&r, MEM_READ, A + LINE, 4);
    counted((const struct count[]){{"l2.prefetches", 2},
                                   {"l2.prefetch_lookups", 2},
                                   {"l2.prefetch_useful", 1},
                                   {"l2.prefetch_late", 0},
                                   {"l2.prefetch_unused", 0},
                                   {"l2.prefetch_refused", 0},
                                   {NULL, 0}});
    prefetching(64, 8);
    give(&r, 0, MEM_READ, A, 4, 1);
    ticks(&r, 20);
    give(&r, 0, MEM_READ, A + LINE, 4, 2);
    counted((const struct count[]){
        {"l2.prefetches", 2}, {"l2.prefetch_useful", 1}, {"l2.prefetch_late", 1}, {"l2.pending_hits", 1}, {NULL, 0}});
    prefetching(4, 8);
    for (uint64_t line = 0; line < 12; line += line ? 4 : 5) {
        latency(&r, MEM_READ, A + line * LINE, 4);
        ticks(&r, 2000);
    }
    counted((const struct count[]){{"l2.prefetches", 3},
                                   {"l2.prefetch_useful", 0},
                                   {"l2.prefetch_unused", 1},
                                   {"l2.prefetch_late", 0},
                                   {NULL, 0}});
    prefetching(64, 1);
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){
        {"l2.prefetches", 0}, {"l2.prefetch_lookups", 1}, {"l2.prefetch_refused", 1}, {NULL, 0}});
}
END_TEST

/* Each cache of the load/store unit has its own statistics, and each counter belongs to exactly one of them. */
START_TEST(caches_have_their_names) {
    static const char *const names[LSU_PIPES][6] = {
        {"l1.accesses", "l1.hits", "l1.misses", "l1.pending_hits", "l1.stalls", "l1.writebacks"},
        {"l1c.accesses", "l1c.hits", "l1c.misses", "l1c.pending_hits", "l1c.stalls", "l1c.writebacks"},
        {"tex.accesses", "tex.hits", "tex.misses", "tex.pending_hits", "tex.stalls", "tex.writebacks"}};
    for (int p = 0; p < LSU_PIPES; p++) {
        struct lsu_pipe *pipe = &r.lsu[0]->pipe[p];
        const uint64_t from = 100u * (uint32_t)p;
        pipe->n.accesses = from + 1, pipe->n.hits = from + 2, pipe->n.misses = from + 3;
        pipe->n.pending_hits = from + 4, pipe->n.stalls = from + 5, pipe->n.writebacks = from + 6;
    }
    struct stats s;
    ck_assert(stats_init(&s));
    for (int twice = 0; twice < 2; twice++) /* calls it twice: the second call must not add to the values */
        lsu_stats(r.lsu[0], &s);
    for (int p = 0; p < LSU_PIPES; p++)
        for (int i = 0; i < 6; i++)
            ck_assert_msg(stats_get(&s, names[p][i]) == 100 * p + i + 1, "%s is %g", names[p][i],
                          stats_get(&s, names[p][i]));
    stats_free(&s);
}
END_TEST

SUITE(timing_mem_counts) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(lines_of_one_row);
    TEST(atomics_of_lines);
    TEST(passes_of_shared_memory);
    TEST(ways_to_find_a_line);
    TEST(dirty_lines_are_written_back);
    TEST(misses_wait_for_an_mshr);
    TEST(sums_over_cycles);
    TEST(fates_of_prefetches);
    TEST(caches_have_their_names);
}
