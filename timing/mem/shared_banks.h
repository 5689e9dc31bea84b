#ifndef TIMING_SHARED_BANKS_H
#define TIMING_SHARED_BANKS_H
/* Shared memory: banks that serve one word a cycle each. Lanes that want the same word are served together (broadcast);
 * different words of one bank one after another (CUDA C Programming Guide 3.x, G.4.3). An access wider than a bank
 * counts as so many words: 8 bytes a lane, adjacent, make two passes, 16 bytes four, and one address for all lanes one.
 */
#include "isa/machine/shape.h"

enum { BANKS_MAX = 64 };

struct shared_banks {
    uint32_t banks, width; /* 1 to BANKS_MAX; bytes of a bank's word, a power of two from 4 to 16 */
};

/* Cycles that the banks need for `lanes`, each touching [offset[lane], offset[lane] + bytes); at least 1. */
unsigned shared_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes);
/* The same of lanes that have a shape; 0: look at each. */
unsigned shared_cycles_halves(const struct shared_banks *b, const struct halves *h, lanemask_t lanes, unsigned bytes);
/* As shared_cycles(), for atomics, where lanes with the same word take turns as well. */
unsigned shared_atomic_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes);
#endif
