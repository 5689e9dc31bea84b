#include "livelock.h"
#include "isa/paths/repeat.h"
#include "sm.h"
#include <stdlib.h>
#include <string.h>

struct livelock {
    bool disturbed;
    struct repeat_warp warp[CFG_MAX_WARPS];
};

struct livelock *livelock_new(void) {
    return calloc(1, sizeof(struct livelock));
}

void livelock_free(struct livelock *l) {
    for (uint32_t w = 0; l && w < CFG_MAX_WARPS; w++)
        repeat_free(&l->warp[w]);
    free(l);
}

void livelock_disturb_warp(struct sm *sm, uint32_t w) { repeat_forget(&sm->livelock->warp[w]); }

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
            repeat_visit(&sm->livelock->warp[w], sm->warp[w].w, pc, sm->fx.taken);
        break;
    }
}

bool livelock_repeats(const struct sm *sm, bool *any) {
    for (uint32_t w = 0; w < CFG_MAX_WARPS; w++) {
        const struct sm_warp *sw = &sm->warp[w];
        if (!sw->w || sw->finished)
            continue;
        lanemask_t lanes = control_may_run(&sw->control);
        if (lanes & ~sm->livelock->warp[w].repeats)
            return false;
        *any |= lanes != 0;
    }
    return true;
}

lanemask_t livelock_lanes_of(const struct sm *sm, uint32_t w) {
    return sm->livelock ? sm->livelock->warp[w].repeats : 0;
}
