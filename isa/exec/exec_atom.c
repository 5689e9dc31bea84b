/* atom and red. Lanes of a warp execute in ascending order. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_atom.h"
#include "exec_mem.h"
#include "isa/rows.h"
#include "isa/softfloat.h"

static uint64_t load_host(const unsigned char *at, unsigned bytes) {
    return bytes == 2   ? __atomic_load_n((const uint16_t *)at, __ATOMIC_SEQ_CST)
           : bytes == 4 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_SEQ_CST)
                        : __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST);
}

/* Replaces the value `old` by `new`. Returns false if the memory contains another value. */
static bool swap_host(unsigned char *at, unsigned bytes, uint64_t old, uint64_t new) {
    uint16_t half = (uint16_t)old;
    uint32_t word = (uint32_t)old;
    const int order = __ATOMIC_SEQ_CST;
    return bytes == 2   ? __atomic_compare_exchange_n((uint16_t *)at, &half, (uint16_t) new, false, order, order)
           : bytes == 4 ? __atomic_compare_exchange_n((uint32_t *)at, &word, (uint32_t) new, false, order, order)
                        : __atomic_compare_exchange_n((uint64_t *)at, &old, new, false, order, order);
}

/* Performs element e for `lanes`, atomically for threads of the host: computes with a copy of the value in memory, and
 * repeats this if the memory has changed meanwhile. Only the last call may write `d`, which may be an operand, too. */
static void apply_beside_host(const struct atom_op *op, void *d, unsigned e, rowmask_t lanes) {
    const unsigned bytes = op->inst->msize;
    unsigned char *at[WARP_LANES];
    for (; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        unsigned char *memory = op->at[l] + e * bytes;
        uint64_t copy[ATOM_MAX_ELEMS], old;
        unsigned char *value = (unsigned char *)copy + e * bytes;
        at[l] = (unsigned char *)copy;
        do {
            copy[e * bytes / sizeof *copy] = 0;
            old = load_host(memory, bytes);
            memcpy(value, &old, bytes);
            op->fn(NULL, at, op->b[e], op->c, e, (rowmask_t)1 << l, op->flush);
        } while (!swap_host(memory, bytes, old, load_host(value, bytes)));
        memcpy(value, &old, bytes);
        op->fn(d, at, op->b[e], op->c, e, (rowmask_t)1 << l, op->flush);
    }
}

void atom_apply(struct warp *w, const struct atom_op *op, rowmask_t lanes) {
    const struct inst *in = op->inst;
    lanes &= op->lanes;
    const rowmask_t beside = op->beside_host & lanes;
    for (unsigned e = 0; e < op->n_elems; e++) {
        opnd_t o = in->n_list ? w->program->lists[in->list + e] : in->d;
        void *d = o == OPND_SINK ? NULL : reg_ptr(w, o);
        if (beside)
            apply_beside_host(op, d, e, beside);
        op->fn(d, op->at, op->b[e], op->c, e, lanes & ~beside, op->flush);
    }
}

/* Copies the operand values into `op`, since the registers may change before the operation is performed. */
static void copy_operands(struct atom_op *op) {
    const struct inst *in = op->inst;
    unsigned bytes = WARP_LANES * in->msize;
    for (unsigned e = 0; e < op->n_elems && (e + 1) * bytes <= sizeof op->b_values; e++) {
        memcpy(op->b_values + e * bytes, op->b[e], bytes);
        op->b[e] = op->b_values + e * bytes;
    }
    memcpy(op->c_values, op->c, in->c == OPND_ZERO ? 0 : bytes);
    op->c = op->c_values;
}

/* Sets op->at to the host addresses of the lanes, op->lanes to the lanes of `m`, and op->beside_host to the lanes whose
 * memory has the same address for the host: memory of the host, and managed memory. If a lane faults, op->lanes has
 * only the lanes below the faulting lane. */
static void locate(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, struct atom_op *op) {
    struct span s;
    op->lanes = m;
    op->beside_host = 0;
    if (mem_span(w, in, m, fx, op->n_elems, true, &s)) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            op->at[l] =
                s.words ? warp_local(w, l, fx->addr[l]) : (unsigned char *)(s.base + fx->addr[l] + l * s.lane_step);
        op->beside_host = !s.words && !s.base && !s.lane_step ? m : 0;
        return;
    }
    mem_lanes_begin(in, fx);
    for (rowmask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        op->at[l] = mem_lane(w, in, fx, l, true);
        if (!op->at[l]) {
            op->lanes = m & ((1u << l) - 1);
            return;
        }
        op->beside_host |= (rowmask_t)((uintptr_t)op->at[l] == fx->addr[l]) << l;
    }
}

static void perform(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, atom_fn *fn) {
    /* cppcheck-suppress uninitvar ; the loop below fills it */
    struct atom_op now, *op = w->capture ? w->capture : &now;
    unsigned n = in->n_list ? in->n_list / 2 : 1;
    op->fn = fn;
    op->inst = in;
    op->n_elems = (uint8_t)n;
    locate(w, in, m, fx, op);
    op->flush = m & ~(fx->shared_lanes | fx->local_lanes);
    if (in->msize > sizeof(uint64_t))
        op->beside_host = 0;
    for (unsigned e = 0; e < n; e++)
        op->b[e] = reg_ptr(w, in->n_list ? w->program->lists[in->list + n + e] : in->b);
    op->c = reg_ptr(w, in->c);
    /* copies the operands, because with several elements, results may overwrite operands of later elements */
    if (n > 1 || w->capture)
        copy_operands(op);
    if (!w->capture)
        atom_apply(w, op, op->lanes);
}

/* X is the value in memory, b and c the operands. */
#define ATOM(name, T, expression)                                                                                      \
    static void lanes_##name(void *d_at, unsigned char *const *at, const void *b_at, const void *c_at, unsigned e,     \
                             rowmask_t lanes, rowmask_t flush) {                                                       \
        T *d = d_at;                                                                                                   \
        (void)flush, (void)c_at;                                                                                       \
        for (; lanes; lanes &= lanes - 1) {                                                                            \
            int l = __builtin_ctz(lanes);                                                                              \
            T *memory = (T *)at[l] + e;                                                                                \
            const T x = *memory, b = ((const T *)b_at)[l];                                                             \
            *memory = (T)(expression);                                                                                 \
            if (d)                                                                                                     \
                d[l] = x;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void atom_##name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                  \
        perform(w, in, m, fx, lanes_##name);                                                                           \
    }
#define C(T) (((const T *)c_at)[l])

typedef unsigned __int128 u128;

static float add_f32(float x, float b, bool flush) {
    return f32_result(f32_flush(x, flush) + f32_flush(b, flush), flush, false);
}
static uint32_t add_f32_bits(uint32_t x, uint32_t b, bool flush) {
    return f32_bits(add_f32(f32_from_bits(x), f32_from_bits(b), flush));
}
static uint64_t add_f64_bits(uint64_t x, uint64_t b) {
    double dx = f64_from_bits(x), db = f64_from_bits(b);
    return f64_bits(f64_result2(dx + db, dx, db));
}
/* Return the sum of f16 or bf16 numbers, computed in f32. Rounding to f32 and then to 16 bits gives the same result as
 * one rounding, since an f32 significand has at least 2 p + 2 bits if the 16-bit significand has p bits. */
static uint16_t add_f16(uint16_t x, uint16_t b) { return f16_from_f32(f32_from_f16(x) + f32_from_f16(b), RND_RN); }
static uint16_t add_bf16(uint16_t x, uint16_t b) { return bf16_from_f32(f32_from_bf16(x) + f32_from_bf16(b), RND_RN); }
static uint32_t add_f16x2(uint32_t x, uint32_t b) {
    return add_f16((uint16_t)x, (uint16_t)b) | (uint32_t)add_f16((uint16_t)(x >> 16), (uint16_t)(b >> 16)) << 16;
}
static uint32_t add_bf16x2(uint32_t x, uint32_t b) {
    return add_bf16((uint16_t)x, (uint16_t)b) | (uint32_t)add_bf16((uint16_t)(x >> 16), (uint16_t)(b >> 16)) << 16;
}

/* Return the minimum or maximum, as the instructions min and max do: if one operand is NaN, the other is the result; -0
 * is below +0. */
static uint16_t minmax_f16(uint16_t x, uint16_t b, bool max) {
    return f16_from_f32(f32_minmax(f32_from_f16(x), f32_from_f16(b), max, false, false), RND_RN);
}
static uint16_t minmax_bf16(uint16_t x, uint16_t b, bool max) {
    return bf16_from_f32(f32_minmax(f32_from_bf16(x), f32_from_bf16(b), max, false, false), RND_RN);
}
static uint32_t minmax_f16x2(uint32_t x, uint32_t b, bool max) {
    return minmax_f16((uint16_t)x, (uint16_t)b, max) |
           (uint32_t)minmax_f16((uint16_t)(x >> 16), (uint16_t)(b >> 16), max) << 16;
}
static uint32_t minmax_bf16x2(uint32_t x, uint32_t b, bool max) {
    return minmax_bf16((uint16_t)x, (uint16_t)b, max) |
           (uint32_t)minmax_bf16((uint16_t)(x >> 16), (uint16_t)(b >> 16), max) << 16;
}

#define ATOM_BITS(T, name)                                                                                             \
    ATOM(and_##name, T, x &b)                                                                                          \
    ATOM(or_##name, T, x | b)                                                                                          \
    ATOM(xor_##name, T, x ^ b)
#define ATOM_CAS(T, name) ATOM(cas_##name, T, x == b ? C(T) : x)
#define ATOM_MINMAX(T, name)                                                                                           \
    ATOM(min_##name, T, x < b ? x : b)                                                                                 \
    ATOM(max_##name, T, x > b ? x : b)
ATOM_BITS(uint32_t, b32)
ATOM_BITS(uint64_t, b64)
ATOM_CAS(uint16_t, b16)
ATOM_CAS(uint32_t, b32)
ATOM_CAS(uint64_t, b64)
ATOM_CAS(u128, b128)
ATOM(exch_b32, uint32_t, b)
ATOM(exch_b64, uint64_t, b)
ATOM(exch_b128, u128, b)
ATOM(add_u32, uint32_t, x + b)
ATOM(add_u64, uint64_t, x + b)
ATOM(inc_u32, uint32_t, x >= b ? 0 : x + 1)
ATOM(dec_u32, uint32_t, x == 0 || x > b ? b : x - 1)
ATOM_MINMAX(uint32_t, u32)
ATOM_MINMAX(uint64_t, u64)
ATOM_MINMAX(int32_t, s32)
ATOM_MINMAX(int64_t, s64)
ATOM(add_f32, uint32_t, add_f32_bits(x, b, flush >> l & 1))
ATOM(add_f64, uint64_t, add_f64_bits(x, b))
ATOM(add_f16, uint16_t, add_f16(x, b))
ATOM(add_bf16, uint16_t, add_bf16(x, b))
ATOM(add_f16x2, uint32_t, add_f16x2(x, b))
ATOM(add_bf16x2, uint32_t, add_bf16x2(x, b))
#define ATOM_MINMAX_HALF(T, name)                                                                                      \
    ATOM(min_##name, T, minmax_##name(x, b, false))                                                                    \
    ATOM(max_##name, T, minmax_##name(x, b, true))
ATOM_MINMAX_HALF(uint16_t, f16)
ATOM_MINMAX_HALF(uint16_t, bf16)
ATOM_MINMAX_HALF(uint32_t, f16x2)
ATOM_MINMAX_HALF(uint32_t, bf16x2)

#define ATOM_ONLY(fn, T, OPN_) WARP_FN(ATOM, T1(T), FORM(OPN, OPN_), ATOM, MEM, NO_OPDS, atom_##fn)
#define ATOM_RED(fn, T, OPN_)  ATOM_FORM(fn, T, FORM(OPN, OPN_))
#define ATOM_FORM(fn, T, form)                                                                                         \
    WARP_FN(ATOM, T1(T), form, ATOM, MEM, NO_OPDS, atom_##fn)                                                          \
    WARP_FN(RED, T1(T), form, ATOM, MEM, NO_OPDS, atom_##fn)
/* Rows for vectors of up to eight 16-bit numbers. For scalar f16 and bf16, PTX has only add. */
#define ATOM_VECTORS(fn, T, form)                                                                                      \
    ATOM_FORM(fn, T, (form) | FORM(VEC, V2))                                                                           \
    ATOM_FORM(fn, T, (form) | FORM(VEC, V4))
#define ATOM_PAIRS(fn, T, OPN_) ATOM_VECTORS(fn, T, FORM(OPN, OPN_) | FLAG(NOFTZ))
#define ATOM_HALVES(fn, T, OPN_)                                                                                       \
    ATOM_PAIRS(fn, T, OPN_)                                                                                            \
    ATOM_FORM(fn, T, FORM(OPN, OPN_) | FLAG(NOFTZ) | FORM(VEC, V8))

#define ROWS_FILE "isa/exec/exec_atom.c"
#define ROWS_NAME atom
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Rows of atom and red; red has no result. */
ATOM_RED(and_b32, B32, AND)
ATOM_RED(or_b32, B32, OR)
ATOM_RED(xor_b32, B32, XOR)
ATOM_RED(and_b64, B64, AND)
ATOM_RED(or_b64, B64, OR)
ATOM_RED(xor_b64, B64, XOR)
ATOM_ONLY(cas_b16, B16, CAS)
ATOM_ONLY(cas_b32, B32, CAS)
ATOM_ONLY(cas_b64, B64, CAS)
ATOM_ONLY(cas_b128, B128, CAS)
ATOM_ONLY(exch_b32, B32, EXCH)
ATOM_ONLY(exch_b64, B64, EXCH)
ATOM_ONLY(exch_b128, B128, EXCH)
ATOM_ONLY(exch_b32, U32, EXCH)
ATOM_ONLY(exch_b32, S32, EXCH)
ATOM_ONLY(exch_b32, F32, EXCH)
ATOM_ONLY(exch_b64, U64, EXCH)
ATOM_ONLY(exch_b64, S64, EXCH)
ATOM_ONLY(exch_b64, F64, EXCH)
ATOM_ONLY(cas_b32, U32, CAS)
ATOM_ONLY(cas_b32, S32, CAS)
ATOM_ONLY(cas_b64, U64, CAS)
ATOM_ONLY(cas_b64, S64, CAS)
ATOM_RED(add_u32, U32, ADD)
ATOM_RED(add_u32, S32, ADD)
ATOM_RED(add_u64, U64, ADD)
ATOM_RED(add_u64, S64, ADD)
ATOM_RED(add_f32, F32, ADD)
ATOM_RED(add_f64, F64, ADD)
ATOM_VECTORS(add_f32, F32, FORM(OPN, ADD))
ATOM_FORM(add_f16, F16, FORM(OPN, ADD) | FLAG(NOFTZ))
ATOM_FORM(add_bf16, BF16, FORM(OPN, ADD) | FLAG(NOFTZ))
ATOM_FORM(add_f16x2, F16X2, FORM(OPN, ADD) | FLAG(NOFTZ))
ATOM_FORM(add_bf16x2, BF16X2, FORM(OPN, ADD) | FLAG(NOFTZ))
ATOM_HALVES(add_f16, F16, ADD)
ATOM_HALVES(min_f16, F16, MIN)
ATOM_HALVES(max_f16, F16, MAX)
ATOM_HALVES(add_bf16, BF16, ADD)
ATOM_HALVES(min_bf16, BF16, MIN)
ATOM_HALVES(max_bf16, BF16, MAX)
ATOM_PAIRS(add_f16x2, F16X2, ADD)
ATOM_PAIRS(min_f16x2, F16X2, MIN)
ATOM_PAIRS(max_f16x2, F16X2, MAX)
ATOM_PAIRS(add_bf16x2, BF16X2, ADD)
ATOM_PAIRS(min_bf16x2, BF16X2, MIN)
ATOM_PAIRS(max_bf16x2, BF16X2, MAX)
ATOM_RED(inc_u32, U32, INC)
ATOM_RED(dec_u32, U32, DEC)
ATOM_RED(min_u32, U32, MIN)
ATOM_RED(min_s32, S32, MIN)
ATOM_RED(min_u64, U64, MIN)
ATOM_RED(min_s64, S64, MIN)
ATOM_RED(max_u32, U32, MAX)
ATOM_RED(max_s32, S32, MAX)
ATOM_RED(max_u64, U64, MAX)
ATOM_RED(max_s64, S64, MAX)
/* clang-format on */
#endif
