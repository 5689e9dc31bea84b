/* Loads, stores and atomics whose lanes are processed one after another, in the order of their numbers. */
#include "compile.h"

/* Returns the place of lane RCX's element in an operand. */
static struct indexed element(opnd_t o, unsigned size) {
    return (struct indexed){o & 1 ? BANK1 : BANK0, RCX, size, (int32_t)(o >> 1)};
}

/* Moves 8 bytes between a register and local memory, whose words are LOCAL_ROW bytes apart. */
static void move_local_pair(struct compiler *c, const struct inst *in, opnd_t r, int32_t step) {
    for (int k = 0; k < 2; k++) {
        struct indexed memory = {RDX, RAX, 1, step + k * LOCAL_ROW}, word = element(r, 8);
        word.disp += 4 * k;
        if (in->kind == K_LOAD) {
            emit_load_indexed(&c->e, 4, false, RDI, memory);
            emit_store_indexed(&c->e, 4, word, RDI);
        } else {
            emit_load_indexed(&c->e, 4, false, RDI, word);
            emit_store_indexed(&c->e, 4, memory, RDI);
        }
    }
}

/* Moves element k of lane RCX, whose element 0 is at `memory`. */
static void move_element(struct compiler *c, struct indexed memory, unsigned k) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const opnd_t r = access_register(c, in, k);
    const int32_t step = access_step(c, in, k);
    memory.disp += step;
    if (in->msize == 8 && access_is_local(c, in)) {
        move_local_pair(c, in, r, step);
    } else if (in->kind == K_LOAD) {
        emit_load_indexed(e, in->msize, in->is_signed, RDI, memory);
        emit_store_indexed(e, in->rsize, element(r, in->rsize), RDI);
    } else {
        emit_load_indexed(e, in->msize, false, RDI, element(r, in->rsize));
        emit_store_indexed(e, in->msize, memory, RDI);
    }
}

/* Emits the start of a loop over the lanes that execute, with the number of the lane in RCX. Returns its offset. */
static size_t begin_lanes(struct compiler *c) {
    if (c->partial)
        emit_load(&c->e, false, RSI, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_constant(&c->e, RSI, LANES_ALL);
    const size_t loop = c->e.n;
    emit_first_bit(&c->e, RCX, RSI);
    return loop;
}

static void end_lanes(struct compiler *c, size_t loop) {
    emit_lea(&c->e, RAX, at(RSI, -1));
    emit_alu(&c->e, ALU_AND, false, RSI, RAX);
    emit_jump_back_if(&c->e, IF_NOT_ZERO, loop);
}

/* The distance of lane RCX's element from RDX. */
static struct indexed offset_of(const struct inst *in) {
    return (struct indexed){FRAME, RCX, in->asize, (int32_t)offsetof(struct jit_frame, offsets)};
}

/* Returns the operation of an atomic that compile_atomic_loop() can emit, or -1. */
static int atomic_alu(const struct isa_row *row) {
    const bool is_word = row->types[0] == T_B32 || row->types[0] == T_U32 || row->types[0] == T_S32;
    if ((row->op != OP_ATOM && row->op != OP_RED) || !is_word || row->form & ~form_put(CAT_OPN, 15))
        return -1;
    switch (form_get(row->form, CAT_OPN)) {
    case OPN_ADD:
        return ALU_ADD;
    case OPN_AND:
        return ALU_AND;
    case OPN_OR:
        return ALU_OR;
    case OPN_XOR:
        return ALU_XOR;
    default:
        return -1;
    }
}

bool atomic_is_native(const struct compiler *c, const struct inst *in) {
    uint32_t n;
    return in->kind == K_ATOM && in->space == SPACE_SHARED && !in->n_list && in->msize == 4 && !(in->a & 1) &&
           in->imm % 4 == 0 && in->imm == (int16_t)in->imm && in->guard == NO_GUARD &&
           !(in->hints & (HINT_DEQ | HINT_MEMBERS)) && !profiled_call(c, in) && atomic_alu(&isa_rows(&n)[in->row]) >= 0;
}

void compile_atomic_loop(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const struct indexed memory = {RDX, RAX, 1, 0};
    uint32_t n;
    lines_write_back(c, in->b, 4);
    if (in->d != OPND_SINK)
        lines_drop(c, in->d, 4);
    const size_t loop = begin_lanes(c);
    emit_load_indexed(e, in->asize, false, RAX, offset_of(in));
    emit_load_indexed(e, 4, false, RDI, memory);
    emit_load_indexed(e, 4, false, R8, element(in->b, 4));
    emit_alu(e, (unsigned)atomic_alu(&isa_rows(&n)[in->row]), false, R8, RDI);
    emit_store_indexed(e, 4, memory, R8);
    if (in->d != OPND_SINK)
        emit_store_indexed(e, 4, element(in->d, 4), RDI);
    end_lanes(c, loop);
}

void compile_lane_loop(struct compiler *c, const struct indexed *place) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const struct indexed memory = place ? *place : (struct indexed){RDX, RAX, 1, 0};
    for (unsigned k = 0; k < inst_elements(in); k++) {
        if (in->kind == K_STORE)
            lines_write_back(c, access_register(c, in, k), in->rsize);
        else if (access_moves(c, in, k))
            lines_drop(c, access_register(c, in, k), in->rsize);
    }
    const size_t loop = begin_lanes(c);
    if (!place)
        emit_load_indexed(e, in->asize, false, RAX, offset_of(in));
    for (unsigned k = 0; k < inst_elements(in); k++)
        if (access_moves(c, in, k))
            move_element(c, memory, k);
    end_lanes(c, loop);
}
