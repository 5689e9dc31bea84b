#include "collector.h"
#include <assert.h>
#include <string.h>

void regfile_init(struct regfile *f, uint32_t banks, uint32_t operands, uint32_t result_bus) {
    assert(banks >= 1 && banks <= MAX_BANKS && operands >= 1 && result_bus >= 1);
    memset(f, 0, sizeof *f);
    f->banks = banks;
    f->bank_mask = banks & (banks - 1) ? 0 : banks - 1;
    f->operands = operands;
    f->result_bus = result_bus;
    for (int i = 0; i < REGFILE_RING; i++)
        f->ring[i].cycle = UINT32_MAX;
}

static inline uint32_t bank_of(const struct regfile *f, uint8_t bank, uint32_t warp) {
    return f->bank_mask ? (bank + warp) & f->bank_mask : (bank + warp) % f->banks;
}

static inline bool written_at(const struct regfile *f, uint64_t cycle, uint32_t bank) {
    uint32_t i = cycle % REGFILE_RING;
    return f->ring[i].cycle == (uint32_t)cycle && (f->ring[i].written >> bank & 1);
}

/* One that has more operands than are read in a cycle. */
static uint64_t read_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                              uint32_t operands) {
    enum { KEPT = 32 };
    uint8_t taken[KEPT] = {0}; /* operands of this instruction by cycle after `from` */
    uint64_t last = from;
    for (unsigned i = 0; i < l->n_reads; i++) {
        uint32_t b = bank_of(f, l->bank[i], warp);
        uint64_t c = f->next_read[b] > from ? f->next_read[b] : from;
        while ((c - from < KEPT && taken[c - from] >= operands) || written_at(f, c, b))
            c++;
        if (c - from < KEPT)
            taken[c - from]++;
        f->next_read[b] = c + 1;
        if (c + 1 > last)
            last = c + 1;
    }
    f->n.read_waits += last - from - (l->n_reads + operands - 1) / operands;
    return last;
}

uint64_t regfile_read(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from) {
    const uint32_t operands = f->operands + l->more, n = l->n_reads;
    uint64_t last = from;
    f->n.reads += n;
    if (__builtin_expect(n > operands, 0))
        return read_in_turns(f, l, warp, from, operands);
    for (unsigned i = 0; i < n; i++) {
        uint32_t b = bank_of(f, l->bank[i], warp);
        uint64_t c = f->next_read[b] > from ? f->next_read[b] : from;
        while (written_at(f, c, b))
            c++;
        f->next_read[b] = ++c;
        last = c > last ? c : last;
    }
    f->n.read_waits += last - from - (n != 0);
    return last;
}

/* The ring's entry for `cycle`, NULL when it is too far away to be kept. */
static inline uint32_t ring_entry(struct regfile *f, uint64_t cycle, uint64_t now) {
    if (cycle - now >= REGFILE_RING)
        return REGFILE_RING;
    uint32_t i = cycle % REGFILE_RING;
    if (f->ring[i].cycle != (uint32_t)cycle) {
        f->ring[i].cycle = (uint32_t)cycle;
        f->ring[i].written = 0;
        f->ring[i].results = 0;
    }
    return i;
}

uint64_t regfile_write(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from, uint64_t now) {
    uint64_t last = from;
    for (unsigned i = 0; i < l->n_writes; i++) {
        uint32_t b = bank_of(f, l->bank[l->n_reads + i], warp);
        uint64_t c = from;
        for (;; c++) {
            uint32_t e = ring_entry(f, c, now);
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

uint64_t regfile_result(struct regfile *f, uint64_t from, uint64_t now) {
    for (uint64_t c = from;; c++) {
        uint32_t e = ring_entry(f, c, now);
        if (e == REGFILE_RING)
            return c;
        if (f->ring[e].results < f->result_bus) {
            f->ring[e].results++;
            f->n.write_waits += c - from;
            return c;
        }
    }
}

void collector_init(struct collector *c, const struct pipe_cfg *cfg, uint32_t units, uint32_t latch) {
    assert(units <= MAX_COLLECTORS && cfg->in_ports <= MAX_PORTS && cfg->out_ports <= MAX_PORTS);
    memset(c, 0, sizeof *c);
    c->units = units;
    c->in_ports = cfg->in_ports;
    c->out_ports = cfg->out_ports;
    c->latch = latch;
}
