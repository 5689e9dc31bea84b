#ifndef ISA_MACHINE_SHAPE_H
#define ISA_MACHINE_SHAPE_H
/* Simple address patterns of a warp. Executors find them, so that later stages need not examine 32 addresses again. */
#include "isa/types.h"

enum { HALF_LANES = WARP_LANES / 2 };

/* Pattern of the addresses in each half of a warp: all equal (uniform), or contiguous (unit stride). The halves are
 * considered separately, because in a CTA with rows of 16 threads each half warp is a row. */
enum shape { SHAPE_ANY, SHAPE_UNIFORM, SHAPE_UNIT };

/* The address pattern of both halves of a warp. SHAPE_ANY means that nothing is known. For other patterns, accesses
 * are aligned to their size, which is a power of two. */
struct halves {
    /* addresses of lanes 0 and 16, whether they execute or not; if no lane of a half executes, its value is that of
     * the other half */
    uint64_t first[2];
    uint8_t shape; /* enum shape */
};

/* Returns the address of a lane, even if the lane does not execute. Not allowed for SHAPE_ANY. */
static inline uint64_t halves_lane(const struct halves *h, unsigned lane, unsigned bytes) {
    return h->first[lane / HALF_LANES] + (h->shape == SHAPE_UNIT ? lane % HALF_LANES * bytes : 0);
}
#endif
