#ifndef TIMING_SM_OCCUPANCY_H
#define TIMING_SM_OCCUPANCY_H
/* How many CTAs of a launch an SM can hold. */
#include "unit.h"
#include <stddef.h>

/* How the units of an SM change the registers that CTAs need and can use. If no unit changes them, all fields are 0. */
struct sm_demand {
    uint32_t registers; /* 32-bit registers of the SM that units reserve */
    uint32_t warps;     /* maximum number of warps of a CTA with registers in the SM at a time; 0: all warps */
};
/* Adds the demand of a unit to `d`. `ctx` comes from the sm_unit_row. */
void sm_demand_add(struct sm_demand *d, const struct sm_unit_ops *ops, void *ctx, const struct config *cfg,
                   const struct launch *l);
/* Returns the demand of `n` units together. */
struct sm_demand sm_demand_of(const struct sm_unit_row *units, uint32_t n, const struct config *cfg,
                              const struct launch *l);

/* The resources that a CTA takes: 32-bit registers, and shared memory in bytes. */
struct sm_footprint {
    uint32_t warps, registers, shared;
};
struct sm_footprint sm_footprint_of(const struct config *cfg, const struct launch *l, struct sm_demand d);

/* Returns how many CTAs of the launch one SM can hold (occupancy): 0 when one is too large. */
uint32_t sm_occupancy(const struct config *cfg, const struct launch *l, struct sm_demand d);
/* Returns the most registers of a thread, at least `registers` and at most SM_THREAD_REGISTERS, with which an SM can
 * hold as many CTAs of `threads` threads and `shared` bytes of shared memory as with `registers`. */
enum { SM_THREAD_REGISTERS = 255 };
uint32_t sm_most_registers(const struct config *cfg, uint32_t threads, uint32_t shared, uint32_t registers);
/* Returns how many clusters of `ctas` CTAs all GPCs can hold at once, if an SM can hold `occupancy` such CTAs. */
uint64_t sm_most_clusters(const struct config *cfg, uint32_t occupancy, uint32_t ctas);
/* Checks that an SM can hold a CTA. If not, `why` names each missing resource, the need and the limit. */
bool sm_fits(const struct config *cfg, const struct launch *l, struct sm_demand d, char *why, size_t size);
#endif
