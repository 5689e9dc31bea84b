#ifndef CUDA_REPORT_H
#define CUDA_REPORT_H
/* What Heddle writes when the program ends. */
#include "core_base.h"

/* Prints statistics for each kernel to stderr, and writes HEDDLE_JSON and HEDDLE_RESULTS. `status`: the exit status of
 * the program. */
void cuda_report(int status);
/* Adds the run to the database at `path`; prints to stderr if it cannot, or if the run is there already. `argc` words
 * of the command, at least one. */
void cuda_report_results(const char *path, int status, int argc, char *const *argv);
/* Prints the new findings in the report of the checker on a launch, which may be "". */
void cuda_print_new_findings(const char *kernel, const char *report);
/* Prints the summary at the end; `quiet`: only if the checker found something. */
void cuda_print_findings(bool quiet);
#endif
