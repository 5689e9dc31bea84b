/* Video instructions (PTX ISA 9.0, sections 9.7.17 and 9.7.18). Hardly any program uses them. So their thousand forms
 * share two functions, one for scalar and one for SIMD instructions, which interpret the description in the row. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"
#include "video.h"
#include <string.h>

/* Bits of a row's description: opcode, signedness of the types, and modifiers. */
enum {
    V_OP = 0xff,
    V_DS = 1 << 8,
    V_AS = 1 << 9,
    V_BS = 1 << 10,
    V_SAT = 1 << 11,
    V_WRAP = 1 << 12,
    V_PO = 1 << 13,
    V_SHR7 = 1 << 14,
    V_SHR15 = 1 << 15,
    V_SECOND = 16, /* bit position of the second operation (OPN_) */
    V_CMP = 20,    /* bit position of the comparison (CMP_) */
};
#define V_DS_U32 0
#define V_DS_S32 V_DS
#define V_AS_U32 0
#define V_AS_S32 V_AS
#define V_BS_U32 0
#define V_BS_S32 V_BS

bool video_is(unsigned op) { return op >= OP_VABSDIFF && op <= OP_VSUB4; }

/* Returns the number of elements in a register of a SIMD instruction, or 1 for a scalar instruction. */
static unsigned elements(unsigned op) {
    const char *name = isa_ops[op].mnemonic;
    const char last = name[strlen(name) - 1];
    return last == '2' ? 2 : last == '4' ? 4 : 1;
}

uint32_t video_default(unsigned op) {
    const unsigned n = elements(op);
    uint32_t word = 0;
    if (n == 1)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        word |= i << (VIDEO_SIMD_A + 3 * i) | (i + n) << (VIDEO_SIMD_B + 3 * i) | 1u << (VIDEO_SIMD_MASK + i);
    return word;
}

static bool select_scalar(char which, const char *text, uint32_t *word) {
    const unsigned shift = which == 'a' ? VIDEO_A : which == 'b' ? VIDEO_B : VIDEO_D;
    const char most = text[0] == 'b' ? '3' : text[0] == 'h' ? '1' : 0;
    if (text[1] < '0' || text[1] > most || text[2] != '\0')
        return false;
    *word &= ~(15u << shift);
    *word |= ((text[0] == 'b' ? 1u : 5u) + (uint32_t)(text[1] - '0')) << shift;
    return true;
}

/* Parses a selector of elements, highest element first: d.h10 and d.b20 name the elements to write; a.h32 and b.b7610
 * name the source of every element. */
static bool select_simd(unsigned n, char which, const char *text, uint32_t *word) {
    const size_t len = strlen(text);
    const unsigned shift = which == 'a' ? VIDEO_SIMD_A : which == 'b' ? VIDEO_SIMD_B : VIDEO_SIMD_MASK;
    if (text[0] != (n == 2 ? 'h' : 'b') || len < 2 || len > n + 1 || (which != 'd' && len != n + 1))
        return false;
    *word &= ~((which == 'd' ? 15u : 0xfffu) << shift);
    for (size_t i = 1; i < len; i++) {
        const uint32_t digit = (uint32_t)(text[i] - '0');
        if (text[i] < '0' || digit >= (which == 'd' ? n : 2 * n))
            return false;
        *word |= which == 'd' ? 1u << (shift + digit) : digit << (shift + 3 * (len - 1 - i));
    }
    return true;
}

bool video_select(unsigned op, char which, const char *text, uint32_t *word) {
    const unsigned n = elements(op);
    return text[0] && (n == 1 ? select_scalar(which, text, word) : select_simd(n, which, text, word));
}

/* Returns bits [at, at + width) of x as a number. */
static int64_t field(uint64_t x, unsigned at, unsigned width, bool is_signed) {
    const uint64_t bits = x >> at << (64 - width);
    return is_signed ? (int64_t)bits >> (64 - width) : (int64_t)(bits >> (64 - width));
}
static unsigned part_width(unsigned selector) { return selector == 0 ? 32 : selector < 5 ? 8 : 16; }
static unsigned part_at(unsigned selector) {
    return selector == 0 ? 0 : selector < 5 ? 8 * (selector - 1) : 16 * (selector - 5);
}
static int64_t part(uint32_t x, unsigned selector, bool is_signed) {
    return field(x, part_at(selector), part_width(selector), is_signed);
}
static int64_t clamp(__int128 x, unsigned width, bool is_signed) {
    const int64_t least = is_signed ? -((int64_t)1 << (width - 1)) : 0;
    const int64_t most = ((int64_t)1 << (width - (is_signed ? 1 : 0))) - 1;
    return x < least ? least : x > most ? most : (int64_t)x;
}
static bool holds(unsigned cmp, int64_t a, int64_t b) {
    switch (cmp) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* The type of results before they are truncated to the destination's size. A 32-bit word shifted left by up to 32 bits
 * does not fit into 64 bits together with its sign. */
typedef __int128 result_t;

static result_t shift(unsigned op, uint32_t v, int64_t a, int64_t b) {
    const unsigned by = v & V_WRAP ? b & 31 : b > 32 ? 32 : (unsigned)b;
    return op == OP_VSHL ? (result_t)a * ((int64_t)1 << by) : a >> by;
}

/* Performs the first operation of scalar and SIMD instructions on operands that are extended to 64 bits. */
static result_t operate(unsigned op, uint32_t v, int64_t a, int64_t b) {
    switch (op) {
    case OP_VADD:
    case OP_VADD2:
    case OP_VADD4:
        return a + b;
    case OP_VSUB:
    case OP_VSUB2:
    case OP_VSUB4:
        return a - b;
    case OP_VABSDIFF:
    case OP_VABSDIFF2:
    case OP_VABSDIFF4:
        return a < b ? b - a : a - b;
    case OP_VMIN:
    case OP_VMIN2:
    case OP_VMIN4:
        return a < b ? a : b;
    case OP_VMAX:
    case OP_VMAX2:
    case OP_VMAX4:
        return a < b ? b : a;
    case OP_VAVRG2:
    case OP_VAVRG4:
        return (a + b + (a + b >= 0)) >> 1;
    case OP_VSHL:
    case OP_VSHR:
        return shift(op, v, a, b);
    default: /* vset, vset2, vset4 */
        return holds(v >> V_CMP & 15, a, b);
    }
}

static uint32_t scalar_lane(uint32_t v, uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    const unsigned selector = e >> VIDEO_D & 15;
    result_t r = operate(v & V_OP, v, part(a, e >> VIDEO_A & 15, v & V_AS), part(b, e >> VIDEO_B & 15, v & V_BS));
    if (v & V_SAT)
        r = clamp(r, part_width(selector), v & V_DS);
    const int64_t with = part(c, 0, v & V_DS);
    switch (v >> V_SECOND & 15) {
    case OPN_ADD:
        return (uint32_t)(r + with);
    case OPN_MIN:
        return (uint32_t)(r < with ? r : with);
    case OPN_MAX:
        return (uint32_t)(r > with ? r : with);
    }
    if (selector == 0)
        return (uint32_t)r;
    const uint32_t mask = (uint32_t)(((uint64_t)1 << part_width(selector)) - 1) << part_at(selector);
    return (c & ~mask) | ((uint32_t)r << part_at(selector) & mask);
}

/* Computes one lane of vmad. To negate c, adds its complement and one. The modifier .po only adds one; it cannot be
 * combined with a negation. */
static uint32_t mad_lane(uint32_t v, uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    const bool minus = !(e & VIDEO_NEGATE_A) != !(e & VIDEO_NEGATE_B), minus_c = e & VIDEO_NEGATE_C;
    const bool is_signed = (v & (V_AS | V_BS)) || minus || minus_c;
    __int128 r = (__int128)part(a, e >> VIDEO_A & 15, v & V_AS) * part(b, e >> VIDEO_B & 15, v & V_BS);
    if (minus)
        r = -r;
    const int64_t with = part(minus_c ? ~c : c, 0, is_signed);
    r += with + (minus_c || (v & V_PO) ? 1 : 0);
    r >>= v & V_SHR7 ? 7 : v & V_SHR15 ? 15 : 0;
    return (uint32_t)(v & V_SAT ? clamp(r, 32, is_signed) : (int64_t)r);
}

static uint32_t simd_lane(uint32_t v, uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    const unsigned op = v & V_OP, n = elements(op), width = 32 / n;
    const bool sum = (v >> V_SECOND & 15) == OPN_ADD;
    const uint64_t pair = (uint64_t)b << 32 | a;
    uint32_t d = c;
    for (unsigned i = 0; i < n; i++) {
        if (!(e >> (VIDEO_SIMD_MASK + i) & 1))
            continue;
        const int64_t x = field(pair, (e >> (VIDEO_SIMD_A + 3 * i) & 7) * width, width, v & V_AS);
        const int64_t y = field(pair, (e >> (VIDEO_SIMD_B + 3 * i) & 7) * width, width, v & V_BS);
        result_t r = operate(op, v, x, y);
        if (v & V_SAT)
            r = clamp(r, width, v & V_DS);
        const uint32_t mask = ((1u << width) - 1) << width * i;
        d = sum ? d + (uint32_t)r : (d & ~mask) | ((uint32_t)r << width * i & mask);
    }
    return d;
}

#define VIDEO_RUN(name, lane)                                                                                          \
    static void name(uint32_t v, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,                 \
                     const uint32_t *e) {                                                                              \
        for (int l = 0; l < WARP_LANES; l++)                                                                           \
            d[l] = lane(v, a[l], b[l], c[l], e[l]);                                                                    \
    }
VIDEO_RUN(run_scalar, scalar_lane)
VIDEO_RUN(run_mad, mad_lane)
VIDEO_RUN(run_simd, simd_lane)

#define VIDEO(run, may_omit_c, name, op, types, form, D, A, B, v)                                                      \
    WHOLE_X((.optional_sources = may_omit_c), name, op, types, form, INT_OTHER, OPDS(D, NONE, A, B, D, U32),           \
            run(v, d_at, a_at, b_at, c_at, e_at))
#define V_TYPES(op, D, A, B) ((uint32_t)OP_##op | V_DS_##D | V_AS_##A | V_BS_##B)
#define V_WITH(second)       ((uint32_t)OPN_##second << V_SECOND)

/* Rows for a scalar instruction. Without a second operation, source c is optional: it supplies the bits of d that the
 * result does not replace. */
#define SCALAR_SECOND(name, op, types, form, D, A, B, v)                                                               \
    VIDEO(run_scalar, 1, name, op, types, form, D, A, B, v)                                                            \
    VIDEO(run_scalar, 0, name##_add, op, types, (form) | FORM(OPN, ADD), D, A, B, (v) | V_WITH(ADD))                   \
    VIDEO(run_scalar, 0, name##_min, op, types, (form) | FORM(OPN, MIN), D, A, B, (v) | V_WITH(MIN))                   \
    VIDEO(run_scalar, 0, name##_max, op, types, (form) | FORM(OPN, MAX), D, A, B, (v) | V_WITH(MAX))
#define SCALAR(op, D, A, B)                                                                                            \
    SCALAR_SECOND(op##_##D##_##A##_##B, op, T3(D, A, B), 0, D, A, B, V_TYPES(op, D, A, B))                             \
    SCALAR_SECOND(op##_sat_##D##_##A##_##B, op, T3(D, A, B), FLAG(SAT), D, A, B, V_TYPES(op, D, A, B) | V_SAT)
#define SHIFT(op, D, A)                                                                                                \
    SCALAR_SECOND(op##_clamp_##D##_##A, op, T3(D, A, U32), FORM(MODE2, CLAMP), D, A, U32, V_TYPES(op, D, A, U32))      \
    SCALAR_SECOND(op##_wrap_##D##_##A, op, T3(D, A, U32), FORM(MODE2, WRAP), D, A, U32,                                \
                  V_TYPES(op, D, A, U32) | V_WRAP)                                                                     \
    SCALAR_SECOND(op##_clamp_sat_##D##_##A, op, T3(D, A, U32), FORM(MODE2, CLAMP) | FLAG(SAT), D, A, U32,              \
                  V_TYPES(op, D, A, U32) | V_SAT)                                                                      \
    SCALAR_SECOND(op##_wrap_sat_##D##_##A, op, T3(D, A, U32), FORM(MODE2, WRAP) | FLAG(SAT), D, A, U32,                \
                  V_TYPES(op, D, A, U32) | V_WRAP | V_SAT)
#define MAD_SAT(name, form, D, A, B, v)                                                                                \
    VIDEO(run_mad, 0, name, VMAD, T3(D, A, B), form, D, A, B, v)                                                       \
    VIDEO(run_mad, 0, name##_sat, VMAD, T3(D, A, B), (form) | FLAG(SAT), D, A, B, (v) | V_SAT)                         \
    VIDEO(run_mad, 0, name##_po, VMAD, T3(D, A, B), (form) | FLAG(PO), D, A, B, (v) | V_PO)                            \
    VIDEO(run_mad, 0, name##_po_sat, VMAD, T3(D, A, B), (form) | FLAG(PO) | FLAG(SAT), D, A, B, (v) | V_PO | V_SAT)
#define SCALAR_MAD(op, D, A, B)                                                                                        \
    MAD_SAT(vmad_##D##_##A##_##B, 0, D, A, B, V_TYPES(VMAD, D, A, B))                                                  \
    MAD_SAT(vmad_shr7_##D##_##A##_##B, FORM(MODE, SHR7), D, A, B, V_TYPES(VMAD, D, A, B) | V_SHR7)                     \
    MAD_SAT(vmad_shr15_##D##_##A##_##B, FORM(MODE, SHR15), D, A, B, V_TYPES(VMAD, D, A, B) | V_SHR15)
#define SET_CMP(op, cmp, A, B)                                                                                         \
    SCALAR_SECOND(vset_##cmp##_##A##_##B, VSET, T2(A, B), FORM(CMP, cmp), U32, A, B,                                   \
                  V_TYPES(VSET, U32, A, B) | (uint32_t)CMP_##cmp << V_CMP)

#define SIMD(op, D, A, B)                                                                                              \
    VIDEO(run_simd, 0, op##_##D##_##A##_##B, op, T3(D, A, B), 0, D, A, B, V_TYPES(op, D, A, B))                        \
    VIDEO(run_simd, 0, op##_sat_##D##_##A##_##B, op, T3(D, A, B), FLAG(SAT), D, A, B, V_TYPES(op, D, A, B) | V_SAT)    \
    VIDEO(run_simd, 0, op##_add_##D##_##A##_##B, op, T3(D, A, B), FORM(OPN, ADD), D, A, B,                             \
          V_TYPES(op, D, A, B) | V_WITH(ADD))
#define SIMD_CMP(op, cmp, A, B)                                                                                        \
    VIDEO(run_simd, 0, op##_##cmp##_##A##_##B, op, T2(A, B), FORM(CMP, cmp), U32, A, B,                                \
          V_TYPES(op, U32, A, B) | (uint32_t)CMP_##cmp << V_CMP)                                                       \
    VIDEO(run_simd, 0, op##_add_##cmp##_##A##_##B, op, T2(A, B), FORM(CMP, cmp) | FORM(OPN, ADD), U32, A, B,           \
          V_TYPES(op, U32, A, B) | (uint32_t)CMP_##cmp << V_CMP | V_WITH(ADD))

/* Calls X(op, D, A, B) for every combination of the signs of A and B. */
#define SOURCE_SIGNS(X, op, D) X(op, D, U32, U32) X(op, D, U32, S32) X(op, D, S32, U32) X(op, D, S32, S32)
#define ALL_SIGNS(X, op)       SOURCE_SIGNS(X, op, U32) SOURCE_SIGNS(X, op, S32)
#define SHIFT_SIGNS(op)        SHIFT(op, U32, U32) SHIFT(op, U32, S32) SHIFT(op, S32, U32) SHIFT(op, S32, S32)
#define ALL_CMP(X, op)                                                                                                 \
    SOURCE_SIGNS(X, op, EQ)                                                                                            \
    SOURCE_SIGNS(X, op, NE)                                                                                            \
    SOURCE_SIGNS(X, op, LT) SOURCE_SIGNS(X, op, LE) SOURCE_SIGNS(X, op, GT) SOURCE_SIGNS(X, op, GE)

#define ROWS_FILE "isa/exec/exec_video.c"
#define ROWS_NAME video
#include "isa/rows_expand.h"
#else
/* clang-format off */
ALL_SIGNS(SCALAR, VADD)
ALL_SIGNS(SCALAR, VSUB)
ALL_SIGNS(SCALAR, VABSDIFF)
ALL_SIGNS(SCALAR, VMIN)
ALL_SIGNS(SCALAR, VMAX)
SHIFT_SIGNS(VSHL)
SHIFT_SIGNS(VSHR)
ALL_SIGNS(SCALAR_MAD, VMAD)
ALL_CMP(SET_CMP, VSET)
ALL_SIGNS(SIMD, VADD2)
ALL_SIGNS(SIMD, VSUB2)
ALL_SIGNS(SIMD, VAVRG2)
ALL_SIGNS(SIMD, VABSDIFF2)
ALL_SIGNS(SIMD, VMIN2)
ALL_SIGNS(SIMD, VMAX2)
ALL_CMP(SIMD_CMP, VSET2)
ALL_SIGNS(SIMD, VADD4)
ALL_SIGNS(SIMD, VSUB4)
ALL_SIGNS(SIMD, VAVRG4)
ALL_SIGNS(SIMD, VABSDIFF4)
ALL_SIGNS(SIMD, VMIN4)
ALL_SIGNS(SIMD, VMAX4)
ALL_CMP(SIMD_CMP, VSET4)
/* clang-format on */
#endif
