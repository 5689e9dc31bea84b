/* Active lanes: the mask of lanes that execute an instruction, and the counts of executed lanes. */
#include "compile.h"

void guard_mask(struct compiler *c, const struct inst *in, enum gpr to) {
    struct emit *e = &c->e;
    const struct place active = frame_at(offsetof(struct jit_frame, active));
    emit_load(e, false, to, in->guard == NO_GUARD ? active : at(BANK0, in->guard));
    if (in->guard == NO_GUARD)
        return;
    if (in->guard_not)
        emit_not(e, to);
    if (c->partial)
        emit_alu_mem(e, ALU_AND, false, to, active);
}

bool writes_some_lanes(const struct compiler *c, const struct inst *in) { return in->guard != NO_GUARD || c->partial; }

void put_predicate(struct compiler *c, const struct inst *in, opnd_t to, enum gpr from) {
    struct emit *e = &c->e;
    if (writes_some_lanes(c, in)) { /* old ^ ((old ^ new) & guard) */
        emit_load(e, false, RDI, operand_at(to, 0));
        guard_mask(c, in, RSI);
        emit_alu(e, ALU_XOR, false, from, RDI);
        emit_alu(e, ALU_AND, false, from, RSI);
        emit_alu(e, ALU_XOR, false, from, RDI);
    }
    emit_store(e, false, operand_at(to, 0), from);
}

void count_guarded(struct compiler *c) {
    const struct inst *in = inst_of(c);
    struct emit *e = &c->e;
    if (c->partial) {
        guard_mask(c, in, RAX);
        emit_popcount_of(e, RAX, RAX);
        emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), RAX);
        return;
    }
    emit_popcount(e, RAX, at(BANK0, in->guard));
    if (in->guard_not) {
        emit_constant(e, RCX, WARP_LANES);
        emit_alu(e, ALU_SUB, true, RCX, RAX);
    }
    emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), in->guard_not ? RCX : RAX);
}

void count_done(struct compiler *c, const struct done *d) {
    struct emit *e = &c->e;
    if (d->lanes && c->partial) {
        emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, n_active)));
        emit_multiply(e, RCX, (int32_t)(d->lanes / WARP_LANES));
        emit_add_gpr_to(e, frame_at(offsetof(struct jit_frame, threads)), RCX);
    } else if (d->lanes) {
        emit_add_to(e, frame_at(offsetof(struct jit_frame, threads)), (int32_t)d->lanes);
    }
    if (d->loads)
        emit_add_to(e, frame_at(offsetof(struct jit_frame, loads)), (int32_t)d->loads);
}
