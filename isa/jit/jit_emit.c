/* Encodings of x86-64 instructions. */
#include "jit_emit.h"
#include <stdlib.h>
#include <string.h>

void emit_free(struct emit *e) {
    free(e->code);
    *e = (struct emit){0};
}

void emit_bytes(struct emit *e, const void *bytes, size_t n) {
    if (!e->full && e->n + n > e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 4096;
        unsigned char *code = realloc(e->code, cap); /* doubling is enough, since `n` is a few bytes at most */
        e->full = !code;
        if (code) {
            e->code = code;
            e->cap = cap;
        }
    }
    if (e->full)
        return;
    memcpy(e->code + e->n, bytes, n);
    e->n += n;
}

void emit_byte(struct emit *e, unsigned byte) {
    if (e->n < e->cap)
        e->code[e->n++] = (unsigned char)byte;
    else
        emit_bytes(e, &(unsigned char){(unsigned char)byte}, 1);
}
static void word(struct emit *e, uint32_t w) { emit_bytes(e, &w, sizeof w); }

/* Emits ModR/M and displacement. The displacement is one byte if it is a small multiple of `unit` (EVEX: the operand's
 * size). Bases rsp and r12 need a SIB byte. */
static void memory_unit(struct emit *e, unsigned reg, struct place p, int unit) {
    bool is_short = p.disp % unit == 0 && p.disp / unit == (int8_t)(p.disp / unit);
    emit_byte(e, (is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (p.base & 7));
    if ((p.base & 7) == RSP)
        emit_byte(e, 0x24);
    if (is_short)
        emit_byte(e, (unsigned)(p.disp / unit) & 255);
    else
        word(e, (uint32_t)p.disp);
}
static void memory(struct emit *e, unsigned reg, struct place p) { memory_unit(e, reg, p, 1); }
static void registers(struct emit *e, unsigned reg, unsigned rm) { emit_byte(e, 0xc0 | (reg & 7) << 3 | (rm & 7)); }

/* ---- vectors ---- */

static void vex(struct emit *e, uint32_t op, bool w, bool wide, unsigned reg, unsigned second, unsigned x, unsigned b) {
    if (!w && !(x | b) && (op & 7) == 1) {
        emit_byte(e, 0xc5);
        emit_byte(e, (~reg >> 3 & 1) << 7 | (~second & 15) << 3 | (unsigned)wide << 2 | (op >> 4 & 3));
        emit_byte(e, op >> 16 & 255);
        return;
    }
    emit_byte(e, 0xc4);
    emit_byte(e, (~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~b & 1) << 5 | (op & 7));
    emit_byte(e, (unsigned)w << 7 | (~second & 15) << 3 | (unsigned)wide << 2 | (op >> 4 & 3));
    emit_byte(e, op >> 16 & 255);
}

/* Emits the EVEX prefix and the opcode. x and b hold the upper bits of the last operand: of its register number, or of
 * its index register (x) and its base register (b). */
static void evex(struct emit *e, uint32_t op, unsigned reg, unsigned second, unsigned x, unsigned b, struct lanes l) {
    emit_byte(e, 0x62);
    emit_byte(e, (~reg >> 3 & 1) << 7 | (~x & 1) << 6 | (~b & 1) << 5 | (~reg >> 4 & 1) << 4 | (op & 7));
    emit_byte(e, (op >> 8 & 1) << 7 | (~second & 15) << 3 | 4 | (op >> 4 & 3));
    emit_byte(e, (unsigned)l.zero << 7 | (op & VECTOR_128 ? 0 : 2) << 5 | (~second >> 4 & 1) << 3 | l.mask);
    emit_byte(e, op >> 16 & 255);
}

static void vex_vector(struct emit *e, uint32_t op, unsigned reg, unsigned second, unsigned x, unsigned b) {
    bool has_w = op & VECTOR_128 || ((op & 7) > 1 && !(op & VECTOR_EVEX_W));
    vex(e, op, has_w && op >> 8 & 1, !(op & VECTOR_128), reg, second, x, b);
}

void emit_vector(struct emit *e, uint32_t op, unsigned reg, unsigned second, unsigned third, struct lanes l) {
    if (e->vex)
        vex_vector(e, op, reg, second, 0, third >> 3 & 1);
    else
        evex(e, op, reg, second, third >> 4 & 1, third >> 3 & 1, l);
    registers(e, reg, third);
}

void emit_vector_mem(struct emit *e, uint32_t op, unsigned reg, unsigned second, struct place from, struct lanes l) {
    if (e->vex)
        vex_vector(e, op, reg, second, 0, from.base >> 3 & 1);
    else
        evex(e, op, reg, second, 0, from.base >> 3 & 1, l);
    memory_unit(e, reg, from, e->vex ? 1 : op & VECTOR_ELEMENT ? (op >> 8 & 1 ? 8 : 4) : 64);
}

void emit_vector_index(struct emit *e, uint32_t op, unsigned reg, struct place base, unsigned index, unsigned mask) {
    if (e->vex)
        vex_vector(e, op, reg, mask, index >> 3 & 1, base.base >> 3 & 1);
    else
        evex(e, op, reg, index & 16, index >> 3 & 1, base.base >> 3 & 1, (struct lanes){mask, false});
    emit_byte(e, 0x84 | (reg & 7) << 3);
    emit_byte(e, (index & 7) << 3 | (base.base & 7));
    word(e, (uint32_t)base.disp);
}

void emit_mask(struct emit *e, uint32_t op, bool wide, unsigned reg, unsigned second, unsigned third) {
    vex(e, op, op >> 8 & 1, wide, reg, second, 0, third >> 3 & 1);
    registers(e, reg, third);
}

void emit_mask_mem(struct emit *e, uint32_t op, unsigned reg, struct place m) {
    vex(e, op, op >> 8 & 1, false, reg, 0, 0, m.base >> 3 & 1);
    memory(e, reg, m);
}

/* ---- general registers ---- */

static void rex(struct emit *e, bool wide, unsigned reg, unsigned rm) {
    unsigned r = 0x40 | (unsigned)wide << 3 | (reg >> 3 & 1) << 2 | (rm >> 3 & 1);
    if (r != 0x40)
        emit_byte(e, r);
}
static void op_mem(struct emit *e, bool wide, unsigned op, unsigned reg, struct place p) {
    rex(e, wide, reg, p.base);
    emit_byte(e, op);
    memory(e, reg, p);
}
static void op_reg(struct emit *e, bool wide, unsigned op, unsigned reg, unsigned rm) {
    rex(e, wide, reg, rm);
    emit_byte(e, op);
    registers(e, reg, rm);
}

void emit_load(struct emit *e, bool wide, enum gpr to, struct place from) { op_mem(e, wide, 0x8b, to, from); }
void emit_store(struct emit *e, bool wide, struct place to, enum gpr from) { op_mem(e, wide, 0x89, from, to); }
void emit_mov(struct emit *e, enum gpr to, enum gpr from) { op_reg(e, true, 0x8b, to, from); }
void emit_lea(struct emit *e, enum gpr to, struct place from) { op_mem(e, true, 0x8d, to, from); }
void emit_not(struct emit *e, enum gpr r) { op_reg(e, false, 0xf7, 2, r); }
void emit_alu(struct emit *e, unsigned alu, bool wide, enum gpr to, enum gpr from) {
    op_reg(e, wide, alu << 3 | 3, to, from);
}
void emit_alu_mem(struct emit *e, unsigned alu, bool wide, enum gpr to, struct place from) {
    op_mem(e, wide, alu << 3 | 3, to, from);
}

void emit_constant(struct emit *e, enum gpr to, uint64_t value) {
    rex(e, value > UINT32_MAX, 0, to);
    emit_byte(e, 0xb8 | (to & 7));
    emit_bytes(e, &value, value > UINT32_MAX ? 8 : 4);
}

void emit_alu_imm(struct emit *e, unsigned alu, bool wide, enum gpr to, int32_t value) {
    if (value == (int8_t)value) {
        op_reg(e, wide, 0x83, alu, to);
        emit_byte(e, (unsigned)value & 255);
        return;
    }
    op_reg(e, wide, 0x81, alu, to);
    word(e, (uint32_t)value);
}

void emit_add_to(struct emit *e, struct place to, int32_t value) {
    op_mem(e, true, 0x81, ALU_ADD, to);
    word(e, (uint32_t)value);
}
void emit_add_gpr_to(struct emit *e, struct place to, enum gpr from) { op_mem(e, true, 0x01, from, to); }

void emit_popcount(struct emit *e, enum gpr to, struct place from) {
    emit_byte(e, 0xf3);
    rex(e, false, to, from.base);
    emit_byte(e, 0x0f);
    emit_byte(e, 0xb8);
    memory(e, to, from);
}

void emit_popcount_of(struct emit *e, enum gpr to, enum gpr from) {
    emit_byte(e, 0xf3);
    rex(e, false, to, from);
    emit_byte(e, 0x0f);
    emit_byte(e, 0xb8);
    registers(e, to, from);
}

void emit_prefetch(struct emit *e, struct place p) {
    rex(e, false, 0, p.base);
    emit_byte(e, 0x0f);
    emit_byte(e, 0x18);
    memory(e, 1, p);
}

/* Emits REX, opcode, ModR/M, SIB and displacement of an instruction with a memory operand base + disp + index * scale.
 * `map` is set for opcodes after 0F. The REX prefix makes the lowest byte of each register accessible. */
static void op_indexed(struct emit *e, bool wide, bool map, unsigned opcode, enum gpr reg, struct indexed p) {
    emit_byte(e, 0x40 | (unsigned)wide << 3 | (reg >> 3) << 2 | (p.index >> 3) << 1 | p.base >> 3);
    if (map)
        emit_byte(e, 0x0f);
    emit_byte(e, opcode);
    emit_byte(e, 0x84 | (reg & 7) << 3);
    emit_byte(e, (unsigned)__builtin_ctz(p.scale) << 6 | (p.index & 7) << 3 | (p.base & 7));
    word(e, (uint32_t)p.disp);
}

void emit_load_indexed(struct emit *e, unsigned bytes, bool is_signed, enum gpr to, struct indexed from) {
    if (bytes < 4)
        op_indexed(e, is_signed, true, (is_signed ? 0xbe : 0xb6) | bytes >> 1, to, from);
    else
        op_indexed(e, is_signed || bytes == 8, false, is_signed && bytes == 4 ? 0x63 : 0x8b, to, from);
}

void emit_store_indexed(struct emit *e, unsigned bytes, struct indexed to, enum gpr from) {
    if (bytes == 2)
        emit_byte(e, 0x66);
    op_indexed(e, bytes == 8, false, bytes == 1 ? 0x88 : 0x89, from, to);
}

void emit_first_bit(struct emit *e, enum gpr to, enum gpr from) {
    emit_byte(e, 0xf3);
    rex(e, false, to, from);
    emit_byte(e, 0x0f);
    emit_byte(e, 0xbc);
    registers(e, to, from);
}

void emit_multiply(struct emit *e, enum gpr to, int32_t by) {
    op_reg(e, true, 0x69, to, to);
    word(e, (uint32_t)by);
}

void emit_shift(struct emit *e, enum gpr r, unsigned by) {
    op_reg(e, false, 0xc1, 4, r);
    emit_byte(e, by);
}

void emit_test_imm(struct emit *e, enum gpr r, uint32_t bits) {
    op_reg(e, false, 0xf7, 0, r);
    word(e, bits);
}

void emit_compare_byte(struct emit *e, struct place p, unsigned value) {
    op_mem(e, false, 0x80, ALU_CMP, p);
    emit_byte(e, value);
}

void emit_compare(struct emit *e, struct place p, uint32_t value) {
    op_mem(e, false, 0x81, ALU_CMP, p);
    word(e, value);
}

void emit_push(struct emit *e, enum gpr r) {
    rex(e, false, 0, r);
    emit_byte(e, 0x50 | (r & 7));
}
void emit_pop(struct emit *e, enum gpr r) {
    rex(e, false, 0, r);
    emit_byte(e, 0x58 | (r & 7));
}
void emit_call(struct emit *e, enum gpr r) { op_reg(e, false, 0xff, 2, r); }
void emit_call_mem(struct emit *e, struct place p) { op_mem(e, false, 0xff, 2, p); }
void emit_jump_gpr(struct emit *e, enum gpr r) { op_reg(e, false, 0xff, 4, r); }
void emit_return(struct emit *e) { emit_byte(e, 0xc3); }

jump_t emit_jump_if(struct emit *e, unsigned condition) {
    emit_byte(e, 0x0f);
    emit_byte(e, 0x80 | condition);
    word(e, 0);
    return e->n - 4;
}

void emit_jump_to(struct emit *e, size_t target) {
    emit_byte(e, 0xe9);
    word(e, (uint32_t)(target - (e->n + 4)));
}

void emit_jump_back_if(struct emit *e, unsigned condition, size_t target) {
    emit_byte(e, 0x0f);
    emit_byte(e, 0x80 | condition);
    word(e, (uint32_t)(target - (e->n + 4)));
}

void emit_land(struct emit *e, jump_t j) {
    uint32_t distance = (uint32_t)(e->n - (j + 4));
    if (!e->full)
        memcpy(e->code + j, &distance, sizeof distance);
}
