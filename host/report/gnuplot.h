#ifndef HOST_GNUPLOT_H
#define HOST_GNUPLOT_H
/* Draws plots by running gnuplot, which may be missing. */
#include <stddef.h>
#include <stdio.h>

/* The command that installs gnuplot, for messages. */
#define GNUPLOT_INSTALL "sudo apt-get install gnuplot-nox"

/* Writes the first line of a script. `ending`: svg or png; width and height in points. */
void gnuplot_terminal(const char *ending, int width, int height, FILE *out);
/* Runs gnuplot on a script; the plot goes to a stream on a file or pipe. Returns 1 if the plot is drawn, 0 if gnuplot
 * is not installed, or -1 with a reason on failure. */
int gnuplot_draw(const char *script, FILE *to, char *err, size_t err_size);
/* Works like gnuplot_draw(), for a file, which is created only if the plot is complete. */
int gnuplot_file(const char *script, const char *path, char *err, size_t err_size);
#endif
