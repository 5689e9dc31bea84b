#ifndef HOST_RESULTS_VALUES_H
#define HOST_RESULTS_VALUES_H
/* The text of a list of statistics: a JSON array of numbers, in which null stands for a statistic without a value. */

/* Returns the text of n values without the nulls at its end; NaN and infinities are nulls. A number has 15 digits if
 * these are exact but for rounding, and 17 otherwise, as the JSON library prints it. The caller frees the text. NULL:
 * the host is out of memory. */
char *values_print(const double *v, int n);
/* Calls `take` for each value of the text, with 1 for the first element, and so on. NULL has no values. */
void values_each(const char *text, void (*take)(void *ctx, int number, double value), void *ctx);
/* Returns element `i` of the text, from 0; NaN: none. */
double values_at(const char *text, int i);
#endif
