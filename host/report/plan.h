#ifndef HOST_PLAN_H
#define HOST_PLAN_H
/* A plan: the runs that a command wants in a database. */
#include "benchmarks/bench.h"
#include "host/results/results_db.h"

struct plan_machine {
    struct heddle_options options; /* options of the runs' contexts; the plan owns their texts */
    struct run_machine machine;
    char key[RESULTS_HASH]; /* equal machines with equal limits have equal keys */
};
struct plan_input {
    const struct bench *bench;
    char key[RESULTS_HASH], hash[RESULTS_HASH]; /* digest of the pointer `bench`; digest of the files */
};
/* The elements of an array by their keys: a hash table of indices. */
struct plan_index {
    int *slot, slots; /* slot: index + 1; 0: free */
};
struct plan_run {
    const struct bench *bench;
    enum bench_size size;
    int machine;
    char key[RESULTS_HASH];
};
struct plan {
    char binary[RESULTS_HASH];
    struct plan_machine *machines;
    struct plan_run *runs;
    struct plan_input *inputs;
    int n_machines, n_runs, n_inputs;
    struct plan_index machine_index, run_index, input_index;
    struct run_base *bases;
    bool profile; /* true if the command wants the profile of each run, too */
    bool sampled; /* the runs are sampled simulations with the wanted error below; 0: none */
    double error;
    char sampling[64]; /* "values.sampled=2%", which distinguishes sampled runs in the database; "": not sampled */
    bool claimed;      /* the process has claimed the runs already */
    /* called several times a second while runs execute; NULL: nothing is called */
    void (*beat)(void *ctx);
    void *beat_ctx;
};

/* Begins a plan. Returns false with a reason if the executable cannot be read. Call plan_free() in either case. */
bool plan_start(struct plan *p, char *err, size_t err_size);
void plan_free(struct plan *p);
/* Returns the index of a machine, and adds the machine if it is new. Returns -1 with the reason if the options are
 * invalid. */
int plan_machine(struct plan *p, const struct heddle_options *o, char *err, size_t err_size);
/* Returns the index of a run, and adds the run if it is new. On failure returns -1 with the reason. */
int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size);
/* Removes all runs and machines. */
void plan_clear(struct plan *p);
/* Removes the runs `i` whose keep[i] is false. */
void plan_keep(struct plan *p, const bool *keep);

/* Describes a run for the database. The texts in *out belong to the plan. Reads the files of a program only once. */
bool plan_describe(struct plan *p, const struct bench *b, enum bench_size size, int machine, struct run_what *out,
                   char *err, size_t err_size);

/* Returns 1 if the database has run `i` (with its profile, if wanted), 0 if not, -1 with the reason on failure. */
int plan_has(const struct plan *p, struct results_db *db, int i, char *err, size_t err_size);
/* Writes the name of run `run` of the plan: "lud in dpe on fermi l1.size=8192". */
void plan_run_name(const struct plan *p, int run, char *out, size_t size);
#endif
