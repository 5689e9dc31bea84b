/* The values of statistics, which a database keeps as one JSON array for each run or launch: element i is the value of
 * the statistic with id i + 1, or null. */
#include "results_db.h"
#include "results_parts.h"
#include "timing/report/stat.h"
#include "values.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_MOST = 1 << 20 }; /* Heddle writes only small ids; others are damage */

/* A statistic of the file. */
struct results_name {
    char *name;
    int id;
};

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct results_name *)a)->name, ((const struct results_name *)b)->name);
}

void names_free(struct results_db *db) {
    for (int i = 0; i < db->n_names; i++)
        free(db->names[i].name);
    free(db->names);
    db->names = NULL;
    db->n_names = db->n_ids = 0;
    db->complete = db->in_order = false;
}

static int id_of(const struct results_db *db, const char *name) {
    const struct results_name wanted = {.name = (char *)name};
    const struct results_name *found =
        db->names ? bsearch(&wanted, db->names, (size_t)db->n_names, sizeof wanted, by_name) : NULL;
    return found && found->id >= 1 && found->id <= db->n_ids ? found->id : 0;
}

/* Finds out whether the file has all statistics of this version, and whether their ids are in this version's order. */
static void compare_ids(struct results_db *db) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    db->complete = db->in_order = true;
    for (int i = 0; i < n; i++) {
        int id = id_of(db, defs[i].name);
        db->complete &= id != 0;
        db->in_order &= id == i + 1;
    }
}

/* Reads the names and ids of the statistics, sorted by name. */
static bool read_names(struct results_db *db, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(db, "SELECT id, name FROM statistic ORDER BY name", err, err_size);
    int code = SQLITE_NOMEM;
    names_free(db);
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int id = sqlite3_column_int(s, 0);
        struct results_name *more = realloc(db->names, (size_t)(db->n_names + 1) * sizeof *more);
        if (more)
            db->names = more;
        if (!more || !(more[db->n_names].name = strdup((const char *)sqlite3_column_text(s, 1)))) {
            code = SQLITE_NOMEM;
            break;
        }
        more[db->n_names++].id = id;
        db->n_ids = id > db->n_ids && id < IDS_MOST ? id : db->n_ids;
    }
    if (s && code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    if (db->names)
        qsort(db->names, (size_t)db->n_names, sizeof *db->names, by_name);
    compare_ids(db);
    return s && code == SQLITE_DONE;
}

bool names_write(struct results_db *db, char *err, size_t err_size) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    if (db->complete)
        return true;
    if (!read_names(db, err, err_size))
        return false;
    if (db->complete)
        return true;
    sqlite3_stmt *s =
        results_prepare(db, "INSERT OR IGNORE INTO statistic(name, unit, meaning) VALUES(?, ?, ?)", err, err_size);
    int code = SQLITE_DONE;
    for (int i = 0; s && i < n && code == SQLITE_DONE; i++) {
        sqlite3_bind_text(s, 1, defs[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, defs[i].unit, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, defs[i].help, -1, SQLITE_STATIC);
        code = sqlite3_step(s);
        sqlite3_reset(s);
    }
    if (s && code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return s && code == SQLITE_DONE && read_names(db, err, err_size);
}

/* Writes a finite number to `at` and returns the end of its text. Most numbers are small whole numbers. */
static char *print_number(char *at, double v) {
    char digits[24];
    int n = 0;
    if (v < 0 || v >= 1e15 || v != floor(v)) {
        int len = sprintf(at, "%.15g", v);
        return at + (fabs(strtod(at, NULL) - v) <= fabs(v) * DBL_EPSILON ? len : sprintf(at, "%.17g", v));
    }
    for (uint64_t left = (uint64_t)v; left || !n; left /= 10)
        digits[n++] = (char)('0' + left % 10);
    while (n)
        *at++ = digits[--n];
    return at;
}

char *values_print(const double *v, int n) {
    enum { MOST = 32 }; /* bytes of a value */
    while (n && !isfinite(v[n - 1]))
        n--;
    char *text = malloc((size_t)n * MOST + 3), *at = text;
    if (!text)
        return NULL;
    *at++ = '[';
    for (int i = 0; i < n; i++) {
        if (isfinite(v[i]))
            at = print_number(at, v[i]);
        else
            at = (char *)memcpy(at, "null", 4) + 4;
        *at++ = ',';
    }
    memcpy(n ? at - 1 : at, "]", 2);
    return text;
}

static double *no_values(int n) {
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    for (int i = 0; v && i < n; i++)
        v[i] = NAN;
    return v;
}

struct translation {
    const struct results_db *db;
    double *v; /* by id of the file */
};

static void put(struct translation *t, const char *name, double value) {
    int id = id_of(t->db, name);
    if (id)
        t->v[id - 1] = value;
}

static void put_numbered(void *ctx, int number, double value) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    if (number <= n)
        put(ctx, defs[number - 1].name, value);
}

bool values_text(struct results_db *db, const cJSON *of, char **out, char *err, size_t err_size) {
    const char *values = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(of, "values"));
    const cJSON *stats = cJSON_GetObjectItemCaseSensitive(of, "stats");
    *out = NULL;
    if (!values && !stats)
        return true;
    struct translation t = {db, values && db->in_order ? NULL : no_values(db->n_ids)};
    if (t.v) {
        values_each(values, put_numbered, &t);
        for (const cJSON *s = stats ? stats->child : NULL; s; s = s->next)
            put(&t, s->string, s->valuedouble);
        *out = values_print(t.v, db->n_ids);
    } else if (values && db->in_order) {
        *out = strdup(values);
    }
    free(t.v);
    if (!*out)
        snprintf(err, err_size, "the host is out of memory");
    return *out != NULL;
}

void values_each(const char *text, void (*take)(void *ctx, int number, double value), void *ctx) {
    int number = 1;
    for (const char *at = text && *text == '[' ? text + 1 : ""; *at && *at != ']' && number < IDS_MOST; number++) {
        char *end;
        double v = strtod(at, &end);
        if (end != at)
            take(ctx, number, v);
        at += strcspn(at, ",]");
        at += *at == ',';
    }
}

double values_at(const char *text, int i) {
    const char *at = text && *text == '[' ? text + 1 : "";
    char *end;
    for (; i > 0 && *at; i--) {
        at += strcspn(at, ",]");
        at += *at != '\0';
    }
    double v = i == 0 ? strtod(at, &end) : NAN;
    return i == 0 && end != at ? v : NAN;
}

/* ---- values of another file ---- */

struct moved {
    struct results_db *db;
    double *v;
};

static void move(void *ctx, int id, double value) {
    struct moved *m = ctx;
    int to = id <= m->db->n_theirs ? m->db->theirs[id - 1] : 0;
    if (to)
        m->v[to - 1] = value;
}

/* The SQL function translated(VALUES): turns an array of the other file into an array of this file. */
static void translated(sqlite3_context *c, int n, sqlite3_value **v) {
    struct moved m = {.db = sqlite3_user_data(c)};
    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    m.v = no_values(m.db->n_ids);
    char *text = NULL;
    if (m.v) {
        values_each((const char *)sqlite3_value_text(v[0]), move, &m);
        text = values_print(m.v, m.db->n_ids);
    }
    free(m.v);
    if (text)
        sqlite3_result_text(c, text, -1, free);
    else
        sqlite3_result_error_nomem(c);
}

bool names_translate(struct results_db *db, const char *attached, char *err, size_t err_size) {
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT id, name FROM %s.statistic ORDER BY id", attached);
    sqlite3_stmt *s = NULL;
    bool fine = read_names(db, err, err_size) && (s = results_prepare(db, sql, err, err_size));
    int code = SQLITE_DONE;
    db->n_theirs = 0;
    while (fine && (code = sqlite3_step(s)) == SQLITE_ROW) {
        int id = sqlite3_column_int(s, 0);
        if (id < 1 || id > IDS_MOST)
            continue;
        int *more = realloc(db->theirs, (size_t)id * sizeof *more);
        if (!more) {
            code = SQLITE_NOMEM;
            break;
        }
        db->theirs = more;
        while (db->n_theirs < id)
            more[db->n_theirs++] = 0;
        more[id - 1] = id_of(db, (const char *)sqlite3_column_text(s, 1));
    }
    if (fine && code != SQLITE_DONE)
        fine = results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    code = sqlite3_create_function(db->sql, "translated", 1, SQLITE_UTF8, db, translated, NULL, NULL);
    return fine && (code == SQLITE_OK || results_fail(db, code, err, err_size));
}
