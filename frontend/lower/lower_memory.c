/* Lowers loads, stores, atomics and prefetches. */
#include "lower.h"
#include <string.h>

/* Lowers the operands of a vector access. Reports an error and returns false unless there are `want` operands of one
 * size. */
static bool vector_operands(struct lower *l, const struct operand *o, int want, bool is_store, enum type t,
                            opnd_t out[8], unsigned *bytes) {
    struct operand list[8];
    int n = elements(l, o, list, 8);
    if (n != want || (o->kind != OPD_VECTOR && n == 1 && want > 1)) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %d elements, found %d", opcode_text(l), want, n);
        return false;
    }
    *bytes = 0;
    for (int i = 0; i < n; i++) {
        unsigned size;
        out[i] = is_store ? wide_source(l, &list[i], t, &size) : wide_dest(l, &list[i], t, &size);
        if (out[i] & 1 || out[i] == OPND_SINK)
            continue;
        if (*bytes && size != *bytes)
            diag_error(l->d, list[i].loc, "the elements of a vector must be registers of one size");
        *bytes = size;
    }
    if (*bytes == 0)
        *bytes = type_bytes(t);
    return true;
}

static uint32_t add_list(struct ir *ir, const opnd_t *from, int n) {
    uint32_t first = ir->n_lists;
    for (int i = 0; i < n; i++)
        ir_list_add(ir, from[i]);
    return first;
}

/* Widens the constants of a vector store from the type's size to that of its registers. */
static void widen_constants(struct lower *l, const struct operand *o, enum type t, opnd_t *list, int n,
                            unsigned bytes) {
    struct operand written[8];
    if (bytes == type_bytes(t))
        return;
    elements(l, o, written, 8);
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        if ((list[i] & 1) && list[i] != OPND_ZERO && immediate(l, &written[i], t, &bits))
            list[i] = ir_constant(l->ir, class_of_bytes(bytes), bits, 0);
    }
}

/* Returns the number of cache policy operands, 0 or 1. The policy has no effect. */
static int has_policy(const struct lower *l) { return (l->dec->hints & HINT_CACHE_POLICY) != 0; }

void lower_load(struct lower *l) {
    const struct operand *o = l->st->insn.operands;
    enum type t = l->dec->row->types[0];
    struct address a;
    opnd_t list[8] = {OPND_SINK};
    unsigned bytes = type_bytes(t);
    int n = l->dec->vec ? l->dec->vec : 1;
    if (!operand_count(l, 2 + has_policy(l), 2 + has_policy(l)))
        return;
    if (n > 1 || o->kind == OPD_VECTOR) {
        if (!vector_operands(l, o, n, false, t, list, &bytes))
            return;
    } else {
        list[0] = wide_dest(l, o, t, &bytes);
    }
    if (!address_of(l, o->next, l->dec->space, &a))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->msize = (uint8_t)type_bytes(t);
    in->rsize = in->dsize = (uint8_t)bytes;
    in->is_signed = type_class(t) == 's';
    in->d2size = 0;
    set_address(l, in, &a);
    if (l->dec->row->op == OP_HEDDLE)
        in->cache_op = CACHE_WALK;
    if (n == 1) {
        in->d = list[0];
    } else {
        in->list = add_list(l->ir, list, n);
        in->n_list = (uint8_t)n;
    }
    emit_done(l);
}

void lower_store(struct lower *l) {
    const struct operand *o = l->st->insn.operands;
    enum type t = l->dec->row->types[0];
    struct address a;
    opnd_t list[8] = {OPND_ZERO};
    unsigned bytes = type_bytes(t);
    int n = l->dec->vec ? l->dec->vec : 1;
    if (!operand_count(l, 2 + has_policy(l), 2 + has_policy(l)))
        return;
    if (n > 1 || o->next->kind == OPD_VECTOR) {
        if (!vector_operands(l, o->next, n, true, t, list, &bytes))
            return;
        widen_constants(l, o->next, t, list, n, bytes);
    } else {
        list[0] = wide_source(l, o->next, t, &bytes);
    }
    if (!address_of(l, o, l->dec->space, &a))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->msize = (uint8_t)type_bytes(t);
    in->rsize = (uint8_t)bytes;
    in->dsize = in->d2size = 0;
    set_address(l, in, &a);
    if (n == 1) {
        in->b = list[0];
    } else {
        in->list = add_list(l->ir, list, n);
        in->n_list = (uint8_t)n;
    }
    emit_done(l);
}

/* Lowers atom d, [a], b{, c}{, policy} and red [a], b{, policy}. */
void lower_atomic(struct lower *l) {
    const struct operand *o = l->st->insn.operands;
    const struct isa_row *row = l->dec->row;
    bool has_result = row->op == OP_ATOM, cas = form_get(row->form, CAT_OPN) == OPN_CAS;
    enum type t = row->types[0];
    struct address a;
    opnd_t list[16];
    unsigned bytes;
    int n = l->dec->vec > 1 ? l->dec->vec : 1, need = 2 + has_result + cas;
    if (!operand_count(l, need + has_policy(l), need + has_policy(l)))
        return;
    const struct operand *result = has_result ? o : NULL, *at = has_result ? o->next : o, *value = at->next;
    if (n > 1 && l->dec->space == SPACE_SHARED) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s': vector atomics are only for global memory", opcode_text(l));
        return;
    }
    for (int i = 0; i < n; i++)
        list[i] = OPND_SINK;
    if (n > 1) {
        if ((result && result->kind != OPD_SINK && !vector_operands(l, result, n, false, t, list, &bytes)) ||
            !vector_operands(l, value, n, true, t, list + n, &bytes))
            return;
    } else {
        if (result)
            list[0] = dest(l, result, t);
        list[1] = source(l, value, t);
    }
    opnd_t c = cas ? source(l, value->next, t) : OPND_ZERO;
    if (!address_of(l, at, l->dec->space, &a))
        return;
    struct inst *in = emit(l, row);
    in->msize = in->rsize = in->dsize = (uint8_t)type_bytes(t);
    in->d2size = 0;
    set_address(l, in, &a);
    if (n == 1) {
        in->d = list[0];
        in->b = list[1];
    } else {
        in->list = add_list(l->ir, list, 2 * n);
        in->n_list = (uint8_t)(2 * n);
    }
    in->c = c;
    emit_done(l);
}

void lower_prefetch(struct lower *l) {
    struct address a;
    if (!operand_count(l, 1, 2) || !address_of(l, l->st->insn.operands, l->dec->space, &a))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->msize = 1;
    set_address(l, in, &a);
    in->cache_op = strstr(opcode_text(l), ".L2") ? CACHE_CG : CACHE_DEFAULT;
    emit_done(l);
}

/* createpolicy.fractional d {, fraction}; .range d, [a], primary size, total size; .cvt.L2 d, a.
 * Heddle ignores cache policies, so d becomes 0. */
void lower_policy(struct lower *l) {
    const char *text = opcode_text(l);
    const bool range = strstr(text, ".range"), fractional = strstr(text, ".fractional"), cvt = strstr(text, ".cvt");
    const struct operand *o = l->st->insn.operands;
    struct address a;
    uint64_t fraction;
    if (range + fractional + cvt != 1) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' does not exist", text);
        diag_help(l->d, "write createpolicy.fractional, .range or .cvt.L2");
        return;
    }
    if (!operand_count(l, range ? 4 : cvt ? 2 : 1, range ? 4 : 2))
        return;
    if (range && (!address_of(l, o->next, l->dec->space, &a) || source(l, o->next->next, T_U32) == OPND_SINK ||
                  source(l, o->next->next->next, T_U32) == OPND_SINK))
        return;
    if (cvt)
        (void)source(l, o->next, T_B64);
    if (fractional && o->next && !immediate(l, o->next, T_F32, &fraction))
        return;
    emit_move(l, dest(l, o, T_B64), OPND_ZERO, RC_64);
}
