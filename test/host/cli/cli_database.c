/* Queries of results databases for tests. */
#include "cli_help.h"
#include <sqlite3.h>

long long database_number(const char *file, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *s = NULL;
    long long n = -1;
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(db, 2000) == SQLITE_OK && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

static const char *const database_tables[] = {
    "SELECT key, program, model, preset, configuration, status, verdict FROM a.run EXCEPT SELECT key, program, model,"
    " preset, configuration, status, verdict FROM b.run",
    "SELECT key, option, s.value FROM a.setting s JOIN a.run ON id = run EXCEPT SELECT key, option, s.value FROM"
    " b.setting s JOIN b.run ON id = run",
    "SELECT key, name, v.value FROM a.run_value v JOIN a.run r ON r.id = run JOIN a.statistic s ON s.id = statistic"
    " WHERE name NOT LIKE 'host.%' EXCEPT SELECT key, name, v.value FROM b.run_value v JOIN b.run r ON r.id = run"
    " JOIN b.statistic s ON s.id = statistic",
    "SELECT key, number, kernel, grid, name, v.value FROM a.launch_value v JOIN a.launch l ON l.id = launch JOIN a.run"
    " r ON r.id = run JOIN a.statistic s ON s.id = statistic WHERE name NOT LIKE 'host.%' EXCEPT SELECT key, number,"
    " kernel, grid, name, v.value FROM b.launch_value v JOIN b.launch l ON l.id = launch JOIN b.run r ON r.id = run"
    " JOIN b.statistic s ON s.id = statistic",
};

void database_contained(const char *a, const char *b) {
    for (size_t i = 0; i < sizeof database_tables / sizeof *database_tables; i++) {
        sqlite3 *db;
        sqlite3_stmt *s = NULL;
        char *attach = sqlite3_mprintf("ATTACH %Q AS a; ATTACH %Q AS b", a, b);
        ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db, attach, NULL, NULL, NULL), SQLITE_OK);
        ck_assert_msg(sqlite3_prepare_v2(db, database_tables[i], -1, &s, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
        ck_assert_msg(sqlite3_step(s) == SQLITE_DONE, "in %s and not in %s: %s", a, b, database_tables[i]);
        sqlite3_finalize(s);
        sqlite3_free(attach);
        sqlite3_close(db);
    }
}
