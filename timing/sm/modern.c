/* The state of a modern core (modern.h). */
#include "modern.h"
#include "stages.h"
#include <stdlib.h>
#include <string.h>

struct sm_modern *modern_new(uint32_t slots) {
    struct sm_modern *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->warp = aligned_alloc(_Alignof(struct modern_warp), slots * sizeof *m->warp);
    m->flight = calloc(MAX_INFLIGHT, sizeof *m->flight);
    pipes_init(&m->f64, 1);
    if (m->warp)
        memset(m->warp, 0, slots * sizeof *m->warp);
    if (m->warp && m->flight)
        return m;
    modern_free(m);
    return NULL;
}

void modern_free(struct sm_modern *m) {
    if (!m)
        return;
    free(m->readers);
    free(m->warp);
    free(m->flight);
    free(m);
}

bool modern_launch(struct sm *sm) {
    struct sm_modern *m = sm->modern;
    const struct scoreboard_ops *sb = sm->model.sb;
    m->control = sm->program->program->control;
    m->guided = m->control && sm->cfg->core.control_bits;
    m->by_lane = sb != &scoreboard_warp && sb != &scoreboard_counted;
    if (m->used)
        memset(m->flight, 0, sm->in_flight.fresh * sizeof *m->flight);
    for (uint32_t i = 0; m->used && i < sm->operands.n_parts; i++) {
        memset(m->part[i].cached, 0, sizeof m->part[i].cached);
        m->part[i].n_constant = 0; /* the parameters differ from launch to launch */
    }
    m->used = false;
    return modern_consumers_launch(sm);
}
