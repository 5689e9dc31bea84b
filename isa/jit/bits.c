/* Compiles shf, prmt, lop3, mul.hi and mad.hi of 32 bits. Scratch registers 1 to 3 hold intermediate values. */
#include "jit_rule.h"

static void shift_by(struct emit *e, unsigned how, unsigned d, unsigned a, unsigned bits) {
    emit_vector(e, V_SHIFT32, how, d, a, WHOLE);
    emit_byte(e, bits);
}

static void shift_wide_by_32(struct emit *e, unsigned how, unsigned d, unsigned a) {
    emit_vector(e, V_SHIFT64, how, d, a, WHOLE);
    emit_byte(e, 32);
}

/* Emits code that sets scratch register 3 to the amount of a shf in register n, and scratch register 2 to 32 minus the
 * amount. */
static void funnel_amounts(struct emit *e, unsigned n, bool wraps) {
    if (wraps)
        emit_vector_mem(e, V_AND, 3, n, table_at(offsetof(struct jit_tables, low_5_bits)), WHOLE);
    else
        emit_vector_mem(e, V_MIN_U32, 3, n, table_at(offsetof(struct jit_tables, word_bits)), WHOLE);
    emit_vector_mem(e, V_LOAD, 2, 0, table_at(offsetof(struct jit_tables, word_bits)), WHOLE);
    emit_vector(e, V_SUB32, 2, 2, 3, WHOLE);
}

/* x86 shifts all bits out if the amount is 32. So the amounts 0 and 32 need no code of their own. */
void bits_funnel(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    const bool left = r->code == FUNNEL_LEFT, is_constant = in->c & 1;
    uint32_t n = is_constant ? constant_of(c, in->c) : 0;
    n = r->second ? n & 31 : n < 32 ? n : 32;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        const unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false);
        const unsigned amount = is_constant ? 0 : line_get(c, in->c, i, false), d = destination(c, in, i, false);
        if (is_constant && in->a == in->b && !e->vex && n < 32) {
            shift_by(e, left ? ROTATE_LEFT : ROTATE_RIGHT, d, a, n);
        } else {
            if (is_constant) {
                shift_by(e, SHIFT_RIGHT, 1, a, left ? 32 - n : n);
                shift_by(e, SHIFT_LEFT, 2, b, left ? n : 32 - n);
            } else {
                funnel_amounts(e, amount, r->second);
                emit_vector(e, V_SHR32, 1, a, left ? 2 : 3, WHOLE);
                emit_vector(e, V_SHL32, 2, b, left ? 3 : 2, WHOLE);
            }
            emit_vector(e, V_OR, d, 1, 2, WHOLE);
        }
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits code that sets scratch register 1 to `from`, shifted so that byte `byte` moves to byte `to`. `sign`: bit 3 of
 * the selector, which fills the register with the byte's sign bit. */
static void move_byte(struct emit *e, unsigned from, unsigned byte, unsigned to, bool sign) {
    if (sign) {
        shift_by(e, SHIFT_LEFT, 1, from, 24 - 8 * byte);
        shift_by(e, SHIFT_RIGHT_SIGNED, 1, 1, 31);
    } else if (to >= byte) {
        shift_by(e, SHIFT_LEFT, 1, from, 8 * (to - byte));
    } else {
        shift_by(e, SHIFT_RIGHT, 1, from, 8 * (byte - to));
    }
}

/* Returns the result bytes, one bit each, that one shift of one source can supply together with byte `to`. */
static unsigned bytes_like(uint32_t selectors, unsigned to) {
    const uint32_t s = selectors >> 4 * to & 15;
    unsigned bytes = 0;
    for (unsigned k = 0; k < 4; k++) {
        const uint32_t t = selectors >> 4 * k & 15;
        if (s & 8 ? t == s : (t & 12) == (s & 12) && k - (t & 3) == to - (s & 3))
            bytes |= 1u << k;
    }
    return bytes;
}

void bits_permute(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    const uint32_t selectors = constant_of(c, in->c);
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        const unsigned source[2] = {line_get(c, in->a, i, false), line_get(c, in->b, i, false)};
        const unsigned d = destination(c, in, i, false);
        emit_vector(e, V_XOR, 2, 2, 2, WHOLE);
        for (unsigned k = 0, done = 0; k < 4; k++) {
            const unsigned bytes = bytes_like(selectors, k);
            const uint32_t s = selectors >> 4 * k & 15;
            if (done >> k & 1)
                continue;
            done |= bytes;
            move_byte(e, source[s >> 2 & 1], s & 3, k, s & 8);
            emit_vector_mem(e, V_LOAD_SAME32, 3, 0, table_at(offsetof(struct jit_tables, bytes[0]) + 4 * (size_t)bytes),
                            WHOLE);
            emit_vector(e, V_AND, 1, 1, 3, WHOLE);
            emit_vector(e, V_OR, 2, 2, 1, WHOLE);
        }
        emit_vector(e, V_COPY32, d, 0, 2, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

void bits_lop3(struct compiler *c, const struct inst *in, const struct rule *r) {
    const unsigned table = constant_of(c, in->e) & 0xff;
    (void)r;
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        const unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false);
        const unsigned x = line_get(c, in->c, i, false), d = destination(c, in, i, false);
        emit_vector(&c->e, V_COPY32, 1, 0, a, WHOLE);
        lanes_logic(&c->e, 1, b, x, table);
        emit_vector(&c->e, V_COPY32, d, 0, 1, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

void bits_high_words(struct emit *e, uint32_t multiply, unsigned a, unsigned b) {
    shift_wide_by_32(e, SHIFT_RIGHT, 2, a);
    shift_wide_by_32(e, SHIFT_RIGHT, 3, b);
    emit_vector(e, multiply, 2, 2, 3, WHOLE); /* odd elements */
    emit_vector(e, multiply, 1, a, b, WHOLE); /* even elements */
    shift_wide_by_32(e, SHIFT_RIGHT, 1, 1);
    shift_wide_by_32(e, SHIFT_RIGHT, 2, 2);
    shift_wide_by_32(e, SHIFT_LEFT, 2, 2);
    emit_vector(e, V_OR, 1, 1, 2, WHOLE);
}

void bits_high_product(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        const unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false);
        const unsigned x = r->second ? line_get(c, in->c, i, false) : 0, d = destination(c, in, i, false);
        bits_high_words(e, r->code, a, b);
        emit_vector(e, r->second ? V_ADD32 : V_COPY32, d, r->second ? 1 : 0, r->second ? x : 1, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}
