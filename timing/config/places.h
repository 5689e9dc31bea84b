#ifndef TIMING_PLACES_H
#define TIMING_PLACES_H
/* Possible places of the files that come with Heddle: the clone, near an installed program or library (wherever it was
 * moved), and the installation prefix. */
#include <stdbool.h>
#include <stddef.h>

/* Returns the path of the n-th place (from 0) of the folder `what`, such as "configs" or "kernels". The path has no
 * slash at its end. Returns false after the last place. The place need not exist. */
bool data_place(int n, const char *what, char *out, size_t size);
#endif
