#ifndef ISA_SYSCALL_H
#define ISA_SYSCALL_H
/* Functions that kernels call and the simulator provides: rows of the opcode #syscall, of kind K_WARP. */
#include "exec.h"
#include "isa/machine/heap.h"

warp_fn sys_vprintf, sys_malloc, sys_free;

/* Makes the heap of `l`'s memory ready when the program may allocate. To be called before a launch runs, because device
 * memory is not rearranged while it does. False: out of memory. */
bool device_heap_prepare(const struct launch *l);
#endif
