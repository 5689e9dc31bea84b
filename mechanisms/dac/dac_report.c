/* Statistics of the unit for decoupled affine computation, and its part of deadlock reports. */
#include "dac_parts.h"
#include "timing/report/trace.h"
#include <inttypes.h>
#include <string.h>

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

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct dac_counts
#include "dac.def"
};
/* clang-format on */

void dac_stats(void *u, struct stats *s) {
    struct dac *d = u;
    STATS_COUNT(s, rows, &d->n);
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

static void describe_stream(const struct dac *d, const struct dac_stream *s, FILE *out) {
    const struct program *p = sm_get_launch(d->sm)->program;
    if (s->context == NO_CONTEXT || engine_done(s->engine))
        return;
    fputs("; the affine warp", out);
    if (d->cfg->dac.contexts > 1)
        fprintf(out, " of context %u", (uint32_t)(s - d->stream));
    fprintf(out, " is at line %u%s", p->info[engine_next(s->engine) - p->code].line,
            atq_has_predicate(d, s)   ? " and waits for a predicate to be expanded"
            : s->enq_since != NO_TIME ? " and waits for room in a predicate queue"
                                      : "");
}

void dac_describe(const void *u, const struct sm *sm, FILE *out) {
    const struct dac *d = u;
    if (!d->active || !d->shape)
        return;
    fprintf(out, "  dac: %" PRIu64 " of %u entries in the affine tuple queue; %u lines locked", d->tail - d->head,
            d->cfg->dac.atq, d->locked);
    for (uint32_t i = 0; i < d->cfg->dac.contexts; i++)
        describe_stream(d, &d->stream[i], out);
    fputc('\n', out);
    for (uint32_t w = 0; w < d->supply.n_warps; w++)
        if (sm_get_warp(sm, w) && !sm_is_context(sm, w))
            for (int q = 0; q < N_QUEUES; q++)
                describe_queue(d, w, (enum supply_queue)q, out);
}
