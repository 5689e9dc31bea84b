#ifndef ISA_SYSCALL_H
#define ISA_SYSCALL_H
/* Functions that kernels call and the simulator provides: rows of the opcode #syscall, of kind K_WARP. */
#include "exec.h"

warp_fn sys_vprintf, sys_malloc, sys_free, sys_assertfail;

enum { DEVICE_HEAP_BYTES = 8 << 20 }; /* as CUDA's cudaLimitMallocHeapSize */

/* Makes the heap of `l`'s memory ready when the program may allocate. To be called before a launch runs, because device
 * memory is not rearranged while it does. False: out of memory. */
bool device_heap_prepare(const struct launch *l);
/* 0 when nothing is left. */
uint64_t device_heap_alloc(struct device_heap *h, uint64_t bytes);
/* False when `address` is not what device_heap_alloc() returned. */
bool device_heap_release(struct device_heap *h, uint64_t address);
#endif
