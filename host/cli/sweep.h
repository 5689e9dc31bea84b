#ifndef HOST_CLI_SWEEP_H
#define HOST_CLI_SWEEP_H
/* The runs that a command line `heddle sweep ...` describes: every combination of programs, models and option values.
 * Each has a number, from 0. */
#include "axes.h"
#include "host/report/plan.h"

enum { SWEEP_MOST = 1000000 }; /* most runs of a sweep */

struct sweep {
    const struct cli *c;
    const struct bench **benches;
    int n_benches;
    char *list; /* names of the models; `models` points into it */
    char *models[32];
    int n_models, size;
    struct sim sim;
    struct axes axes;
    struct plan plan;
    uint64_t runs; /* number of combinations; equal ones count */
};

/* Reads the command line, and begins a plan without runs. Prints a message and returns false on an error. Call
 * sweep_end() in either case. */
bool sweep_begin(struct sweep *s, const struct cli *c);
void sweep_end(struct sweep *s);
/* Adds run `number` to the plan. Returns its index in the plan, or -1 with the reason if its options are invalid. */
int sweep_add(struct sweep *s, uint64_t number, char *err, size_t err_size);
/* Calls put() for each option, value and word of the command line that determines the runs. */
void sweep_words(const struct cli *c, void (*put)(void *ctx, const char *word), void *ctx);

/* sweep_intervals.c: prints the intervals of the sampled runs among the plan's runs. `set` has the runs of `db`. A
 * speed-up is that over the sweep's first model, with equal options. */
void sweep_intervals(const struct sweep *s, struct results_db *db, const struct result_set *set);
/* cmd_queue.c: lists all runs of the sweep in the file, for --queue. */
enum heddle_status sweep_queue(struct sweep *s, const char *file);
#endif
