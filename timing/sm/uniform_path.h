#ifndef TIMING_SM_UNIFORM_PATH_H
#define TIMING_SM_UNIFORM_PATH_H
/* Functions of the fast path (fast_path.h) for a warp with a single path. */
#include "stages.h"

/* Returns the state of a path that is ready or waits only for operands (sm_fast_path.instructions). The host cannot
 * predict the result, so this code avoids branches. `word`: true only if sm_fast_path.board_word is true. */
static inline uint32_t sm_fast_state(const struct sm_warp *sw, const struct timed_inst *ti, const bool word) {
    const uint32_t ready = PATH_READY + ti->pipe;
    return word ? sb_word_choose(sw->board, &ti->regs, ready, PATH_ARITH, PATH_LOAD)
                : sb_warp_choose(sw->board, &ti->regs, ready, PATH_ARITH, PATH_LOAD);
}

/* Makes the registers pending that the instruction writes. `fast`: sm_fast_path.instructions. */
static inline void sm_board_issue(struct sm *sm, struct sm_warp *sw, const struct sm_path *path,
                                  const struct timed_inst *ti, bool load, const bool fast) {
    if (fast)
        sb_warp_issue(sw->board, &ti->regs, load);
    else
        sm->model.sb->issue(sw->board, path->board, path->lanes, &ti->regs, load);
}

/* Handles the fetch after `path` of warp `w` went from instruction `at` to path->pc in cycle `now`; used only with
 * peer.fetch_wrong_path. Sets path->stray if the path jumped. Before the step, the path's buffer contained
 * `buffered` instructions from `at` on, which are no longer needed. Returns the path's new state: PATH_FETCH or
 * PATH_FETCHING. */
uint8_t sm_stray(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t at, uint32_t buffered, uint64_t now);

/* Moves all lanes of the warp's only path to `pc`, and updates the model. Requires sm_fast_path.stack, like the two
 * functions below. If it cannot handle the move, it does nothing and returns false. The caller then uses the general
 * function: sm_control() for TIMED_TAKEN and TIMED_NOT_TAKEN, and sm_advance() for all other instructions. */
bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc);
/* Moves the warp's only path to the top of the stack. If the warp waits, it does nothing and returns false, and the
 * caller uses sm_refresh(). */
bool sm_follow(struct sm *sm, uint32_t w);
/* Moves the warp's only path past its instruction when all lanes have stopped waiting at this instruction. Returns
 * false if it did nothing. */
bool sm_step_over(struct sm *sm, uint32_t w);
#endif
