#ifndef TIMING_SM_MODERN_ISSUES_H
#define TIMING_SM_MODERN_ISSUES_H
/* The modern core: what every issue does to its warp, inline for the paths of the issue stage. */
#include "modern_due.h"

/* Does the same as modern_too_early(), inline for the common case. */
static inline bool modern_is_early(const struct sm *sm, uint32_t w, const struct sm_path *path,
                                   const struct timed_inst *ti, uint64_t now) {
    if (sm->fast.board_word && sm->modern->warp[w].fresh[0].cycle != now &&
        sb_word_check(sm->warps.slot[w].board, &ti->regs) == SB_READY)
        return false;
    return modern_too_early(sm, w, path, now);
}

/* Does the same as modern_stall() if control bits decide which instructions may issue (sm_modern.guided). */
static inline void modern_stall_guided(struct sm *sm, uint32_t w, lanemask_t lanes, const struct control_bits *c,
                                       uint64_t now) {
    if (c->stall > 1 || c->yields)
        modern_stall_until(sm, w, lanes, now + (c->stall > 1 ? c->stall : 2));
}

/* Does the same as modern_issues() for an instruction with TIMED_PLAIN (sm_fast_path.plain). */
static inline void modern_issues_plain(struct sm *sm, uint32_t w, const struct sm_path *path,
                                       const struct timed_inst *ti, uint64_t now) {
    sm->modern->n.machine++;
    modern_due_take(sm, w, now);
    sm->modern->n.hazards += modern_is_early(sm, w, path, ti, now);
    modern_stall_guided(sm, w, path->lanes, &sm->modern->control[path->pc], now);
}
#endif
