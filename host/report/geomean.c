#include "geomean.h"
#include <math.h>

void geomean_add(struct geomean *g, double v) {
    if (!(v > 0) || isinf(v))
        return;
    g->log_sum += log(v);
    g->n++;
}

double geomean_get(const struct geomean *g) { return g->n ? exp(g->log_sum / g->n) : NAN; }
