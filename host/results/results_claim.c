/* Claims on runs, by which several processes share the work of one database. */
#include "results_parts.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A claim of a process on this machine is valid while the process lives. A claim of a process on another machine or in
 * another container is valid until LEASE_SECONDS pass without a renewal; its owner renews it every RENEW_SECONDS. */
enum { LEASE_SECONDS = 180, RENEW_SECONDS = 30 };

/* Reads the first line of a file without its newline; "" on failure. */
static void read_line(const char *path, char *out, int size) {
    FILE *f = fopen(path, "r");
    *out = '\0';
    if (!f || !fgets(out, size, f))
        *out = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* Returns the start time of a process in ticks since boot. Returns 0 if the process does not exist or is a zombie,
 * and -1 if the system has no /proc. */
static long long process_start(long pid) {
    /* numbers of fields in /proc/PID/stat (proc(5)); the second field is the process name in brackets */
    enum { STATE = 3, START = 22 };
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, line, sizeof line);
    const char *at = strrchr(line, ')');
    if (!at)
        return access("/proc/self/stat", R_OK) == 0 ? 0 : -1;
    char state = at[1] ? at[2] : 'X';
    if (state == 'Z' || state == 'X')
        return 0;
    at += 2;
    for (int field = STATE; field < START && *at; field++)
        at += strcspn(at, " ") + 1;
    return strtoll(at, NULL, 10);
}

void results_owner(struct results_owner *o) {
    char host[HOST_NAME_MAX + 1] = "", boot[64], space[64] = "";
    gethostname(host, sizeof host - 1);
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        *space = '\0';
    snprintf(o->place, sizeof o->place, "%s %s %s", host, boot, space);
    o->pid = getpid();
    o->started = process_start(o->pid);
}

/* The claims of a process on another machine, as this process has seen them. */
struct results_seen {
    struct results_owner owner;
    long long renewed; /* by the clock of that machine */
    double since;      /* when this value was first seen, by this machine's monotonic clock */
};

/* Returns the time of the monotonic clock. */
static double monotonic_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns true if a process on another machine may still be alive: it has renewed its claims within LEASE_SECONDS,
 * which this machine measures with its own clock. A claim that is older than a day is void at once. */
static bool lives_elsewhere(struct results_db *db, const char *place, long pid, long long started, long long renewed) {
    enum { DAY = 24 * 3600 };
    const double now = monotonic_seconds();
    int i = 0;
    if (llabs((long long)time(NULL) - renewed) > DAY)
        return false;
    while (i < db->n_seen && (db->seen[i].owner.pid != pid || db->seen[i].owner.started != started ||
                              strcmp(db->seen[i].owner.place, place) != 0))
        i++;
    if (i == db->n_seen) {
        struct results_seen *more = realloc(db->seen, (size_t)(i + 1) * sizeof *more);
        if (!more)
            return true;
        db->seen = more;
        more[i] = (struct results_seen){{.pid = pid, .started = started}, renewed, now};
        snprintf(more[i].owner.place, sizeof more[i].owner.place, "%s", place);
        db->n_seen++;
    }
    if (db->seen[i].renewed != renewed) {
        db->seen[i].renewed = renewed;
        db->seen[i].since = now;
    }
    return now - db->seen[i].since <= LEASE_SECONDS;
}

void results_waited(struct results_db *db, double seconds) {
    for (int i = 0; i < db->n_seen; i++)
        db->seen[i].since -= seconds;
}

/* Returns true if the owner of a claim is still alive. The claim of a part of a queue has no process (queue_split()):
 * it lasts for `started` seconds. */
static bool lives(struct results_db *db, const char *place, long pid, long long started, long long renewed) {
    if (pid == 0)
        return llabs((long long)time(NULL) - renewed) <= started;
    if (strcmp(place, db->owner.place) != 0)
        return lives_elsewhere(db, place, pid, started, renewed);
    long long now = process_start(pid);
    return now < 0 ? kill((pid_t)pid, 0) == 0 || errno == EPERM : now == started;
}

/* Returns 1 if another living process has claimed the run, 0 if not, -1 with a reason on failure. */
static int taken(struct results_db *db, const char *key, char *err, size_t err_size) {
    sqlite3_stmt *s = results_keep(db, "SELECT place, pid, started, renewed FROM claim WHERE key = ?", err, err_size);
    if (!s)
        return -1;
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    int code = sqlite3_step(s), result = 0;
    if (code == SQLITE_ROW) {
        const char *place = (const char *)sqlite3_column_text(s, 0);
        long pid = (long)sqlite3_column_int64(s, 1);
        long long started = sqlite3_column_int64(s, 2);
        bool own = place && strcmp(place, db->owner.place) == 0 && pid == db->owner.pid && started == db->owner.started;
        result = place && !own && lives(db, place, pid, started, sqlite3_column_int64(s, 3));
    } else if (code != SQLITE_DONE) {
        results_fail(db, code, err, err_size);
        result = -1;
    }
    sqlite3_reset(s);
    return result;
}

bool claims_end_dead(struct results_db *db, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(
        db, "SELECT place, pid, started, max(renewed) FROM claim GROUP BY place, pid, started", err, err_size);
    sqlite3_stmt *d =
        results_prepare(db, "DELETE FROM claim WHERE place = ? AND pid = ? AND started = ?", err, err_size);
    int code = SQLITE_DONE;
    while (s && d && code == SQLITE_DONE && (code = sqlite3_step(s)) == SQLITE_ROW) {
        struct results_owner o = {.pid = (long)sqlite3_column_int64(s, 1), .started = sqlite3_column_int64(s, 2)};
        snprintf(o.place, sizeof o.place, "%s", (const char *)sqlite3_column_text(s, 0));
        bool own = strcmp(o.place, db->owner.place) == 0 && o.pid == db->owner.pid && o.started == db->owner.started;
        code = SQLITE_DONE;
        if (own || lives(db, o.place, o.pid, o.started, sqlite3_column_int64(s, 3)))
            continue;
        sqlite3_bind_text(d, 1, o.place, -1, SQLITE_STATIC);
        sqlite3_bind_int64(d, 2, o.pid);
        sqlite3_bind_int64(d, 3, o.started);
        code = sqlite3_step(d);
        sqlite3_reset(d);
    }
    if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    sqlite3_finalize(d);
    return s && d && code == SQLITE_DONE;
}

/* Runs a constant SQL statement on the claims of this process. Parameters ?1 to ?3 of the statement identify the
 * process, ?4 is the current time, and ?5 is `key`, unless that is NULL. */
static bool own_claims(struct results_db *db, const char *sql, const char *key, char *err, size_t err_size) {
    sqlite3_stmt *s = results_keep(db, sql, err, err_size);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, db->owner.place, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, db->owner.pid);
    sqlite3_bind_int64(s, 3, db->owner.started);
    sqlite3_bind_int64(s, 4, (sqlite3_int64)time(NULL));
    if (key)
        sqlite3_bind_text(s, 5, key, -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_reset(s);
    return code == SQLITE_DONE;
}

static enum results_claim claim(struct results_db *db, const char *key, char *err, size_t err_size) {
    int there = results_has(db, key, err, err_size);
    if (there != 0)
        return there < 0 ? CLAIM_FAILED : CLAIM_DONE;
    int theirs = taken(db, key, err, err_size);
    if (theirs != 0)
        return theirs < 0 ? CLAIM_FAILED : CLAIM_THEIRS;
    bool fine =
        own_claims(db, "INSERT OR REPLACE INTO claim(place, pid, started, renewed, key) VALUES(?1, ?2, ?3, ?4, ?5)",
                   key, err, err_size);
    return fine ? CLAIM_OURS : CLAIM_FAILED;
}

enum results_claim results_claim(struct results_db *db, const char *key, char *err, size_t err_size) {
    if (!results_begin(db, err, err_size))
        return CLAIM_FAILED;
    enum results_claim how = claim(db, key, err, err_size);
    if (!results_end(db, how != CLAIM_FAILED, err, err_size))
        return CLAIM_FAILED;
    if (how == CLAIM_OURS && !db->renewed)
        db->renewed = time(NULL);
    return how;
}

bool results_unclaim(struct results_db *db, const char *key, char *err, size_t err_size) {
    return own_claims(db,
                      key ? "DELETE FROM claim WHERE place = ?1 AND pid = ?2 AND started = ?3 AND key = ?5"
                          : "DELETE FROM claim WHERE place = ?1 AND pid = ?2 AND started = ?3",
                      key, err, err_size);
}

void results_renew(struct results_db *db) {
    char err[256];
    time_t now = time(NULL);
    if (!db->renewed || (now >= db->renewed && now < db->renewed + RENEW_SECONDS))
        return;
    db->renewed = now;
    own_claims(db, "UPDATE claim SET renewed = ?4 WHERE place = ?1 AND pid = ?2 AND started = ?3", NULL, err,
               sizeof err);
}
