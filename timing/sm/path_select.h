#ifndef TIMING_SM_PATH_SELECT_H
#define TIMING_SM_PATH_SELECT_H
/* For models that show another path when one has to wait, or that split a path by the hits and misses of a load. Other
 * models cause no call. */
#include "timed.h"

struct sm;

/* ---- path_select.c ---- */
/* wants.interleaves: at the end of a cycle. True: call again in the next cycle. */
bool sm_select(struct sm *sm, uint64_t now);
/* wants.interleaves: a register of the warp was written. */
void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now);
/* wants.rotates: a load missed the L1. */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now);
/* An instruction of sm_model.long_latency was issued with the effects sm->fx; the model called its path `id`. */
void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now);

/* ---- path_split.c: wants.splits ---- */
/* At the end of a cycle, for the warps of sm_warps.split_check. True: call again in the next cycle. */
bool sm_split(struct sm *sm, uint64_t now);
/* A load was issued; all its lines have been looked up; its result was written. */
void sm_load_issued(struct sm *sm, uint32_t inflight);
void sm_load_known(struct sm *sm, uint32_t inflight);
void sm_load_ended(struct sm *sm, uint32_t inflight);
#endif
