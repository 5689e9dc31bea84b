#ifndef HOST_FIGURE_H
#define HOST_FIGURE_H
/* A figure of a paper, filled from a database of results. This header declares the runs that a figure needs, its
 * numbers, and its output as text and as a page. */
#include "benchmarks/bench.h"
#include "host/results/results_db.h"
#include "plan.h"
#include "reproduce/figures.h"

enum { FIGURE_GROUPS = 12, FIGURE_SERIES = 64 };

/* The runs of a figure: run[(panel * FIGURE_SERIES + series) * n_programs + program] is an index into the plan, or
 * -1 if there is no such run. */
struct figure_runs {
    const struct figure *figure;
    const struct bench **programs;
    int n_programs;
    int *run;     /* indices into the plan */
    char *absent; /* lines that name missing programs, models and options; NULL if nothing is missing */
};
/* Adds the figure's runs to the plan. Returns false with a reason if out of memory or if a kernel cannot be read. */
bool figure_plan(struct figure_runs *r, const struct figure *f, enum bench_size size, struct plan *plan, char *err,
                 size_t err_size);
void figure_runs_free(struct figure_runs *r);

/* A panel's numbers: values of programs, and means of groups of programs. NAN means no value. */
struct panel_values {
    const struct panel *panel;
    int n_series, n_programs, n_groups;
    double *value; /* value[series * n_programs + program] */
    const char *group[FIGURE_GROUPS];
    double mean[FIGURE_SERIES][FIGURE_GROUPS];
    bool *member; /* member[group * n_programs + program]: true if the program belongs to the group */
};
bool panel_fill(struct panel_values *v, const struct figure_runs *r, int panel, const struct plan *plan,
                const struct result_set *set);
void panel_free(struct panel_values *v);
/* Returns the value of program or group `of` for a series (see struct claim); NAN if there is none. */
double panel_value(const struct panel_values *v, const struct figure_runs *r, const char *of, const char *series);
/* Returns the paper's number for a program or group; NULL if the paper gives no number. */
const struct claim *panel_claim(const struct panel *p, const char *of, const char *series);
int panel_series(const struct panel *p);
/* Evaluates an expression such as "a+2*b/c" for one row. Returns NAN if a statistic is missing or the divisor is 0. */
double figure_expression(const struct result_set *set, const struct result_row *row, const char *text);

/* Compares directions: 1 if Heddle's value and the paper's are both above 1, both below, or both within half a percent
 * of 1; -1 if not; 0 if the panel shows absolute values, which have no direction. */
int claim_direction(const struct panel *p, const struct claim *c, double ours);
/* Writes a value in the panel's format, at most `size` bytes; returns `out`. */
const char *panel_show(const struct panel *p, double v, char *out, size_t size);

/* figure_best.c */
/* The best series for one program of a contest (figures.h), and the use of issue slots that it reduces most. */
struct figure_best {
    int series;       /* -1: no series is more than half a percent better than the base, or a run failed */
    double value;     /* value of the best series in the first panel */
    const char *slot; /* name of the statistic issue.* that decreases most from the base to it; NULL: none decreases */
    double saved;     /* the decrease of this statistic / the base's issue slots with live warps */
};
/* Returns an array with an entry for each program; NULL: out of memory. The caller frees the array. */
struct figure_best *figure_best(const struct figure_runs *r, const struct panel_values *first, const struct plan *plan,
                                const struct result_set *set);
/* Returns a table with a row for each entry of the array. The caller frees it. */
struct table *figure_best_table(const struct figure_runs *r, const struct panel_values *first,
                                const struct figure_best *best);
/* Prints a contest: each series with its means over all programs in `n` panels, and the best series of each program. */
void figure_contest_print(const struct figure_runs *r, const struct panel_values *v, int n,
                          const struct figure_best *best, FILE *out);

/* figure_print.c: print the values of a figure's panels, as text and as CSV. */
void figure_print(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out);
void figure_csv(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out);
/* Prints the first line about a figure: its name, title, paper and machine. */
void figure_title(const struct figure *f, FILE *out);
/* Prints the figure's note, and the names of programs and series that this build lacks. */
void figure_remarks(const struct figure_runs *r, FILE *out);
/* Adds a cell with a value in the panel's format. */
void panel_put(struct table *t, const struct panel *p, double v);
/* Returns what the panel shows for a group of programs: "geometric mean", "mean" or "most". */
const char *panel_mean_name(const struct panel *p);

struct figure_page {
    const struct figure_runs *runs;
    struct panel_values panels[FIGURE_PANELS];
    int n;
    struct figure_best *best; /* of a contest: an entry for each program; NULL for a paper's figure */
};

/* figure_summary.c */
/* Counts of pairs of numbers: all pairs, pairs in the same order in the paper and in Heddle (concordant), in the
 * opposite order (discordant), and with equal numbers in Heddle or in the paper (tied). */
struct ranks {
    int pairs, concordant, discordant, tied_ours, tied_paper;
};
/* Counts one pair, if Heddle has both numbers. */
void rank_add(struct ranks *r, double ours, double ours2, double theirs, double theirs2);
/* Returns Kendall's tau-b: 1 if all pairs are in the paper's order, -1 if all are in the opposite order. Returns NAN
 * if there are no pairs, or if all numbers of one side are equal. M. Kendall, "The treatment of ties in ranking
 * problems", Biometrika 33, 1945. */
double rank_tau(const struct ranks *r);
/* How well a figure agrees with the numbers in the paper's text. */
struct claims {
    /* counts of numbers: in the text (all), with a value of Heddle (measured), with a direction (directed), with the
     * same direction in Heddle (same), with a distance (compared) */
    int all, measured, directed, same, compared;
    double distance;       /* sum of |Heddle's number / the paper's number - 1| over the compared numbers */
    struct ranks programs; /* pairs of programs under one series */
    struct ranks settings; /* pairs of series of one program or group */
};
/* Returns the mean distance; NAN if no number is compared. */
double claims_distance(const struct claims *c);
/* The source of all numbers: the plan with the runs, and the results of these runs. */
struct figure_source {
    const struct plan *plan;
    const struct result_set *set;
};
struct summary {
    const struct figure_page *pages;
    int n;
    struct {
        struct claims claims;
        double seconds; /* seconds of simulation, over all runs of the figure */
    } * rows;
    struct claims all;
    int runs; /* number of runs of all figures; shared runs count once */
    double seconds;
};
/* Makes the summary. `pages` must outlive it. Returns false if out of memory. The caller frees it in either case. */
bool summary_make(struct summary *s, const struct figure_page *pages, int n, const struct figure_source *from);
void summary_free(struct summary *s);
/* Returns a table with one row for each figure, and one row for all figures together. */
struct table *summary_table(const struct summary *s);

/* figure_machines.c: write parts of the HTML page. figure_series() writes a panel's series. figure_presets() writes
 * every option of the presets. figure_versions() writes the versions of heddle and of the programs that it uses;
 * `binary` is heddle's digest. */
void figure_series(FILE *out, const struct figure *f, const struct panel *p);
void figure_presets(FILE *out, const struct summary *s);
void figure_versions(FILE *out, const char *binary);

/* figure_page.c: writes the HTML page. `binary`: digest of the heddle executable. */
void figure_page(const struct summary *s, const char *size, const char *binary, FILE *out);

/* figure_chart.c: draws a panel inside the page. Draws nothing if the panel has no values or memory is out. */
void figure_chart(FILE *out, const struct figure_runs *r, const struct panel_values *v);

/* figure_plot.c: choices that every drawing of a panel shares. figure_claim() returns the paper's number for program i,
 * or for group i - n_programs; NULL if there is none that can be drawn. panel_means_alone() returns true if the panel
 * has too many series to draw each program. */
const struct claim *figure_claim(const struct figure_runs *r, const struct panel_values *v, int i, const char *label);
int panel_shown_series(const struct panel_values *v);
bool panel_means_alone(const struct panel_values *v);
/* figure_plot.c: writes the gnuplot script. `terminal`: svg or png. figure_map.c: does the same for a contest. */
void figure_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal, FILE *out);
void figure_map_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal,
                       FILE *out);
/* Returns a value's place in the colours of a map, from -1 (worst) to 1 (best). 0 is the base's own value, or the
 * middle of a panel with absolute values. NAN: there is no value. */
double figure_heat(const struct panel *p, double v);
#endif
