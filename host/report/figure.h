#ifndef HOST_FIGURE_H
#define HOST_FIGURE_H
/* A figure of a paper, filled from a database of results: what is to be run for it, its numbers, and how they are
 * shown. */
#include "benchmarks/bench.h"
#include "host/results/results_db.h"
#include "plan.h"
#include "reproduce/figures.h"

enum { FIGURE_GROUPS = 8, FIGURE_SERIES = 32 };

/* What is run for a figure: run[(panel * FIGURE_SERIES + series) * n_programs + program], -1 for none. */
struct figure_runs {
    const struct figure *figure;
    const struct bench **programs;
    int n_programs;
    int *run;     /* in the plan */
    char *absent; /* lines: programs, models and options that there are not yet; NULL: all is there */
};
/* Enters the figure's runs into the plan. False, with a reason, when memory is out or a kernel cannot be read. */
bool figure_plan(struct figure_runs *r, const struct figure *f, enum bench_size size, struct plan *plan, char *err,
                 size_t err_size);
void figure_runs_free(struct figure_runs *r);

/* A panel's numbers: those of programs, then means of groups of them. NAN where there are none. */
struct panel_values {
    const struct panel *panel;
    int n_series, n_programs, n_groups;
    double *value; /* [series * n_programs + program] */
    const char *group[FIGURE_GROUPS];
    double mean[FIGURE_SERIES][FIGURE_GROUPS];
    bool *member; /* [group * n_programs + program] */
};
bool panel_fill(struct panel_values *v, const struct figure_runs *r, int panel, const struct plan *plan,
                const struct result_set *set);
void panel_free(struct panel_values *v);
/* What `of` is for the series of this label, see struct claim. NAN: nothing. */
double panel_value(const struct panel_values *v, const struct figure_runs *r, const char *of, const char *series);
/* The claim on a program or group, NULL for none. */
const struct claim *panel_claim(const struct panel *p, const char *of, const char *series);
int panel_series(const struct panel *p);
/* "a+2*b/c" of one row; NAN when a statistic is missing or the divisor is 0. */
double figure_expression(const struct result_set *set, const struct result_row *row, const char *text);

/* Whether ours goes where the paper's goes: both above 1, both below, or both within half a percent of it. Panels of
 * plain values have no direction: 0 then, else 1 for yes and -1 for no. */
int claim_direction(const struct panel *p, const struct claim *c, double ours);
/* `size` bytes of text for a value as the panel shows it; returns `out`. */
const char *panel_show(const struct panel *p, double v, char *out, size_t size);

/* figure_print.c */
void figure_print(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out);
void figure_csv(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out);
/* "geometric mean", "mean" or "most" */
const char *panel_mean_name(const struct panel *p);

struct figure_page {
    const struct figure_runs *runs;
    struct panel_values panels[FIGURE_PANELS];
    int n;
    char *svg; /* path of the plot; NULL: none */
};

/* figure_summary.c */
/* Pairs of numbers, in the paper and here: in the same order, in the other, equal in one or both. */
struct ranks {
    int pairs, concordant, discordant, tied_ours, tied_paper;
};
/* One pair; none when we have not both numbers. */
void rank_add(struct ranks *r, double ours, double ours2, double theirs, double theirs2);
/* Kendall's tau-b: 1 when all pairs are in the paper's order, -1 when all are in the other; NAN when there are none, or
 * all are equal on one side. M. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945. */
double rank_tau(const struct ranks *r);
/* How far a figure agrees with what the paper's text says. */
struct claims {
    int all, measured, directed, same, compared; /* directed: those with a direction; compared: those with a distance */
    double distance;                             /* sum of |ours / theirs - 1| */
    struct ranks programs;                       /* programs under the same series */
    struct ranks settings;                       /* series of the same program or group */
};
/* Their mean; NAN: nothing is compared. */
double claims_distance(const struct claims *c);
/* Where a figure's numbers are from. */
struct figure_source {
    const struct plan *plan;
    const struct result_set *set;
};
struct summary {
    const struct figure_page *pages;
    int n;
    struct {
        struct claims claims;
        double seconds; /* of simulation, all runs of the figure */
    } * rows;
    struct claims all;
    int runs; /* those that figures share, once */
    double seconds;
};
/* False: memory is out. Free in any case. `pages` must outlive it. */
bool summary_make(struct summary *s, const struct figure_page *pages, int n, const struct figure_source *from);
void summary_free(struct summary *s);
/* A row a figure, and one for all of them. */
struct table *summary_table(const struct summary *s);

/* figure_machines.c: parts of the page. A panel's series, the presets of all figures with every option, and the
 * versions of this heddle (`binary`: its fingerprint) and of the programs that it uses. */
void figure_series(FILE *out, const struct figure *f, const struct panel *p);
void figure_presets(FILE *out, const struct summary *s);
void figure_versions(FILE *out, const char *binary);

/* figure_page.c. `binary`: fingerprint of the program. */
void figure_page(const struct summary *s, const char *size, const char *binary, FILE *out);

/* figure_plot.c: the gnuplot script; `terminal` is svg or png. */
void figure_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal, FILE *out);
#endif
