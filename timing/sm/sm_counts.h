#ifndef TIMING_SM_COUNTS_H
#define TIMING_SM_COUNTS_H
/* The counters of an SM, generated from the rows of the statistics files (.def). */
#include "timed.h"
#include "timing/report/stat.h"
#include "timing/report/states.h"

/* clang-format off */
struct sm_counts {
#define COUNT_FIELDS
#include "sm_stats.def"
#define COUNT_FIELDS
#include "work_stats.def"
#define COUNT_FIELDS
#include "op_stats.def"
#define COUNT_FIELDS
#include "op_other_stats.def"
#define COUNT_FIELDS
#include "machine_stats.def"
/* For each mechanism that adds instructions, a group of counters. */
#define COUNT_FIELDS
#define DECLARED_SM_COUNTS
#include "timing/report/count_begin.def"
#include "mechanisms/declared.def"
#include "timing/report/count_end.def"
};
/* clang-format on */
#endif
