/* Compares two syntax trees. Locations are ignored. */
#include "ptx/tree.h"
#include <string.h>

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_word(const struct word *a, const struct word *b) {
    return a && b ? a->len == b->len && memcmp(a->text, b->text, a->len) == 0 : a == b;
}

static bool same_operands(const struct operand *a, const struct operand *b) {
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || !same_word(a->name, b->name) || a->integer != b->integer || a->real != b->real ||
            a->real_bits != b->real_bits || a->is_unsigned != b->is_unsigned || a->n != b->n ||
            !same_operands(a->sub, b->sub))
            return false;
    return a == b;
}

static bool same_inits(const struct init *a, const struct init *b) {
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || !same_operands(a->value, b->value) || !same_inits(a->list, b->list) ||
            !same_word(a->address_operator, b->address_operator) || a->mask != b->mask ||
            !same_word(a->field, b->field))
            return false;
    return a == b;
}

static bool same_variable(const struct variable *a, const struct variable *b) {
    return same_word(a->name, b->name) && same_word(a->space, b->space) && same_word(a->type, b->type) &&
           same_word(a->vector, b->vector) && same_word(a->linkage, b->linkage) && a->range == b->range &&
           a->align == b->align && a->is_array == b->is_array && a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0 && same_word(a->ptr_space, b->ptr_space) &&
           a->ptr_align == b->ptr_align && a->is_ptr == b->is_ptr && same_word(a->attribute, b->attribute) &&
           same_inits(a->init, b->init);
}

static bool same_variables(const struct variable *a, const struct variable *b) {
    for (; a && b; a = a->next, b = b->next)
        if (!same_variable(a, b))
            return false;
    return !a && !b;
}

static bool same_attributes(const struct attribute *a, const struct attribute *b) {
    for (; a && b; a = a->next, b = b->next)
        if (!same_word(a->name, b->name) || a->n != b->n || !same_operands(a->values, b->values))
            return false;
    return !a && !b;
}

static bool same_statements(const struct statement *a, const struct statement *b);

static bool same_function(const struct function *a, const struct function *b) {
    return same_word(a->name, b->name) && a->is_entry == b->is_entry && a->is_prototype == b->is_prototype &&
           same_word(a->linkage, b->linkage) && same_variables(a->results, b->results) &&
           same_variables(a->params, b->params) && same_attributes(a->attributes, b->attributes) &&
           a->has_body == b->has_body && same_statements(a->body, b->body);
}

static bool same_statement(const struct statement *a, const struct statement *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ST_VARIABLE:
        return same_variables(a->variable, b->variable);
    case ST_INSTRUCTION:
        return same_word(a->insn.guard, b->insn.guard) && a->insn.guard_not == b->insn.guard_not &&
               same_word(a->insn.opcode, b->insn.opcode) && a->insn.n_operands == b->insn.n_operands &&
               same_operands(a->insn.operands, b->insn.operands);
    case ST_LABEL:
        return same_word(a->label.name, b->label.name);
    case ST_BLOCK:
        return same_statements(a->block.body, b->block.body);
    case ST_PROTOTYPE:
        return same_word(a->proto.label, b->proto.label) && same_function(a->proto.proto, b->proto.proto);
    case ST_TARGETS:
        return same_word(a->proto.label, b->proto.label) && a->proto.is_call == b->proto.is_call &&
               same_operands(a->proto.names, b->proto.names);
    case ST_LOC:
        return a->at.file == b->at.file && a->at.line == b->at.line && a->at.column == b->at.column &&
               same_text(a->at.tail, b->at.tail);
    case ST_FILE:
        return a->file.index == b->file.index && same_text(a->file.name, b->file.name) &&
               same_text(a->file.tail, b->file.tail);
    case ST_SECTION:
    case ST_PRAGMA:
    case ST_DIRECTIVE:
        return same_text(a->raw.text, b->raw.text);
    case ST_FUNCTION:
        return same_function(a->function, b->function);
    case ST_ALIAS:
        return same_word(a->alias.alias, b->alias.alias) && same_word(a->alias.aliasee, b->alias.aliasee);
    }
    return false;
}

static bool same_statements(const struct statement *a, const struct statement *b) {
    for (; a && b; a = a->next, b = b->next)
        if (!same_statement(a, b))
            return false;
    return !a && !b;
}

bool ptx_equal(const struct module *a, const struct module *b) {
    const struct suffix *s = a->targets, *t = b->targets;
    for (; s && t; s = s->next, t = t->next)
        if (!same_word(s->word, t->word))
            return false;
    return !s && !t && a->version_major == b->version_major && a->version_minor == b->version_minor &&
           a->address_size == b->address_size && same_statements(a->statements, b->statements);
}
