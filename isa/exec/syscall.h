#ifndef ISA_SYSCALL_H
#define ISA_SYSCALL_H
/* Functions that kernels call and that the simulator provides: rows of the opcode #syscall, of kind K_WARP. */
#include "exec.h"
#include "isa/machine/heap.h"

warp_fn sys_vprintf, sys_malloc, sys_free;

/* Prepares the heap in the memory of launch `l`, if the program may allocate. Call it before a launch runs, because
 * device memory must not be rearranged during a launch. Returns false if memory runs out. */
bool device_heap_prepare(const struct launch *l);
#endif
