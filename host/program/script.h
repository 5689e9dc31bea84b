#ifndef HOST_PROGRAM_SCRIPT_H
#define HOST_PROGRAM_SCRIPT_H
/* Host programs as text (docs/programs.md): modules, buffers, launches, loops, checks, in libconfig's syntax. */
#include "benchmarks/bench.h"

struct script;

/* What surrounds a run. */
struct script_host {
    const struct heddle_options *options; /* of the context: a check against another model opens one like it */
    void (*watch)(struct heddle *h);      /* which context a signal is to stop from here on; NULL: nobody listens */
    /* A buffer that is to be saved, after the last step; NULL: none is. False stops the run, with the reason in `why`.
     */
    bool (*save)(void *ctx, const char *file, const void *data, uint64_t bytes, char *why, size_t why_size);
    void *ctx;
};

/* Reads a program and looks at all that can be known without running it. NULL with the reason in `err`: the place in
 * the file, with a caret. `given`: values from outside, "NAME=NUMBER" each, the last one NULL; those that the program
 * does not have are passed over. NULL: none. */
struct script *script_open(const char *path, const char *const *given, char *err, size_t err_size);
void script_free(struct script *p);
/* Its `help`, "" when it has none. */
const char *script_help(const struct script *p);
/* Does it check its results? */
bool script_checks(const struct script *p);
/* The name of its n-th value, NULL after the last. */
const char *script_value(const struct script *p, int n);
/* The n-th of the values that were given from outside and that it has, as "NAME=4096"; NULL after the last. */
const char *script_setting(const struct script *p, int n);
/* The n-th file that a run may read (input) or save to, NULL after the last. */
const char *script_input(const struct script *p, int n);
const char *script_output(const struct script *p, int n);
/* Runs it on `h`, a context without launches. HEDDLE_OK when it came to its end and every check was passed;
 * HEDDLE_WRONG with the first element that differs, HEDDLE_DEADLOCK when a loop met its limit; any other status of the
 * library passed through. `why` begins with the place in the file. */
enum heddle_status script_run(const struct script *p, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
#endif
