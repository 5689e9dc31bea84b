/* Tests the timing wheel: every event is delivered in its cycle, and the next event is found. */
#include "timing/sm/wheel.h"
#include "test/test.h"

START_TEST(events_come_in_their_cycle) {
    struct wheel w;
    uint32_t what;
    ck_assert(wheel_init(&w, 4));
    wheel_add(&w, 5, 50);
    wheel_add(&w, 3, 30);
    wheel_add(&w, 5, 51);
    ck_assert_uint_eq(wheel_next(&w, 0), 3);
    ck_assert(!wheel_take(&w, 1, &what));
    ck_assert(wheel_take(&w, 3, &what));
    ck_assert_uint_eq(what, 30);
    ck_assert(!wheel_take(&w, 3, &what));
    ck_assert_uint_eq(wheel_next(&w, 3), 5);
    ck_assert(wheel_take(&w, 5, &what));
    ck_assert_uint_eq(what, 51);
    ck_assert(wheel_take(&w, 5, &what));
    ck_assert_uint_eq(what, 50);
    ck_assert_uint_eq(wheel_next(&w, 5), UINT64_MAX);
    wheel_free(&w);
}
END_TEST

/* An event that is more than one turn of the wheel away shares its slot with an event of a nearer cycle. When the
 * nearer event is taken, the far event must stay in the slot. */
START_TEST(far_events_wait_for_their_turn) {
    struct wheel w;
    uint32_t what;
    ck_assert(wheel_init(&w, 2));
    wheel_add(&w, 7 + 2 * WHEEL_SLOTS, 1);
    wheel_add(&w, 7, 2);
    ck_assert(wheel_take(&w, 7, &what));
    ck_assert_uint_eq(what, 2);
    ck_assert(!wheel_take(&w, 7, &what));
    ck_assert_uint_eq(wheel_next(&w, 7), 7 + WHEEL_SLOTS); /* the result may be too early, but not too late */
    ck_assert(!wheel_take(&w, 7 + WHEEL_SLOTS, &what));
    ck_assert(wheel_take(&w, 7 + 2 * WHEEL_SLOTS, &what));
    ck_assert_uint_eq(what, 1);
    wheel_free(&w);
}
END_TEST

/* Entries that were freed and entries that were never used form one list: three events fit after one was taken, in any
 * order of their entries. */
START_TEST(freed_and_fresh_entries_hold_events) {
    struct wheel w;
    uint32_t what;
    ck_assert(wheel_init(&w, 3));
    wheel_add(&w, 1, 10);
    wheel_add(&w, 2, 20);
    ck_assert(wheel_take(&w, 1, &what));
    ck_assert_uint_eq(what, 10);
    wheel_add(&w, 3, 30); /* uses entry 0 again */
    wheel_add(&w, 4, 40); /* uses entry 2, which is fresh */
    ck_assert(wheel_full(&w));
    for (uint32_t c = 2; c <= 4; c++) {
        ck_assert(wheel_take(&w, c, &what));
        ck_assert_uint_eq(what, 10 * c);
    }
    ck_assert_uint_eq(w.n, 0);
    wheel_free(&w);
}
END_TEST

START_TEST(entries_are_used_again) {
    struct wheel w;
    uint32_t what;
    ck_assert(wheel_init(&w, 1));
    for (uint64_t c = 1; c < 3 * WHEEL_SLOTS; c += 100) {
        ck_assert(!wheel_full(&w));
        wheel_add(&w, c, (uint32_t)c);
        ck_assert(wheel_full(&w));
        ck_assert_uint_eq(wheel_next(&w, c - 1), c);
        ck_assert(wheel_take(&w, c, &what));
        ck_assert_uint_eq(what, c);
    }
    wheel_free(&w);
}
END_TEST

/* Compares random events with a table of the events of each cycle. */
START_TEST(random_events) {
    enum { EVENTS = 500, CYCLES = 6000 };
    static uint16_t due[CYCLES + 1];
    struct wheel w;
    uint64_t seed = 1;
    uint32_t what;
    memset(due, 0, sizeof due);
    ck_assert(wheel_init(&w, EVENTS));
    for (uint32_t now = 0; now < CYCLES; now++) {
        for (int k = 0; k < 3 && !wheel_full(&w); k++) {
            uint32_t at = now + 1 + test_random_below(&seed, 1500);
            if (at > CYCLES)
                continue;
            wheel_add(&w, at, at);
            due[at]++;
        }
        uint32_t next = now + 1;
        while (next <= CYCLES && !due[next])
            next++;
        ck_assert(w.n ? wheel_next(&w, now) <= next && wheel_next(&w, now) > now : next > CYCLES);
        ck_assert(wheel_has(&w, now + 1) == (wheel_next(&w, now) == now + 1));
        for (; due[now + 1]; due[now + 1]--) {
            ck_assert(wheel_take(&w, now + 1, &what));
            ck_assert_uint_eq(what, now + 1);
        }
        ck_assert(!wheel_take(&w, now + 1, &what));
    }
    wheel_free(&w);
}
END_TEST

SUITE(timing_wheel) {
    TEST(events_come_in_their_cycle);
    TEST(far_events_wait_for_their_turn);
    TEST(freed_and_fresh_entries_hold_events);
    TEST(entries_are_used_again);
    TEST(random_events);
}
