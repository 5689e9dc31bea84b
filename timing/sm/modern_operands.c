/* The modern core: ports of the register banks, register-file cache, result queue. */
#include "modern_operands.h"
#include "modern_ports.h"

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

void modern_use_cache(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t need[MODERN_BANKS]) {
    struct modern_part *p = &sm->modern->part[part];
    struct modern_read r[MODERN_MAX_READS];
    const uint32_t n = modern_reads_of(sm->program->program, &sm->cfg->core, &sm->program->inst[pc].regs, pc, r);
    uint64_t seen[4] = {0};
    uint8_t reads[MODERN_BANKS] = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint8_t k = 0; k < r[i].words; k++) {
            const uint8_t reg = (uint8_t)(r[i].reg + k);
            if (in_cache(p, w, &r[i], reg))
                sm->modern->n.cache_hits++;
            else
                modern_add_read(seen, reads, reg);
        }
    for (unsigned b = 0; b < MODERN_BANKS; b++)
        need[b] = reads[b];
}

uint64_t modern_read_when_free(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint64_t now) {
    struct modern_part *p = &sm->modern->part[part];
    const uint32_t ports = sm->cfg->core.read_ports;
    uint32_t need[MODERN_BANKS];
    uint64_t last = 0, best = 0;
    modern_ports_needed(sm, part, w, pc, need);
    if (ports == 1 && p->reads_end <= now) {
        modern_reserve_free(p, now, need);
        return 0;
    }
    for (unsigned b = 0; b < MODERN_BANKS; b++)
        if (need[b]) {
            last = max64(last, modern_reserve_reads(p, ports, now, b, need[b]));
            best = max64(best, now + (need[b] + ports - 1) / ports);
        }
    return last - best;
}

bool modern_write_now(struct sm *sm, uint32_t part, uint32_t pc, uint64_t now) {
    struct modern_ports *e = modern_ports_at(&sm->modern->part[part], now);
    const uint8_t banks = sm->program->inst[pc].ports.written;
    if (e->written & banks)
        return false;
    e->written |= banks;
    return true;
}
