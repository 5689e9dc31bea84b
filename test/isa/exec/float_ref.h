#ifndef TEST_FLOAT_REF_H
#define TEST_FLOAT_REF_H
/* Reference results of floating-point instructions, for one lane at a time. They are computed with MPFR and integer
 * arithmetic. The reference shares no code with isa/: it decodes formats with ldexp(), rounds with MPFR, and encodes
 * the result. */
#include "isa/decode.h"
#include <mpfr.h>

/* Operands and results of one lane as bits: the value of a register, or 0 or 1 for a predicate. */
struct lane {
    uint64_t d, d2, a, b, c;
};

/* Returns the exact value of `bits` in floating-point type t, which is not a pair. */
double float_decode(enum type t, uint64_t bits);
bool float_is_nan(enum type t, uint64_t bits);
/* Returns the encoding of x in type t. x must be a number of this type. */
uint64_t float_encode(enum type t, double x);
/* Return the least positive and the greatest finite number of type t. */
double float_min(enum type t);
double float_max(enum type t);
/* Returns the half type of a pair (T_F16 for T_F16X2); otherwise t. */
enum type float_half(enum type t);

/* Computes x->d and x->d2 from x->a, x->b and x->c. Returns false if the row has no exact reference; float_ref_near()
 * checks approximate rows. */
bool float_ref(const struct isa_row *row, struct lane *x);
/* Returns true if the row is an approximate instruction that float_ref_near() can check. */
bool float_ref_is_near(const struct isa_row *row);
/* Returns true if `got` is within the error bound that the PTX ISA gives for `row` with operands x->a and x->b. */
bool float_ref_near(const struct isa_row *row, const struct lane *x, uint64_t got);
#endif
