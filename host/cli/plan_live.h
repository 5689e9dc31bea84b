#ifndef HOST_CLI_PLAN_LIVE_H
#define HOST_CLI_PLAN_LIVE_H
/* The live page of a plan: how many of its runs have ended, the runs that execute now, and the latest results. */
#include "cmd.h"
#include "host/report/plan.h"
#include "job.h"

/* The option of commands that execute a plan. */
#define PLAN_LIVE_OPTION                                                                                               \
    { 0, "live", "WHERE", "show the runs in a browser until all have ended (a PORT, or as for 'heddle run')" }

struct plan_live;
/* Starts the server that --live requests. *out is NULL without --live. Prints a message and returns false on an
 * error. */
bool plan_live_open(const struct cli *c, const struct plan *p, struct plan_live **out);
/* Stops the server. This function and the following ones do nothing if `l` is NULL. */
void plan_live_close(struct plan_live *l);
/* Run `run` of the plan begins. A second call for the same run changes nothing. */
void plan_live_began(struct plan_live *l, int run);
/* The run has ended as the job says. */
void plan_live_ended(struct plan_live *l, int run, const struct job *j);
/* `done` runs of the plan have results. `before` of them were in the database at the start. */
void plan_live_count(struct plan_live *l, int done, int before);
#endif
