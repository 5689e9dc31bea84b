/* Tests one DRAM channel, command by command. Core and DRAM have the same clock. The fixed latency is one cycle, so a
 * request that is accepted at cycle t can have its first command at t + 1. Timing parameters (timing/mem/dram.h) are
 * those of Fermi's GDDR5: CCD 2, RRD 6, RCD 12, RAS 28, RP 12, RC 40, CL 12, WL 4, CDLR 5, WR 12, CCDL 3, RTPL 2. A
 * burst is 64 bytes and takes 2 clocks (data_rate 4). In the comments, ACT, PRE, RD and WR are the commands activate,
 * precharge, read and write, and "RD 13" means that RD is sent at clock 13. */
#include "timing/mem/dram.h"
#include "test/test.h"

static struct config cfg;
static struct dram d;
static struct clock_point now;

static void start(void) {
    config_default(&cfg);
    cfg.gpu.core_mhz = cfg.gpu.dram_mhz = 700;
    cfg.dram.latency = 1;
    cfg.dram.data_rate = 4;
    ck_assert(dram_init(&d, &cfg, 1, 64));
    now = clock_point(clock_ratio(700, 700), 0);
}

/* Sends a request of one burst (sectors 0 and 1) or of two bursts. */
static void ask(uint32_t bank, uint32_t row, bool write, unsigned tag, unsigned bursts) {
    dram_accept(&d, (struct dram_place){bank, row}, write, 0, tag, bursts == 2 ? 0xf : 0x3, now.cycle);
}

/* Runs cycle now.cycle. Returns the next cycle with work. */
static uint64_t run_cycle(void) {
    uint64_t next = now.cycle;
    dram_run(&d, &now, next + 1, false, &next);
    return next;
}

static void run_to(uint64_t cycle) {
    for (; now.cycle < cycle; clock_move(&now, now.cycle + 1))
        run_cycle();
}

/* Checks the next finished read: its tag, and the cycle in which its data are complete. */
static void expect(unsigned tag, uint64_t cycle) {
    struct dram_reply r;
    while (!dram_take(&d, &r)) {
        run_cycle();
        clock_move(&now, now.cycle + 1);
        ck_assert(now.cycle < 10000);
    }
    ck_assert_uint_eq(r.tag, tag);
    ck_assert_uint_eq(r.ready, cycle);
}

/* ACT 1 and RD 13, so the data are complete at 13 + 12 + 2. */
START_TEST(closed_row) {
    start();
    ask(0, 5, false, 1, 1);
    expect(1, 27);
    ck_assert_uint_eq(d.n.activates, 1);
    ck_assert_uint_eq(d.n.row_hits, 0);
    ck_assert_uint_eq(d.settled, 27);
    dram_free(&d);
}
END_TEST

/* ACT 1 and WR 13, so the data are written at 13 + 4 + 2. */
START_TEST(a_write_settles) {
    start();
    ask(0, 5, true, 1, 1);
    run_to(100);
    ck_assert_uint_eq(d.settled, 19);
    ck_assert_uint_eq(d.n.writes, 1);
    ck_assert_uint_eq(d.n.write_bytes, 64);
    dram_free(&d);
}
END_TEST

/* The request has two bursts, and the second follows CCDL after the first: RD 13 and RD 16, data at 30. */
START_TEST(two_bursts) {
    start();
    ask(0, 5, false, 1, 2);
    expect(1, 30);
    ck_assert_uint_eq(d.n.read_bytes, 128);
    dram_free(&d);
}
END_TEST

/* A second read comes later, and its row is open: RD 101, data at 115. */
START_TEST(row_hit) {
    start();
    ask(0, 5, false, 1, 1);
    run_to(100);
    expect(1, 27);
    ask(0, 5, false, 2, 1);
    expect(2, 115);
    ck_assert_uint_eq(d.n.row_hits, 1);
    dram_free(&d);
}
END_TEST

/* A second read comes later, and uses another row of the bank: PRE 101, ACT 113, RD 125, data at 139. */
START_TEST(row_conflict) {
    start();
    ask(0, 5, false, 1, 1);
    run_to(100);
    expect(1, 27);
    ask(0, 6, false, 2, 1);
    expect(2, 139);
    ck_assert_uint_eq(d.n.precharges, 1);
    dram_free(&d);
}
END_TEST

/* A second read of another row follows immediately. It waits until the first row has been open for RAS: PRE 29, ACT 41,
 * RD 53, data at 67. RC is shortened in this test, so that it is not the limit. */
START_TEST(row_conflict_waits_for_ras) {
    start();
    d.cfg.rc = 10;
    ask(0, 5, false, 1, 1);
    ask(0, 6, false, 2, 1);
    expect(1, 27);
    expect(2, 67);
    dram_free(&d);
}
END_TEST

/* With RC 50, the second activation must wait for RC: ACT 51, RD 63, data at 77. */
START_TEST(rc_binds_when_it_is_longer) {
    start();
    d.cfg.rc = 50;
    ask(0, 5, false, 1, 1);
    ask(0, 6, false, 2, 1);
    expect(1, 27);
    expect(2, 77);
    dram_free(&d);
}
END_TEST

/* There are requests for three banks. Activations must be RRD apart.
 * - the first two are ACT 1 and ACT 7
 * - clock 13 is used by the first RD, so the third is ACT 14 */
START_TEST(activates_keep_rrd) {
    start();
    ask(0, 5, false, 1, 1);
    ask(1, 5, false, 2, 1);
    ask(2, 5, false, 3, 1);
    expect(1, 27);
    expect(2, 33);
    expect(3, 40);
    dram_free(&d);
}
END_TEST

/* Two bursts from open rows. If their banks are in different bank groups (banks 0 and 1), they are CCD apart. If their
 * banks are in one group (banks 0 and 4), they are CCDL apart. */
START_TEST(column_gaps) {
    for (uint32_t other = 1; other <= 4; other += 3) {
        start();
        ask(0, 5, false, 1, 1);
        ask(other, 5, false, 2, 1);
        run_to(100);
        struct dram_reply r;
        while (dram_take(&d, &r))
            ;
        ask(0, 5, false, 3, 1);
        ask(other, 5, false, 4, 1);
        expect(3, 115);
        expect(4, 115 + (other == 1 ? 2 : 3));
        dram_free(&d);
    }
}
END_TEST

/* As in column_gaps: after RD 101, the other bank's RD is sent at 101 + CCD or 101 + CCDL. The channel has no work
 * before this clock. */
START_TEST(no_work_before_the_next_column) {
    for (uint32_t other = 1; other <= 4; other += 3) {
        start();
        ask(0, 5, false, 1, 1);
        ask(other, 5, false, 2, 1);
        run_to(100);
        ask(0, 5, false, 3, 1);
        ask(other, 5, false, 4, 1);
        run_to(101);
        ck_assert_uint_eq(run_cycle(), other == 1 ? 103 : 104);
        dram_free(&d);
    }
}
END_TEST

/* After WR 101, RD is sent at 101 + 4 + 2 + 5 = 112 at the earliest: data at 126. */
START_TEST(write_to_read) {
    start();
    ask(0, 5, false, 1, 1);
    run_to(100);
    expect(1, 27);
    ask(0, 5, true, 0, 1);
    ask(0, 5, false, 2, 1);
    expect(2, 126);
    dram_free(&d);
}
END_TEST

/* After RD 101, WR is sent at 101 + 12 + 2 + 2 - 4 = 113 at the earliest. */
START_TEST(read_to_write) {
    start();
    ask(0, 5, false, 1, 1);
    run_to(100);
    expect(1, 27);
    ask(0, 5, false, 2, 1);
    ask(0, 5, true, 0, 1);
    run_to(113);
    ck_assert_uint_eq(d.n.writes, 0);
    run_to(114);
    ck_assert_uint_eq(d.n.writes, 1);
    dram_free(&d);
}
END_TEST

/* After WR 101, the row must stay open until 101 + 4 + 2 + 12 = 119: PRE 119, ACT 131, RD 143, data at 157. */
START_TEST(write_recovery) {
    start();
    ask(0, 5, false, 1, 1);
    run_to(100);
    expect(1, 27);
    ask(0, 5, true, 0, 1);
    ask(0, 6, false, 2, 1);
    expect(2, 157);
    dram_free(&d);
}
END_TEST

/* Request 2 (for another row) and request 3 (for the open row) wait in the queue behind request 1. FR-FCFS serves
 * request 3 first; FCFS serves request 2 first. */
START_TEST(row_hits_go_first) {
    for (uint32_t policy = DRAM_FR_FCFS; policy <= DRAM_FCFS; policy++) {
        start();
        d.cfg.policy = policy;
        ask(0, 5, false, 1, 1);
        ask(0, 6, false, 2, 1);
        ask(0, 5, false, 3, 1);
        expect(1, 27);
        expect(policy == DRAM_FR_FCFS ? 3 : 2, policy == DRAM_FR_FCFS ? 30 : 67);
        dram_free(&d);
    }
}
END_TEST

/* The queue has two entries.
 * - The first request leaves the queue with RD 13.
 * - The third request is for another bank. It enters at 14 and is activated in that cycle, not earlier. */
START_TEST(queue_is_bounded) {
    start();
    d.cfg.queue = 2;
    ask(0, 5, false, 1, 1);
    ask(0, 6, false, 2, 1);
    ask(1, 5, false, 3, 1);
    run_to(14);
    ck_assert_uint_eq(d.n.activates, 1);
    run_to(15); /* ACT of bank 1 */
    ck_assert_uint_eq(d.n.activates, 2);
    dram_free(&d);
}
END_TEST

/* Time in the queue:
 * - A request is in the queue from cycle 1, when it enters, until its column command RD 13: 12 cycles.
 * - The second request is for another row of the bank. It waits for RAS 28, RP 12 and RCD 12, so its RD is at 1 + 28 +
 *   12 + 12 = 53: 52 cycles. */
START_TEST(queued_cycles_are_summed) {
    for (uint64_t n = 1; n <= 2; n++) {
        start();
        for (uint32_t i = 0; i < n; i++)
            ask(0, 5 + i, false, i, 1);
        run_to(200);
        ck_assert_uint_eq(d.n.queue_sum, n == 1 ? 12 : 12 + 52);
        dram_free(&d);
    }
}
END_TEST

/* With DRAM at 924 MHz and the core at 700 MHz, floor(c * 33 / 25) DRAM clocks have passed by core cycle c. Stepping
 * through all cycles, jumping over cycles, and looking ahead must give the same results. */
START_TEST(clocks_cross_domains_exactly) {
    struct clock_ratio r = clock_ratio(700, 924);
    ck_assert_uint_eq(r.num, 33);
    ck_assert_uint_eq(r.den, 25);
    struct clock_point p = clock_point(r, 0);
    for (uint64_t c = 0; c < 1000; c += c % 7 + c / 100 * 13 % 90 + 1) {
        clock_move(&p, c);
        ck_assert_uint_eq(p.last, c * 33 / 25);
        ck_assert_uint_eq(p.first, c ? (c - 1) * 33 / 25 + 1 : 0);
        for (uint64_t clock = p.last + 1; clock < p.last + 200; clock += 17) {
            uint64_t expected = c;
            while (expected * 33 / 25 < clock)
                expected++;
            ck_assert_uint_eq(clock_cycle(&p, clock), expected);
        }
    }
}
END_TEST

/* If DRAM is slower than the core, some core cycles contain no DRAM clock. */
START_TEST(slow_dram_has_empty_cycles) {
    struct clock_point p = clock_point(clock_ratio(1000, 500), 0);
    clock_move(&p, 3);
    ck_assert_uint_eq(p.first, 2);
    ck_assert_uint_eq(p.last, 1);
    ck_assert_uint_eq(clock_cycle(&p, 2), 4);
}
END_TEST

/* A DRAM clock belongs to the core cycle in which it ends. With two DRAM clocks in three core cycles, clock 1 ends at
 * 1.5 and clock 2 at 3. */
START_TEST(the_cycle_of_a_clock) {
    static const uint64_t of[] = {0, 2, 3, 5, 6, 8, 9};
    struct clock_ratio r = clock_ratio(1500, 1000);
    for (uint64_t k = 0; k < 7; k++)
        ck_assert_uint_eq(clock_to_cycle(r, k), of[k]);
    r = clock_ratio(700, 924); /* 33 DRAM clocks in 25 core cycles */
    ck_assert_uint_eq(clock_to_cycle(r, 33), 25);
    ck_assert_uint_eq(clock_to_cycle(r, 34), 26);
    ck_assert_uint_eq(clock_to_cycle(r, 33000000001), 25000000001);
    for (uint64_t k = 1; k < 200; k++) {
        struct clock_point p = clock_point(r, clock_to_cycle(r, k));
        ck_assert(p.first <= k && k <= p.last);
    }
}
END_TEST

SUITE(timing_dram) {
    TEST(closed_row);
    TEST(a_write_settles);
    TEST(two_bursts);
    TEST(row_hit);
    TEST(row_conflict);
    TEST(row_conflict_waits_for_ras);
    TEST(rc_binds_when_it_is_longer);
    TEST(activates_keep_rrd);
    TEST(column_gaps);
    TEST(no_work_before_the_next_column);
    TEST(write_to_read);
    TEST(read_to_write);
    TEST(write_recovery);
    TEST(row_hits_go_first);
    TEST(queue_is_bounded);
    TEST(queued_cycles_are_summed);
    TEST(clocks_cross_domains_exactly);
    TEST(slow_dram_has_empty_cycles);
    TEST(the_cycle_of_a_clock);
}
