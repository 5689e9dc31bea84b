/* wgmma.mma_async: the product of matrices of a warp group. Each of the four warps computes its own 16 rows of d, from
 * its registers and shared memory, when the instruction executes. PTX allows that: no thread may access the operands
 * before wgmma.wait_group. The timing model decides when the product is complete (timing/sm/tensor.c).
 *
 * Numbers follow the rule of exec_matrix.c: a sum begins with the element of d (or 0), adds products in the order of k
 * by fused multiply-adds in f64, and is rounded once. Products are exact in f64 for all types, so a multiplication and
 * an addition give the same bits as an fma. Products of b1 are 1 where both bits are 1.
 *
 * Each lane l = 4 g + t owns the elements of rows g and g + 8 in columns 2 t and 2 t + 1 of each eight columns.
 * The sums of one register of d thus form a vector of 32 lanes. To such vectors, a contributes a number for each row,
 * expanded to the lanes once per instruction, and b contributes four columns, which repeat for every quad. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_mem.h"
#include "isa/group_matrix.h"
#include "isa/rows.h"
#include "isa/tiles.h"
#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

enum { STEP_K = 64, COLUMNS = 8, QUAD = 4, LANE_VECTORS = WARP_LANES / 8, MOST_K = 256 };

/* The types of d, a and b. `clamp`: .satfinite. */
struct group_types {
    uint8_t d, a, b;
    bool clamp;
};

typedef double lanes8 __attribute__((vector_size(64), may_alias));

/* Matrix a, for STEP_K columns: one number for each half (rows 0 to 7, or 8 to 15), column and lane. */
struct expanded {
    _Alignas(64) double at[STEP_K][2][WARP_LANES];
};

/* ---- matrices in shared memory ---- */

/* Returns the chunk at address `at` of shared memory. On a fault, stores the fault in fx and returns NULL. */
FP_INLINE const unsigned char *chunk_at(const struct warp *w, uint32_t at, struct effects *fx) {
    if (__builtin_expect(at + TILE_CHUNK <= w->cta->shared_bytes, 1))
        return w->cta->shared + at;
    mem_fault(fx, FAULT_OUT_OF_BOUNDS, 0, SPACE_SHARED, at, TILE_CHUNK);
    return NULL;
}

/* Part of a matrix: element k of line i (a row of a, or a column of b) is at[i * line + k * step]. */
struct numbers {
    float at[GROUP_ROWS * STEP_K];
    unsigned line, step;
};

/* Reads the elements [k, k + n) of `lines` lines, from line `first` on. On a fault, stores the fault in fx and returns
 * false. */
FP_INLINE bool read_lines(const struct warp *w, const struct tile *t, unsigned type, unsigned first, unsigned lines,
                          unsigned k, unsigned n, struct numbers *to, struct effects *fx) {
    const unsigned bits = group_bits(type), per = 128 / bits;
    const bool across = bits == 16 && t->across; /* only types of 16 bits can be transposed */
    unsigned char raw[GROUP_ROWS * STEP_K * 4], *at = raw;
    const unsigned major = across ? n : lines, minor = across ? lines : n;
    for (unsigned i = 0; i < major; i++)
        for (unsigned j = 0; j < minor; j += per, at += TILE_CHUNK) {
            const unsigned char *chunk = across ? chunk_at(w, tile_at(t, k + i, (first + j) / per), fx)
                                                : chunk_at(w, tile_at(t, first + i, (k + j) / per), fx);
            if (!chunk)
                return false;
            if (per <= STEP_K) {
                memcpy(at, chunk, TILE_CHUNK);
            } else { /* a b1 matrix: half of a chunk */
                memcpy(at, chunk + k % per / 8, STEP_K / 8);
                at -= TILE_CHUNK - STEP_K / 8;
            }
        }
    tile_numbers(type, raw, to->at, lines * n);
    to->line = across ? 1 : n;
    to->step = across ? lines : 1;
    return true;
}

/* Reads a descriptor, which must be the same in all lanes. `what` is the name of the matrix. */
static bool read_descriptor(const struct warp *w, opnd_t o, const char *what, struct effects *fx, uint64_t *d) {
    const uint64_t *lane = reg_ptr(w, o);
    for (int l = 1; l < WARP_LANES; l++)
        if (lane[l] != lane[0]) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l,
                          "the descriptor of matrix %s is 0x%llx in lane 0 and 0x%llx in lane %d; it must be the same "
                          "in all lanes of a warp group",
                          what, (unsigned long long)lane[0], (unsigned long long)lane[l], l);
            return false;
        }
    *d = lane[0];
    return true;
}

/* Returns true if `bytes` bytes along K fit into a row that the swizzle exchanges. */
static bool row_fits(const struct tile *t, const char *what, unsigned bytes, struct effects *fx) {
    if (t->across || t->row == TILE_CHUNK || bytes <= t->row)
        return true;
    fx_fault_text(fx, FAULT_UNSUPPORTED, 0,
                  "the descriptor of matrix %s has a swizzle of %u bytes, but the instruction reads %u bytes of each "
                  "row; use a wider swizzle, or none",
                  what, t->row, bytes);
    return false;
}

/* ---- matrix a ---- */

/* Reads a from registers, the columns [k, k + n) of the stored matrix. Register r of lane 4 g + t has elements of row
 * g + 8 (r % 2), in the first (r < 2) or second half of the columns. */
FP_INLINE void read_registers(const struct warp *w, const opnd_t *list, unsigned type, unsigned k, unsigned n,
                              float to[GROUP_ROWS][STEP_K]) {
    const unsigned per = 32 / group_bits(type);
    float x[WARP_LANES * 32];
    for (unsigned r = 0; r < GROUP_A_REGISTERS; r++) {
        tile_numbers(type, reg_ptr(w, list[r]), x, WARP_LANES * per);
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (unsigned i = 0; i < per; i++) {
                const unsigned column = QUAD * per * (r / 2) + l % QUAD * per + i - k;
                if (column < n)
                    to[l / QUAD + 8 * (r % 2)][column] = x[l * per + i];
            }
    }
}

/* Returns the metadata of row `row` of a sparse matrix from column `k` on (a multiple of 16): four bits for each group
 * of four elements, or for each two elements of tf32 (CUTLASS, include/cute/atom/mma_traits_sm90_gmma_sparse.hpp, has
 * the same lanes). A lane of a type of 8 bits has 32 columns of one row. A lane of other types has 16 columns (tf32: 8)
 * of rows g and g + 8, and the selector chooses between the first and last two lanes of each quad. */
static uint32_t metadata_of(const uint32_t *meta, unsigned bits, bool selector, unsigned row, unsigned chunk) {
    const unsigned quad = QUAD * (row % 8), high = row / 8;
    if (bits == 8)
        return meta[quad + high + 2 * (chunk / 8)] >> 4 * (chunk % 8) & 15;
    return meta[quad + 2 * selector + chunk / 4] >> (16 * high + 4 * (chunk % 4)) & 15;
}

/* Spreads the stored half of a sparse matrix over its columns. Returns false for metadata that PTX does not define. */
static bool spread(const uint32_t *meta, unsigned bits, bool selector, unsigned k, float x[GROUP_ROWS][STEP_K],
                   struct effects *fx) {
    const unsigned per = bits == 32 ? 1 : 2; /* number of elements of a group that are stored */
    for (unsigned row = 0; row < GROUP_ROWS; row++) {
        float full[STEP_K] = {0};
        for (unsigned c = 0; c < k / (2 * per); c++) {
            const uint32_t m = metadata_of(meta, bits, selector, row, c), first = m & 3, second = m >> 2;
            if (bits == 32 ? m != 4 && m != 14 : first == second) {
                fx_fault_text(
                    fx, FAULT_UNSUPPORTED, 0, "metadata 0x%x for row %u, columns %u to %u of sparse matrix a; %s",
                    (unsigned)m, row, 2 * per * c, 2 * per * c + 2 * per - 1,
                    bits == 32 ? "tf32 takes 0x4 (first element) or 0xe (second)" : "the two indices must differ");
                return false;
            }
            if (bits == 32) {
                full[2 * c + (m == 14)] = x[row][c];
            } else {
                full[4 * c + first] = x[row][2 * c];
                full[4 * c + second] = x[row][2 * c + 1];
            }
        }
        memcpy(x[row], full, sizeof full);
    }
    return true;
}

/* Gives each lane the numbers of its rows. */
FP_INLINE void expand(float x[GROUP_ROWS][STEP_K], unsigned n, bool negate, struct expanded *to) {
    for (unsigned k = 0; k < n; k++)
        for (unsigned row = 0; row < GROUP_ROWS; row++) {
            const double v = negate ? -(double)x[row][k] : (double)x[row][k];
            double *lane = &to->at[k][row / 8][QUAD * (row % 8)];
            for (unsigned t = 0; t < QUAD; t++)
                lane[t] = v;
        }
}

/* ---- sums ---- */

/* Reads eight columns of b, from row k on: to[k][i][t] is column 2 t + i. */
FP_INLINE bool read_b(const struct warp *w, const struct tile *t, unsigned type, unsigned column, unsigned k,
                      unsigned n, bool negate, double to[STEP_K][2][QUAD], struct effects *fx) {
    struct numbers x;
    if (!read_lines(w, t, type, column, COLUMNS, k, n, &x, fx))
        return false;
    for (unsigned i = 0; negate && i < n * COLUMNS; i++)
        x.at[i] = -x.at[i];
    for (unsigned j = 0; j < n; j++)
        for (unsigned c = 0; c < COLUMNS; c++)
            to[j][c % 2][c / 2] = (double)x.at[c * x.line + j * x.step];
    return true;
}

/* Adds a * b to `sum`, lane by lane. The vectors are passed by address, because processors without AVX-512 cannot pass
 * them by value. */
FP_INLINE void multiply_add(lanes8 *sum, const lanes8 *a, const lanes8 *b) {
#if defined(__AVX512F__)
    *sum = (lanes8)_mm512_fmadd_pd((__m512d)*a, (__m512d)*b, (__m512d)*sum);
#else
    *sum = *a * *b + *sum;
#endif
}

/* Writes a vector of eight lanes: the four numbers, and the same four again. */
FP_INLINE void twice(lanes8 *to, const double *from) {
    typedef double lanes4 __attribute__((vector_size(32)));
    lanes4 x;
    memcpy(&x, from, sizeof x);
    *to = __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3);
}

/* Adds n products to the 16 x 8 sums s[half][i], which are 32 lanes each. With AVX-512 all of them are in registers. */
FP_INLINE void add_products(const struct expanded *a, double b[STEP_K][2][QUAD], unsigned n,
                            double s[2][2][WARP_LANES]) {
    enum { VECTORS = 2 * LANE_VECTORS };
    lanes8 x[2][VECTORS];
    for (unsigned i = 0; i < 2; i++)
        for (unsigned v = 0; v < VECTORS; v++)
            memcpy(&x[i][v], &s[v / LANE_VECTORS][i][v % LANE_VECTORS * 8], sizeof x[i][v]);
    for (unsigned k = 0; k < n; k++) {
        lanes8 y[2];
        twice(&y[0], b[k][0]);
        twice(&y[1], b[k][1]);
        const lanes8 *rows = (const lanes8 *)(const void *)a->at[k];
        for (unsigned v = 0; v < VECTORS; v++) {
            multiply_add(&x[0][v], &rows[v], &y[0]);
            multiply_add(&x[1][v], &rows[v], &y[1]);
        }
    }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned v = 0; v < VECTORS; v++)
            memcpy(&s[v / LANE_VECTORS][i][v % LANE_VECTORS * 8], &x[i][v], sizeof x[i][v]);
}

/* Reads the sums of eight columns from the registers of d. */
FP_INLINE void read_sums(const struct warp *w, const opnd_t *d, unsigned type, double s[2][2][WARP_LANES]) {
    for (unsigned half = 0; half < 2; half++)
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t *word = reg_ptr(w, type == T_F16 ? d[half] : d[2 * half + i]);
            double *to = s[half][i];
            if (type == T_F16)
                LANES(l) to[l] = (double)f32_from_f16((uint16_t)(word[l] >> 16 * i));
            else if (type == T_F32)
                LANES(l) to[l] = (double)f32_from_bits(word[l]);
            else
                LANES(l) to[l] = (double)(int32_t)word[l];
        }
}

FP_INLINE uint32_t word_of(unsigned type, bool clamp, double s) {
    if (type == T_F32)
        return s != s ? F32_NAN : f32_bits((float)s);
    const double most = 2147483647.0, least = -2147483648.0;
    if (clamp)
        s = s > most ? most : s < least ? least : s;
    return (uint32_t)(int64_t)s;
}

FP_INLINE void write_sums(struct warp *w, const opnd_t *d, unsigned type, bool clamp,
                          const double s[2][2][WARP_LANES]) {
    for (unsigned half = 0; half < 2; half++) {
        if (type == T_F16) {
            _Alignas(64) float odd[2][WARP_LANES];
            uint32_t *word = reg_out(w, d[half]);
            for (unsigned i = 0; i < 2; i++)
                LANES(l) odd[i][l] = f32_odd(s[half][i][l]);
            LANES(l)
            word[l] = f16_from_f32(odd[0][l], RND_RN) | (uint32_t)f16_from_f32(odd[1][l], RND_RN) << 16;
            continue;
        }
        for (unsigned i = 0; i < 2; i++) {
            uint32_t *word = reg_out(w, d[2 * half + i]);
            const double *from = s[half][i];
            LANES(l) word[l] = word_of(type, clamp, from[l]);
        }
    }
}

/* ---- the instruction ---- */

/* Checks that all lanes execute, and that the warp belongs to a complete warp group. */
static bool is_complete(const struct warp *w, rowmask_t m, struct effects *fx) {
    if (m != LANES_ALL)
        fx_fault_text(fx, FAULT_PARTIAL_WARP, __builtin_ctz(m),
                      "an instruction of a warp group is executed by all 32 lanes of a warp together; here by lanes "
                      "0x%08x alone",
                      m);
    else if (w->index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > w->cta->n_warps)
        fx_fault_text(
            fx, FAULT_PARTIAL_WARP, 0,
            "warp %u belongs to no complete warp group: four warps, of which the first has a number that is a "
            "multiple of 4; the CTA has %u warps",
            w->index, w->cta->n_warps);
    return !fx->fault;
}

/* Reads columns [k, k + n) of a into `to`. k and n count the columns of the expanded matrix, also if a is sparse. */
FP_INLINE bool read_a(const struct warp *w, const struct inst *in, const struct group_form *f, struct group_types t,
                      const struct tile *tile, unsigned k, unsigned n, struct expanded *to, struct effects *fx) {
    const opnd_t *list = w->program->lists + in->list + in->msize;
    float x[GROUP_ROWS][STEP_K];
    struct numbers found;
    const unsigned first = w->index % GROUP_WARPS * GROUP_ROWS, half = f->sparse ? 2 : 1;
    if (f->registers)
        read_registers(w, list, t.a, k / half, n / half, x);
    else if (!read_lines(w, tile, t.a, first, GROUP_ROWS, k / half, n / half, &found, fx))
        return false;
    for (unsigned row = 0; row < GROUP_ROWS && !f->registers; row++)
        for (unsigned i = 0; i < n / half; i++)
            x[row][i] = found.at[row * found.line + i * found.step];
    if (f->sparse &&
        !spread(reg_ptr(w, list[f->registers ? GROUP_A_REGISTERS : 0]), group_bits(t.a), f->selector, n, x, fx))
        return false;
    expand(x, n, f->negate_a, to);
    return true;
}

FP_INLINE bool add_columns(struct warp *w, const struct inst *in, const struct group_form *f, struct group_types t,
                           const struct expanded *a, const struct tile *b, unsigned k, unsigned n, bool from_zero,
                           struct effects *fx) {
    const unsigned regs = group_registers(COLUMNS, t.d);
    const opnd_t *d = w->program->lists + in->list;
    for (unsigned column = 0; column < f->n; column += COLUMNS, d += regs) {
        _Alignas(64) double s[2][2][WARP_LANES], x[STEP_K][2][QUAD];
        if (from_zero)
            memset(s, 0, sizeof s);
        else
            read_sums(w, d, t.d, s);
        if (!read_b(w, b, t.b, column, k, n, f->negate_b, x, fx))
            return false;
        add_products(a, x, n, s);
        write_sums(w, d, t.d, t.clamp, (const double(*)[2][WARP_LANES])s);
    }
    return true;
}

FP_INLINE void group_multiply(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx,
                              struct group_types t) {
    const struct group_form f = group_unpack(in->imm);
    const rowmask_t adds = pred_get(w, in->c);
    struct tile a = {0}, b;
    uint64_t d;
    if (!is_complete(w, m, fx))
        return;
    if (adds != 0 && adds != LANES_ALL) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, __builtin_ctz(~adds),
                      "scale-d differs between the lanes of the warp; it must be the same in all lanes");
        return;
    }
    if (!f.registers) {
        if (!read_descriptor(w, in->a, "a", fx, &d))
            return;
        a = tile_of(d, tile_swizzle_of_group(d), f.across_a);
    }
    if (!read_descriptor(w, in->b, "b", fx, &d))
        return;
    b = tile_of(d, tile_swizzle_of_group(d), f.across_b);
    if (!row_fits(&b, "b", f.k * group_bits(t.b) / 8, fx))
        return;
    const unsigned step = f.k < STEP_K ? f.k : STEP_K;
    /* only b1 takes more than one step; its sums are exact, so the registers can hold them between steps */
    for (unsigned k = 0; k < f.k; k += step) {
        struct expanded x;
        if (!read_a(w, in, &f, t, &a, k, step, &x, fx) || !add_columns(w, in, &f, t, &x, &b, k, step, !adds && !k, fx))
            return;
    }
}

static void exec_group_order(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    (void)is_complete(w, m, fx);
}

/* wgmma.wait_group. The hardware executes a product for the four warps of a group together, so a warp that has waited
 * knows that the others have begun theirs; kernels rely on it when one warp alone says that shared memory may be
 * written. Here each warp executes its own part, so the warps meet at the wait. */
static void exec_group_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    fx->barrier = GROUP_BARRIERS + w->index / GROUP_WARPS;
    fx->barrier_threads = GROUP_WARPS * WARP_LANES;
    fx->barrier_mode = BARRIER_SYNC;
    fx->barrier_pred = 0;
    if (w->index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > w->cta->n_warps)
        (void)is_complete(w, m, fx);
}

#define GROUP_FN(name, D, A, B, clamp)                                                                                 \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        group_multiply(w, in, m, fx, (struct group_types){T_##D, T_##A, T_##B, clamp});                                \
    }
#define GROUP_ROW(D, A, B, form, fn)                                                                                   \
    WARP_FN(WGMMA, T3(D, A, B), FORM(MODE2, MMA_ASYNC) | FLAG(SYNC) | (form), WARP, MMA,                               \
            OPDS(NONE, NONE, B64, B64, PRED, NONE), fn)
/* clang-format off */
#define GROUP_FLOATS(X)                                                                                                \
    X(f32_f16, F32, F16, F16) X(f16_f16, F16, F16, F16) X(f32_bf16, F32, BF16, BF16) X(f32_tf32, F32, TF32, TF32)      \
    X(f32_e4m3, F32, E4M3, E4M3) X(f32_e4m3_e5m2, F32, E4M3, E5M2) X(f32_e5m2_e4m3, F32, E5M2, E4M3)                   \
    X(f32_e5m2, F32, E5M2, E5M2) X(f16_e4m3, F16, E4M3, E4M3) X(f16_e4m3_e5m2, F16, E4M3, E5M2)                        \
    X(f16_e5m2_e4m3, F16, E5M2, E4M3) X(f16_e5m2, F16, E5M2, E5M2)
#define GROUP_INTS(X) X(s8, S8, S8) X(s8_u8, S8, U8) X(u8_s8, U8, S8) X(u8, U8, U8)
#define X(name, D, A, B) GROUP_FN(name, D, A, B, false)
GROUP_FLOATS(X)
#undef X
#define X(name, A, B) GROUP_FN(s32_##name, S32, A, B, false) GROUP_FN(s32_##name##_sat, S32, A, B, true)
GROUP_INTS(X)
#undef X
GROUP_FN(s32_b1, S32, B1, B1, false)
/* clang-format on */
#define GROUP_FLOAT_ROW(name, D, A, B) GROUP_ROW(D, A, B, 0, name)
#define GROUP_INT_ROWS(name, A, B)                                                                                     \
    GROUP_ROW(S32, A, B, 0, s32_##name) GROUP_ROW(S32, A, B, FLAG(SATFINITE), s32_##name##_sat)
#define GROUP_ORDER(form) WARP_FN(WGMMA, T0, (form) | FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_group_order)

#define ROWS_FILE "isa/exec/exec_wgmma.c"
#define ROWS_NAME wgmma
#include "isa/rows_expand.h"
#else
/* clang-format off */
GROUP_FLOATS(GROUP_FLOAT_ROW)
GROUP_INTS(GROUP_INT_ROWS)
GROUP_ROW(S32, B1, B1, FORM(OPN, AND), s32_b1)
GROUP_ORDER(0)
GROUP_ORDER(FORM(MODE2, COMMIT_GROUP))
WARP_FN(WGMMA, T0, FORM(MODE2, WAIT_GROUP) | FLAG(SYNC), BARRIER, CONTROL, NO_OPDS, exec_group_wait)
/* clang-format on */
#endif
