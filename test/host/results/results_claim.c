/* Tests results_claim.c and results_db.c of host/results: claims of processes on runs, and databases after a writer was
 * killed at any of its writes. */
#include "host/results/results_parts.h"
#include "test/test.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[64], err[1024];
static struct run_machine machine;

static void begin(void) {
    strcpy(path, "/tmp/heddle_claim_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(path);
    ck_assert(run_machine_find(&machine, &(struct heddle_options){.model = "spe"}, err, sizeof err));
}

static void end(void) {
    run_machine_free(&machine);
    unlink(path);
}

static struct results_db *open_file(void) {
    struct results_db *db = results_open(path, true, err, sizeof err);
    ck_assert_msg(db != NULL, "%s", err);
    return db;
}

static enum results_claim claim(struct results_db *db, const char *key) {
    return results_claim(db, key, err, sizeof err);
}

static void sql(const char *text) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Starts a process that claims `key` and exits with the result of the claim as its status. With `wait`, the process
 * waits for a signal after the claim. */
static pid_t claimant(const char *key, bool wait) {
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct results_db *db = results_open(path, true, err, sizeof err);
        enum results_claim how = db ? claim(db, key) : CLAIM_FAILED;
        if (write(ends[1], "!", 1) == 1 && wait)
            pause();
        _exit((int)how);
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static int outcome(pid_t pid) {
    int how;
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFEXITED(how));
    return WEXITSTATUS(how);
}

START_TEST(one_process_at_a_time_claims_a_run) {
    begin();
    struct results_db *db = open_file();
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS);
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS); /* our own claim again */
    ck_assert_int_eq(outcome(claimant("k", false)), CLAIM_THEIRS);
    ck_assert_int_eq(outcome(claimant("other", false)), CLAIM_OURS);
    ck_assert(results_unclaim(db, "k", err, sizeof err));
    pid_t pid = claimant("k", true);
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    ck_assert(results_unclaim(db, NULL, err, sizeof err)); /* removes only our claims */
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    kill(pid, SIGKILL);
    siginfo_t info; /* the killed process is a zombie, so its pid still exists */
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    results_close(db);
    end();
}
END_TEST

START_TEST(a_reused_process_number_is_another_process) {
    begin();
    struct results_db *db = open_file();
    pid_t pid = claimant("k", true);
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    /* changes the claim so that it seems to be from an earlier process with the same pid */
    sql("UPDATE claim SET started = started - 1");
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    results_close(db);
    end();
}
END_TEST

/* The owner of the claim is on another machine. Each case has the time of the owner's last renewal, in seconds from
 * now, and the result of our claim. The clocks of the machines may differ, so the claim holds although it seems old or
 * of the future. If they differ by more than a day, it is void. */
START_TEST(a_claim_on_another_machine_is_a_lease) {
    static const struct {
        int renewed;
        enum results_claim how;
    } cases[] = {
        {0, CLAIM_THEIRS}, {-86000, CLAIM_THEIRS}, {-86500, CLAIM_OURS}, {86000, CLAIM_THEIRS}, {86500, CLAIM_OURS}};
    begin();
    struct results_db *db = open_file();
    for (int i = 0; i < 5; i++) {
        char text[256];
        snprintf(text, sizeof text, "INSERT OR REPLACE INTO claim VALUES('k', 'another machine', %ld, 1, %lld)",
                 (long)getpid(), (long long)time(NULL) + cases[i].renewed);
        sql(text);
        ck_assert_msg(claim(db, "k") == cases[i].how, "%d seconds", cases[i].renewed);
    }
    results_close(db);
    end();
}
END_TEST

/* A process of another machine does not renew its claim. After three minutes by our own clock, its claim ends. */
START_TEST(a_claim_without_renewal_ends) {
    begin();
    struct results_db *db = open_file();
    sql("INSERT OR REPLACE INTO claim VALUES('k', 'another machine', 1, 1, strftime('%s', 'now') - 5000)");
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    ck_assert_int_eq(db->n_seen, 1);
    results_waited(db, 170);
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    sql("UPDATE claim SET renewed = renewed + 30");
    results_waited(db, 20);
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    results_waited(db, 170);
    ck_assert_int_eq(claim(db, "k"), CLAIM_THEIRS);
    results_waited(db, 20);
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS);
    results_close(db);
    end();
}
END_TEST

static long long number(struct results_db *db, const char *query) {
    sqlite3_stmt *s = results_prepare(db, query, err, sizeof err);
    ck_assert_msg(s && sqlite3_step(s) == SQLITE_ROW, "%s", query);
    long long n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

START_TEST(claims_are_renewed) {
    begin();
    struct results_db *db = open_file();
    results_renew(db); /* without any claim */
    claim(db, "k");
    sql("UPDATE claim SET renewed = 5; INSERT INTO claim VALUES('other', 'another machine', 1, 1, 5)");
    results_renew(db); /* does nothing, because less than half a minute has passed since the last renewal */
    ck_assert_int_eq(number(db, "SELECT renewed FROM claim WHERE key = 'k'"), 5);
    db->renewed -= 31;
    results_renew(db);
    ck_assert_int_ge(number(db, "SELECT renewed FROM claim WHERE key = 'k'"), (long long)time(NULL) - 5);
    ck_assert_int_eq(number(db, "SELECT renewed FROM claim WHERE key = 'other'"), 5);
    results_close(db);
    end();
}
END_TEST

START_TEST(old_files_get_the_table_of_claims) {
    begin();
    results_close(open_file());
    sql("DROP TABLE claim");
    struct results_db *db = open_file();
    ck_assert_int_eq(claim(db, "k"), CLAIM_OURS);
    results_close(db);
    end();
}
END_TEST

/* ---- a writer that is killed at its n-th write ---- */

/* A VFS (file layer) for SQLite that counts writes, truncations, syncs and deletions, and kills its process at a given
 * one of them. It is used only in a child process, so it may have global state. */
struct counted {
    sqlite3_file file;
    sqlite3_file *real;
};
static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    sqlite3_io_methods methods;
    int at;    /* kills the process at the at-th operation from now */
    bool torn; /* true: only half of the last write is performed before the kill */
} deadly;

static sqlite3_file *real(sqlite3_file *f) { return ((struct counted *)f)->real; }
static bool is_last(void) { return --deadly.at == 0; }
static void die(void) { kill(getpid(), SIGKILL); }

static int counted_close(sqlite3_file *f) { return real(f)->pMethods->xClose(real(f)); }
static int counted_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
    return real(f)->pMethods->xRead(real(f), to, n, at);
}
static int counted_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
    if (is_last()) {
        if (deadly.torn)
            real(f)->pMethods->xWrite(real(f), from, n / 2, at);
        die();
    }
    return real(f)->pMethods->xWrite(real(f), from, n, at);
}
static int counted_truncate(sqlite3_file *f, sqlite3_int64 n) {
    if (is_last())
        die();
    return real(f)->pMethods->xTruncate(real(f), n);
}
static int counted_sync(sqlite3_file *f, int flags) {
    if (is_last())
        die();
    return real(f)->pMethods->xSync(real(f), flags);
}
static int counted_size(sqlite3_file *f, sqlite3_int64 *n) { return real(f)->pMethods->xFileSize(real(f), n); }
static int counted_lock(sqlite3_file *f, int how) { return real(f)->pMethods->xLock(real(f), how); }
static int counted_unlock(sqlite3_file *f, int how) { return real(f)->pMethods->xUnlock(real(f), how); }
static int counted_reserved(sqlite3_file *f, int *out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); }
static int counted_control(sqlite3_file *f, int op, void *arg) {
    return real(f)->pMethods->xFileControl(real(f), op, arg);
}
static int counted_sector(sqlite3_file *f) { return real(f)->pMethods->xSectorSize(real(f)); }
static int counted_device(sqlite3_file *f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }

static int counted_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
    struct counted *c = (struct counted *)f;
    (void)vfs;
    c->real = (sqlite3_file *)(c + 1);
    int code = deadly.real->xOpen(deadly.real, name, c->real, flags, out);
    f->pMethods = code == SQLITE_OK ? &deadly.methods : NULL;
    return code;
}
static int counted_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    if (is_last())
        die();
    return deadly.real->xDelete(deadly.real, name, sync);
}

static void become_deadly(int at, bool torn) {
    deadly.real = sqlite3_vfs_find(NULL);
    deadly.vfs = *deadly.real;
    deadly.vfs.zName = "deadly";
    deadly.vfs.pNext = NULL;
    deadly.vfs.szOsFile += (int)sizeof(struct counted);
    deadly.vfs.xOpen = counted_open;
    deadly.vfs.xDelete = counted_delete;
    deadly.methods = (sqlite3_io_methods){.iVersion = 1,
                                          .xClose = counted_close,
                                          .xRead = counted_read,
                                          .xWrite = counted_write,
                                          .xTruncate = counted_truncate,
                                          .xSync = counted_sync,
                                          .xFileSize = counted_size,
                                          .xLock = counted_lock,
                                          .xUnlock = counted_unlock,
                                          .xCheckReservedLock = counted_reserved,
                                          .xFileControl = counted_control,
                                          .xSectorSize = counted_sector,
                                          .xDeviceCharacteristics = counted_device};
    deadly.at = at;
    deadly.torn = torn;
    sqlite3_vfs_register(&deadly.vfs, 1);
}

#define FIGURES                                                                                                        \
    "{\"stats\":{\"gpu.cycles\":30,\"gpu.ipc\":2.5},\"kernels\":["                                                     \
    "{\"name\":\"k\",\"grid\":[1,2,3],\"block\":[32,1,1],\"dynamic_shared\":4,\"stats\":{\"gpu.cycles\":10}},"         \
    "{\"name\":\"l\",\"grid\":[1,1,1],\"block\":[8,1,1],\"dynamic_shared\":0,\"stats\":{\"gpu.cycles\":20}}]}"

static struct run_what what(void) {
    return (struct run_what){.program = "p", .size = "small", .program_hash = "h", .binary = "b", .machine = &machine};
}

/* Claims a run and stores it, then claims another run and keeps this claim. Returns false on failure. */
static bool write_run(struct results_db *db) {
    char key[RESULTS_HASH];
    struct run_what w = what();
    cJSON *figures = cJSON_Parse(FIGURES);
    enum results_claim how = claim(db, run_key(&w, key));
    bool fine = how == CLAIM_DONE ||
                (how == CLAIM_OURS &&
                 results_add(db, &w, &(struct run_end){HEDDLE_OK, "pass", NULL, figures}, "x", err, sizeof err));
    cJSON_Delete(figures);
    return fine && claim(db, "another") == CLAIM_OURS;
}

static void whole_run(struct results_db *db) {
    struct result_set set;
    ck_assert(results_load(db, false, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 1);
    ck_assert_str_eq(set.rows[0].program, "p");
    ck_assert_double_eq(set.rows[0].values[result_stat(&set, "gpu.cycles")], 30);
    ck_assert_double_eq(set.rows[0].values[result_stat(&set, "gpu.ipc")], 2.5);
    ck_assert(isnan(set.rows[0].values[result_stat(&set, "l1.misses")]));
    result_set_free(&set);
    ck_assert(results_load(db, true, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 2);
    ck_assert_double_eq(set.rows[1].values[result_stat(&set, "gpu.cycles")], 20);
    result_set_free(&set);
    ck_assert_int_eq(number(db, "SELECT count(*) FROM claim WHERE key <> 'another'"), 0);
}

struct seen {
    int absent, present, journals;
};

/* Kills a writer at its n-th write, then checks the database. Returns false if the writer ended before this write. */
static bool killed_at(int n, bool torn, struct seen *seen) {
    char journal[80];
    int how;
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(path);
    unlink(journal);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        become_deadly(n, torn);
        struct results_db *db = results_open(path, true, err, sizeof err);
        _exit(db && write_run(db) ? 0 : 9);
    }
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert_msg(WIFSIGNALED(how) || WEXITSTATUS(how) == 0, "write %d", n);
    seen->journals += access(journal, F_OK) == 0;
    /* SQLite rolls the transaction back from the journal; if the file is empty, heddle creates its tables */
    struct results_db *db = open_file();
    long long runs = number(db, "SELECT count(*) FROM run");
    ck_assert_msg(runs == 0 || runs == 1, "write %d", n);
    seen->absent += runs == 0;
    seen->present += runs == 1;
    if (runs == 1)
        whole_run(db);
    /* a new writer can claim both runs, although the dead process had claims */
    ck_assert_msg(write_run(db), "write %d: %s", n, err);
    whole_run(db);
    results_close(db);
    ck_assert_int_ne(access(journal, F_OK), 0);
    return WIFSIGNALED(how);
}

START_TEST(a_writer_killed_at_any_write_leaves_whole_runs) {
    begin();
    struct seen seen = {0};
    int n = 1;
    while (killed_at(n, _i == 1, &seen)) {
        n++;
        ck_assert_int_lt(n, 2000);
    }
    /* The writer has four transactions: create the file, claim a run, store it, claim the next run. Each transaction
     * writes and syncs the journal and the file, then deletes the journal. */
    ck_assert_int_gt(n, 4 * 5);
    ck_assert_int_gt(seen.absent, 10);
    ck_assert_int_gt(seen.present, 2);
    ck_assert_int_gt(seen.journals, 10);
    end();
}
END_TEST

SUITE(host_results_claim) {
    TEST(one_process_at_a_time_claims_a_run);
    TEST(a_reused_process_number_is_another_process);
    TEST(a_claim_on_another_machine_is_a_lease);
    TEST(a_claim_without_renewal_ends);
    TEST(claims_are_renewed);
    TEST(old_files_get_the_table_of_claims);
    TEST_LOOP(a_writer_killed_at_any_write_leaves_whole_runs, 0, 2);
}
