#ifndef TIMING_DRAM_H
#define TIMING_DRAM_H
/* One DRAM channel. Requests wait a fixed latency (the controller's pipeline and the path to it), then in a queue. A
 * first-ready first-come-first-served scheduler picks requests from the queue and issues their commands: precharge,
 * activate, and a column command for each burst. It issues one command per clock. Column commands have priority over
 * row commands, and banks are served round-robin.
 *
 * For each constraint, the model stores the first clock at which the command is allowed. RC, RP and the others are the
 * options dram.rc, dram.rp and so on:
 *   activate   RC after the bank's last activate, RP after its precharge, RRD after an activate of any other bank
 *   precharge  RAS after the activate, RTPL after a read, WL + burst + WR after a write
 *   column     RCD after the activate, CCD after any other column command (never less than the burst), CCDL after a
 *              column command of the same bank group
 *     read     WL + burst + CDLR after a write
 *     write    CL + burst + 2 - WL after a read (bus turnaround)
 * The last data of a read arrives CL + burst after its last column command.
 *
 * A column command moves a burst. With dram.atom, it moves only this number of bytes, and takes the corresponding
 * fraction of the burst's clocks and of CCD (rounded up). Bytes that the request does not need are wasted: a sectored
 * L2 that requests 32 bytes of a 64-byte burst gets half of the bandwidth.
 *
 * The channel counts its own DRAM clocks: up to core cycle c, exactly c * dram / core clocks have passed. */
#include "memmap.h"
#include "timing/report/stat.h"

enum { DRAM_BANKS_MAX = 64, DRAM_GROUPS_MAX = 16, DRAM_SLICES_MAX = 16, DRAM_NO_REQUEST = 0xffff };

/* DRAM clocks per core cycle, as a reduced fraction. */
struct clock_ratio {
    uint32_t num, den;
};

/* A core cycle, and the number of DRAM clocks that have passed by this cycle: floor(cycle * num / den). It advances
 * in steps, so that units need no division. */
struct clock_point {
    struct clock_ratio ratio;
    uint64_t cycle;
    uint64_t first, last; /* DRAM clocks of this cycle: [first, last]; empty if no DRAM clock is in this cycle */
    uint64_t part;        /* cycle * num mod den */
};

/* Returns the ratio of two clocks in MHz, rounded to three decimals. */
struct clock_ratio clock_ratio(double core_mhz, double dram_mhz);
/* Returns the first core cycle by which DRAM clock `clock` has passed, for any `clock`. */
uint64_t clock_to_cycle(struct clock_ratio r, uint64_t clock);
/* Returns the clock point of core cycle `cycle`. clock_move() advances a point to a later cycle. */
struct clock_point clock_point(struct clock_ratio r, uint64_t cycle);
/* Works like clock_move(), but does not change p->first. */
void clock_skip(struct clock_point *p, uint64_t cycle);
static inline void clock_move(struct clock_point *p, uint64_t cycle) {
    if (p->cycle == cycle)
        return;
    if (p->cycle + 1 != cycle)
        clock_skip(p, cycle - 1);
    p->cycle = cycle;
    p->first = p->last + 1;
    uint64_t part = p->part + p->ratio.num, den = p->ratio.den;
    uint64_t steps = (part >= den) + (part >= 2 * den); /* unpredictable, so no branch */
    for (part -= steps * den; part >= den; part -= den)
        steps++;
    p->part = part;
    p->last += steps;
}
/* Returns the first core cycle by which clock `clock` has passed. `clock` must not be before p->first. */
static inline uint64_t clock_cycle(const struct clock_point *p, uint64_t clock) {
    if (clock <= p->last)
        return p->cycle;
    uint64_t missing = (clock - p->last) * p->ratio.den - p->part; /* in units of 1 / num core cycles */
    if (missing >> 32 == 0)
        return p->cycle + ((uint32_t)missing + p->ratio.num - 1) / p->ratio.num;
    return p->cycle + (missing + p->ratio.num - 1) / p->ratio.num;
}

struct dram_request {
    uint64_t ready; /* earliest core cycle at which the request enters the queue */
    uint32_t row;
    uint16_t tag; /* for a read: MSHR of the slice */
    uint16_t slice;
    uint16_t next;   /* next younger request of the bank */
    uint16_t bursts; /* bursts left */
    uint8_t bank, sectors;
    bool write;
};

/* The command that a bank's current request needs next. */
enum dram_want { WANT_READ, WANT_WRITE, WANT_ACTIVATE, WANT_PRECHARGE, N_WANTS };

struct dram_bank {
    /* clocks from which the bank may get an activate, a precharge or a column command */
    uint64_t act_ok, pre_ok, col_ok;
    uint64_t time; /* clock at which the bank allows its next command */
    uint32_t row;
    bool open;
    uint8_t want; /* enum dram_want */
    uint8_t group;
    /* the bank's oldest and newest request in the queue; the request that the bank serves now */
    uint16_t oldest, newest, current;
};

/* A finished read. */
struct dram_reply {
    uint64_t ready; /* core cycle at which the data arrives */
    uint16_t tag, slice;
    uint8_t sectors;
};

struct dram_counts {
#define COUNT_FIELDS
#include "dram_stats.def"
};

struct dram {
    struct dram_cfg cfg;
    /* for a column command: bytes moved; clocks on the data bus; clocks until the next column command */
    uint32_t atom, burst_clocks, column_gap;
    uint32_t read_to_write, write_to_read;
    uint64_t counted; /* clocks before this clock are already counted in n.queue_sum */
    uint64_t settled; /* clock at which the last data has been transferred */
    uint64_t next;    /* earliest clock at which a command may issue */
    uint64_t column_ok, read_ok, write_ok, activate_ok;
    uint64_t group_ok[DRAM_GROUPS_MAX];
    uint64_t group_banks[DRAM_GROUPS_MAX];
    uint32_t shut;       /* bank groups with a recent command; for all other groups, the time in group_ok has passed */
    uint32_t last_group; /* group of the last column command */
    uint64_t waiting;    /* banks that cannot get their command yet; all other banks are in ready[], by command */
    uint64_t ready[N_WANTS];
    uint64_t wake; /* earliest clock at which a waiting bank may get its command */
    uint32_t turn; /* bank with the highest priority */
    struct dram_bank bank[DRAM_BANKS_MAX];
    struct dram_request *pool; /* cfg.queue entries */
    uint16_t free, queued;
    struct dram_request *pipe; /* ring: requests during the fixed latency */
    uint32_t pipe_mask;
    uint64_t pipe_head, pipe_tail;
    uint32_t share; /* pipeline entries for each slice of the channel */
    uint32_t pipe_of[DRAM_SLICES_MAX];
    struct dram_reply *reply; /* ring: finished reads, for the slices */
    uint32_t reply_mask;
    uint64_t reply_head, reply_tail;
    struct dram_counts n;
};

/* Initialises a channel for `slices` slices; `max_reads` is the maximum number of reads in flight. Returns false when
 * memory runs out. */
bool dram_init(struct dram *d, const struct config *c, uint32_t slices, uint32_t max_reads);
void dram_free(struct dram *d);
/* Returns how many more requests of slice `slice` fit into the pipeline now. `slice` is the number of the slice in
 * the channel. */
static inline uint32_t dram_room(const struct dram *d, uint32_t slice) { return d->share - d->pipe_of[slice]; }
/* Accepts a request for the 32-byte `sectors` of a line at core cycle `now`. Requires dram_room(). */
void dram_accept(struct dram *d, struct dram_place at, bool write, unsigned slice, unsigned tag, unsigned sectors,
                 uint64_t now);
/* Runs the channel in the cycles with work from *next on, until the next such cycle is not before `to` or a read has
 * finished; with `until_moved` also until requests have left the pipeline. Runs at least one cycle. Moves *clock to the
 * last cycle. Sets *next to the next core cycle with work, or UINT64_MAX if there is none. A request that arrives later
 * can make this cycle earlier: see dram_entry(). Returns true if requests left the pipeline for the queue. */
bool dram_run(struct dram *d, struct clock_point *clock, uint64_t to, bool until_moved, uint64_t *next);
/* Returns the core cycle at which the oldest request in the pipeline may enter the queue. Returns UINT64_MAX if there
 * is no such request or the queue is full. */
static inline uint64_t dram_entry(const struct dram *d) {
    return d->pipe_head == d->pipe_tail || d->queued >= d->cfg.queue ? UINT64_MAX
                                                                     : d->pipe[d->pipe_head & d->pipe_mask].ready;
}
/* Takes a read whose completion has just become known. Its data arrives at reply.ready. */
static inline bool dram_take(struct dram *d, struct dram_reply *out) {
    if (d->reply_head == d->reply_tail)
        return false;
    *out = d->reply[d->reply_head++ & d->reply_mask];
    return true;
}
#endif
