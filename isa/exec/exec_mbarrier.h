#ifndef ISA_EXEC_MBARRIER_H
#define ISA_EXEC_MBARRIER_H
/* The 64 bits of an mbarrier object in shared memory, opaque to PTX (PTX ISA 9.0, section 9.7.13.15). The state that
 * arrive returns is the object's word before the arrival. A word of zero means that no object exists: memory starts as
 * zero, and inval writes zero. */
#include "isa/decode.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    MBARRIER_COUNT_BITS = 20,
    MBARRIER_COUNT_MAX = (1 << MBARRIER_COUNT_BITS) - 1,
    /* positions in the object: each constant is the number of the lowest bit of a field */
    MBARRIER_PENDING = 0,   /* 20 bits: number of arrivals that the phase still waits for */
    MBARRIER_EXPECTED = 20, /* 20 bits: number of arrivals that the next phase will wait for */
    MBARRIER_TX = 40,       /* 21 bits, signed: number of asynchronous transactions that the phase waits for */
    MBARRIER_PHASE = 62,    /* 1 bit: parity of the phase, 0 at first */
    MBARRIER_LIVE = 63,     /* 1 bit: initialised */
};
struct cta;
struct warp;
/* Performs an arrival that waited for copies. The caller calls it when these copies are complete. `address`: offset of
 * the object in shared memory. Used only if cta.copies_take_time is set. An object that was invalidated before the
 * copies completed stays invalid. */
void mbarrier_copies_done(struct cta *c, uint64_t address);
/* Arrives once at the object at `address`, an offset in the shared memory of `c`. Returns the
 * reason why it cannot, or NULL if it has arrived. */
const char *mbarrier_arrive_once(struct cta *c, uint64_t address);
/* Completes `bytes` bytes of transactions at the object at `address`, an offset in the shared memory of `c`. With 0
 * bytes, only checks the object. Returns an error message if the object is invalid, else NULL. */
const char *mbarrier_complete_bytes(struct cta *c, uint64_t address, uint32_t bytes);

/* An mbarrier at which lanes of a warp wait for the end of a phase. */
struct mbarrier_wait {
    uint64_t address;           /* in shared memory */
    unsigned phase;             /* parity of the phase that the lanes wait for, 0 or 1 */
    uint32_t pending, expected; /* arrivals that the phase still waits for, and arrivals of the next phase */
    int32_t bytes;              /* transactions that the phase still waits for; an unfinished copy counts 1 here if a
                                 * cp.async.mbarrier.arrive waits for it */
    rowmask_t lanes;            /* the lanes that wait at this mbarrier */
};
/* Returns true if `in` is a test_wait or try_wait. */
bool mbarrier_is_wait(const struct inst *in);
/* Finds the first mbarrier whose phase has not ended, among the mbarriers that the lanes `m` test with instruction
 * `in`. `w` is one row of a warp. Returns false if there is none. Changes no state. */
bool mbarrier_find_wait(struct warp *w, const struct inst *in, rowmask_t m, struct mbarrier_wait *out);
#endif
