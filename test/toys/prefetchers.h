#ifndef TEST_TOYS_PREFETCHERS_H
#define TEST_TOYS_PREFETCHERS_H
/* Prefetchers for tests. They are not part of the product. */
#include <stdint.h>

/* next_line.c: requests the line after each line that a load misses or uses for the first time. The ctx of the
 * prefetcher_row points to this struct, or is NULL. The struct sums the counts of all SMs or slices, so it needs a
 * single host thread. */
struct next_line_toy {
    uint64_t seen, asked[4], answered[6]; /* by enum prefetch_asked, prefetch_answer */
    uint64_t useful, late, unused;
};
extern const struct prefetcher_ops next_line_prefetcher;
#endif
