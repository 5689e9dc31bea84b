/* Compiles operations across lanes, for warps whose lanes are all active. With AVX-512, a shuffle without segments
 * whose member mask has all lanes becomes a vector permutation. Other shuffles with this mask, and mma, become direct
 * calls of their functions in isa/exec: with all lanes, these functions neither fault nor wait. */
#include "compile.h"

#define V_PERMUTE2 VECTOR(2, 1, 0, 0x76) /* vpermi2d: reg has the indices; second and third are the two tables */

static uint32_t constant_of(const struct compiler *c, opnd_t o) {
    uint32_t value;
    memcpy(&value, c->program->constants + (o >> 1), sizeof value);
    return value;
}

/* Returns true for a shuffle whose members are all lanes. Constants are equal in all lanes. */
static bool shuffles_all(const struct compiler *c, const struct inst *in) {
    return in->e == OPND_ZERO || (in->e & 1 && constant_of(c, in->e) == LANES_ALL);
}

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

bool warp_op_is_direct(const struct compiler *c, const struct inst *in) {
    if (c->partial || in->kind != K_WARP || in->guard != NO_GUARD || in->hints & HINT_DEQ)
        return false;
    const unsigned op = row_of(in)->op;
    return op == OP_MMA || (op == OP_SHFL && shuffles_all(c, in));
}

bool warp_op_is_vector(const struct compiler *c, const struct inst *in) {
    if (c->e.vex || !warp_op_is_direct(c, in) || row_of(in)->op != OP_SHFL)
        return false;
    const unsigned mode = form_get(row_of(in)->form, CAT_MODE);
    return (mode == MODE_IDX || mode == MODE_BFLY) && in->d2 == OPND_SINK && in->c & 1 &&
           constant_of(c, in->c) == WARP_LANES - 1;
}

/* Emits a shuffle without segments. Lane l reads lane b (idx) or l ^ b (bfly); only the lower five bits of b
 * count, and the permutation instruction ignores the others, too. */
void compile_shuffle(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    const bool butterfly = form_get(row_of(in)->form, CAT_MODE) == MODE_BFLY;
    const unsigned low = line_get(c, in->a, 0, false), high = line_get(c, in->a, 1, false);
    for (unsigned i = 0; i < 2; i++) {
        const unsigned from = line_get(c, in->b, i, false);
        if (butterfly)
            emit_vector_mem(e, V_XOR, i, from, table_at(offsetof(struct jit_tables, lane) + 64 * i), WHOLE);
        else
            emit_vector(e, V_COPY32, i, 0, from, WHOLE);
        emit_vector(e, V_PERMUTE2, i, low, high, WHOLE);
    }
    for (unsigned i = 0; i < 2; i++)
        emit_vector(e, V_COPY32, line_new(c, in->d, i, false), 0, i, WHOLE);
}

void compile_direct(struct compiler *c) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    emit_load(e, true, RDI, frame_at(offsetof(struct jit_frame, warp)));
    emit_constant(e, RSI, (uintptr_t)in);
    emit_constant(e, RDX, LANES_ALL);
    emit_load(e, true, RCX, frame_at(offsetof(struct jit_frame, fx)));
    emit_constant(e, RAX, (uintptr_t)in->fn.warp);
    emit_call(e, RAX);
}
