#include "breakdown.h"
#include "timing/report/causes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The static share is first, so that it is at the bottom of a stack and the parts that differ are above it. */
static const char *const joules[] = {"static", "frontend", "regfile", "int",  "float",  "sfu", "shared",
                                     "l1",     "icnt",     "l2",      "dram", "affine", NULL};
static const struct breakdown all[] = {
    {"issue", "issue", "Where the issue slots went", "% of issue slots", "", true, issue_slot_names},
    {"energy", "energy", "Energy by component", "joules", "_joules", false, joules},
    {"dynamic-energy", "energy", "Energy by component, without the static share", "joules", "_joules", false,
     joules + 1},
};
enum { N_ALL = sizeof all / sizeof all[0] };

const struct breakdown *breakdown_at(int n) { return n < N_ALL ? &all[n] : NULL; }

const struct breakdown *breakdown_find(const char *name) {
    for (int i = 0; i < N_ALL; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

int fields_that_differ(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                       int max) {
    int k = fields_identity(set, rows, n, out, max), kept = 0;
    for (int i = 0; i < k; i++)
        if (strcmp(out[i].name, "program") == 0 || field_differs(set, rows, n, &out[i]))
            out[kept++] = out[i];
    return kept;
}

/* Adds a column with the values of one statistic. The first call also sets the rows of `out`. */
static bool add_part(struct pivot_values *out, const char *stat, const char *label, const struct result_set *set,
                     const struct result_row *const *rows, int n, const struct field *by, int n_by, int *older,
                     char *err, size_t err_size) {
    struct pivot p = {
        .rows = by, .n_rows = n_by, .value = {FIELD_STATISTIC, result_stat(set, stat), ""}, .labels = true};
    struct pivot_values one;
    bool any = false;
    if (p.value.index < 0)
        return true;
    if (!pivot_fill(&one, set, rows, n, &p, older, err, err_size))
        return false;
    for (int r = 0; r < one.n_rows; r++)
        any = any || one.v[r] > 0;
    char **names = realloc(out->columns, (size_t)(out->n_columns + 1) * sizeof *names);
    out->columns = names ? names : out->columns;
    double *v = calloc((size_t)one.n_rows * (size_t)(out->n_columns + 1) + 1, sizeof *v);
    char *name = strdup(label);
    bool fine = names && v && name;
    if (fine && any) {
        for (int r = 0; r < one.n_rows; r++) {
            for (int c = 0; c < out->n_columns; c++)
                v[r * (out->n_columns + 1) + c] = out->v[r * out->n_columns + c];
            v[r * (out->n_columns + 1) + out->n_columns] = one.v[r];
        }
        names[out->n_columns++] = name;
        free(out->v);
        out->v = v;
        if (!out->rows) {
            out->rows = one.rows;
            out->n_rows = one.n_rows;
            one.rows = NULL;
            one.n_rows = 0;
        }
    } else {
        free(v);
        free(name);
    }
    if (!fine)
        snprintf(err, err_size, "the host is out of memory");
    pivot_values_free(&one);
    return fine;
}

bool breakdown_fill(const struct breakdown *b, struct pivot_values *out, const struct result_set *set,
                    const struct result_row *const *rows, int n, const struct field *by, int n_by, int *older,
                    char *err, size_t err_size) {
    bool fine = true;
    *out = (struct pivot_values){.base = -1};
    *older = 0;
    for (const char *const *part = b->parts; fine && *part; part++) {
        char stat[64];
        snprintf(stat, sizeof stat, "%s.%s%s", b->group, *part, b->end);
        int slot = slot_find(*part);
        fine = add_part(out, stat, slot >= 0 ? slot_words(slot) : *part, set, rows, n, by, n_by, older, err, err_size);
    }
    for (int r = 0; fine && b->shares && r < out->n_rows; r++) {
        double sum = 0;
        for (int c = 0; c < out->n_columns; c++)
            sum += isnan(out->v[r * out->n_columns + c]) ? 0 : out->v[r * out->n_columns + c];
        for (int c = 0; c < out->n_columns; c++)
            out->v[r * out->n_columns + c] *= sum > 0 ? 100 / sum : NAN;
    }
    if (!fine)
        pivot_values_free(out);
    return fine;
}
