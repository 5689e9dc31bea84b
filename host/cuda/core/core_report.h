#ifndef CUDA_REPORT_H
#define CUDA_REPORT_H
/* The output that Heddle writes when the program ends. */
#include "core_base.h"

/* Prints statistics for each kernel to stderr, and writes HEDDLE_JSON and HEDDLE_RESULTS. `status` is the exit
 * status of the program. */
void cuda_report(int status);
/* Works as cuda_report(), but does not take the CUDA lock. */
void cuda_report_now(int status);
/* core_plan.c: cuda_open_plan() returns the plan of a sampled simulation in the file HEDDLE_PLAN, or NULL without this
 * variable. cuda_settle_plan() ends the run of this plan and writes the file. */
struct heddle_plan *cuda_open_plan(void);
void cuda_settle_plan(void);
/* Adds the run to the database at `path`. Prints a message to stderr on failure, when it returns false, or if the
 * database already has the run. `argc` is the number of words of the command, at least one. */
bool cuda_report_results(const char *path, int status, int argc, char *const *argv);
/* Prints the new findings from the checker's report on a launch. The report may be "". */
void cuda_print_new_findings(const char *kernel, const char *report);
/* Prints the summary at the end. If `quiet` is set, it is printed only if the checker found something. */
void cuda_print_findings(bool quiet);
#endif
