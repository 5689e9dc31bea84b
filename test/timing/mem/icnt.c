/* Tests the crossbar: flits, serialisation on links, round-robin order, and back-pressure. */
#include "timing/mem/icnt.h"
#include "test/test.h"

static struct icnt x;
static struct icnt_grant grants[ICNT_PORTS];

static void start(uint32_t speedup, uint32_t room) {
    struct icnt_shape s = {
        .inputs = 20, .outputs = 4, .latency = 5, .flit_bytes = 40, .speedup = speedup, .buffer = 16};
    icnt_init(&x, &s, room);
}

/* Runs the crossbar until the next grant, and checks this grant. */
static void expect(uint64_t *now, uint64_t cycle, uint32_t in, uint64_t arrival) {
    int n = 0;
    for (; !n && *now < 1000; ++*now)
        n = icnt_tick(&x, *now, grants);
    ck_assert_int_eq(n, 1);
    ck_assert_uint_eq(*now - 1, cycle);
    ck_assert_uint_eq(grants[0].input, in);
    ck_assert_uint_eq(grants[0].arrival, arrival);
}

/* A flit has 40 bytes. A line of 128 bytes and its header of 8 bytes are 4 flits. A request without data is one flit.
 * 32 bytes and the header fit in one flit; 33 bytes do not. */
START_TEST(flits_of_packets) {
    start(1, UINT32_MAX);
    ck_assert_uint_eq(icnt_flits(&x, 128), 4);
    ck_assert_uint_eq(icnt_flits(&x, 0), 1);
    ck_assert_uint_eq(icnt_flits(&x, 32), 1);
    ck_assert_uint_eq(icnt_flits(&x, 33), 2);
}
END_TEST

/* Four flits use the link in cycles 10 to 13. The last flit arrives 5 cycles later. */
START_TEST(one_packet) {
    uint64_t now = 0;
    start(1, UINT32_MAX);
    icnt_offer(&x, 2, 1, 4, 10);
    expect(&now, 10, 2, 18);
}
END_TEST

/* Packets of n flits wait for one output. The switch makes one or two steps per cycle and takes n + 1 steps for a
 * packet. With two steps per cycle, the last flit of the first packet arrives at cycle n - 1, which is step 2 n - 2. So
 * the next packet begins at step 2 n - 1 or n + 1, whichever is later. Steps at which packets begin:
 * - one flit: 0 2 4 6
 * - two flits: 0 3 6 9
 * - four flits: 0 7 12 17 */
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
        for (uint32_t in = 0; in < 4; in++) { /* the link sends the packets one after another, one flit per cycle */
            uint64_t at = cases[i].cycle[in];
            link = (at > link ? at : link) + cases[i].flits;
            expect(&now, at, in, link - 1 + 5);
        }
    }
}
END_TEST

/* An input's link delivers one flit per cycle. So of two packets of four flits, the second can be granted at cycle 4 at
 * the earliest, however fast the switch is. */
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

/* The switch is faster than the link of an output. A buffer of 16 flits lets the switch run ahead of the link.
 * - Without a limit, packets of 4 flits begin at steps 0, 7, 12, 17 and so on; packet i at step 7 + 5 (i - 1).
 * - At most 16 of the 4 i flits before packet i may be in the buffer, so packet i begins at cycle 4 i - 16 at the
 *   earliest.
 * - The second limit is later from packet 12 on: step 64, cycle 32. */
START_TEST(buffer_bounds_the_lead) {
    uint64_t now = 0;
    start(2, UINT32_MAX);
    for (uint32_t i = 0; i < 16; i++)
        icnt_offer(&x, i, 0, 4, 0);
    for (uint32_t i = 0; i < 16; i++)
        expect(&now, i >= 12 ? 4 * i - 16 : i ? (7 + 5 * (i - 1)) / 2 : 0, i, 4 * i + 3 + 5);
}
END_TEST

/* Three inputs that always offer packets must be served round-robin. */
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

/* Two inputs that send to two different outputs are granted in the same cycle. */
START_TEST(inputs_do_not_wait_for_each_other) {
    start(2, UINT32_MAX);
    icnt_offer(&x, 0, 0, 1, 20);
    icnt_offer(&x, 1, 1, 1, 20);
    ck_assert_int_eq(icnt_tick(&x, 20, grants), 2);
}
END_TEST

/* An output has room for one packet. It grants the second packet when the room of the first is returned. */
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

/* A model that follows the rules of icnt.h without shortcuts: it examines all ports in every step. */
struct reference {
    uint64_t in_time[ICNT_PORTS], in_link[ICNT_PORTS], out_time[ICNT_PORTS], out_link[ICNT_PORTS];
    int dest[ICNT_PORTS]; /* -1: no offer */
    uint32_t flits[ICNT_PORTS], turn[ICNT_PORTS], room[ICNT_PORTS];
};

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void reference_offer(struct reference *p, uint32_t in, uint32_t out, uint32_t flits, uint64_t ready) {
    uint64_t head = later(p->in_link[in], ready);
    p->dest[in] = (int)out;
    p->flits[in] = flits;
    p->in_link[in] = head + flits;
    p->in_time[in] = later(p->in_time[in], head * x.shape.speedup);
}

/* Returns the input that output `out` grants at a step, or -1 if it grants no input. */
static int reference_choice(const struct reference *p, uint32_t out, uint64_t step) {
    for (uint32_t k = 0; k < x.shape.inputs && p->room[out] && p->out_time[out] <= step; k++) {
        uint32_t in = (p->turn[out] + k) % x.shape.inputs;
        if (p->dest[in] == (int)out && p->in_time[in] <= step)
            return (int)in;
    }
    return -1;
}

static uint64_t reference_grant(struct reference *p, uint32_t in, uint32_t out, uint64_t step) {
    uint32_t speedup = x.shape.speedup, flits = p->flits[in];
    uint64_t link = later(later(step / speedup, p->out_link[out]) + flits, p->in_link[in]);
    p->dest[in] = -1;
    p->room[out]--;
    p->turn[out] = in + 1;
    p->out_link[out] = link;
    p->in_time[in] = later(step + flits + 1, (p->in_link[in] - 1) * speedup + 1);
    p->out_time[out] = p->in_time[in];
    if (link > x.shape.buffer)
        p->out_time[out] = later(p->out_time[out], (link - x.shape.buffer) * speedup);
    return link - 1 + x.shape.latency;
}

/* Checks that the crossbar `x` and the reference model make the same grants in this cycle, in any order. If `called` is
 * false, `x` is not called, and the model must make no grant. */
static void same_grants(struct reference *p, uint64_t now, bool called) {
    int n = called ? icnt_tick(&x, now, grants) : 0, found = 0;
    for (uint64_t step = now * x.shape.speedup; step < (now + 1) * x.shape.speedup; step++)
        for (uint32_t out = 0; out < x.shape.outputs; out++) {
            int in = reference_choice(p, out, step);
            if (in < 0)
                continue;
            uint64_t arrival = reference_grant(p, (uint32_t)in, out, step);
            bool same = false;
            for (int i = 0; i < n; i++)
                same |= grants[i].input == in && grants[i].output == out && grants[i].arrival == arrival;
            ck_assert_msg(same, "cycle %ju: input %d to output %u, there at %ju, is not granted", (uintmax_t)now, in,
                          out, (uintmax_t)arrival);
            found++;
        }
    ck_assert_int_eq(n, found);
}

/* Sends random packets through the crossbar and through the reference model of this file. Both must grant the same
 * packets in the same cycles. Some packets arrive far in the future, and each output accepts a random number of
 * packets. The crossbar runs in every cycle, or only when it is due, and sometimes the clock jumps. */
START_TEST(reference_grants_the_same) {
    static struct reference p;
    uint64_t rng = (uint64_t)_i + 1;
    bool every = _i % 2;
    struct icnt_shape s = {.inputs = 1 + test_random(&rng) % (_i % 4 ? 20 : 200),
                           .outputs = 1 + test_random(&rng) % (_i % 8 > 3 ? 20 : 200),
                           .latency = 5,
                           .flit_bytes = 40,
                           .speedup = 1 + test_random(&rng) % 4,
                           .buffer = test_random(&rng) % 20};
    memset(&p, 0, sizeof p);
    memset(p.dest, 0xff, sizeof p.dest);
    icnt_init(&x, &s, 2);
    for (uint32_t o = 0; o < s.outputs; o++)
        p.room[o] = 2;
    uint64_t granted = 0;
    for (uint64_t now = 0, turns = 0; turns < 3000; turns++, now += test_random(&rng) % 500 ? 1 : 150) {
        same_grants(&p, now, every || x.next <= now);
        uint32_t often = 1 + (uint32_t)(turns / 300 % 4);
        for (uint32_t in = 0; in < s.inputs; in++)
            if (p.dest[in] < 0 && test_random(&rng) % (8 * often) == 0) {
                uint32_t out = (uint32_t)(test_random(&rng) % s.outputs), flits = 1 + test_random(&rng) % 4;
                uint64_t ready = now + 1 + test_random(&rng) % (test_random(&rng) % 8 ? 5 : 200);
                reference_offer(&p, in, out, flits, ready);
                icnt_offer(&x, in, out, flits, ready);
            }
        for (uint32_t out = 0; out < s.outputs; out++)
            if (p.room[out] < 4 && test_random(&rng) % 6 == 0) {
                p.room[out]++;
                icnt_give_room(&x, out, now + 1);
            }
        granted = x.n.packets;
    }
    ck_assert_uint_gt(granted, 50);
}
END_TEST

/* With shape.again, input 3 sends to outputs 1 and 2 in cycle 10. Its third packet, to output 2 again, must wait for
 * cycle 11. Without, it sends one packet in each cycle. */
START_TEST(an_input_sends_again) {
    for (int again = 0; again < 2; again++) {
        static const uint32_t out[] = {1, 2, 2};
        uint64_t now = 10;
        start(2, UINT32_MAX);
        x.shape.again = again;
        for (int i = 0; i < 3; i++, now += !again) {
            icnt_offer(&x, 3, out[i], 1, 5);
            if (i == 2 && again)
                ck_assert_int_eq(icnt_tick(&x, now++, grants), 0);
            ck_assert_int_eq(icnt_tick(&x, now, grants), 1);
            ck_assert_uint_eq(grants[0].output, out[i]);
        }
        ck_assert_uint_eq(now, again ? 11 : 13);
    }
}
END_TEST

SUITE(timing_icnt) {
    TEST(an_input_sends_again);
    TEST(flits_of_packets);
    TEST(one_packet);
    TEST(switch_takes_a_step_more_than_flits);
    TEST(links_take_a_flit_a_cycle);
    TEST(buffer_bounds_the_lead);
    TEST(inputs_take_turns);
    TEST(inputs_do_not_wait_for_each_other);
    TEST(full_outputs_stop_packets);
    TEST_LOOP(reference_grants_the_same, 0, test_every() ? 64 : 32);
}
