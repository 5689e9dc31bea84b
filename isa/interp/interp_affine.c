/* Runs the affine warp of a CTA when one of the CTA's own warps needs a queue entry (interp_affine.h). An entry holds
 * the addresses of an access or a predicate. The affine warp computes for a batch of CTAs, but only its own CTA takes
 * the entries. */
#include "interp_affine.h"
#include <stdlib.h>

enum {
    AHEAD = 16,         /* maximum average number of waiting queue entries per warp */
    COMPUTE_STEPS = 64, /* number of steps that together count as one step if they only compute or branch */
    MAX_STEPS = 4096,   /* maximum number of steps before the warp's turn ends, so that a launch can be stopped */
};

struct cta_affine *cta_affine_new(const struct launch *l, uint32_t batch, const struct reconv_cfg *cfg) {
    struct cta_affine *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->batch = batch < 1 ? 1 : batch > AFFINE_CTAS ? AFFINE_CTAS : batch;
    a->engine = engine_new(l, a->batch, cfg->first);
    a->found = calloc(l->program->n_sites + 1, sizeof *a->found);
    if (!a->found || !a->engine || !supply_init(&a->supply, engine_shape(a->engine)->n_warps)) {
        cta_affine_free(a);
        return NULL;
    }
    return a;
}

void cta_affine_free(struct cta_affine *a) {
    if (!a)
        return;
    free(a->found);
    supply_free(&a->supply);
    engine_free(a->engine);
    free(a);
}

void cta_affine_start(struct cta_affine *a, const struct cta *c) {
    const struct dim3 g = c->launch->grid;
    const uint64_t all = (uint64_t)g.x * g.y * g.z, first = c->linear_id / a->batch * a->batch;
    struct dim3 ids[AFFINE_CTAS];
    uint32_t n = 0;
    for (; n < a->batch && first + n < all; n++) {
        uint64_t k = first + n;
        ids[n] = (struct dim3){(uint32_t)(k % g.x), (uint32_t)(k / g.x % g.y), (uint32_t)(k / g.x / g.y)};
    }
    a->own = (uint32_t)(c->linear_id - first);
    a->ahead = AHEAD * a->supply.n_warps;
    a->full = a->faulted = false;
    supply_clear(&a->supply);
    engine_start(a->engine, ids, n); /* if out of memory, the first step reports it */
    engine_send_to(a->engine, &a->supply, a->own);
}

void cta_affine_let_run(struct cta_affine *a) {
    if (a->full && a->ahead <= UINT32_MAX / 2)
        a->ahead *= 2;
    a->full = false;
}

/* Reports a fault in a load of the affine stream in the same way as a fault of the kernel's own load. */
static bool affine_fault(struct cta_run *r, const struct affine_step *s) {
    struct cta_affine *a = r->affine;
    r->fx.fault = s->fault;
    r->fx.fault_text = NULL;
    r->fx.lanes = 0; /* the lanes of the kernel's own warp do not execute the load */
    r->fx.fault_lane = (uint8_t)s->fault_lane;
    r->fx.fault_address = s->fault_address;
    r->fx.fault_bytes = (uint8_t)s->fault_bytes;
    r->fx.space = s->fault_space;
    r->fault_pc = s->pc;
    r->fault_warp = s->fault_warp;
    a->faulted = true;
    return false;
}

/* Counts issue slots. Each issue slot counts as a warp instruction, as in the timing model. */
static void count_slots(struct cta_run *r, uint64_t slots) {
    r->n.affine.slots += slots;
    r->n.warp_instructions += slots;
    r->n.path_sum += slots;
}

static void count(struct cta_run *r, const struct affine_step *s) {
    const struct cta_affine *a = r->affine;
    struct interp_affine_stats *n = &r->n.affine;
    if (!s->counts || a->own) /* a batch is counted only for its first CTA */
        return;
    n->instructions++;
    count_slots(r, affine_issue_slots(s->slots, 0));
    n->by_class[s->class]++;
    n->fallbacks += s->fallbacks;
    n->warp_divergences += s->splits_warps;
    n->thread_divergences += s->splits_threads;
}

static void count_all(struct cta_run *r, const struct affine_tally *t) {
    struct interp_affine_stats *n = &r->n.affine;
    uint64_t compared[N_COMPARES] = {0};
    for (uint8_t k = 0; k < N_COMPARES; k++)
        compared[affine_compare_by(r->affine->corners, k)] += t->compared[k];
    for (int k = 0; k < N_COMPARES; k++)
        n->compared[k] += compared[k];
    /* true if the batch's instructions have been counted before, for another CTA of the batch; only the comparisons per
     * lane are counted for each CTA */
    const bool counted = r->affine->own;
    count_slots(r, affine_issue_slots(counted ? 0 : t->slots, compared[COMPARE_LANES]));
    if (counted)
        return;
    n->instructions += t->n;
    for (int k = 0; k < N_STEP_CLASSES; k++)
        n->by_class[k] += t->by_class[k];
    n->fallbacks += t->fallbacks;
    n->warp_divergences += t->warp_divergences;
    n->thread_divergences += t->thread_divergences;
}

/* Runs the affine stream up to and including an instruction that does more than compute or branch, but at most
 * COMPUTE_STEPS instructions. Entries that the stream sends to this CTA go to the queues. */
static bool step(struct cta_run *r) {
    struct cta_affine *a = r->affine;
    struct affine_step s = {0};
    struct affine_tally t = {0};
    const bool ok = engine_compute_on(a->engine, COMPUTE_STEPS, &t, &s);
    if (t.n)
        count_all(r, &t);
    if (!ok)
        return affine_fault(r, &s);
    if (t.sent || t.n == COMPUTE_STEPS)
        return true;
    if (!engine_step(a->engine, &s))
        return affine_fault(r, &s);
    count(r, &s);
    return true;
}

static const char *kind_name(uint8_t kind) {
    return kind == SITE_DATA ? "the address of a load" : kind == SITE_ADDR ? "an address" : "a predicate";
}

/* Reports that the affine stream has ended although a lane still needs an entry. */
static bool report_missing_entry(struct cta_run *r, const struct warp *w, const struct inst *in, uint32_t site,
                                 rowmask_t lanes) {
    const struct program *p = w->program;
    const struct program_site *s = &p->sites[site];
    const struct dim3 id = r->cta->id;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    r->fx.fault = FAULT_DEADLOCK;
    r->fx.fault_text = NULL;
    r->fx.fault_lane = (uint8_t)__builtin_ctz(lanes);
    if (!out)
        return false;
    fprintf(out,
            "deadlock in kernel '%s': CTA (%u,%u,%u), warp %u, lanes 0x%08x wait at %s:%u for %s (site %u), and the "
            "affine stream ended without sending it\n",
            p->name, id.x, id.y, id.z, w->index, lanes, p->file ? p->file : "?", p->info[in - p->code].line,
            kind_name(s->kind), site);
    fprintf(out, "  it is sent by line %u, in the affine stream at PC %u\n", s->line, s->enq_pc);
    fclose(out);
    r->fx.fault_text = text;
    return false;
}

/* Runs the affine warp until all lanes in `lanes` have an entry in queue `q` of the warp. */
static bool run_until(struct cta_run *r, const struct warp *w, const struct inst *in, uint32_t site,
                      enum supply_queue q, rowmask_t lanes) {
    struct cta_affine *a = r->affine;
    for (uint32_t steps = 0; lanes & ~supply_ready(&a->supply, w->index, q); steps++) {
        if (engine_done(a->engine))
            return report_missing_entry(r, w, in, site, lanes & ~supply_ready(&a->supply, w->index, q));
        a->full |= a->supply.total >= a->ahead;
        if (a->full || steps == MAX_STEPS)
            return false;
        if (!step(r))
            return false;
    }
    return true;
}

static inline bool wait_for(struct cta_run *r, const struct warp *w, const struct inst *in, uint32_t site,
                            enum supply_queue q, rowmask_t lanes) {
    return !(lanes & ~supply_ready(&r->affine->supply, w->index, q)) || run_until(r, w, in, site, q, lanes);
}

static bool report_wrong_site(struct cta_run *r, const struct warp *w, uint32_t site, rowmask_t lanes) {
    const struct program_site *s = &w->program->sites[site];
    fx_fault_text(&r->fx, FAULT_UNSUPPORTED, __builtin_ctz(lanes),
                  "internal error: lanes 0x%08x take %s from site %u (line %u), but the entry is of another site",
                  lanes, kind_name(s->kind), site, s->line);
    return false;
}

bool cta_affine_take(struct cta_run *r, struct warp *w, const struct inst *in, rowmask_t lanes) {
    struct cta_affine *a = r->affine;
    const struct program *p = w->program;
    const struct inst_info *i = &p->info[in - p->code];
    struct interp_affine_stats *n = &r->n.affine;
    rowmask_t *hidden = (rowmask_t *)(void *)(w->bank[0] + p->deq_predicate), m, wrong = 0;
    uint32_t site = i->guard_site - 1u;
    if (i->guard_site && !i->site && supply_predicate_whole(&a->supply, w->index, site, lanes, hidden)) {
        n->predicates++;
        return true;
    }
    r->fx.fault = FAULT_NONE;
    if (i->guard_site) { /* the predicate is read now, and removed only when all needed entries have arrived */
        if (!wait_for(r, w, in, site, QUEUE_PREDICATE, lanes))
            return false;
        if ((wrong = supply_predicate(&a->supply, w->index, site, lanes, hidden, !i->site)))
            return report_wrong_site(r, w, site, wrong);
        n->predicates++;
    }
    if (!i->site)
        return true;
    m = guard_lanes(w, in, lanes);
    if (m && !wait_for(r, w, in, i->site - 1u, queue_of(p->sites[i->site - 1u].kind), m)) {
        n->predicates -= i->guard_site != 0;
        return false;
    }
    if (i->guard_site)
        supply_predicate(&a->supply, w->index, site, lanes, hidden, true);
    if (!m)
        return true;
    site = i->site - 1u;
    if (p->sites[site].kind == SITE_PRED) {
        wrong = supply_predicate(&a->supply, w->index, site, m, hidden, true);
        n->predicates++;
    } else {
        wrong = supply_addresses(&a->supply, engine_shape(a->engine), w->index, w->index, site, m,
                                 reg_ptr(w, p->deq_address));
        n->loads += p->sites[site].kind == SITE_DATA;
        n->addresses += p->sites[site].kind == SITE_ADDR;
    }
    return wrong ? report_wrong_site(r, w, site, wrong) : true;
}

static uint32_t site_of(const struct warp *w, const struct inst *in) {
    return w->program->info[in - w->program->code].site - 1u;
}

bool cta_affine_wait(struct cta_run *r, const struct warp *w, const struct inst *in) {
    r->fx.fault = FAULT_NONE;
    return wait_for(r, w, in, site_of(w, in), QUEUE_ADDRESS, LANES_ALL);
}

/* Returns the host address of the first of 16 elements, `step` bytes apart; NULL if they are not aligned or not in one
 * allocation. */
static unsigned char *elements(const struct cta_run *r, uint64_t first, int64_t step, const struct inst *in,
                               uint32_t *found) {
    enum { FAR = 1 << 24 };
    const uint64_t below = step < 0 ? (uint64_t)(-15 * step) : 0, above = step > 0 ? (uint64_t)(15 * step) : 0;
    if (step > FAR || step < -FAR || (first | (uint64_t)step) & (in->msize - 1u))
        return NULL;
    const struct allocation *a = mem_find(r->cta->launch->memory, first - below, below + above + in->msize, found);
    return a && !(in->kind == K_STORE && a->read_only) ? a->host + (first - a->begin) : NULL;
}

/* Copies n bytes per half warp. Each copy has its own code location, so that hardware prefetchers detect its stride. */
static inline __attribute__((always_inline)) void copy_rows(unsigned char *reg, unsigned char *const half[2], bool load,
                                                            unsigned n) {
    if (load) {
        memcpy(reg, half[0], n);
        memcpy(reg + n, half[1], n);
    } else {
        memcpy(half[0], reg, n);
        memcpy(half[1], reg + n, n);
    }
}

/* Copies lane by lane, so that the last writer of an address wins. */
static inline __attribute__((always_inline)) void copy_lanes(unsigned char *reg, unsigned char *const half[2],
                                                             int64_t step, bool load, unsigned size) {
    for (unsigned h = 0; h < 2; h++) {
        unsigned char *m = half[h];
        for (unsigned l = 0; l < 16; l++, reg += size, m += step)
            if (load)
                memcpy(reg, m, size);
            else
                memcpy(m, reg, size);
    }
}

static void copy(unsigned char *reg, unsigned char *const half[2], int64_t step, const struct inst *in) {
    const bool load = in->kind == K_LOAD;
    if (in->msize == 4 && step == 4)
        copy_rows(reg, half, load, 16 * 4);
    else if (step == in->msize)
        copy_rows(reg, half, load, 16 * 8);
    else if (in->msize == 4)
        copy_lanes(reg, half, step, load, 4);
    else
        copy_lanes(reg, half, step, load, 8);
}

bool cta_affine_row(struct cta_run *r, struct warp *w, const struct inst *in) {
    struct cta_affine *a = r->affine;
    const struct affine_shape *shape = engine_shape(a->engine);
    const struct affine_entry *e = supply_first(&a->supply, w->index, QUEUE_ADDRESS);
    const uint32_t site = site_of(w, in);
    const int64_t step = (int64_t)e->at.off[0];
    if (e->lanes != LANES_ALL || e->site != site || e->exact || !shape->rows[w->index])
        return false;
    unsigned char *half[2];
    for (uint32_t h = 0; h < 2; h++)
        if (!(half[h] = elements(r, affine_at(&e->at, shape, w->index, 16 * h), step, in, &a->found[site])))
            return false;
    copy(reg_ptr(w, in->kind == K_LOAD ? in->d : in->b), half, step, in);
    supply_drop_first(&a->supply, &a->supply.ring[w->index][QUEUE_ADDRESS]);
    r->n.affine.loads += w->program->sites[site].kind == SITE_DATA;
    r->n.affine.addresses += w->program->sites[site].kind == SITE_ADDR;
    return true;
}

/* Reports an entry that was sent but never taken. */
static enum warp_end report_leftover(struct cta_run *r) {
    const struct cta_affine *a = r->affine;
    const struct program *p = r->cta->launch->program;
    for (uint32_t w = 0; w < a->supply.n_warps; w++)
        for (int q = 0; q < N_QUEUES; q++) {
            const struct affine_entry *e = supply_first(&a->supply, w, q);
            if (!e)
                continue;
            const struct program_site *s = &p->sites[e->site];
            fx_fault_text(&r->fx, FAULT_UNSUPPORTED, __builtin_ctz(e->lanes),
                          "internal error: %s was sent to lanes 0x%08x from site %u (line %u) and never taken",
                          kind_name(s->kind), e->lanes, e->site, s->line);
            r->fault_pc = s->deq_pc;
            r->fault_warp = w;
            return WARP_FAULT;
        }
    return WARP_DONE;
}

enum warp_end cta_affine_finish(struct cta_run *r) {
    for (uint32_t steps = 0; !engine_done(r->affine->engine); steps++) {
        if (steps == MAX_STEPS)
            return WARP_SPENT;
        if (!step(r))
            return WARP_FAULT;
    }
    return report_leftover(r);
}
