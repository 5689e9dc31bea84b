#ifndef TIMING_PLACES_H
#define TIMING_PLACES_H
/* Where the files that come with Heddle may lie: in the clone, beside an installed program or library, wherever that
 * was moved to, and where it was to be installed. */
#include <stdbool.h>
#include <stddef.h>

/* The n-th place (from 0) of the folder `what`, "configs" or "kernels", without a slash at its end; false after the
 * last. It need not exist. */
bool data_place(int n, const char *what, char *out, size_t size);
#endif
