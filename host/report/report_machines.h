#ifndef HOST_REPORT_MACHINES_H
#define HOST_REPORT_MACHINES_H
/* Rooflines of a report: a plot for each machine of the runs, with a point for each run and kind (a level of memory, a
 * kind of operation) and a line for each kind, which rises to what the machine can do at most. */
#include "report.h"

enum { ROOFS = 4 }; /* kinds at most */

/* The lines of a machine, by kind; of kinds that a roofline does not have they are 0. */
struct roof_machine {
    double slope[ROOFS];  /* bytes a cycle */
    double height[ROOFS]; /* a cycle */
};

struct roofline {
    int n; /* kinds */
    const char *names[ROOFS];
    const char *x_label, *y_label;
    bool by_slope;                 /* a kind is known by its slope, and the plot by the height; or other way */
    const char *unit;              /* of what a kind is known by */
    const char *title, *title_end; /* of the plot: around what it is known by */
    struct roof_machine (*machine)(const struct report *r, const struct result_row *row);
    double (*x)(const struct report *r, const struct result_row *row, int kind);
    double (*y)(const struct report *r, const struct result_row *row, int kind);
    bool (*table)(struct report *r, const struct roof_machine *of); /* `of`: a machine for each row */
};

/* Draws each machine once, the first six of them, passing over those of which a line is not known; then the table.
 * False with the reason in r->err. */
bool report_machines(struct report *r, const struct roofline *l);

/* An option of the machine, a statistic: NAN when there is none. Bytes of DRAM: a cycle of the SMs at most, moved. */
double report_option(const struct report *r, const struct result_row *row, const char *name);
double report_stat(const struct report *r, const struct result_row *row, const char *name);
double report_dram_peak(const struct report *r, const struct result_row *row);
double report_dram_bytes(const struct report *r, const struct result_row *row);
#endif
