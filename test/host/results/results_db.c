/* Tests results databases (host/results/results_db.h): stored runs can be read back, and files that are no results
 * databases are refused. */
#include "host/results/results_db.h"
#include "host/results/digest.h"
#include "host/results/results_json.h"
#include "host/results/values.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64], err[1024];
static struct run_machine machine;

static void begin(void) {
    const char *const set[] = {"l1.size=8K", NULL};
    strcpy(path, "/tmp/heddle_results_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(path);
    ck_assert(run_machine_find(&machine, &(struct heddle_options){.model = "dpe", .set = set}, err, sizeof err));
}

static void end(void) {
    run_machine_free(&machine);
    unlink(path);
}

static struct run_what what(const char *program) {
    return (struct run_what){
        .program = program, .size = "small", .program_hash = "p", .binary = "b", .machine = &machine};
}

static void add(struct results_db *db, const char *program, const char *json, enum heddle_status status) {
    cJSON *result = json ? cJSON_Parse(json) : NULL;
    struct run_what w = what(program);
    struct run_end e = {status, status ? "fault" : "pass", status ? "why" : NULL, result};
    ck_assert_msg(results_add(db, &w, &e, "heddle sweep", err, sizeof err), "%s", err);
    cJSON_Delete(result);
}

static struct results_db *open_file(bool write) {
    struct results_db *db = results_open(path, write, err, sizeof err);
    ck_assert_msg(db != NULL, "%s", err);
    return db;
}

static void sql(const char *text) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#define TWO_LAUNCHES                                                                                                   \
    "{\"stats\":{\"gpu.cycles\":30,\"gpu.ipc\":2.5},\"kernels\":["                                                     \
    "{\"name\":\"k\",\"grid\":[1,2,3],\"block\":[32,1,1],\"dynamic_shared\":4,\"stats\":{\"gpu.cycles\":10}},"         \
    "{\"name\":\"l\",\"grid\":[1,1,1],\"block\":[8,1,1],\"dynamic_shared\":0,\"stats\":{\"gpu.cycles\":20}}]}"

START_TEST(stored_results_are_read_back) {
    begin();
    struct results_db *db = open_file(true);
    add(db, "first", TWO_LAUNCHES, HEDDLE_OK);
    add(db, "second", NULL, HEDDLE_FAULT);
    add(db, "first", "{\"stats\":{\"gpu.cycles\":99}}", HEDDLE_OK); /* a run that is already stored is not changed */
    results_close(db);
    db = open_file(false);
    struct result_set set;
    ck_assert(results_load(db, false, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 2);
    const struct result_row *r = &set.rows[0];
    ck_assert_str_eq(r->program, "first");
    ck_assert_str_eq(r->model, "dpe");
    ck_assert_str_eq(r->preset, "fermi");
    ck_assert_str_eq(r->size, "small");
    ck_assert_str_eq(r->verdict, "pass");
    ck_assert_double_eq(r->values[result_stat(&set, "gpu.cycles")], 30);
    ck_assert_double_eq(r->values[result_stat(&set, "gpu.ipc")], 2.5);
    ck_assert(isnan(r->values[result_stat(&set, "l1.misses")]));
    ck_assert_int_eq(set.n_options, 1); /* l1.size is the only option that differs from the preset fermi */
    ck_assert_str_eq(set.options[0], "l1.size");
    ck_assert_str_eq(r->options[0], "8192");
    ck_assert_int_eq(results_option(db, &set, "sm.warps", err, sizeof err), 1); /* read on demand */
    ck_assert_str_eq(r->options[1], "48");
    ck_assert_int_eq(results_option(db, &set, "sm.warpz", err, sizeof err), -1);
    ck_assert_int_eq(set.rows[1].status, HEDDLE_FAULT);
    ck_assert_str_eq(set.rows[1].message, "why");
    result_set_free(&set);
    ck_assert(results_load(db, true, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 2);
    ck_assert_str_eq(set.rows[1].kernel, "l");
    ck_assert_int_eq(set.rows[1].launch, 1);
    ck_assert_double_eq(set.rows[0].values[result_stat(&set, "gpu.cycles")], 10);
    ck_assert_double_eq(set.rows[1].values[result_stat(&set, "gpu.cycles")], 20);
    ck_assert_str_eq(set.rows[1].options[0], "8192");
    result_set_free(&set);
    results_close(db);
    end();
}
END_TEST

static double stored(struct results_db *db, const char *statistic) {
    struct result_set set;
    ck_assert_msg(results_load(db, false, &set, err, sizeof err), "%s", err);
    ck_assert_int_ge(set.n, 1);
    const double v = set.rows[set.n - 1].values[result_stat(&set, statistic)];
    result_set_free(&set);
    return v;
}

/* A list of values has one for each statistic of this version, in its order: here 5 for the first, none for the second,
 * and 0.5 for the third. With _i = 1, the file has another statistic with id 1. */
START_TEST(values_without_names_are_stored) {
    static const char result[] = "{\"values\":\"[5,null,0.5]\",\"kernels\":[{\"name\":\"k\",\"grid\":[1,1,1],"
                                 "\"block\":[1,1,1]},{\"name\":\"l\",\"grid\":[1,1,1],\"block\":[1,1,1],"
                                 "\"values\":\"[4]\"}]}";
    int n;
    const struct stat_def *defs = stat_defs(&n);
    begin();
    struct results_db *db = open_file(true);
    if (_i)
        sql("INSERT INTO statistic VALUES(1, 'zebras', '1', 'no more')");
    add(db, "p", result, HEDDLE_OK);
    ck_assert_double_eq(stored(db, defs[0].name), 5);
    ck_assert(isnan(stored(db, defs[1].name)));
    ck_assert_double_eq(stored(db, defs[2].name), 0.5);
    struct result_set set;
    ck_assert(results_load(db, true, &set, err, sizeof err));
    ck_assert(isnan(set.rows[0].values[result_stat(&set, defs[0].name)])); /* launch k has no values */
    ck_assert_double_eq(set.rows[1].values[result_stat(&set, defs[0].name)], 4);
    result_set_free(&set);
    results_close(db);
    end();
}
END_TEST

/* A transaction that adds the names of the statistics may be undone. The next one adds the names again. */
START_TEST(names_of_an_undone_transaction_are_written_again) {
    begin();
    struct results_db *db = open_file(true);
    ck_assert(results_begin(db, err, sizeof err));
    add(db, "p", "{\"values\":\"[5]\"}", HEDDLE_OK);
    ck_assert(!results_end(db, false, err, sizeof err));
    add(db, "q", "{\"values\":\"[6]\"}", HEDDLE_OK);
    int n;
    ck_assert_double_eq(stored(db, stat_defs(&n)[0].name), 6);
    results_close(db);
    end();
}
END_TEST

/* Most values are printed without the C library. 1 / 3 needs 17 digits; 0.1 * 3 has 15 digits but for rounding. */
START_TEST(values_are_printed_as_json) {
    const double v[] = {0, 7, 1234567890, 999999999999999, 1e15, -3, 0.5, 0.1 * 3, 1.0 / 3, NAN, 1e-9, INFINITY, NAN};
    char *text = values_print(v, sizeof v / sizeof *v), *none = values_print(v + 11, 2);
    ck_assert_str_eq(text, "[0,7,1234567890,999999999999999,1e+15,-3,0.5,0.3,0.33333333333333331,null,1e-09]");
    ck_assert_str_eq(none, "[]");
    ck_assert_double_eq(values_at(text, 0), 0);
    ck_assert_double_eq(values_at(text, 10), 1e-9);
    ck_assert_double_eq(values_at(text, 8), 1.0 / 3);
    ck_assert(isnan(values_at(text, 9)) && isnan(values_at(text, 11)) && isnan(values_at(text, -1)));
    ck_assert(isnan(values_at(none, 0)) && isnan(values_at(NULL, 0)));
    free(text);
    free(none);
}
END_TEST

static bool equals(const void *ctx, const char *value) { return strcmp(value, ctx) == 0; }

/* Adds a run of program "p" on a machine with this L1. */
static void add_machine(struct results_db *db, const char *program, const char *l1) {
    const char *const set[] = {l1, NULL};
    run_machine_free(&machine);
    ck_assert(run_machine_find(&machine, &(struct heddle_options){.model = "dpe", .set = set}, err, sizeof err));
    add(db, program, "{\"stats\":{\"gpu.cycles\":30}}", HEDDLE_OK);
}

/* The L1 has 8 KB in the runs a and c, 4 KB in b, and the preset's 16 KB in d. results_load() reads only the runs for
 * which the conditions hold. It ignores conditions on statistics. */
START_TEST(picked_runs_are_read) {
    static const struct {
        const char *field[2], *value[2], *programs;
    } pick[] = {
        {{"l1.size"}, {"8192"}, "ac"},
        {{"l1.size", "program"}, {"8192", "c"}, "c"},
        {{"program", "l1.size"}, {"b", "4096"}, "b"},
        {{"program", "l1.size"}, {"b", "8192"}, ""},
        {{"l1.size"}, {"16384"}, "d"},
        {{"model"}, {"spe"}, ""},
        {{"model", "l1.size"}, {"dpe", "4096"}, "b"},
        {{"l1.sizes"}, {"8192"}, ""},
        {{"gpu.cycles"}, {"8192"}, "abcd"},
        {{"gpu.cycles", "check"}, {"8192", "pass"}, "abcd"},
    };
    begin();
    struct results_db *db = open_file(true);
    add_machine(db, "a", "l1.size=8K");
    add_machine(db, "b", "l1.size=4K");
    add_machine(db, "c", "l1.size=8K");
    add_machine(db, "d", "l1.size=16K");
    for (size_t i = 0; i < sizeof pick / sizeof *pick; i++) {
        struct results_condition c[2];
        struct result_set set;
        char programs[8] = "";
        for (int k = 0; k < 2; k++)
            c[k] = (struct results_condition){pick[i].field[k], equals, pick[i].value[k]};
        ck_assert_msg(results_pick(db, c, pick[i].field[1] ? 2 : 1, err, sizeof err), "%s", err);
        ck_assert_msg(results_load(db, false, &set, err, sizeof err), "%s", err);
        for (int k = 0; k < set.n; k++)
            strcat(programs, set.rows[k].program);
        ck_assert_msg(strcmp(programs, pick[i].programs) == 0, "%s=%s: '%s', not '%s'", pick[i].field[0],
                      pick[i].value[0], programs, pick[i].programs);
        result_set_free(&set);
    }
    struct result_set set;
    ck_assert(results_pick(db, NULL, 0, err, sizeof err) && results_load(db, false, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 4);
    result_set_free(&set);
    results_close(db);
    end();
}
END_TEST

START_TEST(a_key_identifies_a_run) {
    begin();
    char one[RESULTS_HASH], other[RESULTS_HASH];
    struct run_what w = what("p");
    run_key(&w, one);
    ck_assert_str_eq(run_key(&w, other), one);
    ck_assert_int_eq(strlen(one), 32);
    struct run_what changed[] = {w, w, w, w, w};
    changed[0].program = "q";
    changed[1].size = "paper";
    strcpy(changed[2].binary, "c");
    strcpy(changed[3].program_hash, "o");
    changed[4].cycle_limit = 1;
    for (int i = 0; i < 5; i++)
        ck_assert_str_ne(run_key(&changed[i], other), one);
    struct run_machine m;
    struct run_what w2 = w;
    w2.machine = &m;
    const char *const sets[][2] = {{"l1.size=8192", NULL}, {"l1.size=4K", NULL}};
    for (int i = 0; i < 2; i++) { /* 8192 and 8K are the same value */
        ck_assert(run_machine_find(&m, &(struct heddle_options){.model = "dpe", .set = sets[i]}, err, sizeof err));
        ck_assert_int_eq(strcmp(run_key(&w2, other), one) == 0, i == 0);
        run_machine_free(&m);
    }
    end();
}
END_TEST

START_TEST(digests_tell_texts_apart) {
    static const char *const texts[][2] = {{"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}, {"ab", "d"}};
    char out[5][DIGEST_TEXT];
    for (int i = 0; i < 5; i++) {
        struct digest d;
        digest_start(&d);
        digest_text(&d, texts[i][0]);
        digest_text(&d, texts[i][1]);
        digest_end(&d, out[i]);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(out[i], out[k]);
    }
    /* the output of xxh128sum of xxHash 0.8.1 for a file with the content "abc" */
    ck_assert_str_eq(digest_of("abc", 3, out[0]), "06b05ab6733a618578af5f94892f3950");
    struct digest a, b; /* the number of zero bytes changes the digest */
    digest_start(&a);
    digest_start(&b);
    digest_add(&a, "\0\0\0", 2);
    digest_add(&b, "\0\0\0", 3);
    ck_assert_str_ne(digest_end(&a, out[0]), digest_end(&b, out[1]));
}
END_TEST

/* The digest of a file is the digest of its bytes, also if the file is read in several blocks. */
START_TEST(a_file_has_the_digest_of_its_bytes) {
    static unsigned char bytes[100000];
    char of_file[DIGEST_TEXT], of_bytes[DIGEST_TEXT];
    begin();
    for (size_t n = 0; n <= sizeof bytes; n += 25000) {
        memset(bytes, (int)n / 100, n);
        FILE *f = fopen(path, "w");
        ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
        fclose(f);
        ck_assert(digest_file(path, of_file));
        ck_assert_str_eq(of_file, digest_of(bytes, n, of_bytes));
    }
    unlink(path);
    ck_assert(!digest_file(path, of_file));
    ck_assert(!digest_file("/tmp", of_file));
    end();
}
END_TEST

static void refused(bool write, const char *why) {
    ck_assert_ptr_null(results_open(path, write, err, sizeof err));
    ck_assert_msg(strstr(err, why) != NULL, "'%s' is not in '%s'", why, err);
    ck_assert_msg(strstr(err, path) != NULL, "%s", err);
}

START_TEST(other_files_are_refused) {
    begin();
    refused(false, "No such file");
    FILE *f = fopen(path, "w");
    fclose(f);
    refused(false, "is empty"); /* an empty file may be opened for writing, and becomes a database */
    results_close(open_file(true));
    unlink(path);
    f = fopen(path, "w");
    for (int i = 0; i < 200; i++)
        fputs("a text, and no database\n", f);
    fclose(f);
    refused(true, "is not a results database");
    unlink(path);
    sql("CREATE TABLE foreign_one(x)");
    refused(true, "not one of results");
    unlink(path);
    results_close(open_file(true));
    sql("PRAGMA user_version=7");
    refused(true, "version 7");
    refused(false, "knows version 2");
    end();
}
END_TEST

/* Runs the test as a user other than root, since file modes do not restrict root. */
START_TEST(a_read_only_folder_is_reported) {
    char folder[] = "/tmp/heddle_folder_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0555), 0);
    snprintf(path, sizeof path, "%s/new.db", folder);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        bool other = getuid() != 0 || setuid(65534) == 0;
        _exit(other && !results_open(path, true, err, sizeof err) && strstr(err, "Permission denied") ? 0 : 1);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}
END_TEST

START_TEST(a_file_that_was_cut_off_is_refused) {
    begin();
    struct results_db *db = open_file(true);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        add(db, name, TWO_LAUNCHES, HEDDLE_OK);
    }
    results_close(db);
    FILE *f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    ck_assert_int_eq(truncate(path, size / 2 / 4096 * 4096), 0);
    refused(true, "damaged");
    ck_assert_int_eq(truncate(path, 700), 0);
    refused(false, "is damaged or cut off (database disk image is malformed); move it away");
    end();
}
END_TEST

START_TEST(a_killed_writers_transaction_is_rolled_back) {
    begin();
    struct results_db *db = open_file(true);
    add(db, "whole", TWO_LAUNCHES, HEDDLE_OK);
    results_close(db);
    fflush(NULL);
    pid_t pid = fork();
    /* the child process stores half of a run and is killed; its page cache is so small that SQLite has already written
     * some pages to the file */
    if (pid == 0) {
        sqlite3 *raw;
        sqlite3_open(path, &raw);
        sqlite3_exec(
            raw,
            "PRAGMA cache_size=1; BEGIN IMMEDIATE; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
            " WHERE i < 9000) INSERT INTO setting SELECT 1, 'o' || i, 'half' FROM n",
            NULL, NULL, NULL);
        kill(getpid(), SIGKILL);
    }
    int how;
    waitpid(pid, &how, 0);
    ck_assert(WIFSIGNALED(how));
    char journal[96];
    snprintf(journal, sizeof journal, "%s-journal", path);
    ck_assert_int_eq(access(journal, F_OK), 0); /* the process was killed inside its transaction */
    db = open_file(false);
    struct result_set set;
    ck_assert(results_load(db, false, &set, err, sizeof err));
    ck_assert_int_eq(set.n, 1);
    ck_assert_int_eq(set.n_options, 1);
    result_set_free(&set);
    results_close(db);
    unlink(journal);
    end();
}
END_TEST

/* The second file gave the statistics other ids, so merging translates the values. */
START_TEST(merging_translates_ids) {
    begin();
    char other[80];
    struct results_db *db = open_file(true);
    add(db, "theirs", TWO_LAUNCHES, HEDDLE_OK);
    results_close(db);
    snprintf(other, sizeof other, "%s.other", path);
    ck_assert_int_eq(rename(path, other), 0);
    db = open_file(true);
    sql("INSERT INTO statistic VALUES(1, 'of.another.build', 'count', 'nothing'), (2, 'gpu.ipc', '', '')");
    struct results_merge n;
    ck_assert_msg(results_merge(db, (const char *const[]){other}, 1, &n, err, sizeof err), "%s", err);
    ck_assert_int_eq(n.added, 1);
    for (int launches = 0; launches < 2; launches++) {
        struct result_set set;
        ck_assert(results_load(db, launches, &set, err, sizeof err));
        ck_assert_double_eq(set.rows[0].values[result_stat(&set, "gpu.cycles")], launches ? 10 : 30);
        ck_assert(isnan(set.rows[0].values[result_stat(&set, "of.another.build")]));
        if (!launches)
            ck_assert_double_eq(set.rows[0].values[result_stat(&set, "gpu.ipc")], 2.5);
        result_set_free(&set);
    }
    results_close(db);
    unlink(other);
    end();
}
END_TEST

/* A run needs at most 4 KB, also if every statistic has a value with many digits in one launch out of four. */
START_TEST(a_run_is_small) {
    enum { RUNS = 64 };
    begin();
    struct results_db *db = open_file(true);
    char *json = malloc(1 << 20), name[16], *at = json;
    int n;
    const struct stat_def *defs = stat_defs(&n);
    at += sprintf(at, "{\"stats\":{");
    for (int i = 0; i < n; i++)
        at += sprintf(at, "%s\"%s\":%s", i ? "," : "", defs[i].name,
                      i % 4   ? "0"
                      : i % 8 ? "123456"
                              : "0.12345678901234");
    at += sprintf(at, "},\"kernels\":[{\"name\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],%.*s}]}", (int)(at - json - 1),
                  json + 1);
    for (int i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "p%d", i);
        add(db, name, json, HEDDLE_OK);
    }
    free(json);
    results_close(db);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_le(st.st_size, 160000 + RUNS * 4096); /* names, indices and the options of a preset: at most 160 KB */
    end();
}
END_TEST

/* Returns the options and statistics of a run of one kernel in the context. */
static cJSON *ran(struct heddle *h, bool brief) {
    static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                                 ".reg .u64 %rd1; ld.param.u64 %rd1,[p]; st.global.u32 [%rd1],7; ret; }\n";
    struct heddle_module *m = heddle_module_text(h, "k.ptx", kernel, sizeof kernel - 1);
    const uint64_t p = heddle_alloc(h, 256);
    const struct heddle_arg a = {&p, sizeof p};
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){20, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, &a, 1),
                     HEDDLE_OK);
    ck_assert_int_eq(brief ? results_write_brief(h, f, true) : heddle_write_json(h, f, 0, NULL, -1), HEDDLE_OK);
    fclose(f);
    cJSON *o = cJSON_Parse(text);
    free(text);
    return o;
}

/* A planned machine needs no file any more, and equals the machine of heddle_open(). A brief result has all statistics
 * with the same values. */
START_TEST(a_planned_machine_is_opened_without_its_file) {
    const char *const set[] = {"l1.size=8K", "memory.latency=77", NULL};
    const char preset[] = "/tmp/heddle_planned.cfg";
    const struct heddle_options o = {.model = "its", .config = preset, .set = set};
    FILE *f = fopen(preset, "w");
    fputs("@include \"turing.cfg\"\ngpu: { sms = 3; }\n", f);
    fclose(f);
    struct run_machine m;
    ck_assert_msg(run_machine_find(&m, &o, err, sizeof err), "%s", err);
    struct heddle *whole = heddle_open(&o, err, sizeof err);
    ck_assert_msg(whole != NULL, "%s", err);
    unlink(preset);
    ck_assert_ptr_null(heddle_open(&o, err, sizeof err));
    struct heddle *planned = run_machine_open(&m, &o, err, sizeof err);
    ck_assert_msg(planned != NULL, "%s", err);
    cJSON *a = ran(whole, false), *b = ran(planned, true);
    const cJSON *stats = cJSON_GetObjectItem(a, "stats");
    const char *values = cJSON_GetStringValue(cJSON_GetObjectItem(b, "values"));
    ck_assert_double_eq(cJSON_GetObjectItem(stats, "gpu.ctas")->valuedouble, 20);
    int fractions = 0, n = 0;
    for (const cJSON *x = stats->child; x; x = x->next, n++) {
        fractions += x->valuedouble != floor(x->valuedouble);
        if (strncmp(x->string, "host.", 5) != 0)
            ck_assert_msg(x->valuedouble == values_at(values, n), "%s: %.17g, %.17g", x->string, x->valuedouble,
                          values_at(values, n));
    }
    ck_assert(n > 100 && isnan(values_at(values, n)));
    ck_assert_int_gt(fractions, 3); /* ratios and joules */
    cJSON_Delete(a);
    cJSON_Delete(b);
    heddle_close(whole);
    heddle_close(planned);
    run_machine_free(&m);
}
END_TEST

SUITE(host_results_db) {
    TEST(a_planned_machine_is_opened_without_its_file);
    TEST(merging_translates_ids);
    TEST(a_run_is_small);
    TEST(stored_results_are_read_back);
    TEST_LOOP(values_without_names_are_stored, 0, 2);
    TEST(names_of_an_undone_transaction_are_written_again);
    TEST(values_are_printed_as_json);
    TEST(picked_runs_are_read);
    TEST(a_key_identifies_a_run);
    TEST(digests_tell_texts_apart);
    TEST(a_file_has_the_digest_of_its_bytes);
    TEST(other_files_are_refused);
    TEST(a_read_only_folder_is_reported);
    TEST(a_file_that_was_cut_off_is_refused);
    TEST(a_killed_writers_transaction_is_rolled_back);
}
