/* Stores profiles in a database. The table is made with the first profile, so that files without profiles keep the
 * older format. */
#include "results_db.h"
#include "results_parts.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS profile(run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL,"
    " kernel TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY(run, number)) WITHOUT ROWID;";

static int is_there(struct results_db *db, char *err, size_t err_size) {
    return results_any(db, "SELECT 1 FROM sqlite_master WHERE name = 'profile'", NULL, err, err_size);
}

bool profile_table(struct results_db *db, char *err, size_t err_size) { return results_run(db, schema, err, err_size); }

int results_has_profile(struct results_db *db, const char *key, char *err, size_t err_size) {
    int there = is_there(db, err, err_size);
    if (there <= 0)
        return there;
    return results_any(db, "SELECT 1 FROM profile JOIN run ON run.id = profile.run WHERE key = ?", key, err, err_size);
}

bool profile_add(struct results_db *db, const char *key, const cJSON *result, char *err, size_t err_size) {
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(result, "profile"), *k;
    int number = 0, code = SQLITE_DONE;
    if (!kernels)
        return true;
    int there = results_run(db, schema, err, err_size) ? results_has_profile(db, key, err, err_size) : -1;
    if (there)
        return there > 0;
    sqlite3_stmt *s = results_prepare(db,
                                      "INSERT INTO profile(run, number, kernel, json)"
                                      " SELECT id, ?2, ?3, ?4 FROM run WHERE key = ?1",
                                      err, err_size);
    cJSON_ArrayForEach(k, kernels) {
        char *text = s && code == SQLITE_DONE ? cJSON_PrintUnformatted(k) : NULL;
        if (!text)
            break;
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_int(s, 2, number++);
        sqlite3_bind_text(s, 3, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(k, "kernel")), -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, text, -1, SQLITE_STATIC);
        code = sqlite3_step(s);
        sqlite3_reset(s);
        cJSON_free(text);
    }
    if (s && k)
        results_fail(db, code == SQLITE_DONE ? SQLITE_NOMEM : code, err, err_size);
    sqlite3_finalize(s);
    return s && !k;
}

bool results_profile(struct results_db *db, long long run, cJSON **out, char *err, size_t err_size) {
    int there = is_there(db, err, err_size), code = SQLITE_DONE;
    *out = NULL;
    if (there <= 0)
        return there == 0;
    sqlite3_stmt *s = results_prepare(db, "SELECT json FROM profile WHERE run = ? ORDER BY number", err, err_size);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        cJSON *kernel = cJSON_Parse((const char *)sqlite3_column_text(s, 0));
        if (!*out)
            *out = cJSON_CreateArray();
        if (!kernel || !*out || !cJSON_AddItemToArray(*out, kernel)) {
            cJSON_Delete(kernel);
            code = SQLITE_NOMEM;
            break;
        }
    }
    if (code != SQLITE_DONE) {
        results_fail(db, code, err, err_size);
        cJSON_Delete(*out);
        *out = NULL;
    }
    sqlite3_finalize(s);
    return code == SQLITE_DONE;
}
