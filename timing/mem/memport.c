#include "memport.h"
#include "isa/arith.h"
#include "isa/machine/lazy.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_REPLIES = 64 }; /* entries of the ring of replies that are used at first */

bool memport_init(struct memport *p, uint32_t depth, uint32_t max_outstanding, uint32_t delay) {
    memset(p, 0, sizeof *p);
    uint32_t requests = ring_size(depth), replies = ring_size(max_outstanding);
    p->depth = depth;
    p->max_outstanding = max_outstanding;
    p->delay = delay;
    p->reply_cycle = UINT64_MAX;
    p->request_mask = requests - 1;
    p->reply_mask = (replies < FIRST_REPLIES ? replies : FIRST_REPLIES) - 1;
    p->request = lazy_new(requests * sizeof *p->request);
    p->reply = lazy_new(replies * sizeof *p->reply);
    p->removed_at = lazy_new(requests * sizeof *p->removed_at);
    return p->request && p->reply && p->removed_at;
}

/* Doubling the ring moves an entry by the old size, or not at all, so no entry overwrites another. */
void memport_grow(struct memport *p) {
    for (uint32_t size; (size = p->reply_mask + 1) <= p->outstanding && size < ring_size(p->max_outstanding);) {
        for (uint64_t i = p->taken; i != p->mem.replied; i++)
            if (i & size)
                p->reply[(i & p->reply_mask) + size] = p->reply[i & p->reply_mask];
        p->reply_mask = 2 * size - 1;
    }
}

bool memport_add_near(struct memport *p, uint32_t most) {
    uint32_t replies = ring_size(most);
    p->near = aligned_alloc(_Alignof(struct memport_near), sizeof *p->near);
    if (!p->near)
        return false;
    *p->near = (struct memport_near){.mask = replies - 1, .reply = lazy_new(replies * sizeof *p->near->reply)};
    p->whole |= MEM_NEAR_KINDS;
    return p->near->reply != NULL;
}

void memport_use_flits(struct memport *p, uint32_t flit_bytes, uint32_t most) {
    p->flit_bytes = flit_bytes;
    p->unit = (ICNT_HEADER_BYTES + most + flit_bytes - 1) / flit_bytes;
    if (p->depth < 4 * p->unit)
        p->depth = 4 * p->unit;
}

void memport_free(struct memport *p) {
    if (p->near)
        lazy_free(p->near->reply);
    free(p->near);
    lazy_free(p->request);
    lazy_free(p->reply);
    lazy_free(p->removed_at);
    memset(p, 0, sizeof *p);
}
