/* tcgen05: tensor memory, and products whose sums are there (PTX ISA 9.7.16). Every operation changes memory when its
 * instruction executes. PTX allows that, because a thread must wait for an operation before it accesses the data of the
 * operation. So waits and fences do nothing here. mma, cp and commit act once for each lane that executes them, in
 * ascending order.
 *
 * Sums follow the rule of exec_wgmma.c. In tensor memory, each element of d has a column of its own, of which an f16
 * uses the lower half. Elements of a are packed: a column holds two f16. With 128 rows, each lane holds one row. With
 * 64 rows, the 32 lanes of each warp hold 16 rows, in the first or last 16 lanes (data path layouts D and F). */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_mbarrier.h"
#include "exec_mem.h"
#include "isa/group_matrix.h"
#include "isa/rows.h"
#include "isa/tensor_memory.h"
#include "isa/tiles.h"
#include <stdlib.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { MOST_K = 32, SMALLEST = 32, WARP_ROWS = 32 };

/* Faults unless all lanes of the warp execute. */
static bool is_whole(rowmask_t m, struct effects *fx) {
    if (m != LANES_ALL)
        fx_fault_text(fx, FAULT_PARTIAL_WARP, __builtin_ctz(m),
                      "this tcgen05 is executed by all 32 lanes of a warp together; here by lanes 0x%08x alone", m);
    return m == LANES_ALL;
}

static bool refuse(struct effects *fx, int lane, const char *why) {
    fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "%s", why);
    return false;
}

/* ---- allocation ---- */

/* Checks a number of columns. */
static bool columns_fit(uint32_t n, struct effects *fx) {
    if (n >= SMALLEST && n <= TENSOR_COLUMNS && (n & (n - 1)) == 0)
        return true;
    fx_fault_text(fx, FAULT_UNSUPPORTED, 0, "%u columns of tensor memory; a number is a power of two from 32 to 512",
                  n);
    return false;
}

/* Returns the number of the first of `units` adjacent free units, or -1 if there are none. */
static int find_units(const struct tensor_memory *t, unsigned units) {
    for (unsigned at = 0; at + units <= TENSOR_COLUMNS / TENSOR_UNIT; at += units) {
        bool all = true;
        for (unsigned i = 0; i < units; i++)
            all &= !t->owner[at + i];
        if (all)
            return (int)at;
    }
    return -1;
}

static void exec_alloc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct cta *c = w->cta;
    const uint32_t n = *(const uint32_t *)reg_ptr(w, in->b), units = n / TENSOR_UNIT;
    if (!is_whole(m, fx) || !columns_fit(n, fx))
        return;
    if (!c->tensor && !(c->tensor = calloc(1, sizeof *c->tensor))) {
        refuse(fx, 0, "no memory is left on the host for tensor memory");
        return;
    }
    if (c->tensor->relinquished) {
        refuse(fx, 0, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
        return;
    }
    const int first = find_units(c->tensor, units);
    if (first < 0) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, 0,
                      "no %u adjacent columns of tensor memory are free; the warp would wait for a tcgen05.dealloc of "
                      "another warp, which Heddle does not support",
                      n);
        return;
    }
    mem_addresses(w, in, 1, fx, 1);
    mem_lanes_begin(in, fx);
    unsigned char *at = mem_lane(w, in, fx, 0, true);
    const uint32_t address = (uint32_t)first * TENSOR_UNIT;
    if (!at)
        return;
    if (!(fx->shared_lanes & 1)) {
        refuse(fx, 0, "tcgen05.alloc writes the address to shared memory");
        return;
    }
    memcpy(at, &address, sizeof address);
    for (unsigned i = 0; i < units; i++)
        c->tensor->owner[(unsigned)first + i] = (uint8_t)units;
}

static void exec_dealloc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct tensor_memory *t = w->cta->tensor;
    const uint32_t address = *(const uint32_t *)reg_ptr(w, in->a), n = *(const uint32_t *)reg_ptr(w, in->b);
    const unsigned first = address / TENSOR_UNIT, units = n / TENSOR_UNIT;
    if (!is_whole(m, fx) || !columns_fit(n, fx))
        return;
    bool right = t && address % TENSOR_UNIT == 0 && address <= TENSOR_COLUMNS - n && first % units == 0;
    for (unsigned i = 0; right && i < units; i++)
        right = t->owner[first + i] == units;
    if (!right) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, 0, "tcgen05.alloc returned no %u columns at 0x%08x", n, address);
        return;
    }
    memset(t->owner + first, 0, units);
}

static void exec_relinquish(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    if (is_whole(m, fx) && w->cta->tensor)
        w->cta->tensor->relinquished = true;
}

/* ---- addresses ---- */

/* Checks that columns [column, column + n) are allocated. */
static bool allocated(const struct warp *w, uint32_t column, uint32_t n, int lane, struct effects *fx) {
    const struct tensor_memory *t = w->cta->tensor;
    bool all = t && column + n <= TENSOR_COLUMNS;
    for (uint32_t i = column / TENSOR_UNIT; all && i * TENSOR_UNIT < column + n; i++)
        all = t->owner[i] != 0;
    if (!all)
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane,
                      "columns %u to %u of tensor memory are not allocated (tcgen05.alloc)", column, column + n - 1);
    return all;
}

/* ---- ld, st ---- */

/* Returns the row and the column of register `r` of a lane. If the instruction packs, the column counts packed
 * elements. */
static void cell_of(const struct tensor_form *f, unsigned lane, unsigned r, unsigned *row, unsigned *column) {
    const unsigned g = lane / 4, t = lane % 4;
    switch (f->code) {
    case TENSOR_16X64B:
        *row = g + 8 * (t % 2);
        *column = 2 * r + t / 2;
        return;
    case TENSOR_16X128B:
        *row = g + 8 * (r % 2);
        *column = r / 2 * 4 + t;
        return;
    case TENSOR_16X256B:
        *row = g + 8 * (r / 2 % 2);
        *column = r / 4 * 8 + 2 * t + r % 2;
        return;
    case TENSOR_16X32BX2:
        *row = lane % 16;
        *column = r;
        return;
    default:
        *row = lane;
        *column = r;
    }
}

static void move_cells(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, bool load) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const uint32_t *address = reg_ptr(w, in->a), n = in->n_list;
    const opnd_t *list = w->program->lists + in->list;
    const unsigned first_row = w->index % GROUP_WARPS * WARP_ROWS, step = f.flag ? 2 : 1;
    if (!is_whole(m, fx))
        return;
    for (int l = 1; l < WARP_LANES; l++)
        if (address[l] != address[0]) {
            refuse(fx, l, "the address of tensor memory differs between the lanes of the warp");
            return;
        }
    const uint32_t at = address[0] + (uint32_t)f.offset, lane = at >> 16, column = at & 0xffff;
    const bool half = f.code != TENSOR_32X32B;
    if (lane != first_row && !(half && lane == first_row + WARP_ROWS / 2)) {
        fx_fault_text(
            fx, FAULT_UNSUPPORTED, 0,
            "address 0x%08x of tensor memory is in lane %u; this warp accesses lanes %u to %u, from the first%s "
            "of them on",
            at, lane, first_row, first_row + WARP_ROWS - 1, half ? " or the 17th" : "");
        return;
    }
    unsigned last_row, last;
    cell_of(&f, WARP_LANES - 1, n - 1, &last_row, &last);
    if (!allocated(w, column, (last + 1) * step, 0, fx) ||
        (f.code == TENSOR_16X32BX2 && !allocated(w, column + f.more, n * step, 0, fx)))
        return;
    for (unsigned r = 0; r < n; r++) {
        uint32_t *word = load ? reg_out(w, list[r]) : reg_ptr(w, list[r]);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned row, c;
            cell_of(&f, l, r, &row, &c);
            c = column + c * step + (f.code == TENSOR_16X32BX2 && l >= 16 ? f.more : 0);
            uint32_t *cell = &w->cta->tensor->cell[c][lane + row], *next = f.flag ? cell + TENSOR_LANES : cell;
            if (load) {
                word[l] = f.flag ? (*cell & 0xffff) | *next << 16 : *cell;
            } else {
                *next = f.flag ? word[l] >> 16 : word[l];
                *cell = f.flag ? word[l] & 0xffff : word[l];
            }
        }
    }
}

static void exec_ld(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    move_cells(w, in, m, fx, true);
}
static void exec_st(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    move_cells(w, in, m, fx, false);
}
static void exec_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in;
    (void)is_whole(m, fx);
}
static void exec_nothing(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in, (void)m, (void)fx;
}

/* ---- matrices in shared memory ---- */

/* Decodes a descriptor of tcgen05. On a fault, stores the fault in fx and returns false. */
static bool matrix_of(uint64_t d, const char *what, bool across, int lane, struct effects *fx, struct tile *t) {
    static const uint8_t modes[] = {SWIZZLE_NONE, SWIZZLE_128B_32B, SWIZZLE_128B, N_SWIZZLES,
                                    SWIZZLE_64B,  N_SWIZZLES,       SWIZZLE_32B,  N_SWIZZLES};
    const unsigned mode = modes[d >> 61];
    const char *wrong = (d >> 46 & 7) != 1   ? "bits 46 to 48 must be 0b001"
                        : d >> 52 & 1        ? "absolute addresses (bit 52) are not supported"
                        : mode == N_SWIZZLES ? "bits 61 to 63 have no meaning; a swizzle is 0, 1, 2, 4 or 6"
                                             : NULL;
    if (wrong) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "descriptor 0x%016llx of %s: %s", (unsigned long long)d, what,
                      wrong);
        return false;
    }
    *t = tile_of(d, mode, across);
    return true;
}

static const unsigned char *chunk_at(const struct warp *w, uint32_t at, int lane, struct effects *fx) {
    if (at + TILE_CHUNK <= w->cta->shared_bytes)
        return w->cta->shared + at;
    mem_fault(fx, FAULT_OUT_OF_BOUNDS, lane, SPACE_SHARED, at, TILE_CHUNK);
    return NULL;
}

/* ---- cp ---- */

static void copy_matrix(struct warp *w, const struct inst *in, int l, struct effects *fx) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const uint32_t at = ((const uint32_t *)reg_ptr(w, in->a))[l] + (uint32_t)f.offset, column = at & 0xffff;
    const unsigned rows = f.code <= TENSOR_CP_128X128B ? 128 : f.code == TENSOR_CP_32X128B ? 32 : 64;
    const unsigned chunks = f.code == TENSOR_CP_128X256B ? 2 : 1;
    struct tile t;
    if (at >> 16) {
        refuse(fx, l, "tcgen05.cp writes all lanes of tensor memory: the lane of its address must be 0");
        return;
    }
    if (!matrix_of(((const uint64_t *)reg_ptr(w, in->b))[l], "the matrix", false, l, fx, &t) ||
        !allocated(w, column, 4 * chunks, l, fx))
        return;
    for (unsigned row = 0; row < rows; row++)
        for (unsigned c = 0; c < chunks; c++) {
            const unsigned char *from = chunk_at(w, tile_at(&t, row, c), l, fx);
            uint32_t word[4];
            if (!from)
                return;
            memcpy(word, from, sizeof word);
            for (unsigned lane = 0; lane < TENSOR_LANES; lane++) {
                const unsigned warp = lane / WARP_ROWS;
                const unsigned source = rows == 128                         ? lane
                                        : rows == 32                        ? lane % WARP_ROWS
                                        : f.code == TENSOR_CP_64X128B_02_13 ? lane % 64
                                                                            : warp / 2 * WARP_ROWS + lane % WARP_ROWS;
                for (unsigned i = 0; i < 4 && source == row; i++)
                    w->cta->tensor->cell[column + 4 * c + i][lane] = word[i];
            }
        }
}

static void exec_cp(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    for (; m && !fx->fault; m &= m - 1)
        copy_matrix(w, in, __builtin_ctz(m), fx);
}

/* ---- mma ---- */

/* The parameters of a product, from the instruction descriptor and from the kind. */
struct product {
    unsigned m, n, k, d, a, b; /* shape and types */
    unsigned a_bits, b_bits;   /* bits of an element; below 8 bits, a chunk holds 16 elements */
    bool negate_a, negate_b, across_a, across_b, clamp;
};

enum { SMALL_E2M3 = N_TYPES, SMALL_E3M2, SMALL_E2M1 }; /* types of tcgen05.mma beyond those of enum type */

/* Returns the value of element i of a chunk of 16 numbers of 4 or 6 bits, which are adjacent. */
static float small_number(unsigned type, const unsigned char *chunk, unsigned i) {
    const unsigned bits = type == SMALL_E2M1 ? 4 : 6, mantissa = type == SMALL_E2M3 ? 3 : type == SMALL_E3M2 ? 2 : 1;
    const unsigned at = i * bits;
    const uint32_t v = (uint32_t)(chunk[at / 8] | chunk[at / 8 + 1] << 8) >> at % 8 & ((1u << bits) - 1);
    const uint32_t sign = v >> (bits - 1), mag = v & ((1u << (bits - 1)) - 1);
    const float scale = type == SMALL_E3M2 ? 0x1p124f : 0x1p126f;
    return f32_from_bits(f32_bits(f32_from_bits(mag << (23 - mantissa)) * scale) | sign << 31);
}

static void chunk_numbers(unsigned type, unsigned bits, const unsigned char *chunk, float *to) {
    if (type < N_TYPES)
        tile_numbers(type, chunk, to, 128 / bits);
    else
        for (unsigned i = 0; i < 16; i++)
            to[i] = small_number(type, chunk, i);
}

/* Decodes the instruction descriptor. On a fault, stores the fault in fx and returns false. */
static bool product_of(unsigned kind, uint32_t d, bool a_in_tensor, int lane, struct effects *fx, struct product *p) {
    static const uint16_t types[][6] = {[TENSOR_F16] = {T_F16, T_BF16},
                                        [TENSOR_TF32] = {0, 0, T_TF32},
                                        [TENSOR_F8F6F4] = {T_E4M3, T_E5M2, 0, SMALL_E2M3, SMALL_E3M2, SMALL_E2M1},
                                        [TENSOR_I8] = {T_U8, T_S8}};
    static const uint8_t sums[] = {T_F16, T_F32, T_S32, 0};
    const unsigned a = d >> 7 & 7, b = d >> 10 & 7, sum = sums[d >> 4 & 3];
    *p = (struct product){.m = (d >> 24 & 31) * 16,
                          .n = (d >> 17 & 63) * 8,
                          .d = sum,
                          .a = a < 6 ? types[kind][a] : 0,
                          .b = b < 6 ? types[kind][b] : 0,
                          .negate_a = d >> 13 & 1,
                          .negate_b = d >> 14 & 1,
                          .across_a = d >> 15 & 1,
                          .across_b = d >> 16 & 1,
                          .clamp = d >> 3 & 1};
    const unsigned step = p->m == 64 ? 8 : 16;
    const bool right_sum = kind == TENSOR_I8 ? sum == T_S32 : sum == T_F32 || (sum == T_F16 && kind != TENSOR_TF32);
    const char *wrong =
        d >> 2 & 1                              ? "sparse matrices (bit 2) are not supported"
        : p->m != 64 && p->m != 128             ? "M (bits 24 to 28, times 16) must be 64 or 128 with .cta_group::1"
        : p->n < 8 || p->n > 256 || p->n % step ? "N (bits 17 to 22, times 8) must be at most 256, and a multiple of 8 "
                                                  "for M = 64 or of 16 for M = 128"
        : !p->a || !p->b                        ? "the type of a or b does not exist for this kind"
        : !right_sum                            ? "the type of d does not exist for this kind"
        : kind == TENSOR_F16 && p->d == T_F16 && (p->a != T_F16 || p->b != T_F16) ? "sums of bf16 are in f32"
        : p->clamp && kind != TENSOR_I8                                           ? "only kind::i8 saturates"
        : kind == TENSOR_I8 && (p->negate_a || p->negate_b)                       ? "kind::i8 negates no matrix"
        : (p->across_a || p->across_b) && kind == TENSOR_TF32
            ? "tf32 along M or N needs a swizzle that is not supported"
        : a_in_tensor && p->a >= N_TYPES ? "numbers of fewer than 8 bits in tensor memory are not supported"
        : a_in_tensor && p->across_a     ? "a in tensor memory is not transposed"
                                         : NULL;
    if (wrong) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "instruction descriptor 0x%08x: %s", d, wrong);
        return false;
    }
    p->a_bits = p->a < N_TYPES ? group_bits(p->a) : 8;
    p->b_bits = p->b < N_TYPES ? group_bits(p->b) : 8;
    p->k = 256 / p->a_bits;
    return true;
}

/* Returns the lane of tensor memory that holds row `row`, in a matrix of m rows whose address has lane `first`. */
static unsigned lane_of(unsigned m, unsigned first, unsigned row) {
    return m == 128 ? row : row / 16 * WARP_ROWS + row % 16 + first;
}

/* Reads rows of a matrix in shared memory into to[line][k]. */
static bool read_matrix(const struct warp *w, const struct tile *t, unsigned type, unsigned bits, unsigned lines,
                        unsigned k, float to[][MOST_K], int lane, struct effects *fx) {
    const unsigned per = 128 / bits;
    float some[16];
    for (unsigned line = 0; line < (t->across ? k : lines); line++)
        for (unsigned i = 0; i < (t->across ? lines : k); i += per) {
            const unsigned char *chunk = chunk_at(w, tile_at(t, line, i / per), lane, fx);
            if (!chunk)
                return false;
            /* cppcheck-suppress legacyUninitvar ; filled here */
            chunk_numbers(type, bits, chunk, t->across ? some : to[line] + i);
            for (unsigned x = 0; t->across && x < per && i + x < lines; x++)
                to[i + x][line] = some[x];
        }
    return true;
}

static void read_tensor(const struct warp *w, const struct product *p, uint32_t at, float to[][MOST_K]) {
    const unsigned per = 32 / p->a_bits;
    for (unsigned row = 0; row < p->m; row++)
        for (unsigned k = 0; k < p->k; k += 4 * per) {
            uint32_t word[4];
            for (unsigned i = 0; i < 4; i++)
                word[i] = w->cta->tensor->cell[(at & 0xffff) + k / per + i][lane_of(p->m, at >> 16, row)];
            chunk_numbers(p->a, p->a_bits, (const unsigned char *)word, to[row] + k);
        }
}

/* Reads matrix a into to[k][lane of d]. */
static bool read_a(const struct warp *w, const struct inst *in, const struct product *p, bool in_tensor, unsigned first,
                   int l, double to[MOST_K][TENSOR_LANES], struct effects *fx) {
    float x[TENSOR_LANES][MOST_K];
    struct tile t;
    if (in_tensor) {
        const uint32_t at = ((const uint32_t *)reg_ptr(w, in->b))[l];
        if (p->m == 128 ? at >> 16 != 0 : at >> 16 != 0 && at >> 16 != 16)
            return refuse(fx, l, "a in tensor memory begins in lane 0, or with 64 rows in lane 0 or 16");
        if (!allocated(w, at & 0xffff, p->k * p->a_bits / 32, l, fx))
            return false;
        read_tensor(w, p, at, x);
    } else {
        const uint64_t d = ((const uint64_t *)reg_ptr(w, in->b))[l];
        if (!matrix_of(d, "a", p->across_a, l, fx, &t) || !read_matrix(w, &t, p->a, p->a_bits, p->m, p->k, x, l, fx))
            return false;
    }
    memset(to, 0, MOST_K * sizeof *to);
    for (unsigned k = 0; k < p->k; k++)
        for (unsigned row = 0; row < p->m; row++)
            to[k][lane_of(p->m, first, row)] = p->negate_a ? -(double)x[row][k] : (double)x[row][k];
    return true;
}

typedef double lanes8 __attribute__((vector_size(64), may_alias));
enum { AT_ONCE = 8 }; /* maximum number of vectors of sums that the code keeps in registers */

/* Adds a * b to `sum`. The vectors are passed by address, because processors without AVX-512 cannot pass them by
 * value. */
FP_INLINE void multiply_add(lanes8 *sum, const lanes8 *a, double b) {
#if defined(__AVX512F__)
    *sum = (lanes8)_mm512_fmadd_pd((__m512d)*a, _mm512_set1_pd(b), (__m512d)*sum);
#else
    *sum += *a * b;
#endif
}

/* Adds the products of one column. */
FP_INLINE void add_column(double a[MOST_K][TENSOR_LANES], const double *b, unsigned k_end, double *sum) {
    for (unsigned first = 0; first < TENSOR_LANES; first += 8 * AT_ONCE) {
        lanes8 s[AT_ONCE];
        memcpy(s, sum + first, sizeof s);
        for (unsigned k = 0; k < k_end; k++)
            for (unsigned v = 0; v < AT_ONCE; v++)
                multiply_add(&s[v], (const lanes8 *)&a[k][first + 8 * v], b[k]);
        memcpy(sum + first, s, sizeof s);
    }
}

#if defined(__clang__)
#define EACH_LANE(l) _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < TENSOR_LANES; l++)
#else
#define EACH_LANE(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < TENSOR_LANES; l++)
#endif

static void read_sums(unsigned type, const uint32_t *cell, double scale, double *to) {
    if (type == T_F32)
        EACH_LANE(l) to[l] = (double)f32_from_bits(cell[l]) * scale;
    else if (type == T_F16)
        EACH_LANE(l) to[l] = (double)f32_from_f16((uint16_t)cell[l]) * scale;
    else
        EACH_LANE(l) to[l] = (double)(int32_t)cell[l];
}

static void write_sums(unsigned type, bool clamp, const double *s, const uint32_t *on, uint32_t *cell) {
    const double most = 2147483647.0, least = -2147483648.0;
    uint32_t word[TENSOR_LANES];
    if (type == T_F32)
        EACH_LANE(l) word[l] = s[l] != s[l] ? F32_NAN : f32_bits((float)s[l]);
    else if (type == T_F16)
        EACH_LANE(l) word[l] = f16_from_f32(f32_odd(s[l]), RND_RN);
    else
        EACH_LANE(l) word[l] = (uint32_t)(int64_t)(clamp ? (s[l] > most ? most : s[l] < least ? least : s[l]) : s[l]);
    EACH_LANE(l) cell[l] = (word[l] & on[l]) | (cell[l] & ~on[l]);
}

/* Executes the multiplication for one lane of the warp. */
static void multiply(struct warp *w, const struct inst *in, int l, struct effects *fx) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const opnd_t *list = w->program->lists + in->list;
    const uint32_t at = ((const uint32_t *)reg_ptr(w, in->a))[l] + (uint32_t)f.offset, column = at & 0xffff;
    const unsigned first = at >> 16;
    const bool adds = pred_get(w, in->e) >> l & 1;
    _Alignas(64) double a[MOST_K][TENSOR_LANES], sum[TENSOR_LANES];
    float b[GROUP_MOST_N][MOST_K];
    uint32_t on[TENSOR_LANES] = {0};
    struct product p;
    struct tile t;
    if (!product_of(f.code, ((const uint32_t *)reg_ptr(w, list[0]))[l], f.flag, l, fx, &p))
        return;
    if (p.m == 128 ? first != 0 : first != 0 && first != 16) {
        refuse(fx, l, "d in tensor memory begins in lane 0, or with 64 rows in lane 0 or 16");
        return;
    }
    if (!allocated(w, column, p.n, l, fx) || !read_a(w, in, &p, f.flag, first, l, a, fx) ||
        !matrix_of(((const uint64_t *)reg_ptr(w, in->c))[l], "b", p.across_b, l, fx, &t) ||
        !read_matrix(w, &t, p.b, p.b_bits, p.n, p.k, b, l, fx))
        return;
    for (unsigned row = 0; row < p.m; row++) {
        const unsigned lane = lane_of(p.m, first, row);
        const bool off = f.masks && ((const uint32_t *)reg_ptr(w, list[1 + lane / 32]))[l] >> lane % 32 & 1;
        on[lane] = off ? 0 : UINT32_MAX;
    }
    for (unsigned n = 0; n < p.n; n++) {
        uint32_t *cell = w->cta->tensor->cell[column + n];
        double x[MOST_K];
        for (unsigned k = 0; k < p.k; k++)
            x[k] = p.negate_b ? -(double)b[n][k] : (double)b[n][k];
        memset(sum, 0, sizeof sum);
        if (adds)
            read_sums(p.d, cell, 1.0 / (double)(1u << f.more), sum);
        add_column(a, x, p.k, sum);
        write_sums(p.d, p.clamp, sum, on, cell);
    }
}

static void exec_mma(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    for (; m && !fx->fault; m &= m - 1)
        multiply(w, in, __builtin_ctz(m), fx);
}

#define TENSOR_ROW(operation, types, form, lat, opds, fn)                                                              \
    WARP_FN(TCGEN05, types, FORM(MODE2, operation) | (form), WARP, lat, opds, fn)

#define ROWS_FILE "isa/exec/exec_tcgen05.c"
#define ROWS_NAME tcgen05
#include "isa/rows_expand.h"
#else
/* clang-format off */
TENSOR_ROW(ALLOC, T1(B32), FLAG(SYNC), MEM, OPDS(NONE, NONE, NONE, B32, NONE, NONE), exec_alloc)
TENSOR_ROW(DEALLOC, T1(B32), FLAG(SYNC), CONTROL, OPDS(NONE, NONE, B32, B32, NONE, NONE), exec_dealloc)
TENSOR_ROW(RELINQUISH, T0, FLAG(SYNC), CONTROL, NO_OPDS, exec_relinquish)
TENSOR_ROW(LD, T1(B32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_ld)
TENSOR_ROW(ST, T1(B32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_st)
/* The rows of waits and fences, whose functions do nothing. */
WARP_FN(TCGEN05, T0, FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_wait)
WARP_FN(TCGEN05, T0, 0, WARP, CONTROL, NO_OPDS, exec_nothing)
TENSOR_ROW(CP, T0, 0, MEM, OPDS(NONE, NONE, B32, B64, NONE, NONE), exec_cp)
TENSOR_ROW(MULTIPLY, T0, 0, MMA, OPDS(NONE, NONE, B32, B64, B64, PRED), exec_mma)
/* clang-format on */
#endif
