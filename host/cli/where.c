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

/* Copies the programs of the first condition program=NAME,... to *out; NULL: there is none. Returns false if out of
 * memory. */
static bool programs_of(const struct cli *c, char **out) {
    static const char field[] = "program=", also[] = " and ";
    *out = NULL;
    for (int i = 0; i < c->n_options; i++) {
        const char *at = strcmp(c->options[i].def->name, "where") == 0 ? c->options[i].value : NULL;
        while (at) {
            const char *end = strstr(at, also);
            at += strspn(at, " ");
            if (strncmp(at, field, sizeof field - 1) == 0) {
                at += sizeof field - 1;
                return (*out = strndup(at, end ? (size_t)(end - at) : strlen(at))) != NULL;
            }
            at = end ? end + sizeof also - 1 : NULL;
        }
    }
    return true;
}

bool cli_load(const struct cli *c, struct results_db *db, bool launches, struct result_set *set, char *err,
              size_t err_size) {
    char *programs;
    *set = (struct result_set){0};
    if (!programs_of(c, &programs)) {
        snprintf(err, err_size, "the host is out of memory");
        return false;
    }
    bool fine = results_pick(db, programs, err, err_size) && results_load(db, launches, set, err, err_size);
    if (fine && programs && !set->n) { /* no run of these programs: load all runs, so that messages about the other
                                        * conditions are correct */
        result_set_free(set);
        fine = results_pick(db, NULL, err, err_size) && results_load(db, launches, set, err, err_size);
    }
    free(programs);
    return fine;
}
