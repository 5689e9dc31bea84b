/* Tests a sectored L2: latency, bandwidth and acknowledgements per sector. Expected latencies are sums of the
 * latencies of the parts. */
#include "test/test.h"
#include "test/timing/mem/rig.h"

/* A sectored L2 reads its tags once for each of the four sectors, at 163 to 166, and sends four replies of one flit.
 * The last reply is ready at 167 and arrives at 175, at the same time as the reply of an L2 without sectors, which
 * has the whole line. */
START_TEST(latency_of_sectors) {
    static struct rig r;
    struct stats s;
    ck_assert(stats_init(&s));
    one_clock(&r);
    rig_stop(&r);
    r.cfg.l2.sectored = true;
    rig_start(&r);
    latency(&r, MEM_READ, 0x10000000, 4);
    latency(&r, MEM_WRITE, 0x10000000, 4);
    ticks(&r, 1000);
    memsys_stats(r.mem, &s);
    ck_assert_double_eq(stats_get(&s, "l2.accesses"), 8);
    ck_assert_double_eq(stats_get(&s, "icnt.reply_packets"), 8);
    ck_assert_double_eq(stats_get(&s, "icnt.reply_flits"), 8);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 175);
    ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), 35);
    stats_free(&s);
    rig_stop(&r);
}
END_TEST

/* The four sector reads reach the channel one per cycle. After the fixed latency of 100, ACT is at 263 and the first RD
 * at 275.
 * - bursts of 64 bytes: RD commands at 275, 279, 283 and 287; the last data end 12 + 4 clocks later, at 303; the reply
 *   is ready at 304, and the crossbar takes 8 cycles: 312
 * - column commands of 32 bytes occupy the data bus for 2 clocks, but CCDL is 3 in one bank group: RD commands from
 *   275 to 284; the last data end 12 + 2 clocks later, at 298; so the load takes 307 cycles */
START_TEST(dram_latency_of_sectors) {
    static struct rig r;
    struct stats s;
    for (uint32_t atom = 0; atom <= 64; atom += 32) {
        ck_assert(stats_init(&s));
        one_clock(&r);
        rig_stop(&r);
        r.cfg.l2.sectored = true;
        r.cfg.dram.atom = atom;
        rig_start(&r);
        ck_assert_uint_eq(latency(&r, MEM_READ, 0x10000000, 4), atom == 32 ? 307 : 312);
        memsys_stats(r.mem, &s);
        ck_assert_double_eq(stats_get(&s, "dram.read_bytes"), atom == 32 ? 128 : 256);
        stats_free(&s);
        rig_stop(&r);
    }
}
END_TEST

/* A store of a line is acknowledged sector by sector: its warp waits for four acknowledgements, one per cycle.
 * Without sectors, there is one acknowledgement. */
START_TEST(stores_are_counted_until_acknowledged) {
    static struct rig r;
    uint32_t warp;
    for (int sectored = 0; sectored < 2; sectored++) {
        one_clock(&r);
        rig_stop(&r);
        r.cfg.l2.sectored = sectored == 1;
        rig_start(&r);
        /* the store leaves at 35; with its 4 flits, the crossbar and the ROP, it reads the tags at 166 */
        uint64_t done = latency(&r, MEM_WRITE, 0x10000000, 4);
        ck_assert_uint_eq(done, 35);
        ck_assert_uint_eq(lsu_stores(r.lsu[0], 0), sectored ? 4 : 1);
        ck_assert(!lsu_stores_ended(r.lsu[0], &warp));
        ticks(&r, 166 + 1 + 8 - 35); /* until 174: the first acknowledgement arrives at 175 = 166 + 1 + 8 */
        ck_assert_uint_eq(lsu_stores(r.lsu[0], 0), sectored ? 4 : 1);
        ticks(&r, 1);
        ck_assert_uint_eq(lsu_stores(r.lsu[0], 0), sectored ? 3 : 0);
        ticks(&r, 3);
        ck_assert_uint_eq(lsu_stores(r.lsu[0], 0), 0);
        ck_assert(lsu_stores_ended(r.lsu[0], &warp));
        ck_assert_uint_eq(warp, 0);
        ck_assert(!lsu_stores_ended(r.lsu[0], &warp));
        rig_stop(&r);
    }
}
END_TEST

/* The card's peak bandwidth is 253.4 bytes per core cycle. A sectored L2 that uses 32 bytes of each burst of 64 gets
 * half of the peak. With column commands of 32 bytes all transferred bytes are useful, but the minimum distances of
 * commands (CCD 1, CCDL 3 in a bank group) limit the bandwidth. */
START_TEST(bandwidth_of_sectors) {
    static struct rig r;
    double peak = 6 * 8 * 4 * 924.0 / 700;
    config_default(&r.cfg);
    r.cfg.l2.sectored = true;
    double got = stream(&r);
    ck_assert_double_le(got, peak * 1.0001);
    ck_assert_double_ge(got, peak * 0.97);
    r.cfg.dram.atom = 32;
    double useful = stream(&r);
    ck_assert_double_ge(useful, got / 2 * 1.3);
}
END_TEST

SUITE(timing_sectors) {
    TEST(latency_of_sectors);
    TEST(dram_latency_of_sectors);
    TEST(stores_are_counted_until_acknowledged);
    TEST_SPEED(bandwidth_of_sectors);
}
