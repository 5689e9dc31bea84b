#ifndef ISA_AFFINE_RULE_H
#define ISA_AFFINE_RULE_H
/* What an affine unit can do with each instruction: the one table that the analysis, the affine warp's engine and
 * compact affine execution read. "Decoupled Affine Computation for SIMT GPUs", sections 2.2, 4.4 and 4.6.
 *
 * A scalar has one value for all threads of a CTA, an affine value is base + x * tid.x + y * tid.y + z * tid.z modulo
 * 2^width, and a vector is neither. Predicates have classes, too: scalar where all threads of a CTA agree, affine where
 * the affine unit can tell each thread's from a comparison of affine values, vector otherwise. */
#include "isa/program.h"

enum affine_class { CLASS_SCALAR, CLASS_AFFINE, CLASS_VECTOR };

enum affine_rule {
    RULE_NONE,        /* the result is a vector: floating point, what lanes do together, memory, clocks */
    RULE_MOV,         /* a, of any type of at most 64 bits; cvta: a and a constant */
    RULE_ADD,         /* a + b */
    RULE_SUB,         /* a - b */
    RULE_NEG,         /* -a */
    RULE_MUL,         /* low half of a * b, one of them scalar */
    RULE_MAD,         /* and + c */
    RULE_SHL,         /* a << b, b scalar */
    RULE_WIDEN,       /* cvt between integers of any width; narrowing keeps what is affine, too */
    RULE_MUL_WIDE,    /* all of a * b, one of them scalar */
    RULE_MAD_WIDE,    /* and + c */
    RULE_SELP,        /* c ? a : b; c an affine predicate: a value for each side */
    RULE_SETP,        /* eq ne lt le gt ge lo ls hi hs of integers, with and or xor of a predicate c */
    RULE_PRED,        /* and or xor not mov of predicates */
    RULE_SCALAR_ONLY, /* other pure functions of integers, bits and predicates: when all sources are scalar */
    RULE_LD_PARAM,    /* ld.param of the kernel at a scalar address */
    RULE_LD_CONST,    /* ld.const at a scalar address */
    N_AFFINE_RULES
};

/* The rule of an instruction, by its row, kind and state space; decided by what it computes, whatever its guard is. */
enum affine_rule affine_rule_of(const struct inst *in);
/* The class of what an instruction with this rule writes, d and d2 alike. `source`: the classes of a, b, c and e; those
 * that it does not have (OPND_ZERO) and constants are CLASS_SCALAR. A guard is the caller's business: a write under an
 * affine guard is affine where the value that stays is. */
enum affine_class affine_result(enum affine_rule rule, const enum affine_class source[4]);
/* The class of a special register (isa/machine/warp.c says what they hold). */
enum affine_class affine_special(enum special s);
const char *affine_class_name(enum affine_class c);
#endif
