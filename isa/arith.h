#ifndef ISA_ARITH_H
#define ISA_ARITH_H
/* Sums on cycles, sizes and depths that several rooms do. */
#include <stdbool.h>
#include <stdint.h>

#define NEVER UINT64_MAX /* a cycle that does not come */

/* `a` where the condition holds, else `b`; without a branch, for conditions that are as good as random. */
static inline uint64_t choose64(bool condition, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & -(uint64_t)condition); }
static inline uint32_t choose32(bool condition, uint32_t a, uint32_t b) { return b ^ ((a ^ b) & -(uint32_t)condition); }
static inline uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The least multiple of `to` (> 0) that is not below n; n + to must fit. */
static inline uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* 1, 2, 4, ...; 0 is none. */
static inline bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

/* The least power of two that is not below n (at most 2^31): a ring of that many entries finds its place by a mask. */
static inline uint32_t ring_size(uint32_t n) {
    uint32_t size = 1;
    while (size < n)
        size *= 2;
    return size;
}
#endif
