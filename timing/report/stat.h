#ifndef TIMING_STAT_H
#define TIMING_STAT_H
/* The statistics registry: every figure that a run reports, with its unit and its meaning, in one place. Units count in
 * plain fields and add them here at the end of a launch. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How a statistic combines over units and launches. */
enum stat_kind {
    STAT_SUM,   /* counts, joules, cycles of launches one after another */
    STAT_MAX,   /* deepest stack */
    STAT_RATIO, /* computed: numerator / denominator, each a sum of registered statistics; never added to */
};

struct stat_def {
    const char *name; /* dotted: "l1.misses" */
    const char *unit; /* "cycles", "count", "bytes", "J", "1" for ratios */
    const char *help; /* one line */
    enum stat_kind kind;
    const char *num, *den; /* STAT_RATIO: names joined by '+', e.g. "l1.hits" over "l1.hits+l1.misses" */
    size_t len;            /* of the name */
};

/* All statistics there are, in the order they are printed (table in stat.c). */
const struct stat_def *stat_defs(int *n);

struct stats {
    double *v; /* by index of stat_defs */
    int next;  /* which one stats_add() tries first */
};
bool stats_init(struct stats *s);
void stats_free(struct stats *s);
void stats_clear(struct stats *s); /* all to 0 */
/* Adds `value` to a registered sum, or raises a maximum. The name must exist (asserted). */
void stats_add(struct stats *s, const char *name, double value);
struct rounding_error;
/* What results without rounding between operations came to (isa/rounding.h). */
void stats_add_rounding_error(struct stats *s, const struct rounding_error *e);
/* All sums of `from` into `to`. */
void stats_merge(struct stats *to, const struct stats *from);
/* The value, ratios computed now (0 when the denominator is 0). The name must exist (asserted). */
double stats_get(const struct stats *s, const char *name);
/* What is kept of a launch: the statistics that are not zero. */
struct stats_kept {
    double *v;       /* n of them, in the order of stat_defs */
    uint16_t *index; /* in stat_defs; of the same block */
    int n;
};
bool stats_keep(struct stats_kept *out, const struct stats *s);
void stats_kept_free(struct stats_kept *k);
/* Adds them to `to`, as stats_merge() does. */
void stats_kept_add(struct stats *to, const struct stats_kept *k);
/* As stats_get(). */
double stats_kept_get(const struct stats_kept *k, const char *name);

/* -1 when there is no such statistic. */
int stat_index(const char *name);
#endif
