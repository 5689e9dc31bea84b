#ifndef ISA_ARITH_H
#define ISA_ARITH_H
/* Arithmetic on cycles, sizes and depths, shared by all folders. */
#include <stdbool.h>
#include <stdint.h>

#define NEVER UINT64_MAX /* the cycle of an event that never happens */

/* Returns `a` if the condition holds, else `b`, without a branch. Use it for conditions that the host cannot
 * predict. */
static inline uint64_t choose64(bool condition, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & -(uint64_t)condition); }
static inline uint32_t choose32(bool condition, uint32_t a, uint32_t b) { return b ^ ((a ^ b) & -(uint32_t)condition); }
static inline uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Returns the smallest multiple of `to` (> 0) that is at least n. n + to must not overflow. */
static inline uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* Returns true for 1, 2, 4, ...; false for 0. */
static inline bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

/* Returns the largest k for which 2^k <= n (n > 0). */
static inline uint32_t log2_of(uint32_t n) { return 31 - (uint32_t)__builtin_clz(n); }

/* Returns the smallest power of two that is at least n (n <= 2^31): a ring buffer of this size finds an entry by
 * masking its number. */
static inline uint32_t ring_size(uint32_t n) {
    uint32_t size = 1;
    while (size < n)
        size *= 2;
    return size;
}
#endif
