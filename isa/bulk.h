#ifndef ISA_BULK_H
#define ISA_BULK_H
/* The instructions of the tensor memory accelerator (TMA) and their relatives: cp.async.bulk, cp.reduce.async.bulk,
 * st.async, red.async, st.bulk and tensormap (PTX ISA 9.0, sections 9.7.9.25 to 9.7.9.28). Their opcodes have too many
 * forms for rows of the instruction table. This file reads them into a struct, and one row executes all of them. */
#include "decode.h"

enum bulk_what {
    BULK_COPY,     /* cp.async.bulk, also .tensor */
    BULK_RED,      /* cp.reduce.async.bulk, also .tensor */
    BULK_PREFETCH, /* cp.async.bulk.prefetch, also .tensor */
    BULK_COMMIT,   /* commit_group */
    BULK_WAIT,     /* wait_group */
    BULK_ST_ASYNC,
    BULK_RED_ASYNC,
    BULK_ZERO,     /* st.bulk */
    BULK_REPLACE,  /* tensormap.replace */
    BULK_COPY_MAP, /* tensormap.cp_fenceproxy */
};
enum bulk_mode { BULK_TILE, BULK_GATHER4, BULK_SCATTER4, BULK_IM2COL, BULK_IM2COL_NO_OFFS };

/* Fields of a tensor map that tensormap.replace changes. */
/* clang-format off */
#define BULK_MAP_FIELDS(X) \
    X(ADDRESS, "global_address") X(RANK, "rank") X(BOX_DIM, "box_dim") X(DIM, "global_dim") X(STRIDE, "global_stride") \
    X(ELEMENT_STRIDE, "element_stride") X(TYPE, "elemtype") X(INTERLEAVE, "interleave_layout") \
    X(SWIZZLE, "swizzle_mode") X(ATOMICITY, "swizzle_atomicity") X(FILL, "fill_mode")
/* clang-format on */
enum bulk_map_field {
    BULK_MAP_NONE,
#define X(id, word) BULK_MAP_##id,
    BULK_MAP_FIELDS(X)
#undef X
};

/* Indices into an instruction's list of operands. Each operand is a register of 64 bits. If a form does not have an
 * operand, the operand is the constant 0. The coordinates begin at index BULK_COORDINATE, and the im2col offsets at
 * BULK_OFFSET. */
enum {
    BULK_TO, /* destination address; in a tensor copy to shared memory, the shared-memory address */
    /* source address; unused in st.async; a tensor copy reads the address of its tensor map from BULK_MAP */
    BULK_FROM,
    BULK_BYTES,  /* bytes of a copy; unused in wait_group; in tensormap.replace, the new value */
    BULK_SIGNAL, /* address of the mbarrier */
    BULK_CTAS,   /* mask of the CTAs of a multicast; in tensormap.replace, the number of the dimension */
    BULK_MASK,   /* byte mask of .cp_mask; with .ignore_oob, the number of bytes to ignore on the left */
    BULK_MASK2,  /* with .ignore_oob, the number of bytes to ignore on the right */
    BULK_MAP,    /* generic address of the tensor map */
    BULK_COORDINATE,
    BULK_OFFSET = BULK_COORDINATE + 5,
    BULK_VALUE = BULK_COORDINATE, /* st.async, red.async: the elements */
    BULK_OPERANDS = BULK_OFFSET + 3
};

/* A form of a bulk instruction. */
struct bulk_form {
    uint8_t what;     /* enum bulk_what */
    uint8_t mode;     /* enum bulk_mode */
    uint8_t dims;     /* dimensions of a tensor; 0: no tensor */
    uint8_t to, from; /* each is SPACE_GLOBAL, SPACE_SHARED, or SPACE_GENERIC (0) if the form has no such address */
    uint8_t op;       /* OPN_ value of a reduction */
    uint8_t type;     /* enum type of the elements; T_NONE for tensors */
    uint8_t vec;      /* st.async: number of elements */
    uint8_t field;    /* enum bulk_map_field */
    bool signals;     /* .mbarrier::complete_tx::bytes */
    bool multicast, cp_mask, ignore_oob, cache_hint;
    bool grouped; /* .bulk_group */
    bool read;    /* wait_group.read */
    bool noftz;
};

/* Returns true if `opcode` names one of these instructions. */
bool bulk_is(const char *opcode, uint32_t len);
/* Reads an opcode. Returns false and fills `why` if PTX has no such form, or if Heddle does not support it. */
bool bulk_decode(const char *opcode, uint32_t len, struct bulk_form *out, struct decode_error *why);
/* Packs a form into inst.imm, and unpacks it. */
int64_t bulk_pack(const struct bulk_form *f);
struct bulk_form bulk_unpack(int64_t imm);
/* Returns true if the instruction may write memory of other CTAs. The simulator performs such an instruction in the
 * same order as atomics. */
bool bulk_is_ordered(int64_t packed);
/* Returns the number of im2col offsets of a form. */
static inline unsigned bulk_offsets(const struct bulk_form *f) { return f->mode == BULK_IM2COL ? f->dims - 2u : 0; }
/* Returns the number of coordinates of a form. */
static inline unsigned bulk_coordinates(const struct bulk_form *f) {
    return f->mode == BULK_GATHER4 || f->mode == BULK_SCATTER4 ? 5 : f->dims;
}
#endif
