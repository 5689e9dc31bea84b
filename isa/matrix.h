#ifndef ISA_MATRIX_H
#define ISA_MATRIX_H
/* Fragments: the matrix elements that a lane holds in its registers (PTX ISA 9.7.14.5). Lanes form quads: lane 4 g + t
 * has place t in quad g. One coordinate of an element depends on the quad number, the other coordinate on the place.
 * (Fragments of mma.m8n8k4 on f16 differ: see exec_matrix.c.)
 *   A  quad: row, place: column, along k      B  quad: column, place: row, along k      C, D  quad: row, place: column
 * Element i of register r of lane 4 g + t is at (g + quad, width t + place + i). */
#include "decode.h"

enum fragment { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C };

/* One fragment of A, B, C or D. `elements` is the number of elements in a register (C and D: 1, or 2 for f16). */
struct fragment_form {
    enum fragment role;
    uint8_t halves;   /* for A and C: 2 if the matrix has 16 rows (a lane holds rows g and g + 8), 1 if it has 8 rows */
    uint8_t elements; /* elements of a register */
};

/* Returns the distance between adjacent lanes of a quad, in columns (A, C) or rows (B). */
static inline unsigned fragment_width(struct fragment_form f) { return f.role == FRAGMENT_C ? 2 : f.elements; }

struct fragment_place {
    uint8_t quad, place; /* offset added to g; offset added to width t + i (see above) */
};

static inline struct fragment_place fragment_at(struct fragment_form f, unsigned r) {
    unsigned half = f.role == FRAGMENT_B   ? 0
                    : f.role == FRAGMENT_A ? r % f.halves
                    : f.elements == 2      ? r
                                           : r / 2,
             step = f.role == FRAGMENT_B   ? 4 * f.elements * r
                    : f.role == FRAGMENT_A ? 4 * f.elements * (r / f.halves)
                    : f.elements == 2      ? 0
                                           : r % 2;
    return (struct fragment_place){(uint8_t)(8 * half), (uint8_t)step};
}

/* Returns the number of elements of a type in one register of mma. A floating-point number of 6 or 4 bits takes a byte,
 * except in the kinds mxf4 and mxf4nvf4, which have eight e2m1 in a register: see matrix_packed(). */
static inline uint8_t matrix_elements(unsigned type) {
    switch (type) {
    case T_F16:
    case T_BF16:
        return 2;
    case T_S8:
    case T_U8:
    case T_E4M3:
    case T_E5M2:
    case T_E3M2:
    case T_E2M3:
    case T_E2M1:
        return 4;
    case T_S4:
    case T_U4:
        return 8;
    case T_B1:
        return 32;
    default:
        return 1;
    }
}
/* Returns true if the mma stores numbers of 4 bits without gaps between them. */
static inline bool matrix_packed(uint64_t form) {
    const unsigned kind = form_get(form, CAT_KIND);
    return kind == KIND_MXF4 || kind == KIND_MXF4NVF4;
}
/* Works as matrix_elements(), for the matrices a and b of an mma. */
static inline uint8_t matrix_elements_of(unsigned type, uint64_t form) {
    return matrix_packed(form) ? 8 : matrix_elements(type);
}

/* Sparse matrices: in each group of `group` elements of a row of a, half are zero, and absent from the registers. For
 * each group, four bits of metadata have the positions of two elements (of one element of tf32, or of two pairs of
 * elements of 4 bits). `threads`: lanes of a quad that hold the metadata of the quad's rows, 1, 2 or 4. */
struct matrix_sparsity {
    uint8_t group, threads;
};
static inline struct matrix_sparsity matrix_sparsity(unsigned k, unsigned elements) {
    const uint8_t group = elements == 1 ? 2 : elements == 8 ? 8 : 4;
    return (struct matrix_sparsity){group, (uint8_t)(k / group / 4)};
}
/* Returns the number of registers per lane that hold a matrix of `n` elements. */
static inline unsigned matrix_registers(unsigned n, unsigned type) { return n / (WARP_LANES * matrix_elements(type)); }

/* The imm of an mma: bit 0 is set if a is .col, bit 1 if b is .col; then the sparsity selector and the SCALE_ bits. */
static inline int64_t mma_imm(unsigned layouts, unsigned selector, unsigned scale) {
    return layouts | selector << 2 | scale << 8;
}
static inline unsigned mma_selector(int64_t imm) { return imm >> 2 & 3; }
static inline unsigned mma_scale(int64_t imm) { return imm >> 8 & 0xff; }

/* m: rows of a and c. n: columns of b and c. k: columns of a and rows of b. */
struct matrix_size {
    uint8_t m, n;
    uint16_t k;
};
static inline struct matrix_size matrix_size(unsigned s) {
    switch (s) {
#define X(id, word, m, n, k)                                                                                           \
    case MODE2_##id:                                                                                                   \
        return (struct matrix_size){m, n, k};
        ISA_SHAPES(X)
#undef X
    default:
        return (struct matrix_size){0, 0, 0};
    }
}
/* The number of matrix pairs that one mma multiplies; `type` is the type of matrix a. Only m8n8k4 on f16, the oldest
 * shape, multiplies four pairs. */
enum { MATRIX_GROUPS = 4, MATRIX_GROUPS_K = 4 };
static inline unsigned matrix_groups(struct matrix_size s, unsigned type) {
    return type == T_F16 && s.k == MATRIX_GROUPS_K ? MATRIX_GROUPS : 1;
}
#endif
