#ifndef HOST_PLAN_H
#define HOST_PLAN_H
/* A plan: the runs that a command wants in a database. */
#include "benchmarks/bench.h"
#include "host/results/results_db.h"

struct plan_machine {
    struct heddle_options options; /* options of the runs' contexts; the plan owns their texts */
    struct run_machine machine;
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
    int n_machines, n_runs;
    bool profile; /* true if the command wants the profile of each run, too */
};

/* Begins a plan. Returns false with a reason if the executable cannot be read. Call plan_free() in either case. */
bool plan_start(struct plan *p, char *err, size_t err_size);
void plan_free(struct plan *p);
/* Returns the index of a machine, and adds the machine if it is new. Returns -1 with the reason if the options are
 * invalid. */
int plan_machine(struct plan *p, const struct heddle_options *o, char *err, size_t err_size);
/* Returns the index of a run, and adds the run if it is new. On failure returns -1 with the reason. */
int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size);

/* Describes a run for the database. The texts in *out belong to the plan. */
bool plan_describe(const struct plan *p, const struct bench *b, enum bench_size size, int machine, struct run_what *out,
                   char *err, size_t err_size);

/* Returns 1 if the database has run `i` (with its profile, if wanted), 0 if not, -1 with the reason on failure. */
int plan_has(const struct plan *p, struct results_db *db, int i, char *err, size_t err_size);
#endif
