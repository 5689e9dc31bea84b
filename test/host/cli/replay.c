/* Tests the commands and options about launches: --checkpoint, --time-launch, record, replay, resume and extract. */
#include "cli_help.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* `heddle run` with one kernel whose CTAs each write a word. */
#define RUN "run k.ptx -c tiny -g 6 -b 64 -a zero:1024 "

static void begin(void) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; mul.wide.u32 %rd2,%r1,4; "
                                  "add.u64 %rd1,%rd1,%rd2; st.global.u32 [%rd1],%r1;");
}

START_TEST(a_kernel) {
    begin();
    STATUS(HEDDLE_OK, RUN "-m functional --checkpoint f");
    STATUS(HEDDLE_OK, "resume f --verify"); /* in the model of the recorded run */
    SAYS(out, "functional");
    STATUS(HEDDLE_OK, "resume f -m dpe --verify --json r.json");
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    const double ctas = number(cJSON_GetObjectItem(o, "stats"), "gpu.ctas");
    ck_assert_double_eq(ctas, 6);
    cJSON_Delete(o);
    free(text);
    STATUS(HEDDLE_OK, RUN "-m spe --checkpoint f --checkpoint-at 0:4");
    STATUS(HEDDLE_OK, "replay f -m dpe -c turing --verify --json r.json");
    text = slurp("r.json");
    o = cJSON_Parse(text);
    ck_assert_double_eq(number(cJSON_GetObjectItem(o, "stats"), "gpu.ctas"), 2);
    cJSON_Delete(o);
    free(text);
    STATUS(HEDDLE_OK, "replay f --list");
    SAYS(out, "       0  k ");
    SAYS(out, "grid 6,1,1  block 64,1,1\n");
    STATUS(HEDDLE_OK, "extract f --launch 0 -o one");
    STATUS(HEDDLE_OK, "replay one --verify");
    STATUS(HEDDLE_OK, RUN "--time-launch 0");
    ck_assert_ptr_null(strstr(err, "no launch ran"));
    STATUS(HEDDLE_OK, RUN "--time-launch 1"); /* the only launch has number 0 */
    SAYS(err, "heddle run: note: no launch ran with timing, since no launch matches --time-launch\n");
    STATUS(HEDDLE_OK, "bench vecadd --time-launch nosuch");
    SAYS(err, "heddle bench: note: vecadd in spe: no launch ran with timing");
}
END_TEST

START_TEST(mistakes) {
    static const struct {
        const char *command, *text;
    } rows[] = {
        {RUN "--checkpoint f --checkpoint-at x", "--checkpoint-at takes LAUNCH or LAUNCH:CTA, not 'x'"},
        {RUN "--checkpoint f --checkpoint-at 1:", "--checkpoint-at takes"},
        {RUN "--checkpoint-at 1", "--checkpoint-at does nothing without --checkpoint"},
        {RUN "--checkpoint f --checkpoint-at 3", "no checkpoint was written: it begins with launch 3, and 1 launches"},
        {RUN "--checkpoint no/such/f", "no/such/f: the launches cannot be written: No such file"},
        {RUN "--time-launch 3:2", "'3:2' selects no launch"},
        {RUN "-m functional --time-launch 0", "model 'functional' has no time"},
        {RUN "--device-memory 5X", "--device-memory takes a number of bytes"},
        {RUN "--device-memory-dir nowhere", "nowhere: buffers cannot be kept there: No such file"},
        {"bench lud bfs --checkpoint f", "--checkpoint is for one benchmark at a time, and 2 are selected"},
        {"replay k.ptx", "k.ptx: it is no file of launches"},
        {"replay none", "none: No such file"},
        {"resume", "which file?"},
        {"replay a b", "one file at a time"},
        {"replay g --launch 4", "g: launches 4 to 4 were asked for; the file has 0 to 0"},
        {"replay g --launch 4:1", "--launch takes N or A:B with A below B"},
        {"extract g --launch 4 -o h", "there is no launch 4; the file has 0 to 0"},
        {"extract g -o h", "--launch N and -o FILE are needed"},
        {"extract g --launch 0 -o g", "g: the new file needs another name"},
        {"record echo", "-o FILE is missing"},
        {"record -o f", "which program?"},
    };
    begin();
    STATUS(HEDDLE_OK, RUN "--checkpoint g");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_case("%s", rows[i].command);
        STATUS(HEDDLE_USAGE, "%s", rows[i].command);
        SAYS(err, rows[i].text);
    }
}
END_TEST

/* SIGTERM stops a run; its file then continues with the stopped launch. A file without its end needs --partial. */
START_TEST(a_killed_run) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; L: add.u32 %r1,%r1,1; st.global.u32 [%rd1],%r1; bra L;");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
        execl(cli_binary, "heddle", "run", "k.ptx", "-c", "tiny", "-g", "2", "-b", "32", "-a", "zero:64",
              "--checkpoint", "f", (char *)NULL);
        _exit(9);
    }
    char *text = NULL;
    for (int i = 0; i < 2000 && !text; i++) { /* waits until the launch is in the file */
        usleep(10000);
        if (exists("f") && heddle("replay f --list") == HEDDLE_OK && strstr(out, "  k "))
            text = out;
    }
    ck_assert_ptr_nonnull(text);
    STATUS(HEDDLE_USAGE, "resume f");
    SAYS(err, "cut off after 1 launches");
    int status;
    kill(pid, SIGTERM);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    STATUS(HEDDLE_DEADLOCK, "resume f -m dpe --cycle-limit 1000");
    SAYS(err, "limit of 1000 cycles");
}
END_TEST

START_TEST(a_cuda_program) {
#ifdef __x86_64__
    if (!has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    STATUS(HEDDLE_OK, "record %s/test/cuda/programs/stencil.out -o f", cli_root);
    STATUS(HEDDLE_OK, "replay f -m functional --verify");
    STATUS(HEDDLE_USAGE, "record -q -o none true");
    SAYS(err, "none: nothing was recorded: ");
    SAYS(err, "true launched no kernel");
    STATUS(HEDDLE_USAGE, "record -q -o f true"); /* the file of an earlier record counts as unchanged */
    ck_assert_int_eq(heddle("record -q -o none false"), 1);
    STATUS(HEDDLE_OK, "record -q -o g --checkpoint-at 2 %s/test/cuda/programs/stencil.out", cli_root);
    STATUS(HEDDLE_OK, "resume g -m functional --verify");
    STATUS(HEDDLE_OK, "replay g --list");
    ck_assert_int_eq(strncmp(out, "       2  ", 10), 0);
    STATUS(HEDDLE_OK, "extract f --launch 3 -o one");
    STATUS(HEDDLE_OK, "replay one -m spe --verify");
    STATUS(HEDDLE_OK,
           "exec -m spe --time-launch step@1 --json r.json --json-launches %s/test/cuda/programs/stencil.out",
           cli_root);
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(o, "kernels")), 1);
    cJSON_Delete(o);
    free(text);
    STATUS(HEDDLE_OK, "exec -m spe --time-launch nosuch %s/test/cuda/programs/stencil.out", cli_root);
    SAYS(err, "heddle: no launch ran with timing, since no launch matches --time-launch nosuch\n");
    STATUS(HEDDLE_OK,
           "exec -q -m functional --device-memory 32G --device-memory-dir . %s/test/cuda/programs/stencil.out",
           cli_root);
#else
    test_skip("the programs are for x86-64");
#endif
}
END_TEST

/* A kernel writes one word of a buffer of 1 GiB that is in a file. Only the pages that the run touches are resident, so
 * it needs much less than 1 GiB of memory. */
START_TEST(untouched_memory_is_not_resident) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; st.global.u32 [%rd1],7;");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 1 -m functional --device-memory-dir . -a zero:1G --json r.json");
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    const double peak = number(cJSON_GetObjectItem(o, "stats"), "host.peak_rss_bytes");
    ck_assert_msg(peak > 0 && peak < 600e6, "%g bytes", peak);
    cJSON_Delete(o);
    free(text);
}
END_TEST

SUITE(host_cli_replay) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_kernel);
    TEST(mistakes);
    TEST(a_killed_run);
    TEST(a_cuda_program);
    TEST(untouched_memory_is_not_resident);
}
