/* Instructions with elements of 16 bits, for AVX-512: a warp register is then one line. Operations on elements of one
 * size are in ops.c. */
#include "jit_rule.h"

/* AVX-512 only. */
#define V_WIDEN16  VECTOR(2, 1, 0, 0x33) /* vpmovzxwd; 0x10 less: vpmovsxwd */
#define V_WIDEN64  VECTOR(2, 1, 0, 0x34) /* vpmovzxwq; 0x10 less: vpmovsxwq */
#define V_SIGNED   0x100000u
#define V_CUT16    VECTOR(2, 2, 0, 0x33) /* vpmovdw: reg is the source */
#define V_LEAST16  VECTOR(2, 2, 0, 0x13) /* vpmovusdw: at most 65535; reg is the source */
#define V_QUARTER  VECTOR(3, 1, 0, 0x39) /* vextracti32x4, imm; reg is the source */
#define V_FROM_F16 VECTOR(2, 1, 0, 0x13) /* vcvtph2ps */
#define V_TO_F16   VECTOR(3, 1, 0, 0x1d) /* vcvtps2ph, imm 0: to nearest even; reg is the source */

/* Emits code that sets scratch register v to half i of the line of o, converted to elements of 32 bits. */
static void load_half(struct compiler *c, unsigned v, opnd_t o, unsigned i, uint32_t code) {
    unsigned from = line_get(c, o, 0, false);
    if (i) {
        lanes_upper_half(&c->e, v, from);
        from = v;
    }
    emit_vector(&c->e, code, v, 0, from, WHOLE);
}

/* Emits code that sets scratch register 1 to the line of 32-bit operand o, cut to 16 bits by an instruction. Uses
 * scratch register 2. */
static void cut_line(struct compiler *c, opnd_t o, uint32_t code) {
    emit_vector(&c->e, code, line_get(c, o, 0, false), 0, 1, WHOLE);
    emit_vector(&c->e, code, line_get(c, o, 1, false), 0, 2, WHOLE);
    lanes_join_halves(&c->e, 1, 1, 2);
}

/* Emits code that sets line i of register `to` to scratch register v, where the guard holds. */
static void put_line(struct compiler *c, const struct inst *in, opnd_t to, unsigned i, unsigned v) {
    if (in->guard == NO_GUARD)
        emit_vector(&c->e, V_COPY64, line_new(c, to, i, false), 0, v, WHOLE);
    else
        merge_into(c, in, to, i, v);
}

void narrow_shift(struct compiler *c, const struct inst *in, const struct rule *r) {
    cut_line(c, in->b, V_LEAST16);
    emit_vector(&c->e, r->code, 1, line_get(c, in->a, 0, false), 1, WHOLE);
    put_line(c, in, in->d, 0, 1);
}

void narrow_widen(struct compiler *c, const struct inst *in, const struct rule *r) {
    const uint32_t is_signed = r->code ? V_SIGNED : 0;
    for (unsigned i = 0; i < lines_of(c, in->dsize); i++, lines_unpin(c)) {
        if (in->dsize == 4) {
            load_half(c, 1, in->a, i, V_WIDEN16 - is_signed);
        } else {
            emit_vector(&c->e, V_QUARTER, line_get(c, in->a, 0, false), 0, 1, WHOLE);
            emit_byte(&c->e, i);
            emit_vector(&c->e, V_WIDEN64 - is_signed, 1, 0, 1, WHOLE);
        }
        put_line(c, in, in->d, i, 1);
    }
}

void narrow_cut(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    cut_line(c, in->a, V_CUT16);
    put_line(c, in, in->d, 0, 1);
}

void narrow_product(struct compiler *c, const struct inst *in, const struct rule *r) {
    const uint32_t is_signed = r->code ? V_SIGNED : 0;
    for (unsigned i = 0; i < 2; i++, lines_unpin(c)) {
        load_half(c, 1, in->a, i, V_WIDEN16 - is_signed);
        load_half(c, 2, in->b, i, V_WIDEN16 - is_signed);
        emit_vector(&c->e, V_MUL32, 1, 1, 2, WHOLE);
        if (r->second)
            emit_vector(&c->e, V_ADD32, 1, 1, line_get(c, in->c, i, false), WHOLE);
        put_line(c, in, in->d, i, 1);
    }
}

void narrow_pack(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = 0; i < 2; i++, lines_unpin(c)) {
        load_half(c, 1, in->a, i, V_WIDEN16);
        load_half(c, 2, in->b, i, V_WIDEN16);
        emit_vector(&c->e, V_SHIFT32, SHIFT_LEFT, 2, 2, WHOLE);
        emit_byte(&c->e, 16);
        emit_vector(&c->e, V_OR, 1, 1, 2, WHOLE);
        put_line(c, in, in->d, i, 1);
    }
}

void narrow_unpack(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned k = 0; k < 2; k++, lines_unpin(c)) {
        const opnd_t to = k ? in->d2 : in->d;
        if (to == OPND_SINK)
            continue;
        for (unsigned i = 0; i < 2; i++) {
            unsigned from = line_get(c, in->a, i, false);
            if (k) {
                emit_vector(&c->e, V_SHIFT32, SHIFT_RIGHT, 3, from, WHOLE);
                emit_byte(&c->e, 16);
                from = 3;
            }
            emit_vector(&c->e, V_CUT16, from, 0, 1 + i, WHOLE);
        }
        lanes_join_halves(&c->e, 1, 1, 2);
        put_line(c, in, to, 0, 1);
    }
}

void narrow_from_f16(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = 0; i < 2; i++, lines_unpin(c)) {
        load_half(c, 1, in->a, i, V_FROM_F16);
        lanes_canonical_nan(&c->e, 1);
        put_line(c, in, in->d, i, 1);
    }
}

/* The NaN 0x7fffffff becomes the NaN of f16, 0x7fff. */
void narrow_to_f16(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = 0; i < 2; i++) {
        emit_vector(&c->e, V_COPY32, 3, 0, line_get(c, in->a, i, false), WHOLE);
        lanes_canonical_nan(&c->e, 3);
        emit_vector(&c->e, V_TO_F16, 3, 0, 1 + i, WHOLE);
        emit_byte(&c->e, 0);
    }
    lanes_join_halves(&c->e, 1, 1, 2);
    put_line(c, in, in->d, 0, 1);
}
