#include "pipes.h"
#include <assert.h>
#include <stdlib.h>

enum { ENDS = 2048 }; /* more than the longest latency */

void pipes_init(struct pipes *p, uint32_t units) {
    assert(units >= 1 && units <= MAX_PIPE_UNITS);
    p->units = units;
}

bool pipes_end_singly(struct pipes *p) {
    p->ends = calloc((size_t)p->units * ENDS, sizeof *p->ends);
    return p->ends != NULL;
}

void pipes_release(struct pipes *p) {
    free(p->ends);
    p->ends = NULL;
}

uint32_t pipes_find(const struct pipes *p, uint64_t *enters, uint32_t latency) {
    for (uint64_t c = *enters;; c++)
        for (uint32_t u = 0; u < p->units; u++)
            if (p->unit_free[u] <= c && p->ends[u * ENDS + (c + latency) % ENDS] != (uint32_t)(c + latency)) {
                *enters = c;
                return u;
            }
}

void pipes_note_end(struct pipes *p, uint32_t unit, uint64_t end) { p->ends[unit * ENDS + end % ENDS] = (uint32_t)end; }
