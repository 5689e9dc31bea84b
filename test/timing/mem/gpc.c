/* Tests the caches of clusters, with cycles derived by hand. There are three SMs. SMs 0 and 2 share one cluster cache,
 * and SM 1 uses another. All domains have one clock.
 * - A request that is sent at cycle t is at the cluster cache at t + 8, and reads the tags at t + 18.
 * - The data of a hit use the cache's port for a cycle and need 8 cycles for the way back, so they arrive at t + 26.
 * - A miss is at the crossbar at t + 18. This is 10 cycles later than a request that an SM sends directly, whose
 *   latencies are 272 from DRAM and 140 from the L2 (test/timing/mem/memsys.c).
 * - So the line arrives at the cluster cache 10 cycles later than for a direct request, and 8 cycles after that at the
 *   SM: at t + 290 from DRAM, or t + 158 from the L2. */
#include "timing/mem/gpc.h"
#include "test/test.h"
#include "timing/mem/memsys.h"

enum { CODE = 0x4000, LINE = 128, GPC_SMS = 3, REPLIES = 16 };

struct gpc_rig {
    struct config cfg;
    struct memsys *mem;
    uint64_t now;
    struct reply {
        uint64_t cycle;
        uint32_t tag;
    } reply[GPC_SMS][REPLIES];
    uint32_t n[GPC_SMS];
    struct stats stats;
};

static void prepare(struct gpc_rig *r) {
    memset(r, 0, sizeof *r);
    config_default(&r->cfg);
    r->cfg.dram.data_rate = 2;
    r->cfg.gpu.core_mhz = r->cfg.gpu.icnt_mhz = r->cfg.gpu.l2_mhz = r->cfg.gpu.dram_mhz = 700;
    r->cfg.gpu.sms = GPC_SMS;
    r->cfg.gpc.sms = 2;
    r->cfg.gpc.cache.latency = 10;
    r->cfg.gpc.cache.line = LINE;
}

static void begin(struct gpc_rig *r) {
    ck_assert_ptr_nonnull(r->mem = memsys_new(&r->cfg));
    ck_assert(stats_init(&r->stats));
}

static void end(struct gpc_rig *r) {
    memsys_free(r->mem);
    stats_free(&r->stats);
}

/* Runs up to cycle `to`, and records the replies. */
static void run_to(struct gpc_rig *r, uint64_t to) {
    for (; r->now < to; r->now++) {
        memsys_run(r->mem, r->now, r->now + 1);
        for (uint32_t s = 0; s < GPC_SMS; s++) {
            struct memport *p = memsys_port(r->mem, s);
            while (memport_reply_cycle(p) <= r->now) {
                ck_assert_uint_lt(r->n[s], REPLIES);
                r->reply[s][r->n[s]++] = (struct reply){r->now, memport_receive(p).tag};
            }
        }
    }
}

static void ask(struct gpc_rig *r, uint32_t sm, uint8_t kind, uint64_t address, uint32_t bytes, uint32_t tag) {
    struct memport *p = memsys_port(r->mem, sm);
    ck_assert_uint_gt(memport_room(p, r->now), 0);
    *memport_place(p) = (struct mem_request){.address = address,
                                             .cycle = r->now,
                                             .tag = tag,
                                             .bytes = (uint16_t)bytes,
                                             .sectors = (uint8_t)((1u << bytes / 32) - 1),
                                             .sm = (uint16_t)sm,
                                             .kind = kind};
    memport_send(p);
}

static void fetch(struct gpc_rig *r, uint32_t sm, uint64_t address) { ask(r, sm, MEM_INSTRUCTION, address, LINE, 7); }

/* Returns the cycle of the last reply to the SM. */
static uint64_t last(const struct gpc_rig *r, uint32_t sm) {
    ck_assert_uint_gt(r->n[sm], 0);
    return r->reply[sm][r->n[sm] - 1].cycle;
}

static double count(struct gpc_rig *r, const char *name) {
    memsys_stats(r->mem, &r->stats);
    return stats_get(&r->stats, name);
}

/* SM 2's request reads the tags one cycle after SM 0's request, and joins its pending miss. The cache's port sends the
 * replies to the two SMs one after the other. */
START_TEST(a_miss_is_shared_in_a_cluster) {
    static struct gpc_rig r;
    prepare(&r);
    begin(&r);
    fetch(&r, 0, CODE);
    fetch(&r, 2, CODE);
    run_to(&r, 1000);
    ck_assert_uint_eq(last(&r, 0), 290);
    ck_assert_uint_eq(last(&r, 2), 291);
    ck_assert_double_eq(count(&r, "l2.accesses"), 1);
    fetch(&r, 1, CODE); /* the other cluster cache gets the line from the L2 */
    run_to(&r, 2000);
    ck_assert_uint_eq(last(&r, 1), 1000 + 158);
    ck_assert_double_eq(count(&r, "l2.accesses"), 2);
    fetch(&r, 2, CODE);
    run_to(&r, 3000);
    ck_assert_uint_eq(last(&r, 2), 2000 + 26);
    ck_assert_double_eq(count(&r, "gpc.accesses"), 4);
    ck_assert_double_eq(count(&r, "gpc.hits"), 1);
    ck_assert_double_eq(count(&r, "gpc.misses"), 3);
    ck_assert_double_eq(count(&r, "gpc.pending_hits"), 1);
    ck_assert_double_eq(count(&r, "gpc.port_cycles"), 4);
    ck_assert_double_eq(count(&r, "l2.accesses"), 2);
    ck_assert_uint_eq(r.reply[2][1].tag, 7);
    end(&r);
}
END_TEST

/* At 32 bytes per cycle, 128 bytes use the port for four cycles. Of two hits at the same time, SM 2 is served first,
 * because SM 0 was served last:
 * - SM 2 gets its data after 18 + 3 + 8 cycles
 * - SM 0 gets its data four cycles later */
START_TEST(the_port_bounds_replies) {
    static struct gpc_rig r;
    prepare(&r);
    r.cfg.gpc.port_bytes = 32;
    begin(&r);
    fetch(&r, 0, CODE);
    run_to(&r, 1000);
    fetch(&r, 2, CODE);
    fetch(&r, 0, CODE);
    run_to(&r, 2000);
    ck_assert_uint_eq(last(&r, 2), 1000 + 29);
    ck_assert_uint_eq(last(&r, 0), 1000 + 33);
    end(&r);
}
END_TEST

/* SM 2 is served first, because SM 0 was served last.
 * - If the cluster cache has one entry for requests, SM 0's request enters when SM 2's request has left at 18, and
 *   reads the tags at 28.
 * - If it has two entries, both requests enter at 8, and SM 0's reply comes one cycle after SM 2's reply. */
START_TEST(requests_wait_for_an_entry) {
    for (uint32_t entries = 1; entries <= 2; entries++) {
        static struct gpc_rig r;
        prepare(&r);
        r.cfg.gpc.queue = entries;
        begin(&r);
        fetch(&r, 0, CODE);
        run_to(&r, 1000);
        fetch(&r, 0, CODE);
        fetch(&r, 2, CODE);
        run_to(&r, 2000);
        ck_assert_uint_eq(last(&r, 2), 1000 + 26);
        ck_assert_uint_eq(last(&r, 0), entries == 1 ? 1000 + 36 : 1000 + 27);
        end(&r);
    }
}
END_TEST

/* A line of 256 bytes consists of two lines of the L2. Its first half arrives as early as a line of 128 bytes would. A
 * request for the second half then hits. */
START_TEST(a_long_line_is_several_of_the_l2) {
    static struct gpc_rig r;
    prepare(&r);
    r.cfg.gpc.cache.line = 2 * LINE;
    begin(&r);
    fetch(&r, 0, CODE);
    run_to(&r, 1000);
    ck_assert_uint_eq(last(&r, 0), 290);
    ck_assert_double_eq(count(&r, "l2.accesses"), 2);
    fetch(&r, 2, CODE + LINE);
    run_to(&r, 2000);
    ck_assert_uint_eq(last(&r, 2), 1000 + 26);
    ck_assert_double_eq(count(&r, "gpc.hits"), 1);
    ck_assert_double_eq(count(&r, "l2.accesses"), 2);
    end(&r);
}
END_TEST

/* With a sectored L2, a line comes as four replies of one flit each. The cluster cache sends it to the SM as one
 * reply. */
START_TEST(sectors_come_together) {
    static struct gpc_rig r;
    prepare(&r);
    r.cfg.l2.sectored = true;
    begin(&r);
    fetch(&r, 0, CODE);
    ask(&r, 0, MEM_READ, 0x10000000, LINE, 1); /* four replies */
    run_to(&r, 1000);
    ck_assert_uint_eq(r.n[0], 5);
    ck_assert_double_eq(count(&r, "gpc.accesses"), 1);
    ck_assert_double_eq(count(&r, "gpc.port_cycles"), 1);
    end(&r);
}
END_TEST

/* - The second miss finds no free MSHR at cycle 19, and waits until the first line arrives at 282.
 * - From the crossbar to DRAM and back to the cluster cache, the first line took 282 - 18 = 264 cycles.
 * - The row of the second line is open by then, so DRAM takes 12 cycles less. 8 cycles later the line is at the SM:
 *   282 + 264 - 12 + 8. */
START_TEST(a_miss_waits_for_an_mshr) {
    static struct gpc_rig r;
    prepare(&r);
    r.cfg.gpc.cache.mshrs = 1;
    begin(&r);
    fetch(&r, 0, CODE);
    fetch(&r, 2, CODE + LINE);
    run_to(&r, 1000);
    ck_assert_uint_eq(last(&r, 0), 290);
    ck_assert_uint_eq(last(&r, 2), 282 + 264 - 12 + 8);
    ck_assert_double_eq(count(&r, "gpc.stalls"), 282 - 19);
    end(&r);
}
END_TEST

/* The cache has one set of two ways. The third line evicts the least recently used line. */
START_TEST(the_least_recently_used_line_leaves) {
    static const uint32_t lines[] = {0, 1, 0, 2, 0, 1};
    static const bool hits[] = {false, false, true, false, true, false};
    static struct gpc_rig r;
    prepare(&r);
    r.cfg.gpc.cache.size = 2 * LINE;
    r.cfg.gpc.cache.ways = 2;
    begin(&r);
    double before = 0;
    for (int i = 0; i < 6; i++) {
        fetch(&r, i % 2 * 2u, CODE + lines[i] * LINE);
        run_to(&r, r.now + 1000);
        double now = count(&r, "gpc.hits");
        ck_assert_double_eq(now - before, hits[i]);
        before = now;
    }
    end(&r);
}
END_TEST

/* Instructions and constants use the cluster cache. Other kinds of accesses bypass it. */
START_TEST(kinds_that_use_the_cache) {
    static const struct {
        uint8_t kind;
        bool there;
    } kinds[] = {{MEM_INSTRUCTION, true}, {MEM_CONSTANT, true},   {MEM_FETCH_AHEAD, true}, {MEM_READ, false},
                 {MEM_TEXTURE, false},    {MEM_ATOMIC, false},    {MEM_WRITE, false},      {MEM_PREFETCH, false},
                 {MEM_READ_AHEAD, false}, {MEM_WRITE_BACK, false}};
    static struct gpc_rig r;
    double there = 0;
    prepare(&r);
    begin(&r);
    _Static_assert(sizeof kinds / sizeof kinds[0] == N_MEM_KINDS, "each kind is one or the other");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        ask(&r, 0, kinds[i].kind, 0x10000000 + 4096 * i, 64, 0);
        run_to(&r, r.now + 1000);
        there += kinds[i].there;
        ck_assert_double_eq(count(&r, "gpc.accesses"), there);
    }
    end(&r);
}
END_TEST

/* A load that follows an instruction fetch does not wait for the fetch. Both leave the SM in one cycle, and the data of
 * the load arrive 272 cycles later. */
START_TEST(data_passes_a_fetch) {
    static struct gpc_rig r;
    prepare(&r);
    begin(&r);
    fetch(&r, 0, CODE);
    ask(&r, 0, MEM_READ, 0x10000000, LINE, 1);
    run_to(&r, 1000);
    ck_assert_uint_eq(r.n[0], 2);
    ck_assert_uint_eq(r.reply[0][0].tag, 1);
    ck_assert_uint_eq(r.reply[0][0].cycle, 272);
    ck_assert_uint_eq(r.reply[0][1].cycle, 290);
    end(&r);
}
END_TEST

/* SMs are assigned to clusters round-robin. The number of clusters is the smallest number for which no cluster has more
 * than gpc.sms SMs. */
START_TEST(clusters_of_a_machine) {
    static const struct {
        uint32_t sms, of, clusters;
    } cases[] = {{80, 14, 6}, {30, 10, 3}, {3, 2, 2}, {15, 256, 1}, {15, 1, 15}, {15, 0, 0}};
    struct config c;
    config_default(&c);
    ck_assert_uint_eq(gpcs_clusters(&c), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        c.gpu.sms = cases[i].sms;
        c.gpc.sms = cases[i].of;
        ck_assert_uint_eq(gpcs_clusters(&c), cases[i].clusters);
    }
    c.gpc.sms = 5;
    c.memory.model = MEMORY_FIXED;
    ck_assert_uint_eq(gpcs_clusters(&c), 0);
    c.memory.model = MEMORY_FULL;
    c.gpc.cache.size = 0;
    ck_assert_uint_eq(gpcs_clusters(&c), 0);
}
END_TEST

START_TEST(invalid_clusters_are_refused) {
    static const struct {
        const char *set[3], *message;
    } cases[] = {
        {{"gpc.sms=4", "gpc.line=64", "gpc.size=64K"}, "l1i.line: 128 is longer than gpc.line of 64"},
        {{"gpc.sms=4", "gpc.line=32", "l1i.line=32"}, "l1c.line: 64 is longer than gpc.line of 32"},
        {{"gpc.sms=4", "gpc.size=1000", NULL},
         "gpc.size: 1000 bytes cannot be divided into sets of 8 ways of 256 bytes"},
        {{"gpc.sms=4", "gpc.line=96", NULL}, "gpc.line: 96 is not a power of two"},
        {{"gpc.sms=1", "gpu.sms=200", NULL},
         "gpc.sms: 200 SMs and the caches of 200 clusters are more than 256 ports of the crossbar"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config c;
        char err[512];
        config_default(&c);
        for (int k = 0; k < 3 && cases[i].set[k]; k++)
            ck_assert_msg(config_set(&c, cases[i].set[k], err, sizeof err), "%s", err);
        ck_assert_msg(!config_check(&c, err, sizeof err), "%s", cases[i].message);
        ck_assert_str_eq(err, cases[i].message);
    }
}
END_TEST

SUITE(timing_mem_gpc) {
    TEST(a_miss_is_shared_in_a_cluster);
    TEST(the_port_bounds_replies);
    TEST(requests_wait_for_an_entry);
    TEST(a_long_line_is_several_of_the_l2);
    TEST(sectors_come_together);
    TEST(a_miss_waits_for_an_mshr);
    TEST(the_least_recently_used_line_leaves);
    TEST(kinds_that_use_the_cache);
    TEST(data_passes_a_fetch);
    TEST(clusters_of_a_machine);
    TEST(invalid_clusters_are_refused);
}
