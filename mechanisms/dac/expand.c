/* The affine tuple queue and its consumers: the address expansion unit and the predicate expansion unit (sections 4.2
 * and 4.3). Each unit serves the CTAs of a batch round-robin, one warp at a time, and skips a CTA whose next warp has
 * no room in its queue. Entries of a CTA are expanded in the order in which they were sent. A unit spends one cycle on
 * each of these: the start address of a CTA, the adjustment for rows of threads (once for an entry of a CTA), a record
 * (one line), and a comparison. */
#include "dac_parts.h"
#include "timing/mem/coalesce.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void free_entries(struct atq_entry *a, uint32_t n_warps) {
    for (uint32_t i = 0; i < a->n_ctas * n_warps; i++)
        affine_entry_free(&a->entries[i]);
    free(a->entries);
    a->entries = NULL;
}

void atq_clear(struct dac *d) {
    for (; d->head < d->tail; d->head++)
        free_entries(atq_at(d, d->head), d->shape->n_warps);
    for (int k = 0; k < EXPANDERS; k++) {
        d->expander[k].done_at = NO_TIME;
        d->expander[k].retry_at = UINT64_MAX;
    }
}

/* Checks all entries, because a predicate that must be expanded for fewer CTAs may be ready before an earlier
 * predicate. */
bool atq_has_predicate(const struct dac *d, const struct dac_stream *from) {
    for (uint64_t seq = d->head; from->waits && seq < d->tail; seq++) {
        const struct atq_entry *a = atq_at(d, seq);
        if (a->queue == QUEUE_PREDICATE && a->left && a->number <= from->waits && &d->stream[a->stream] == from)
            return true;
    }
    return false;
}

bool atq_put(struct dac *d, const struct dac_stream *from, const struct affine_step *s) {
    assert(atq_has_room(d));
    uint32_t n = from->n_batch * d->shape->n_warps;
    struct atq_entry *a = atq_at(d, d->tail);
    *a = (struct atq_entry){.site = sm_get_program(d->sm)->program->info[s->pc].site - 1u,
                            .number = from->numbers + s->number,
                            .stream = (uint8_t)(from - d->stream),
                            .n_ctas = from->n_batch};
    a->queue = (uint8_t)queue_of(sm_get_program(d->sm)->program->sites[a->site].kind);
    a->entries = malloc(n * sizeof *a->entries);
    if (!a->entries)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        a->entries[i] = s->entries[i];
        if (s->entries[i].lanes)
            a->left |= 1u << i / d->shape->n_warps;
        s->entries[i].exact = NULL; /* the ATQ entry now owns this data */
        s->entries[i].lanes = 0;
    }
    if (!a->left) { /* an enqueue instruction that no lane executed occupies no entry */
        free(a->entries);
        a->entries = NULL;
        return true;
    }
    /* copies the CTA slots of the batch, because the batch may change before the entry is expanded */
    for (uint32_t c = 0; c < from->n_batch; c++) {
        a->cta[c] = (uint8_t)from->batch[c];
        d->sent_to[a->queue] |= (uint64_t)(a->left >> c & 1) << from->batch[c];
    }
    d->tail++;
    d->n.atq_accesses++;
    if (d->tail - d->head > d->n.atq_max)
        d->n.atq_max = d->tail - d->head;
    return true;
}

/* Adds sectors of a line to the list of lines, and adds the line itself if it is new. Addresses of lanes mostly ascend
 * or descend, so a line outside [low, high] is new without a search. */
static void add_line(struct dac_plan *p, uint64_t line, uint8_t sectors) {
    uint32_t i = p->n_lines;
    if (i && line >= p->low && line <= p->high)
        while (i && p->line[i - 1] != line)
            i--;
    else
        i = 0;
    if (!i) {
        p->low = !p->n_lines || line < p->low ? line : p->low;
        p->high = !p->n_lines || line > p->high ? line : p->high;
        p->sectors[p->n_lines] = 0;
        p->line[p->n_lines++] = line;
        i = p->n_lines;
    }
    p->sectors[i - 1] |= sectors;
}

/* Adds the lines of bytes `first` to `last`; there are at most two. */
static void add_bytes(struct dac_plan *p, uint64_t first, uint64_t last, uint64_t line_bytes) {
    const uint64_t line = first & ~(line_bytes - 1), end = last & ~(line_bytes - 1);
    uint8_t from = (uint8_t)(1u << (first - line) / SECTOR_BYTES), to = (uint8_t)(1u << (last - end) / SECTOR_BYTES);
    add_line(p, line, line == end ? from | to : from);
    if (line != end)
        add_line(p, end, to);
}

/* Finds the distinct L1 lines that the lanes access; an L1 line is at least as long as a line of the coalescer
 * (config_check() checks this). A warp's local memory is interleaved, as in coalesce_local(). */
static void find_lines(const struct dac *d, const struct inst *enq, uint32_t slot, const uint64_t address[WARP_LANES],
                       rowmask_t lanes, struct dac_plan *p) {
    const uint32_t bytes = enq->msize * (enq->rsize ? enq->rsize : 1u);
    const uint64_t line_bytes = d->l1->line_bytes ? d->l1->line_bytes : 128;
    const uint64_t base = enq->space == SPACE_LOCAL ? sm_local_base(d->sm, slot) : 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t first = address[lane], last = first + bytes - 1;
        if (enq->space == SPACE_LOCAL) {
            for (uint64_t word = first / 4; word <= last / 4 && word < first / 4 + 4; word++) {
                uint64_t at = base + word * sm_local_stride(d->sm) + lane * 4;
                add_bytes(p, at, at, line_bytes);
            }
        } else {
            add_bytes(p, first, last, line_bytes);
        }
    }
}

/* Does the same as find_lines(), faster, if four conditions hold: the access is global; a lane accesses at most
 * SECTOR_BYTES; the active lanes are lanes 0 to n - 1, and all have the same threadIdx.y and z; each lane's address is
 * at most one sector above the previous lane's. Then the access covers all sectors from its first byte to its last.
 * Returns false if a condition does not hold. */
static bool find_row(const struct dac *d, const struct inst *enq, const struct affine_entry *e, uint32_t warp,
                     struct dac_plan *p) {
    const uint32_t bytes = enq->msize * (enq->rsize ? enq->rsize : 1u);
    const uint64_t line_bytes = d->l1->line_bytes ? d->l1->line_bytes : 128, step = e->at.off[0];
    if (e->exact || !d->shape->one_row[warp] || e->lanes & (e->lanes + 1) || step > SECTOR_BYTES ||
        bytes > SECTOR_BYTES || enq->space != SPACE_GLOBAL)
        return false;
    const uint64_t first = affine_at(&e->at, d->shape, warp, 0),
                   last = first + step * ((uint32_t)__builtin_popcount(e->lanes) - 1) + bytes - 1,
                   end = last & ~(line_bytes - 1);
    if (last < first)
        return false;
    for (uint64_t line = first & ~(line_bytes - 1);; line += line_bytes) {
        const uint64_t from = line < first ? (first - line) / SECTOR_BYTES : 0,
                       to = line == end ? (last - line) / SECTOR_BYTES : line_bytes / SECTOR_BYTES - 1;
        p->sectors[p->n_lines] = (uint8_t)((2u << to) - (1u << from));
        p->line[p->n_lines++] = line;
        if (line == end)
            return true;
    }
}

/* Returns true if each address is within the thread's local memory. Otherwise the load will fault. */
static bool in_local(const struct dac *d, uint32_t slot, const uint64_t address[WARP_LANES], rowmask_t lanes) {
    for (; lanes; lanes &= lanes - 1)
        if (address[__builtin_ctz(lanes)] >= sm_get_warp(d->sm, slot)->local_bytes)
            return false;
    return true;
}

/* Returns true if the lines of this load may be prefetched. */
static bool is_early(const struct dac *d, const struct inst *enq, uint32_t slot, const uint64_t address[WARP_LANES],
                     rowmask_t lanes) {
    return enq->space == SPACE_GLOBAL || (enq->space == SPACE_LOCAL && in_local(d, slot, address, lanes));
}

/* Returns true if the warp sleeps: its registers are in memory and it takes no entries. Its queues are in memory, too,
 * without a size limit. */
static bool is_away(const struct dac *d, uint32_t slot) { return sm_is_asleep(d->sm, slot); }

/* Returns true if no warp of the CTA is running or about to run. Then the CTA passes no barrier before other warps
 * end. */
static bool has_no_turn(const struct dac *d, const struct dac_cta *c) {
    for (uint32_t w = 0; w < c->n_warps; w++) {
        uint32_t slot = c->slot[w];
        if (!sm_is_finished(d->sm, slot) && (!is_away(d, slot) || sm_is_waking(d->sm, slot)))
            return false;
    }
    return true;
}

/* Returns true if threadIdx.y or z changes in the CTA. The accumulated address then needs an adjustment, which has the
 * same value for all threads (section 4.2). */
static bool has_rows(const struct affine_shape *s) { return s->block.y > 1 || s->block.z > 1; }

static void plan_address(const struct dac *d, const struct atq_entry *a, const struct affine_entry *e, uint32_t warp,
                         uint32_t slot, struct dac_plan *p) {
    const struct program *prog = sm_get_program(d->sm)->program;
    const struct inst *enq = &prog->code[prog->sites[a->site].enq_pc];
    uint64_t address[WARP_LANES];
    bool early = true;
    p->n_lines = enq->space == SPACE_SHARED;
    if (!p->n_lines && !find_row(d, enq, e, warp, p)) {
        affine_entry_addresses(e, d->shape, warp, address);
        find_lines(d, enq, slot, address, e->lanes, p);
        early = is_early(d, enq, slot, address, e->lanes);
    }
    p->wide = p->n_lines > d->size[QUEUE_ADDRESS];
    p->records = p->wide ? 1 : p->n_lines;
    p->early = e->kind == SITE_DATA && !p->wide && early;
    p->cycles = e->exact ? (uint32_t)__builtin_popcount(e->lanes) : p->records;
}

/* Returns true if the path waits for an entry that has not arrived. */
static bool starves(const struct dac *d, uint32_t slot, uint32_t path) {
    const struct program *p = sm_get_program(d->sm)->program;
    uint32_t n_paths;
    const struct sm_path *at = &sm_get_paths(d->sm, slot, &n_paths)[path];
    const struct inst_info *info = &p->info[at->pc];
    const struct inst *in = &p->code[at->pc];
    rowmask_t m = at->lanes, guard = 0;
    if (info->guard_site) {
        if (m & ~supply_ready(&d->supply, slot, QUEUE_PREDICATE))
            return true;
        supply_predicate((struct supply *)&d->supply, slot, info->guard_site - 1u, m, &guard,
                         false); /* reads the predicate, but does not remove the entry from the queue */
        m &= in->guard_not ? ~guard : guard;
    } else {
        m = guard_lanes(sm_get_warp(d->sm, slot), in, m);
    }
    return info->site && m & ~supply_ready(&d->supply, slot, queue_of(p->sites[info->site - 1u].kind));
}

/* Returns true if no path of the warp can continue before its queues receive an entry. Such a warp is called stuck. A
 * path that waits for lines does not make its warp stuck. */
static bool is_stuck(const struct dac *d, uint32_t slot) {
    uint32_t n_paths;
    const struct sm_path *path = sm_get_paths(d->sm, slot, &n_paths);
    const struct dac_queue *q = &d->queue[slot];
    if (!n_paths || !(q->starved[QUEUE_ADDRESS] || q->starved[QUEUE_PREDICATE]))
        return false;
    for (uint32_t p = 0; p < n_paths; p++)
        if (path[p].state != PATH_BARRIER && (path[p].state != PATH_QUEUE || !starves(d, slot, p)))
            return false;
    return true;
}

static bool some_stuck(const struct dac *d) {
    for (uint32_t w = 0; w < sm_get_slots(d->sm); w++)
        if (sm_get_warp(d->sm, w) && !sm_is_context(d->sm, w) && is_stuck(d, w))
            return true;
    return false;
}

/* Returns true if an entry may exceed the queue size because its CTA has waited too long and some warp is stuck.
 * Example: a warp polls memory until another warp writes there. The polling warp's queue is full, so the other warp's
 * entries cannot be expanded. The polling warp is not stuck, but takes no entries. */
static bool is_overdue(const struct dac *d, enum supply_queue k, struct dac_cta *c, uint64_t now) {
    if (c->blocked[k] == NO_TIME)
        c->blocked[k] = now;
    if (now < c->blocked[k] + PATIENCE)
        return false;
    if (some_stuck(d))
        return true;
    c->blocked[k] = now;
    return false;
}

static bool fits(const struct dac *d, uint32_t slot, enum supply_queue q, uint32_t records) {
    return d->queue[slot].used[q] + records <= d->size[q];
}

/* Returns true if the warp can receive `records` more records. A stuck or swapped-out warp may exceed the size of its
 * queue; then sets *spills. Otherwise other warps would wait for this warp. */
static bool has_room(const struct dac *d, uint32_t slot, enum supply_queue q, uint32_t records, bool *spills) {
    *spills = !fits(d, slot, q, records) && (is_away(d, slot) || is_stuck(d, slot));
    return *spills || fits(d, slot, q, records);
}

/* Returns true if a predicate queue of a warp of the batch is full. Queues of warps that wait for entries or sleep do
 * not count. Such a warp may wait for an entry that the affine warp sends later. */
static bool is_batch_full(const struct dac *d, const struct dac_stream *s) {
    for (uint32_t i = 0; i < s->n_batch; i++) {
        const struct dac_cta *c = &d->cta[s->batch[i]];
        if (!(d->serving >> s->batch[i] & 1)) /* the CTA has ended */
            continue;
        for (uint32_t w = 0; w < c->n_warps; w++)
            if (!fits(d, c->slot[w], QUEUE_PREDICATE, 1) && !is_away(d, c->slot[w]) && !is_stuck(d, c->slot[w]))
                return true;
    }
    return false;
}

void dac_enq_end(struct dac *d, struct dac_stream *s, uint64_t now) {
    d->n.enq_full += s->enq_since == NO_TIME ? 0 : now - s->enq_since;
    s->enq_since = NO_TIME;
}

/* Returns true if an enq must wait: it does not issue while a predicate queue is full (section 4.1). After 10,000
 * cycles it issues if some warp is stuck, as in is_overdue(): the warp with the full queue may wait for the stuck
 * warp. */
bool dac_enq_waits(struct dac *d, struct dac_stream *s, uint64_t now) {
    if (!d->cfg->dac.enq_waits || !is_batch_full(d, s)) {
        dac_enq_end(d, s, now);
        return false;
    }
    if (s->enq_since == NO_TIME)
        s->enq_since = now;
    if (now >= s->enq_since + PATIENCE) {
        if (some_stuck(d))
            return false;
        dac_enq_end(d, s, now);
        s->enq_since = now;
    }
    s->enq_again = s->enq_since + PATIENCE;
    if (sm_may_sleep(d->sm) && now + RETRY_CYCLES < s->enq_again) /* no event reports that warps sleep */
        s->enq_again = now + RETRY_CYCLES;
    return true;
}

static bool wait_for_room(struct expander *x, uint64_t until) {
    x->full = true;
    x->retry_at = until < x->retry_at ? until : x->retry_at;
    return false;
}

/* Records that the CTA's next entry has no room: it needs `records` places in the queue of the warp in `slot`. */
static bool no_room(struct dac *d, enum supply_queue k, struct dac_cta *c, uint32_t slot, uint32_t records) {
    c->full[k] = true;
    c->full_slot[k] = slot;
    c->full_records[k] = records;
    return wait_for_room(&d->expander[k], c->blocked[k] + PATIENCE);
}

/* Returns true if the next warp still has no room. Unless the warp is stuck, this changes only when its queue gains
 * room or its waiting time reaches the limit. */
static bool still_no_room(struct dac *d, enum supply_queue k, const struct dac_cta *c, uint64_t now) {
    const struct dac_queue *q = &d->queue[c->full_slot[k]];
    if (!c->full[k] || fits(d, c->full_slot[k], k, c->full_records[k]) || now >= c->blocked[k] + PATIENCE ||
        q->starved[QUEUE_ADDRESS] || q->starved[QUEUE_PREDICATE] || is_away(d, c->full_slot[k]))
        return false;
    wait_for_room(&d->expander[k], c->blocked[k] + PATIENCE);
    return true;
}

/* Returns true if an entry after a barrier may be expanded before its CTA has passed the barrier, without prefetching
 * its lines. This happens if the CTA's warps sleep and the ATQ is full, since running warps wait for later entries. No
 * event reports that warps sleep, so the unit polls this function. */
static bool goes_ahead(const struct dac *d, struct expander *x, const struct dac_cta *c, uint64_t now) {
    if (!sm_may_sleep(d->sm))
        return false;
    if (!atq_has_room(d) && has_no_turn(d, c))
        return true;
    x->retry_at = now + RETRY_CYCLES < x->retry_at ? now + RETRY_CYCLES : x->retry_at;
    return false;
}

/* Begins to expand a CTA's next entry for the warps that come next, in unit `k`. Returns false if the unit must
 * wait. */
static bool begin(struct dac *d, enum supply_queue k, struct dac_cta *c, uint64_t now) {
    struct expander *x = &d->expander[k];
    const struct atq_entry *a = atq_at(d, c->seq[k]);
    const struct affine_entry *entries = &a->entries[c->index * c->n_warps];
    uint32_t w = c->warp[k];
    uint32_t cycles = !c->begun[k] && k == QUEUE_ADDRESS ? 1 + has_rows(d->shape) : 0;
    bool spills;
    while (w < c->n_warps && !entries[w].lanes)
        w++;
    assert(w < c->n_warps);
    const struct affine_entry *e = &entries[w];
    const bool behind = k == QUEUE_ADDRESS && e->marker > c->passed;
    if (behind && !goes_ahead(d, x, c, now))
        return false;
    x->n_warps = 1;
    if (k == QUEUE_ADDRESS) {
        if (!c->planned)
            plan_address(d, a, e, w, c->slot[w], &c->plan);
        c->planned = true;
        if (!has_room(d, c->slot[w], k, c->plan.records, &spills) && !(spills = behind || is_overdue(d, k, c, now)))
            return no_room(d, k, c, c->slot[w], c->plan.records);
        spills |= behind;
        cycles += c->plan.cycles;
    } else {
        if (!has_room(d, c->slot[w], k, 1, &spills) && !(spills = is_overdue(d, k, c, now)))
            return no_room(d, k, c, c->slot[w], 1);
        cycles = dac_compare(d, e) == COMPARE_ENDS ? 2 : 1;
        /* One comparison serves all warps that have room. A warp that exceeds the size of its queue is served alone. */
        if (e->compare == COMPARE_CTA)
            while (!spills && w + x->n_warps < c->n_warps &&
                   (!entries[w + x->n_warps].lanes || fits(d, c->slot[w + x->n_warps], k, 1)))
                x->n_warps++;
    }
    x->spills = spills;
    cycles += spills ? d->cfg->l1.latency : 0;
    x->seq = c->seq[k];
    x->cta = (uint32_t)(c - d->cta);
    x->warp = w;
    x->done_at = now + cycles;
    c->begun[k] = true;
    c->blocked[k] = NO_TIME;
    c->full[k] = false;
    d->n.busy[k] += cycles;
    return true;
}

static struct dac_record *push_record(struct dac_queue *q) {
    if (q->n == q->cap) {
        uint32_t cap = q->cap ? 2 * q->cap : 8;
        struct dac_record *r = malloc(cap * sizeof *r);
        if (!r)
            return NULL;
        for (uint32_t i = 0; i < q->n; i++)
            r[i] = *dac_record_at(q, i);
        free(q->record);
        q->record = r;
        q->cap = cap;
        q->first = 0;
    }
    return dac_record_at(q, q->n++);
}

void dac_pop(struct dac *d, uint32_t slot) {
    struct dac_queue *q = &d->queue[slot];
    struct dac_record *r = &q->record[q->first];
    q->used[QUEUE_ADDRESS] -= r->lines;
    d->filled[QUEUE_ADDRESS] -= r->lines;
    q->first = (q->first + 1) & (q->cap - 1);
    q->n--;
    q->serial++;
}

static bool deliver_one(struct dac *d, const struct atq_entry *a, struct dac_cta *c, uint32_t warp, bool spills,
                        uint64_t now) {
    const uint32_t slot = c->slot[warp];
    struct affine_entry *e = &a->entries[c->index * c->n_warps + warp];
    struct dac_queue *q = &d->queue[slot];
    d->n.spills += spills;
    d->n.records[a->queue]++;
    if (a->queue == QUEUE_ADDRESS) {
        const struct dac_plan *p = &c->plan;
        struct dac_record *r = push_record(q);
        c->planned = false;
        if (!r)
            return false;
        *r = (struct dac_record){.lines = p->records, .line = NO_LINE, .lanes = e->lanes};
        d->n.wide += p->wide;
        q->used[QUEUE_ADDRESS] += p->records;
        d->filled[QUEUE_ADDRESS] += p->records;
        /* lines are not requested for a swapped-out warp, which would hold their locks until it runs again */
        bool early = p->early && !(spills && is_away(d, slot));
        if (early && !dac_want(d, slot, r, p->line, p->sectors, p->n_lines))
            return false;
    } else {
        q->used[QUEUE_PREDICATE]++;
        d->filled[QUEUE_PREDICATE]++;
        d->n.compared[dac_compare(d, e)]++;
    }
    if (!supply_put(&d->supply, slot, e))
        return false;
    e->exact = NULL;
    e->lanes = 0;
    if (q->starved[a->queue]) {
        q->starved[a->queue] = false;
        sm_reconsider(d->sm, slot, now);
    }
    return true;
}

/* Advances to the next entry, since this entry is expanded for the CTA. Entries that are expanded for all CTAs leave
 * the ATQ. */
static void entry_done(struct dac *d, struct dac_cta *c, enum supply_queue k) {
    struct atq_entry *a = atq_at(d, c->seq[k]);
    a->left &= ~(1u << c->index);
    d->n.atq_accesses++;
    c->seq[k]++;
    c->warp[k] = 0;
    c->begun[k] = false;
    while (d->head < d->tail && !atq_at(d, d->head)->left) {
        free_entries(atq_at(d, d->head), d->shape->n_warps);
        d->head++;
    }
}

static void deliver(struct dac *d, enum supply_queue k, uint64_t now) {
    struct expander *x = &d->expander[k];
    struct dac_cta *c = &d->cta[x->cta];
    struct atq_entry *a = atq_at(d, x->seq);
    struct affine_entry *entries = &a->entries[c->index * c->n_warps];
    uint32_t w = x->warp, end = x->warp + x->n_warps;
    x->done_at = NO_TIME;
    for (; w < end; w++) {
        if (!entries[w].lanes)
            continue;
        if (!deliver_one(d, a, c, w, x->spills, now)) {
            d->out_of_memory = true;
            return;
        }
    }
    while (w < c->n_warps && !entries[w].lanes)
        w++;
    c->warp[k] = w;
    if (w == c->n_warps)
        entry_done(d, c, k);
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        if (d->stream[i].context != NO_CONTEXT)
            sm_reconsider(d->sm, d->stream[i].context, now);
}

/* Finds the next ATQ entry that this unit must expand for the CTA. Returns false if there is none yet. */
static bool find_entry(struct dac *d, struct dac_cta *c, enum supply_queue k) {
    if (c->seq[k] < d->head)
        c->seq[k] = d->head;
    for (; c->seq[k] < d->tail; c->seq[k]++) {
        const struct atq_entry *a = atq_at(d, c->seq[k]);
        if (a->queue == k && c->index < a->n_ctas && a->cta[c->index] == (uint8_t)(c - d->cta) &&
            a->left >> c->index & 1)
            return true;
        c->warp[k] = 0;
        c->begun[k] = false;
    }
    return false;
}

/* Serves the first CTA in the mask `ctas` that can continue. Returns false if no CTA can continue. */
static bool serve(struct dac *d, enum supply_queue k, uint64_t ctas, uint64_t now) {
    for (; ctas; ctas &= ctas - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(ctas);
        struct dac_cta *c = &d->cta[slot];
        if (still_no_room(d, k, c, now))
            continue;
        if (!find_entry(d, c, k)) {
            d->sent_to[k] &= ~((uint64_t)1 << slot);
        } else if (begin(d, k, c, now)) {
            d->expander[k].turn = slot;
            d->expander[k].full = false;
            return true;
        }
    }
    return false;
}

static void expand(struct dac *d, enum supply_queue k, uint64_t now) {
    struct expander *x = &d->expander[k];
    if (x->done_at != NO_TIME && x->done_at <= now)
        deliver(d, k, now);
    if (x->done_at != NO_TIME)
        return;
    x->full = false;
    x->retry_at = UINT64_MAX;
    const uint64_t behind = x->turn == SM_CTA_SLOTS - 1 ? 0 : d->sent_to[k] & UINT64_MAX << (x->turn + 1);
    if (!serve(d, k, behind, now))
        serve(d, k, d->sent_to[k] & ~behind, now);
}

void dac_expand(struct dac *d, uint64_t now) {
    if (d->head == d->tail) /* if the ATQ is empty, no CTA waits for room */
        return;
    expand(d, QUEUE_ADDRESS, now);
    expand(d, QUEUE_PREDICATE, now);
}

uint64_t dac_expand_next(const struct dac *d) {
    uint64_t next = UINT64_MAX;
    for (int k = 0; k < EXPANDERS; k++) {
        const struct expander *x = &d->expander[k];
        uint64_t at = x->done_at == NO_TIME ? x->retry_at : x->done_at;
        next = at < next ? at : next;
    }
    return next;
}
