#ifndef TEST_CLI_HELP_H
#define TEST_CLI_HELP_H
/* Fixture for tests of the command line. It runs the binary that was built ($HEDDLE_BIN, else build/heddle) in a folder
 * of its own. The tests check the exit status, stdout and stderr, and the files that heddle writes. */
#include "host/heddle.h"
#include "test/here.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <limits.h>

extern char cli_binary[PATH_MAX], cli_root[PATH_MAX]; /* path of heddle; the folder in which the tests were started */
extern char *out, *err;                               /* stdout and stderr of the last command */
extern const char *cli_preload;                       /* a library that is loaded before heddle (LD_PRELOAD), or NULL */

/* Create a working folder for a test, and remove it. */
void cli_setup(void);
void cli_teardown(void);
/* Runs heddle with these arguments in a shell. Returns the exit status. */
int heddle(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Returns the text of a file; the caller frees it. */
char *slurp(const char *path);
void write_file(const char *name, const void *data, size_t len);
bool exists(const char *name);
bool has_runtime(void); /* Returns whether libcudart.so is in the folder of heddle. */
/* Returns a numeric member of a JSON object; fails if there is none. */
double number(const cJSON *o, const char *name);
/* Writes k.ptx with a kernel `k` that has these parameters and this body. */
void write_kernel(const char *params, const char *body);

/* Returns the number that a query of a database returns. Returns -1 if the query returns nothing or the file does not
 * exist. */
long long database_number(const char *file, const char *sql);
/* Checks that results database `b` contains everything that `a` contains, except statistics of the host. */
void database_contained(const char *a, const char *b);

/* Runs a command and checks its exit status. If the status is wrong, prints the output of the command. */
#define STATUS(want, ...)                                                                                              \
    do {                                                                                                               \
        int status_ = heddle(__VA_ARGS__);                                                                             \
        ck_assert_msg(status_ == (want), "status %d, not %d\nstdout: %.1500s\nstderr: %.1500s", status_, (int)(want),  \
                      out, err);                                                                                       \
    } while (0)
#define SAYS(text, part) ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%.2000s", part, text)
#endif
