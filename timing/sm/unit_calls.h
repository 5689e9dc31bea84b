#ifndef TIMING_SM_UNIT_CALLS_H
#define TIMING_SM_UNIT_CALLS_H
/* The units of an SM, and the functions with which stages call the units. Callers first check that a unit has
 * subscribed: sm_hooked(). */
#include "unit_access.h"

struct sm_unit {
    const struct sm_unit_ops *ops;
    void *state, *ctx; /* ctx: from its sm_unit_row */
};

/* The units, and for each call the list of units that have subscribed to it. */
struct sm_units {
    uint8_t n[N_HOOKS], n_all;
    struct sm_unit all[MAX_UNITS];
    const struct sm_unit *list[N_HOOKS][MAX_UNITS];
};

struct sm_candidate sm_candidate(const struct sm *sm, uint32_t w, uint32_t p);

void sm_units_free(struct sm *sm);
bool sm_units_launch(struct sm *sm, uint64_t now);
void sm_units_launch_end(struct sm *sm);
void sm_units_cta_start(struct sm *sm, uint32_t cta, uint64_t now);
void sm_units_cta_end(struct sm *sm, uint32_t cta, uint64_t now);
void sm_units_barrier(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now);
uint8_t sm_units_may_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
bool sm_units_take(struct sm *sm, uint32_t w, uint32_t p, uint64_t now);
const struct sm_form *sm_units_form(struct sm *sm, uint32_t w, uint32_t p);
void sm_units_join(struct sm *sm, struct sm_joint *j, uint64_t now);
void sm_units_issued(struct sm *sm, const struct sm_issued *i);
/* Calls sm_units_issued() for an instruction with the effects sm->fx. */
void sm_units_tell_issued(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, const struct timed_inst *ti,
                          enum issue_phase phase, uint64_t cycle);
void sm_units_written(struct sm *sm, const struct sm_written *r);
void sm_units_exited(struct sm *sm, uint32_t warp, uint64_t now);
void sm_units_warp_start(struct sm *sm, uint32_t warp, uint64_t now);
void sm_units_after_issue(struct sm *sm, uint64_t now);
void sm_units_tick(struct sm *sm, uint64_t now);
void sm_units_look(struct sm *sm, uint64_t now);
uint64_t sm_units_next(struct sm *sm, uint64_t now);
void sm_units_stats(struct sm *sm, struct stats *s);
void sm_units_describe_path(const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out);
void sm_units_describe(const struct sm *sm, FILE *out);
#endif
