#ifndef TIMING_FOOTPRINT_H
#define TIMING_FOOTPRINT_H
/* How much memory of the host a machine takes, known before any of it is asked for. */
#include "isa/paths/reconv.h"
#include "timing/config/config.h"

/* Most that a machine may take, in bytes: 4 GiB. */
#define FOOTPRINT_MAX (4ull << 30)

/* Bytes that gpu_new() takes for `c` and the model `ops`: every table whose size an option sets, and the fixed ones of
 * an SM; what a launch adds (registers of its warps, shared memory) is not in it. Saturates at UINT64_MAX / 2. */
uint64_t footprint(const struct config *c, const struct reconv_ops *ops);
/* True when that is at most FOOTPRINT_MAX; else `err` says how much it is, and what takes most of it. */
bool footprint_check(const struct config *c, const struct reconv_ops *ops, char *err, size_t err_size);
#endif
