/* Prepares and runs SQL statements on a database file, reads their results, and writes messages about failures. */
#include "results_db.h"
#include "results_parts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the errno that explains why a file cannot be created; SQLite would only report "No such file". 0: the folder
 * is writable. */
static int folder_refuses(const char *path) {
    const char *end = strrchr(path, '/');
    char *folder = sqlite3_mprintf("%.*s", end ? (int)(end - path) + 1 : 2, end ? path : "./");
    int reason = folder && access(folder, W_OK | X_OK) != 0 ? errno : 0;
    sqlite3_free(folder);
    return reason;
}

bool results_fail(const struct results_db *db, int code, char *err, size_t err_size) {
    const char *says = db->sql ? sqlite3_errmsg(db->sql) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
        snprintf(
            err, err_size,
            "%s: cannot be written (%s): is the disk full? The runs in it are whole; make room, and the same command "
            "goes on where this one ended",
            db->path, says);
        break;
    case SQLITE_NOTADB:
        snprintf(err, err_size, "%s: is not a results database; name another file", db->path);
        break;
    case SQLITE_CORRUPT:
        snprintf(err, err_size,
                 "%s: is damaged or cut off (%s); move it away, or save what is left with sqlite3's .recover", db->path,
                 says);
        break;
    case SQLITE_BUSY:
        snprintf(err, err_size, "%s: another process has been writing for %d seconds; try again", db->path,
                 RESULTS_PATIENCE / 1000);
        break;
    case SQLITE_NOMEM:
        snprintf(err, err_size, "the host is out of memory");
        break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        snprintf(err, err_size, "%s: %s", db->path,
                 code == SQLITE_READONLY_DBMOVED || sqlite3_extended_errcode(db->sql) == SQLITE_READONLY_DBMOVED
                     ? "was moved or deleted while it was written; what was run until then is where it is now"
                     : "may not be written");
        break;
    case SQLITE_CANTOPEN: {
        int reason = db->sql ? sqlite3_system_errno(db->sql) : 0;
        if (reason == ENOENT && folder_refuses(db->path))
            reason = folder_refuses(db->path);
        snprintf(err, err_size, "%s: cannot be opened: %s", db->path, reason ? strerror(reason) : says);
        break;
    }
    default:
        snprintf(err, err_size, "%s: %s", db->path, says);
    }
    return false;
}

bool results_run(struct results_db *db, const char *sql, char *err, size_t err_size) {
    int code = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || results_fail(db, code, err, err_size);
}

bool results_begin(struct results_db *db, char *err, size_t err_size) {
    if (db->depth == 0 && !results_run(db, "BEGIN IMMEDIATE", err, err_size))
        return false;
    db->depth++;
    return true;
}

bool results_end(struct results_db *db, bool fine, char *err, size_t err_size) {
    if (--db->depth)
        return fine;
    fine = fine && results_run(db, "COMMIT", err, err_size);
    if (!fine) {
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
        db->complete = false; /* this transaction may have added the names */
    }
    return fine;
}

sqlite3_stmt *results_prepare(struct results_db *db, const char *sql, char *err, size_t err_size) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);
    if (code != SQLITE_OK)
        results_fail(db, code, err, err_size);
    return s;
}

struct results_kept {
    const char *sql;
    sqlite3_stmt *statement;
};

sqlite3_stmt *results_keep(struct results_db *db, const char *sql, char *err, size_t err_size) {
    for (int i = 0; i < db->n_kept; i++)
        if (strcmp(db->kept[i].sql, sql) == 0)
            return db->kept[i].statement;
    struct results_kept *more = realloc(db->kept, (size_t)(db->n_kept + 1) * sizeof *more);
    if (!more) {
        snprintf(err, err_size, "the host is out of memory");
        return NULL;
    }
    db->kept = more;
    sqlite3_stmt *s = results_prepare(db, sql, err, err_size);
    if (s)
        more[db->n_kept++] = (struct results_kept){sql, s};
    return s;
}

void results_kept_free(struct results_db *db) {
    for (int i = 0; i < db->n_kept; i++)
        sqlite3_finalize(db->kept[i].statement);
    free(db->kept);
    db->kept = NULL;
    db->n_kept = 0;
}

int results_any(struct results_db *db, const char *sql, const char *key, char *err, size_t err_size) {
    sqlite3_stmt *s = key ? results_keep(db, sql, err, err_size) : results_prepare(db, sql, err, err_size);
    if (!s)
        return -1;
    if (key)
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    if (key)
        sqlite3_reset(s);
    else
        sqlite3_finalize(s);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

int results_has(struct results_db *db, const char *key, char *err, size_t err_size) {
    if (!db->has && !(db->has = results_prepare(db, "SELECT 1 FROM run WHERE key = ?", err, err_size)))
        return -1;
    sqlite3_bind_text(db->has, 1, key, -1, SQLITE_STATIC);
    int code = sqlite3_step(db->has);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_reset(db->has); /* also ends the lock on the file */
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}
