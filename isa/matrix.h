#ifndef ISA_MATRIX_H
#define ISA_MATRIX_H
/* Where the elements of a matrix are that a warp holds in registers: a fragment (PTX ISA 9.7.14.5). Lanes count in
 * quads: lane 4 g + t is place t of quad g. In all fragments but those of mma.m8n8k4 on f16, an element has one
 * coordinate that goes with the quad and one that goes with the place in it:
 *   A  quad: row, place: column, along k      B  quad: column, place: row, along k      C, D  quad: row, place: column
 * Element i of register r of lane 4 g + t is at (g + quad, width t + place + i). */
#include "decode.h"

enum fragment { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C };

/* One fragment: of A or B with `elements` of them in a register, of C or D likewise (1, or 2 of f16). */
struct fragment_form {
    enum fragment role;
    uint8_t halves;   /* A, C: 2 where it has 16 rows, of which a lane has g and g + 8; 1 where it has 8 */
    uint8_t elements; /* of a register */
};

/* Columns (A, C) or rows (B) from one lane of a quad to the next. */
static inline unsigned fragment_width(struct fragment_form f) { return f.role == FRAGMENT_C ? 2 : f.elements; }

struct fragment_place {
    uint8_t quad, place; /* to be added to g, and to width t + i */
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

/* Elements of a type in a register of mma. */
static inline uint8_t matrix_elements(unsigned type) {
    return type == T_F16 || type == T_BF16 ? 2 : type == T_S8 || type == T_U8 ? 4 : 1;
}
/* Registers of a lane, of the 32 that have `n` elements together. */
static inline unsigned matrix_registers(unsigned n, unsigned type) { return n / (WARP_LANES * matrix_elements(type)); }

/* Rows of a and c, columns of b and c, columns of a and rows of b. */
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
/* How many pairs of matrices one mma multiplies, whose a has this type: m8n8k4 on f16 is older than the others. */
enum { MATRIX_GROUPS = 4, MATRIX_GROUPS_K = 4 };
static inline unsigned matrix_groups(struct matrix_size s, unsigned type) {
    return type == T_F16 && s.k == MATRIX_GROUPS_K ? MATRIX_GROUPS : 1;
}
#endif
