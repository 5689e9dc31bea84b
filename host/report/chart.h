#ifndef HOST_CHART_H
#define HOST_CHART_H
/* A chart as numbers with names, and its script for gnuplot. */
#include <stdbool.h>
#include <stdio.h>

/* Rising with x to a height: y = min(slope * x, height). */
struct chart_roof {
    const char *name;
    double slope, height;
};

struct chart {
    enum chart_kind {
        CHART_BARS,   /* a cluster of bars a place */
        CHART_STACK,  /* a bar a place, the series on top of each other */
        CHART_LINES,  /* a line a series */
        CHART_POINTS, /* a cloud a series */
    } kind;
    const char *title, *x_label, *y_label; /* any text; labels may be NULL */
    char *const *places;                   /* n names, along x */
    const double *x;                       /* n; lines and points only */
    int n;
    char *const *series; /* n_series names */
    int n_series;
    const double *y; /* [place * n_series + series]; NAN: none */
    bool level;      /* a line across at 1 */
    bool percent;    /* of a stack: the values of a place add up to 100 */
    const struct chart_roof *roofs;
    int n_roofs; /* with roofs both axes are logarithmic */
};
/* Whether it has any value. */
bool chart_any(const struct chart *c);
/* `ending`: svg or png. False when memory is out. */
bool chart_script(const struct chart *c, const char *ending, FILE *out);
/* The chart by gnuplot as a file, or as an image in a page of HTML. 1: drawn; 0: there is no gnuplot; -1: failed, with
 * the reason. */
int chart_file(const struct chart *c, const char *ending, const char *path, char *err, size_t err_size);
int chart_html(const struct chart *c, FILE *page, char *err, size_t err_size);
#endif
