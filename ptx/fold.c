/* Operators on operands, with the precedence of C. Constants are folded in 64 bits during parsing. The only operators
 * that names may have are those in -%r, !%p, %p|%q and symbol+12. Source: PTX ISA, "Constant Expressions". Differences
 * from C: ~ and % are unsigned; ?: keeps the type of the chosen operand. Where the manual defines nothing (a shift by
 * 64 or more), the results are those of ptxas. */
#include "ptx/parse.h"
#include "ptx/parse.tab.h"
#include <string.h>

static struct operand *not_constant(struct parser *ps, const struct operand *o) {
    char text[DIAG_EXCERPT];
    diag_error(ps->diags, o->loc, "'%s' is not a constant", diag_excerpt(ps->diags, o->loc, text));
    return build_operand(ps, OPD_INT, o->loc);
}

static struct operand *integer(struct parser *ps, struct loc loc, uint64_t value, bool is_unsigned) {
    struct operand *o = build_operand(ps, OPD_INT, loc);
    o->integer = value;
    o->is_unsigned = is_unsigned;
    return o;
}

static struct operand *real(struct parser *ps, struct loc loc, double value) {
    struct operand *o = build_operand(ps, OPD_FLOAT, loc);
    memcpy(&o->real, &value, 8);
    o->real_bits = 64;
    return o;
}

static double as_double(const struct operand *o) {
    double d;
    float f;
    uint32_t low = (uint32_t)o->real;
    if (o->kind == OPD_INT)
        return o->is_unsigned ? (double)o->integer : (double)(int64_t)o->integer;
    memcpy(&d, &o->real, 8);
    memcpy(&f, &low, 4);
    return o->real_bits == 32 ? (double)f : d;
}

static bool is_true(const struct operand *o) { return o->kind == OPD_INT ? o->integer != 0 : as_double(o) != 0; }

static struct operand *wrap_operand(struct parser *ps, enum operand_kind kind, struct loc loc, struct operand *sub) {
    struct operand *o = build_operand(ps, kind, loc);
    o->sub = sub;
    return o;
}

struct operand *fold_unary(struct parser *ps, struct loc loc, int op, struct operand *a) {
    struct operand *c = fold_constant(ps, a);
    if (!c) {
        if (a->kind == OPD_NAME && (op == '-' || op == '!'))
            return wrap_operand(ps, op == '-' ? OPD_NEG : OPD_NOT, loc, a);
        return not_constant(ps, a);
    }
    if (op == '!')
        return integer(ps, loc, !is_true(c), false);
    if (c->kind == OPD_INT)
        return integer(ps, loc,
                       op == '-'   ? -c->integer
                       : op == '~' ? ~c->integer
                                   : c->integer,
                       c->is_unsigned || op == '~');
    if (op == '~') {
        diag_error(ps->diags, loc, "'~' needs an integer");
        return c;
    }
    struct operand *o = build_operand(ps, OPD_FLOAT, loc);
    o->real_bits = c->real_bits;
    o->real = op == '-' ? c->real ^ (uint64_t)1 << (c->real_bits - 1) : c->real;
    return o;
}

static struct operand *divide(struct parser *ps, struct loc loc, int op, const struct operand *a,
                              const struct operand *b) {
    bool is_unsigned = a->is_unsigned || b->is_unsigned || op == '%';
    uint64_t x = a->integer, y = b->integer;
    if (y == 0) {
        diag_error(ps->diags, b->loc, "division by zero");
        return integer(ps, loc, 0, is_unsigned);
    }
    if (is_unsigned)
        return integer(ps, loc, op == '/' ? x / y : x % y, true);
    if (y == UINT64_MAX) /* INT64_MIN / -1 would overflow */
        return integer(ps, loc, -x, false);
    return integer(ps, loc, (uint64_t)((int64_t)x / (int64_t)y), false);
}

/* Returns `a` shifted by `by`. Only the low six bits of the shift count are used. */
static uint64_t shift(int op, const struct operand *a, uint64_t by) {
    by &= 63;
    if (op == LEFT)
        return a->integer << by;
    return a->is_unsigned ? a->integer >> by : (uint64_t)((int64_t)a->integer >> by);
}

static bool compare(int op, int order) {
    switch (op) {
    case '<':
        return order < 0;
    case '>':
        return order > 0;
    case LESS_EQUAL:
        return order <= 0;
    case GREATER_EQUAL:
        return order >= 0;
    case EQUAL:
        return order == 0;
    default:
        return order != 0;
    }
}

static struct operand *fold_integers(struct parser *ps, struct loc loc, int op, const struct operand *a,
                                     const struct operand *b) {
    uint64_t x = a->integer, y = b->integer;
    bool is_unsigned = a->is_unsigned || b->is_unsigned;
    switch (op) {
    case '+':
        return integer(ps, loc, x + y, is_unsigned);
    case '-':
        return integer(ps, loc, x - y, is_unsigned);
    case '*':
        return integer(ps, loc, x * y, is_unsigned);
    case '/':
    case '%':
        return divide(ps, loc, op, a, b);
    case LEFT:
    case RIGHT:
        return integer(ps, loc, shift(op, a, y), a->is_unsigned);
    case '&':
        return integer(ps, loc, x & y, is_unsigned);
    case '|':
        return integer(ps, loc, x | y, is_unsigned);
    case '^':
        return integer(ps, loc, x ^ y, is_unsigned);
    default:
        break;
    }
    int order = is_unsigned ? (x > y) - (x < y) : ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
    return integer(ps, loc, compare(op, order), false);
}

static struct operand *fold_reals(struct parser *ps, struct loc loc, int op, double x, double y) {
    switch (op) {
    case '+':
        return real(ps, loc, x + y);
    case '-':
        return real(ps, loc, x - y);
    case '*':
        return real(ps, loc, x * y);
    case '/':
        return real(ps, loc, x / y);
    case '%':
    case LEFT:
    case RIGHT:
    case '&':
    case '|':
    case '^':
        diag_error(ps->diags, loc, "operator needs integer operands");
        return real(ps, loc, 0);
    case NOT_EQUAL:
        return integer(ps, loc, x != y, false);
    default:
        return integer(ps, loc, x == x && y == y && compare(op, (x > y) - (x < y)), false);
    }
}

/* Makes a sum such as symbol+12, or adds a constant to an existing sum. Returns NULL for any other operands. */
static struct operand *fold_sum(struct parser *ps, struct loc loc, int op, struct operand *a, struct operand *b) {
    struct operand *c = fold_constant(ps, b);
    if ((op != '+' && op != '-') || (a->kind != OPD_NAME && a->kind != OPD_SUM) || !c || c->kind != OPD_INT)
        return NULL;
    struct operand *o = a->kind == OPD_SUM ? a : wrap_operand(ps, OPD_SUM, loc, a);
    o->loc = loc;
    o->integer += op == '+' ? c->integer : -c->integer;
    return o;
}

static bool may_be_in_pair(const struct operand *o) { return o->kind == OPD_NAME || o->kind == OPD_SINK; }

struct operand *fold_binary(struct parser *ps, struct loc loc, int op, struct operand *a, struct operand *b) {
    struct operand *x = fold_constant(ps, a), *y = fold_constant(ps, b);
    if (x && y) {
        if (op == AND || op == OR)
            return integer(ps, loc, op == AND ? is_true(x) && is_true(y) : is_true(x) || is_true(y), false);
        if (x->kind == OPD_INT && y->kind == OPD_INT)
            return fold_integers(ps, loc, op, x, y);
        return fold_reals(ps, loc, op, as_double(x), as_double(y));
    }
    if (op == '|' && (may_be_in_pair(a) || a->kind == OPD_VECTOR) && may_be_in_pair(b)) {
        struct operand *pair = wrap_operand(ps, OPD_PAIR, loc, a);
        a->next = b;
        return pair;
    }
    struct operand *sum = fold_sum(ps, loc, op, a, b);
    return sum ? sum : not_constant(ps, x || a->kind == OPD_NAME || a->kind == OPD_SUM ? (y ? a : b) : a);
}

struct operand *fold_select(struct parser *ps, struct loc loc, struct operand *c, struct operand *a,
                            struct operand *b) {
    struct operand *condition = fold_constant(ps, c), *x = fold_constant(ps, a), *y = fold_constant(ps, b);
    if (!condition || !x || !y)
        return not_constant(ps, !condition ? c : !x ? a : b);
    struct operand *o = is_true(condition) ? x : y;
    o->loc = loc;
    return o;
}

struct operand *fold_cast(struct parser *ps, struct loc loc, const struct word *type, struct operand *a) {
    struct operand *c = fold_constant(ps, a);
    if (!c)
        return not_constant(ps, a);
    bool is_unsigned = strcmp(type->text, ".u64") == 0;
    if (!is_unsigned && strcmp(type->text, ".s64") != 0) {
        diag_error(ps->diags, loc, "a constant can be cast only to .s64 or .u64");
        return c;
    }
    if (c->kind == OPD_INT)
        return integer(ps, loc, c->integer, is_unsigned);
    double d = as_double(c);
    if (!(d > -9223372036854775809.0 && d < (is_unsigned ? 18446744073709551616.0 : 9223372036854775808.0))) {
        diag_error(ps->diags, loc, "number does not fit into 64 bits");
        return c;
    }
    return integer(ps, loc, d < 0 ? (uint64_t)(int64_t)d : (uint64_t)d, is_unsigned);
}
