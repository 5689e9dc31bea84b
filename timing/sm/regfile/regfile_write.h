#ifndef TIMING_REGFILE_WRITE_H
#define TIMING_REGFILE_WRITE_H
/* Results on the result bus and in the register banks. */
#include "regfile.h"

/* Returns the index of the ring entry for `cycle`, or REGFILE_RING if the cycle is too far ahead. */
static inline uint32_t regfile_entry(struct regfile *f, uint64_t cycle, uint64_t now) {
    if (cycle - now >= REGFILE_RING)
        return REGFILE_RING;
    uint32_t i = cycle % REGFILE_RING;
    bool there = f->ring[i].cycle == (uint32_t)cycle; /* unpredictable: no branch */
    f->ring[i].cycle = (uint32_t)cycle;
    f->ring[i].written = choose64(there, f->ring[i].written, 0);
    f->ring[i].results = choose32(there, f->ring[i].results, 0);
    return i;
}

/* Works like regfile_write(), for any number of results, and even if other results are written at `from`. */
uint64_t regfile_write_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                uint64_t now);
/* Reserves the writes, of which the first is at `from` or later. `now` is the current cycle. Returns the cycle of
 * the last write. */
static inline uint64_t regfile_write(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                     uint64_t now) {
    if (__builtin_expect((l->n_writes != 1) | (from - now >= REGFILE_RING), 0))
        return regfile_write_in_turns(f, l, warp, from, now);
    uint32_t i = from % REGFILE_RING;
    uint64_t bank = 1ull << regfile_bank(f, l->bank[l->n_reads], warp);
    bool there = f->ring[i].cycle == (uint32_t)from;
    if (__builtin_expect(there && f->ring[i].written & bank, 0))
        return regfile_write_in_turns(f, l, warp, from, now);
    f->ring[i].cycle = (uint32_t)from; /* common case: one result, in a bank without other results */
    f->ring[i].written = choose64(there, f->ring[i].written, 0) | bank;
    f->ring[i].results = choose32(there, f->ring[i].results, 0);
    f->n.writes++;
    return from;
}

/* Reserves the result bus in its first cycle >= from with room, and returns this cycle. */
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

/* Calls regfile_result() and regfile_write() for an instruction. Returns the result of regfile_write() and stores the
 * result of regfile_result() in *on_bus. */
static inline uint64_t regfile_deliver(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from,
                                       uint64_t now, uint64_t *on_bus) {
    uint32_t i = from % REGFILE_RING, n = l->n_writes;
    uint64_t bank = n ? 1ull << regfile_bank(f, l->bank[l->n_reads], warp) : 0;
    bool there = f->ring[i].cycle == (uint32_t)from; /* unpredictable: no branch */
    uint64_t written = choose64(there, f->ring[i].written, 0);
    uint32_t results = choose32(there, f->ring[i].results, 0);
    if ((n > 1) | (from - now >= REGFILE_RING) | ((written & bank) != 0) | (results >= f->result_bus)) {
        *on_bus = regfile_result(f, from, now);
        return regfile_write_in_turns(f, l, warp, *on_bus, now);
    } /* common case: one result, and room at once */
    f->ring[i].cycle = (uint32_t)from;
    f->ring[i].written = written | bank;
    f->ring[i].results = results + 1;
    f->n.writes += n;
    *on_bus = from;
    return from;
}
#endif
