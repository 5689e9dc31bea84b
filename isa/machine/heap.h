#ifndef ISA_HEAP_H
#define ISA_HEAP_H
/* The heap of malloc() and free() in kernels. Thread-safe. */
#include "memory.h"

enum { DEVICE_HEAP_BYTES = 8 << 20 }; /* default size, as for CUDA's cudaLimitMallocHeapSize */

/* Creates the heap of `m`; does nothing if it has one. Must not be called while a launch runs, since it rearranges
 * device memory. Returns false if out of memory. */
bool device_heap_make(struct memory *m);
/* Sets the size of a heap not created yet, in bytes. Returns false if the heap exists. */
bool device_heap_size(struct memory *m, uint64_t bytes);
/* Returns the device address of `bytes` > 0 new bytes, aligned to 16; 0 if the heap is full or missing. */
uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes);
/* Frees a block. Returns false if `address` is not from device_heap_alloc(). */
bool device_heap_release(struct device_heap *h, uint64_t address);
#endif
