#ifndef TIMING_SM_MODERN_OPERANDS_H
#define TIMING_SM_MODERN_OPERANDS_H
/* The modern core: the ports of the register banks, inline for modern_pipes.c. */
#include "modern.h"
#include "stages.h"

enum { MODERN_READ_CYCLES = 3 };

/* Counts the reads that need a port, and updates the register-file cache. */
void modern_use_cache(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t need[MODERN_BANKS]);

/* Counts, for each bank, the reads that need a port. A register that two operands name is read once (assumed). */
static inline void modern_ports_needed(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc,
                                       uint32_t need[MODERN_BANKS]) {
    const struct timed_ports *t = &sm->program->inst[pc].ports;
    need[0] = t->reads[0];
    need[1] = t->reads[1];
    if (t->fills || sm->modern->part[part].holds & t->places)
        modern_use_cache(sm, part, w, pc, need);
    sm->modern->n.port_reads += need[0] + need[1];
}

static inline struct modern_ports *modern_ports_at(struct modern_part *p, uint64_t cycle) {
    struct modern_ports *e = &p->ports[cycle % MODERN_RING];
    if (e->cycle != (uint32_t)cycle)
        *e = (struct modern_ports){.cycle = (uint32_t)cycle};
    return e;
}

/* Returns the numbers of reads in `cycle`: of bank 0 in byte 0, of bank 1 in byte 1. */
static inline uint32_t modern_reads_at(const struct modern_part *p, uint64_t cycle) {
    const struct modern_ports *e = &p->ports[cycle % MODERN_RING];
    const uint32_t reads = e->read[0] | (uint32_t)e->read[1] << 8;
    _Static_assert(MODERN_BANKS == 2, "two bytes");
    return e->cycle == (uint32_t)cycle ? reads : 0;
}

/* Returns true if the banks have ports for the reads in the MODERN_READ_CYCLES cycles from `from` on. An instruction
 * that needs more reads takes all of these ports. */
static inline bool modern_has_ports(const struct modern_part *p, uint32_t ports, uint64_t from,
                                    const uint32_t need[MODERN_BANKS]) {
    const uint32_t most = MODERN_READ_CYCLES * ports;
    uint32_t taken = 0;
    for (uint64_t c = from; c < from + MODERN_READ_CYCLES; c++)
        taken += modern_reads_at(p, c);
    return (taken & 0xff) + (need[0] < most ? need[0] : most) <= most &&
           (taken >> 8) + (need[1] < most ? need[1] : most) <= most;
}

/* Reserves `n` reads of a bank in the first free cycles from `from` on. Returns the cycle after the last read. */
static inline uint64_t modern_reserve_reads(struct modern_part *p, uint32_t ports, uint64_t from, unsigned bank,
                                            uint32_t n) {
    for (; n; from++) {
        uint8_t *read = &modern_ports_at(p, from)->read[bank];
        uint32_t more = ports - *read < n ? ports - *read : n;
        *read = (uint8_t)(*read + more);
        n -= more;
        if (!n)
            p->reads_end = max64(p->reads_end, from + 1);
    }
    return from;
}

/* Does the same for both banks, each with one port, if no read is reserved from `from` on. */
static inline void modern_reserve_free(struct modern_part *p, uint64_t from, const uint32_t need[MODERN_BANKS]) {
    const uint32_t most = need[0] > need[1] ? need[0] : need[1];
    for (uint32_t i = 0; i < most; i++) {
        struct modern_ports *e = modern_ports_at(p, from + i);
        e->read[0] = i < need[0];
        e->read[1] = i < need[1];
    }
    p->reads_end = most ? from + most : p->reads_end;
}

/* Returns the last cycle of the instruction in Allocate: the first cycle >= `from` for which it can reserve its reads
 * in the three following cycles. Reserves these reads. `part`: number of the sub-core. */
static inline uint64_t modern_allocate(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint64_t from) {
    struct modern_part *p = &sm->modern->part[part];
    const uint32_t ports = sm->cfg->core.read_ports;
    uint32_t need[MODERN_BANKS];
    uint64_t at = from, read = 0;
    modern_ports_needed(sm, part, w, pc, need);
    if (ports == 1 && p->reads_end <= from + 1 && need[0] <= MODERN_READ_CYCLES && need[1] <= MODERN_READ_CYCLES) {
        modern_reserve_free(p, from + 1, need);
        return from;
    }
    while (at + 1 < p->reads_end && !modern_has_ports(p, ports, at + 1, need))
        at++;
    for (unsigned b = 0; b < MODERN_BANKS; b++)
        read = max64(read, modern_reserve_reads(p, ports, at + 1, b, need[b]));
    /* an instruction with more than three operands of one bank stays in Allocate until MODERN_READ_CYCLES cycles of
     * reads remain */
    at = max64(at, read > MODERN_READ_CYCLES ? read - 1 - MODERN_READ_CYCLES : 0);
    sm->modern->n.bubbles += at - from;
    return at;
}

/* Reserves the write port for a fixed-latency result; the result queue keeps it if the port is busy. */
static inline void modern_queue_result(struct sm *sm, uint32_t part, uint32_t pc, uint64_t cycle) {
    const uint64_t most = sm->clock.accounted + MODERN_RING - 2;
    const uint8_t banks = sm->program->inst[pc].ports.written;
    for (unsigned b = 0; b < MODERN_BANKS; b++) {
        uint64_t at = cycle;
        if (!(banks >> b & 1))
            continue;
        while (at < most && modern_ports_at(&sm->modern->part[part], at)->written >> b & 1)
            at++;
        if (at < most)
            modern_ports_at(&sm->modern->part[part], at)->written |= (uint8_t)(1u << b);
    }
}
#endif
