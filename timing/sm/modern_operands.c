/* The modern core: ports of the register banks, register-file cache, result queue. */
#include "modern.h"
#include "modern_ports.h"
#include "stages.h"

enum { READ_CYCLES = 3 };

/* Returns true if the value is in the register-file cache. Any access to a bank and position empties this place, or
 * fills it if the operand has its reuse bit. */
static bool in_cache(struct modern_part *p, uint32_t w, const struct modern_read *r, uint8_t reg) {
    if (r->position >= CONTROL_OPERANDS)
        return false;
    struct modern_cached *c = &p->cached[reg % MODERN_BANKS][r->position];
    bool hit = c->valid && c->warp == w && c->reg == reg;
    const uint8_t place = modern_place_bit(reg, r->position);
    *c = (struct modern_cached){.valid = r->reuse, .reg = reg, .warp = (uint16_t)w};
    p->holds = (uint8_t)(r->reuse ? p->holds | place : p->holds & ~place);
    return hit;
}

/* Counts the reads that need a port, and updates the register-file cache. */
static __attribute__((noinline)) void use_cache(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc,
                                                uint32_t need[MODERN_BANKS]) {
    struct modern_part *p = &sm->modern->part[part];
    struct modern_read r[MODERN_MAX_READS];
    const uint32_t n = modern_reads_of(sm->program->program, &sm->cfg->core, &sm->program->inst[pc].regs, pc, r);
    uint64_t read[4] = {0}; /* bit mask of the registers that need a port */
    need[0] = need[1] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint8_t k = 0; k < r[i].words; k++) {
            const uint8_t reg = (uint8_t)(r[i].reg + k);
            const uint64_t bit = 1ull << reg % 64;
            if (in_cache(p, w, &r[i], reg)) {
                sm->modern->n.cache_hits++;
                continue;
            }
            need[reg % MODERN_BANKS] += !(read[reg / 64] & bit);
            read[reg / 64] |= bit;
        }
}

/* Counts, for each bank, the reads that need a port. A register that two operands name is read once (assumed). */
static inline void ports_needed(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t need[MODERN_BANKS]) {
    const struct timed_ports *t = &sm->program->inst[pc].ports;
    need[0] = t->reads[0];
    need[1] = t->reads[1];
    if (t->fills || sm->modern->part[part].holds & t->places)
        use_cache(sm, part, w, pc, need);
    sm->modern->n.port_reads += need[0] + need[1];
}

static struct modern_ports *ports_at(struct modern_part *p, uint64_t cycle) {
    struct modern_ports *e = &p->ports[cycle % MODERN_RING];
    if (e->cycle != (uint32_t)cycle)
        *e = (struct modern_ports){.cycle = (uint32_t)cycle};
    return e;
}

/* Returns true if the banks have ports for the reads in the READ_CYCLES cycles from `from` on. An instruction that
 * needs more reads takes all of these ports. */
static bool has_ports(struct modern_part *p, uint32_t ports, uint64_t from, const uint32_t need[MODERN_BANKS]) {
    for (unsigned b = 0; b < MODERN_BANKS; b++) {
        uint32_t n = 0, most = READ_CYCLES * ports;
        for (uint64_t c = from; c < from + READ_CYCLES; c++)
            n += ports - ports_at(p, c)->read[b];
        if (n < (need[b] < most ? need[b] : most))
            return false;
    }
    return true;
}

/* Reserves `n` reads of a bank in the first free cycles from `from` on. Returns the cycle after the last read. */
static uint64_t reserve_reads(struct modern_part *p, uint32_t ports, uint64_t from, unsigned bank, uint32_t n) {
    for (; n; from++) {
        uint8_t *read = &ports_at(p, from)->read[bank];
        uint32_t more = ports - *read < n ? ports - *read : n;
        *read = (uint8_t)(*read + more);
        n -= more;
        p->reads_end = max64(p->reads_end, from + 1);
    }
    return from;
}

uint64_t modern_allocate(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint64_t from) {
    struct modern_part *p = &sm->modern->part[part];
    const uint32_t ports = sm->cfg->core.read_ports;
    uint32_t need[MODERN_BANKS];
    uint64_t at = from, read = 0;
    ports_needed(sm, part, w, pc, need);
    while (at + 1 < p->reads_end && !has_ports(p, ports, at + 1, need))
        at++;
    for (unsigned b = 0; b < MODERN_BANKS; b++)
        read = max64(read, reserve_reads(p, ports, at + 1, b, need[b]));
    /* an instruction with more than three operands of one bank stays in Allocate until READ_CYCLES cycles of reads
     * remain */
    at = max64(at, read > READ_CYCLES ? read - 1 - READ_CYCLES : 0);
    sm->modern->n.bubbles += at - from;
    return at;
}

uint64_t modern_read_when_free(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint64_t now) {
    struct modern_part *p = &sm->modern->part[part];
    const uint32_t ports = sm->cfg->core.read_ports;
    uint32_t need[MODERN_BANKS];
    uint64_t last = 0, best = 0;
    ports_needed(sm, part, w, pc, need);
    for (unsigned b = 0; b < MODERN_BANKS; b++)
        if (need[b]) {
            last = max64(last, reserve_reads(p, ports, now, b, need[b]));
            best = max64(best, now + (need[b] + ports - 1) / ports);
        }
    return last - best;
}

void modern_queue_result(struct sm *sm, uint32_t part, uint32_t pc, uint64_t cycle) {
    const uint64_t most = sm->clock.accounted + MODERN_RING - 2;
    const uint8_t banks = sm->program->inst[pc].ports.written;
    for (unsigned b = 0; b < MODERN_BANKS; b++) {
        uint64_t at = cycle;
        if (!(banks >> b & 1))
            continue;
        while (at < most && ports_at(&sm->modern->part[part], at)->written >> b & 1)
            at++;
        if (at < most)
            ports_at(&sm->modern->part[part], at)->written |= (uint8_t)(1u << b);
    }
}

bool modern_write_now(struct sm *sm, uint32_t part, uint32_t pc, uint64_t now) {
    struct modern_ports *e = ports_at(&sm->modern->part[part], now);
    const uint8_t banks = sm->program->inst[pc].ports.written;
    if (e->written & banks)
        return false;
    e->written |= banks;
    return true;
}
