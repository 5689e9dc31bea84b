/* The part of the load/store unit after the front: the pipelines into the L1 caches, accesses past the L1, and
 * replies. */
#include "isa/machine/lazy.h"
#include "lsu_send.h"
#include <stdlib.h>

bool lsu_pipe_init(struct lsu_pipe *p, const struct cache_cfg *c, uint32_t bytes, enum mem_kind kind, bool banks) {
    p->stalled_since = NEVER;
    p->mem_kind = (uint8_t)kind;
    if (!c->size)
        return true;
    struct cache_shape shape = {.sets = c->size / (c->ways * c->line),
                                .ways = (uint32_t)((uint64_t)c->ways * bytes / c->size),
                                .line_bytes = c->line,
                                .mshrs = c->mshrs,
                                .merges = c->merges,
                                .index = c->index,
                                .replacement = replacement_selected(c->replacement),
                                .sectored = c->sectored};
    p->present = true;
    p->line_bytes = c->line;
    p->line_shift = (uint8_t)__builtin_ctz(c->line);
    p->all_sectors = (uint8_t)((1u << c->line / SECTOR_BYTES) - 1);
    p->write_back_local = c->write != CACHE_WRITE_THROUGH;
    p->write_back_global = c->write == CACHE_WRITE_BACK;
    p->latency = c->latency;
    p->ports = c->ports;
    p->depth = c->latency * c->ports + 1;
    uint32_t ring = ring_size(p->depth);
    p->mask = ring - 1;
    if (banks && !(p->bank = calloc(p->ports, sizeof *p->bank)))
        return false;
    ring *= banks ? p->ports : 1;
    p->ring = lazy_new(ring * sizeof *p->ring);
    p->returns = lazy_new(c->mshrs * sizeof *p->returns);
    p->returning = lazy_new(c->mshrs * sizeof *p->returning);
    if (kind == MEM_READ && !(p->ahead_sent = lazy_new(c->mshrs * sizeof *p->ahead_sent)))
        return false;
    return p->ring && p->returns && p->returning && cache_init(&p->cache, &shape);
}

void lsu_pipe_free(struct lsu_pipe *p) {
    bypass_free(&p->bypass);
    cache_free(&p->cache);
    lazy_free(p->ahead_sent);
    lazy_free(p->returns);
    lazy_free(p->returning);
    lazy_free(p->ring);
    free(p->bank);
}

/* Sends a store of `op` to the L2. */
static void send_store(struct lsu *l, const struct line_op *op, uint64_t now) {
    *memport_place(l->status.port) = (struct mem_request){.kind = MEM_WRITE,
                                                          .address = op->address,
                                                          .tag = l->slot[op->slot].warp,
                                                          .pc = op->pc,
                                                          .warp = op->warp,
                                                          .sectors = op->sectors,
                                                          .full = op->full,
                                                          .bytes = op->bytes};
    lsu_send(l, now);
}

/* Adds the access to the list of known loads, that is, loads whose tags have all been read and that still wait for data
 * (lsu_known()). The code that takes loads from this list skips an access that is complete by then. */
static __attribute__((noinline, cold)) void note_known(struct lsu *l, uint32_t slot) {
    if (l->known.noted[slot])
        return;
    l->known.noted[slot] = true;
    l->known.slot[l->known.n++] = (uint16_t)slot;
}

/* Records that the tags of one line of the access have been read, or that the line was requested past the L1. */
static void tags_read(struct lsu *l, uint32_t slot) {
    struct lsu_slot *s = &l->slot[slot];
    if (!--s->unread && l->known.wanted)
        note_known(l, slot);
}

/* Records that some lanes of the access wait for a line that must come from the L2 or DRAM. */
static void wait_for_memory(struct lsu *l, uint32_t slot, lanemask_t lanes) {
    struct lsu_slot *s = &l->slot[slot];
    if (l->misses.wanted && !s->missed)
        l->misses.tag[l->misses.n++] = s->tag;
    s->missed = true;
    s->miss_lanes |= lanes;
}

bool lsu_send_past(struct lsu *l, const struct line_op *op, uint64_t now) {
    if (op->kind == LINE_PREFETCH) {
        lsu_prefetch_past(l, op, now);
        lsu_part_done(l, op->slot);
        return true;
    }
    if (!memport_room(l->status.port, now))
        return false;
    if (op->kind == LINE_STORE || op->kind == LINE_LOCAL_STORE) {
        send_store(l, op, now);
        lsu_show(l, NULL, op, SEEN_PAST, NULL, now);
        lsu_part_done(l, op->slot);
        return true;
    }
    uint32_t id = l->free_bypass;
    if (id == LSU_BYPASS)
        return false;
    struct lsu_bypass *b = &l->bypass[id];
    l->free_bypass = lsu_next_free(id, b->link);
    b->slot = op->slot;
    b->lanes = op->lanes;
    wait_for_memory(l, op->slot, op->lanes);
    tags_read(l, op->slot);
    bool atomic = op->kind == LINE_ATOMIC;
    struct mem_request *r = memport_place(l->status.port);
    *r = (struct mem_request){.kind = atomic ? MEM_ATOMIC : MEM_READ,
                              .address = op->address,
                              .tag = id | BYPASS_TAG,
                              .pc = op->pc,
                              .warp = op->warp,
                              .sectors = op->sectors,
                              .bytes = atomic ? op->bytes : lsu_bytes_of(op->sectors)};
    if (atomic)
        r->serial = op->serial;
    b->due = (uint8_t)memport_replies(l->status.port, r);
    lsu_send(l, now);
    lsu_show(l, NULL, op, SEEN_PAST, NULL, now);
    return true;
}

/* Returns the 64-bit id that the cache stores for a waiting access: its slot and its lanes up to 31. arrived() gets
 * both back. */
static uint64_t target_of(const struct line_op *op) { return (uint64_t)op->slot << 32 | (rowmask_t)op->lanes; }

static void arrived(struct lsu *l, uint32_t slot, lanemask_t lanes, uint64_t now) {
    if (slot == PREFETCH_SLOT)
        lsu_asked_arrived(l, lanes, now);
    if (slot >= NO_SLOT)
        return;
    struct lsu_slot *s = &l->slot[slot];
    if (!s->wide)
        s->miss_lanes &= ~lanes;
    if (l->known.wanted && !s->unread)
        note_known(l, slot);
    lsu_part_done(l, slot);
}

static void count_access(const struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint8_t sectors, bool hit) {
    uint32_t n = (uint32_t)__builtin_popcount(p->cache.shape.sectored ? sectors : p->all_sectors);
    p->n.accesses++;
    p->n.sectors += n;
    if (__builtin_expect(l->profile != NULL, 0) && p->id == PIPE_L1)
        l->profile[op->pc].sectors += n;
    p->n.hits += hit;
    p->n.misses += !hit;
}

/* Returns true if the queue of misses and stores has room for fewer than `n` more packets, and notes this in
 * p->misses_full. */
static bool refuse_miss(struct lsu_pipe *p, uint32_t n, uint64_t now) {
    const uint64_t waiting = p->miss_queue_end > now ? p->miss_queue_end - now : 0;
    return p->misses_full = p->miss_queue && waiting && waiting + n > p->miss_queue;
}

/* Counts a packet of this queue. */
static void add_miss(struct lsu_pipe *p, uint64_t now) { p->miss_queue_end = max64(p->miss_queue_end, now) + 1; }

/* Returns true if sectors are missing in the L1 and the memory port lacks room for a miss and the dirty line that it
 * evicts. */
static bool blocked(struct lsu *l, struct lsu_pipe *p, uint8_t missing, uint64_t now) {
    if (__builtin_expect(p->miss_queue && missing && refuse_miss(p, 2, now), 0))
        return true;
    return lsu_refused(l, p->id, 2, missing && memport_room(l->status.port, now) < 2);
}

static struct bypass_access bypass_access(const struct lsu *l, const struct lsu_pipe *p, const struct line_op *op) {
    return (struct bypass_access){.line = op->address >> p->line_shift,
                                  .pc = op->pc,
                                  .sm = (uint16_t)l->sm,
                                  .warp = op->warp,
                                  .cache_op = op->cache_op,
                                  .store = op->kind == LINE_STORE};
}

/* Returns true if an access to the line at `at` goes past the L1. */
static bool goes_past(const struct lsu *l, const struct lsu_pipe *p, const struct line_op *op, struct cache_spot at) {
    if (__builtin_expect(!p->bypass.ops, 1) || op->unlocks || op->kind == LINE_LOCAL_LOAD ||
        op->kind == LINE_LOCAL_STORE)
        return false;
    struct bypass_access a = bypass_access(l, p, op);
    return bypass_goes_past(&p->bypass, &p->cache, at, &a);
}

/* Tells the bypass policy about an access that has succeeded. */
static void tell_bypass(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, bool past, bool hit) {
    if (__builtin_expect(!p->bypass.ops, 1))
        return;
    const struct bypass_access a = bypass_access(l, p, op);
    bypass_tell(&p->bypass, &p->cache, &a, past, hit);
    p->n.bypassed += past;
}

/* Tells the replacement policy whose access comes next. */
static __attribute__((noinline, cold)) void tell_replacement(const struct lsu_pipe *p, const struct line_op *op) {
    const struct cache *c = &p->cache;
    if (c->policy && c->policy->access)
        c->policy->access(c->policy_state, &(struct replacement_access){.line = op->address >> p->line_shift,
                                                                        .pc = op->pc,
                                                                        .warp = op->warp,
                                                                        .critical = op->critical,
                                                                        .ahead = op->kind >= LINE_PREFETCH});
}

static bool load(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    uint64_t line = op->address >> p->line_shift;
    uint8_t sectors = p->cache.shape.sectored ? lsu_sectors_in_line(p, op, op->sectors) : p->all_sectors;
    uint32_t *way = &p->way[line % PIPE_WAYS];
    if (!(l->details | op->unlocks) && cache_read_there(&p->cache, *way, line, sectors)) { /* as below */
        lsu_refused(l, p->id, 1, false);
        count_access(l, p, op, sectors, true);
        tags_read(l, op->slot);
        lsu_part_done(l, op->slot);
        return true;
    }
    if (__builtin_expect(l->details, 0))
        tell_replacement(p, op);
    struct cache_out out;
    struct cache_spot at = cache_look(&p->cache, line);
    if (blocked(l, p, sectors & (uint8_t)~cache_valid(&p->cache, at), now))
        return false;
    bool past = goes_past(l, p, op, at);
    if (__builtin_expect(past, 0))
        sectors = lsu_sectors_in_line(p, op, op->sectors);
    enum cache_result r = past ? cache_read_past(&p->cache, line, sectors, target_of(op), &out)
                               : cache_read_at(&p->cache, at, line, sectors, target_of(op), &out);
    if (r > CACHE_MERGED) {
        p->awaits_fill = true;
        return false;
    }
    count_access(l, p, op, sectors, r == CACHE_HIT);
    tell_bypass(l, p, op, past, at.way != CACHE_NO_WAY);
    lsu_show(l, p, op,
             past                ? SEEN_PAST
             : r == CACHE_HIT    ? SEEN_HIT
             : r == CACHE_MERGED ? SEEN_MERGED
                                 : SEEN_MISS,
             &out, now);
    if (__builtin_expect(op->unlocks, 0))
        cache_unlock(&p->cache, line);
    if (r == CACHE_HIT) {
        *way = at.way;
        tags_read(l, op->slot);
        lsu_part_done(l, op->slot);
        return true;
    }
    p->n.pending_hits += r == CACHE_MERGED;
    wait_for_memory(l, op->slot, op->lanes);
    tags_read(l, op->slot);
    if (__builtin_expect(mem_waits_prefetch(&l->waits), 0))
        lsu_join_prefetch(l, p, out.mshr, sectors, now);
    if (r == CACHE_MISS) {
        add_miss(p, now);
        lsu_miss(l, p, op, p->mem_kind, &out, now);
    }
    return true;
}

/* Writes a store for the L2 into the cache, too. Returns false if the store needs a line and all ways of its set
 * wait for fills. */
static bool write_through(const struct lsu *l, struct lsu_pipe *p, const struct line_op *op, struct cache_out *out) {
    const uint64_t line = op->address >> p->line_shift;
    if (l->cfg->lsu.allocate_on_write) /* no sector becomes dirty */
        return cache_write(&p->cache, line, 0, lsu_sectors_in_line(p, op, op->full), out) <= CACHE_MERGED;
    cache_write_through(&p->cache, line, !l->cfg->lsu.update_on_write, out);
    return true;
}

static bool store(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    uint64_t line = op->address >> p->line_shift;
    uint8_t sectors = lsu_sectors_in_line(p, op, op->sectors);
    if (__builtin_expect(l->details, 0))
        tell_replacement(p, op);
    bool local = op->kind == LINE_LOCAL_STORE, back = local ? p->write_back_local : p->write_back_global;
    struct cache_spot at = cache_look(&p->cache, line);
    bool hit = at.way != CACHE_NO_WAY, past = back && goes_past(l, p, op, at);
    back = back && !past;
    if (local && !hit && !l->cfg->lsu.local_allocate)
        back = false;
    struct cache_out out;
    if (back) {
        if (blocked(l, p, !hit, now))
            return false;
        if (cache_write(&p->cache, line, sectors, lsu_sectors_in_line(p, op, op->full), &out) > CACHE_MERGED)
            return false;
        lsu_write_back(l, p, &out, now);
    } else {
        if (refuse_miss(p, 1, now) || lsu_refused(l, p->id, 1, !memport_room(l->status.port, now)) ||
            !write_through(l, p, op, &out))
            return false;
        send_store(l, op, now);
        add_miss(p, now);
    }
    count_access(l, p, op, sectors, hit);
    if (past || back)
        tell_bypass(l, p, op, past, hit);
    lsu_show(l, p, op, hit ? SEEN_HIT : SEEN_MISS, &out, now);
    lsu_part_done(l, op->slot);
    return true;
}

/* Handles an access to an L1 that always hits. */
static __attribute__((noinline, cold)) void always_there(struct lsu *l, struct lsu_pipe *p, const struct line_op *op,
                                                         uint64_t now) {
    if (op->kind == LINE_PREFETCH)
        return;
    if (op->kind == LINE_ASKED) {
        lsu_asked(l, p, op, now);
        return;
    }
    count_access(l, p, op, lsu_sectors_in_line(p, op, op->sectors), true);
    lsu_show(l, p, op, SEEN_HIT, NULL, now);
    lsu_part_done(l, op->slot);
}

/* Performs an access that reads the tags. Returns false if it must wait. */
static bool finish(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    if (p->always_hits) {
        always_there(l, p, op, now);
        return true;
    }
    if (op->kind >= LINE_PREFETCH)
        tell_replacement(p, op);
    if (op->kind == LINE_PREFETCH)
        lsu_prefetch(l, p, op, now);
    else if (op->kind == LINE_ASKED)
        lsu_asked(l, p, op, now);
    if (op->kind >= LINE_PREFETCH)
        return true;
    if (op->kind == LINE_STORE || op->kind == LINE_LOCAL_STORE)
        return store(l, p, op, now);
    return load(l, p, op, now);
}

void lsu_pipe_tick(struct lsu *l, struct lsu_pipe *p, uint64_t now) {
    if (__builtin_expect(p->bank != NULL, 0)) {
        lsu_banks_tick(l, p, now, finish);
        return;
    }
    for (uint32_t port = 0; port < p->ports && p->head != p->tail; port++) {
        const struct line_op *op = &p->ring[p->head & p->mask];
        if (op->ready > now)
            break;
        if (!finish(l, p, op, now)) {
            if (p->stalled_since == NEVER)
                p->stalled_since = now;
            l->due[p->id] = p->awaits_fill ? NEVER : p->misses_full ? now + 1 : 0;
            return;
        }
        if (p->stalled_since != NEVER)
            p->n.stalls += now - p->stalled_since;
        p->stalled_since = NEVER;
        p->head++;
    }
    l->due[p->id] = p->head == p->tail ? NEVER : p->ring[p->head & p->mask].ready;
}

/* Lets the pipeline try its refused access again. */
static inline void try_again(struct lsu *l, struct lsu_pipe *p) {
    if (p->awaits_fill)
        l->due[p->id] = 0;
    p->awaits_fill = false;
}

static void queue_return(struct lsu *l, struct lsu_pipe *p, uint32_t mshr) {
    if (p->returning[mshr])
        return;
    p->returning[mshr] = true;
    p->returns[(p->returns_head + p->n_returns++) % p->cache.shape.mshrs] = (uint16_t)mshr;
    l->n_returns++;
    l->n_others++;
}

static void drop_return(struct lsu *l, struct lsu_pipe *p) {
    p->returning[p->returns[p->returns_head]] = false;
    p->returns_head = (p->returns_head + 1) % p->cache.shape.mshrs;
    p->n_returns--;
    l->n_returns--;
    l->n_others--;
}

void lsu_return(struct lsu *l, uint64_t now) {
    for (uint32_t tried = 0; tried < LSU_PIPES; tried++) {
        struct lsu_pipe *p = &l->pipe[(l->return_turn + tried) % LSU_PIPES];
        while (p->n_returns) {
            uint16_t mshr = p->returns[p->returns_head];
            const struct cache_mshr *m = &p->cache.mshr[mshr];
            uint64_t target;
            bool any = cache_take(&p->cache, mshr, &target);
            if (!any || m->taken == m->n)
                drop_return(l, p);
            if (!any)
                continue;
            try_again(l, p);
            arrived(l, (uint32_t)(target >> 32), (rowmask_t)target, now);
            l->return_turn = (p->id + 1u) % LSU_PIPES;
            return;
        }
    }
}

static void fill(struct lsu *l, struct lsu_pipe *p, const struct mem_request *r, uint64_t now) {
    uint64_t target;
    const struct cache_mshr *m = &p->cache.mshr[r->tag];
    if (r->kind == MEM_READ_AHEAD)
        lsu_ahead_came(l, &p->ahead_sent[r->tag], r);
    if (!cache_fills_nothing(&p->cache, r->tag))
        p->n.fills +=
            p->cache.shape.sectored ? (uint32_t)__builtin_popcount(r->sectors) : (m->pending & ~r->sectors) == 0;
    cache_fill(&p->cache, r->tag, (uint8_t)r->sectors);
    try_again(l, p);
    if (l->cfg->lsu.returns) {
        queue_return(l, p, r->tag);
        return;
    }
    while (cache_take(&p->cache, r->tag, &target))
        arrived(l, (uint32_t)(target >> 32), (rowmask_t)target, now);
}

void lsu_replies(struct lsu *l, uint64_t now) {
    const struct mem_request r = memport_receive(l->status.port);
    if (r.kind == MEM_WRITE) {
        if (!--l->stores[r.tag])
            warp_set_add(&l->stores_ended, r.tag), l->ended = true;
        return;
    }
    mem_waits_end(&l->waits, lsu_wait_of(&r), r.cycle);
    if (l->trace)
        trace_note(l->trace,
                   &(struct trace_event){.from = now, .to = now, .row = r.tag, .kind = TRACE_REPLY, .what = r.kind});
    if (r.kind == MEM_PREFETCH) {
        if (r.tag != UNTAGGED)
            lsu_asked_arrived(l, r.tag, now);
    } else if (r.kind == MEM_INSTRUCTION || r.kind == MEM_FETCH_AHEAD) {
        if (r.kind == MEM_FETCH_AHEAD)
            lsu_ahead_came(l, &l->fetch.ahead_sent[r.tag], &r);
        uint32_t at = (l->fetch.done_at + l->status.n_fetched++) % LSU_FETCH_REPLIES;
        l->fetch.done[at] = r.tag;
        l->fetch.sectors[at] = (uint8_t)r.sectors;
    } else if (r.tag & BYPASS_TAG) {
        uint32_t id = r.tag & ~BYPASS_TAG;
        struct lsu_bypass *b = &l->bypass[id];
        if (--b->due)
            return;
        arrived(l, b->slot, b->lanes, now);
        b->link = lsu_link(id, l->free_bypass);
        l->free_bypass = (uint16_t)id;
    } else {
        fill(l, &l->pipe[r.kind == MEM_CONSTANT ? PIPE_CONST : r.kind == MEM_TEXTURE ? PIPE_TEX : PIPE_L1], &r, now);
    }
}
