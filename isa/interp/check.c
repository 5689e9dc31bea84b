/* The checker's entrances, what orders threads, and barriers. */
#include "check_state.h"
#include "isa/decode.h"
#include "isa/exec/syscall.h"
#include <stdlib.h>

/* ---- findings ---- */

struct checker *check_new(void) {
    return calloc(1, sizeof(struct checker));
}

void check_free(struct checker *k) {
    if (!k)
        return;
    for (uint32_t i = 0; i < k->n_shadow; i++)
        free(k->shadow[i].written);
    free(k->shadow);
    free(k->block);
    free(k);
}

void check_begin(struct checker *k) {
    k->n_findings = 0;
    k->count = k->more = 0;
}

bool check_lost(const struct checker *k) { return k->out_of_memory; }

uint64_t check_findings(const struct checker *k) { return k->count; }

struct finding *check_found(struct check_cta *c, enum check_kind kind, uint32_t pc, uint32_t other_pc) {
    struct checker *k = c->checker;
    k->count++;
    for (int i = 0; i < k->n_findings; i++) {
        struct finding *f = &k->finding[i];
        bool same = f->pc == pc && f->other_pc == other_pc;
        bool turned = kind == CHECK_RACE && f->pc == other_pc && f->other_pc == pc; /* who came first is chance */
        if (f->kind == kind && (same || turned)) {
            f->count++;
            return NULL;
        }
    }
    if (k->n_findings == MAX_FINDINGS) {
        k->more++;
        return NULL;
    }
    struct finding *f = &k->finding[k->n_findings++];
    *f = (struct finding){.kind = kind, .pc = pc, .other_pc = other_pc, .count = 1, .cta = c->cta->id};
    return f;
}

/* ---- CTAs ---- */

/* Shared memory is followed in the smallest unit in which the program can touch it: exact, and cheap for words. */
static unsigned granule_shift(const struct program *p) {
    unsigned shift = 2;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const struct inst *in = &p->code[pc];
        bool memory = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM;
        bool shared = in->space == SPACE_SHARED || in->space == SPACE_GENERIC;
        if (memory && shared && in->msize < 4 && in->msize && (unsigned)__builtin_ctz(in->msize) < shift)
            shift = (unsigned)__builtin_ctz(in->msize);
    }
    return shift;
}

struct check_cta *check_cta_new(struct checker *k, const struct cta *cta) {
    struct check_cta *c = calloc(1, sizeof *c + cta->n_warps * sizeof c->warp[0]);
    if (!c)
        return NULL;
    c->checker = k;
    c->cta = cta;
    c->shift = granule_shift(cta->launch->program);
    c->granule = calloc(((size_t)cta->shared_bytes >> c->shift) + 1, sizeof *c->granule);
    if (!c->granule) {
        free(c);
        return NULL;
    }
    return c;
}

void check_cta_free(struct check_cta *c) {
    if (!c)
        return;
    free(c->granule);
    free(c);
}

/* Times go on from CTA to CTA, so that what the last one left in the granules is too old to matter. Only before they
 * could overflow is everything wiped. */
void check_cta_start(struct check_cta *c) {
    uint32_t n = c->cta->n_warps;
    bool old = false;
    for (uint32_t i = 0; i < n; i++)
        old |= c->warp[i].now >> 30;
    if (old) {
        memset(c->granule, 0, (((size_t)c->cta->shared_bytes >> c->shift) + 1) * sizeof *c->granule);
        memset(c->warp, 0, n * sizeof c->warp[0]);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct warp_order *o = &c->warp[i];
        o->start = o->all = o->now;
        o->path = c->cta->warps[i].launched;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t v = 0; v < n; v++)
            c->warp[i].seen[v] = c->warp[v].start;
    memset(c->arrived, 0, sizeof c->arrived);
}

/* ---- order ---- */

void check_were_together(struct warp_order *o, lanemask_t lanes, lanemask_t launched, uint32_t time) {
    if (lanes == launched) {
        o->all = time;
        return;
    }
    for (lanemask_t left = lanes; left; left &= left - 1) {
        uint32_t *row = o->together[__builtin_ctz(left)];
        for (unsigned j = 0; j < WARP_LANES; j++)
            row[j] = lanes >> j & 1 ? time : row[j];
    }
}

uint32_t check_together(const struct warp_order *o, unsigned i, unsigned j) {
    if (o->path >> i & o->path >> j & 1)
        return o->now;
    uint32_t pair = o->together[i][j];
    return pair > o->all ? pair : o->all;
}

void check_path(struct check_cta *c, const struct warp *w, lanemask_t lanes) {
    struct warp_order *o = &c->warp[w->index];
    if (lanes != o->path) {
        check_were_together(o, o->path, w->launched, o->now);
        o->path = lanes;
    }
    o->now++;
}

/* bar.warp.sync. Paths of a warp do not wait for each other in the interpreter: the lanes named count as having come.
 */
static void warp_sync(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes) {
    struct warp_order *o = &c->warp[w->index];
    const uint32_t *members = reg_ptr(w, in->e);
    if (lanes)
        check_were_together(o, lanes | (members[__builtin_ctz(lanes)] & w->launched), w->launched, o->now);
}

static void join(uint32_t *to, const uint32_t *from, uint32_t n) {
    for (uint32_t v = 0; v < n; v++)
        to[v] = to[v] > from[v] ? to[v] : from[v];
}

/* All that `i` knows and has done. */
static void join_warp(uint32_t *to, const struct check_cta *c, uint32_t i) {
    join(to, c->warp[i].seen, c->cta->n_warps);
    to[i] = to[i] > c->warp[i].now ? to[i] : c->warp[i].now;
}

void check_release(struct check_cta *c, uint32_t barrier) {
    const struct cta_barrier *b = &c->cta->barriers[barrier];
    uint32_t n = c->cta->n_warps, *known = c->arrived[barrier];
    for (uint32_t i = 0; i < n; i++)
        if (b->whole_cta || b->waiting[i]) /* threads that have exited count as having come to a whole CTA's barrier */
            join_warp(known, c, i);
    for (uint32_t i = 0; i < n; i++) {
        const struct warp *w = &c->cta->warps[i];
        if (!b->waiting[i])
            continue;
        struct warp_order *o = &c->warp[i];
        join(o->seen, known, n);
        lanemask_t gone = b->whole_cta ? w->launched & ~w->live : 0;
        check_were_together(o, b->waiting[i] | gone, w->launched, o->now);
        o->now++;
    }
    memset(known, 0, sizeof c->arrived[barrier]);
}

/* ---- barriers ---- */

static uint16_t opcode_of(const struct inst *in) {
    uint32_t n;
    return isa_rows(&n)[in->row].op;
}

/* bar, not barrier: all threads of a warp must come, and to the same one (PTX ISA 9.7.13.1). */
static bool is_aligned(const struct inst *in) { return opcode_of(in) == OP_BAR || in->hints & HINT_ALIGNED; }

static void check_barrier(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                          const struct effects *fx) {
    uint32_t pc = check_pc(w, in);
    if (!fx->lanes || fx->lanes != lanes) /* the lanes that stop come again, by themselves */
        return;
    if (fx->barrier_mode == BARRIER_ARRIVE)
        join_warp(c->arrived[fx->barrier], c, w->index);
    if (lanes == w->live || !is_aligned(in))
        return;
    struct finding *f;
    for (uint32_t used = c->cta->barriers_used; used; used &= used - 1) {
        const struct cta_barrier *b = &c->cta->barriers[__builtin_ctz(used)];
        lanemask_t there = b->waiting[w->index];
        if (!there || b->inst[w->index] == in)
            continue;
        f = check_found(c, CHECK_DIFFERENT_BARRIERS, pc, check_pc(w, b->inst[w->index]));
        if (f) {
            f->thread = check_thread(w, __builtin_ctz(lanes));
            f->other_thread = check_thread(w, __builtin_ctz(there));
        }
        return;
    }
    if (!(f = check_found(c, CHECK_PARTIAL_BARRIER, pc, NO_PC)))
        return;
    f->thread = check_thread(w, __builtin_ctz(lanes));
    f->lanes = lanes;
    f->live = w->live;
}

/* ---- instructions ---- */

/* Texels are not followed one by one: a surface that is stored to counts as written. */
static void check_surface(struct check_cta *c, const struct warp *w, const struct inst *in, const struct effects *fx) {
    uint16_t op = opcode_of(in);
    if (fx->lanes && (op == OP_SUST || op == OP_SURED))
        check_all_written(c, w, fx->addr[__builtin_ctz(fx->lanes)]);
}

void check_before(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes) {
    check_path(c, w, lanes);
    if (in->kind == K_WARP && in->fn.warp == sys_malloc) /* its result may take the argument's register */
        memcpy(c->malloc_bytes, reg_ptr(w, in->a), sizeof c->malloc_bytes);
}

void check_after(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                 const struct effects *fx) {
    switch (in->kind) {
    case K_LOAD:
    case K_STORE:
    case K_ATOM:
        if (!fx->lanes || in->space == SPACE_PARAM || in->space == SPACE_LOCAL)
            return;
        if (fx->shared_lanes)
            check_shared(c, w, in, fx->shared_lanes, fx);
        check_device(c, w, in, fx->lanes & ~(fx->shared_lanes | fx->local_lanes), fx);
        return;
    case K_TEX:
        check_surface(c, w, in, fx);
        return;
    case K_BARRIER:
        check_barrier(c, w, in, lanes, fx);
        return;
    case K_WARPSYNC:
        warp_sync(c, w, in, fx->lanes);
        return;
    case K_WARP:
        if (in->fn.warp == sys_malloc)
            check_malloc(c, w, in, fx->lanes);
        else if (in->fn.warp == sys_free)
            check_heap_free(c, w, in, fx->lanes);
        return;
    default:
        return;
    }
}
