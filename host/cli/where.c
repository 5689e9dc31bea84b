#include "where.h"
#include <stdlib.h>
#include <string.h>

bool cli_rows(const struct cli *c, struct results_db *db, struct result_set *set, const struct result_row ***rows,
              int *n, char *err, size_t err_size) {
    const char **where = calloc((size_t)c->n_options + 1, sizeof *where);
    int n_where = 0;
    *rows = NULL;
    *n = 0;
    for (int i = 0; where && i < c->n_options; i++)
        if (strcmp(c->options[i].def->name, "where") == 0)
            where[n_where++] = c->options[i].value;
    if (!where)
        snprintf(err, err_size, "the host is out of memory");
    bool ok = where && rows_where(db, set, where, n_where, rows, n, err, err_size);
    free(where);
    return ok;
}
