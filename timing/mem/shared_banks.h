#ifndef TIMING_SHARED_BANKS_H
#define TIMING_SHARED_BANKS_H
/* Shared memory consists of banks that serve one word per cycle each. Lanes that access the same word are served
 * together (broadcast). Different words of one bank are served one after another (CUDA C Programming Guide 3.x,
 * G.4.3). An access wider than a bank counts as several words: accesses to 8 adjacent bytes per lane need two
 * passes, accesses to 16 bytes need four, and accesses of all lanes to one address need one. With `parts`, such a warp
 * is served in parts that access 128 bytes at most, of adjacent lanes. Parts share passes in pairs only if all
 * lanes l and l ^ 1 have one address, or all lanes l and l ^ 2 (NVIDIA's forum, topic 77228, for Volta and Turing). */
#include "isa/machine/shape.h"

enum { BANKS_MAX = 64 };

struct shared_banks {
    uint32_t banks, width; /* banks: 1 to BANKS_MAX; width: bytes of a bank's word, a power of two from 4 to 16 */
    bool parts;
};

struct config;
/* Returns the banks of a machine. */
struct shared_banks shared_banks_of(const struct config *c);

/* Returns the cycles that the banks need for `lanes`, at least 1. Lane l touches [offset[l], offset[l] + bytes). */
unsigned shared_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes);
/* Works like shared_cycles(), but faster, for lanes with a known shape. If it returns 0, the caller must use
 * shared_cycles(). */
unsigned shared_cycles_halves(const struct shared_banks *b, const struct halves *h, lanemask_t lanes, unsigned bytes);
/* Works like shared_cycles(), for atomics: lanes with the same word are also served one after another. */
unsigned shared_atomic_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes);
#endif
