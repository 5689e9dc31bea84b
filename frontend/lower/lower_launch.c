/* Lowers clusterlaunchcontrol. The operands:
 *   try_cancel [response], [mbarrier]
 *   query_cancel.is_canceled p, response;    query_cancel.get_first_ctaid {x, y, z, _}, response
 *   query_cancel.get_first_ctaid::x (or ::y, ::z) d, response */
#include "lower.h"

static void lower_try(struct lower *l) {
    const enum space space = has_word(l, "shared::cta") ? SPACE_SHARED : SPACE_GENERIC;
    const bool multicast = has_word(l, "multicast::cluster::all");
    struct address a[2];
    if (!has_word(l, "async") || !has_word(l, "mbarrier::complete_tx::bytes")) {
        refuse_opcode(l, "it is incomplete; it needs .async and .mbarrier::complete_tx::bytes");
        return;
    }
    if (!operand_count(l, 2, 2) || !address_of(l, l->st->insn.operands, space, &a[0]) ||
        !address_of(l, l->st->insn.operands->next, space, &a[1]))
        return;
    const opnd_t at[2] = {address_value(l, &a[0]), address_value(l, &a[1])};
    const uint32_t list = l->ir->n_lists;
    add_to_list(l, at[0]);
    add_to_list(l, at[1]);
    struct inst *in = emit(l, l->dec->row);
    in->list = list;
    in->n_list = 2;
    in->msize = 0;
    in->rsize = 4;
    in->asize = (uint8_t)((a[0].asize == 8) | (a[1].asize == 8) << 1);
    in->imm = multicast;
    emit_done(l);
}

static void lower_query(struct lower *l) {
    static const char *const parts[] = {"is_canceled", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z",
                                        "get_first_ctaid"};
    const struct operand *o = l->st->insn.operands;
    struct operand element[4] = {{0}};
    unsigned part = 0;
    while (part < 5 && !has_word(l, parts[part]))
        part++;
    if (part == 5 || (part == 0) != (l->dec->row->types[0] == T_PRED) || (part == 4) != has_word(l, "v4")) {
        refuse_opcode(
            l,
            "it is .is_canceled.pred.b128, .get_first_ctaid.v4.b32.b128, or .get_first_ctaid::x (::y, ::z).b32.b128");
        return;
    }
    if (!operand_count(l, 2, 2))
        return;
    const unsigned n = part == 0 ? 0 : part == 4 ? 4 : 1;
    if (part == 4 && (o->kind != OPD_VECTOR || elements(l, o, element, 4) != 4)) {
        bad_operand(l, o, "a vector of four registers");
        return;
    }
    const opnd_t response = source(l, o->next, T_B128), d = part == 0 ? dest(l, o, T_PRED) : OPND_SINK;
    const uint32_t list = l->ir->n_lists;
    for (unsigned i = 0; i < n; i++)
        add_to_list(l, dest(l, part == 4 ? &element[i] : o, T_B32));
    struct inst *in = emit(l, l->dec->row);
    in->a = response;
    in->d = d;
    in->list = list;
    in->n_list = in->msize = (uint8_t)n;
    in->rsize = 4;
    in->imm = part;
    emit_done(l);
}

void lower_launch(struct lower *l) {
    if (form_get(l->dec->row->form, CAT_MODE2) == MODE2_TRY_CANCEL)
        lower_try(l);
    else
        lower_query(l);
}
