/* Tests runs that a signal or a limit ends: their output, their files, and temporary files that they must not leave. */
#include "cli_help.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
enum { SLOWER = 6 }; /* factor by which the address sanitizer slows heddle down */
#else
enum { SLOWER = 1 };
#endif

/* Writes a kernel whose threads store and then loop forever. */
static void write_endless(void) {
    write_kernel(".param .u64 p",
                 "ld.param.u64 %rd1,[p]; mov.u32 %r1,7; st.global.u32 [%rd1],%r1;\nL: add.u32 %r1,%r1,1; bra L;");
}

static void compile_endless(void) {
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "cc -o endless '%s/test/cuda/endless.c' -ldl", cli_root);
    ck_assert_int_eq(system(command), 0);
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* Starts heddle with default signal handling, as a shell would. */
static pid_t start(const char *args) {
    char command[PATH_MAX + 1400];
    snprintf(command, sizeof command, "exec '%s' %s >stdout.txt 2>stderr.txt </dev/null", cli_binary, args);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Waits up to `ms` milliseconds for the end of the process. Returns true if the process has ended. */
static bool ended(pid_t pid, long ms, int *how) {
    for (; ms > 0; ms -= 10) {
        if (waitpid(pid, how, WNOHANG) == pid)
            return true;
        pause_ms(10);
    }
    return false;
}

/* Returns the processor time in milliseconds of a process and of the processes that it has started. */
static long spent_ms(pid_t pid) {
    char path[64];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0; /* the process has just ended */
    ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system), 2);
    fclose(f);
    long sum = (long)((user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    f = fopen(path, "r");
    for (int child; f && fscanf(f, "%d", &child) == 1;)
        sum += spent_ms(child);
    if (f)
        fclose(f);
    return sum;
}

/* Runs heddle and sends it signal `number`, as soon as heddle has used SLOWER * `ms` milliseconds of processor time
 * (SLOWER is 1 without the address sanitizer), and at the latest after `most` milliseconds by the clock. The signal
 * must end heddle within 10 seconds, and no temporary file may remain. */
static void interrupted_after(long ms, long most, const char *args, int number) {
    pid_t pid = start(args);
    int how = 0;
    for (; most > 0 && spent_ms(pid) < SLOWER * ms; most -= 10)
        pause_ms(10);
    ck_assert_int_eq(kill(pid, number), 0);
    bool soon = ended(pid, 10000, &how);
    if (!soon) {
        kill(pid, SIGKILL);
        waitpid(pid, &how, 0);
    }
    free(out);
    free(err);
    out = slurp("stdout.txt");
    err = slurp("stderr.txt");
    ck_assert_msg(soon, "%s: signal %d does not end it", args, number);
    ck_assert_msg(WIFSIGNALED(how) && WTERMSIG(how) == number, "%s: not ended by signal %d (%x)\n%s", args, number, how,
                  err);
    ck_assert_int_ne(system("ls -A | grep -q '^\\.heddle-'"), 0);
}

static void interrupted(const char *args, int number) { interrupted_after(150, 2500, args, number); }

/* Checks that a JSON file is marked as incomplete for the reason `why`. Returns its parsed contents. */
static cJSON *incomplete(const char *path, const char *why) {
    char *text = slurp(path);
    cJSON *o = cJSON_ParseWithOpts(text, NULL, true);
    free(text);
    ck_assert_ptr_nonnull(o);
    const cJSON *kernel = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "kernels"), 0);
    const cJSON *both[] = {cJSON_GetObjectItem(o, "incomplete"), cJSON_GetObjectItem(kernel, "incomplete")};
    for (int i = 0; i < 2; i++) {
        ck_assert(cJSON_IsString(both[i]));
        ck_assert_str_eq(both[i]->valuestring, why);
    }
    return o;
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

START_TEST(a_signal_keeps_the_figures) {
    static const char *const models[] = {"functional", "functional -j 3", "spe",
                                         "spe -j 3",   "its -c turing",   "functional -s reconv=dws"};
    write_endless();
    for (int m = 0; m < 6; m++) {
        char args[256];
        snprintf(args, sizeof args, "run k.ptx -g 40 -b 128 -a out:o.bin:64 --json r.json -m %s", models[m]);
        interrupted(args, numbers[m % 3]);
        SAYS(out, "INCOMPLETE (stopped)");
        SAYS(out, "warp instructions");
        SAYS(err, "stopped after");
        ck_assert(!exists("o.bin"));
        cJSON *o = incomplete("r.json", "stopped");
        ck_assert_double_gt(number(cJSON_GetObjectItem(o, "stats"), "gpu.warp_instructions"), 0);
        cJSON_Delete(o);
        unlink("r.json");
    }
}
END_TEST

/* A CUDA program whose kernel never ends. Heddle says where its warps are, keeps the figures, and ends the program by
 * the signal. */
START_TEST(a_signal_stops_the_kernel_of_a_program) {
    char args[256];
    if (!has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    compile_endless();
    snprintf(args, sizeof args, "exec -c turing --json r.json -m %s ./endless", _i & 1 ? "spe" : "functional");
    interrupted(args, numbers[_i]);
    SAYS(err, "heddle: endless: kernel 'endless'");
    SAYS(err, "stopped after ");
    SAYS(err, "L: add.u32 %r1,%r1,1;");
    cJSON_Delete(incomplete("r.json", "stopped"));
}
END_TEST

START_TEST(a_program_may_handle_the_signal_itself) {
    if (!has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    compile_endless();
    const pid_t pid = start("exec -c turing ./endless handles");
    int how = 0;
    for (long most = 2500; most > 0 && spent_ms(pid) < SLOWER * 150; most -= 10)
        pause_ms(10);
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    ck_assert(ended(pid, 10000, &how));
    ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) == 9, "%x", how);
}
END_TEST

START_TEST(trace_samples_and_profile_are_kept_too) {
    write_endless();
    interrupted(
        "run k.ptx -g 2 -b 32 -a zero:64 --trace t.json --trace-cycles 0:500 --sample 100 --samples s.csv --profile",
        SIGTERM);
    char *text = slurp("t.json");
    cJSON *o = cJSON_ParseWithOpts(text, NULL, true);
    free(text);
    ck_assert_int_gt(cJSON_GetArraySize(o), 0);
    cJSON_Delete(o);
    text = slurp("s.csv");
    int rows = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    ck_assert_int_gt(rows, 10); /* a header line, and one line per interval of at least 1,000 cycles */
    free(text);
    SAYS(out, "bra");
}
END_TEST

START_TEST(a_signal_ends_a_blocked_write) {
    /* Nobody reads the pipe to which the result is written, so the process blocks there. A signal must end the process.
     */
    write_kernel(".param .u64 p", "");
    ck_assert_int_eq(mkfifo("p", 0666), 0);
    for (int i = 0; i < 3; i++) {
        interrupted_after(1000, 700, "run k.ptx -g 1 -b 32 -a out:o.bin:64 --json p -m functional", numbers[i]);
        ck_assert(!exists("o.bin"));
    }
}
END_TEST

START_TEST(a_limit_keeps_the_figures) {
    static const char *const models[] = {"functional", "functional -j 2", "spe", "dpe -j 2"};
    write_endless();
    for (int m = 0; m < 4; m++) {
        STATUS(HEDDLE_DEADLOCK, "run k.ptx -g 40 -b 256 -a out:o.bin:64 --json r.json --cycle-limit 20000 -m %s",
               models[m]);
        SAYS(out, "INCOMPLETE (cycle-limit)");
        ck_assert(!exists("o.bin"));
        cJSON *o = incomplete("r.json", "cycle-limit");
        const cJSON *stats = cJSON_GetObjectItem(o, "stats");
        double spent = number(stats, m >= 2 ? "gpu.cycles" : "gpu.warp_instructions");
        ck_assert_double_ge(spent, 20000);
        if (m >= 2) /* the limit is checked after each window, a span of at most 16 simulated cycles */
            ck_assert_double_le(spent, 20016);
        cJSON_Delete(o);
        /* there are 40 x 8 warps; the report lists only a few of them */
        int named = 0;
        for (const char *at = err; (at = strstr(at, "warp ")) != NULL; at += 5)
            named += at[5] >= '0' && at[5] <= '9';
        ck_assert_int_eq(named, 4);
        SAYS(err, "more warps");
    }
    STATUS(HEDDLE_DEADLOCK, "run k.ptx -g 1 -b 32 -a zero:64 --cycle-limit 1000 --json -");
    cJSON *o = cJSON_ParseWithOpts(out, NULL, true);
    ck_assert_ptr_nonnull(o);
    cJSON_Delete(o);
}
END_TEST

START_TEST(figures_of_a_limit_do_not_depend_on_threads) {
    static const char *const models[] = {"functional", "spe"};
    write_endless();
    for (int m = 0; m < 2; m++) {
        double first = 0;
        for (int j = 1; j <= 4; j++) {
            STATUS(HEDDLE_DEADLOCK, "run k.ptx -g 40 -b 64 -a zero:64 --json - --cycle-limit 30000 -m %s -j %d",
                   models[m], j);
            cJSON *o = cJSON_Parse(out);
            double now = number(cJSON_GetObjectItem(o, "stats"), "gpu.thread_instructions");
            cJSON_Delete(o);
            if (j == 1)
                first = now;
            ck_assert_double_eq(now, first);
        }
    }
}
END_TEST

START_TEST(a_complete_run_says_so) {
    write_kernel(".param .u64 p", "");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32 -a zero:64 --json -");
    cJSON *o = cJSON_Parse(out);
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(o, "incomplete")));
    ck_assert(
        cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "kernels"), 0), "incomplete")));
    cJSON_Delete(o);
}
END_TEST

/* Makes a folder of kernels in which lud never ends, and makes heddle use this folder. */
static void hang_lud(void) {
    ck_assert_int_eq(system("cp -r $HEDDLE_KERNELS hang && sed -i 's/^[ \\t]*ret;/HANG_HERE: add.u32 %r1,%r1,1; bra "
                            "HANG_HERE;/' hang/lud.ptx"),
                     0);
    setenv("HEDDLE_KERNELS", "hang", 1);
}

START_TEST(rows_that_are_done_are_written) {
    static const char *const commands[] = {"bench vecadd lud reduction -m functional",
                                           "compare vecadd lud reduction -m functional,functional -j 1",
                                           "compare vecadd lud reduction -m functional,functional -j 3"};
    hang_lud();
    for (int i = 0; i < 3; i++) {
        char args[256];
        snprintf(args, sizeof args, "%s --csv t.csv --json r.json", commands[i]);
        interrupted_after(500, 2500, args, numbers[i]); /* vecadd ends after some 20 ms, so the signal stops lud */
        char *text = slurp("t.csv");
        SAYS(text, "vecadd");
        SAYS(text, "pass");
        SAYS(text, "stopped");
        free(text);
        text = slurp("r.json");
        cJSON *o = cJSON_ParseWithOpts(text, NULL, true);
        free(text);
        ck_assert_str_eq(cJSON_GetObjectItem(o, "check")->valuestring, "fail");
        ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(o, "runs")), i ? 6 : 3);
        cJSON_Delete(o);
        SAYS(out, "vecadd");
        SAYS(err, "stopped by a signal, with ");
    }
    STATUS(HEDDLE_DEADLOCK, "compare vecadd lud -m spe -j 2 --cycle-limit 300000 --csv t.csv");
    SAYS(out, "limit");
    SAYS(out, "pass");
}
END_TEST

SUITE(cli_interrupt) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_signal_keeps_the_figures);
    TEST_LOOP(a_signal_stops_the_kernel_of_a_program, 0, 3);
    TEST(a_program_may_handle_the_signal_itself);
    TEST(trace_samples_and_profile_are_kept_too);
    TEST(a_signal_ends_a_blocked_write);
    TEST(a_limit_keeps_the_figures);
    TEST(figures_of_a_limit_do_not_depend_on_threads);
    TEST(a_complete_run_says_so);
    TEST(rows_that_are_done_are_written);
}
