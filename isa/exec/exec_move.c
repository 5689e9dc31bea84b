/* Copies, selections, and packing and unpacking of vectors (PTX ISA 9.0, sections 9.7.5 and 9.7.9). Types of one size
 * share a function. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"

/* One list per size: X(TYPE, type) for all types of that size. */
#define TYPES_16(X) X(B16, b16) X(U16, b16) X(S16, b16)
#define TYPES_32(X) X(B32, b32) X(U32, b32) X(S32, b32) X(F32, b32)
#define TYPES_64(X) X(B64, b64) X(U64, b64) X(S64, b64) X(F64, b64)
#define MOVABLE(X)  TYPES_16(X) TYPES_32(X) TYPES_64(X)
#define SIZES(X)    X(B16, b16) X(B32, b32) X(B64, b64)

#define MOVE_FUNCTIONS(T, t)                                                                                           \
    ROWS_FUNCTION(mov_##t, DA(T, T), d = a)                                                                            \
    ROWS_FUNCTION(selp_##t, DABC(T, T, T, PRED), d = c ? a : b)                                                        \
    ROWS_FUNCTION(slct_##t, DABC(T, T, T, S32), d = c >= 0 ? a : b)
SIZES(MOVE_FUNCTIONS)
ROWS_FUNCTION(mov_b128, DA(B128, B128), d = a)
#define MOVES(T, t)                                                                                                    \
    LANE_FN(MOV, T1(T), 0, INT_OTHER, DA(T, T), mov_##t, )                                                             \
    LANE_FN(SELP, T1(T), 0, INT_OTHER, DABC(T, T, T, PRED), selp_##t, )                                                \
    LANE_FN(SLCT, T2(T, S32), 0, INT_OTHER, DABC(T, T, T, S32), slct_##t, )

/* Returns element k of a vector. */
#define PART_OF(T, x, k) (lane_##T)((x) >> 8 * sizeof(lane_##T) * (k))

#define ROWS_FILE "isa/exec/exec_move.c"
#define ROWS_NAME move
#include "isa/rows_expand.h"
#else
/* clang-format off */
MOVABLE(MOVES)
WHOLE_X((), mov_pred, MOV, T1(PRED), 0, INT_OTHER, DA(PRED, PRED), *(uint32_t *)d_at = *(const uint32_t *)a_at)
LANE_FN(MOV, T1(B128), 0, INT_OTHER, DA(B128, B128), mov_b128, )

/* b8 parts are the low bytes of 16-bit registers. */
LANE(pack_b16_b8, PACK, T2(B16, B8), 0, INT_OTHER, DAB(B16, B16, B16), d = (uint16_t)((a & 0xff) | b << 8))
LANE(pack_b32_b16, PACK, T2(B32, B16), 0, INT_OTHER, DAB(B32, B16, B16), d = a | (uint32_t)b << 16)
LANE(pack_b64_b32, PACK, T2(B64, B32), 0, INT_OTHER, DAB(B64, B32, B32), d = a | (uint64_t)b << 32)
LANE(pack_b128_b64, PACK, T2(B128, B64), 0, INT_OTHER, DAB(B128, B64, B64), d.lo = a; d.hi = b)
LANE(pack_b32_b8, PACK, T2(B32, B8), 0, INT_OTHER, DABCE(B32, B16, B16, B16, B16),
     d = (a & 0xffu) | (b & 0xffu) << 8 | (c & 0xffu) << 16 | (uint32_t)e << 24)
LANE(pack_b64_b16, PACK, T2(B64, B16), 0, INT_OTHER, DABCE(B64, B16, B16, B16, B16),
     d = a | (uint64_t)b << 16 | (uint64_t)c << 32 | (uint64_t)e << 48)
LANE(unpack_b8_b16, UNPACK, T2(B8, B16), 0, INT_OTHER, OPDS(B16, B16, B16, NONE, NONE, NONE),
     d = a & 0xff; d2 = a >> 8)
LANE(unpack_b16_b32, UNPACK, T2(B16, B32), 0, INT_OTHER, OPDS(B16, B16, B32, NONE, NONE, NONE),
     d = PART_OF(B16, a, 0); d2 = PART_OF(B16, a, 1))
LANE(unpack_b32_b64, UNPACK, T2(B32, B64), 0, INT_OTHER, OPDS(B32, B32, B64, NONE, NONE, NONE),
     d = PART_OF(B32, a, 0); d2 = PART_OF(B32, a, 1))
LANE(unpack_b64_b128, UNPACK, T2(B64, B128), 0, INT_OTHER, OPDS(B64, B64, B128, NONE, NONE, NONE), d = a.lo; d2 = a.hi)
LANE(unpack_lo_b8_b32, UNPACK, T2(B8, B32), FORM(PART, LO), INT_OTHER, OPDS(B16, B16, B32, NONE, NONE, NONE),
     d = PART_OF(B8, a, 0); d2 = PART_OF(B8, a, 1))
LANE(unpack_hi_b8_b32, UNPACK, T2(B8, B32), FORM(PART, HI), INT_OTHER, OPDS(B16, B16, B32, NONE, NONE, NONE),
     d = PART_OF(B8, a, 2); d2 = PART_OF(B8, a, 3))
LANE(unpack_lo_b16_b64, UNPACK, T2(B16, B64), FORM(PART, LO), INT_OTHER, OPDS(B16, B16, B64, NONE, NONE, NONE),
     d = PART_OF(B16, a, 0); d2 = PART_OF(B16, a, 1))
LANE(unpack_hi_b16_b64, UNPACK, T2(B16, B64), FORM(PART, HI), INT_OTHER, OPDS(B16, B16, B64, NONE, NONE, NONE),
     d = PART_OF(B16, a, 2); d2 = PART_OF(B16, a, 3))
/* clang-format on */
#endif
