#include "fetch_stream.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include <stdlib.h>

bool fetch_streams_init(struct fetch *f, const struct config *cfg) {
    f->stream_due = UINT64_MAX;
    f->stream_lines = f->n_l0 ? cfg->sm.fetch_prefetch : 0;
    f->l0_mshrs = cfg->l0i.mshrs;
    if (!f->stream_lines)
        return true;
    f->stream_ready = calloc((size_t)f->n_l0 * f->stream_lines, sizeof *f->stream_ready);
    f->stream_wait = calloc((size_t)f->n_l0 * f->l0_mshrs, sizeof *f->stream_wait);
    return f->stream_ready && f->stream_wait;
}

/* Returns a pointer to the cycle at which the line of entry `serial` is available. The cycle is UINT64_MAX while the
 * line is in flight from memory. */
static uint64_t *ready_of(struct fetch *f, uint32_t unit, uint32_t serial) {
    return &f->stream_ready[unit * f->stream_lines + serial % f->stream_lines];
}

/* Removes the `n` oldest entries. */
static void pop(struct fetch *f, uint32_t unit, uint32_t n) {
    struct fetch_stream *s = &f->stream[unit];
    s->line += n;
    s->serial += n;
    s->n -= n;
    f->stream_wants |= 1u << unit;
}

enum fetch_result fetch_stream_take(struct fetch *f, uint32_t unit, uint64_t line, uint32_t mshr, uint64_t now,
                                    uint32_t *latency) {
    struct fetch_stream *s = &f->stream[unit];
    uint64_t ahead = line - s->line;
    if (ahead >= s->n) {
        f->n.prefetch_unused += s->n;
        pop(f, unit, s->n);
        s->line = line + 1;
        return FETCH_REFUSED;
    }
    uint32_t serial = s->serial + (uint32_t)ahead;
    uint64_t ready = *ready_of(f, unit, serial);
    f->n.prefetch_unused += ahead;
    f->n.prefetch_useful++;
    pop(f, unit, (uint32_t)ahead + 1);
    if (ready > now) {
        f->n.prefetch_late++;
        if (ready == UINT64_MAX)
            fetch_join(f, line << f->l0_line_bits, now);
        f->stream_wait[unit * f->l0_mshrs + mshr] = (struct fetch_stream_wait){ready, serial, true};
        f->stream_due = min64(f->stream_due, ready);
        return FETCH_WAIT;
    }
    uint64_t taken;
    struct cache *c = &f->l0[unit];
    cache_fill(c, mshr, c->all_sectors);
    while (cache_take(c, mshr, &taken))
        ; /* takes the ticket itself */
    *latency = STREAM_LATENCY;
    return FETCH_HIT;
}

void fetch_stream_arrived(struct fetch *f, uint64_t target, uint64_t now) {
    uint32_t unit = (uint32_t)(target >> 32) & 0xff, serial = (uint32_t)target;
    const struct fetch_stream *s = &f->stream[unit];
    if (serial - s->serial < s->n) {
        *ready_of(f, unit, serial) = now;
        return;
    }
    /* the entry is gone: a fetch took it, or it was dropped; an MSHR of the L0 may wait for its line */
    for (uint32_t m = 0; m < f->l0_mshrs; m++) {
        struct fetch_stream_wait *w = &f->stream_wait[unit * f->l0_mshrs + m];
        if (w->waits && w->serial == serial && w->ready == UINT64_MAX) {
            w->waits = false;
            fetch_fill_l0(f, unit, m, 0);
            return;
        }
    }
}

void fetch_streams_retry(struct fetch *f) {
    for (uint32_t u = 0; f->stream_lines && u < f->n_l0; u++)
        f->stream_wants |= (uint32_t)f->stream[u].refused << u;
}

/* Requests the next line of a buffer that has room. */
static void request_next_line(struct fetch *f, uint32_t unit, uint64_t now) {
    struct fetch_stream *s = &f->stream[unit];
    enum { FOR_FETCHES = 1 };
    uint64_t address = (s->line + s->n) << f->l0_line_bits;
    uint32_t serial = s->serial + s->n;
    enum fetch_result r = FETCH_REFUSED;
    if (f->l1.n_free > FOR_FETCHES)
        r = fetch_ask_l1(f, address, TARGET_STREAM | (uint64_t)unit << 32 | serial, true, now);
    s->refused = r == FETCH_REFUSED;
    if (!s->refused) {
        *ready_of(f, unit, serial) = r == FETCH_HIT ? now - 1 + f->l1_latency : UINT64_MAX;
        s->n++;
        f->n.prefetches++;
    }
    if (s->refused || s->n == f->stream_lines)
        f->stream_wants &= ~(1u << unit);
}

/* Moves lines that are due from the L1 to the L0s whose MSHRs wait for them. Returns true if a line was due. */
static bool fill_due(struct fetch *f, uint64_t now) {
    f->stream_due = UINT64_MAX;
    bool any = false;
    for (uint32_t i = 0; i < f->n_l0 * f->l0_mshrs; i++) {
        struct fetch_stream_wait *w = &f->stream_wait[i];
        if (w->waits && w->ready <= now) {
            w->waits = false;
            fetch_fill_l0(f, i / f->l0_mshrs, i % f->l0_mshrs, 0);
            any = true;
        } else if (w->waits) {
            f->stream_due = min64(f->stream_due, w->ready);
        }
    }
    return any;
}

/* Moves lines that are due to the L0s that wait for them, and requests the next line of one stream buffer. Returns true
 * if a line was due. In each cycle, fetches access the L1 after this call. So a request that leaves here uses the L1's
 * port of the previous cycle, in which no fetch accessed the L1. */
bool fetch_streams_tick(struct fetch *f, uint64_t now) {
    bool filled = f->stream_due <= now && fill_due(f, now);
    if (!f->stream_wants || f->l1_asked + 1 >= now)
        return filled;
    uint32_t later = f->stream_wants >> f->stream_turn << f->stream_turn;
    uint32_t unit = (uint32_t)__builtin_ctz(later ? later : f->stream_wants);
    f->stream_turn = unit + 1 < f->n_l0 ? unit + 1 : 0;
    request_next_line(f, unit, now);
    return filled;
}
