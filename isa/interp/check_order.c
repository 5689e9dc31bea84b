/* Happened-before, by vector clocks. An instruction that threads of a warp execute together orders these threads.
 * Barriers order the warps of a CTA. Releases and acquires order all threads (PTX ISA 8.9). A clock has one entry per
 * warp, not per thread: if one path of a warp acquires an event, the event counts as acquired by all its paths. */
#include "check_state.h"

/* ---- lanes of a warp ---- */

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void merge_rows(const struct warp_order *o, rowmask_t lanes, uint32_t out[WARP_LANES]) {
    memset(out, 0, WARP_LANES * sizeof *out);
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t *row = o->row[__builtin_ctz(lanes)];
        for (unsigned j = 0; j < WARP_LANES; j++)
            out[j] = later(out[j], row[j]);
    }
}

/* Sets o->row[i] of each lane i in `lanes`. Element j of this row is the time up to which lane j precedes lane i. The
 * time is row[j] if lane j is outside `lanes`. It is the current time if lane j is in `lanes`, because these lanes have
 * executed together until now. */
static void write_rows(struct warp_order *o, rowmask_t lanes, const uint32_t row[WARP_LANES]) {
    uint32_t now[WARP_LANES];
    for (unsigned j = 0; j < WARP_LANES; j++)
        now[j] = lanes >> j & 1 ? o->now : row[j];
    for (; lanes; lanes &= lanes - 1)
        memcpy(o->row[__builtin_ctz(lanes)], now, sizeof now);
}

static void leave_path(struct warp_order *o, rowmask_t launched) {
    if (o->path == launched)
        o->all = o->now;
    else
        write_rows(o, o->path, o->path_row);
}

static void enter_path(struct warp_order *o, rowmask_t lanes, rowmask_t launched) {
    o->path = lanes;
    if (lanes == launched)
        return;
    if (!o->diverged)
        memset(o->row, 0, sizeof o->row);
    o->diverged = true;
    merge_rows(o, lanes, o->path_row);
}

void order_path(struct check_cta *c, const struct warp *w, rowmask_t lanes) {
    struct warp_order *o = &c->warp[w->index];
    if (lanes != o->path) {
        leave_path(o, w->launched);
        enter_path(o, lanes, w->launched);
    }
    o->now += o->now != UINT32_MAX;
}

void order_join_lanes(struct warp_order *o, rowmask_t lanes, rowmask_t launched) {
    rowmask_t path = o->path;
    o->synced = o->now;
    if (path == launched && lanes == launched)
        return;
    leave_path(o, launched);
    if (lanes == launched) {
        o->all = o->now;
    } else {
        uint32_t row[WARP_LANES];
        merge_rows(o, lanes, row);
        write_rows(o, lanes, row);
    }
    enter_path(o, path, launched);
}

static bool lane_is_before(const struct warp_order *o, const struct access *a, int lane) {
    unsigned other = a->thread % WARP_LANES;
    if (other == (unsigned)lane)
        return true;
    uint32_t known = later(o->all, o->path_row[other]);
    return a->time <= known || (a->strong && a->time <= o->strong_known);
}

/* ---- warps and CTAs ---- */

bool order_is_before_slow(const struct now *n, const struct access *a, int lane) {
    const struct checker *k = n->c->checker;
    if (a->cta == n->c->serial)
        return lane_is_before(n->order, a, lane);
    const uint32_t *known = clock_of(&k->clocks, n->order->know.foreign, a->cta - k->base);
    return k->clocks.failed || (known && a->time <= known[2 * (a->thread / WARP_LANES) + (a->strong != WEAK)]);
}

static void join(uint32_t *to, const uint32_t *from) {
    for (int v = 0; v < N_TIMES; v++)
        to[v] = later(to[v], from[v]);
}

static void knowledge_forget(struct knowledge *k) {
    clock_unref(k->foreign);
    clock_unref(k->foreign_fenced);
    memset(k, 0, sizeof *k);
}

static void knowledge_join(struct clocks *k, struct knowledge *to, const struct knowledge *from) {
    join(to->seen, from->seen);
    join(to->fenced, from->fenced);
    join(to->fenced_cta, from->fenced_cta);
    clock_add(k, &to->foreign, from->foreign);
    clock_add(k, &to->foreign_fenced, from->foreign_fenced);
}

/* Updates the clock entry of the warp itself. This entry is updated only when it is needed. */
static void update_own_time(struct warp_order *o, uint32_t warp) {
    o->know.seen[2 * warp] = o->know.seen[2 * warp + 1] = o->now;
}

void knowledge_add_warp(struct check_cta *c, struct knowledge *to, uint32_t i) {
    update_own_time(&c->warp[i], i);
    knowledge_join(&c->checker->clocks, to, &c->warp[i].know);
}

static void forget_released(struct warp_order *o) {
    clock_set(&o->released, NULL);
    clock_set(&o->released_cta, NULL);
    o->released_at = o->released_cta_at = 0;
}

static void order_forget(struct warp_order *o) {
    knowledge_forget(&o->know);
    clock_set(&o->pending, NULL);
    forget_released(o);
}

void order_start(struct check_cta *c) {
    order_end(c);
    for (uint32_t i = 0; i < c->cta->n_warps; i++) {
        struct warp_order *o = &c->warp[i];
        o->now = o->all = o->synced = o->strong_known = 0;
        o->diverged = false;
        o->path = c->cta->warps[i].launched;
    }
}

void order_end(struct check_cta *c) {
    for (uint32_t i = 0; i < c->cta->n_warps; i++)
        order_forget(&c->warp[i]);
    for (int i = 0; i < N_CTA_BARRIERS; i++)
        knowledge_forget(&c->arrived[i]);
}

void order_release(struct check_cta *c, uint32_t barrier) {
    const struct cta_barrier *b = &c->cta->barriers[barrier];
    uint32_t n = c->cta->n_warps;
    struct knowledge *known = &c->arrived[barrier];
    for (uint32_t i = 0; i < n; i++)
        if (b->whole_cta || b->waiting[i]) /* exited threads count as arrived at a barrier of the whole CTA */
            knowledge_add_warp(c, known, i);
    for (uint32_t i = 0; i < n; i++) {
        const struct warp *w = &c->cta->warps[i];
        struct warp_order *o = &c->warp[i];
        if (!b->waiting[i])
            continue;
        knowledge_join(&c->checker->clocks, &o->know, known);
        forget_released(o);
        order_join_lanes(o, b->waiting[i] | (b->whole_cta ? w->launched & ~w->live : 0), w->launched);
        o->now += o->now != UINT32_MAX;
    }
    knowledge_forget(known);
    c->use[barrier].active = false;
}

/* ---- releases and acquires ---- */

static uint32_t number(const struct check_cta *c) { return c->serial - c->checker->base; }

void order_acquire(const struct now *n, struct clock *c, bool cta_scope) {
    struct warp_order *o = n->order;
    struct clocks *k = &n->c->checker->clocks;
    const uint32_t *own = clock_of(k, c, number(n->c));
    uint32_t warp = n->w->index;
    if (own) {
        for (uint32_t v = 0; v < k->entries; v++)
            o->know.seen[v] = later(o->know.seen[v], own[v]);
        for (unsigned j = 0; o->path != n->w->launched && j < WARP_LANES; j++)
            o->path_row[j] = later(o->path_row[j], own[2 * warp]);
        o->strong_known = later(o->strong_known, own[2 * warp + 1]);
    }
    if (!cta_scope)
        clock_add(k, &o->know.foreign, c);
}

void order_fence(const struct now *n) {
    struct warp_order *o = n->order;
    bool cta_scope = n->words & ORDER_CTA;
    order_acquire(n, o->pending, cta_scope);
    update_own_time(o, n->w->index);
    memcpy(o->know.fenced_cta, o->know.seen, sizeof o->know.seen);
    forget_released(o);
    if (cta_scope)
        return;
    clock_set(&o->pending, NULL);
    memcpy(o->know.fenced, o->know.seen, sizeof o->know.seen);
    clock_set(&o->know.foreign_fenced, o->know.foreign);
}

struct clock *order_everything(const struct now *n) {
    update_own_time(n->order, n->w->index);
    return clock_with(&n->c->checker->clocks, n->order->know.foreign, number(n->c), n->order->know.seen);
}

static bool knows_nothing(const uint32_t *time, const struct clock *foreign) {
    uint32_t any = 0;
    for (int v = 0; v < N_TIMES; v++)
        any |= time[v];
    return !any && !foreign;
}

/* Returns a clock with the times `time` of this CTA, the events `foreign` of other CTAs, and the strong accesses of
 * this warp up to now. */
static struct clock *make_release(const struct now *n, const uint32_t *time, struct clock *foreign) {
    uint32_t own[N_TIMES];
    if (knows_nothing(time, foreign))
        return NULL;
    memcpy(own, time, sizeof own);
    own[2 * n->w->index + 1] = n->order->now;
    return clock_with(&n->c->checker->clocks, foreign, number(n->c), own);
}

struct clock *order_released(const struct now *n) {
    struct warp_order *o = n->order;
    if (o->released_at != o->now) {
        clock_unref(o->released);
        o->released = make_release(n, o->know.fenced, o->know.foreign_fenced);
        o->released_at = o->now;
    }
    return clock_ref(o->released);
}

struct clock *order_released_cta(const struct now *n) {
    struct warp_order *o = n->order;
    if (!memcmp(o->know.fenced, o->know.fenced_cta, sizeof o->know.fenced) && o->know.foreign_fenced == o->know.foreign)
        return order_released(n);
    if (o->released_cta_at != o->now) {
        clock_unref(o->released_cta);
        o->released_cta = make_release(n, o->know.fenced_cta, o->know.foreign);
        o->released_cta_at = o->now;
    }
    return clock_ref(o->released_cta);
}
