#ifndef ISA_TENSOR_MEMORY_H
#define ISA_TENSOR_MEMORY_H
/* Tensor memory of a CTA (PTX ISA 9.7.16.1), and the constant operands of tcgen05. An address has the lane in its upper
 * and the column in its lower 16 bits. Each CTA has 512 columns of its own: CTAs of one SM do not share them. */
#include "decode.h"

enum { TENSOR_COLUMNS = 512, TENSOR_LANES = 128, TENSOR_UNIT = 32 /* columns that are allocated together */ };

struct tensor_memory {
    uint32_t cell[TENSOR_COLUMNS][TENSOR_LANES];
    /* for each unit: number of columns of the allocation to which it belongs, divided by 32; 0 if the unit is free */
    uint8_t owner[TENSOR_COLUMNS / TENSOR_UNIT];
    bool relinquished; /* the CTA must not allocate any more */
};

enum tensor_shape { TENSOR_32X32B, TENSOR_16X64B, TENSOR_16X128B, TENSOR_16X256B, TENSOR_16X32BX2 };
enum tensor_kind { TENSOR_F16, TENSOR_TF32, TENSOR_F8F6F4, TENSOR_I8 };
/* tcgen05.cp: the lanes and columns that it writes, and which warps' lanes get each of the rows. */
enum tensor_copy {
    TENSOR_CP_128X256B,
    TENSOR_CP_128X128B,
    TENSOR_CP_64X128B_02_13,
    TENSOR_CP_64X128B_01_23,
    TENSOR_CP_32X128B
};

/* inst.imm of tcgen05: an offset of the address, and constants by operation:
 *   ld, st   code: enum tensor_shape; flag: pack or unpack; more: distance of the halves of 16x32bx2, in columns
 *   cp       code: enum tensor_copy
 *   mma      code: enum tensor_kind; flag: a is in tensor memory; more: scale-input-d; masks: the list has them */
struct tensor_form {
    int32_t offset;
    uint8_t code;
    bool flag, masks;
    uint16_t more;
};
static inline int64_t tensor_pack(struct tensor_form f) {
    return (int64_t)(uint32_t)f.offset | (int64_t)f.code << 32 | (int64_t)f.flag << 40 | (int64_t)f.masks << 41 |
           (int64_t)f.more << 48;
}
static inline struct tensor_form tensor_unpack(int64_t v) {
    return (struct tensor_form){(int32_t)v, (uint8_t)(v >> 32), v >> 40 & 1, v >> 41 & 1, (uint16_t)(v >> 48)};
}
/* Returns the number of registers of a lane that one repetition (.x1) of a shape fills. */
static inline unsigned tensor_registers(unsigned shape) {
    return shape == TENSOR_16X128B ? 2 : shape == TENSOR_16X256B ? 4 : 1;
}
#endif
