/* Tests `heddle run --live` if libmicrohttpd is missing or unusable. The tests build libraries that replace it. */
#include "test/host/cli/cli_help.h"
#include <stdio.h>
#include <unistd.h>

static const char name[] = "fake/libmicrohttpd.so.12";

/* Builds a library from this source. If this fails, or if heddle is built without live pages, skips the test and
 * returns false. */
static bool build(const char *file, const char *source) {
    char command[256];
    write_kernel("", "");
    if (heddle("run k.ptx -g 1 -b 1 --live ''"), strstr(err, "built without") != NULL) {
        test_skip("this heddle has no live pages");
        return false;
    }
    write_file("fake.c", source, strlen(source));
    snprintf(command, sizeof command, "mkdir -p fake && cc -shared -fPIC -o %s fake.c -ldl 2>/dev/null", file);
    if (system(command) == 0)
        return true;
    test_skip("there is no cc");
    return false;
}

/* Runs heddle with the folder fake/ first in the library path. heddle must print this message and must not run the
 * kernel. */
static void live_says(const char *what) {
    setenv("LD_LIBRARY_PATH", "fake", 1);
    int status = heddle("run k.ptx -g 1 -b 32 --live 0 --json r.json");
    unsetenv("LD_LIBRARY_PATH");
    ck_assert_msg(status == HEDDLE_USAGE, "status %d: %s", status, err);
    SAYS(err, what);
    ck_assert_str_eq(out, "");
    ck_assert(!exists("r.json"));
}

/* The preloaded dlopen() replaces the library's name by a name that does not exist, so that the real loader finds no
 * library. */
START_TEST(a_missing_library) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    test_skip("a sanitizer wants to be loaded first");
    return;
#endif
    if (!build("fake/none.so",
               "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <string.h>\n"
               "void *dlopen(const char *n, int how) {\n"
               "  void *(*real)(const char *, int) = dlsym(RTLD_NEXT, \"dlopen\");\n"
               "  return real(n && strstr(n, \"microhttpd\") ? \"libno-such-library.so.12\" : n, how); }\n"))
        return;
    cli_preload = "fake/none.so";
    live_says("--live: a live page needs libmicrohttpd, which is not installed: apt-get install libmicrohttpd12\n");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 32 --live ./s");
    ck_assert(!exists("s"));
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32"); /* other commands do not need the library */
    ck_assert_str_eq(err, "");
    cli_preload = NULL;
}
END_TEST

START_TEST(a_damaged_library) {
    if (!build(name, "int nothing;"))
        return;
    write_file(name, "\177ELF and no more", 16);
    live_says("a live page needs libmicrohttpd, which cannot be loaded: fake/libmicrohttpd.so.12: file too short");
}
END_TEST

static const char *const functions[] = {
    "MHD_start_daemon",   "MHD_stop_daemon",      "MHD_create_response_from_buffer", "MHD_add_response_header",
    "MHD_queue_response", "MHD_destroy_response", "MHD_lookup_connection_value"};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Builds a library that has all of these functions except function number `missing`. Each function returns 0. */
static bool build_without(int missing) {
    char source[1024] = "";
    for (int i = 0; i < FUNCTIONS; i++)
        if (i != missing)
            snprintf(source + strlen(source), sizeof source - strlen(source), "void *%s() { return 0; }\n",
                     functions[i]);
    return build(name, source);
}

START_TEST(a_library_without_a_function) {
    char want[128];
    if (!build_without(_i))
        return;
    snprintf(want, sizeof want, "and the libmicrohttpd.so.12 that is found has no %s: is there another one in LD_",
             functions[_i]);
    live_says(want);
}
END_TEST

START_TEST(a_server_that_does_not_start) {
    if (build_without(-1))
        live_says("/: the server does not start\n");
}
END_TEST

static void teardown(void) {
    cli_preload = NULL;
    unsetenv("LD_LIBRARY_PATH");
    cli_teardown();
}

SUITE(host_live_http) {
    tcase_add_checked_fixture(tc, cli_setup, teardown);
    TEST(a_missing_library);
    TEST(a_damaged_library);
    TEST_LOOP(a_library_without_a_function, 0, FUNCTIONS);
    TEST(a_server_that_does_not_start);
}
