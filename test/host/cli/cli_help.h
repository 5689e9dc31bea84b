#ifndef TEST_CLI_HELP_H
#define TEST_CLI_HELP_H
/* The command line from outside: runs the built binary ($HEDDLE_BIN, else build/heddle) in a folder of its own and
 * looks at its exit status, its two streams and the files it leaves. */
#include "host/heddle.h"
#include "test/here.h"
#include "test/test.h"
#include <cjson/cJSON.h>
#include <limits.h>

extern char cli_binary[PATH_MAX], cli_root[PATH_MAX]; /* heddle; the folder the tests were started in */
extern char *out, *err;                               /* of the last command */
extern const char *cli_preload;                       /* a library to load before heddle, NULL: none */

/* A folder to work in, and away with it. */
void cli_setup(void);
void cli_teardown(void);
/* Runs heddle with these arguments, as a shell reads them; the exit status. */
int heddle(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The file's text; free it. */
char *slurp(const char *path);
void write_file(const char *name, const void *data, size_t len);
bool exists(const char *name);
bool has_runtime(void); /* runtime_beside() the program */
/* A member of a JSON object that must be there and a number. */
double number(const cJSON *o, const char *name);
/* k.ptx: a kernel `k` with these parameters and this body. */
void write_kernel(const char *params, const char *body);

/* The number that a query of a database gives, -1 when it gives none, or there is no such file. */
long long database_number(const char *file, const char *sql);
/* All that is in the database of results `a` is in `b`, but for the host's own figures. */
void database_contained(const char *a, const char *b);

/* The last command's status was `want`, with a look at what it said when not. */
#define STATUS(want, ...)                                                                                              \
    do {                                                                                                               \
        int status_ = heddle(__VA_ARGS__);                                                                             \
        ck_assert_msg(status_ == (want), "status %d, not %d\nstdout: %.1500s\nstderr: %.1500s", status_, (int)(want),  \
                      out, err);                                                                                       \
    } while (0)
#define SAYS(text, part) ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%.2000s", part, text)
#endif
