#ifndef TIMING_COLLECTOR_H
#define TIMING_COLLECTOR_H
/* Collector units: they gather the operands of an instruction before it enters a pipe.
 *
 * Collectors and register banks (regfile.h) are reserved in advance. When an instruction issues, the cycles of all its
 * later steps are computed, in order of issue (first come, first served). So no step is simulated cycle by cycle. The
 * steps are: issue latch, allocation of a collector unit, operand reads (limited per cycle, and one access per bank and
 * cycle), dispatch. Each step takes at least one cycle, except with collector.latch=0 and pipe.latch=0. */
#include "regfile.h"

enum { MAX_COLLECTORS = 64, MAX_PORTS = 8 };

/* The collector units of one kind of pipe. */
struct collector {
    uint32_t units, in_ports, out_ports, latch;
    uint32_t in_at, out_at;             /* oldest entries of `in` and `out` */
    uint32_t turn;                      /* unit with the highest priority */
    uint64_t in[MAX_PORTS];             /* by port: cycle at which its issue latch is free again */
    uint64_t out[MAX_PORTS];            /* by port: cycle at which its dispatch latch is free again */
    uint64_t unit_free[MAX_COLLECTORS]; /* cycle at which each unit accepts its next instruction */
};

/* Requires zeroed memory. */
void collector_init(struct collector *c, const struct pipe_cfg *cfg, uint32_t units, uint32_t latch);
/* Returns true if the issue latch has room. */
static inline bool collector_can_accept(const struct collector *c, uint64_t now) { return c->in[c->in_at] <= now; }
/* Returns the first cycle in which the issue latch has room. */
static inline uint64_t collector_free(const struct collector *c) { return c->in[c->in_at]; }
/* Returns the index after `i` in a ring of `n` entries. */
static inline uint32_t collector_next(uint32_t i, uint32_t n) { return choose32(i + 1 != n, i + 1, 0); }
/* Returns the unit that becomes free first. */
static inline uint32_t collector_first_free(const struct collector *c) {
    uint64_t least = c->unit_free[0];
    uint32_t best = 0;
#pragma GCC unroll 1
    for (uint32_t i = 1; i < c->units; i++) {
        uint64_t next = c->unit_free[i];
        best = next < least ? i : best;
        least = min64(next, least);
    }
    return best;
}
/* Issues an instruction at `now`. Returns the first cycle in which its collector unit reads operands. The
 * instruction gets a unit that is free when the instruction arrives. If no unit is free, it gets the unit that
 * becomes free first. Requires collector_can_accept(); collector_leaves() and collector_dispatched() must follow. */
static inline uint64_t collector_accept(struct collector *c, uint64_t now, uint32_t *unit) {
    uint64_t comes = now + c->latch;
    uint32_t best = c->turn;
    if (c->unit_free[best] > comes)
        best = collector_first_free(c);
    c->turn = collector_next(best, c->units);
    uint64_t allocated = c->unit_free[best] > comes ? c->unit_free[best] : comes;
    c->in[c->in_at] = allocated;
    c->in_at = collector_next(c->in_at, c->in_ports);
    *unit = best;
    return allocated + 1;
}
/* Returns the cycle at which an instruction may leave its unit for the pipe. `ready`: cycle by which its operands have
 * been read. */
static inline uint64_t collector_leaves(const struct collector *c, uint64_t ready) {
    return ready > c->out[c->out_at] ? ready : c->out[c->out_at];
}
/* Records that an instruction leaves its unit at cycle `left`, and its dispatch latch at cycle `entered`. */
static inline void collector_left(struct collector *c, uint64_t left, uint64_t entered) {
    c->out[c->out_at] = entered > left ? entered : left + 1;
    c->out_at = collector_next(c->out_at, c->out_ports);
}
/* Does the same, and frees `unit`. */
static inline void collector_dispatched(struct collector *c, uint32_t unit, uint64_t left, uint64_t entered) {
    c->unit_free[unit] = left;
    collector_left(c, left, entered);
}
#endif
