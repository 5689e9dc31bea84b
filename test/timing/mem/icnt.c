/* The crossbar: flits, serialisation, turns, back-pressure. */
#include "timing/mem/icnt.h"
#include "test/test.h"

static struct icnt x;
static struct icnt_grant grants[ICNT_PORTS];

static void start(uint32_t speedup, uint32_t gap, uint32_t room) {
    struct icnt_shape s = {
        .inputs = 4, .outputs = 4, .latency = 5, .flit_bytes = 40, .speedup = speedup, .buffer = 16, .gap = gap};
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
    start(1, 0, UINT32_MAX);
    ck_assert_uint_eq(icnt_flits(&x, 128), 4);
    ck_assert_uint_eq(icnt_flits(&x, 0), 1);
    ck_assert_uint_eq(icnt_flits(&x, 32), 1);
    ck_assert_uint_eq(icnt_flits(&x, 33), 2);
}
END_TEST

/* Four flits from cycle 10 on take the link for 10 to 13; the last is there 5 later. */
START_TEST(one_packet) {
    uint64_t now = 0;
    start(1, 0, UINT32_MAX);
    icnt_offer(&x, 2, 1, 4, 10);
    expect(&now, 10, 2, 18);
}
END_TEST

/* Two packets for one output: the second passes the switch after the first: 4 cycles later, 2 with speed-up 2, and one
 * more with a gap of one. The link takes four cycles each whatever the switch does. */
START_TEST(packets_for_one_output_follow_each_other) {
    static const struct {
        uint32_t speedup, gap;
        uint64_t second;
    } cases[] = {{1, 0, 4}, {2, 0, 2}, {2, 1, 3}, {4, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t now = 0;
        start(cases[i].speedup, cases[i].gap, UINT32_MAX);
        icnt_offer(&x, 0, 1, 4, 0);
        icnt_offer(&x, 1, 1, 4, 0);
        expect(&now, 0, 0, 3 + 5);
        expect(&now, cases[i].second, 1, 7 + 5);
    }
}
END_TEST

/* The switch is twice as fast as the link, and 16 flits of buffer let it run ahead: packet i of 4 flits goes at 2 i, as
 * long as no more than 16 of the 4 i flits before it are left: 4 i - 2 i <= 16. Packet 9 has 36 before it: cycle 20. */
START_TEST(buffer_bounds_the_lead) {
    uint64_t now = 0;
    start(2, 0, UINT32_MAX);
    for (uint32_t i = 0; i < 10; i++) {
        icnt_offer(&x, i % 4, 0, 4, now);
        expect(&now, i < 9 ? 2 * i : 20, i % 4, 4 * i + 3 + 5);
    }
}
END_TEST

/* Three inputs that always offer are served in turn. */
START_TEST(inputs_take_turns) {
    uint64_t now = 0;
    start(1, 0, UINT32_MAX);
    for (uint32_t in = 0; in < 3; in++)
        icnt_offer(&x, in, 3, 1, 0);
    for (uint64_t i = 0; i < 9; i++) {
        expect(&now, i, i % 3, i + 5);
        icnt_offer(&x, i % 3, 3, 1, now);
    }
}
END_TEST

/* One input with packets for two outputs sends them one after the other; two inputs for two outputs go together. */
START_TEST(inputs_send_one_packet_at_a_time) {
    uint64_t now = 0;
    start(1, 0, UINT32_MAX);
    icnt_offer(&x, 0, 0, 4, 0);
    expect(&now, 0, 0, 8);
    icnt_offer(&x, 0, 1, 4, now);
    expect(&now, 4, 0, 12);
    icnt_offer(&x, 0, 0, 1, 20);
    icnt_offer(&x, 1, 1, 1, 20);
    ck_assert_int_eq(icnt_tick(&x, 20, grants), 2);
}
END_TEST

/* An output with room for one packet takes the second when room is given back. */
START_TEST(full_outputs_stop_packets) {
    uint64_t now = 0;
    start(1, 0, 1);
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
    TEST(packets_for_one_output_follow_each_other);
    TEST(buffer_bounds_the_lead);
    TEST(inputs_take_turns);
    TEST(inputs_send_one_packet_at_a_time);
    TEST(full_outputs_stop_packets);
}
