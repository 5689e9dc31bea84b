/* Assigns a rule to each row of the instruction table. */
#include "rule.h"
#include "isa/decode.h"

/* Returns true for integer and bit types of at most 64 bits, for predicates, and if there is no type. */
static bool is_plain(uint8_t type) {
    char c = type_class(type);
    return c == 'p' || c == 'n' || ((c == 'u' || c == 's' || c == 'b') && type_bytes(type) <= 8);
}

static bool is_integer(uint8_t type) {
    char c = type_class(type);
    return (c == 'u' || c == 's') && type != T_U16X2 && type != T_S16X2;
}

/* Returns true if all operands are integers, bits or predicates. */
static bool is_pure(const struct isa_row *r) {
    const uint8_t types[] = {r->d, r->d2, r->a, r->b, r->c, r->e};
    for (unsigned i = 0; i < sizeof types; i++)
        if (!is_plain(types[i]))
            return false;
    return r->d != T_NONE;
}

static enum affine_rule rule_of_product(const struct isa_row *r, enum affine_rule low, enum affine_rule wide) {
    if (r->form == form_put(CAT_PART, PART_LO))
        return low;
    return r->form == form_put(CAT_PART, PART_WIDE) ? wide : RULE_SCALAR_ONLY;
}

/* Returns the rule of a pure lane function. */
static enum affine_rule rule_of_lanes(const struct isa_row *r) {
    const bool integer = is_integer(r->d), plain = r->form == 0;
    switch (r->op) {
    case OP_ADD:
        return integer && plain ? RULE_ADD : RULE_SCALAR_ONLY;
    case OP_SUB:
        return integer && plain ? RULE_SUB : RULE_SCALAR_ONLY;
    case OP_NEG:
        return integer && plain ? RULE_NEG : RULE_SCALAR_ONLY;
    case OP_MUL:
        return rule_of_product(r, RULE_MUL, RULE_MUL_WIDE);
    case OP_MAD:
        return rule_of_product(r, RULE_MAD, RULE_MAD_WIDE);
    case OP_SHL:
        return RULE_SHL;
    case OP_MIN:
        return integer && plain ? RULE_MIN : RULE_SCALAR_ONLY;
    case OP_MAX:
        return integer && plain ? RULE_MAX : RULE_SCALAR_ONLY;
    case OP_REM:
        return integer && plain ? RULE_REM : RULE_SCALAR_ONLY;
    case OP_CVTA:
        return RULE_MOV;
    case OP_MOV:
        return r->d == T_PRED ? RULE_PRED : RULE_MOV;
    case OP_SETP:
        return RULE_SETP;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
        return r->d == T_PRED ? RULE_PRED : RULE_SCALAR_ONLY;
    default:
        return RULE_SCALAR_ONLY;
    }
}

/* Returns the rule of ld. Only loads from memory that is constant during the kernel have a rule. */
static enum affine_rule rule_of_load(const struct inst *in) {
    if (in->msize > 8 || in->rsize > 8 || in->hints & HINT_VOLATILE)
        return RULE_NONE;
    return in->space == SPACE_PARAM ? RULE_LD_PARAM : in->space == SPACE_CONST ? RULE_LD_CONST : RULE_NONE;
}

enum affine_rule affine_rule_of(const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    if (in->row >= n)
        return RULE_NONE;
    if (in->kind == K_LOAD)
        return rule_of_load(in);
    if (in->kind != K_LANE && in->kind != K_CVT)
        return RULE_NONE;
    if (r->op == OP_CVT && is_integer(r->d) && is_integer(r->a) && r->form == 0)
        return RULE_WIDEN;
    if (r->op == OP_MOV && type_bytes(r->d) <= 8) /* floating-point types are allowed, too, because mov copies bits */
        return r->d == T_PRED ? RULE_PRED : RULE_MOV;
    if (r->op == OP_SELP)
        return RULE_SELP;
    return is_pure(r) ? rule_of_lanes(r) : RULE_NONE;
}

static enum affine_class weaker(enum affine_class a, enum affine_class b) { return a > b ? a : b; }

/* Returns the class of a product or comparison of operands a and b. It is a vector if neither operand is scalar, else
 * the weaker of both classes. */
static enum affine_class with_scalar(const enum affine_class s[4]) {
    return s[0] != CLASS_SCALAR && s[1] != CLASS_SCALAR ? CLASS_VECTOR : weaker(s[0], s[1]);
}

enum affine_class affine_result(enum affine_rule rule, const enum affine_class s[4]) {
    const enum affine_class all = weaker(weaker(s[0], s[1]), weaker(s[2], s[3]));
    switch (rule) {
    case RULE_MOV:
    case RULE_ADD:
    case RULE_SUB:
    case RULE_NEG:
    case RULE_WIDEN:
    case RULE_SELP:
    case RULE_MIN:
    case RULE_MAX:
    case RULE_PRED:
        return all;
    case RULE_SETP: /* one operand must be scalar (section 4.3 of the paper that rule.h cites) */
    case RULE_MUL:
    case RULE_MUL_WIDE:
    case RULE_MAD:
    case RULE_MAD_WIDE:
        return weaker(with_scalar(s), s[2]);
    case RULE_SHL:
    case RULE_REM:
        return s[1] == CLASS_SCALAR ? s[0] : CLASS_VECTOR;
    case RULE_SCALAR_ONLY:
    case RULE_LD_PARAM:
    case RULE_LD_CONST:
        return all == CLASS_SCALAR ? CLASS_SCALAR : CLASS_VECTOR;
    default:
        return CLASS_VECTOR;
    }
}

enum affine_class affine_special(enum special s) {
    if (s <= SPECIAL_TID_Z)
        return CLASS_AFFINE;
    switch (s) {
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
    case SPECIAL_GRIDID:
    case SPECIAL_PARAM:
    case SPECIAL_CONST:
    case SPECIAL_ENVREG1:
    case SPECIAL_ENVREG2:
    case SPECIAL_TOTAL_SMEM:
    case SPECIAL_DYNAMIC_SMEM:
        return CLASS_SCALAR;
    default:
        return CLASS_VECTOR;
    }
}

const char *affine_class_name(enum affine_class c) {
    return c == CLASS_SCALAR ? "scalar" : c == CLASS_AFFINE ? "affine" : "vector";
}
