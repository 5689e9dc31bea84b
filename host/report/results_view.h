#ifndef HOST_RESULTS_VIEW_H
#define HOST_RESULTS_VIEW_H
/* Views of a database of results: fields by name, conditions, lists and pivots. */
#include "host/results/results_db.h"
#include "host/table.h"

/* The model with which other models are compared by default. */
#define USUAL_BASE "spe"

/* A column of the data: a text of the run, an option of the machine, or a statistic. */
struct field {
    enum { FIELD_TEXT, FIELD_OPTION, FIELD_STATISTIC } kind;
    int index;
    char name[64];
};
/* Finds a field by name. On failure returns false with a message that suggests the closest name. */
bool field_find(struct results_db *db, struct result_set *set, const char *name, struct field *out, char *err,
                size_t err_size);
/* Finds several fields, separated by commas. Returns their number; 0 after a failure. */
int fields_find(struct results_db *db, struct result_set *set, const char *names, struct field *out, int max, char *err,
                size_t err_size);
/* Returns a field's value as text; "" if the row lacks the statistic. `out` is a buffer for numbers. */
const char *field_text(const struct result_set *set, const struct result_row *r, const struct field *f, char out[48]);

/* Works like field_text(), but writes an option in bytes with K, M or G if the value is a multiple: 8192 is 8K. */
const char *field_label(const struct result_set *set, const struct result_row *r, const struct field *f, char out[48]);

/* Returns a field's value as a number; NAN if it is not a number. */
double field_number(const struct result_set *set, const struct result_row *r, const struct field *f);
/* Returns the format in which tables show value `v` of the field. */
enum number_format field_format(const struct result_set *set, const struct field *f, double v);
/* Returns true if the rows have different values of the field. */
bool field_differs(const struct result_set *set, const struct result_row *const *rows, int n, const struct field *f);
/* Returns the fields that identify a row, at most `max`: program, size, model, preset, and others in which the rows
 * differ. */
int fields_identity(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                    int max);

/* Sorts rows by program, options and model; equal runs keep the order in which they were added to the file. */
void rows_sort(struct result_set *set, const struct result_row **rows, int n);

/* A condition, as in "model=spe,dpe and gpu.ipc>100": field, operator (= != < <= > >=) and values. Several values after
 * = or != are alternatives. */
struct condition {
    struct field field;
    char op[3], value[256];
};
enum { CONDITIONS = 32 };
/* Parses the conditions of `text` and appends them to the *n existing ones. On failure returns false with a message
 * in `err`. */
bool conditions_read(struct results_db *db, struct result_set *set, const char *text, struct condition *c, int *n,
                     char *err, size_t err_size);
bool conditions_hold(const struct result_set *set, const struct result_row *r, const struct condition *c, int n);

/* Limits results_load() to the runs that may fulfil all `n_where` texts of conditions (results_pick()), or with
 * `examples` to a few runs that have the fields of the conditions (results_pick_examples()). Ignores texts that are no
 * conditions. */
bool rows_pick(struct results_db *db, const char *const *where, int n_where, bool examples, char *err, size_t err_size);
/* Selects the rows that fulfil all `n_where` texts of conditions. On failure returns false with a message. The
 * caller frees *rows in either case. */
bool rows_where(struct results_db *db, struct result_set *set, const char *const *where, int n_where,
                const struct result_row ***rows, int *n, char *err, size_t err_size);

/* Returns a table with a line for each row: the fields that identify the row (fields_identity()), the check, and the
 * statistics `stats`. If `stats` is NULL, shows gpu.cycles and gpu.ipc. Returns NULL if out of memory. */
struct table *view_list(const struct result_set *set, const struct result_row *const *rows, int n,
                        const struct field *stats, int n_stats);

struct pivot {
    const struct field *rows, *columns;
    int n_rows, n_columns;
    struct field value;
    bool labels;             /* true: titles have field_label(), and `relative_to` may have either text */
    const char *relative_to; /* title of the column to which the values are relative; NULL: the values are absolute */
    /* true: the value is the speed-up, the cycles of the base column divided by the cycles of the run. If `relative_to`
     * is NULL, the base column is USUAL_BASE if it exists, else the first column. */
    bool faster;
};
/* Sets the pivot's value by name: a field, or "speed-up". On failure returns false with a message that suggests the
 * closest name. */
bool pivot_value(struct results_db *db, struct result_set *set, const char *name, struct pivot *p, char *err,
                 size_t err_size);
/* A pivot's numbers: v[row * n_columns + column], where NAN means no value. `base` is the column to which the
 * numbers are relative; -1 if they are absolute. */
struct pivot_values {
    char **rows, **columns;
    int n_rows, n_columns, base;
    double *v;
};
/* Computes the numbers of a pivot. Sets *older, and fails, as view_pivot() below does. The caller frees `v` in either
 * case. */
bool pivot_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                const struct pivot *p, int *older, char *err, size_t err_size);
/* Fills one row for each run, with the program as its title. Each combination of values of the fields `columns` is a
 * column. A row has the run's value in the column of the run's combination, and NAN in all others. Returns false if out
 * of memory. */
bool points_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                 const struct field *columns, int n_columns, const struct field *value);
void pivot_values_free(struct pivot_values *v);

/* Returns the pivot as a table. *older is the number of runs that are left out because there is an equal run by a newer
 * build. Returns NULL with the reason in `err` if two rows belong to one cell, or if the base column does not exist. */
struct table *view_pivot(const struct result_set *set, const struct result_row *const *rows, int n,
                         const struct pivot *p, int *older, char *err, size_t err_size);
#endif
