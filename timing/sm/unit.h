#ifndef TIMING_SM_UNIT_H
#define TIMING_SM_UNIT_H
/* Units: extensions of an SM. A unit has a state in each SM and a table of functions ("calls"). Each function may be
 * NULL, except make(). At an event, a stage of the SM calls the units that have subscribed to it. If no unit has
 * subscribed, this costs one predictable branch. Livelock search (livelock.c) and trace (unit_trace.c) are units;
 * test/toys has the smallest ones. unit_access.h has the parts of an SM that a unit may read and change. A unit keeps
 * its data within its SM: SMs run on several host threads. */
#include "timing/report/stat.h"
#include "timing/report/states.h"
#include "unit_events.h"
#include <stdio.h>

struct sm;
struct sm_joint;
struct launch;
struct config;

struct sm_unit_ops {
    const char *name;
    bool observes; /* the unit changes nothing, and needs not see what runs without time: lend.h */
    /* Makes the unit of SM number `sm`. `cfg` outlives the unit. `ctx` is the field of the sm_unit_row. Returns NULL
     * if memory is out. Every unit must have this function. */
    void *(*make)(const struct config *cfg, uint32_t sm, void *ctx);
    void (*free)(void *u);
    /* Begins a launch on an empty SM. Returns false if memory is out. launch_end() follows in any case, even after a
     * fault. */
    bool (*launch)(void *u, struct sm *sm, uint64_t now);
    void (*launch_end)(void *u, struct sm *sm);
    /* cta_start() is called when the warps of the CTA in slot `cta` have begun, and cta_end() when they have ended. */
    void (*cta_start)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    void (*cta_end)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    /* Called when a barrier of the CTA is complete. The lanes that wait at it have not continued yet. */
    void (*barrier)(void *u, struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
    /* Returns PATH_READY, or the state in which the path must wait (PATH_QUEUE, PATH_LOAD ...), which also names the
     * cause of its stalls. It is not called in every cycle, but only when the state of the warp has changed. A unit
     * that has refused must call sm_reconsider() from tick() when its answer may change. If execute() executes an
     * instruction of a context that makes other warps wait, it must call sm_reconsider() for these warps. If several
     * units refuse, the first one decides. */
    uint8_t (*may_issue)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* Supplies the operands of an instruction that reads queues (HINT_DEQ), just before it executes. The instruction
     * belongs to a warp of a CTA. Returns true if the instruction loads locked lines, each line once, and unlocks
     * them. At most one unit may have this function. */
    bool (*take)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* Returns the variant (form) of its next instruction that the path would issue now. NULL means the instruction
     * of the program itself. It is called after may_issue() and at issue. If the result may change, the unit must
     * call sm_reconsider(), as for may_issue(). The form must stay valid until the launch ends. If several units
     * return a form, the first one decides. */
    const struct sm_form *(*form)(void *u, struct sm *sm, const struct sm_candidate *c);
    /* Adds companions to the path that a scheduler has picked, with sm_joint_add(). It is called just before the path
     * issues, unless the path must issue alone. If several units have this function, each of them is called. joint.h
     * has the rules. */
    void (*join)(void *u, struct sm *sm, struct sm_joint *j, uint64_t now);
    void (*issued)(void *u, struct sm *sm, const struct sm_issued *i);
    void (*written)(void *u, struct sm *sm, const struct sm_written *r);
    /* These functions return numbers that decide how many CTAs fit on the SM (occupancy.h). registers(): how many
     * 32-bit registers of sm.registers the unit's contexts reserve. warps_loaded(): the maximum number of warps of a
     * CTA that have registers in the SM at a time (0: all warps). */
    uint32_t (*registers)(const struct config *cfg, const struct launch *l, void *ctx);
    uint32_t (*warps_loaded)(const struct config *cfg, const struct launch *l, void *ctx);
    /* Executes an instruction of a context of the unit. Returns true if the unit has executed it, and has set in
     * `fx` all that exec_inst() would set. On entry fx->lanes has the lanes whose guard holds, and fx->fault is
     * FAULT_NONE. The instruction uses its pipe and latency, but accesses no memory. If execute() returns false, the
     * SM executes the instruction like any other instruction. The SM executes exits itself, unless the unit drives
     * the context (unit_context.h). The livelock search counts instructions executed by a unit as progress. A NULL
     * function is the same as always false. */
    bool (*execute)(void *u, struct sm *sm, const struct sm_candidate *c, struct effects *fx, uint64_t now);
    /* Called when the context in slot `warp` has exited or was closed, and has nothing in flight. The slot is then
     * free. */
    void (*context_end)(void *u, struct sm *sm, uint32_t warp, uint64_t now);
    /* Called when threads of the warp have exited. */
    void (*exited)(void *u, struct sm *sm, uint32_t warp, uint64_t now);
    /* Called when a warp of a CTA has begun, before cta_start(). It has not issued yet. */
    void (*warp_start)(void *u, struct sm *sm, uint32_t warp, uint64_t now);
    /* Called in every simulated cycle between issue and fetch, for units that put warps to sleep (unit_sleep.h). */
    void (*after_issue)(void *u, struct sm *sm, uint64_t now);
    /* Called in every simulated cycle, after the load/store unit and before issue. */
    void (*tick)(void *u, struct sm *sm, uint64_t now);
    /* Called at the end of every simulated cycle, to read the SM. It must not change the SM. */
    void (*look)(void *u, struct sm *sm, uint64_t now);
    /* Returns the next cycle > now in which tick() has work if no other event comes first. UINT64_MAX: it has no
     * work. */
    uint64_t (*next)(void *u, struct sm *sm, uint64_t now);
    /* Returns the longest time, in cycles, for which a unit may be busy while no instruction issues and no memory
     * access advances. A wait of this length does not count as a deadlock. NULL: 0 cycles. */
    uint64_t (*patience)(const struct config *cfg);
    /* Adds to `s` the unit's counts since the last call, and clears them. */
    void (*stats)(void *u, struct stats *s);
    /* These functions print text for deadlock reports. describe_path() prints the rest of a line about lanes of a
     * warp at a PC, such as "; repeats itself". describe() prints lines about the unit itself, which begin with two
     * blanks. */
    void (*describe_path)(const void *u, const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out);
    void (*describe)(const void *u, const struct sm *sm, FILE *out);
};

/* make() of a unit without state: returns an address that no call may write. */
void *sm_unit_without_state(const struct config *cfg, uint32_t sm, void *ctx);

enum {
    MAX_UNITS = 8,
    OWN_UNITS = 3, /* of these, units that every GPU has: livelock search, bulk copies, trace */
};
/* The description of a unit, with which each SM of a GPU makes one unit. */
struct sm_unit_row {
    const struct sm_unit_ops *ops;
    void *ctx; /* argument of make() */
};
#endif
