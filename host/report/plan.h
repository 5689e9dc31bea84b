#ifndef HOST_PLAN_H
#define HOST_PLAN_H
/* Runs that are wanted of a database, and the running of those that it has not. */
#include "benchmarks/bench.h"
#include "host/results/results_db.h"

struct plan_machine {
    struct heddle_options options; /* its texts are the plan's */
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
    bool profile; /* runs are wanted with a profile */
};

/* False, with a reason, when the executable cannot be read. Free in any case. */
bool plan_start(struct plan *p, char *err, size_t err_size);
void plan_free(struct plan *p);
/* The place of a machine, entered when it is not there yet; -1, with the reason, when the options make none. */
int plan_machine(struct plan *p, const struct heddle_options *o, char *err, size_t err_size);
/* The place of a run, entered when it is not there yet; -1 with the reason. */
int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size);

/* What a run is, for the database; texts are the plan's. */
bool plan_describe(const struct plan *p, const struct bench *b, enum bench_size size, int machine, struct run_what *out,
                   char *err, size_t err_size);

/* Whether the database has run `i`, as it is wanted: 1, 0, or -1 with the reason. */
int plan_has(const struct plan *p, struct results_db *db, int i, char *err, size_t err_size);
#endif
