/* Compiles conversions of f32 and f64, approximate quotients and roots, and operations on sign bits. Scratch registers
 * 0 to 2 hold intermediate values. */
#include "jit_rule.h"

#define V_TO_S32     VECTOR(1, 2, 0, 0x5b) /* vcvttps2dq: 0x80000000 if out of range */
#define V_TO_U32     VECTOR(1, 0, 0, 0x78) /* vcvttps2udq: 0xffffffff if out of range; AVX-512 only */
#define V_ROUND      VECTOR(3, 1, 0, 0x08) /* vrndscaleps or vroundps, imm */
#define V_F64_F32    VECTOR(1, 1, 1, 0x5a) /* vcvtpd2ps */
#define V_F64_TO_S32 VECTOR(1, 1, 1, 0xe6) /* vcvttpd2dq */
#define V_MIN_F64    VECTOR(1, 1, 1, 0x5d) /* returns the third operand if one is a NaN */
#define V_MUL_F32    VECTOR(1, 0, 0, 0x59)
#define V_DIV_F32    VECTOR(1, 0, 0, 0x5e)
#define V_SQRT_F32   VECTOR(1, 0, 0, 0x51)

enum { HOW_GE = 0x0d, HOW_GT = 0x1e }; /* predicate numbers of vcmpps; false if an operand is a NaN */

#define TABLE(field) table_at(offsetof(struct jit_tables, field))

static void load(struct emit *e, unsigned v, struct place p) { emit_vector_mem(e, V_LOAD, v, 0, p, WHOLE); }

/* Copies scratch register v, whose elements are no f32 with a NaN, to line i of the destination. */
static void put(struct compiler *c, const struct inst *in, unsigned i, unsigned v) {
    const unsigned d = destination(c, in, i, false);
    emit_vector(&c->e, V_COPY32, d, 0, v, WHOLE);
    merge_guarded(c, in, i, d, false);
}

/* Copies an f32 result in scratch register v to line i of the destination, with .ftz and .sat. */
static void put_finished(struct compiler *c, const struct inst *in, unsigned i, unsigned v) {
    const unsigned d = destination(c, in, i, true);
    emit_vector(&c->e, V_COPY32, d, 0, v, WHOLE);
    arith_finish(c, in, i, d);
}

/* Rounds to an integer unless r->second is ROUND_ZERO, which the conversion does itself. */
void floats_to_s32(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 3, true);
        if (r->second != ROUND_ZERO) {
            emit_vector(e, V_ROUND, 1, 0, a, WHOLE);
            emit_byte(e, r->second);
            a = 1;
        }
        emit_vector(e, V_TO_S32, 0, 0, a, WHOLE);
        load(e, 2, TABLE(f32_2p31));
        lanes_compare(e, V_CMP_F32, 1, a, 2, HOW_GE);
        load(e, 2, TABLE(f32_magnitude));
        lanes_merge(e, 1, 0, 2);
        lanes_compare(e, V_CMP_F32, 1, a, a, CMP_UNORDERED);
        emit_vector(e, V_XOR, 2, 2, 2, WHOLE);
        lanes_merge(e, 1, 0, 2);
        put(c, in, i, 0);
    }
}

/* The maximum with 0 also turns a NaN into 0. */
void floats_to_u32(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        const unsigned a = arith_source(c, in, in->a, i, 3, true);
        emit_vector(e, V_ROUND, 1, 0, a, WHOLE);
        emit_byte(e, r->second);
        emit_vector(e, V_XOR, 2, 2, 2, WHOLE);
        emit_vector(e, V_MAX_F32, 1, 1, 2, WHOLE);
        emit_vector(e, V_TO_U32, 1, 0, 1, WHOLE);
        put(c, in, i, 1);
    }
}

void floats_round(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        emit_vector(&c->e, V_ROUND, 1, 0, arith_source(c, in, in->a, i, 3, true), WHOLE);
        emit_byte(&c->e, r->second);
        put_finished(c, in, i, 1);
    }
}

/* Converts f64 to elements of 32 bits, which r->code makes of a line, in a half line. For s32, values above the range
 * become the greatest integer; the conversion gives 0x80000000 for a NaN and for values below the range. */
static void narrow_f64(struct compiler *c, const struct inst *in, uint32_t code, bool to_integer) {
    struct emit *e = &c->e;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        for (unsigned half = 0; half < 2; half++) {
            unsigned a = line_get(c, in->a, 2 * i + half, false);
            if (to_integer) {
                load(e, 0, TABLE(f64_s32_max));
                emit_vector(e, V_MIN_F64, 0, 0, a, WHOLE);
                a = 0;
            }
            emit_vector(e, code, 1 + half, 0, a, WHOLE);
        }
        lanes_join_halves(e, 1, 1, 2);
        if (to_integer)
            put(c, in, i, 1);
        else
            put_finished(c, in, i, 1);
    }
}

void floats_narrow(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    narrow_f64(c, in, V_F64_F32, false);
}

void floats_f64_to_s32(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    narrow_f64(c, in, V_F64_TO_S32, true);
}

/* If |b| is above 2^126, the result is a times a zero with the sign of b (f32_div_approx()). An infinite b gives the
 * same result in both ways. */
void floats_div_approx(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        const unsigned a = arith_source(c, in, in->a, i, 0, true), b = arith_source(c, in, in->b, i, 3, true);
        emit_vector_mem(e, V_AND, 1, b, TABLE(f32_magnitude), WHOLE);
        load(e, 2, TABLE(f32_2p126));
        lanes_compare(e, V_CMP_F32, 1, 1, 2, HOW_GT);
        emit_vector_mem(e, V_AND, 2, b, TABLE(f32_sign), WHOLE);
        emit_vector(e, V_MUL_F32, 2, a, 2, WHOLE);
        emit_vector(e, V_DIV_F32, 1, a, b, WHOLE);
        lanes_merge(e, 1, 1, 2);
        put_finished(c, in, i, 1);
    }
}

void floats_rsqrt(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        emit_vector(e, V_SQRT_F32, 1, 0, arith_source(c, in, in->a, i, 1, true), WHOLE);
        load(e, 2, TABLE(f32_one));
        emit_vector(e, V_DIV_F32, 1, 2, 1, WHOLE);
        put_finished(c, in, i, 1);
    }
}

void floats_sign(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 1, false), d = destination(c, in, i, false);
        emit_vector_mem(&c->e, r->code, d, a, table_at(r->second), WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

void floats_copysign(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        emit_vector_mem(e, V_AND, 1, line_get(c, in->a, i, false), TABLE(f32_sign), WHOLE);
        emit_vector_mem(e, V_AND, 2, line_get(c, in->b, i, false), TABLE(f32_magnitude), WHOLE);
        emit_vector(e, V_OR, 1, 1, 2, WHOLE);
        put(c, in, i, 1);
    }
}
