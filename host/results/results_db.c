/* Opens database files, checks that they are Heddle's, and adds runs. */
#include "results_db.h"
#include "results_parts.h"
#include "timing/report/stat.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    APPLICATION = 0x4864646c, /* the application id "Hddl" in the header of the SQLite file */
};

/* docs/results.md explains each table. SQLite's default rollback journal is used: it leaves a single file when no
 * process writes, and needs no shared memory. */
static const char schema[] =
    "CREATE TABLE base(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE);"
    "CREATE TABLE machine(hash TEXT PRIMARY KEY, base INTEGER NOT NULL REFERENCES base(id), changes TEXT NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE command(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE statistic(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,"
    " meaning TEXT NOT NULL);"
    "CREATE TABLE run(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, program TEXT NOT NULL,"
    " program_hash TEXT NOT NULL, size TEXT NOT NULL, model TEXT NOT NULL, preset TEXT NOT NULL,"
    " configuration TEXT NOT NULL REFERENCES machine(hash), cycle_limit INTEGER NOT NULL, version TEXT NOT NULL,"
    " binary TEXT NOT NULL, status INTEGER NOT NULL, verdict TEXT NOT NULL, message TEXT, ended TEXT NOT NULL,"
    " command INTEGER NOT NULL REFERENCES command(id), stats TEXT);"
    "CREATE INDEX run_program ON run(program);"
    "CREATE INDEX run_failed ON run(status) WHERE status <> 0;"
    "CREATE TABLE setting(run INTEGER NOT NULL REFERENCES run(id), option TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(run, option)) WITHOUT ROWID;"
    "CREATE TABLE launch(id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL,"
    " kernel TEXT NOT NULL, grid TEXT NOT NULL, block TEXT NOT NULL, dynamic_shared INTEGER NOT NULL, incomplete TEXT,"
    " stats TEXT, UNIQUE(run, number));"
    "CREATE VIEW configuration AS SELECT m.hash AS hash, json_patch(b.json, m.changes) AS json"
    " FROM machine m JOIN base b ON b.id = m.base;"
    "CREATE VIEW run_value AS SELECT r.id AS run, v.key + 1 AS statistic, v.value AS value"
    " FROM run r, json_each(r.stats) v WHERE v.type <> 'null';"
    "CREATE VIEW launch_value AS SELECT l.id AS launch, v.key + 1 AS statistic, v.value AS value"
    " FROM launch l JOIN run r ON r.id = l.run, json_each(coalesce(l.stats, r.stats)) v WHERE v.type <> 'null';"
    "CREATE VIEW run_statistic AS SELECT v.run AS run, s.name AS name, v.value AS value, s.unit AS unit"
    " FROM run_value v JOIN statistic s ON s.id = v.statistic;"
    "CREATE VIEW launch_statistic AS SELECT l.run AS run, l.number AS number, l.kernel AS kernel, s.name AS name,"
    " v.value AS value, s.unit AS unit FROM launch l JOIN launch_value v ON v.launch = l.id"
    " JOIN statistic s ON s.id = v.statistic;";

/* Makes the table of claims. It is not part of the format that other programs rely on, so Heddle also adds it to older
 * files. */
static const char claims[] = "CREATE TABLE IF NOT EXISTS claim(key TEXT PRIMARY KEY, place TEXT NOT NULL,"
                             " pid INTEGER NOT NULL, started INTEGER NOT NULL, renewed INTEGER NOT NULL) WITHOUT ROWID";

/* Runs a query whose result is one number, and stores this number in *out. */
static bool ask(struct results_db *db, const char *sql, int *out, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(db, sql, err, err_size);
    if (!s)
        return false;
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int(s, 0);
    else
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return code == SQLITE_ROW;
}

/* Copies only the last line of the message in which SQLite describes damage of the file. */
static void one_line(const char *said, char out[256]) {
    const char *last = said ? said : "no answer";
    for (const char *nl; (nl = strchr(last, '\n')) && nl[1];)
        last = nl + 1;
    snprintf(out, 256, "%.*s", (int)strcspn(last, "\n"), last);
}

/* Checks the integrity of a small file with SQLite. In a large file, this would take longer than the work of most
 * commands, so there only the pages that a command reads are checked. */
static bool check_whole(struct results_db *db, char *err, size_t err_size) {
    enum { PAGES = 256 };
    int pages;
    if (!ask(db, "PRAGMA page_count", &pages, err, err_size))
        return false;
    if (pages > PAGES)
        return true;
    sqlite3_stmt *s = results_prepare(db, "PRAGMA quick_check(1)", err, err_size);
    if (!s)
        return false;
    int code = sqlite3_step(s);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    bool fine = said && strcmp(said, "ok") == 0;
    char damage[256];
    one_line(said, damage);
    const char *code_of_page = strstr(damage, "error code=");
    if (!fine && code_of_page && strcmp(code_of_page, "error code=7") == 0) /* SQLITE_NOMEM: this is no damage */
        results_fail(db, SQLITE_NOMEM, err, err_size);
    else if (!fine && code == SQLITE_ROW)
        snprintf(err, err_size, "%s: is damaged (%s); move it away, or save what is left with sqlite3's .recover",
                 db->path, damage);
    else if (!fine)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return fine;
}

/* Checks that all tables and views of the schema exist. */
static bool check_tables(struct results_db *db, char *err, size_t err_size) {
    static const char *const names[] = {"base",      "machine",      "command",       "configuration",
                                        "statistic", "run",          "setting",       "launch",
                                        "run_value", "launch_value", "run_statistic", "launch_statistic"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char query[128];
        int there;
        snprintf(query, sizeof query, "SELECT count(*) FROM sqlite_master WHERE name = '%s'", names[i]);
        if (!ask(db, query, &there, err, err_size))
            return false;
        if (!there) {
            snprintf(err, err_size, "%s: is damaged ('%s' is missing); move it away", db->path, names[i]);
            return false;
        }
    }
    return true;
}

static bool fill(struct results_db *db, char *err, size_t err_size) {
    char head[96];
    snprintf(head, sizeof head, "PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION, RESULTS_VERSION);
    return results_run(db, head, err, err_size) && results_run(db, schema, err, err_size);
}

/* Checks that the file is Heddle's and of this version. With `write`, an empty file gets the schema. The check and the
 * write are one transaction, because another process may open the file at the same time. */
static bool check_ours(struct results_db *db, bool write, char *err, size_t err_size) {
    int application, version, tables;
    if (!ask(db, "PRAGMA application_id", &application, err, err_size) ||
        !ask(db, "PRAGMA user_version", &version, err, err_size) ||
        !ask(db, "SELECT count(*) FROM sqlite_master", &tables, err, err_size))
        return false;
    bool empty = !application && !version && !tables;
    if (empty && write)
        return fill(db, err, err_size);
    if (empty)
        snprintf(err, err_size, "%s: is empty; heddle sweep and heddle reproduce fill it", db->path);
    else if (application != APPLICATION)
        snprintf(err, err_size, "%s: is a database, but not one of results; name another file", db->path);
    else if (version != RESULTS_VERSION)
        snprintf(
            err, err_size,
            "%s: was written in version %d of the format, and this heddle (%s) knows version %d; use the heddle that "
            "wrote it, or name another file",
            db->path, version, HEDDLE_VERSION, RESULTS_VERSION);
    else
        return check_tables(db, err, err_size);
    return false;
}

static double monotonic_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Waits for a lock that another process has, for 1 to 4 ms at a time. SQLite's own handler waits up to 100 ms at a
 * time, so that with many processes the file is often idle although several of them wait. */
static int wait_for_lock(void *ctx, int count) {
    struct results_db *db = ctx;
    if (!count)
        db->waits_since = monotonic_ms();
    if (monotonic_ms() - db->waits_since > RESULTS_PATIENCE)
        return 0;
    const unsigned mixed = ((unsigned)getpid() * 2654435761u) ^ ((unsigned)count * 40503u);
    const struct timespec moment = {.tv_nsec = 1000000 + (long)(mixed % 3000000)};
    nanosleep(&moment, NULL);
    return 1;
}

static bool prepare_file(struct results_db *db, bool write, char *err, size_t err_size) {
    sqlite3_busy_handler(db->sql, wait_for_lock, db);
    if (!results_run(db, write ? "BEGIN IMMEDIATE" : "BEGIN", err, err_size))
        return false;
    bool fine = check_ours(db, write, err, err_size) && (!write || results_run(db, claims, err, err_size)) &&
                results_run(db, "COMMIT", err, err_size);
    if (!fine)
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    int queue = fine ? results_any(db, "SELECT 1 FROM sqlite_master WHERE name = 'todo'", NULL, err, err_size) : -1;
    db->queue = queue == 1;
    return queue >= 0 && check_whole(db, err, err_size);
}

struct results_db *results_open(const char *path, bool write, char *err, size_t err_size) {
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (!*path) {
        snprintf(err, err_size, "a database's name is empty");
        return NULL;
    }
    if (!there && (!write || errno != ENOENT)) {
        snprintf(err, err_size, "%s: %s%s", path, strerror(errno),
                 errno == ENOENT ? "; heddle sweep, reproduce and exec --results make one" : "");
        return NULL;
    }
    if (there && !S_ISREG(st.st_mode)) {
        snprintf(err, err_size, "%s: is not a regular file; name a file for the results", path);
        return NULL;
    }
    if (there && st.st_size == 1) { /* SQLite would treat a file of one byte as empty and overwrite it */
        snprintf(err, err_size, "%s: is not a results database; name another file", path);
        return NULL;
    }
    struct results_db *db = calloc(1, sizeof *db);
    if (db && !(db->path = strdup(path))) {
        free(db);
        db = NULL;
    }
    if (!db) {
        snprintf(err, err_size, "the host is out of memory");
        return NULL;
    }
    results_owner(&db->owner);
    char *name = sqlite3_mprintf("%s%s", results_here(path), path);
    int flags = SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0);
    int code = name ? sqlite3_open_v2(name, &db->sql, flags, NULL) : SQLITE_NOMEM;
    sqlite3_free(name);
    if (code != SQLITE_OK)
        results_fail(db, code, err, err_size);
    if (code == SQLITE_OK && prepare_file(db, write, err, err_size))
        return db;
    results_close(db);
    return NULL;
}

void results_close(struct results_db *db) {
    if (!db)
        return;
    sqlite3_finalize(db->has);
    results_kept_free(db);
    names_free(db);
    free(db->theirs);
    free(db->seen);
    sqlite3_close(db->sql);
    free(db->path);
    free(db);
}

/* Runs a constant statement that changes one row. `format` has one letter per value: t for text, i for an integer.
 * Returns false on failure, with the reason in `err`. */
static bool change(struct results_db *db, const char *sql, char *err, size_t err_size, const char *format, ...) {
    sqlite3_stmt *s = results_keep(db, sql, err, err_size);
    if (!s)
        return false;
    va_list list;
    va_start(list, format);
    for (int i = 0; format[i]; i++) {
        if (format[i] == 't')
            sqlite3_bind_text(s, i + 1, va_arg(list, const char *), -1, SQLITE_STATIC); /* NULL binds NULL */
        else
            sqlite3_bind_int64(s, i + 1, va_arg(list, sqlite3_int64));
    }
    va_end(list);
    int code = sqlite3_step(s);
    if (code != SQLITE_DONE)
        results_fail(db, code, err, err_size);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return code == SQLITE_DONE;
}

static const cJSON *member(const cJSON *o, const char *name) { return cJSON_GetObjectItemCaseSensitive(o, name); }

/* Adds the launches of a run. If a launch has the same values as the run, because it is the only launch, its values are
 * not stored again. The only launch may also have no values of its own. */
static bool add_launches(struct results_db *db, sqlite3_int64 run, const cJSON *kernels, const char *run_stats,
                         char *err, size_t err_size) {
    sqlite3_int64 number = 0;
    bool fine = true;
    for (const cJSON *k = kernels ? kernels->child : NULL; k && fine; k = k->next, number++) {
        char *grid = cJSON_PrintUnformatted(member(k, "grid")), *block = cJSON_PrintUnformatted(member(k, "block"));
        const cJSON *shared = member(k, "dynamic_shared");
        char *stats;
        fine = values_text(db, k, &stats, err, err_size);
        const bool same = run_stats && (stats ? strcmp(stats, run_stats) == 0 : kernels->child->next == NULL);
        const char *own = same ? NULL : stats ? stats : "[]";
        fine = fine && change(db,
                              "INSERT INTO launch(run, number, kernel, grid, block, dynamic_shared, incomplete, stats)"
                              " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                              err, err_size, "iitttitt", run, number, cJSON_GetStringValue(member(k, "name")), grid,
                              block, (sqlite3_int64)(shared ? shared->valuedouble : 0),
                              cJSON_GetStringValue(member(k, "incomplete")), own);
        free(stats);
        cJSON_free(grid);
        cJSON_free(block);
    }
    return fine;
}

/* Adds a row to the table `setting` for each line "OPTION=VALUE" of `lines`. */
static bool add_settings(struct results_db *db, sqlite3_int64 run, const char *lines, char *err, size_t err_size) {
    bool fine = true;
    for (const char *at = lines; fine && at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t key = strcspn(at, "="), end = strcspn(at, "\n");
        char *option = strndup(at, key), *value = key < end ? strndup(at + key + 1, end - key - 1) : NULL;
        fine = option && value &&
               change(db, "INSERT INTO setting VALUES(?, ?, ?)", err, err_size, "itt", run, option, value);
        if (!option || !value)
            snprintf(err, err_size, "the host is out of memory");
        free(option);
        free(value);
    }
    return fine;
}

/* Adds the machine of a run, if it is new. */
static bool add_machine(struct results_db *db, const struct run_machine *m, char *err, size_t err_size) {
    cJSON *o = cJSON_CreateObject();
    bool fine = o != NULL;
    for (int i = 0; fine && i < m->n_settings; i++)
        fine = cJSON_AddStringToObject(o, m->settings[i].option, m->settings[i].value) != NULL;
    char *changes = fine ? cJSON_PrintUnformatted(o) : NULL;
    cJSON_Delete(o);
    if (!changes) {
        snprintf(err, err_size, "the host is out of memory");
        return false;
    }
    int there = results_any(db, "SELECT 1 FROM machine WHERE hash = ?", m->config_hash, err, err_size);
    fine = there == 1 ||
           (there == 0 && change(db, "INSERT OR IGNORE INTO base(json) VALUES(?)", err, err_size, "t", m->base) &&
            change(db, "INSERT INTO machine SELECT ?, id, ? FROM base WHERE json = ?", err, err_size, "ttt",
                   m->config_hash, changes, m->base));
    cJSON_free(changes);
    return fine;
}

/* Adds a run, inside a transaction. */
static bool add_run(struct results_db *db, const struct run_what *w, const struct run_end *e, const char *key,
                    const char *command, char *err, size_t err_size) {
    const struct run_machine *m = w->machine;
    char ended[32], *stats = NULL;
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(ended, sizeof ended, "%Y-%m-%dT%H:%M:%SZ", &utc);
    bool fine = add_machine(db, m, err, err_size) && names_write(db, err, err_size) &&
                values_text(db, e->result, &stats, err, err_size) &&
                change(db, "INSERT OR IGNORE INTO command(text) VALUES(?)", err, err_size, "t", command) &&
                change(db,
                       "INSERT INTO run(key, program, program_hash, size, model, preset, configuration, cycle_limit,"
                       " version, binary, status, verdict, message, ended, command, stats)"
                       " SELECT ?,?,?,?,?,?,?,?,?,?,?,?,?,?, id, ?16 FROM command WHERE text = ?15",
                       err, err_size, "tttttttittittttt", key, w->program, w->program_hash, w->size, m->model,
                       m->preset, m->config_hash, (sqlite3_int64)w->cycle_limit, HEDDLE_VERSION, w->binary,
                       (sqlite3_int64)e->status, e->verdict, e->message, ended, command, stats);
    sqlite3_int64 run = sqlite3_last_insert_rowid(db->sql);
    for (int i = 0; fine && i < m->n_settings; i++)
        fine = change(db, "INSERT INTO setting VALUES(?, ?, ?)", err, err_size, "itt", run, m->settings[i].option,
                      m->settings[i].value);
    fine = fine && add_settings(db, run, w->values, err, err_size) &&
           add_launches(db, run, member(e->result, "kernels"), stats, err, err_size);
    free(stats);
    return fine;
}

bool results_add(struct results_db *db, const struct run_what *w, const struct run_end *e, const char *command,
                 char *err, size_t err_size) {
    char key[RESULTS_HASH];
    run_key(w, key);
    if (!results_begin(db, err, err_size))
        return false;
    int there = results_has(db, key, err, err_size);
    bool fine = (there == 1 || (there == 0 && add_run(db, w, e, key, command, err, err_size))) &&
                profile_add(db, key, e->result, err, err_size) && sampled_add(db, key, e->result, err, err_size) &&
                change(db, "DELETE FROM claim WHERE key = ?", err, err_size, "t", key) &&
                (!db->queue || change(db, "DELETE FROM todo WHERE key = ?", err, err_size, "t", key));
    return results_end(db, fine, err, err_size);
}
