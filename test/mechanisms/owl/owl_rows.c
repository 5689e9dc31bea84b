/* Tests the prefetches of OWL: the lines that a miss requests, and a kernel that needs fewer activations. */
#include "mechanisms/owl/owl_parts.h"
#include "test/mechanisms/policy_rig.h"
#include "timing/mem/memmap.h"

enum { SLICE = 2, MAX_ASKED = 64 };
static struct config cfg;
static struct memmap map;
static uint64_t asked[MAX_ASKED]; /* line numbers in the slice */
static uint32_t n_asked;
static bool no_room; /* the queue is full */

static enum prefetch_asked record(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now) {
    (void)cache, (void)who, (void)now;
    const struct mem_place at = memmap_place(&map, r->address);
    ck_assert_uint_lt(n_asked, MAX_ASKED);
    ck_assert_int_eq(r->want, PREFETCH_LINE);
    ck_assert_uint_eq(at.slice, SLICE);
    asked[n_asked++] = at.line;
    return no_room ? PREFETCH_FULL : PREFETCH_QUEUED;
}

static const struct prefetch_place place = {.level = PREFETCH_AT_L2, .number = SLICE, .line_bytes = 128, .ask = record};

/* Makes the prefetcher of a slice whose rows have 8 lines, in 4 pieces of two lines. */
static void *make(const char *prefetch) {
    char err[256];
    const char *const set[] = {"dram.row_bytes=1024", "dram.interleave=256", "dram.channels=3", prefetch};
    config_default(&cfg);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(config_set(&cfg, set[i], err, sizeof err), "%s", err);
    memmap_init(&map, &cfg);
    void *p = owl_rows.make(&cfg, &place, NULL);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void see(void *p, uint64_t line, enum prefetch_kind kind, enum prefetch_result result) {
    n_asked = 0;
    owl_rows.observe(p, &(struct prefetch_seen){.line = memmap_address(&map, SLICE, line),
                                                .kind = (uint8_t)kind,
                                                .result = (uint8_t)result});
}

static void check_asked(uint32_t n, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t want[] = {a, b, c};
    ck_assert_uint_eq(n_asked, n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(asked[i], want[i]);
}

/* A row has lines 16 to 23. Hits and stores request nothing. The misses, in this order:
 * - Line 21 requests 22, 23 and, around the end of the row, 16.
 * - Line 18 requests 19, 20 and 17. It skips 21, which has missed, and 22, 23 and 16, which have been requested.
 * - Line 17 misses although it was requested (its prefetch was dropped). No line of the row is left to request. */
START_TEST(a_miss_requests_lines_of_its_row) {
    void *p = make("owl.prefetch=3");
    see(p, 21, SEEN_LOAD, SEEN_HIT);
    check_asked(0, 0, 0, 0);
    see(p, 21, SEEN_STORE, SEEN_MISS);
    check_asked(0, 0, 0, 0);
    see(p, 21, SEEN_LOAD, SEEN_MISS);
    check_asked(3, 22, 23, 16);
    see(p, 18, SEEN_LOAD, SEEN_MISS);
    check_asked(3, 19, 20, 17);
    see(p, 17, SEEN_LOAD, SEEN_MISS);
    check_asked(0, 0, 0, 0);
    owl_rows.free(p);
}
END_TEST

/* A miss in lines 16 to 23, a row of another bank, does not change the record of the row of line 0: a miss of line 1
 * skips line 2, which has been requested. Line `next_row` is in the next row of line 0's bank. Its miss makes the
 * prefetcher forget the row of line 0, so line 0 requests 1 and 2 again. */
START_TEST(each_bank_has_a_row) {
    void *p = make("owl.prefetch=2");
    const uint64_t next_row = 8ull * map.slice_banks;
    see(p, 0, SEEN_LOAD, SEEN_MISS);
    check_asked(2, 1, 2, 0);
    see(p, 16, SEEN_LOAD, SEEN_MISS);
    check_asked(2, 17, 18, 0);
    see(p, 1, SEEN_LOAD, SEEN_MISS);
    check_asked(2, 3, 4, 0);
    see(p, next_row, SEEN_LOAD, SEEN_MISS);
    check_asked(2, next_row + 1, next_row + 2, 0);
    see(p, 0, SEEN_LOAD, SEEN_MISS);
    check_asked(2, 1, 2, 0);
    owl_rows.free(p);
}
END_TEST

/* Two misses in different rows request three lines each. The queue is full for the second miss. The counts that the
 * test passes as counts of the cache are arbitrary. */
START_TEST(counts_are_reported) {
    static const struct prefetch_counts n = {
        .present = 1, .pending = 2, .refused = 4, .sent = 8, .useful = 16, .late = 32, .unused = 64};
    static const struct {
        const char *name;
        double value;
    } want[] = {{"owl.rows", 2},   {"owl.full", 3},    {"owl.present", 3}, {"owl.refused", 4},
                {"owl.issued", 8}, {"owl.useful", 16}, {"owl.late", 32},   {"owl.unused", 64}};
    struct stats s;
    void *p = make("owl.prefetch=3");
    ck_assert(stats_init(&s));
    see(p, 0, SEEN_LOAD, SEEN_MISS);
    no_room = true;
    see(p, 16, SEEN_LOAD, SEEN_MISS);
    no_room = false;
    owl_rows.stats(p, &n, &s);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        ck_assert_double_eq(stats_get(&s, want[i].name), want[i].value);
    stats_free(&s);
    owl_rows.free(p);
}
END_TEST

/* One warp loads 32 consecutive lines of 128 bytes, one after another. There is one slice, so these lines are one row
 * of DRAM. Without prefetches, each load misses. With them, the first load requests the other 31 lines, which the later
 * loads use. The load of the parameter, in constant memory, opens another row. */
START_TEST(a_row_is_fetched_once) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .pred %q; .reg .b32 %r<9>; .reg .b64 %a<4>;\nld.param.u64 %a1,[p]; mov.u32 %r2,0;\n"
        "L: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2; add.u64 %a1,%a1,128;\n"
        "add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,32; @%q bra L;\nret;\n}\n";
    static char out[4096];
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        const char *const set[] = {"dram.channels=1",
                                   "l2.slices=1",
                                   "dram.row_bytes=4096",
                                   "l2.prefetch_queue=64",
                                   "fetch.perfect=true",
                                   i ? "owl.prefetch=64" : "owl.prefetch=0",
                                   NULL};
        struct heddle *h = rig_run("fermi", set, 1, text, 1, out, sizeof out);
        ck_assert_double_eq(heddle_stat(h, 0, "owl.issued"), i ? 2 * 31 : 0);
        ck_assert_double_eq(heddle_stat(h, 0, "owl.useful"), i ? 31 : 0);
        ck_assert_double_eq(heddle_stat(h, 0, "owl.rows"), i ? 2 : 0);
        cycles[i] = heddle_stat(h, 0, "gpu.cycles");
        heddle_close(h);
    }
    ck_assert_double_lt(cycles[1], cycles[0]);
}
END_TEST

START_TEST(threads_change_nothing) { rig_check_threads("owl.prefetch=8"); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results("owl.prefetch=8"); }
END_TEST

SUITE(mechanisms_owl_rows) {
    TEST(a_miss_requests_lines_of_its_row);
    TEST(each_bank_has_a_row);
    TEST(counts_are_reported);
    TEST(a_row_is_fetched_once);
    TEST(threads_change_nothing);
    TEST(results_do_not_change);
}
