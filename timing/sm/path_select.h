#ifndef TIMING_SM_PATH_SELECT_H
#define TIMING_SM_PATH_SELECT_H
/* For models that switch paths when one has to wait, or that split a path by the hits and misses of a load. Other
 * models cause no calls. */
#include "timed.h"

struct sm;

/* ---- path_select.c ---- */
/* Switches stalled paths at the end of a cycle (wants.interleaves). True: call again in the next cycle. */
bool sm_select(struct sm *sm, uint64_t now);
/* Wakes paths that were set aside, after a register of the warp was written (wants.interleaves). */
void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now);
/* Handles a load that missed the L1 (wants.rotates). */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now);
/* Follows an instruction of sm_model.long_latency, issued with the effects sm->fx; `id`: the model's name of its
 * path. */
void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now);

/* ---- path_split.c: wants.splits ---- */
/* Splits paths of the warps in sm_warps.split_check, at the end of a cycle. True: call again in the next cycle. */
bool sm_split(struct sm *sm, uint64_t now);
/* Handles a load: it was issued; the tags of all its lines were read; its result was written. */
void sm_load_issued(struct sm *sm, uint32_t inflight);
void sm_load_known(struct sm *sm, uint32_t inflight);
void sm_load_ended(struct sm *sm, uint32_t inflight);
#endif
