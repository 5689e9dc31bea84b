/* Runs the tests of the Python package (python/tests) by pytest, with the library of this build. */
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

START_TEST(tests_of_the_package) {
    char build[PATH_MAX], command[3 * PATH_MAX];
    const char *binary = getenv("HEDDLE_BIN"), *with = python();
    if (SANITIZED || !with) {
        test_skip(SANITIZED ? "a sanitized build has no shared library"
                            : "Python has no numpy, pandas or pytest: apt-get install python3-pandas python3-pytest");
        return;
    }
    ck_assert_msg(realpath(binary ? binary : "build/heddle", build) != NULL, "no binary: build it, or set HEDDLE_BIN");
    *strrchr(build, '/') = '\0';
    snprintf(
        command, sizeof command,
        "cd python && HEDDLE_BIN=%s/heddle HEDDLE_LIBRARY=%s/libheddle.so.0 PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 "
        "exec %s -m pytest -q --no-header -p no:cacheprovider --color=no 2>&1",
        build, build, with);
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
    ck_assert_msg(strstr(end, " passed") && !strstr(end, "failed"), "%s", end);
}
END_TEST

SUITE(host_python) {
    tcase_set_timeout(tc, 240);
    TEST(tests_of_the_package);
}
