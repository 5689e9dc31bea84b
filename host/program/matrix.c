/* Reads matrix-market files (sparse matrices in coordinate form) as graphs in compressed sparse rows. */
#include "parts.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct matrix {
    struct run *r;
    const config_setting_t *s;
    const char *path, *at;
    int line; /* line number of `at` */
    bool pattern, symmetric, skew;
    uint32_t rows, columns, n;
    uint32_t (*pairs)[2];
    double *values;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct matrix *m, const char *fmt, ...) {
    char why[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return run_fail(m->r, m->s, config_setting_get_string(m->s), 0, "%s:%d: %s", m->path, m->line, why);
}

static void next_line(struct matrix *m) {
    m->at += strcspn(m->at, "\n");
    m->line += *m->at == '\n';
    m->at += *m->at == '\n';
}

static bool header(struct matrix *m) {
    char object[16] = "", format[16] = "", field[16] = "", symmetry[20] = "";
    if (strncasecmp(m->at, "%%MatrixMarket", 14) != 0 ||
        sscanf(m->at + 14, "%15s %15s %15s %19s", object, format, field, symmetry) != 4)
        return fail(m, "this is no matrix-market file: the first line is %%%%MatrixMarket matrix coordinate ...");
    m->pattern = strcasecmp(field, "pattern") == 0;
    m->skew = strcasecmp(symmetry, "skew-symmetric") == 0;
    m->symmetric = m->skew || strcasecmp(symmetry, "symmetric") == 0;
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(format, "coordinate") != 0)
        return fail(m, "it is '%s %s', and only 'matrix coordinate' can be read", object, format);
    if (!m->pattern && strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return fail(m, "its values are '%s'; they may be real, integer or pattern", field);
    if (!m->symmetric && strcasecmp(symmetry, "general") != 0)
        return fail(m, "it is '%s'; it may be general, symmetric or skew-symmetric", symmetry);
    next_line(m);
    return true;
}

/* Reads the next number of the current line. Returns false with a message unless it is from `min` to `max`. */
static bool number(struct matrix *m, uint64_t min, uint64_t max, uint64_t *out) {
    m->at += strspn(m->at, " \t\r");
    char *end;
    if (*m->at < '0' || *m->at > '9')
        return fail(m, "a whole number is missing");
    unsigned long long v = strtoull(m->at, &end, 10);
    m->at = end;
    *out = v;
    return (v >= min && v <= max) ||
           fail(m, "%llu is not from %llu to %llu", v, (unsigned long long)min, (unsigned long long)max);
}

static void skip_comments(struct matrix *m) {
    while (*m->at && (*m->at == '%' || m->at[strspn(m->at, " \t\r")] == '\n'))
        next_line(m);
}

static bool entry(struct matrix *m) {
    uint64_t row = 0, column = 0;
    double v = 1;
    char *end;
    skip_comments(m);
    if (!*m->at)
        return fail(m, "the file ends before its last entry");
    if (!number(m, 1, m->rows, &row) || !number(m, 1, m->columns, &column))
        return false;
    if (!m->pattern) {
        m->at += strspn(m->at, " \t");
        v = strtod(m->at, &end);
        if (end == m->at || *m->at == '\n')
            return fail(m, "a value is missing");
        m->at = end;
    }
    if (m->at[strspn(m->at, " \t\r")] != '\n' && m->at[strspn(m->at, " \t\r")])
        return fail(m, "there is more than an entry in the line");
    for (int mirrored = 0; mirrored < (m->symmetric && row != column ? 2 : 1); mirrored++) {
        m->pairs[m->n][0] = (uint32_t)(mirrored ? column : row) - 1;
        m->pairs[m->n][1] = (uint32_t)(mirrored ? row : column) - 1;
        m->values[m->n++] = mirrored && m->skew ? -v : v;
    }
    next_line(m);
    return true;
}

static bool entries(struct matrix *m, struct script_graph *g) {
    uint64_t rows = 0, columns = 0, n = 0;
    skip_comments(m);
    if (!number(m, 1, UINT32_MAX - 1, &rows) || !number(m, 1, UINT32_MAX - 1, &columns) ||
        !number(m, 0, UINT32_MAX / 4, &n))
        return false;
    next_line(m);
    m->rows = (uint32_t)rows;
    m->columns = (uint32_t)columns;
    if (m->symmetric && rows != columns)
        return fail(m, "a symmetric matrix has as many rows as columns");
    m->pairs = calloc(2 * n + 1, sizeof *m->pairs);
    m->values = calloc(2 * n + 1, sizeof *m->values);
    uint32_t *order = calloc(2 * n + 1, sizeof *order);
    bool fine = m->pairs && m->values && order;
    if (!fine)
        run_no_memory(m->r);
    for (uint64_t i = 0; fine && i < n; i++)
        fine = entry(m);
    if (fine) {
        g->values = calloc((size_t)m->n + 1, sizeof *g->values);
        fine = (g->values && bench_graph_pairs(&g->g, m->rows, (const uint32_t(*)[2])m->pairs, m->n, order)) ||
               run_no_memory(m->r);
        for (uint32_t e = 0; fine && e < m->n; e++)
            g->values[e] = m->values[order[e]];
        g->columns = m->columns;
    }
    free(order);
    free(m->pairs);
    free(m->values);
    return fine;
}

bool read_matrix(struct run *r, const config_setting_t *s, const char *path, struct script_graph *g) {
    size_t len;
    char *text = read_whole_file(r, s, path, &len);
    struct matrix m = {.r = r, .s = s, .path = path, .at = text, .line = 1};
    bool fine = text ? header(&m) && entries(&m, g) : r->status == HEDDLE_OK;
    free(text);
    return fine;
}
