/* Reserves ranges of device addresses, and maps memory that the caller owns into these ranges. */
#include "reserve.h"
#include "context.h"

uint64_t reserve_range(struct heddle *h, uint64_t bytes, uint64_t align, uint64_t hint) {
    return context_enter(h) ? mem_reserve(&h->memory, bytes, align, hint) : 0;
}

bool reserve_place(struct heddle *h, uint64_t begin, uint64_t end, const struct mem_piece *pieces, uint32_t n) {
    return context_enter(h) && mem_place(&h->memory, begin, end, pieces, n);
}

bool reserve_take(struct heddle *h, uint64_t bytes) { return context_enter(h) && mem_take(&h->memory, bytes); }

bool reserve_heap(struct heddle *h, uint64_t bytes) { return context_enter(h) && mem_set_heap_size(&h->memory, bytes); }

void reserve_give(struct heddle *h, uint64_t bytes) { mem_give(&h->memory, bytes); }
