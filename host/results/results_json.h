#ifndef HOST_RESULTS_JSON_H
#define HOST_RESULTS_JSON_H
/* JSON for contexts with very many launches, and for databases. */
#include "host/heddle.h"
#include <stdbool.h>

/* Works like heddle_write_json(), with one more option. With `sums`, a member of "kernels" is the sum of all launches
 * of a kernel; "launches" is the number of launches, and grid, block and dynamic_shared are from the first launch.
 * Without `sums`, each member is one launch. */
enum heddle_status results_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check, bool sums);
/* Writes what a database stores of this JSON: "kernels", "incomplete", "sampled", and in place of "stats" the member
 * "values", a string with the text of all statistics in the order of stat_defs() (values.h). If the context has one
 * launch, its values are the run's, and its member of "kernels" has none. Without `launches`,
 * the list "kernels" is left out: in a program with many short launches, it takes longer than the simulation. */
enum heddle_status results_write_brief(struct heddle *h, FILE *out, bool launches);
#endif
