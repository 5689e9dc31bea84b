#ifndef ISA_MACHINE_SHAPE_H
#define ISA_MACHINE_SHAPE_H
/* How the addresses of a warp's lanes lie, where that is simple: executors find it, and who comes after them need not
 * look at 32 addresses again. */
#include "isa/types.h"

enum { HALF_LANES = WARP_LANES / 2 };

/* How the lanes of each half of a warp lie: all at one address, or one after another without gaps. Rows of 16 threads
 * are half warps. */
enum shape { SHAPE_ANY, SHAPE_UNIFORM, SHAPE_UNIT };

/* Of SHAPE_ANY nothing is known. Else accesses are aligned to their size, which is a power of two. */
struct halves {
    uint64_t first[2]; /* where lanes 0 and 16 are, or would be if they executed; of a half in which no lane executes,
                        * that of the other one */
    uint8_t shape;     /* enum shape */
};

/* Where a lane is, or would be. Not of SHAPE_ANY. */
static inline uint64_t halves_lane(const struct halves *h, unsigned lane, unsigned bytes) {
    return h->first[lane / HALF_LANES] + (h->shape == SHAPE_UNIT ? lane % HALF_LANES * bytes : 0);
}
#endif
