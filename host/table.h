#ifndef HOST_TABLE_H
#define HOST_TABLE_H
/* Tables of results: the same cells as text, CSV or markdown; and bars for a terminal. */
#include <stdbool.h>
#include <stdio.h>

struct table;

/* How a number reads in text; CSV has all of its digits. */
enum number_format {
    NUM_COUNT,   /* 12,345,678 */
    NUM_FIXED2,  /* 1.23 */
    NUM_FIXED3,  /* 1.234 */
    NUM_PERCENT, /* 0.873 as 87.3 % */
    NUM_MEGA,    /* 12300000 as 12.30, in CSV as 12.3 */
    NUM_SHORT,   /* four digits, with an exponent where needed: 1.234e-05 */
};

enum { TABLE_COLUMNS = 64 };
/* `titles` (NULL-terminated, TABLE_COLUMNS at most): a column each; those that begin with '>' are aligned to the right.
 * NULL when memory is out; all functions take that, and a table that ran out of memory prints what it has. */
struct table *table_new(const char *const *titles);
void table_free(struct table *t);
/* False when memory ran out for it or for one of its cells. */
bool table_whole(const struct table *t);
/* The next cell, row by row. */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, double v, enum number_format f); /* NAN: "-", and empty in CSV */
/* A line between the rows above and below; text only. */
void table_rule(struct table *t);
void table_print(const struct table *t, FILE *out); /* titles in bold on a terminal */
void table_csv(const struct table *t, FILE *out);   /* RFC 4180, without rules */
void csv_cell(FILE *out, const char *text);         /* quoted where needed */
void table_markdown(const struct table *t, FILE *out);
/* For a page (html.h): a click on a head sorts. What follows a rule stands at the foot, and stays there. */
void table_html(const struct table *t, FILE *out);

/* 12345678 as "12,345,678"; returns `out`. */
const char *group_digits(double v, char *out, size_t size);
/* True when `out` is a terminal that may be coloured (NO_COLOR and TERM=dumb are respected). */
bool color_wanted(FILE *out);
/* One line of a bar chart: label, bar, value. Longer than `mark` is green, shorter red. `max`: the value of the longest
 * bar. */
void bar_print(FILE *out, const char *label, int label_width, double value, double mark, double max);
#endif
