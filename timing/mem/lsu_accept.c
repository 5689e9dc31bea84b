/* The load/store unit accepts instructions: it splits each into line accesses and an access to the shared-memory banks,
 * and adds it to the front queue. */
#include "isa/hot_assert.h"
#include "lsu_parts.h"

static inline void add_line(struct lsu_front *f, const struct lsu_access *a, const struct coalesced *line,
                            enum line_kind kind) {
    f->op[f->n++] = (struct line_op){.address = line->line,
                                     .lanes = line->lanes,
                                     .bytes = line->bytes,
                                     .sectors = line->sectors,
                                     .full = line->full,
                                     .slot = f->slot,
                                     .kind = (uint8_t)kind,
                                     .serial = line->same,
                                     .pc = a->pc,
                                     .warp = a->warp};
}

/* Adds the coalescer's requests to `f`, as line accesses. */
static inline void add_lines(struct lsu_front *f, const struct lsu_access *a, const struct coalesced *lines, int n,
                             enum line_kind kind) {
    for (int i = 0; i < n && f->n < COALESCE_MAX; i++)
        add_line(f, a, &lines[i], kind);
}

/* Returns the address of each active lane. */
static const uint64_t *each_address(const struct lsu_access *a, uint64_t room[WARP_LANES]) {
    if (a->halves.shape == SHAPE_ANY)
        return a->addr;
    for (unsigned l = 0; l < WARP_LANES; l++) /* a warp of 64 lanes has SHAPE_ANY */
        room[l] = halves_lane(&a->halves, l, (unsigned)a->n_elems * a->msize);
    return room;
}

/* Adds the details that only prefetchers, lock owners and policies of the L1 need. The last of the instruction's
 * accesses to a line releases the line's lock. */
static __attribute__((noinline, cold)) void add_details(struct lsu *l, struct lsu_front *f, const struct lsu_access *a,
                                                        lanemask_t device) {
    uint64_t room[WARP_LANES];
    const uint64_t *addr = each_address(a, room);
    const bool critical = l->critical.of && l->critical.of(l->critical.ctx, a->warp);
    for (uint32_t i = 0; i < f->n; i++) {
        struct line_op *op = &f->op[i];
        op->critical = critical;
        uint64_t first = addr[lanes_first(op->lanes)];
        if (op->lanes & device && first > op->address)
            op->offset = (uint8_t)(first - op->address);
        op->unlocks = a->unlock;
        op->leads = i == 0;
        op->cache_op = (a->inst ? a->inst->cache_op : CACHE_DEFAULT) & 31;
        for (uint32_t k = 0; k < i && a->unlock; k++)
            if ((f->op[k].address ^ op->address) >> l->pipe[PIPE_L1].line_shift == 0)
                f->op[k].unlocks = false;
    }
}

static inline void add_constant(const struct lsu *l, struct lsu_front *f, const struct lsu_access *a, lanemask_t lanes,
                                uint64_t at, unsigned bytes) {
    uint64_t line_mask = (1ull << l->pipe[PIPE_CONST].line_shift) - 1;
    const struct coalesced c = {.line = at & ~line_mask,
                                .lanes = lanes,
                                .bytes = (uint16_t)bytes,
                                .sectors = (uint8_t)(1u << (at & line_mask) / SECTOR_BYTES)};
    add_line(f, a, &c, LINE_LOAD);
}

/* Splits an access to the constant cache, which serves one address per cycle, into line accesses: one access per
 * distinct address, or per line with lsu.constant_lines. */
static __attribute__((noinline)) void add_different_constants(const struct lsu *l, struct lsu_front *f,
                                                              const struct lsu_access *a, lanemask_t lanes,
                                                              unsigned bytes) {
    uint64_t line_mask = (1ull << l->pipe[PIPE_CONST].line_shift) - 1,
             same_mask = l->cfg->lsu.constant_lines ? line_mask : 0, room[WARP_LANES];
    const uint64_t *addr = each_address(a, room);
    const unsigned n = lanes >> WARP_LANES ? MAX_WARP_LANES : WARP_LANES;
    while (lanes) {
        uint64_t at = addr[lanes_first(lanes)];
        lanemask_t same = 0;
        for (unsigned i = 0; i < n; i++)
            same |= (lanemask_t)((addr[i] ^ at) <= same_mask) << i;
        same &= lanes;
        lanes &= ~same;
        add_constant(l, f, a, same, at, bytes);
    }
}

static inline void add_constants(const struct lsu *l, struct lsu_front *f, const struct lsu_access *a, lanemask_t lanes,
                                 unsigned bytes) {
    const struct halves *h = &a->halves;
    if (h->shape == SHAPE_UNIFORM && h->first[0] == h->first[1]) /* common case */
        add_constant(l, f, a, lanes, h->first[0], bytes);
    else
        add_different_constants(l, f, a, lanes, bytes);
}

static bool bypasses_l1(const struct inst *in) {
    return in->cache_op == CACHE_CG || in->cache_op == CACHE_CV || in->hints & HINT_VOLATILE;
}

/* Returns the pipeline for the line accesses of `a`, or TO_MEMORY if they bypass the caches of the unit. */
static uint8_t destination(const struct lsu *l, const struct lsu_access *a, bool local) {
    if (a->kind == MEM_CONSTANT && l->pipe[PIPE_CONST].present)
        return PIPE_CONST;
    if (a->kind == MEM_ATOMIC && !local)
        return TO_MEMORY;
    if (a->kind == MEM_TEXTURE && l->pipe[PIPE_TEX].present)
        return PIPE_TEX;
    bool past = a->inst && !local && bypasses_l1(a->inst) && !a->unlock;
    return l->pipe[PIPE_L1].present && !(past && a->kind != MEM_WRITE) ? PIPE_L1 : TO_MEMORY;
}

static enum line_kind line_kind(const struct lsu_access *a, bool local) {
    if (a->inst && a->inst->kind == K_PREFETCH)
        return LINE_PREFETCH;
    if (local)
        return a->kind == MEM_READ ? LINE_LOCAL_LOAD : LINE_LOCAL_STORE;
    return a->kind == MEM_WRITE ? LINE_STORE : a->kind == MEM_ATOMIC ? LINE_ATOMIC : LINE_LOAD;
}

/* Returns the segment size of the coalescer, in bytes. With lsu.segments it depends on the element size; accesses past
 * the L1 use sectors. */
static uint32_t segment_bytes(const struct lsu *l, const struct lsu_front *f, const struct lsu_access *a) {
    uint32_t bytes = l->coalescer.line_bytes;
    if (f->dest != TO_MEMORY && l->pipe[f->dest].line_bytes < bytes)
        bytes = l->pipe[f->dest].line_bytes;
    if (!l->cfg->lsu.segments || f->dest == PIPE_TEX)
        return bytes;
    uint32_t most = a->msize == 1 || (a->inst && bypasses_l1(a->inst)) ? 32 : a->msize == 2 ? 64 : 128;
    return bytes < most ? bytes : most;
}

/* Widens writes to whole segments, if lsu.segments is set. */
static void widen(const struct lsu *l, const struct lsu_access *a, struct coalesced *lines, int n) {
    for (int i = 0; i < n && a->kind == MEM_WRITE && l->cfg->lsu.segments; i++)
        coalesce_widen(&lines[i]);
}

static __attribute__((noinline)) int coalesce_each(const struct lsu *l, const struct coalescer *c,
                                                   const struct lsu_access *a, lanemask_t lanes, unsigned bytes,
                                                   struct coalesced *lines) {
    uint64_t room[WARP_LANES];
    const uint64_t *addr = each_address(a, room);
    if (a->kind != MEM_ATOMIC)
        return coalesce(c, addr, lanes, bytes, lines);
    return l->cfg->lsu.atomic_lanes ? coalesce_atomic_lanes(c, addr, lanes, bytes, lines)
                                    : coalesce_atomic(c, addr, lanes, bytes, lines);
}

static __attribute__((noinline)) void add_device(struct lsu *l, struct lsu_front *f, const struct lsu_access *a,
                                                 lanemask_t lanes, unsigned bytes) {
    struct coalesced lines[COALESCE_MAX];
    struct coalescer c = l->coalescer;
    bool atomic = a->kind == MEM_ATOMIC;
    c.line_bytes = atomic && l->cfg->lsu.atomic_lanes ? SECTOR_BYTES : segment_bytes(l, f, a);
    int n = a->halves.shape == SHAPE_ANY || atomic || bytes > c.line_bytes
                ? coalesce_each(l, &c, a, lanes, bytes, lines)
                : coalesce_halves(&c, &a->halves, lanes, bytes, lines);
    widen(l, a, lines, n);
    add_lines(f, a, lines, n, line_kind(a, false));
}

static __attribute__((noinline, cold)) void add_local(struct lsu *l, struct lsu_front *f, const struct lsu_access *a,
                                                      lanemask_t lanes, unsigned bytes) {
    struct coalesced lines[COALESCE_MAX];
    f->dest = destination(l, a, true);
    int n = coalesce_local(&l->coalescer, a->local_base, a->local_stride, a->addr, lanes, bytes, lines);
    widen(l, a, lines, n);
    add_lines(f, a, lines, n, line_kind(a, true));
}

static inline void add_cached(struct lsu *l, struct lsu_front *f, const struct lsu_access *a, lanemask_t local,
                              lanemask_t device, unsigned bytes) {
    if (__builtin_expect(local != 0, 0))
        add_local(l, f, a, local, bytes);
    if (!device)
        return;
    f->dest = destination(l, a, false);
    if (f->dest == PIPE_CONST)
        add_constants(l, f, a, device, bytes);
    else
        add_device(l, f, a, device, bytes);
}

static __attribute__((noinline)) unsigned shared_cycles_each(const struct lsu *l, const struct lsu_access *a,
                                                             lanemask_t lanes, unsigned bytes, bool turns) {
    uint64_t room[WARP_LANES];
    const uint64_t *addr = each_address(a, room);
    return turns ? shared_atomic_cycles(&l->banks, addr, lanes, bytes) : shared_cycles(&l->banks, addr, lanes, bytes);
}

static inline void add_shared(struct lsu *l, struct lsu_front *f, const struct lsu_access *a, lanemask_t lanes,
                              unsigned bytes) {
    bool turns = a->kind == MEM_ATOMIC && l->cfg->lsu.shared_serial;
    f->bank_cycles = turns ? 0 : shared_cycles_halves(&l->banks, &a->halves, lanes, bytes);
    if (!f->bank_cycles)
        f->bank_cycles = shared_cycles_each(l, a, lanes, bytes, turns);
    l->n.shared_accesses++;
    l->n.shared_passes += f->bank_cycles;
}

/* Sorts the line accesses by descending address; the order of accesses with equal addresses is reversed. */
static __attribute__((noinline)) void order_lines(struct lsu_front *f) {
    for (uint32_t i = 1; i < f->n; i++) {
        const struct line_op op = f->op[i];
        uint32_t k = i;
        for (; k && f->op[k - 1].address <= op.address; k--)
            f->op[k] = f->op[k - 1];
        f->op[k] = op;
    }
}

/* Warms the L1 with one line access of a warp. Returns the sectors for which the L2 is accessed. */
static uint8_t warm_l1(const struct lsu *l, struct lsu_pipe *p, const struct line_op *op, bool aside) {
    const uint64_t line = op->address >> p->line_shift;
    const uint8_t sectors = lsu_sectors_in_line(p, op, op->sectors);
    const struct cache_spot at = cache_look(&p->cache, line);
    if (op->kind == LINE_STORE || op->kind == LINE_LOCAL_STORE) {
        struct cache_out dropped;
        const bool local = op->kind == LINE_LOCAL_STORE,
                   around = local && at.way == CACHE_NO_WAY && !l->cfg->lsu.local_allocate,
                   back = (local ? p->write_back_local : p->write_back_global) && !around;
        if (back)
            cache_warm(&p->cache, line, sectors, true, aside);
        else if (l->cfg->lsu.allocate_on_write)
            cache_warm(&p->cache, line, lsu_sectors_in_line(p, op, op->full), false, aside);
        else
            cache_write_through(&p->cache, line, !l->cfg->lsu.update_on_write, &dropped);
        return back ? 0 : op->sectors;
    }
    const bool hit = !(sectors & ~cache_valid(&p->cache, at));
    cache_warm(&p->cache, line, p->cache.shape.sectored ? sectors : p->all_sectors, false, aside);
    return hit ? 0 : op->sectors;
}

void lsu_warm(struct lsu *l, struct memsys *mem, const struct inst *in, const struct effects *fx,
              const struct lsu_local *local, bool aside) {
    static const uint8_t kinds[N_KINDS] = {
        [K_LOAD] = MEM_READ + 1, [K_STORE] = MEM_WRITE + 1, [K_ATOM] = MEM_ATOMIC + 1, [K_TEX] = MEM_TEXTURE + 1};
    const bool constant = fx->space == SPACE_CONST || fx->space == SPACE_PARAM,
               device = constant || fx->space == SPACE_GLOBAL || fx->space == SPACE_GENERIC;
    const lanemask_t own = fx->space == SPACE_LOCAL ? fx->lanes : fx->local_lanes & fx->lanes & ~fx->shared_lanes,
                     lanes = device ? fx->lanes & ~(fx->shared_lanes | own) : 0;
    if (!kinds[in->kind] || !(lanes | own) || in->cache_op == CACHE_WALK || !fx->n_elems)
        return;
    const struct lsu_access a = {.inst = in,
                                 .lanes = lanes | own,
                                 .space = fx->space,
                                 .kind = constant ? MEM_CONSTANT : kinds[in->kind] - 1,
                                 .n_elems = fx->n_elems,
                                 .msize = fx->msize,
                                 .local_base = local ? local->base : 0,
                                 .local_stride = local ? local->stride : 0,
                                 .halves = fx->halves,
                                 .addr = fx->addr};
    struct lsu_front f;
    f.n = 0;
    f.slot = 0;
    add_cached(l, &f, &a, local ? own : 0, lanes, (unsigned)a.n_elems * a.msize);
    for (uint32_t i = 0; i < f.n; i++) {
        const struct line_op *op = &f.op[i];
        const uint8_t below = f.dest == TO_MEMORY ? op->sectors : warm_l1(l, &l->pipe[f.dest], op, aside);
        if (below)
            memsys_warm(mem, op->address, below, a.kind == MEM_WRITE || a.kind == MEM_ATOMIC, aside);
    }
}

static bool is_walk(const struct lsu_access *a) { return a->inst && a->inst->cache_op == CACHE_WALK; }

static __attribute__((noinline, cold)) void accept_walk(struct lsu *l, const struct lsu_access *a, uint64_t now) {
    uint16_t at = l->free_slot[--l->status.n_free];
    l->slot[at] = (struct lsu_slot){
        .tag = a->tag, .pending = 1, .unread = 1, .miss_lanes = a->lanes, .missed = true, .warp = a->warp};
    l->slot_of_tag[a->tag % LSU_TAGS] = at;
    l->n.instructions++;
    walker_accept(l, a, at, now);
}

bool lsu_can_walk(const struct lsu *l) { return walker_has_place(&l->walker); }
uint64_t lsu_walk_moved(const struct lsu *l) { return l->walker.moved; }

void lsu_accept(struct lsu *l, const struct lsu_access *a, uint64_t now) {
    hot_assert(lsu_can_accept(l) && a->lanes);
    if (__builtin_expect(is_walk(a), 0)) {
        accept_walk(l, a, now);
        return;
    }
    uint32_t at = l->front_head + l->status.n_queue++;
    struct lsu_front *f = &l->front[at < l->status.queue ? at : at - l->status.queue];
    unsigned bytes = (unsigned)a->n_elems * a->msize;
    lanemask_t shared = a->space == SPACE_SHARED ? a->lanes : a->shared_lanes & a->lanes;
    lanemask_t local = a->space == SPACE_LOCAL ? a->lanes : a->local_lanes & a->lanes & ~shared;
    f->ready = now + l->cfg->lsu.agu_latency;
    f->slot = l->free_slot[--l->status.n_free];
    f->n = f->next = f->bank_cycles = 0;
    f->dest = TO_MEMORY;
    if (shared)
        add_shared(l, f, a, shared, bytes);
    if (a->lanes & ~shared)
        add_cached(l, f, a, local, a->lanes & ~shared & ~local, bytes);
    if (l->cfg->lsu.descending && f->n > 1)
        order_lines(f);
    if (__builtin_expect(l->details, 0))
        add_details(l, f, a, a->lanes & ~shared & ~local);
    struct lsu_slot *slot = &l->slot[f->slot];
    slot->tag = a->tag;
    slot->pending = f->n + (shared != 0) + (a->fill != 0);
    slot->unread = f->n;
    slot->miss_lanes = 0;
    slot->missed = false;
    slot->wide = (local && bytes > 4) | (a->lanes >> WARP_LANES != 0);
    slot->warp = a->warp;
    slot->fill = a->fill;
    l->slot_of_tag[a->tag % LSU_TAGS] = f->slot;
    l->n.instructions++;
    l->n.transactions += f->n;
    if (l->status.n_queue == 1) {
        l->due[PART_FRONT] = max64(f->ready, l->front_free);
        l->status.next = min64(l->status.next, l->due[PART_FRONT]);
    }
}
