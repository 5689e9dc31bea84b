/* Builds tree nodes from the values of a grammar rule. */
#include "ptx/parse.h"
#include <string.h>

struct operand *build_name(struct parser *ps, struct loc loc, const struct word *name) {
    struct operand *o = build_operand(ps, OPD_NAME, loc);
    o->name = name;
    return o;
}

static int count(const struct operand *o) {
    int n = 0;
    for (; o; o = o->next)
        n++;
    return n;
}

struct operand *build_group(struct parser *ps, enum operand_kind kind, struct loc loc, struct operands list) {
    struct operand *o = build_operand(ps, kind, loc);
    o->sub = list.first;
    o->n = count(list.first);
    ps->parens |= kind == OPD_PARENS;
    return o;
}

/* Replaces a constant in parentheses, such as (3), by the constant. Only call operands use parentheses for another
 * purpose. */
static void ungroup(struct parser *ps, struct operand **at) {
    for (; *at; at = &(*at)->next) {
        struct operand *c = (*at)->kind == OPD_PARENS ? fold_constant(ps, *at) : NULL;
        if (c) {
            c->next = (*at)->next;
            *at = c;
        } else if ((*at)->kind == OPD_VECTOR) {
            ungroup(ps, &(*at)->sub);
        }
    }
}

struct operand *build_address(struct parser *ps, struct loc loc, struct operands list) {
    struct operand *o = build_group(ps, OPD_ADDRESS, loc, list);
    if (ps->parens)
        ungroup(ps, &o->sub);
    struct operand *base = o->sub;
    if (base->kind == OPD_SUM) {
        o->integer = base->integer;
        o->sub = base->sub;
        o->sub->next = base->next;
    }
    return o;
}

struct operand *build_index(struct parser *ps, struct loc loc, struct operand *name, struct operand *index) {
    struct operand *o = build_operand(ps, OPD_INDEX, loc), *c = fold_constant(ps, index);
    o->sub = name;
    name->next = c ? c : index;
    return o;
}

struct statement *build_statement(struct parser *ps, enum statement_kind kind, struct loc loc) {
    struct statement *s = arena_alloc(ps->arena, sizeof *s);
    s->kind = kind;
    s->loc = loc;
    return s;
}

const char *source_text(struct parser *ps, struct loc loc) {
    return arena_strndup(ps->arena, ps->diags->text + loc.begin, loc.end - loc.begin);
}

struct statement *build_raw(struct parser *ps, enum statement_kind kind, struct loc loc) {
    struct statement *s = build_statement(ps, kind, loc);
    while (loc.end > loc.begin && ps->diags->text[loc.end - 1] == '\r')
        loc.end--;
    s->raw.text = source_text(ps, loc);
    return s;
}

static bool is_call(const struct word *opcode) {
    return strncmp(opcode->text, "call", 4) == 0 && (opcode->len == 4 || opcode->text[4] == '.');
}

struct statement *build_instruction(struct parser *ps, struct loc loc, const struct word *opcode, struct loc opcode_loc,
                                    struct operands operands) {
    struct statement *s = build_statement(ps, ST_INSTRUCTION, loc);
    s->insn.opcode = opcode;
    s->insn.opcode_loc = opcode_loc;
    s->insn.operands = operands.first;
    s->insn.n_operands = count(operands.first);
    if (ps->parens && !is_call(opcode))
        ungroup(ps, &s->insn.operands);
    ps->parens = false;
    return s;
}

const struct word *build_joined(struct parser *ps, const struct word *a, const struct word *b) {
    char *text = arena_alloc(ps->arena, (size_t)a->len + b->len + 1);
    memcpy(text, a->text, a->len);
    memcpy(text + a->len, b->text, b->len);
    return &words_intern(ps, text, (size_t)a->len + b->len)->word;
}

/* Builds one statement per string, since .pragma "a", "b"; is two pragmas. Returns the list. */
struct statements build_pragmas(struct parser *ps, struct loc loc, struct operands strings) {
    struct statements list = {NULL, NULL};
    for (const struct operand *o = strings.first; o; o = o->next) {
        struct statement *s = build_statement(ps, ST_PRAGMA, loc);
        s->raw.text = o->name->text;
        if (list.first)
            list.last->next = s;
        else
            list.first = s;
        list.last = s;
    }
    return list;
}

static uint32_t to_u32(struct parser *ps, const struct operand *n) {
    if (n->integer > UINT32_MAX)
        diag_error(ps->diags, n->loc, "number does not fit into 32 bits");
    return (uint32_t)n->integer;
}

/* Returns the text at `loc` without its leading comma and blanks, or NULL if `loc` is empty. */
static const char *tail_text(struct parser *ps, struct loc loc) {
    if (loc.begin == loc.end)
        return NULL;
    for (loc.begin++; loc.begin < loc.end && strchr(" \t\r\n", ps->diags->text[loc.begin]); loc.begin++)
        ;
    return source_text(ps, loc);
}

struct statement *build_loc(struct parser *ps, struct loc loc, struct operand *const n[3], struct loc tail) {
    struct statement *s = build_statement(ps, ST_LOC, loc);
    s->at.file = to_u32(ps, n[0]);
    s->at.line = to_u32(ps, n[1]);
    s->at.column = to_u32(ps, n[2]);
    s->at.tail = tail_text(ps, tail);
    return s;
}

struct statement *build_file(struct parser *ps, struct loc loc, struct operand *index, const char *name,
                             struct loc tail) {
    struct statement *s = build_statement(ps, ST_FILE, loc);
    s->file.index = to_u32(ps, index);
    s->file.name = name;
    s->file.tail = tail_text(ps, tail);
    return s;
}

struct statement *build_function(struct parser *ps, enum statement_kind kind, struct loc loc,
                                 const struct function *f) {
    struct statement *s = build_statement(ps, kind, loc);
    struct function *copy = arena_alloc(ps->arena, sizeof *copy);
    *copy = *f;
    if (kind == ST_PROTOTYPE)
        s->proto.proto = copy;
    else
        s->function = copy;
    return s;
}

struct attribute *build_attribute(struct parser *ps, struct loc loc, const struct word *name, struct operands values) {
    struct attribute *a = arena_alloc(ps->arena, sizeof *a);
    a->name = name;
    a->loc = loc;
    a->values = values.first;
    a->n = count(values.first);
    return a;
}

struct statement *build_targets(struct parser *ps, struct loc loc, const struct word *label, struct operands names,
                                bool is_call) {
    struct statement *s = build_statement(ps, ST_TARGETS, loc);
    s->proto.label = label;
    s->proto.names = names.first;
    s->proto.is_call = is_call;
    return s;
}

struct init *build_init(struct parser *ps, int kind, struct loc loc) {
    struct init *i = arena_alloc(ps->arena, sizeof *i);
    i->kind = kind;
    i->loc = loc;
    return i;
}

struct operand *build_value(struct parser *ps, struct operand *o) {
    struct operand *c = fold_constant(ps, o);
    if (c)
        return c;
    if (o->kind == OPD_NAME || o->kind == OPD_SUM)
        return o;
    diag_error(ps->diags, o->loc, "initialiser must be a constant or the address of a variable");
    return build_operand(ps, OPD_INT, o->loc);
}

void build_move(struct parser *ps, struct init *i, struct loc loc, uint64_t bytes) {
    if (i->value->kind != OPD_SUM) {
        struct operand *sum = build_operand(ps, OPD_SUM, loc);
        sum->sub = i->value;
        i->value = sum;
    }
    i->value->integer += bytes;
    i->loc = loc;
}

void build_mask(struct parser *ps, struct init *i, struct loc loc, const struct operand *mask) {
    if (mask->integer == 0 || i->mask)
        diag_error(ps->diags, mask->loc, "expected a single non-zero mask");
    else
        i->mask = mask->integer;
    i->loc = loc;
}
