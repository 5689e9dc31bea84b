#ifndef HOST_REPORT_MACHINES_H
#define HOST_REPORT_MACHINES_H
/* Rooflines of a report. Each machine has a plot. Each run has one point per kind, where a kind is a level of memory
 * or a kind of operation. Each kind has a roof, which is the machine's limit. */
#include "report.h"

enum { ROOFS = 4 }; /* maximum number of kinds */

/* The roofs of a machine, one for each kind; a kind that is not used has 0. */
struct roof_machine {
    double slope[ROOFS];  /* bytes per cycle */
    double height[ROOFS]; /* operations per cycle */
};

struct roofline {
    int n; /* number of kinds */
    const char *names[ROOFS];
    const char *x_label, *y_label;
    /* true: the label of each kind shows the slope of its roof, and the plot's title shows the height of all roofs;
     * false: the labels show the heights, and the title shows the slope */
    bool by_slope;
    const char *unit;              /* unit of the number in each kind's label */
    const char *title, *title_end; /* text before and after the number in the plot's title */
    struct roof_machine (*machine)(const struct report *r, const struct result_row *row);
    double (*x)(const struct report *r, const struct result_row *row, int kind);
    double (*y)(const struct report *r, const struct result_row *row, int kind);
    bool (*table)(struct report *r, const struct roof_machine *of); /* of[i]: the machine of r->rows[i] */
};

/* Draws a plot for each of the first six machines whose roofs are all known, then the table. On failure returns
 * false with the reason in r->err. */
bool report_machines(struct report *r, const struct roofline *l);

/* These four functions return, for a run: an option of its machine; a statistic (NAN if the run lacks it); the peak
 * number of bytes that DRAM can move per SM cycle; and the number of bytes that DRAM moved in the run. */
double report_option(const struct report *r, const struct result_row *row, const char *name);
double report_stat(const struct report *r, const struct result_row *row, const char *name);
double report_dram_peak(const struct report *r, const struct result_row *row);
double report_dram_bytes(const struct report *r, const struct result_row *row);
#endif
