#ifndef ISA_ROUNDING_H
#define ISA_ROUNDING_H
/* Statistics of rounding: how far results that are rounded once differ from results where each operation is rounded. */
#include <stdint.h>

struct rounding_error {
    uint64_t results; /* results of lanes */
    uint64_t differ;  /* results that differ in any bit */
    uint64_t beyond;  /* results with a relative error (rounding.c) above 0.5 % */
    double largest;   /* largest relative error */
};
/* Counts the result `have`; rounding after each operation would give `want`. */
void rounding_error_see(struct rounding_error *e, float have, float want);
void rounding_error_add(struct rounding_error *to, const struct rounding_error *from);
#endif
