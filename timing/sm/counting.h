#ifndef TIMING_SM_COUNTING_H
#define TIMING_SM_COUNTING_H
/* Counts of instructions. */
#include "stages.h"

/* Counts the path that issues an instruction of the program. */
static inline void count_path(struct sm_counts *n, const struct sm_warp *sw, const struct sm_path *path) {
    n->active_lanes += (unsigned)__builtin_popcount(path->lanes);
    n->path_sum += sw->n_concurrent;
}
/* Counts an instruction at issue. `driven`: of a driven context, whose unit counts its operands: they need not be
 * of all lanes. */
void sm_count_issue(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path, const struct timed_inst *ti,
                    bool driven);
/* Counts its lanes, which are known after execution (sm->fx). `active`: the lanes of its path. */
void sm_count_lanes(struct sm *sm, const struct timed_inst *ti, uint32_t pc, lanemask_t active);
/* Adds sm_issue_stage.tally to sm->n. */
void sm_take_tally(struct sm *sm);
void sm_count_chain(struct sm *sm, uint32_t pc); /* lanes of a chain */
void sm_count_reduce(struct sm *sm, uint32_t pc); /* lanes of a sum over a warp */
#endif
