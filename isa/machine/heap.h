#ifndef ISA_HEAP_H
#define ISA_HEAP_H
/* The heap of malloc() and free() in kernels, in one allocation of device memory. Its functions are thread-safe.
 * mem_make_heap() creates the heap. */
#include <stdbool.h>
#include <stdint.h>

enum {
    DEVICE_HEAP_BYTES = 8 << 20, /* default size, as for CUDA's cudaLimitMallocHeapSize */
    DEVICE_HEAP_ALIGN = 16,
};
struct device_heap;

/* Creates an empty heap in the `bytes` bytes at device address `address`. Returns NULL if out of memory. */
struct device_heap *device_heap_new(uint64_t address, uint64_t bytes);
void device_heap_free(struct device_heap *h);
/* Allocates `bytes` > 0 bytes, aligned to 16. Returns their device address; returns 0 if the heap is full or does not
 * exist. */
uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes);
/* The allocated blocks of a heap: pairs of offset and bytes, in ascending order of the offset. device_heap_blocks()
 * writes up to `max` pairs and returns the number of blocks. device_heap_set_blocks() replaces all blocks. It returns
 * false without any effect if out of memory, or if the blocks overlap or are outside the heap. */
uint32_t device_heap_blocks(struct device_heap *h, uint64_t (*out)[2], uint32_t max);
bool device_heap_set_blocks(struct device_heap *h, const uint64_t (*blocks)[2], uint32_t n);
/* Frees a block. Returns false if `address` is not from device_heap_alloc(). */
bool device_heap_release(struct device_heap *h, uint64_t address);
#endif
