#include "pipes.h"
#include <assert.h>
#include <string.h>

void pipes_init(struct pipes *p, uint32_t units) {
    assert(units >= 1 && units <= MAX_PIPE_UNITS);
    memset(p, 0, sizeof *p);
    p->units = units;
}

static uint32_t earliest(const struct pipes *p) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->units; i++)
        if (p->unit_free[i] < p->unit_free[best])
            best = i;
    return best;
}

uint64_t pipes_free(const struct pipes *p, uint64_t from) {
    uint64_t c = p->unit_free[earliest(p)];
    return c > from ? c : from;
}

void pipes_enter(struct pipes *p, uint64_t cycle, uint32_t initiation) {
    uint32_t i = earliest(p);
    assert(p->unit_free[i] <= cycle);
    p->unit_free[i] = cycle + initiation;
    p->n.instructions++;
    p->n.busy += initiation;
}
