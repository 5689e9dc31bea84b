#ifndef ISA_WALK_H
#define ISA_WALK_H
/* heddle.walk: an instruction of Heddle for machines with a unit that walks a tree, as the units of GPUs for ray
 * tracing do.
 *
 *     heddle.walk.global.v2.b32 {d, e}, [a];
 *
 * `a` is the address of a record (struct walk_record). The instruction returns the record's two results. The walk unit
 * of the timing model (timing/mem/walker.h) makes the accesses of the walk: the 64 bytes around each address of the
 * list, in order. A program computes results and lists before the launch, so the walk itself is an input. Records and
 * lists must not change during the launch.
 *
 * A walk is a K_LOAD with cache_op CACHE_WALK. */
#include <stdint.h>

struct walk_record { /* aligned to 8 bytes */
    uint32_t result[2];
    uint64_t list; /* address of the list: a count n of 64 bits, then n addresses of 64 bits; aligned to 8 bytes */
};
enum { WALK_BYTES = 64 }; /* bytes of an access */
#endif
