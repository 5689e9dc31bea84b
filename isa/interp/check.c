/* Entry points of the checker, and checks of barriers. */
#include "check_state.h"
#include "isa/exec/syscall.h"
#include <stdlib.h>

/* ---- launches ---- */

struct checker *check_new(void) {
    return calloc(1, sizeof(struct checker));
}

void check_free(struct checker *k) {
    if (!k)
        return;
    for (uint32_t i = 0; i < k->n_shadow; i++) {
        free(k->shadow[i].written);
        shadow_free(k, &k->shadow[i].touched);
    }
    sync_forget(&k->places);
    free(k->shadow);
    free(k->block);
    free(k);
}

/* Prepares pages for a new launch. Accesses of earlier launches are ordered before the new launch, so pages are
 * reused unless their memory has been freed or there are too many pages. */
static void forget_pages(struct checker *k, const struct memory *m, bool all) {
    for (uint32_t i = 0; i < k->n_shadow; i++)
        k->shadow[i].live = false;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->list[i].live && m->list[i].serial < k->n_shadow)
            k->shadow[m->list[i].serial].live = true;
    for (uint32_t i = 0; i < k->n_shadow; i++) {
        struct device_shadow *s = &k->shadow[i];
        if (all || k->unfollowed || !s->live)
            shadow_free(k, &s->touched);
        if (!s->live) {
            free(s->written);
            s->written = NULL;
        }
    }
}

void check_begin(struct checker *k, const struct launch *l) {
    uint64_t n_ctas = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    uint32_t warps = launch_warps(l);
    bool over = k->base + k->n_ctas + n_ctas > UINT32_MAX;
    sync_forget(&k->places);
    forget_pages(k, l->memory, over);
    check_shared_memory(k, l->memory);
    k->base = over ? 1 : (uint32_t)(k->base + k->n_ctas);
    k->base += !k->base;
    k->n_ctas = n_ctas;
    clocks_begin(&k->clocks, n_ctas, 2 * warps);
    k->n_findings = 0;
    k->count = k->more = k->unfollowed = 0;
}

bool check_lost(const struct checker *k) { return k->out_of_memory || k->clocks.failed; }

uint64_t check_findings(const struct checker *k) { return k->count; }

/* ---- partial arrivals at barriers ---- */

static void report_partial(struct check_cta *c, uint32_t warp, const struct partial *p) {
    struct finding *f = check_count(c, CHECK_PARTIAL_BARRIER, p->pc, NO_PC);
    if (!f)
        return;
    f->thread = check_thread(&c->cta->warps[warp], __builtin_ctz(p->lanes));
    f->lanes = p->lanes;
    f->live = p->live;
}

/* Reports each warp whose partial arrival at the barrier still lacks lanes when the barrier completes or the CTA ends.
 * `there` has the lanes of each warp that have arrived; it is NULL if the CTA ends. */
static void close_partial(struct check_cta *c, uint32_t barrier, const lanemask_t *there) {
    for (uint32_t i = 0; i < c->cta->n_warps; i++) {
        struct partial *p = &c->partial[barrier][i];
        if (p->live & ~(there ? there[i] : 0))
            report_partial(c, i, p);
        p->live = 0;
    }
}

/* Reports the partial arrivals that remain when the CTA ends in a deadlock. */
static void end_cta(struct check_cta *c) {
    for (uint32_t i = 0; i < N_CTA_BARRIERS; i++)
        close_partial(c, i, NULL);
}

/* ---- CTAs ---- */

struct check_cta *check_cta_new(struct checker *k, struct cta *cta) {
    struct check_cta *c = calloc(1, sizeof *c + cta->n_warps * sizeof c->warp[0]);
    if (!c)
        return NULL;
    c->checker = k;
    c->cta = cta;
    c->shared.bytes = cta->shared_bytes;
    cta->bulk = bulk_sink_of(c);
    c->next = k->ctas;
    k->ctas = c;
    return c;
}

void check_cta_free(struct check_cta *c) {
    if (!c)
        return;
    for (struct check_cta **at = &c->checker->ctas; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    end_cta(c);
    order_end(c);
    sync_forget(&c->places);
    shadow_free(c->checker, &c->shared);
    copies_free(c);
    bulk_free(c);
    free(c);
}

/* Prepares the checker for a CTA that starts. Each recorded access has the serial number of its CTA, so the checker
 * ignores accesses of the previous CTA in the pages of shared memory. */
void check_cta_start(struct check_cta *c) {
    c->serial = c->checker->base + (uint32_t)c->cta->linear_id;
    order_start(c);
    sync_forget(&c->places);
    copies_forget(c);
    bulk_forget(c);
    c->foreign = false;
    memset(c->use, 0, sizeof c->use);
    memset(c->partial, 0, sizeof c->partial);
}

void check_path(struct check_cta *c, const struct warp *w, rowmask_t lanes) { order_path(c, w, lanes); }

void check_met(struct check_cta *c, const struct warp *w, rowmask_t lanes) {
    order_join_lanes(&c->warp[w->index], lanes | (w->launched & ~w->live),
                     w->launched); /* lanes that have exited count as synchronised, too */
}

/* Records that all members of the mask that have not exited execute the instruction together. Members that have exited
 * count as synchronised, too. */
static void join_members(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    const rowmask_t *members = reg_ptr(w, in->e);
    if (lanes && in->hints & HINT_MEMBERS)
        order_join_lanes(&c->warp[w->index], lanes | (members[__builtin_ctz(lanes)] & w->launched), w->launched);
}

/* ---- barriers ---- */

/* Returns true if all threads of a warp must arrive at the barrier of this instruction: a bar, or a barrier with
 * .aligned (PTX ISA 9.7.13.1). */
static bool is_aligned(const struct inst *in) { return check_opcode(in) == OP_BAR || in->hints & HINT_ALIGNED; }

/* Checks that an arrival agrees with the first arrival at this barrier. An explicit thread count that equals the CTA's
 * size is the same as no count. */
static void check_use(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes,
                      const struct effects *fx) {
    struct barrier_use *use = &c->use[fx->barrier];
    uint32_t pc = check_pc(w, in), thread = check_thread(w, __builtin_ctz(lanes)), whole = c->cta->n_warps * WARP_LANES;
    bool reduces = fx->barrier_mode >= BARRIER_AND, given = in->rsize != 0;
    struct finding *f = NULL;
    if (given && !fx->barrier_threads && (f = check_count(c, CHECK_BARRIER_ZERO, pc, NO_PC))) {
        f->thread = thread;
        f->barrier = fx->barrier;
    }
    if (!use->active) {
        *use = (struct barrier_use){
            .pc = pc, .thread = thread, .threads = fx->barrier_threads, .active = true, .reduces = reduces};
        return;
    }
    uint32_t mine = fx->barrier_threads ? fx->barrier_threads : whole, first = use->threads ? use->threads : whole;
    if (mine != first)
        f = check_count(c, CHECK_BARRIER_COUNT, pc, use->pc);
    else if (reduces != use->reduces)
        f = check_count(c, CHECK_BARRIER_MIXED, pc, use->pc);
    else
        return;
    if (!f)
        return;
    f->thread = thread;
    f->other_cta = c->cta->id;
    f->other_thread = use->thread;
    f->barrier = fx->barrier;
    f->threads = mine;
    f->other_threads = first;
}

void check_release(struct check_cta *c, uint32_t barrier) {
    const struct cta_barrier *b = &c->cta->barriers[barrier];
    close_partial(c, barrier, b->waiting);
    order_release(c, barrier);
    for (uint32_t i = 0; barrier == CLUSTER_BARRIER && i < c->cta->n_warps; i++) {
        struct now n = {.c = c, .w = &c->cta->warps[i], .order = &c->warp[i]};
        if (b->waiting[i])
            sync_cluster_wait(&n);
    }
}

static void check_barrier(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes,
                          const struct effects *fx) {
    uint32_t pc = check_pc(w, in);
    if (!fx->lanes || fx->lanes != lanes) /* lanes with a false guard pass; the rest execute the barrier again */
        return;
    check_use(c, w, in, lanes, fx);
    if (fx->barrier_mode == BARRIER_ARRIVE)
        knowledge_add_warp(c, &c->arrived[fx->barrier], w->index);
    if (lanes == w->live || !is_aligned(in))
        return;
    struct finding *f;
    for (uint32_t used = c->cta->barriers_used; used; used &= used - 1) {
        const struct cta_barrier *b = &c->cta->barriers[__builtin_ctz(used)];
        rowmask_t there = b->waiting[w->index];
        if (!there || b->inst[w->index] == in)
            continue;
        f = check_count(c, CHECK_DIFFERENT_BARRIERS, pc, check_pc(w, b->inst[w->index]));
        if (f) {
            f->thread = check_thread(w, __builtin_ctz(lanes));
            f->other_thread = check_thread(w, __builtin_ctz(there));
            f->other_cta = c->cta->id;
        }
        return;
    }
    struct partial *p = &c->partial[fx->barrier][w->index];
    struct partial now = {pc, lanes, w->live};
    if (fx->barrier_mode == BARRIER_ARRIVE)
        report_partial(c, w->index, &now);
    else if (!p->live)
        *p = now;
}

/* ---- instructions ---- */

/* Records a store to a surface. Single texels are not tracked: after the store, the whole surface is treated as
 * written. */
static void check_surface(struct check_cta *c, const struct warp *w, const struct inst *in, const struct effects *fx) {
    uint16_t op = check_opcode(in);
    if (fx->lanes && (op == OP_SUST || op == OP_SURED))
        check_all_written(c, w, fx->addr[__builtin_ctz(fx->lanes)]);
}

void check_before(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    check_path(c, w, lanes);
    if (in->hints & (HINT_COLLECTIVE | HINT_MEMBERS)) {
        check_members(c, w, in, guard_lanes(w, in, lanes));
        join_members(c, w, in, guard_lanes(w, in, lanes));
        c->warp[w->index].synced = c->warp[w->index].now;
    }
    if (in->kind != K_WARP)
        return;
    if (in->fn.warp == sys_vprintf)
        check_format(c, w, in, guard_lanes(w, in, lanes));
    if (in->fn.warp == sys_malloc) /* saves the sizes, since the result may overwrite their register */
        memcpy(c->malloc_bytes, reg_ptr(w, in->a), sizeof c->malloc_bytes);
}

/* Collects the properties of a fence or an access that the ordering rules use. */
static struct now now_of(struct check_cta *c, const struct warp *w, const struct inst *in, const struct effects *fx) {
    struct now n = {.c = c, .w = w, .in = in, .order = &c->warp[w->index], .pc = check_pc(w, in)};
    n.words = w->program->info[n.pc].order;
    n.bytes = (unsigned)fx->n_elems * fx->msize;
    n.reads = in->kind != K_STORE;
    n.writes = in->kind != K_LOAD;
    n.strong = !inst_is_strong(in) ? WEAK : n.words & ORDER_CTA ? STRONG_CTA : STRONG_GPU;
    return n;
}

/* Returns the records of the CTA in whose shared memory a lane accesses address `at`. */
static struct check_cta *record_of(const struct now *n, uint64_t at) {
    struct check_cta *c = n->c->checker->ctas;
    const struct cta *cta = cluster_place(n->c->cta, at).cta;
    while (c && c->cta != cta)
        c = c->next;
    return c;
}

/* Records what accesses to the shared memory of other CTAs mean for the order of threads. Their races are not checked,
 * and the other CTA's shared memory is no longer checked after a write. */
static void check_remote(const struct now *n, rowmask_t lanes, const struct effects *fx) {
    uint64_t at[WARP_LANES];
    const bool mbarrier = check_opcode(n->in) == OP_MBARRIER;
    for (rowmask_t left = lanes; left; left &= left - 1)
        at[__builtin_ctz(left)] = fx->addr[__builtin_ctz(left)] % CLUSTER_STEP;
    for (; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        struct check_cta *c = record_of(n, fx->addr[l]);
        if (!c)
            continue;
        c->foreign |= n->writes && !mbarrier;
        if (mbarrier) {
            sync_mbarrier(n, c, (rowmask_t)1 << l, at);
        } else if (n->strong) {
            struct effects there = {.lanes = fx->lanes};
            there.addr[l] = at[l];
            sync_accesses(n, &c->places, (rowmask_t)1 << l, &there);
        }
    }
}

static rowmask_t remote_lanes(const struct effects *fx) {
    rowmask_t m = 0;
    for (rowmask_t left = fx->lanes & fx->shared_lanes; left; left &= left - 1)
        m |= (rowmask_t)cluster_is_remote(fx->addr[__builtin_ctz(left)]) << __builtin_ctz(left);
    return m;
}

static void check_mbarrier(struct now *n, rowmask_t lanes, const struct effects *fx) {
    uint32_t n_rows;
    if (check_opcode(n->in) == OP_CP) /* this arrival counts as a wait for the copies (check_copy.c) */
        copies_wait(n, lanes, -1);
    unsigned mode = form_get(isa_rows(&n_rows)[n->in->row].form, CAT_MODE);
    if (mode == MODE_INIT || mode == MODE_INVAL) { /* these operations count as weak writes to the object */
        n->strong = WEAK;
        n->reads = false;
    } else {
        n->strong = STRONG_CTA;
        n->writes = mode != MODE_TEST_WAIT && mode != MODE_TRY_WAIT;
    }
    if (!n->c->foreign)
        race_accesses(n, &n->c->shared, 0, lanes, fx, SPACE_SHARED);
    sync_mbarrier(n, n->c, lanes, fx->addr);
}

static void check_shared(struct now *n, rowmask_t lanes, const struct effects *fx) {
    if (n->c->n_copies)
        copies_check(n, lanes, fx);
    if (n->c->n_bulks)
        bulk_check(n, lanes, fx);
    if (!n->c->foreign)
        race_accesses(n, &n->c->shared, 0, lanes, fx, SPACE_SHARED);
    if (n->strong)
        sync_accesses(n, &n->c->places, lanes, fx);
}

static void check_access(struct now *n, const struct effects *fx) {
    rowmask_t device = fx->lanes & ~(fx->shared_lanes | fx->local_lanes);
    if (!fx->lanes || n->in->space == SPACE_PARAM || n->in->space == SPACE_LOCAL)
        return;
    const rowmask_t remote = n->c->cta->cluster->n > 1 ? remote_lanes(fx) : 0, own = fx->shared_lanes & ~remote;
    if (remote)
        check_remote(n, remote, fx);
    if (check_opcode(n->in) == OP_MBARRIER || check_opcode(n->in) == OP_CP) {
        check_mbarrier(n, own, fx);
        return;
    }
    if (own)
        check_shared(n, own, fx);
    if (device)
        check_device(n, device, fx);
    if (n->strong && device)
        sync_accesses(n, &n->c->checker->places, device, fx);
}

/* Returns true for a fence that orders accesses. Proxy fences alone order nothing here. */
static bool is_fence(const struct now *n) {
    uint16_t op = check_opcode(n->in);
    return op == OP_MEMBAR || (op == OP_FENCE && n->words & ORDER_STRONG);
}

static void check_copies(const struct now *n, const struct effects *fx) {
    if (!fx->lanes)
        return;
    if (n->in->kind == K_COPY)
        copies_issue(n, fx);
    else if (n->in->kind == K_COMMIT)
        copies_commit(n->c, n->w, fx->lanes);
    else
        copies_wait(n, fx->lanes, n->in->imm);
}

void check_after(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes,
                 const struct effects *fx) {
    struct now n;
    switch (in->kind) {
    case K_LOAD:
    case K_STORE:
    case K_ATOM:
        n = now_of(c, w, in, fx);
        check_access(&n, fx);
        return;
    case K_FENCE:
        n = now_of(c, w, in, fx);
        if (fx->lanes && is_fence(&n))
            order_fence(&n);
        return;
    case K_TEX:
        check_surface(c, w, in, fx);
        return;
    case K_COPY:
    case K_COMMIT:
    case K_COLLECT:
        n = now_of(c, w, in, fx);
        check_copies(&n, fx);
        return;
    case K_BARRIER:
        if (fx->barrier == CLUSTER_BARRIER && w->cluster_passed & fx->lanes) { /* the other lanes need not wait */
            n = now_of(c, w, in, fx);
            sync_cluster_wait(&n);
        }
        check_barrier(c, w, in, lanes, fx);
        return;
    case K_WARP:
        if (exec_is_cluster_arrive(in) && fx->lanes) {
            n = now_of(c, w, in, fx);
            sync_cluster_arrive(&n);
            return;
        }
        if (check_opcode(in) == OP_BULK || check_opcode(in) == OP_BULK_WAIT) {
            n = now_of(c, w, in, fx);
            n.reads = n.writes = true;
            n.strong = WEAK;
            if (check_opcode(in) == OP_BULK)
                bulk_after(&n, lanes);
            else
                bulk_wait(&n, fx->lanes, in->imm);
            return;
        }
        if (in->fn.warp == sys_malloc)
            check_malloc(c, w, in, fx->lanes);
        else if (in->fn.warp == sys_free)
            check_heap_free(c, w, in, fx->lanes);
        return;
    default:
        return;
    }
}
