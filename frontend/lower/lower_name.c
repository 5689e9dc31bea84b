/* Finds the symbols that operands name, and reports operands of the wrong kind or number. */
#include "lower.h"
#include <string.h>

const char *opcode_text(const struct lower *l) { return l->st->insn.opcode->text; }

bool operand_count(struct lower *l, int min, int max) {
    int n = l->st->insn.n_operands;
    if (n >= min && n <= max)
        return true;
    if (max == 0)
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' takes no operands, found %d", opcode_text(l), n);
    else if (min == max)
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' takes %d operand%s, found %d", opcode_text(l), min,
                   min == 1 ? "" : "s", n);
    else
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' takes %d %s %d operands, found %d", opcode_text(l), min,
                   max == min + 1 ? "or" : "to", max, n);
    return false;
}

/* Describes an operand for messages. */
static const char *describe_operand(const struct operand *o) {
    switch (o->kind) {
    case OPD_NAME:
        return "a name";
    case OPD_INT:
        return "an integer";
    case OPD_FLOAT:
        return "a floating-point number";
    case OPD_SINK:
        return "'_'";
    case OPD_NOT:
        return "a negated operand";
    case OPD_NEG:
        return "a negated operand";
    case OPD_PAIR:
        return "a pair p|q";
    case OPD_VECTOR:
        return "a vector";
    case OPD_PARENS:
        return "a list in parentheses";
    case OPD_ADDRESS:
        return "an address in brackets";
    case OPD_SUM:
        return "an address";
    case OPD_INDEX:
        return "an array element";
    }
    return "this";
}

void bad_operand(struct lower *l, const struct operand *o, const char *expected) {
    if (o->kind == OPD_NAME)
        diag_error(l->d, o->loc, "'%s' expects %s, found '%s'", opcode_text(l), expected, o->name->text);
    else
        diag_error(l->d, o->loc, "'%s' expects %s, found %s", opcode_text(l), expected, describe_operand(o));
}

static bool has_label(const struct statement *st, const struct word *word) {
    for (; st; st = st->next)
        if ((st->kind == ST_LABEL && st->label.name == word) ||
            (st->kind == ST_BLOCK && has_label(st->block.body, word)))
            return true;
    return false;
}

static void report_undeclared(struct lower *l, const struct operand *o, unsigned kinds, const char *what) {
    const struct word *w = o->name;
    const struct reg_family *f = names_near_family(&l->names, w);
    diag_error(l->d, o->loc, "%s '%s' is not declared", what, w->text);
    if (f) {
        diag_note(l->d, f->variable->loc, "'%s<%u>' declares %s0 to %s%u", f->variable->name->text, f->variable->range,
                  f->variable->name->text, f->variable->name->text, f->variable->range - 1);
        return;
    }
    for (const struct statement *st = l->module->statements; st && (kinds & 1u << SYM_LABEL); st = st->next)
        if (st->kind == ST_FUNCTION && ptx_need_body(l->module, st->function) && has_label(st->function->body, w)) {
            if (st->function == l->ir->functions[l->fn].tree)
                diag_help(l->d, "'%s' is a label of an inner block and visible only there", w->text);
            else
                diag_help(l->d, "'%s' is a label of '%s'; a branch cannot leave its function", w->text,
                          st->function->name->text);
            return;
        }
    const char *near = names_suggest(&l->names, w->text, kinds);
    if (near)
        diag_help(l->d, "did you mean '%s'?", near);
}

struct symbol *find_symbol(struct lower *l, const struct operand *o, unsigned kinds, const char *what) {
    if (o->kind != OPD_NAME) {
        char expected[64];
        snprintf(expected, sizeof expected, "a %s", what);
        bad_operand(l, o, expected);
        return NULL;
    }
    struct symbol *s = names_find(&l->names, o->name);
    if (!s) {
        report_undeclared(l, o, kinds, what);
        return NULL;
    }
    if (s->kind == SYM_VECTOR && o->n && (kinds & 1u << SYM_REG)) { /* see elements() */
        struct symbol *component = arena_alloc(l->ir->tmp, sizeof *component);
        *component = *s;
        component->kind = SYM_REG;
        component->index += (uint32_t)o->n - 1;
        return component;
    }
    if (!(kinds & 1u << s->kind)) {
        diag_error(l->d, o->loc, "'%s' expects a %s, but '%s' is %s", opcode_text(l), what, o->name->text,
                   symbol_kind_name(s));
        return NULL;
    }
    return s->kind == SYM_VARIABLE ? place_symbol(l, s) : s;
}

const struct symbol *find_reg(struct lower *l, const struct operand *o) {
    return find_symbol(l, o, 1u << SYM_REG, "register");
}
