#ifndef TIMING_DRAM_H
#define TIMING_DRAM_H
/* One DRAM channel: requests wait a fixed latency (the controller's pipeline and the path to it), then in a queue from
 * which a first-ready first-come-first-served scheduler picks, and become commands: precharge, activate, and a column
 * command for each burst. One command a clock; column commands go before row commands, banks take turns.
 *
 * All constraints are kept as "not before" clocks:
 *   activate   RC after the bank's last, RP after its precharge, RRD after any other bank's
 *   precharge  RAS after the activate, RTPL after a read, WL + burst + WR after a write
 *   column     RCD after the activate, CCD after any other (never less than the burst), CCDL after one of its bank
 *              group
 *     read     WL + burst + CDLR after a write
 *     write    CL + burst + 2 - WL after a read (the bus turns round)
 * A read's last data is there CL + burst after its last column command.
 *
 * A column command moves a burst, or dram.atom bytes in its share of the burst's clocks and of CCD (rounded up). What a
 * request does not want of it is wasted: a sectored L2 that asks for 32 bytes of a burst of 64 gets half of the
 * bandwidth.
 *
 * The channel counts DRAM clocks of its own: up to core cycle c, c * dram / core clocks have passed, exactly. */
#include "memmap.h"
#include "timing/report/stat.h"

enum { DRAM_BANKS_MAX = 64, DRAM_GROUPS_MAX = 16, DRAM_SLICES_MAX = 16, DRAM_NO_REQUEST = 0xffff };

/* DRAM clocks per core cycle, a reduced fraction. */
struct clock_ratio {
    uint32_t num, den;
};

/* A core cycle and where the DRAM's clock stands then: floor(cycle * num / den) clocks have passed. Moved forward in
 * steps, so that no unit divides by itself. */
struct clock_point {
    struct clock_ratio ratio;
    uint64_t cycle;
    uint64_t first, last; /* clocks of this cycle: [first, last], empty when the DRAM is slower */
    uint64_t part;        /* cycle * num mod den */
};

/* Clocks in MHz, at most three decimals of which count. */
struct clock_ratio clock_ratio(double core_mhz, double dram_mhz);
/* The first cycle by which clock `clock` has passed, any clock. */
uint64_t clock_to_cycle(struct clock_ratio r, uint64_t clock);
/* The point of `cycle`; moving to a cycle that is not before the point's. */
struct clock_point clock_point(struct clock_ratio r, uint64_t cycle);
/* Likewise, but p->first is not moved. */
void clock_skip(struct clock_point *p, uint64_t cycle);
static inline void clock_move(struct clock_point *p, uint64_t cycle) {
    if (p->cycle == cycle)
        return;
    if (p->cycle + 1 != cycle)
        clock_skip(p, cycle - 1);
    p->cycle = cycle;
    p->first = p->last + 1;
    uint64_t part = p->part + p->ratio.num, den = p->ratio.den;
    uint64_t steps = (part >= den) + (part >= 2 * den); /* which it is is as good as random: no branch */
    for (part -= steps * den; part >= den; part -= den)
        steps++;
    p->part = part;
    p->last += steps;
}
/* The first cycle by which clock `clock` has passed; `clock` is not before p->first. */
static inline uint64_t clock_cycle(const struct clock_point *p, uint64_t clock) {
    if (clock <= p->last)
        return p->cycle;
    uint64_t missing = (clock - p->last) * p->ratio.den - p->part; /* of num each cycle */
    if (missing >> 32 == 0)
        return p->cycle + ((uint32_t)missing + p->ratio.num - 1) / p->ratio.num;
    return p->cycle + (missing + p->ratio.num - 1) / p->ratio.num;
}

struct dram_request {
    uint64_t ready; /* core cycle it enters the queue, at the earliest */
    uint32_t row;
    uint16_t tag; /* of a read: the slice's MSHR */
    uint16_t slice;
    uint16_t next;   /* younger request of the bank */
    uint16_t bursts; /* still to go */
    uint8_t bank, sectors;
    bool write;
};

/* The command that a bank's current request needs next. */
enum dram_want { WANT_READ, WANT_WRITE, WANT_ACTIVATE, WANT_PRECHARGE, N_WANTS };

struct dram_bank {
    uint64_t act_ok, pre_ok, col_ok; /* clocks */
    uint64_t time;                   /* when the bank allows the command it wants */
    uint32_t row;
    bool open;
    uint8_t want; /* enum dram_want */
    uint8_t group;
    uint16_t oldest, newest, current; /* requests; current is being served */
};

/* A finished read. */
struct dram_reply {
    uint64_t ready; /* core cycle */
    uint16_t tag, slice;
    uint8_t sectors;
};

struct dram_counts {
#define COUNT_FIELDS
#include "dram_stats.def"
};

struct dram {
    struct dram_cfg cfg;
    uint32_t atom, burst_clocks, column_gap; /* of a column command: bytes; clocks on the bus; clocks to the next one */
    uint32_t read_to_write, write_to_read;
    uint64_t counted; /* clocks up to here are in n.queue_sum */
    uint64_t settled; /* clock at which the last data is through */
    uint64_t next;    /* clock at which a command may go, at the earliest */
    uint64_t column_ok, read_ok, write_ok, activate_ok;
    uint64_t group_ok[DRAM_GROUPS_MAX];
    uint64_t group_banks[DRAM_GROUPS_MAX];
    uint32_t shut;    /* groups that had a command lately: others' group_ok is over */
    uint64_t waiting; /* banks whose time has not come; else they are in ready[] by what they want */
    uint64_t ready[N_WANTS];
    uint64_t wake; /* earliest time of a waiting bank */
    uint32_t turn; /* bank that is asked first */
    struct dram_bank bank[DRAM_BANKS_MAX];
    struct dram_request *pool; /* cfg.queue */
    uint16_t free, queued;
    struct dram_request *pipe; /* ring: the fixed latency */
    uint32_t pipe_mask;
    uint64_t pipe_head, pipe_tail;
    uint32_t share; /* of the pipeline, for each slice of the channel */
    uint32_t pipe_of[DRAM_SLICES_MAX];
    struct dram_reply *reply; /* ring: reads that are done, for the slices */
    uint32_t reply_mask;
    uint64_t reply_head, reply_tail;
    struct dram_counts n;
};

/* A channel of `c` for `slices` slices; `max_reads`: reads that can be under way at once. False when memory is out. */
bool dram_init(struct dram *d, const struct config *c, uint32_t slices, uint32_t max_reads);
void dram_free(struct dram *d);
/* Requests of a slice, numbered within the channel, that fit into its share of the fixed latency's pipeline now. */
static inline uint32_t dram_room(const struct dram *d, uint32_t slice) { return d->share - d->pipe_of[slice]; }
/* Requires dram_room(). A request of the 32-byte `sectors` of a line; `now` is the core cycle. */
void dram_accept(struct dram *d, struct dram_place at, bool write, unsigned slice, unsigned tag, unsigned sectors,
                 uint64_t now);
/* Works off the DRAM clocks of core cycle now->cycle. True when pipeline entries moved on. */
bool dram_tick(struct dram *d, const struct clock_point *now);
/* The next core cycle after now->cycle at which tick has work; UINT64_MAX: none. Requests that come later may make it
 * earlier: dram_entry(). */
uint64_t dram_next(const struct dram *d, const struct clock_point *now);
/* The core cycle at which the oldest request in the pipeline may enter the queue; UINT64_MAX: not before there is room,
 * or there is none. */
static inline uint64_t dram_entry(const struct dram *d) {
    return d->pipe_head == d->pipe_tail || d->queued >= d->cfg.queue ? UINT64_MAX
                                                                     : d->pipe[d->pipe_head & d->pipe_mask].ready;
}
/* Takes a finished read, newly known; its data is there at reply.ready. */
static inline bool dram_take(struct dram *d, struct dram_reply *out) {
    if (d->reply_head == d->reply_tail)
        return false;
    *out = d->reply[d->reply_head++ & d->reply_mask];
    return true;
}
#endif
