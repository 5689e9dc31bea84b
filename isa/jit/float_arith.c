/* Compiles additions, products, quotients, roots, minima and maxima of f32 and f64, and the modifiers .ftz and .sat of
 * f32. Scratch registers 1 to 3 hold intermediate values. */
#include "jit_rule.h"

#define TABLE(field) table_at(offsetof(struct jit_tables, field))

/* ---- modifiers of f32 ---- */

static bool has_modifier(const struct inst *in, enum category modifier) {
    uint32_t n;
    return form_get(isa_rows(&n)[in->row].form, modifier) != 0;
}

static bool is_subnormal_constant(const struct compiler *c, opnd_t o) {
    const uint32_t bits = o & 1 ? constant_of(c, o) : 0;
    return !(bits & 0x7f800000u) && bits & 0x7fffffffu;
}

unsigned arith_source(struct compiler *c, const struct inst *in, opnd_t o, unsigned i, unsigned v, bool any_nan) {
    const unsigned line = line_get(c, o, i, any_nan);
    const bool may_be_subnormal = o & 1 ? is_subnormal_constant(c, o) : !c->held[line].flushed;
    if (!has_modifier(in, CAT_FTZ) || !may_be_subnormal)
        return line;
    lanes_flush(&c->e, v, line);
    return v;
}

void arith_finish(struct compiler *c, const struct inst *in, unsigned i, unsigned d) {
    struct emit *e = &c->e;
    if (has_modifier(in, CAT_SAT)) {
        emit_vector(e, V_XOR, 3, 3, 3, WHOLE);
        emit_vector(e, V_MAX_F32, d, d, 3, WHOLE); /* 0 instead of a NaN and of -0 */
        emit_vector_mem(e, V_MIN_F32, d, d, TABLE(f32_one), WHOLE);
    }
    c->held[d].flushed = has_modifier(in, CAT_FTZ);
    if (c->held[d].flushed)
        lanes_flush(e, d, d);
    merge_guarded(c, in, i, d, true);
}

/* ---- f32: NaNs become canonical when the result is stored or used as bits ---- */

void arith_f32_two(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 1, true), b = arith_source(c, in, in->b, i, 2, true),
                 d = destination(c, in, i, true);
        emit_vector(&c->e, r->code, d, a, b, WHOLE);
        arith_finish(c, in, i, d);
    }
}

void arith_f32_one(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 1, true), d = destination(c, in, i, true);
        emit_vector(&c->e, r->code, d, 0, a, WHOLE);
        arith_finish(c, in, i, d);
    }
}

void arith_f32_reciprocal(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 2, true), d = destination(c, in, i, true);
        emit_vector_mem(&c->e, V_LOAD, 1, 0, TABLE(f32_one), WHOLE);
        emit_vector(&c->e, r->code, d, 1, a, WHOLE);
        arith_finish(c, in, i, d);
    }
}

/* Emits d = a * b + c, rounded once. The x86 instruction overwrites one of its operands. */
static void emit_fused(struct emit *e, bool f64, unsigned d, unsigned a, unsigned b, unsigned x) {
    const uint32_t add_to = V_FMA231 | (uint32_t)f64 << 8, times = V_FMA213 | (uint32_t)f64 << 8;
    if (d == a)
        emit_vector(e, times, d, b, x, WHOLE);
    else if (d == b)
        emit_vector(e, times, d, a, x, WHOLE);
    else {
        if (d != x)
            emit_vector(e, V_COPY64, d, 0, x, WHOLE);
        emit_vector(e, add_to, d, a, b, WHOLE);
    }
}

void arith_f32_fused(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 1, true), b = arith_source(c, in, in->b, i, 2, true),
                 x = arith_source(c, in, in->c, i, 3, true);
        unsigned d = destination(c, in, i, true);
        emit_fused(&c->e, false, d, a, b, x);
        arith_finish(c, in, i, d);
    }
}

/* Emits min or max of f32. r->code, vminps or vmaxps, returns b if one source is a NaN or both are zeros. So a NaN in b
 * selects a. If the sources are equal, r->second combines their bits: OR for min, so that -0 results, AND for max. */
void arith_f32_extreme(struct compiler *c, const struct inst *in, const struct rule *r) {
    struct emit *e = &c->e;
    const bool flushes = has_modifier(in, CAT_FTZ);
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        /* the scratch registers hold masks and results */
        const unsigned a = arith_source(c, in, in->a, i, flushes ? line_temporary(c, 0) : 0, true);
        const unsigned b = arith_source(c, in, in->b, i, flushes ? line_temporary(c, 1) : 0, true);
        lanes_compare(e, V_CMP_F32, 1, b, b, CMP_UNORDERED);
        lanes_compare(e, V_CMP_F32, 2, a, b, 0); /* equal */
        emit_vector(e, r->code, 1, a, b, WHOLE);
        emit_vector(e, r->second, 2, a, b, WHOLE);
        lanes_merge(e, 1, 1, a);
        lanes_merge(e, 2, 1, 2);
        unsigned d = destination(c, in, i, true);
        emit_vector(e, V_COPY32, d, 0, 1, WHOLE);
        c->held[d].flushed = flushes;
        merge_guarded(c, in, i, d, true);
    }
}

/* ---- f64: a NaN causes a side exit, because only the lane function knows which bits the NaN gets ---- */

/* Emits a side exit for the case that a result in `v` is a NaN. In all other cases the results become lines of d. */
static void f64_checked(struct compiler *c, const struct inst *in, const unsigned *v) {
    unsigned n = lines_of(c, 8);
    struct side_exit *out = side_exit_new(c, JIT_LEFT);
    lanes_test_nan(&c->e, c->partial, v, n);
    exit_if(c, out, IF_NOT_ZERO);
    for (unsigned i = 0; i < n; i++)
        line_rename(c, v[i], in->d, i);
    lines_unpin(c);
}

void arith_f64_two(struct compiler *c, const struct inst *in, const struct rule *r) {
    unsigned v[MAX_LINES];
    for (unsigned i = 0, results = 0; i < lines_of(c, 8); i++, c->pinned = results) {
        unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false);
        results |= 1u << (v[i] = line_temporary(c, i));
        emit_vector(&c->e, r->code, v[i], a, b, WHOLE);
    }
    f64_checked(c, in, v);
}

void arith_f64_fused(struct compiler *c, const struct inst *in, const struct rule *r) {
    unsigned v[MAX_LINES];
    (void)r;
    for (unsigned i = 0, results = 0; i < lines_of(c, 8); i++, c->pinned = results) {
        unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false), x = line_get(c, in->c, i, false);
        results |= 1u << (v[i] = line_temporary(c, i));
        emit_fused(&c->e, true, v[i], a, b, x);
    }
    f64_checked(c, in, v);
}
