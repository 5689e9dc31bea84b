#ifndef TEST_RANDOM_KERNEL_H
#define TEST_RANDOM_KERNEL_H
/* Generates random valid kernels: the same seed gives the same text. Each kernel ends without a fault and leaves memory
 * that does not depend on the order of threads: a thread writes only its own slices, except for commutative reductions
 * and exchanges between two barriers.
 *
 *     .visible .entry k(.param .u64 out, .param .u64 in)
 *
 * `in` has RANDOM_IN words for each thread; `out` has RANDOM_OUT words for each thread, then RANDOM_CELLS words,
 * RANDOM_LONG_CELLS words of 64 bits, and RANDOM_SUMS words. */
#include "test/random.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    RANDOM_THREADS = 80, /* number of threads of a CTA (.reqntid): two and a half warps */
    RANDOM_CTAS = 2,
    RANDOM_IN = 8,
    RANDOM_OUT = 32,
    RANDOM_CELLS = 8,
    RANDOM_LONG_CELLS = 4,
    RANDOM_SHARED_CELLS = 4, /* of each CTA */
    RANDOM_SUMS = 4,         /* number of sums, which only kernels with locks use */
    RANDOM_OUT_WORDS = RANDOM_CTAS * RANDOM_THREADS * RANDOM_OUT + RANDOM_CELLS + 2 * RANDOM_LONG_CELLS + RANDOM_SUMS,
    RANDOM_IN_WORDS = RANDOM_CTAS * RANDOM_THREADS * RANDOM_IN,
};

/* Kinds of kernels:
 * - A rich kernel also has warp collectives with exact masks, atomics in both memories, recursion, calls through
 *   registers and reducing barriers.
 * - With leavers, threads return early, by each kind of instruction that PTX has for this, before barriers and
 *   collectives of other threads.
 * - With chains, there are runs of dependent f32 operations, with and without guards, and branches around a few of
 *   them.
 * - With ladders (in rich kernels), there are sums over a warp by shuffles and additions, and code that only resembles
 *   them.
 * - With locks, threads add to the sums while they hold spin locks of several kinds. Such a kernel ends only if the
 *   threads of a warp make progress independently. */
enum { RANDOM_RICH = 1, RANDOM_LEAVERS = 2, RANDOM_CHAINS = 4, RANDOM_LADDERS = 8, RANDOM_LOCKS = 16 };
/* Returns the PTX text of the kernel, which the caller frees. `kind` is a set of RANDOM_ bits. */
char *random_kernel(uint64_t seed, unsigned kind);
/* Fills the input of a kernel with words of different magnitudes and signs, which also differ between threads. */
void random_input(uint64_t seed, uint32_t in[RANDOM_IN_WORDS]);
#endif
