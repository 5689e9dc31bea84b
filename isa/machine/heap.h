#ifndef ISA_HEAP_H
#define ISA_HEAP_H
/* The heap behind malloc() and free() of kernels. Its calls may come from several threads at once. */
#include "memory.h"

enum { DEVICE_HEAP_BYTES = 8 << 20 }; /* as CUDA's cudaLimitMallocHeapSize unless set */

/* Gives `m` its heap; nothing when it has one. Not while a launch runs: device memory is rearranged. False: out of
 * memory. */
bool device_heap_make(struct memory *m);
/* How many bytes it is to have, when there is none yet; false: there is one. */
bool device_heap_size(struct memory *m, uint64_t bytes);
/* The address of `bytes` > 0, aligned to 16; 0 when nothing is left, or there is no heap. */
uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes);
/* False when `address` is not what device_heap_alloc() returned. */
bool device_heap_release(struct device_heap *h, uint64_t address);
#endif
