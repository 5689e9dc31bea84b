#ifndef HOST_WHERE_H
#define HOST_WHERE_H
/* The option --where of commands that show results. */
#include "cmd.h"
#include "host/report/results_view.h"

/* Calls rows_where() with every --where of the command line. */
bool cli_rows(const struct cli *c, struct results_db *db, struct result_set *set, const struct result_row ***rows,
              int *n, char *err, size_t err_size);
/* Works like results_load(), but reads only the runs that may fulfil the conditions of --where, unless there are none.
 */
bool cli_load(const struct cli *c, struct results_db *db, bool launches, struct result_set *set, char *err,
              size_t err_size);
#endif
