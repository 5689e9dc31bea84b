#include "dram.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "isa/machine/lazy.h"
#include <string.h>

struct clock_ratio clock_ratio(double core_mhz, double dram_mhz) {
    uint32_t num = (uint32_t)(dram_mhz * 1000 + 0.5), den = (uint32_t)(core_mhz * 1000 + 0.5);
    uint32_t a = num, b = den;
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    return (struct clock_ratio){num / a, den / a};
}

uint64_t clock_to_cycle(struct clock_ratio r, uint64_t clock) {
    return (uint64_t)(((unsigned __int128)clock * r.den + r.num - 1) / r.num);
}

struct clock_point clock_point(struct clock_ratio r, uint64_t cycle) {
    uint64_t before = cycle ? (cycle - 1) * r.num / r.den + 1 : 0;
    return (struct clock_point){
        .ratio = r, .cycle = cycle, .first = before, .last = cycle * r.num / r.den, .part = cycle * r.num % r.den};
}

void clock_skip(struct clock_point *p, uint64_t cycle) {
    uint64_t ahead = cycle - p->cycle;
    if (ahead > 64) {
        *p = clock_point(p->ratio, cycle);
    } else if (ahead) {
        uint64_t parts = p->part + ahead * p->ratio.num;
        p->last += parts / p->ratio.den;
        p->part = parts % p->ratio.den;
        p->cycle = cycle;
    }
}

bool dram_init(struct dram *d, const struct config *c, uint32_t slices, uint32_t max_reads) {
    const struct dram_cfg *cfg = &c->dram;
    memset(d, 0, sizeof *d);
    d->cfg = *cfg;
    uint32_t burst = cfg->bus_bytes * cfg->burst, a_clock = cfg->bus_bytes * cfg->data_rate;
    d->atom = cfg->atom ? cfg->atom : burst;
    d->burst_clocks = cfg->atom                     ? (d->atom + a_clock - 1) / a_clock
                      : cfg->burst > cfg->data_rate ? cfg->burst / cfg->data_rate
                                                    : 1;
    uint32_t ccd = cfg->atom ? (cfg->ccd * d->atom + burst - 1) / burst : cfg->ccd;
    d->column_gap = ccd > d->burst_clocks ? ccd : d->burst_clocks;
    d->write_to_read = cfg->wl + d->burst_clocks + cfg->cdlr;
    d->read_to_write = cfg->cl + d->burst_clocks + 2 > cfg->wl ? cfg->cl + d->burst_clocks + 2 - cfg->wl : 1;
    d->next = d->wake = NEVER;
    uint32_t pipe = ring_size(cfg->latency + 16 * slices), replies = ring_size(max_reads);
    d->pipe_mask = pipe - 1;
    d->share = pipe / slices;
    d->reply_mask = replies - 1;
    d->pool = lazy_new(cfg->queue * sizeof *d->pool);
    d->pipe = lazy_new(pipe * sizeof *d->pipe);
    d->reply = lazy_new(replies * sizeof *d->reply);
    if (!d->pool || !d->pipe || !d->reply)
        return false;
    for (uint32_t i = 0; i < cfg->queue; i++)
        d->pool[i].next = (uint16_t)(i + 1 < cfg->queue ? i + 1 : DRAM_NO_REQUEST);
    for (uint32_t b = 0; b < cfg->banks; b++) {
        d->bank[b].oldest = d->bank[b].newest = d->bank[b].current = DRAM_NO_REQUEST;
        d->bank[b].group = (uint8_t)(b % cfg->groups);
        d->group_banks[b % cfg->groups] |= 1ull << b;
    }
    return true;
}

void dram_free(struct dram *d) {
    lazy_free(d->pool);
    lazy_free(d->pipe);
    lazy_free(d->reply);
    memset(d, 0, sizeof *d);
}

/* Returns the number of bursts that transfer the sectors. */
static unsigned bursts_of(const struct dram *d, unsigned sectors) {
    enum { LINE_SECTORS = 8 }; /* sectors of the longest line */
    unsigned n = 0, per_burst = d->atom > 32 ? d->atom / 32 : 1;
    if (d->atom < 32)
        return (unsigned)__builtin_popcount(sectors) * ((32 + d->atom - 1) / d->atom);
    if (per_burst >= LINE_SECTORS)
        return 1;
    unsigned mask = (1u << per_burst) - 1;
    for (; sectors; sectors >>= per_burst)
        n += (sectors & mask) != 0;
    return n;
}

void dram_accept(struct dram *d, struct dram_place at, bool write, unsigned slice, unsigned tag, unsigned sectors,
                 uint64_t now) {
    hot_assert(dram_room(d, slice) && sectors && at.bank < d->cfg.banks);
    d->pipe_of[slice]++;
    d->pipe[d->pipe_tail++ & d->pipe_mask] = (struct dram_request){.ready = now + (d->cfg.latency ? d->cfg.latency : 1),
                                                                   .row = at.row,
                                                                   .bank = (uint8_t)at.bank,
                                                                   .tag = (uint16_t)tag,
                                                                   .slice = (uint16_t)slice,
                                                                   .sectors = (uint8_t)sectors,
                                                                   .bursts = (uint16_t)bursts_of(d, sectors),
                                                                   .write = write};
}

/* Finds the command that the bank's current request needs next, and adds the bank to `ready` (for this command) or
 * to `waiting`. `clock` is the first clock at which the bank may get this command. */
static void file_bank(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    const struct dram_request *r = &d->pool[b->current];
    if (b->open && b->row == r->row) {
        b->want = r->write ? WANT_WRITE : WANT_READ;
        b->time = b->col_ok;
    } else {
        b->want = b->open ? WANT_PRECHARGE : WANT_ACTIVATE;
        b->time = b->open ? b->pre_ok : b->act_ok;
    }
    if (b->time <= clock) {
        d->ready[b->want] |= 1ull << bank;
    } else {
        d->waiting |= 1ull << bank;
        d->wake = min64(d->wake, b->time);
    }
}

/* Moves banks that may get their command at `clock` from `waiting` to `ready`. */
static void release(struct dram *d, uint64_t clock) {
    d->wake = NEVER;
    for (uint64_t m = d->waiting; m; m &= m - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(m);
        const struct dram_bank *b = &d->bank[bank];
        if (b->time <= clock) {
            d->waiting &= ~(1ull << bank);
            d->ready[b->want] |= 1ull << bank;
        } else {
            d->wake = min64(d->wake, b->time);
        }
    }
}

/* Picks the bank's next request: the oldest request to the open row, or if no request is to the open row, the oldest
 * request. With dram.policy=fcfs, always picks the oldest request. */
static void pick(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    b->current = b->oldest;
    if (b->open && d->cfg.policy == DRAM_FR_FCFS)
        for (uint16_t i = b->oldest; i != DRAM_NO_REQUEST; i = d->pool[i].next)
            if (d->pool[i].row == b->row) {
                b->current = i;
                break;
            }
    d->n.requests++;
    d->n.row_hits += b->open && b->row == d->pool[b->current].row;
    file_bank(d, bank, clock);
}

/* Moves requests whose fixed latency is over into the queue, as long as the queue has room. Returns true if it moved
 * any. */
static bool enqueue(struct dram *d, const struct clock_point *now) {
    bool moved = false;
    while (d->pipe_head != d->pipe_tail && d->queued < d->cfg.queue) {
        const struct dram_request *r = &d->pipe[d->pipe_head & d->pipe_mask];
        if (r->ready > now->cycle)
            break;
        d->pipe_head++;
        d->pipe_of[r->slice]--;
        uint16_t id = d->free;
        d->free = d->pool[id].next;
        d->pool[id] = *r;
        d->pool[id].next = DRAM_NO_REQUEST;
        struct dram_bank *b = &d->bank[r->bank];
        if (b->newest == DRAM_NO_REQUEST)
            b->oldest = id;
        else
            d->pool[b->newest].next = id;
        b->newest = id;
        d->queued++;
        moved = true;
        if (b->current == DRAM_NO_REQUEST) {
            pick(d, r->bank, now->first);
            d->next = min64(d->next, max64(b->time, now->first));
        }
    }
    return moved;
}

static void unlink_request(struct dram *d, struct dram_bank *b, uint16_t id) {
    uint16_t before = DRAM_NO_REQUEST;
    for (uint16_t i = b->oldest; i != id; i = d->pool[i].next)
        before = i;
    if (before == DRAM_NO_REQUEST)
        b->oldest = d->pool[id].next;
    else
        d->pool[before].next = d->pool[id].next;
    if (b->newest == id)
        b->newest = before;
    d->pool[id].next = d->free;
    d->free = id;
    d->queued--;
}

/* Ends the bank's request after the command of its last burst. The data of a read arrive CL plus the time of a burst
 * after this command. */
static void finish(struct dram *d, uint32_t bank, uint64_t clock, const struct clock_point *now) {
    struct dram_bank *b = &d->bank[bank];
    struct dram_request *r = &d->pool[b->current];
    if (!r->write) {
        uint64_t there = clock_cycle(now, clock + d->cfg.cl + d->burst_clocks);
        hot_assert(d->reply_tail - d->reply_head <= d->reply_mask);
        d->reply[d->reply_tail++ & d->reply_mask] =
            (struct dram_reply){.ready = there, .tag = r->tag, .slice = r->slice, .sectors = r->sectors};
    }
    unlink_request(d, b, b->current);
    b->current = DRAM_NO_REQUEST;
}

static void column(struct dram *d, uint32_t bank, uint64_t clock, const struct clock_point *now) {
    struct dram_bank *b = &d->bank[bank];
    struct dram_request *r = &d->pool[b->current];
    d->column_ok = clock + d->column_gap;
    d->group_ok[b->group] = clock + d->cfg.ccdl;
    d->last_group = b->group;
    d->shut |= 1u << b->group;
    d->settled = clock + (r->write ? d->cfg.wl : d->cfg.cl) + d->burst_clocks;
    if (r->write) {
        d->read_ok = clock + d->write_to_read;
        b->pre_ok = max64(b->pre_ok, clock + d->cfg.wl + d->burst_clocks + d->cfg.wr);
        d->n.writes++;
        d->n.write_bytes += d->atom;
    } else {
        d->write_ok = clock + d->read_to_write;
        b->pre_ok = max64(b->pre_ok, clock + d->cfg.rtpl);
        d->n.reads++;
        d->n.read_bytes += d->atom;
    }
    if (--r->bursts)
        return; /* the bank stays in ready[] for its next burst */
    d->ready[b->want] &= ~(1ull << bank);
    finish(d, bank, clock, now);
    if (b->oldest != DRAM_NO_REQUEST)
        pick(d, bank, clock + 1);
}

static void row_command(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    d->ready[b->want] &= ~(1ull << bank);
    if (b->open) {
        b->open = false;
        b->act_ok = max64(b->act_ok, clock + d->cfg.rp);
        d->n.precharges++;
    } else {
        b->open = true;
        b->row = d->pool[b->current].row;
        b->col_ok = clock + d->cfg.rcd;
        b->pre_ok = clock + d->cfg.ras;
        b->act_ok = clock + d->cfg.rc;
        d->activate_ok = clock + d->cfg.rrd;
        d->n.activates++;
    }
    file_bank(d, bank, clock + 1);
}

/* Returns the banks that may get a column command at `clock`. */
static uint64_t columns(struct dram *d, uint64_t clock) {
    if (d->column_ok > clock)
        return 0;
    uint64_t banks = (d->ready[WANT_READ] & -(uint64_t)(d->read_ok <= clock)) |
                     (d->ready[WANT_WRITE] & -(uint64_t)(d->write_ok <= clock));
    uint32_t shut = 0;
    /* the host cannot predict which groups are busy, so the loop body has no branch */
    for (uint32_t m = d->shut; m; m &= m - 1) {
        uint32_t group = (uint32_t)__builtin_ctz(m);
        uint64_t still = -(uint64_t)(d->group_ok[group] > clock);
        shut |= m & -m & (uint32_t)still;
        banks &= ~(d->group_banks[group] & still);
    }
    d->shut = shut;
    return banks;
}

/* Picks a bank of `banks`, round-robin. */
static uint32_t pick_bank(struct dram *d, uint64_t banks) {
    uint64_t later = banks >> d->turn << d->turn;
    uint32_t bank = (uint32_t)__builtin_ctzll(later ? later : banks);
    d->turn = bank + 1 == d->cfg.banks ? 0 : bank + 1;
    return bank;
}

/* Returns the first clock at which one of the banks may get a column command, or an earlier clock. The channel allows
 * none before clock `from`. If all banks are in the group of the last column command, their group allows none earlier
 * than group_ok. */
static inline uint64_t column_clock(const struct dram *d, uint64_t banks, uint64_t from) {
    const uint64_t group = banks & ~d->group_banks[d->last_group] ? 0 : d->group_ok[d->last_group];
    return max64(max64(d->column_ok, from), group);
}

/* Runs one clock: issues at most one command. Returns the next clock at which a command can issue, or an earlier
 * clock. */
static uint64_t clock_tick(struct dram *d, uint64_t clock, const struct clock_point *now) {
    if (d->wake <= clock)
        release(d, clock);
    uint64_t banks = columns(d, clock);
    if (banks)
        column(d, pick_bank(d, banks), clock, now);
    else if ((banks = d->ready[WANT_PRECHARGE] | (d->activate_ok <= clock ? d->ready[WANT_ACTIVATE] : 0)))
        row_command(d, pick_bank(d, banks), clock);
    uint64_t next = d->wake;
    if (d->ready[WANT_READ])
        next = min64(next, column_clock(d, d->ready[WANT_READ], d->read_ok));
    if (d->ready[WANT_WRITE])
        next = min64(next, column_clock(d, d->ready[WANT_WRITE], d->write_ok));
    if (d->ready[WANT_ACTIVATE])
        next = min64(next, d->activate_ok);
    if (d->ready[WANT_PRECHARGE])
        return clock + 1;
    return max64(next, clock + 1);
}

/* Runs the DRAM clocks of core cycle now->cycle. Returns true if requests left the pipeline for the queue. */
static inline bool run_cycle(struct dram *d, const struct clock_point *now) {
    d->n.queue_sum += d->queued * (now->last + 1 - d->counted);
    d->counted = now->last + 1;
    bool moved = enqueue(d, now);
    while (d->next <= now->last)
        d->next = clock_tick(d, d->next, now);
    return moved;
}

/* Returns the next core cycle after now->cycle with work. */
static inline uint64_t next_cycle(const struct dram *d, const struct clock_point *now) {
    uint64_t next = d->next == NEVER ? NEVER : clock_cycle(now, d->next);
    next = min64(next, dram_entry(d));
    return next > now->cycle ? next : now->cycle + 1;
}

bool dram_run(struct dram *d, struct clock_point *clock, uint64_t to, bool until_moved, uint64_t *next) {
    bool moved = false;
    do {
        clock_move(clock, *next);
        moved |= run_cycle(d, clock);
        *next = next_cycle(d, clock);
    } while (*next < to && d->reply_head == d->reply_tail && !(moved && until_moved));
    return moved;
}
