#include "timed_survey.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

/* The unit of an SM. */
struct unit {
    struct survey *const *survey;
    uint64_t seen; /* set of the slots whose CTAs are observed */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct unit *u = calloc(1, sizeof *u);
    (void)cfg, (void)sm;
    if (u)
        u->survey = ctx;
    return u;
}

static void set_seen(struct unit *u, struct sm *sm, uint64_t seen) {
    if (!seen != !u->seen)
        sm_unit_listen(sm, &timed_survey, HOOK_ISSUED, seen != 0);
    u->seen = seen;
}

static bool launch(void *ctx, struct sm *sm, uint64_t now) {
    struct unit *u = ctx;
    (void)now;
    u->seen = 0;
    sm_unit_listen(sm, &timed_survey, HOOK_ISSUED, false);
    return true;
}

static void begin_cta(void *ctx, struct sm *sm, uint32_t cta, uint64_t now) {
    struct unit *u = ctx;
    (void)now;
    if (*u->survey && cta < SM_CTA_SLOTS && survey_sees(*u->survey, sm_get_cta(sm, cta)->number))
        set_seen(u, sm, u->seen | 1ull << cta);
}

static void end_cta(void *ctx, struct sm *sm, uint32_t cta, uint64_t now) {
    struct unit *u = ctx;
    (void)now;
    if (cta < SM_CTA_SLOTS)
        set_seen(u, sm, u->seen & ~(1ull << cta));
}

static void issued(void *ctx, struct sm *sm, const struct sm_issued *i) {
    struct unit *u = ctx;
    const uint32_t slot = sm_get_cta_slot(sm, i->warp);
    if (i->fx && i->phase != ISSUE_UNIT && slot < SM_CTA_SLOTS && u->seen >> slot & 1)
        survey_issued(*u->survey, sm_get_warp(sm, i->warp), i->in, i->pc, i->lanes, i->fx);
}

const struct sm_unit_ops timed_survey = {
    .name = "survey",
    .observes = true,
    .make = make,
    .free = free,
    .launch = launch,
    .cta_start = begin_cta,
    .cta_end = end_cta,
    .issued = issued,
};
