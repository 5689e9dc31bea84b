#ifndef HOST_CHART_AXIS_H
#define HOST_CHART_AXIS_H
/* The axes of a chart: their ranges, their round ticks, and numbers with SI prefixes. */
#include "chart.h"
#include <stddef.h>

enum { AXIS_TICKS = 24 };
struct axis {
    double low, high;
    bool logarithmic;
    double tick[AXIS_TICKS]; /* n values, ascending */
    int n;
};
/* Set the axis of the chart's values, and the axis of its x. If the chart has bars, the axis of values contains 0. */
void axis_of_values(struct axis *a, const struct chart *c);
void axis_of_places(struct axis *a, const struct chart *c);
/* Returns the place of a value on the axis, from 0 to 1 inside its range. */
double axis_at(const struct axis *a, double v);
/* Writes a number with at most four digits and an SI prefix, "12.5 M"; for a known unit (joules, bytes, seconds) with
 * its symbol, "3.2 mJ". Multiples of 1024 below 1024 x 1024 are written as "16K". Returns `out`. */
const char *axis_number(double v, const char *unit, char out[32]);
/* Returns the largest number of characters of a tick. */
size_t axis_width(const struct axis *a, const char *unit);
#endif
