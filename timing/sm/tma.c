/* The tensor memory accelerator. Copies start in order. Each sends its requests in the order of its runs: a copy into
 * shared memory reads lines of global memory, and each line then passes the banks; a copy into global memory reads
 * shared memory and then writes. Requests of a copy into the shared memory of another CTA are not modelled: such a CTA
 * has the data when the instruction executes. */
#include "tma.h"
#include "isa/decode.h"
#include "isa/exec/exec_mbarrier.h"
#include "isa/machine/lazy.h"
#include "stages.h"
#include "unit_access.h"
#include <stdlib.h>

enum { LINE = 128, CHUNK = 16, NO_SLOT = UINT32_MAX, SINCE_MAX = UINT32_MAX };

/* A bulk copy that is not complete. */
struct copy {
    struct bulk_job job;
    struct copy *next;
    struct cta *cta; /* NULL: it has ended */
    uint32_t slot;   /* warp slot; NO_SLOT: the CTA has ended */
    uint32_t since;  /* groups that the lane has closed since the copy, its own included */
    uint64_t begun;
    uint64_t ready;   /* cycle of the first request */
    uint32_t run, at; /* the next run to send, and the number of its bytes that have been sent */
    uint32_t pending; /* number of requests in flight */
    /* reads: number of runs that read shared memory and have not been sent; reads_pending: requests of such runs in
     * flight */
    uint32_t reads, reads_pending;
};

struct counts {
#define COUNT_FIELDS
#include "tma_stats.def"
};
static const struct stat_row rows[] = {
#define COUNT_ROWS struct counts
#include "tma_stats.def"
};

struct tma {
    const struct tma_cfg *cfg;
    struct sm *sm;
    struct bulk_sink sink;
    struct copy *first, **last; /* in order of issue */
    struct copy *sends;         /* oldest copy that has requests to send */
    uint32_t n, waiting;        /* number of copies; number of copies that have requests to send */
    uint64_t started;           /* cycle in which the last copy sends its first request */
    uint64_t busy_since;
    bool refused;      /* a warp waits for room */
    bool used;         /* a copy has begun since the last drop() */
    uint32_t accepted; /* value of sm_memory.accepted when the unit last sent a request */
    uint32_t n_free;
    uint16_t free[TMA_REQUESTS];
    struct {
        struct copy *copy;
        bool reads_shared;
    } request[TMA_REQUESTS];
    struct counts n_of;
};

static void *tma_make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct tma *t = lazy_new(sizeof *t);
    (void)sm, (void)ctx;
    if (!t)
        return NULL;
    t->cfg = &cfg->tma;
    t->last = &t->first;
    for (uint32_t i = 0; i < cfg->tma.requests; i++)
        t->free[t->n_free++] = (uint16_t)i;
    return t;
}

/* Drops all copies. */
static void drop(struct tma *t) {
    if (!t->used)
        return;
    t->used = false;
    for (struct copy *c = t->first, *next; c; c = next) {
        next = c->next;
        free(c->job.run);
        free(c);
    }
    t->first = t->sends = NULL;
    t->last = &t->first;
    t->n = t->waiting = 0;
    t->refused = false;
    t->n_free = 0;
    for (uint32_t i = 0; i < t->cfg->requests; i++)
        t->free[t->n_free++] = (uint16_t)i;
}

static void tma_free(void *u) {
    drop(u);
    lazy_free(u);
}

static uint32_t slot_of(const struct sm *sm, const struct warp *row) {
    const struct warp *w = &row->cta->warps[row->index];
    for (uint32_t s = 0; s < sm_get_slots(sm); s++)
        if (sm_get_warp(sm, s) == w)
            return s;
    return NO_SLOT;
}

/* Removes from a load's list the writes into shared memory that its reads of global memory make: an arriving line
 * passes the banks as part of the read (lsu_access.fill). Only writes of bytes outside a tensor remain. */
static void trim(struct copy *c, uint32_t global) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->job.n; i++) {
        struct bulk_run *r = &c->job.run[i];
        if (r->shared && r->write)
            r->bytes -= global < r->bytes ? global : r->bytes;
        if (r->bytes)
            c->job.run[kept++] = *r;
    }
    c->job.n = kept;
}

static void begin(void *ctx, const struct bulk_job *job) {
    struct tma *t = ctx;
    struct copy *c = malloc(sizeof *c);
    t->used = true;
    /* the cycle of issue: usually the warp's clock. An ordered instruction executes later, at an edge, so it takes the
     * later of the two cycles */
    const uint64_t now = max64(job->warp->cta->warps[job->warp->index].clock, sm_get_accounted(t->sm));
    if (!c) {
        free(job->run);
        sm_no_memory(t->sm, now);
        return;
    }
    *c = (struct copy){.job = *job, .cta = job->warp->cta, .slot = slot_of(t->sm, job->warp), .begun = now};
    uint32_t global = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        c->reads += job->run[i].shared && !job->run[i].write;
        global += job->run[i].shared ? 0 : job->run[i].bytes;
    }
    t->n_of.bytes += global;
    trim(c, global);
    c->ready = now + t->cfg->latency;
    if (t->started && c->ready < t->started + t->cfg->interval)
        c->ready = t->started + t->cfg->interval;
    t->started = c->ready;
    if (!t->n++)
        t->busy_since = now;
    *t->last = c;
    t->last = &c->next;
    if (!t->sends)
        t->sends = c;
    t->waiting++;
    t->n_of.copies++;
    sm_wake(t->sm, now + 1);
}

static void commit(void *ctx, const struct warp *w, rowmask_t lanes) {
    struct tma *t = ctx;
    const unsigned first = w == &w->cta->warps[w->index] ? 0 : WARP_LANES;
    for (struct copy *c = t->first; c; c = c->next)
        if (c->job.grouped && c->job.warp == w && c->slot != NO_SLOT && lanes >> (c->job.lane - first) & 1)
            c->since += c->since < SINCE_MAX;
}

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct tma *t = u;
    const struct program *p = sm_get_launch(sm)->program;
    uint32_t n;
    bool on = false;
    (void)now;
    for (uint32_t pc = 0; pc < p->n; pc++)
        on |= p->code[pc].kind == K_WARP && isa_rows(&n)[p->code[pc].row].op == OP_BULK;
    static const enum sm_hook hooks[] = {HOOK_CTA_START, HOOK_CTA_END, HOOK_MAY_ISSUE, HOOK_TICK, HOOK_NEXT};
    for (uint32_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        sm_unit_listen(sm, &unit_tma, hooks[i], on);
    t->sm = sm;
    t->sink = (struct bulk_sink){t, begin, commit};
    t->started = 0;
    return true;
}

static void account(struct tma *t, uint64_t now) {
    if (t->n && now > t->busy_since) {
        t->n_of.busy_cycles += now - t->busy_since;
        t->busy_since = now;
    }
}

static void launch_end(void *u, struct sm *sm) {
    sm->memory.reserved = false;
    drop(u);
}

static void cta_start_(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct tma *t = u;
    (void)now;
    sm_get_cta(sm, cta)->cta->bulk = &t->sink;
}

static void cta_end_(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct tma *t = u;
    (void)now;
    for (struct copy *c = t->first; c; c = c->next)
        if (c->cta == sm_get_cta(sm, cta)->cta) {
            c->cta = NULL;
            c->slot = NO_SLOT;
        }
}

/* Returns true if a lane of the warp must wait: it has closed more than `groups` groups since a copy that is not
 * complete (with `read`: that has not read its source). */
static bool must_wait(const struct tma *t, uint32_t slot, lanemask_t lanes, int64_t groups, bool read) {
    for (const struct copy *c = t->first; c; c = c->next)
        if (c->slot == slot && c->job.grouped && lanes >> c->job.lane & 1 && c->since > groups &&
            (!read || c->reads || c->reads_pending))
            return true;
    return false;
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    struct tma *t = u;
    uint32_t n;
    (void)sm, (void)now;
    if (c->in->kind != K_WARP)
        return PATH_READY;
    const unsigned op = isa_rows(&n)[c->in->row].op;
    if (op == OP_BULK_WAIT && must_wait(t, c->warp, c->lanes, c->in->imm, c->in->asize))
        return PATH_FENCE;
    if (op != OP_BULK || t->waiting < t->cfg->queue)
        return PATH_READY;
    t->refused = true;
    return PATH_QUEUE;
}

/* ---- requests ---- */

static const struct inst reads = {.kind = K_COPY, .cache_op = CACHE_CG};
static const struct inst writes = {.kind = K_STORE};
static const struct inst updates = {.kind = K_ATOM};
static const struct inst fetches = {.kind = K_PREFETCH, .cache_op = CACHE_CG};

static void set_kind(struct lsu_access *a, const struct copy *c, const struct bulk_run *r) {
    static const struct {
        const struct inst *inst;
        uint8_t kind;
    } by_traffic[] = {[BULK_READS] = {&reads, MEM_READ},
                      [BULK_WRITES] = {&writes, MEM_WRITE},
                      [BULK_UPDATES] = {&updates, MEM_ATOMIC},
                      [BULK_FETCHES] = {&fetches, MEM_READ}};
    a->inst = r->shared ? NULL : by_traffic[c->job.traffic].inst;
    a->kind = r->shared ? r->write ? MEM_WRITE : MEM_READ : by_traffic[c->job.traffic].kind;
    a->space = r->shared ? SPACE_SHARED : SPACE_GLOBAL;
    /* the line makes one pass through the banks of shared memory */
    a->fill = !r->shared && c->job.traffic == BULK_READS;
}

/* Sends the next request of the copy: the bytes of its run up to the end of a line. */
static void send(struct tma *t, struct copy *c, uint64_t now) {
    const struct bulk_run *r = &c->job.run[c->run];
    uint64_t addr[MAX_WARP_LANES] = {0}, from = r->address + c->at;
    uint32_t left = LINE - (uint32_t)(from % LINE), bytes = r->bytes - c->at < left ? r->bytes - c->at : left;
    const uint32_t unit = !r->shared && c->job.traffic == BULK_UPDATES ? c->job.element : CHUNK;
    struct lsu_access a = {.n_elems = 1,
                           .msize = (uint8_t)unit,
                           .halves = {.shape = SHAPE_ANY},
                           .addr = addr,
                           .warp = (uint16_t)(c->slot == NO_SLOT ? 0 : c->slot)};
    const uint16_t i = t->free[--t->n_free];
    set_kind(&a, c, r);
    uint32_t lanes = 0;
    for (uint64_t at = from - from % unit; at < from + bytes; at += unit)
        addr[lanes++] = at;
    a.lanes = lanes == WARP_LANES ? LANES_ALL : (1u << lanes) - 1;
    a.tag = TMA_TAGS + i;
    t->request[i].copy = c;
    t->request[i].reads_shared = r->shared && !r->write;
    c->pending++;
    c->reads_pending += t->request[i].reads_shared;
    t->n_of.requests++;
    lsu_accept(sm_get_lsu(t->sm), &a, now);
    sm_lsu_has_work(t->sm, now);
    c->at += bytes;
    if (c->at == r->bytes) {
        c->reads -= t->request[i].reads_shared;
        c->run++;
        c->at = 0;
    }
}

static void reconsider(struct tma *t, uint32_t slot, uint64_t now) {
    if (slot != NO_SLOT && sm_get_warp(t->sm, slot))
        sm_reconsider(t->sm, slot, now);
}

/* Wakes the warps that wait for room. */
static void has_room(struct tma *t, uint64_t now) {
    if (!t->refused || t->waiting >= t->cfg->queue)
        return;
    t->refused = false;
    for (uint32_t s = 0; s < sm_get_slots(t->sm); s++)
        reconsider(t, s, now);
}

static void finish(struct tma *t, struct copy *c, uint64_t now) {
    struct copy **at = &t->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (t->last == &c->next)
        t->last = at;
    account(t, now);
    t->n--;
    t->n_of.cycles += now - c->begun;
    if (c->job.signals && c->cta) {
        mbarrier_complete_bytes(c->cta, c->job.signal, c->job.bytes);
        t->sm->arrivals_made++;
    }
    if (c->job.grouped)
        reconsider(t, c->slot, now);
    free(c->job.run);
    free(c);
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct tma *t = u;
    struct copy *c = t->sends;
    if (!c || now < c->ready)
        return;
    if (c->run < c->job.n) {
        if (!t->n_free)
            return;
        if (!lsu_can_accept(sm_get_lsu(sm))) {
            /* the unit and the warps take turns, so that spinning warps do not keep it waiting */
            sm->memory.reserved = sm->memory.accepted != t->accepted;
            return;
        }
        sm->memory.reserved = false;
        t->accepted = sm->memory.accepted;
        send(t, c, now);
    }
    if (c->run < c->job.n)
        return;
    t->sends = c->next;
    t->waiting--;
    has_room(t, now);
    if (!c->pending)
        finish(t, c, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    const struct tma *t = u;
    const struct copy *c = t->sends;
    (void)sm;
    if (!c || (c->run < c->job.n && !t->n_free))
        return UINT64_MAX;
    return c->ready > now ? c->ready : now + 1;
}

void tma_reply(struct sm *sm, uint32_t tag, uint64_t now) {
    struct tma *t = sm_unit_state(sm, &unit_tma);
    const uint32_t i = tag - TMA_TAGS;
    struct copy *c = t->request[i].copy;
    t->free[t->n_free++] = (uint16_t)i;
    c->pending--;
    if (t->request[i].reads_shared && !--c->reads_pending && !c->reads)
        reconsider(t, c->slot, now); /* for wait_group.read */
    if (!c->pending && c->run == c->job.n && c != t->sends)
        finish(t, c, now);
    if (t->sends)
        sm_wake(sm, now + 1);
}

bool tma_is_busy(const struct sm *sm) {
    const struct tma *t = sm_unit_state(sm, &unit_tma);
    return t && t->n;
}

static uint64_t patience(const struct config *cfg) {
    return cfg->tma.latency + (uint64_t)cfg->tma.interval * (cfg->tma.queue + MAX_CTA_THREADS);
}

static void stats(void *u, struct stats *s) {
    struct tma *t = u;
    STATS_COUNT(s, rows, &t->n_of);
    t->n_of = (struct counts){0};
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct tma *t = u;
    (void)sm;
    if (t->n)
        fprintf(out,
                "  tensor memory accelerator: %u bulk copies, %u of them with requests to send, %u requests in "
                "flight\n",
                t->n, t->waiting, t->cfg->requests - t->n_free);
}

const struct sm_unit_ops unit_tma = {
    .name = "tma",
    .observes = true,
    .make = tma_make,
    .free = tma_free,
    .launch = launch,
    .launch_end = launch_end,
    .cta_start = cta_start_,
    .cta_end = cta_end_,
    .may_issue = may_issue,
    .tick = tick,
    .next = next,
    .patience = patience,
    .stats = stats,
    .describe = describe,
};
