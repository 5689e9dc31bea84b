/* Finds the low bits of integers (low_bits.h). Begins with definitions without a value, and repeats until nothing
 * changes. */
#include "low_bits.h"
#include "isa/decode.h"
#include <string.h>

/* In the first round, a definition that is not evaluated yet has this value, which agrees with every other one. */
static const struct low_bits no_value = {.known = 0xff}, unknown = {0};

static struct low_bits meet(struct low_bits a, struct low_bits b) {
    if (a.known == no_value.known)
        return b;
    if (b.known == no_value.known)
        return a;
    const uint8_t known = (uint8_t)(a.known & b.known & ~(a.value ^ b.value));
    return (struct low_bits){known, (uint8_t)(a.value & known)};
}

struct low_bits low_bits_of(const struct ir *ir, const struct defuse *du, const struct low_bits *defs, uint32_t i,
                            opnd_t o) {
    if (o & 1)
        return (struct low_bits){LOW_MASK, (uint8_t)(ir->constants[o >> 1] & LOW_MASK)};
    const struct reg_use *use = ir->vregs[o >> 1].special ? NULL : defuse_use(du, i, o >> 1);
    if (!use || use->start)
        return unknown;
    struct low_bits b = no_value;
    for (uint32_t k = use->first; k < use->first + use->n; k++)
        b = meet(b, defs[du->use_defs[k]]);
    return b;
}

/* Returns how many low bits are known without a gap. */
static unsigned run_of(struct low_bits b) { return (unsigned)__builtin_ctz(~(unsigned)b.known); }
/* Returns how many low bits are known to be 0. */
static unsigned zeros_of(struct low_bits b) { return (unsigned)__builtin_ctz(~(unsigned)b.known | b.value); }

static struct low_bits lowest(unsigned n, unsigned value) {
    const unsigned known = n >= LOW_BITS ? LOW_MASK : (1u << n) - 1;
    return (struct low_bits){(uint8_t)known, (uint8_t)(value & known)};
}

static struct low_bits sum(struct low_bits a, struct low_bits b) {
    const unsigned x = run_of(a), y = run_of(b);
    return lowest(x < y ? x : y, (unsigned)a.value + b.value);
}

static struct low_bits difference(struct low_bits a, struct low_bits b) {
    const unsigned x = run_of(a), y = run_of(b);
    return lowest(x < y ? x : y, (unsigned)a.value - b.value);
}

/* The unknown part of a, above its x known bits, is multiplied by b, which ends in zeros; and the other way round. */
static struct low_bits product(struct low_bits a, struct low_bits b) {
    const unsigned x = run_of(a) + zeros_of(b), y = run_of(b) + zeros_of(a);
    return lowest(x < y ? x : y, (unsigned)a.value * b.value);
}

static struct low_bits shifted(const struct ir *ir, struct low_bits a, opnd_t by) {
    if (!(by & 1))
        return lowest(zeros_of(a), 0);
    uint32_t n;
    memcpy(&n, ir->constants + (by >> 1), sizeof n);
    if (n >= LOW_BITS)
        return lowest(LOW_BITS, 0);
    const unsigned known = (unsigned)a.known << n | ((1u << n) - 1);
    return (struct low_bits){(uint8_t)(known & LOW_MASK), (uint8_t)((unsigned)a.value << n & LOW_MASK)};
}

static struct low_bits logic(int op, struct low_bits a, struct low_bits b) {
    const unsigned zero = (a.known & ~a.value) | (b.known & ~b.value), one = a.value | b.value;
    const unsigned both = a.known & b.known;
    switch (op) {
    case OP_AND:
        return (struct low_bits){(uint8_t)(zero | both), (uint8_t)(a.value & b.value)};
    case OP_OR:
        return (struct low_bits){(uint8_t)(one | both), (uint8_t)one};
    default:
        return (struct low_bits){(uint8_t)both, (uint8_t)((a.value ^ b.value) & both)};
    }
}

/* Returns true for the part of a product that has its low bits. */
static bool is_low_product(const struct isa_row *row) {
    const unsigned part = form_get(row->form, CAT_PART);
    return row->form == form_put(CAT_PART, part) && (part == PART_LO || part == PART_WIDE);
}

static struct low_bits evaluate(const struct ir *ir, const struct defuse *du, const struct low_bits *defs, uint32_t i) {
    const struct inst *in = &ir->code[i];
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const bool plain = !row->form || row->op == OP_CVTA;
    if ((in->kind != K_LANE && in->kind != K_CVT) || in->hints & HINT_DEQ || row->d == T_PRED ||
        type_class(row->d) == 'f' || type_class(row->a) == 'f')
        return unknown;
    const struct low_bits a = low_bits_of(ir, du, defs, i, in->a), b = low_bits_of(ir, du, defs, i, in->b),
                          c = low_bits_of(ir, du, defs, i, in->c);
    if (a.known == no_value.known || b.known == no_value.known || c.known == no_value.known)
        return no_value;
    switch (row->op) {
    case OP_MOV:
    case OP_CVTA:
    case OP_CVT:
        return plain ? a : unknown;
    case OP_ADD:
        return plain ? sum(a, b) : unknown;
    case OP_ADD3:
        return sum(sum(a, b), c);
    case OP_ADD_SUB:
        return difference(sum(a, b), c);
    case OP_SUB_SUB:
        return difference(difference(a, b), c);
    case OP_LEA:
        return sum(shifted(ir, a, in->b), c);
    case OP_SUB:
        return plain ? difference(a, b) : unknown;
    case OP_MUL:
        return is_low_product(row) ? product(a, b) : unknown;
    case OP_MAD:
        return is_low_product(row) ? sum(product(a, b), c) : unknown;
    case OP_SHL:
        return shifted(ir, a, in->b);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return logic(row->op, a, b);
    case OP_SELP:
    case OP_MIN:
    case OP_MAX:
        return meet(a, b);
    default:
        return unknown;
    }
}

struct low_bits *find_low_bits(struct arena *a, const struct ir *ir, const struct defuse *du) {
    struct low_bits *defs = arena_array(a, (size_t)du->n_defs + 1, sizeof *defs);
    for (uint32_t k = 0; k < du->n_defs; k++)
        defs[k] = no_value;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < du->n_defs; k++) {
            const struct reg_def *d = &du->defs[k];
            const bool only = du->inst_defs[d->inst + 1] == du->inst_defs[d->inst] + 1;
            const struct low_bits now = only ? meet(defs[k], evaluate(ir, du, defs, d->inst)) : unknown;
            changed |= now.known != defs[k].known || now.value != defs[k].value;
            defs[k] = now;
        }
    }
    return defs;
}
