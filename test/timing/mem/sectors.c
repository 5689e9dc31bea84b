/* A sectored L2: latencies, bandwidth and acknowledgements by sector, as sums of their parts. */
#include "test/test.h"
#include "test/timing/mem/rig.h"

/* A sectored L2 reads its tags once for each of the four sectors, at 163 to 166, and each is a reply of its own, of one
 * flit: the last is ready at 167, and there at 175, as all of the line was before. */
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

/* Their reads come to the channel one a cycle: fixed latency 100, ACT 263, RD 275, and then one each 4 clocks, for each
 * takes a burst of 64 bytes: 279, 283, 287; data 12 + 4 later, at 303; reply ready 304, and 8. A column command of 32
 * bytes takes 2 clocks of the bus, and in one bank group CCDL of 3: RD 275 to 284, data 12 + 2 later, 298, so 307. */
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

/* A store of a line is acknowledged sector by sector: 4 that its warp waits for. With one L2 access a cycle they are
 * acknowledged one after the other. Without sectors there is one. */
START_TEST(stores_are_counted_until_acknowledged) {
    static struct rig r;
    uint32_t warp;
    for (int sectored = 0; sectored < 2; sectored++) {
        one_clock(&r);
        rig_stop(&r);
        r.cfg.l2.sectored = sectored == 1;
        rig_start(&r);
        uint64_t done = latency(&r, MEM_WRITE, 0x10000000, 4); /* leaves at 35: 4 flits, ROP: tags at 166 */
        ck_assert_uint_eq(done, 35);
        ck_assert_uint_eq(lsu_stores(r.lsu[0], 0), sectored ? 4 : 1);
        ck_assert(!lsu_stores_ended(r.lsu[0], &warp));
        ticks(&r, 166 + 1 + 8 - 35); /* up to 174; the first is there at 166 + 1 + 8 */
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

/* The card's 253.4 bytes a core cycle, of which a sectored L2 that reads 32 bytes of each burst of 64 gets half: what
 * comes is twice what is of use. With column commands of 32 bytes all of it is, as far as commands (CCD 1, CCDL 3
 * within a group) go. */
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
    TEST(bandwidth_of_sectors);
}
