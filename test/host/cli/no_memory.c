/* Lets every allocation of a command fail, one after another. The command must report that the host is out of memory
 * and exit with status 2, or continue without the allocation and give correct results. test/tools/no_memory.c, loaded
 * before the program, makes allocations fail. By default only about RUNS allocations of a command fail, which a seeded
 * random choice selects; with HEDDLE_EVERY about MANY_RUNS. */
#include "cli_help.h"
#include <stdio.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
enum { POSSIBLE = 0 }; /* the address sanitizer must be loaded first, so no_memory.c cannot be */
#else
enum { POSSIBLE = 1 };
#endif
enum { RUNS = 6, MANY_RUNS = 100 }; /* approximate number of runs of a command: by default, and with HEDDLE_EVERY */

#define SPACES                                                                                                         \
    "run '%s/test/kernels/spaces.ptx' -g 3 -b 64 -a zero:64K -a out:o.bin:4K -a zero:64 -a bytes:pair.bin "            \
    "--texture image=zero:1024,size=16x16,format=u32 "

static const char *const commands[] = {
    SPACES "-c tiny",
    SPACES "-c tiny -m functional",
    SPACES "-c tiny -m functional -s gpu.jit_after=0",
    SPACES "-c tiny -m functional -j 3",
    SPACES "-m functional --check",
    SPACES "-c tiny -m dws",
    SPACES "-c tiny -m si --json j.json",
    SPACES "-c tiny -m dpe --profile --sample 200 --samples s.csv",
    "inspect '%s/test/kernels/spaces.ptx'",
    "list options",
    "list configs",
    "bench mriq -c tiny --json j.json --csv c.csv",
    "compare mriq -m spe,its -c tiny",
    SPACES "-c tiny -m spe+dac",
    SPACES "-c tiny -m spe+dac -s dac.contexts=4 -s dac.batch=1",
    SPACES "-c tiny -m functional+dac",
    SPACES "-c pepsc -m pepsc+dac",
    "bench mriq -c tiny -m its+dac",
    "sweep mriq -c tiny -s l1.size=8K,16K -j 1 -o new.db",
    "report made.db -o page.html",
    "results made.db",
    "validate tiny --only shared-latency --json v.json --csv v.csv",
    "exec -q -c turing -m functional '%s/test/cuda/clang.out'",
    "exec -q -c turing -m spe+dac '%s/test/cuda/clang.out'",
    SPACES "-c tiny -s memory.model=full -s gpc.sms=1 -s gpc.size=4096 -s gpc.ways=1",
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static char library[PATH_MAX + 32];

/* Runs a command in which allocation number n fails (0: none fails). If all_after is true, every later allocation
 * fails, too. If `made` is not NULL, stores the number of allocations in *made. */
static int run(const char *command, unsigned long n, bool all_after, unsigned long *made) {
    char line[1024], number[32];
    snprintf(number, sizeof number, "%lu", n);
    setenv("NO_MEMORY_AT", number, 1);
    setenv("NO_MEMORY_COUNT", "made.txt", 1);
    if (all_after)
        setenv("NO_MEMORY_AFTER", "1", 1);
    else
        unsetenv("NO_MEMORY_AFTER");
    snprintf(line, sizeof line, command, cli_root);
    cli_preload = library;
    int status = heddle("%s", line);
    cli_preload = NULL;
    FILE *f = made ? fopen("made.txt", "r") : NULL;
    if (f) {
        ck_assert_int_eq(fscanf(f, "%lu", made), 1);
        fclose(f);
    }
    return status;
}

static bool reports_no_memory(void) { return strstr(err, "out of memory") || strstr(err, "Cannot allocate memory"); }

static void prepare(void) {
    uint32_t pair[2] = {1, 77};
    write_file("pair.bin", pair, sizeof pair);
    snprintf(library, sizeof library, "%s", cli_binary);
    snprintf(strrchr(library, '/'), 32, "/no_memory.so");
    ck_assert_msg(access(library, R_OK) == 0, "%s is not built", library);
}

static void make_database(void) { STATUS(0, "sweep mriq -c tiny -s l1.size=8K,16K -j 1 --profile -o made.db"); }

/* Returns the distance between two allocations that a test lets fail: every third allocation, or every allocation with
 * HEDDLE_EVERY. */
static unsigned long step_of_all(void) { return test_every() ? 1 : 3; }

static char *output_or_empty(void) { return access("o.bin", R_OK) == 0 ? slurp("o.bin") : calloc(1, 1); }

START_TEST(the_nth_allocation_fails) {
    const char *command = commands[_i];
    unsigned long made = 0;
    uint64_t seed = (uint64_t)_i;
    if (!POSSIBLE)
        return;
    if (strncmp(command, "exec", 4) == 0 && !has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    prepare();
    if (strstr(command, "made.db"))
        make_database();
    int status = run(command, 0, false, &made);
    ck_assert_msg(status == 0 && made > 10, "%s: %d, %lu allocations: %s", command, status, made, err);
    char *right = output_or_empty(), *listing = strdup(out);
    unsigned long step = made / (test_every() ? MANY_RUNS : RUNS) + 1;
    for (unsigned long n = 1; n <= made;
         n += step == 1 ? 1 : 1 + (unsigned long)(test_random(&seed) % (2 * step - 1))) {
        unlink("o.bin");
        unlink("new.db");
        status = run(command, n, seed & 1, NULL);
        char *got = output_or_empty();
        /* the same allocation fails in gnuplot, which may crash */
        bool refused = status == HEDDLE_USAGE && (reports_no_memory() || strstr(err, "gnuplot was ended by signal"));
        /* test/cuda/clang.cu does not look at the result of cudaMalloc(), so its kernel may read at address 0 */
        refused |= status == HEDDLE_FAULT && strncmp(command, "exec", 4) == 0 && strstr(err, "the null pointer");
        bool same_list =
            strstr(out, "Cannot allocate memory") || strncmp(command, "list", 4) != 0 || strcmp(out, listing) == 0;
        bool fine = status == HEDDLE_OK && same_list && memcmp(got, right, *right ? 4096 : 1) == 0;
        EXPECT(refused || fine, "%s, allocation %lu of %lu%s: status %d\n%s", command, n, made,
               seed & 1 ? " and all after it" : "", status, err);
        free(got);
    }
    free(right);
    free(listing);
}
END_TEST

/* Returns the number of lost events that the metadata of a trace contains, or 0 if it contains none. The trace must be
 * valid JSON. */
static double lost_events(const char *name) {
    char *text = slurp(name);
    cJSON *all = cJSON_Parse(text), *e;
    double lost = 0;
    ck_assert_msg(cJSON_IsArray(all), "%.200s", text);
    cJSON_ArrayForEach(e, all) {
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(e, "name")), "lost_events") == 0)
            lost += number(cJSON_GetObjectItem(e, "args"), "count");
    }
    cJSON_Delete(all);
    free(text);
    return lost;
}

/* If there is no memory for the trace, the run continues. heddle reports the number of missing events on stderr and in
 * the trace. */
START_TEST(lost_events_are_counted_and_reported) {
    unsigned long made = 0, runs = 0;
    if (!POSSIBLE)
        return;
    prepare();
    ck_assert_int_eq(run(SPACES "-c tiny --trace t.json", 0, false, &made), 0);
    ck_assert(lost_events("t.json") == 0 && !strstr(err, "missing"));
    for (unsigned long n = made; n > 0; n -= n < step_of_all() ? n : step_of_all()) {
        double said = 0;
        if (run(SPACES "-c tiny --trace t.json", n, false, NULL) != 0)
            continue;
        double lost = lost_events("t.json");
        if (!lost)
            continue;
        ck_assert_msg(sscanf(err, "heddle run: %lf events are missing in t.json: the host was out of memory", &said) ==
                          1,
                      "%s", err);
        ck_assert_double_eq(said, lost);
        runs++;
    }
    ck_assert_uint_gt(runs, 0);
}
END_TEST

/* If the checker ran out of memory and did not follow the whole run, the command must not report success. Most
 * allocations that the checker adds to a run are its tables. If one of them fails, the run must fail, too. The test
 * counts the runs that succeed although one allocation fails: with the checker there are at most two more such runs
 * than without it. */
START_TEST(a_checker_without_memory_does_not_pass) {
    unsigned long plain = 0, made = 0, passed = 0, beyond = 0;
    if (!POSSIBLE)
        return;
    prepare();
    ck_assert_int_eq(run(SPACES "-c tiny -m functional", 0, false, &plain), 0);
    ck_assert_int_eq(run(SPACES "-c tiny -m functional --check", 0, false, &made), 0);
    for (unsigned long n = 1; n <= made; n += step_of_all())
        passed += run(SPACES "-c tiny -m functional --check", n, false, NULL) == 0;
    for (unsigned long n = 1; n <= plain; n += step_of_all())
        beyond += run(SPACES "-c tiny -m functional", n, false, NULL) == 0;
    ck_assert_msg(made > plain + 20 && passed <= beyond + 2, "%lu of %lu pass, and %lu of %lu without the checker",
                  passed, made, beyond, plain);
}
END_TEST

SUITE(host_cli_no_memory) {
    TEST(a_checker_without_memory_does_not_pass);
    TEST(lost_events_are_counted_and_reported);
    tcase_set_timeout(tc, 1000);
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(the_nth_allocation_fails, 0, N_COMMANDS);
}
