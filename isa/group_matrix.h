#ifndef ISA_GROUP_MATRIX_H
#define ISA_GROUP_MATRIX_H
/* One warp's quarter of a wgmma.mma_async, the product of a warp group: 16 of its 64 rows (PTX ISA 9.7.15). Also
 * describes matrices in shared memory, to which a descriptor of 64 bits refers. */
#include "decode.h"

/* The operands and modifiers of a wgmma that are constants; inst.imm packs them. */
struct group_form {
    uint16_t n, k;           /* columns of b; rows of b */
    bool negate_a, negate_b; /* imm-scale of -1 */
    /* imm-trans: elements adjacent in memory follow each other along M (a) or N (b), not along K */
    bool across_a, across_b;
    bool sparse, selector; /* .sp, and its selector of the lanes that hold metadata */
    bool registers;        /* a is in registers */
};
enum { GROUP_K_SHIFT = 16, GROUP_MOST_N = 256, GROUP_ROWS = 16, GROUP_A_REGISTERS = 4 };

static inline int64_t group_pack(struct group_form f) {
    return f.n | (int64_t)f.k << GROUP_K_SHIFT | (int64_t)f.negate_a << 32 | (int64_t)f.negate_b << 33 |
           (int64_t)f.across_a << 34 | (int64_t)f.across_b << 35 | (int64_t)f.sparse << 36 | (int64_t)f.selector << 37 |
           (int64_t)f.registers << 38;
}
static inline struct group_form group_unpack(int64_t v) {
    return (struct group_form){(uint16_t)v, (uint16_t)(v >> GROUP_K_SHIFT),
                               v >> 32 & 1, v >> 33 & 1,
                               v >> 34 & 1, v >> 35 & 1,
                               v >> 36 & 1, v >> 37 & 1,
                               v >> 38 & 1};
}

/* Returns the number of bits of an element of a or b in memory. */
static inline unsigned group_bits(unsigned type) {
    return type == T_B1 ? 1 : type == T_F16 || type == T_BF16 ? 16 : type == T_TF32 ? 32 : 8;
}
/* Returns k of a dense wgmma: the elements of 32 bytes. */
static inline unsigned group_k(unsigned type) { return 256 / group_bits(type); }
/* Returns how many registers of a lane hold elements of d. */
static inline unsigned group_registers(unsigned n, unsigned type) { return type == T_F16 ? n / 4 : n / 2; }
#endif
