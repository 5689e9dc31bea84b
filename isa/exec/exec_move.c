/* Copies, selections, and vectors in and out of scalars (PTX ISA 9.0, sections 9.7.5 and 9.7.9). Types of one size
 * share a function. */
#include "isa/rows.h"

/* Each size: X(TYPE, type), and the types that have it. */
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

/* The k-th part of a vector. */
#define PART_OF(T, x, k) (lane_##T)((x) >> 8 * sizeof(lane_##T) * (k))

#define ROWS_FILE "isa/exec/exec_move.def"
#define ROWS_NAME move
#include "isa/rows_expand.h"
