#ifndef HOST_PLAN_H
#define HOST_PLAN_H
/* Runs that are wanted of a database, and the running of those that it has not. */
#include "cmd.h"
#include "host/results_db.h"
#include "job.h"

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

/* cmd_plan.c */
struct plan_outcome {
    int ran, there; /* runs now in the database: put there by this process, and before it or by another */
    int failed;     /* could not be run: messages are on stderr */
};
/* Runs what the database has not, `parallel` at a time, and adds each as it ends. HEDDLE_OK when the database then has
 * all of them, however they ended; HEDDLE_STOPPED after a signal; HEDDLE_USAGE, after a message, when it cannot be
 * written or a run was refused. */
enum heddle_status plan_execute(struct plan *p, struct results_db *db, int parallel, const struct cli *c,
                                struct plan_outcome *out);
/* The first status other than HEDDLE_OK of the plan's runs in `set`, after a line on stderr for each. */
enum heddle_status plan_complain(const struct plan *p, const struct result_set *set, const struct cli *c);
#endif
