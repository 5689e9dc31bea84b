#ifndef ISA_MACHINE_HELD_H
#define ISA_MACHINE_HELD_H
/* Held stores: stores to device memory that their owner sees at once and all others only after they are performed.
 * Warps on several host threads then read memory that none of them changes, so results do not depend on thread
 * timing. */
#include "isa/types.h"
#include <stddef.h>

struct held_stores {
    unsigned char *records; /* stores in order, `used` bytes */
    size_t used, room;
    uint64_t lines; /* a filter: bit (host address / 128) % 64 is set for every byte stored */
    bool off;       /* stores are performed at once */
};

/* Frees all records and clears `h`. */
void held_free(struct held_stores *h);
/* Records a store of `bytes` bytes per lane (1 to 32) at host addresses base + addr[lane]. `unit`: all lanes,
 * contiguous. Returns the buffer for the data, lane l at l * bytes; NULL if out of memory, and then the caller performs
 * the store at once. */
unsigned char *held_add(struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, lanemask_t lanes,
                        unsigned bytes);
/* True if a byte of these accesses may be in a held store. False positives are possible. */
bool held_touches(const struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, lanemask_t lanes,
                  unsigned bytes);
/* Reads `bytes` bytes at host address `at`, with held stores applied. */
void held_read(const struct held_stores *h, const unsigned char *at, unsigned char *to, unsigned bytes);
/* Performs all held stores in order. If lanes store to the same place, the last lane wins. */
void held_perform(struct held_stores *h);
#endif
