/* Lowers bulk instructions (isa/bulk.h). Their operands, in the order written:
 *   copy                [to], [from], size{, left, right}{, [mbarrier]}{, CTA mask}{, policy}{, byte mask}
 *   copy of a tensor    load: [to], [map, {coordinates}], [mbarrier]{, {offsets}}{, CTA mask}{, policy}
 *                       store: [map, {coordinates}], [from]{, policy}
 *   prefetch            [from], size{, policy}; of a tensor: [map, {coordinates}]{, {offsets}}{, policy}
 *   st.async, red.async [to], value, [mbarrier]          st.bulk  [to], size, 0
 *   tensormap.replace   [map]{, dimension}, value        tensormap.cp_fenceproxy  [to], [from], 128
 *   wait_group          n */
#include "isa/bulk.h"
#include "lower_matrix.h"

/* The operands of the instruction: registers or constants, by BULK_ index. */
struct bulk_operands {
    opnd_t list[BULK_OPERANDS];
    unsigned wide;            /* bit set of addresses that are in registers of 64 bits */
    const struct operand *at; /* next operand as written */
};

/* Returns the next operand, or NULL if no operand is left. */
static const struct operand *next(struct bulk_operands *b) {
    const struct operand *o = b->at;
    if (o)
        b->at = o->next;
    return o;
}

opnd_t address_value(struct lower *l, const struct address *a) {
    const enum reg_class cls = a->asize == 4 ? RC_32 : RC_64;
    if (a->base == OPND_ZERO && !a->fixup)
        return ir_constant(l->ir, cls, (uint64_t)a->imm, 0);
    if (!a->imm && !a->fixup)
        return a->base;
    const uint32_t guard = pause_guard(l);
    const opnd_t sum = temp_reg(l, cls) << 1;
    if (a->fixup) {
        emit_move(l, sum, OPND_ZERO, cls);
        emit_fixup(l, a->what, (uint64_t)a->imm);
    } else {
        struct inst *in = emit_op(l, OP_ADD, cls == RC_32 ? T_U32 : T_U64, T_NONE, 0);
        in->d = sum;
        in->a = a->base;
        in->b = ir_constant(l->ir, cls, cls == RC_32 ? (uint32_t)a->imm : (uint64_t)a->imm, 0);
        emit_done(l);
    }
    l->guard = guard;
    return sum;
}

/* Stores the address in operand `i`. */
static void put_address(struct lower *l, struct bulk_operands *b, unsigned i, const struct address *a) {
    b->wide |= (a->asize == 8) << i;
    b->list[i] = address_value(l, a);
}

static bool address(struct lower *l, struct bulk_operands *b, unsigned i, enum space space) {
    const struct operand *o = next(b);
    struct address a;
    if (!o || !address_of(l, o, space, &a))
        return false;
    put_address(l, b, i, &a);
    return true;
}

static bool value(struct lower *l, struct bulk_operands *b, unsigned i, enum type t) {
    const struct operand *o = next(b);
    if (o)
        b->list[i] = source(l, o, t);
    return o != NULL;
}

/* Stores the values of operand `o`, a vector of `n` elements, in the operands from `i` on. */
static bool values(struct lower *l, struct bulk_operands *b, const struct operand *o, unsigned i, unsigned n,
                   enum type t, const char *what) {
    struct operand list[8];
    const int found = o ? elements(l, o, list, 8) : 0;
    if (found != (int)n) {
        diag_error(l->d, o ? o->loc : l->st->insn.opcode_loc, "'%s' takes %u %s, found %d", opcode_text(l), n, what,
                   found);
        return false;
    }
    for (unsigned k = 0; k < n; k++)
        b->list[i + k] = source(l, &list[k], t);
    return true;
}

/* Takes [map, {coordinates}]. */
static bool map(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    const struct operand *o = next(b);
    if (!o || o->kind != OPD_ADDRESS || o->n != 2) {
        if (o)
            bad_operand(l, o, "[tensor map, {coordinates}]");
        return false;
    }
    struct operand alone = *o;
    struct operand name = *o->sub;
    struct address a;
    name.next = NULL;
    alone.sub = &name;
    alone.n = 1;
    if (!address_of(l, &alone, SPACE_GENERIC, &a))
        return false;
    put_address(l, b, BULK_MAP, &a);
    return values(l, b, o->sub->next, BULK_COORDINATE, bulk_coordinates(f), T_S32, "coordinates");
}

static bool policy(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    const struct operand *o = f->cache_hint ? next(b) : NULL;
    if (o)
        source(l, o, T_B64); /* the policy must be valid, but has no effect */
    return !f->cache_hint || o;
}

static bool tensor_operands(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    const bool load = f->to == SPACE_SHARED;
    if (load && !address(l, b, BULK_TO, SPACE_SHARED))
        return false;
    if (!map(l, b, f) || (!load && f->what != BULK_PREFETCH && !address(l, b, BULK_FROM, SPACE_SHARED)) ||
        (load && !address(l, b, BULK_SIGNAL, SPACE_SHARED)))
        return false;
    if (bulk_offsets(f) && !values(l, b, next(b), BULK_OFFSET, bulk_offsets(f), T_U16, "im2col offsets"))
        return false;
    return (!f->multicast || value(l, b, BULK_CTAS, T_U16)) && policy(l, b, f);
}

static bool copy_operands(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    if (!address(l, b, BULK_TO, f->to) || (f->what != BULK_PREFETCH && !address(l, b, BULK_FROM, f->from)) ||
        !value(l, b, BULK_BYTES, T_U32))
        return false;
    if (f->ignore_oob && (!value(l, b, BULK_MASK, T_U32) || !value(l, b, BULK_MASK2, T_U32)))
        return false;
    return (!f->signals || address(l, b, BULK_SIGNAL, SPACE_SHARED)) &&
           (!f->multicast || value(l, b, BULK_CTAS, T_U16)) && policy(l, b, f) &&
           (!f->cp_mask || value(l, b, BULK_MASK, T_U16));
}

static bool element_operands(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    return address(l, b, BULK_TO, SPACE_SHARED) &&
           values(l, b, next(b), BULK_VALUE, f->vec ? f->vec : 1, f->type, "elements") &&
           address(l, b, BULK_SIGNAL, SPACE_SHARED);
}

/* Returns true if tensormap.replace of the field names a dimension. */
static bool has_dimension(unsigned field) {
    return field == BULK_MAP_BOX_DIM || field == BULK_MAP_DIM || field == BULK_MAP_STRIDE ||
           field == BULK_MAP_ELEMENT_STRIDE;
}

/* Checks the value that st.bulk writes. PTX has no other value than 0. */
static bool is_zero(struct lower *l, const struct operand *o) {
    if (o && (o->kind != OPD_INT || o->integer))
        bad_operand(l, o, "the constant 0");
    return o && o->kind == OPD_INT && !o->integer;
}

static bool operands(struct lower *l, struct bulk_operands *b, const struct bulk_form *f) {
    switch (f->what) {
    case BULK_ST_ASYNC:
    case BULK_RED_ASYNC:
        return element_operands(l, b, f);
    case BULK_ZERO:
        return address(l, b, BULK_TO, f->to) && value(l, b, BULK_BYTES, T_B64) && is_zero(l, next(b));
    case BULK_REPLACE:
        return address(l, b, BULK_TO, f->to) && (!has_dimension(f->field) || value(l, b, BULK_CTAS, T_B32)) &&
               value(l, b, BULK_BYTES, f->type);
    case BULK_COPY_MAP:
        return address(l, b, BULK_TO, f->to) && address(l, b, BULK_FROM, f->from) && value(l, b, BULK_BYTES, T_U32);
    default:
        return f->dims ? tensor_operands(l, b, f) : copy_operands(l, b, f);
    }
}

static void lower_wait(struct lower *l, bool read) {
    const struct operand *o = l->st->insn.operands;
    uint64_t n;
    if (!operand_count(l, 1, 1) || !immediate(l, o, T_U32, &n))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->imm = (int64_t)n;
    in->msize = 0;
    in->asize = read;
    emit_done(l);
}

void lower_bulk(struct lower *l) {
    const struct bulk_form f = bulk_unpack(l->dec->bulk);
    struct bulk_operands b = {.at = l->st->insn.operands};
    struct ir *ir = l->ir;
    if (f.what == BULK_COMMIT) {
        if (operand_count(l, 0, 0)) {
            emit(l, l->dec->row);
            emit_done(l);
        }
        return;
    }
    if (f.what == BULK_WAIT) {
        lower_wait(l, f.read);
        return;
    }
    for (unsigned i = 0; i < BULK_OPERANDS; i++)
        b.list[i] = OPND_ZERO;
    const bool complete = operands(l, &b, &f);
    if (!complete || b.at) {
        if (b.at || !l->d->errors)
            diag_error(l->d, l->st->insn.opcode_loc, "'%s' has other operands", opcode_text(l));
        return;
    }
    if (f.what == BULK_COPY_MAP)
        require_all_lanes(l);
    struct inst *in = emit(l, l->dec->row);
    in->imm = l->dec->bulk;
    in->asize = (uint8_t)b.wide;
    in->msize = in->rsize = in->dsize = in->d2size = 0;
    in->hints = f.what == BULK_COPY_MAP ? HINT_ALIGNED : 0;
    in->list = ir->n_lists;
    in->n_list = BULK_OPERANDS;
    for (unsigned i = 0; i < BULK_OPERANDS; i++)
        ir_list_add(ir, b.list[i]);
    emit_done(l);
}
