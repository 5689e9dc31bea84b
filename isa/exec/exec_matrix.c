/* Matrices of a warp: mma multiplies two matrices and adds a third, ldmatrix loads matrices. Lowering turns all other
 * matrix instructions into loads, stores, shuffles and mma (frontend/lower/lower_matrix.c).
 *
 * The manual does not specify the order and rounding of the sums, and GPUs differ: products are exact on all of them,
 * sums are not, and each generation truncates different bits (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of
 * NVIDIA tensor cores, 2021). Heddle uses one rule for all GPUs. The sum of an element begins with the element of c
 * and adds the products in the order of k, each by a fused multiply-add in f64. The result is rounded once, to nearest
 * even, to the type of d.
 *
 * Products of f16, bf16, tf32 and integers are exact in f64, and so are sums of integers. Before the final rounding,
 * the error of other sums is less than k * 2^-53 times the largest partial sum. In an f64 mma, each step is an fma in
 * the written rounding mode. Integers wrap at 32 bits, or saturate with .satfinite. tf32 reads the upper 19 bits. A NaN
 * result is the canonical NaN; f64 keeps the NaN of its fma. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/exec/card_sums.h"
#include "isa/exec/exec_matrix_avx512.h"
#include "isa/exec/exec_span.h"

enum { MOST_K = 32 };

/* A matrix multiplication: number of rows, number of products in a sum, and types. `clamp` is set for .satfinite. */
struct product {
    uint8_t m, k, d, a, b, c;
    bool clamp;
};

struct matrices {
    _Alignas(64) double a[MOST_M][MOST_K], b[MOST_K][MOST_N], c[MOST_M][MOST_N];
};

FP_INLINE double element_of(unsigned type, const void *reg, int lane, unsigned i) {
    const uint32_t word = ((const uint32_t *)reg)[lane];
    return type == T_F16 ? (double)f32_from_f16((uint16_t)(word >> 16 * i)) : (double)f32_from_bits(word);
}

/* Adds up as add_products() does, but in f64, with an fma in the written rounding mode, 32 sums at a time. */
static void add_products_f64(struct matrices *x, unsigned m, unsigned k_end, unsigned rnd) {
    enum { ROWS = WARP_LANES / MOST_N };
    lane_fn *fma = isa_find_row(OP_FMA, T_F64, T_NONE, form_put(CAT_RND, rnd ? rnd : RND_RN))->fn.lane;
    _Alignas(64) double a[WARP_LANES], b[WARP_LANES], s[WARP_LANES];
    for (unsigned i = 0; i < m; i += ROWS) {
        memcpy(s, x->c[i], sizeof s);
        for (unsigned k = 0; k < k_end; k++) {
            for (unsigned l = 0; l < WARP_LANES; l++) {
                a[l] = x->a[i + l / MOST_N][k];
                b[l] = x->b[k][l % MOST_N];
            }
            fma(s, NULL, a, b, s, NULL);
        }
        memcpy(x->c[i], s, sizeof s);
    }
}

static void exec_whole(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in;
    (void)is_whole(m, fx);
}

FP_INLINE void multiply(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, struct product p) {
    const uint8_t halves = p.m / 8;
    const struct fragment_form a = {FRAGMENT_A, halves, matrix_elements(p.a)},
                               b = {FRAGMENT_B, 1, matrix_elements(p.b)},
                               c = {FRAGMENT_C, halves, matrix_elements(p.c)};
    const unsigned n_a = matrix_registers(p.m * p.k, p.a), n_b = matrix_registers(p.k * MOST_N, p.b),
                   n_c = matrix_registers(p.m * MOST_N, p.c);
    const opnd_t *list = w->program->lists + in->list, *sources = list + in->msize;
    struct matrices x;
    uint32_t n;
    if (!is_whole(m, fx))
        return;
#ifdef MATRIX_AVX512
    if ((p.a == T_F16 || p.a == T_BF16) && p.c == T_F32 && p.d == T_F32 && !w->cta->launch->mma_card) {
        multiply_halves(w, list, sources, p.a, p.k);
        return;
    }
#endif
    /* cppcheck-suppress uninitvar ; filled here */
    read_fragment(w, sources, a, p.a, n_a, (double *)x.a, MOST_K);
    read_fragment(w, sources + n_a, b, p.b, n_b, (double *)x.b, MOST_N);
    read_fragment(w, sources + n_a + n_b, c, p.c, n_c, (double *)x.c, MOST_N);
    if (p.d == T_F64)
        add_products_f64(&x, p.m, p.k, form_get(isa_rows(&n)[in->row].form, CAT_RND));
    else if (p.d != T_S32 && w->cta->launch->mma_card)
        card_add((struct card_sums){w->cta->launch->mma_card, p.a, p.b, p.d, 0}, (double *)x.a, MOST_K, (double *)x.b,
                 x.c, p.m, p.k);
    else
        add_products((double *)x.a, MOST_K, (const double(*)[MOST_N])x.b, x.c, p.m, p.k);
    write_sums(w, list, p.m, p.d, p.clamp, x.c);
}

/* Returns the lane with number `x` of a group, for mma.m8n8k4 on f16, in which each of four groups of two quads
 * multiplies matrices of its own. Group q consists of lanes 4 q to 4 q + 3 and lanes 4 q + 16 to 4 q + 19. In each
 * group, x from 0 to 7 is the number of a row of a or of a column of b; the second four lanes have x = 4 to 7. */
static int old_lane(unsigned group, unsigned x) { return (int)(4 * group + x % 4 + (x >= 4 ? 16 : 0)); }

/* Computes the row and column of element i of an f32 accumulator. */
static void old_place(int lane, unsigned i, unsigned *row, unsigned *column) {
    *row = ((unsigned)lane & 1) + (i & 2) + (lane >= 16 ? 4 : 0);
    *column = (i & 4) + ((unsigned)lane & 2) + (i & 1);
}

static double old_half(const struct warp *w, const opnd_t *list, int lane, unsigned i) {
    return element_of(T_F16, reg_ptr(w, list[i / 2]), lane, i % 2);
}

/* Reads matrices a and b of a group. A lane holds four elements of a: one row, or with .col four rows of one column. It
 * also holds four elements of b: one column, or with .row four columns of one row. */
static void old_read(const struct warp *w, const opnd_t *list, unsigned group, int64_t layouts, struct matrices *x) {
    const bool a_col = layouts & 1, b_row = !(layouts & 2);
    for (unsigned u = 0; u < 8; u++)
        for (unsigned k = 0; k < MATRIX_GROUPS_K; k++) {
            x->a[u][k] = a_col ? old_half(w, list, old_lane(group, k + (u & 4)), u % 4)
                               : old_half(w, list, old_lane(group, u), k);
            x->b[k][u] = b_row ? old_half(w, list + 2, old_lane(group, k + (u & 4)), u % 4)
                               : old_half(w, list + 2, old_lane(group, u), k);
        }
}

static void old_read_c(const struct warp *w, const opnd_t *list, unsigned group, bool narrow, struct matrices *x) {
    for (unsigned u = 0; u < 8; u++)
        for (unsigned i = 0; i < 8; i++) {
            int lane = old_lane(group, u);
            unsigned row = u, column = i;
            if (!narrow)
                old_place(lane, i, &row, &column);
            x->c[row][column] = narrow ? old_half(w, list, lane, i) : element_of(T_F32, reg_ptr(w, list[i]), lane, 0);
        }
}

static void old_write(struct warp *w, const opnd_t *list, unsigned group, bool narrow, const struct matrices *x) {
    for (unsigned u = 0; u < 8; u++)
        for (unsigned i = 0; i < 8; i += narrow ? 2 : 1) {
            int lane = old_lane(group, u);
            unsigned row = u, column = i;
            if (!narrow)
                old_place(lane, i, &row, &column);
            uint32_t *d = reg_ptr(w, list[narrow ? i / 2 : i]);
            d[lane] = narrow ? word_of_sum(T_F16, false, x->c[u][i]) | word_of_sum(T_F16, false, x->c[u][i + 1]) << 16
                             : word_of_sum(T_F32, false, x->c[row][column]);
        }
}

/* Executes mma.m8n8k4 on f16. Bit 0 of the instruction's `imm` is set if a is .col, bit 1 if b is .col. */
static void multiply_old(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, bool d_narrow,
                         bool c_narrow) {
    const opnd_t *list = w->program->lists + in->list, *sources = list + in->msize;
    struct matrices x[MATRIX_GROUPS];
    if (!is_whole(m, fx))
        return;
    for (unsigned g = 0; g < MATRIX_GROUPS; g++) {
        old_read(w, sources, g, in->imm, &x[g]);
        old_read_c(w, sources + 4, g, c_narrow, &x[g]);
        if (w->cta->launch->mma_card)
            card_add((struct card_sums){w->cta->launch->mma_card, T_F16, T_F16, d_narrow ? T_F16 : T_F32, 0}, x[g].a[0],
                     MOST_K, x[g].b[0], x[g].c, 8, MATRIX_GROUPS_K);
        else
            add_products(x[g].a[0], MOST_K, (const double(*)[MOST_N])x[g].b, x[g].c, 8, MATRIX_GROUPS_K);
    }
    for (unsigned g = 0; g < MATRIX_GROUPS; g++)
        old_write(w, list, g, d_narrow, &x[g]);
}

/* Which bytes of the matrices the lanes of a load access, 4 n or 8 n each. */
enum rows_of_lanes {
    ROWS_ONCE, /* ldmatrix: lane after lane */
    /* Volta's fragments: each byte in two lanes (M. A. Raihan et al., ISPASS 2019). Groups of 4 lanes have 4
     * rows: groups 0 to 3 rows 0 to 3, groups 4 to 7 rows 4 to 7. Of a, odd groups have the second 8 rows, or with n =
     * 1 the second half of a row; of b, the upper two of four groups. */
    ROWS_VOLTA_A,
    ROWS_VOLTA_B
};
enum { ROW_BYTES = 16 };

/* Returns the first byte of n matrices of 8 rows that lane `l` accesses. */
FP_INLINE unsigned first_byte(enum rows_of_lanes rows, unsigned n, unsigned l) {
    if (rows == ROWS_ONCE)
        return 4 * n * l;
    const unsigned second = (rows == ROWS_VOLTA_A ? l / 4 : l / 8) % 2;
    return (l % 4 + l / 16 * 4) * ROW_BYTES + second * (n == 1 ? ROW_BYTES / 2 : 8 * ROW_BYTES);
}

/* Reads the 8 n rows of n matrices of 16-bit elements from shared memory. Lane r has the address of row r. fx has the
 * addresses that lanes access. Returns false after a fault. */
FP_INLINE bool read_rows(struct warp *w, const struct inst *in, struct effects *fx, unsigned n, enum rows_of_lanes rows,
                         unsigned char *to) {
    const unsigned bytes = (rows == ROWS_ONCE ? 4 : 8) * n;
    uint64_t row[WARP_LANES];
    mem_addresses(w, in, LANES_ALL, fx, 1);
    mem_lanes_begin(in, fx);
    memcpy(row, fx->addr, sizeof row);
    for (unsigned r = 0; r < 8 * n; r++)
        if (row[r] % ROW_BYTES) {
            mem_fault(fx, FAULT_MISALIGNED, (int)r, in->space, row[r], ROW_BYTES);
            return false;
        }
    fx->n_elems = (uint8_t)n;
    fx->shared_lanes = LANES_ALL;
    for (unsigned l = 0; l < WARP_LANES; l++)
        fx->addr[l] = row[first_byte(rows, n, l) / ROW_BYTES] + first_byte(rows, n, l) % ROW_BYTES;
    const bool own = all_inside(fx->addr, 0, w->cta->shared_bytes, bytes);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const unsigned char *from = own ? w->cta->shared + fx->addr[l] : mem_lane(w, in, fx, (int)l, false);
        if (!from)
            return false;
        memcpy(to + first_byte(rows, n, l), from, bytes);
    }
    return true;
}

/* Executes ldmatrix.m8n8 of n matrices, or loads a part of a fragment. Lane 4 g + t gets elements 2 t and 2 t + 1 of
 * row g of each matrix, or of column g if `transposed` is set. */
FP_INLINE void load_matrices(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned n,
                             bool transposed, enum rows_of_lanes rows) {
    uint16_t x[4][8][8];
    if (!is_whole(m, fx) || !read_rows(w, in, fx, n, rows, (unsigned char *)x))
        return;
    for (unsigned i = 0; i < n; i++) {
        uint32_t *d = reg_out(w, n == 1 ? in->d : w->program->lists[in->list + i]);
        for (unsigned l = 0; transposed && l < WARP_LANES; l++)
            d[l] = x[i][l % 4 * 2][l / 4] | (uint32_t)x[i][l % 4 * 2 + 1][l / 4] << 16;
        if (!transposed)
            memcpy(d, x[i], sizeof x[i]);
    }
}

#define MATRICES_FN(name, n, transposed, rows)                                                                         \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        load_matrices(w, in, m, fx, n, transposed, rows);                                                              \
    }
MATRICES_FN(ldmatrix_x1, 1, false, ROWS_ONCE)
MATRICES_FN(ldmatrix_x2, 2, false, ROWS_ONCE)
MATRICES_FN(ldmatrix_x4, 4, false, ROWS_ONCE)
MATRICES_FN(ldmatrix_x1_trans, 1, true, ROWS_ONCE)
MATRICES_FN(ldmatrix_x2_trans, 2, true, ROWS_ONCE)
MATRICES_FN(ldmatrix_x4_trans, 4, true, ROWS_ONCE)
MATRICES_FN(fragment_a, 2, false, ROWS_VOLTA_A)
MATRICES_FN(fragment_b, 2, false, ROWS_VOLTA_B)
MATRICES_FN(fragment_a_trans, 1, true, ROWS_VOLTA_A)
MATRICES_FN(fragment_b_trans, 1, true, ROWS_VOLTA_B)

#define MMA_FN(name, M, K, D, A, B, C, clamp)                                                                          \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        multiply(w, in, m, fx, (struct product){M, K, T_##D, T_##A, T_##B, T_##C, clamp});                             \
    }
#define OLD_FN(name, d_narrow, c_narrow)                                                                               \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        multiply_old(w, in, m, fx, d_narrow, c_narrow);                                                                \
    }
/* clang-format off */
MMA_FN(f16_k8, 16, 8, F16, F16, F16, F16, 0) MMA_FN(f32_f16_k8, 16, 8, F32, F16, F16, F32, 0)
MMA_FN(f16_k16, 16, 16, F16, F16, F16, F16, 0) MMA_FN(f32_f16_k16, 16, 16, F32, F16, F16, F32, 0)
MMA_FN(f16_f32_k16, 16, 16, F16, F16, F16, F32, 0) MMA_FN(f32_f16_f16_k16, 16, 16, F32, F16, F16, F16, 0)
MMA_FN(bf16_k8, 16, 8, F32, BF16, BF16, F32, 0) MMA_FN(bf16_k16, 16, 16, F32, BF16, BF16, F32, 0)
MMA_FN(tf32_k4, 16, 4, F32, TF32, TF32, F32, 0) MMA_FN(tf32_k8, 16, 8, F32, TF32, TF32, F32, 0)
MMA_FN(f64_m8, 8, 4, F64, F64, F64, F64, 0) MMA_FN(f64_k4, 16, 4, F64, F64, F64, F64, 0)
MMA_FN(f64_k8, 16, 8, F64, F64, F64, F64, 0) MMA_FN(f64_k16, 16, 16, F64, F64, F64, F64, 0)
#define INT_FNS(M, K, A, B)                                                                                            \
    MMA_FN(s32_##A##_##B##_##M##_##K, M, K, S32, A, B, S32, 0)                                                         \
    MMA_FN(s32_##A##_##B##_##M##_##K##_sat, M, K, S32, A, B, S32, 1)
#define INT_TYPES(X, M, K) X(M, K, S8, S8) X(M, K, S8, U8) X(M, K, U8, S8) X(M, K, U8, U8)
INT_TYPES(INT_FNS, 8, 16) INT_TYPES(INT_FNS, 16, 16) INT_TYPES(INT_FNS, 16, 32)
OLD_FN(old_f16, 1, 1) OLD_FN(old_f32, 0, 0) OLD_FN(old_f32_f16, 0, 1)
/* clang-format on */

#define MMA_ROW(OP, SH, D, A, B, C, form, fn)                                                                          \
    WARP_FN(OP, T4(D, A, B, C), FORM(MODE2, SH) | FLAG(SYNC) | (form), WARP, MMA, NO_OPDS, fn)
#define INT_ROWS(rows, K, A, B)                                                                                        \
    MMA_ROW(MMA, M##rows##N8K##K, S32, A, B, S32, 0, s32_##A##_##B##_##rows##_##K)                                     \
    MMA_ROW(MMA, M##rows##N8K##K, S32, A, B, S32, FLAG(SATFINITE), s32_##A##_##B##_##rows##_##K##_sat)
#define F64_ROWS(SH, fn)                                                                                               \
    MMA_ROW(MMA, SH, F64, F64, F64, F64, 0, fn)                                                                        \
    MMA_ROW(MMA, SH, F64, F64, F64, F64, FORM(RND, RN), fn)                                                            \
    MMA_ROW(MMA, SH, F64, F64, F64, F64, FORM(RND, RZ), fn)                                                            \
    MMA_ROW(MMA, SH, F64, F64, F64, F64, FORM(RND, RM), fn)                                                            \
    MMA_ROW(MMA, SH, F64, F64, F64, F64, FORM(RND, RP), fn)

/* Lowering replaces these instructions by others, so these rows have no function. */
#define WMMA_ROW(SH, opn, mode, types, form)                                                                           \
    NOTHING(WMMA, types, FORM(MODE2, SH) | FORM(OPN, opn) | (mode) | FLAG(SYNC) | (form), NOP, MMA, NO_OPDS, )
#define WMMA_A(SH, T) WMMA_ROW(SH, LOAD, FORM(MODE, A), T1(T), 0)
#define WMMA_B(SH, T) WMMA_ROW(SH, LOAD, FORM(MODE, B), T1(T), 0)
#define WMMA_C(SH, T) WMMA_ROW(SH, LOAD, FORM(MODE, C), T1(T), 0) WMMA_ROW(SH, STORE, FORM(MODE, D), T1(T), 0)
/* clang-format off */
#define WMMA_K16(SH)                                                                                                   \
    WMMA_A(SH, F16)                                                                                                    \
    WMMA_B(SH, F16) WMMA_A(SH, BF16) WMMA_B(SH, BF16) WMMA_A(SH, S8) WMMA_B(SH, S8) WMMA_A(SH, U8) WMMA_B(SH, U8)      \
        WMMA_C(SH, F16) WMMA_C(SH, F32) WMMA_C(SH, S32) WMMA_ROW(SH, MMA, 0, T2(F16, F16), 0)                          \
            WMMA_ROW(SH, MMA, 0, T2(F16, F32), 0) WMMA_ROW(SH, MMA, 0, T2(F32, F16), 0)                                \
                WMMA_ROW(SH, MMA, 0, T2(F32, F32), 0) WMMA_ROW(SH, MMA, 0, T4(F32, BF16, BF16, F32), 0)                \
                    WMMA_ROW(SH, MMA, 0, T4(S32, S8, S8, S32), 0)                                                      \
                        WMMA_ROW(SH, MMA, 0, T4(S32, S8, S8, S32), FLAG(SATFINITE))                                    \
                            WMMA_ROW(SH, MMA, 0, T4(S32, U8, U8, S32), 0)                                              \
                                WMMA_ROW(SH, MMA, 0, T4(S32, U8, U8, S32), FLAG(SATFINITE))
/* clang-format on */
#define WMMA_F64(form) WMMA_ROW(M8N8K4, MMA, 0, T4(F64, F64, F64, F64), form)
/* elements of 4 bits and of 1 bit */
#define WMMA_SMALL(SH, T)                                                                                              \
    WMMA_ROW(SH, LOAD, FORM(MODE, A), T1(T), 0)                                                                        \
    WMMA_ROW(SH, LOAD, FORM(MODE, B), T1(T), 0)
#define WMMA_S4(T)                                                                                                     \
    WMMA_SMALL(M8N8K32, T)                                                                                             \
    WMMA_ROW(M8N8K32, MMA, 0, T4(S32, T, T, S32), 0)                                                                   \
    WMMA_ROW(M8N8K32, MMA, 0, T4(S32, T, T, S32), FLAG(SATFINITE))
#define WMMA_B1(kind) WMMA_ROW(M8N8K128, MMA, 0, T4(S32, B1, B1, S32), FORM(KIND, kind))
/* matrices of bytes, and of 6 or 4 bits that become bytes */
#define BYTE_TILES(OP, SH, types, num, form)                                                                           \
    NOTHING(OP, types, FORM(MODE2, SH) | FORM(NUM, num) | FLAG(SYNC) | (form), NOP, MEM, NO_OPDS, )
#define SMALL_TILES(SH, num, form)                                                                                     \
    BYTE_TILES(LDMATRIX, SH, T2(B8X16, B6X16_P32), num, form)                                                          \
    BYTE_TILES(LDMATRIX, SH, T2(B8X16, B4X16_P64), num, form)
#define LDMATRIX_ROWS(num, fn)                                                                                         \
    WARP_FN(LDMATRIX, T1(B16), FORM(MODE2, M8N8) | FORM(NUM, num) | FLAG(SYNC), LOAD, MEM, NO_OPDS, fn)                \
    WARP_FN(LDMATRIX, T1(B16), FORM(MODE2, M8N8) | FORM(NUM, num) | FLAG(SYNC) | FORM(OPN, TRANS), LOAD, MEM, NO_OPDS, \
            fn##_trans)
#define FRAGMENT_ROWS(role, fn)                                                                                        \
    WARP_FN(FRAGMENT, T1(B16), FORM(MODE, role) | FLAG(SYNC), LOAD, MEM, NO_OPDS, fn)                                  \
    WARP_FN(FRAGMENT, T1(B16), FORM(MODE, role) | FLAG(SYNC) | FORM(OPN, TRANS), LOAD, MEM, NO_OPDS, fn##_trans)
#define STMATRIX_ROWS(num)                                                                                             \
    NOTHING(STMATRIX, T1(B16), FORM(MODE2, M8N8) | FORM(NUM, num) | FLAG(SYNC), NOP, MEM, NO_OPDS, )                   \
    NOTHING(STMATRIX, T1(B16), FORM(MODE2, M8N8) | FORM(NUM, num) | FLAG(SYNC) | FORM(OPN, TRANS), NOP, MEM, NO_OPDS, )

#define ROWS_FILE "isa/exec/exec_matrix.c"
#define ROWS_NAME matrix
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Matrices of a warp. */
MMA_ROW(MMA, M8N8K4, F16, F16, F16, F16, 0, old_f16)
MMA_ROW(MMA, M8N8K4, F32, F16, F16, F16, 0, old_f32_f16)
MMA_ROW(MMA, M8N8K4, F32, F16, F16, F32, 0, old_f32)
MMA_ROW(MMA, M16N8K8, F16, F16, F16, F16, 0, f16_k8)
MMA_ROW(MMA, M16N8K8, F32, F16, F16, F32, 0, f32_f16_k8)
MMA_ROW(MMA, M16N8K16, F16, F16, F16, F16, 0, f16_k16)
MMA_ROW(MMA, M16N8K16, F32, F16, F16, F32, 0, f32_f16_k16)
MMA_ROW(MMA, M16N8K8, F32, BF16, BF16, F32, 0, bf16_k8)
MMA_ROW(MMA, M16N8K16, F32, BF16, BF16, F32, 0, bf16_k16)
MMA_ROW(MMA, M16N8K4, F32, TF32, TF32, F32, 0, tf32_k4)
MMA_ROW(MMA, M16N8K8, F32, TF32, TF32, F32, 0, tf32_k8)
F64_ROWS(M8N8K4, f64_m8)
F64_ROWS(M16N8K4, f64_k4)
F64_ROWS(M16N8K8, f64_k8)
F64_ROWS(M16N8K16, f64_k16)
INT_TYPES(INT_ROWS, 8, 16)
INT_TYPES(INT_ROWS, 16, 16)
INT_TYPES(INT_ROWS, 16, 32)
MMA_ROW(MMAMIX, M16N8K16, F16, F16, F16, F32, 0, f16_f32_k16)
MMA_ROW(MMAMIX, M16N8K16, F32, F16, F16, F16, 0, f32_f16_f16_k16)
WARP_FN(WHOLE, T0, FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_whole)
WARP_FN(SETMAXNREG, T1(U32), FORM(OPN, INC) | FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_whole)
WARP_FN(SETMAXNREG, T1(U32), FORM(OPN, DEC) | FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_whole)
WMMA_K16(M16N16K16)
WMMA_K16(M32N8K16)
WMMA_K16(M8N32K16)
WMMA_A(M16N16K8, TF32) WMMA_B(M16N16K8, TF32) WMMA_C(M16N16K8, F32)
WMMA_ROW(M16N16K8, MMA, 0, T4(F32, TF32, TF32, F32), 0)
WMMA_A(M8N8K4, F64) WMMA_B(M8N8K4, F64) WMMA_C(M8N8K4, F64)
WMMA_F64(0) WMMA_F64(FORM(RND, RN)) WMMA_F64(FORM(RND, RZ)) WMMA_F64(FORM(RND, RM)) WMMA_F64(FORM(RND, RP))
WMMA_S4(S4) WMMA_S4(U4) WMMA_C(M8N8K32, S32)
WMMA_SMALL(M8N8K128, B1) WMMA_B1(XOR) WMMA_B1(AND) WMMA_C(M8N8K128, S32)
LDMATRIX_ROWS(X1, ldmatrix_x1)
LDMATRIX_ROWS(X2, ldmatrix_x2)
LDMATRIX_ROWS(X4, ldmatrix_x4)
FRAGMENT_ROWS(A, fragment_a)
FRAGMENT_ROWS(B, fragment_b)
STMATRIX_ROWS(X1)
STMATRIX_ROWS(X2)
STMATRIX_ROWS(X4)
SMALL_TILES(M8N16, X1, 0)
SMALL_TILES(M8N16, X2, 0)
SMALL_TILES(M8N16, X4, 0)
SMALL_TILES(M16N16, X1, FORM(OPN, TRANS))
SMALL_TILES(M16N16, X2, FORM(OPN, TRANS))
BYTE_TILES(LDMATRIX, M16N16, T1(B8), X1, FORM(OPN, TRANS))
BYTE_TILES(LDMATRIX, M16N16, T1(B8), X2, FORM(OPN, TRANS))
BYTE_TILES(STMATRIX, M16N8, T1(B8), X1, FORM(OPN, TRANS))
BYTE_TILES(STMATRIX, M16N8, T1(B8), X2, FORM(OPN, TRANS))
BYTE_TILES(STMATRIX, M16N8, T1(B8), X4, FORM(OPN, TRANS))
NOTHING(MOVMATRIX, T1(B16), FORM(MODE2, M8N8) | FLAG(SYNC) | FORM(OPN, TRANS), NOP, SHFL, NO_OPDS, )
/* clang-format on */
#endif
