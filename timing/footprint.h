#ifndef TIMING_FOOTPRINT_H
#define TIMING_FOOTPRINT_H
/* The host memory that a simulated machine needs, computed before any of it is allocated. */
#include "isa/paths/reconv.h"
#include "timing/config/config.h"

/* Limit for one machine, in bytes: 4 GiB. */
#define FOOTPRINT_MAX (4ull << 30)

/* Returns the bytes that gpu_new() allocates for `c` and the model `ops`: every table whose size an option sets, and
 * the fixed tables of an SM. Memory that a launch allocates (registers of warps, shared memory) is not included. The
 * result is at most UINT64_MAX / 2. */
uint64_t footprint(const struct config *c, const struct reconv_ops *ops);
/* Checks that footprint() is at most FOOTPRINT_MAX. If not, `err` gets the size and the largest kind of table. */
bool footprint_check(const struct config *c, const struct reconv_ops *ops, char *err, size_t err_size);
#endif
