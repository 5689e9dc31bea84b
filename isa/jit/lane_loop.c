/* Loads and stores whose lanes are processed one after another, in the order of their numbers. */
#include "compile.h"

/* Returns the place of lane RCX's element in an operand. */
static struct indexed element(opnd_t o, unsigned size) {
    return (struct indexed){o & 1 ? BANK1 : BANK0, RCX, size, (int32_t)(o >> 1)};
}

/* Moves 8 bytes between a register and local memory, whose words are LOCAL_ROW bytes apart. */
static void move_local_pair(struct compiler *c, const struct inst *in) {
    for (int k = 0; k < 2; k++) {
        struct indexed memory = {RDX, RAX, 1, k * LOCAL_ROW}, word = element(in->kind == K_LOAD ? in->d : in->b, 8);
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

void compile_lane_loop(struct compiler *c, const struct indexed *place) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const struct indexed memory = place ? *place : (struct indexed){RDX, RAX, 1, 0},
                         offset = {FRAME, RCX, in->asize, (int32_t)offsetof(struct jit_frame, offsets)};
    if (in->kind == K_LOAD)
        lines_drop(c, in->d, in->rsize);
    else
        lines_write_back(c, in->b, in->rsize);
    if (c->partial)
        emit_load(e, false, RSI, frame_at(offsetof(struct jit_frame, active)));
    else
        emit_constant(e, RSI, LANES_ALL);
    const size_t loop = e->n;
    emit_first_bit(e, RCX, RSI);
    if (!place)
        emit_load_indexed(e, in->asize, false, RAX, offset);
    if (in->msize == 8 && access_is_local(c, in))
        move_local_pair(c, in);
    else if (in->kind == K_LOAD) {
        emit_load_indexed(e, in->msize, in->is_signed, RAX, memory);
        emit_store_indexed(e, in->rsize, element(in->d, in->rsize), RAX);
    } else {
        emit_load_indexed(e, in->msize, false, RDI, element(in->b, in->rsize));
        emit_store_indexed(e, in->msize, memory, RDI);
    }
    emit_lea(e, RAX, at(RSI, -1));
    emit_alu(e, ALU_AND, false, RSI, RAX);
    emit_jump_back_if(e, IF_NOT_ZERO, loop);
}
