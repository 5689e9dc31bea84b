#ifndef HOST_HTML_H
#define HOST_HTML_H
/* Parts of HTML pages that need no other file: text, style sheet and script, and sortable tables. */
#include <stdio.h>

/* Writes text with HTML's special characters escaped. */
void html_text(FILE *out, const char *text);
/* Write the head and the end of a page. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);
/* Writes the end of the page and its script `last`, and closes the memory stream of *text. Returns *text, which the
 * caller frees, or NULL if memory is out. */
char *html_finish(FILE *out, char **text, const char *last);

/* Write table cells: a column header, and a cell with text. A click on the header sorts the rows, by number if the
 * cells have numbers. */
void html_head(FILE *out, const char *text);
void html_cell(FILE *out, const char *text);
/* Writes a cell that shows `text`; the table sorts it by the value `v`. A cell with the value NAN shows a dash. */
void html_number(FILE *out, double v, const char *text);
/* Writes a cell like html_number(), with a background colour. `heat` is from -1 (orange) over 0 (no colour) to 1
 * (blue); NAN means no colour. */
void html_heat(FILE *out, double v, const char *text, double heat);
#endif
