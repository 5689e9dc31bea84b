#ifndef TEST_FLOAT_REF_H
#define TEST_FLOAT_REF_H
/* What a floating-point instruction must give, one lane at a time, computed with MPFR and plain integers. Nothing here
 * is shared with isa/: formats are decoded with ldexp(), rounded by MPFR and encoded again. */
#include "isa/decode.h"
#include <mpfr.h>

/* One lane's operands as bits: a register's value, or 0 and 1 for a predicate. */
struct lane {
    uint64_t d, d2, a, b, c;
};

/* The exact value of `bits` in floating-point type `t` (not a pair). */
double float_decode(enum type t, uint64_t bits);
bool float_is_nan(enum type t, uint64_t bits);
/* The bits of x, which must be a number of type t. */
uint64_t float_encode(enum type t, double x);
/* The smallest positive and the largest finite number of type t. */
double float_min(enum type t);
double float_max(enum type t);
/* The half type of a pair (T_F16 of T_F16X2 ...); t itself otherwise. */
enum type float_half(enum type t);

/* Fills x->d and x->d2 with the results that `row` must give for x->a, b and c. False when there is no reference for
 * such a row. Approximate rows have one in float_ref_near(). */
bool float_ref(const struct isa_row *row, struct lane *x);
/* True when row is an approximation that float_ref_near() knows. */
bool float_ref_is_near(const struct isa_row *row);
/* True when `got` is within the bound that the PTX ISA states for `row` and x->a, x->b. */
bool float_ref_near(const struct isa_row *row, const struct lane *x, uint64_t got);
#endif
