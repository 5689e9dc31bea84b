#ifndef HOST_RESULTS_JSON_H
#define HOST_RESULTS_JSON_H
/* JSON for contexts with very many launches. */
#include "host/heddle.h"
#include <stdbool.h>

/* heddle_write_json() with an option: with `sums`, a member of "kernels" is the sum of all launches of a kernel, with
 * their number in "launches", and grid, block and dynamic_shared of the first launch. Without it, each member is a
 * launch. */
enum heddle_status results_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check, bool sums);
#endif
