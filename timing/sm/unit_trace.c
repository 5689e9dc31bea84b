#include "unit_trace.h"
#include "unit_access.h"

_Static_assert((int)SM_CTA_SLOTS == (int)TRACE_CTA_SLOTS, "a track for each CTA slot");

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    const struct trace_range *range = ctx;
    (void)cfg;
    (void)sm;
    struct trace *t = trace_new(range->from, range->to);
    if (!t)
        return NULL;
    t->shift = range->shift;
    t->shortest_wait = range->waits;
    return t;
}

static void trace_unit_free(void *u) { trace_free(u); }

static bool launch(void *u, struct sm *sm, uint64_t now) {
    (void)now;
    lsu_trace(sm_get_lsu(sm), u);
    return true;
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct trace *t = u;
    t->cta_started[cta] = now;
    t->cta_id[cta] = (uint32_t)sm_get_cta(sm, cta)->cta->linear_id;
}

static void end_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct trace *t = u;
    trace_note(t, &(struct trace_event){.from = t->cta_started[cta],
                                        .to = now,
                                        .lanes = (lanemask_t)sm_get_cta(sm, cta)->cta->linear_id,
                                        .row = cta,
                                        .kind = TRACE_CTA});
    t->cta_started[cta] = UINT64_MAX;
}

static void open_barrier(void *u, struct sm *sm, uint32_t cta, uint32_t number, uint64_t now) {
    (void)sm;
    trace_note(u, &(struct trace_event){.from = now, .to = now, .lanes = number, .row = cta, .kind = TRACE_BARRIER});
}

/* Records an issue. An ordered instruction is reported twice, but takes one issue slot. Two kinds of instructions get a
 * bar that ends at once (TRACE_ISSUE_ENDS): memory instructions that make no access, whose end is never reported, and
 * instructions without a result that wait for other lanes, because the path's track shows this wait. */
static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    (void)sm;
    bool memory = i->ti->flags & TIMED_MEMORY;
    bool waits = i->phase == ISSUE_WAITS;
    bool ends =
        waits ? !i->ti->regs.n_write : memory && (i->phase == ISSUE_UNIT || (i->phase == ISSUE_DONE && !i->fx->lanes));
    if (i->phase != ISSUE_PERFORMED)
        trace_issue(u, i->warp, i->pc, i->lanes, i->cycle,
                    ends    ? TRACE_ISSUE_ENDS
                    : waits ? TRACE_ISSUE_WAITS
                            : TRACE_ISSUE_GOES);
}

static void written(void *u, struct sm *sm, const struct sm_written *r) {
    (void)sm;
    trace_written(
        u, r->warp,
        &(struct trace_event){.from = r->from, .to = r->to, .pc = r->pc, .lanes = r->lanes, .missed = r->missed});
}

/* Records the levels of the model that have changed in this cycle. */
static void note_levels(struct trace *t, const struct sm *sm, uint64_t now) {
    const struct reconv_level *level;
    const char *const *name = sm_get_levels(sm, &level);
    for (uint32_t i = 0; name && name[i]; i++) {
        if (level[i].value != t->level[i])
            trace_note(t,
                       &(struct trace_event){
                           .from = now, .to = now, .address = level[i].value, .name = name[i], .kind = TRACE_COUNTER});
        t->level[i] = level[i].value;
    }
}

/* Records the levels of the model, and what each path waits for after this cycle. */
static void note_states(void *u, struct sm *sm, uint64_t now) {
    struct trace *t = u;
    note_levels(t, sm, now);
    for (uint32_t w = 0; w < sm_get_slots(sm); w++) {
        uint32_t n;
        const struct sm_path *path = sm_get_paths(sm, w, &n);
        const char *context = sm_context_name(sm, w);
        if (context)
            t->name[w] = context;
        if (!sm_get_warp(sm, w) || sm_is_finished(sm, w))
            n = 0;
        for (uint32_t p = 0; p < n; p++)
            trace_state(t, w, p, path[p].state, path[p].pc, path[p].lanes, now);
        for (uint32_t p = n; p < t->paths[w]; p++)
            trace_state(t, w, p, PATH_READY, 0, 0, now);
        t->paths[w] = (uint8_t)n;
    }
}

const struct sm_unit_ops unit_trace = {
    .name = "trace",
    .make = make,
    .free = trace_unit_free,
    .launch = launch,
    .cta_start = begin_cta,
    .cta_end = end_cta,
    .barrier = open_barrier,
    .issued = issued,
    .written = written,
    .look = note_states,
};
