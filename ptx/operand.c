/* Makes operands and finds their constant values. */
#include "ptx/parse.h"

struct operand *build_operand(struct parser *ps, enum operand_kind kind, struct loc loc) {
    struct operand *o = arena_alloc(ps->arena, sizeof *o);
    o->kind = kind;
    o->loc = loc;
    return o;
}

struct operand *fold_constant(struct parser *ps, struct operand *o) {
    while (o->kind == OPD_PARENS && o->n == 1)
        o = o->sub;
    if (o->kind == OPD_INT || o->kind == OPD_FLOAT)
        return o;
    if (o->kind != OPD_NAME || o->name != ps->warp_sz)
        return NULL;
    struct operand *size = build_operand(ps, OPD_INT, o->loc);
    size->integer = 32;
    ps->module->warp_sz = o->loc;
    return size;
}
