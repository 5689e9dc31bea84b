#ifndef TEST_RANDOM_INDEX_H
#define TEST_RANDOM_INDEX_H
/* Generates random valid kernels whose addresses and guards derive from thread and CTA indices, mixed with data. An
 * affine unit can execute a part of these kernels. The same seed gives the same text. Each kernel ends without a fault
 * and leaves memory that does not depend on the order of threads: a thread writes only its own words, and reads words
 * of other threads only between two barriers.
 *
 *     .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
 *
 * `in` has INDEX_IN words, `out` INDEX_OUT words, enough for the largest launch; n is INDEX_N, m INDEX_M. */
#include "isa/types.h"

enum {
    INDEX_IN = 1 << 16,
    /* words of a thread in each of two arrays: adjacent in the first array, strided in the second */
    INDEX_SLOTS = 16,
    INDEX_THREADS = 1024, /* maximum number of threads of a launch */
    INDEX_OUT = 2 * INDEX_SLOTS * INDEX_THREADS,
    INDEX_N = 3,
    INDEX_M = -77777,
};
struct index_kernel {
    char *text; /* the caller frees it */
    struct dim3 grid, block;
};
struct index_kernel random_index_kernel(uint64_t seed);
#endif
