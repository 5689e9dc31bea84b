/* Logic and shifts (PTX ISA 9.0, section 9.7.8). Shift amounts are unsigned words whatever the type; those beyond the
 * width shift everything out. */
#include "rows.h"

#define BIT_TYPES(X) X(B16, b16) X(B32, b32) X(B64, b64)

#define LOGIC(T, t)                                                                                                    \
    LANE(and_##t, AND, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a & b))                                       \
    LANE(or_##t, OR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a | b))                                         \
    LANE(xor_##t, XOR, T1(T), 0, INT_OTHER, DAB(T, T, T), d = (lane_##T)(a ^ b))                                       \
    LANE(not_##t, NOT, T1(T), 0, INT_OTHER, DA(T, T), d = (lane_##T) ~a)                                               \
    LANE(cnot_##t, CNOT, T1(T), 0, INT_OTHER, DA(T, T), d = a == 0)

/* Predicates are masks of lanes: one word says it all. */
#define PRED_LOGIC(name, op, opds, expression)                                                                         \
    WHOLE_X((), name, op, T1(PRED), 0, INT_OTHER, opds, *(uint32_t *)d_at = expression)
#define MASK(x) (*(const uint32_t *)x##_at)

static inline uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

#define SHIFTS(UT, ut, ST, st, BT, width)                                                                              \
    LANE(shl_##ut, SHL, T1(BT), 0, INT_OTHER, DAB(BT, BT, U32),                                                        \
         d = (lane_##BT)(b < width ? a << (b & (width - 1)) : 0))                                                      \
    LANE(shr_##ut, SHR, T1(UT), 0, INT_OTHER, DAB(UT, UT, U32),                                                        \
         d = (lane_##UT)(b < width ? a >> (b & (width - 1)) : 0))                                                      \
    LANE_FN(SHR, T1(BT), 0, INT_OTHER, DAB(BT, BT, U32), shr_##ut, )                                                   \
    LANE(shr_##st, SHR, T1(ST), 0, INT_OTHER, DAB(ST, ST, U32), d = (lane_##ST)(a >> least(b, width - 1)))

#define PAIR       ((uint64_t)b << 32 | a)
#define CLAMPED(n) ((n) < 32 ? (n) : 32)

#define ROWS_FILE "exec_logic.def"
#define ROWS_NAME logic
#include "rows_expand.h"
