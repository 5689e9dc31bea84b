#ifndef TEST_TIMING_CACHE_RIG_H
#define TEST_TIMING_CACHE_RIG_H
/* Test fixture: a small cache, whose sets can be followed by hand. */
#include "test/test.h"
#include "timing/mem/cache.h"

static struct cache c;
static struct cache_out out;

/* Makes a cache with 2 sets of 2 ways, and lines of 128 bytes. Lines with even numbers are in set 0. */
static void start(uint32_t mshrs, uint32_t merges, bool sectored) {
    struct cache_shape s = {
        .sets = 2, .ways = 2, .line_bytes = 128, .mshrs = mshrs, .merges = merges, .sectored = sectored};
    ck_assert(cache_init(&c, &s));
}

/* Returns the valid sectors of a line as a mask. */
static unsigned peek(uint64_t line) { return cache_valid(&c, cache_look(&c, line)); }
#endif
