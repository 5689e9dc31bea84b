#ifndef TIMING_SM_TENSOR_H
#define TIMING_SM_TENSOR_H
/* The asynchronous tensor units: each scheduler has one, which executes the wgmma of its warps in order. All units of
 * the SM together execute tcgen05.mma. */
#include "timing/report/stat.h"
#include "warps.h"

struct tensor_counts {
#define COUNT_FIELDS
#include "tensor_stats.def"
};

struct sm;
struct sm_tensor; /* The state of tensor.c. NULL if the program has no wgmma, and no mma or commit of tcgen05. */

/* sm_tensor_begin() prepares for a launch, and sm_tensor_end() cleans up after it. sm_tensor_begin() returns false if
 * memory is out. */
bool sm_tensor_begin(struct sm *sm);
void sm_tensor_end(struct sm *sm);
/* Returns true if the path must wait before its next instruction, which has the flags TIMED_TENSOR and TIMED_FENCE. */
bool sm_tensor_hold(const struct sm *sm, uint32_t w, const struct sm_path *path);
/* Handles an instruction with the flag TIMED_TENSOR that was executed. */
void sm_tensor_issued(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now);
/* Handles the event EVENT_TENSOR: a tensor unit begins its next product, or a product ends. Returns true if a product
 * of warp slot *slot has ended. */
bool sm_tensor_step(struct sm *sm, uint32_t value, uint64_t now, uint32_t *slot);
/* Returns true if products in flight will arrive at mbarriers. */
bool sm_tensor_in_flight(const struct sm *sm);
/* Adds the counts to the statistics, and clears them. */
void sm_tensor_stats(struct sm *sm, struct stats *s);
#endif
