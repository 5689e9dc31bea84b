#ifndef HOST_PROGRAM_SCRIPT_H
#define HOST_PROGRAM_SCRIPT_H
/* Host programs as text (docs/programs.md): modules, buffers, launches, loops and checks in libconfig's syntax. */
#include "benchmarks/bench.h"

struct script;

/* The environment of a run. */
struct script_host {
    /* options of the context, which a second context uses, too, if a check compares with another model */
    const struct heddle_options *options;
    void (*watch)(struct heddle *h); /* called with the context that a signal must stop from now on; may be NULL */
    /* Called after the last step for each buffer to be saved; NULL: nothing is saved. If it returns false, with the
     * reason in `why`, the run fails. */
    bool (*save)(void *ctx, const char *file, const void *data, uint64_t bytes, char *why, size_t why_size);
    void *ctx;
};

/* Reads a program and checks everything that can be checked without running it. On failure returns NULL, with the
 * reason and its place in `err`. `given`: list of values that replace the program's values, "NAME=NUMBER" each, ended
 * by NULL; names that the program lacks are ignored. `given` may be NULL. */
struct script *script_open(const char *path, const char *const *given, char *err, size_t err_size);
void script_free(struct script *p);
/* Returns the text of the program's setting `help`, or "". */
const char *script_help(const struct script *p);
/* Returns true if the program checks its results. */
bool script_checks(const struct script *p);
/* Returns the name of the n-th value; NULL after the last. */
const char *script_value(const struct script *p, int n);
/* Returns the n-th value from outside that the program declares, as "NAME=4096"; NULL after the last. */
const char *script_setting(const struct script *p, int n);
/* Return the n-th file that a run may read (input) or write (output); NULL after the last. */
const char *script_input(const struct script *p, int n);
const char *script_output(const struct script *p, int n);
/* Runs the program on `h`, a context without launches. HEDDLE_OK: the program ended and every check passed.
 * HEDDLE_WRONG: a check failed, `why` names the first different element. HEDDLE_DEADLOCK: a loop reached its limit.
 * Other statuses come from the library. `why` begins with the place in the file. */
enum heddle_status script_run(const struct script *p, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
#endif
