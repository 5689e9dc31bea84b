#ifndef HOST_RESERVE_H
#define HOST_RESERVE_H
/* Device memory for CUDA's interfaces, beyond heddle_alloc(): reserved address ranges, the memory mapped into them, and
 * the heap of kernels. Each function works on a context of heddle_open(). */
#include "heddle.h"
#include "isa/machine/memory.h"

/* Call mem_reserve(), mem_place(), mem_take() and mem_give() (isa/machine/memory.h) for the context's memory. */
uint64_t reserve_range(struct heddle *h, uint64_t bytes, uint64_t align, uint64_t hint);
bool reserve_place(struct heddle *h, uint64_t begin, uint64_t end, const struct mem_piece *pieces, uint32_t n);
bool reserve_take(struct heddle *h, uint64_t bytes);
void reserve_give(struct heddle *h, uint64_t bytes);
/* Does for a context what mem_set_heap_size() does for its memory. */
bool reserve_heap(struct heddle *h, uint64_t bytes);
#endif
