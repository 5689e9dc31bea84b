/* Compares vector clocks that are stored as trees with vector clocks that are stored as arrays. The same random changes
 * are made to a set of clocks of each kind. */
#include "isa/interp/check_clock.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include <string.h>

enum { CTAS = 300, ENTRIES = 3, POOL = 6, STEPS = 2000 };

struct pair {
    struct clock *tree;
    uint32_t time[CTAS][ENTRIES];
};

static void join(struct pair *to, const struct pair *from) {
    for (int c = 0; c < CTAS; c++)
        for (int e = 0; e < ENTRIES; e++)
            if (from->time[c][e] > to->time[c][e])
                to->time[c][e] = from->time[c][e];
}

static void advance(struct clocks *k, struct pair *p, uint64_t *rng) {
    uint32_t cta = test_random_below(rng, CTAS), time[ENTRIES];
    for (int e = 0; e < ENTRIES; e++) {
        time[e] = test_random_below(rng, 1000);
        if (time[e] > p->time[cta][e])
            p->time[cta][e] = time[e];
    }
    struct clock *more = clock_with(k, p->tree, cta, time);
    clock_unref(p->tree);
    p->tree = more;
}

static void same(const struct clocks *k, const struct pair *p) {
    static const uint32_t zero[ENTRIES];
    for (uint32_t c = 0; c < CTAS; c++) {
        const uint32_t *time = clock_of(k, p->tree, c);
        EXPECT(!memcmp(time ? time : zero, p->time[c], sizeof p->time[c]), "CTA %u", c);
    }
}

/* All memory of the clocks must be freed: a build with SAN=1 reports a leaked clock. */
START_TEST(trees_are_arrays) {
    static struct pair pool[POOL];
    struct clocks k;
    uint64_t rng = (uint64_t)_i;
    memset(pool, 0, sizeof pool);
    clocks_begin(&k, CTAS, ENTRIES);
    for (int step = 0; step < STEPS; step++) {
        struct pair *a = &pool[test_random_below(&rng, POOL)], *b = &pool[test_random_below(&rng, POOL)];
        switch (test_random_below(&rng, 4)) {
        case 0:
            join(a, b);
            clock_add(&k, &a->tree, b->tree);
            break;
        case 1:
            memcpy(a->time, b->time, sizeof a->time);
            clock_set(&a->tree, b->tree);
            break;
        default:
            advance(&k, a, &rng);
        }
        if (step % 100 == 0)
            same(&k, a);
    }
    for (int i = 0; i < POOL; i++) {
        same(&k, &pool[i]);
        clock_set(&pool[i].tree, NULL);
    }
}
END_TEST

/* A join of two clocks does not copy a subtree that it can share with one of them. It can share a subtree if both are
 * equal, or if all times in one are at least those in the other. This keeps chains of releases cheap. */
START_TEST(joins_share) {
    struct clocks k;
    const uint32_t early[ENTRIES] = {1, 1, 1}, late[ENTRIES] = {2, 2, 2};
    clocks_begin(&k, CTAS, ENTRIES);
    struct clock *a = clock_with(&k, NULL, 7, early), *b = clock_with(&k, a, 299, late),
                 *c = clock_with(&k, b, 7, late);
    struct clock *ab = clock_join(&k, a, b), *cb = clock_join(&k, c, b), *again = clock_with(&k, c, 7, early);
    ck_assert_ptr_eq(ab, b);
    ck_assert_ptr_eq(cb, c);
    ck_assert_ptr_eq(again, c);
    struct clock *all[] = {a, b, c, ab, cb, again};
    for (int i = 0; i < 6; i++)
        clock_unref(all[i]);
}
END_TEST

/* A clock of a single CTA is a leaf without a tree. Even the last CTA of 2^32 has a valid number. */
START_TEST(ends_of_the_range) {
    struct clocks k;
    const uint32_t time[ENTRIES] = {5, 6, 7};
    clocks_begin(&k, 1, ENTRIES);
    ck_assert_uint_eq(k.height, 0);
    struct clock *c = clock_with(&k, NULL, 0, time);
    ck_assert_uint_eq(clock_of(&k, c, 0)[2], 7);
    clock_unref(c);
    clocks_begin(&k, 1ull << 32, ENTRIES);
    ck_assert_uint_eq(k.height, 8);
    c = clock_with(&k, NULL, UINT32_MAX, time);
    ck_assert_uint_eq(clock_of(&k, c, UINT32_MAX)[0], 5);
    ck_assert_ptr_null(clock_of(&k, c, 0));
    clock_unref(c);
}
END_TEST

SUITE(isa_check_clock) {
    TEST_LOOP(trees_are_arrays, 0, 4);
    TEST(joins_share);
    TEST(ends_of_the_range);
}
