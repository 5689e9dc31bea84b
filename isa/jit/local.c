/* Loads and stores of local memory that is stored by words (warp_local()): word i of all lanes is one row. An access of
 * all lanes to one address moves whole rows. */
#include "compile.h"
#include <string.h>

bool local_is_constant(const struct compiler *c, const struct inst *in, uint64_t *at) {
    enum { MOST_LOCAL = 1 << 24 }; /* limit of the address: x86 displacements have 32 bits */
    const struct program *p = c->program;
    uint64_t base;
    if (in->space != SPACE_LOCAL || !access_is_local(c, in) || !(in->a & 1) || (in->msize == 8 && in->rsize != 8))
        return false;
    memcpy(&base, p->constants + (in->a >> 1), sizeof base);
    *at = base + (uint64_t)in->imm;
    const unsigned bytes = inst_bytes(in);
    return *at % bytes == 0 && p->local_bytes >= bytes && *at <= p->local_bytes - bytes && *at < MOST_LOCAL;
}

enum access_shape local_shape(const struct compiler *c, const struct inst *in, enum access_shape profiled) {
    if (c->partial)
        return ACCESS_ANY;
    if (profiled > ACCESS_ANY)
        return profiled;
    return profiled == ACCESS_SAME_SAME && in->msize >= 4 && in->rsize == in->msize ? profiled : ACCESS_ANY;
}

/* Word i of a lane is at byte i * LOCAL_ROW + 4 * lane, so address x becomes (x - x % 4) * 32 + x % 4 + 4 * lane. */
void local_offsets(struct compiler *c, unsigned i) {
    enum { WORD_SHIFT = 2, ROW_SHIFT = 5 };
    _Static_assert(LOCAL_ROW == 4 << ROW_SHIFT, "a row is 32 words");
    struct emit *e = &c->e;
    if (inst_of(c)->msize < 4) {
        emit_vector(e, V_SHIFT64, SHIFT_RIGHT, 3, 2, WHOLE);
        emit_byte(e, WORD_SHIFT);
        emit_vector(e, V_SHIFT64, SHIFT_LEFT, 3, 3, WHOLE);
        emit_byte(e, WORD_SHIFT);
        emit_vector(e, V_SUB64, 2, 2, 3, WHOLE);
        emit_vector(e, V_SHIFT64, SHIFT_LEFT, 3, 3, WHOLE);
        emit_byte(e, ROW_SHIFT);
        emit_vector(e, V_ADD64, 2, 2, 3, WHOLE);
    } else {
        emit_vector(e, V_SHIFT64, SHIFT_LEFT, 2, 2, WHOLE);
        emit_byte(e, ROW_SHIFT);
    }
    emit_vector_mem(e, V_ADD64, 2, 2, table_at(offsetof(struct jit_tables, lane_words) + i * line_bytes(c)), WHOLE);
}

/* Loads 64-bit elements. The lower words of all lanes are consecutive in memory, and so are the upper words. */
static void load_local_pairs(struct compiler *c, opnd_t to, int64_t row) {
    struct emit *e = &c->e;
    for (unsigned i = 0; i < lines_of(c, 8); i++, lines_unpin(c)) {
        const unsigned d = line_new(c, to, i, false);
        for (unsigned k = 0; k < 2; k++) {
            emit_vector_mem(e, V_LOAD, 1 + k, 0, at(RDX, row + k * LOCAL_ROW + i / 2 * line_bytes(c)), WHOLE);
            if (i % 2)
                lanes_upper_half(e, 1 + k, 1 + k);
            emit_vector(e, V_LOW32, 1 + k, 0, 1 + k, WHOLE);
        }
        emit_vector(e, V_SHIFT64, SHIFT_LEFT, 2, 2, WHOLE);
        emit_byte(e, 32);
        emit_vector(e, V_OR64, d, 1, 2, WHOLE);
    }
}

static void store_row_line(struct compiler *c, unsigned v, int64_t row, unsigned i) {
    const struct place p = at(RDX, row + i * line_bytes(c));
    if (c->partial)
        lanes_store_active(&c->e, v, p, i, 4);
    else
        emit_vector_mem(&c->e, V_STORE, v, 0, p, WHOLE);
}

static void store_local_pairs(struct compiler *c, opnd_t from, int64_t row) {
    struct emit *e = &c->e;
    for (unsigned i = 0; i < lines_of(c, 4); i++, lines_unpin(c)) {
        const unsigned a = line_get(c, from, 2 * i, false), b = line_get(c, from, 2 * i + 1, false);
        lanes_narrow(e, 3, a, b);
        store_row_line(c, 3, row, i);
        emit_vector(e, V_SHIFT64, SHIFT_RIGHT, 0, a, WHOLE);
        emit_byte(e, 32);
        emit_vector(e, V_SHIFT64, SHIFT_RIGHT, 3, b, WHOLE);
        emit_byte(e, 32);
        lanes_narrow(e, 3, 0, 3);
        store_row_line(c, 3, row + LOCAL_ROW, i);
    }
}

/* Emits the access of all lanes to one element. RDX + row is the host address of the first lane's element. `r`: the
 * register that is loaded or stored. */
static void access_row(struct compiler *c, opnd_t r, int64_t row) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    if (in->msize == 8 && in->kind == K_LOAD)
        load_local_pairs(c, r, row);
    else if (in->msize == 8)
        store_local_pairs(c, r, row);
    else
        for (unsigned i = 0; i < lines_of(c, 4); i++, lines_unpin(c)) {
            if (in->kind == K_LOAD) {
                emit_vector_mem(e, V_LOAD, line_new(c, r, i, false), 0, at(RDX, row + i * line_bytes(c)), WHOLE);
            } else {
                emit_vector(e, V_COPY64, 3, 0, line_get(c, r, i, false), WHOLE);
                store_row_line(c, 3, row, i);
            }
        }
}

static void access_rows(struct compiler *c, int64_t row) {
    const struct inst *in = inst_of(c);
    for (unsigned k = 0; k < inst_elements(in); k++)
        if (access_moves(c, in, k))
            access_row(c, access_register(c, in, k), row + access_step(c, in, k));
}

void local_access(struct compiler *c, uint64_t address) {
    const struct inst *in = inst_of(c);
    const int64_t row = (int64_t)(address / 4 * LOCAL_ROW);
    emit_load(&c->e, true, RDX, frame_at(offsetof(struct jit_frame, local)));
    if (in->rsize == in->msize && in->msize >= 4)
        access_rows(c, row);
    else
        compile_lane_loop(c, &(struct indexed){RDX, RCX, 4, (int32_t)(row + (int64_t)(address & 3))});
}

void local_access_same(struct compiler *c, struct side_exit *out) {
    struct emit *e = &c->e;
    const struct inst *in = inst_of(c);
    emit_alu(e, ALU_CMP, true, RAX, RCX);
    exit_if(c, out, IF_NOT_ZERO);
    const int64_t low = in->imm - (in->space == SPACE_GENERIC ? (int64_t)LOCAL_WINDOW : 0);
    if (low)
        emit_alu_imm(e, ALU_ADD, true, RAX, (int32_t)low);
    emit_test_imm(e, RAX, inst_bytes(in) - 1);
    exit_if(c, out, IF_NOT_ZERO);
    emit_alu_imm(e, ALU_CMP, true, RAX, (int32_t)(c->program->local_bytes - inst_bytes(in)));
    exit_if(c, out, IF_ABOVE);
    emit_multiply(e, RAX, LOCAL_ROW / 4);
    emit_load(e, true, RDX, frame_at(offsetof(struct jit_frame, local)));
    emit_alu(e, ALU_ADD, true, RDX, RAX);
    lines_unpin(c);
    access_rows(c, 0);
}
