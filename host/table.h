#ifndef HOST_TABLE_H
#define HOST_TABLE_H
/* Tables of results, printed as text, CSV, markdown or HTML; and bar charts for a terminal. */
#include <stdbool.h>
#include <stdio.h>

struct table;

/* The format of a number in text. CSV has all digits. */
enum number_format {
    NUM_COUNT,   /* 12,345,678 */
    NUM_FIXED2,  /* 1.23 */
    NUM_FIXED3,  /* 1.234 */
    NUM_PERCENT, /* 0.873 as 87.3 % */
    NUM_MEGA,    /* in millions, with two decimals: 12300000 is printed as 12.30, and in CSV as 12.3 */
    NUM_SHORT,   /* four digits, with an exponent where needed: 1.234e-05 */
};

enum { TABLE_COLUMNS = 64 };
/* Makes a table with a column for each of `titles` (NULL-terminated, at most TABLE_COLUMNS). A title that begins with
 * '>' aligns its column to the right. Returns NULL when memory runs out. All functions accept NULL; a table that ran
 * out of memory prints the cells it has. */
struct table *table_new(const char *const *titles);
void table_free(struct table *t);
/* Returns false if memory ran out for the table or one of its cells. */
bool table_whole(const struct table *t);
/* Adds the next cell. Cells are added row by row. */
void table_text(struct table *t, const char *text);
/* Adds a cell with a number. NAN is printed as "-", and is an empty cell in CSV. */
void table_number(struct table *t, double v, enum number_format f);
/* Adds a horizontal line below the last row. Only the text format draws the line. */
void table_rule(struct table *t);
void table_print(const struct table *t, FILE *out); /* on a terminal, the titles are bold */
void table_csv(const struct table *t, FILE *out);   /* RFC 4180, without rules */
void csv_cell(FILE *out, const char *text);         /* quoted where needed */
void table_markdown(const struct table *t, FILE *out);
/* Writes the table for a page (html.h). A click on a header sorts the table. Rows after a rule stay at the end of the
 * table. */
void table_html(const struct table *t, FILE *out);

/* Writes 12345678 as "12,345,678" and returns `out`. */
const char *group_digits(double v, char *out, size_t size);
/* Returns true if `out` is a terminal and colours are allowed (by NO_COLOR and TERM). */
bool color_wanted(FILE *out);
/* Prints one line of a bar chart: label, bar, value. A bar is green if the value is above `mark`, and red if it is
 * below. `max` is the value of the longest bar. */
void bar_print(FILE *out, const char *label, int label_width, double value, double mark, double max);
#endif
