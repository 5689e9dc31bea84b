#ifndef TIMING_SM_STAGES_H
#define TIMING_SM_STAGES_H
/* struct sm, which contains the state of all stages of an SM. Each stage's header declares the state that the stage
 * owns. Only files of timing/sm and white-box tests include this file; units use unit.h and unit_access.h.
 *
 * A stage calls only stages that come later in this list: the clock (sm.c); the work at edges (ordered.c); joint.c;
 * issue_stage.c; memory and fetch; write_back.c; the starts and ends of warps, CTAs and contexts; path_control.c and
 * path_select.c; warp_paths.c; path_state.c; units, warps, tables. scripts/check_circles.sh checks that there is no
 * cycle. */
#include "contexts.h"
#include "copies.h"
#include "ctas.h"
#include "events.h"
#include "fast_path.h"
#include "fetch_stage.h"
#include "in_flight.h"
#include "issue_stage.h"
#include "joint.h"
#include "member_results.h"
#include "memory_stage.h"
#include "modern.h"
#include "operands.h"
#include "path_control.h"
#include "path_select.h"
#include "remote.h"
#include "shared_collectors.h"
#include "sm.h"
#include "sm_counts.h"
#include "tensor.h"
#include "timing/sm/fetch/fetch.h"
#include "unit_calls.h"
#include "warps.h"
#include "wheel.h"

/* State of the SM's clock, which chooses the cycles to simulate (sm.c). */
struct sm_clock {
    uint64_t accounted; /* first cycle whose issue slots are not counted yet */
    uint64_t own_next;  /* with sm_fast_path.quiet: next cycle with work other than memory accesses */
    bool polls;         /* true if every cycle is simulated: slow, with the same results */
    uint64_t walked;    /* the last cycle that was simulated more than once */
    uint32_t repeats;   /* how often that cycle has been repeated */
};

struct sm {
    _Alignas(64) struct sm_status status; /* must be first: see sm_status() */
    struct sm_clock clock;
    struct sm_fast_path fast;
    uint32_t id;
    const struct config *cfg;
    struct lsu *lsu;
    const struct launch *launch;
    const struct timed_program *program;
    struct sm_model model;
    struct sm_units units;
    struct sm_copies *copies;
    struct sm_remote *remote; /* NULL: every cluster of the launch has one CTA */
    struct sm_tensor *tensor;
    struct sm_modern *modern; /* NULL: a classic core */
    uint64_t arrivals_made;   /* number of mbarrier arrivals that copies made in this launch, without an instruction */
    struct fault fault;
    struct effects fx; /* effects of the instruction that issues or is performed */
    struct sm_counts n;
    struct sm_in_flight in_flight;
    struct wheel wheel;
    struct sm_fetch_stage fetching;
    struct fetch fetch; /* instruction caches */
    struct sm_issue_stage issue;
    struct sm_memory memory;
    struct sm_contexts contexts;
    struct sm_member_results members;
    struct sm_joint_state joint;
    /* most SMs access only the first part of each of these tables */
    struct sm_ctas ctas;
    struct sm_warps warps;
    struct sm_operands operands;
    struct sm_joint_members joined;
};

/* Returns true if any unit has subscribed to the call. */
static inline bool sm_hooked(const struct sm *sm, enum sm_hook hook) {
    return __builtin_expect(sm->units.n[hook] != 0, 0);
}
/* Updates lsu_due, the next cycle after `now` at which the load/store unit, or a fetch that waits for its port, has
 * work. Call it after the work of either has changed. */
static inline void sm_lsu_due(struct sm *sm, uint64_t now) {
    uint64_t lsu = lsu_next(sm->lsu, now), fetch = fetch_next(&sm->fetch, now);
    sm->status.lsu_due = lsu < fetch ? lsu : fetch;
}
/* Marks the warp in slot `w` as live or as not live. A warp is not live if it has ended or sleeps. */
static inline void sm_set_live(struct sm *sm, uint32_t w, bool live) {
    if (warp_set_has(&sm->warps.live, w) == live)
        return;
    warp_set_put(&sm->warps.live, w, live);
    if (live)
        sched_warp_starts(&sm->issue.sched[sched_of(&sm->cfg->sm, w)], w);
    else
        sched_warp_ends(&sm->issue.sched[sched_of(&sm->cfg->sm, w)], w);
}
static inline uint32_t contexts_awake(const struct sm *sm) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < MAX_CONTEXTS && sm->contexts.n; i++)
        n += warp_set_has(&sm->warps.live, sm_warp_slots(&sm->cfg->sm) + i);
    return n;
}
/* Allocates an entry of the table of instructions in flight, issued in the present cycle. */
static inline uint32_t sm_inflight_new(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint8_t board) {
    sm->warps.slot[w].inflight++;
    return in_flight_new(&sm->in_flight, w, operands_part(&sm->operands, w), pc, lanes, board, sm->clock.accounted - 1);
}
#endif
