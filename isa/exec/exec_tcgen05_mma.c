/* tcgen05.mma: products whose sums are in tensor memory (PTX ISA 9.7.16.10). A product changes memory when its
 * instruction executes, once for each lane that executes it, in ascending order.
 *
 * Sums follow the rule of exec_wgmma.c. Scales multiply the elements of a and b, which is exact in f64. The zeros of a
 * sparse matrix add no products. In tensor memory, each element of d has a column of its own (an f16 has the lower
 * half), and the elements of a have no gaps, except that numbers of 4 and 6 bits are in bytes for kinds f8f6f4 and
 * mxf8f6f4: bits 0 to 5, an e2m1 in bits 2 to 5.
 *
 * With .cta_group::2, each CTA of the pair has half of the rows of a and d, and its shared memory has half of the
 * columns of b. The CTA with the even rank has the first halves.
 *
 * The rows of d in the 128 lanes of a CTA depend on M and on the modifiers:
 *   128 rows: one row in each lane
 *   64 rows: 16 rows in the first or last 16 lanes of each 32 (data path layouts F and C)
 *   64 rows with .ws, or of a dense product of a pair: the first half of the columns is in lanes 0 to 63, the second
 *     in lanes 64 to 127 (layouts E and B)
 *   32 rows with .ws: each 32 lanes have a quarter of the columns (layout G)
 * Where several groups of lanes have the same row, each group reads its own copy of a, of the metadata and of the
 * scales in tensor memory. [reading] for .ws; CUTLASS says it for pairs. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_tcgen05.h"
#include "isa/group_matrix.h"
#include "isa/rows.h"
#include "small_floats.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { MOST_K = 128, BLOCK_LANES = 32, ROWS_OF_K96 = 256 };

/* Storage formats of small elements, beside the types of enum type.
 * SMALL: a chunk of 16 bytes has 16 numbers of 4 or 6 bits without gaps, then padding.
 * HELD: each number of 4 or 6 bits takes a byte.
 * PACKED: a chunk of 16 bytes has 32 numbers of 4 bits. */
enum { SMALL_E2M3 = N_TYPES, SMALL_E3M2, SMALL_E2M1, HELD_E2M3_BYTE, HELD_E3M2_BYTE, HELD_E2M1_BYTE, PACKED_E2M1 };

/* The properties of a product, from the instruction and its descriptor. */
struct product {
    unsigned m, n, k, d, a, b;   /* shape and types; k of the whole product */
    unsigned a_bits, b_bits;     /* bits of an element in shared memory; below 8 bits, a chunk holds 16 elements */
    unsigned ctas, rows, groups; /* CTAs, rows of d in a CTA, groups of lanes with different columns */
    bool half;                   /* only 16 of each 32 lanes hold a row of d */
    bool negate_a, negate_b, across_a, across_b, clamp;
    bool sparse, ashift, ue4m3;
    unsigned scales;               /* number of scale factors along k; 0: no scaling */
    unsigned id_a, id_b;           /* for a and b: byte, in a 32-bit cell, at which a row's scales begin */
    unsigned selector, most_shift; /* sparsity selector of the metadata; largest shift of the zero-column mask */
};

/* The addresses of a product in tensor memory, and its masks. */
struct places {
    uint32_t d, a, metadata, scale_a, scale_b;
    uint64_t descriptor_a, descriptor_b, zeros;
    const uint32_t *masks[8]; /* registers whose bits select lanes that do not write d; NULL: every lane writes d */
};

/* The numbers of one CTA's share of a product. `kept` marks the elements of a sparse matrix a that are stored. */
struct numbers {
    _Alignas(64) double a[MOST_K][TENSOR_LANES];
    float b[GROUP_MOST_N][MOST_K];
    bool zero[GROUP_MOST_N]; /* by column of b: the mask sets the column to zero */
    bool kept[MOST_K][TENSOR_LANES];
    bool special; /* true: b has an infinity or a NaN */
};

/* ---- descriptors ---- */

/* Reads the instruction descriptor of a kind without scales. Returns the reason why it is invalid, or NULL if it is
 * valid. */
static const char *plain_fields(struct product *p, uint32_t d, unsigned kind, bool weights) {
    static const uint8_t sums[] = {T_F16, T_F32, T_S32, 0};
    const bool integers = kind == TENSOR_I8;
    p->d = sums[d >> 4 & 3];
    p->clamp = d >> 3 & 1;
    p->selector = d & 3;
    p->most_shift = (unsigned[]){0, 8, 16, 32}[d >> 30];
    const bool right_sum = integers ? p->d == T_S32 : p->d == T_F32 || (p->d == T_F16 && kind != TENSOR_TF32);
    return d & 1u << 6 || d & 1u << 23 || d & 1u << 29 ? "bits 6, 23 and 29 must be 0"
           : !right_sum                                ? "the type of d does not exist for this kind"
           : kind == TENSOR_F16 && p->d == T_F16 && (p->a != T_F16 || p->b != T_F16) ? "sums of bf16 are in f32"
           : p->clamp && !integers                                                   ? "only kind::i8 saturates"
           : integers && (p->negate_a || p->negate_b)                                ? "kind::i8 negates no matrix"
           : p->most_shift && !weights ? "only .ws shifts columns (bits 30 and 31)"
           : p->sparse && p->selector && kind >= TENSOR_F8F6F4
               ? "the sparsity selector (bits 0 and 1) must be 0 for 8-bit kinds"
               : NULL;
}

/* Reads the fields of kinds with scales. */
static const char *scaled_fields(struct product *p, uint32_t d, unsigned kind, unsigned scales) {
    const bool packed = kind != TENSOR_MXF8F6F4, long_k = packed && d >> 31;
    p->d = T_F32;
    p->ue4m3 = !(d >> 23 & 1);
    p->scales = long_k ? scales * 3 / 2 : scales;
    p->id_b = d >> 4 & 3;
    p->id_a = d >> 29 & 3;
    const unsigned step = scales == 1 || p->scales == 3 ? 1 : scales == 2 || long_k ? 2 : 4;
    return d & 0x4b || d & 7u << 24 || (packed && d & 1u << 12) ? "bits 0, 1, 3, 6 and 24 to 26 must be 0"
           : p->ue4m3 && (kind != TENSOR_MXF4NVF4 || scales != 4)
               ? "scales of ue4m3 (bit 23) go with kind::mxf4nvf4 and four scales"
           : p->id_a % step || p->id_b % step
               ? "a scale factor ID (bits 4, 5, 29, 30) must be even with two scales, and 0 with four"
           : !packed && d >> 31 ? "bit 31 must be 0 for kind::mxf8f6f4"
           : long_k && (p->sparse || p->m != ROWS_OF_K96)
               ? "k = 96 (bit 31) needs a dense product with M = 256 and .cta_group::2"
           : packed && (p->across_a || p->across_b) ? "kinds mxf4 and mxf4nvf4 transpose no matrix"
                                                    : NULL;
}

/* Returns true if a product of this kind has n columns. */
static bool columns_exist(const struct product *p, unsigned kind, unsigned flags) {
    const unsigned n = p->n;
    const bool pair = flags & TENSOR_PAIR, bytes = p->across_b && p->b_bits == 8;
    if (flags & TENSOR_WEIGHTS)
        return n == 64 || n == 128 || (n == 256 && !p->sparse);
    if (n < 8 || n > GROUP_MOST_N || n % 8)
        return false;
    if (pair)
        return n % (kind == TENSOR_I8 || bytes ? 32 : 16) == 0;
    return n % 16 == 0 || (!bytes && (kind != TENSOR_I8 || n < 32));
}

static const char *wrong_shape(const struct product *p, unsigned kind, unsigned flags) {
    const bool pair = flags & TENSOR_PAIR, weights = flags & TENSOR_WEIGHTS, scaled = kind >= TENSOR_MXF8F6F4;
    if (weights && p->m != 32 && p->m != 64 && p->m != 128)
        return "M (bits 24 to 28, times 16) must be 32, 64 or 128 with .ws";
    if (pair && p->m != 256 && (p->m != 128 || (scaled && p->sparse)))
        return "M (bits 24 to 28, times 16) must be 128 or 256 with .cta_group::2, and 256 if a is sparse and scaled";
    if (!pair && !weights && p->m != 128 && (p->m != 64 || scaled))
        return "M (bits 24 to 28, times 16) must be 64 or 128 with .cta_group::1, and 128 with scales";
    if (p->ashift && p->m < 128)
        return ".ashift needs M = 128 or 256";
    return columns_exist(p, kind, flags) ? NULL : "this N (bits 17 to 22, times 8) does not exist for this kind";
}

/* Sets the types of a and b. */
static void set_types(struct product *p, uint32_t d, unsigned kind) {
    static const uint16_t types[][6] = {[TENSOR_F16] = {T_F16, T_BF16},
                                        [TENSOR_TF32] = {0, 0, T_TF32},
                                        [TENSOR_F8F6F4] = {T_E4M3, T_E5M2, 0, SMALL_E2M3, SMALL_E3M2, SMALL_E2M1},
                                        [TENSOR_I8] = {T_U8, T_S8},
                                        [TENSOR_MXF8F6F4] = {T_E4M3, T_E5M2, 0, SMALL_E2M3, SMALL_E3M2, SMALL_E2M1},
                                        [TENSOR_MXF4] = {0, PACKED_E2M1},
                                        [TENSOR_MXF4NVF4] = {0, PACKED_E2M1}};
    const unsigned a = d >> 7 & 7, b = d >> 10 & (kind >= TENSOR_MXF4 ? 3 : 7);
    p->a = a < 6 ? types[kind][a] : 0;
    p->b = b < 6 ? types[kind][b] : 0;
    p->a_bits = p->a < N_TYPES ? group_bits(p->a) : p->a == PACKED_E2M1 ? 4 : 8;
    p->b_bits = p->b < N_TYPES ? group_bits(p->b) : p->b == PACKED_E2M1 ? 4 : 8;
}

/* Decodes the instruction descriptor. Returns false if fx holds a fault. */
static bool product_of(const struct tensor_form *f, uint32_t d, int lane, struct effects *fx, struct product *p) {
    const unsigned kind = f->code, flags = f->flags;
    const bool scaled = kind >= TENSOR_MXF8F6F4, in_tensor = flags & TENSOR_A, sparse = flags & TENSOR_SPARSE;
    *p = (struct product){.m = (d >> 24 & (scaled ? 24 : 31)) * 16,
                          .n = (d >> 17 & 63) * 8,
                          .negate_a = d >> 13 & 1,
                          .negate_b = d >> 14 & 1,
                          .across_a = d >> 15 & 1,
                          .across_b = d >> 16 & 1,
                          .sparse = sparse,
                          .ashift = flags & TENSOR_SHIFT,
                          .ctas = flags & TENSOR_PAIR ? 2 : 1};
    set_types(p, d, kind);
    const bool has_bit = d >> 2 & 1;
    const char *wrong = !p->a || !p->b       ? "the type of a or b does not exist for this kind"
                        : sparse && !has_bit ? ".sp needs the sparsity bit (bit 2)"
                        : has_bit && !sparse ? "the sparsity bit (bit 2) needs .sp"
                        : scaled             ? scaled_fields(p, d, kind, f->more)
                                             : plain_fields(p, d, kind, flags & TENSOR_WEIGHTS);
    if (!wrong)
        wrong = wrong_shape(p, kind, flags);
    if (!wrong && ((p->across_a && p->a >= N_TYPES) || (p->across_b && p->b >= N_TYPES)))
        wrong = "numbers of 4 or 6 bits are not transposed";
    if (!wrong && in_tensor && p->across_a)
        wrong = "a in tensor memory is not transposed";
    if (wrong) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "instruction descriptor 0x%08x: %s", d, wrong);
        return false;
    }
    p->k = (p->scales && p->scales % 3 == 0 ? 96 : 256 / p->a_bits) << sparse;
    p->rows = p->m / p->ctas;
    p->groups = flags & TENSOR_WEIGHTS ? TENSOR_LANES / p->m : p->ctas == 2 && p->m == 128 && !sparse ? 2 : 1;
    p->half = p->rows == 64 && p->groups == 1;
    return true;
}

/* Returns the lane that holds row `row` of a CTA in group `g` of lanes. `first` is the lane of the matrix's address. */
static unsigned lane_of(const struct product *p, unsigned first, unsigned row, unsigned g) {
    return p->half ? row / 16 * BLOCK_LANES + row % 16 + first : row + g * (TENSOR_LANES / p->groups);
}

/* ---- elements ---- */

/* Returns element i of a chunk of the format SMALL or PACKED. The elements are adjacent. */
static float small_number(unsigned type, const unsigned char *chunk, unsigned i) {
    const unsigned bits = type == SMALL_E2M1 || type == PACKED_E2M1 ? 4 : 6, at = i * bits;
    const unsigned two = chunk[at / 8] | (at / 8 + 1 < TILE_CHUNK ? chunk[at / 8 + 1] << 8 : 0);
    const uint32_t v = two >> at % 8 & ((1u << bits) - 1);
    return type == SMALL_E2M3 ? f32_from_E2M3(v) : type == SMALL_E3M2 ? f32_from_E3M2(v) : f32_from_E2M1(v);
}

static float held_number(unsigned type, unsigned byte) {
    return type == HELD_E2M3_BYTE   ? f32_from_E2M3(byte & 63)
           : type == HELD_E3M2_BYTE ? f32_from_E3M2(byte & 63)
                                    : f32_from_E2M1(byte >> 2 & 15);
}

static void chunk_numbers(unsigned type, unsigned bits, const unsigned char *chunk, float *to) {
    if (type < N_TYPES)
        tile_numbers(type, chunk, to, 128 / bits);
    else
        for (unsigned i = 0; i < 128 / bits; i++)
            to[i] = type >= HELD_E2M3_BYTE && type <= HELD_E2M1_BYTE ? held_number(type, chunk[i])
                                                                     : small_number(type, chunk, i);
}

/* Reads lines [first, first + lines) of a matrix in shared memory: to[line][k]. */
static bool read_matrix(const struct cta *c, const struct tile *t, unsigned type, unsigned bits, unsigned first,
                        unsigned lines, unsigned k, float to[][MOST_K], int lane, struct effects *fx) {
    const unsigned per = 128 / bits, last = first + lines;
    float some[32];
    if (!t->across) {
        for (unsigned line = first; line < last; line++)
            for (unsigned i = 0; i < k; i += per) {
                const unsigned char *chunk = tensor_chunk(c, tile_at(t, line, i / per), lane, fx);
                if (!chunk)
                    return false;
                chunk_numbers(type, bits, chunk, to[line - first] + i);
            }
        return true;
    }
    for (unsigned line = 0; line < k; line++)
        for (unsigned i = first / per * per; i < last; i += per) {
            const unsigned char *chunk = tensor_chunk(c, tile_at(t, line, i / per), lane, fx);
            if (!chunk)
                return false;
            /* cppcheck-suppress legacyUninitvar ; filled here */
            chunk_numbers(type, bits, chunk, some);
            for (unsigned x = 0; x < per; x++)
                if (i + x >= first && i + x < last)
                    to[i + x - first][line] = some[x];
        }
    return true;
}

/* Reads k elements of a from one lane of tensor memory, starting at `column`. */
static void read_lane(const struct cta *c, const struct product *p, uint32_t column, unsigned lane, unsigned k,
                      float *to) {
    const unsigned per = 32 / p->a_bits;
    const unsigned type = p->a >= SMALL_E2M3 && p->a <= SMALL_E2M1 ? p->a - SMALL_E2M3 + HELD_E2M3_BYTE : p->a;
    for (unsigned i = 0; i < k; i += 4 * per) {
        uint32_t word[4];
        for (unsigned x = 0; x < 4; x++)
            word[x] = c->tensor->cell[column + i / per + x][lane];
        chunk_numbers(type, p->a_bits, (const unsigned char *)word, to + i);
    }
}

/* ---- sparse matrices ---- */

/* Returns the four bits of metadata that give the positions of the stored elements in group `group` of a row (PTX ISA
 * 9.7.16.10.8.4). If elements have 16 or 32 bits, 16 bits of metadata cover half of k of a row. Rows r and r + 8 then
 * share a word. Of each 16 lanes, the first 8 have the first half of k. If elements have fewer bits, the row has up to
 * 64 bits of metadata in its own lane. */
static unsigned metadata_of(const struct cta *c, const struct product *p, uint32_t at, unsigned row, unsigned g,
                            unsigned group) {
    const uint32_t column = at & 0xffff;
    if (p->a_bits <= 8)
        return c->tensor->cell[column + group / 8][lane_of(p, at >> 16, row, g)] >> group % 8 * 4 & 15;
    const unsigned lane = lane_of(p, at >> 16, row / 16 * 16 + row % 8 + group / 4 * 8, g);
    return c->tensor->cell[column + p->selector][lane] >> (row / 8 % 2 * 16 + group % 4 * 4) & 15;
}

/* Writes the stored elements `x` of a sparse row to their columns in lane `lane` of n->a. Returns false if fx holds a
 * fault. */
static bool expand_row(const struct cta *c, const struct product *p, uint32_t metadata, unsigned row, unsigned lane,
                       unsigned g, const float *x, struct numbers *n, int l, struct effects *fx) {
    const unsigned of = p->a_bits == 32 ? 2 : p->a_bits == 4 ? 8 : 4;
    for (unsigned i = 0; i < p->k / of; i++) {
        const unsigned bits = metadata_of(c, p, metadata, row, g, i), first = bits & 3, second = bits >> 2;
        const bool right = of == 2 ? bits == 14 || bits == 4 : first < second || bits == 6;
        if (!right) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l, "metadata 0x%x of row %u of a, elements %u to %u, is undefined",
                          bits, row, i * of, i * of + of - 1);
            return false;
        }
        for (unsigned s = 0; s < of / 2; s++) {
            const unsigned k = i * of + (of == 2   ? first / 2
                                         : of == 4 ? (s ? second : first)
                                                   : 2 * (s / 2 ? second : first) + s % 2);
            n->a[k][lane] = (double)x[i * of / 2 + s];
            n->kept[k][lane] = true;
        }
    }
    return true;
}

/* ---- matrix a ---- */

static bool check_lanes(const struct product *p, const struct places *at, bool in_tensor, int l, struct effects *fx) {
    const unsigned d = at->d >> 16;
    if (p->half ? d != 0 && d != 16 : d != 0)
        return tensor_refuse(fx, l, "d in tensor memory begins in lane 0, or with 16 rows in 32 lanes in lane 0 or 16");
    if ((in_tensor && at->a >> 16 != d) || (p->sparse && at->metadata >> 16 != d))
        return tensor_refuse(fx, l, "a, d and the metadata in tensor memory begin in different lanes");
    if ((at->scale_a | at->scale_b) >> 16)
        return tensor_refuse(fx, l, "the scales in tensor memory begin in lane 0");
    return true;
}

/* Reads the rows of a that belong to CTA `c`. Writes them to n->a[k][lane of d]. */
static bool read_a(const struct cta *c, const struct product *p, const struct places *at, bool in_tensor,
                   struct numbers *n, int l, struct effects *fx) {
    float x[TENSOR_LANES][MOST_K], y[MOST_K];
    const unsigned k = p->k >> p->sparse;
    const uint32_t column = at->a & 0xffff;
    struct tile t;
    if (in_tensor) {
        if (!tensor_allocated(c, column, k * p->a_bits / 32, l, fx))
            return false;
    } else if (!tensor_matrix(at->descriptor_a, "a", p->across_a, p->a_bits == 32, l, fx, &t) ||
               !read_matrix(c, &t, p->a, p->a_bits, 0, p->rows, k, x, l, fx)) {
        return false;
    }
    if (p->sparse && !tensor_allocated(c, at->metadata & 0xffff, p->a_bits <= 8 ? 2 : p->selector + 1, l, fx))
        return false;
    memset(n->a, 0, p->k * sizeof *n->a);
    if (p->sparse)
        memset(n->kept, 0, p->k * sizeof *n->kept);
    for (unsigned g = 0; g < p->groups; g++)
        for (unsigned row = 0; row < p->rows; row++) {
            const unsigned lane = lane_of(p, at->d >> 16, row, g);
            const float *from = in_tensor ? y : x[row];
            const unsigned source =
                row + (p->ashift && row + 1 < p->rows); /* .ashift moves the metadata, too [reading] */
            if (in_tensor)
                read_lane(c, p, column, lane_of(p, at->d >> 16, source, g), k, y);
            if (p->sparse && !expand_row(c, p, at->metadata, source, lane, g, from, n, l, fx))
                return false;
            for (unsigned i = 0; i < p->k && !p->sparse; i++)
                n->a[i][lane] = (double)from[i];
        }
    for (unsigned i = 0; i < p->k && p->negate_a; i++)
        for (unsigned lane = 0; lane < TENSOR_LANES; lane++)
            n->a[i][lane] = -n->a[i][lane];
    return true;
}

/* ---- matrix b ---- */

/* Sets n->zero from the zero-column mask descriptor (PTX ISA 9.7.16.4.3). Each group of lanes has a sub-mask. Spans of
 * used and of skipped columns take turns; a start count leaves out the first columns of the sub-mask. As in the
 * manual's examples, `use span` counts the columns that are used. Returns the shift of the columns, or -1 if fx holds a
 * fault. */
static int mask_columns(const struct product *p, uint64_t z, struct numbers *n, int l, struct effects *fx) {
    const unsigned shift = z >> 56 & 63, skip = (unsigned)(z >> 40 & 255) + 1, use = (unsigned)(z >> 48 & 255) + 1;
    const unsigned of = p->n / p->groups;
    if (shift > p->most_shift || (p->m == 32 && shift > 16)) {
        fx_fault_text(
            fx, FAULT_UNSUPPORTED, l,
            "zero-column mask 0x%016llx shifts by %u columns; the instruction descriptor (bits 30 and 31) allows "
            "%u, and M = 32 allows 16",
            (unsigned long long)z, shift, p->most_shift);
        return -1;
    }
    for (unsigned g = 0; g < p->groups; g++) {
        const unsigned first = z >> (32 + g) & 1, start = z >> 8 * g & 255, phase = start + (first ? use : 0);
        for (unsigned i = 0; i < of; i++)
            n->zero[g * of + i] = z >> 39 & 1 && (i + phase) % (use + skip) >= use;
    }
    return (int)shift;
}

/* Reads b, whose columns are in the shared memory of one or two CTAs. */
static bool read_b(struct cta *const cta[2], const struct product *p, const struct places *at, bool masks,
                   struct numbers *n, int l, struct effects *fx) {
    const unsigned columns = p->n / p->ctas;
    const int shift = masks ? mask_columns(p, at->zeros, n, l, fx) : 0;
    struct tile t;
    if (shift < 0 || !tensor_matrix(at->descriptor_b, "b", p->across_b, p->b_bits == 32, l, fx, &t))
        return false;
    for (unsigned i = 0; i < p->ctas; i++)
        if (!read_matrix(cta[i], &t, p->b, p->b_bits, (unsigned)shift, columns, p->k, n->b + i * columns, l, fx))
            return false;
    n->special = false;
    for (unsigned i = 0; i < p->n; i++)
        for (unsigned k = 0; k < p->k; k++) {
            n->b[i][k] = masks && n->zero[i] ? 0 : p->negate_b ? -n->b[i][k] : n->b[i][k];
            n->special |= n->b[i][k] - n->b[i][k] != 0;
        }
    return true;
}

/* ---- scales ---- */

/* Returns scale `s` of line `i` (a row of a, or a column of b) of a matrix with `lines` lines. The 32 lanes that begin
 * at `lane` hold all scales: line i is in column i / 32 and lane i % 32, and a cell has four scales. The fifth and
 * later scales are in further columns, behind the first four scales of all lines [reading]. */
static float scale_at(const struct cta *c, const struct product *p, uint32_t at, unsigned id, unsigned lines,
                      unsigned i, unsigned s, unsigned lane) {
    const unsigned byte = id + s, column = (at & 0xffff) + i / 32 + byte / 4 * ((lines + 31) / 32);
    const uint32_t bits = c->tensor->cell[column][lane + i % 32] >> byte % 4 * 8;
    return p->ue4m3 ? f32_from_E4M3(bits & 0x7f) : (float)f64_from_ue8m0(bits & 0xff);
}

/* Returns the number of columns of tensor memory that hold the scales of `lines` lines. */
static unsigned scale_columns(const struct product *p, unsigned id, unsigned lines) {
    return (lines + 31) / 32 * ((id + p->scales + 3) / 4);
}

/* Multiplies a by its scales. */
static bool scale_a(const struct cta *c, const struct product *p, const struct places *at, struct numbers *n, int l,
                    struct effects *fx) {
    const unsigned block = p->k / p->scales;
    if (!tensor_allocated(c, at->scale_a & 0xffff, scale_columns(p, p->id_a, p->rows), l, fx) ||
        !tensor_allocated(c, at->scale_b & 0xffff, scale_columns(p, p->id_b, p->n / p->groups), l, fx))
        return false;
    for (unsigned lane = 0; lane < TENSOR_LANES; lane++)
        for (unsigned s = 0; s < p->scales; s++) {
            const float x =
                scale_at(c, p, at->scale_a, p->id_a, p->rows, lane % p->rows, s, lane / BLOCK_LANES * BLOCK_LANES);
            for (unsigned k = s * block; k < (s + 1) * block; k++)
                n->a[k][lane] *= (double)x;
        }
    return true;
}

/* ---- sums ---- */

typedef double lanes8 __attribute__((vector_size(64), may_alias));

/* Adds a * b to `sum`. The vectors are passed by address, because processors without AVX-512 cannot pass them by
 * value. */
FP_INLINE void multiply_add(lanes8 *sum, const lanes8 *a, double b) {
#if defined(__AVX512F__)
    *sum = (lanes8)_mm512_fmadd_pd((__m512d)*a, _mm512_set1_pd(b), (__m512d)*sum);
#else
    *sum += *a * b;
#endif
}

/* Adds the products of one column to the sums of `lanes` lanes, 32 or 64. */
FP_INLINE void add_lanes(double a[MOST_K][TENSOR_LANES], const double *b, unsigned k_end, unsigned first,
                         const unsigned lanes, double *sum) {
    lanes8 s[8];
    memcpy(s, sum + first, lanes * sizeof *sum);
    for (unsigned k = 0; k < k_end; k++)
        for (unsigned v = 0; v < lanes / 8; v++)
            multiply_add(&s[v], (const lanes8 *)&a[k][first + 8 * v], b[k]);
    memcpy(sum + first, s, lanes * sizeof *sum);
}

/* Works as add_lanes(), but multiplies only the stored elements of a sparse matrix a. Used if b has infinities or NaN,
 * because their products with the zeros of a would be NaN. */
static void add_kept(const struct numbers *n, const double *b, unsigned k_end, unsigned first, unsigned lanes,
                     double *sum) {
    for (unsigned k = 0; k < k_end; k++)
        for (unsigned l = first; l < first + lanes; l++)
            if (n->kept[k][l])
                sum[l] = n->a[k][l] * b[k] + sum[l];
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

/* Adds the products of column `column` of each group of lanes to the sums of a CTA. */
static void add_column(const struct cta *c, const struct product *p, const struct places *at, struct numbers *n,
                       unsigned column, double *sum) {
    const unsigned of_group = p->n / p->groups, lanes_of_group = TENSOR_LANES / p->groups,
                   block = p->scales ? p->k / p->scales : 0;
    const unsigned step = p->scales || lanes_of_group == BLOCK_LANES ? BLOCK_LANES : 2 * BLOCK_LANES;
    double x[MOST_K];
    for (unsigned first = 0; first < TENSOR_LANES; first += step) {
        const float *b = n->b[first / lanes_of_group * of_group + column];
        for (unsigned k = 0; k < p->k && (first % lanes_of_group == 0 || p->scales); k++)
            x[k] = (double)b[k];
        for (unsigned s = 0; s < p->scales; s++) {
            const double scale = (double)scale_at(c, p, at->scale_b, p->id_b, of_group, column, s, first);
            for (unsigned k = s * block; k < (s + 1) * block; k++)
                x[k] *= scale;
        }
        if (p->sparse && n->special)
            add_kept(n, x, p->k, first, step, sum);
        else if (step == BLOCK_LANES)
            add_lanes(n->a, x, p->k, first, BLOCK_LANES, sum);
        else
            add_lanes(n->a, x, p->k, first, 2 * BLOCK_LANES, sum);
    }
}

/* Returns the addresses and masks in the registers of one lane. */
static struct places places_of(const struct warp *w, const struct inst *in, const struct tensor_form *f, int l) {
    const opnd_t *list = w->program->lists + in->list + 1;
    const uint32_t *a = reg_ptr(w, in->b);
    struct places at = {.d = ((const uint32_t *)reg_ptr(w, in->a))[l] + (uint32_t)f->offset,
                        .descriptor_b = ((const uint64_t *)reg_ptr(w, in->c))[l]};
    if (f->flags & TENSOR_A)
        at.a = a[l];
    else
        at.descriptor_a = ((const uint64_t *)reg_ptr(w, in->b))[l];
    if (f->flags & TENSOR_SPARSE)
        at.metadata = ((const uint32_t *)reg_ptr(w, *list++))[l];
    if (f->code >= TENSOR_MXF8F6F4) {
        at.scale_a = ((const uint32_t *)reg_ptr(w, *list++))[l];
        at.scale_b = ((const uint32_t *)reg_ptr(w, *list++))[l];
    }
    for (unsigned i = 0; f->flags & TENSOR_MASKS && i < (f->flags & TENSOR_PAIR ? 8 : 4); i++)
        at.masks[i] = reg_ptr(w, *list++);
    if (f->flags & TENSOR_ZEROS)
        at.zeros = ((const uint64_t *)reg_ptr(w, *list))[l];
    return at;
}

/* Computes the part of the product that belongs to CTA number `i` of the pair. */
static bool multiply_in(struct cta *c, unsigned i, const struct product *p, const struct places *at,
                        const struct tensor_form *f, bool adds, struct numbers *n, int l, struct effects *fx) {
    _Alignas(64) double sum[TENSOR_LANES];
    uint32_t on[TENSOR_LANES] = {0};
    const uint32_t column = at->d & 0xffff, columns = p->n / p->groups;
    const double scale = p->scales ? 1 : 1.0 / (double)(1u << f->more);
    if (!tensor_allocated(c, column, columns, l, fx) || !read_a(c, p, at, f->flags & TENSOR_A, n, l, fx) ||
        (p->scales && !scale_a(c, p, at, n, l, fx)))
        return false;
    for (unsigned row = 0; row < p->rows * p->groups; row++) {
        const unsigned lane = lane_of(p, at->d >> 16, row % p->rows, row / p->rows);
        const uint32_t *mask = at->masks[4 * i + lane / 32];
        on[lane] = mask && mask[l] >> lane % 32 & 1 ? 0 : UINT32_MAX;
    }
    for (unsigned x = 0; x < columns; x++) {
        uint32_t *cell = c->tensor->cell[column + x];
        memset(sum, 0, sizeof sum);
        if (adds)
            read_sums(p->d, cell, scale, sum);
        add_column(c, p, at, n, x, sum);
        write_sums(p->d, p->clamp, sum, on, cell);
    }
    return true;
}

/* Executes the product that one lane of the warp issues. */
static void multiply(struct warp *w, const struct inst *in, int l, struct effects *fx) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const struct places at = places_of(w, in, &f, l);
    const bool adds = pred_get(w, in->e) >> l & 1;
    struct cta *cta[2];
    struct numbers n;
    struct product p;
    if (!product_of(&f, ((const uint32_t *)reg_ptr(w, w->program->lists[in->list]))[l], l, fx, &p) ||
        !tensor_ctas(w->cta, f.flags & TENSOR_PAIR, l, fx, cta) || !check_lanes(&p, &at, f.flags & TENSOR_A, l, fx) ||
        !read_b(cta, &p, &at, f.flags & TENSOR_ZEROS, &n, l, fx))
        return;
    for (unsigned i = 0; i < p.ctas; i++)
        if (!multiply_in(cta[i], i, &p, &at, &f, adds, &n, l, fx))
            return;
}

static void exec_mma(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    for (; m && !fx->fault; m &= m - 1)
        multiply(w, in, __builtin_ctz(m), fx);
}

#define ROWS_FILE "isa/exec/exec_tcgen05_mma.c"
#define ROWS_NAME tcgen05_mma
#include "isa/rows_expand.h"
#else
/* clang-format off */
WARP_FN(TCGEN05, T0, FORM(MODE2, MULTIPLY), WARP, MMA, OPDS(NONE, NONE, B32, B64, B64, PRED), exec_mma)
/* clang-format on */
#endif
