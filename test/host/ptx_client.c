/* Tests ptx_run() as its clients call it: from Python, through a library that has the name of GPU Ocelot's library. */
#include "test/test.h"
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* a build with a sanitizer has no libheddle.so */
#else
#define SANITIZED 0
#endif

/* Runs the client and returns its output and exit status. If Python is missing, skips the test and returns false. */
static bool client(const char *arguments, char *said, size_t size, int *status) {
    char build[PATH_MAX], command[2 * PATH_MAX], dir[] = "/tmp/heddle-client-XXXXXX";
    const char *binary = getenv("HEDDLE_BIN");
    if (SANITIZED || system("command -v python3 >/dev/null 2>&1") != 0) {
        test_skip(SANITIZED ? "a sanitized build has no shared library" : "python3 is not there");
        return false;
    }
    ck_assert_msg(realpath(binary ? binary : "build/heddle", build) != NULL, "no binary: build it, or set HEDDLE_BIN");
    *strrchr(build, '/') = '\0';
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(command, sizeof command,
             "exec 2>&1; ulimit -c 0; ln -s %s/libheddle.so.0 %s/libgpuocelot.so; LD_LIBRARY_PATH=%s python3 "
             "test/host/ptx_client.py %s; s=$?; rm -r %s; exit $s",
             build, dir, dir, arguments, dir);
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    said[fread(said, 1, size - 1, out)] = '\0';
    *status = pclose(out);
    return true;
}

START_TEST(kernels_of_a_renderer) {
    char said[4096];
    int status;
    if (!client("", said, sizeof said, &status))
        return;
    ck_assert_str_eq(said, "12 kernels are right\n");
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(memory_of_several_gpus_is_refused) {
    char said[4096];
    int status;
    if (!client("refused", said, sizeof said, &status))
        return;
    ck_assert_msg(strncmp(said, "ptx_run: the source:", 20) == 0, "%s", said);
    ck_assert_ptr_nonnull(strstr(said, "error: multimem: memory of several GPUs"));
    ck_assert_int_eq(WEXITSTATUS(status), 128 + 6); /* aborted */
}
END_TEST

SUITE(host_ptx_client) {
    TEST(kernels_of_a_renderer);
    TEST(memory_of_several_gpus_is_refused);
}
