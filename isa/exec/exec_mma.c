/* mma on numbers of 8 bits and fewer, scaled blocks, sparse matrices and single bits. The sums follow the rule of
 * exec_matrix.c: they begin with c and add the products in the order of k by fused multiply-adds in f64. A product of
 * scaled numbers is exact as well.
 *
 * Sparse matrices: the registers of a hold half of each row, and the metadata say which columns (struct
 * matrix_sparsity). The columns that are absent from the metadata are not multiplied. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/exec/card_sums.h"
#include "isa/exec/exec_matrix.h"

enum { MOST_K = 128, MOST_BLOCKS = 4, CHUNK = 16 };

/* An mma, as its row describes it. `columns`: elements of a row of a in registers: k, or k / 2 if a is sparse. */
struct operation {
    unsigned m, k, columns, d, a, b, c, kind, elements_a, elements_b;
    bool sparse, clamp;
};

struct matrices {
    _Alignas(64) double a[MOST_M][MOST_K], b[MOST_K][MOST_N], c[MOST_M][MOST_N];
    uint8_t column[MOST_M][MOST_K];                                    /* column of each element of a */
    double scale_a[MOST_M][MOST_BLOCKS], scale_b[MOST_BLOCKS][MOST_N]; /* scales of the blocks of a row or column */
    unsigned blocks;                                                   /* 0: no scales */
};

static struct operation operation_of(const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const struct matrix_size s = matrix_size(form_get(row->form, CAT_MODE2));
    const bool sparse = form_get(row->form, CAT_SPARSE) != SPARSE_NONE;
    return (struct operation){.m = s.m,
                              .k = s.k,
                              .columns = sparse ? s.k / 2u : s.k,
                              .d = row->types[0],
                              .a = row->types[1],
                              .b = row->types[2],
                              .c = row->types[3],
                              .kind = form_get(row->form, CAT_KIND),
                              .elements_a = matrix_elements_of(row->types[1], row->form),
                              .elements_b = matrix_elements_of(row->types[2], row->form),
                              .sparse = sparse,
                              .clamp = form_get(row->form, CAT_SATFINITE)};
}

static unsigned registers_of(unsigned elements, unsigned of_register) { return elements / (WARP_LANES * of_register); }

/* Reads a fragment whose type is known only at run time. */
__attribute__((noinline)) static void read_any(const struct warp *w, const opnd_t *list, struct fragment_form f,
                                               unsigned type, unsigned n, double *to, unsigned columns) {
    read_fragment(w, list, f, type, n, to, columns);
}

static uint32_t word_of(const struct warp *w, opnd_t reg, unsigned lane) {
    return ((const uint32_t *)reg_ptr(w, reg))[lane];
}

/* Returns the four bits of metadata for group `g` of a row. The quad of rows r and r + 8 holds their metadata, from the
 * lane that `selector` selects on. With `by_row`, even lanes hold 32 bits of row r, and odd lanes 32 bits of row r + 8.
 * Otherwise each lane holds 16 bits of each of the two rows. */
static unsigned metadata_of(const struct warp *w, opnd_t reg, struct matrix_sparsity s, unsigned selector, unsigned row,
                            unsigned g, bool by_row) {
    const unsigned first = row % 8 * 4 + selector * s.threads, upper = row / 8;
    if (by_row)
        return word_of(w, reg, first + upper + g / 8 * 2) >> g % 8 * 4 & 15;
    return word_of(w, reg, first + g / 4) >> (upper * 16 + g % 4 * 4) & 15;
}

/* Fills x->column from the metadata. */
static void read_columns(const struct warp *w, const struct operation *s, opnd_t reg, unsigned selector,
                         struct matrices *x) {
    const struct matrix_sparsity sparsity = matrix_sparsity(s->k, s->elements_a);
    const unsigned of_group = sparsity.group / 2u;
    const bool by_row = s->elements_a >= 4;
    for (unsigned row = 0; row < s->m; row++)
        for (unsigned j = 0; j < s->columns; j++) {
            const unsigned g = j / of_group, at = j % of_group,
                           bits = metadata_of(w, reg, sparsity, selector, row, g, by_row);
            const unsigned inside = s->elements_a == 1   ? (bits & 3) / 2
                                    : s->elements_a == 8 ? (bits >> at / 2 * 2 & 3) * 2 + at % 2
                                                         : bits >> at * 2 & 3;
            x->column[row][j] = (uint8_t)(g * sparsity.group + inside);
        }
}

static double scale_of(unsigned type, uint32_t bits) {
    return type & SCALE_UE4M3 ? (double)f32_from_E4M3(bits & 0x7f) : f64_from_ue8m0(bits & 0xff);
}

/* Reads the scales. `list`: the register with scales of a, its byte and thread selectors, and the same of b. Lane t of
 * a quad, with t = 2 * thread selector, holds the scales of row r of a, and lane t + 1 of row r + 8. One lane of the
 * quad, the thread selector of b, holds the scales of a column of b. */
static void read_scales(const struct warp *w, const opnd_t *list, unsigned scale, struct matrices *x) {
    unsigned select[4];
    for (unsigned i = 0; i < 4; i++)
        select[i] = word_of(w, list[i / 2 * 3 + 1 + i % 2], 0);
    x->blocks = scale & SCALE_4X ? 4 : scale & SCALE_2X ? 2 : 1;
    for (unsigned i = 0; i < x->blocks; i++) {
        const unsigned shift_a = (select[0] + i) % 4 * 8, shift_b = (select[2] + i) % 4 * 8;
        for (unsigned row = 0; row < MOST_M; row++)
            x->scale_a[row][i] =
                scale_of(scale, word_of(w, list[0], row % 8 * 4 + select[1] % 2 * 2 + row / 8) >> shift_a);
        for (unsigned n = 0; n < MOST_N; n++)
            x->scale_b[i][n] = scale_of(scale, word_of(w, list[3], n * 4 + select[3] % 4) >> shift_b);
    }
}

/* Multiplies the elements of a and b by their scales. */
static void apply_scales(const struct operation *s, struct matrices *x) {
    const unsigned block = s->k / x->blocks;
    for (unsigned row = 0; row < s->m; row++)
        for (unsigned j = 0; j < s->columns; j++)
            x->a[row][j] *= x->scale_a[row][x->column[row][j] / block];
    for (unsigned k = 0; k < s->k; k++)
        for (unsigned n = 0; n < MOST_N; n++)
            x->b[k][n] *= x->scale_b[k / block][n];
}

/* Adds the products of a sparse a. */
static void add_sparse(const struct operation *s, struct matrices *x) {
    for (unsigned row = 0; row < s->m; row++) {
        sums_row sum;
        memcpy(&sum, x->c[row], sizeof sum);
        for (unsigned j = 0; j < s->columns; j++)
            sum += x->a[row][j] * *(const sums_row *)x->b[x->column[row][j]];
        memcpy(x->c[row], &sum, sizeof sum);
    }
}

/* Computes one sum of a kind with scaled numbers of 4 bits as a card does. `b` has the factors of row `row` of a. */
static double card_scaled(const struct operation *s, const struct matrices *x, unsigned row, unsigned n,
                          const double *b) {
    double sums[MOST_K / CHUNK], scales[MOST_K / CHUNK];
    const unsigned block = s->k / x->blocks, chunks = s->columns / CHUNK;
    for (unsigned i = 0; i < chunks; i++) {
        const unsigned of = x->column[row][i * CHUNK] / block;
        sums[i] = 0;
        for (unsigned j = i * CHUNK; j < (i + 1) * CHUNK; j++)
            sums[i] += x->a[row][j] * b[j];
        scales[i] = x->scale_a[row][of] * x->scale_b[of][n];
    }
    return card_sum_scaled(sums, scales, chunks, x->c[row][n]);
}

/* Adds the products as a card does; a and b are not scaled yet. */
static void card_products(const struct warp *w, const struct operation *s, struct matrices *x) {
    for (unsigned row = 0; row < s->m; row++)
        for (unsigned n = 0; n < MOST_N; n++) {
            struct card_sums how = {w->cta->launch->mma_card, (uint8_t)s->a, (uint8_t)s->b, (uint8_t)s->d, 0};
            double b[MOST_K];
            for (unsigned j = 0; j < s->columns; j++)
                b[j] = x->b[x->column[row][j]][n];
            if (s->kind == KIND_MXF4 || s->kind == KIND_MXF4NVF4) {
                x->c[row][n] = card_scaled(s, x, row, n, b);
                continue;
            }
            const double scale = x->blocks ? x->scale_a[row][0] * x->scale_b[0][n] : 1;
            how.shift = scale == scale ? (int)((f64_bits(scale) >> 52) & 0x7ff) - 1023 : 0;
            x->c[row][n] = scale == scale ? card_sum(how, x->a[row], b, 1, x->c[row][n], s->columns) : scale;
        }
}

static void add_any(const struct warp *w, const struct operation *s, struct matrices *x) {
    if (s->d != T_S32 && w->cta->launch->mma_card) {
        card_products(w, s, x);
        return;
    }
    if (x->blocks)
        apply_scales(s, x);
    if (s->sparse)
        add_sparse(s, x);
    else
        add_products((double *)x->a, MOST_K, (const double(*)[MOST_N])x->b, x->c, s->m, s->k);
}

static void write_any(struct warp *w, const opnd_t *list, const struct operation *s, struct matrices *x) {
    write_sums(w, list, s->m, s->d, s->clamp, x->c);
}

static void exec_mma(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct operation s = operation_of(in);
    const uint8_t halves = (uint8_t)(s.m / 8);
    const struct fragment_form a = {FRAGMENT_A, halves, (uint8_t)s.elements_a},
                               b = {FRAGMENT_B, 1, (uint8_t)s.elements_b},
                               c = {FRAGMENT_C, halves, matrix_elements(s.c)};
    const unsigned n_a = registers_of(s.m * s.columns, s.elements_a), n_b = registers_of(s.k * MOST_N, s.elements_b),
                   n_c = matrix_registers(s.m * MOST_N, s.c);
    const opnd_t *list = w->program->lists + in->list, *at = list + in->msize;
    struct matrices x;
    if (!is_whole(m, fx))
        return;
    read_any(w, at, a, s.a, n_a, (double *)x.a, MOST_K);
    read_any(w, at + n_a, b, s.b, n_b, (double *)x.b, MOST_N);
    read_any(w, at + n_a + n_b, c, s.c, n_c, (double *)x.c, MOST_N);
    at += n_a + n_b + n_c;
    for (unsigned row = 0; row < s.m; row++)
        for (unsigned j = 0; j < s.columns; j++)
            x.column[row][j] = (uint8_t)j;
    if (s.sparse)
        read_columns(w, &s, *at++, (unsigned)mma_selector(in->imm), &x);
    x.blocks = 0;
    if (mma_scale(in->imm))
        read_scales(w, at, mma_scale(in->imm), &x);
    add_any(w, &s, &x);
    write_any(w, list, &s, &x);
}

/* Executes an mma on single bits: each sum counts the ones of a & b, or of a ^ b. A word of 32 bits is distributed over
 * the lanes like a 32-bit element. */
static void exec_bits(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct operation s = operation_of(in);
    const opnd_t *list = w->program->lists + in->list, *at = list + in->msize;
    const unsigned words = s.k / 32, halves = s.m / 8, n_a = halves * words / 4, n_b = words / 4;
    uint32_t sum[MOST_M / 8 * 2][WARP_LANES];
    if (!is_whole(m, fx))
        return;
    for (unsigned r = 0; r < 2 * halves; r++)
        for (unsigned l = 0; l < WARP_LANES; l++) {
            uint32_t n = word_of(w, at[n_a + n_b + r], l);
            for (unsigned k = 0; k < words; k++) {
                const uint32_t a = word_of(w, at[k / 4 * halves + r / 2], l / 4 * 4 + k % 4),
                               b = word_of(w, at[n_a + k / 4], (l % 4 * 2 + r % 2) * 4 + k % 4);
                n += (uint32_t)__builtin_popcount(s.kind == KIND_XOR ? a ^ b : a & b);
            }
            sum[r][l] = n;
        }
    for (unsigned r = 0; r < 2 * halves; r++)
        memcpy(reg_ptr(w, list[r]), sum[r], sizeof sum[r]);
}

#define MMA_ROW(SH, D, A, B, C, form)                                                                                  \
    WARP_FN(MMA, T4(D, A, B, C), FORM(MODE2, SH) | FLAG(SYNC) | (form), WARP, MMA, NO_OPDS, exec_mma)
/* a sparse matrix, with both kinds of metadata */
#define SP(SH, D, A, B, C, form)      MMA_ROW(SH, D, A, B, C, FORM(SPARSE, SP) | (form)) ORDERED(SH, D, A, B, C, form)
#define ORDERED(SH, D, A, B, C, form) MMA_ROW(SH, D, A, B, C, FORM(SPARSE, ORDERED) | (form))
#define SIGNS(X, SH, S, U)                                                                                             \
    X(SH, S32, S, S, S32, 0)                                                                                           \
    X(SH, S32, S, U, S32, 0)                                                                                           \
    X(SH, S32, U, S, S32, 0)                                                                                           \
    X(SH, S32, U, U, S32, 0)                                                                                           \
    X(SH, S32, S, S, S32, FLAG(SATFINITE))                                                                             \
    X(SH, S32, S, U, S32, FLAG(SATFINITE))                                                                             \
    X(SH, S32, U, S, S32, FLAG(SATFINITE))                                                                             \
    X(SH, S32, U, U, S32, FLAG(SATFINITE))
#define FP8(X, SH, D, form)                                                                                            \
    X(SH, D, E4M3, E4M3, D, form)                                                                                      \
    X(SH, D, E4M3, E5M2, D, form)                                                                                      \
    X(SH, D, E5M2, E4M3, D, form)                                                                                      \
    X(SH, D, E5M2, E5M2, D, form)
#define FP_B(X, SH, D, A, form)                                                                                        \
    X(SH, D, A, E4M3, D, form)                                                                                         \
    X(SH, D, A, E5M2, D, form)                                                                                         \
    X(SH, D, A, E3M2, D, form)                                                                                         \
    X(SH, D, A, E2M3, D, form)                                                                                         \
    X(SH, D, A, E2M1, D, form)
#define FP8_TO_4(X, SH, D, form)                                                                                       \
    FP_B(X, SH, D, E4M3, form)                                                                                         \
    FP_B(X, SH, D, E5M2, form)                                                                                         \
    FP_B(X, SH, D, E3M2, form)                                                                                         \
    FP_B(X, SH, D, E2M3, form)                                                                                         \
    FP_B(X, SH, D, E2M1, form)
#define BITS(SH, kind)                                                                                                 \
    WARP_FN(MMA, T4(S32, B1, B1, S32), FORM(MODE2, SH) | FLAG(SYNC) | FORM(KIND, kind), WARP, MMA, NO_OPDS, exec_bits)

#define ROWS_FILE "isa/exec/exec_mma.c"
#define ROWS_NAME mma
#include "isa/rows_expand.h"
#else
/* clang-format off */
FP8(MMA_ROW, M16N8K16, F16, 0)
FP8(MMA_ROW, M16N8K16, F32, 0)
FP8(MMA_ROW, M16N8K32, F16, 0)
FP8(MMA_ROW, M16N8K32, F32, 0)
FP8(MMA_ROW, M16N8K16, F16, FORM(KIND, F8F6F4))
FP8(MMA_ROW, M16N8K16, F32, FORM(KIND, F8F6F4))
FP8_TO_4(MMA_ROW, M16N8K32, F16, FORM(KIND, F8F6F4))
FP8_TO_4(MMA_ROW, M16N8K32, F32, FORM(KIND, F8F6F4))
FP8_TO_4(MMA_ROW, M16N8K32, F32, FORM(KIND, MXF8F6F4))
MMA_ROW(M16N8K64, F32, E2M1, E2M1, F32, FORM(KIND, MXF4))
MMA_ROW(M16N8K64, F32, E2M1, E2M1, F32, FORM(KIND, MXF4NVF4))
SIGNS(MMA_ROW, M8N8K32, S4, U4)
SIGNS(MMA_ROW, M16N8K32, S4, U4)
SIGNS(MMA_ROW, M16N8K64, S4, U4)
BITS(M8N8K128, XOR) BITS(M8N8K128, AND)
BITS(M16N8K128, XOR) BITS(M16N8K128, AND)
BITS(M16N8K256, XOR) BITS(M16N8K256, AND)
/* Sparse matrices. */
SP(M16N8K16, F16, F16, F16, F16, 0)
SP(M16N8K16, F32, F16, F16, F32, 0)
SP(M16N8K32, F16, F16, F16, F16, 0)
SP(M16N8K32, F32, F16, F16, F32, 0)
SP(M16N8K16, F32, BF16, BF16, F32, 0)
SP(M16N8K32, F32, BF16, BF16, F32, 0)
SP(M16N8K8, F32, TF32, TF32, F32, 0)
SP(M16N8K16, F32, TF32, TF32, F32, 0)
SIGNS(SP, M16N8K32, S8, U8)
SIGNS(SP, M16N8K64, S8, U8)
SIGNS(SP, M16N8K64, S4, U4)
SIGNS(SP, M16N8K128, S4, U4)
FP8(SP, M16N8K64, F32, 0)
FP8(ORDERED, M16N8K64, F16, 0)
FP8_TO_4(ORDERED, M16N8K64, F16, FORM(KIND, F8F6F4))
FP8_TO_4(ORDERED, M16N8K64, F32, FORM(KIND, F8F6F4))
FP8_TO_4(ORDERED, M16N8K64, F32, FORM(KIND, MXF8F6F4))
ORDERED(M16N8K128, F32, E2M1, E2M1, F32, FORM(KIND, MXF4))
ORDERED(M16N8K128, F32, E2M1, E2M1, F32, FORM(KIND, MXF4NVF4))
/* clang-format on */
#endif
