#ifndef TIMING_SM_UNIFORM_PATH_H
#define TIMING_SM_UNIFORM_PATH_H
/* The fast path's steps of a warp with a single path (fast_path.h). */
#include "stages.h"

/* Returns the state of a path that waits at most for operands (sm_fast_path.instructions). The outcome is
 * unpredictable, so this code avoids branches. */
static inline uint32_t sm_fast_state(const struct sm_warp *sw, const struct timed_inst *ti) {
    return sb_word_choose(sw->board, &ti->regs, PATH_READY + ti->pipe, PATH_ARITH, PATH_LOAD);
}

/* Makes the registers pending that the instruction writes. `fast`: sm_fast_path.instructions. */
static inline void sm_board_issue(struct sm *sm, struct sm_warp *sw, const struct sm_path *path,
                                  const struct timed_inst *ti, bool load, const bool fast) {
    if (fast)
        sb_word_issue(sw->board, &ti->regs, load);
    else
        sm->model.sb->issue(sw->board, path->board, path->lanes, &ti->regs, load);
}

/* Makes `path` of warp `w` leave instruction `at` in cycle `now`, with peer.fetch_wrong_path. Its buffer held
 * `buffered` instructions from `at` on, and it needs none of them. Returns its state: PATH_FETCH or PATH_FETCHING. */
uint8_t sm_stray(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t at, uint32_t buffered, uint64_t now);

/* Moves all lanes of the warp's only path to `pc`, and updates the model. Requires sm_fast_path.stack, like the two
 * functions below. False: another case; nothing was done. The general case is sm_advance(), or sm_control() for
 * TIMED_TAKEN and TIMED_NOT_TAKEN. */
bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc);
/* Moves the warp's only path to the top of the stack. False: the warp waits for something, and nothing was done. The
 * general case is sm_refresh(). */
bool sm_follow(struct sm *sm, uint32_t w);
/* Moves that path past its instruction, when the wait of all its lanes is over. False: nothing was done. */
bool sm_step_over(struct sm *sm, uint32_t w);
#endif
