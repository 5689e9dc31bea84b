#ifndef TIMING_COLLECTOR_H
#define TIMING_COLLECTOR_H
/* Register banks, and the collector units that gather an instruction's operands from them before a pipe takes it.
 *
 * Both are kept as reservations: when an instruction issues, the cycles of all its later steps are fixed in order of
 * issue (first come, first served), so nothing has to be walked cycle by cycle. Steps, each at least one cycle:
 * issue latch - collector unit allocated - so many operands a cycle, each bank serving one access a cycle - dispatch.
 *
 * A bank reads 32 lanes a cycle: all lanes of one operand, or, with collector.lanes, so many lanes of several operands.
 * The pipe then begins with the first lanes while the bank still reads the last ones. Two operands of a bank of 16
 * lanes are both read in two cycles, and the instruction leaves after the first cycle; a third costs a cycle more. */
#include "isa/arith.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"

/* Results further away than the ring is long do not conflict: only a division in a long queue of them is. */
enum { REGFILE_RING = 256, MAX_COLLECTORS = 64, MAX_PORTS = 8, MAX_BANKS = 64 };

struct regfile_counts {
#define COUNT_FIELDS
#include "regfile_stats.def"
};

/* Registers of one instruction, by bank. */
struct bank_list {
    const uint8_t *bank; /* of the register in warp 0; another warp's are shifted by its index */
    uint8_t n_reads;     /* the first so many are read, */
    uint8_t n_writes;    /* the others written */
    uint8_t more;        /* operands a cycle beyond what a collector unit takes: a read port more */
};

struct regfile {
    uint32_t banks, bank_mask; /* banks - 1 when that is a mask, else 0 */
    uint32_t operands;         /* that one instruction may read a cycle */
    int32_t at_once;           /* operands that regfile_read() handles by itself; negative: none, see regfile_ports() */
    uint32_t slots;            /* operands that a bank reads at the same time, each for as many cycles */
    bool write_port;           /* results take no cycle from reads */
    uint32_t result_bus;       /* results a cycle */
    struct regfile_counts n;
    uint64_t next_read[MAX_BANKS]; /* first cycle x slots at which the bank may serve one more read */
    struct {
        uint64_t written; /* bit b: bank b takes a result in this cycle, before any read */
        uint32_t cycle;   /* low bits: the entry is of this cycle, else empty */
        uint32_t results; /* on the result bus */
    } ring[REGFILE_RING];
};

void regfile_init(struct regfile *f, uint32_t banks, uint32_t operands, uint32_t result_bus);
/* Banks that read `lanes` lanes of an operand a cycle (a divisor of 32; 32 after regfile_init()), and as many operands
 * at a time as make 32 lanes. With `write_port` a bank reads and writes in the same cycle. */
void regfile_ports(struct regfile *f, uint32_t lanes, bool write_port);
/* The bank of a register, which is in bank `bank` for warp 0. */
static inline uint32_t regfile_bank(const struct regfile *f, uint8_t bank, uint32_t warp) {
    return f->bank_mask ? (bank + warp) & f->bank_mask : (bank + warp) % f->banks;
}

static inline bool regfile_written_at(const struct regfile *f, uint64_t cycle, uint32_t bank) {
    uint32_t i = cycle % REGFILE_RING;
    return (f->ring[i].cycle == (uint32_t)cycle) & (f->ring[i].written >> bank & 1); /* the first as good as random */
}

/* As regfile_read(), for any number of operands and any ports. */
uint64_t regfile_read_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from);
/* Reserves the reads of an instruction of warp `warp`, from cycle `from` on. Returns the cycle after the one in which
 * the last read begins (`from` without operands). */
static inline uint64_t regfile_read(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from) {
    const int32_t n = l->n_reads;
    uint64_t last = from;
    f->n.reads += (uint32_t)n;
    if (__builtin_expect(n > f->at_once + l->more, 0))
        return regfile_read_in_turns(f, l, warp, from);
    for (int32_t i = 0; i < n; i++) {
        uint32_t b = regfile_bank(f, l->bank[i], warp);
        uint64_t c = f->next_read[b] > from ? f->next_read[b] : from;
        while (regfile_written_at(f, c, b))
            c++;
        f->next_read[b] = ++c;
        last = c > last ? c : last;
    }
    f->n.read_waits += last - from - (n != 0);
    return last;
}

/* The ring's entry for `cycle`, NULL when it is too far away to be kept. */
static inline uint32_t regfile_entry(struct regfile *f, uint64_t cycle, uint64_t now) {
    if (cycle - now >= REGFILE_RING)
        return REGFILE_RING;
    uint32_t i = cycle % REGFILE_RING;
    bool there = f->ring[i].cycle == (uint32_t)cycle; /* as good as random: no branch */
    f->ring[i].cycle = (uint32_t)cycle;
    f->ring[i].written = choose64(there, f->ring[i].written, 0);
    f->ring[i].results = choose32(there, f->ring[i].results, 0);
    return i;
}

/* As regfile_write(), for any number of results, and where others are written at `from`. */
uint64_t regfile_write_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                uint64_t now);
/* Reserves the writes, the first at `from` or later; `now` is the current cycle. Returns the cycle of the last. */
static inline uint64_t regfile_write(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                     uint64_t now) {
    if (__builtin_expect((l->n_writes != 1) | (from - now >= REGFILE_RING), 0))
        return regfile_write_in_turns(f, l, warp, from, now);
    uint32_t i = from % REGFILE_RING;
    uint64_t bank = 1ull << regfile_bank(f, l->bank[l->n_reads], warp);
    bool there = f->ring[i].cycle == (uint32_t)from;
    if (__builtin_expect(there && f->ring[i].written & bank, 0))
        return regfile_write_in_turns(f, l, warp, from, now);
    f->ring[i].cycle = (uint32_t)from; /* mostly there is one result, and its bank has nothing else */
    f->ring[i].written = choose64(there, f->ring[i].written, 0) | bank;
    f->ring[i].results = choose32(there, f->ring[i].results, 0);
    f->n.writes++;
    return from;
}

/* The first cycle >= from with room on the result bus, which is then taken. */
static inline uint64_t regfile_result(struct regfile *f, uint64_t from, uint64_t now) {
    for (uint64_t c = from;; c++) {
        uint32_t e = regfile_entry(f, c, now);
        if (e == REGFILE_RING)
            return c;
        if (f->ring[e].results < f->result_bus) {
            f->ring[e].results++;
            f->n.write_waits += c - from;
            return c;
        }
    }
}

/* regfile_result() and regfile_write() of an instruction: returns what the latter does, and in *on_bus what the former
 * does. */
static inline uint64_t regfile_deliver(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                       uint64_t now, uint64_t *on_bus) {
    uint32_t i = from % REGFILE_RING, n = l->n_writes;
    uint64_t bank = n ? 1ull << regfile_bank(f, l->bank[l->n_reads], warp) : 0;
    bool there = f->ring[i].cycle == (uint32_t)from; /* as good as random: no branch */
    uint64_t written = choose64(there, f->ring[i].written, 0);
    uint32_t results = choose32(there, f->ring[i].results, 0);
    if ((n > 1) | (from - now >= REGFILE_RING) | ((written & bank) != 0) | (results >= f->result_bus)) {
        *on_bus = regfile_result(f, from, now);
        return regfile_write_in_turns(f, l, warp, *on_bus, now);
    } /* mostly there is room for one result at once */
    f->ring[i].cycle = (uint32_t)from;
    f->ring[i].written = written | bank;
    f->ring[i].results = results + 1;
    f->n.writes += n;
    *on_bus = from;
    return from;
}

/* The collector units before one kind of pipe. */
struct collector {
    uint32_t units, in_ports, out_ports, latch;
    uint32_t in_at, out_at;             /* oldest entry */
    uint32_t turn;                      /* unit that is asked first */
    uint64_t in[MAX_PORTS];             /* issue latch: cycle at which the entry is free again */
    uint64_t out[MAX_PORTS];            /* dispatch latch: likewise */
    uint64_t unit_free[MAX_COLLECTORS]; /* cycle at which the unit takes its next instruction */
};

void collector_init(struct collector *c, const struct pipe_cfg *cfg, uint32_t units, uint32_t latch);
/* Is there room in the issue latch? */
static inline bool collector_can_accept(const struct collector *c, uint64_t now) { return c->in[c->in_at] <= now; }
/* First cycle at which there will be. */
static inline uint64_t collector_free(const struct collector *c) { return c->in[c->in_at]; }
/* The next in a ring of `n`. */
static inline uint32_t collector_next(uint32_t i, uint32_t n) { return choose32(i + 1 != n, i + 1, 0); }
/* The unit that is free first. */
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
/* An instruction is issued at `now`: returns the first cycle in which the collector unit that it gets reads operands.
 * Requires collector_can_accept(); collector_leaves() and collector_dispatched() must follow. Of units that are free
 * when it comes it gets any, else the one that is free first. */
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
/* The cycle at which an instruction whose operands are there at `ready` may leave to the pipe. */
static inline uint64_t collector_leaves(const struct collector *c, uint64_t ready) {
    return ready > c->out[c->out_at] ? ready : c->out[c->out_at];
}
/* The instruction in `unit` left it at `left` and its latch at `entered`. */
static inline void collector_dispatched(struct collector *c, uint32_t unit, uint64_t left, uint64_t entered) {
    c->unit_free[unit] = left;
    c->out[c->out_at] = entered > left ? entered : left + 1;
    c->out_at = collector_next(c->out_at, c->out_ports);
}
#endif
