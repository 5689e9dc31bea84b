#include "interp_lent.h"
#include "interp_warp.h"
#include <stdlib.h>
#include <string.h>

struct lent_run {
    struct cta_run run;
    struct lent_cta lent;
    struct held_stores *held; /* of the CTA, which performs its stores at once while it is lent */
    uint32_t turns;           /* number of CTAs that were taken, which rotates the paths of warps */
};

struct lent_run *lent_run_new(const struct cta *like, const struct reconv_ops *model, const struct reconv_cfg *cfg) {
    struct lent_run *r = aligned_alloc(_Alignof(struct lent_run), sizeof *r);
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    r->run.model = model;
    r->run.cfg = cfg;
    r->run.keeps_clock = true;
    r->run.warps = calloc(like->n_warps, sizeof *r->run.warps);
    if (r->run.warps)
        return r;
    free(r);
    return NULL;
}

void lent_run_free(struct lent_run *r) {
    if (!r)
        return;
    free(r->run.warps);
    free(r);
}

void lent_take(struct lent_run *r, const struct lent_cta *c, uint64_t clock, const struct interp_observer *observer) {
    struct cta_run *run = &r->run;
    r->lent = *c;
    run->cta = c->cta;
    run->shared = c->shared;
    run->observer = observer;
    r->held = c->cta->held;
    c->cta->held = NULL;
    r->turns++;
    for (uint32_t i = 0; i < c->cta->n_warps; i++) {
        struct warp_run *w = &run->warps[i];
        w->control = *c->control[i];
        w->done = w->blocked = false;
        w->rotation = r->turns;
        w->executed = clock;
        w->slept = 0;
    }
}

void lent_give_back(struct lent_run *r) {
    for (uint32_t i = 0; i < r->lent.cta->n_warps; i++)
        *r->lent.control[i] = r->run.warps[i].control;
    r->lent.cta->held = r->held;
}

void lent_know(struct lent_run *r, const bool *known) {
    r->run.known = known;
    r->run.stopped = false;
}

bool lent_stopped(const struct lent_run *r) { return r->run.stopped; }

enum lent_end lent_warp(struct lent_run *r, uint32_t warp, uint64_t budget, uint64_t *executed) {
    static const enum lent_end ends[] = {[WARP_DONE] = LENT_ENDED,
                                         [WARP_WAITS] = LENT_WAITS,
                                         [WARP_SPENT] = LENT_SPENT,
                                         [WARP_FAULT] = LENT_FAULT,
                                         [WARP_STOPPED] = LENT_SPENT};
    const uint64_t before = r->run.n.warp_instructions;
    const enum warp_end end = warp_run(&r->run, warp, budget);
    *executed = r->run.n.warp_instructions - before;
    return ends[end];
}

uint32_t lent_pc(struct lent_run *r, uint32_t warp) {
    struct path p[MAX_PATHS];
    const struct warp *w = &r->run.cta->warps[warp];
    return w->live && control_paths(&r->run.warps[warp].control, w, p) > 0 ? p[0].pc : UINT32_MAX;
}

enum lent_end lent_warp_to(struct lent_run *r, uint32_t warp, uint32_t pc, uint64_t budget, uint64_t *executed) {
    enum lent_end end = LENT_SPENT;
    uint64_t step = 1;
    *executed = 0;
    r->run.single = true;
    while (end == LENT_SPENT && *executed < budget && step && lent_pc(r, warp) != pc) {
        end = lent_warp(r, warp, 1, &step);
        *executed += step;
    }
    r->run.single = false;
    return end;
}

const struct interp_stats *lent_stats(const struct lent_run *r) { return &r->run.n; }

const struct effects *lent_fault(const struct lent_run *r, uint32_t *pc) {
    *pc = r->run.fault_pc;
    return &r->run.fx;
}
