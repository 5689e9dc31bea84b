/* Lowers branches, returns and barriers. */
#include "lower.h"
#include <string.h>

uint32_t new_label(struct lower *l) {
    if (l->n_labels == l->cap_labels)
        l->label_at = ir_grow(l->ir->tmp, l->label_at, l->n_labels, &l->cap_labels, sizeof *l->label_at);
    l->label_at[l->n_labels] = NO_INST;
    return l->n_labels++;
}

void bind_label(struct lower *l, uint32_t label) { l->label_at[label] = l->ir->n; }

void lower_branch(struct lower *l) {
    if (!operand_count(l, 1, 1))
        return;
    const struct symbol *s = find_symbol(l, l->st->insn.operands, 1u << SYM_LABEL, "label");
    if (!s)
        return;
    struct inst *in = emit(l, l->dec->row);
    in->target = s->index;
    in->hints = l->dec->hints;
    in->rpc = PC_EXIT;
    emit_done(l);
}

void lower_brx(struct lower *l) {
    struct ir *ir = l->ir;
    if (!operand_count(l, 2, 2))
        return;
    const struct operand *o = l->st->insn.operands;
    opnd_t index = source(l, o, T_U32);
    const struct symbol *s = find_symbol(l, o->next, 1u << SYM_TARGETS, "list of targets");
    if (!s)
        return;
    if (s->statement->proto.is_call) {
        diag_error(l->d, o->next->loc, "'%s' lists functions; '%s' takes .branchtargets", s->word->text,
                   opcode_text(l));
        return;
    }
    uint32_t first = ir->n_lists, n = 0;
    ir_list_add(ir, 0); /* their number */
    for (const struct operand *t = s->statement->proto.names; t; t = t->next) {
        const struct symbol *label = find_symbol(l, t, 1u << SYM_LABEL, "label");
        if (!label)
            return;
        ir_list_add(ir, label->index);
        n++;
    }
    ir->lists[first] = n;
    struct inst *in = emit(l, l->dec->row);
    in->a = index;
    in->list = first;
    in->hints = l->dec->hints;
    in->rpc = PC_EXIT;
    emit_done(l);
}

/* Lowers ret: an exit in a kernel, a branch to the single return in a function. */
void lower_return(struct lower *l) {
    if (!operand_count(l, 0, 0))
        return;
    struct inst *in;
    if (l->ir->functions[l->fn].is_entry) {
        in = emit_op(l, OP_EXIT, T_NONE, T_NONE, 0);
    } else {
        in = emit_op(l, OP_BRA, T_NONE, T_NONE, 0);
        in->target = l->ret_label;
        in->rpc = PC_EXIT;
        l->ret_used = true;
    }
    emit_done(l);
}

/* Lowers bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c; bar.warp.sync mask. */
void lower_barrier(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    unsigned mode = form_get(row->form, CAT_MODE), opn = form_get(row->form, CAT_OPN);
    opnd_t d = OPND_SINK, number, threads = OPND_ZERO, pred = OPND_ZERO, mask = OPND_ZERO;
    if (row->kind == K_WARPSYNC) {
        if (!operand_count(l, 1, 1))
            return;
        mask = source(l, o, T_B32);
        struct inst *in = emit(l, row);
        in->e = mask;
        emit_done(l);
        return;
    }
    if (form_get(row->form, CAT_MODE2) == MODE2_CLUSTER) { /* barrier of the whole cluster */
        if (operand_count(l, 0, 0)) {
            emit(l, row);
            emit_done(l);
        }
        return;
    }
    bool red = mode == MODE_RED, arrive = mode == MODE_ARRIVE;
    if (!operand_count(l, red ? 3 : arrive ? 2 : 1, red ? 4 : 2))
        return;
    int n = l->st->insn.n_operands;
    if (red) {
        d = dest(l, o, opn == OPN_POPC ? T_U32 : T_PRED);
        o = o->next;
        n--;
    }
    if (o->kind == OPD_INT && o->integer >= MAX_NAMED_BARRIERS)
        diag_error(l->d, o->loc, "no barrier %llu: a CTA has barriers 0 to %d", (unsigned long long)o->integer,
                   MAX_NAMED_BARRIERS - 1);
    number = source(l, o, T_U32);
    o = o->next;
    if (n - red == 2) {
        threads = source(l, o, T_U32);
        o = o->next;
    }
    if (red)
        pred = source(l, o, T_PRED);
    struct inst *in = emit(l, row);
    in->hints = l->dec->hints;
    in->d = d;
    in->dsize = red && opn == OPN_POPC ? 4 : 0;
    in->a = number;
    in->b = threads;
    in->rsize = n - red == 2 ? 4 : 0;
    in->c = pred;
    in->imm = !red ? arrive : opn == OPN_AND ? 2 : opn == OPN_OR ? 3 : 4;
    emit_done(l);
}
