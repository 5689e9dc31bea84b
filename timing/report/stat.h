#ifndef TIMING_STAT_H
#define TIMING_STAT_H
/* The statistics registry: every number that a run reports, with its unit and its meaning (stats.def). Units count
 * in structs made from the rows of stats.def, and add these counters to the registry at the end of a launch. */
#include "stat_groups.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How the values of a statistic from several units and launches are combined. */
enum stat_kind {
    STAT_SUM,   /* summed over units and launches: counts, joules, cycles */
    STAT_MAX,   /* the largest value is kept, like the deepest stack */
    STAT_RATIO, /* computed as numerator / denominator, each a sum of registered statistics; nothing is added to it */
};

/* The index of a statistic in the registry. Its name is STAT_<unit>_<field>, or STAT_<unit>_<id> for rows of stats.def
 * that have an id instead of a field. */
#define STAT_ID(id)              STAT_ID_IN(IN, id)
#define STAT_ID_IN(unit, id)     STAT_ID_JOINED(unit, id)
#define STAT_ID_JOINED(unit, id) STAT_##unit##_##id
enum stat_id {
#include "count_ids.def"

#include "stats.def"
    N_STATS
};

struct stat_def {
    const char *name; /* dotted: "l1.misses" */
    const char *unit; /* "cycles", "count", "bytes", "J"; for ratios "1" */
    const char *help; /* one line */
    enum stat_kind kind;
    const char *num, *den; /* STAT_RATIO: names joined by '+', e.g. "l1.hits" over "l1.hits+l1.misses" */
    size_t len;            /* length of the name */
};

/* Returns all statistics, in the order of printing. */
const struct stat_def *stat_defs(int *n);

struct stats {
    double *v; /* by index of stat_defs */
    int next;  /* index in the table that stats_add() tries first */
};
bool stats_init(struct stats *s);
void stats_free(struct stats *s);
void stats_clear(struct stats *s); /* sets all to 0 */
/* Adds `value` to a registered sum, or raises a maximum. The name must exist (asserted). */
void stats_add(struct stats *s, const char *name, double value);
/* stats_put() adds `value` to the statistic with index `id`. stats_value() returns the value of this statistic. */
void stats_put(struct stats *s, enum stat_id id, double value);
double stats_value(const struct stats *s, enum stat_id id);
/* A counter of a struct, and the statistic that it is added to. */
struct stat_row {
    size_t offset; /* offset of a uint64_t in the struct */
    int id;        /* enum stat_id */
};
/* Adds the counters of a struct. `rows` comes from its .def file, included with COUNT_ROWS (count_begin.def).
 * `shift` is added to each id, so that another unit with the same fields can use these rows, too. */
void stats_count(struct stats *s, const struct stat_row *rows, size_t n, const void *counts, int shift);
#define STATS_COUNT(s, rows, counts) stats_count(s, rows, sizeof(rows) / sizeof(rows)[0], counts, 0)
struct rounding_error;
/* Adds the statistics of results that are not rounded between operations (isa/rounding.h). */
void stats_add_rounding_error(struct stats *s, const struct rounding_error *e);
/* Adds all statistics of `from` to `to`. */
void stats_merge(struct stats *to, const struct stats *from);
/* Returns the value; a ratio is computed now (0 when the denominator is 0). The name must exist (asserted). */
double stats_get(const struct stats *s, const char *name);
/* Returns the same value for index `i` of stat_defs(). */
double stats_at(const struct stats *s, int i);
/* The non-zero statistics of a launch. */
struct stats_kept {
    double *v;       /* n values, in the order of stat_defs */
    uint16_t *index; /* index in stat_defs; stored in the memory block of `v` */
    int n;
};
bool stats_keep(struct stats_kept *out, const struct stats *s);
void stats_kept_free(struct stats_kept *k);
/* Adds the kept statistics to `to`, like stats_merge(). */
void stats_kept_add(struct stats *to, const struct stats_kept *k);
/* Adds `factor` times each of the kept sums to `to`. Leaves maxima as they are. */
void stats_kept_add_scaled(struct stats *to, const struct stats_kept *k, double factor);
/* Returns the value of a statistic, as stats_get() does. */
double stats_kept_get(const struct stats_kept *k, const char *name);

/* Returns the present name of a statistic that had the name `old` in the last version (renamed.def), or NULL if no
 * statistic had it. */
const char *stat_renamed(const char *old);
/* Returns the index of a statistic, by its name or by its name in the last version. Returns -1 if no statistic has
 * this name. */
int stat_index(const char *name);
#endif
