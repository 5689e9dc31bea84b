#ifndef HOST_REPORT_MACHINES_H
#define HOST_REPORT_MACHINES_H
/* Rooflines of a report. Each machine has a plot. Each run has one point per kind, where a kind is a level of memory
 * or a kind of operation. Each kind has a roof, which is the machine's limit. */
#include "report.h"

enum { ROOFS = 4 }; /* maximum number of kinds */

/* A machine with one roof for each kind; the roof is 0 if the kind is not used. */
struct roof_machine {
    double slope[ROOFS];  /* bytes per cycle */
    double height[ROOFS]; /* operations per cycle */
};

struct roofline {
    int n; /* kinds */
    const char *names[ROOFS];
    const char *x_label, *y_label;
    bool by_slope;    /* true if kinds are labelled by slope and the plot by height; false for the reverse */
    const char *unit; /* unit of the kinds' labels */
    const char *title, *title_end; /* the plot's title, before and after its number */
    struct roof_machine (*machine)(const struct report *r, const struct result_row *row);
    double (*x)(const struct report *r, const struct result_row *row, int kind);
    double (*y)(const struct report *r, const struct result_row *row, int kind);
    bool (*table)(struct report *r, const struct roof_machine *of); /* of[i] is the machine of row i */
};

/* Draws a plot for each of the first six machines whose roofs are all known, then the table. On failure returns
 * false with the reason in r->err. */
bool report_machines(struct report *r, const struct roofline *l);

/* Return an option of the machine, a statistic (NAN: none), the peak DRAM bytes per SM cycle, and the DRAM bytes
 * moved. */
double report_option(const struct report *r, const struct result_row *row, const char *name);
double report_stat(const struct report *r, const struct result_row *row, const char *name);
double report_dram_peak(const struct report *r, const struct result_row *row);
double report_dram_bytes(const struct report *r, const struct result_row *row);
#endif
