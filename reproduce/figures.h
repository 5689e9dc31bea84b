#ifndef REPRODUCE_FIGURES_H
#define REPRODUCE_FIGURES_H
/* The papers' figures and tables as data: the runs of each figure, the values to read, and the claims of the papers'
 * texts. This folder runs nothing. A figure is an entry of a table in figures_<paper>.c. */
#include <stdbool.h>

/* One cause of lost time in an estimate: the loss, and the runs that show how much of it a mechanism leaves. */
struct estimate_loss {
    const char *loss;        /* lost time in the series `of`, in the unit of `used` */
    const char *gain, *base; /* labels of the series with and without the mechanism; NULL: the loss stays as it is */
    const char *left;        /* statistics that are compared: what `gain` has of it over what `base` has is left */
};
enum { ESTIMATE_LOSSES = 3 };
/* A series without runs of its own: the used share of the time of a series after each loss is scaled by what a
 * mechanism leaves of it when it is measured alone. */
struct estimate {
    const char *of; /* label of the series */
    const char *used;
    struct estimate_loss losses[ESTIMATE_LOSSES];
};

/* A series of a figure: one bar for each program, with the results of one machine. */
struct series {
    const char *label, *model;
    const char *preset;  /* preset of the series; NULL means the figure's preset */
    const char *set;     /* options in addition to the figure's, separated by spaces; NULL if there are none */
    const char *base;    /* label of the series to compare with; NULL: values are absolute */
    const char *best_of; /* instead of a model: the best of these series for each program; labels separated by | */
    const struct estimate *estimate; /* instead of a model: computed from other series of the panel */
    const char *suffix; /* runs the programs with this ending of their names, where they exist; NULL: as the figure */
    const char *value;  /* value of the series; NULL means the panel's value */
    bool hidden;        /* true if the series is only a base of other series and has no bars */
};

enum panel_kind {
    PANEL_VALUE,   /* the value */
    PANEL_RATIO,   /* value / value of the base */
    PANEL_SPEEDUP, /* cycles of the base / cycles */
};
enum panel_mean { MEAN_GEOMETRIC, MEAN_ARITHMETIC, MEAN_MOST };
enum panel_show { SHOW_RATIO, SHOW_PERCENT, SHOW_COUNT };

/* A claim of a paper's text. Bars of its figures cannot be read as numbers, so most figures have only a few claims. */
struct claim {
    const char *of; /* a program, a set (its mean), "all", "most" (the largest value), or a name in the panel's split */
    const char *series;
    double value; /* the claimed value, in the unit of the panel */
    bool at_most; /* the text gives an upper bound */
};

/* Splits programs into two groups by a measurement: programs whose value in `series` is at least `least`, and all
 * others. */
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
    const char *value; /* statistics: sums of [FACTOR*]NAME, possibly a quotient of two: "a+2*b/c" */
    enum panel_kind kind;
    enum panel_mean mean;
    enum panel_show show;
    const struct series *series; /* a list that ends with a NULL label */
    const struct claim *claims;  /* a list that ends with a NULL `of`; NULL if the text has no claims */
    const struct split *split;   /* NULL: programs are not split */
};

#define PANEL(title_, value_, kind_, mean_, show_, series_, ...)                                                       \
    {                                                                                                                  \
        .title = title_, .value = value_, .kind = kind_, .mean = mean_, .show = show_, .series = series_,              \
        .claims = __VA_ARGS__                                                                                          \
    }

enum { FIGURE_PANELS = 4 };
struct figure {
    const char *name, *title, *paper;
    const char *programs; /* benchmarks and sets, separated by spaces */
    const char *preset, *set;
    struct panel panels[FIGURE_PANELS]; /* entries with a title */
    const char *note;    /* differences between this measurement and the paper's; NULL if there are none */
    const char *missing; /* reason why the figure cannot run yet; NULL if it can */
};

extern const struct figure figures_dual_path[], figures_subwarp[], figures_dac[], figures_pepsc[];
/* Returns figure number n of all tables; NULL: n is too large. */
const struct figure *figure_at(int n);
#endif
