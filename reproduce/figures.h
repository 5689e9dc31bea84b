#ifndef REPRODUCE_FIGURES_H
#define REPRODUCE_FIGURES_H
/* The papers' figures and tables as data: what is run for each, what is read off, and what the papers' texts say of it.
 * Nothing here runs anything. A figure is an entry of a table in figures_<paper>.c. */
#include <stdbool.h>

/* One bar of each program: a machine. */
struct series {
    const char *label, *model;
    const char *preset;  /* in place of the figure's; NULL: that */
    const char *set;     /* options beside the figure's, with a space between; NULL: none */
    const char *base;    /* label of the series that it is compared with; NULL: its values stand for themselves */
    const char *best_of; /* in place of a model: the best of these for each program, labels with | between */
    const char *value;   /* read off in place of the panel's value; NULL: that */
    bool hidden;         /* run for others to be compared with, and not shown */
};

enum panel_kind {
    PANEL_VALUE,   /* the value */
    PANEL_RATIO,   /* the value over the base's */
    PANEL_SPEEDUP, /* the base's value over its own: of cycles */
};
enum panel_mean { MEAN_GEOMETRIC, MEAN_ARITHMETIC, MEAN_MOST };
enum panel_show { SHOW_RATIO, SHOW_PERCENT, SHOW_COUNT };

/* What a paper's text says. Its figures' bars are not readable as numbers, so most have a handful of these. */
struct claim {
    const char *of; /* a program, a set (their mean), "all", "most" (the largest), a name of the panel's split */
    const char *series;
    double value; /* in the panel's measure */
    bool at_most; /* the text gives a bound */
};

/* Programs parted by measurement: those for which `series` has at least `least`, and the others. */
struct split {
    const char *series, *yes, *no;
    double least;
};

#define CLAIM(of_, series_, v)                                                                                         \
    { .of = of_, .series = series_, .value = v }
#define CLAIM_AT_MOST(of_, series_, v)                                                                                 \
    { .of = of_, .series = series_, .value = v, .at_most = true }

struct panel {
    const char *title;
    const char *value; /* statistics: sums of [FACTOR*]NAME, one over another: "a+2*b/c" */
    enum panel_kind kind;
    enum panel_mean mean;
    enum panel_show show;
    const struct series *series; /* ends with a NULL label */
    const struct claim *claims;  /* ends with a NULL `of`; NULL: the text has none */
    const struct split *split;   /* NULL: programs are not parted */
};

#define PANEL(title_, value_, kind_, mean_, show_, series_, ...)                                                       \
    {                                                                                                                  \
        .title = title_, .value = value_, .kind = kind_, .mean = mean_, .show = show_, .series = series_,              \
        .claims = __VA_ARGS__                                                                                          \
    }

enum { FIGURE_PANELS = 4 };
struct figure {
    const char *name, *title, *paper;
    const char *programs; /* benchmarks and sets, with a space between */
    const char *preset, *set;
    struct panel panels[FIGURE_PANELS]; /* those with a title */
    const char *note;                   /* how ours differs in what it measures; NULL: it does not */
    const char *missing;                /* why there is nothing to run yet; NULL: there is */
};

extern const struct figure figures_dual_path[], figures_subwarp[], figures_dac[], figures_pepsc[];
/* The figure number n of all tables, NULL behind the last. */
const struct figure *figure_at(int n);
#endif
