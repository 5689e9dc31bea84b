#include "dram.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

/* Clocks are given in MHz with at most three decimals, so the ratio is one of integers. */
static struct clock_ratio ratio(double core_mhz, double dram_mhz) {
    uint64_t num = (uint64_t)(dram_mhz * 1000 + 0.5), den = (uint64_t)(core_mhz * 1000 + 0.5);
    uint64_t a = num ? num : 1, b = den ? den : 1;
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return (struct clock_ratio){num / a, den / a};
}

/* DRAM clocks that have passed by core cycle c, and the first core cycle by which clock d has. */
static uint64_t clocks_at(const struct dram *d, uint64_t cycle) { return cycle * d->clock.num / d->clock.den; }
static uint64_t cycle_of(const struct dram *d, uint64_t clock) {
    return (clock * d->clock.den + d->clock.num - 1) / d->clock.num;
}

static uint32_t power_of_two(uint32_t n) {
    uint32_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

bool dram_init(struct dram *d, const struct config *c, uint32_t slices, uint32_t max_reads) {
    const struct dram_cfg *cfg = &c->dram;
    memset(d, 0, sizeof *d);
    d->cfg = *cfg;
    d->slices = slices;
    d->clock = ratio(c->gpu.core_mhz, c->gpu.dram_mhz);
    d->burst_bytes = cfg->bus_bytes * cfg->burst;
    d->burst_clocks = cfg->burst > cfg->data_rate ? cfg->burst / cfg->data_rate : 1;
    d->column_gap = cfg->ccd > d->burst_clocks ? cfg->ccd : d->burst_clocks;
    d->write_to_read = cfg->wl + d->burst_clocks + cfg->cdlr;
    d->read_to_write = cfg->cl + d->burst_clocks + 2 > cfg->wl ? cfg->cl + d->burst_clocks + 2 - cfg->wl : 1;
    d->next = NEVER;
    uint32_t pipe = power_of_two(cfg->latency + 16 * slices), replies = power_of_two(max_reads);
    d->pipe_mask = pipe - 1;
    d->reply_mask = replies - 1;
    d->pool = calloc(cfg->queue, sizeof *d->pool);
    d->pipe = calloc(pipe, sizeof *d->pipe);
    d->reply = calloc(replies, sizeof *d->reply);
    if (!d->pool || !d->pipe || !d->reply)
        return false;
    for (uint32_t i = 0; i < cfg->queue; i++)
        d->pool[i].next = (uint16_t)(i + 1 < cfg->queue ? i + 1 : DRAM_NO_REQUEST);
    for (uint32_t b = 0; b < cfg->banks; b++)
        d->bank[b].oldest = d->bank[b].newest = d->bank[b].current = DRAM_NO_REQUEST;
    return true;
}

void dram_free(struct dram *d) {
    free(d->pool);
    free(d->pipe);
    free(d->reply);
    memset(d, 0, sizeof *d);
}

/* Bursts that hold the sectors. */
static unsigned bursts_of(const struct dram *d, unsigned sectors) {
    unsigned n = 0, per_burst = d->burst_bytes > 32 ? d->burst_bytes / 32 : 1, mask = (1u << per_burst) - 1;
    if (d->burst_bytes < 32)
        return (unsigned)__builtin_popcount(sectors) * (32 / d->burst_bytes);
    for (; sectors; sectors >>= per_burst)
        n += (sectors & mask) != 0;
    return n;
}

void dram_accept(struct dram *d, struct dram_place at, bool write, unsigned slice, unsigned tag, unsigned sectors,
                 uint64_t now) {
    assert(dram_room(d, slice) && sectors && at.bank < d->cfg.banks);
    d->pipe_of[slice % d->slices]++;
    d->pipe[d->pipe_tail++ & d->pipe_mask] = (struct dram_request){.ready = now + (d->cfg.latency ? d->cfg.latency : 1),
                                                                   .row = at.row,
                                                                   .bank = (uint8_t)at.bank,
                                                                   .tag = (uint16_t)tag,
                                                                   .slice = (uint16_t)slice,
                                                                   .sectors = (uint8_t)sectors,
                                                                   .bursts = (uint8_t)bursts_of(d, sectors),
                                                                   .write = write};
}

/* Moves requests that have served their latency into the queue. */
static bool enqueue(struct dram *d, uint64_t now) {
    bool moved = false;
    while (d->pipe_head != d->pipe_tail && d->queued < d->cfg.queue) {
        const struct dram_request *r = &d->pipe[d->pipe_head & d->pipe_mask];
        if (r->ready > now)
            break;
        d->pipe_head++;
        d->pipe_of[r->slice % d->slices]--;
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
        d->busy_banks |= 1ull << r->bank;
        d->queued++;
        moved = true;
    }
    if (moved && d->next > d->done)
        d->next = d->done;
    return moved;
}

/* The bank's next request: the oldest one to the open row, else the oldest. */
static uint16_t pick(const struct dram *d, const struct dram_bank *b) {
    if (b->open && d->cfg.policy == DRAM_FR_FCFS)
        for (uint16_t i = b->oldest; i != DRAM_NO_REQUEST; i = d->pool[i].next)
            if (d->pool[i].row == b->row)
                return i;
    return b->oldest;
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

static uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint32_t group_of(const struct dram *d, uint32_t bank) { return bank % d->cfg.groups; }

static uint64_t column_time(const struct dram *d, uint32_t bank, const struct dram_request *r) {
    uint64_t t = max64(d->bank[bank].col_ok, d->column_ok);
    return max64(max64(t, d->group_ok[group_of(d, bank)]), r->write ? d->write_ok : d->read_ok);
}

static uint64_t row_time(const struct dram *d, const struct dram_bank *b) {
    return b->open ? b->pre_ok : max64(b->act_ok, d->activate_ok);
}

static void finish(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    struct dram_request *r = &d->pool[b->current];
    if (!r->write) {
        uint64_t there = cycle_of(d, clock + d->cfg.cl + d->burst_clocks);
        assert(d->reply_tail - d->reply_head <= d->reply_mask);
        d->reply[d->reply_tail++ & d->reply_mask] =
            (struct dram_reply){.ready = there, .tag = r->tag, .slice = r->slice, .sectors = r->sectors};
    }
    unlink_request(d, b, b->current);
    b->current = DRAM_NO_REQUEST;
    if (b->oldest == DRAM_NO_REQUEST)
        d->busy_banks &= ~(1ull << bank);
}

static void column(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    struct dram_request *r = &d->pool[b->current];
    d->column_ok = clock + d->column_gap;
    d->group_ok[group_of(d, bank)] = clock + d->cfg.ccdl;
    if (r->write) {
        d->read_ok = clock + d->write_to_read;
        b->pre_ok = max64(b->pre_ok, clock + d->cfg.wl + d->burst_clocks + d->cfg.wr);
        d->n.writes++;
        d->n.write_bytes += d->burst_bytes;
    } else {
        d->write_ok = clock + d->read_to_write;
        b->pre_ok = max64(b->pre_ok, clock + d->cfg.rtpl);
        d->n.reads++;
        d->n.read_bytes += d->burst_bytes;
    }
    if (--r->bursts == 0)
        finish(d, bank, clock);
}

static void row_command(struct dram *d, uint32_t bank, uint64_t clock) {
    struct dram_bank *b = &d->bank[bank];
    struct dram_request *r = &d->pool[b->current];
    r->opened = true;
    if (b->open) {
        b->open = false;
        b->act_ok = max64(b->act_ok, clock + d->cfg.rp);
        d->n.precharges++;
        return;
    }
    b->open = true;
    b->row = r->row;
    b->col_ok = clock + d->cfg.rcd;
    b->pre_ok = clock + d->cfg.ras;
    b->act_ok = clock + d->cfg.rc;
    d->activate_ok = clock + d->cfg.rrd;
    d->n.activates++;
}

static void start_request(struct dram *d, struct dram_bank *b) {
    b->current = pick(d, b);
    d->n.requests++;
    d->n.row_hits += b->open && b->row == d->pool[b->current].row;
}

/* One clock: issues at most one command. Returns the next clock at which one may go. */
static uint64_t clock_tick(struct dram *d, uint64_t clock) {
    uint64_t next = NEVER;
    int row = -1;
    uint64_t later = d->busy_banks >> d->turn << d->turn, order[2] = {later, d->busy_banks & ~later};
    for (int half = 0; half < 2; half++)
        for (uint64_t m = order[half]; m; m &= m - 1) {
            uint32_t bank = (uint32_t)__builtin_ctzll(m);
            struct dram_bank *b = &d->bank[bank];
            if (b->current == DRAM_NO_REQUEST)
                start_request(d, b);
            bool hit = b->open && b->row == d->pool[b->current].row;
            uint64_t t = hit ? column_time(d, bank, &d->pool[b->current]) : row_time(d, b);
            if (t <= clock && hit) {
                d->turn = bank + 1 == d->cfg.banks ? 0 : bank + 1;
                column(d, bank, clock);
                return clock + 1;
            }
            if (t > clock)
                next = t < next ? t : next;
            else if (row < 0)
                row = (int)bank;
        }
    if (row < 0)
        return next;
    d->turn = (uint32_t)row + 1 == d->cfg.banks ? 0 : (uint32_t)row + 1;
    row_command(d, (uint32_t)row, clock);
    return clock + 1;
}

bool dram_tick(struct dram *d, uint64_t now) {
    uint64_t end = clocks_at(d, now) + 1;
    if (d->done < clocks_at(d, now ? now - 1 : 0) + 1) /* nothing happened in the cycles that were left out */
        d->done = clocks_at(d, now ? now - 1 : 0) + 1;
    bool moved = enqueue(d, now);
    while (d->next < end)
        d->next = d->busy_banks ? clock_tick(d, d->next) : NEVER;
    d->done = end;
    return moved;
}

uint64_t dram_next(const struct dram *d, uint64_t now) {
    uint64_t next = d->next == NEVER ? NEVER : cycle_of(d, d->next);
    if (d->pipe_head != d->pipe_tail && d->queued < d->cfg.queue) {
        uint64_t ready = d->pipe[d->pipe_head & d->pipe_mask].ready;
        next = ready < next ? ready : next;
    }
    return next > now ? next : now + 1;
}
