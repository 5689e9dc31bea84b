#ifndef ISA_ROUNDING_H
#define ISA_ROUNDING_H
/* Statistics of rounding: how much results that are rounded once, after several operations, differ from results that
 * are rounded after each operation. */
#include <stdint.h>

struct rounding_error {
    uint64_t results; /* number of results, counted per lane */
    uint64_t differ;  /* number of results that differ in any bit */
    uint64_t beyond;  /* number of results with a relative error (rounding.c) above 0.5 % */
    double largest;   /* largest relative error */
};
/* Counts a result that is `have` with one rounding and `want` with a rounding after each operation. */
void rounding_error_see(struct rounding_error *e, float have, float want);
void rounding_error_add(struct rounding_error *to, const struct rounding_error *from);
#endif
