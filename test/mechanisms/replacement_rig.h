#ifndef TEST_REPLACEMENT_RIG_H
#define TEST_REPLACEMENT_RIG_H
/* A cache with a replacement policy of a mechanism. Its misses are filled at once. */
#include "mechanisms/all.h"
#include "test/random.h"
#include "test/test.h"
#include "timing/mem/cache.h"

static struct cache c;
static struct cache_out out;

static void start(const char *policy, uint32_t sets, uint32_t ways) {
    const struct replacement_ops *ops = mechanism_replacement(policy);
    ck_assert_ptr_nonnull(ops);
    const struct cache_shape s = {
        .sets = sets, .ways = ways, .line_bytes = 128, .mshrs = 2, .merges = 2, .replacement = ops};
    ck_assert(cache_init(&c, &s));
}

/* Reads a line and fills it at once. Returns true if it was a hit. */
static bool reads(uint64_t line) {
    uint64_t target;
    if (cache_read(&c, line, 0xf, 1, &out) == CACHE_HIT)
        return true;
    cache_fill(&c, out.mshr, out.fetch);
    ck_assert(cache_take(&c, out.mshr, &target));
    return false;
}

/* Checks that a cache of 64 sets of 4 ways hits and misses as the reference does. The accesses have three phases:
 * random lines of a small area, a loop that is a little too large for the cache, and random lines of a large area. In
 * the loop, policies that keep old lines miss less than others, so set dueling changes to them. */
static inline void hits_as(bool (*reference)(const char *policy, uint64_t line), const char *policy) {
    uint64_t random = 7;
    int hits = 0;
    start(policy, 64, 4);
    for (int i = 0; i < 60000; i++) {
        uint64_t line = i < 20000   ? test_random_below(&random, 300)
                        : i < 40000 ? (uint64_t)i % 320
                                    : test_random_below(&random, 1000);
        bool hit = reference(policy, line);
        ck_assert_msg(reads(line) == hit, "%s: access %d to line %d", policy, i, (int)line);
        hits += hit;
    }
    ck_assert_int_gt(hits, 10000);
    cache_free(&c);
}

/* Checks that neither a locked line nor a line that waits for its data becomes a victim. In a set of 3 ways, line 2 is
 * locked and line 3 waits for its data. */
static void check_locked_lines(const char *policy) {
    start(policy, 1, 3);
    reads(1);
    reads(2);
    ck_assert_int_eq(cache_read(&c, 3, 0xf, 1, &out), CACHE_MISS);
    ck_assert(cache_lock(&c, 2));
    for (uint64_t line = 10; line < 100; line++) {
        ck_assert_int_eq(cache_write(&c, line, 0xf, 0xf, &out), CACHE_MISS);
        ck_assert_uint_ne(out.victim, 2);
        ck_assert_uint_ne(out.victim, 3);
    }
    cache_free(&c);
}
#endif
