#ifndef TIMING_SM_PART_SLOTS_H
#define TIMING_SM_PART_SLOTS_H
/* The issue slots of all schedulers at once, for SMs whose sets of warps have one word. The order of the causes of idle
 * slots is that of slot_cause(). */
#include "slot_causes.h"
#include "stages.h"

enum { PART_SLOTS = 8, PART_SLOTS_TOGETHER = 4 }; /* schedulers of an SM; schedulers in one host vector */

/* The uses of the slots, one for each scheduler (enum slot). */
struct part_slots {
    uint64_t slot[PART_SLOTS];
    uint64_t ready; /* warps with a ready path */
};

/* Returns true if part_slots_find() and part_slots_count() are valid for the SM. */
static inline bool part_slots_fit(const struct sm *sm, uint32_t words) {
    return words == 1 && sm->cfg->sm.schedulers != 2 && !sm->issue.profile;
}

/* Finds the first cause among the warps of each scheduler. The host cannot predict the causes, so this code has no
 * branches: a cause that no warp has adds 1 to the number of the slot's use. */
static inline __attribute__((always_inline)) void part_slots_find(const struct sm *sm, struct part_slots *out) {
    typedef uint64_t parts __attribute__((vector_size(PART_SLOTS_TOGETHER * sizeof(uint64_t))));
    const struct sm_warps *ws = &sm->warps;
    const struct sched *s = sm->issue.sched;
    out->ready = warps_ready(ws, 0);
    for (uint32_t k = 0; k < sm->cfg->sm.schedulers; k += PART_SLOTS_TOGETHER) {
        const parts mine = {s[k].mine.word[0], s[k + 1].mine.word[0], s[k + 2].mine.word[0], s[k + 3].mine.word[0]};
        parts slot = {SLOT_PIPE, SLOT_PIPE, SLOT_PIPE, SLOT_PIPE};
        uint64_t warps = 0; /* that wait for one of the causes so far */
#pragma GCC unroll 8
        for (int cause = SLOT_PIPE; cause < SLOT_NO_WARP; cause++) {
            warps |= warps_causing(ws, (enum slot)cause, 0);
            slot -= (parts)((mine & warps) == 0); /* a true comparison is -1 */
        }
        for (uint32_t i = 0; i < PART_SLOTS_TOGETHER; i++)
            out->slot[k + i] = slot[i];
    }
}

/* Counts `cycles` slots in which scheduler `s` issues nothing. Requires that no statistic is counted by PC. */
static inline __attribute__((always_inline)) void part_slots_count(struct sm *sm, const struct part_slots *p,
                                                                   uint32_t s, uint64_t cycles) {
    const enum slot slot = (enum slot)p->slot[s];
    const struct warp_set *mine = &sm->issue.sched[s].mine;
    sm->n.slot[slot] += cycles;
    if (slot == SLOT_PIPE && slot_waits_for_memory(&sm->warps, mine, 1))
        sm->n.busy_memory += cycles;
}

/* Returns the warp of scheduler `s` that issues, or -1 for none. `ready`: the scheduler's ready warps, at least one. */
static inline int part_pick(const struct sm *sm, uint32_t s, uint64_t ready, uint64_t now) {
    const struct sched *sched = &sm->issue.sched[s];
    const uint64_t *takes = sm->operands.part[s].takes;
    const struct sm_warp *first = &sm->warps.slot[__builtin_ctzll(ready)];
    struct warp_set may = {.word = {0}};
    if (!in_flight_has_room(&sm->in_flight))
        return -1;
    if (!(ready & (ready - 1)) && first->n_paths == 1 && sched->ops->always)
        return takes[first->path->state] <= now ? __builtin_ctzll(ready) : -1;
    for (int p = 0; p < N_PIPES; p++)
        may.word[0] |= takes[p] <= now ? warps_with(&sm->warps, PATH_READY + p, 0) & ready : 0;
    return may.word[0] ? sched_pick(sched, &may, sm->warps.age, 1) : -1;
}

/* Returns true if the next instruction of warp `w` may change the states of other warps. */
static inline bool part_changes_others(const struct sm *sm, int w) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    return !sm->fast.alone || sw->n_paths != 1 ||
           sm->program->inst[sw->path->pc].flags & (TIMED_CONTROL | TIMED_ENDS | TIMED_RARE);
}
#endif
