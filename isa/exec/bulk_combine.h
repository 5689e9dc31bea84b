#ifndef ISA_BULK_COMBINE_H
#define ISA_BULK_COMBINE_H
/* Element operations of cp.reduce.async.bulk, cp.reduce.async.bulk.tensor and red.async. */
#include <stdbool.h>
#include <stdint.h>

/* Combines `bytes` bytes of elements of `type` (enum type) at `from` into those at `to` by operation `op` (OPN_ value).
 * `bytes` is a multiple of the element's size. f32 sums flush subnormals, as atomics on device memory do. */
void bulk_combine(unsigned op, unsigned type, unsigned char *to, const unsigned char *from, uint32_t bytes);
/* Returns true if elements of this type have this operation. */
bool bulk_combines(unsigned op, unsigned type);
#endif
