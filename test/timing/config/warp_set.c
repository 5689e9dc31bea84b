/* Tests sets of warp slots (one bit per slot), of which 1, 2 and 3 words are in use. Expected results come from arrays
 * of bool. */
#include "timing/config/warp_set.h"
#include "test/test.h"

static uint32_t rnd(uint32_t *s) { return *s = *s * 1664525u + 1013904223u, *s >> 8; }

static uint32_t slots_of(uint32_t words) { return words * 64 < WARP_SLOTS ? words * 64 : WARP_SLOTS; }

static struct warp_set random_set(uint32_t *seed, uint32_t words, bool truth[WARP_SLOTS]) {
    struct warp_set s = {.word = {0}};
    uint32_t dense = rnd(seed) % 8; /* from empty to full */
    for (uint32_t w = 0; w < WARP_SLOTS; w++) {
        truth[w] = w < slots_of(words) && rnd(seed) % 7 < dense;
        warp_set_put(&s, w, !truth[w]);
        warp_set_put(&s, w, truth[w]);
    }
    return s;
}

START_TEST(sets_are_what_was_put_in) {
    uint32_t seed = 7, words = (uint32_t)_i;
    bool a[WARP_SLOTS], b[WARP_SLOTS];
    for (int round = 0; round < 200; round++) {
        struct warp_set x = random_set(&seed, words, a), y = random_set(&seed, words, b);
        struct warp_set both = warp_sets_and(&x, &y), rest = warp_sets_without(&x, &y);
        uint32_t n = 0, meet = 0, w, seen = 0, first = WARP_SLOTS;
        for (w = WARP_SLOTS; w-- > 0;) {
            ck_assert(warp_set_has(&x, w) == a[w]);
            ck_assert(warp_set_has(&both, w) == (a[w] && b[w]));
            ck_assert(warp_set_has(&rest, w) == (a[w] && !b[w]));
            n += a[w], meet += a[w] && b[w];
            first = a[w] ? w : first;
        }
        ck_assert_uint_eq(warp_set_count(&x, words), n);
        ck_assert(warp_set_any(&x, words) == (n > 0));
        ck_assert(warp_sets_meet(&x, &y, words) == (meet > 0));
        if (n)
            ck_assert_uint_eq(warp_set_first(&x), first);
        uint32_t last = 0;
        for (struct warp_walk at = warp_walk(&x); warp_next(&at, &x, words, &w); seen++, last = w)
            ck_assert(a[w] && (!seen || w > last));
        ck_assert_uint_eq(seen, n);
        for (struct warp_set m = x; warp_set_take(&m, &w); seen--)
            ck_assert(a[w] && !warp_set_has(&m, w));
        ck_assert_uint_eq(seen, 0);
        for (uint32_t from = 0; from < slots_of(words) && n; from++) {
            for (w = (from + 1) % WARP_SLOTS; !a[w]; w = (w + 1) % WARP_SLOTS)
                ;
            ck_assert_uint_eq(warp_set_after(&x, from, words), w);
        }
    }
}
END_TEST

/* If no warp has issued yet (NO_WARP_SLOT), the next slot is the first slot of the set, for every number of words in
 * use. */
START_TEST(without_a_last_warp_the_first_is_next) {
    for (uint32_t words = 1; words <= WARP_WORDS; words++) {
        struct warp_set s = {.word = {0}};
        warp_set_add(&s, 0);
        warp_set_add(&s, slots_of(words) - 1);
        ck_assert_uint_eq(warp_set_after(&s, NO_WARP_SLOT, words), 0);
    }
}
END_TEST

SUITE(timing_warp_set) {
    TEST_LOOP(sets_are_what_was_put_in, 1, WARP_WORDS + 1);
    TEST(without_a_last_warp_the_first_is_next);
}
