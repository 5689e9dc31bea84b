#ifndef TIMING_SM_PATH_SELECT_H
#define TIMING_SM_PATH_SELECT_H
/* Functions for models that switch to another path when a path has to wait, or that split a path by the hits and misses
 * of a load. They are not called under other models. */
#include "timed.h"

struct sm;

/* ---- path_select.c ---- */
/* Replaces stalled paths by ready paths at the end of a cycle, for models with wants.interleaves. Returns true if it
 * must be called again in the next cycle. */
bool sm_select(struct sm *sm, uint64_t now);
/* Wakes suspended paths after a register of the warp has been written, for models with wants.interleaves. */
void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now);
/* Handles a load that missed the L1, for models with wants.rotates. */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now);
/* Handles an instruction with a flag of sm_model.long_latency that was issued with the effects sm->fx. `id`: the id
 * that the model gave to the instruction's path. */
void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now);

/* ---- path_split.c: wants.splits ---- */
/* Splits paths of the warps in sm_warps.split_check, at the end of a cycle. Returns true if it must be called again in
 * the next cycle. */
bool sm_split(struct sm *sm, uint64_t now);
/* Handle three events of a load: sm_load_issued(), the load was issued; sm_load_known(), the tags of all its lines were
 * read; sm_load_ended(), its result was written. */
void sm_load_issued(struct sm *sm, uint32_t inflight);
void sm_load_known(struct sm *sm, uint32_t inflight);
void sm_load_ended(struct sm *sm, uint32_t inflight);
#endif
