#ifndef HOST_RESULTS_PARTS_H
#define HOST_RESULTS_PARTS_H
/* What the files of results_db.h share. */
#include "results_db.h"
#include <sqlite3.h>
#include <time.h>

/* A process: where it is (machine, its start, space of process numbers), its number there, and when it was started. */
struct results_owner {
    char place[256];
    long pid;
    long long started;
};
/* This process. */
void results_owner(struct results_owner *o);

struct results_db {
    sqlite3 *sql;
    char *path;
    struct results_owner owner;
    time_t renewed; /* its claims; 0: it has made none */
};

/* Says in `err` what SQLite has to say of `code`, and what to do about it. Returns false. */
bool results_fail(const struct results_db *db, int code, char *err, size_t err_size);
/* What stands before a file's name, so that SQLite takes it for one: ":memory:" and "file:..." are none to it. */
static inline const char *results_here(const char *path) { return *path == '/' ? "" : "./"; }
/* Runs statements without a result. */
bool results_run(struct results_db *db, const char *sql, char *err, size_t err_size);
/* results_profile.c: the profile that a result has, if it has one, for the run with this key, if that has none. */
bool profile_add(struct results_db *db, const char *key, const cJSON *result, char *err, size_t err_size);
/* Makes the table of profiles when it is not there. */
bool profile_table(struct results_db *db, char *err, size_t err_size);
/* NULL, with a message, on failure. */
sqlite3_stmt *results_prepare(struct results_db *db, const char *sql, char *err, size_t err_size);
/* Whether a query has a row: 1 or 0; -1: the file cannot be read, `err` says why. `key`, unless NULL, is its first
 * value. */
int results_any(struct results_db *db, const char *sql, const char *key, char *err, size_t err_size);
#endif
