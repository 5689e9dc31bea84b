#ifndef TEST_RANDOM_INDEX_H
#define TEST_RANDOM_INDEX_H
/* Valid kernels at random whose addresses and guards are made of thread and block indices, mixed with data: what an
 * affine unit lives on. The same seed gives the same text. Each ends, faults nowhere, and leaves memory that does not
 * depend on the order in which threads run: a thread writes to its own words, and reads others' between two barriers.
 *
 *     .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
 *
 * `in` has INDEX_IN words, `out` INDEX_OUT words a thread of the largest launch; n is INDEX_N, m INDEX_M. */
#include "isa/types.h"

enum {
    INDEX_IN = 1 << 16,
    INDEX_SLOTS = 16,     /* words of a thread, in each of two arrays: those of a thread together, and apart */
    INDEX_THREADS = 1024, /* of a launch, at most */
    INDEX_OUT = 2 * INDEX_SLOTS * INDEX_THREADS,
    INDEX_N = 3,
    INDEX_M = -77777,
};
struct index_kernel {
    char *text; /* to be freed */
    struct dim3 grid, block;
};
struct index_kernel random_index_kernel(uint64_t seed);
#endif
