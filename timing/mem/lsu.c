/* The front of the load/store unit: sends the line accesses of its queue to the caches, and runs the shared-memory
 * banks. lsu_accept.c fills the queue. */
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "isa/machine/lazy.h"
#include "lsu_send.h"
#include <stdlib.h>
#include <string.h>

static bool init(struct lsu *l) {
    const struct config *c = l->cfg;
    l->coalescer = (struct coalescer){.line_bytes = c->lsu.coalesce_line, .split_wide = c->lsu.split_wide};
    l->banks = shared_banks_of(c);
    l->front_stalled_since = NEVER;
    l->status.queue = c->lsu.queue;
    l->status.n_free = LSU_SLOTS;
    for (int i = 0; i < LSU_PARTS; i++)
        l->due[i] = NEVER;
    for (uint8_t i = 0; i < LSU_PIPES; i++)
        l->pipe[i].id = i;
    for (uint32_t i = 0; i < LSU_SLOTS; i++)
        l->free_slot[i] = (uint16_t)(LSU_SLOTS - 1 - i);
    l->ahead.queue = calloc(c->lsu.prefetch_queue, sizeof *l->ahead.queue);
    l->front = lazy_new(c->lsu.queue * sizeof *l->front);
    if (c->l1i.size && c->sm.fetch_prefetch &&
        !(l->fetch.ahead_sent = calloc(c->l1i.mshrs, sizeof *l->fetch.ahead_sent)))
        return false;
    l->status.most =
        /* 4: one request each of a fetch, a prefetch, an access past the L1, and the walk unit */
        4 + 2 * (c->l1.ports + c->l1c.ports + c->tex.ports);
    l->pipe[PIPE_L1].miss_queue = c->lsu.l1_miss_queue;
    l->pipe[PIPE_L1].always_hits = c->memory.perfect_l1;
    l->pipe[PIPE_CONST].always_hits = c->lsu.perfect_constants;
    return walker_init(&l->walker, &c->walk) && l->front && l->ahead.queue &&
           lsu_pipe_init(&l->pipe[PIPE_L1], &c->l1, lsu_largest(c, &c->l1), MEM_READ, c->lsu.l1_banks) &&
           lsu_pipe_init(&l->pipe[PIPE_CONST], &c->l1c, c->l1c.size, MEM_CONSTANT, false) &&
           lsu_pipe_init(&l->pipe[PIPE_TEX], &c->tex, lsu_largest(c, &c->tex), MEM_TEXTURE, false);
}

struct lsu *lsu_new(const struct config *cfg, struct memsys *mem, uint32_t sm) {
    struct lsu *l = lazy_new(sizeof *l);
    if (!l)
        return NULL;
    l->cfg = cfg;
    l->status.port = memsys_port(mem, sm);
    l->status.next = NEVER;
    l->sm = sm;
    if (init(l))
        return l;
    lsu_free(l);
    return NULL;
}

void lsu_trace(struct lsu *l, struct trace *t) { l->trace = t; }

void lsu_free(struct lsu *l) {
    if (!l)
        return;
    prefetchers_free(&l->prefetchers);
    walker_free(&l->walker);
    for (int i = 0; i < LSU_PIPES; i++)
        lsu_pipe_free(&l->pipe[i]);
    free(l->fetch.ahead_sent);
    free(l->ahead.queue);
    free(l->guests.at);
    lazy_free(l->front);
    lazy_free(l);
}

static void pop_front(struct lsu *l) {
    l->status.n_queue--;
    if (++l->front_head == l->status.queue || !l->status.n_queue) /* few entries of a large ring are touched */
        l->front_head = 0;
}

/* Sends line accesses of the oldest instruction, one per free port of their destination (`taken` ports of the L1 are
 * in use). Returns false if the next access is blocked. `*used` gets the number of accesses that entered the L1. */
static bool send_lines(struct lsu *l, struct lsu_front *f, uint32_t taken, uint32_t *used, uint64_t now) {
    struct lsu_pipe *p = f->dest == TO_MEMORY ? NULL : &l->pipe[f->dest];
    uint32_t ports = !p ? 1 : f->dest == PIPE_L1 ? p->ports - taken : p->ports;
    for (uint32_t port = 0; port < ports && f->next < f->n; port++, f->next++) {
        struct line_op *op = &f->op[f->next];
        if (p ? !lsu_pipe_takes(p, op, now) : !lsu_send_past(l, op, now))
            return port > 0;
        if (!p)
            continue;
        lsu_pipe_enter(l, p, op, now);
        *used += f->dest == PIPE_L1;
        if (op->kind == LINE_PREFETCH)
            lsu_part_done(l, op->slot);
    }
    return true;
}

/* Lets the access occupy the banks for `cycles` cycles. */
static inline void pass_banks(struct lsu *l, uint16_t slot, uint32_t cycles, uint64_t now) {
    uint64_t at = l->shared.tail % LSU_SLOTS, ready = now + cycles + l->cfg->lsu.shared_latency - 2;
    if (l->shared.head == l->shared.tail++)
        l->due[PART_SHARED] = ready;
    l->shared.slot[at] = slot;
    l->shared.ready[at] = ready;
    l->front_free = now + cycles;
}

static inline void front_due(struct lsu *l) {
    bool refused = l->front_stalled_since != NEVER;
    l->due[PART_FRONT] = !l->status.n_queue ? NEVER : refused ? 0 : max64(l->front[l->front_head].ready, l->front_free);
}

/* Writes data that have arrived from memory into shared memory. Such a write belongs to an older instruction than
 * the accesses in the front queue, so it has priority. */
static void fill_tick(struct lsu *l, uint64_t now) {
    if (now < l->front_free)
        return;
    uint16_t slot = l->fills.slot[l->fills.head++ % LSU_SLOTS];
    pass_banks(l, slot, l->slot[slot].fill, now);
    front_due(l);
    l->n_others--;
    l->n.shared_accesses++;
    l->n.shared_passes += l->slot[slot].fill;
}

bool lsu_guest(struct lsu *l, const struct lsu_guest *g) {
    if (l->guests.n == l->guests.cap) {
        const uint32_t cap = l->guests.cap ? 2 * l->guests.cap : 64;
        struct lsu_guest *more = realloc(l->guests.at, cap * sizeof *more);
        if (!more)
            return false;
        l->guests.at = more;
        l->guests.cap = cap;
    }
    l->guests.at[l->guests.n++] = *g;
    l->n_others++;
    l->status.next = min64(l->status.next, g->arrived);
    return true;
}

bool lsu_guest_served(struct lsu *l, uint64_t until, struct lsu_guest *g) {
    if (l->guests.taken == l->guests.served || l->guests.at[l->guests.taken].cycle > until)
        return false;
    *g = l->guests.at[l->guests.taken++];
    if (l->guests.taken == l->guests.n)
        l->guests.n = l->guests.served = l->guests.taken = 0;
    return true;
}

static bool guest_waits(const struct lsu *l) { return l->guests.served < l->guests.n; }

/* Lets a request of another SM occupy the banks. */
static void guest_tick(struct lsu *l, uint64_t now) {
    struct lsu_guest *g = &l->guests.at[l->guests.served];
    if (now < g->arrived || now < l->front_free)
        return;
    g->cycle = now;
    l->front_free = now + g->passes;
    l->guests.served++;
    front_due(l);
    l->n_others--;
    l->n.shared_accesses++;
    l->n.shared_passes += g->passes;
}

uint64_t lsu_occupy(struct lsu *l, uint32_t cycles, uint64_t now) {
    l->front_free = max64(l->front_free, now) + cycles;
    front_due(l);
    return l->front_free;
}

/* Returns the cycles from an access to the constant cache for `bytes` of a lane to the next access. */
static uint32_t constant_cycles(const struct lsu_cfg *c, uint32_t bytes) {
    const uint32_t words = (bytes + 3) / 4;
    return c->constant_interval + (words > 1 ? (words - 1) * c->constant_words : 0);
}

/* Runs the front for one cycle; `taken` ports of the L1 are in use. Returns the number of further ports that it
 * used. */
static uint32_t front_tick(struct lsu *l, uint32_t taken, uint64_t now) {
    struct lsu_front *f = &l->front[l->front_head];
    uint32_t used = 0;
    if (now < f->ready || now < l->front_free)
        return 0;
    if (f->bank_cycles) {
        pass_banks(l, f->slot, f->bank_cycles, now);
        f->bank_cycles = 0;
    } else if (!send_lines(l, f, taken, &used, now)) {
        if (l->front_stalled_since == NEVER)
            l->front_stalled_since = now;
        lsu_refused(l, PART_FRONT, 1, f->dest == TO_MEMORY);
        l->due[PART_FRONT] = 0;
        return 0;
    }
    if (l->front_stalled_since != NEVER)
        l->n.stall_cycles += now - l->front_stalled_since;
    l->front_stalled_since = NEVER;
    lsu_refused(l, PART_FRONT, 1, false);
    if (f->dest == PIPE_CONST)
        l->front_free = now + constant_cycles(&l->cfg->lsu, f->op[f->next - 1].bytes);
    if (f->next == f->n)
        pop_front(l);
    front_due(l);
    return used;
}

/* Runs the front and the requests of prefetchers, which share the L1's ports: see prefetch.h. Returns the number of
 * ports used. */
static uint32_t front_and_prefetch_tick(struct lsu *l, uint32_t ports, uint64_t now) {
    uint32_t used = 0;
    if (lsu_asked_first(l, now))
        used = lsu_asked_tick(l, 1, now);
    if (l->status.n_queue)
        used += front_tick(l, used, now);
    return used + lsu_asked_tick(l, ports - used, now);
}

static inline void shared_tick(struct lsu *l, uint64_t now) {
    uint64_t due;
    do {
        lsu_part_done(l, l->shared.slot[l->shared.head++ % LSU_SLOTS]);
        due = l->shared.head == l->shared.tail ? NEVER : l->shared.ready[l->shared.head % LSU_SLOTS];
    } while (due <= now);
    if (due == NEVER) /* an empty ring begins anew: few entries are accessed */
        l->shared.head = l->shared.tail = 0;
    l->due[PART_SHARED] = due;
}

static void fetch_tick(struct lsu *l, uint64_t now) {
    if (lsu_refused(l, PART_FETCH, 1, !memport_room(l->status.port, now)))
        return;
    l->n_others--;
    uint64_t at = l->fetch.head++ % LSU_FETCHES;
    bool ahead = l->fetch.ahead[at];
    uint8_t sectors = (uint8_t)((1u << l->cfg->l1i.line / SECTOR_BYTES) - 1);
    if (ahead)
        lsu_ahead_leaves(l, &l->fetch.ahead_sent[l->fetch.tag[at]], MEM_FETCH_AHEAD, sectors);
    *memport_place(l->status.port) = (struct mem_request){.kind = ahead ? MEM_FETCH_AHEAD : MEM_INSTRUCTION,
                                                          .address = l->fetch.address[at],
                                                          .tag = l->fetch.tag[at],
                                                          .sectors = sectors,
                                                          .bytes = (uint16_t)l->cfg->l1i.line};
    lsu_send(l, now);
}

/* Runs the parts of the unit that rarely have work, and the front, which shares ports with them. */
static __attribute__((noinline)) void others_tick(struct lsu *l, uint64_t now) {
    if (l->fetch.head != l->fetch.tail)
        fetch_tick(l, now);
    if (l->fills.head != l->fills.tail)
        fill_tick(l, now);
    if (guest_waits(l))
        guest_tick(l, now);
    uint32_t ports = l->pipe[PIPE_L1].present ? l->pipe[PIPE_L1].ports : 1, used = 0;
    if (l->ahead.n)
        used = front_and_prefetch_tick(l, ports, now);
    else if (l->status.n_queue)
        used = front_tick(l, 0, now);
    if (l->walker.next <= now)
        walker_tick(l, ports - used, now);
}

static uint64_t others_next(const struct lsu *l, uint64_t now) {
    if (l->n_returns || l->ahead.n || (l->fetch.head != l->fetch.tail && !(l->status.wants >> PART_FETCH & 1)))
        return now + 1;
    uint64_t fill = l->fills.head != l->fills.tail ? max64(now + 1, l->front_free) : NEVER;
    if (guest_waits(l))
        fill = min64(fill, max64(now + 1, max64(l->guests.at[l->guests.served].arrived, l->front_free)));
    return min64(fill, max64(now + 1, l->walker.next));
}

/* Sets status.next to the first cycle in which a part of the unit has work. Parts that were refused do not count: they
 * try again when the port has room or a reply arrives. */
static inline void find_next(struct lsu *l, uint64_t now) {
    _Static_assert(LSU_PARTS == 5, "each is named: a loop would become a load of several, just after they were stored");
    const uint64_t *due = l->due; /* minus 1 turns 0 ("refused") into the largest value */
    uint64_t pipes = min64(min64(due[PIPE_L1] - 1, due[PIPE_CONST] - 1), due[PIPE_TEX] - 1);
    uint64_t before = min64(pipes, min64(due[PART_FRONT] - 1, due[PART_SHARED] - 1));
    uint64_t next = before == NEVER ? NEVER : before + 1;
    if (__builtin_expect(l->n_others != 0, 0))
        next = min64(next, others_next(l, now));
    l->status.next = next;
}

/* Drops the misses (lsu_missed()) and the loads whose tags are all read (lsu_known()) that the SM did not take in the
 * last cycle. */
static __attribute__((noinline, cold)) void drop_notices(struct lsu *l) {
    l->misses.n = 0;
    for (; l->known.n; l->known.n--)
        l->known.noted[l->known.slot[l->known.n - 1]] = false;
    l->known.taken = 0;
}

unsigned lsu_tick(struct lsu *l, uint64_t now) {
    struct lsu_status *s = &l->status;
    l->ended = false;
    l->walker.now = now;
    if (__builtin_expect(l->misses.wanted | l->known.wanted, 0))
        drop_notices(l);
    if (memport_reply_cycle(s->port) <= now)
        lsu_replies(l, now);
    if (l->n_returns)
        lsu_return(l, now);
    if (l->due[PART_SHARED] <= now)
        shared_tick(l, now);
    for (int i = 0; i < LSU_PIPES; i++)
        if (l->due[i] <= now)
            lsu_pipe_tick(l, &l->pipe[i], now);
    if (__builtin_expect(l->n_others != 0, 0))
        others_tick(l, now);
    else if (l->due[PART_FRONT] <= now)
        front_tick(l, 0, now);
    find_next(l, now);
    return ((s->n_done | l->misses.n | l->known.n) != 0) * LSU_ACCESSES | (s->n_fetched != 0) * LSU_FETCHED |
           l->ended * LSU_STORES_ENDED;
}

bool lsu_has_room(const struct lsu *l) {
    uint32_t most = (l->fetch.head != l->fetch.tail) + (l->ahead.n != 0);
    most += l->walker.n && !l->pipe[PIPE_L1].present;
    most += l->status.n_queue && l->front[l->front_head].dest == TO_MEMORY;
    for (int i = 0; i < LSU_PIPES; i++) /* one entry for the miss and one for the line that it evicts */
        most += l->pipe[i].head != l->pipe[i].tail ? 2 * l->pipe[i].ports : 0;
    return memport_ample(l->status.port, most);
}

void lsu_note_misses(struct lsu *l) { l->misses.wanted = true; }
void lsu_count_in(struct lsu *l, struct gpu_profile *profile) { l->profile = profile; }

bool lsu_missed(struct lsu *l, uint32_t *tag) {
    if (!l->misses.n)
        return false;
    *tag = l->misses.tag[--l->misses.n];
    return true;
}

void lsu_note_known(struct lsu *l) { l->known.wanted = true; }

bool lsu_known(struct lsu *l, uint32_t *tag) {
    while (l->known.taken < l->known.n) {
        uint16_t slot = l->known.slot[l->known.taken++];
        l->known.noted[slot] = false;
        *tag = l->slot[slot].tag;
        /* an access of the walk unit, with the tag UINT32_MAX, belongs to no instruction */
        if (l->slot[slot].pending && *tag != UINT32_MAX)
            return true;
    }
    return false;
}

bool lsu_waits_on_miss(const struct lsu *l, uint32_t tag, lanemask_t *miss_lanes) {
    const struct lsu_slot *s = &l->slot[l->slot_of_tag[tag % LSU_TAGS]];
    if (s->tag != tag || !s->pending) /* another tag has replaced this tag in the look-up table */
        for (s = l->slot; s < l->slot + LSU_SLOTS; s++)
            if (s->tag == tag && s->pending)
                break;
    bool waits = s < l->slot + LSU_SLOTS && s->miss_lanes;
    *miss_lanes = waits ? s->miss_lanes : 0;
    return waits;
}

bool lsu_fetch(struct lsu *l, uint64_t address, uint32_t tag, bool ahead, uint64_t now) {
    (void)now;
    hot_assert(!ahead || (l->fetch.ahead_sent && tag < l->cfg->l1i.mshrs));
    uint32_t replies = memport_splits(l->status.port, MEM_INSTRUCTION)
                           ? memport_groups(l->status.port, (uint8_t)((1u << l->cfg->l1i.line / SECTOR_BYTES) - 1))
                           : 1;
    if (l->fetch.in_flight + replies > LSU_FETCH_REPLIES || l->fetch.tail - l->fetch.head == LSU_FETCHES)
        return false;
    uint64_t at = l->fetch.tail++ % LSU_FETCHES;
    l->fetch.in_flight += replies;
    l->fetch.address[at] = address;
    l->fetch.tag[at] = tag;
    l->fetch.ahead[at] = ahead;
    l->n_others++;
    l->status.next = 0; /* the request may leave in the next cycle */
    return true;
}

bool lsu_fetch_done(struct lsu *l, uint64_t now, uint32_t *tag, uint8_t *sectors) {
    (void)now;
    if (!l->status.n_fetched)
        return false;
    uint32_t at = l->fetch.done_at;
    l->fetch.done_at = --l->status.n_fetched ? (at + 1) % LSU_FETCH_REPLIES : 0;
    *tag = l->fetch.done[at];
    *sectors = l->fetch.sectors[at];
    l->fetch.in_flight--;
    return true;
}

uint32_t lsu_stores(const struct lsu *l, uint32_t warp) { return l->stores[warp]; }

bool lsu_stores_ended(struct lsu *l, uint32_t *warp) { return warp_set_take(&l->stores_ended, warp); }

void lsu_flush(struct lsu *l) {
    if (l->pipe[PIPE_L1].present)
        cache_flush(&l->pipe[PIPE_L1].cache);
}

void lsu_divide(struct lsu *l, uint32_t bytes) {
    const struct cache_cfg *const cfg[] = {[PIPE_L1] = &l->cfg->l1, [PIPE_TEX] = &l->cfg->tex};
    for (int i = 0; i < LSU_PIPES; i++)
        if (i != PIPE_CONST && l->pipe[i].present)
            cache_set_ways(&l->pipe[i].cache, (uint32_t)max64(1, (uint64_t)cfg[i]->ways * bytes / cfg[i]->size));
}

void lsu_describe(const struct lsu *l, char *out, size_t size) {
    static const char *const names[LSU_PIPES] = {"L1", "constant", "texture"};
    int at = snprintf(out, size, "load/store unit: %u accesses in flight, %u in the queue",
                      LSU_SLOTS - l->status.n_free, l->status.n_queue);
    if (l->front_stalled_since != NEVER && at >= 0 && (size_t)at < size)
        at += snprintf(out + at, size - (size_t)at, ", the first held since cycle %llu",
                       (unsigned long long)l->front_stalled_since);
    for (int i = 0; i < LSU_PIPES && at >= 0 && (size_t)at < size; i++) {
        const struct lsu_pipe *p = &l->pipe[i];
        if (p->present && (p->head != p->tail || !cache_idle(&p->cache)))
            at += snprintf(out + at, size - (size_t)at, "; %s: %llu in the pipeline, %u of %u MSHRs free", names[i],
                           (unsigned long long)(p->tail - p->head), p->cache.n_free, p->cache.shape.mshrs);
    }
    if (l->walker.n && at >= 0 && (size_t)at < size)
        at += snprintf(out + at, size - (size_t)at, "; %u warps in the walk unit", l->walker.n);
    if (l->ahead.n && at >= 0 && (size_t)at < size)
        at += snprintf(out + at, size - (size_t)at, "; %u requests of prefetchers wait", l->ahead.n);
    if (at >= 0 && (size_t)at < size)
        prefetchers_describe(&l->prefetchers, out + at, size - (size_t)at);
}

/* clang-format off */
static const struct stat_row lsu_rows[] = {
#define COUNT_ROWS struct lsu_counts
#include "lsu_stats.def"
#define COUNT_ROWS struct lsu_counts
#include "l1_prefetch_stats.def"
};
static const struct stat_row walk_rows[] = {
#define COUNT_ROWS struct walk_counts
#include "walk_stats.def"
};
static const struct stat_row l1_rows[] = {
#define COUNT_ROWS struct lsu_pipe_counts
#include "l1_stats.def"
};
/* Rows for the counters of any pipeline, with the ids of the L1's statistics. The statistics of all caches have the
 * same order, so lsu_stats() adds a shift to the ids for the other caches. */
static const struct stat_row pipe_rows_of_l1[] = {
#define IN l1
#define COUNT_ROWS struct lsu_pipe_counts
#include "timing/report/count_begin.def"
    CACHE_STATS("", "")
#include "timing/report/count_end.def"
#undef IN
};
/* clang-format on */

void lsu_account(struct lsu *l, uint64_t now) { mem_waits_account(&l->waits, now); }

void lsu_stats(struct lsu *l, struct stats *s) {
    static const enum stat_id first[LSU_PIPES] = {
        [PIPE_L1] = STAT_l1_accesses, [PIPE_CONST] = STAT_l1c_accesses, [PIPE_TEX] = STAT_tex_accesses};
    const struct lsu_pipe *l1 = &l->pipe[PIPE_L1];
    STATS_COUNT(s, lsu_rows, &l->n);
    stats_put(s, STAT_lsu_bank_conflicts, (double)(l->n.shared_passes - l->n.shared_accesses));
    mem_waits_stats(&l->waits, s);
    STATS_COUNT(s, l1_rows, &l1->n);
    if (l1->cache.policy && l1->cache.policy->stats)
        l1->cache.policy->stats(l1->cache.policy_state, s);
    cache_line_stats(&l1->cache.n, STAT_l1_lines_prefetches, s);
    prefetchers_stats(&l->prefetchers, s);
    for (int i = 0; i < LSU_PIPES; i++)
        stats_count(s, pipe_rows_of_l1, sizeof pipe_rows_of_l1 / sizeof pipe_rows_of_l1[0], &l->pipe[i].n,
                    (int)first[i] - STAT_l1_accesses);
    STATS_COUNT(s, walk_rows, &l->walker.n_of);
    memset(&l->walker.n_of, 0, sizeof l->walker.n_of);
    memset(&l->n, 0, sizeof l->n);
    for (int i = 0; i < LSU_PIPES; i++) {
        memset(&l->pipe[i].n, 0, sizeof l->pipe[i].n);
        memset(&l->pipe[i].cache.n, 0, sizeof l->pipe[i].cache.n);
    }
}
