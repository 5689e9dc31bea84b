#ifndef HOST_CHART_H
#define HOST_CHART_H
/* A chart: named numbers, drawn by a script for gnuplot. */
#include <stdbool.h>
#include <stdio.h>

/* The roof of a roofline: y = min(slope * x, height). */
struct chart_roof {
    const char *name;
    double slope, height;
};

struct chart {
    enum chart_kind {
        CHART_BARS,   /* a cluster of bars at each place */
        CHART_STACK,  /* a bar at each place, with the series stacked */
        CHART_LINES,  /* a line for each series */
        CHART_POINTS, /* points of a colour for each series */
    } kind;
    const char *title, *x_label, *y_label; /* the texts may contain any characters; x_label and y_label may be NULL */
    char *const *places;                   /* n names, along x */
    const double *x;                       /* n values of x; only for lines and points */
    int n;
    char *const *series; /* n_series names */
    int n_series;
    const double *y; /* y[place * n_series + series] is the value of a series at a place; NAN: there is no value */
    bool level;      /* true: the chart has a horizontal line at 1 */
    bool percent;    /* only for a stacked chart: the values of each place add up to 100 */
    const struct chart_roof *roofs;
    int n_roofs; /* number of roofs; if there are any, both axes are logarithmic */
};
/* Returns true if the chart has any value. */
bool chart_any(const struct chart *c);
/* Writes the chart's gnuplot script. `ending` is svg or png. Returns false if out of memory. */
bool chart_script(const struct chart *c, const char *ending, FILE *out);
/* Draw the chart to a file, or as an image inside an HTML page. Return 1 if the chart is drawn, 0 if gnuplot is not
 * installed, or -1 with the reason on failure. */
int chart_file(const struct chart *c, const char *ending, const char *path, char *err, size_t err_size);
int chart_html(const struct chart *c, FILE *page, char *err, size_t err_size);
#endif
