/* Tests one slice of the L2 alone: the cycles of its replies, its requests to DRAM, and its stalls when queues are
 * full. */
#include "test/timing/mem/l2_rig.h"

/* - a miss reads the tags in cycle 10 and its data arrive in cycle 50, so its reply leaves in cycle 55
 * - a hit that arrives in cycle 100 reads the tags in cycle 110, so its reply leaves in cycle 115 */
START_TEST(miss_and_hit) {
    begin(_i), start();
    packet(MEM_READ, 9, ALL, 7, 0);
    run(9);
    asked_nothing();
    run(10);
    unsigned mshr = asked(false, 9, ALL);
    fill(mshr, ALL, 50);
    run(49);
    no_reply();
    run(99);
    replied(7, 55, 128);
    packet(MEM_READ, 9, ALL, 8, 100);
    run(200);
    replied(8, 115, 128);
    asked_nothing();
    ck_assert_uint_eq(slice.n.hits, 1);
    ck_assert_uint_eq(slice.n.misses, 1);
    ck_assert_uint_eq(slice.n.accesses, 2);
    ck_assert_uint_eq(slice.settled, 111);
    stop();
}
END_TEST

/* Two hits of a line. The second hit reads the tags when the data array has moved the data of the first hit. A line
 * takes 4 cycles at 32 bytes per cycle, 1 cycle at 128 bytes per cycle, and 16 cycles at 8 bytes per cycle. The
 * second reply leaves this many cycles after the first. A hit of one sector takes one cycle at 32 bytes per cycle. */
START_TEST(the_data_array_moves_so_many_bytes) {
    static const struct {
        uint32_t port;
        uint8_t sectors;
        uint32_t gap;
    } cases[] = {{32, ALL, 4}, {128, ALL, 1}, {1024, ALL, 1}, {8, ALL, 16}, {1, 1, 32}, {32, 1, 1}, {32, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(_i);
        cfg.memory.l2_port_bytes = cases[i].port;
        start();
        bring(1);
        uint64_t from = now;
        packet(MEM_READ, 1, cases[i].sectors, 1, from);
        packet(MEM_READ, 1, cases[i].sectors, 2, from);
        run(from + 500);
        uint32_t bytes = 32 * (uint32_t)__builtin_popcount(cases[i].sectors);
        replied(1, from + 15, bytes);
        replied(2, from + 15 + cases[i].gap, bytes);
        stop();
    }
}
END_TEST

/* A miss needs only the tags, so one miss is handled per cycle. */
START_TEST(misses_take_a_cycle_each) {
    begin(_i), start();
    for (uint32_t i = 0; i < 3; i++)
        packet(MEM_READ, i, ALL, i, 0);
    run(10);
    asked(false, 0, ALL);
    asked_nothing();
    run(11);
    asked(false, 1, ALL);
    run(12);
    asked(false, 2, ALL);
    stop();
}
END_TEST

/* The request network may put packets into the queue while the slice runs. The slice reads the tags for a packet only
 * after l2_receive(): not in cycle 10, the ROP latency after the arrival, but in cycle 15. */
START_TEST(packets_count_when_received) {
    begin(_i);
    start();
    const struct mem_place at = memmap_place(&map, 0);
    l2_accept(&slice, &(struct mem_request){.kind = MEM_READ, .sectors = ALL, .bytes = 128}, &at, 0);
    const uint32_t room = l2_room(&slice);
    run(14);
    asked_nothing();
    ck_assert(l2_receive(&slice) && !l2_receive(&slice));
    ck_assert_uint_eq(l2_room(&slice), room);
    run(15);
    asked(false, 0, ALL);
    ck_assert_uint_eq(l2_room(&slice), room + 1);
    stop();
}
END_TEST

/* Three accesses read one line. The first access misses and the second joins it, and then the line's MSHR has no room
 * for the third access.
 * - the third access stalls at the tags from cycle 12 to 50, and then hits
 * - the data array takes 4 cycles per line: the first access is answered in cycle 55, the third (the hit) in cycle 59,
 *   and the second in cycle 63 */
START_TEST(accesses_join_an_mshr) {
    begin(_i);
    cfg.l2.merges = 2;
    start();
    for (uint32_t i = 0; i < 3; i++)
        packet(MEM_READ, 5, ALL, i, 0);
    run(30);
    fill(asked(false, 5, ALL), ALL, 50);
    asked_nothing();
    run(100);
    replied(0, 55, 128);
    replied(2, 59, 128);
    replied(1, 63, 128);
    ck_assert_uint_eq(slice.n.stalls, 50 - 12);
    ck_assert_uint_eq(slice.n.misses, 2);
    ck_assert_uint_eq(slice.n.pending_hits, 1);
    ck_assert_uint_eq(slice.n.hits, 1);
    stop();
}
END_TEST

/* With one MSHR, the request for the next line leaves when the MSHR is free. The MSHR is free when the last access
 * that it holds has been answered. */
START_TEST(one_mshr) {
    begin(_i);
    cfg.l2.mshrs = 1;
    start();
    packet(MEM_READ, 1, ALL, 1, 0);
    packet(MEM_READ, 1, ALL, 2, 0);
    packet(MEM_READ, 2, ALL, 3, 0);
    run(40);
    unsigned mshr = asked(false, 1, ALL);
    fill(mshr, ALL, 50);
    run(50);
    asked_nothing(); /* the MSHR is free only in cycle 51, when the second access is answered */
    run(51);
    asked(false, 2, ALL);
    ck_assert_uint_eq(slice.n.stalls, 51 - 12);
    stop();
}
END_TEST

/* DRAM may answer in any order. Lines that arrive in the same cycle are written into the data array one after the
 * other. Each line takes 4 cycles, even if only one of its sectors was requested. */
START_TEST(fills_in_their_own_order) {
    begin(_i), start();
    for (uint32_t i = 0; i < 3; i++)
        packet(MEM_READ, i, 2, i, 0);
    run(20);
    unsigned a = asked(false, 0, ALL), b = asked(false, 1, ALL), c = asked(false, 2, ALL);
    fill(c, ALL, 50);
    fill(a, ALL, 50);
    fill(b, ALL, 70);
    run(100);
    replied(2, 55, 32);
    replied(0, 59, 32);
    replied(1, 75, 32);
    stop();
}
END_TEST

/* A write that misses, under each policy: whether it is sent to DRAM, whether the line is fetched, and whether the
 * slice has the line after the write. An acknowledgement has no bytes and comes 5 cycles after the write has read the
 * tags. */
START_TEST(writes_that_miss) {
    static const struct {
        enum l2_write_miss policy;
        bool writes, reads, there;
    } cases[] = {{L2_VALIDATE, false, false, true},
                 {L2_FETCH, false, false, true}, /* the write covers the whole line, so nothing is fetched */
                 {L2_THROUGH, true, false, false},
                 {L2_THROUGH_FETCH, true, true, false}};
    for (size_t i = 0; i < 4; i++)
        for (int acks = 0; acks < 2; acks++) {
            begin(_i);
            cfg.memory.l2_write_miss = (uint32_t)cases[i].policy;
            cfg.memory.write_acks = acks == 1;
            start();
            packet(MEM_WRITE, 3, ALL, 1, 0);
            run(50);
            if (cases[i].writes)
                asked(true, 3, ALL);
            if (cases[i].reads)
                asked(false, 3, ALL);
            asked_nothing();
            if (acks)
                replied(1, 15, 0);
            no_reply();
            ck_assert_int_eq(cache_look(&slice.cache, 3).way != CACHE_NO_WAY, cases[i].there || cases[i].reads);
            ck_assert_uint_eq(slice.n.misses, 1);
            packet(MEM_WRITE_BACK, 3, ALL, 1, 100);
            run(200);
            no_reply(); /* an evicted line of an L1 gets no reply */
            stop();
        }
}
END_TEST

/* A partly written sector is fetched at once (L2_FETCH), or when it is read (L2_VALIDATE). */
START_TEST(partial_writes_are_completed) {
    for (int fetch = 0; fetch < 2; fetch++) {
        begin(_i);
        cfg.memory.write_acks = false;
        cfg.memory.l2_write_miss = fetch ? L2_FETCH : L2_VALIDATE;
        start();
        send(&(struct mem_request){.kind = MEM_WRITE, .address = 3 * LINE, .sectors = 3, .full = 2, .bytes = 36}, 0);
        run(50);
        unsigned mshr = 0;
        if (fetch)
            mshr = asked(false, 3, 0xd);
        asked_nothing();
        /* Reads the fully written sector 1. The line is incomplete, so with L2_VALIDATE its other three sectors are
         * requested now. */
        packet(MEM_READ, 3, 2, 1, 100);
        run(150);
        if (!fetch)
            mshr = asked(false, 3, 0xd);
        asked_nothing();
        fill(mshr, 0xd, 200);
        run(300);
        replied(1, 205, 32);
        stop();
    }
}
END_TEST

/* A dirty line is read out before it is evicted: 2 sectors take 2 cycles, so the next access reads the tags 2 cycles
 * later instead of 1. Its sectors go to DRAM before the request for the new line. A clean line is dropped at no
 * cost. */
START_TEST(dirty_lines_are_written_back) {
    begin(_i);
    cfg.memory.write_acks = false;
    start();
    packet(MEM_WRITE, 0, 3, 1, 0);
    run(50);
    asked_nothing();
    bring(4);
    packet(MEM_READ, 8, ALL, 2, now); /* set 0 again: line 0 is the least recently used */
    packet(MEM_READ, 12, ALL, 3, now);
    uint64_t tags = now + ROP;
    run(tags);
    asked(true, 0, 3);
    asked(false, 8, ALL);
    run(tags + 1);
    asked_nothing();
    run(tags + 2);
    asked(false, 12, ALL);
    ck_assert_uint_eq(slice.n.writebacks, 1);
    stop();
}
END_TEST

/* Two lines of a set may be dirty. Lines 0, 4 and 8 are in set 0, which has 4 ways.
 * - after packets for line 0 and for half of line 4, two lines are dirty
 * - the packet for the other half of line 4 sends line 0 to DRAM only with l2.dirty_hits, and then one line is dirty
 * - the next packet for line 4 sends nothing
 * - a packet for all sectors of line 8, which makes the line dirty, sends a line only if two others are dirty: line 0
 *   without l2.dirty_hits. Its later sectors send nothing, because they are of the same packet. */
START_TEST(packets_to_dirty_lines_count) {
    for (int i = 0; i < 4; i++) {
        const bool hits = i & 1;
        begin(_i);
        cfg.l2.size = SETS * 4 * LINE;
        cfg.l2.ways = 4;
        cfg.l2.sectored = i & 2;
        cfg.memory.write_acks = false;
        cfg.memory.dirty_ways = 2;
        cfg.memory.dirty_hits = hits;
        start();
        packet(MEM_WRITE, 0, ALL, 1, 0);
        packet(MEM_WRITE, 4, 0x3, 2, 0);
        run(50);
        asked_nothing();
        packet(MEM_WRITE, 4, 0xc, 3, now);
        packet(MEM_WRITE, 4, 0x1, 4, now);
        run(100);
        if (hits)
            asked(true, 0, ALL);
        asked_nothing();
        packet(MEM_WRITE, 8, ALL, 5, now);
        run(150);
        if (!hits)
            asked(true, 0, ALL);
        asked_nothing();
        stop();
    }
}
END_TEST

/* A write of a line takes the data array for 4 cycles, so the next access reads the tags 4 cycles later. */
START_TEST(writes_keep_the_array) {
    begin(_i), start();
    bring(1);
    uint64_t from = now;
    packet(MEM_WRITE, 1, ALL, 1, from);
    packet(MEM_WRITE, 1, 1, 2, from);
    packet(MEM_READ, 1, 1, 3, from);
    run(from + 100);
    replied(1, from + 15, 0);
    replied(2, from + 19, 0);
    replied(3, from + 20, 32);
    asked_nothing();
    ck_assert_uint_eq(slice.n.hits, 3);
    stop();
}
END_TEST

/* The lanes of an atomic on one address take one cycle each, which delays the reply and the next access. If the line
 * is not present, the lanes start when the line arrives. After the atomic, the line is dirty. */
START_TEST(atomics_take_turns) {
    for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
        begin(_i);
        start();
        atomic(0, lanes, 1, 0);
        run(20);
        fill(asked(false, 0, ALL), ALL, 50);
        run(200);
        replied(1, 50 + 5 + lanes - 1, 32);
        ck_assert_uint_eq(slice.n.atomics, lanes);
        uint64_t from = now;
        atomic(0, lanes, 2, from);
        packet(MEM_READ, 0, 1, 3, from);
        run(from + 100);
        replied(2, from + 15 + lanes - 1, 32);
        replied(3, from + 15 + lanes, 32);
        ck_assert_uint_eq(slice.cache.way[cache_look(&slice.cache, 0).way].dirty, 1);
        stop();
    }
}
END_TEST

/* With l2.atomic_bytes, an atomic takes a cycle for each 16 bytes of its 128 bytes, if it has fewer than 8 lanes with
 * one address. Its reply is ready 5 cycles after the last of these cycles. */
START_TEST(atomics_change_so_many_bytes) {
    for (uint32_t lanes = 1; lanes <= 32; lanes *= 4) {
        begin(_i);
        cfg.memory.atomic_bytes = 16;
        start();
        bring(0);
        const uint64_t from = now, cycles = lanes > 8 ? lanes : 8;
        send(&(struct mem_request){.kind = MEM_ATOMIC, .tag = 2, .sectors = ALL, .bytes = 128, .serial = lanes}, from);
        run(from + 100);
        replied(2, from + ROP + LATENCY + cycles - 1, 128);
        stop();
    }
}
END_TEST

/* Packets of SMs in the other half of the chip wait for 40 cycles more. Later packets of near SMs pass them. Both kinds
 * read the tags in the order of their times: 13, 50, 51 (arrival in 41), and 53 (in 43). */
START_TEST(far_packets_wait) {
    static const struct {
        bool far;
        uint64_t arrival, replied;
    } row[] = {{false, 3, 18}, {true, 0, 55}, {false, 41, 56}, {false, 43, 58}};
    begin(_i);
    cfg.memory.l2_far = 40;
    start();
    bring(0);
    const uint64_t from = now;
    for (uint32_t k = 0; k < 4; k++) {
        struct mem_place at = memmap_place(&map, 0);
        at.far = row[k].far;
        l2_accept(&slice, &(struct mem_request){.kind = MEM_READ, .tag = k, .sectors = 1, .bytes = 32}, &at,
                  from + row[k].arrival);
    }
    l2_receive(&slice);
    run(from + 200);
    for (uint32_t k = 0; k < 4; k++)
        replied(k, from + row[k].replied, 32);
    ck_assert_uint_eq(slice.n.far, 1);
    stop();
}
END_TEST

/* A reply occupies an entry of the reply queue until the crossbar takes the reply. With one entry, the second hit
 * (or a second access that waits for a line) stalls until the first reply is taken. With two entries, it does not
 * stall. */
START_TEST(replies_that_stay_stall) {
    for (uint32_t places = 1; places <= 2; places++) {
        begin(_i);
        cfg.icnt.slice_queue = places;
        start();
        bring(1);
        uint64_t from = now;
        packet(MEM_READ, 1, 1, 1, from);
        packet(MEM_READ, 1, 1, 2, from);
        run(from + 300);
        ck_assert_uint_eq(slice.n.hits, places);
        replied(1, from + 15, 32); /* the crossbar takes the first reply at from + 301 */
        run(from + 400);
        replied(2, places == 1 ? from + 301 + 5 : from + 16, 32);
        ck_assert_uint_eq(slice.n.stalls, places == 1 ? 301 - 11 : 0);
        stop();
    }
    begin(_i);
    cfg.icnt.slice_queue = 1;
    start();
    packet(MEM_READ, 1, ALL, 1, 0);
    packet(MEM_READ, 1, ALL, 2, 0);
    run(20);
    fill(asked(false, 1, ALL), ALL, 50);
    run(499);
    replied(1, 55, 128); /* the crossbar takes the first reply at 500 */
    run(600);
    replied(2, 505, 128);
    stop();
}
END_TEST

/* A slice accepts as many packets as the ROP holds in flight, plus icnt.slice_queue. The test uses the smallest and
 * the largest value of both options. All packets are served, one per cycle. */
START_TEST(room_for_packets) {
    static const uint32_t cases[][2] = {{0, 1}, {0, 1024}, {1, 1}, {2000, 1}, {2000, 1024}, {120, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(_i);
        cfg.memory.rop_latency = cases[i][0];
        cfg.icnt.slice_queue = cases[i][1];
        cfg.memory.write_acks = false;
        start();
        uint32_t room = l2_room(&slice), n = 0;
        ck_assert_uint_eq(room, cases[i][0] + cases[i][1]);
        for (; l2_room(&slice); n++)
            packet(MEM_WRITE, 0, 1, n, 0);
        ck_assert_uint_eq(n, room);
        if (cases[i][0] + n > 1)
            run(cases[i][0] + n - 2);
        ck_assert_uint_eq(l2_room(&slice), room - 1);
        run(cases[i][0] + n - 1);
        ck_assert_uint_eq(l2_room(&slice), room);
        ck_assert_uint_eq(slice.next, UINT64_MAX);
        stop();
    }
}
END_TEST

/* A miss needs two free entries in DRAM's queue: one for its read and one for the write-back of an evicted line.
 * With one free entry, the miss stalls. */
START_TEST(room_on_the_way_to_dram) {
    begin(_i);
    cfg.l2.mshrs = 256;
    cfg.l2.size = 512 * LINE;
    cfg.icnt.slice_queue = 1024;
    start();
    uint32_t places = dram_room(&dram, 0);
    for (uint32_t i = 0; i < places; i++)
        packet(MEM_READ, i, ALL, i, 0);
    run(1000);
    ck_assert_uint_eq(slice.n.misses, places - 1);
    asked(false, 0, ALL);
    slice.next = now; /* in a whole machine, the partition wakes the slice like this when DRAM has taken a request */
    run(1001);
    ck_assert_uint_eq(slice.n.misses, places);
    ck_assert_uint_eq(slice.n.stalls, 1001 - (10 + places - 1));
    stop();
}
END_TEST

/* Without an L2, each read goes to DRAM, and an atomic also writes to DRAM. A perfect L2 always hits. */
START_TEST(no_cache_and_a_perfect_one) {
    begin(_i);
    cfg.l2.size = 0;
    cfg.memory.write_acks = false;
    start();
    for (uint32_t i = 0; i < 2; i++) {
        packet(MEM_READ, 1, ALL, i, now);
        run(now + 20);
        fill(asked(false, 1, ALL), ALL, now);
        uint64_t at = now;
        run(now + 50);
        replied(i, at + 5, 128);
    }
    atomic(2, 1, 5, now);
    packet(MEM_WRITE, 3, 1, 6, now);
    run(now + 20);
    asked(false, 2, ALL);
    asked(true, 2, 1);
    asked(true, 3, 1);
    asked_nothing();
    stop();
    begin(_i);
    cfg.memory.perfect_memory = true;
    start();
    packet(MEM_READ, 1, ALL, 1, 0);
    packet(MEM_WRITE, 2, ALL, 2, 0);
    run(50);
    replied(1, 15, 128);
    replied(2, 19, 0);
    asked_nothing();
    stop();
}
END_TEST

SUITE(timing_l2) {
    TEST_LOOP(miss_and_hit, 0, 2);
    TEST_LOOP(the_data_array_moves_so_many_bytes, 0, 2);
    TEST_LOOP(misses_take_a_cycle_each, 0, 2);
    TEST_LOOP(packets_count_when_received, 0, 2);
    TEST_LOOP(accesses_join_an_mshr, 0, 2);
    TEST_LOOP(one_mshr, 0, 2);
    TEST_LOOP(fills_in_their_own_order, 0, 2);
    TEST_LOOP(writes_that_miss, 0, 2);
    TEST_LOOP(partial_writes_are_completed, 0, 2);
    TEST_LOOP(dirty_lines_are_written_back, 0, 2);
    TEST_LOOP(packets_to_dirty_lines_count, 0, 2);
    TEST_LOOP(writes_keep_the_array, 0, 2);
    TEST_LOOP(atomics_take_turns, 0, 2);
    TEST_LOOP(atomics_change_so_many_bytes, 0, 2);
    TEST_LOOP(far_packets_wait, 0, 2);
    TEST_LOOP(replies_that_stay_stall, 0, 2);
    TEST_LOOP(room_for_packets, 0, 2);
    TEST_LOOP(room_on_the_way_to_dram, 0, 2);
    TEST_LOOP(no_cache_and_a_perfect_one, 0, 2);
}
