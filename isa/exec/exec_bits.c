/* Bit counting, bit fields, byte permutation (PTX ISA 9.0, sections 9.7.1 and 9.7.9). Written without calls and tables,
 * so that lanes go into vectors on every machine. */
#include "isa/rows.h"

static inline uint32_t ones_b32(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}
static inline uint32_t ones_b64(uint64_t x) { return ones_b32((uint32_t)x) + ones_b32((uint32_t)(x >> 32)); }

/* All bits below the highest one, and that one. */
static inline uint32_t smear_b32(uint32_t x) {
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    return x | x >> 16;
}
static inline uint64_t smear_b64(uint64_t x) {
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return x | x >> 32;
}

static inline uint32_t reverse_b32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
static inline uint64_t reverse_b64(uint64_t x) {
    return (uint64_t)reverse_b32((uint32_t)x) << 32 | reverse_b32((uint32_t)(x >> 32));
}

#define COUNTS(T, t, width)                                                                                            \
    LANE(popc_##t, POPC, T1(T), 0, INT_OTHER, DA(U32, T), d = ones_##t(a))                                             \
    LANE(clz_##t, CLZ, T1(T), 0, INT_OTHER, DA(U32, T), d = width - ones_##t(smear_##t(a)))                            \
    LANE(brev_##t, BREV, T1(T), 0, INT_OTHER, DA(T, T), d = reverse_##t(a))

/* Ones up to the highest non-sign bit: their number is its position plus 1; position 0 - 1 says there is none. */
#define FIND(T, t, U, b, width)                                                                                        \
    LANE(bfind_##t, BFIND, T1(T), 0, INT_OTHER, DA(U32, T),                                                            \
         d = ones_##b(smear_##b((U)(a < (lane_##T)1 && a != 0 ? ~a : a))) - 1)                                         \
    LANE(bfind_shiftamt_##t, BFIND, T1(T), FLAG(SHIFTAMT), INT_OTHER, DA(U32, T),                                      \
         const uint32_t n = ones_##b(smear_##b((U)(a < (lane_##T)1 && a != 0 ? ~a : a)));                              \
         d = n ? width - n : UINT32_MAX)

/* `n` ones, n up to the width and beyond. */
static inline uint32_t low_ones_b32(uint32_t n) { return n < 32 ? (1u << (n & 31)) - 1 : UINT32_MAX; }
static inline uint64_t low_ones_b64(uint32_t n) { return n < 64 ? ((uint64_t)1 << (n & 63)) - 1 : UINT64_MAX; }
static inline uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

/* bfe: the bits that exist, and above them the sign: the field's last bit, or the word's when the field goes beyond. */
#define EXTRACT(T, t, U, b_, width, sign)                                                                              \
    LANE(bfe_##t, BFE, T1(T), 0, INT_OTHER, DABC(T, T, U32, U32), const uint32_t pos = b & 0xff;                       \
         const uint32_t len = c & 0xff; const uint32_t last = least(pos + len - 1, width - 1);                         \
         const U mask = low_ones_##b_(least(len, pos < width ? width - pos : 0));                                      \
         const U field = pos < width ? (U)a >> (pos & (width - 1)) : 0;                                                \
         const U fill = 0 - (len ? (U)a >> (last & (width - 1)) & sign : 0);                                           \
         d = (lane_##T)((field & mask) | (fill & ~mask)))
#define INSERT(T, t, width)                                                                                            \
    LANE(bfi_##t, BFI, T1(T), 0, INT_OTHER, DABCE(T, T, T, U32, U32), const uint32_t pos = c & 0xff;                   \
         const lane_##T mask = pos < width ? low_ones_##t(e & 0xff) << (pos & (width - 1)) : 0;                        \
         d = (b & ~mask) | (a << (pos & (width - 1)) & mask))

/* `width_` ones from bit `from` on; nothing is left of a field that starts beyond the word. */
static inline uint32_t field_mask(uint32_t from, uint32_t width_) {
    return from < 32 ? low_ones_b32(width_) << (from & 31) : 0;
}
/* szext: the low n bits of a, extended with `sign`. Nothing is extended when n is 0 in .wrap: all is extension. */
static inline uint32_t extend(uint32_t a, uint32_t n, uint32_t sign) {
    const uint32_t mask = low_ones_b32(n);
    const uint32_t fill = 0 - (n != 0 && n < 32 ? a >> ((n - 1) & 31) & sign : 0);
    return (a & mask) | (fill & ~mask);
}

/* The n-th set bit of `mask` from `base` on, upward for n > 0, downward for n < 0; n = 0 asks for base itself. */
static inline uint32_t nth_bit(uint32_t mask, uint32_t base, int32_t n) {
    if (base > 31)
        return UINT32_MAX;
    if (n == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int64_t left = n > 0 ? n : -(int64_t)n;
    for (int64_t at = base; at >= 0 && at<32; at += n> 0 ? 1 : -1)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

/* prmt: byte i of the result is byte s of {b, a}; bit 3 of a selector replicates its sign. */
static inline uint32_t pick_byte(uint64_t pair, uint32_t s) { return (uint32_t)(pair >> 8 * (s & 7)) & 0xff; }
static inline uint32_t pick_or_sign(uint64_t pair, uint32_t s) {
    const uint32_t byte = pick_byte(pair, s);
    return s & 8 ? (0 - (byte >> 7)) & 0xff : byte;
}
static inline uint32_t permute(uint64_t pair, uint32_t selectors) {
    return pick_byte(pair, selectors) | pick_byte(pair, selectors >> 4) << 8 | pick_byte(pair, selectors >> 8) << 16 |
           pick_byte(pair, selectors >> 12) << 24;
}
#define PAIR                           ((uint64_t)b << 32 | a)
#define BY_LOW_BITS(c, s0, s1, s2, s3) (((c)&3) == 0 ? s0 : ((c)&3) == 1 ? s1 : ((c)&3) == 2 ? s2 : s3)
#define PERMUTE(mode, MODE_, s0, s1, s2, s3)                                                                           \
    LANE(prmt_##mode##_b32, PRMT, T1(B32), FORM(MODE, MODE_), INT_OTHER, DABC(B32, B32, B32, B32),                     \
         d = permute(PAIR, BY_LOW_BITS(c, s0, s1, s2, s3)))

#define ROWS_FILE "isa/exec/exec_bits.def"
#define ROWS_NAME bits
#include "isa/rows_expand.h"
