#ifndef HOST_HTML_H
#define HOST_HTML_H
/* What pages of HTML share that need no other file: text, images, the looks, and tables that sort. */
#include <stdio.h>

/* Text with what HTML would take for its own replaced. */
void html_text(FILE *out, const char *text);
/* An SVG, from a stream or a file read to its end, inside of the page; nothing when it is empty or NULL. */
void html_image(FILE *out, FILE *svg, const char *title);
void html_image_file(FILE *out, const char *path, const char *title);

/* For <style>, and for a <script> at the end of the page: a click on a column's head sorts by it, by the number in
 * data-v where a cell has one. */
extern const char html_style[], html_script[];
#endif
