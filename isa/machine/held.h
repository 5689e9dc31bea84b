#ifndef ISA_MACHINE_HELD_H
#define ISA_MACHINE_HELD_H
/* Held stores: stores to device memory that are delayed. The warp that stores reads the new values at once. All other
 * warps read them only after the stores are performed. While warps run on several host threads, the memory does not
 * change, so results do not depend on thread timing. */
#include "isa/types.h"
#include <stddef.h>

struct held_stores {
    unsigned char *records; /* records of stores in program order; `used` bytes are in use */
    size_t used, room;
    uint64_t lines; /* a filter: bit (host address / 128) % 64 is set for every byte stored */
    bool off;       /* true if stores are performed at once */
};

/* Frees all records and clears `h`. */
void held_free(struct held_stores *h);
/* Records a store of `bytes` bytes per lane (1 to 32) at host addresses base + addr[lane]. `unit` means that all
 * lanes store to contiguous addresses. Returns the buffer for the data, where lane l starts at l * bytes. Returns
 * NULL if out of memory; the caller then performs the store at once. */
unsigned char *held_add(struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, rowmask_t lanes,
                        unsigned bytes);
/* Returns true if a byte of these accesses may be in a held store. False positives are possible. */
bool held_touches(const struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, rowmask_t lanes,
                  unsigned bytes);
/* Reads `bytes` bytes at host address `at`, with held stores applied. */
void held_read(const struct held_stores *h, const unsigned char *at, unsigned char *to, unsigned bytes);
/* Performs all held stores in order. If several lanes of a store write one address, the last lane wins. */
void held_perform(struct held_stores *h);
#endif
