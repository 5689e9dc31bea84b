#ifndef TIMING_SM_UNIFORM_PATH_H
#define TIMING_SM_UNIFORM_PATH_H
/* The fast path's steps of a warp with a single path (fast_path.h). */
#include "stages.h"

/* The state of a path that waits at most for operands (sm_fast_path.instructions). The outcome is unpredictable, so
 * this has no branches. */
static inline uint32_t sm_fast_state(const struct sm_warp *sw, const struct timed_inst *ti) {
    return sb_word_choose(sw->board, &ti->regs, PATH_READY + ti->pipe, PATH_ARITH, PATH_LOAD);
}

/* The registers that the instruction writes are pending. `fast`: sm_fast_path.instructions. */
static inline void sm_board_issue(struct sm *sm, struct sm_warp *sw, const struct sm_path *path,
                                  const struct timed_inst *ti, bool load, const bool fast) {
    if (fast)
        sb_word_issue(sw->board, &ti->regs, load);
    else
        sm->model.sb->issue(sw->board, path->board, path->lanes, &ti->regs, load);
}

/* With peer.fetch_wrong_path: `path` of warp `w` leaves instruction `at` in cycle `now`, when its buffer held
 * `buffered` instructions from `at` on, none of which it needs. Returns its state: PATH_FETCH or PATH_FETCHING. */
uint8_t sm_stray(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t at, uint32_t buffered, uint64_t now);

/* Requires sm_fast_path.stack, as the two below. All lanes of the warp's only path go to `pc`, and the model must know.
 * False: more has to be done, and nothing was done. In the general case: sm_advance(), or sm_control() for TIMED_TAKEN
 * and TIMED_NOT_TAKEN. */
bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc);
/* Moves the warp's only path to the top of the stack. False: the warp waits for something, and nothing was done. In the
 * general case: sm_refresh(). */
bool sm_follow(struct sm *sm, uint32_t w);
/* The wait of all lanes of that path is over: it steps over its instruction. False as above. */
bool sm_step_over(struct sm *sm, uint32_t w);
#endif
