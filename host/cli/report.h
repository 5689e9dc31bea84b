#ifndef HOST_REPORT_H
#define HOST_REPORT_H
/* A page about runs of a database, that needs no other file. */
#include "chart.h"
#include "results_view.h"

struct report {
    struct results_db *db;
    struct result_set *set;
    const struct result_row **rows; /* sorted (rows_sort()) */
    int n;
    const char *title;
    FILE *out;
    bool no_gnuplot; /* plots were left out */
    char err[1024];
};
/* False with the reason in r->err; then the page is not whole. */
bool report_write(struct report *r);

/* Draws a chart, unless it has no values or gnuplot is missing. False with the reason. */
bool report_chart(struct report *r, const struct chart *c);
/* Writes the table and frees it. False with the reason when memory was out for it. */
bool report_table(struct report *r, struct table *t);
/* report_roof.c: how near each run is to what the levels of memory and the schedulers could do. */
bool report_roofs(struct report *r);
/* Draws each machine of the runs once, the first six of them: `of` has one of `size` bytes, without padding, for each
 * row; those that are not is_whole() are passed over. False with the reason, from draws(). */
bool report_machines(struct report *r, const void *of, size_t size, bool (*is_whole)(const void *machine),
                     bool (*draws)(struct report *r, const void *machine, const void *of));
/* An option of the machine, a statistic: NAN when there is none. Bytes of DRAM: a cycle of the SMs at most, moved. */
double report_option(const struct report *r, const struct result_row *row, const char *name);
double report_stat(const struct report *r, const struct result_row *row, const char *name);
double report_dram_peak(const struct report *r, const struct result_row *row);
double report_dram_bytes(const struct report *r, const struct result_row *row);
/* report_operations.c: the same for each kind of operation. */
bool report_operations(struct report *r);
/* report_lines.c: the lines that most issue slots went to, of runs that have a profile. */
bool report_lines(struct report *r);
/* report_paths.c: how the lanes of a warp of each kernel went, of runs that have a profile. */
bool report_paths(struct report *r);
/* What tells the run from the others, as one line of text; free it. NULL when memory is out. */
char *report_name(const struct report *r, const struct result_row *row);
#endif
