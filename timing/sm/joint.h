#ifndef TIMING_SM_JOINT_H
#define TIMING_SM_JOINT_H
/* Joint issue: the next instructions of several paths, of one warp or of several warps, issue in one issue slot and
 * share a pass through the pipe. After a scheduler has picked a warp and a path, the leader, a unit that subscribes to
 * sm_unit_ops.join names companions. The rules:
 *
 * - A companion is a path that could be a leader in this cycle: its own warp's scoreboard, buffer, barriers and units
 *   let it issue, and its pipe has room. In a divided SM, its warp belongs to the same scheduler. sm_joint_add() checks
 *   this.
 * - The lanes of all members are disjoint. Each thread stays in its lane, and a path joins with all of its lanes. With
 *   joint.lanes=any, a crossbar between register banks and pipes moves threads to free lanes. Then the members have at
 *   most as many threads as a full warp. Registers, local memory and call stack of a thread stay in its home lane.
 * - sm_joint_add_jump() adds members with the same lanes at an unguarded direct branch, which reads no register. The
 *   lanes count once in gpu.active_lanes.
 * - Members with the same pipe share one pass if their initiation intervals are equal: one collector unit, one entry
 *   into the pipe. They may be at different PCs. A member with another pipe has a pass of its own there, at full cost.
 * - Register banks are addressed lane by lane. So the reads of members of a pass do not delay each other, but the pass
 *   waits for all of them, and other instructions find all their banks in use. The same holds for results with equal
 *   latency, which share the result bus once. Results with different latencies use the bus one by one. Members with a
 *   common home lane (joint.lanes=any) read and write their banks one after the other: joint.lane_conflicts.
 * - Loads and stores at the same PC in constant, parameter, shared or global memory become one access of the load/store
 *   unit with the lanes of all members. Their operands are collected, and their results are written, member by member.
 *   Other memory instructions are not merged: each needs its own place in the issue latch, or it cannot join.
 * - The members execute in order, the leader first, and each one steps as if it had issued alone. If the step of an
 *   earlier member has merged a companion into another path or made it wait, the companion is left out.
 * - A scheduler's policy gets the call issued() for the leader, and executed() for each member.
 * - Some instructions always issue alone: instructions of contexts; instructions of paths without lanes; instructions
 *   with a flag of TIMED_RARE (timed.h); variants from sm_unit_ops.form; and, if the model gathers
 *   (reconv_wants.gathers), instructions before which it gathers.
 * - The slot counts once in issue.* and gpu.warp_instructions, with the lanes of all members; each pass counts once in
 *   pipe.*. Register accesses count for each member. joint.decodes counts the decoded instructions of members at
 *   further PCs.
 * - Collectors that all pipes share (collector.shared) are divided among the pipes (host/context.c).
 * - Each path fetches for itself. sm_joint_fetches() adds the further fetches in a cycle that a mechanism's paper has.
 *
 * While a unit subscribes, the SM does not use its fast path. */
#include "in_flight.h"
#include "timing/config/warp_set.h"
#include "timing/report/stat.h"

struct sm;

/* Maximum number of members of a slot. Their lanes are disjoint, so a slot has no more members than lanes. */
enum { JOINT_MOST = MAX_WARP_LANES };

struct sm_joint_member {
    uint32_t warp, path; /* warp slot; index among the warp's paths when the slot was formed */
    uint32_t pc;
    lanemask_t lanes;
    lanemask_t counted; /* the lanes that count as active; at a jump, without the lanes of earlier members */
    uint8_t pipe;
    uint8_t turn;     /* members with a common home lane read and write their registers in different turns, from 0 */
    uint32_t mem;     /* index of the member's access in sm_memory.inst; MEM_QUEUE: none */
    uint64_t written; /* cycle in which the member's result is written or, without a result, in which it ends */
};

/* The members of an issue slot. member[0] is the leader. */
struct sm_joint {
    uint32_t scheduler, n;
    uint32_t threads; /* of all members */
    lanemask_t lanes; /* of all members */
    lanemask_t all;   /* lanes of a whole warp */
    struct sm_joint_member member[JOINT_MOST];
};

/* ---- calls for units, from sm_unit_ops.join ---- */
/* Returns true if the path can be a companion. */
bool sm_joint_may(struct sm *sm, const struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now);
/* Adds a companion. Returns false, without a change, if the rules above forbid it. */
bool sm_joint_add(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now);
/* Returns true if the leader is at an unguarded direct branch. */
bool sm_joint_is_jump(const struct sm *sm, const struct sm_joint *j);
/* Adds a companion with any lanes that is at the same unguarded direct branch as the leader, and shares its PC
 * register. Returns false, without a change, if it cannot be a companion. */
bool sm_joint_add_jump(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now);
/* Replaces the leader, before companions are added. Returns false, without a change, if the path may not be a companion
 * under the rules above. */
bool sm_joint_lead(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now);
/* Returns the live warps of the slot's scheduler that have a path that is ready for some pipe. */
struct warp_set sm_joint_ready(const struct sm *sm, const struct sm_joint *j);

/* The paths for which the fetch stage may fetch again in the cycle of a fetch. JOINT_SAME_WARP: other paths of the same
 * warp. JOINT_SAME_PC: paths of the same scheduler at the same PC that fit into the lanes, which a formed warp fetches
 * once. JOINT_SAME_GANG: paths of the same gang at the same PC, see sm_joint_gangs(). JOINT_ANY_WARP: paths of any
 * warp. */
enum joint_reach { JOINT_SAME_WARP, JOINT_SAME_PC, JOINT_SAME_GANG, JOINT_ANY_WARP };
/* Lets the fetch stage make up to `more` further fetches in the cycle of each fetch. Call it from sm_unit_ops.launch.
 * If several units call it, the largest number and the last of the reaches (enum joint_reach) apply. */
void sm_joint_fetches(struct sm *sm, uint32_t more, enum joint_reach reach);
/* Makes gangs: each set of `warps` consecutive warps of a CTA is a gang. The paths of a gang at one PC are fetched
 * once, whatever their lanes are. Call it from sm_unit_ops.launch. */
void sm_joint_gangs(struct sm *sm, uint32_t warps);

/* Makes gangs of narrow warps: the pipes have 32 lanes, which are slices of sm.warp_size lanes. A warp of a CTA uses
 * the slice with its number modulo the number of slices, which is also the size of a gang. Lanes of a slot are lanes of
 * the pipes. A pass of several members takes as long as an instruction with as many lanes. The results of a load that
 * members share are written together. A member whose data have all arrived does not wait for the others. Call it from
 * sm_unit_ops.launch. */
void sm_joint_slices(struct sm *sm);

/* ---- the state of an SM ---- */
struct joint_counts {
#define COUNT_FIELDS
#include "joint_stats.def"
};
struct sm_joint_state {
    uint32_t more, reach; /* sm_joint_fetches() */
    uint32_t gang;        /* sm_joint_gangs(); 0: none */
    uint32_t slices;      /* sm_joint_slices(); 0: a warp uses all lanes of the pipes */
    uint32_t merged;      /* entries of `next` in use */
    struct joint_counts n;
};
/* The members of accesses, by instruction in flight. */
struct sm_joint_members {
    uint16_t next[MAX_INFLIGHT + 1]; /* 1 + the next member of its access; 0: none */
    lanemask_t at[MAX_INFLIGHT + 1]; /* the lanes of a member in its access */
    bool ended[MAX_INFLIGHT + 1];    /* the first member of the access has ended, and the others have not */
};

/* ---- calls for stages ---- */
/* Uses the issue slot of scheduler `s` for the path that it has picked, the leader, and for the companions that units
 * name. Returns false if no unit names a companion. The caller then issues the leader, which a unit may have
 * replaced. */
bool sm_issue_jointly(struct sm *sm, uint32_t s, struct sm_joint_member *leader, uint64_t now);
/* Reserves collectors, pipes, registers and the result bus for all members that access no memory. (joint_pass.c) */
void joint_reserve(struct sm *sm, struct sm_joint *j, uint64_t now);
/* ---- joint_access.c: accesses of several members ---- */
/* Returns true if two members at this PC can share an access. */
bool joint_merges(const struct sm *sm, uint32_t pc);
/* Adds the lanes of a member, whose effects are in sm->fx, to the access `mem` of an earlier member. */
void joint_merge(struct sm *sm, uint32_t w, uint32_t p, uint32_t mem);
/* Takes the members whose data have arrived out of the access `tag`, while other members wait (sm_joint_slices()).
 * Writes their instructions in flight to `end`, for the caller to end them, and returns their number. */
uint32_t joint_known(struct sm *sm, uint32_t tag, uint32_t end[JOINT_MOST]);
/* Removes the entry of an access whose first member joint_known() has ended. Does nothing and returns false for any
 * other access. */
bool joint_end(struct sm *sm, uint32_t inflight, uint64_t now);
/* Removes the members that follow `inflight` in the list of its access. Returns the first of them; NO_INFLIGHT: there
 * is none. */
uint32_t joint_take(struct sm *sm, uint32_t inflight);
/* Reserves, from cycle `from` on, the register reads of the members that follow `inflight` in the list of its access.
 * Returns the cycle after the last read. */
uint64_t joint_collect(struct sm *sm, uint32_t inflight, uint64_t from);
#endif
