/* Queues of runs (results_queue.h). */
#include "results_queue.h"
#include "results_parts.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS queue_plan(id INTEGER PRIMARY KEY, binary TEXT NOT NULL, folder TEXT NOT NULL,"
    " arguments TEXT NOT NULL, UNIQUE(binary, folder, arguments));"
    "CREATE TABLE IF NOT EXISTS todo(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, plan INTEGER NOT NULL"
    " REFERENCES queue_plan(id), number INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, message TEXT);";

bool queue_make(struct results_db *db, char *err, size_t err_size) {
    return db->queue || (db->queue = results_run(db, schema, err, err_size));
}

bool queue_is(const struct results_db *db) { return db->queue; }

/* Executes a statement of results_keep() that has no result. */
static bool finish(struct results_db *db, sqlite3_stmt *s, char *err, size_t err_size) {
    int code = s ? sqlite3_step(s) : SQLITE_DONE;
    if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_reset(s);
    return s && code == SQLITE_DONE;
}

/* Returns the number that a query yields in *out. */
static bool ask(struct results_db *db, const char *sql, long long *out, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(db, sql, err, err_size);
    int code = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    else if (s)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return code == SQLITE_ROW;
}

bool queue_plan_add(struct results_db *db, const struct queue_plan *p, long long *id, char *err, size_t err_size) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; list && i < p->argc; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(p->argv[i]));
    char *text = list ? cJSON_PrintUnformatted(list) : NULL;
    cJSON_Delete(list);
    if (!text) {
        snprintf(err, err_size, "the host is out of memory");
        return false;
    }
    bool fine = true;
    static const char *const sql[] = {"INSERT OR IGNORE INTO queue_plan(binary, folder, arguments) VALUES(?, ?, ?)",
                                      "SELECT id FROM queue_plan WHERE binary = ? AND folder = ? AND arguments = ?"};
    for (int i = 0; fine && i < 2; i++) {
        sqlite3_stmt *s = results_prepare(db, sql[i], err, err_size);
        fine = s != NULL;
        if (s) {
            sqlite3_bind_text(s, 1, p->binary, -1, SQLITE_STATIC);
            sqlite3_bind_text(s, 2, p->folder, -1, SQLITE_STATIC);
            sqlite3_bind_text(s, 3, text, -1, SQLITE_STATIC);
            int code = sqlite3_step(s);
            fine = code == (i ? SQLITE_ROW : SQLITE_DONE) || results_fail(db, code, err, err_size);
            *id = i ? sqlite3_column_int64(s, 0) : 0;
        }
        sqlite3_finalize(s);
    }
    cJSON_free(text);
    return fine;
}

void queue_plan_free(struct queue_plan *p) {
    for (int i = 0; p->argv && i < p->argc; i++)
        free(p->argv[i]);
    free(p->argv);
    free(p->folder);
    *p = (struct queue_plan){.argc = 0};
}

bool queue_plan_read(struct results_db *db, long long id, struct queue_plan *out, char *err, size_t err_size) {
    sqlite3_stmt *s =
        results_prepare(db, "SELECT binary, folder, arguments FROM queue_plan WHERE id = ?", err, err_size);
    *out = (struct queue_plan){.argc = 0};
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, id);
    int code = sqlite3_step(s);
    cJSON *list = code == SQLITE_ROW ? cJSON_Parse((const char *)sqlite3_column_text(s, 2)) : NULL;
    int n = cJSON_GetArraySize(list);
    if (n >= 2 && (out->argv = calloc((size_t)n + 1, sizeof *out->argv))) {
        snprintf(out->binary, sizeof out->binary, "%s", (const char *)sqlite3_column_text(s, 0));
        out->folder = strdup((const char *)sqlite3_column_text(s, 1));
        for (const cJSON *e = list->child; e; e = e->next)
            out->argv[out->argc++] = strdup(cJSON_IsString(e) ? e->valuestring : "");
    }
    bool fine = out->folder != NULL;
    for (int i = 0; i < out->argc; i++)
        fine = fine && out->argv[i];
    if (!fine)
        snprintf(err, err_size, "%s: the plan of its runs cannot be read", db->path);
    cJSON_Delete(list);
    sqlite3_finalize(s);
    return fine;
}

int queue_put(struct results_db *db, const struct queue_item *item, char *err, size_t err_size) {
    int there = results_has(db, item->key, err, err_size);
    if (there)
        return there < 0 ? -1 : 0;
    sqlite3_stmt *s = results_keep(db,
                                   "INSERT INTO todo(key, plan, number) VALUES(?, ?, ?) ON CONFLICT(key) DO UPDATE"
                                   " SET plan = excluded.plan, number = excluded.number, failures = 0",
                                   err, err_size);
    if (s) {
        sqlite3_bind_text(s, 1, item->key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, item->plan);
        sqlite3_bind_int64(s, 3, (sqlite3_int64)item->number);
    }
    return finish(db, s, err, err_size) ? 1 : -1;
}

/* Selects up to `most` free runs, all of the plan to which the first free run belongs. Returns their number, or -1. */
static int select_free(struct results_db *db, int most, struct queue_item *out, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(db,
                                      "SELECT key, plan, number FROM todo t WHERE failures < ? AND NOT EXISTS"
                                      " (SELECT 1 FROM claim c WHERE c.key = t.key) ORDER BY id LIMIT ?",
                                      err, err_size);
    int n = 0, code = SQLITE_ERROR;
    if (!s)
        return -1;
    sqlite3_bind_int(s, 1, QUEUE_TRIES);
    sqlite3_bind_int(s, 2, most);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        struct queue_item *to = &out[n];
        to->plan = sqlite3_column_int64(s, 1);
        to->number = (uint64_t)sqlite3_column_int64(s, 2);
        snprintf(to->key, sizeof to->key, "%s", (const char *)sqlite3_column_text(s, 0));
        if (to->plan == out[0].plan)
            n++;
    }
    if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return code == SQLITE_DONE ? n : -1;
}

int queue_take(struct results_db *db, int most, struct queue_item *out, char *err, size_t err_size) {
    if (!results_begin(db, err, err_size))
        return -1;
    int n = claims_end_dead(db, err, err_size) ? select_free(db, most, out, err, err_size) : -1;
    bool fine = n >= 0;
    for (int i = 0; fine && i < n; i++)
        fine = results_claim(db, out[i].key, err, err_size) == CLAIM_OURS;
    return results_end(db, fine, err, err_size) ? n : -1;
}

bool queue_failed(struct results_db *db, const char *key, const char *message, char *err, size_t err_size) {
    if (!db->queue)
        return true;
    sqlite3_stmt *s =
        results_keep(db, "UPDATE todo SET failures = failures + 1, message = ? WHERE key = ?", err, err_size);
    if (s) {
        sqlite3_bind_text(s, 1, message, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
    }
    return finish(db, s, err, err_size);
}

/* Copies the items and their plan to the new queue `to`. */
static bool copy(struct results_db *db, struct results_db *to, const struct queue_item *items, int n, char *err,
                 size_t err_size) {
    struct queue_plan plan;
    struct queue_item item;
    long long id = 0;
    bool fine = queue_plan_read(db, items[0].plan, &plan, err, err_size) && results_begin(to, err, err_size);
    if (fine) {
        fine = queue_make(to, err, err_size) && queue_plan_add(to, &plan, &id, err, err_size);
        for (int i = 0; fine && i < n; i++) {
            item = items[i];
            item.plan = id;
            fine = queue_put(to, &item, err, err_size) >= 0;
        }
        fine = results_end(to, fine, err, err_size);
    }
    queue_plan_free(&plan);
    return fine;
}

int queue_split(struct results_db *db, const char *part, int most, long long seconds, char *err, size_t err_size) {
    struct queue_item *items = calloc((size_t)most + 1, sizeof *items);
    struct results_owner self = db->owner;
    if (access(part, F_OK) == 0) {
        snprintf(err, err_size, "%s: exists; name a new file for the runs to take", part);
        free(items);
        return -1;
    }
    /* the claims of a part belong to no process; they last for a time (claim_lives()) */
    snprintf(db->owner.place, sizeof db->owner.place, "%s, taken at %lld by %ld", part, (long long)time(NULL),
             self.pid);
    db->owner.pid = 0;
    db->owner.started = seconds;
    int n = items && results_begin(db, err, err_size) ? 0 : -1;
    if (!items)
        snprintf(err, err_size, "the host is out of memory");
    if (n == 0) {
        n = queue_take(db, most, items, err, err_size);
        struct results_db *to = n > 0 ? results_open(part, true, err, err_size) : NULL;
        bool fine = n == 0 || (to && copy(db, to, items, n, err, err_size));
        results_close(to);
        fine = results_end(db, fine, err, err_size);
        if (!fine && to)
            unlink(part);
        n = fine ? n : -1;
    }
    db->owner = self;
    db->renewed = 0;
    free(items);
    return n;
}

/* Sets the rate of the latest results. */
static bool find_rate(struct results_db *db, struct queue_state *out, char *err, size_t err_size) {
    long long n, seconds;
    static const char latest[] = "FROM (SELECT ended FROM run ORDER BY id DESC LIMIT 1000)"
                                 " WHERE ended > strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-1 hour')";
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT count(*) %s", latest);
    bool fine = ask(db, sql, &n, err, err_size);
    snprintf(sql, sizeof sql, "SELECT coalesce(strftime('%%s', 'now') - strftime('%%s', min(ended)), 0) %s", latest);
    fine = fine && ask(db, sql, &seconds, err, err_size);
    out->rate = fine && n > 1 ? (double)n / (double)(seconds > 0 ? seconds : 1) : 0;
    return fine;
}

bool queue_count(struct results_db *db, struct queue_state *out, char *err, size_t err_size) {
    *out = (struct queue_state){.done = 0};
    bool fine = ask(db, "SELECT count(*) FROM run", &out->done, err, err_size) &&
                ask(db, "SELECT count(*) FROM run WHERE status <> 0", &out->bad, err, err_size);
    if (fine && db->queue) {
        long long all = 0;
        fine = ask(db, "SELECT count(*) FROM todo", &all, err, err_size) &&
               ask(db, "SELECT count(*) FROM todo WHERE failures >= 3", &out->given_up, err, err_size) &&
               ask(db, "SELECT count(*) FROM claim", &out->claimed, err, err_size) &&
               ask(db, "SELECT count(*) FROM (SELECT DISTINCT place, pid, started FROM claim)", &out->processes, err,
                   err_size);
        out->left = all - out->given_up;
    }
    return fine && find_rate(db, out, err, err_size);
}

bool queue_list(struct results_db *db, void (*lost)(void *ctx, long long number, const char *key, const char *message),
                void (*owner)(void *ctx, const char *place, long long pid, long long claims, long long age), void *ctx,
                char *err, size_t err_size) {
    sqlite3_stmt *s =
        results_prepare(db, "SELECT number, key, coalesce(message, '') FROM todo WHERE failures >= 3", err, err_size);
    int code = SQLITE_ERROR;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
        lost(ctx, sqlite3_column_int64(s, 0), (const char *)sqlite3_column_text(s, 1),
             (const char *)sqlite3_column_text(s, 2));
    sqlite3_finalize(s);
    if (code != SQLITE_DONE)
        return results_fail(db, code, err, err_size);
    s = results_prepare(db, "SELECT place, pid, count(*), max(renewed) FROM claim GROUP BY place, pid, started", err,
                        err_size);
    code = SQLITE_ERROR;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW)
        owner(ctx, (const char *)sqlite3_column_text(s, 0), sqlite3_column_int64(s, 1), sqlite3_column_int64(s, 2),
              (long long)time(NULL) - sqlite3_column_int64(s, 3));
    sqlite3_finalize(s);
    return code == SQLITE_DONE || results_fail(db, code, err, err_size);
}
