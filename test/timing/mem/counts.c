/* What the memory side counts, by hand: each statistic of a few accesses of one SM. */
#include "test/timing/mem/rig.h"
#include <stdio.h>

enum { A = 0x10000000, ATOM = 64, LINE = 128 };

static struct rig r;
static void setup(void) { one_clock(&r); }
static void teardown(void) { rig_stop(&r); }

struct count {
    const char *name;
    double value;
};

/* All that has been counted since the last time. */
static void counted(const struct count *want) {
    struct stats s;
    ck_assert(stats_init(&s));
    ticks(&r, 2000); /* writes have come, too */
    lsu_stats(r.lsu[0], &s);
    memsys_stats(r.mem, &s);
    for (; want->name; want++)
        ck_assert_msg(stats_get(&s, want->name) == want->value, "%s: %g, not %g", want->name, stats_get(&s, want->name),
                      want->value);
    stats_free(&s);
}

/* A line is two column commands of 64 bytes, of four clocks each at two transfers a clock. Two lines of one row, one
 * after the other: the row is opened once. Then the L1 has the line, and nothing goes further. */
START_TEST(lines_of_one_row) {
    latency(&r, MEM_READ, A, 4);
    counted((const struct count[]){{"lsu.instructions", 1},
                                   {"lsu.transactions", 1},
                                   {"l1.accesses", 1},
                                   {"l2.accesses", 1},
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

/* An atomic of all lanes on one word is one packet, on words of four lines four. Lanes on one word take turns,
 * and others of a packet go at once. */
START_TEST(atomics_of_lines) {
    latency(&r, MEM_ATOMIC, A, 0);
    counted((const struct count[]){{"l2.atomics", 32}, {"l2.accesses", 1}, {"dram.requests", 1}, {NULL, 0}});
    latency(&r, MEM_ATOMIC, A, 16);
    counted((const struct count[]){{"l2.atomics", 4}, {"l2.accesses", 4}, {"dram.requests", 3}, {NULL, 0}});
}
END_TEST

/* Words apart by a power of two: 32 banks of a word each, so that every lane's is in bank 0 with 128 bytes, every other
 * one's in one of two with 64, and one word for all is one pass. */
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
    }
}
END_TEST

SUITE(timing_mem_counts) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(lines_of_one_row);
    TEST(atomics_of_lines);
    TEST(passes_of_shared_memory);
}
