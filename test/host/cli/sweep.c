/* Tests `heddle sweep` and `heddle results` by running heddle: which runs a sweep executes, which results survive
 * failures, and pivot tables. */
#include "cli_help.h"
#include "host/cli/axes.h"
#include "host/results/results_db.h"
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two programs, two models, three sizes: 12 runs. */
#define SWEEP "sweep fwt hotspot -m spe,dpe -s l1.size=8K:24K:8K -s sched.policy=lrr "
enum { RUNS = 12 };

static struct result_set load(const char *file) {
    char why[1024];
    struct result_set set;
    struct results_db *db = results_open(file, false, why, sizeof why);
    ck_assert_msg(db != NULL, "%s", why);
    ck_assert_msg(results_load(db, false, &set, why, sizeof why), "%s", why);
    results_close(db);
    return set;
}

/* Returns the number of runs in a database, or 0 if it does not exist or is being created. */
static int rows_now(const char *file) {
    sqlite3 *db;
    sqlite3_stmt *s = NULL;
    int n = 0;
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(db, 1000);
        if (sqlite3_prepare_v2(db, "SELECT count(*) FROM run", -1, &s, NULL) == SQLITE_OK &&
            sqlite3_step(s) == SQLITE_ROW)
            n = sqlite3_column_int(s, 0);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

/* Checks that two databases hold the same runs with the same statistics, except the host's. */
static void same_rows(const char *a, const char *b, int runs) {
    struct result_set x = load(a), y = load(b);
    ck_assert_int_eq(x.n, runs);
    ck_assert_int_eq(y.n, runs);
    for (int i = 0; i < x.n; i++) {
        const struct result_row *other = result_find(&y, x.rows[i].key);
        ck_assert_msg(other != NULL, "%s in %s is missing", x.rows[i].program, x.rows[i].model);
        ck_assert_str_eq(x.rows[i].verdict, other->verdict);
        for (int s = 0; s < x.n_names; s++) {
            if (strncmp(x.names[s], "host.", 5) == 0)
                continue;
            double p = x.rows[i].values[s], q = other->values[result_stat(&y, x.names[s])];
            ck_assert_msg(p == q, "%s of %s: %g and %g", x.names[s], x.rows[i].program, p, q);
        }
    }
    result_set_free(&x);
    result_set_free(&y);
}

/* Makes the database of an undisturbed sweep. The first call runs the sweep; later calls copy its database. */
static void whole_sweep(const char *file) {
    static void *bytes;
    static long size;
    if (bytes) {
        write_file(file, bytes, (size_t)size);
        return;
    }
    STATUS(HEDDLE_OK, SWEEP "-j 2 -o %s", file);
    SAYS(out, "12 runs done, 0 already in the database");
    FILE *f = fopen(file, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    bytes = malloc((size_t)size);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)size, f), size);
    fclose(f);
}

/* Starts a sweep in the background. Returns its process ID. */
static pid_t begin_as(const char *sweep, const char *file, const char *says) {
    char command[PATH_MAX + 512];
    snprintf(command, sizeof command, "exec '%s' %s -o %s >%s 2>/dev/null", cli_binary, sweep, file, says);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(9);
    }
    return pid;
}

static pid_t begin(const char *file, const char *says) { return begin_as(SWEEP "-j 1", file, says); }

/* Waits until `n` runs are in the database. Fails if the process that writes these runs ends earlier. */
static void await_rows(const char *file, int n, pid_t pid) {
    siginfo_t info = {0};
    while (rows_now(file) < n) {
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
        ck_assert_msg(info.si_pid == 0 || rows_now(file) >= n, "it ended early");
        usleep(2000);
    }
}

START_TEST(a_killed_sweep_continues) {
    static const int points[] = {0, 3, 7};
    whole_sweep("whole.db");
    int before = 0;
    for (int i = 0; i < 3; i++) {
        pid_t pid = begin("killed.db", "/dev/null");
        await_rows("killed.db", points[i], pid);
        usleep(20000); /* waits until the next run has probably begun */
        kill(pid, SIGKILL);
        int how;
        ck_assert_int_eq(waitpid(pid, &how, 0), pid);
        int now = exists("killed.db") ? rows_now("killed.db") : 0;
        ck_assert_int_ge(now, before);
        ck_assert_int_lt(now, RUNS);
        before = now;
    }
    STATUS(HEDDLE_OK, SWEEP "-j 2 -o killed.db");
    char line[64];
    snprintf(line, sizeof line, "%d runs done, %d already in the database", RUNS - before, before);
    SAYS(out, line);
    same_rows("whole.db", "killed.db", RUNS);
    STATUS(HEDDLE_OK, SWEEP "-o killed.db"); /* all runs are in the database */
    SAYS(out, "0 runs done, 12 already in the database");
    STATUS(HEDDLE_OK, SWEEP "-o killed.db --dry-run");
    SAYS(out, "12 runs, 0 of them missing");
}
END_TEST

/* Reads the last line that a sweep prints, "N runs done, M already in the database". Returns N and stores M in
 * *there. */
static int ran(const char *file, int *there) {
    char *text = slurp(file), *at = strstr(text, " already in the database");
    int now = 0;
    while (at && at > text && at[-1] != '\n')
        at--;
    ck_assert_msg(at && sscanf(at, "%d %*s done, %d already in the database", &now, there) == 2, "%s", text);
    free(text);
    return now;
}

static void ended_well(pid_t pid) {
    int how;
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

/* Sweeps a user's own kernel in 60 runs (with HEDDLE_EVERY 200). The sweep is killed three times: in the first tenth of
 * the runs, after a third, and after two thirds. A loop of 3,000 rounds makes each run take some milliseconds, so that
 * the sweep does not end first. */
START_TEST(many_runs_survive_three_kills) {
    const int latencies = test_every() ? 50 : 15, all = 4 * latencies, points[] = {all / 13, all / 3, all * 2 / 3};
    char line[64], sweep[256];
    snprintf(sweep, sizeof sweep,
             "sweep k.ptx -c tiny -g 2 -b 64 -a zero:64 -m spe,dpe -s l1.latency=10:%d:1 -s l1.size=8K,16K ",
             9 + latencies);
    int before = 0;
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd1],%r1;\n"
                                  "mov.u32 %r2,0;\nL: add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,3000; @%p1 bra L;");
    STATUS(HEDDLE_OK, "%s -j 2 -o whole.db", sweep);
    snprintf(line, sizeof line, "%d runs done, 0 already in the database", all);
    SAYS(out, line);
    for (int i = 0; i < 3; i++) {
        int how;
        pid_t pid = begin_as(sweep, "killed.db", "/dev/null");
        await_rows("killed.db", points[i] > before ? points[i] : before + 1, pid);
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, &how, 0), pid);
        ck_assert(WIFSIGNALED(how)); /* it was still running */
        int now = rows_now("killed.db");
        ck_assert_int_ge(now, points[i]);
        ck_assert_int_lt(now, all);
        ck_assert_int_gt(now, before);
        before = now;
    }
    STATUS(HEDDLE_OK, "%s -j 2 -o killed.db", sweep);
    snprintf(line, sizeof line, "%d runs done, %d already in the database", all - before, before);
    SAYS(out, line);
    same_rows("whole.db", "killed.db", all);
}
END_TEST

START_TEST(two_processes_share_the_work) {
    int there[2];
    pid_t one = begin("both.db", "1.txt"), two = begin("both.db", "2.txt");
    ended_well(one);
    ended_well(two);
    int first = ran("1.txt", &there[0]), second = ran("2.txt", &there[1]);
    ck_assert_int_eq(first + second, RUNS); /* each run was done exactly once, by one of the two processes */
    ck_assert_int_eq(there[0], second);
    ck_assert_int_eq(there[1], first);
    whole_sweep("alone.db");
    same_rows("alone.db", "both.db", RUNS);
}
END_TEST

/* Two processes share a sweep, and one is killed during a run. The other process repeats this run, and each result is
 * stored once. */
START_TEST(a_killed_processs_work_is_taken_over) {
    int there, how;
    pid_t one = begin("both.db", "1.txt");
    await_rows("both.db", 2, one);
    pid_t two = begin("both.db", "2.txt");
    await_rows("both.db", 5, two);
    kill(one, SIGKILL); /* waitpid() was not called, so the killed process is a zombie: its pid still exists */
    ended_well(two);
    int second = ran("2.txt", &there);
    ck_assert_int_eq(second + there, RUNS);
    ck_assert_int_ge(second, 1);
    ck_assert_int_eq(waitpid(one, &how, 0), one);
    ck_assert(WIFSIGNALED(how));
    whole_sweep("alone.db");
    same_rows("alone.db", "both.db", RUNS);
}
END_TEST

/* A process on another machine has claimed a run: the database marks the run as in progress until the lease of the
 * claim expires. In the first case the lease expires soon, and heddle then does the run. In the second case SIGINT ends
 * heddle while it waits for the leases. */
START_TEST(claims_on_other_machines_expire) {
    char text[256];
    sqlite3 *db;
    whole_sweep("wait.db");
    ck_assert_int_eq(sqlite3_open("wait.db", &db), SQLITE_OK);
    snprintf(text, sizeof text,
             "INSERT INTO claim SELECT key, 'another machine', 1, 1, %lld FROM run WHERE id = 3;"
             "DELETE FROM launch WHERE run = 3; DELETE FROM setting WHERE run = 3;"
             "DELETE FROM run WHERE id = 3",
             (long long)time(NULL) - 24 * 3600 + 2);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    time_t began = time(NULL);
    ended_well(begin("wait.db", "1.txt"));
    int there;
    ck_assert_int_eq(ran("1.txt", &there), 1);
    ck_assert_int_ge(time(NULL) - began, 1);
    snprintf(text, sizeof text,
             "INSERT INTO claim SELECT key, 'another machine', 1, 1, %lld FROM run;"
             "DELETE FROM launch; DELETE FROM setting; DELETE FROM run",
             (long long)time(NULL));
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    pid_t pid = begin("wait.db", "1.txt");
    usleep(700000);
    int how;
    ck_assert_int_eq(waitpid(pid, &how, WNOHANG), 0); /* it waits */
    kill(pid, SIGINT);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);
}
END_TEST

START_TEST(a_full_disk_loses_nothing_that_was_written) {
    char command[2 * PATH_MAX];
    /* bash's ulimit -f counts kilobytes; the file has room for only some of the runs */
    snprintf(command, sizeof command, "bash -c \"ulimit -f 200; exec '%s' " SWEEP "-j 1 -o full.db\" >o.txt 2>e.txt",
             cli_binary);
    int how = system(command);
    ck_assert(WIFEXITED(how));
    ck_assert_int_eq(WEXITSTATUS(how), HEDDLE_USAGE);
    char *said = slurp("e.txt");
    SAYS(said, "full.db: cannot be written");
    SAYS(said, "the same command tries the others again");
    free(said);
    int kept = rows_now("full.db");
    ck_assert_int_gt(kept, 0);
    ck_assert_int_lt(kept, RUNS);
    STATUS(HEDDLE_OK, SWEEP "-j 2 -o full.db");
    whole_sweep("whole.db");
    same_rows("whole.db", "full.db", RUNS);
}
END_TEST

START_TEST(mistakes_are_reported_before_the_runs) {
    STATUS(HEDDLE_USAGE, "sweep");
    SAYS(err, "which programs?");
    STATUS(HEDDLE_USAGE, "sweep vecad");
    SAYS(err, "did you mean 'vecadd'?");
    STATUS(HEDDLE_USAGE, "sweep vecadd -m spe,dpx");
    SAYS(err, "dpx");
    STATUS(HEDDLE_USAGE, "sweep vecadd -s l1.size=8K,7");
    SAYS(err, "l1.size");
    STATUS(HEDDLE_USAGE, "sweep vecadd -s l1.size=8K,");
    SAYS(err, "a value is missing");
    STATUS(HEDDLE_USAGE, "sweep vecadd -o no/folder/r.db");
    SAYS(err, "no/folder/r.db: cannot be opened: No such file or directory");
    STATUS(HEDDLE_OK, "sweep vecadd --dry-run -o l.db -s memory.latency=300,600");
    SAYS(err,
         "heddle sweep: note: -s memory.latency=300,600: memory.latency changes nothing without -s memory.model=fixed");
    STATUS(HEDDLE_OK, "sweep vecadd --dry-run -o l.db -s memory.model=fixed -s memory.latency=300,600");
    ck_assert_str_eq(err, "");
    STATUS(HEDDLE_OK, "sweep vecadd --dry-run -o l.db -s memory.model=full,fixed -s memory.latency=300 -s dram.cl=3");
    ck_assert_str_eq(err, ""); /* the sweep has both memory models, so each option has an effect in some runs */
    STATUS(HEDDLE_USAGE, "sweep vecadd -s memory.latency=300:900");
    SAYS(err, "a range is FROM:TO:STEP");
    STATUS(HEDDLE_USAGE, "sweep vecadd -s l1.size=8K -s l1.size=4K");
    SAYS(err, "given twice");
    STATUS(HEDDLE_USAGE, "sweep vecadd -s dpe.forwarding=true,false");
    SAYS(err, "an option of model 'dpe'");
    STATUS(HEDDLE_USAGE, "sweep vecadd -s memory.latency=1:1200:1 -s l1.latency=1:1200:1 -c turing");
    SAYS(err, "more than 1000000 runs");
    ck_assert(!exists("results.db"));
    STATUS(HEDDLE_USAGE, "sweep vecadd -o /no/such/folder/r.db");
    SAYS(err, "/no/such/folder/r.db");
}
END_TEST

START_TEST(ranges_and_lists_are_values) {
    static const struct {
        const char *text;
        int n;
        const char *first, *last; /* NULL: it is refused */
    } cases[] = {
        {"a.b=8K,16K", 2, "a.b=8K", "a.b=16K"},
        {"a=300:900:300", 3, "a=300", "a=900"},
        {"a=300:899:300", 2, "a=300", "a=600"}, /* the last value may be below the end of the range */
        {"a=8K:32K:8K", 4, "a=8192", "a=32768"},
        /* rounding must not drop the last value, which is the end of the range */
        {"a=0.1:0.3:0.1", 3, "a=0.1", "a=0.3"},
        {"a=5:5:1", 1, "a=5", "a=5"},
        {"a=x:y:z", 1, "a=x:y:z", "a=x:y:z"}, /* x:y:z has no numbers, so it is one value that contains colons */
        {"a=9:3:1", 0, NULL, NULL},
        {"a=1:3:0", 0, NULL, NULL},
        {"a=", 0, NULL, NULL},
        {"=3", 0, NULL, NULL},
        {"a=1,,2", 0, NULL, NULL},
        {"a=0:5000000:1", 0, NULL, NULL},
    };
    char why[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct axis a;
        bool fine = axis_read(&a, cases[i].text, why, sizeof why);
        ck_assert_msg(fine == (cases[i].first != NULL), "%s", cases[i].text);
        if (fine) {
            ck_assert_int_eq(a.n, cases[i].n);
            ck_assert_str_eq(a.values[0], cases[i].first);
            ck_assert_str_eq(a.values[a.n - 1], cases[i].last);
        }
        for (int k = 0; k < a.n; k++)
            free(a.values[k]);
        free(a.values);
    }
}
END_TEST

/* Writes hand.db with five runs. IPC with the default L1: program a has 2 under spe and 3 under dpe; program b has 4
 * under both models. With a larger L1, program b has 5 under spe. */
static void write_by_hand(void) {
    static const struct {
        const char *program, *model, *set;
        double ipc;
    } runs[] = {{"a", "spe", NULL, 2},
                {"a", "dpe", NULL, 3},
                {"b", "spe", NULL, 4},
                {"b", "dpe", NULL, 4},
                {"b", "spe", "l1.size=32768", 5}};
    char why[1024];
    struct results_db *db = results_open("hand.db", true, why, sizeof why);
    ck_assert_msg(db != NULL, "%s", why);
    for (int i = 0; i < 5; i++) {
        const char *const set[] = {runs[i].set, NULL};
        struct run_machine m;
        ck_assert(run_machine_find(&m, &(struct heddle_options){.model = runs[i].model, .set = set}, why, sizeof why));
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(o, "stats"), "gpu.ipc", runs[i].ipc);
        struct run_what w = {.program = runs[i].program, .size = "small", .machine = &m};
        ck_assert_msg(results_add(db, &w, &(struct run_end){HEDDLE_OK, "pass", NULL, o}, "by hand", why, sizeof why),
                      "%s", why);
        cJSON_Delete(o);
        run_machine_free(&m);
    }
    results_close(db);
}

START_TEST(pivots_by_hand) {
    write_by_hand();
    STATUS(HEDDLE_OK, "results hand.db --where l1.size=16K --rows program --columns model --value gpu.ipc --csv -");
    ck_assert_str_eq(out, "program,spe,dpe\na,2,3\nb,4,4\n");
    STATUS(HEDDLE_OK, "results hand.db --where l1.size=16384 --value gpu.ipc --relative-to spe --csv r.csv");
    SAYS(out, "a               1.000  1.500"); /* a: 3/2 and b: 4/4; their geometric mean is sqrt(1.5 * 1) = 1.2247 */
    SAYS(out, "b               1.000  1.000");
    SAYS(out, "geometric mean  1.000  1.225");
    STATUS(HEDDLE_OK, "results hand.db --rows program,l1.size --value gpu.ipc --csv -");
    SAYS(out, "b l1.size=32768,5,\n"); /* dpe has no run with the larger L1, so this cell is empty */
    STATUS(HEDDLE_USAGE, "results hand.db --rows program --columns model --value gpu.ipc");
    SAYS(err, "they differ in l1.size");
    STATUS(HEDDLE_USAGE, "results hand.db --where l1.size=16K --value gpu.ipc --relative-to sp");
    SAYS(err, "did you mean 'spe'?");
    STATUS(HEDDLE_OK, "results hand.db --where 'gpu.ipc>=4 and model!=dpe' --value gpu.ipc --csv -");
    int lines = 0;
    for (const char *at = out; *at; at++)
        lines += *at == '\n';
    ck_assert_int_eq(lines, 3); /* the header line, and program b under spe with two L1 sizes */
    static const char *const none[] = {"program=c", "program=c and l1.size=16K", "l1.size=8K", "values.n=3"};
    sqlite3 *sql; /* only the last run sets values.n */
    ck_assert_int_eq(sqlite3_open("hand.db", &sql), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(sql, "INSERT INTO setting SELECT max(id), 'values.n', '7' FROM run", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(sql);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        STATUS(HEDDLE_OK, "results hand.db --where '%s'", none[i]);
        SAYS(out, "no run fits");
    }
    STATUS(HEDDLE_USAGE, "results hand.db --where 'program=c and l1.sise=16K'");
    SAYS(err, "no run has 'l1.sise'");
    STATUS(HEDDLE_OK, "results hand.db --json -");
    cJSON *all = cJSON_Parse(out);
    ck_assert_int_eq(cJSON_GetArraySize(all), 5);
    const cJSON *last = cJSON_GetArrayItem(all, 4);
    ck_assert_double_eq(number(cJSON_GetObjectItem(last, "stats"), "gpu.ipc"), 5);
    ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(last, "options"), "l1.size")),
                     "32768");
    cJSON_Delete(all);
}
END_TEST

START_TEST(results_refuses_unknown_names) {
    write_by_hand();
    STATUS(HEDDLE_USAGE, "results hand.db --value gpu.ipd");
    SAYS(err, "did you mean 'gpu.ipc'?");
    STATUS(HEDDLE_USAGE, "results hand.db --where modle=spe");
    SAYS(err, "did you mean 'model'?");
    STATUS(HEDDLE_USAGE, "results hand.db --where model");
    SAYS(err, "is no condition");
    STATUS(HEDDLE_USAGE, "results hand.db --where 'gpu.ipc>>3'");
    SAYS(err, "'gpu.ipc>>3' is no condition");
    STATUS(HEDDLE_USAGE, "results hand.db --where 'gpu.ipc=<3'");
    SAYS(err, "'gpu.ipc=<3' is no condition");
    STATUS(HEDDLE_USAGE, "results hand.db --where 'gpu.ipc>many'");
    SAYS(err, "'gpu.ipc>many': it is compared with a number, not with many");
    STATUS(HEDDLE_USAGE, "results hand.db --where 'gpu.ipc>'");
    SAYS(err, "'gpu.ipc>': a value is missing");
    STATUS(HEDDLE_USAGE, "results hand.db --rows programme");
    SAYS(err, "did you mean 'program'?");
    STATUS(HEDDLE_USAGE, "results");
    SAYS(err, "which file?");
    STATUS(HEDDLE_USAGE, "results none.db");
    SAYS(err, "none.db: No such file");
    write_file("text.db", "no database", 11);
    STATUS(HEDDLE_USAGE, "results text.db");
    SAYS(err, "text.db");
    STATUS(HEDDLE_USAGE, "sweep vecadd -o text.db");
    char *text = slurp("text.db"); /* the file must not change */
    ck_assert_str_eq(text, "no database");
    free(text);
}
END_TEST

/* The table must not overwrite the database from which heddle reads it. */
START_TEST(results_never_overwrites_the_database) {
    write_by_hand();
    char *before = slurp("hand.db");
    STATUS(HEDDLE_USAGE, "results hand.db --csv hand.db");
    SAYS(err, "hand.db");
    STATUS(HEDDLE_USAGE, "results hand.db --json ./hand.db");
    ck_assert_int_eq(symlink("hand.db", "link.csv"), 0);
    STATUS(HEDDLE_USAGE, "results hand.db --csv link.csv");
    char *after = slurp("hand.db");
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    STATUS(HEDDLE_OK, "results hand.db");
    STATUS(HEDDLE_USAGE, "results hand.db --csv both --json both");
    ck_assert(!exists("both"));
    STATUS(HEDDLE_USAGE, "results hand.db --csv - --json -");
    ck_assert_str_eq(out, "");
}
END_TEST

/* SQLite itself would create no file for ":memory:", and would treat "file:..." as a URI, so the results would be lost.
 * heddle treats these names as names of ordinary files. */
START_TEST(special_names_of_sqlite_are_files) {
    static const char *const names[] = {":memory:", "file:a.db?mode=memory", "it's \"a\" 100% #1.db"};
    for (int i = 0; i < 3; i++) {
        char command[128];
        setenv("NAME", names[i], 1);
        snprintf(command, sizeof command, "sweep vecadd -j 1 -o \"$NAME\"");
        STATUS(HEDDLE_OK, "%s", command);
        ck_assert_msg(exists(names[i]), "%s", names[i]);
        STATUS(HEDDLE_OK, "results --merge \"$NAME\" -o all%d.db", i);
        SAYS(out, "1 run added");
    }
}
END_TEST

START_TEST(messages_have_no_control_characters) {
    STATUS(HEDDLE_USAGE, "reproduce \"$(printf 'a\\033[31mb')\"");
    SAYS(err, "there is no figure 'a?[31mb'");
    ck_assert_ptr_null(strchr(err, '\033'));
}
END_TEST

/* Sweeps a kernel of a PTX file. The launch is defined by options on the command line; these options are a part of a
 * run's key. */
START_TEST(a_launch_of_a_file_is_swept) {
    static const char launch[] =
        "sweep k.ptx -k k -g 2 -b 32 -a in:x.bin -a u32:7 -m spe,dpe -s l1.size=8K,16K -o k.db";
    write_kernel(".param .u64 a, .param .u32 n", "ld.param.u64 %rd1, [a];"
                                                 " ld.param.u32 %r1, [n]; st.global.u32 [%rd1], %r1; ret;");
    write_file("x.bin", "0123456789abcdef", 16);
    STATUS(HEDDLE_OK, "%s", launch);
    SAYS(out, "k.ptx -k k -g 2 -b 32");
    SAYS(out, "4 runs done, 0 already in the database");
    STATUS(HEDDLE_OK, "%s", launch);
    SAYS(out, "0 runs done, 4 already in the database");
    STATUS(HEDDLE_OK, "results k.db --rows l1.size --value gpu.cycles");
    write_file("x.bin", "0123456789abcdeX", 16); /* changed input */
    STATUS(HEDDLE_OK, "%s", launch);
    SAYS(out, "4 runs done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep k.ptx -k k -g 2 -b 32 -a in:x.bin -a u32:8 -o k.db"); /* changed argument */
    SAYS(out, "1 run done, 0 already in the database");
    STATUS(HEDDLE_USAGE, "results k.db --rows l1.size --value gpu.cycles");
    SAYS(err, "the arguments of the launch");
    STATUS(HEDDLE_USAGE, "sweep k.ptx -b 32 -o none.db");
    SAYS(err, "--grid is missing");
    STATUS(HEDDLE_USAGE, "sweep vecadd -g 2 -o none.db");
    SAYS(err, "--grid is for a kernel of a PTX file");
    ck_assert(!exists("none.db"));
}
END_TEST

/* A second sweep with --profile adds profiles to the runs in the database. */
START_TEST(profiles_are_kept_with_runs) {
    char why[1024];
    cJSON *profile;
    STATUS(HEDDLE_OK, "sweep vecadd -m spe,dpe -o p.db -c tiny");
    struct results_db *db = results_open("p.db", false, why, sizeof why);
    ck_assert(results_profile(db, 1, &profile, why, sizeof why));
    ck_assert_ptr_null(profile);
    results_close(db);
    STATUS(HEDDLE_OK, "sweep vecadd -m spe -o p.db -c tiny --profile");
    SAYS(out, "1 run done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep vecadd -m spe,dpe -o p.db -c tiny --profile");
    SAYS(out, "1 run done, 1 already in the database");
    STATUS(HEDDLE_OK, "sweep vecadd -m spe,dpe -o p.db -c tiny");
    SAYS(out, "0 runs done, 2 already in the database");
    ck_assert_int_eq(rows_now("p.db"), 2);
    struct result_set set = load("p.db");
    db = results_open("p.db", false, why, sizeof why);
    for (int i = 0; i < set.n; i++) {
        ck_assert_msg(results_profile(db, set.rows[i].run, &profile, why, sizeof why), "%s", why);
        const cJSON *kernel = cJSON_GetArrayItem(profile, 0), *line;
        double issued = 0;
        ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(kernel, "kernel")), "vecadd");
        cJSON_ArrayForEach(line, cJSON_GetObjectItem(kernel, "lines")) issued += number(line, "issued");
        ck_assert_double_eq(issued, set.rows[i].values[result_stat(&set, "issue.issued")]);
        cJSON_Delete(profile);
    }
    results_close(db);
    result_set_free(&set);
}
END_TEST

static void setup(TCase *tc) { tcase_add_checked_fixture(tc, cli_setup, cli_teardown); }

SUITE(host_cli_sweep) {
    setup(tc);
    TEST(a_killed_sweep_continues);
    TEST(many_runs_survive_three_kills);
    TEST(two_processes_share_the_work);
    TEST(a_killed_processs_work_is_taken_over);
    TEST(claims_on_other_machines_expire);
    TEST(a_full_disk_loses_nothing_that_was_written);
    TEST(mistakes_are_reported_before_the_runs);
    TEST(ranges_and_lists_are_values);
    TEST(a_launch_of_a_file_is_swept);
    TEST(profiles_are_kept_with_runs);
    TEST(pivots_by_hand);
    TEST(results_refuses_unknown_names);
    TEST(results_never_overwrites_the_database);
    TEST(special_names_of_sqlite_are_files);
    TEST(messages_have_no_control_characters);
}
