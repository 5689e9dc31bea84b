#ifndef ISA_EXEC_H
#define ISA_EXEC_H
/* Executes one instruction of one warp. The interpreter and the timing model both call exec_inst(), so the meaning of
 * an instruction is defined once. */
/* clang-format off */
/* Operands of each kind of instruction, as lowering sets them and executors read them. Absent sources are OPND_ZERO,
 * absent destinations OPND_SINK. A predicate source is a mask of lanes; lowering computes a negated source (!p) into
 * another register first.
 *   K_LANE           as in the row; dsize, d2size: bytes per lane of the destinations (0: a predicate)
 *   K_CVT            d, a; dsize and msize: bytes of the row's destination and source TYPES; rsize and asize: bytes of
 *                    the destination and source REGISTERS; is_signed: extend the result with its sign
 *   K_LOAD, K_STORE  a: base address (asize bytes per lane); imm: offset; msize, rsize, is_signed, space. One element:
 *                    d (load) or b (store). Vectors: lists[list .. list + n_list) are the elements' registers;
 *                    n_list is 2, 4 or 8
 *           ldmatrix  as a load of 1, 2 or 4 words; a: the address of a row; e: a constant mask of all lanes
 *           #fragment  as ldmatrix of 1 or 2 words, but msize 8: a lane reads twice the bytes of its registers
 *   K_PREFETCH       a, asize, imm, space as for loads; msize 1: any byte of the line; cache_op CACHE_CG: to the L2
 *                    only
 *   K_COPY           source: a, asize, imm, space, msize, as for loads; cache_op. Destination in shared memory: b
 *                    (rsize bytes per lane) + e (64 bits). c: number of bytes to read (dsize 4), or a predicate: lanes
 *                    that read no byte (dsize 0). The rest of the msize bytes is filled with zeros
 *   K_COLLECT        imm: number of a thread's youngest groups that may be incomplete; -1: every copy must be complete
 *   K_ATOM           a, asize, imm, space, msize (= rsize) as for loads; d: old value (OPND_SINK: red); b: operand.
 *                    cas: b is compared, c is the new value. Vectors: lists[list ..) holds n_list / 2 results, then
 *                    n_list / 2 operands
 *           cp.async.mbarrier.arrive: a, asize, imm, space only
 *           mbarrier (64 bits): d: state before (arrive) or a predicate (waits); b: count, state or parity
 *   K_WARP  lop3     with .and, .or: d, d2 (predicate), a, b, c, e: predicate q, imm: table
 *           shfl     d, d2 (predicate), a: value, b: lane, c: clamp and segment mask, e: member mask (form without
 *                    .sync: OPND_ZERO, unused)
 *           vote     d (predicate; ballot: 32 bits), a: predicate, e: member mask (form without .sync: unused)
 *           match    d, d2 (predicate, match.all), a: value, e: member mask
 *           redux    d, a: value, e: member mask
 *           elect    d, d2 (predicate), e: member mask
 *           activemask d        nanosleep a
 *           alloca   d: address, a: bytes, imm: alignment     stacksave d     stackrestore a    (in .local; call.h)
 *           mma, #mma  lists[list .. list + n_list): msize registers of d, then the registers of a, b, c; rsize: bytes
 *                    of each; e: a constant mask of all lanes; imm, m8n8k4 on f16: bit 0: a is .col, bit 1: b is .col
 *           wgmma.mma_async  lists[list ..): msize registers of d, which are also added; the registers of a, unless it
 *                    is in shared memory; metadata; a, b: descriptors (64 bits); c: scale-d (predicate); imm: see
 *                    isa/group_matrix.h; e: a constant mask of all lanes       wgmma.wait_group  imm: groups
 *           #whole   e: a constant mask of all lanes
 *           istypep  d (predicate), a: handle
 *           isspacep d (predicate), a: generic address; imm: 1 for .shared::cluster
 *           getctarank d, a: address     barrier.cluster.arrive: none
 *           #sreg    d, dsize, imm = enum special (clocks and timers)
 *           #vprintf d: result (32 bits), a: format pointer, b: argument buffer pointer (64-bit registers, generic
 *                    addresses)
 *           #malloc  d: pointer (64 bits), a: bytes (64 bits)      #free a: pointer (64 bits)
 *           #assertfail a: message, b: file, c: line (32 bits), e: function; pointers are 64 bits
 *   K_TEX            see exec_tex.h
 *   K_BRANCH         target, rpc
 *   K_BRX            a: index (32 bits); rpc; lists[list] is the number of targets, their PCs follow (n_list is 0)
 *   K_CALL, K_RET    see call.h
 *   K_BARRIER        a: barrier number (32 bits); b: threads (32 bits; OPND_ZERO: all threads of the CTA); rsize is 4
 *                    if b is written. red: d (popc: 32 bits, else a predicate), c: predicate. The row selects the enum
 *                    barrier_mode. barrier.cluster.wait has no operands and waits at CLUSTER_BARRIER (cluster.h)
 *   K_WARPSYNC       e: member mask
 *   K_BSSY           target: join, rpc: barrier       K_BSYNC, K_BREAK imm: barrier
 *   K_EXIT, K_TRAP   none
 *   K_COMPOUND       see isa/compound.h
 *   K_ENQ_DATA, _ADDR  a: address (asize bytes per lane), imm, space, msize and guard of the access; rsize: elements a
 *                    lane (1 without a vector); inst_info.site: its site. The address that is sent includes imm, and
 *                    wraps at 32 bits if asize is 4. The access that receives it has imm 0, asize 8, and as a the
 *                    program's deq_address
 *   K_ENQ_PRED       a: predicate; inst_info.site: its site
 *           #deq.pred d, a: the program's deq_predicate, which is filled before it executes */
/* clang-format on */
#include "isa/machine/effects.h"

/* exec_lane_masked() executes a K_LANE in some of the lanes; exec_cvt() executes a K_CVT. They are not inline, since
 * they are called less often than a K_LANE in all lanes. */
void exec_lane_masked(struct warp *w, const struct inst *in, rowmask_t m);
void exec_cvt(struct warp *w, const struct inst *in, rowmask_t m);

/* Returns true if local memory of `p` may be interleaved by words (warp_local()). Loads and stores support this layout.
 * No other instruction of such a program may access more than one word at once. */
bool exec_local_by_word(const struct program *p);

/* Executes `in` for the lanes of `active`, lanes of the row of `w`, whose guard holds, and fills `fx`: always `fault`,
 * and the other fields that the kind of instruction needs. */
static inline void exec_row(struct warp *w, const struct inst *in, rowmask_t active, struct effects *fx) {
    rowmask_t m = guard_row(w, in, active);
    fx->lanes = m;
    fx->fault = FAULT_NONE;
    if (in->kind == K_LANE) {
        if (m == LANES_ALL)
            in->fn.lane(reg_out(w, in->d), reg_out(w, in->d2), reg_ptr(w, in->a), reg_ptr(w, in->b), reg_ptr(w, in->c),
                        reg_ptr(w, in->e));
        else if (m)
            exec_lane_masked(w, in, m);
        return;
    }
    if (in->kind == K_CVT) {
        if (m)
            exec_cvt(w, in, m);
        return;
    }
    if (in->kind == K_BRANCH) {
        fx->taken = m;
        return;
    }
    if (1ull << in->kind & (1ull << K_NOP | 1ull << K_FENCE | 1ull << K_BSSY | 1ull << K_BSYNC | 1ull << K_BREAK))
        return;
    if (m || in->kind >= K_BRANCH)
        in->fn.warp(w, in, m, fx);
}
/* exec_inst() for the two rows of a warp of 64 lanes, one after the other. Its effects name lanes of the warp. */
void exec_rows(struct warp *w, const struct inst *in, lanemask_t active, struct effects *fx);

/* Executes `in` for the lanes of `active` as exec_row() does, for a warp with one or two rows. Control instructions do
 * not change paths; the caller passes fx to the reconvergence model. */
static inline void exec_inst(struct warp *w, const struct inst *in, lanemask_t active, struct effects *fx) {
    if (__builtin_expect(w->high != NULL, 0))
        exec_rows(w, in, active, fx);
    else
        exec_row(w, in, (rowmask_t)active, fx);
}
/* Returns true if `in`, a load, store or atomic, accesses the shared memory of another CTA in a lane of `active` whose
 * guard holds. Overwrites the memory fields of fx. */
bool exec_is_remote(struct warp *w, const struct inst *in, lanemask_t active, struct effects *fx);
/* Returns true for an instruction before which the copies of its lanes land: a wait for copies, and
 * cp.async.mbarrier.arrive. */
bool exec_lands_copies(const struct inst *in);
/* Returns true for barrier.cluster.arrive. */
bool exec_is_cluster_arrive(const struct inst *in);
void exec_barrier_sync(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);
/* Returns true for a K_BARRIER at which the lanes that arrive wait for all threads of the CTA, and whose number is a
 * constant. Sets *number to it. */
static inline bool exec_barrier_is_of_all(const unsigned char *constants, const struct inst *in, uint32_t *number) {
    *number = 0;
    if (in->fn.warp != exec_barrier_sync || in->guard != NO_GUARD || in->b != OPND_ZERO || !(in->a & 1))
        return false;
    if (in->a != OPND_ZERO)
        memcpy(number, constants + (in->a >> 1), sizeof *number);
    return *number < MAX_NAMED_BARRIERS;
}
/* Fills `fx` as exec_inst() does if all lanes of a warp with one row execute such a barrier. */
static inline void exec_barrier_effects(struct effects *fx, uint32_t number) {
    fx->lanes = LANES_ALL;
    fx->fault = FAULT_NONE;
    fx->barrier = number;
    fx->barrier_threads = 0;
    fx->barrier_mode = BARRIER_SYNC;
}
#endif
