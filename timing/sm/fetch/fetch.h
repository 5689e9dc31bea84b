#ifndef TIMING_FETCH_H
#define TIMING_FETCH_H
/* Instruction caches of one SM: an optional L0 (per scheduler in a divided SM), a stream buffer for each L0
 * (fetch_stream.h), and an L1. The SM gives each fetch a ticket, which is returned with the line. */
#include "fetch_state.h"

bool fetch_init(struct fetch *f, const struct config *cfg, struct lsu *lsu);
void fetch_free(struct fetch *f);
/* Brings the lines of the addresses [from, to) into the L1 without time. */
void fetch_warm(struct fetch *f, uint64_t from, uint64_t to);
enum fetch_result fetch_look(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket, uint64_t now,
                             uint32_t *latency);
/* Returns the number of the L0 that scheduler `unit` uses. */
static inline uint32_t fetch_l0_of(const struct fetch *f, uint32_t unit) { return unit < f->n_l0 ? unit : 0; }
/* Fetches a line that hits its first cache (the L0, or an L1 without an L0) in the cache way in which a line with the
 * same low bits was found last. It has the effect of fetch_accept() with latency 0. If it cannot handle the fetch, it
 * returns false and changes nothing. */
static inline bool fetch_there(struct fetch *f, uint32_t unit, uint64_t address) {
    if (f->n_l0) {
        const uint32_t i = fetch_l0_of(f, unit);
        const uint64_t line = address >> f->l0_line_bits;
        if (!cache_read_there(&f->l0[i], f->l0_way[i][line % FETCH_WAYS], line, f->l0[i].all_sectors))
            return false;
        f->n.l0_accesses++;
    } else {
        const uint64_t line = address >> f->line_bits;
        if (!f->has_l1 || !cache_read_there(&f->l1, f->way[line % FETCH_WAYS], line, f->l1.all_sectors))
            return false;
        f->n.l1_accesses++;
    }
    f->n.fetches++;
    return true;
}
/* Fetches the line that contains `address` at cycle `now`. `unit` is the scheduler that fetches, and selects the L0. */
static inline enum fetch_result fetch_accept(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket,
                                             uint64_t now, uint32_t *latency) {
    *latency = 0;
    return fetch_there(f, unit, address) ? FETCH_HIT : fetch_look(f, unit, address, ticket, now, latency);
}
/* Sends requests that wait for the port, and receives lines. Returns true if a line arrived, so that refused fetches
 * may try again. fetch_take() then returns the tickets, in the order of their fetches. */
bool fetch_tick(struct fetch *f, uint64_t now);
void fetch_send(struct fetch *f, uint64_t now);
bool fetch_take(struct fetch *f, uint32_t *ticket, uint32_t *latency);
/* Returns true if the caches have work that does not wait for a line from the port. */
static inline bool fetch_waits(const struct fetch *f) {
    return f->n_send || f->n_coming || f->stream_wants || f->stream_due != UINT64_MAX;
}
/* Returns the first cycle after `now` at which fetch_tick() has work. Requests that wait for the port are work in
 * every cycle. Lines that arrive through the port do not count: lsu_next() includes them. */
static inline uint64_t fetch_next(const struct fetch *f, uint64_t now) {
    if ((f->n_send && !f->miss_latency) | (f->stream_wants != 0))
        return now + 1;
    uint64_t c = f->n_coming ? f->coming[0].cycle : UINT64_MAX;
    c = f->stream_due < c ? f->stream_due : c;
    return c > now ? c : now + 1;
}
#endif
