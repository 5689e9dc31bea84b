#ifndef HOST_HTML_H
#define HOST_HTML_H
/* What pages of HTML share that need no other file: text, images, the looks, and tables that sort. */
#include <stdio.h>

/* Text with what HTML would take for its own replaced. */
void html_text(FILE *out, const char *text);
/* An SVG, from a stream or a file read to its end, inside of the page; nothing when it is empty or NULL. */
void html_image(FILE *out, FILE *svg, const char *title);
void html_image_file(FILE *out, const char *path, const char *title);

/* The beginning and the end of a page. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

/* Cells of a table. A click on a column's head sorts by it: by the number where cells have one. */
void html_head(FILE *out, const char *text);
void html_cell(FILE *out, const char *text);
/* `text` is what is shown of `v`; NAN is a dash. */
void html_number(FILE *out, double v, const char *text);
#endif
