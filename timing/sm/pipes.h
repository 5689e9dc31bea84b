#ifndef TIMING_PIPES_H
#define TIMING_PIPES_H
/* The execution pipes of one kind. Each takes an instruction every `initiation` cycles of that instruction. */
#include "timing/config/config.h"
#include <assert.h>

enum { MAX_PIPE_UNITS = 16 };

struct pipes {
    uint32_t units;
    uint64_t unit_free[MAX_PIPE_UNITS]; /* cycle at which the pipe takes its next instruction */
    struct {
        uint64_t instructions, busy, waits; /* count; cycles of all units; cycles that instructions waited for one */
    } n;
};

void pipes_init(struct pipes *p, uint32_t units);
static inline uint32_t pipes_earliest(const struct pipes *p) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->units; i++)
        if (p->unit_free[i] < p->unit_free[best])
            best = i;
    return best;
}
/* First cycle >= from at which a pipe takes an instruction. */
static inline uint64_t pipes_free(const struct pipes *p, uint64_t from) {
    uint64_t c = p->unit_free[pipes_earliest(p)];
    return c > from ? c : from;
}
/* An instruction enters at `cycle` and blocks its pipe for `initiation` cycles. Requires pipes_free(cycle) == cycle. */
static inline void pipes_enter(struct pipes *p, uint64_t cycle, uint32_t initiation) {
    uint32_t i = pipes_earliest(p);
    assert(p->unit_free[i] <= cycle);
    p->unit_free[i] = cycle + initiation;
    p->n.instructions++;
    p->n.busy += initiation;
}
#endif
