/* Compiles one block. Its instructions are compiled in order (with AVX2 in strips of lanes), then the jump to the next
 * block. */
#include "compile.h"
#include <stdlib.h>
#include <string.h>

/* ---- the block ---- */

static const enum gpr saved[] = {RBX, RBP, R12, R13, R14, R15};
enum { N_SAVED = sizeof saved / sizeof saved[0] };

static void emit_prologue(struct compiler *c) {
    struct emit *e = &c->e;
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    emit_bytes(e, endbr64, sizeof endbr64);
    for (int i = 0; i < N_SAVED; i++)
        emit_push(e, saved[i]);
    emit_alu_imm(e, ALU_SUB, true, RSP, 8); /* the ABI aligns the stack to 16 bytes at calls */
    emit_mov(e, FRAME, RDI);
    emit_load(e, true, BANK0, frame_at(offsetof(struct jit_frame, bank[0])));
    emit_load(e, true, BANK1, frame_at(offsetof(struct jit_frame, bank[1])));
    emit_load(e, true, TABLES, frame_at(offsetof(struct jit_frame, tables)));
}

static void emit_epilogue(struct compiler *c) {
    struct emit *e = &c->e;
    lanes_zero_upper(e);
    emit_alu_imm(e, ALU_ADD, true, RSP, 8);
    for (int i = N_SAVED; i-- > 0;)
        emit_pop(e, saved[i]);
    emit_return(e);
}

/* Emits a call of a function of struct jit_frame for the current instruction. Requires that no vector register holds a
 * line (see compile.h), because the function reads and writes the registers of the warp in memory. */
static void call_frame(struct compiler *c, size_t function) {
    struct emit *e = &c->e;
    struct side_exit *out = side_exit_new(c, JIT_STOPPED);
    lanes_zero_upper(e);
    emit_mov(e, RDI, FRAME);
    emit_constant(e, RSI, c->at);
    emit_call_mem(e, frame_at(function));
    emit_alu(e, ALU_OR, false, RAX, RAX);
    exit_if(c, out, IF_NOT_ZERO);
}

/* Emits a call for the current instruction: of the function of an operation across lanes, of the lane function of a
 * pure instruction, else of the interpreter's step(). */
static void compile_call(struct compiler *c) {
    const struct inst *in = inst_of(c);
    lines_store(c);
    lines_forget(c);
    groups_forget(c);
    if (warp_op_is_direct(c, in)) {
        compile_direct(c);
        c->native++; /* counts as compiled, because the interpreter would be slower */
        c->done.lanes += WARP_LANES;
        return;
    }
    if (lane_call_is_possible(c, in)) {
        compile_lane_call(c);
        return;
    }
    bool queued = access_is_queued(c, in);
    c->native += queued; /* a queued access counts as natively compiled, because interpreting it would be slower */
    call_frame(c, queued ? offsetof(struct jit_frame, row) : offsetof(struct jit_frame, step));
}

static bool is_access(const struct inst *in) { return in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM; }

static void compile_lanes(struct compiler *c) {
    if (is_access(inst_of(c)))
        compile_access(c);
    else if (inst_of(c)->kind == K_WARP)
        compile_warp_op(c);
    else
        compile_op(c);
    lines_unpin(c);
}

/* Updates the pending counts after the current instruction, and ends the access groups whose base register it wrote. */
static void note_compiled(struct compiler *c) {
    const struct inst *in = inst_of(c);
    c->native++;
    if (in->guard == NO_GUARD)
        c->done.lanes += WARP_LANES;
    c->done.loads += c->program->coverage.instructions && inst_is_counted_load(in);
    groups_invalidate(c);
}

/* Ends the code before a store, if other warps must run first. */
static void compile_yield(struct compiler *c) {
    emit_compare_byte(&c->e, frame_at(offsetof(struct jit_frame, yields)), 0);
    exit_if(c, side_exit_new(c, JIT_WAITS), IF_NOT_ZERO);
}

static void compile_inst(struct compiler *c) {
    if (!c->is_native[c->at]) {
        compile_call(c);
        return;
    }
    if (inst_of(c)->kind == K_STORE && inst_of(c)->hints & HINT_OVERWRITES)
        compile_yield(c);
    if (inst_of(c)->guard != NO_GUARD)
        count_guarded(c);
    compile_lanes(c);
    note_compiled(c);
}

/* ---- strips ---- */

/* With AVX2, the vector registers hold only few lines. So a run (consecutive instructions) of lanewise instructions is
 * compiled for a quarter of the lanes, then for the next quarter. A value that one instruction of the run passes to
 * another then needs one line, not four. The run may include loads whose addresses have been checked. It includes no
 * stores, because a store changes what later loads return. */
enum { STRIPS = 4 };

/* Returns the length of the run of lanewise instructions that begins with the current instruction. */
static uint32_t strip_length(struct compiler *c) {
    uint32_t n = 0;
    unsigned live = (1u << N_GROUPS) - 1;
    if (!c->e.vex || !c->is_native[c->at] || (is_access(inst_of(c)) && !access_check_load(c)))
        return 0;
    for (; c->at + n < c->n && c->is_native[c->at + n]; n++) {
        const struct inst *in = &c->first[c->at + n];
        const struct rule *r = c->rule[c->at + n];
        if (r ? !rule_is_lanewise(r) : !access_is_checked(c, in, live))
            break;
        live = groups_after_write(c, live, in->d);
    }
    return n;
}

/* Compiles a run of n instructions. The instructions have no side exits and write no guard. */
static void compile_strips(struct compiler *c, uint32_t n) {
    const uint32_t first = c->at, end = first + n;
    c->strips = STRIPS;
    for (c->strip = 0; c->strip < STRIPS; c->strip++)
        for (c->at = first; c->at < end; c->at++)
            compile_lanes(c);
    c->strip = 0;
    c->strips = 1;
    for (c->at = first; c->at < end; c->at++) {
        if (inst_of(c)->guard != NO_GUARD)
            count_guarded(c);
        note_compiled(c);
    }
    c->at = end - 1;
}

/* ---- continuing in another block ---- */

/* Emits a jump to the code of the block at `next`. The code that follows the jump ends the block normally. It runs if
 * the paths of the warp meet at `next`, if the warp's turn is over, or if `next` has no code. `branches`: branch
 * instructions executed (0 or 1), `lanes`: lanes that executed them. */
static void continue_at(struct compiler *c, uint32_t next, uint32_t branches, uint32_t lanes) {
    struct emit *e = &c->e;
    jump_t stay[3];
    if (next >= c->program->n)
        return;
    emit_compare(e, frame_at(offsetof(struct jit_frame, rpc)), next);
    stay[0] = emit_jump_if(e, IF_ZERO);
    emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, executed)));
    emit_alu_imm(e, ALU_ADD, true, RCX, (int32_t)(c->n + branches));
    emit_alu_mem(e, ALU_CMP, true, RCX, frame_at(offsetof(struct jit_frame, budget)));
    stay[1] = emit_jump_if(e, IF_NOT_BELOW);
    emit_constant(e, RDX, (uintptr_t)&c->entry[next].inside);
    emit_load(e, true, RDX, at(RDX, 0));
    emit_alu(e, ALU_OR, true, RDX, RDX);
    stay[2] = emit_jump_if(e, IF_ZERO);
    emit_store(e, true, frame_at(offsetof(struct jit_frame, executed)), RCX);
    count_done(c, &(struct done){.lanes = lanes});
    if (branches && c->first[c->n].hints & HINT_DEQ) {
        emit_constant(e, RCX, 0);
        emit_store(e, true, frame_at(offsetof(struct jit_frame, taken)), RCX);
    }
    emit_constant(e, RCX, (uintptr_t)&c->program->code[next]);
    emit_store(e, true, frame_at(offsetof(struct jit_frame, first)), RCX);
    emit_jump_gpr(e, RDX);
    for (int i = 0; i < 3; i++)
        emit_land(e, stay[i]);
}

/* Emits a call of jit_frame.call, next or wait, which returns the address at which to continue, or NULL. */
static void continue_by(struct compiler *c, size_t function) {
    struct emit *e = &c->e;
    lanes_zero_upper(e);
    emit_mov(e, RDI, FRAME);
    emit_constant(e, RSI, c->n);
    emit_call_mem(e, frame_at(function));
    emit_alu(e, ALU_OR, true, RAX, RAX);
    jump_t stay = emit_jump_if(e, IF_ZERO);
    if (function == offsetof(struct jit_frame, wait)) /* another warp may continue */
        emit_load(e, true, BANK0, frame_at(offsetof(struct jit_frame, bank[0])));
    emit_jump_gpr(e, RAX);
    emit_land(e, stay);
}

/* Emits the branch `in` after the block, for the case that all lanes go the same way. */
static void compile_branch(struct compiler *c, const struct inst *in) {
    struct emit *e = &c->e;
    const uint32_t next = (uint32_t)(in + 1 - c->program->code);
    if (in->hints & HINT_DEQ)
        call_frame(c, offsetof(struct jit_frame, take));
    if (in->guard == NO_GUARD) {
        if (jit_may_enter(c->program, in->target))
            continue_at(c, in->target, 1, WARP_LANES);
        return;
    }
    guard_mask(c, in, RAX);
    if (jit_may_enter(c->program, in->target)) {
        if (c->partial)
            emit_alu_mem(e, ALU_CMP, false, RAX, frame_at(offsetof(struct jit_frame, active)));
        else
            emit_alu_imm(e, ALU_CMP, false, RAX, -1);
        jump_t not_all = emit_jump_if(e, IF_NOT_ZERO);
        continue_at(c, in->target, 1, WARP_LANES);
        emit_land(e, not_all);
    }
    if (jit_may_enter(c->program, next)) {
        emit_alu(e, ALU_OR, false, RAX, RAX);
        jump_t some = emit_jump_if(e, IF_NOT_ZERO);
        continue_at(c, next, 1, 0);
        emit_land(e, some);
    }
}

/* Emits the end of the block. If all lanes go to one block that has code, the code continues there. Otherwise the path
 * driver decides. */
static void compile_end(struct compiler *c) {
    const uint32_t pc = (uint32_t)(c->first - c->program->code) + c->n;
    const struct inst *in = &c->first[c->n];
    const bool falls = c->n && in[-1].ends_block;
    if (pc >= c->program->n)
        return;
    if (falls)
        continue_at(c, pc, 0, 0);
    else if ((in->kind == K_CALL || in->kind == K_RET) && in->guard == NO_GUARD)
        continue_by(c, offsetof(struct jit_frame, call));
    else if (in->kind == K_BARRIER && in->guard == NO_GUARD)
        continue_by(c, offsetof(struct jit_frame, wait));
    else if (in->kind == K_BRANCH && !(in->ends_block & BLOCK_WAITS) && !(in->hints & HINT_APART))
        compile_branch(c, in);
    if (falls || (in->kind == K_BRANCH && !(in->hints & (HINT_APART | HINT_DEQ))) || in->kind == K_EXIT)
        continue_by(c, offsetof(struct jit_frame, next));
}

bool compile_block(struct compiler *c) {
    c->vectors = lanes_line_registers(&c->e);
    c->strips = 1;
    lines_forget(c);
    groups_forget(c);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct inst *in = &c->first[i];
        c->rule[i] = is_access(in) ? NULL : op_rule(c, in);
        c->is_native[i] = c->rule[i] || warp_op_is_vector(c, in) ||
                          (is_access(in) && in->cache_op != CACHE_WALK && access_is_native(c, in));
    }
    emit_prologue(c);
    c->inside = c->e.n;
    for (c->at = 0; c->at < c->n && !c->e.full; c->at++) {
        uint32_t n = strip_length(c);
        if (n > 1)
            compile_strips(c, n);
        else
            compile_inst(c);
    }
    lines_store(c);
    lines_forget(c);
    count_done(c, &c->done);
    c->done = (struct done){0};
    compile_end(c);
    emit_constant(&c->e, RAX, c->n);
    size_t finish = c->e.n;
    emit_epilogue(c);
    compile_exits(c, finish);
    return !c->e.full;
}
