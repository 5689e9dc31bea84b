#ifndef TIMING_SM_UNIT_H
#define TIMING_SM_UNIT_H
/* Units: extensions of an SM. A unit has a state in each SM and a table of calls, each of which may be NULL. A stage
 * calls the units that listen to a call. If no unit listens, this costs one predictable branch. Livelock search
 * (livelock.c) and trace (unit_trace.c) are units; test/toys has the smallest ones. unit_access.h has the parts of an
 * SM that a unit may read and change. A unit keeps its data within its SM: SMs run on several host threads. */
#include "timing/report/stat.h"
#include "timing/report/states.h"
#include "unit_events.h"
#include <stdio.h>

struct sm;
struct launch;
struct config;

struct sm_unit_ops {
    const char *name;
    /* Makes the unit of SM number `sm`. `cfg` outlives the unit; `ctx` comes from the sm_unit_row. Returns NULL if
     * memory is out. Required. */
    void *(*make)(const struct config *cfg, uint32_t sm, void *ctx);
    void (*free)(void *u);
    /* Begins a launch on an empty SM. Returns false if memory is out. launch_end() follows in any case, also after a
     * fault. */
    bool (*launch)(void *u, struct sm *sm, uint64_t now);
    void (*launch_end)(void *u, struct sm *sm);
    /* The first is called when the warps of the CTA in slot `cta` have begun, the second when they have ended. */
    void (*cta_start)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    void (*cta_end)(void *u, struct sm *sm, uint32_t cta, uint64_t now);
    /* Called when a barrier of the CTA is complete; its lanes have not continued yet. */
    void (*barrier)(void *u, struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
    /* Returns PATH_READY, or the state in which the path must wait (PATH_QUEUE, PATH_LOAD ...), which also names the
     * cause of its stalls. It is called when something changed for the warp, not in every cycle: a unit that refused
     * calls sm_reconsider() from tick() when its answer may change. The first unit that refuses decides. */
    uint8_t (*may_issue)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* Fills the operands of an instruction that reads queues (HINT_DEQ), of a warp of a CTA, just before it executes.
     * True: it loads locked lines, each once, and unlocks them. At most one unit has this call. */
    bool (*take)(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now);
    /* Returns the form in which the path would issue now; NULL: the program's own form. It is called after may_issue()
     * and at issue. If its answer may change, the unit must call sm_reconsider(), as for may_issue(). The form must
     * stay valid until the launch ends. The first unit with a form decides. */
    const struct sm_form *(*form)(void *u, struct sm *sm, const struct sm_candidate *c);
    void (*issued)(void *u, struct sm *sm, const struct sm_issued *i);
    void (*written)(void *u, struct sm *sm, const struct sm_written *r);
    /* For the number of CTAs that fit (occupancy.h): returns the 32-bit registers that the unit's contexts reserve of
     * sm.registers in a launch; the most warps of a CTA that have registers in the SM at a time (0: all). */
    uint32_t (*registers)(const struct config *cfg, const struct launch *l, void *ctx);
    uint32_t (*warps_loaded)(const struct config *cfg, const struct launch *l, void *ctx);
    /* Executes an instruction of a context of the unit. True: the unit has executed it, and has set in `fx` what
     * exec_inst() would set. On entry fx->lanes has the lanes whose guard holds, and fx->fault is FAULT_NONE. The
     * instruction uses its pipe and latency, but accesses no memory. False: the instruction executes like any other
     * instruction. Exits always do so. The livelock search counts instructions executed by a unit as progress. NULL:
     * always false. */
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
    /* Returns the next cycle > now in which tick() has work if nothing else happens; UINT64_MAX: none. */
    uint64_t (*next)(void *u, struct sm *sm, uint64_t now);
    /* Returns the number of cycles for which tick() may have work while no instruction issues and no access moves. A
     * wait of this length is not a deadlock. NULL: 0 cycles. */
    uint64_t (*patience)(const struct config *cfg);
    /* Adds the counts since the last call, and clears them. */
    void (*stats)(void *u, struct stats *s);
    /* Prints for deadlock reports: the rest of a line about lanes of a warp at a PC ("; repeats itself"); lines about
     * the unit itself, each after two blanks. */
    void (*describe_path)(const void *u, const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out);
    void (*describe)(const void *u, const struct sm *sm, FILE *out);
};

enum { MAX_UNITS = 8 };
/* A unit that each SM of a GPU gets. */
struct sm_unit_row {
    const struct sm_unit_ops *ops;
    void *ctx; /* argument of make() */
};
#endif
