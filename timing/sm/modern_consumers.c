/* The modern core without control bits: a second scoreboard, which makes writers of a register wait until the
 * instructions in flight have read it (core.consumers). Huerta et al. compare such scoreboards, whose counters hold at
 * most 1, 3 or 63 consumers, with the compiler's dependence counters. */
#include "modern.h"
#include "stages.h"
#include <stdlib.h>
#include <string.h>

static uint8_t *readers_of(const struct sm *sm, uint32_t w) {
    return &sm->modern->readers[(size_t)w * sm->modern->n_regs];
}

bool modern_consumers_launch(struct sm *sm) {
    struct sm_modern *m = sm->modern;
    free(m->readers);
    m->readers = NULL;
    m->n_regs = sm->program->program->n_regs;
    if (m->guided || !sm->cfg->core.consumers || !m->n_regs)
        return true;
    m->readers = calloc(sm_warp_slots(&sm->cfg->sm) + MAX_CONTEXTS, m->n_regs);
    return m->readers != NULL;
}

void modern_consumers_start(struct sm *sm, uint32_t w) {
    if (sm->modern->readers)
        memset(readers_of(sm, w), 0, sm->modern->n_regs);
}

bool modern_consumers_hold(const struct sm *sm, uint32_t w, const struct sb_regs *r) {
    const uint8_t *readers = readers_of(sm, w);
    for (uint32_t i = 0; i < r->n_write; i++)
        if (readers[r->write[i]])
            return true;
    for (uint32_t i = 0; i < r->n_read; i++)
        if (readers[r->read[i]] >= sm->cfg->core.consumers)
            return true;
    return false;
}

void modern_consumers_change(struct sm *sm, uint32_t inflight, int change) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct sb_regs *r = &sm->program->inst[f->pc].regs;
    uint8_t *readers = readers_of(sm, f->warp);
    sm->modern->flight[inflight].reads_held = change > 0;
    for (uint32_t i = 0; i < r->n_read; i++)
        readers[r->read[i]] = (uint8_t)(readers[r->read[i]] + change);
}
