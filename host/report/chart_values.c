/* Functions that search or compare the values of a chart (chart.h). */
#include "chart.h"
#include <math.h>
#include <stdlib.h>

bool chart_any(const struct chart *c) {
    for (int i = 0; i < c->n * c->n_series; i++)
        if (isfinite(c->y[i]) && (!c->x || isfinite(c->x[i / c->n_series])))
            return true;
    return false;
}

double chart_strongest(const struct chart *c) {
    double most = 0;
    for (int i = 0; i < c->n * c->n_series; i++)
        if (isfinite(c->y[i]) && c->y[i] > 0)
            most = fmax(most, fabs(log(c->y[i])));
    return fmax(1.01, fmin(1.5, exp(most)));
}

int *chart_order(const struct chart *c) {
    int *order = calloc((size_t)c->n + 1, sizeof *order);
    for (int i = 0; order && i < c->n; i++) {
        int at = i;
        for (; c->x && at > 0 && c->x[order[at - 1]] > c->x[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}
