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

/* Runs a step; the values of statistics stay as they are, or translated() is called for them. */
static bool run_step(struct results_db *db, const char *step, bool translates, char *err, size_t err_size) {
    static const char mark[] = "@TRANSLATED@";
    const char *at = strstr(step, mark);
    if (!at)
        return results_run(db, step, err, err_size);
    char *sql =
        sqlite3_mprintf("%.*s%s%s", (int)(at - step), step, translates ? "translated" : "", at + sizeof mark - 1);
    if (!sql)
        snprintf(err, err_size, "the host is out of memory");
    bool fine = sql && results_run(db, sql, err, err_size);
    sqlite3_free(sql);
    return fine;
}

/* Copies the profiles of new runs, and of runs that both files have but that lack a profile in this database. */
static const char profiles[] = "INSERT INTO main.profile SELECT m.id, p.number, p.kernel, p.json FROM other.profile p"
                               " JOIN other.run o ON o.id = p.run JOIN main.run m ON m.key = o.key"
                               " WHERE m.id NOT IN (SELECT run FROM main.profile)";

static bool has_profiles(struct results_db *db) {
    sqlite3_stmt *s = NULL;
    bool has = sqlite3_prepare_v2(db->sql, "SELECT 1 FROM other.sqlite_master WHERE name = 'profile'", -1, &s, NULL) ==
                   SQLITE_OK &&
               sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return has;
}

static bool count(struct results_db *db, const char *sql, int *out, char *err, size_t err_size) {
    sqlite3_stmt *s = results_prepare(db, sql, err, err_size);
    int code = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int(s, 0);
    else if (s)
        results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return code == SQLITE_ROW;
}

/* Merges the attached file. */
static bool take(struct results_db *db, struct results_merge *out, char *err, size_t err_size) {
    bool fine = results_run(db, "BEGIN IMMEDIATE", err, err_size) && results_run(db, add_names, err, err_size);
    int differ = fine ? results_any(db, names_differ, NULL, err, err_size) : -1;
    fine = differ >= 0 && (!differ || names_translate(db, err, err_size));
    for (int i = 0; fine && steps[i]; i++)
        fine = run_step(db, steps[i], differ, err, err_size);
    fine = fine && count(db, "SELECT count(*) FROM fresh", &out->added, err, err_size) &&
           count(db, "SELECT count(*) FROM other.run", &out->there, err, err_size);
    if (fine && has_profiles(db))
        fine = profile_table(db, err, err_size) && results_run(db, profiles, err, err_size);
    if (fine && db->queue)
        fine = results_run(db, settled, err, err_size);
    fine = fine && results_run(db, "DROP TABLE fresh", err, err_size) && results_run(db, "COMMIT", err, err_size);
    if (!fine)
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    out->there -= out->added;
    return fine;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool results_merge(struct results_db *db, const char *path, struct results_merge *out, char *err, size_t err_size) {
    *out = (struct results_merge){0};
    /* opened only to check that the file is Heddle's, of this version, and intact */
    struct results_db *other = results_open(path, false, err, err_size);
    if (!other)
        return false;
    if (same_file(path, db->path)) {
        bool fine = count(db, "SELECT count(*) FROM run", &out->there, err, err_size);
        results_close(other);
        return fine;
    }
    results_close(other);
    char *attach = sqlite3_mprintf("ATTACH '%s%q' AS other", results_here(path), path);
    if (!attach)
        snprintf(err, err_size, "the host is out of memory");
    bool fine = attach && results_run(db, attach, err, err_size);
    sqlite3_free(attach);
    if (!fine)
        return false;
    fine = take(db, out, err, err_size);
    sqlite3_exec(db->sql, "DETACH other", NULL, NULL, NULL);
    return fine;
}
