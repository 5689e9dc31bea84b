#ifndef HOST_RESULTS_QUEUE_H
#define HOST_RESULTS_QUEUE_H
/* A queue: a database of results that also lists the runs to do. Processes take runs from it (a claim for each), and
 * results_add() removes a run from the list. So a run is on the list until its result is in the file, whatever happens
 * to the process that took it. */
#include "results_db.h"

/* A command line `heddle sweep ...` that planned runs. The command line and a number determine a run. */
struct queue_plan {
    char binary[RESULTS_HASH]; /* digest of the heddle executable that planned the runs */
    char *folder;              /* the working directory of this heddle */
    char **argv;               /* "heddle", "sweep", options and words; NULL at the end */
    int argc;
};
struct queue_item {
    long long plan; /* id of its queue_plan */
    uint64_t number;
    char key[RESULTS_HASH];
};
enum { QUEUE_TRIES = 3 }; /* a run that fails this often without a result is given up */

/* Makes the tables of a queue in a database that has none. */
bool queue_make(struct results_db *db, char *err, size_t err_size);
bool queue_is(const struct results_db *db);
/* Adds a plan, and returns its id in *id. */
bool queue_plan_add(struct results_db *db, const struct queue_plan *p, long long *id, char *err, size_t err_size);
bool queue_plan_read(struct results_db *db, long long id, struct queue_plan *out, char *err, size_t err_size);
void queue_plan_free(struct queue_plan *p);
/* Adds a run to the list. Returns 1 if it is on the list now (a run that was given up gets new tries), 0 if the
 * database has its result, -1 with the reason on failure. */
int queue_put(struct results_db *db, const struct queue_item *item, char *err, size_t err_size);
/* Takes up to `most` runs of one plan, with a claim for each. Claims of dead processes end here. Returns their number;
 * 0: no run is free now; -1 with the reason on failure. */
int queue_take(struct results_db *db, int most, struct queue_item *out, char *err, size_t err_size);
/* Ends the claim on a run that failed without a result, for the reason `message`. Does nothing in other databases. */
bool queue_failed(struct results_db *db, const char *key, const char *message, char *err, size_t err_size);
/* Makes the file `part`, a queue with up to `most` free runs of this one. Their claims in this queue last `seconds`.
 * Returns their number, or -1 with the reason. */
int queue_split(struct results_db *db, const char *part, int most, long long seconds, char *err, size_t err_size);

struct queue_state {
    long long done, bad; /* runs with a result; runs among them whose status is not HEDDLE_OK */
    /* left: number of runs that are still to be done; given_up: number of runs that failed too often and are not tried
     * again */
    long long left, given_up;
    long long claimed, processes;
    double rate; /* results in a second, of the latest results; 0: unknown */
};
bool queue_count(struct results_db *db, struct queue_state *out, char *err, size_t err_size);
/* Calls `tell` for each run that was given up, with the reason, and for each process that has claims, with its place,
 * its number of claims and the seconds since the renewal by this machine's clock. Either function may be NULL. */
bool queue_list(struct results_db *db, void (*lost)(void *ctx, long long number, const char *key, const char *message),
                void (*owner)(void *ctx, const char *place, long long pid, long long claims, long long age), void *ctx,
                char *err, size_t err_size);
#endif
