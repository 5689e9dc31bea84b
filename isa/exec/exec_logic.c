/* Logic and shifts (PTX ISA 9.0, section 9.7.8). Shift amounts are unsigned words whatever the type; those beyond the
 * width shift everything out. */
#include "exec.h"
#include "isa/rows.h"

#define BIT_TYPES(X) X(B16, b16) X(B32, b32) X(B64, b64)

#define LOGIC(T, t)                                                                                                    \
    LANE(and_##t, AND, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a & b))                                       \
    LANE(or_##t, OR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a | b))                                         \
    LANE(xor_##t, XOR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a ^ b))                                       \
    LANE(not_##t, NOT, T1(T), 0, INT_OTHER, DA(T, T), d = (lane_##T) ~a)                                               \
    LANE(cnot_##t, CNOT, T1(T), 0, INT_OTHER, DA(T, T), d = a == 0)

/* Predicates are masks of lanes: one word says it all. */
#define PRED_LOGIC(name, op, opds, expression)                                                                         \
    WHOLE_X((), name, op, T1(PRED), 0, INT_OTHER, opds, *(uint32_t *)d_at = expression)
#define MASK(x) (*(const uint32_t *)x##_at)

static inline uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

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

/* p = (d != 0) BoolOp q; the table is the immediate: a fifth source. d is written last, it may be a source. */
static void lop3_predicate(struct warp *w, const struct inst *in, lanemask_t m, bool is_and) {
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
static void lop3_and(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    (void)fx;
    lop3_predicate(w, in, m, true);
}
static void lop3_or(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    (void)fx;
    lop3_predicate(w, in, m, false);
}

#define PAIR       ((uint64_t)b << 32 | a)
#define CLAMPED(n) ((n) < 32 ? (n) : 32)

#define ROWS_FILE "isa/exec/exec_logic.def"
#define ROWS_NAME logic
#include "isa/rows_expand.h"
