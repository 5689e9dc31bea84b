/* What the unit tells of itself: statistics, and lines of deadlock reports. */
#include "dac_parts.h"
#include "timing/report/trace.h"
#include <inttypes.h>
#include <string.h>

void dac_account(struct dac *d, uint64_t now) {
    if (now <= d->accounted)
        return;
    d->n.atq_sum += (now - d->accounted) * (d->tail - d->head);
    d->n.locked_sum += (now - d->accounted) * d->locked;
    d->n.atq_full += (now - d->accounted) * (d->sends && !atq_has_room(d));
    for (int k = 0; k < N_QUEUES; k++)
        d->n.queue_sum[k] += (now - d->accounted) * d->filled[k];
    for (int k = 0; k < EXPANDERS; k++)
        d->n.queue_full[k] += (now - d->accounted) * d->expander[k].full;
    d->accounted = now;
}

void dac_look(void *u, struct sm *sm, uint64_t now) {
    static const char *const names[N_CURVES] = {"affine tuple queue", "address queues", "predicate queues",
                                                "locked lines"};
    struct dac *d = u;
    const uint64_t is[N_CURVES] = {[CURVE_ATQ] = d->tail - d->head,
                                   [CURVE_ADDRESSES] = d->filled[QUEUE_ADDRESS],
                                   [CURVE_PREDICATES] = d->filled[QUEUE_PREDICATE],
                                   [CURVE_LOCKED] = d->locked};
    (void)sm;
    for (int k = 0; k < N_CURVES; k++)
        if (is[k] != d->traced[k]) {
            trace_note(d->trace,
                       &(struct trace_event){
                           .from = now, .to = now, .address = is[k], .name = names[k], .kind = TRACE_COUNTER});
            d->traced[k] = is[k];
        }
}

void dac_stats(void *u, struct stats *s) {
    struct dac *d = u;
    const struct dac_counts *n = &d->n;
    static const char *const by_class[N_STEP_CLASSES] = {NULL, "dac.scalar_instructions", "dac.tuple_instructions",
                                                         "dac.each_instructions", "dac.vector_instructions"};
    for (int k = 0; k < N_STEP_CLASSES; k++)
        if (by_class[k])
            stats_add(s, by_class[k], (double)n->by_class[k]);
    stats_add(s, "dac.affine_instructions", (double)n->instructions);
    stats_add(s, "dac.affine_slots", (double)n->slots);
    stats_add(s, "dac.fallbacks", (double)n->fallbacks);
    stats_add(s, "dac.warp_divergences", (double)n->warp_divergences);
    stats_add(s, "dac.thread_divergences", (double)n->thread_divergences);
    stats_add(s, "dac.loads", (double)n->loads);
    stats_add(s, "dac.decoupled_loads", (double)n->decoupled[SITE_DATA]);
    stats_add(s, "dac.decoupled_addresses", (double)n->decoupled[SITE_ADDR]);
    stats_add(s, "dac.decoupled_predicates", (double)n->decoupled[SITE_PRED]);
    stats_add(s, "dac.predicates_cta", (double)n->compared[COMPARE_CTA]);
    stats_add(s, "dac.predicates_ends", (double)n->compared[COMPARE_ENDS]);
    stats_add(s, "dac.predicates_lanes", (double)n->compared[COMPARE_LANES]);
    stats_add(s, "dac.batches", (double)n->batches);
    stats_add(s, "dac.batch_ctas", (double)n->batch_ctas);
    stats_add(s, "dac.address_cycles", (double)n->busy[QUEUE_ADDRESS]);
    stats_add(s, "dac.predicate_cycles", (double)n->busy[QUEUE_PREDICATE]);
    stats_add(s, "dac.tuple_reads", (double)n->tuple_reads);
    stats_add(s, "dac.tuple_writes", (double)n->tuple_writes);
    stats_add(s, "dac.atq_accesses", (double)n->atq_accesses);
    stats_add(s, "dac.atq_full", (double)n->atq_full);
    stats_add(s, "dac.atq_cycles", (double)n->atq_sum);
    stats_add(s, "dac.atq_max", (double)n->atq_max);
    stats_add(s, "dac.pwaq_cycles", (double)n->queue_sum[QUEUE_ADDRESS]);
    stats_add(s, "dac.pwpq_cycles", (double)n->queue_sum[QUEUE_PREDICATE]);
    stats_add(s, "dac.pwaq_full", (double)n->queue_full[QUEUE_ADDRESS]);
    stats_add(s, "dac.pwpq_full", (double)n->queue_full[QUEUE_PREDICATE]);
    stats_add(s, "dac.pwaq_empty", (double)n->queue_empty[QUEUE_ADDRESS]);
    stats_add(s, "dac.pwpq_empty", (double)n->queue_empty[QUEUE_PREDICATE]);
    stats_add(s, "dac.data_late", (double)n->data_late);
    stats_add(s, "dac.records", (double)n->records[QUEUE_ADDRESS]);
    stats_add(s, "dac.masks", (double)n->records[QUEUE_PREDICATE]);
    stats_add(s, "dac.lines", (double)n->lines);
    stats_add(s, "dac.lines_without_lock", (double)n->without);
    stats_add(s, "dac.locked_cycles", (double)n->locked_sum);
    stats_add(s, "dac.locked_max", (double)n->locked_max);
    stats_add(s, "dac.unlocks", (double)n->unlocks);
    stats_add(s, "dac.wide_records", (double)n->wide);
    stats_add(s, "dac.spills", (double)n->spills);
    memset(&d->n, 0, sizeof d->n);
}

static const char *kind_name(uint8_t kind) {
    return kind == SITE_DATA ? "data" : kind == SITE_ADDR ? "address" : "predicate";
}

static void describe_queue(const struct dac *d, uint32_t slot, enum supply_queue q, FILE *out) {
    const struct supply_ring *r = &d->supply.ring[slot][q];
    const struct program *p = sm_get_launch(d->sm)->program;
    if (!r->n && !d->queue[slot].starved[q])
        return;
    const struct warp *w = sm_get_warp(d->sm, slot);
    fprintf(out, "  dac: CTA (%u,%u,%u), warp %u: %u of %u in its %s queue", w->cta->id.x, w->cta->id.y, w->cta->id.z,
            w->index, d->queue[slot].used[q], d->size[q], q == QUEUE_ADDRESS ? "address" : "predicate");
    if (r->n) {
        const struct affine_entry *e = &r->e[r->first];
        fprintf(out, ", the first for the %s of line %u, lanes 0x%08x", kind_name(e->kind), p->sites[e->site].line,
                e->lanes);
        if (q == QUEUE_ADDRESS && d->queue[slot].record[d->queue[slot].first].waiting)
            fprintf(out, ", %u lines on their way", d->queue[slot].record[d->queue[slot].first].waiting);
    }
    fprintf(out, "%s\n", d->queue[slot].starved[q] ? "; it waits for one that has not come" : "");
}

void dac_describe(const void *u, const struct sm *sm, FILE *out) {
    const struct dac *d = u;
    if (!d->active || !d->engine)
        return;
    fprintf(out, "  dac: %" PRIu64 " of %u entries in the affine tuple queue; %u lines locked", d->tail - d->head,
            d->cfg->dac.atq, d->locked);
    if (d->context != NO_CONTEXT && !engine_done(d->engine)) {
        const struct inst *in = engine_next(d->engine);
        fprintf(out, "; the affine warp is at line %u%s",
                sm_get_launch(sm)->program->info[in - sm_get_launch(sm)->program->code].line,
                atq_has_predicate(d, d->waits) ? " and waits for a predicate to be expanded" : "");
    }
    fputc('\n', out);
    for (uint32_t w = 0; w < d->supply.n_warps; w++)
        if (sm_get_warp(sm, w) && !sm_is_context(sm, w))
            for (int q = 0; q < N_QUEUES; q++)
                describe_queue(d, w, (enum supply_queue)q, out);
}
