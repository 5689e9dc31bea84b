/* Reference results of integer arithmetic, comparisons, selections and moves. */
#include "test/isa/isa_reference.h"

static unsigned width_of(const struct isa_row *row) { return 8 * type_bytes(row->types[0]); }
static unsigned form(const struct isa_row *row, enum category c) { return form_get(row->form, c); }

/* Returns element n of a word of packed narrow elements. */
static wide element(uwide bits, unsigned n, unsigned width, bool is_signed) {
    return ref_extend(bits >> n * width, width, is_signed);
}
static bool is_signed(enum type t) { return type_class(t) == 's'; }
static bool is_pair(enum type t) { return t == T_U16X2 || t == T_S16X2; }

static wide minmax(const struct isa_row *row, wide a, wide b) {
    wide m = (a < b) == (row->op == OP_MIN) ? a : b;
    return form(row, CAT_RELU) && m < 0 ? 0 : m;
}

static bool ref_pair(const struct isa_row *row, struct ref_lane *x) {
    for (unsigned n = 0; n < 2; n++) {
        wide a = element(x->a.bits, n, 16, is_signed(row->types[0]));
        wide b = element(x->b.bits, n, 16, is_signed(row->types[0]));
        wide r = row->op == OP_ADD ? a + b : minmax(row, a, b);
        x->d |= ((uwide)r & 0xffff) << 16 * n;
    }
    return true;
}

/* Computes add and sub with their carry. A subtraction adds ~b and 1 (sub) or the carry (subc). */
static bool ref_sum(const struct isa_row *row, struct ref_lane *x) {
    const unsigned w = width_of(row);
    const bool minus = row->op == OP_SUB || row->op == OP_SUBC;
    const uwide carry_in = row->e == T_PRED ? x->e.bits : minus;
    if (form(row, CAT_SAT)) {
        wide r = minus ? x->a.value - x->b.value : x->a.value + x->b.value;
        x->d = (uwide)ref_clamp(r, -((wide)1 << 31), ((wide)1 << 31) - 1);
        return true;
    }
    x->d = x->a.bits + (minus ? ~x->b.bits & ref_ones(w) : x->b.bits) + carry_in;
    x->d2 = x->d >> w;
    return true;
}

static wide low24(struct ref_operand o, enum type t) { return ref_extend(o.bits, 24, is_signed(t)); }

/* Computes mul and mad, with their forms for 24-bit operands and for carries. */
static bool ref_product(const struct isa_row *row, struct ref_lane *x) {
    const unsigned w = width_of(row), part = form(row, CAT_PART);
    const bool is24 = row->op == OP_MUL24 || row->op == OP_MAD24;
    const enum type t = row->types[0];
    uwide p = is24 ? (uwide)(low24(x->a, t) * low24(x->b, t)) : (uwide)x->a.value * (uwide)x->b.value;
    if (part == PART_HI) /* the 64-bit unsigned product needs all 128 bits */
        p = is_signed(t) ? (uwide)((wide)p >> (is24 ? 16 : w)) : p >> (is24 ? 16 : w);
    if (row->op == OP_MUL || row->op == OP_MUL24) {
        x->d = p;
    } else if (form(row, CAT_SAT)) {
        wide hi = ref_extend(p, w, true);
        x->d = (uwide)ref_clamp(hi + x->c.value, -((wide)1 << 31), ((wide)1 << 31) - 1);
    } else if (part == PART_WIDE) {
        x->d = p + x->c.bits;
    } else {
        uwide sum = (p & ref_ones(w)) + x->c.bits + (row->e == T_PRED ? x->e.bits : 0);
        x->d = sum;
        x->d2 = sum >> w;
    }
    return true;
}

/* Computes div and rem. Division by zero gives all ones, and the remainder is then the dividend. */
static bool ref_quotient(const struct isa_row *row, struct ref_lane *x) {
    wide a = x->a.value, b = x->b.value;
    if (b == 0)
        x->d = row->op == OP_DIV ? ~(uwide)0 : (uwide)a;
    else
        x->d = (uwide)(row->op == OP_DIV ? a / b : a % b);
    return true;
}

static bool ref_dot(const struct isa_row *row, struct ref_lane *x) {
    const unsigned n = row->op == OP_DP4A ? 4 : 2, skip = form(row, CAT_PART) == PART_HI ? 2 : 0;
    wide sum = x->c.value;
    for (unsigned i = 0; i < n; i++)
        sum += element(x->a.bits, i, 32 / n, is_signed(row->types[0])) *
               element(x->b.bits, i + skip, 8, is_signed(row->types[1]));
    x->d = (uwide)sum;
    return true;
}

static bool combine(unsigned opn, bool p, bool c) {
    return opn == OPN_AND ? p && c : opn == OPN_OR ? p || c : opn == OPN_XOR ? p != c : p;
}

/* Returns the value that means "true" in type t: 1.0 or all ones. */
static uwide truth(enum type t) {
    return t == T_F32 ? 0x3f800000 : t == T_F16 ? 0x3c00 : t == T_BF16 ? 0x3f80 : 0xffffffff;
}

static bool ref_comparison(const struct isa_row *row, struct ref_lane *x) {
    const bool r = row->op == OP_TEST ? !(x->a.bits & x->b.bits) == (form(row, CAT_CMP) == CMP_EQ)
                                      : ref_compare(form(row, CAT_CMP), x->a.value, x->b.value);
    const unsigned opn = form(row, CAT_OPN);
    const bool p = combine(opn, r, x->c.bits & 1), q = combine(opn, !r, x->c.bits & 1);
    if (row->op != OP_SET) {
        x->d = p;
        x->d2 = q;
    } else {
        x->d = p ? truth(row->types[0]) : 0;
    }
    return true;
}

/* Computes #pack and #unpack, which join and split registers: the first part has the lowest bits. */
static bool ref_parts(const struct isa_row *row, struct ref_lane *x) {
    if (row->op == OP_PACK) {
        const unsigned w = 8 * type_bytes(row->types[1]);
        const uwide part[] = {x->a.bits, x->b.bits, x->c.bits, x->e.bits};
        for (unsigned i = 0; i < 8 * type_bytes(row->types[0]) / w; i++)
            x->d |= (part[i] & ref_ones(w)) << i * w;
        return true;
    }
    const unsigned w = 8 * type_bytes(row->types[0]), first = form(row, CAT_PART) == PART_HI ? 2 : 0;
    x->d = x->a.bits >> first * w & ref_ones(w);
    x->d2 = x->a.bits >> (first + 1) * w & ref_ones(w);
    return true;
}

bool ref_int(const struct isa_row *row, struct ref_lane *x) {
    x->d = x->d2 = 0;
    if (is_pair(row->types[0]))
        return ref_pair(row, x);
    switch (row->op) {
    case OP_ADD:
    case OP_ADDC:
    case OP_SUB:
    case OP_SUBC:
        return ref_sum(row, x);
    case OP_MUL:
    case OP_MAD:
    case OP_MADC:
    case OP_MUL24:
    case OP_MAD24:
        return ref_product(row, x);
    case OP_HALVES:
        x->d = (uwide)x->a.value * (uwide)x->b.value;
        x->d2 = x->d >> 32;
        return true;
    case OP_DIV:
    case OP_REM:
        return ref_quotient(row, x);
    case OP_ADD3:
        x->d = (uwide)(x->a.value + x->b.value + x->c.value);
        return true;
    case OP_ADD_SUB:
        x->d = (uwide)(x->a.value + x->b.value - x->c.value);
        return true;
    case OP_SUB_SUB:
        x->d = (uwide)(x->a.value - x->b.value - x->c.value);
        return true;
    case OP_MAD_SUB:
        x->d = (uwide)(x->a.value * x->b.value - x->c.value);
        return true;
    case OP_LEA:
        x->d = (uwide)((x->a.value << (x->b.value & 31)) + x->c.value);
        return true;
    case OP_LEA_HI:
        x->d = row->d == T_B32
                   ? (uwide)(uint32_t)((x->b.value << 32 | (x->a.value & UINT32_MAX)) << (x->c.value & 31) >> 32) +
                         (uwide)x->e.value
                   : (uwide)((x->a.value >> (x->b.value & 31)) + x->c.value);
        return true;
    case OP_SAD:
        x->d = (uwide)(x->c.value + (x->a.value > x->b.value ? x->a.value - x->b.value : x->b.value - x->a.value));
        return true;
    case OP_ABS:
        x->d = (uwide)(x->a.value < 0 ? -x->a.value : x->a.value);
        return true;
    case OP_NEG:
        x->d = (uwide)-x->a.value;
        return true;
    case OP_MIN:
    case OP_MAX:
        x->d = (uwide)minmax(row, x->a.value, x->b.value);
        return true;
    case OP_DP4A:
    case OP_DP2A:
        return ref_dot(row, x);
    case OP_SETP:
    case OP_TEST:
    case OP_SET:
        return ref_comparison(row, x);
    case OP_SELP:
        x->d = x->c.bits ? x->a.bits : x->b.bits;
        return true;
    case OP_SLCT:
        x->d = x->c.value >= 0 ? x->a.bits : x->b.bits;
        return true;
    case OP_MOV:
        x->d = x->a.bits;
        return true;
    case OP_PACK:
    case OP_UNPACK:
        return ref_parts(row, x);
    default:
        return false;
    }
}
