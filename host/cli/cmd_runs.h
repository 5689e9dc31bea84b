#ifndef HOST_CMD_RUNS_H
#define HOST_CMD_RUNS_H
/* Shared by bench, compare and sweep: selecting benchmarks, and writing their results. */
#include "cmd.h"
#include "host/table.h"
#include "job.h"

/* Selects the benchmarks that the words of the command line name: benchmarks, sets of benchmarks, and files. Without
 * words, selects all benchmarks. A file is a program that serves as a benchmark (host/program/own.h) and gets the
 * values of -v. With `several`, -v may list several values, and the file is selected once for each combination. Returns
 * the number of selected benchmarks. Prints a message and returns 0 on an error. Free with runs_free(). */
int runs_select(const struct cli *c, bool several, const struct bench ***out);
void runs_free(const struct bench **list, int n);
/* Checks before a long run that --json and --csv can be written. Prints a message and returns false on an error. */
bool runs_files_possible(const struct cli *c);
/* Returns what the results of the runs need: everything with --json, else only the statistics of whole runs. */
enum job_needs runs_need(const struct cli *c);
/* Writes the files of --json and --csv, and prints the table to stdout unless one of these files is stdout. */
enum heddle_status runs_write(const struct cli *c, const struct job *jobs, int n, const struct table *t);
/* Prints the messages of runs that did not pass on stderr. Returns the status of the first one. */
enum heddle_status runs_complain(const struct cli *c, const struct job *jobs, int n);
/* Returns true if the table goes to stdout. */
bool runs_to_stdout(const struct cli *c);
#endif
