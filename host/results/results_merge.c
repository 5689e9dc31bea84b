/* Merges the runs of one database into another. */
#include "results_db.h"
#include "results_parts.h"
#include <string.h>
#include <sys/stat.h>

/* The statements that copy the runs, in order. Copied rows keep their order and get new ids. The table `fresh` has the
 * old and the new id of each new run. */
static const char *const steps[] = {
    "INSERT OR IGNORE INTO main.base(json) SELECT json FROM other.base ORDER BY id",
    "INSERT OR IGNORE INTO main.machine SELECT m.hash, b.id, m.changes FROM other.machine m"
    " JOIN other.base o ON o.id = m.base JOIN main.base b ON b.json = o.json",
    "INSERT OR IGNORE INTO main.command(text) SELECT text FROM other.command ORDER BY id",
    "CREATE TEMP TABLE fresh(theirs INTEGER PRIMARY KEY, ours INTEGER)",
    "INSERT INTO fresh SELECT o.id, (SELECT coalesce(max(id), 0) FROM main.run) + row_number() OVER (ORDER BY o.id)"
    " FROM other.run o WHERE NOT EXISTS (SELECT 1 FROM main.run m WHERE m.key = o.key)",
    "INSERT INTO main.run SELECT f.ours, o.key, o.program, o.program_hash, o.size, o.model, o.preset, o.configuration,"
    " o.cycle_limit, o.version, o.binary, o.status, o.verdict, o.message, o.ended, c.id, @TRANSLATED@(o.stats)"
    " FROM fresh f JOIN other.run o ON o.id = f.theirs JOIN other.command t ON t.id = o.command"
    " JOIN main.command c ON c.text = t.text ORDER BY f.ours",
    "INSERT INTO main.setting SELECT f.ours, s.option, s.value FROM fresh f JOIN other.setting s ON s.run = f.theirs",
    "INSERT INTO main.launch(run, number, kernel, grid, block, dynamic_shared, incomplete, stats) SELECT f.ours,"
    " l.number, l.kernel, l.grid, l.block, l.dynamic_shared, l.incomplete, @TRANSLATED@(l.stats) FROM fresh f"
    " JOIN other.launch l ON l.run = f.theirs ORDER BY l.id",
    NULL,
};

/* Takes the merged runs from the list of a queue, and ends their claims. */
static const char settled[] = "DELETE FROM main.todo WHERE key IN (SELECT key FROM other.run);"
                              "DELETE FROM main.claim WHERE key IN (SELECT key FROM other.run)";
/* Adds the names of statistics that this file lacks. */
static const char add_names[] = "INSERT OR IGNORE INTO main.statistic(name, unit, meaning)"
                                " SELECT name, unit, meaning FROM other.statistic ORDER BY id";
/* Returns a row if a statistic has different ids in the two files. */
static const char names_differ[] = "SELECT 1 FROM other.statistic o LEFT JOIN main.statistic m"
                                   " ON m.id = o.id AND m.name = o.name WHERE m.id IS NULL";

/* Copies the profiles of new runs, and of runs that both files have but that lack a profile in this database. */
static const char profiles[] = "INSERT INTO main.profile SELECT m.id, p.number, p.kernel, p.json FROM other.profile p"
                               " JOIN other.run o ON o.id = p.run JOIN main.run m ON m.key = o.key"
                               " WHERE m.id NOT IN (SELECT run FROM main.profile)";

/* Copies how the new runs were sampled. */
static const char samples[] = "INSERT OR IGNORE INTO main.sampled SELECT m.id, p.json FROM other.sampled p"
                              " JOIN other.run o ON o.id = p.run JOIN main.run m ON m.key = o.key";

/* A file that is merged. The statements above call it "other"; SQLite knows it as `name`. */
struct source {
    struct results_db *db;
    char name[16];
    bool translates; /* true: a statistic may have another id in the file */
};

/* Returns a statement for the file; the caller frees it with sqlite3_free(). NULL: out of memory. */
static char *for_source(const struct source *f, const char *sql) {
    static const char other[] = "other.", mark[] = "@TRANSLATED@";
    sqlite3_str *to = sqlite3_str_new(f->db->sql);
    while (*sql)
        if (strncmp(sql, other, sizeof other - 1) == 0) {
            sqlite3_str_appendf(to, "%s.", f->name);
            sql += sizeof other - 1;
        } else if (strncmp(sql, mark, sizeof mark - 1) == 0) {
            sqlite3_str_appendall(to, f->translates ? "translated" : "");
            sql += sizeof mark - 1;
        } else {
            sqlite3_str_appendchar(to, 1, *sql++);
        }
    return sqlite3_str_finish(to);
}

static bool run_for(const struct source *f, const char *statement, char *err, size_t err_size) {
    char *sql = for_source(f, statement);
    if (!sql)
        snprintf(err, err_size, "the host is out of memory");
    bool fine = sql && results_run(f->db, sql, err, err_size);
    sqlite3_free(sql);
    return fine;
}

/* Stores the number that a query yields in *out; 0 if it yields no row. */
static bool count(const struct source *f, const char *query, int *out, char *err, size_t err_size) {
    char *sql = for_source(f, query);
    sqlite3_stmt *s = sql ? results_prepare(f->db, sql, err, err_size) : NULL;
    int code = s ? sqlite3_step(s) : SQLITE_ERROR;
    *out = code == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
    if (!sql)
        snprintf(err, err_size, "the host is out of memory");
    else if (s && code != SQLITE_ROW && code != SQLITE_DONE)
        results_fail(f->db, code, err, err_size);
    sqlite3_finalize(s);
    sqlite3_free(sql);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* Merges the attached file, inside a transaction. */
static bool take(struct source *f, struct results_merge *out, char *err, size_t err_size) {
    int differ = 0, added = 0, there = 0, profiled = 0, sampled = 0;
    bool fine = run_for(f, add_names, err, err_size) && count(f, names_differ, &differ, err, err_size);
    f->translates = differ;
    fine = fine && (!differ || names_translate(f->db, f->name, err, err_size));
    for (int i = 0; fine && steps[i]; i++)
        fine = run_for(f, steps[i], err, err_size);
    fine = fine && count(f, "SELECT count(*) FROM fresh", &added, err, err_size) &&
           count(f, "SELECT count(*) FROM other.run", &there, err, err_size) &&
           count(f, "SELECT 1 FROM other.sqlite_master WHERE name = 'profile'", &profiled, err, err_size) &&
           count(f, "SELECT 1 FROM other.sqlite_master WHERE name = 'sampled'", &sampled, err, err_size);
    if (fine && profiled)
        fine = profile_table(f->db, err, err_size) && run_for(f, profiles, err, err_size);
    if (fine && sampled)
        fine = sampled_table(f->db, err, err_size) && run_for(f, samples, err, err_size);
    if (fine && f->db->queue)
        fine = run_for(f, settled, err, err_size);
    fine = fine && run_for(f, "DROP TABLE fresh", err, err_size);
    out->added += added;
    out->there += there - added;
    return fine;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Attaches the file, unless it is the database itself: then its runs are counted, and *attached is false. */
static bool attach(struct source *f, const char *path, bool *attached, struct results_merge *out, char *err,
                   size_t err_size) {
    /* opened only to check that the file is Heddle's and of this version */
    struct results_db *other = results_open(path, false, err, err_size);
    int runs = 0;
    *attached = false;
    if (!other)
        return false;
    results_close(other);
    if (same_file(path, f->db->path)) {
        bool fine = count(f, "SELECT count(*) FROM main.run", &runs, err, err_size);
        out->there += runs;
        return fine;
    }
    char *sql = sqlite3_mprintf("ATTACH '%s%q' AS %s", results_here(path), path, f->name);
    if (!sql)
        snprintf(err, err_size, "the host is out of memory");
    *attached = sql && results_run(f->db, sql, err, err_size);
    sqlite3_free(sql);
    return *attached;
}

static void detach(const struct source *f) {
    char sql[32];
    snprintf(sql, sizeof sql, "DETACH %s", f->name);
    sqlite3_exec(f->db->sql, sql, NULL, NULL, NULL);
}

bool results_merge(struct results_db *db, const char *const *paths, int n, struct results_merge *out, char *err,
                   size_t err_size) {
    enum { GROUP = 8 }; /* SQLite attaches up to ten files */
    *out = (struct results_merge){0};
    bool fine = true;
    for (int i = 0; fine && i < n; i += GROUP) {
        struct source group[GROUP];
        struct results_merge now = {0};
        bool attached[GROUP] = {false};
        for (int k = 0; fine && k < GROUP && i + k < n; k++) {
            group[k] = (struct source){.db = db};
            snprintf(group[k].name, sizeof group[k].name, "other%d", k % GROUP);
            fine = attach(&group[k], paths[i + k], &attached[k], &now, err, err_size);
        }
        if (fine && (fine = results_begin(db, err, err_size))) {
            for (int k = 0; fine && k < GROUP; k++)
                fine = !attached[k] || take(&group[k], &now, err, err_size);
            fine = results_end(db, fine, err, err_size);
        }
        for (int k = 0; k < GROUP; k++)
            if (attached[k])
                detach(&group[k]);
        if (fine) {
            out->added += now.added;
            out->there += now.there;
        }
    }
    return fine;
}
