/* Shared memory: reads of what nobody wrote in this CTA, and races. Two accesses of a granule by different threads, one
 * of them a write, must be ordered: threads of different warps by barriers (vector clocks: warp_order.seen), threads of
 * one warp by having executed an instruction together in between. */
#include "check_state.h"

/* The instruction under way. */
struct now {
    struct check_cta *c;
    const struct warp *w;
    const struct inst *in;
    struct warp_order *order;
    uint32_t pc;
    unsigned bytes; /* of a lane's access */
    uint8_t strong;
};

static bool happened(const struct check_cta *c, const struct access *a) {
    return a->time > c->warp[a->thread / WARP_LANES].start;
}

static bool is_ordered(const struct now *n, const struct access *a, int lane) {
    unsigned warp = a->thread / WARP_LANES, other = a->thread % WARP_LANES;
    if (warp != n->w->index)
        return a->time <= n->order->seen[warp];
    return other == (unsigned)lane || a->time <= check_together(n->order, other, (unsigned)lane);
}

/* What an earlier CTA did is ordered, see check_cta_start(). */
static bool is_race(const struct now *n, const struct access *a, int lane) {
    return !is_ordered(n, a, lane) && !(a->strong && n->strong);
}

/* Do two lanes of this store write the same? */
static bool equal_values(const struct now *n, unsigned l, unsigned other) {
    unsigned elems = n->in->n_list ? n->in->n_list : 1;
    for (unsigned e = 0; e < elems; e++) {
        const unsigned char *v = reg_ptr(n->w, n->in->n_list ? n->w->program->lists[n->in->list + e] : n->in->b);
        if (memcmp(v + (size_t)l * n->in->rsize, v + (size_t)other * n->in->rsize, n->in->msize) != 0)
            return false;
    }
    return true;
}

/* An earlier lane of this very instruction wrote here. */
static bool is_collision(const struct now *n, const struct access *a, int lane) {
    bool same = a->time == n->order->now && a->thread / WARP_LANES == n->w->index;
    return same && a->thread % WARP_LANES != (unsigned)lane && !n->strong &&
           !equal_values(n, (unsigned)lane, a->thread % WARP_LANES);
}

static void fill(struct finding *f, const struct now *n, int lane, uint64_t at, bool write) {
    f->thread = check_thread(n->w, lane);
    f->space = SPACE_SHARED;
    f->address = at;
    f->bytes = n->bytes;
    f->is_write = write;
}

static void race(const struct now *n, const struct access *a, int lane, uint64_t at, bool write, bool other_write) {
    struct finding *f = check_found(n->c, CHECK_RACE, n->pc, a->pc);
    if (!f)
        return;
    fill(f, n, lane, at, write);
    f->other_thread = a->thread;
    f->other_is_write = other_write;
    f->same_instruction = a->time == n->order->now && a->thread / WARP_LANES == n->w->index;
}

/* Returns false, after a finding, when the granule was never written. */
static bool check_written(const struct now *n, const struct granule *g, int lane, uint64_t at) {
    if (happened(n->c, &g->write))
        return true;
    struct finding *f = check_found(n->c, CHECK_UNINIT, n->pc, NO_PC);
    if (f)
        fill(f, n, lane, at, false);
    return false;
}

/* A reader that came before this one by order is not needed: who races with it races with this one too. */
static void add_reader(const struct now *n, struct granule *g, const struct access *me, int lane) {
    if (!is_ordered(n, &g->read, lane)) {
        if (g->read.thread / WARP_LANES == n->w->index)
            g->read_lane = g->read;
        else
            g->read_warp = g->read;
    }
    g->read = *me;
}

static void touch(const struct now *n, struct granule *g, int lane, uint64_t at) {
    struct access me = {
        .time = n->order->now, .pc = n->pc, .thread = (uint16_t)check_thread(n->w, lane), .strong = n->strong};
    bool write = n->in->kind != K_LOAD;
    if (write && is_collision(n, &g->write, lane))
        race(n, &g->write, lane, at, true, true);
    else if (is_race(n, &g->write, lane))
        race(n, &g->write, lane, at, write, true);
    if (!write) {
        add_reader(n, g, &me, lane);
        return;
    }
    const struct access *const readers[] = {&g->read, &g->read_lane, &g->read_warp};
    for (int i = 0; i < 3; i++)
        if (is_race(n, readers[i], lane)) {
            race(n, readers[i], lane, at, true, false);
            break;
        }
    *g = (struct granule){.write = me};
}

void check_shared(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                  const struct effects *fx) {
    struct now n = {.c = c,
                    .w = w,
                    .in = in,
                    .order = &c->warp[w->index],
                    .pc = check_pc(w, in),
                    .bytes = (unsigned)fx->n_elems * fx->msize,
                    .strong = in->kind == K_ATOM || (in->hints & HINT_VOLATILE)};
    bool reads = in->kind != K_STORE;
    uint64_t last = UINT64_MAX, before = UINT64_MAX;
    for (; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        uint64_t at = fx->addr[l];
        if (in->kind == K_LOAD && at == last && at == before) /* a broadcast: two of its readers stand for all */
            continue;
        before = last;
        last = at;
        struct granule *g = &c->granule[at >> c->shift], *end = &c->granule[((at + n.bytes - 1) >> c->shift) + 1];
        bool written = true;
        for (const struct granule *i = g; reads && written && i < end; i++)
            written = check_written(&n, i, l, at);
        for (; g < end; g++)
            touch(&n, g, l, at);
    }
}
