#ifndef ISA_CALL_H
#define ISA_CALL_H
/* Calls and returns: return addresses by lane, argument copies, frames of recursive functions.
 *
 * What lowering hands over
 * - Every .param and .local variable of a function, formal parameters and results included, has an offset in the
 *   function's frame. The frame of a function that is not recursive lies at functions[].frame_base in the thread's
 *   local memory: its accesses are SPACE_LOCAL with that constant address. A recursive function reaches its frame
 *   through the hidden register program.frame_pointer (64 bits a lane, a byte offset in local memory, kept by call and
 *   ret): inst.a = frame_pointer, inst.imm = offset; a variable's address is frame_pointer + offset.
 *   frame_bytes is a multiple of 16.
 * - K_CALL: target = the callee's entry PC, rpc = the PC it returns to (the next instruction). Through a pointer: a =
 *   the register that holds the address (CODE_BASE + 16 * id), asize = its bytes; target is unused.
 *   lists[in->list ...] describes the call (in->n_list is not used):
 *     [0] index of the callee in program.functions; CALL_INDIRECT through a pointer
 *     [1] number of inputs
 *     [2] number of results
 *     then for each input, and then for each result, three words: the offset of the caller's variable in the CALLER's
 *     frame; the offset of the formal one in the CALLEE's frame (unused through a pointer: by position, from
 *     param_offset); bytes
 *   Inputs are copied when the call executes, results when the callee returns.
 * - functions[].param_offset: offsets of the formal inputs, then of the formal results; used through a pointer only, so
 *   functions with more than 16 of them can only be called directly.
 * - K_RET: d, a and so on are unused; rpc should be PC_EXIT. Each function has one K_RET. Lanes without a caller leave.
 * - Functions that use alloca are made recursive, so that their stack memory goes when they return.
 * - A recursive function (one that can be active twice in a thread) lists the registers of its own that a call of it
 *   must save: lists[saves ...] holds n_saves pairs: byte offset in bank 0, bytes a lane (0: a predicate mask). */
#include "effects.h"

#define CALL_INDIRECT 0xffffffffu
enum {
    CALL_MAX_DEPTH = 1024,        /* active calls of a thread */
    CALL_STACK_BYTES = 64 * 1024, /* local memory of a thread for frames of recursive functions and for alloca */
};

/* ret and exit; exec_ret is exec_exit when its kind is K_EXIT (ret in a kernel). */
void exec_exit(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx);
void exec_call(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx);
void exec_ret(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx);
/* Where a call or return leads that `lane` executes now. False: out of its function, or to a fault. */
bool calls_next(const struct warp *w, const struct inst *in, int lane, uint32_t *next);
/* exec_call() or exec_ret() of a call or return without guard, for lanes `m` (at least one) that all go to one place,
 * *next, without recursion. False: it is not as simple, and nothing has been done. */
bool calls_step(struct warp *w, const struct inst *in, lanemask_t m, uint32_t *next);
/* Those of `lanes`, which are about to return from their functions, who then have nothing left to do but return, as
 * often as they have been called, and exit. */
lanemask_t calls_end_in_exits(const struct warp *w, lanemask_t lanes);
/* Forgets all calls and sets frame pointers: for cta_start(). */
void calls_reset(struct warp *w);
void calls_free(struct call_stack *c);
/* Bytes of local memory a thread of `p` needs beyond program.local_bytes. */
uint32_t calls_stack_bytes(const struct program *p);
/* A lane's stack pointer, which alloca moves: a byte offset in its local memory, upwards from calls_stack_begin() to at
 * most warp.local_bytes. Returning from a recursive function sets it back. NULL: the host is out of memory. */
uint32_t *calls_stack_pointer(struct warp *w, int lane);
uint32_t calls_stack_begin(const struct program *p);
#endif
