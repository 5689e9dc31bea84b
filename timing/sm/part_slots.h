#ifndef TIMING_SM_PART_SLOTS_H
#define TIMING_SM_PART_SLOTS_H
/* The issue slots of all schedulers at once, for SMs whose sets of warps have one word. The order of the causes of idle
 * slots is that of slot_cause(). */
#include "slot_causes.h"
#include "stages.h"
#include <string.h>

enum { PART_SLOTS = 8, PART_SLOTS_TOGETHER = 4 }; /* schedulers of an SM; schedulers in one host vector */

/* The uses of the slots, one for each scheduler (enum slot). */
struct part_slots {
    uint64_t slot[PART_SLOTS];
    /* warps with a ready path; warps with a ready path whose pipe is not PIPE_MEM */
    uint64_t ready, others;
};

/* Returns true if part_slots_find() and part_slots_count() are valid for the SM. */
static inline bool part_slots_fit(const struct sm *sm, uint32_t words) {
    return words == 1 && sm->cfg->sm.schedulers != 2 && !sm->issue.profile;
}

/* Returns the warps of the only word that wait for a cause after SLOT_FETCH. */
static inline uint64_t part_rare_causes(const struct sm_warps *ws) {
    uint64_t warps = 0;
    for (int cause = SLOT_FETCH + 1; cause < SLOT_NO_WARP; cause++)
        warps |= warps_causing(ws, (enum slot)cause, 0);
    return warps;
}

/* Finds the first cause among the warps of each scheduler. The host cannot predict the causes, so this code has no
 * branch for a single cause: a cause that no warp has adds 1 to the number of the slot's use. In most cycles, no warp
 * waits for one of the last causes. */
static inline __attribute__((always_inline)) void part_slots_find(const struct sm *sm, struct part_slots *out) {
    typedef uint64_t parts __attribute__((vector_size(PART_SLOTS_TOGETHER * sizeof(uint64_t))));
    const struct sm_warps *ws = &sm->warps;
    const bool rare = part_rare_causes(ws);
    out->others = warps_ready_others(ws, 0);
    out->ready = out->others | warps_with(ws, PATH_READY + PIPE_MEM, 0);
    for (uint32_t k = 0; k < sm->cfg->sm.schedulers; k += PART_SLOTS_TOGETHER) {
        parts mine;
        memcpy(&mine, &sm->issue.mine[k], sizeof mine);
        parts slot = {SLOT_PIPE, SLOT_PIPE, SLOT_PIPE, SLOT_PIPE};
        uint64_t warps = out->ready; /* that wait for one of the causes so far */
        _Static_assert(SLOT_LOAD == SLOT_PIPE + 1, "the next cause");
        slot -= (parts)((mine & warps) == 0);
#pragma GCC unroll 8
        for (int cause = SLOT_LOAD; cause <= SLOT_FETCH; cause++) {
            warps |= warps_causing(ws, (enum slot)cause, 0);
            slot -= (parts)((mine & warps) == 0); /* a true comparison is -1 */
        }
        if (rare) {
#pragma GCC unroll 8
            for (int cause = SLOT_FETCH + 1; cause < SLOT_NO_WARP; cause++) {
                warps |= warps_causing(ws, (enum slot)cause, 0);
                slot -= (parts)((mine & warps) == 0);
            }
        } else {
            slot -= (parts)((mine & warps) == 0) * (SLOT_NO_WARP - SLOT_FETCH - 1);
        }
        for (uint32_t i = 0; i < PART_SLOTS_TOGETHER; i++)
            out->slot[k + i] = slot[i];
    }
}

/* Counts `cycles` slots in which scheduler `s` issues nothing. Requires that no statistic is counted by PC. */
static inline __attribute__((always_inline)) void part_slots_count(struct sm *sm, const struct part_slots *p,
                                                                   uint32_t s, uint64_t cycles) {
    const enum slot slot = (enum slot)p->slot[s];
    sm->n.slot[slot] += cycles;
    if (slot == SLOT_PIPE && !(p->others & sm->issue.mine[s])) /* slot_waits_for_memory(), for one word */
        sm->n.busy_memory += cycles;
}

/* Returns the warps of `ready` with a ready instruction whose pipe has room. `others`: part_slots.others. */
static inline uint64_t part_may(const struct sm *sm, const struct exec_part *e, uint64_t ready, uint64_t others,
                                uint64_t now) {
    uint64_t may = 0;
    if (max64(e->takes_most, e->held) <= now)
        may = others;
    else if (e->held <= now)
        for (int p = 0; p < N_PIPES; p++)
            may |= p != PIPE_MEM && e->takes[p] <= now ? warps_with(&sm->warps, PATH_READY + p, 0) : 0;
    may |= e->takes[PIPE_MEM] <= now ? warps_with(&sm->warps, PATH_READY + PIPE_MEM, 0) : 0;
    return may & ready;
}

/* Returns the warp of scheduler `s` that issues, or -1 for none. `ready`: the scheduler's ready warps, at least one;
 * `others`: part_slots.others. */
static inline int part_pick(const struct sm *sm, uint32_t s, uint64_t ready, uint64_t others, uint64_t now) {
    const struct sched *sched = &sm->issue.sched[s];
    const struct exec_part *e = &sm->operands.part[s];
    const bool last = sched->ops->greedy && sched->last < 64 && ready >> sched->last & 1;
    const uint32_t w = last ? sched->last : (uint32_t)__builtin_ctzll(ready);
    const struct sm_warp *sw = &sm->warps.slot[w];
    if (!in_flight_has_room(&sm->in_flight))
        return -1;
    const bool alone = !(ready & (ready - 1)) && sched->ops->always;
    if ((last || alone) && sw->n_paths == 1) {
        if (operands_take(e, sw->path->state) <= now)
            return (int)w;
        if (alone)
            return -1;
    }
    struct warp_set may = {.word = {part_may(sm, e, ready, others, now)}};
    return may.word[0] ? sched_pick(sched, &may, sm->warps.age, 1) : -1;
}

/* Returns true if the next instruction of warp `w` may change the states of other warps. */
static inline bool part_changes_others(const struct sm *sm, int w) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    return !sm->fast.alone || sw->n_paths != 1 ||
           sm->program->inst[sw->path->pc].flags & (TIMED_CONTROL | TIMED_ENDS | TIMED_RARE);
}
#endif
