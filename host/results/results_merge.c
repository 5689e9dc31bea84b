/* Merges the runs of one database into another. */
#include "results_db.h"
#include "results_parts.h"
#include <string.h>
#include <sys/stat.h>

/* The statements that copy the runs, in order. Copied rows keep their order and get new ids. The table `fresh` has the
 * old and the new id of each new run. */
static const char *const steps[] = {
    "INSERT OR IGNORE INTO main.configuration SELECT * FROM other.configuration",
    "INSERT OR IGNORE INTO main.statistic(name, unit, meaning) SELECT name, unit, meaning FROM other.statistic"
    " ORDER BY id",
    "CREATE TEMP TABLE fresh(theirs INTEGER PRIMARY KEY, ours INTEGER)",
    "INSERT INTO fresh(theirs) SELECT id FROM other.run WHERE key NOT IN (SELECT key FROM main.run)",
    "INSERT INTO main.run(key, program, program_hash, size, model, preset, configuration, cycle_limit, version, binary,"
    " status, verdict, message, ended, command) SELECT key, program, program_hash, size, model, preset, configuration,"
    " cycle_limit, version, binary, status, verdict, message, ended, command FROM other.run"
    " WHERE id IN (SELECT theirs FROM fresh) ORDER BY id",
    "UPDATE fresh SET ours = (SELECT m.id FROM main.run m JOIN other.run o ON o.key = m.key WHERE o.id = theirs)",
    "INSERT INTO main.setting SELECT f.ours, s.option, s.value FROM other.setting s JOIN fresh f ON f.theirs = s.run",
    "INSERT INTO main.run_value SELECT f.ours, m.id, v.value FROM other.run_value v JOIN fresh f ON f.theirs = v.run"
    " JOIN other.statistic o ON o.id = v.statistic JOIN main.statistic m ON m.name = o.name",
    "INSERT INTO main.launch(run, number, kernel, grid, block, dynamic_shared, incomplete) SELECT f.ours, l.number,"
    " l.kernel, l.grid, l.block, l.dynamic_shared, l.incomplete FROM other.launch l JOIN fresh f ON f.theirs = l.run"
    " ORDER BY l.id",
    "INSERT INTO main.launch_value SELECT n.id, m.id, v.value FROM other.launch_value v"
    " JOIN other.launch l ON l.id = v.launch JOIN fresh f ON f.theirs = l.run"
    " JOIN main.launch n ON n.run = f.ours AND n.number = l.number"
    " JOIN other.statistic o ON o.id = v.statistic JOIN main.statistic m ON m.name = o.name",
    NULL,
};

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
    bool fine = results_run(db, "BEGIN IMMEDIATE", err, err_size);
    for (int i = 0; fine && steps[i]; i++)
        fine = results_run(db, steps[i], err, err_size);
    fine = fine && count(db, "SELECT count(*) FROM fresh", &out->added, err, err_size) &&
           count(db, "SELECT count(*) FROM other.run", &out->there, err, err_size);
    if (fine && has_profiles(db))
        fine = profile_table(db, err, err_size) && results_run(db, profiles, err, err_size);
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
