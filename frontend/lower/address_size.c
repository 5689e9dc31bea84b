/* Finds the address size of a module without .address_size, which PTX before 2.3 lacks. */
#include "image.h"
#include <string.h>

enum { MAX_ACCESSES = 64 }; /* limit on examined accesses, so that the search is not quadratic */

struct search {
    const struct statement *body; /* body of the current function */
    int left;
    int bits; /* 0: unknown so far */
};

static bool declares(const struct variable *v, const struct word *name) {
    if (strcmp(v->space->text, ".reg") != 0 || !v->name)
        return false;
    if (!v->range)
        return v->name == name;
    size_t prefix = v->name->len;
    return name->len > prefix && memcmp(name->text, v->name->text, prefix) == 0 &&
           strspn(name->text + prefix, "0123456789") == name->len - prefix;
}

/* Returns the size of a register in bytes, 0 if its declaration is not found. Scopes are ignored, since compilers
 * declare all registers of one name with the same size. Recursion depth is the block nesting, which the parser
 * limits. */
static unsigned register_bytes(const struct statement *st, const struct word *name) {
    unsigned bytes = 0;
    for (; st && !bytes; st = st->next)
        if (st->kind == ST_BLOCK)
            bytes = register_bytes(st->block.body, name);
        else if (st->kind == ST_VARIABLE)
            for (const struct variable *v = st->variable; v && !bytes; v = v->next)
                if (v->type && v->space && declares(v, name))
                    bytes = type_bytes(type_named(v->type->text));
    return bytes;
}

/* Returns true if the opcode accesses memory with full-size addresses. Shared and constant addresses may be narrow in a
 * 64-bit module. */
static bool uses_full_address(const char *opcode) {
    static const char *const begin[] = {"ld", "st", "atom", "red", "prefetch", "prefetchu"};
    size_t len = strcspn(opcode, ".");
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strlen(begin[i]) == len && memcmp(opcode, begin[i], len) == 0)
            return !strstr(opcode, ".shared") && !strstr(opcode, ".const") && !strstr(opcode, ".param");
    return false;
}

static void search_statements(struct search *s, const struct statement *st) {
    for (; st && s->left && !s->bits; st = st->next) {
        if (st->kind == ST_BLOCK)
            search_statements(s, st->block.body);
        if (st->kind != ST_INSTRUCTION || !uses_full_address(st->insn.opcode->text))
            continue;
        for (const struct operand *o = st->insn.operands; o; o = o->next)
            if (o->kind == OPD_ADDRESS && o->sub->kind == OPD_NAME) {
                unsigned bytes = register_bytes(s->body, o->sub->name);
                s->left--;
                s->bits = bytes == 4 || bytes == 8 ? (int)bytes * 8 : 0;
            }
    }
}

int address_size(const struct module *m) {
    struct search s = {.left = MAX_ACCESSES, .bits = m->address_size};
    for (const struct statement *st = m->statements; st && !s.bits && s.left; st = st->next)
        if (st->kind == ST_FUNCTION) {
            s.body = st->function->body;
            search_statements(&s, s.body);
        }
    return s.bits ? s.bits : 32; /* PTX ISA, .address_size */
}
