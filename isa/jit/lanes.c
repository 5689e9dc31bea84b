/* Implements the lane operations of lanes.h for AVX-512 and for AVX2. */
#include "lanes.h"

/* AVX-512 only. */
#define V_LOGIC     VECTOR(3, 1, 0, 0x25) /* vpternlogd, imm */
#define V_TEST      VECTOR(2, 1, 0, 0x27) /* vptestmd */
#define V_TEST_NONE VECTOR(2, 2, 0, 0x27) /* vptestnmd */
#define V_UPPER     VECTOR(3, 1, 1, 0x3b) /* vextracti64x4, with an immediate; reg is the source */
#define V_JOIN      VECTOR(3, 1, 1, 0x3a) /* vinserti64x4, imm */
#define V_CUT       VECTOR(2, 2, 0, 0x35) /* vpmovqd: reg is the source */
#define V_FROM32    VECTOR(2, 1, 0, 0x7c) /* vpbroadcastd from a general register */
#define V_FROM64    VECTOR(2, 1, 1, 0x7c)
#define V_BLEND     VECTOR(2, 1, 0, 0x64) /* vpblendmd; vpblendmq if W is set */
#define V_BLEND16   VECTOR(2, 1, 1, 0x66) /* vpblendmw */
#define V_LOAD16    VECTOR(1, 3, 1, 0x6f) /* vmovdqu16 */
#define K_LOAD32    VECTOR(1, 1, 1, 0x90)
#define K_LOAD16    VECTOR(1, 0, 0, 0x90)
#define K_LOAD8     VECTOR(1, 1, 0, 0x90)
#define K_TO32      VECTOR(1, 3, 0, 0x93)
#define K_OR8       VECTOR(1, 1, 0, 0x45)
#define K_ALL16     VECTOR(1, 0, 0, 0x46) /* kxnorw */
#define K_TEST16    VECTOR(1, 0, 0, 0x98) /* kortestw */
#define K_TEST8     VECTOR(1, 1, 0, 0x98)
#define K_JOIN8     VECTOR(1, 1, 0, 0x4b) /* kunpckbw: puts the second operand above the third */
#define K_JOIN16    VECTOR(1, 0, 0, 0x4b) /* kunpckwd */
/* AVX and AVX2 instructions for which AVX-512 has another form or none. */
#define A_UPPER   VECTOR(3, 1, 0, 0x39)                /* vextracti128, with an immediate; reg is the source */
#define A_JOIN    VECTOR(3, 1, 0, 0x38)                /* vinserti128, imm */
#define A_SHUFFLE VECTOR(1, 0, 0, 0xc6)                /* vshufps, imm */
#define A_PERMUTE VECTOR(3, 1, 1, 0x00)                /* vpermq, imm */
#define A_FROM32  (VECTOR(1, 1, 0, 0x6e) | VECTOR_128) /* vmovd from a general register */
#define A_FROM64  (VECTOR(1, 1, 1, 0x6e) | VECTOR_128)
/* vblendvps: selects the third operand in elements whose mask is negative; the byte that follows names the mask
 * register */
#define A_BLEND    VECTOR(3, 1, 0, 0x4a)
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

void lanes_zero_upper(struct emit *e) {
    static const unsigned char bytes[] = {0xc5, 0xf8, 0x77};
    emit_bytes(e, bytes, sizeof bytes);
}

uint32_t lanes_line_registers(const struct emit *e) { return e->vex ? 0xffe0u : 0xfffffff0u; }

/* Returns the vector register that holds mask m with AVX2. */
static unsigned vector_of(unsigned m) { return m == 2 ? 3 : 4; }

/* ---- arithmetic that AVX2 lacks ---- */

static void multiply64(struct emit *e, unsigned d, unsigned a, unsigned b) {
    for (unsigned k = 0; k < 2; k++) { /* upper half of one factor times lower half of the other factor */
        op3_imm(e, V_SHIFT64, SHIFT_RIGHT, 2 + k, k ? b : a, 32);
        op3(e, V_WIDE_U32, 2 + k, 2 + k, k ? a : b);
    }
    op3(e, V_ADD64, 2, 2, 3);
    op3_imm(e, V_SHIFT64, SHIFT_LEFT, 2, 2, 32);
    op3(e, V_WIDE_U32, 3, a, b);
    op3(e, V_ADD64, d, 2, 3);
}

/* Emits code that sets vector register 2 to all ones where a is negative. */
static void signs64(struct emit *e, unsigned a) {
    op3(e, V_XOR, 2, 2, 2);
    op3(e, A_ABOVE64, 2, 2, a);
}

void lanes_op(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b) {
    if (e->vex && op == V_MUL64) {
        multiply64(e, d, a, b);
    } else if (e->vex && op == V_SHR64S) { /* right shift of negative a: ~(~a >> b) */
        signs64(e, a);
        op3(e, V_XOR, 3, a, 2);
        op3(e, V_SHR64, 3, 3, b);
        op3(e, V_XOR, d, 3, 2);
    } else if (e->vex && op == V_ABS64) {
        signs64(e, b);
        op3(e, V_XOR, 3, b, 2);
        op3(e, V_SUB64, d, 3, 2);
    } else if (e->vex && op == V_F32_U32) { /* computes upper half * 65536 + lower half, which is rounded once */
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
        op3_imm(e, V_LOGIC, d, a, a, 0x55); /* bitwise inverse of the third operand */
        return;
    }
    op3(e, A_EQUAL32, 2, 2, 2);
    op3(e, V_XOR, d, a, 2);
}

void lanes_logic(struct emit *e, unsigned d, unsigned a, unsigned b, unsigned table) {
    op3_imm(e, V_LOGIC, d, a, b, table);
}

void lanes_or_difference(struct emit *e, unsigned d, unsigned a, unsigned b) {
    if (!e->vex) {
        op3_imm(e, V_LOGIC, d, a, b, 0xf6); /* first | (second ^ third) */
        return;
    }
    op3(e, V_XOR, 2, a, b);
    op3(e, V_OR, d, d, 2);
}

/* ---- halves of vectors ---- */

void lanes_upper_half(struct emit *e, unsigned d, unsigned v) { op3_imm(e, e->vex ? A_UPPER : V_UPPER, v, 0, d, 1); }

void lanes_join_halves(struct emit *e, unsigned d, unsigned low, unsigned high) {
    op3_imm(e, e->vex ? A_JOIN : V_JOIN, d, low, high, 1);
}

void lanes_narrow(struct emit *e, unsigned d, unsigned low, unsigned high) {
    if (e->vex) {
        op3_imm(e, A_SHUFFLE, 1, low, high, 0x88); /* words 0 and 2 of `low`, then words 0 and 2 of `high` */
        op3_imm(e, A_PERMUTE, d, 0, 1, 0xd8);
        return;
    }
    op3(e, V_CUT, low, 0, 1);
    op3(e, V_CUT, high, 0, 2);
    lanes_join_halves(e, d, 1, 2);
}

void lanes_broadcast(struct emit *e, bool wide, unsigned d, enum gpr from) {
    if (!e->vex) {
        op3(e, wide ? V_FROM64 : V_FROM32, d, 0, from);
        return;
    }
    op3(e, wide ? A_FROM64 : A_FROM32, d, 0, from);
    op3(e, wide ? V_BROADCAST64 : V_BROADCAST32, d, 0, d);
}

/* Emits code for AVX2 that sets lane i of mask m to bit `first` + i of the word at p. Elements have `size` bytes. */
static void lanes_of_bits(struct emit *e, unsigned m, struct place p, unsigned first, unsigned size) {
    const size_t table = size == 4 ? offsetof(struct jit_tables, bit4) : offsetof(struct jit_tables, bit8);
    const struct place bits = table_at(table + (size_t)first * size);
    emit_vector_mem(e, V_BROADCAST32, m, 0, p, WHOLE);
    emit_vector_mem(e, V_AND, m, m, bits, WHOLE);
    emit_vector_mem(e, size == 4 ? A_EQUAL32 : A_EQUAL64, m, m, bits, WHOLE);
}

/* Returns the instruction that loads a mask with a bit for each element of a line. AVX-512 only. */
static uint32_t mask_load(unsigned size) { return size == 2 ? K_LOAD32 : size == 4 ? K_LOAD16 : K_LOAD8; }

/* Emits code that sets mask m to the lanes of line i whose bit is set in the word at `bits`. */
static void lanes_of_word(struct emit *e, unsigned m, struct place bits, unsigned i, unsigned size) {
    if (e->vex)
        lanes_of_bits(e, vector_of(m), bits, 32 * i / size, size);
    else
        emit_mask_mem(e, mask_load(size), m, at(bits.base, bits.disp + (int)(8 * i / size)));
}

void lanes_active(struct emit *e, unsigned m, unsigned i, unsigned size) {
    lanes_of_word(e, m, frame_at(offsetof(struct jit_frame, active)), i, size);
}

void lanes_of_predicate(struct emit *e, unsigned m, opnd_t p, unsigned i, unsigned size) {
    lanes_of_word(e, m, operand_at(p, 0), i, size);
}

void lanes_keep_active(struct emit *e, unsigned d, unsigned v, unsigned i) {
    lanes_of_word(e, 3, frame_at(offsetof(struct jit_frame, active)), i, 4);
    emit_vector(e, V_COPY32, d, 0, v, (struct lanes){3, true});
}

/* Merges v with the old contents of memory and stores a whole line. A masked store cannot forward to a later load, and
 * is slow on some processors. */
void lanes_store_active(struct emit *e, unsigned v, struct place p, unsigned i, unsigned size) {
    const unsigned m = e->vex ? 1 : 6; /* AVX-512: masks 1 to 4 may hold comparison results */
    lanes_of_word(e, m, frame_at(offsetof(struct jit_frame, inactive)), i, size);
    if (e->vex)
        emit_vector_mem(e, A_BLEND, v, v, p, WHOLE);
    else
        emit_vector_mem(e, size == 2 ? V_LOAD16 : size == 4 ? V_LOAD : V_LOAD64, v, 0, p, (struct lanes){m, false});
    if (e->vex)
        emit_byte(e, vector_of(m) << 4);
    emit_vector_mem(e, V_STORE, v, 0, p, WHOLE);
}

void lanes_or_active(struct emit *e, bool partial, unsigned d, unsigned v, unsigned i, unsigned size) {
    if (partial)
        lanes_active(e, 1, i, size);
    if (partial && e->vex) {
        op3(e, V_AND, 2, v, vector_of(1));
        v = 2;
    }
    emit_vector(e, size == 8 ? V_OR64 : V_OR, d, d, v, (struct lanes){partial && !e->vex ? 1 : 0, false});
}

void lanes_gather(struct emit *e, uint32_t op, unsigned d, struct place p, unsigned index, bool partial, unsigned i,
                  unsigned size) {
    if (partial && e->vex && op == V_GATHERQ32) /* the mask's elements must be as wide as the loaded elements */
        lanes_of_bits(e, vector_of(1), frame_at(offsetof(struct jit_frame, active)), 4 * i, 4);
    else if (partial)
        lanes_active(e, 1, i, size);
    else if (e->vex)
        op3(e, A_EQUAL32, vector_of(1), vector_of(1), vector_of(1));
    else
        emit_mask(e, K_ALL16, true, 1, 1, 1);
    emit_vector_index(e, op, d, p, index, e->vex ? vector_of(1) : 1);
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

void lanes_canonical_nan(struct emit *e, unsigned v) {
    const unsigned m = e->vex ? vector_of(1) : 7;
    op3_imm(e, V_CMP_F32, m, v, v, CMP_UNORDERED);
    emit_vector_mem(e, e->vex ? A_BLEND : V_COPY32, v, e->vex ? v : 0, CONSTANT(f32_nan),
                    (struct lanes){e->vex ? 0 : m, false});
    if (e->vex)
        emit_byte(e, m << 4);
}

/* With AVX2: v & (the sign bit, or all bits if the exponent is above 0). */
void lanes_flush(struct emit *e, unsigned d, unsigned v) {
    if (e->vex) {
        const unsigned kept = d == v ? 3 : d;
        emit_vector_mem(e, V_AND, kept, v, CONSTANT(f32_exponent), WHOLE);
        emit_vector_mem(e, A_ABOVE32, kept, kept, CONSTANT(zero), WHOLE);
        emit_vector_mem(e, V_OR, kept, kept, CONSTANT(f32_sign), WHOLE);
        op3(e, V_AND, d, v, kept);
        return;
    }
    if (d != v)
        op3(e, V_COPY32, d, 0, v);
    emit_vector_mem(e, V_TEST_NONE, 1, v, CONSTANT(f32_exponent), WHOLE);
    emit_vector_mem(e, V_AND, d, d, CONSTANT(f32_sign), (struct lanes){1, false});
}

void lanes_select(struct emit *e, unsigned d, unsigned yes, unsigned no, opnd_t p, unsigned i, unsigned size) {
    if (!e->vex) {
        const uint32_t blend = size == 2 ? V_BLEND16 : V_BLEND | (uint32_t)(size == 8) << 8;
        emit_mask_mem(e, mask_load(size), 1, operand_at(p, 8 * i / size));
        emit_vector(e, blend, d, no, yes, (struct lanes){1, false});
        return;
    }
    const unsigned m = vector_of(1);
    lanes_of_bits(e, m, operand_at(p, 0), 32 * i / size, size);
    op3_imm(e, A_BLEND, d, no, yes, m << 4);
}

/* Emits a comparison for AVX2, with the result in vector register 1. `how` is encoded as in vpcmpd: 0 equal, 1 less, 2
 * less or equal, 4 to 6 the opposites. Returns true if register 1 holds the inverse. Unsigned operands are compared as
 * signed ones with flipped sign bits. */
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

void lanes_join_masks(struct emit *e, unsigned lines) {
    if (lines == 4) {
        emit_mask(e, K_JOIN8, true, 1, 2, 1);
        emit_mask(e, K_JOIN8, true, 2, 4, 3);
    }
    if (lines > 1)
        emit_mask(e, K_JOIN16, true, 1, 2, 1);
    emit_mask(e, K_TO32, false, RAX, 0, 1);
}

void lanes_compare_line(struct emit *e, uint32_t op, unsigned how, unsigned i, unsigned lines, unsigned a, unsigned b) {
    if (!e->vex) {
        op3_imm(e, op, 1 + i, a, b, how);
        if (i == 0)
            lanes_join_masks(e, lines);
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

/* ---- tests ---- */

void lanes_test_any(struct emit *e, unsigned v) {
    if (e->vex) {
        op3(e, A_TEST, v, 0, v);
    } else {
        op3(e, V_TEST, 1, v, v);
        emit_mask(e, K_TEST16, false, 1, 0, 1);
    }
}

/* Emits code that makes vector register 3 nonzero if an active lane has a NaN. */
static void nans_of_active(struct emit *e, const unsigned *v, unsigned n) {
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

void lanes_test_nan(struct emit *e, bool partial, const unsigned *v, unsigned n) {
    if (partial) {
        nans_of_active(e, v, n);
        lanes_test_any(e, 3);
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
}
