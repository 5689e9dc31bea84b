/* Named barriers of a CTA. They count threads (PTX ISA 9.7.13.1). */
#include "effects.h"

/* Returns true for the barrier of a warp group, which every lane of four warps must reach. */
static bool is_of_group(const struct cta *c, const struct cta_barrier *b) { return b >= &c->barriers[GROUP_BARRIERS]; }

/* Returns the number of threads that `lanes` of a warp count for. Once all live lanes of the warp have arrived, its
 * exited and missing lanes count too, because an explicit count is in whole warps. */
static uint32_t arriving_threads(const struct cta_barrier *b, const struct warp *w, lanemask_t lanes) {
    uint32_t n = lanes_count(lanes);
    if (b->whole_cta || is_of_group(w->cta, b) || w->live & ~(lanes | b->waiting[w->index]))
        return n;
    return n + launch_lanes(w->cta->launch) - lanes_count(w->live);
}

static uint32_t expected(const struct cta *c, const struct cta_barrier *b) {
    return b->whole_cta ? c->live_threads : b->expected;
}

static bool complete(const struct cta *c, const struct cta_barrier *b) {
    return b->arrived && b->arrived >= expected(c, b);
}

static rowmask_t reduction(const struct cta_barrier *b, enum barrier_mode mode, uint32_t *popc) {
    *popc = b->count_true;
    bool yes = mode == BARRIER_AND ? b->count_true == b->count_red : b->count_true > 0;
    return yes ? LANES_ALL : 0;
}

/* Writes the result of bar.red to the lanes of a row that wait for a result. */
static void write_reduction(struct warp *row, const struct cta_barrier *b, rowmask_t lanes) {
    const uint32_t i = row->index;
    uint32_t popc[WARP_LANES], count;
    rowmask_t yes = reduction(b, b->mode[i], &count);
    for (int l = 0; l < WARP_LANES; l++)
        popc[l] = count;
    void *to = reg_ptr(row, b->inst[i]->d);
    if (b->inst[i]->d == OPND_SINK)
        return;
    if (b->mode[i] == BARRIER_POPC)
        blend_lanes(to, popc, lanes, sizeof popc[0]);
    else
        blend_lanes(to, &yes, lanes, 0);
}

static void write_reductions(struct cta *c, const struct cta_barrier *b) {
    for (uint32_t i = 0; i < c->n_rows; i++) {
        struct warp *row = &c->warps[i];
        lanemask_t waiting = b->waiting[row->index];
        if (waiting && b->mode[row->index] >= BARRIER_AND)
            write_reduction(row, b, warp_row(waiting, i >= c->n_warps));
    }
}

bool cta_barrier_arrive(struct cta *c, struct warp *w, const struct inst *in, lanemask_t lanes,
                        const struct effects *fx) {
    struct cta_barrier *b = &c->barriers[fx->barrier];
    if (!b->arrived) {
        b->expected = fx->barrier_threads;
        b->whole_cta = !fx->barrier_threads;
    }
    c->barriers_used |= 1u << fx->barrier;
    b->arrived += arriving_threads(b, w, lanes);
    if (fx->barrier_mode >= BARRIER_AND) {
        b->count_true += lanes_count(fx->barrier_pred & lanes);
        b->count_red += lanes_count(lanes);
    }
    if (fx->barrier_mode != BARRIER_ARRIVE) {
        if (b->waiting[w->index] && b->inst[w->index] != in)
            b->divergent = true;
        b->waiting[w->index] |= lanes;
        b->inst[w->index] = in;
        b->mode[w->index] = fx->barrier_mode;
    }
    if (fx->barrier == CLUSTER_BARRIER || !complete(c, b)) /* a cluster's barrier ends by cluster_settle() */
        return false;
    if (b->count_red)
        write_reductions(c, b);
    return true;
}

void cta_barrier_reset(struct cta *c, uint32_t barrier) {
    struct cta_barrier *b = &c->barriers[barrier];
    memset(b->waiting, 0, c->n_warps * sizeof *b->waiting);
    *b = (struct cta_barrier){.waiting = b->waiting, .inst = b->inst, .mode = b->mode};
    c->barriers_used &= ~(1u << barrier);
}

uint32_t cta_threads_exit(struct cta *c, struct warp *w, lanemask_t lanes) {
    uint32_t completed = 0;
    c->live_threads -= lanes_count(lanes);
    cluster_exit(c, w, lanes);
    for (uint32_t used = c->barriers_used & ~(1u << CLUSTER_BARRIER); used; used &= used - 1) {
        int i = __builtin_ctz(used);
        struct cta_barrier *b = &c->barriers[i];
        /* now all live lanes of the warp have arrived */
        if (!b->whole_cta && !is_of_group(c, b) && b->waiting[w->index] && !(w->live & ~b->waiting[w->index]))
            b->arrived += launch_lanes(c->launch) - lanes_count(w->live);
        if (!complete(c, &c->barriers[i]))
            continue;
        if (c->barriers[i].count_red)
            write_reductions(c, &c->barriers[i]);
        completed |= 1u << i;
    }
    return completed;
}

lanemask_t cta_waiting(const struct cta *c, uint32_t index) {
    lanemask_t m = 0;
    for (uint32_t used = c->barriers_used; used; used &= used - 1)
        m |= c->barriers[__builtin_ctz(used)].waiting[index];
    return m;
}
