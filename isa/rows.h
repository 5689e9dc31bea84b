#ifndef ISA_ROWS_H
#define ISA_ROWS_H
/* This comment explains how to define instructions. Internal to isa/: only the exec_*.c files include it.
 *
 * Each file isa/exec/exec_foo.c defines a family of instructions. Its first part has helpers. Its second part
 * lists rows, one line per instruction (opcode, types, modifiers), each with what it computes:
 *
 *     #ifndef ROWS_FILE
 *     ... includes and helpers ...
 *     #define ROWS_FILE "isa/exec/exec_foo.c"
 *     #define ROWS_NAME foo
 *     #include "isa/rows_expand.h"
 *     #else
 *     ... rows ...
 *     #endif
 *
 * rows_expand.h includes the file three times more, for its second part: to make the functions, then the table.
 * A line GROUP(foo) in isa/groups.def adds the table to the other tables. A worked example of a row, d = a + b
 * saturated, on signed words:
 *
 *     LANE(add_sat_s32, ADD, T1(S32), FLAG(SAT), INT_ADD, DAB(S32, S32, S32), d = clamp_s32((int64_t)a + b))
 *
 * - add_sat_s32: name of the function it makes, unique in the file
 * - ADD: opcode, without OP_
 * - T1(S32): types in the order written: T0, T1(S32), T2(F32, S32), T3(...), T4(...)
 * - FLAG(SAT): modifiers: 0, or FORM(category, value) and FLAG(category) joined by |
 * - INT_ADD: latency class, without LAT_
 * - DAB(S32, S32, S32): operands: DA DAB DABC DABCE, or OPDS(d, d2, a, b, c, e) with NONE for absent operands
 * - the rest: statements that set d (and d2) from a b c e, the C values of one lane: S32 is int32_t, F16 is uint16_t,
 *   PRED is bool (see lane_ below)
 *
 * A macro may expand to several such lines; define it in the first part of the file. The other kinds of lines:
 *
 *     CVT(...)       like LANE, of kind K_CVT: registers may be wider than the types (cvt)
 *     LANE_X((.d2_optional = 1, .bound = "2 ulp"), name, op, ...)   LANE with further fields of struct isa_row
 *     CVT_X(...)     CVT with further fields of struct isa_row
 *     WHOLE_X(more, name, op, types, form, latency, operands, statements)
 *                    the statements see whole operands, as pointers d_at d2_at a_at b_at c_at e_at
 *     SETP(name, op, types, form, latency, A, B, condition)
 *                    four rows: p|q = condition, and with .and .or .xor
 *     LANE_FN(op, types, form, latency, operands, function, fields...)
 *                    a lane_fn written by hand in the first part
 *     CVT_FN(...)    LANE_FN of kind K_CVT
 *     WARP_FN(op, types, form, kind, latency, operands, function, fields...)
 *                    a warp_fn; kind without K_
 *     NOTHING(op, types, form, kind, latency, operands, fields...)
 *                    no function: K_NOP, K_FENCE, K_BRANCH ...
 *
 * Modifiers that the opcode TAKES (opcodes.def) are not named in its rows: one row of ld serves all state spaces,
 * vector sizes and cache operators. A row that names such a modifier (FORM(SPACE, SHARED), FLAG(SYNC)) is preferred
 * where it applies.
 *
 * Rules for lane functions. They compute all 32 lanes, so division must not trap, shifts must stay in range and indices
 * in bounds for all values of the lanes. Results depend neither on the compiler nor on -march. d may be the array of a
 * source of the same size: read before you write, lane by lane. Write so that the compiler vectorises: conditional
 * expressions in place of branches, no calls.
 *
 * Conventions that lowering relies on
 * - Carry: rows with FLAG(CC) write the carry flag to d2 (PRED); addc, subc and madc read it from e (PRED). Both are a
 *   hidden predicate register of the function. sub.cc and subc clear the flag if they borrow.
 * - #pack.b32.b16 d, a, b; #pack.b64.b32; #pack.b128.b64; #pack.b16.b8; #pack.b64.b16 d, a, b, c, e; #pack.b32.b8: the
 *   first source is the lowest part. Parts of type b8 are in 16-bit registers.
 * - #unpack.b16.b32 d, d2, a; #unpack.b32.b64; #unpack.b64.b128; #unpack.b8.b16: d is the low part. Four parts need two
 *   instructions: #unpack.lo.b16.b64 gives parts 0 and 1, #unpack.hi.b16.b64 parts 2 and 3 (also .b8.b32).
 * - setp and lop3 write d2 = the other destination of p|q when it is written; it may be OPND_SINK.
 * - lop3: e is the table, 32 bits per lane.
 * - Video instructions: selectors, negations and masks are one immediate word `e`, see video.h.
 * - mov, selp and slct.*.s32 exist once, for the types of every class, in exec_move. */
#include "decode.h"
#include "each.h"

/* A loop over the lanes, whose iterations do not depend on each other. */
#define LANES(l) INDEPENDENT for (int l = 0; l < WARP_LANES; l++)

/* lane_bit[l] is 1 << l. The table replaces a shift by a variable, which some vector instruction sets lack. */
static const uint32_t lane_bit[WARP_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

struct isa_row_group {
    const struct isa_row *rows;
    const uint8_t *ops; /* the opcode of each row */
    uint32_t n;
};

/* The types of a row, in the order in which they are written, and its form (the modifiers). */
#define T0             T_NONE
#define T1(a)          T_##a
#define T2(a, b)       (T_##a | T_##b << 8)
#define T3(a, b, c)    (T_##a | T_##b << 8 | T_##c << 16)
#define T4(a, b, c, d) (T_##a | T_##b << 8 | T_##c << 16 | T_##d << 24)
#define FORM(cat, val) ((uint64_t)cat##_##val << FIRST_##cat)
#define FLAG(cat)      ((uint64_t)1 << FIRST_##cat)
enum {
#define X(name, first, bits) FIRST_##name = first,
    ISA_CATEGORIES(X)
#undef X
};

/* Operands. */
#define OPDS(d, d2, a, b, c, e) (d, d2, a, b, c, e)
#define DA(d, a)                OPDS(d, NONE, a, NONE, NONE, NONE)
#define DAB(d, a, b)            OPDS(d, NONE, a, b, NONE, NONE)
#define DABC(d, a, b, c)        OPDS(d, NONE, a, b, c, NONE)
#define DABCE(d, a, b, c, e)    OPDS(d, NONE, a, b, c, e)
#define NO_OPDS                 OPDS(NONE, NONE, NONE, NONE, NONE, NONE)

/* The C type of a lane. Small floats are represented by their bits. */
typedef uint8_t lane_U8, lane_B8, lane_E2M1X2;
typedef uint16_t lane_U16, lane_B16, lane_F16, lane_BF16, lane_E4M3X2, lane_E5M2X2, lane_E2M3X2, lane_E3M2X2,
    lane_UE8M0X2, lane_E2M1X4;
typedef uint32_t lane_U32, lane_B32, lane_F16X2, lane_BF16X2, lane_TF32, lane_U16X2, lane_S16X2, lane_E4M3X4,
    lane_E5M2X4, lane_E2M3X4, lane_E3M2X4;
typedef uint64_t lane_U64, lane_B64;
typedef int8_t lane_S8;
typedef int16_t lane_S16;
typedef int32_t lane_S32;
typedef int64_t lane_S64;
typedef float lane_F32;
typedef double lane_F64;
typedef struct {
    uint64_t lo, hi;
} lane_B128;

/* Storage of an operand, by its type: REG: an array of lanes; PRED: a mask; NONE: the operand is absent. */
#define HELD_NONE    NONE
#define HELD_PRED    PRED
#define HELD_U8      REG
#define HELD_U16     REG
#define HELD_U32     REG
#define HELD_U64     REG
#define HELD_S8      REG
#define HELD_S16     REG
#define HELD_S32     REG
#define HELD_S64     REG
#define HELD_B8      REG
#define HELD_B16     REG
#define HELD_B32     REG
#define HELD_B64     REG
#define HELD_B128    REG
#define HELD_F16     REG
#define HELD_F16X2   REG
#define HELD_BF16    REG
#define HELD_BF16X2  REG
#define HELD_F32     REG
#define HELD_F64     REG
#define HELD_TF32    REG
#define HELD_E4M3X2  REG
#define HELD_E5M2X2  REG
#define HELD_E2M3X2  REG
#define HELD_E3M2X2  REG
#define HELD_E2M1X2  REG
#define HELD_UE8M0X2 REG
#define HELD_E4M3X4  REG
#define HELD_E5M2X4  REG
#define HELD_E2M3X4  REG
#define HELD_E3M2X4  REG
#define HELD_E2M1X4  REG
#define HELD_U16X2   REG
#define HELD_S16X2   REG

/* ROWS_LEVEL ends the name of a file's table. It is empty, except in the file's copies for other processor levels
 * (levels.h). */
#ifndef ROWS_LEVEL
#define ROWS_LEVEL
#endif
#define ROWS_PASTE_(a, b) a##b
#define ROWS_PASTE(a, b)  ROWS_PASTE_(a, b)
#define ROWS_STRIP(...)   __VA_ARGS__

/* Code for a source operand: before the loop, and inside it. */
#define IN(T, x)       ROWS_PASTE(IN_, HELD_##T)(T, x)
#define IN_REG(T, x)   const lane_##T *x##_from = x##_at;
#define IN_PRED(T, x)  const uint32_t x##_from = *(const uint32_t *)x##_at;
#define IN_NONE(T, x)  (void)x##_at;
#define GET(T, x)      ROWS_PASTE(GET_, HELD_##T)(T, x)
#define GET_REG(T, x)  const lane_##T x = x##_from[lane_];
#define GET_PRED(T, x) const bool x = (x##_from & lane_bit[lane_]) != 0;
#define GET_NONE(T, x)
/* Code for a destination operand: OUT is before the lane loop, VAR at the start of its body, PUT at its end, DONE after
 * the loop. */
#define OUT(T, x)      ROWS_PASTE(OUT_, HELD_##T)(T, x)
#define OUT_REG(T, x)  lane_##T *x##_to = x##_at;
#define OUT_PRED(T, x) uint32_t x##_to = 0;
#define OUT_NONE(T, x) (void)x##_at;
#define VAR(T, x)      ROWS_PASTE(VAR_, HELD_##T)(T, x)
#define VAR_REG(T, x)  lane_##T x;
#define VAR_PRED(T, x) bool x;
#define VAR_NONE(T, x)
#define PUT(T, x)      ROWS_PASTE(PUT_, HELD_##T)(T, x)
#define PUT_REG(T, x)  x##_to[lane_] = x;
#define PUT_PRED(T, x) x##_to |= -(uint32_t)x & lane_bit[lane_];
#define PUT_NONE(T, x)
#define DONE(T, x) ROWS_PASTE(DONE_, HELD_##T)(T, x)
#define DONE_REG(T, x)
#define DONE_PRED(T, x) *(uint32_t *)x##_at = x##_to;
#define DONE_NONE(T, x)

#define ROWS_FUNCTION(name, opds, ...) ROWS_FUNCTION_(name, ROWS_STRIP opds, __VA_ARGS__)
#define ROWS_FUNCTION_(...)            ROWS_FUNCTION__(__VA_ARGS__)
#define ROWS_FUNCTION__(name, D, D2, A, B, C, E, ...)                                                                  \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        IN(A, a) IN(B, b) IN(C, c) IN(E, e) OUT(D, d) OUT(D2, d2) LANES(lane_) {                                       \
            GET(A, a) GET(B, b) GET(C, c) GET(E, e) VAR(D, d) VAR(D2, d2) __VA_ARGS__;                                 \
            PUT(D, d) PUT(D2, d2)                                                                                      \
        }                                                                                                              \
        DONE(D, d) DONE(D2, d2)                                                                                        \
    }

#define ROWS_WHOLE(name, ...)                                                                                          \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        (void)d2_at;                                                                                                   \
        (void)b_at;                                                                                                    \
        (void)c_at;                                                                                                    \
        (void)e_at;                                                                                                    \
        __VA_ARGS__;                                                                                                   \
    }

/* setp: condition as mask, then p = BoolOp(condition, c) and q = BoolOp(!condition, c) (PTX ISA 9.7.5.2). */
#define ROWS_SETP(name, A, B, condition)                                                                               \
    static inline uint32_t name##_mask(const void *a_at, const void *b_at) {                                           \
        uint32_t d_to = 0;                                                                                             \
        IN(A, a) IN(B, b) LANES(lane_) {                                                                               \
            GET(A, a) GET(B, b) const bool d = (condition);                                                            \
            PUT_PRED(PRED, d)                                                                                          \
        }                                                                                                              \
        return d_to;                                                                                                   \
    }                                                                                                                  \
    ROWS_SETP_FUNCTION(name, name##_mask, m, ~m)                                                                       \
    ROWS_SETP_FUNCTION(name##_and, name##_mask, m &with, ~m &with)                                                     \
    ROWS_SETP_FUNCTION(name##_or, name##_mask, m | with, ~m | with)                                                    \
    ROWS_SETP_FUNCTION(name##_xor, name##_mask, m ^ with, ~m ^ with)
#define ROWS_SETP_FUNCTION(name, mask, p, q)                                                                           \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        const uint32_t with = *(const uint32_t *)c_at, m = mask(a_at, b_at);                                           \
        (void)e_at;                                                                                                    \
        (void)with;                                                                                                    \
        *(uint32_t *)d_at = p;                                                                                         \
        *(uint32_t *)d2_at = q;                                                                                        \
    }

/* An entry of the table of rows, and of the table of opcodes. */
#define ROWS_WHOLE_ENTRY(op_, types_, form_, kind_, lat_, function, opds, ...)                                         \
    ROWS_ENTRY_(op_, types_, form_, kind_, lat_, function, ROWS_STRIP opds, __VA_ARGS__)
#define ROWS_OP_ENTRY(op_, ...) OP_##op_,
#define ROWS_ENTRY_(...)        ROWS_ENTRY__(__VA_ARGS__)
#define ROWS_ENTRY__(op_, types_, form_, kind_, lat_, function, D, D2, A, B, C, E, ...)                                \
    {.op = OP_##op_,                                                                                                   \
     .types = {(types_)&255, (types_) >> 8 & 255, (types_) >> 16 & 255, (types_) >> 24},                               \
     .kind = K_##kind_,                                                                                                \
     .latency = LAT_##lat_,                                                                                            \
     .d = T_##D,                                                                                                       \
     .d2 = T_##D2,                                                                                                     \
     .a = T_##A,                                                                                                       \
     .b = T_##B,                                                                                                       \
     .c = T_##C,                                                                                                       \
     .e = T_##E,                                                                                                       \
     .form = form_,                                                                                                    \
     .fn = function,                                                                                                   \
     __VA_ARGS__},
#endif
