#ifndef HOST_CMD_PLAN_H
#define HOST_CMD_PLAN_H
/* Executes the runs of a plan, with progress and messages. */
#include "cmd.h"
#include "host/report/plan.h"

struct plan_outcome {
    /* runs in the database: `ran` that this process stored, `there` that were stored earlier or by another process */
    int ran, there;
    int failed;  /* runs without a result to store, each with a message on stderr */
    bool broken; /* the database could not be read or written */
};
/* Executes the runs that the database lacks, `parallel` at a time, and stores each run when it ends. Returns HEDDLE_OK
 * if the database then has all runs, whatever their status; HEDDLE_STOPPED after a signal; HEDDLE_USAGE, after a
 * message, if the database cannot be written or a run was refused. Serves a page if the command line has --live. */
enum heddle_status plan_execute(struct plan *p, struct results_db *db, int parallel, const struct cli *c,
                                struct plan_outcome *out);
/* Prints a line on stderr for each run of the plan in `set` whose status is not HEDDLE_OK. Returns the first such
 * status, or HEDDLE_OK. */
enum heddle_status plan_complain(const struct plan *p, const struct result_set *set, const struct cli *c);
#endif
