#include "livelock.h"
#include "isa/repeat.h"
#include "sm.h"
#include <stdlib.h>
#include <string.h>

/* A path at a backward branch that it took, with its registers. Taken anew after 1, 2, 4, ... more visits, so that a
 * cycle is found however many rounds it has and however many came before it (Brent). */
struct snapshot {
    uint32_t pc;
    lanemask_t lanes;
    uint32_t visits, again; /* since it was taken; when to take it anew */
    unsigned char *regs;    /* kept for the next user of the slot */
    size_t bytes;
};

struct watched_warp {
    lanemask_t repeats; /* lanes known to */
    uint32_t n;
    struct snapshot at[WARP_LANES];
};

struct livelock {
    bool disturbed;
    struct watched_warp warp[CFG_MAX_WARPS];
};

struct livelock *livelock_new(void) {
    return calloc(1, sizeof(struct livelock));
}

void livelock_free(struct livelock *l) {
    for (uint32_t w = 0; l && w < CFG_MAX_WARPS; w++)
        for (int i = 0; i < WARP_LANES; i++)
            free(l->warp[w].at[i].regs);
    free(l);
}

void livelock_disturb_warp(struct sm *sm, uint32_t w) {
    sm->livelock->warp[w].n = 0;
    sm->livelock->warp[w].repeats = 0;
}

void livelock_begin(struct sm *sm) {
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++)
        livelock_disturb_warp(sm, w);
    sm->livelock->disturbed = false;
    sm->watching = true;
}

void livelock_end(struct sm *sm) { sm->watching = false; }

void livelock_disturb(struct sm *sm) {
    sm->livelock->disturbed = true;
    sm->watching = false;
}

bool livelock_disturbed(const struct sm *sm) { return sm->livelock->disturbed; }

/* Without memory for it the path is not known to repeat itself, which is safe. */
static void take(struct snapshot *s, const struct sm *sm, uint32_t w) {
    size_t bytes = sm->program->program->reg_bytes;
    if (s->bytes < bytes) {
        free(s->regs);
        s->regs = malloc(bytes);
        s->bytes = s->regs ? bytes : 0;
    }
    if (s->regs)
        memcpy(s->regs, sm->warp[w].w->bank[0], bytes);
    s->visits = 0;
}

static void visit(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes) {
    struct watched_warp *ww = &sm->livelock->warp[w];
    uint32_t i = 0;
    while (i < ww->n && (ww->at[i].pc != pc || ww->at[i].lanes != lanes))
        i++;
    if (i == WARP_LANES)
        return;
    struct snapshot *s = &ww->at[i];
    if (i == ww->n) {
        ww->n++;
        s->pc = pc;
        s->lanes = lanes;
        s->again = 1;
        take(s, sm, w);
        return;
    }
    if (s->regs && regs_same(sm->program->program, s->regs, sm->warp[w].w->bank[0], lanes))
        ww->repeats |= lanes;
    if (++s->visits < s->again)
        return;
    s->again *= 2;
    take(s, sm, w);
}

void livelock_note(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes) {
    const struct inst *in = &sm->program->program->code[pc];
    switch (inst_repeats(sm->warp[w].w, in, lanes, &sm->fx)) {
    case REPEAT_CHANGES:
        livelock_disturb(sm);
        break;
    case REPEAT_ALONE:
        livelock_disturb_warp(sm, w);
        break;
    case REPEAT_FINE:
        if (in->kind == K_BRANCH && in->target <= pc && sm->fx.taken)
            visit(sm, w, pc, sm->fx.taken);
        break;
    }
}

/* Lanes that may be scheduled without anybody else's doing. */
static lanemask_t may_run(const struct sm *sm, const struct sm_warp *sw) {
    struct path p[MAX_PATHS];
    lanemask_t lanes = 0;
    if (sm->ops->runnable)
        return sm->ops->runnable(sw->model) & ~sw->waiting;
    for (int i = sm->ops->paths(sw->model, p, MAX_PATHS); i-- > 0;)
        lanes |= p[i].lanes;
    return lanes & ~sw->waiting;
}

bool livelock_repeats(const struct sm *sm, bool *any) {
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++) {
        const struct sm_warp *sw = &sm->warp[w];
        if (!sw->w || sw->finished)
            continue;
        lanemask_t lanes = may_run(sm, sw);
        if (lanes & ~sm->livelock->warp[w].repeats)
            return false;
        *any |= lanes != 0;
    }
    return true;
}

lanemask_t livelock_lanes_of(const struct sm *sm, uint32_t w) {
    return sm->livelock ? sm->livelock->warp[w].repeats : 0;
}
