#ifndef TIMING_PIPES_H
#define TIMING_PIPES_H
/* The execution pipes of one kind. After it has accepted an instruction, a pipe is blocked for the initiation
 * interval of that instruction. */
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "timing/config/config.h"

enum { MAX_PIPE_UNITS = 16 };

struct pipes {
    uint32_t units;
    /* with peer.pipe_ends: a ring for each pipe, with the cycles in which instructions leave it; else NULL */
    uint32_t *ends;
    uint64_t unit_free[MAX_PIPE_UNITS]; /* by pipe: cycle at which it accepts its next instruction */
    struct {
        uint64_t busy, waits; /* busy cycles of all pipes; cycles that instructions waited for a pipe */
    } n;
};

/* Requires zeroed memory. */
void pipes_init(struct pipes *p, uint32_t units);
/* From now on, at most one instruction a cycle leaves each pipe (peer.pipe_ends). Returns false if there is not enough
 * memory. */
bool pipes_end_singly(struct pipes *p);
/* Frees what pipes_end_singly() has allocated. */
void pipes_release(struct pipes *p);
/* After pipes_end_singly(): returns the pipe that can first accept an instruction of `latency` cycles, from cycle
 * *enters on. Sets *enters to that cycle. */
uint32_t pipes_find(const struct pipes *p, uint64_t *enters, uint32_t latency);
/* After pipes_end_singly(): records that an instruction leaves pipe `unit` in cycle `end`. */
void pipes_note_end(struct pipes *p, uint32_t unit, uint64_t end);
/* Returns the pipe that becomes free first. */
static inline uint32_t pipes_earliest(const struct pipes *p) {
    uint32_t best = 0;
    uint64_t least = p->unit_free[0];
#pragma GCC unroll 1
    for (uint32_t i = 1; i < p->units; i++) {
        uint64_t next = p->unit_free[i];
        best = next < least ? i : best;
        least = min64(next, least);
    }
    return best;
}
/* Returns the first cycle >= from at which pipe `unit` accepts an instruction. */
static inline uint64_t pipes_free(const struct pipes *p, uint32_t unit, uint64_t from) {
    uint64_t c = p->unit_free[unit];
    return c > from ? c : from;
}
/* Returns the pipe that can first accept an instruction of `latency` cycles, from cycle *enters on. Sets *enters to
 * that cycle. */
static inline uint32_t pipes_choose(const struct pipes *p, uint64_t *enters, uint32_t latency) {
    if (__builtin_expect(p->ends != NULL, 0))
        return pipes_find(p, enters, latency);
    const uint32_t unit = pipes_earliest(p);
    *enters = pipes_free(p, unit, *enters);
    return unit;
}
/* Puts an instruction into pipe `unit` at `cycle`, and blocks the pipe for `initiation` cycles. Requires
 * pipes_free(). */
static inline void pipes_enter(struct pipes *p, uint32_t unit, uint64_t cycle, uint32_t initiation) {
    hot_assert(p->unit_free[unit] <= cycle);
    p->unit_free[unit] = cycle + initiation;
    p->n.busy += initiation;
}
#endif
