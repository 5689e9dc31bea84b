#ifndef TIMING_FETCH_H
#define TIMING_FETCH_H
/* Instruction caches of one SM: an optional L0 for each scheduler with a divided SM, a stream buffer behind each L0
 * (fetch_stream.h), and an L1. A fetch is named by a ticket of the SM's choice, and comes back with the line. */
#include "timing/config/config.h"
#include "timing/mem/cache.h"
#include "timing/mem/lsu.h"

enum { FETCH_MAX_L0 = 8, FETCH_WAYS = 8 };

struct fetch_ready { /* a fetch whose line has arrived */
    uint32_t ticket, latency;
};

/* Consecutive lines that a stream buffer has, or has asked for. */
struct fetch_stream {
    uint64_t line;   /* number of the oldest one's, in lines of the L0 */
    uint32_t serial; /* of the oldest one; each further one has the next number */
    uint32_t n;
    bool refused; /* the L1 had no room for the next one */
};
/* An L0's MSHR that waits for a line which its stream buffer asked for. */
struct fetch_stream_wait {
    uint64_t ready; /* cycle; UINT64_MAX: when the L1 has it */
    uint32_t serial;
    bool waits;
};

struct fetch_counts {
#define COUNT_FIELDS
#include "fetch_stats.def"
};

struct fetch {
    struct cache l1;
    uint32_t n_l0; /* 0: every fetch goes to the L1 */
    bool has_l1;   /* without one every fetch hits */
    uint32_t line_bits, l0_line_bits, l1_latency;
    uint32_t way[FETCH_WAYS]; /* of the L1: where a line was last, by its low bits */
    struct lsu *lsu;
    uint64_t *address; /* by L1 MSHR: of the line */
    bool *ahead;       /* likewise: only stream buffers wait for it */
    uint16_t *send;    /* L1 MSHRs whose request waits for the port, the oldest first */
    uint32_t n_send;
    uint32_t miss_latency; /* not 0: lines come by themselves, after so many cycles */
    struct fetch_coming {  /* those on their way, in order */
        uint64_t cycle;
        uint16_t mshr;
    } * coming;
    uint32_t n_coming;
    struct fetch_retry { /* an L0 miss that the L1 had no room for */
        uint64_t address, target;
    } * retry;
    uint32_t n_retry;
    struct fetch_ready *ready;
    uint32_t ready_head, n_ready, cap_ready; /* a ring */
    uint32_t stream_lines, l0_mshrs;         /* of each stream buffer, of each L0 */
    struct fetch_stream stream[FETCH_MAX_L0];
    uint64_t *stream_ready; /* by buffer and serial: cycle at which the line is there; UINT64_MAX: not known yet */
    struct fetch_stream_wait *stream_wait; /* by L0 and MSHR */
    uint64_t stream_due;                   /* the first cycle in stream_wait; UINT64_MAX: none */
    uint32_t stream_wants, stream_turn;    /* buffers with room that were not refused, a bit each; who asks next */
    uint64_t l1_asked;                     /* the last cycle in which a fetch asked the L1 */
    struct fetch_counts n;
    struct cache l0[FETCH_MAX_L0];
};

enum fetch_result {
    FETCH_HIT,    /* the ticket is done after the latency written to *latency */
    FETCH_WAIT,   /* fetch_tick() will hand it back */
    FETCH_REFUSED /* no room: ask again after the next line has arrived */
};

bool fetch_init(struct fetch *f, const struct config *cfg, struct lsu *lsu);
void fetch_free(struct fetch *f);
enum fetch_result fetch_look(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket, uint64_t now,
                             uint32_t *latency);
/* A fetch that hits an L1 without an L0 where its line was last, if it is one: as fetch_accept() with latency 0. False:
 * nothing has changed. */
static inline bool fetch_there(struct fetch *f, uint64_t address) {
    uint64_t line = address >> f->line_bits;
    if (!f->has_l1 || f->n_l0 || !cache_read_there(&f->l1, f->way[line % FETCH_WAYS], line, f->l1.all_sectors))
        return false;
    f->n.l1_accesses++;
    f->n.fetches++;
    return true;
}
/* Fetches the line that holds `address` at cycle `now`; `unit`: the scheduler that asks, for its L0. */
static inline enum fetch_result fetch_accept(struct fetch *f, uint32_t unit, uint64_t address, uint32_t ticket,
                                             uint64_t now, uint32_t *latency) {
    *latency = 0;
    return fetch_there(f, address) ? FETCH_HIT : fetch_look(f, unit, address, ticket, now, latency);
}
/* Sends what waits for the port and takes lines that arrived: true when one did, so that refused fetches may try again.
 * Then take the tickets, in the order in which their fetches came. */
bool fetch_tick(struct fetch *f, uint64_t now);
void fetch_send(struct fetch *f, uint64_t now);
bool fetch_take(struct fetch *f, uint32_t *ticket, uint32_t *latency);
/* Has it work that no line from the port brings? */
static inline bool fetch_waits(const struct fetch *f) {
    return f->n_send || f->n_coming || f->stream_wants || f->stream_due != UINT64_MAX;
}
/* First cycle after `now` at which fetch_tick() has work of its own: requests that wait for the port ask in every
 * cycle. What the port brings is not in it (lsu_next). */
static inline uint64_t fetch_next(const struct fetch *f, uint64_t now) {
    if ((f->n_send && !f->miss_latency) | (f->stream_wants != 0))
        return now + 1;
    uint64_t c = f->n_coming ? f->coming[0].cycle : UINT64_MAX;
    c = f->stream_due < c ? f->stream_due : c;
    return c > now ? c : now + 1;
}
#endif
