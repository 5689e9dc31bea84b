/* Loads and stores whose lanes are processed one after another, in the order of their numbers. */
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

void compile_lane_loop(struct compiler *c, const struct indexed *place) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const struct indexed memory = place ? *place : (struct indexed){RDX, RAX, 1, 0},
                         offset = {FRAME, RCX, in->asize, (int32_t)offsetof(struct jit_frame, offsets)};
    for (unsigned k = 0; k < inst_elements(in); k++) {
        if (in->kind == K_STORE)
            lines_write_back(c, access_register(c, in, k), in->rsize);
        else if (access_moves(c, in, k))
            lines_drop(c, access_register(c, in, k), in->rsize);
    }
    if (c->partial)
        emit_load(e, false, RSI, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_constant(e, RSI, LANES_ALL);
    const size_t loop = e->n;
    emit_first_bit(e, RCX, RSI);
    if (!place)
        emit_load_indexed(e, in->asize, false, RAX, offset);
    for (unsigned k = 0; k < inst_elements(in); k++)
        if (access_moves(c, in, k))
            move_element(c, memory, k);
    emit_lea(e, RAX, at(RSI, -1));
    emit_alu(e, ALU_AND, false, RSI, RAX);
    emit_jump_back_if(e, IF_NOT_ZERO, loop);
}
