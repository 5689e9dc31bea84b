#ifndef TEST_TOYS_BUILD_TOY_H
#define TEST_TOYS_BUILD_TOY_H
/* Builds a heddle program with an extension of test/toys, for tests that run it instead of the product. */
#include "test/host/cli/cli_help.h"
#include <libgen.h>
#include <stdio.h>

/* Builds ./heddle-toy with `script` of test/toys. The tests then run this program instead of the product. */
static inline void build_toy(const char *script) {
    char library[PATH_MAX], command[4 * PATH_MAX];
    cli_setup();
    strcpy(library, cli_binary);
    snprintf(command, sizeof command,
             "ulimit -t 100; LIBS='%s' '%s/test/toys/%s' '%s' '%s/libheddle-internal.a' %s 2>build.txt", TOY_LIBS,
             cli_root, script, cli_root, dirname(library), TOY_COMPILE);
    int how = system(command);
    char *said = slurp("build.txt");
    ck_assert_msg(how == 0, "%.3000s", said);
    free(said);
    ck_assert_ptr_nonnull(realpath("heddle-toy", cli_binary));
    snprintf(command, sizeof command, "%s/configs", cli_root);
    setenv("HEDDLE_CONFIGS", command, 1);
}

/* Returns a statistic of the JSON report o.json. */
static inline double toy_statistic(const char *name) {
    char *text = slurp("o.json");
    cJSON *all = cJSON_Parse(text);
    ck_assert_ptr_nonnull(all);
    double value = number(cJSON_GetObjectItem(all, "stats"), name);
    cJSON_Delete(all);
    free(text);
    return value;
}
#endif
