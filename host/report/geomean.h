#ifndef HOST_GEOMEAN_H
#define HOST_GEOMEAN_H
/* A geometric mean over positive values. Other values are ignored. The mean is NAN if there is no positive value. */
struct geomean {
    double log_sum;
    int n;
};
void geomean_add(struct geomean *g, double v);
double geomean_get(const struct geomean *g);
#endif
