/* Decoupled affine computation: the hardware of "Decoupled Affine Computation for SIMT GPUs", section 4, as a unit of
 * the SM. One affine warp per SM (with dac.contexts, up to four) runs the affine stream for batches of CTAs;
 * isa/affine/engine.h computes its results. They wait in the affine tuple queue (ATQ). The address expansion unit and
 * the predicate expansion unit expand these results for each warp into the warp's own queues. The warp's instructions
 * take entries from these queues. When addresses are expanded, the lines that they access are prefetched into the L1
 * and stay locked until the warp reads them. docs/dac.md separates the paper's rules from this project's.
 *
 * This file has the affine warps, their batches of CTAs, and how the kernel's own warps take entries. */
#include "dac_host.h"
#include "dac_parts.h"
#include "decouple.h"
#include "timing/sm/unit_trace.h"
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct dac *d = calloc(1, sizeof *d);
    (void)sm;
    (void)ctx;
    if (!d)
        return NULL;
    d->cfg = cfg;
    d->free_line = d->wanted = NO_LINE;
    while (d->atq_mask + 1 < cfg->dac.atq)
        d->atq_mask = 2 * d->atq_mask + 1;
    d->atq = calloc(d->atq_mask + 1, sizeof *d->atq);
    if (!d->atq) {
        free(d);
        return NULL;
    }
    return d;
}

static void end_engines(struct dac *d) {
    atq_clear(d);
    supply_free(&d->supply);
    for (uint32_t w = 0; w < d->supply.n_warps && d->queue; w++)
        free(d->queue[w].record);
    free(d->queue);
    d->queue = NULL;
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        engine_free(d->stream[i].engine);
        d->stream[i].engine = NULL;
    }
    d->shape = NULL;
}

static void dac_free(void *u) {
    struct dac *d = u;
    end_engines(d);
    free(d->atq);
    free(d->line);
    free(d->unlock);
    free(d);
}

/* Returns the number of places in a warp's queue, at least 1: `all` places divided by the warp slots of the CTAs that
 * fit or, if the queue `shares`, by the warps that the SM has held. */
static uint32_t share(const struct dac *d, uint32_t all, bool shares) {
    const uint32_t warps = (shares ? d->most_held : sm_get_most_ctas(d->sm)) * d->shape->n_warps;
    return warps && all / warps ? all / warps : 1;
}

/* Divides the queues' places among the warps, when the SM has got more CTAs than before in this launch. A queue that is
 * longer than its new size receives nothing until it is shorter. */
static void divide_queues(struct dac *d) {
    const uint32_t held = (uint32_t)__builtin_popcountll(d->pending | d->serving);
    if (held <= d->most_held)
        return;
    d->most_held = held;
    d->size[QUEUE_ADDRESS] = share(d, d->cfg->dac.pwaq, d->cfg->dac.share_idle == DAC_SHARE_ALL);
    d->size[QUEUE_PREDICATE] = share(d, d->cfg->dac.pwpq, d->cfg->dac.share_idle != DAC_SHARE_NONE);
    for (uint32_t i = 0; i < SM_CTA_SLOTS; i++) { /* these depend on the sizes */
        d->cta[i].planned = false;
        d->cta[i].full[QUEUE_ADDRESS] = d->cta[i].full[QUEUE_PREDICATE] = false;
    }
}

static void listen(struct dac *d, bool on) {
    static const enum sm_hook hooks[] = {HOOK_CTA_START, HOOK_CTA_END, HOOK_BARRIER, HOOK_MAY_ISSUE,
                                         HOOK_TAKE,      HOOK_TICK,    HOOK_NEXT};
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        sm_unit_listen(d->sm, &unit_dac, hooks[i], on);
    sm_unit_listen(d->sm, &unit_dac, HOOK_LOOK, on && d->trace);
}

/* Gives an affine warp its engine, if it has none in this launch. Returns false if memory runs out. */
static bool has_engine(const struct dac *d, struct dac_stream *s) {
    if (!s->engine)
        s->engine = engine_new(sm_get_launch(d->sm), d->most_ctas ? d->most_ctas : 1, d->cfg->reconv.first);
    return s->engine != NULL;
}

/* Allocates what a launch needs, when the SM gets its first CTA. Returns false if memory runs out. */
static bool begin_launch(struct dac *d) {
    uint32_t fit = sm_get_most_ctas(d->sm);
    d->most_ctas = d->cfg->dac.batch && d->cfg->dac.batch < fit ? d->cfg->dac.batch : fit;
    d->most_ctas = d->most_ctas > AFFINE_CTAS ? AFFINE_CTAS : d->most_ctas;
    d->queue = calloc(sm_get_slots(d->sm), sizeof *d->queue);
    if (!has_engine(d, &d->stream[0]) || !d->queue || !supply_init(&d->supply, sm_get_slots(d->sm)))
        return false;
    d->shape = engine_shape(d->stream[0].engine);
    memset(d->filled, 0, sizeof d->filled);
    d->most_held = 0;
    return true;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct dac *d = u;
    const struct launch *l = sm_get_launch(sm);
    d->sm = sm;
    d->active = program_affine_stream(l->program) != 0;
    assert(l->program->coverage.tuples <= d->cfg->dac.tuples); /* the pass guarantees this */
    if (!d->l1 && !(d->l1 = lsu_join(sm_get_lsu(sm), &dac_requests, d)))
        return false;
    d->trace = sm_unit_state(sm, &unit_trace);
    listen(d, d->active);
    d->accounted = now;
    d->head = d->tail = d->due = 0;
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        d->stream[i] = (struct dac_stream){.context = NO_CONTEXT, .enq_since = NO_TIME};
    d->n_idle = d->cfg->dac.contexts;
    d->pending = d->serving = d->sent_to[QUEUE_ADDRESS] = d->sent_to[QUEUE_PREDICATE] = 0;
    d->came_at = UINT64_MAX;
    for (int k = 0; k < EXPANDERS; k++) {
        d->expander[k].turn = SM_CTA_SLOTS - 1; /* initial value, with which the first CTA is served first */
        d->expander[k].retry_at = UINT64_MAX;
    }
    d->out_of_memory = false;
    return true;
}

static void launch_end(void *u, struct sm *sm) {
    struct dac *d = u;
    if (!d->shape)
        return;
    dac_account(d, sm_get_accounted(sm));
    for (uint32_t w = 0; w < d->supply.n_warps && d->queue; w++)
        for (uint32_t i = 0; i < d->queue[w].n; i++)
            dac_release(d, dac_record_at(&d->queue[w], i), false);
    end_engines(d);
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct dac *d = u;
    struct dac_cta *c = &d->cta[cta];
    uint32_t w;
    if (!d->shape && !begin_launch(d)) {
        end_engines(d);
        d->out_of_memory = true;
        return;
    }
    dac_account(d, now);
    memset(c, 0, offsetof(struct dac_cta, plan));
    c->n_warps = d->shape->n_warps;
    for (struct warp_walk i = warp_walk(&sm_get_cta(sm, cta)->warps);
         warp_next(&i, &sm_get_cta(sm, cta)->warps, WARP_WORDS, &w);)
        c->slot[sm_get_warp(sm, w)->index] = (uint16_t)w;
    d->pending |= (uint64_t)1 << cta;
    divide_queues(d);
    d->came_at = now;
    d->dirty = true;
}

static void end_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct dac *d = u;
    struct dac_cta *c = &d->cta[cta];
    (void)sm;
    dac_account(d, now);
    for (uint32_t w = 0; w < c->n_warps; w++)
        for (int q = 0; q < N_QUEUES; q++)
            assert(!supply_count(&d->supply, c->slot[w], (enum supply_queue)q) && "all that was sent has been taken");
    d->pending &= ~((uint64_t)1 << cta);
    d->serving &= ~((uint64_t)1 << cta);
    d->sent_to[QUEUE_ADDRESS] &= d->serving;
    d->sent_to[QUEUE_PREDICATE] &= d->serving;
    d->dirty = true;
}

static void barrier(void *u, struct sm *sm, uint32_t cta, uint32_t number, uint64_t now) {
    struct dac *d = u;
    (void)sm, (void)number, (void)now;
    if (cta < SM_CTA_SLOTS)
        d->cta[cta].passed++;
    d->dirty = true;
}

static bool is_enq(const struct inst *in) {
    return in->kind == K_ENQ_DATA || in->kind == K_ENQ_ADDR || in->kind == K_ENQ_PRED;
}

static bool next_sends(const struct dac_stream *s) {
    return !s->repeat && !engine_done(s->engine) && is_enq(engine_next(s->engine));
}

/* Gives an idle affine warp its next batch: CTAs for which no stream has begun (section 4.1). */
static void begin_batch(struct dac *d, struct dac_stream *s, uint64_t now) {
    struct dim3 id[AFFINE_CTAS];
    uint32_t n = 0;
    for (; d->pending && n < d->most_ctas; d->pending &= d->pending - 1) {
        s->batch[n] = (uint32_t)__builtin_ctzll(d->pending);
        id[n] = sm_get_cta(d->sm, s->batch[n])->id;
        n++;
    }
    if (!has_engine(d, s) || !engine_start(s->engine, id, n)) {
        d->out_of_memory = d->dirty = true; /* memory has run out; the next tick reports it */
        return;
    }
    s->n_batch = n;
    s->numbers += s->sent;
    s->waits = s->repeat = s->sent = 0;
    s->sends = next_sends(s);
    for (uint32_t i = 0; i < n; i++) {
        struct dac_cta *c = &d->cta[s->batch[i]];
        d->serving |= (uint64_t)1 << s->batch[i];
        c->index = i;
        c->seq[0] = c->seq[1] = d->tail;
    }
    d->n.batches++;
    d->n.batch_ctas += n;
    const struct sm_context_start how = {.name = "affine warp",
                                         .stream = program_affine_stream(sm_get_launch(d->sm)->program),
                                         .lanes = 1,
                                         .driven = true};
    s->context = sm_context_open(d->sm, &unit_dac, &how, now);
    d->n_idle -= s->context != NO_CONTEXT;
    d->out_of_memory |= s->context == NO_CONTEXT;
}

/* Begins batches while some CTAs have no stream and an affine warp is idle. The SM receives one CTA per cycle. The
 * affine warp waits until no further CTA arrives. Otherwise it would begin with the first CTA, and the later CTAs would
 * wait until the affine stream for the first CTA ends. */
static void begin_batches(struct dac *d, uint64_t now) {
    if (d->pending && d->n_idle && d->came_at == now) {
        d->dirty = true; /* try again in the next cycle */
        return;
    }
    for (uint32_t i = 0; d->pending && d->n_idle && i < d->cfg->dac.contexts && !d->out_of_memory; i++)
        if (d->stream[i].context == NO_CONTEXT)
            begin_batch(d, &d->stream[i], now);
}

/* Returns the affine warp in this warp slot, or NULL. */
static struct dac_stream *stream_of(struct dac *d, uint32_t slot) {
    for (uint32_t i = 0; slot >= sm_warp_slots(&d->cfg->sm) && i < d->cfg->dac.contexts; i++)
        if (d->stream[i].context == slot)
            return &d->stream[i];
    return NULL;
}

static uint8_t affine_may_issue(struct dac *d, struct dac_stream *s, const struct sm_candidate *c, uint64_t now) {
    if (atq_has_predicate(d, s))
        return PATH_QUEUE;
    s->waits = 0; /* once a predicate is expanded, it remains expanded */
    if (!is_enq(c->in) || s->repeat)
        return PATH_READY;
    return !atq_has_room(d) || (c->in->kind == K_ENQ_PRED && dac_enq_waits(d, s, now)) ? PATH_QUEUE : PATH_READY;
}

/* Returns true if the data of all entries that these lanes take next have arrived. */
static bool data_there(struct dac *d, uint32_t slot, rowmask_t lanes) {
    const struct supply_ring *r = &d->supply.ring[slot][QUEUE_ADDRESS];
    const struct dac_queue *q = &d->queue[slot];
    for (uint32_t i = 0; i < r->n && lanes; i++) {
        rowmask_t l = r->e[(r->first + i) & (r->cap - 1)].lanes & lanes;
        struct dac_record *rec = dac_record_at(q, i);
        if (l && rec->waiting) {
            d->n.data_late += !rec->late;
            rec->late = true;
            return false;
        }
        lanes &= ~l;
    }
    return true;
}

static uint8_t starve(struct dac *d, uint32_t slot, enum supply_queue q) {
    d->n.queue_empty[q] += !d->queue[slot].starved[q];
    uint32_t n_paths;
    sm_get_paths(d->sm, slot, &n_paths);
    /* perhaps no path of the warp can continue now; then its queues may exceed their size (is_stuck()) */
    d->dirty |= !d->queue[slot].starved[q] || n_paths > 1;
    d->queue[slot].starved[q] = true;
    return PATH_QUEUE;
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct dac *d = u;
    if (!d->shape)
        return PATH_QUEUE; /* memory has run out; the next tick reports it */
    struct dac_stream *s = stream_of(d, c->warp);
    if (s)
        return affine_may_issue(d, s, c, now);
    if (!(c->ti->flags & TIMED_DEQ))
        return PATH_READY;
    const struct program *p = sm_get_program(sm)->program;
    const struct inst_info *info = &p->info[c->pc];
    struct warp *w = sm_get_warp(sm, c->warp);
    rowmask_t m = c->lanes;
    if (info->guard_site) {
        rowmask_t *hidden = (rowmask_t *)(void *)(w->bank[0] + p->deq_predicate);
        if (m & ~supply_ready(&d->supply, c->warp, QUEUE_PREDICATE))
            return starve(d, c->warp, QUEUE_PREDICATE);
        supply_predicate(&d->supply, c->warp, info->guard_site - 1u, m, hidden, false);
    }
    m = guard_lanes(w, c->in, m);
    if (!info->site || !m)
        return PATH_READY;
    const uint8_t kind = p->sites[info->site - 1u].kind;
    if (m & ~supply_ready(&d->supply, c->warp, queue_of(kind)))
        return starve(d, c->warp, queue_of(kind));
    return kind != SITE_DATA || data_there(d, c->warp, m) ? PATH_READY : PATH_QUEUE;
}

/* Returns true if these lanes are exactly the lanes of the first entry, and all lines of this entry are locked. */
static bool takes_first(const struct dac *d, uint32_t slot, rowmask_t lanes) {
    const struct dac_queue *q = &d->queue[slot];
    const struct dac_record *rec = &q->record[q->first];
    return rec->lanes == lanes && rec->locked && rec->line != NO_LINE;
}

/* Dequeues the addresses of a load, a store or an access to shared memory. Returns true if the access unlocks its
 * lines. */
static bool take_address(struct dac *d, const struct sm_candidate *c, uint32_t site, rowmask_t m) {
    const struct program *p = sm_get_program(d->sm)->program;
    struct warp *w = sm_get_warp(d->sm, c->warp);
    struct dac_queue *q = &d->queue[c->warp];
    bool by_access = takes_first(d, c->warp, m), unlocks = by_access;
    rowmask_t wrong =
        supply_addresses(&d->supply, d->shape, c->warp, w->index, site, m, (uint64_t *)reg_ptr(w, p->deq_address));
    assert(!wrong);
    (void)wrong;
    /* an entry leaves the queue when its last lane and all earlier entries have been taken */
    for (; q->n > supply_count(&d->supply, c->warp, QUEUE_ADDRESS); by_access = false) {
        dac_release(d, &q->record[q->first], by_access);
        dac_pop(d, c->warp);
    }
    return unlocks;
}

/* Updates the counters after predicates were taken from the warp's queue. */
static void count_masks(struct dac *d, uint32_t slot) {
    uint32_t *used = &d->queue[slot].used[QUEUE_PREDICATE], left = supply_count(&d->supply, slot, QUEUE_PREDICATE);
    d->filled[QUEUE_PREDICATE] -= *used - left;
    *used = left;
}

static bool take(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct dac *d = u;
    const struct program *p = sm_get_program(sm)->program;
    const struct inst_info *info = &p->info[c->pc];
    struct warp *w = sm_get_warp(sm, c->warp);
    rowmask_t *hidden = (rowmask_t *)(void *)(w->bank[0] + p->deq_predicate), m = c->lanes;
    dac_account(d, now);
    d->dirty = true;
    if (info->guard_site) {
        supply_predicate(&d->supply, c->warp, info->guard_site - 1u, m, hidden, true);
        count_masks(d, c->warp);
        d->n.decoupled[SITE_PRED]++;
    }
    m = guard_lanes(w, c->in, m);
    if (!info->site || !m)
        return false;
    const uint8_t kind = p->sites[info->site - 1u].kind;
    d->n.decoupled[kind]++;
    if (kind != SITE_PRED)
        return take_address(d, c, info->site - 1u, m);
    supply_predicate(&d->supply, c->warp, info->site - 1u, m, hidden, true);
    count_masks(d, c->warp);
    return false;
}

static void count_step(struct dac *d, const struct affine_step *s) {
    if (!s->counts)
        return;
    d->n.instructions++;
    d->n.by_class[s->class]++;
    d->n.fallbacks += s->fallbacks;
    d->n.warp_divergences += s->splits_warps;
    d->n.thread_divergences += s->splits_threads;
}

enum { TUPLE_WORDS = 4 }; /* number of words of a tuple: one base, and three offsets for tid.x, tid.y and tid.z */

/* Returns the number of warps whose predicates are computed on the SIMT lanes. Each of these warps costs one issue
 * slot. */
static uint32_t lane_compares(const struct dac *d, uint32_t n_ctas, const struct affine_step *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; s->entries && i < n_ctas * d->shape->n_warps; i++)
        n += s->entries[i].lanes && s->entries[i].kind == SITE_PRED && dac_compare(d, &s->entries[i]) == COMPARE_LANES;
    return n;
}

/* Sets the number of lanes that compute and of words that are accessed in one issue slot of a step. A scalar (also a
 * scalar of one CTA) uses one lane. A base with three offsets uses four lanes. A computation for each thread uses all
 * lanes. A step that only sends or branches reads tuples but computes nothing. */
static void measure(const struct dac *d, struct dac_stream *from, const struct affine_step *s) {
    const uint8_t lanes[N_STEP_CLASSES] = {1, 1, TUPLE_WORDS, 1, (uint8_t)d->cfg->sm.warp_size};
    from->lanes = lanes[s->class];
    from->words = s->class == STEP_CONTROL ? TUPLE_WORDS : from->lanes;
}

/* Reports the fault of a load in the affine stream, with the thread that caused it. */
static bool fault(const struct dac *d, const struct dac_stream *from, const struct affine_step *s, struct effects *fx) {
    struct warp *w = sm_get_warp(d->sm, from->context);
    w->cta->id = sm_get_cta(d->sm, from->batch[s->fault_cta])->id;
    w->index = s->fault_warp;
    fx->fault = s->fault;
    fx->fault_text = NULL;
    fx->lanes = 0; /* the lanes of the stream's own warp do not cause the fault */
    fx->fault_lane = (uint8_t)s->fault_lane;
    fx->fault_address = s->fault_address;
    fx->fault_bytes = (uint8_t)s->fault_bytes;
    fx->space = s->fault_space;
    return true;
}

/* Counts the loads of all warps, for the statistic of the fraction of decoupled loads. */
static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct dac *d = u;
    (void)sm;
    /* The instruction may have ended its path, or moved it to a barrier. Then another path of the warp issues, which
     * may need more entries than the queue holds, so the queues are checked again. */
    d->dirty |= d->shape && (d->queue[i->warp].starved[QUEUE_ADDRESS] | d->queue[i->warp].starved[QUEUE_PREDICATE]);
    d->n.loads += i->in->kind == K_LOAD && i->phase != ISSUE_PERFORMED &&
                  (i->in->space == SPACE_GLOBAL || i->in->space == SPACE_LOCAL || i->in->space == SPACE_GENERIC);
}

/* Makes the other affine warps check again whether they may issue, when an affine warp has filled the ATQ. Then no
 * other affine warp may send an entry in this cycle. */
static void atq_filled(struct dac *d, const struct dac_stream *by, uint64_t now) {
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        if (&d->stream[i] != by && d->stream[i].context != NO_CONTEXT)
            sm_reconsider(d->sm, d->stream[i].context, now);
}

static bool execute(void *u, struct sm *sm, const struct sm_candidate *c, struct effects *fx, uint64_t now) {
    struct dac *d = u;
    struct dac_stream *from = stream_of(d, c->warp);
    struct affine_step s;
    dac_account(d, now);
    dac_enq_end(d, from, now);
    fx->taken = 0;
    fx->n_targets = 0;
    d->dirty = true;
    if (from->repeat) {
        from->repeat--;
    } else {
        assert(engine_next(from->engine) == c->in);
        if (!engine_step(from->engine, &s))
            return fault(d, from, &s, fx);
        count_step(d, &s);
        measure(d, from, &s);
        const uint64_t slots = affine_issue_slots(s.slots, lane_compares(d, from->n_batch, &s));
        from->repeat = slots ? (uint32_t)slots - 1 : 0;
        d->n.slots += s.counts ? 1 + from->repeat : 0;
        from->waits = s.waits ? from->numbers + s.waits : 0;
        from->sent = s.number ? s.number : from->sent;
        if (s.entries && !atq_put(d, from, &s)) {
            fx->fault = FAULT_MEMORY;
            return true;
        }
        if (s.entries && !atq_has_room(d))
            atq_filled(d, from, now);
    }
    fx->lanes = UINT32_MAX >> (WARP_LANES - from->lanes);
    d->n.tuple_reads += c->ti->read_words * from->words;
    d->n.tuple_writes += c->ti->write_words * from->words;
    from->sends = next_sends(from);
    const struct inst *next = from->repeat || engine_done(from->engine) ? c->in : engine_next(from->engine);
    sm_context_goto(sm, c->warp, (uint32_t)(next - sm_get_program(sm)->program->code));
    return true;
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct dac *d = u;
    if (!d->dirty && now < d->due)
        return;
    if (d->out_of_memory) {
        sm_no_memory(sm, now);
        return;
    }
    if (!d->dirty && now < dac_expand_next(d) && now < dac_ask_next(d, now - 1) && now < dac_enq_next(d))
        return;
    dac_account(d, now);
    d->dirty = false;
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++) {
        const struct dac_stream *s = &d->stream[i];
        if (s->context != NO_CONTEXT && engine_done(s->engine) && !s->repeat)
            sm_context_close(sm, s->context, now);
    }
    begin_batches(d, now);
    dac_expand(d, now);
    dac_ask(d, now);
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        if (d->stream[i].context != NO_CONTEXT && d->stream[i].enq_since != NO_TIME)
            sm_reconsider(sm, d->stream[i].context, now);
}

static void context_end(void *u, struct sm *sm, uint32_t warp, uint64_t now) {
    struct dac *d = u;
    (void)sm;
    dac_account(d, now);
    stream_of(d, warp)->context = NO_CONTEXT;
    d->n_idle++;
    d->dirty = true;
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    struct dac *d = u;
    (void)sm;
    d->due = 0;
    if (d->dirty || d->out_of_memory)
        return now + 1;
    uint64_t a = dac_expand_next(d), b = dac_ask_next(d, now);
    d->due = a < b ? a : b;
    d->due = dac_enq_next(d) < d->due ? dac_enq_next(d) : d->due;
    return d->due > now ? d->due : now + 1;
}

/* Returns how long a record may wait for its locks, in cycles. The lines of a record may wait one after another, each
 * up to the time limit. */
static uint64_t patience(const struct config *cfg) { return (uint64_t)cfg->dac.lock_timeout * (WARP_LANES + 1); }

const struct sm_unit_ops unit_dac = {
    .name = "dac",
    .make = make,
    .free = dac_free,
    .launch = launch,
    .launch_end = launch_end,
    .cta_start = begin_cta,
    .cta_end = end_cta,
    .barrier = barrier,
    .may_issue = may_issue,
    .take = take,
    .issued = issued,
    .execute = execute,
    .context_end = context_end,
    .tick = tick,
    .look = dac_look,
    .next = next,
    .patience = patience,
    .stats = dac_stats,
    .describe = dac_describe,
};

const struct mechanism mechanism_dac = {
    .one_row = "sends addresses and predicates to rows of 32 lanes",
    .name = "dac",
    .help = "decoupled affine computation: one affine warp computes addresses and predicates for all warps",
    .paper = "Wang and Lin, Decoupled Affine Computation for SIMT GPUs, ISCA 2017",
    .kind = MECHANISM_EXTENSION,
    .groups = GROUPS("units for affine values", "ways to load ahead into the L1"),
    .unit = &unit_dac,
    .passes = PASSES(&pass_decouple),
    .interp = dac_interp,
    .interpreted = dac_interpreted,
    .count = dac_count,
    .remark = dac_remark,
    .options = PREFIXES("dac."),
    .statistics = PREFIXES("dac."),
};
