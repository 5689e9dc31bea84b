#ifndef ISA_AFFINE_RULE_H
#define ISA_AFFINE_RULE_H
/* The rules of affine execution: what an affine unit can do with each instruction. The analysis, the affine warp's
 * engine and compact affine execution share this table. Source: "Decoupled Affine Computation for SIMT GPUs", sections
 * 2.2, 4.4 and 4.6.
 *
 * A scalar has one value in all threads of a CTA. An affine value is base + x * tid.x + y * tid.y + z * tid.z modulo
 * 2^width. A vector is any other value. A predicate is scalar if all threads of a CTA agree, affine if it comes from
 * comparisons of affine values, and a vector otherwise. */
#include "isa/program.h"

enum affine_class { CLASS_SCALAR, CLASS_AFFINE, CLASS_VECTOR };

enum affine_rule {
    RULE_NONE,        /* result is a vector: floating point, cross-lane operations, memory, clocks */
    RULE_MOV,         /* a, of any type up to 64 bits; cvta: a + constant */
    RULE_ADD,         /* a + b */
    RULE_SUB,         /* a - b */
    RULE_NEG,         /* -a */
    RULE_MUL,         /* low half of a * b, with a or b scalar */
    RULE_MAD,         /* low half of a * b + c */
    RULE_SHL,         /* a << b, b scalar */
    RULE_WIDEN,       /* cvt between integers of any width; narrowing keeps affine values affine */
    RULE_MUL_WIDE,    /* full product a * b, with a or b scalar */
    RULE_MAD_WIDE,    /* full product a * b, plus c */
    RULE_SELP,        /* c ? a : b; if the predicate c is affine, the result has two tuples: a and b */
    RULE_MIN,         /* the smaller of a and b; the result has two tuples: a and b */
    RULE_MAX,         /* the larger of a and b; the result has two tuples: a and b */
    RULE_REM,         /* a modulo b, b scalar; the result has one tuple for each quotient */
    RULE_SETP,        /* comparison of integers, a or b scalar, combined with a predicate c by and, or, xor */
    RULE_PRED,        /* and, or, xor, not, mov of predicates */
    RULE_SCALAR_ONLY, /* other pure functions of integers, bits and predicates: only if all sources are scalar */
    RULE_LD_PARAM,    /* ld.param of the kernel at a scalar address */
    RULE_LD_CONST,    /* ld.const at a scalar address */
    N_AFFINE_RULES
};

/* Returns the rule of an instruction by its row, kind and state space. The guard is ignored. */
enum affine_rule affine_rule_of(const struct inst *in);
/* Returns the class of the results d and d2. `source`: classes of a, b, c and e; constants and missing operands
 * (OPND_ZERO) are CLASS_SCALAR. The caller handles the guard: a write under an affine guard is affine if the old value
 * is affine. */
enum affine_class affine_result(enum affine_rule rule, const enum affine_class source[4]);
/* Returns true if the result is one of several tuples, selected for each thread. Earlier designs (cae) cannot compute
 * such results from affine operands (section 3). */
static inline bool affine_rule_selects(enum affine_rule rule) {
    return rule == RULE_MIN || rule == RULE_MAX || rule == RULE_REM;
}
/* Returns the class of a special register (see isa/machine/warp.c). */
enum affine_class affine_special(enum special s);
const char *affine_class_name(enum affine_class c);
#endif
