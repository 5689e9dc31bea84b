/* Pivots: numbers by row and column, and tables of these numbers. */
#include "geomean.h"
#include "ptx/diag.h"
#include "results_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Joins the values of several fields to one title. */
static char *title_of(const struct result_set *set, const struct result_row *r, const struct field *f, int n,
                      bool labels) {
    char *out = n ? NULL : strdup(""), text[48];
    for (int i = 0; i < n; i++) {
        const char *own = labels ? field_label(set, r, &f[i], text) : field_text(set, r, &f[i], text);
        char *longer;
        bool named = f[i].kind == FIELD_OPTION && n > 1;
        if (asprintf(&longer, "%s%s%s%s%s", out ? out : "", out ? " " : "", named ? f[i].name : "", named ? "=" : "",
                     own) < 0)
            longer = NULL;
        free(out);
        if (!(out = longer))
            return NULL;
    }
    return out;
}

struct titles {
    char **name;
    int n;
};

static int title_at(const struct titles *t, const char *name) {
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->name[i], name) == 0)
            return i;
    return -1;
}

/* Returns the index of a title, and adds it if it is new. Returns -1 if out of memory. */
static int title_add(struct titles *t, char *name) {
    int at = name ? title_at(t, name) : -1;
    if (at >= 0 || !name) {
        free(name);
        return at;
    }
    char **more = realloc(t->name, (size_t)(t->n + 1) * sizeof *more);
    if (!more) {
        free(name);
        return -1;
    }
    t->name = more;
    more[t->n] = name;
    return t->n++;
}

static void titles_free(struct titles *t) {
    for (int i = 0; i < t->n; i++)
        free(t->name[i]);
    free(t->name);
}

/* Returns true if two rows that fall into one cell are different runs, with a message that names the fields in which
 * they differ. Returns false if they differ only in the build of Heddle that ran them. */
static bool conflict(const struct result_set *set, const struct result_row *a, const struct result_row *b, char *err,
                     size_t err_size) {
    const struct result_row *two[] = {a, b};
    struct field ids[TABLE_COLUMNS];
    char names[400] = "";
    int k = fields_identity(set, two, 2, ids, TABLE_COLUMNS);
    for (int i = 0; i < k; i++) {
        size_t used = strlen(names);
        if (strcmp(ids[i].name, "version") != 0 && field_differs(set, two, 2, &ids[i]))
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", ids[i].name);
    }
    if (!*names && strcmp(a->binary, b->binary) == 0 && strcmp(a->hash, b->hash) != 0)
        snprintf(names, sizeof names, "their input: the program's file, what it reads, or the arguments of the launch");
    if (*names)
        snprintf(err, err_size,
                 "several runs fall into one cell (%s in %s): they differ in %s; name that in --rows or --columns, or "
                 "choose with --where",
                 a->program, a->model, names);
    return *names != '\0';
}

/* The cells of a pivot: cell[row * n_columns + column]. An empty cell is NULL. */
struct cells {
    struct titles rows, columns;
    int *row, *column; /* row[i], column[i]: row and column of run i in the pivot */
    const struct result_row **cell;
};

static bool place(struct cells *x, const struct result_set *set, const struct result_row *const *rows, int n,
                  const struct pivot *p, int *older, char *err, size_t err_size) {
    snprintf(err, err_size, "the host is out of memory");
    x->row = calloc((size_t)n + 1, sizeof *x->row);
    x->column = calloc((size_t)n + 1, sizeof *x->column);
    if (!x->row || !x->column)
        return false;
    for (int i = 0; i < n; i++) {
        x->row[i] = title_add(&x->rows, title_of(set, rows[i], p->rows, p->n_rows, p->labels));
        x->column[i] = title_add(&x->columns, title_of(set, rows[i], p->columns, p->n_columns, p->labels));
        if (x->row[i] < 0 || x->column[i] < 0)
            return false;
    }
    if (x->columns.n >= TABLE_COLUMNS) {
        snprintf(err, err_size, "%d columns are too many; --columns and --rows may change places", x->columns.n);
        return false;
    }
    x->cell = calloc((size_t)x->rows.n * (size_t)x->columns.n + 1, sizeof *x->cell);
    if (!x->cell)
        return false;
    for (int i = 0; i < n; i++) {
        const struct result_row **c = &x->cell[x->row[i] * x->columns.n + x->column[i]];
        if (*c && conflict(set, *c, rows[i], err, err_size))
            return false;
        *older += *c != NULL;
        *c = rows[i]; /* equal runs are in the order in which they were added, so this run replaces an earlier one */
    }
    return true;
}

/* Finds the base column, to which all others are relative. Sets *base to its index, or to -1 if the numbers are
 * absolute or if there is no column. Returns false, with the reason, if no column has the name that the user gave. */
static bool find_base(const struct cells *x, const struct result_set *set, const struct result_row *const *rows, int n,
                      const struct pivot *p, int *base, char *err, size_t err_size) {
    *base = p->relative_to || p->faster ? title_at(&x->columns, p->relative_to ? p->relative_to : USUAL_BASE) : -1;
    for (int i = 0; i < n && p->relative_to && p->labels && *base < 0; i++) {
        char *plain = title_of(set, rows[i], p->columns, p->n_columns, false);
        if (plain && strcmp(plain, p->relative_to) == 0)
            *base = x->column[i];
        free(plain);
    }
    if (p->faster && !p->relative_to && *base < 0 && x->columns.n)
        *base = 0;
    if (!p->relative_to || *base >= 0)
        return true;
    const char *near = diag_suggest(p->relative_to, (const char *const *)x->columns.name, x->columns.n);
    snprintf(err, err_size, "--relative-to: there is no column '%s'%s%s%s", p->relative_to,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

static void compute(struct pivot_values *v, const struct cells *x, const struct result_set *set,
                    const struct pivot *p) {
    for (int r = 0; r < v->n_rows; r++) {
        const struct result_row *const *cell = &x->cell[r * v->n_columns];
        double over = v->base >= 0 && cell[v->base] ? field_number(set, cell[v->base], &p->value) : NAN;
        for (int c = 0; c < v->n_columns; c++) {
            double own = cell[c] ? field_number(set, cell[c], &p->value) : NAN;
            double a = p->faster ? over : own, b = p->faster ? own : over;
            v->v[r * v->n_columns + c] = v->base < 0 ? own : b != 0 ? a / b : NAN;
        }
    }
}

bool pivot_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                const struct pivot *p, int *older, char *err, size_t err_size) {
    struct cells x = {.row = NULL};
    *older = 0;
    *v = (struct pivot_values){.base = -1};
    bool fine =
        place(&x, set, rows, n, p, older, err, err_size) && find_base(&x, set, rows, n, p, &v->base, err, err_size);
    v->n_rows = x.rows.n;
    v->n_columns = x.columns.n;
    v->rows = x.rows.name;
    v->columns = x.columns.name;
    if (fine && !(v->v = calloc((size_t)v->n_rows * (size_t)v->n_columns + 1, sizeof *v->v))) {
        snprintf(err, err_size, "the host is out of memory");
        fine = false;
    }
    if (fine)
        compute(v, &x, set, p);
    else
        pivot_values_free(v);
    free(x.row);
    free(x.column);
    free(x.cell);
    return fine;
}

bool points_fill(struct pivot_values *v, const struct result_set *set, const struct result_row *const *rows, int n,
                 const struct field *columns, int n_columns, const struct field *value) {
    struct titles names = {NULL, 0};
    int *column = calloc((size_t)n + 1, sizeof *column);
    bool fine = column != NULL;
    for (int i = 0; fine && i < n; i++)
        fine = (column[i] = title_add(&names, title_of(set, rows[i], columns, n_columns, true))) >= 0;
    *v = (struct pivot_values){.columns = names.name, .n_columns = names.n, .base = -1};
    v->v = fine ? calloc((size_t)n * (size_t)names.n + 1, sizeof *v->v) : NULL;
    v->rows = v->v ? calloc((size_t)n + 1, sizeof *v->rows) : NULL;
    fine = v->rows != NULL;
    for (int i = 0; fine && i < n; i++) {
        for (int c = 0; c < names.n; c++)
            v->v[i * names.n + c] = c == column[i] ? field_number(set, rows[i], value) : NAN;
        if ((fine = (v->rows[i] = strdup(rows[i]->program)) != NULL))
            v->n_rows++;
    }
    free(column);
    if (!fine)
        pivot_values_free(v);
    return fine;
}

void pivot_values_free(struct pivot_values *v) {
    titles_free(&(struct titles){v->rows, v->n_rows});
    titles_free(&(struct titles){v->columns, v->n_columns});
    free(v->v);
    *v = (struct pivot_values){.base = -1};
}

bool pivot_value(struct results_db *db, struct result_set *set, const char *name, struct pivot *p, char *err,
                 size_t err_size) {
    p->faster = strcmp(name, "speed-up") == 0;
    return field_find(db, set, p->faster ? "gpu.cycles" : name, &p->value, err, err_size);
}

static struct table *pivot_table(const struct pivot_values *v, const struct result_set *set, const struct pivot *p) {
    char(*titles)[80] = calloc((size_t)v->n_columns + 1, sizeof *titles);
    const char *list[TABLE_COLUMNS + 1] = {NULL};
    if (!titles)
        return NULL;
    for (int i = 0; i < p->n_rows; i++) {
        size_t used = strlen(titles[0]);
        snprintf(titles[0] + used, sizeof titles[0] - used, "%s%s", i ? " " : "", p->rows[i].name);
    }
    list[0] = titles[0];
    for (int c = 0; c < v->n_columns; c++) {
        snprintf(titles[c + 1], sizeof titles[0], ">%s", v->columns[c]);
        list[c + 1] = titles[c + 1];
    }
    struct table *t = table_new(list);
    for (int r = 0; r < v->n_rows; r++) {
        table_text(t, v->rows[r]);
        for (int c = 0; c < v->n_columns; c++) {
            double own = v->v[r * v->n_columns + c];
            table_number(t, own, v->base >= 0 ? NUM_FIXED3 : field_format(set, &p->value, own));
        }
    }
    if (v->base >= 0 && v->n_rows > 1) {
        table_rule(t);
        table_text(t, "geometric mean");
        for (int c = 0; c < v->n_columns; c++) {
            struct geomean mean = {0};
            for (int r = 0; r < v->n_rows; r++)
                geomean_add(&mean, v->v[r * v->n_columns + c]);
            table_number(t, geomean_get(&mean), NUM_FIXED3);
        }
    }
    free(titles);
    return t;
}

struct table *view_pivot(const struct result_set *set, const struct result_row *const *rows, int n,
                         const struct pivot *p, int *older, char *err, size_t err_size) {
    struct pivot_values v;
    if (!pivot_fill(&v, set, rows, n, p, older, err, err_size))
        return NULL;
    struct table *t = pivot_table(&v, set, p);
    pivot_values_free(&v);
    return t;
}
