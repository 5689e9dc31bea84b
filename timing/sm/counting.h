#ifndef TIMING_SM_COUNTING_H
#define TIMING_SM_COUNTING_H
/* Counts of instructions. */
#include "stages.h"

/* Counts the active lanes and the concurrent paths when a path issues an instruction. */
static inline void count_path(struct sm_counts *n, const struct sm_warp *sw, const struct sm_path *path) {
    n->active_lanes += lanes_count(path->lanes);
    n->path_sum += sw->n_concurrent;
}
/* Counts an instruction at issue. `driven`: the instruction belongs to a driven context. The context's unit counts the
 * operands, because only some lanes may read them. */
void sm_count_issue(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path, const struct timed_inst *ti,
                    bool driven);
/* Counts the lanes of an instruction after its execution, which has set sm->fx. `active`: the lanes of its path. */
void sm_count_lanes(struct sm *sm, const struct timed_inst *ti, uint32_t pc, lanemask_t active);
/* Counts an instruction that has issued in the slot of another path, with the effects sm->fx (joint.h). `own_pass`:
 * the instruction does not share the other path's pass through a pipe. `decoded`: the instruction is decoded,
 * because no earlier member of the slot is at this PC. */
void sm_count_companion(struct sm *sm, uint32_t pc, lanemask_t active, bool own_pass, bool decoded);
/* Adds sm_issue_stage.tally to sm->n. */
void sm_take_tally(struct sm *sm);
#endif
