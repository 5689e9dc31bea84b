/* Selects runs by conditions in SQL, so that results_load() reads only these runs. */
#include "results_db.h"
#include "results_parts.h"
#include <stdio.h>
#include <string.h>

/* Fields that are columns of the table of runs. */
static const struct {
    const char *field, *column;
} columns[] = {
    {"program", "program"}, {"size", "size"},       {"model", "model"},   {"preset", "preset"},
    {"check", "verdict"},   {"version", "version"}, {"binary", "binary"}, {"ended", "ended"},
};

static const char *column_of(const char *field) {
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strcmp(columns[i].field, field) == 0)
            return columns[i].column;
    return NULL;
}

/* The SQL function holds(N, TEXT): whether condition N holds for a value. NULL is an empty text. */
static void holds(sqlite3_context *ctx, int n, sqlite3_value **v) {
    const struct results_condition *c = (const struct results_condition *)sqlite3_user_data(ctx);
    const char *text = (const char *)sqlite3_value_text(v[1]);
    (void)n;
    c += sqlite3_value_int(v[0]);
    sqlite3_result_int(ctx, c->holds(c->ctx, text ? text : ""));
}

/* Runs a statement that sqlite3_mprintf() has made, and frees it. */
static bool run_made(struct results_db *db, char *sql, char *err, size_t err_size) {
    if (!sql)
        snprintf(err, err_size, "the host is out of memory");
    const bool fine = sql && results_run(db, sql, err, err_size);
    sqlite3_free(sql);
    return fine;
}

/* Returns 1 if a condition on this field can be tested here: a column, or an option. Launches and statistics are not
 * tested. Returns -1 with the reason if the file cannot be read. */
static int testable(struct results_db *db, const char *field, char *err, size_t err_size) {
    if (column_of(field))
        return 1;
    if (strpbrk(field, "\"'$") || strcmp(field, "kernel") == 0 || strcmp(field, "launch") == 0)
        return 0;
    const int is = results_any(db, "SELECT 1 FROM statistic WHERE name = ?", field, err, err_size);
    return is < 0 ? -1 : !is;
}

/* Fills the empty selection with the runs that fulfil a condition. The index of programs, and the table of settings,
 * are much smaller than the table of runs. */
static bool pick_first(struct results_db *db, int i, const char *field, char *err, size_t err_size) {
    const char *column = column_of(field);
    if (column && strcmp(column, "program") == 0) /* visits each name once, in the index */
        return run_made(db,
                        sqlite3_mprintf("WITH RECURSIVE p(name) AS (SELECT min(program) FROM run UNION ALL"
                                        " SELECT (SELECT min(program) FROM run WHERE program > name) FROM p"
                                        " WHERE name IS NOT NULL)"
                                        " INSERT INTO temp.picked SELECT id FROM run WHERE program IN"
                                        " (SELECT name FROM p WHERE name IS NOT NULL AND holds(%d, name))",
                                        i),
                        err, err_size);
    if (column)
        return run_made(db,
                        sqlite3_mprintf("INSERT INTO temp.picked SELECT id FROM run WHERE holds(%d, %s)", i, column),
                        err, err_size);
    char *sql = sqlite3_mprintf("SELECT 1 FROM base WHERE holds(%d, json_extract(json, '$.\"%q\"'))", i, field);
    const int usual = sql ? results_any(db, sql, NULL, err, err_size) : -1; /* does a preset's own value fulfil it? */
    sqlite3_free(sql);
    if (usual > 0) /* then runs that do not set the option may be selected */
        return run_made(db, sqlite3_mprintf("INSERT INTO temp.picked SELECT id FROM run"), err, err_size);
    return usual == 0 &&
           run_made(
               db,
               sqlite3_mprintf("INSERT INTO temp.picked SELECT run FROM setting WHERE option = %Q AND holds(%d, value)",
                               field, i),
               err, err_size);
}

/* Removes the runs that do not fulfil a condition from the selection. */
static bool pick_among(struct results_db *db, int i, const char *field, char *err, size_t err_size) {
    const char *column = column_of(field);
    if (column)
        return run_made(db,
                        sqlite3_mprintf("DELETE FROM temp.picked WHERE NOT holds(%d, (SELECT r.%s FROM run r"
                                        " WHERE r.id = picked.run))",
                                        i, column),
                        err, err_size);
    return run_made(
        db,
        sqlite3_mprintf("WITH b(id, value) AS MATERIALIZED (SELECT id, json_extract(json, '$.\"%q\"') FROM base)"
                        " DELETE FROM temp.picked WHERE NOT holds(%d, coalesce("
                        "(SELECT s.value FROM setting s WHERE s.run = picked.run AND s.option = %Q),"
                        "(SELECT b.value FROM run r JOIN machine m ON m.hash = r.configuration"
                        " JOIN b ON b.id = m.base WHERE r.id = picked.run)))",
                        field, i, field),
        err, err_size);
}

/* Returns the condition with which the selection begins: one on programs, else one on an option, else any. */
static int best_first(const struct results_condition *c, const bool *use, int n) {
    int best = -1;
    for (int i = 0; i < n; i++) {
        const char *column = column_of(c[i].field);
        if (use[i] && column && strcmp(column, "program") == 0)
            return i;
        if (use[i] && (best < 0 || (!column && column_of(c[best].field))))
            best = i;
    }
    return best;
}

static bool pick(struct results_db *db, const struct results_condition *c, int n, char *err, size_t err_size) {
    bool use[RESULTS_CONDITIONS] = {false};
    for (int i = 0; i < n; i++) {
        const int can = testable(db, c[i].field, err, err_size);
        if (can < 0)
            return false;
        use[i] = can;
    }
    const int first = best_first(c, use, n);
    if (first < 0)
        return true;
    bool fine = results_run(db, "CREATE TEMP TABLE picked(run INTEGER PRIMARY KEY)", err, err_size) &&
                pick_first(db, first, c[first].field, err, err_size) &&
                (column_of(c[first].field) || pick_among(db, first, c[first].field, err, err_size));
    for (int i = 0; fine && i < n; i++)
        fine = !use[i] || i == first || pick_among(db, i, c[i].field, err, err_size);
    return db->picked = fine;
}

bool results_pick_examples(struct results_db *db, const struct results_condition *c, int n, char *err,
                           size_t err_size) {
    db->picked = results_run(db,
                             "DROP TABLE IF EXISTS temp.picked; CREATE TEMP TABLE picked(run INTEGER PRIMARY KEY);"
                             " INSERT INTO temp.picked SELECT min(id) FROM run HAVING count(*)",
                             err, err_size);
    for (int i = 0; db->picked && i < n; i++)
        db->picked = run_made(db,
                              sqlite3_mprintf("INSERT OR IGNORE INTO temp.picked"
                                              " SELECT run FROM setting WHERE option = %Q LIMIT 1",
                                              c[i].field),
                              err, err_size);
    return db->picked;
}

bool results_pick(struct results_db *db, const struct results_condition *c, int n, char *err, size_t err_size) {
    db->picked = false;
    if (!results_run(db, "DROP TABLE IF EXISTS temp.picked", err, err_size))
        return false;
    if (n > RESULTS_CONDITIONS)
        n = RESULTS_CONDITIONS;
    const int code = sqlite3_create_function(db->sql, "holds", 2, SQLITE_UTF8, (void *)c, holds, NULL, NULL);
    if (code != SQLITE_OK)
        return results_fail(db, code, err, err_size);
    const bool fine = pick(db, c, n, err, err_size);
    sqlite3_create_function(db->sql, "holds", 2, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    return fine;
}
