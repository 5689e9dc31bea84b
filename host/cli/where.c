#include "where.h"
#include <stdlib.h>
#include <string.h>

/* Returns the values of every --where of the command line, and their number in *n. The caller frees the result. Returns
 * NULL, with a message, if memory is out. */
static const char **texts_of(const struct cli *c, int *n, char *err, size_t err_size) {
    const char **where = calloc((size_t)c->n_options + 1, sizeof *where);
    *n = 0;
    for (int i = 0; where && i < c->n_options; i++)
        if (strcmp(c->options[i].def->name, "where") == 0)
            where[(*n)++] = c->options[i].value;
    if (!where)
        snprintf(err, err_size, "the host is out of memory");
    return where;
}

bool cli_rows(const struct cli *c, struct results_db *db, struct result_set *set, const struct result_row ***rows,
              int *n, char *err, size_t err_size) {
    int n_where;
    const char **where = texts_of(c, &n_where, err, err_size);
    *rows = NULL;
    *n = 0;
    bool ok = where && rows_where(db, set, where, n_where, rows, n, err, err_size);
    free(where);
    return ok;
}

bool cli_load(const struct cli *c, struct results_db *db, bool launches, struct result_set *set, char *err,
              size_t err_size) {
    int n;
    const char **where = texts_of(c, &n, err, err_size);
    *set = (struct result_set){0};
    bool fine =
        where && rows_pick(db, where, n, false, err, err_size) && results_load(db, launches, set, err, err_size);
    if (fine && n && !set->n) { /* the caller's messages about fields and values need a run */
        result_set_free(set);
        fine = rows_pick(db, where, n, true, err, err_size) && results_load(db, launches, set, err, err_size);
    }
    free(where);
    return fine;
}
