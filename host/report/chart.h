#ifndef HOST_CHART_H
#define HOST_CHART_H
/* A chart: named numbers, drawn as SVG by Heddle itself (chart_svg.c), or as PNG by a script for gnuplot. */
#include <stdbool.h>
#include <stddef.h>
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
        CHART_HEAT,   /* a coloured cell for each place and series, in place of too many bars */
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
    int n_roofs;         /* number of roofs; if there are any, both axes are logarithmic */
    const double *paper; /* only for bars in SVG: a paper's numbers, as `y`, drawn as diamonds; NULL: there are none */
};
/* Returns true if the chart has any value. */
bool chart_any(const struct chart *c);
/* Returns the ratio that has the strongest colour in a heat map of ratios, 1.01 to 1.5: the value farthest from 1. */
double chart_strongest(const struct chart *c);
/* Returns the indices of the chart's places in the order of their x. Returns NULL if out of memory; the caller frees
 * the array. */
int *chart_order(const struct chart *c);
/* Writes the chart as SVG, for a page with the style of html_begin(), or as a file of its own. Returns false if out of
 * memory. */
bool chart_svg(const struct chart *c, bool page, FILE *out);
/* Writes the chart's gnuplot script, which draws PNG. Returns false if out of memory. */
bool chart_script(const struct chart *c, FILE *out);
/* Draws the chart to a file. `ending` is svg or png. Returns 1 if the chart is drawn, 0 if it is a PNG and gnuplot is
 * not installed, or -1 with the reason on failure. */
int chart_file(const struct chart *c, const char *ending, const char *path, char *err, size_t err_size);

/* Maximum number of characters of a name along x. */
enum { CHART_NAME = 40 };
/* Shortens `n` names: removes the words that all of them share, and cuts each name to CHART_NAME characters. Returns
 * the new names, ended by NULL, or NULL if out of memory. Sets *shared to a text with the shared words, which the
 * caller frees, or to NULL if there are none. */
char **chart_names(char *const *names, int n, char **shared);
void chart_names_free(char **names);
/* Returns the number of characters of a UTF-8 text. */
size_t chart_characters(const char *text);
#endif
