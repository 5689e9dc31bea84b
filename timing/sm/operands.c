#include "operands.h"
#include "modern_state.h"

static void init_collector(const struct sm_operands *o, struct collector *c, const struct config *cfg, int pipe) {
    const struct pipe_cfg *p = &cfg->sm.pipe[pipe];
    collector_init(c, p, p->collectors / o->n_parts, cfg->sm.latch_collect);
}

struct collector *operands_collector(struct sm_operands *o, const struct config *cfg, uint32_t part, uint32_t pipe) {
    struct collector *c = &o->part[part].collector[pipe];
    if (!c->units)
        init_collector(o, c, cfg, (int)pipe);
    return c;
}

static void init_part(const struct sm_operands *o, struct exec_part *p, const struct config *cfg) {
    const struct sm_cfg *s = &cfg->sm;
    uint32_t n = o->n_parts;
    regfile_init(&p->regfile, s->banks / n, s->operands, s->result_bus);
    regfile_ports(&p->regfile, s->bank_lanes, s->warp_size, s->bank_reads, s->write_port);
    for (int k = 0; k < N_PIPES; k++) {
        p->takes[k] = UINT64_MAX;
        if (!pipe_exists(s, k))
            continue;
        p->takes[k] = 0;
        if (cfg->core.kind != CORE_MODERN)
            init_collector(o, &p->collector[k], cfg, k);
        pipes_init(&p->units[k], k == PIPE_MEM ? 1 : s->pipe[k].units / n);
    }
    p->takes_most = cfg->core.kind == CORE_MODERN ? 0 : UINT64_MAX;
    p->mem.collectors = s->pipe[PIPE_MEM].collectors / n;
    p->mem.room = cfg->core.kind == CORE_MODERN ? MODERN_MEMORY : s->pipe[PIPE_MEM].in_ports;
    p->mem.latch = cfg->core.kind == CORE_MODERN ? MODERN_TO_LATCH : s->latch_collect;
}

bool operands_init(struct sm_operands *o, const struct config *cfg) {
    bool ok = true;
    o->n_parts = cfg->sm.subcores ? cfg->sm.schedulers : 1;
    o->skewed = cfg->sm.skewed;
    for (uint32_t i = 0; i < o->n_parts; i++)
        init_part(o, &o->part[i], cfg);
    for (uint32_t i = 0; cfg->sm.pipe_ends && i < o->n_parts; i++)
        for (int k = 0; k < N_PIPES; k++)
            ok &= k == PIPE_MEM || !pipe_exists(&cfg->sm, k) || pipes_end_singly(&o->part[i].units[k]);
    return ok;
}

void operands_free(struct sm_operands *o) {
    for (uint32_t i = 0; i < o->n_parts; i++)
        for (int k = 0; k < N_PIPES; k++)
            pipes_release(&o->part[i].units[k]);
}
