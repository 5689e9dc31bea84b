#ifndef ISA_HEAP_H
#define ISA_HEAP_H
/* The heap of malloc() and free() in kernels, in one allocation of device memory. Thread-safe. mem_make_heap() creates
 * it. */
#include <stdbool.h>
#include <stdint.h>

enum {
    DEVICE_HEAP_BYTES = 8 << 20, /* default size, as for CUDA's cudaLimitMallocHeapSize */
    DEVICE_HEAP_ALIGN = 16,
};
struct device_heap;

/* Creates an empty heap of the `bytes` at device address `address`. Returns NULL if out of memory. */
struct device_heap *device_heap_new(uint64_t address, uint64_t bytes);
void device_heap_free(struct device_heap *h);
/* Returns the device address of `bytes` > 0 new bytes, aligned to 16; 0 if the heap is full or missing. */
uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes);
/* Frees a block. Returns false if `address` is not from device_heap_alloc(). */
bool device_heap_release(struct device_heap *h, uint64_t address);
#endif
