#ifndef HOST_PROGRAM_OWN_H
#define HOST_PROGRAM_OWN_H
/* A user's program that runs in place of a built-in benchmark. */
#include "script.h"

/* `bench` is used as the benchmark. Its name is the file's name, it belongs to no set, and its `ptx` is NULL, by which
 * bench_own() recognises a user's program. */
struct own {
    struct bench bench;
    bool checks; /* the program checks its results; without a check, a finished run is not reported as correct */
    enum heddle_status (*run)(const struct own *o, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
    const char *(*file)(const struct own *o,
                        int n); /* returns the n-th input file that affects the results; NULL after the last */
    const char *label;          /* name in tables of runs; NULL: the benchmark's name */
    const char *launch;         /* launch options, which affect the results; NULL: none */
    /* Return the name of the n-th value, and the n-th value that was set from outside ("n=4096"); NULL after the last.
     * Both functions are NULL if there are no values. */
    const char *(*value)(const struct own *o, int n);
    const char *(*setting)(const struct own *o, int n);
    const void *data; /* argument of these functions */
    void (*free)(struct own *o);
};

static inline const struct own *bench_own(const struct bench *b) { return b->ptx ? NULL : (const struct own *)b; }
/* Returns true if the word is a file name, not a benchmark: it has a '/', or ends in .heddle or .ptx. */
bool own_is_file(const char *word);
/* Returns true if the word ends in .heddle. */
bool own_is_program(const char *word);
/* Makes a benchmark of a .heddle file; `given` has the meaning as in script_open(). `name` is not copied. NULL with the
 * reason in `err`. */
struct own *own_script(const char *name, const char *const *given, char *err, size_t err_size);
void own_free(struct own *o);
#endif
