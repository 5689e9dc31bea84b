/* The criticality of warps, and a unit that computes it for the L1. */
#include "cawa_parts.h"
#include "isa/exec/exec.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

void cpl_start(struct cpl *w, uint64_t now) { *w = (struct cpl){.start = now, .last = now}; }

/* Returns the number of instructions on the paths that the warp takes after a branch. */
static int64_t path_length(uint32_t pc, const struct inst *in, lanemask_t lanes, lanemask_t taken) {
    int64_t after = pc + 1, target = in->target, length = 0;
    bool forward = target > pc;
    if (lanes & ~taken && forward)
        length += target - after;
    if (taken && forward && in->rpc != PC_EXIT && in->rpc > target)
        length += in->rpc - target;
    if (taken && !forward)
        length += after - target;
    return length;
}

void cpl_issue(struct cpl *w, uint64_t now, uint32_t pc, const struct inst *in, lanemask_t lanes, lanemask_t taken) {
    w->stalls += now - w->last - (w->issued != 0);
    w->last = now;
    w->issued++;
    w->left--;
    if (in->kind == K_BRANCH)
        w->left += path_length(pc, in, lanes, taken);
}

int64_t cpl_criticality(const struct cpl *w) {
    int64_t cycles = (int64_t)(w->last - w->start);
    return (w->issued ? w->left * cycles / (int64_t)w->issued : 0) + (int64_t)w->stalls;
}

struct cpl_unit {
    const struct sm *sm;
    uint32_t warps; /* warp slots of CTAs */
    struct cpl warp[WARP_SLOTS];
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct cpl_unit *u = calloc(1, sizeof *u);
    (void)sm, (void)ctx;
    if (u)
        u->warps = sm_warp_slots(&cfg->sm);
    return u;
}

/* Returns true if the criticality of the warp is above the mean of the warps of its CTA that have not ended. */
static bool is_critical(const void *state, uint32_t warp) {
    const struct cpl_unit *u = state;
    if (warp >= u->warps)
        return false;
    const struct warp_set *cta = &sm_get_cta(u->sm, sm_get_cta_slot(u->sm, warp))->warps;
    int64_t sum = 0, n = 0;
    uint32_t w;
    for (struct warp_walk at = warp_walk(cta); warp_next(&at, cta, WARP_WORDS, &w); n++)
        sum += cpl_criticality(&u->warp[w]);
    return cpl_criticality(&u->warp[warp]) * n > sum;
}

static bool launch(void *state, struct sm *sm, uint64_t now) {
    struct cpl_unit *u = state;
    (void)now;
    u->sm = sm;
    lsu_ask_critical(sm_get_lsu(sm), is_critical, u);
    return true;
}

static void warp_start(void *state, struct sm *sm, uint32_t warp, uint64_t now) {
    struct cpl_unit *u = state;
    (void)sm;
    cpl_start(&u->warp[warp], now);
}

static void issued(void *state, struct sm *sm, const struct sm_issued *i) {
    struct cpl_unit *u = state;
    (void)sm;
    if (i->phase != ISSUE_PERFORMED &&
        i->phase != ISSUE_WAITS) /* an ordered instruction is reported twice, but counts once */
        cpl_issue(&u->warp[i->warp], i->cycle, i->pc, i->in, i->lanes, i->fx ? i->fx->taken : 0);
}

const struct sm_unit_ops cawa_unit = {
    .name = "cawa", .make = make, .free = free, .launch = launch, .issued = issued, .warp_start = warp_start};
