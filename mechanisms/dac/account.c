/* Sums the number of queue entries, of locked lines and of CTAs over all cycles. */
#include "dac_parts.h"

void dac_account(struct dac *d, uint64_t now) {
    if (now <= d->accounted)
        return;
    d->n.atq_sum += (now - d->accounted) * (d->tail - d->head);
    d->n.locked_sum += (now - d->accounted) * d->locked;
    for (uint32_t i = 0; i < d->cfg->dac.contexts && !atq_has_room(d); i++)
        d->n.atq_full += (now - d->accounted) * d->stream[i].sends;
    d->n.cta_sum += (now - d->accounted) * (uint64_t)__builtin_popcountll(d->pending | d->serving);
    if (d->pending && !d->n_idle)
        d->n.cta_waits += (now - d->accounted) * (uint64_t)__builtin_popcountll(d->pending);
    for (int k = 0; k < N_QUEUES; k++)
        d->n.queue_sum[k] += (now - d->accounted) * d->filled[k];
    for (int k = 0; k < EXPANDERS; k++)
        d->n.queue_full[k] += (now - d->accounted) * d->expander[k].full;
    d->accounted = now;
}
