#ifndef HOST_CMD_PLAN_H
#define HOST_CMD_PLAN_H
/* Running what a plan wants, with progress and messages. */
#include "cmd.h"
#include "host/report/plan.h"

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
