#ifndef ISA_TENSOR_MEMORY_H
#define ISA_TENSOR_MEMORY_H
/* Tensor memory of a CTA (PTX ISA 9.7.16.1), and the constant operands of tcgen05. An address has the lane in its upper
 * and the column in its lower 16 bits. Each CTA numbers its 512 columns from 0. In the timing model, the CTAs of an SM
 * share 512 columns: an allocation waits while the SM has too few free columns. */
#include "decode.h"

enum {
    TENSOR_COLUMNS = 512,
    TENSOR_LANES = 128,
    TENSOR_UNIT = 32, /* columns of an allocation unit */
    TENSOR_UNITS = TENSOR_COLUMNS / TENSOR_UNIT
};

/* Columns that the peer CTA of a pair has allocated for both CTAs. This CTA has not executed its alloc yet. */
struct tensor_promise {
    uint16_t column, columns;
};

struct tensor_memory {
    uint32_t cell[TENSOR_COLUMNS][TENSOR_LANES];
    uint8_t owner[TENSOR_UNITS];                 /* for each unit: size of its allocation, in units; 0: free */
    bool relinquished;                           /* the CTA has given up the right to allocate */
    struct tensor_promise promise[TENSOR_UNITS]; /* allocations by the peer CTA, the oldest first */
    uint32_t promises;
};

/* Returns the number of columns that are allocated. */
static inline uint32_t tensor_used(const struct tensor_memory *t) {
    uint32_t n = 0;
    for (unsigned i = 0; t && i < TENSOR_UNITS; i++)
        n += t->owner[i] ? TENSOR_UNIT : 0;
    return n;
}

enum tensor_shape { TENSOR_32X32B, TENSOR_16X64B, TENSOR_16X128B, TENSOR_16X256B, TENSOR_16X32BX2 };
enum tensor_kind {
    TENSOR_F16,
    TENSOR_TF32,
    TENSOR_F8F6F4,
    TENSOR_I8,
    TENSOR_MXF8F6F4, /* this kind and the kinds after it scale blocks */
    TENSOR_MXF4,
    TENSOR_MXF4NVF4
};
/* tcgen05.cp: the lanes and columns that it writes, and which warps' lanes get each of the rows. */
enum tensor_copy {
    TENSOR_CP_128X256B,
    TENSOR_CP_128X128B,
    TENSOR_CP_64X128B_02_13,
    TENSOR_CP_64X128B_01_23,
    TENSOR_CP_32X128B,
    TENSOR_CP_4X256B
};
/* The source format of tcgen05.cp. B4X16_P64: 16 numbers of 4 bits and 8 bytes of padding, expanded to 16 bytes.
 * B6X16_P32: 16 numbers of 6 bits and 4 bytes of padding, expanded to 16 bytes. */
enum tensor_source { TENSOR_BYTES, TENSOR_B4X16_P64, TENSOR_B6X16_P32 };

/* The modifiers of an instruction. The modifiers of loads and stores, and of products, have the same bits. */
enum {
    TENSOR_PAIR = 1, /* .cta_group::2 */
    TENSOR_PACK = 2, /* .pack::16b or .unpack::16b */
    TENSOR_RED = 4,  /* .red: the last register of the list gets the minimum, or with TENSOR_MAX the maximum */
    TENSOR_MAX = 8,
    TENSOR_ABS = 16,
    TENSOR_NAN = 32,
    TENSOR_A = 2,        /* matrix a is in tensor memory */
    TENSOR_MASKS = 4,    /* the list has masks of lanes that do not write d */
    TENSOR_SPARSE = 8,   /* .sp */
    TENSOR_WEIGHTS = 16, /* .ws */
    TENSOR_ZEROS = 32,   /* the list has a zero-column mask descriptor */
    TENSOR_SHIFT = 64,   /* .ashift */
};

/* The fields of inst.imm of tcgen05: an offset of the address, modifiers, and two fields whose meaning depends on the
 * operation:
 *   ld, st   code: enum tensor_shape; more: distance of the halves of 16x32bx2, in columns
 *   cp       code: enum tensor_copy; more: enum tensor_source
 *   mma      code: enum tensor_kind; more: scale-input-d, or the number of scales along K
 * The list of mma has the instruction descriptor, and then what the instruction has of these: metadata, scales of a
 * and of b, masks, zero-column mask descriptor. In alloc and commit, imm belongs to the address, and operand c is a
 * constant 1 for .cta_group::2 and .multicast::cluster. */
struct tensor_form {
    int32_t offset;
    uint8_t code, flags;
    uint16_t more;
};
static inline int64_t tensor_pack(struct tensor_form f) {
    return (int64_t)(uint32_t)f.offset | (int64_t)f.code << 32 | (int64_t)f.flags << 40 | (int64_t)f.more << 48;
}
static inline struct tensor_form tensor_unpack(int64_t v) {
    return (struct tensor_form){(int32_t)v, (uint8_t)(v >> 32), (uint8_t)(v >> 40), (uint16_t)(v >> 48)};
}
/* Returns true if the instruction, of this operation (MODE2_), accesses another CTA of the cluster. */
static inline bool tensor_leaves_cta(const struct inst *in, unsigned operation) {
    switch (operation) {
    case MODE2_ALLOC:
        return in->c != OPND_ZERO;
    case MODE2_CP:
    case MODE2_SHIFT:
    case MODE2_MULTIPLY:
        return tensor_unpack(in->imm).flags & TENSOR_PAIR;
    default:
        return operation == MODE2_COMMIT_FAR;
    }
}
/* Returns the number of registers of a lane that one repetition (.x1) of a shape fills. */
static inline unsigned tensor_registers(unsigned shape) {
    return shape == TENSOR_16X128B ? 2 : shape == TENSOR_16X256B ? 4 : 1;
}
/* Returns the rows of a matrix that tcgen05.cp reads. */
static inline unsigned tensor_copy_rows(unsigned copy) {
    return copy <= TENSOR_CP_128X128B ? 128 : copy == TENSOR_CP_32X128B ? 32 : copy == TENSOR_CP_4X256B ? 4 : 64;
}
#endif
