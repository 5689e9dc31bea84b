/* Stores how sampled runs were sampled: the member "sampled" of their JSON. The table is made with the first sampled
 * run, so that files without such runs keep the older format. */
#include "results_db.h"
#include "results_parts.h"

static const char schema[] = "CREATE TABLE IF NOT EXISTS sampled(run INTEGER PRIMARY KEY REFERENCES run(id),"
                             " json TEXT NOT NULL);";

bool sampled_table(struct results_db *db, char *err, size_t err_size) { return results_run(db, schema, err, err_size); }

bool sampled_add(struct results_db *db, const char *key, const cJSON *result, char *err, size_t err_size) {
    const cJSON *sampled = cJSON_GetObjectItemCaseSensitive(result, "sampled");
    if (!sampled)
        return true;
    char *text = cJSON_PrintUnformatted(sampled);
    sqlite3_stmt *s = text && sampled_table(db, err, err_size)
                          ? results_prepare(db,
                                            "INSERT OR IGNORE INTO sampled(run, json)"
                                            " SELECT id, ?2 FROM run WHERE key = ?1",
                                            err, err_size)
                          : NULL;
    int code = text ? SQLITE_ERROR : SQLITE_NOMEM;
    if (s) {
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
        code = sqlite3_step(s);
    }
    if (code != SQLITE_DONE && (s || !text))
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    cJSON_free(text);
    return code == SQLITE_DONE;
}

bool results_sampled(struct results_db *db, long long run, cJSON **out, char *err, size_t err_size) {
    const int there = results_any(db, "SELECT 1 FROM sqlite_master WHERE name = 'sampled'", NULL, err, err_size);
    *out = NULL;
    if (there <= 0)
        return there == 0;
    sqlite3_stmt *s = results_prepare(db, "SELECT json FROM sampled WHERE run = ?", err, err_size);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        *out = cJSON_Parse((const char *)sqlite3_column_text(s, 0));
    else if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return code == SQLITE_DONE || code == SQLITE_ROW;
}
