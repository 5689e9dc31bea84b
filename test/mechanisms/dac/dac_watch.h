#ifndef TEST_MECHANISMS_DAC_WATCH_H
#define TEST_MECHANISMS_DAC_WATCH_H
/* A unit that checks the affine warp's hardware in each cycle against a model of its own, which is computed from the
 * threads' addresses. ATQ is the affine tuple queue. The unit checks that
 * - queues hold the entries that were sent;
 * - the expansion units take the number of cycles in docs/dac.md;
 * - the units are idle only if they have no work, and serve CTAs round-robin;
 * - statistics are the sums of values in each cycle. */
#include "host/context.h"
#include "lines_watch.h"
#include "test/test.h"
#include <stdarg.h>

enum { LINE = 128, SECTOR = 32, MOST_LINES = 1 << 14, MOST_ATQ = 64, WAITS_AT_MOST = 10000 };
/* maximum words of local memory per lane in one access; each word may be in a different line */
enum { LANE_WORDS = 4 };

struct watch {
    struct dac *d;
    uint64_t atq, atq_full, atq_max, locked, locked_max, lines, without, records, wide, spills, accesses;
    uint64_t full[EXPANDERS], busy[EXPANDERS], empty[N_QUEUES], sent[N_QUEUES], compared[N_COMPARES];
    uint64_t held[N_QUEUES]; /* records and masks that are in queues, summed over all cycles */
    /* number of the next ATQ entry to check; number of the next record to check, by warp */
    uint64_t tail, serial[WARP_SLOTS];
    bool starved[WARP_SLOTS][N_QUEUES];
    uint64_t come[WARP_SLOTS][N_QUEUES]; /* number of entries in the warp's queue before the unit's tick */
    uint8_t state_at[MOST_LINES];
    uint64_t done_at[EXPANDERS];
    uint32_t turn[EXPANDERS];
    uint64_t number[MOST_ATQ]; /* serial numbers of predicates, by ATQ entry */
    /* number of instructions that affine warps have executed before this cycle */
    uint64_t steps;
    /* by affine warp: `waits`: it must wait for a predicate in this cycle; `batch_full`: for room in a predicate
     * queue */
    bool waits[MAX_CONTEXTS], batch_full[MAX_CONTEXTS];
    uint64_t enq_free[MAX_CONTEXTS];        /* last cycle in which the affine warp did not wait for a full queue */
    const struct inst *at[MAX_CONTEXTS];    /* by affine warp: its next instruction at the start of this cycle */
    uint64_t cta_came;                      /* cycle in which the last CTA arrived */
    uint64_t ctas, cta_waits;               /* resident CTAs, and CTAs that wait for a stream, summed over all cycles */
    uint64_t batches, overdue;              /* overdue: entries that exceeded the queue's size after a timeout */
    uint32_t pending;                       /* number of CTAs without a stream, before the unit's tick */
    uint64_t got[SM_CTA_SLOTS][EXPANDERS];  /* cycle in which the CTA arrived, or a unit last started an entry for it */
    uint64_t room[SM_CTA_SLOTS][EXPANDERS]; /* last cycle in which the CTA's next entry fitted into its queue */
    uint64_t all_busy;                      /* last cycle in which each warp could run */
    uint64_t started[SM_CTA_SLOTS];         /* 1 + number of the last ATQ entry whose start address was computed */
    bool resident[SM_CTA_SLOTS];
    char what[300];
};

static void __attribute__((format(printf, 3, 4))) report(struct watch *t, uint64_t now, const char *format, ...) {
    va_list list;
    int n = t->what[0] ? -1 : snprintf(t->what, sizeof t->what, "cycle %llu: ", (unsigned long long)now);
    if (n < 0)
        return; /* keeps the first error */
    va_start(list, format);
    vsnprintf(t->what + n, sizeof t->what - (size_t)n, format, list);
    va_end(list);
}

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            report(t, now, __VA_ARGS__);                                                                               \
    } while (0)

/* Returns the number of lines that the lanes access, and stores each line, in the order of the lanes, with its sectors.
 * Local memory is interleaved by lane: one row holds a word of each lane. */
static uint32_t lines_of(const struct dac *d, const struct affine_entry *e, uint32_t slot, uint32_t warp,
                         uint64_t *line, uint8_t *sectors) {
    const struct program *p = d->sm->program->program;
    const struct inst *enq = &p->code[p->sites[e->site].enq_pc];
    uint32_t bytes = enq->msize * (enq->rsize ? enq->rsize : 1u), n = 0, width = d->l1->line_bytes;
    uint64_t address[WARP_LANES];
    width = width ? width : LINE;
    if (enq->space == SPACE_SHARED)
        return 1;
    affine_entry_addresses(e, d->shape, warp, address);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        for (uint32_t b = 0; (e->lanes >> l & 1) && b < bytes; b++) {
            uint64_t at = address[l] + b, start, i = 0;
            if (enq->space == SPACE_LOCAL)
                at = sm_local_base(d->sm, slot) + at / 4 * d->sm->memory.local_stride + l * 4 + at % 4;
            start = at - at % width;
            while (i < n && line[i] != start)
                i++;
            if (i == n)
                line[n] = start, sectors[n++] = 0;
            sectors[i] |= (uint8_t)(1u << at % width / SECTOR);
        }
    return n;
}

/* Returns true if the path waits for a queue entry that has not arrived. A path that only waits for lines does not
 * count. */
static bool waits_for_entry(const struct dac *d, uint32_t slot, const struct sm_path *path) {
    const struct program *p = d->sm->program->program;
    const struct inst_info *info = &p->info[path->pc];
    lanemask_t m = path->lanes, found = 0, value = 0;
    const struct supply_ring *r = &d->supply.ring[slot][QUEUE_PREDICATE];
    if (path->state != PATH_QUEUE)
        return false;
    /* the first entry that contains a lane is the lane's next entry */
    for (uint32_t i = 0; info->guard_site && i < r->n; i++) {
        const struct affine_entry *e = &r->e[(r->first + i) & (r->cap - 1)];
        value |= e->lanes & ~found & e->value;
        found |= e->lanes;
    }
    if (info->guard_site && m & ~found)
        return true;
    m &= !info->guard_site             ? guard_lanes(d->sm->warps.slot[slot].w, &p->code[path->pc], m)
         : p->code[path->pc].guard_not ? ~value
                                       : value;
    return info->site && m & ~supply_ready(&d->supply, slot, queue_of(p->sites[info->site - 1u].kind));
}

static bool stuck(const struct dac *d, uint32_t slot) {
    const struct sm_warp *sw = &d->sm->warps.slot[slot];
    bool all = sw->n_paths && (d->queue[slot].starved[0] || d->queue[slot].starved[1]);
    for (uint32_t p = 0; p < sw->n_paths; p++)
        all = all && (sw->path[p].state == PATH_BARRIER || waits_for_entry(d, slot, &sw->path[p]));
    return all;
}

static bool somebody_stuck(const struct dac *d) {
    bool any = false;
    for (uint32_t w = 0; w < d->sm->warps.slots; w++)
        any |= d->sm->warps.slot[w].w && !d->sm->warps.slot[w].context && stuck(d, w);
    return any;
}

/* The next work of a unit for one CTA. */
struct work {
    bool any, ready, spills;
    uint32_t warp, n_warps, cycles;
    uint64_t seq;
};

static bool fits(const struct dac *d, uint32_t slot, int k, uint32_t n) {
    return d->queue[slot].used[k] + n <= d->size[k];
}

static bool room(const struct dac *d, uint32_t slot, int k, uint32_t n, bool *spills) {
    *spills = !fits(d, slot, k, n);
    return !*spills || stuck(d, slot);
}

/* Computes how many cycles the entry costs for the CTA's next warp, and how many warps one comparison serves. */
static void price(const struct watch *t, const struct affine_entry *e, uint32_t cta, int k, struct work *x) {
    const struct dac *d = t->d;
    const struct dac_cta *c = &d->cta[cta];
    uint64_t line[LANE_WORDS * WARP_LANES];
    uint8_t sectors[LANE_WORDS * WARP_LANES];
    uint32_t n = k == QUEUE_ADDRESS ? lines_of(d, e, c->slot[x->warp], x->warp, line, sectors) : 1,
             records = n > d->size[k] ? 1 : n;
    x->ready = room(d, c->slot[x->warp], k, records, &x->spills);
    if (k == QUEUE_ADDRESS)
        /* an entry of a CTA costs one cycle for its start, and one more if tid.y or tid.z changes in the CTA */
        x->cycles = (e->exact ? (uint32_t)__builtin_popcount(e->lanes) : records) +
                    (t->started[cta] == x->seq + 1                         ? 0
                     : d->sm->launch->block.y * d->sm->launch->block.z > 1 ? 2
                                                                           : 1);
    else
        x->cycles = e->compare == COMPARE_ENDS || e->compare == COMPARE_CORNERS ? 2 : 1;
    while (k == QUEUE_PREDICATE && e->compare == COMPARE_CTA && !x->spills && x->warp + x->n_warps < c->n_warps &&
           (!e[x->n_warps].lanes || fits(d, c->slot[x->warp + x->n_warps], k, 1)))
        x->n_warps++;
}

static struct work work_of(const struct watch *t, uint32_t cta, int k) {
    const struct dac *d = t->d;
    const struct dac_cta *c = &d->cta[cta];
    struct work x = {.n_warps = 1};
    for (x.seq = d->head; x.seq < d->tail && !x.any; x.seq++) {
        const struct atq_entry *a = &d->atq[x.seq & d->atq_mask];
        if (a->queue != k || c->index >= a->n_ctas || a->cta[c->index] != cta || !(a->left >> c->index & 1))
            continue;
        const struct affine_entry *e = a->entries + c->index * c->n_warps;
        while (x.warp < c->n_warps && !e[x.warp].lanes)
            x.warp++;
        x.any = x.warp < c->n_warps && (k == QUEUE_PREDICATE || e[x.warp].marker <= c->passed);
        if (x.any)
            price(t, &e[x.warp], cta, k, &x);
        break; /* entries of a CTA are served in order */
    }
    return x;
}

/* Checks a new record: that it has the right lines, and that the right lines are requested. */
static void check_record(struct watch *t, uint32_t slot, uint32_t i, uint64_t now) {
    const struct dac *d = t->d;
    const struct dac_queue *q = &d->queue[slot];
    const struct supply_ring *r = &d->supply.ring[slot][QUEUE_ADDRESS];
    const struct dac_record *rec = &q->record[(q->first + i) % q->cap];
    const struct affine_entry *e = &r->e[(r->first + i) & (r->cap - 1)];
    const struct program *p = d->sm->program->program;
    uint64_t line[LANE_WORDS * WARP_LANES];
    uint8_t sectors[LANE_WORDS * WARP_LANES];
    uint32_t n = lines_of(d, e, slot, d->sm->warps.slot[slot].w->index, line, sectors), found = 0;
    bool wide = n > d->size[QUEUE_ADDRESS];
    const uint8_t space = p->code[p->sites[e->site].enq_pc].space;
    bool early = e->kind == SITE_DATA && (space == SPACE_GLOBAL || space == SPACE_LOCAL) && !wide;
    CHECK(rec->lanes == e->lanes, "record has lanes %x, entry has %x", rec->lanes, e->lanes);
    CHECK(rec->lines == (wide ? 1 : n), "record has %u lines, not %u", rec->lines, n);
    for (uint32_t at = rec->line; at != NO_LINE; at = d->line[at].next, found++) {
        uint32_t k = 0;
        while (k < n && line[k] != d->line[at].address)
            k++;
        CHECK(k < n && sectors[k] == d->line[at].sectors, "unexpected line %llx, sectors %x",
              (unsigned long long)d->line[at].address, d->line[at].sectors);
        CHECK(d->line[at].warp == slot, "line belongs to warp %u, not %u", d->line[at].warp, slot);
    }
    CHECK(found == (early ? n : 0), "%u lines requested, not %u", found, early ? n : 0);
    t->lines += found;
    t->wide += wide;
    t->records++;
}

/* Checks that a unit started the right entry: it is the next entry of its CTA, it takes the right number of cycles, and
 * no CTA that comes earlier in round-robin order was skipped. */
static void check_begun(struct watch *t, int k, uint64_t now) {
    const struct dac *d = t->d;
    const struct expander *x = &d->expander[k];
    struct work w = work_of(t, x->cta, k);
    CHECK(w.any && w.seq == x->seq && w.warp == x->warp, "unit %d started warp %u of entry %llu, not %u of %llu", k,
          x->warp, (unsigned long long)x->seq, w.warp, (unsigned long long)w.seq);
    CHECK(w.n_warps == x->n_warps, "unit %d serves %u warps, not %u", k, x->n_warps, w.n_warps);
    const bool late = w.spills && now >= t->got[x->cta][k] + WAITS_AT_MOST && somebody_stuck(d);
    CHECK(w.ready || (x->spills && late), "unit %d started warp %u, whose queue is full", k, x->warp);
    CHECK(w.spills || !x->spills, "unit %d spills for warp %u, whose queue has space", k, x->warp);
    CHECK(!w.spills || x->spills, "unit %d does not spill for warp %u, whose queue is full", k, x->warp);
    w.cycles += x->spills ? d->cfg->l1.latency : 0;
    CHECK(x->done_at - now == w.cycles, "unit %d takes %llu cycles, not %u", k, (unsigned long long)(x->done_at - now),
          w.cycles);
    for (uint32_t c = (t->turn[k] + 1) % SM_CTA_SLOTS; c != x->cta; c = (c + 1) % SM_CTA_SLOTS) {
        w = (d->serving >> c & 1) ? work_of(t, c, k) : (struct work){.any = false};
        CHECK(!w.any || !w.ready || w.spills, "unit %d skipped CTA slot %u", k, c);
    }
    t->busy[k] += x->done_at - now;
    t->spills += x->spills;
    t->overdue += !w.ready;
    t->got[x->cta][k] = t->room[x->cta][k] = now;
    t->turn[k] = x->cta;
    if (k == QUEUE_ADDRESS)
        t->started[x->cta] = x->seq + 1;
}

/* Called after the unit's tick. Checks the entry that the unit started, or that it had no work. */
static void check_expander(struct watch *t, int k, uint64_t now) {
    const struct dac *d = t->d;
    const struct expander *x = &d->expander[k];
    bool full = false;
    CHECK(x->done_at == NO_TIME || x->done_at > now, "unit %d is overdue since %llu", k,
          (unsigned long long)x->done_at);
    if (x->done_at != NO_TIME && t->done_at[k] <= now)
        check_begun(t, k, now);
    for (uint32_t c = 0; x->done_at == NO_TIME && c < SM_CTA_SLOTS; c++) {
        struct work w = (d->serving >> c & 1) ? work_of(t, c, k) : (struct work){.any = false};
        CHECK(!w.any || !w.ready, "unit %d is idle, but CTA slot %u is ready", k, c);
        if (!w.any || !w.spills)
            t->room[c][k] = now;
        CHECK(now < t->room[c][k] + 2 * WAITS_AT_MOST || now < t->all_busy + 2 * WAITS_AT_MOST,
              "unit %d lets CTA slot %u wait for queue space since %llu", k, c, (unsigned long long)t->room[c][k]);
        full |= w.any;
    }
    t->full[k] += full;
    t->done_at[k] = x->done_at;
}

/* Sets `state_at` of free lines to 255, which is not a state. */
static void mark_free(struct watch *t, uint64_t now) {
    const struct dac *d = t->d;
    uint32_t n = 0;
    CHECK(d->cap_lines <= MOST_LINES, "%u lines", d->cap_lines);
    for (uint32_t i = d->free_line; i != NO_LINE && i < MOST_LINES; i = d->line[i].next, n++)
        t->state_at[i] = 255;
    CHECK(n + d->n_lines == d->cap_lines, "%u lines free, %u in use, of %u", n, d->n_lines, d->cap_lines);
}

/* Counts the locked lines by their states. */
static uint32_t locked(struct watch *t, uint64_t now) {
    const struct dac *d = t->d;
    static bool is_free[MOST_LINES];
    uint32_t n = 0;
    memset(is_free, 0, sizeof is_free);
    mark_free(t, now);
    for (uint32_t i = d->free_line; i != NO_LINE; i = d->line[i].next)
        is_free[i] = true;
    for (uint32_t i = 0; i < d->cap_lines && !t->what[0]; i++) {
        if (is_free[i])
            continue;
        const struct dac_line *l = &d->line[i];
        n += l->state == LINE_COMING || l->state == LINE_LOCKED;
        t->without += l->state == LINE_WITHOUT && t->state_at[i] != LINE_WITHOUT;
        t->state_at[i] = l->state;
    }
    CHECK(n == d->locked, "%u lines are locked, not %u", n, d->locked);
    return n;
}

/* Checks the records of a warp: their total size, and how many of their lines have not arrived. */
static void check_queue(struct watch *t, uint32_t slot, uint64_t now) {
    const struct dac *d = t->d;
    const struct dac_queue *q = &d->queue[slot];
    uint32_t used = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const struct dac_record *r = &q->record[(q->first + i) % q->cap];
        uint32_t waiting = 0, without = 0;
        for (uint32_t at = r->line; at != NO_LINE; at = d->line[at].next) {
            waiting += d->line[at].state < LINE_LOCKED;
            without += d->line[at].state == LINE_WITHOUT;
        }
        CHECK(r->waiting == waiting, "a record waits for %u lines, not %u", r->waiting, waiting);
        CHECK(r->line == NO_LINE || r->locked == !without, "record is marked wrongly: %u lines without lock", without);
        used += r->lines;
    }
    CHECK(used == q->used[QUEUE_ADDRESS], "%u of the address queue in use, not %u", q->used[QUEUE_ADDRESS], used);
    CHECK(q->n == supply_count(&d->supply, slot, QUEUE_ADDRESS), "%u records", q->n);
    CHECK(q->used[QUEUE_PREDICATE] == supply_count(&d->supply, slot, QUEUE_PREDICATE), "%u masks",
          q->used[QUEUE_PREDICATE]);
    t->held[QUEUE_ADDRESS] += used;
    t->held[QUEUE_PREDICATE] += supply_count(&d->supply, slot, QUEUE_PREDICATE);
    for (int k = 0; k < N_QUEUES; k++)
        CHECK(q->used[k] <= d->size[k] || t->spills, "%u of %u in queue %d", q->used[k], d->size[k], k);
}

/* Counts warps that begin to wait for a queue entry. A warp that receives an entry and still waits counts again. */
static void count_waits(struct watch *t, uint32_t slots, bool behind) {
    for (uint32_t w = 0; w < slots; w++)
        for (int k = 0; k < N_QUEUES; k++) {
            const uint64_t n = k == QUEUE_ADDRESS ? t->d->queue[w].serial + t->d->queue[w].n
                                                  : supply_count(&t->d->supply, w, QUEUE_PREDICATE);
            const bool again = behind && n != t->come[w][k], is = t->d->queue[w].starved[k];
            t->empty[k] += is && (again || !t->starved[w][k]);
            t->starved[w][k] = is;
            t->come[w][k] = n;
        }
}

static void before_tick(void *u, struct sm *sm, uint64_t now) {
    struct watch *t = u;
    (void)now;
    if (!t->d || !t->d->shape || t->what[0])
        return;
    count_waits(t, sm->warps.slots, false);
    t->pending = (uint32_t)__builtin_popcountll(t->d->pending);
}

static uint32_t contexts(const struct dac *d) { return d->cfg->dac.contexts; }

static bool is_busy(const struct dac *d, uint32_t i) { return d->stream[i].context != NO_CONTEXT; }

static bool all_are_busy(const struct dac *d) {
    bool all = true;
    for (uint32_t i = 0; i < contexts(d); i++)
        all &= is_busy(d, i);
    return all;
}

/* Checks that batches start only in a cycle in which no CTA arrives. They must contain all waiting CTAs, unless all
 * affine warps are busy. Each batch must have the maximum number of CTAs, or the rest. */
static void check_batches(struct watch *t, uint64_t now) {
    const struct dac *d = t->d;
    const uint32_t most = d->cfg->dac.batch ? d->cfg->dac.batch : AFFINE_CTAS,
                   left = (uint32_t)__builtin_popcountll(d->pending), taken = t->pending - left,
                   begun = (uint32_t)(d->n.batches - t->batches);
    t->batches = d->n.batches;
    CHECK(begun == (taken + most - 1) / most, "%u batches for %u CTAs", begun, taken);
    CHECK(!begun || t->cta_came != now, "a batch starts in a cycle in which a CTA arrives");
    CHECK(!begun || !left || all_are_busy(d), "%u of %u CTAs get no affine warp", left, t->pending);
}

/* Returns true if the next instruction of affine warp i needs a predicate that this warp sent and that is still in the
 * ATQ for some CTA. */
static bool has_to_wait(struct watch *t, uint32_t i, uint64_t now) {
    const struct dac *d = t->d;
    bool waits = false;
    CHECK(d->cfg->dac.atq <= MOST_ATQ, "an ATQ of %u", d->cfg->dac.atq);
    for (uint64_t seq = d->head; seq < d->tail; seq++) {
        const struct atq_entry *a = &d->atq[seq & d->atq_mask];
        waits |=
            a->queue == QUEUE_PREDICATE && a->left && a->stream == i && t->number[seq % MOST_ATQ] <= d->stream[i].waits;
    }
    return waits;
}

static bool next_sends(const struct dac_stream *s) {
    const uint8_t kind = engine_next(s->engine)->kind;
    return kind == K_ENQ_DATA || kind == K_ENQ_ADDR || kind == K_ENQ_PRED;
}

/* Returns true if the next instruction of affine warp `i` sends a predicate, and a warp of its batch that can run has
 * a full predicate queue. */
static bool has_full_queue(const struct dac *d, uint32_t i) {
    const struct dac_stream *s = &d->stream[i];
    bool full = false;
    if (!d->cfg->dac.enq_waits || !is_busy(d, i) || s->repeat || engine_done(s->engine) ||
        engine_next(s->engine)->kind != K_ENQ_PRED)
        return false;
    for (uint32_t k = 0; k < s->n_batch; k++)
        for (uint32_t w = 0; w < d->shape->n_warps && d->serving >> s->batch[k] & 1; w++) {
            const uint32_t slot = d->cta[s->batch[k]].slot[w];
            full |= d->queue[slot].used[QUEUE_PREDICATE] >= d->size[QUEUE_PREDICATE] && !stuck(d, slot);
        }
    return full;
}

/* Checks that an affine warp executes nothing while it must wait, and that it does not wait without a reason. */
static void check_wait(struct watch *t, uint32_t i, uint64_t now) {
    const struct dac *d = t->d;
    const struct dac_stream *s = &d->stream[i];
    const bool stays = is_busy(d, i) && engine_next(s->engine) == t->at[i];
    CHECK(!t->waits[i] || stays, "affine warp %u does not wait for predicate %llu", i, (unsigned long long)s->waits);
    CHECK(!t->waits[i] || contexts(d) > 1 || d->n.instructions == t->steps, "the affine warp does not wait");
    CHECK(!t->batch_full[i] || stays || now >= t->enq_free[i] + WAITS_AT_MOST,
          "affine warp %u sends a predicate although a queue is full", i);
    if (!has_full_queue(d, i) || !stays)
        t->enq_free[i] = now;
    if (!is_busy(d, i) || engine_done(s->engine) || has_to_wait(t, i, now) ||
        d->sm->warps.slot[s->context].path[0].state != PATH_QUEUE)
        return;
    /* if the wait began in this cycle, its reason may already be gone: the reason held when the affine warp tried to
     * issue */
    CHECK(next_sends(s) &&
              (d->tail - d->head == d->cfg->dac.atq || t->batch_full[i] || has_full_queue(d, i) || s->enq_since == now),
          "affine warp %u waits without need", i);
}

static void watch_tick(void *u, struct sm *sm, uint64_t now) {
    struct watch *t = u;
    const struct dac *d = t->d;
    if (!d || !d->shape || t->what[0])
        return;
    count_waits(t, sm->warps.slots, true);
    for (uint32_t w = 0; w < sm->warps.slots; w++) {
        const struct dac_queue *q = &d->queue[w];
        for (uint64_t s = t->serial[w]; s < q->serial + q->n; s++)
            check_record(t, w, (uint32_t)(s - q->serial), now);
        t->serial[w] = q->serial + q->n;
    }
    if (!somebody_stuck(d))
        t->all_busy = now;
    for (int k = 0; k < EXPANDERS; k++)
        check_expander(t, k, now);
    check_batches(t, now);
    lines_tick(now);
    for (uint32_t i = 0; i < contexts(d); i++) {
        t->waits[i] = is_busy(d, i) && has_to_wait(t, i, now);
        t->batch_full[i] = has_full_queue(d, i);
        t->at[i] = is_busy(d, i) ? engine_next(d->stream[i].engine) : NULL;
    }
    t->steps = d->n.instructions;
    for (uint32_t c = 0; c < SM_CTA_SLOTS; c++)
        CHECK(!(d->pending >> c & 1) || all_are_busy(d) || t->cta_came == now,
              "CTA slot %u waits for an idle affine warp", c);
    uint32_t n = locked(t, now);
    t->locked_max = n > t->locked_max ? n : t->locked_max;
}

/* Counts the entries sent in this cycle. */
static void count_sent(struct watch *t, uint64_t seq) {
    const struct dac *d = t->d;
    const struct atq_entry *a = &d->atq[seq & d->atq_mask];
    const uint32_t n_warps = d->shape->n_warps;
    t->number[seq % MOST_ATQ] = a->number;
    t->accesses++;
    for (uint32_t c = 0; c < a->n_ctas; c++) {
        uint32_t n = 0;
        for (uint32_t w = 0; w < n_warps; w++) {
            const struct affine_entry *e = &a->entries[c * n_warps + w];
            n += e->lanes != 0;
            t->compared[e->compare] += e->lanes && a->queue == QUEUE_PREDICATE;
        }
        t->sent[a->queue] += n;
        t->accesses += n != 0;
    }
}

static void watch_look(void *u, struct sm *sm, uint64_t now) {
    struct watch *t = u;
    struct dac *d = t->d;
    if (!d || !d->shape || t->what[0])
        return;
    const uint64_t n = d->tail - d->head;
    for (; t->tail < d->tail; t->tail++)
        count_sent(t, t->tail);
    t->atq += n;
    t->atq_max = n > t->atq_max ? n : t->atq_max;
    CHECK(n <= d->cfg->dac.atq, "%llu entries", (unsigned long long)n);
    for (uint32_t i = 0; i < contexts(d); i++) {
        if (is_busy(d, i) && !d->stream[i].repeat && !engine_done(d->stream[i].engine))
            t->atq_full += next_sends(&d->stream[i]) && n == d->cfg->dac.atq;
        check_wait(t, i, now);
    }
    for (uint32_t c = 0; c < SM_CTA_SLOTS; c++) {
        t->ctas += t->resident[c];
        t->cta_waits += (d->pending >> c & 1) && all_are_busy(d);
    }
    count_waits(t, sm->warps.slots, false);
    for (uint32_t w = 0; w < sm->warps.slots; w++)
        check_queue(t, w, now);
    t->locked += locked(t, now);
}

static void *watch_make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}

static const struct sm_unit_ops before = {.name = "before", .make = watch_make, .tick = before_tick};

static bool watch_launch(void *u, struct sm *sm, uint64_t now) {
    struct watch *t = u;
    (void)now;
    *t = (struct watch){.d = sm_unit_state(sm, &unit_dac), .cta_came = UINT64_MAX};
    lines_begin(t->d && t->d->active ? t->d : NULL);
    if (!t->d || !t->d->active)
        return true;
    t->batches = t->d->n.batches;
    for (int k = 0; k < EXPANDERS; k++)
        t->turn[k] = SM_CTA_SLOTS - 1; /* CTA 0 is served first */
    memset(t->state_at, 255, sizeof t->state_at);
    /* the last unit in the list is called first */
    const struct sm_unit_ops *const order[] = {&unit_dac, &before};
    for (int k = 0; k < 2; k++) {
        sm_unit_listen(sm, order[k], HOOK_TICK, false);
        sm_unit_listen(sm, order[k], HOOK_TICK, true);
    }
    return true;
}

/* Records the cycle in which a CTA arrived. CTAs arrive one in each cycle. An idle affine warp waits until the last of
 * them has arrived. */
static void watch_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct watch *t = u;
    (void)sm;
    t->cta_came = now;
    t->resident[cta] = true;
    for (int k = 0; k < EXPANDERS; k++)
        t->got[cta][k] = t->room[cta][k] = now;
}

static void watch_cta_end(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    (void)sm, (void)now;
    ((struct watch *)u)->resident[cta] = false;
}

static const struct sm_unit_ops watch = {.name = "watch",
                                         .make = watch_make,
                                         .launch = watch_launch,
                                         .cta_start = watch_cta,
                                         .cta_end = watch_cta_end,
                                         .tick = watch_tick,
                                         .look = watch_look};
#endif
