#ifndef ISA_JIT_JIT_RULE_H
#define ISA_JIT_JIT_RULE_H
/* The format of a rule, which says how to compile an instruction, and what its functions share. ops.c has the table of
 * rules. */
#include "compile.h"
#include <string.h>

struct rule;
typedef void rule_fn(struct compiler *c, const struct inst *in, const struct rule *r);
enum {
    HAS_EXIT = 1,    /* the rule has a side exit, so the instruction cannot have a guard */
    AVX512_ONLY = 2, /* the rule needs AVX-512 */
    CONSTANT_C = 4,  /* operand c must be a constant */
    CONSTANT_E = 8,  /* operand e must be a constant */
    MODIFIED = 16,   /* the rule also handles .ftz and .sat, which are not in its form */
};
struct rule {
    uint8_t op;    /* enum op_id */
    uint8_t type;  /* enum type: the first type of the mnemonic */
    uint8_t type2; /* second type; T_NONE: none */
    uint8_t flags; /* HAS_EXIT and others */
    uint64_t form; /* must equal row.form */
    rule_fn *compile;
    uint32_t code;   /* main vector instruction */
    uint32_t second; /* opcode of a second vector instruction, or an immediate operand */
};

/* Returns the value of operand `o`, a constant of 32 bits. */
static inline uint32_t constant_of(const struct compiler *c, opnd_t o) {
    uint32_t value;
    memcpy(&value, c->program->constants + (o >> 1), sizeof value);
    return value;
}

/* ---- destinations ---- */

/* Returns the register for the result's line i: the line itself, or scratch register 0 with a guard. Call it after
 * line_get() of all sources. */
static inline unsigned destination(struct compiler *c, const struct inst *in, unsigned i, bool any_nan) {
    return in->guard == NO_GUARD ? line_new(c, in->d, i, any_nan) : 0;
}

/* Merges result v into line i of register `to` where the guard holds. Requires a guard. */
static inline void merge_into(struct compiler *c, const struct inst *in, opnd_t to, unsigned i, unsigned v) {
    const unsigned d = line_get(c, to, i, false);
    lanes_select(&c->e, d, in->guard_not ? d : v, in->guard_not ? v : d, in->guard << 1, i, in->dsize);
    line_modified(c, to, i);
}

/* Merges result v into line i of d where the guard holds, if the instruction has a guard. */
static inline void merge_guarded(struct compiler *c, const struct inst *in, unsigned i, unsigned v, bool any_nan) {
    if (in->guard == NO_GUARD)
        return;
    if (any_nan)
        lanes_canonical_nan(&c->e, v);
    merge_into(c, in, in->d, i, v);
}

/* ---- bits.c: shifts of pairs, permutations of bytes, truth tables, high halves of products ---- */

/* The result of shf is the upper word of the shifted pair (left) or its lower word (right). */
enum { FUNNEL_RIGHT, FUNNEL_LEFT };
/* Emits shf. r->code: FUNNEL_LEFT or FUNNEL_RIGHT; r->second: only the lower five bits of the amount count. */
rule_fn bits_funnel;
/* Emits prmt with a constant selector. */
rule_fn bits_permute;
/* Emits lop3. */
rule_fn bits_lop3;
/* Emits scratch register 1 = upper halves of the products of 32-bit elements. `multiply`: V_WIDE_x. */
void bits_high_words(struct emit *e, uint32_t multiply, unsigned a, unsigned b);
/* Emits mul.hi, or mad.hi if r->second is set. r->code multiplies the lower words of 64-bit elements. */
rule_fn bits_high_product;

/* ---- carry.c ---- */

/* Emits an instruction that writes or reads a carry. AVX-512 only. */
rule_fn carry_sum;

/* ---- float_arith.c: arithmetic of floats, and the modifiers .ftz and .sat of f32 ---- */

/* Returns a register with line i of source `o`: line_get(), or, with .ftz, vector register v with the line's elements
 * without subnormals. */
unsigned arith_source(struct compiler *c, const struct inst *in, opnd_t o, unsigned i, unsigned v, bool any_nan);
/* Applies .ftz, .sat and the guard to the f32 result for line i, in the register `d` that destination() returned. Uses
 * vector register 3, and mask 1 with AVX-512. */
void arith_finish(struct compiler *c, const struct inst *in, unsigned i, unsigned d);
/* Emit the vector instruction r->code, with two sources or with one. */
rule_fn arith_f32_two, arith_f32_one, arith_f64_two;
/* Emits 1 / a. r->code is the division. */
rule_fn arith_f32_reciprocal;
/* Emit a * b + c. */
rule_fn arith_f32_fused, arith_f64_fused;
/* Emits min or max. */
rule_fn arith_f32_extreme;

/* ---- floats.c ---- */

/* Ways to round: immediate operands of vroundps. */
enum { ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_ZERO };
/* Emit cvt of f32 to s32, to u32 (AVX-512), and to an integral f32. r->second: ROUND_x. */
rule_fn floats_to_s32, floats_to_u32, floats_round;
/* Emit cvt of f64 to f32, rounded to nearest, and to s32, rounded to zero. */
rule_fn floats_narrow, floats_f64_to_s32;
/* Emit div.approx and rsqrt.approx of f32. */
rule_fn floats_div_approx, floats_rsqrt;
/* Emits an operation that changes only the sign bit. r->second: the offset of the other operand in the tables. */
rule_fn floats_sign;
rule_fn floats_copysign;

/* ---- narrow.c: elements of 16 bits. All rules need AVX-512. ---- */

/* Emits a shift of 16-bit elements by 32-bit amounts. */
rule_fn narrow_shift;
/* Emits cvt from 16 to 32 or 64 bits. r->code: 1 if the source is signed. */
rule_fn narrow_widen;
/* Emits cvt from 32 to 16 bits. */
rule_fn narrow_cut;
/* Emits mul.wide, or mad.wide if r->second is set. r->code: 1 if the factors are signed. */
rule_fn narrow_product;
/* Emit mov.b32 d, {a, b} and mov.b32 {d, d2}, a. */
rule_fn narrow_pack, narrow_unpack;
/* Emit cvt between f16 and f32, rounded to nearest. */
rule_fn narrow_from_f16, narrow_to_f16;
#endif
