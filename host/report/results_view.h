#ifndef HOST_RESULTS_VIEW_H
#define HOST_RESULTS_VIEW_H
/* Rows of a database of results: fields by name, conditions, lists and pivots. */
#include "host/results/results_db.h"
#include "host/table.h"

/* One path at a time: the model that others are compared with when nobody says which. */
#define USUAL_BASE "spe"

/* A column of the data: one of a run's texts, an option of the machine, or a statistic. */
struct field {
    enum { FIELD_TEXT, FIELD_OPTION, FIELD_STATISTIC } kind;
    int index;
    char name[64];
};
/* False, with a sentence that proposes the nearest name, when there is none of this name. */
bool field_find(struct results_db *db, struct result_set *set, const char *name, struct field *out, char *err,
                size_t err_size);
/* Several, separated by commas; their number, 0 after a failure. */
int fields_find(struct results_db *db, struct result_set *set, const char *names, struct field *out, int max, char *err,
                size_t err_size);
/* As text. A statistic that the row has not is "". `out` is for numbers. */
const char *field_text(const struct result_set *set, const struct result_row *r, const struct field *f, char out[48]);

/* NAN when it is no number. */
double field_number(const struct result_set *set, const struct result_row *r, const struct field *f);
/* How a statistic reads in tables. */
enum number_format field_format(const struct result_set *set, const struct field *f, double v);
/* Whether the rows have several values of it. */
bool field_differs(const struct result_set *set, const struct result_row *const *rows, int n, const struct field *f);
/* The fields that say which run a row is, `max` at most: program, size, model and preset always, others where the rows
 * differ. Their number. */
int fields_identity(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                    int max);

/* By program, options and model; runs of the same stay in the order they ended. */
void rows_sort(struct result_set *set, const struct result_row **rows, int n);

/* "model=spe,dpe and gpu.ipc>100": fields, = != < <= > >=, values; several values after = or != are alternatives. */
struct condition {
    struct field field;
    char op[3], value[256];
};
enum { CONDITIONS = 32 };
/* Adds those of `text` to the n that are there; false with a sentence in `err`. */
bool conditions_read(struct results_db *db, struct result_set *set, const char *text, struct condition *c, int *n,
                     char *err, size_t err_size);
bool conditions_hold(const struct result_set *set, const struct result_row *r, const struct condition *c, int n);

/* The rows for which each of the `n_where` texts of conditions holds. False with a sentence; free *rows in any case. */
bool rows_where(struct results_db *db, struct result_set *set, const char *const *where, int n_where,
                const struct result_row ***rows, int *n, char *err, size_t err_size);

/* A line a row: what was run, options that differ, check, and the statistics (NULL: gpu.cycles and gpu.ipc). NULL when
 * memory is out. */
struct table *view_list(const struct result_set *set, const struct result_row *const *rows, int n,
                        const struct field *stats, int n_stats);

struct pivot {
    const struct field *rows, *columns;
    int n_rows, n_columns;
    struct field value;
    const char *relative_to; /* a column's title, or NULL: values as they are */
    bool faster; /* the other way round, of cycles: that column's over the own (NULL: USUAL_BASE's, or the first's) */
};
/* The value of a pivot by its name: a field's, or "speed-up". False with a sentence that proposes the nearest. */
bool pivot_value(struct results_db *db, struct result_set *set, const char *name, struct pivot *p, char *err,
                 size_t err_size);
/* Its numbers: v[row * n_columns + column], NAN for none; `base`: the column that they are relative to, -1 for none. */
struct pivot_values {
    char **rows, **columns;
    int n_rows, n_columns, base;
    double *v;
};
/* As view_pivot() below. Free in any case. */
bool pivot_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                const struct pivot *p, int *older, char *err, size_t err_size);
/* A row a run, called by its program, and its value in the column of its own fields, NAN in the others. False when
 * memory is out. */
bool points_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                 const struct field *columns, int n_columns, const struct field *value);
void pivot_values_free(struct pivot_values *v);

/* The table; `*older`: rows left out since a newer build has run the same. NULL, with the reason in `err`, when two
 * rows fall into one cell, or there is no such column. */
struct table *view_pivot(const struct result_set *set, const struct result_row *const *rows, int n,
                         const struct pivot *p, int *older, char *err, size_t err_size);
#endif
