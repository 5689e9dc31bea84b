#ifndef REPRODUCE_FIGURES_H
#define REPRODUCE_FIGURES_H
/* The papers' figures and tables as data: the runs of each figure, the statistics to plot, and the numbers that the
 * papers claim. The code here starts no runs. A figure is an entry of a table in figures_<paper>.c. The table in
 * figures_mechanisms.c is no paper's: it compares Heddle's mechanisms with each other. */
#include <stdbool.h>

/* One cause of lost time in a struct estimate, and two series that show which part of this loss a mechanism leaves. */
struct estimate_loss {
    const char *loss;        /* statistic: the lost time of the series `of`, in the unit of `used` */
    const char *gain, *base; /* labels of the series with and without the mechanism; NULL: the loss is not scaled */
    const char *left;        /* statistic: the loss is multiplied by the ratio of its values in `gain` and in `base` */
};
enum { ESTIMATE_LOSSES = 3 };
/* A series without runs of its own. Its value is the used time of the series `of`, divided by the sum of this used time
 * and of the losses. Each loss is first scaled by what a mechanism leaves of it when measured alone. */
struct estimate {
    const char *of;   /* label of a series with runs */
    const char *used; /* statistic: its used time */
    struct estimate_loss losses[ESTIMATE_LOSSES];
};

/* A series of bars in a figure: one bar for each program, all measured on one machine. */
struct series {
    const char *label, *model;
    const char *preset; /* machine preset of the series; NULL: the preset of the figure */
    const char *set;    /* options in addition to those of the figure, separated by spaces; NULL: none */
    const char *base;   /* label of the series to compare with; NULL: values are absolute */
    /* labels of other series, separated by |: for each program, the bar is the best of their values, and `model` is
     * not used */
    const char *best_of;
    const struct estimate
        *estimate;      /* the bars are computed from other series, and `model` is not used; NULL: measured */
    const char *suffix; /* ending of the names of the programs to run, where such programs exist; NULL: no ending */
    const char *value;  /* statistics to plot for the series; NULL: panel.value */
    bool hidden;        /* true if the series has no bars and serves only as the base of other series */
    bool bound;         /* true for an upper bound, which no hardware reaches: it is never a program's best series */
};

enum panel_kind {
    PANEL_VALUE,   /* the value */
    PANEL_RATIO,   /* value of the series / value of its base */
    PANEL_SPEEDUP, /* cycles of the base / cycles of the series */
};
enum panel_mean { MEAN_GEOMETRIC, MEAN_ARITHMETIC, MEAN_MOST };
enum panel_show { SHOW_RATIO, SHOW_PERCENT, SHOW_COUNT };

/* A number in the text of a paper. The bars in the papers' figures cannot be read as exact numbers, so most figures
 * have only a few claims. */
struct claim {
    /* the programs of the claim: one program, a set (its mean), "all", "most" (the largest value), or the name of a
     * group of panel.split */
    const char *of;
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
    const char *value; /* statistics to plot: a sum of terms [FACTOR*]NAME, or a quotient of two such sums: "a+2*b/c" */
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

enum { FIGURE_PANELS = 5 };
struct figure {
    const char *name, *title;
    const char *paper;    /* the paper, and its figure or section; for a contest, what it compares */
    const char *programs; /* benchmarks and sets, separated by spaces */
    const char *preset, *set;
    struct panel panels[FIGURE_PANELS]; /* entries with a title */
    const char *note;    /* differences between this measurement and the paper's; NULL if there are none */
    const char *missing; /* reason why the figure cannot run yet; NULL if it can */
    /* true: the figure is not of a mechanism's paper. The user may choose its programs, and "all" leaves it out. */
    bool own;
    /* NULL: no contest. Otherwise the figure is a contest of mechanisms, and this is the label of the series
     * with which the others compete. All panels have the same series. The first panel decides which series is the best
     * for a program. Each panel is drawn as a map, with a cell for each program and series. */
    const char *contest;
};

extern const struct figure figures_dual_path[], figures_subwarp[], figures_dac[], figures_pepsc[], figures_mechanisms[],
    figures_modern[];
/* Returns figure number n of all tables; NULL: n is too large. */
const struct figure *figure_at(int n);
#endif
