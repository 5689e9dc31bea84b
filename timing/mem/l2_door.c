/* The door of an L2 slice, through which packets pass from the crossbar to the slice. The other functions of the slice
 * are in l2.c. */
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "l2.h"

/* Returns the cycles for which an atomic occupies the data array: one for each lane with the most contended address,
 * and for each l2.atomic_bytes of data. */
static uint8_t atomic_cycles(const struct l2 *s, const struct mem_request *r) {
    enum { MOST = 63 }; /* see pack() in l2.c */
    const uint32_t units = s->atomic_bytes ? (r->bytes + s->atomic_bytes - 1) / s->atomic_bytes : 1;
    return (uint8_t)(units <= r->serial ? r->serial : units < MOST ? units : MOST);
}

/* Builds the request in its ring entry, because copying a struct right after its fields were stored would stall the
 * host's pipeline. */
void l2_accept(struct l2 *s, const struct mem_request *r, const struct mem_place *at, uint64_t arrival) {
    unsigned shift = at->offset / 32;
    bool atomic = r->kind == MEM_ATOMIC;
    struct l2_door *d = &s->door[at->far];
    const uint64_t put = atomic_load_explicit(&d->put, memory_order_relaxed);
    struct l2_request *in = &d->at[put & s->door_mask];
    if (at->far)
        s->n.far++;
    *in = (struct l2_request){.ready = arrival + s->rop_latency + (at->far ? s->far_latency : 0),
                              .line = at->line,
                              .tag = r->tag,
                              .pc = r->pc,
                              .sm = r->sm,
                              .bytes = r->bytes,
                              .kind = r->kind,
                              .serial = atomic ? atomic_cycles(s, r) : 0,
                              .warp = r->warp,
                              .sectors = (uint8_t)(r->sectors << shift),
                              .shift = (uint8_t)shift,
                              .full = (uint8_t)(atomic ? 0 : r->full << shift)};
    atomic_store_explicit(&d->put, put + 1, memory_order_release);
}

bool l2_receive(struct l2 *s) {
    bool any = false;
    for (int far = 0; far < 2; far++) {
        struct l2_queue *q = &s->in[far];
        const uint64_t put = atomic_load_explicit(&s->door[far].put, memory_order_acquire);
        hot_assert(put - q->head <= s->in_depth);
        if (put == q->tail)
            continue;
        if (q->head == q->tail)
            s->next = min64(s->next, max64(q->at[q->tail & s->in_mask].ready, s->port_free));
        q->tail = put;
        any = true;
    }
    return any;
}
