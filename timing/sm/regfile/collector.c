#include "collector.h"
#include <assert.h>

void regfile_init(struct regfile *f, uint32_t banks, uint32_t operands, uint32_t result_bus) {
    assert(banks >= 1 && banks <= MAX_BANKS && operands >= 1 && result_bus >= 1);
    f->banks = banks;
    f->bank_mask = banks & (banks - 1) ? 0 : banks - 1;
    f->operands = operands;
    f->at_once = (int32_t)operands;
    f->slots = f->parts = 1;
    f->result_bus = result_bus;
}

void regfile_ports(struct regfile *f, uint32_t lanes, uint32_t warp_lanes, uint32_t reads, bool write_port) {
    enum { NEVER_AT_ONCE = -1024 };
    assert(lanes >= 1 && 32 % lanes == 0);
    f->slots = 32 / lanes * reads;
    f->parts = warp_lanes > 32 ? 32 / lanes : warp_lanes > lanes ? warp_lanes / lanes : 1;
    f->write_slots = write_port ? 0 : 32 / lanes;
    f->at_once = f->slots > 1 || write_port ? NEVER_AT_ONCE : (int32_t)f->operands;
}

/* Returns the first slot of bank `b` from `slot` on that no write takes. A write takes the first slots of its cycle. */
static uint64_t after_write(const struct regfile *f, uint32_t b, uint64_t slot) {
    uint64_t c = slot / f->slots;
    for (; slot - c * f->slots < f->write_slots && regfile_written_at(f, c, b); c = slot / f->slots)
        slot = c * f->slots + f->write_slots;
    return slot;
}

uint64_t regfile_read_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from) {
    enum { KEPT = 32 };
    const uint32_t operands = f->operands + l->more;
    uint8_t taken[KEPT] = {0}; /* number of operands that this instruction reads in each cycle from `from` on */
    uint64_t last = from;
    for (unsigned i = 0; i < l->n_reads; i++) {
        uint32_t b = regfile_bank(f, l->bank[i], warp);
        uint64_t slot = after_write(f, b, max64(f->next_read[b], from * f->slots)), c = slot / f->slots;
        for (; c - from < KEPT && taken[c - from] >= operands; c = slot / f->slots)
            slot = after_write(f, b, (c + 1) * f->slots);
        if (c - from < KEPT)
            taken[c - from]++;
        f->next_read[b] = slot + 1;
        last = max64(last, c + 1);
    }
    /* if a bank port is narrower than a warp, the remaining lanes are read after the first lanes of all operands */
    for (unsigned i = 0; f->parts > 1 && i < l->n_reads; i++)
        f->next_read[regfile_bank(f, l->bank[i], warp)] += f->parts - 1;
    f->n.read_waits += last - from - (l->n_reads + operands - 1) / operands;
    return last;
}

void collector_init(struct collector *c, const struct pipe_cfg *cfg, uint32_t units, uint32_t latch) {
    assert(units <= MAX_COLLECTORS && cfg->in_ports <= MAX_PORTS && cfg->out_ports <= MAX_PORTS);
    c->units = units;
    c->in_ports = cfg->in_ports;
    c->out_ports = cfg->out_ports;
    c->latch = latch;
}

uint64_t regfile_write_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                uint64_t now) {
    uint64_t last = from;
    for (unsigned i = 0; i < l->n_writes; i++) {
        uint32_t b = regfile_bank(f, l->bank[l->n_reads + i], warp);
        uint64_t c = from;
        for (;; c++) {
            uint32_t e = regfile_entry(f, c, now);
            if (e == REGFILE_RING)
                break;
            if (!(f->ring[e].written >> b & 1)) {
                f->ring[e].written |= 1ull << b;
                break;
            }
        }
        if (c > last)
            last = c;
    }
    f->n.writes += l->n_writes;
    f->n.write_waits += last - from;
    return last;
}
