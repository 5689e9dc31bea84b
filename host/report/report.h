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
/* report_operations.c: the same for each kind of operation. */
bool report_operations(struct report *r);
/* report_lines.c: the lines that most issue slots went to, of runs that have a profile. */
bool report_lines(struct report *r);
/* report_paths.c: how the lanes of a warp of each kernel went, of runs that have a profile. */
bool report_paths(struct report *r);
/* What tells the run from the others, as one line of text; free it. NULL when memory is out. */
char *report_name(const struct report *r, const struct result_row *row);
#endif
