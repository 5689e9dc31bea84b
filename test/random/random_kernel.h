#ifndef TEST_RANDOM_KERNEL_H
#define TEST_RANDOM_KERNEL_H
/* Valid kernels at random: the same seed gives the same text. Each ends, faults nowhere, and leaves memory that does
 * not depend on the order in which threads run: a thread writes to its own slices only, apart from reductions that
 * commute and exchanges between two barriers.
 *
 *     .visible .entry k(.param .u64 out, .param .u64 in)
 *
 * `in` has RANDOM_IN words a thread; `out` has RANDOM_OUT words a thread, then RANDOM_CELLS words and RANDOM_LONG_CELLS
 * words of 64 bits, then RANDOM_SUMS words. */
#include "test/random.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    RANDOM_THREADS = 80, /* a CTA: two warps and a half, .reqntid says so */
    RANDOM_CTAS = 2,
    RANDOM_IN = 8,
    RANDOM_OUT = 32,
    RANDOM_CELLS = 8,
    RANDOM_LONG_CELLS = 4,
    RANDOM_SHARED_CELLS = 4, /* of a CTA */
    RANDOM_SUMS = 4,         /* of kernels with locks */
    RANDOM_OUT_WORDS = RANDOM_CTAS * RANDOM_THREADS * RANDOM_OUT + RANDOM_CELLS + 2 * RANDOM_LONG_CELLS + RANDOM_SUMS,
    RANDOM_IN_WORDS = RANDOM_CTAS * RANDOM_THREADS * RANDOM_IN,
};

/* A rich kernel also has collectives of a warp with the masks they need, atomics of both memories, recursion, calls
 * through registers and barriers that reduce. In one with leavers, threads return early, in all the ways in which that
 * is written, before barriers and collectives of the others. One with chains has runs of dependent f32 operations, with
 * and without guards, and branches around a few of them. A rich one with ladders has sums over a warp by shuffles and
 * additions, and what only looks like one. One with locks adds to the sums while it holds spin locks of several makes,
 * inside warps: it ends where threads of a warp are independent. */
enum { RANDOM_RICH = 1, RANDOM_LEAVERS = 2, RANDOM_CHAINS = 4, RANDOM_LADDERS = 8, RANDOM_LOCKS = 16 };
/* The PTX text, to be freed; `kind`: RANDOM_ bits. */
char *random_kernel(uint64_t seed, unsigned kind);
/* Its input: words that differ in size, sign and thread. */
void random_input(uint64_t seed, uint32_t in[RANDOM_IN_WORDS]);
#endif
