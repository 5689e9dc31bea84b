/* Tests a sectored slice of the L2 (l2.sectored): how it splits packets, and when it answers each part. */
#include "test/timing/mem/l2_rig.h"

/* A sectored slice splits a packet: one sector per cycle reads the tags, and each sector has its own DRAM access and
 * reply. The packet's queue entry is free when its last sector has read the tags. A prefetch is not split. */
START_TEST(sectors_go_their_own_ways) {
    begin(_i);
    cfg.l2.sectored = true;
    start();
    uint32_t room = l2_room(&slice);
    packet(MEM_READ, 1, ALL, 1, 0);
    ck_assert_uint_eq(l2_room(&slice), room - 1);
    run(12);
    ck_assert_uint_eq(l2_room(&slice), room - 1);
    run(13);
    ck_assert_uint_eq(l2_room(&slice), room);
    unsigned mshr = 0;
    for (uint32_t s = 0; s < 4; s++)
        mshr = asked(false, 1, (uint8_t)(1u << s));
    fill(mshr, 4, 50);
    fill(mshr, 1, 60);
    fill(mshr, 10, 70); /* sectors 1 and 3 take the data array for one cycle each */
    run(100);
    const uint64_t at[] = {65, 75, 76, 77};
    for (int i = 0; i < 4; i++) { /* accesses to a line are answered in order */
        ck_assert_uint_eq(l2_reply(&slice)->sectors, 1u << i);
        replied(1, at[i], 32);
    }
    ck_assert_uint_eq(slice.n.accesses, 4);
    ck_assert_uint_eq(slice.n.sectors, 4);
    packet(MEM_PREFETCH, 2, ALL, 2, 100);
    run(150);
    fill(asked(false, 2, ALL), ALL, 200);
    run(300);
    replied(2, 205, 0);
    ck_assert_uint_eq(slice.n.accesses, 4); /* demand only */
    ck_assert_uint_eq(slice.n.prefetch_accesses, 1);
    ck_assert_uint_eq(slice.n.prefetch_misses, 1);
    stop();
}
END_TEST

/* With l2.request_sectors=2, the packet for sectors 1 to 3 is two requests: sector 1 alone, of the first pair, in cycle
 * 10, and sectors 2 and 3 in cycle 11. Each has one DRAM access and one reply. A write of the line then has two
 * acknowledgements, and a hit two replies of 64 bytes, each in a cycle of its own. */
START_TEST(pairs_of_sectors_go_together) {
    begin(_i);
    cfg.l2.sectored = true;
    cfg.memory.request_sectors = 2;
    cfg.memory.l2_port_bytes = 64;
    start();
    packet(MEM_READ, 1, 0xe, 1, 0);
    run(11);
    asked(false, 1, 0x2);
    unsigned mshr = asked(false, 1, 0xc);
    asked_nothing();
    fill(mshr, 0xe, 50);
    run(100);
    replied(1, 55, 32);
    replied(1, 56, 64);
    ck_assert_uint_eq(slice.n.accesses, 2);
    packet(MEM_WRITE, 1, ALL, 2, 101);
    packet(MEM_READ, 1, ALL, 3, 101);
    run(200);
    replied(2, 116, 0);
    replied(2, 117, 0);
    replied(3, 118, 64);
    replied(3, 119, 64);
    no_reply();
    stop();
}
END_TEST

/* Two packets read sectors 0 and 1 of a line, which arrive at 50 and 51. Four replies leave from 55 on, one per cycle.
 * - by default, all replies to the first packet precede the replies to the second
 * - with peer.l2_sector_replies sector 0 of both packets is answered, then sector 1
 * - if sector 1 arrives at 50 and sector 0 at 60: by default, replies for both sectors wait until 65; with the
 *   option, replies for sector 1 leave from 55 on */
START_TEST(answers_by_sector) {
    for (int on = 0; on < 2; on++)
        for (int late = 0; late < 2; late++) {
            begin(_i);
            cfg.l2.sectored = true;
            cfg.memory.sector_answers = on;
            start();
            packet(MEM_READ, 1, 3, 1, 0);
            packet(MEM_READ, 1, 3, 2, 0);
            run(20);
            unsigned mshr = asked(false, 1, 1);
            ck_assert_uint_eq(asked(false, 1, 2), mshr);
            fill(mshr, late ? 2 : 1, 50);
            fill(mshr, late ? 1 : 2, late ? 60 : 51);
            run(100);
            for (unsigned i = 0; i < 4; i++) {
                const unsigned sector = on ? i / 2 ^ (unsigned)late : i % 2, tag = on ? i % 2 + 1 : i / 2 + 1;
                ck_assert_uint_eq(l2_reply(&slice)->sectors, 1u << sector);
                replied(tag, !late ? 55 + i : on ? (i < 2 ? 55 : 65) + i % 2 : 65 + i, 32);
            }
            ck_assert(cache_idle(&slice.cache));
            stop();
        }
}
END_TEST

/* A sectored slice counts the serialised lanes of an atomic once, when the atomic's first sector reads the tags. */
START_TEST(atomics_by_sector) {
    begin(_i);
    cfg.l2.sectored = true;
    start();
    send(&(struct mem_request){.kind = MEM_ATOMIC, .address = 0, .tag = 1, .sectors = 3, .bytes = 8, .serial = 16}, 0);
    run(20);
    unsigned mshr = asked(false, 0, 1);
    asked(false, 0, 2);
    fill(mshr, 1, 50);
    fill(mshr, 2, 51);
    run(200);
    replied(1, 50 + 5 + 15, 32);
    /* sector 1 waits for the data array until 66 and counts as one lane, so its reply comes at 66 + 5 */
    replied(1, 71, 32);
    ck_assert_uint_eq(slice.n.atomics, 17);
    stop();
}
END_TEST

SUITE(timing_l2_sectors) {
    TEST_LOOP(sectors_go_their_own_ways, 0, 2);
    TEST_LOOP(pairs_of_sectors_go_together, 0, 2);
    TEST_LOOP(answers_by_sector, 0, 2);
    TEST_LOOP(atomics_by_sector, 0, 2);
}
