#ifndef HOST_PROGRAM_OWN_H
#define HOST_PROGRAM_OWN_H
/* A user's program that runs in place of a built-in benchmark. */
#include "script.h"

/* A user's program that serves as a benchmark. Commands get a pointer to `bench`, whose name is the file's name and
 * which belongs to no set. Its `ptx` is NULL, by which bench_own() recognises a user's program. */
struct own {
    struct bench bench;
    bool checks; /* true if the program checks its results; if it does not, a finished run is not reported as correct */
    enum heddle_status (*run)(const struct own *o, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
    /* returns the n-th input file that affects the results; NULL after the last */
    const char *(*file)(const struct own *o, int n);
    const char *label;  /* name in tables of runs; NULL: the benchmark's name */
    const char *launch; /* launch options, which affect the results; NULL: none */
    /* value() returns the name of the n-th value that the program declares. setting() returns the n-th value that was
     * set from outside, as "n=4096". Both return NULL after the last. Both functions are NULL if there are no
     * values. */
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
/* Makes a benchmark of a .heddle file; `given`: see script_open(). `name` is not copied, so it must outlive the
 * benchmark. Returns NULL on failure, with the reason in `err`. */
struct own *own_script(const char *name, const char *const *given, char *err, size_t err_size);
void own_free(struct own *o);
#endif
