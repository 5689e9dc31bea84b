/* The crossbar: flits, serialisation, turns, back-pressure. */
#include "timing/mem/icnt.h"
#include "test/test.h"

static struct icnt x;
static struct icnt_grant grants[ICNT_PORTS];

static void start(uint32_t speedup, uint32_t room) {
    struct icnt_shape s = {
        .inputs = 20, .outputs = 4, .latency = 5, .flit_bytes = 40, .speedup = speedup, .buffer = 16};
    icnt_init(&x, &s, room);
}

/* Runs until the next grant and checks it. */
static void expect(uint64_t *now, uint64_t cycle, uint32_t in, uint64_t arrival) {
    int n = 0;
    for (; !n && *now < 1000; ++*now)
        n = icnt_tick(&x, *now, grants);
    ck_assert_int_eq(n, 1);
    ck_assert_uint_eq(*now - 1, cycle);
    ck_assert_uint_eq(grants[0].input, in);
    ck_assert_uint_eq(grants[0].arrival, arrival);
}

/* A line of 128 bytes and 8 of header are 4 flits of 40; a request without data is one; 32 bytes still fit beside the
 * header, 33 do not. */
START_TEST(flits_of_packets) {
    start(1, UINT32_MAX);
    ck_assert_uint_eq(icnt_flits(&x, 128), 4);
    ck_assert_uint_eq(icnt_flits(&x, 0), 1);
    ck_assert_uint_eq(icnt_flits(&x, 32), 1);
    ck_assert_uint_eq(icnt_flits(&x, 33), 2);
}
END_TEST

/* Four flits from cycle 10 on take the link for 10 to 13; the last is there 5 later. */
START_TEST(one_packet) {
    uint64_t now = 0;
    start(1, UINT32_MAX);
    icnt_offer(&x, 2, 1, 4, 10);
    expect(&now, 10, 2, 18);
}
END_TEST

/* Packets that all are there, of one to four flits, for one output, two steps of the switch a cycle: each takes a step
 * more than it has flits. The first one's last flit is there at cycle n - 1, step 2 n - 2, and lets the next begin at
 * step 2 n - 1 or n + 1. One flit: steps 0 2 4 6. Two: 0 3 6 9. Four: 0 7 12 17. Halved these are cycles. */
START_TEST(switch_takes_a_step_more_than_flits) {
    static const struct {
        uint32_t speedup, flits;
        uint64_t cycle[4];
    } cases[] = {
        {2, 1, {0, 1, 2, 3}}, {2, 2, {0, 1, 3, 4}}, {2, 4, {0, 3, 6, 8}}, {1, 1, {0, 2, 4, 6}}, {1, 4, {0, 5, 10, 15}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t now = 0, link = 0;
        start(cases[i].speedup, UINT32_MAX);
        for (uint32_t in = 0; in < 4; in++)
            icnt_offer(&x, in, 1, cases[i].flits, 0);
        for (uint32_t in = 0; in < 4; in++) { /* the link sends them one behind the other, a flit a cycle */
            uint64_t at = cases[i].cycle[in];
            link = (at > link ? at : link) + cases[i].flits;
            expect(&now, at, in, link - 1 + 5);
        }
    }
}
END_TEST

/* An input's link brings a flit a cycle: the second of two packets of four flits is there from cycle 4 on, however fast
 * the switch is. */
START_TEST(links_take_a_flit_a_cycle) {
    uint64_t now = 0;
    start(8, UINT32_MAX);
    icnt_offer(&x, 0, 0, 4, 0);
    expect(&now, 0, 0, 3 + 5);
    icnt_offer(&x, 0, 1, 4, 1);
    expect(&now, 4, 0, 7 + 5);
    icnt_offer(&x, 0, 2, 1, 20);
    expect(&now, 20, 0, 20 + 5);
}
END_TEST

/* The switch is faster than an output's link, and 16 flits of buffer let it run ahead. Packets of 4 flits that all are
 * there begin at steps 0, 7, 12, 17, ..., 7 + 5 (i - 1), as long as no more than 16 of the 4 i flits before packet i
 * are left: at cycle 4 i - 16, step 8 i - 32, at the earliest. That is later from i = 12 on: 64, cycle 32. */
START_TEST(buffer_bounds_the_lead) {
    uint64_t now = 0;
    start(2, UINT32_MAX);
    for (uint32_t i = 0; i < 16; i++)
        icnt_offer(&x, i, 0, 4, 0);
    for (uint32_t i = 0; i < 16; i++)
        expect(&now, i >= 12 ? 4 * i - 16 : i ? (7 + 5 * (i - 1)) / 2 : 0, i, 4 * i + 3 + 5);
}
END_TEST

/* Three inputs that always offer are served in turn. */
START_TEST(inputs_take_turns) {
    uint64_t now = 0;
    start(2, UINT32_MAX);
    for (uint32_t in = 0; in < 3; in++)
        icnt_offer(&x, in, 3, 1, 0);
    for (uint64_t i = 0; i < 9; i++) {
        expect(&now, i, i % 3, i + 5);
        icnt_offer(&x, i % 3, 3, 1, now);
    }
}
END_TEST

/* Two inputs for two outputs go together. */
START_TEST(inputs_do_not_wait_for_each_other) {
    start(2, UINT32_MAX);
    icnt_offer(&x, 0, 0, 1, 20);
    icnt_offer(&x, 1, 1, 1, 20);
    ck_assert_int_eq(icnt_tick(&x, 20, grants), 2);
}
END_TEST

/* An output with room for one packet takes the second when room is given back. */
START_TEST(full_outputs_stop_packets) {
    uint64_t now = 0;
    start(1, 1);
    icnt_offer(&x, 0, 0, 1, 0);
    icnt_offer(&x, 1, 0, 1, 0);
    expect(&now, 0, 0, 5);
    for (; now < 50; now++)
        ck_assert_int_eq(icnt_tick(&x, now, grants), 0);
    ck_assert_uint_eq(x.next, UINT64_MAX);
    icnt_give_room(&x, 0, now);
    ck_assert_uint_eq(x.next, now);
    expect(&now, 50, 1, 55);
    ck_assert_uint_eq(x.n.stall_cycles, 50);
}
END_TEST

SUITE(timing_icnt) {
    TEST(flits_of_packets);
    TEST(one_packet);
    TEST(switch_takes_a_step_more_than_flits);
    TEST(links_take_a_flit_a_cycle);
    TEST(buffer_bounds_the_lead);
    TEST(inputs_take_turns);
    TEST(inputs_do_not_wait_for_each_other);
    TEST(full_outputs_stop_packets);
}
