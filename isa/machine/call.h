#ifndef ISA_CALL_H
#define ISA_CALL_H
/* Calls and returns: return addresses per lane, argument copies, frames of recursive functions.
 *
 * What lowering provides:
 * - Every .param and .local variable of a function, including formal parameters and results, has an offset in the
 *   function's frame. The frame of a non-recursive function is at functions[].frame_base in the thread's local memory;
 *   accesses are SPACE_LOCAL with that constant address. A recursive function addresses its frame through the hidden
 *   register program.frame_pointer (64 bits per lane, a byte offset in local memory, maintained by call and ret):
 *   inst.a = frame_pointer, inst.imm = offset. The address of a variable is frame_pointer + offset. frame_bytes is a
 *   multiple of 16.
 * - K_CALL: target = the callee's entry PC, rpc = the PC it returns to (the next instruction). For a call through a
 *   pointer: a = the register with the address (CODE_BASE + 16 * id), asize = its bytes; target is unused.
 *   lists[in->list ...] describes the call (in->n_list is not used):
 *     [0] index of the callee in program.functions; CALL_INDIRECT through a pointer
 *     [1] number of inputs
 *     [2] number of results
 *     then three words for each input and each result: the offset of the caller's variable in the CALLER's frame; the
 *     offset of the formal in the CALLEE's frame (unused through a pointer, where param_offset gives it by position);
 *     the number of bytes
 *   Inputs are copied when the call executes, results when the callee returns.
 * - functions[].param_offset: offsets of the formal inputs, then of the formal results. Only calls through a pointer
 *   use it, so a function with more than 16 of them can only be called directly.
 * - K_RET: operands are unused; rpc is PC_EXIT. Each function has one K_RET. Lanes without a caller exit.
 * - Functions that use alloca are treated as recursive, so that returning frees their stack memory.
 * - A recursive function can be active several times in a thread. A call of it saves its registers: lists[saves ...]
 *   holds n_saves pairs of byte offset in bank 0 and bytes per lane (0: a predicate mask). */
#include "effects.h"

#define CALL_INDIRECT 0xffffffffu
enum {
    CALL_MAX_DEPTH = 1024,        /* maximum call depth of a thread */
    CALL_STACK_BYTES = 64 * 1024, /* bytes of local memory per thread for recursive frames and alloca */
};

/* Execute exit, call and ret for the lanes `m`; effects go to fx. exec_ret() acts like exec_exit() if the kind is
 * K_EXIT (ret in a kernel). */
void exec_exit(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);
void exec_call(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);
void exec_ret(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);
/* Stores in *next the PC to which a call or return takes `lane` now. Returns false if the lane leaves the kernel or
 * faults. */
bool calls_next(const struct warp *w, const struct inst *in, int lane, uint32_t *next);
/* The fast path of exec_call() and exec_ret(). `in` must have no guard, and `m` at least one lane. If all lanes have
 * one target and no function is recursive, performs the call or return, and sets *next to the target. Otherwise returns
 * false without any effect. */
bool calls_step(struct warp *w, const struct inst *in, rowmask_t m, uint32_t *next);
/* Returns the lanes of `lanes` that end in an exit after the current function returns: the code after each of their
 * calls only returns or exits. */
lanemask_t calls_end_in_exits(const struct warp *w, lanemask_t lanes);
/* Clears all calls and resets frame pointers. cta_start() calls this function. */
void calls_reset(struct warp *w);
/* Frees a call stack. NULL is allowed. */
void calls_free(struct call_stack *c);
/* Returns the bytes of local memory that a thread of `p` needs beyond program.local_bytes. */
uint32_t calls_stack_bytes(const struct program *p);
/* Returns a pointer to a lane's stack pointer, or NULL if out of host memory. The stack pointer is a byte offset in
 * the lane's local memory. alloca moves it from calls_stack_begin() up to at most warp.local_bytes. Returning from a
 * recursive function restores it. */
uint32_t *calls_stack_pointer(struct warp *w, int lane);
/* Returns the byte offset in local memory where the stack begins. */
uint32_t calls_stack_begin(const struct program *p);
#endif
