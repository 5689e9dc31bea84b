#ifndef TIMING_SM_PLAIN_H
#define TIMING_SM_PLAIN_H
/* The SM compiled for what it mostly runs. Its stages of every instruction exist twice, from one source: functions that
 * take `plain` are always inline, and called with it known. Where it is true
 * - the scoreboard is the warp-wide one with a word of registers (sb_word_check() and others, without a call);
 * - no unit listens to instructions or has contexts, and nobody wants to see counts by PC;
 * - the model neither gathers nor splits nor hears of long latencies;
 * - the instruction is none of TIMED_RARE.
 * What is asked for all of these at once is sm->plain; sm->lean is that on an SM that is not divided, with one word of
 * warps; sm->jumps is that with the stack of spe, all of it in hardware, and without turns (sm_go_on()); sm->calm is
 * the like for the cycle: one word of warps, nobody who looks at cycles, no model or policy that has work in each. All
 * are found for a launch, and anew when a unit listens or no longer does, or opens a context. */
#include "isa/arith.h"
#include "sm_parts.h"

enum {
    TIMED_RARE = TIMED_ORDERED | TIMED_FREE | TIMED_MEMBERS | TIMED_YIELD | TIMED_DEQ | TIMED_CHAIN | TIMED_REDUCE |
                 TIMED_SPILL | TIMED_COPY
};

static inline void sm_board_issue(struct sm *sm, struct sm_warp *sw, const struct sm_path *path,
                                  const struct timed_inst *ti, bool load, const bool plain) {
    if (plain)
        sb_word_issue(sw->board, &ti->regs, load);
    else
        sm->sb->issue(sw->board, path->board, path->lanes, &ti->regs, load);
}

/* The state of a path that waits for operands, or for nothing else than those. Which it is is as good as random, as in
 * all that follows: no branches. */
static inline uint32_t sm_plain_state(const struct sm_warp *sw, const struct timed_inst *ti) {
    return sb_word_choose(sw->board, &ti->regs, PATH_READY + ti->pipe, PATH_ARITH, PATH_LOAD);
}

/* sm_move() of a warp's only path. */
static inline void sm_move_plain(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t state, const bool lean) {
    uint64_t *in_state = sm->in_state[lean ? 0 : w / 64], bit = 1ull << w % 64;
    in_state[path->state] &= ~bit;
    in_state[state] |= bit;
    path->state = (uint8_t)state;
}

/* sm->jumps: all lanes of the warp's only path go on at `pc`, which the model has to hear of. False: something else has
 * to be done, too, and nothing was. What is done otherwise by sm_advance(), or by sm_control() for TIMED_TAKEN and
 * TIMED_NOT_TAKEN. */
bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc);
/* A fetch is named by its warp and a number of the warp's, so that one for a path that has moved on is dropped. */
static inline uint32_t sm_ticket(uint32_t w, uint16_t ticket) { return w << 16 | ticket; }
/* With peer.fetch_astray: `path` of warp `w` has left instruction `at` at cycle `now`, when its buffer held `buffered`
 * instructions from `at` on, none of which it needs. Returns its state: PATH_FETCH or PATH_FETCHING. */
uint8_t sm_stray(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t at, uint32_t buffered, uint64_t now);
/* The warp's only path has its instructions, and nothing of the warp waits: it is where the top of the stack says.
 * False: it is not so, and nothing was done. What sm_refresh() does otherwise. */
bool sm_follow(struct sm *sm, uint32_t w);
/* Likewise, when the wait of all lanes of that path is over: it steps over the instruction at which it stands. */
bool sm_step_over(struct sm *sm, uint32_t w);
#endif
