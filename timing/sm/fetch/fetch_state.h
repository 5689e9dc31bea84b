#ifndef TIMING_FETCH_STATE_H
#define TIMING_FETCH_STATE_H
/* The state of the instruction caches of one SM (fetch.h, fetch_stream.h). */
#include "timing/config/config.h"
#include "timing/mem/cache.h"
#include "timing/mem/lsu.h"

enum { FETCH_MAX_L0 = 8, FETCH_WAYS = 8 };

struct fetch_ready { /* a fetch whose line has arrived */
    uint32_t ticket, latency;
};

/* Consecutive lines that a stream buffer holds or has requested. */
struct fetch_stream {
    uint64_t line;   /* address of the oldest line, in units of L0 lines */
    uint32_t serial; /* serial number of the oldest line; each later line has the next number */
    uint32_t n;
    bool refused; /* true if the L1 had no room for the next line */
};
/* An MSHR of an L0 that waits for a line of its stream buffer. */
struct fetch_stream_wait {
    uint64_t ready; /* cycle at which the line is available; UINT64_MAX until the line arrives in the L1 */
    uint32_t serial;
    bool waits;
};

struct fetch_counts {
#define COUNT_FIELDS
#include "fetch_stats.def"
};

struct fetch {
    struct cache l1;
    uint32_t n_l0; /* number of L0s; 0: every fetch goes to the L1 */
    bool has_l1;   /* false: every fetch hits */
    uint32_t line_bits, l0_line_bits, l1_latency;
    uint32_t way[FETCH_WAYS];                  /* last known L1 way of a line, by the line's low bits */
    uint32_t l0_way[FETCH_MAX_L0][FETCH_WAYS]; /* by L0: likewise */
    struct lsu *lsu;
    uint64_t *address; /* by L1 MSHR: address of the line */
    bool *ahead;       /* by L1 MSHR: true if only stream buffers wait for the line */
    uint16_t *send;    /* L1 MSHRs whose request waits for the port, oldest first */
    uint32_t n_send;
    uint32_t miss_latency; /* if not 0: lines arrive after this many cycles, without the port */
    struct fetch_coming {  /* lines in flight, in order */
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
    uint32_t stream_lines, l0_mshrs;         /* lines per stream buffer; MSHRs per L0 */
    struct fetch_stream stream[FETCH_MAX_L0];
    uint64_t *stream_ready; /* by buffer and serial: cycle at which the line is available; UINT64_MAX: unknown */
    struct fetch_stream_wait *stream_wait; /* by L0 and MSHR */
    uint64_t stream_due; /* smallest `ready` in stream_wait; UINT64_MAX if no entry waits for a known cycle */
    uint32_t stream_wants, stream_turn; /* bit mask of buffers that may send a request; the buffer that sends next */
    uint64_t l1_asked;                  /* last cycle in which a fetch accessed the L1 */
    struct fetch_counts n;
    struct cache l0[FETCH_MAX_L0];
};

enum fetch_result {
    FETCH_HIT,    /* the ticket is done after *latency cycles */
    FETCH_WAIT,   /* fetch_tick() will complete the ticket later */
    FETCH_REFUSED /* no room: the caller must try again after the next line has arrived */
};
#endif
