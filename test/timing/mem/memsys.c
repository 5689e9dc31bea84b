/* Tests the whole memory side: latencies as sums of their parts, and bandwidth. */
#include "test/test.h"
#include "test/timing/mem/rig.h"
#include "timing/mem/lsu.h"
#include "timing/mem/memmap.h"
#include "timing/mem/memport.h"

/* A load reads the L2's tags at 163 and misses.
 * - after the fixed DRAM latency of 100, ACT is at 263 and RD at 275
 * - the second RD comes a burst (4 clocks) later, and its data end 12 + 4 clocks after it, at 295
 * - the reply is ready at 296, its 4 flits leave from 296 to 299, and the crossbar takes 8 cycles */
START_TEST(latency_of_dram) {
    static struct rig r;
    one_clock(&r);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 307);
    rig_stop(&r);
}
END_TEST

/* The next line is in the open row: its RD commands are at 263 and 267, and its data end at 283. */
START_TEST(latency_of_open_row) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000080, 4), 307 - 12);
    rig_stop(&r);
}
END_TEST

/* Reads the next row of the same bank: a row has 16 pieces of 256 bytes, a slice has 8 banks, and there are 12 slices.
 * - PRE is at 263, ACT at 275 */
START_TEST(latency_of_other_row) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000 + 16 * 8 * 12 * 256, 4), 307 + 12);
    rig_stop(&r);
}
END_TEST

START_TEST(latency_of_l1) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 35);
    rig_stop(&r);
}
END_TEST

/* A store invalidates the line in the L1 but not in the L2.
 * - the L2's tags are read at 163, and the reply is ready at 164
 * - three more flits and the crossbar add 3 + 8 cycles */
START_TEST(latency_of_l2) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    latency(&r, MEM_WRITE, 0x10000000, 4);
    ticks(&r, 1000);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 175);
    rig_stop(&r);
}
END_TEST

/* Returns the number of cycles that packets have waited at both networks since the last call. */
static double network_stalls(struct rig *r) {
    struct stats s;
    ck_assert(stats_init(&s));
    memsys_stats(r->mem, &s);
    double cycles = stats_get(&s, "icnt.stall_cycles");
    stats_free(&s);
    return cycles;
}

/* Reads two lines that the L2 has. Pieces of 256 bytes alternate between slices, so the lines are in two slices or in
 * one.
 * - the requests leave one after the other, so the replies are ready at 164 and 165; each has four flits, for the same
 *   SM
 * - two slices: the second reply passes the switch seven half cycles after the first (test/timing/mem/icnt.c), at
 *   167, so it waits for two cycles
 * - one slice: both replies share a queue, and the second reaches its head only when the first has left, so it does
 *   not wait for the network */
START_TEST(replies_wait_for_each_other) {
    static struct rig r;
    one_clock(&r);
    for (int k = 0; k < 2; k++) {
        uint64_t base = k ? 0x10000000 : 0x10000080;
        latency(&r, MEM_READ, base, 8);
        latency(&r, MEM_WRITE, base, 8); /* invalidates the lines in the L1 */
        ticks(&r, 1000);
        network_stalls(&r);
        latency(&r, MEM_READ, base, 8);
        ck_assert_double_eq(network_stalls(&r), k ? 0 : 2);
    }
    rig_stop(&r);
}
END_TEST

/* With l2.host_copies the L2 has the lines that the host wrote, so a load takes 175 cycles, as in latency_of_l2.
 * Without the option, and for all other lines, loads read DRAM. */
START_TEST(copies_of_the_host) {
    static struct rig r;
    one_clock(&r);
    memsys_host_wrote(r.mem, 0x10000000, 4096);
    ck_assert_uint_gt(latency(&r, MEM_READ, 0x10000080, 4), 175);
    rig_stop(&r);
    r.cfg.memory.host_copies = true;
    rig_start(&r);
    memsys_host_wrote(r.mem, 0x10000084, 1); /* the host writes one byte of the second line */
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000080, 4), 175);
    ck_assert_uint_gt(latency(&r, MEM_READ, 0x10000100, 4), 175);
    ck_assert_uint_gt(latency(&r, MEM_READ, 0x10000000, 4), 175);
    rig_stop(&r);
}
END_TEST

/* SM 0 is in the first half of the chip, like slices 0 to 5. Piece 0x100000 of 256 bytes is in channel 4 (0x100000
 * modulo 6), so it is in slice 8 or 9. Piece 0x100002 is in channel 0. The far slice answers l2.far_latency cycles
 * later, and counts all three packets. */
START_TEST(latency_of_a_far_slice) {
    for (int far = 0; far < 2; far++) {
        const uint64_t address = far ? 0x10000000 : 0x10000200;
        static struct rig r;
        one_clock_far(&r, 60);
        latency(&r, MEM_READ, address, 4);
        latency(&r, MEM_WRITE, address, 4);
        ticks(&r, 1000);
        ck_assert_uint_eq(latency(&r, MEM_READ, address, 4), 175 + (far ? 60 : 0));
        struct stats s;
        ck_assert(stats_init(&s));
        memsys_stats(r.mem, &s);
        ck_assert(stats_get(&s, "l2.far") == (far ? 3 : 0));
        stats_free(&s);
        rig_stop(&r);
    }
}
END_TEST

/* An SM's TLB has 2 entries for pages of 4096 bytes; the pages of the TLB of all SMs have 8192 bytes. A miss of the
 * first TLB takes 40 cycles, a page walk 25 more. Each load is of a new line that the L2 has, so it takes 175 cycles
 * without a TLB. */
START_TEST(latency_of_translation) {
    static const struct {
        uint64_t address;
        uint32_t more;
    } row[] = {
        {0x10000000, 40 + 25}, /* both TLBs miss */
        {0x10000080, 0},       /* the same page: hit */
        {0x10001000, 40},      /* another page of the SM's TLB, the same one of the other TLB */
        {0x10002000, 40 + 25}, /* both miss; this page replaces 0x10000 in the SM's TLB */
        {0x10001080, 0},       /* hit */
        {0x10000100, 40},      /* it has been replaced; now it replaces 0x10002 */
        {0x10001100, 0},       /* hit */
    };
    static struct rig r;
    struct stats s;
    ck_assert(stats_init(&s));
    config_default(&r.cfg);
    r.cfg.memory.perfect_memory = true;
    r.cfg.tlb.entries = 2;
    r.cfg.tlb.page = 4096;
    r.cfg.tlb.l2_page = 8192;
    r.cfg.tlb.latency = 40;
    r.cfg.tlb.walk = 25;
    r.cfg.gpu.core_mhz = r.cfg.gpu.icnt_mhz = r.cfg.gpu.l2_mhz = r.cfg.gpu.dram_mhz = 700;
    rig_start(&r);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const uint64_t took = latency(&r, MEM_READ, row[i].address, 4);
        ck_assert_msg(took == 175 + row[i].more, "row %zu: %u cycles", i, (unsigned)took);
        ticks(&r, 200);
    }
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10002000, 4), 35); /* an L1 hit needs no translation */
    memsys_stats(r.mem, &s);
    ck_assert_double_eq(stats_get(&s, "tlb.accesses"), 7);
    ck_assert_double_eq(stats_get(&s, "tlb.misses"), 4);
    ck_assert_double_eq(stats_get(&s, "tlb.walks"), 2);
    ck_assert_double_eq(stats_get(&s, "tlb.wait"), 2 * 65 + 2 * 40);
    rig_stop(&r);
    stats_free(&s);
}
END_TEST

/* A load of 32 lines in two pages. The first line of each page misses, the other 15 wait with it. All wait for the walk
 * that begins with the first line. */
START_TEST(requests_of_a_page_share_a_walk) {
    static struct rig r;
    struct stats s;
    ck_assert(stats_init(&s));
    config_default(&r.cfg);
    r.cfg.memory.perfect_memory = true;
    r.cfg.tlb.entries = 2;
    r.cfg.tlb.page = 2048 * 2;
    r.cfg.tlb.l2_page = 8192;
    r.cfg.tlb.latency = 100;
    r.cfg.tlb.misses = 40;
    rig_start(&r);
    latency(&r, MEM_READ, 0x10000800, 128);
    memsys_stats(r.mem, &s);
    ck_assert_double_eq(stats_get(&s, "tlb.accesses"), 32);
    ck_assert_double_eq(stats_get(&s, "tlb.misses"), 32);
    ck_assert_double_eq(stats_get(&s, "tlb.pending_hits"), 30);
    ck_assert_double_eq(stats_get(&s, "tlb.walks"), 1);
    rig_stop(&r);
    stats_free(&s);
}
END_TEST

/* An atomic leaves at 1 and reads the L2's tags at 129.
 * - all 32 lanes on one address: the atomic takes 32 cycles, its reply is ready at 161, and the reply's one flit
 *   arrives at 169
 * - 32 addresses of a line: the request has 4 flits and reads the tags at 132, the atomic takes one cycle until 133,
 *   and the reply has 4 flits, which have arrived at 144 */
START_TEST(latency_of_atomics) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    ck_assert_uint_eq(latency(&r, MEM_ATOMIC, 0x10000000, 0), 169);
    ck_assert_uint_eq(latency(&r, MEM_ATOMIC, 0x10000000, 4), 144);
    rig_stop(&r);
}
END_TEST

/* The data array of a slice moves port_bytes per cycle. With 8 bytes, the second of two lines of a slice reads the
 * tags 16 cycles after the first line. Its reply has 4 flits like the first reply, and arrives 16 cycles after it. */
START_TEST(slice_port_bounds_hits) {
    static struct rig r;
    config_default(&r.cfg);
    r.cfg.memory.l2_port_bytes = 8;
    for (int perfect = 0; perfect < 2; perfect++) {
        r.cfg.memory.perfect_memory = perfect == 1;
        rig_start(&r);
        if (!perfect) {
            latency(&r, MEM_READ, 0x10000000, 8);
            latency(&r, MEM_WRITE, 0x10000000, 8); /* invalidates the lines in the L1 */
            ticks(&r, 1000);
        }
        ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 8), 175 + 16);
        rig_stop(&r);
    }
}
END_TEST

/* An atomic makes its line dirty: the L2 has one line per set, and the next line evicts it with a write-back. */
START_TEST(atomics_make_lines_dirty) {
    static struct rig r;
    struct stats s;
    ck_assert(stats_init(&s));
    config_default(&r.cfg);
    r.cfg.l2.size = 12 * 128;
    r.cfg.l2.ways = 1;
    rig_start(&r);
    for (int i = 0; i < 2; i++) { /* the first atomic misses, the second hits */
        if (i == 1)
            latency(&r, MEM_READ, 0x10000000, 4);
        latency(&r, MEM_ATOMIC, 0x10000000, 4);
        ticks(&r, 500);
        memsys_stats(r.mem, &s);
        ck_assert_double_eq(stats_get(&s, "dram.write_bytes"), 0);
        latency(&r, MEM_READ, 0x10000080 + (uint64_t)i * 12 * 256, 4);
        ticks(&r, 500);
        memsys_stats(r.mem, &s);
        ck_assert_double_eq(stats_get(&s, "dram.write_bytes"), 128);
        stats_free(&s);
        ck_assert(stats_init(&s));
    }
    stats_free(&s);
    rig_stop(&r);
}
END_TEST

/* A constant is looked up at 2, and its line of 64 bytes returns in two flits.
 * - the L2's tags are read at 130, and the reply is ready at 131
 * - one more flit and the crossbar add 1 + 8 cycles */
START_TEST(latency_of_constants) {
    static struct rig r;
    one_clock(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    ck_assert_uint_eq(latency(&r, MEM_CONSTANT, 0x10000040, 0), 140);
    rig_stop(&r);
}
END_TEST

/* Six channels of 8 bytes transfer twice per clock, with DRAM at 924 MHz and the core at 700 MHz: the peak bandwidth
 * is 126.7 bytes per core cycle. */
START_TEST(bandwidth_of_dram) {
    static struct rig r;
    config_default(&r.cfg);
    r.cfg.dram.data_rate = 2;
    double peak = 6 * 8 * 2 * 924.0 / 700, got = stream(&r);
    ck_assert_double_le(got, peak * 1.0001);
    ck_assert_double_ge(got, peak * 0.98);
}
END_TEST

/* At four transfers per clock, a burst takes 2 clocks, but two bursts of one bank group must be CCDL, 3 clocks, apart.
 * So only bursts that alternate between bank groups reach the peak bandwidth. */
START_TEST(bandwidth_with_bank_groups) {
    static struct rig r;
    config_default(&r.cfg);
    r.cfg.dram.data_rate = 4;
    double peak = 6 * 8 * 4 * 924.0 / 700;
    ck_assert_double_ge(stream(&r), peak * 0.98);
    r.cfg.dram.groups = 1; /* one bank group: a burst takes CCDL, 3 clocks, instead of 2 clocks */
    double got = stream(&r);
    ck_assert_double_ge(got, peak * 2 / 3 * 0.98);
    ck_assert_double_le(got, peak * 2 / 3 * 1.001);
}
END_TEST

/* Every access to a perfect L2 hits: the first access to a line takes as long as later accesses. */
START_TEST(perfect_memory) {
    static struct rig r;
    config_default(&r.cfg);
    r.cfg.memory.perfect_memory = true;
    rig_start(&r);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 175);
    rig_stop(&r);
}
END_TEST

START_TEST(perfect_l1) {
    static struct rig r;
    config_default(&r.cfg);
    r.cfg.memory.perfect_l1 = true;
    rig_start(&r);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 35);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x20000000, 128), 35 + 31);
    rig_stop(&r);
}
END_TEST

/* Eight lines read the L1's tags, four per cycle, at 35 and 36.
 * - without a limit, each line takes 300 cycles
 * - with a limit of one request per cycle, the requests leave at 35 to 42: the first four wait for 0, 1, 2 and 3
 *   cycles, the other four for 3, 4, 5 and 6 cycles
 * - replies are taken one per cycle from 335 on, so the last comes at 342 in both cases */
START_TEST(fixed_model_paces_requests) {
    static struct rig r;
    for (uint32_t rate = 0; rate < 2; rate++) {
        config_default(&r.cfg);
        r.cfg.memory.model = MEMORY_FIXED;
        r.cfg.memory.latency = 300;
        r.cfg.memory.requests = rate;
        r.cfg.l1.ports = 4;
        rig_start(&r);
        ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 32), 342);
        struct stats s;
        ck_assert(stats_init(&s));
        lsu_stats(r.lsu[0], &s);
        ck_assert_double_eq(stats_get(&s, "mem.latency_sum"), 8 * 300 + (rate ? 24 : 0));
        stats_free(&s);
        rig_stop(&r);
    }
}
END_TEST

/* Pieces of 256 bytes are distributed round-robin over the 6 channels, and then over the 2 slices of a channel. A
 * slice numbers its lines without gaps. */
START_TEST(places_of_addresses) {
    struct config c;
    struct memmap m;
    config_default(&c);
    memmap_init(&m, &c);
    for (uint64_t piece = 0; piece < 5000; piece++) {
        struct mem_place p = memmap_place(&m, piece * 256 + 128 + 36);
        ck_assert_uint_eq(p.slice, piece % 6 * 2 + piece / 6 % 2);
        ck_assert_uint_eq(p.line, piece / 12 * 2 + 1);
        ck_assert_uint_eq(p.offset, 36);
        struct dram_place d = memmap_dram(&m, p.slice, p.line);
        ck_assert_uint_eq(d.bank, piece / 12 / 16 % 8 * 2 + p.slice % 2);
        ck_assert_uint_eq(d.row, piece / 12 / 16 / 8);
        ck_assert_uint_eq(memmap_address(&m, p.slice, p.line), piece * 256 + 128);
    }
    /* above 1 TB the code divides differently, with the same result */
    uint64_t piece = (1ull << 32) + 12345;
    ck_assert_uint_eq(memmap_place(&m, piece * 256).slice, piece % 6 * 2 + piece / 6 % 2);
    ck_assert_uint_eq(memmap_place(&m, piece * 256).line, piece / 12 * 2);
}
END_TEST

/* The entries of a port's request queue are flits of 40 bytes, of which 8 are the header. A read takes one entry,
 * and a write of 128 bytes takes four. A request of any size is accepted only if four entries are free.
 * - 24 entries have room for 6 requests; after a write and a read 19 entries are left, which is room for 4 requests
 * - the write leaves at cycle 10, which the SM sees 2 cycles later
 * - a queue always has entries for 4 of the largest requests */
START_TEST(places_of_flits) {
    struct memport p;
    ck_assert(memport_init(&p, 24, 64, 2));
    memport_use_flits(&p, 40, 128);
    ck_assert_uint_eq(memport_room(&p, 0), 6);
    *memport_place(&p) = (struct mem_request){.kind = MEM_WRITE, .bytes = 128};
    memport_send(&p);
    ck_assert_uint_eq(memport_room(&p, 0), 5);
    *memport_place(&p) = (struct mem_request){.kind = MEM_READ, .bytes = 128};
    memport_send(&p);
    ck_assert_uint_eq(memport_room(&p, 0), 4);
    ck_assert(memport_full(&p, 5) && !memport_full(&p, 4));
    memport_exchange(&p, 0);
    ck_assert(memport_ample(&p, 4) && !memport_ample(&p, 5));
    memport_remove(&p, 10);
    memport_exchange(&p, 0);
    ck_assert_uint_eq(memport_room(&p, 11), 4);
    /* memport_ample() counts all 23 free entries at once, whatever the cycle */
    ck_assert(memport_ample(&p, 5) && !memport_ample(&p, 6));
    ck_assert_uint_eq(memport_room(&p, 12), 5);
    memport_free(&p);
    ck_assert(memport_init(&p, 3, 64, 2));
    memport_use_flits(&p, 40, 128);
    ck_assert_uint_eq(memport_room(&p, 0), 4);
    memport_free(&p);
}
END_TEST

/* A port without requests is idle, so memport_exchange() passes it over. A write without a reply keeps the port busy
 * until the SM knows that it has left. A read keeps it busy until the SM has taken the reply. */
START_TEST(idle_port) {
    struct memport p;
    ck_assert(memport_init(&p, 8, 64, 2));
    ck_assert(memport_idle(&p));
    *memport_place(&p) = (struct mem_request){.kind = MEM_WRITE, .bytes = 32};
    memport_send(&p);
    ck_assert(!memport_idle(&p));
    memport_exchange(&p, 10);
    ck_assert_ptr_nonnull(memport_head(&p));
    memport_remove(&p, 10);
    ck_assert(!memport_idle(&p));
    memport_exchange(&p, 20);
    ck_assert(memport_idle(&p));
    *memport_place(&p) = (struct mem_request){.kind = MEM_READ, .bytes = 32, .sectors = 1};
    memport_send(&p);
    memport_exchange(&p, 30);
    memport_remove(&p, 30);
    memport_exchange(&p, 40);
    ck_assert(!memport_idle(&p));
    memport_reply(&p)->cycle = 45;
    memport_exchange(&p, 50);
    ck_assert(!memport_idle(&p));
    ck_assert_uint_eq(memport_reply_cycle(&p), 45);
    memport_receive(&p);
    ck_assert(memport_idle(&p));
    memport_exchange(&p, 60);
    ck_assert_uint_eq(p.sure, 60); /* an idle port learns this cycle, too */
    memport_free(&p);
}
END_TEST

/* A port uses 64 entries of its ring of replies at first. Here 300 replies are due, so the ring grows to 512 entries,
 * while it holds 50 replies in its entries 40 to 63 and 0 to 25. All replies arrive in order. */
START_TEST(replies_in_a_growing_ring) {
    enum { BEFORE = 40, THERE = 50, ALL = 300 };
    struct memport p;
    ck_assert(memport_init(&p, 8, 1000, 2));
    p.outstanding = BEFORE + ALL;
    uint32_t tag = 0, want = 0;
    while (tag < BEFORE)
        memport_reply(&p)->tag = tag++;
    p.replied = p.mem.replied;
    while (want < BEFORE)
        ck_assert_uint_eq(memport_receive(&p).tag, want++);
    while (tag < BEFORE + THERE)
        memport_reply(&p)->tag = tag++;
    ck_assert_uint_eq(p.reply_mask, 63);
    memport_exchange(&p, 0);
    ck_assert_uint_eq(p.reply_mask, 511);
    while (tag < BEFORE + ALL)
        memport_reply(&p)->tag = tag++;
    memport_exchange(&p, 0);
    while (want < BEFORE + ALL)
        ck_assert_uint_eq(memport_receive(&p).tag, want++);
    ck_assert_uint_eq(p.outstanding, 0);
    memport_free(&p);
}
END_TEST

SUITE(timing_memsys) {
    TEST(replies_in_a_growing_ring);
    TEST(replies_wait_for_each_other);
    TEST(latency_of_dram);
    TEST(latency_of_open_row);
    TEST(latency_of_other_row);
    TEST(latency_of_l1);
    TEST(latency_of_l2);
    TEST(copies_of_the_host);
    TEST(latency_of_a_far_slice);
    TEST(latency_of_translation);
    TEST(requests_of_a_page_share_a_walk);
    TEST(latency_of_atomics);
    TEST(latency_of_constants);
    TEST(slice_port_bounds_hits);
    TEST(atomics_make_lines_dirty);
    TEST_SPEED(bandwidth_of_dram);
    TEST_SPEED(bandwidth_with_bank_groups);
    TEST(perfect_memory);
    TEST(perfect_l1);
    TEST(fixed_model_paces_requests);
    TEST(places_of_addresses);
    TEST(places_of_flits);
    TEST(idle_port);
}
