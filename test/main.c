/* Runs every registered suite, or those named on the command line, and ends with a line of totals. */
#include "test.h"
#include <stdio.h>

static struct test_suite *all;

void test_register(struct test_suite *s) {
    struct test_suite **at = &all;
    while (*at && strcmp((*at)->name, s->name) < 0)
        at = &(*at)->next;
    s->next = *at;
    *at = s;
}

static bool wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strncmp(name, argv[i], strlen(argv[i])) == 0)
            return true;
    return argc < 2;
}

int main(int argc, char **argv) {
    SRunner *runner = NULL;
    for (struct test_suite *s = all; s; s = s->next) {
        if (!wanted(s->name, argc, argv))
            continue;
        Suite *suite = suite_create(s->name);
        TCase *tc = tcase_create(s->name);
        tcase_set_timeout(tc, 120);
        s->fill(tc);
        suite_add_tcase(suite, tc);
        if (runner)
            srunner_add_suite(runner, suite);
        else
            runner = srunner_create(suite);
    }
    if (!runner) {
        fprintf(stderr, "check: no such suite\n");
        return 2;
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), run = srunner_ntests_run(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed != 0 || run == 0;
}
