#ifndef TEST_ISA_REFERENCE_H
#define TEST_ISA_REFERENCE_H
/* Reference results of integer instructions, for one lane at a time. The code uses 128-bit integers and loops over
 * bits, so that it is easy to verify. It shares no code with isa/exec. */
#include "isa/decode.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* A source operand of one lane: its bits, and its value (sign-extended if its type is signed). */
struct ref_operand {
    uwide bits;
    wide value;
};

struct ref_lane {
    struct ref_operand a, b, c, e;
    uwide d, d2; /* results: only as many low bits as the type has are valid; a predicate is 0 or 1 */
};

/* Computes x->d and x->d2. Returns false if the row has no reference. */
bool ref_int(const struct isa_row *row, struct ref_lane *x);
bool ref_bits(const struct isa_row *row, struct ref_lane *x);
bool ref_video(const struct isa_row *row, struct ref_lane *x);

static inline uwide ref_ones(unsigned n) { return n >= 128 ? ~(uwide)0 : ((uwide)1 << n) - 1; }
static inline wide ref_extend(uwide bits, unsigned width, bool is_signed) {
    bits &= ref_ones(width);
    return is_signed && bits >> (width - 1) & 1 ? (wide)(bits | ~ref_ones(width)) : (wide)bits;
}
static inline wide ref_clamp(wide x, wide least, wide most) { return x < least ? least : x > most ? most : x; }
static inline bool ref_compare(unsigned cmp, wide a, wide b) {
    switch (cmp) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
    case CMP_LO:
        return a < b;
    case CMP_LE:
    case CMP_LS:
        return a <= b;
    case CMP_GT:
    case CMP_HI:
        return a > b;
    default:
        return a >= b;
    }
}
#endif
