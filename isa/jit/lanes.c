/* What AVX-512 and AVX2 do in two ways: masks, what AVX2 lacks, what moves elements between halves. */
#include "compile.h"

/* Of AVX-512 alone. */
#define V_LOGIC  VECTOR(3, 1, 0, 0x25) /* vpternlogd, imm */
#define V_TEST   VECTOR(2, 1, 0, 0x27) /* vptestmd */
#define V_UPPER  VECTOR(3, 1, 1, 0x3b) /* vextracti64x4, imm: reg is the source */
#define V_JOIN   VECTOR(3, 1, 1, 0x3a) /* vinserti64x4, imm */
#define V_CUT    VECTOR(2, 2, 0, 0x35) /* vpmovqd: reg is the source */
#define V_FROM32 VECTOR(2, 1, 0, 0x7c) /* vpbroadcastd from a general register */
#define V_FROM64 VECTOR(2, 1, 1, 0x7c)
#define V_BLEND  VECTOR(2, 1, 0, 0x64) /* vpblendmd; with W of 64 bits */
#define K_LOAD16 VECTOR(1, 0, 0, 0x90)
#define K_LOAD8  VECTOR(1, 1, 0, 0x90)
#define K_TO32   VECTOR(1, 3, 0, 0x93)
#define K_OR8    VECTOR(1, 1, 0, 0x45)
#define K_ALL16  VECTOR(1, 0, 0, 0x46) /* kxnorw */
#define K_TEST16 VECTOR(1, 0, 0, 0x98) /* kortestw */
#define K_TEST8  VECTOR(1, 1, 0, 0x98)
#define K_JOIN8  VECTOR(1, 1, 0, 0x4b) /* kunpckbw: second above third */
#define K_JOIN16 VECTOR(1, 0, 0, 0x4b) /* kunpckwd */
/* Of AVX and AVX2, where AVX-512 has another form or none. */
#define A_UPPER    VECTOR(3, 1, 0, 0x39)                /* vextracti128, imm: reg is the source */
#define A_JOIN     VECTOR(3, 1, 0, 0x38)                /* vinserti128, imm */
#define A_SHUFFLE  VECTOR(1, 0, 0, 0xc6)                /* vshufps, imm */
#define A_PERMUTE  VECTOR(3, 1, 1, 0x00)                /* vpermq, imm */
#define A_FROM32   (VECTOR(1, 1, 0, 0x6e) | VECTOR_128) /* vmovd from a general register */
#define A_FROM64   (VECTOR(1, 1, 1, 0x6e) | VECTOR_128)
#define A_BLEND    VECTOR(3, 1, 0, 0x4a) /* vblendvps: third where the register in the byte behind has the sign */
#define A_TEST     VECTOR(2, 1, 0, 0x17) /* vptest */
#define A_EQUAL32  VECTOR(1, 1, 0, 0x76)
#define A_EQUAL64  VECTOR(2, 1, 0, 0x29)
#define A_ABOVE32  VECTOR(1, 1, 0, 0x66) /* signed */
#define A_ABOVE64  VECTOR(2, 1, 0, 0x37)
#define A_SIGNS32  VECTOR(1, 0, 0, 0x50) /* vmovmskps */
#define A_SIGNS64  VECTOR(1, 1, 0, 0x50)
#define A_BLEND16S VECTOR(3, 1, 0, 0x0e) /* vpblendw, imm */

#define CONSTANT(field) table_at(offsetof(struct jit_tables, field))
static void op3(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b) { emit_vector(e, op, d, a, b, WHOLE); }
static void op3_imm(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b, unsigned imm) {
    emit_vector(e, op, d, a, b, WHOLE);
    emit_byte(e, imm);
}

uint32_t lanes_vectors(const struct emit *e) { return e->vex ? 0xffe0u : 0xfffffff0u; }

/* AVX2: the vector register that mask m is. */
static unsigned vector_of(unsigned m) { return m == 2 ? 3 : 4; }

/* ---- arithmetic that AVX2 lacks ---- */

static void multiply64(struct emit *e, unsigned d, unsigned a, unsigned b) {
    for (unsigned k = 0; k < 2; k++) { /* the upper half of one and the lower one of the other */
        op3_imm(e, V_SHIFT64, SHIFT_RIGHT, 2 + k, k ? b : a, 32);
        op3(e, V_WIDE_U32, 2 + k, 2 + k, k ? a : b);
    }
    op3(e, V_ADD64, 2, 2, 3);
    op3_imm(e, V_SHIFT64, SHIFT_LEFT, 2, 2, 32);
    op3(e, V_WIDE_U32, 3, a, b);
    op3(e, V_ADD64, d, 2, 3);
}

/* 2: all ones where a is negative */
static void signs64(struct emit *e, unsigned a) {
    op3(e, V_XOR, 2, 2, 2);
    op3(e, A_ABOVE64, 2, 2, a);
}

void lanes_op(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b) {
    if (e->vex && op == V_MUL64) {
        multiply64(e, d, a, b);
    } else if (e->vex && op == V_SHR64S) { /* ~(~a >> b) where a is negative */
        signs64(e, a);
        op3(e, V_XOR, 3, a, 2);
        op3(e, V_SHR64, 3, 3, b);
        op3(e, V_XOR, d, 3, 2);
    } else if (e->vex && op == V_ABS64) {
        signs64(e, b);
        op3(e, V_XOR, 3, b, 2);
        op3(e, V_SUB64, d, 3, 2);
    } else if (e->vex && op == V_F32_U32) { /* upper half * 65536 + lower half, which is rounded once */
        op3_imm(e, V_SHIFT32, SHIFT_RIGHT, 2, b, 16);
        op3(e, V_F32_S32, 2, 0, 2);
        op3(e, V_XOR, 3, 3, 3);
        op3_imm(e, A_BLEND16S, 3, 3, b, 0x55);
        op3(e, V_F32_S32, 3, 0, 3);
        emit_vector_mem(e, V_FMA231, 3, 2, CONSTANT(f32_65536), WHOLE);
        op3(e, V_COPY32, d, 0, 3);
    } else {
        op3(e, op, d, a, b);
    }
}

void lanes_not(struct emit *e, unsigned d, unsigned a) {
    if (!e->vex) {
        op3_imm(e, V_LOGIC, d, a, a, 0x55); /* not the third operand */
        return;
    }
    op3(e, A_EQUAL32, 2, 2, 2);
    op3(e, V_XOR, d, a, 2);
}

void lanes_differ(struct emit *e, unsigned d, unsigned a, unsigned b) {
    if (!e->vex) {
        op3_imm(e, V_LOGIC, d, a, b, 0xf6); /* first | (second ^ third) */
        return;
    }
    op3(e, V_XOR, 2, a, b);
    op3(e, V_OR, d, d, 2);
}

/* ---- from half to half ---- */

void lanes_upper(struct emit *e, unsigned d, unsigned v) { op3_imm(e, e->vex ? A_UPPER : V_UPPER, v, 0, d, 1); }

void lanes_join(struct emit *e, unsigned d, unsigned low, unsigned high) {
    op3_imm(e, e->vex ? A_JOIN : V_JOIN, d, low, high, 1);
}

void lanes_cut(struct emit *e, unsigned d, unsigned low, unsigned high) {
    if (e->vex) {
        op3_imm(e, A_SHUFFLE, 1, low, high, 0x88); /* in quarters: 0 and 2 of low, 0 and 2 of high */
        op3_imm(e, A_PERMUTE, d, 0, 1, 0xd8);
        return;
    }
    op3(e, V_CUT, low, 0, 1);
    op3(e, V_CUT, high, 0, 2);
    lanes_join(e, d, 1, 2);
}

void lanes_spread(struct emit *e, bool wide, unsigned d, enum gpr from) {
    if (!e->vex) {
        op3(e, wide ? V_FROM64 : V_FROM32, d, 0, from);
        return;
    }
    op3(e, wide ? A_FROM64 : A_FROM32, d, 0, from);
    op3(e, wide ? V_SPREAD64 : V_SPREAD32, d, 0, d);
}

/* AVX2: into vector register m, as elements of `size` bytes, the lanes from `first` on whose bit is set in the word at
 * p. */
static void lanes_of_bits(struct emit *e, unsigned m, struct place p, unsigned first, unsigned size) {
    const size_t table = size == 4 ? offsetof(struct jit_tables, bit4) : offsetof(struct jit_tables, bit8);
    const struct place bits = table_at(table + (size_t)first * size);
    emit_vector_mem(e, V_SPREAD32, m, 0, p, WHOLE);
    emit_vector_mem(e, V_AND, m, m, bits, WHOLE);
    emit_vector_mem(e, size == 4 ? A_EQUAL32 : A_EQUAL64, m, m, bits, WHOLE);
}

/* Mask m: the lanes of line i whose bit is set in the word at `bits`. */
static void lanes_of_word(struct emit *e, unsigned m, struct place bits, unsigned i, unsigned size) {
    if (e->vex)
        lanes_of_bits(e, vector_of(m), bits, 32 * i / size, size);
    else
        emit_mask_mem(e, size == 4 ? K_LOAD16 : K_LOAD8, m,
                      at(bits.base, bits.disp + (size == 4 ? 2 * (int)i : (int)i)));
}

void lanes_active(struct emit *e, unsigned m, unsigned i, unsigned size) {
    lanes_of_word(e, m, frame_at(offsetof(struct jit_frame, active)), i, size);
}

/* Whole: a store under a mask hands nothing to a load behind it, and takes long on some processors. */
void lanes_store_active(struct emit *e, unsigned v, struct place p, unsigned i, unsigned size) {
    const unsigned m = e->vex ? 1 : 6; /* masks 1 to 4 may be those of a comparison on its way */
    lanes_of_word(e, m, frame_at(offsetof(struct jit_frame, inactive)), i, size);
    if (e->vex)
        emit_vector_mem(e, A_BLEND, v, v, p, WHOLE);
    else
        emit_vector_mem(e, size == 4 ? V_LOAD : V_LOAD64, v, 0, p, (struct lanes){m, false});
    if (e->vex)
        emit_byte(e, vector_of(m) << 4);
    emit_vector_mem(e, V_STORE, v, 0, p, WHOLE);
}

void lanes_or_active(struct emit *e, bool part, unsigned d, unsigned v, unsigned i, unsigned size) {
    if (part)
        lanes_active(e, 1, i, size);
    if (part && e->vex) {
        op3(e, V_AND, 2, v, vector_of(1));
        v = 2;
    }
    emit_vector(e, size == 8 ? V_OR64 : V_OR, d, d, v, (struct lanes){part && !e->vex ? 1 : 0, false});
}

void lanes_gather(struct emit *e, uint32_t op, unsigned d, enum gpr base, unsigned index, bool part, unsigned i,
                  unsigned size) {
    if (part && e->vex && op == V_GATHERQ32) /* the mask is as wide as what is loaded */
        lanes_of_bits(e, vector_of(1), frame_at(offsetof(struct jit_frame, active)), 4 * i, 4);
    else if (part)
        lanes_active(e, 1, i, size);
    else if (e->vex)
        op3(e, A_EQUAL32, vector_of(1), vector_of(1), vector_of(1));
    else
        emit_mask(e, K_ALL16, true, 1, 1, 1);
    emit_vector_index(e, op, d, at(base, 0), index, e->vex ? vector_of(1) : 1);
}

/* ---- masks ---- */

void lanes_compare(struct emit *e, uint32_t op, unsigned m, unsigned a, unsigned b, unsigned how) {
    op3_imm(e, op, e->vex ? vector_of(m) : m, a, b, how);
}

void lanes_merge(struct emit *e, unsigned m, unsigned d, unsigned v) {
    if (e->vex)
        op3_imm(e, A_BLEND, d, d, v, vector_of(m) << 4);
    else
        emit_vector(e, V_COPY32, d, 0, v, (struct lanes){m, false});
}

void canonical_nan(struct emit *e, unsigned v) {
    const unsigned m = e->vex ? vector_of(1) : 7;
    op3_imm(e, V_CMP_F32, m, v, v, CMP_UNORDERED);
    emit_vector_mem(e, e->vex ? A_BLEND : V_COPY32, v, e->vex ? v : 0, CONSTANT(f32_nan),
                    (struct lanes){e->vex ? 0 : m, false});
    if (e->vex)
        emit_byte(e, m << 4);
}

void lanes_choose(struct compiler *c, unsigned d, unsigned yes, unsigned no, opnd_t p, unsigned i, unsigned size) {
    struct emit *e = &c->e;
    if (!e->vex) {
        emit_mask_mem(e, size == 4 ? K_LOAD16 : K_LOAD8, 1, operand_at(p, size == 4 ? 2 * i : i));
        emit_vector(e, V_BLEND | (uint32_t)(size == 8) << 8, d, no, yes, (struct lanes){1, false});
        return;
    }
    const unsigned m = vector_of(1);
    lanes_of_bits(e, m, operand_at(p, 0), 32 * i / size, size);
    op3_imm(e, A_BLEND, d, no, yes, m << 4);
}

/* AVX2: into vector register 1; true: it holds where not all bits are ones. `how` as for vpcmpd: 0 equal, 1 less, 2
 * less or equal, 4 to 6 their opposites. Without a sign the sign bits are turned over. */
static bool compare_integers(struct emit *e, uint32_t op, unsigned how, unsigned a, unsigned b) {
    const bool wide = op == V_CMP_U64 || op == V_CMP_S64, equal = how % 4 == 0;
    if (!equal && (op == V_CMP_U32 || op == V_CMP_U64)) {
        const struct place sign = wide ? CONSTANT(sign8) : CONSTANT(f32_sign);
        emit_vector_mem(e, V_XOR, 2, a, sign, WHOLE);
        emit_vector_mem(e, V_XOR, 3, b, sign, WHOLE);
        a = 2;
        b = 3;
    }
    if (equal)
        op3(e, wide ? A_EQUAL64 : A_EQUAL32, 1, a, b);
    else
        op3(e, wide ? A_ABOVE64 : A_ABOVE32, 1, how % 4 == 1 ? b : a, how % 4 == 1 ? a : b);
    return how == 2 || how == 4 || how == 5;
}

/* Masks 1 to n, of a line each, become the lanes of the warp in EAX. */
static void join_masks(struct emit *e, unsigned lines) {
    if (lines == 4) {
        emit_mask(e, K_JOIN8, true, 1, 2, 1);
        emit_mask(e, K_JOIN8, true, 2, 4, 3);
    }
    emit_mask(e, K_JOIN16, true, 1, 2, 1);
    emit_mask(e, K_TO32, false, RAX, 0, 1);
}

void lanes_compare_line(struct emit *e, uint32_t op, unsigned how, unsigned i, unsigned lines, unsigned a, unsigned b) {
    if (!e->vex) {
        op3_imm(e, op, 1 + i, a, b, how);
        if (i == 0)
            join_masks(e, lines);
        return;
    }
    bool inverse = false;
    if (op == V_CMP_F32 || op == V_CMP_F64)
        op3_imm(e, op, 1, a, b, how);
    else
        inverse = compare_integers(e, op, how, a, b);
    op3(e, lines == 4 ? A_SIGNS32 : A_SIGNS64, i == lines - 1 ? RAX : RCX, 0, 1);
    if (i < lines - 1) {
        emit_shift(e, RAX, WARP_LANES / lines);
        emit_alu(e, ALU_OR, false, RAX, RCX);
    }
    if (i == 0 && inverse)
        emit_not(e, RAX);
}

/* ---- ways out ---- */

void lanes_leave_if_any(struct compiler *c, unsigned v, struct way_out *out) {
    if (c->e.vex) {
        op3(&c->e, A_TEST, v, 0, v);
    } else {
        op3(&c->e, V_TEST, 1, v, v);
        emit_mask(&c->e, K_TEST16, false, 1, 0, 1);
    }
    leave_if(c, out, IF_NOT_ZERO);
}

/* 3: what is not 0 in a NaN of an active lane. */
static void nans_of_part(struct emit *e, const unsigned *v, unsigned n) {
    op3(e, V_XOR, 3, 3, 3);
    for (unsigned i = 0; i < n; i++) {
        if (e->vex) {
            op3_imm(e, V_CMP_F64, 2, v[i], v[i], CMP_UNORDERED);
        } else {
            op3_imm(e, V_CMP_F64, 1, v[i], v[i], CMP_UNORDERED);
            emit_vector(e, V_COPY64, 2, 0, v[i], (struct lanes){1, true});
        }
        lanes_or_active(e, true, 3, 2, i, 8);
    }
}

void lanes_leave_if_nan(struct compiler *c, const unsigned *v, unsigned n, struct way_out *out) {
    struct emit *e = &c->e;
    if (c->part) {
        nans_of_part(e, v, n);
        lanes_leave_if_any(c, 3, out);
        return;
    }
    for (unsigned i = 0; i < n; i += 2) {
        lanes_compare(e, V_CMP_F64, i ? 2 : 1, v[i], v[i + 1], CMP_UNORDERED);
        if (i && e->vex)
            op3(e, V_OR, vector_of(1), vector_of(1), vector_of(2));
        else if (i)
            emit_mask(e, K_OR8, true, 1, 1, 2);
    }
    if (e->vex)
        op3(e, A_TEST, vector_of(1), 0, vector_of(1));
    else
        emit_mask(e, K_TEST8, false, 1, 0, 1);
    leave_if(c, out, IF_NOT_ZERO);
}
