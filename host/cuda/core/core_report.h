#ifndef CUDA_REPORT_H
#define CUDA_REPORT_H
/* What is written when the program ends. */
#include "core_base.h"

/* report.c: statistics by kernel on stderr, HEDDLE_JSON, HEDDLE_RESULTS. `status`: that which the program ends with. */
void cuda_report(int status);
/* report_results.c: adds the run to the database at `path`, and says on stderr when it cannot or has it already. `argc`
 * words of the command, at least one. */
void cuda_report_results(const char *path, int status, int argc, char *const *argv);
/* A launch of a checked program has ended: tells what is new in the checker's report, which may be "". */
void cuda_tell_findings(const char *kernel, const char *report);
/* The summary at the end; `quiet`: nothing when nothing was found. */
void cuda_print_findings(bool quiet);
#endif
