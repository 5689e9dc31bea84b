/* Tests inputs that can be read only once: stdin, pipes and FIFOs. A run on such an input must give the same results as
 * a run on a regular file with the same bytes. */
#include "cli_help.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Writes a kernel with four threads that compute q[t] = p[t] + 1, and the file x with the words 10, 20, 30 and 40. */
static void write_copy(void) {
    write_kernel(".param .u64 p, .param .u64 q",
                 "ld.param.u64 %rd1,[p]; ld.param.u64 %rd2,[q]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd3,%r1,4;\n"
                 "add.s64 %rd1,%rd1,%rd3; add.s64 %rd2,%rd2,%rd3; ld.global.u32 %r2,[%rd1]; add.u32 %r2,%r2,1;\n"
                 "st.global.u32 [%rd2],%r2;");
    static const uint32_t x[4] = {10, 20, 30, 40};
    write_file("x", x, sizeof x);
}

#define ADD_ONE "run k.ptx -g 1 -b 4 -m functional "

/* Runs a bash command, in which $H is heddle, for at most 10 seconds. Returns its exit status; its output is in `out`
 * and `err`. */
static int bash(const char *command) {
    char all[4096];
    setenv("H", cli_binary, 1);
    write_file("command", command, strlen(command));
    snprintf(all, sizeof all, "timeout -k 1 10 bash command >stdout.txt 2>stderr.txt");
    int how = system(all);
    free(out);
    free(err);
    out = slurp("stdout.txt");
    err = slurp("stderr.txt");
    ck_assert(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void file_has(const char *path, const uint32_t *want, size_t n) {
    FILE *f = fopen(path, "rb");
    uint32_t got[64];
    ck_assert_msg(f != NULL, "%s is missing; %s", path, err);
    ck_assert_uint_eq(fread(got, 4, 64, f), n);
    fclose(f);
    ck_assert_mem_eq(got, want, 4 * n);
}

static const uint32_t plus_one[4] = {11, 21, 31, 41};

/* Commands that all read the bytes of file x through stdin, a pipe or a FIFO. The kernel adds one to each number. */
static const char *const ways[] = {
    "cat x | $H " ADD_ONE "-a in:- -a out:y:16",
    "cat x | $H " ADD_ONE "-a in:/dev/stdin -a out:y:16",
    "cat x | $H " ADD_ONE "-a in:/proc/self/fd/0 -a out:y:16",
    "$H " ADD_ONE "-a in:- -a out:y:16 < x",
    "$H " ADD_ONE "-a in:/dev/stdin -a out:y:16 < x",
    "$H " ADD_ONE "-a in:<(cat x) -a out:y:16",
    "$H " ADD_ONE "-a in:<(head -c 7 x; sleep 0.2; tail -c +8 x) -a out:y:16",
    "mkfifo f; (cat x > f) & $H " ADD_ONE "-a in:f -a out:y:16",
    "mkfifo f; (sleep 0.3; cat x > f) & $H " ADD_ONE "-a in:f -a out:y:16",
    "cat x | $H " ADD_ONE "-a inout:-:z -a out:y:16",
    "cat k.ptx | $H run - -g 1 -b 4 -m functional -a in:x -a out:y:16",
    "cat k.ptx | $H run - -k k -g 1 -b 4 -m functional -a in:x -a out:y:16",
    "$H run - -g 1 -b 4 -m functional -a in:<(cat x) -a out:y:16 < k.ptx",
    "$H run <(cat k.ptx) -g 1 -b 4 -m functional -a in:<(cat x) -a out:y:16",
    "mkfifo f.ptx; (cat k.ptx > f.ptx) & cat x | $H run f.ptx -g 1 -b 4 -m functional -a in:- -a out:y:16",
    "(head -c 4 > /dev/null; $H " ADD_ONE "-a in:- -a out:y:16) < xx",
    "$H run k.ptx -g 1 -b 4 -c <(echo 'gpu: { sms = 2; };') -a in:x -a out:y:16 -m spe",
    "echo 'gpu: { sms = 2; };' | $H run k.ptx -g 1 -b 4 -c - -a in:x -a out:y:16 -m spe",
    "mkfifo c; (echo 'gpu: { sms = 2; };' > c) & $H run k.ptx -g 1 -b 4 -c ./c -a in:x -a out:y:16 -m spe",
};

START_TEST(is_read_to_its_end) {
    write_copy();
    static const uint32_t more[5] = {7, 10, 20, 30, 40};
    write_file("xx", more, sizeof more);
    int status = bash(ways[_i]);
    ck_assert_msg(status == HEDDLE_OK, "%s: %d\n%s", ways[_i], status, err);
    file_has("y", plus_one, 4);
    if (exists("z")) {
        static const uint32_t same[4] = {10, 20, 30, 40};
        file_has("z", same, 4);
    }
}
END_TEST

/* A configuration read from a pipe gives the same machine as a file. */
START_TEST(a_machine_from_a_pipe) {
    write_copy();
    ck_assert_int_eq(bash("echo 'gpu: { name = \"odd\"; sms = 3; };' | $H run k.ptx -g 1 -b 4 -c - -a in:x -a zero:16 "
                          "-m spe --json r.json"),
                     HEDDLE_OK);
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    const cJSON *config = cJSON_GetObjectItem(o, "config");
    ck_assert_int_eq(cJSON_GetObjectItem(config, "gpu.sms")->valueint, 3);
    cJSON_Delete(o);
    free(text);
    ck_assert_int_eq(bash("echo 'gpu: { sms = 1; no = 1; };' | $H " ADD_ONE "-c - -a in:x -a zero:16"), HEDDLE_USAGE);
}
END_TEST

/* Tests several runs of one command line, in separate processes. heddle reads the pipe only once, and the statistics of
 * the runs are equal to those of runs on a regular file. */
START_TEST(several_runs_read_a_pipe_once) {
    static const char *const pairs[][2] = {
        {"compare k.ptx -g 1 -b 4 -a in:x -a zero:16", "compare k.ptx -g 1 -b 4 -a in:<(cat x) -a zero:16"},
        {"compare k.ptx -g 1 -b 4 -a in:x -a zero:16", "compare k.ptx -g 1 -b 4 -a in:- -a zero:16"},
        {"compare k.ptx -g 1 -b 4 -a in:x -a zero:16", "compare - -g 1 -b 4 -a in:<(cat x) -a zero:16"},
    };
    write_copy();
    for (int i = 0; i < 3; i++) {
        char command[512], *csv[2];
        for (int k = 0; k < 2; k++) {
            bool text = strstr(pairs[i][k], "compare - ") != NULL;
            snprintf(command, sizeof command, "cat %s | $H %s -m spe,dpe,its -j 2 --csv %d.csv", text ? "k.ptx" : "x",
                     pairs[i][k], k);
            int status = bash(command);
            ck_assert_msg(status == HEDDLE_OK, "%s: %d\n%s", command, status, err);
            char name[16];
            snprintf(name, sizeof name, "%d.csv", k);
            csv[k] = slurp(name);
        }
        if (!strstr(pairs[i][1], "compare - "))
            ck_assert_str_eq(csv[0], csv[1]);
        ck_assert_ptr_nonnull(strstr(csv[1], "its"));
        free(csv[0]);
        free(csv[1]);
    }
    ck_assert_int_eq(bash("cat x | $H sweep k.ptx -g 1 -b 4 -a in:- -a zero:16 -m spe,dpe -o a.db -j 2"), HEDDLE_OK);
    ck_assert_int_eq(database_number("a.db", "select count(*) from run"), 2);
    ck_assert_int_eq(bash("cat x | $H sweep k.ptx -g 1 -b 4 -a in:- -a zero:16 -m spe,dpe -o a.db -j 2"), HEDDLE_OK);
    /* the input bytes are those of the stored runs, so no run is repeated */
    ck_assert_int_eq(database_number("a.db", "select count(*) from run"), 2);
    ck_assert_int_eq(bash("cat k.ptx | $H sweep k.ptx -g 1 -b 4 -a in:- -a zero:16 -m spe -o a.db -j 2"), HEDDLE_OK);
    ck_assert_int_eq(database_number("a.db", "select count(*) from run"), 3); /* other bytes */
    ck_assert_int_eq(bash("cat x | $H sweep k.ptx -g 1 -b 4 -a in:- -a zero:16 -m spe,dpe -o c.db --slurm"),
                     HEDDLE_USAGE);
    SAYS(err, "cannot read a pipe");
}
END_TEST

static const struct {
    const char *command, *why;
} wrong[] = {
    {"cat x | $H " ADD_ONE "-a in:- -a in:-", "stdin: argument 1 reads it, and argument 2 cannot read it again"},
    {"cat x | $H " ADD_ONE "-a in:- -a in:/dev/stdin", "/dev/stdin: argument 1 reads it, and argument 2 cannot"},
    {"cat x | $H " ADD_ONE "-a in:/dev/fd/0 -a in:-", "stdin: argument 1 reads it"},
    {"$H " ADD_ONE "-a in:- -a in:- < x", "stdin: argument 1 reads it"},
    {"cat k.ptx | $H run - -g 1 -b 4 -a in:- -a zero:16", "stdin: this command reads it, and argument 1 cannot"},
    {"mkfifo f; (cat x > f) & $H " ADD_ONE "-a in:f -a in:./f", "./f: argument 1 reads it, and argument 2 cannot"},
    {"$H " ADD_ONE "-a in:- -a zero:16 < /dev/null", "the file is empty"},
    {": | $H " ADD_ONE "-a in:- -a zero:16", "the file is empty"},
    {"$H " ADD_ONE "-a in:<(:) -a zero:16", "the file is empty"},
    {"$H " ADD_ONE "-a in:/dev/zero -a zero:16", "/dev/zero: is a device that has no end"},
    {"$H " ADD_ONE "-a in:- -a zero:16 < /dev/zero", "stdin: is a device that has no end"},
    {"$H " ADD_ONE "-a in:- -a zero:16 <&-", "stdin: is not open"},
    {"$H " ADD_ONE "-a in:- -a zero:16 < .", "stdin: Is a directory"},
    {"$H " ADD_ONE "-a in:/dev/fd/77 -a zero:16", "No such file or directory"},
    {"$H " ADD_ONE "-a bytes:<(cat x) -a zero:16", "the file has 16 bytes, and parameter"},
    {"mkfifo p.heddle; $H run p.heddle", "a program is a regular file"},
    {"mkfifo p.heddle; $H compare p.heddle -m spe,dpe", "a program is a regular file"},
    {"mkfifo d; echo 'module = \"d\"; steps = ();' > p.heddle; $H run p.heddle", "it is no regular file"},
};

START_TEST(what_is_wrong_is_said) {
    write_copy();
    int status = bash(wrong[_i].command);
    ck_assert_msg(status == HEDDLE_USAGE, "%s: %d\n%s", wrong[_i].command, status, err);
    SAYS(err, wrong[_i].why);
}
END_TEST

/* An input's size need not be a multiple of its type. A thread that reads beyond the last byte faults. */
START_TEST(odd_sizes) {
    write_copy();
    ck_assert_int_eq(bash("head -c 15 x | $H " ADD_ONE "-a in:- -a out:y:16"), HEDDLE_FAULT);
    ck_assert(!exists("y"));
    ck_assert_int_eq(bash("head -c 15 x | $H run k.ptx -g 1 -b 3 -m functional -a inout:-:z -a out:y:12"), HEDDLE_OK);
    file_has("y", plus_one, 3);
    struct stat st;
    ck_assert(stat("z", &st) == 0 && st.st_size == 15);
    /* more bytes than any buffer between the processes holds */
    ck_assert_int_eq(bash("(cat x; head -c 100000001 /dev/zero) | $H " ADD_ONE "-a inout:-:z -a out:y:16"), HEDDLE_OK);
    file_has("y", plus_one, 4);
    ck_assert(stat("z", &st) == 0 && st.st_size == 100000017);
    ck_assert_int_eq(bash("cmp z <(cat x; head -c 100000001 /dev/zero)"), 0);
}
END_TEST

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* The FIFO never gets a writer. A signal ends heddle's wait for this writer. */
START_TEST(a_signal_ends_the_wait) {
    static const char *const args[] = {
        ADD_ONE "-a in:f -a zero:16",
        "run f -g 1 -b 4 -a in:x -a zero:16",
        "inspect f",
        "compare k.ptx -m spe,dpe -g 1 -b 4 -a in:f -a zero:16",
        "sweep k.ptx -m spe,dpe -o r.db -g 1 -b 4 -a in:f -a zero:16",
        ADD_ONE "-a in:x -a zero:16 -c ./f",
    };
    write_copy();
    ck_assert_int_eq(mkfifo("f", 0600), 0);
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        char command[PATH_MAX + 400];
        snprintf(command, sizeof command, "exec '%s' %s >stdout.txt 2>stderr.txt", cli_binary, args[i]);
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGINT, SIG_DFL);
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
            _exit(127);
        }
        int how = 0, at = 0;
        pause_ms(300);
        ck_assert_msg(waitpid(pid, &how, WNOHANG) == 0, "%s: did not wait", args[i]);
        kill(pid, SIGINT);
        while (at < 2000 && waitpid(pid, &how, WNOHANG) == 0) {
            pause_ms(10);
            at += 10;
        }
        if (at >= 2000) {
            kill(pid, SIGKILL);
            waitpid(pid, &how, 0);
        }
        ck_assert_msg(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT, "%s: %x", args[i], (unsigned)how);
    }
}
END_TEST

SUITE(host_cli_input) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(is_read_to_its_end, 0, sizeof ways / sizeof *ways);
    TEST(a_machine_from_a_pipe);
    TEST(several_runs_read_a_pipe_once);
    TEST_LOOP(what_is_wrong_is_said, 0, sizeof wrong / sizeof *wrong);
    TEST(odd_sizes);
    TEST(a_signal_ends_the_wait);
}
