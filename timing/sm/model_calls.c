/* Calls of the reconvergence model, and the handling of their results. */
#include "stages.h"

static const struct scoreboard_ops *board_for(const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    switch (ops->board ? ops->board(cfg) : RECONV_BOARD_WARP) {
    case RECONV_BOARD_SIDES:
        return &scoreboard_shadow;
    case RECONV_BOARD_LANES:
        return &scoreboard_exact;
    case RECONV_BOARD_COUNTED:
        return &scoreboard_counted;
    case RECONV_BOARD_COUNTED_LANES:
        return &scoreboard_counted_lanes;
    default:
        return &scoreboard_warp;
    }
}

/* Returns the TIMED_ bits of instructions after which the model may switch paths. */
static uint16_t long_latency_for(const struct reconv_wants *w) {
    if (w->rotates)
        return TIMED_MEMORY | TIMED_SLOW;
    if (!w->yields)
        return 0;
    return w->yield_after ? TIMED_YIELD | TIMED_LONG | TIMED_SLOW : TIMED_YIELD;
}

void model_init(struct sm_model *m, const struct reconv_ops *ops, const struct reconv_cfg *options) {
    *m = (struct sm_model){.ops = ops, .options = options, .sb = board_for(ops, options)};
    m->wants = reconv_wants(ops, options);
    m->long_latency = long_latency_for(&m->wants);
}

void sm_heed(struct sm *sm, struct sm_warp *sw, unsigned flags) {
    if (sm->model.sb->shadow && flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1))
        sm->model.sb->shadow(sw->board, flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1));
}

void sm_heed_control(struct sm *sm, struct sm_warp *sw) {
    struct warp_control *c = &sw->control;
    if (c->events)
        sm_heed(sm, sw, c->events);
    if (c->depth > sm->n.max_depth)
        sm->n.max_depth = c->depth;
    c->events = c->depth = 0;
}

/* Passes the PCs of paths to the model. The model is not notified of every step within a basic block, so it must get
 * the present PCs before it returns paths. */
void sm_tell_others(struct sm *sm, struct sm_warp *sw, uint32_t p) {
    for (uint32_t i = 0; i < sw->n_paths; i++) {
        struct sm_path *path = &sw->path[i];
        if (i != p && path->stale)
            sm_heed(sm, sw, sm->model.ops->advance(sw->control.model, path->id, path->pc));
        path->stale = false;
    }
}

void sm_tell_all(struct sm *sm, struct sm_warp *sw) { sm_tell_others(sm, sw, sw->n_paths); }
