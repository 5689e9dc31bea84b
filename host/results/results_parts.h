#ifndef HOST_RESULTS_PARTS_H
#define HOST_RESULTS_PARTS_H
/* Internals shared by the files that implement results_db.h. */
#include "results_db.h"
#include <sqlite3.h>
#include <time.h>

/* A process: its place (machine, boot, PID namespace), its PID, and its start time. */
struct results_owner {
    char place[256];
    long pid;
    long long started;
};
/* Describes this process. */
void results_owner(struct results_owner *o);

enum { RESULTS_PATIENCE = 60000 }; /* maximum time in milliseconds to wait for another process that writes the file */

struct results_db {
    sqlite3 *sql;
    char *path;
    struct results_owner owner;
    struct results_name *names; /* the statistics of the file, sorted by name; NULL: not read yet */
    int n_names, n_ids;         /* n_ids: the largest id */
    bool complete, in_order;    /* `names` has all statistics of this version; their ids are in its order, from 1 on */
    int *theirs, n_theirs;      /* id of a statistic in an attached file, minus 1 -> its id in this file; 0: none */
    int depth;                  /* of nested transactions */
    bool queue;                 /* the file has the tables of a queue */
    double waits_since;         /* when the present wait for a lock began, in ms of the monotonic clock */
    /* what this process has seen of claims on other machines, whose clocks may differ from this one's */
    struct results_seen *seen;
    bool picked; /* the table temp.picked has the runs that results_pick() selected */
    int n_seen;
    sqlite3_stmt *has;         /* the query of results_has(); NULL: not prepared yet */
    struct results_kept *kept; /* statements of results_keep() */
    int n_kept;
    time_t renewed; /* time of the latest renewal of this process's claims; 0 if it has no claims */
};

/* results_values.c: adds the statistics of this version of Heddle that the table of statistics lacks, and reads the
 * table. Call it in a transaction that writes. */
bool names_write(struct results_db *db, char *err, size_t err_size);
void names_free(struct results_db *db);
/* Prints the values of a result, or of one of its launches, as the text of a database: the values of its member
 * "values" (results_write_brief()), or else of "stats". *out is NULL if it has neither. Call names_write() before. The
 * caller frees *out. */
bool values_text(struct results_db *db, const cJSON *of, char **out, char *err, size_t err_size);
/* Makes the SQL function translated(TEXT), which turns values of an attached file into values of this file. */
bool names_translate(struct results_db *db, const char *attached, char *err, size_t err_size);

/* Writes SQLite's message for the error `code` to `err`, with advice. Returns false. */
bool results_fail(const struct results_db *db, int code, char *err, size_t err_size);
/* Returns the prefix that a path needs so that SQLite takes it as a file name, because names such as ":memory:" and
 * "file:..." have a special meaning. */
static inline const char *results_here(const char *path) { return *path == '/' ? "" : "./"; }
/* results_claim.c: acts as if `seconds` had passed since this process saw claims of other machines, for tests. */
void results_waited(struct results_db *db, double seconds);
/* Ends the claims of processes that are dead. Call it in a transaction. */
bool claims_end_dead(struct results_db *db, char *err, size_t err_size);
/* Runs SQL statements that have no result. */
bool results_run(struct results_db *db, const char *sql, char *err, size_t err_size);
/* results_profile.c: adds the profile of `result` to the run with this key. Does nothing if `result` has no profile or
 * the run already has one. */
bool profile_add(struct results_db *db, const char *key, const cJSON *result, char *err, size_t err_size);
/* Makes the table of profiles if the file lacks it. */
bool profile_table(struct results_db *db, char *err, size_t err_size);
/* results_sampled.c: adds the member "sampled" of `result` to the run with this key. Does nothing if `result` has none
 * or the run already has one. */
bool sampled_add(struct results_db *db, const char *key, const cJSON *result, char *err, size_t err_size);
/* Makes the table of sampled runs if the file lacks it. */
bool sampled_table(struct results_db *db, char *err, size_t err_size);
/* Prepares a statement. Returns NULL with a message on failure. */
sqlite3_stmt *results_prepare(struct results_db *db, const char *sql, char *err, size_t err_size);
/* Works like results_prepare(), for a constant text `sql`. The file keeps the statement for later calls with the same
 * `sql`: end its use with sqlite3_reset(), not with sqlite3_finalize(). */
sqlite3_stmt *results_keep(struct results_db *db, const char *sql, char *err, size_t err_size);
void results_kept_free(struct results_db *db);
/* Returns 1 if a query yields a row, 0 if not, -1 with the reason in `err` if the file cannot be read. `key`, unless it
 * is NULL, becomes parameter 1 of the query, which must then be a constant text. */
int results_any(struct results_db *db, const char *sql, const char *key, char *err, size_t err_size);
#endif
