/* Handles prefetches into the L1 and the L2, locked lines of the L1, and the accesses that are reported to prefetchers
 * at the L1. */
#include "lsu_send.h"

static struct lsu_pipe *l1_of(struct lsu *l) { return &l->pipe[PIPE_L1]; }

static uint8_t whole_l2_line(const struct lsu *l) { return (uint8_t)((1u << l->cfg->l2.line / SECTOR_BYTES) - 1); }

static void send_into_l2(struct lsu *l, const struct line_op *op, uint8_t sectors, uint32_t tag, uint64_t now) {
    uint32_t line = l->cfg->l2.line;
    *memport_place(l->status.port) = (struct mem_request){.kind = MEM_PREFETCH,
                                                          .address = op->address & ~(uint64_t)(line - 1),
                                                          .tag = tag,
                                                          .pc = op->pc,
                                                          .warp = op->warp,
                                                          .sectors = sectors};
    lsu_send(l, now);
}

void lsu_prefetch_past(struct lsu *l, const struct line_op *op, uint64_t now) {
    if (memport_room(l->status.port, now))
        send_into_l2(l, op, whole_l2_line(l), UNTAGGED, now);
    lsu_show(l, NULL, op, SEEN_PAST, NULL, now);
}

void lsu_ahead_leaves(struct lsu *l, struct lsu_ahead_sent *a, uint8_t kind, uint8_t sectors) {
    a->alone |= sectors;
    for (unsigned s = sectors; s; s &= s - 1)
        a->request[__builtin_ctz(s)] = memport_splits(l->status.port, kind)
                                           ? memport_group(l->status.port, sectors, (unsigned)__builtin_ctz(s))
                                           : sectors;
}

/* Records that a demand access now waits for `sectors`, for which a prefetch is in flight. */
static void ahead_joined(struct lsu *l, struct lsu_ahead_sent *a, uint8_t sectors, uint64_t now) {
    for (unsigned s; (s = a->alone & sectors);) {
        a->alone &= (uint8_t)~a->request[__builtin_ctz(s)];
        l->waits.joined++;
        mem_waits_begin(&l->waits, WAIT_DEMAND, 1, now);
    }
}

void lsu_ahead_came(struct lsu *l, struct lsu_ahead_sent *a, const struct mem_request *r) {
    if (!(a->alone & r->sectors))
        mem_waits_end(&l->waits, WAIT_DEMAND, r->cycle);
    a->alone &= (uint8_t)~r->sectors;
}

void lsu_fetch_joined(struct lsu *l, uint32_t tag, uint64_t now) {
    for (uint64_t i = l->fetch.head; i < l->fetch.tail; i++)
        if (l->fetch.tag[i % LSU_FETCHES] == tag && l->fetch.ahead[i % LSU_FETCHES]) {
            l->fetch.ahead[i % LSU_FETCHES] = false;
            return;
        }
    ahead_joined(l, &l->fetch.ahead_sent[tag], UINT8_MAX, now);
}

/* Sends the requests for the missing sectors of a prefetch into the L1. */
static void send_ahead(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, const struct cache_out *out,
                       uint64_t now) {
    lsu_ahead_leaves(l, &p->ahead_sent[out->mshr], MEM_READ_AHEAD, out->fetch);
    lsu_miss(l, p, op, MEM_READ_AHEAD, out, now);
}

void lsu_join_prefetch(struct lsu *l, struct lsu_pipe *p, uint32_t mshr, uint8_t sectors, uint64_t now) {
    if (p->ahead_sent)
        ahead_joined(l, &p->ahead_sent[mshr], sectors, now);
}

void lsu_prefetch(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    uint8_t sectors = p->cache.shape.sectored ? lsu_sectors_in_line(p, op, op->sectors) : p->all_sectors;
    struct cache_out out = {.victim = 0};
    enum cache_result r = CACHE_HIT;
    l->n.lookups += p == l1_of(l);
    if (memport_room(l->status.port, now) >= 2)
        r = cache_prefetch(&p->cache, op->address >> p->line_shift, sectors, (uint64_t)NO_SLOT << 32,
                           PREFETCH_BY_OTHERS, 0, &out);
    lsu_show(l, p, op, r == CACHE_MISS ? SEEN_MISS : SEEN_HIT, &out, now);
    if (r == CACHE_MISS)
        send_ahead(l, p, op, &out, now);
}

/* Returns true for requests that the L1, or the memory below it, can never handle. */
static bool never(const struct lsu *l, enum prefetch_want want) {
    if (want == PREFETCH_INTO_L2)
        return l->cfg->memory.model == MEMORY_FIXED || !l->cfg->l2.size;
    const struct lsu_pipe *p = &l->pipe[PIPE_L1];
    return !p->present || (want != PREFETCH_LINE && p->cache.shape.ways < 2 && !l->cfg->memory.perfect_l1);
}

static bool full(const struct lsu *l) {
    return l->ahead.n == l->cfg->lsu.prefetch_queue || l->ahead.free == LSU_PREFETCHES;
}

static void tell_of_room(struct lsu *l, uint64_t now) {
    if (!full(l))
        prefetchers_room(&l->prefetchers, now);
}

static enum prefetch_asked ask(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now) {
    struct lsu *l = cache;
    struct prefetch_asker *a = &l->prefetchers.asker[who];
    if (never(l, (enum prefetch_want)r->want))
        return PREFETCH_NEVER;
    if (full(l)) {
        a->n.full++;
        a->turned = true;
        return PREFETCH_FULL;
    }
    uint16_t id = l->ahead.free;
    struct lsu_ahead *x = &l->prefetch[id];
    l->ahead.free = lsu_next_free(id, x->link);
    *x = (struct lsu_ahead){.r = *r, .asked = now, .who = (uint16_t)who};
    l->ahead.queue[(l->ahead.head + l->ahead.n++) % l->cfg->lsu.prefetch_queue] = id;
    l->n_others++;
    a->n.asked++;
    l->status.next = min64(l->status.next, now + 1);
    return PREFETCH_QUEUED;
}

static void answer(struct lsu *l, uint32_t id, enum prefetch_answer a, bool last, uint64_t now) {
    const struct lsu_ahead x = l->prefetch[id];
    if (last) { /* free the entry first: prefetchers_answer() may add a request */
        l->prefetch[id].link = lsu_link(id, l->ahead.free);
        l->ahead.free = (uint16_t)id;
        tell_of_room(l, now);
    }
    l->n.refused += a == PREFETCH_REFUSED || a == PREFETCH_NO_LOCK;
    prefetchers_answer(&l->prefetchers, x.who, x.r.tag, a, now);
}

/* Returns the line access for request `id` of a prefetcher. The access will read the tags of the L1, or bypass the
 * L1. */
static struct line_op op_of(const struct lsu *l, uint16_t id) {
    const struct lsu_ahead *x = &l->prefetch[id];
    uint64_t line = x->r.want == PREFETCH_INTO_L2 ? l->cfg->l2.line : l->pipe[PIPE_L1].line_bytes;
    struct line_op op = {.address = x->r.address & ~(line - 1),
                         .slot = id,
                         .pc = x->r.pc,
                         .warp = x->r.warp,
                         .kind = LINE_ASKED,
                         .offset = (uint8_t)(x->r.address & (line - 1))};
    op.sectors = x->r.sectors ? x->r.sectors : (uint8_t)(1u << op.offset / SECTOR_BYTES);
    return op;
}

static const struct lsu_ahead *first_asked(const struct lsu *l) {
    return l->ahead.n ? &l->prefetch[l->ahead.queue[l->ahead.head]] : NULL;
}

static void pop_asked(struct lsu *l) {
    l->ahead.head = (l->ahead.head + 1) % l->cfg->lsu.prefetch_queue;
    l->ahead.n--;
    l->n_others--;
}

bool lsu_asked_first(const struct lsu *l, uint64_t now) {
    const struct lsu_ahead *x = first_asked(l);
    return x && x->r.want != PREFETCH_INTO_L2 && x->asked + LSU_PATIENCE <= now && !lsu_pipe_full(&l->pipe[PIPE_L1]);
}

uint32_t lsu_asked_tick(struct lsu *l, uint32_t ports, uint64_t now) {
    struct lsu_pipe *p = l1_of(l);
    const struct lsu_ahead *x;
    uint32_t used = 0;
    bool sent = false;
    while ((x = first_asked(l)) && x->asked < now && !sent) {
        uint16_t id = l->ahead.queue[l->ahead.head];
        struct line_op op = op_of(l, id);
        if (x->r.want != PREFETCH_INTO_L2) {
            if (used == ports || lsu_pipe_full(p))
                break;
            lsu_pipe_enter(l, p, &op, now);
            pop_asked(l);
            used++;
        } else {
            if (!memport_room(l->status.port, now))
                break;
            send_into_l2(l, &op, x->r.sectors ? x->r.sectors : whole_l2_line(l), id, now);
            pop_asked(l);
            answer(l, id, PREFETCH_SENT, false, now);
            sent = true; /* one request per cycle, in order */
        }
        tell_of_room(l, now);
    }
    return used;
}

/* Reads the tags for a prefetcher's request. Returns the first answer to the request, and stores the other results
 * of the access in `*out`. */
static enum prefetch_answer look_up(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, bool lock,
                                    struct cache_out *out, uint64_t now) {
    uint64_t line = op->address >> p->line_shift;
    uint8_t sectors = p->cache.shape.sectored ? op->sectors : p->all_sectors;
    struct cache_spot at = cache_look(&p->cache, line);
    if (lock && !cache_may_lock(&p->cache, at))
        return PREFETCH_NO_LOCK;
    uint8_t missing = sectors & (uint8_t)~cache_valid(&p->cache, at);
    bool under_way = cache_awaits_fill(&p->cache, at);
    if (under_way && missing && !lock && !(missing & ~p->cache.mshr[p->cache.way[at.way].filler - 1].pending))
        return PREFETCH_PENDING;
    if (missing && memport_room(l->status.port, now) < 2)
        return PREFETCH_REFUSED;
    enum cache_result r = cache_await_at(&p->cache, at, line, sectors, (uint64_t)PREFETCH_SLOT << 32 | op->slot, out);
    if (r > CACHE_MERGED)
        return PREFETCH_REFUSED;
    if (lock && cache_lock(&p->cache, line))
        p->n.locked++;
    return r == CACHE_HIT ? PREFETCH_PRESENT : r == CACHE_MERGED ? PREFETCH_PENDING : PREFETCH_SENT;
}

void lsu_asked(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    const struct lsu_ahead *x = &l->prefetch[op->slot];
    const bool lock = x->r.want == PREFETCH_LOCK;
    struct cache_out out = {.victim = 0};
    enum prefetch_answer a = PREFETCH_PRESENT;
    l->n.lookups++;
    if (x->r.want == PREFETCH_UNLOCK) {
        cache_unlock(&p->cache, op->address >> p->line_shift);
        answer(l, op->slot, PREFETCH_PRESENT, true, now);
        return;
    }
    if (!l->cfg->memory.perfect_l1)
        a = look_up(l, p, op, lock, &out, now);
    if (a == PREFETCH_SENT) {
        cache_mark(&p->cache, &out, (uint8_t)(x->who + 1), x->r.note);
        send_ahead(l, p, op, &out, now);
    }
    if (a != PREFETCH_REFUSED && a != PREFETCH_NO_LOCK)
        lsu_show(l, p, op, a == PREFETCH_PRESENT ? SEEN_HIT : a == PREFETCH_SENT ? SEEN_MISS : SEEN_MERGED, &out, now);
    answer(l, op->slot, a, a != PREFETCH_SENT && !(a == PREFETCH_PENDING && lock), now);
}

void lsu_asked_arrived(struct lsu *l, uint32_t id, uint64_t now) { answer(l, id, PREFETCH_ARRIVED, true, now); }

static const enum prefetch_kind kinds[] = {
    [LINE_LOAD] = SEEN_LOAD,         [LINE_STORE] = SEEN_STORE,   [LINE_LOCAL_LOAD] = SEEN_LOAD,
    [LINE_LOCAL_STORE] = SEEN_STORE, [LINE_ATOMIC] = SEEN_ATOMIC, [LINE_PREFETCH] = SEEN_AHEAD,
    [LINE_ASKED] = SEEN_AHEAD};

void lsu_seen(struct lsu *l, const struct line_op *op, enum prefetch_result result, const struct cache_out *out,
              uint64_t now) {
    const struct lsu_pipe *p = l1_of(l);
    uint64_t line = p->present ? p->line_bytes : l->coalescer.line_bytes;
    struct prefetch_seen s = {.cycle = now,
                              .address = op->address + op->offset,
                              .line = op->address & ~(line - 1),
                              .pc = op->pc,
                              .sm = (uint16_t)l->sm,
                              .warp = op->warp,
                              .kind = (uint8_t)kinds[op->kind],
                              .result = (uint8_t)result,
                              .local = op->kind == LINE_LOCAL_LOAD || op->kind == LINE_LOCAL_STORE,
                              .leads = op->leads,
                              .sectors = p->present ? lsu_sectors_in_line(p, op, op->sectors) : op->sectors,
                              .late = out && out->late};
    if (out && out->evicted) {
        const uint64_t victim = out->victim << p->line_shift;
        prefetchers_evicted(&l->prefetchers,
                            &(struct prefetch_victim){.cycle = now,
                                                      .line = victim,
                                                      .warp = (uint16_t)(out->owner - 1),
                                                      .dropped = victim == s.line,
                                                      .ahead = s.kind == SEEN_AHEAD},
                            out->gone.by, out->gone.note);
    }
    if (result == SEEN_MISS && s.kind != SEEN_STORE && out)
        cache_own(&l->pipe[PIPE_L1].cache, out, (uint16_t)(op->warp + 1));
    prefetchers_seen(&l->prefetchers, &s, out ? out->used.by : 0, out ? out->used.note : 0);
}

static struct prefetch_asker *add(struct lsu *l, const struct prefetcher_ops *ops, void *state, void *ctx) {
    const struct lsu_pipe *p = l1_of(l);
    struct prefetch_place place = {
        .level = PREFETCH_AT_L1, .number = l->sm, .line_bytes = p->present ? p->line_bytes : 0, .cache = l, .ask = ask};
    l->details = true;
    return prefetchers_add(&l->prefetchers, ops, state, ctx, l->cfg, &place);
}

bool lsu_use_replacement(struct lsu *l, const struct replacement_ops *ops) {
    struct lsu_pipe *l1 = &l->pipe[PIPE_L1];
    l->details |= l1->present && ops->access;
    return !l1->present || cache_use_replacement(&l1->cache, ops);
}

void lsu_ask_critical(struct lsu *l, bool (*critical)(const void *ctx, uint32_t warp), const void *ctx) {
    l->critical.of = critical;
    l->critical.ctx = ctx;
}

bool lsu_use_bypass(struct lsu *l, const struct bypass_ops *ops) {
    struct lsu_pipe *l1 = &l->pipe[PIPE_L1];
    if (!l1->present)
        return true;
    bool ok = bypass_use(&l1->bypass, ops, &l1->cache);
    l->details |= l1->bypass.ops != NULL;
    return ok;
}

bool lsu_add_prefetcher(struct lsu *l, const struct prefetcher_ops *ops, void *ctx) {
    return add(l, ops, NULL, ctx) != NULL;
}

const struct prefetch_place *lsu_join(struct lsu *l, const struct prefetcher_ops *ops, void *state) {
    return &add(l, ops, state, NULL)->place;
}
