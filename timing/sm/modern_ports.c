#include "modern_ports.h"

uint32_t modern_reads_of(const struct program *p, const struct core_cfg *core, const struct sb_regs *r, uint32_t pc,
                         struct modern_read out[MODERN_MAX_READS]) {
    const struct control_bits *c = p->control ? &p->control[pc] : NULL;
    uint32_t n = 0;
    for (uint8_t i = 0; c && i < CONTROL_OPERANDS; i++)
        if (c->read_words[i])
            out[n++] = (struct modern_read){c->read[i], c->read_words[i], i, c->reuse >> i & core->reuse_cache};
    for (uint32_t i = 0; !c && i < r->n_read && n < MODERN_MAX_READS; i++)
        if (p->reg_words[r->read[i]])
            out[n++] = (struct modern_read){(uint8_t)r->read[i], p->reg_words[r->read[i]], CONTROL_OPERANDS, false};
    return n;
}

/* Returns the banks that the instruction writes, one bit each. */
static uint8_t written_banks(const struct program *p, const struct sb_regs *r, uint32_t pc) {
    const struct control_bits *c = p->control ? &p->control[pc] : NULL;
    unsigned banks = 0;
    if (c)
        return (uint8_t)(c->write_words > 1 ? 3 : c->write_words ? 1u << c->write % TIMED_BANKS : 0);
    for (uint32_t i = 0; i < r->n_write; i++) {
        unsigned words = p->reg_words[r->write[i]];
        banks |= words > 1 ? 3 : words ? 1u << r->write[i] % TIMED_BANKS : 0;
    }
    return (uint8_t)banks;
}

struct timed_ports modern_ports_of(const struct program *p, const struct core_cfg *core, const struct sb_regs *r,
                                   uint32_t pc) {
    struct timed_ports out = {.written = written_banks(p, r, pc)};
    struct modern_read operand[MODERN_MAX_READS];
    uint64_t seen[4] = {0};
    const uint32_t n = modern_reads_of(p, core, r, pc, operand);
    for (uint32_t i = 0; i < n; i++)
        for (uint8_t k = 0; k < operand[i].words; k++) {
            const uint8_t reg = (uint8_t)(operand[i].reg + k);
            modern_add_read(seen, out.reads, reg);
            out.fills |= operand[i].reuse;
            if (operand[i].position < CONTROL_OPERANDS)
                out.places |= modern_place_bit(reg, operand[i].position);
        }
    return out;
}
