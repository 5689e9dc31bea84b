#ifndef TIMING_SM_UNIT_ACCESS_H
#define TIMING_SM_UNIT_ACCESS_H
/* Functions with which units read the state of their SM and change it. */
#include "ctas.h"
#include "timing/mem/lsu.h"
#include "timing/report/profile.h"
#include "unit.h"
#include "warp_path.h"

/* ---- the units of an SM ---- */
/* The calls to which units can subscribe. */
enum sm_hook {
    HOOK_CTA_START,
    HOOK_CTA_END,
    HOOK_BARRIER,
    HOOK_MAY_ISSUE,
    HOOK_TAKE,
    HOOK_FORM,
    HOOK_JOIN,
    HOOK_ISSUED,
    HOOK_WRITTEN,
    HOOK_EXITED,
    HOOK_WARP_START,
    HOOK_AFTER_ISSUE,
    HOOK_TICK,
    HOOK_LOOK,
    HOOK_NEXT,
    N_HOOKS
};
/* Creates the unit, and subscribes it to every call that it implements. Returns false if memory is out. Requires fewer
 * than MAX_UNITS units, and no launch in progress. */
bool sm_add_unit(struct sm *sm, const struct sm_unit_row *row);
/* Returns the state of the unit with the table of functions `ops`, or NULL if the SM has no such unit. */
void *sm_unit_state(const struct sm *sm, const struct sm_unit_ops *ops);
/* Subscribes the unit to a call, or unsubscribes it. Useful for calls that the unit needs only at times. A unit may use
 * this function even while it handles such a call. */
void sm_unit_listen(struct sm *sm, const struct sm_unit_ops *ops, enum sm_hook hook, bool on);

/* ---- reading ---- */
const struct config *sm_get_config(const struct sm *sm);
const struct launch *sm_get_launch(const struct sm *sm);         /* NULL: none */
const struct timed_program *sm_get_program(const struct sm *sm); /* NULL: no launch */
struct gpu_profile *sm_get_profile(struct sm *sm);               /* counts by PC; NULL if not requested */
struct lsu *sm_get_lsu(struct sm *sm);
uint64_t sm_get_accounted(const struct sm *sm); /* first cycle whose issue slots are not counted yet */
uint32_t sm_get_slots(const struct sm *sm);     /* all warp slots, for CTAs and contexts */
uint32_t sm_get_most_ctas(const struct sm *sm); /* number of CTAs of the launch that fit */
const struct sm_cta *sm_get_cta(const struct sm *sm, uint32_t cta);
uint32_t sm_get_cta_slot(const struct sm *sm, uint32_t slot); /* slot of the CTA of a warp or context */
struct warp *sm_get_warp(const struct sm *sm, uint32_t slot); /* NULL: the slot is free */
/* Returns the paths of the warp, and sets *n to their number. */
const struct sm_path *sm_get_paths(const struct sm *sm, uint32_t slot, uint32_t *n);
uint32_t sm_get_group(const struct sm *sm, uint32_t slot, uint32_t path); /* reconv_ops.group of a path of the warp */
/* Returns the names of the levels of the reconvergence model (NULL: none), and sets *levels to their values. */
const char *const *sm_get_levels(const struct sm *sm, const struct reconv_level **levels);
bool sm_is_context(const struct sm *sm, uint32_t slot);
bool sm_is_live(const struct sm *sm, uint32_t slot);             /* not finished, and scheduled */
bool sm_is_finished(const struct sm *sm, uint32_t slot);         /* all lanes have exited */
const char *sm_context_name(const struct sm *sm, uint32_t slot); /* NULL: no open context */
lanemask_t sm_lanes_may_run(const struct sm *sm, uint32_t slot); /* control_may_run() */
struct pipe_use {
    uint64_t busy, waits; /* busy cycles of all pipes of one kind; cycles that instructions waited for a pipe */
};
struct pipe_use sm_pipe_use(const struct sm *sm, uint32_t pipe); /* counts since the SM was made */
/* Return the device address of a warp's first word of local memory, and the number of bytes from one word to the
 * next. */
uint64_t sm_local_base(const struct sm *sm, uint32_t slot);
uint64_t sm_local_stride(const struct sm *sm);

/* sm_copies_in_flight() returns true if cp.async copies are in flight, or products for which a tcgen05.commit waits.
 * sm_copies_arrived() returns the number of mbarrier arrivals that such work and bulk copies have made in this
 * launch. */
bool sm_copies_in_flight(const struct sm *sm);
uint64_t sm_copies_arrived(const struct sm *sm);
/* Returns the number of times that a warp has read the same value 16 times from this kind of memory (POLL_HOST or
 * POLL_DEVICE of isa/paths/host_poll.h). */
uint64_t sm_polls(const struct sm *sm, int kind);

/* ---- changing ---- */
/* Makes the SM call may_issue() again for the warp in `slot`, because the unit's answer may have changed. */
void sm_reconsider(struct sm *sm, uint32_t slot, uint64_t now);
/* Makes the SM simulate cycle `cycle`. A unit needs it for work that its next() has not reported. */
void sm_wake(struct sm *sm, uint64_t cycle);
/* Tells the SM that a unit has given work to the load/store unit. The load/store unit then runs in a cycle after
 * `now`. */
void sm_lsu_has_work(struct sm *sm, uint64_t now);
/* Ends the launch with FAULT_MEMORY: memory is out. */
void sm_no_memory(struct sm *sm, uint64_t now);
#include "unit_context.h"
#include "unit_sleep.h"
#endif
