#ifndef HOST_PROGRAM_SCRIPT_H
#define HOST_PROGRAM_SCRIPT_H
/* Host programs as text (docs/programs.md): modules, buffers, launches, loops and checks in libconfig's syntax. */
#include "benchmarks/bench.h"

struct script;

/* The environment of a run. */
struct script_host {
    const struct heddle_options *options; /* for the context, and for a second one to check against another model */
    void (*watch)(struct heddle *h);      /* called with the context that a signal must stop from now on; may be NULL */
    /* Saves a buffer after the last step; NULL: nothing is saved. False, with the reason in `why`, stops the run. */
    bool (*save)(void *ctx, const char *file, const void *data, uint64_t bytes, char *why, size_t why_size);
    void *ctx;
};

/* Reads a program and checks everything that can be checked without running it. Returns NULL with the reason in `err`,
 * with place and caret. `given`: values from outside, "NAME=NUMBER" each, ends with NULL; names that the program lacks
 * are ignored. `given` NULL: none. */
struct script *script_open(const char *path, const char *const *given, char *err, size_t err_size);
void script_free(struct script *p);
/* Returns the program's `help`; "": none. */
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
/* Runs the program on `h`, a context without launches. HEDDLE_OK: it ended and every check passed. HEDDLE_WRONG: a
 * check failed, `why` names the first different element. HEDDLE_DEADLOCK: a loop reached its limit. Other statuses come
 * from the library. `why` begins with the place in the file. */
enum heddle_status script_run(const struct script *p, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
#endif
