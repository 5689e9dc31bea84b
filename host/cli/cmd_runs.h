#ifndef HOST_CMD_RUNS_H
#define HOST_CMD_RUNS_H
/* What bench and compare share: which benchmarks, and where their results go. */
#include "cmd.h"
#include "host/table.h"
#include "job.h"

/* The benchmarks named on the command line, one by one or by a set, all when none is. Returns their number, 0 after a
 * message; free with runs_free(). Files are programs: each is a benchmark of its own (host/program/own.h), with the
 * values that -v says; with `several` values it is one for each combination. */
int runs_select(const struct cli *c, bool several, const struct bench ***out);
void runs_free(const struct bench **list, int n);
/* --json and --csv, checked before a long run. False after a message. */
bool runs_files_possible(const struct cli *c);
/* Writes the files asked for, or the table to stdout when none of them is stdout. */
enum heddle_status runs_write(const struct cli *c, const struct job *jobs, int n, const struct table *t);
/* Messages of the runs that did not pass, on stderr; returns the first such status. */
enum heddle_status runs_complain(const struct cli *c, const struct job *jobs, int n);
/* True when the table goes to stdout. */
bool runs_to_stdout(const struct cli *c);
#endif
