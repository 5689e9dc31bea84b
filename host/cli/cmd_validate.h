#ifndef HOST_CMD_VALIDATE_H
#define HOST_CMD_VALIDATE_H
/* Parts of `heddle validate`. */
#include "cmd.h"
#include "host/table.h"
#include <cjson/cJSON.h>

/* Writes the files of --json and --csv, and prints the table unless one of them is stdout; sets *printed. Frees `json`;
 * NULL: there was no memory for it. */
enum heddle_status validate_write(const struct cli *c, const struct table *t, cJSON *json, bool *printed);
/* Runs the benchmarks whose kernels have counts measured on the card, and prints both counts. */
enum heddle_status validate_programs(const struct cli *c, const char *card, const struct sim *sim);
#endif
