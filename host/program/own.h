#ifndef HOST_PROGRAM_OWN_H
#define HOST_PROGRAM_OWN_H
/* A program of the user's in the place of a built-in benchmark. */
#include "script.h"

/* `bench` stands where a benchmark does; its name is the file's, it is in no set, and its `ptx` is NULL, by which
 * bench_own() knows it. */
struct own {
    struct bench bench;
    bool checks; /* it checks its results; else a run that came to its end is not said to be right */
    enum heddle_status (*run)(const struct own *o, struct heddle *h, const struct script_host *host,
                              enum bench_size size, char *why, size_t why_size);
    const char *(*file)(const struct own *o,
                        int n); /* the n-th file that the results follow from, NULL after the last */
    const char *label;          /* what tables of runs call it; NULL: its name */
    const char *launch;         /* what else the results follow from: the options of a launch; NULL: nothing */
    /* The name of its n-th value, and its n-th value that was given from outside ("n=4096"); NULL after the last. The
     * functions are NULL where there are no values. */
    const char *(*value)(const struct own *o, int n);
    const char *(*setting)(const struct own *o, int n);
    const void *data; /* of these functions */
    void (*free)(struct own *o);
};

static inline const struct own *bench_own(const struct bench *b) { return b->ptx ? NULL : (const struct own *)b; }
/* Is the word a file's name, not a benchmark's? One with a '/', or that ends in .heddle or .ptx. */
bool own_is_file(const char *word);
/* One that ends in .heddle. */
bool own_is_program(const char *word);
/* A .heddle file in the place of a benchmark, `given` as for script_open(). `name` is not copied. NULL with the reason
 * in `err`. */
struct own *own_script(const char *name, const char *const *given, char *err, size_t err_size);
void own_free(struct own *o);
#endif
