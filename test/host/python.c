/* Runs the tests of the Python package (python/tests) with the library of this build: plain.py, which needs only
 * Python, and all others by pytest. */
#include "test/test.h"
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* this build has no libheddle.so, because Python would need the sanitizer's runtime */
#else
#define SANITIZED 0
#endif

/* Returns the first Python that has the modules which the tests import, or NULL if no Python has them. */
static const char *python(void) {
    const char *const named = getenv("HEDDLE_PYTHON"), *const known[] = {named ? named : "python3", "/usr/bin/python3"};
    for (int i = 0; i < 2; i++) {
        char command[PATH_MAX];
        snprintf(command, sizeof command, "%s -c 'import numpy, pandas, pytest' 2>/dev/null", known[i]);
        if (system(command) == 0)
            return known[i];
    }
    return NULL;
}

/* Runs Python with these arguments in python/. The exit status must be 0, and the output must contain "passed". */
static void run_python(const char *with, const char *arguments) {
    char build[PATH_MAX], command[3 * PATH_MAX];
    const char *binary = getenv("HEDDLE_BIN");
    ck_assert_msg(realpath(binary ? binary : "build/heddle", build) != NULL, "no binary: build it, or set HEDDLE_BIN");
    *strrchr(build, '/') = '\0';
    snprintf(command, sizeof command,
             "cd python && HEDDLE_BIN=%s/heddle HEDDLE_LIBRARY=%s/libheddle.so.0 PYTHONPATH=.:$PYTHONPATH "
             "PYTHONDONTWRITEBYTECODE=1 exec %s %s 2>&1",
             build, build, with, arguments);
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    char said[1 << 16];
    size_t n = fread(said, 1, sizeof said - 1, out);
    said[n] = '\0';
    while (fgetc(out) != EOF) {
    }
    int status = pclose(out);
    char *end = n > 4000 ? said + n - 4000 : said;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", end);
    ck_assert_msg(strstr(end, "passed") && !strstr(end, "failed"), "%s", end);
}

START_TEST(tests_of_the_package) {
    const char *const with = python();
    if (SANITIZED || !with)
        test_skip(SANITIZED ? "a sanitized build has no shared library"
                            : "Python has no numpy, pandas or pytest: apt-get install python3-pandas python3-pytest");
    else /* the documents show cycles of usual tables */
        run_python(with,
                   LEAST_TABLES
                       ? "-m pytest -q --no-header -p no:cacheprovider --color=no -k 'not sessions and not notebook'"
                       : "-m pytest -q --no-header -p no:cacheprovider --color=no");
}
END_TEST

START_TEST(the_package_needs_python_only) {
    const char *const named = getenv("HEDDLE_PYTHON"), *const with = named ? named : "python3";
    char command[PATH_MAX], folder[] = "/tmp/heddle-wheel-XXXXXX", arguments[64];
    snprintf(command, sizeof command, "%s -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null", with);
    if (SANITIZED || system(command) != 0) {
        test_skip(SANITIZED ? "a sanitized build has no shared library"
                            : "there is no Python 3.9 or later: apt-get install python3");
        return;
    }
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(arguments, sizeof arguments, "tests/plain.py %s", folder);
    run_python(with, arguments);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

SUITE(host_python) {
    tcase_set_timeout(tc, 240);
    TEST(tests_of_the_package);
    TEST(the_package_needs_python_only);
}
