#ifndef ISA_MACHINE_HELD_H
#define ISA_MACHINE_HELD_H
/* Stores to device memory that are held back: those who made them see them at once, all others when they are performed.
 * So warps that run on several host threads at the same time read memory that none of them changes, and what they read
 * does not depend on who is faster. */
#include "isa/types.h"
#include <stddef.h>

struct held_stores {
    unsigned char *records; /* of `used` bytes: what was stored, in order */
    size_t used, room;
    uint64_t lines; /* bit (host address / 128) % 64 of every byte stored */
    bool off;       /* stores are performed when they are made */
};

void held_free(struct held_stores *h);
/* A store of `bytes` bytes a lane (1 to 32) at the host addresses base + addr[lane]; `unit`: all lanes, one after
 * another without gaps. Returns where lane l's bytes are to be put, at l * bytes; NULL when memory is out, and then the
 * store is to be performed at once. */
unsigned char *held_add(struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, lanemask_t lanes,
                        unsigned bytes);
/* May a byte of these accesses be held? */
bool held_touches(const struct held_stores *h, uintptr_t base, const uint64_t *addr, bool unit, lanemask_t lanes,
                  unsigned bytes);
/* The `bytes` bytes at host address `at`, as their own side sees them. */
void held_read(const struct held_stores *h, const unsigned char *at, unsigned char *to, unsigned bytes);
/* Performs all of them, in order; of lanes that store to one place, the last one stays. */
void held_perform(struct held_stores *h);
#endif
