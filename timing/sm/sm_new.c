/* An SM is made and freed. */
#include "sm_parts.h"
#include <stdlib.h>
#include <string.h>

static void init_part(struct sm *sm, struct exec_part *p, const struct config *cfg) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t n = sm->n_parts;
    regfile_init(&p->regfile, s->banks / n, s->operands, s->result_bus);
    regfile_ports(&p->regfile, s->bank_lanes, s->write_port);
    for (int k = 0; k < N_PIPES; k++) {
        p->takes[k] = UINT64_MAX;
        if (!pipe_exists(s, k))
            continue;
        p->takes[k] = 0;
        collector_init(&p->pipe[k].collector, &s->pipe[k], s->pipe[k].collectors / n, s->latch_collect);
        pipes_init(&p->pipe[k].units, k == PIPE_MEM ? 1 : s->pipe[k].units / n);
    }
    p->mem_collectors = s->pipe[PIPE_MEM].collectors / n;
}

static bool init_pools(struct sm *sm) {
    sm->inflight = calloc(MAX_INFLIGHT, sizeof *sm->inflight);
    sm->mem = calloc(MEM_QUEUE, sizeof *sm->mem);
    if (!sm->inflight || !sm->mem)
        return false;
    for (uint32_t i = 0; i < MAX_INFLIGHT; i++)
        sm->inflight[i].next = i + 1 < MAX_INFLIGHT ? i + 1 : NO_INFLIGHT;
    for (uint32_t i = 0; i < MEM_QUEUE; i++)
        sm->free_mem[sm->n_free_mem++] = (uint8_t)i;
    return true;
}

/* What each warp slot needs, those of contexts included. */
static bool init_slots(struct sm *sm) {
    size_t n = sm->slots = sm->cfg->sm.warps + MAX_CONTEXTS;
    sm->words = (sm->cfg->sm.warps + 63) / 64;
    sm->model_size = sm->ops->size(sm->options);
    sm->model_memory = calloc(n, sm->model_size);
    sm->path_memory = aligned_alloc(_Alignof(struct sm_paths), n * sizeof *sm->path_memory);
    sm->held_memory = calloc(n * MAX_PATHS, sizeof *sm->held_memory);
    sm->await_memory = calloc(n * MAX_PATHS, sizeof *sm->await_memory);
    sm->ordered = calloc(n * MAX_PATHS, sizeof *sm->ordered);
    if (!sm->model_memory || !sm->path_memory || !sm->held_memory || !sm->await_memory || !sm->ordered)
        return false;
    memset(sm->path_memory, 0, n * sizeof *sm->path_memory);
    for (uint32_t w = 0; w < n; w++) {
        struct sm_warp *sw = &sm->warp[w];
        sw->path = sm->path_memory[w].path;
        sw->await = sm->await_memory + (size_t)w * MAX_PATHS;
        sw->loads = NO_INFLIGHT;
        sw->control = (struct warp_control){.ops = sm->ops,
                                            .model = (unsigned char *)sm->model_memory + w * sm->model_size,
                                            .held = sm->held_memory + (size_t)w * MAX_PATHS};
    }
    return true;
}

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

/* Instructions after which the model may want another path. */
static uint16_t heard_for(const struct reconv_wants *w) {
    if (w->rotates)
        return TIMED_MEMORY | TIMED_SLOW;
    if (!w->yields)
        return 0;
    return w->yield_after ? TIMED_YIELD | TIMED_LONG | TIMED_SLOW : TIMED_YIELD;
}

struct sm *sm_new(const struct config *cfg, const struct reconv_ops *ops, const struct reconv_cfg *options,
                  struct memsys *mem, uint32_t id) {
    struct sm *sm = aligned_alloc(_Alignof(struct sm), sizeof *sm);
    if (!sm)
        return NULL;
    memset(sm, 0, sizeof *sm);
    sm->cfg = cfg;
    sm->ops = ops;
    sm->options = options;
    sm->sb = board_for(ops, options);
    sm->wants = reconv_wants(ops, options);
    sm->heard = heard_for(&sm->wants);
    sm->id = id;
    sm->polls = cfg->gpu.poll;
    sm->n_parts = cfg->sm.subcores ? cfg->sm.schedulers : 1;
    sm->status.lsu_due = sm->mem_due = sm->status.next = UINT64_MAX;
    for (uint32_t i = 0; i < sm->n_parts; i++)
        init_part(sm, &sm->part[i], cfg);
    for (uint32_t i = 0; i < cfg->sm.schedulers; i++) {
        sched_init(&sm->sched[i], &cfg->sm, i);
        sm->fetch_last[i] = NO_WARP_SLOT;
    }
    sm->lsu = lsu_new(cfg, mem, id);
    if (sm->lsu && sm->wants.rotates)
        lsu_note_misses(sm->lsu);
    if (sm->lsu && sm->wants.splits)
        lsu_note_known(sm->lsu);
    if (!sm->lsu || !fetch_init(&sm->fetch, cfg, sm->lsu) || !init_pools(sm) || !init_slots(sm) ||
        !wheel_init(&sm->wheel, MAX_INFLIGHT + sm->slots * MAX_PATHS * 2 + 64)) {
        sm_free(sm);
        return NULL;
    }
    return sm;
}

void sm_free(struct sm *sm) {
    if (!sm)
        return;
    sm_launch_end(sm);
    if (sm->lsu)
        lsu_free(sm->lsu);
    fetch_free(&sm->fetch);
    wheel_free(&sm->wheel);
    sm_units_free(sm);
    held_free(&sm->held);
    free(sm->profile);
    free(sm->inflight);
    free(sm->mem);
    free(sm->path_memory);
    free(sm->held_memory);
    free(sm->await_memory);
    free(sm->ordered);
    free(sm->model_memory);
    free(sm);
}
