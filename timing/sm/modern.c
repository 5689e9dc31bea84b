/* The state of a modern core (modern.h). */
#include "modern.h"
#include "isa/machine/lazy.h"
#include "stages.h"
#include <stdlib.h>
#include <string.h>

struct sm_modern *modern_new(uint32_t slots) {
    struct sm_modern *m = lazy_new(sizeof *m);
    if (!m)
        return NULL;
    m->warp = lazy_new(slots * sizeof *m->warp);
    m->dues = lazy_new(slots * sizeof *m->dues);
    m->flight = lazy_new(MAX_INFLIGHT * sizeof *m->flight);
    pipes_init(&m->f64, 1);
    if (m->warp && m->dues && m->flight)
        return m;
    modern_free(m);
    return NULL;
}

void modern_free(struct sm_modern *m) {
    if (!m)
        return;
    free(m->readers);
    lazy_free(m->warp);
    lazy_free(m->dues);
    lazy_free(m->flight);
    lazy_free(m);
}

bool modern_launch(struct sm *sm) {
    struct sm_modern *m = sm->modern;
    const struct scoreboard_ops *sb = sm->model.sb;
    m->control = sm->program->program->control;
    m->guided = m->control && sm->cfg->core.control_bits;
    m->code_end = sm->program->inst[sm->program->program->n].place;
    m->fetch_cycles = sm->cfg->sm.fetch_latency + sm->cfg->sm.decode_latency;
    m->by_lane = sb != &scoreboard_warp && sb != &scoreboard_counted;
    if (m->used)
        memset(m->flight, 0, sm->in_flight.fresh * sizeof *m->flight);
    for (uint32_t i = 0; m->used && i < sm->operands.n_parts; i++) {
        memset(m->part[i].cached, 0, sizeof m->part[i].cached);
        m->part[i].holds = 0;
        m->part[i].n_constant = 0; /* the parameters differ from launch to launch */
    }
    m->used = false;
    return modern_consumers_launch(sm);
}
