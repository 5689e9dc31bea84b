#ifndef TIMING_SM_MODERN_READY_H
#define TIMING_SM_MODERN_READY_H
/* The modern core: the check of stall counts and counters, inline for path_state.c. */
#include "isa/arith.h"
#include "stages.h"
#include <endian.h>
#include <string.h>

static inline bool modern_is_stalled(const struct modern_warp *mw, lanemask_t lanes, uint64_t now) {
    if (mw->expands & lanes)
        return true;
    if (mw->stalled_most <= now)
        return false;
    for (int i = 0; i < MODERN_STALLS; i++)
        if (mw->stalled[i].until > now && mw->stalled[i].lanes & lanes)
            return true;
    return false;
}

/* Returns the counters of a lane, or of the warp if the counters are not by lane: one in each byte, the first in the
 * lowest. */
static inline uint64_t modern_counts_of(const struct modern_warp *mw, unsigned lane) {
    uint64_t counts;
    _Static_assert(sizeof counts == MODERN_COUNTERS, "one word");
    memcpy(&counts, mw->count[lane], sizeof counts);
    return le64toh(counts);
}

/* Returns the high bit of each byte whose counter is above its limit. Both are below 128. */
static inline uint64_t modern_above(uint64_t counts, uint64_t limits) {
    const uint64_t high = 0x8080808080808080u;
    return ~((limits | high) - counts) & high;
}

/* Returns what the counters make the lanes wait for. `limits`: timed_inst.limits. */
static inline enum sb_verdict modern_check_counters(const struct sm_modern *m, uint32_t w, uint64_t limits,
                                                    lanemask_t lanes) {
    const struct modern_warp *mw = &m->warp[w];
    uint64_t over = 0;
    for (lanes = m->by_lane ? lanes : 1; lanes; lanes &= lanes - 1)
        over |= modern_above(modern_counts_of(mw, lanes_first(lanes)), limits);
    if (!over)
        return SB_READY;
    return mw->of_loads >> __builtin_ctzll(over) / 8 & 1 ? SB_WAIT_LOAD : SB_WAIT_ARITH;
}

/* Does the same as modern_check() if control bits decide which instructions may issue (sm_modern.guided). */
static inline enum sb_verdict modern_check_guided(const struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes,
                                                  uint64_t now) {
    if (modern_is_stalled(&sm->modern->warp[w], lanes, now))
        return SB_WAIT_ARITH;
    return modern_check_counters(sm->modern, w, sm->program->inst[pc].limits, lanes);
}

/* Returns the state of a path that is ready or waits only for operands (sm_fast_path.guided). `ti`: its instruction. */
static inline uint32_t modern_guided_state(const struct sm *sm, uint32_t w, const struct timed_inst *ti,
                                           lanemask_t lanes, uint64_t now) {
    const struct modern_warp *mw = &sm->modern->warp[w];
    const uint64_t over = modern_above(modern_counts_of(mw, 0), ti->limits);
    if (modern_is_stalled(mw, lanes, now))
        return PATH_ARITH;
    if (!over)
        return PATH_READY + ti->pipe;
    return mw->of_loads >> __builtin_ctzll(over) / 8 & 1 ? PATH_LOAD : PATH_ARITH;
}
#endif
