#ifndef HOST_GNUPLOT_H
#define HOST_GNUPLOT_H
/* Plots: scripts go to gnuplot, a program of its own that need not be installed. */
#include <stddef.h>
#include <stdio.h>

/* What to type where it is missing. */
#define GNUPLOT_INSTALL "sudo apt-get install gnuplot-nox"

/* The first line of a script: `ending` is svg or png; width and height in points. */
void gnuplot_terminal(const char *ending, int width, int height, FILE *out);
/* Of the i-th series, from 0. */
const char *gnuplot_color(int i);
/* Runs gnuplot on a script, into a stream that is a file or a pipe. 1: drawn; 0: there is no gnuplot; -1: failed, with
 * a reason. */
int gnuplot_draw(const char *script, FILE *to, char *err, size_t err_size);
/* The same into a file, which is whole or not there. */
int gnuplot_file(const char *script, const char *path, char *err, size_t err_size);
#endif
