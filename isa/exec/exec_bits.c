/* Logic, shifts, bit counting, bit fields and byte permutation (PTX ISA 9.0, sections 9.7.1, 9.7.8 and 9.7.9). The
 * functions use neither calls nor tables, so that the compiler vectorises the loops over lanes on every machine. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec.h"
#include "isa/rows.h"

/* ---- counting, fields, permutation ---- */

static inline uint32_t ones_b32(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}
static inline uint32_t ones_b64(uint64_t x) { return ones_b32((uint32_t)x) + ones_b32((uint32_t)(x >> 32)); }

/* Returns a mask of the highest set bit and all bits below it. */
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

/* Computes the position of the highest non-sign bit. smear sets this bit and all bits below it, so the number of ones
 * is the position plus 1. If all bits equal the sign bit, the result is 0 - 1, that is, all ones. */
#define FIND(T, t, U, b, width)                                                                                        \
    LANE(bfind_##t, BFIND, T1(T), 0, INT_OTHER, DA(U32, T),                                                            \
         d = ones_##b(smear_##b((U)(a < (lane_##T)1 && a != 0 ? ~a : a))) - 1)                                         \
    LANE(bfind_shiftamt_##t, BFIND, T1(T), FLAG(SHIFTAMT), INT_OTHER, DA(U32, T),                                      \
         const uint32_t n = ones_##b(smear_##b((U)(a < (lane_##T)1 && a != 0 ? ~a : a)));                              \
         d = n ? width - n : UINT32_MAX)

/* Returns a mask of the `n` lowest bits. If n exceeds the width, all bits are ones. */
static inline uint32_t low_ones_b32(uint32_t n) { return n < 32 ? (1u << (n & 31)) - 1 : UINT32_MAX; }
static inline uint64_t low_ones_b64(uint32_t n) { return n < 64 ? ((uint64_t)1 << (n & 63)) - 1 : UINT64_MAX; }
static inline uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

/* bfe returns the field's bits inside the word, extended with the sign bit. The sign bit is the field's last bit, or
 * the word's last bit if the field ends beyond the word. */
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

/* Returns a mask of `width_` bits from bit `from` on. A field that starts beyond the word is empty. */
static inline uint32_t field_mask(uint32_t from, uint32_t width_) {
    return from < 32 ? low_ones_b32(width_) << (from & 31) : 0;
}
/* szext: returns the low n bits of a, sign-extended if `sign` is 1, zero-extended if it is 0. n = 0 gives 0. */
static inline uint32_t extend(uint32_t a, uint32_t n, uint32_t sign) {
    const uint32_t mask = low_ones_b32(n);
    const uint32_t fill = 0 - (n != 0 && n < 32 ? a >> ((n - 1) & 31) & sign : 0);
    return (a & mask) | (fill & ~mask);
}

/* Returns the position of the n-th set bit of `mask` from `base` on, upward for n > 0, downward for n < 0. For n = 0,
 * returns `base` if bit `base` is set. Returns UINT32_MAX if no bit qualifies. */
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

/* Return one byte of the result of prmt (pick_byte(), pick_or_sign()) or four (permute()). Selector i, a field of 4
 * bits, gives byte i of the result. Its low 3 bits are the number of a byte of {b, a}. If its bit 3 is set, the result
 * byte consists of copies of that byte's sign bit. */
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

/* ---- logic and shifts ----
 *
 * A shift amount is an unsigned word for every type. An amount above the word's width shifts all bits out. */

#define BIT_TYPES(X) X(B16, b16) X(B32, b32) X(B64, b64)

#define LOGIC(T, t)                                                                                                    \
    LANE(and_##t, AND, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a & b))                                       \
    LANE(or_##t, OR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a | b))                                         \
    LANE(xor_##t, XOR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a ^ b))                                       \
    LANE(not_##t, NOT, T1(T), 0, INT_OTHER, DA(T, T), d = (lane_##T) ~a)                                               \
    LANE(cnot_##t, CNOT, T1(T), 0, INT_OTHER, DA(T, T), d = a == 0)

/* A predicate is a mask of lanes, so one word operation computes all lanes. */
#define PRED_LOGIC(name, op, opds, expression)                                                                         \
    WHOLE_X((), name, op, T1(PRED), 0, INT_OTHER, opds, *(uint32_t *)d_at = expression)
#define MASK(x) (*(const uint32_t *)x##_at)

#define SHIFTS(UT, ut, ST, st, BT, width)                                                                              \
    LANE(shl_##ut, SHL, T1(BT), 0, INT_OTHER, DAB(BT, BT, U32),                                                        \
         d = (lane_##BT)(b < width ? a << (b & (width - 1)) : 0))                                                      \
    LANE(shr_##ut, SHR, T1(UT), 0, INT_OTHER, DAB(UT, UT, U32),                                                        \
         d = (lane_##UT)(b < width ? a >> (b & (width - 1)) : 0))                                                      \
    LANE_FN(SHR, T1(BT), 0, INT_OTHER, DAB(BT, BT, U32), shr_##ut, )                                                   \
    LANE(shr_##st, SHR, T1(ST), 0, INT_OTHER, DAB(ST, ST, U32), d = (lane_##ST)(a >> least(b, width - 1)))

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    return (~a &
            ((~b & ((~c & -(e & 1)) | (c & -(e >> 1 & 1)))) | (b & ((~c & -(e >> 2 & 1)) | (c & -(e >> 3 & 1)))))) |
           (a &
            ((~b & ((~c & -(e >> 4 & 1)) | (c & -(e >> 5 & 1)))) | (b & ((~c & -(e >> 6 & 1)) | (c & -(e >> 7 & 1))))));
}

/* Computes p = (d != 0) BoolOp q. The truth table of lop3 is an immediate, since the instruction already has four
 * source operands. Writes d last, since d may be a source. */
static void lop3_predicate(struct warp *w, const struct inst *in, rowmask_t m, bool is_and) {
    const uint32_t *a = reg_ptr(w, in->a), *b = reg_ptr(w, in->b), *c = reg_ptr(w, in->c);
    uint32_t d[WARP_LANES], q = pred_get(w, in->e), p = 0;
    LANES(l) d[l] = lop3(a[l], b[l], c[l], (uint32_t)in->imm);
    LANES(l) p |= d[l] ? lane_bit[l] : 0;
    p = is_and ? p & q : p | q;
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), d, m, 4);
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d2), &p, m, 0);
}
static void lop3_and(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    lop3_predicate(w, in, m, true);
}
static void lop3_or(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)fx;
    lop3_predicate(w, in, m, false);
}

#define PAIR       ((uint64_t)b << 32 | a)
#define CLAMPED(n) ((n) < 32 ? (n) : 32)

#define ROWS_FILE "isa/exec/exec_bits.c"
#define ROWS_NAME bits
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- counting, fields, permutation ---- */
COUNTS(B32, b32, 32)
COUNTS(B64, b64, 64)
FIND(U32, u32, uint32_t, b32, 32)
FIND(S32, s32, uint32_t, b32, 32)
FIND(U64, u64, uint64_t, b64, 64)
FIND(S64, s64, uint64_t, b64, 64)
EXTRACT(U32, u32, uint32_t, b32, 32, 0)
EXTRACT(S32, s32, uint32_t, b32, 32, 1)
EXTRACT(U64, u64, uint64_t, b64, 64, 0)
EXTRACT(S64, s64, uint64_t, b64, 64, 1)
INSERT(B32, b32, 32)
INSERT(B64, b64, 64)

LANE(bmsk_clamp_b32, BMSK, T1(B32), FORM(MODE2, CLAMP), INT_OTHER, DAB(B32, U32, U32), d = field_mask(a, b))
LANE(bmsk_wrap_b32, BMSK, T1(B32), FORM(MODE2, WRAP), INT_OTHER, DAB(B32, U32, U32), d = field_mask(a & 31, b & 31))
LANE(szext_clamp_u32, SZEXT, T1(U32), FORM(MODE2, CLAMP), INT_OTHER, DAB(U32, U32, U32), d = extend(a, b, 0))
LANE(szext_wrap_u32, SZEXT, T1(U32), FORM(MODE2, WRAP), INT_OTHER, DAB(U32, U32, U32), d = extend(a, b & 31, 0))
LANE(szext_clamp_s32, SZEXT, T1(S32), FORM(MODE2, CLAMP), INT_OTHER, DAB(S32, S32, U32),
     d = (int32_t)extend((uint32_t)a, b, 1))
LANE(szext_wrap_s32, SZEXT, T1(S32), FORM(MODE2, WRAP), INT_OTHER, DAB(S32, S32, U32),
     d = (int32_t)extend((uint32_t)a, b & 31, 1))
LANE(fns_b32, FNS, T1(B32), 0, INT_OTHER, DABC(B32, B32, U32, S32), d = nth_bit(a, b, c))

LANE(prmt_b32, PRMT, T1(B32), 0, INT_OTHER, DABC(B32, B32, B32, B32),
     d = pick_or_sign(PAIR, c) | pick_or_sign(PAIR, c >> 4) << 8 | pick_or_sign(PAIR, c >> 8) << 16 |
         pick_or_sign(PAIR, c >> 12) << 24)
PERMUTE(f4e, F4E, 0x3210, 0x4321, 0x5432, 0x6543)
PERMUTE(b4e, B4E, 0x5670, 0x6701, 0x7012, 0x0123)
PERMUTE(rc8, RC8, 0x0000, 0x1111, 0x2222, 0x3333)
PERMUTE(ecl, ECL, 0x3210, 0x3211, 0x3222, 0x3333)
PERMUTE(ecr, ECR, 0x0000, 0x1110, 0x2210, 0x3210)
PERMUTE(rc16, RC16, 0x1010, 0x3232, 0x1010, 0x3232)

/* ---- logic and shifts ---- */
BIT_TYPES(LOGIC)
PRED_LOGIC(and_pred, AND, DAB(PRED, PRED, PRED), MASK(a) & MASK(b))
PRED_LOGIC(or_pred, OR, DAB(PRED, PRED, PRED), MASK(a) | MASK(b))
PRED_LOGIC(xor_pred, XOR, DAB(PRED, PRED, PRED), MASK(a) ^ MASK(b))
PRED_LOGIC(not_pred, NOT, DA(PRED, PRED), ~MASK(a))

/* Bit k of the table is the result for inputs a, b, c that form the binary number k; a is its highest bit. */
LANE(lop3_b32, LOP3, T1(B32), 0, INT_OTHER, DABCE(B32, B32, B32, B32, U32), d = lop3(a, b, c, e))
LANE(lop3_b64, LOGIC3, T1(B64), 0, INT_OTHER, DABCE(B64, B64, B64, B64, U32),
     d = lop3((uint32_t)a, (uint32_t)b, (uint32_t)c, e) |
         (uint64_t)lop3((uint32_t)(a >> 32), (uint32_t)(b >> 32), (uint32_t)(c >> 32), e) << 32)
WARP_FN(LOP3, T1(B32), FORM(OPN, AND), WARP, INT_OTHER, OPDS(B32, PRED, B32, B32, B32, PRED), lop3_and)
WARP_FN(LOP3, T1(B32), FORM(OPN, OR), WARP, INT_OTHER, OPDS(B32, PRED, B32, B32, B32, PRED), lop3_or)

SHIFTS(U16, u16, S16, s16, B16, 16)
SHIFTS(U32, u32, S32, s32, B32, 32)
SHIFTS(U64, u64, S64, s64, B64, 64)

LANE(shf_l_wrap_b32, SHF, T1(B32), FORM(MODE, L) | FORM(MODE2, WRAP), INT_OTHER, DABC(B32, B32, B32, U32),
     d = (uint32_t)(PAIR << (c & 31) >> 32))
LANE(shf_r_wrap_b32, SHF, T1(B32), FORM(MODE, R) | FORM(MODE2, WRAP), INT_OTHER, DABC(B32, B32, B32, U32),
     d = (uint32_t)(PAIR >> (c & 31)))
LANE(lea_hi_b32, LEA_HI, T1(B32), 0, INT_OTHER, DABCE(B32, B32, B32, U32, U32),
     d = (uint32_t)(PAIR << (c & 31) >> 32) + e)
LANE(lea_hi_u32, LEA_HI, T1(U32), 0, INT_OTHER, DABC(U32, U32, U32, U32), d = (a >> (b & 31)) + c)
LANE(lea_hi_s32, LEA_HI, T1(S32), 0, INT_OTHER, DABC(S32, S32, U32, U32), d = (int32_t)((uint32_t)(a >> (b & 31)) + c))
LANE(shf_l_clamp_b32, SHF, T1(B32), FORM(MODE, L) | FORM(MODE2, CLAMP), INT_OTHER, DABC(B32, B32, B32, U32),
     d = (uint32_t)(PAIR << CLAMPED(c) >> 32))
LANE(shf_r_clamp_b32, SHF, T1(B32), FORM(MODE, R) | FORM(MODE2, CLAMP), INT_OTHER, DABC(B32, B32, B32, U32),
     d = (uint32_t)(PAIR >> CLAMPED(c)))
/* clang-format on */
#endif
