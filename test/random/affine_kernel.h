#ifndef TEST_AFFINE_KERNEL_H
#define TEST_AFFINE_KERNEL_H
/* Generates random valid kernels whose addresses and branches derive from thread and CTA indices, parameters, and
 * sometimes data. A kernel has sums, products, shifts, conversions that wrap in some threads, predicates, loops,
 * guards, early returns and barriers. A seed always gives the same text and the same launch. Memory after a run does
 * not depend on the order of threads.
 *
 *     .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .s32 stride, .param .u64 far)
 *
 * `in` points at the middle of AFFINE_IN_WORDS words; `out` has AFFINE_SLICE words for each thread. */
#include "test/random.h"
#include <stdint.h>

enum {
    AFFINE_SLICE = 16,
    AFFINE_IN_WORDS = 1 << 16,
    AFFINE_MAX_THREADS = 4096, /* of a launch */
};
struct affine_kernel {
    char *text; /* malloc'ed */
    uint32_t grid[3], block[3], n;
    int32_t stride;
    uint64_t far;
    uint32_t threads; /* in the grid */
};
struct affine_kernel affine_kernel(uint64_t seed);
#endif
