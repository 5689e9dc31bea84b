#ifndef TEST_TOYS_PREFETCHERS_H
#define TEST_TOYS_PREFETCHERS_H
/* Prefetchers that are not part of the product. */
#include <stdint.h>

/* next_line.c: asks for the line behind each that a load misses, or uses first. Its row's ctx is this, or NULL; the
 * counts of all SMs or slices come together here, so it is for one host thread. */
struct next_line_toy {
    uint64_t seen, asked[4], answered[6]; /* by enum prefetch_asked, prefetch_answer */
    uint64_t useful, late, unused;
};
extern const struct prefetcher_ops next_line_prefetcher;
#endif
