/* Counts how much results with one rounding differ from results with a rounding after each operation (rounding.h). */
#include "rounding.h"
#include <math.h>
#include <string.h>

/* Returns the difference of two results divided by the larger magnitude, a number from 0 to 2. Zeros of both signs are
 * equal, and so are two NaNs. Returns 1 for an infinity and a finite number, 2 for infinities of different signs (the
 * limit for numbers that grow with different signs), and 2 for a NaN and a number. */
static double relative_error(float have, float want) {
    const double a = have, b = want;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : 2;
    if (a == b)
        return 0;
    if (isinf(a) || isinf(b))
        return isinf(a) && isinf(b) ? 2 : 1;
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

void rounding_error_see(struct rounding_error *e, float have, float want) {
    const double error = relative_error(have, want), beyond = 1 / 200.;
    e->results++;
    e->differ += memcmp(&have, &want, sizeof have) != 0;
    e->beyond += error > beyond;
    e->largest = fmax(e->largest, error);
}

void rounding_error_add(struct rounding_error *to, const struct rounding_error *from) {
    to->results += from->results;
    to->differ += from->differ;
    to->beyond += from->beyond;
    if (to->largest < from->largest)
        to->largest = from->largest;
}
