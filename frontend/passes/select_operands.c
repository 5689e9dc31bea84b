/* Operands of instructions, for the files that fold and fuse instructions. */
#include "pass.h"
#include "select.h"
#include <string.h>

const struct isa_row *select_row(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

const struct reg_def *select_only_result(const struct select *s, uint32_t i) {
    const uint32_t first = s->du.inst_defs[i];
    const struct inst *in = &s->ir->code[i];
    return s->touched[i] || in->guard != NO_GUARD || in->hints & HINT_DEQ || s->du.inst_defs[i + 1] != first + 1
               ? NULL
               : &s->du.defs[first];
}

/* Returns true if instructions [from, to) write register `v`. */
static bool writes(const struct select *s, uint32_t v, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        for (uint32_t k = s->du.inst_defs[i]; k < s->du.inst_defs[i + 1]; k++)
            if (s->du.defs[k].vreg == v)
                return true;
    return false;
}

/* Returns true if a path from instruction `from` to instruction `use` of another block, which does not pass `from`
 * again, writes register `v`. Every path to `use` passes `from`. */
static bool written_between(const struct select *s, uint32_t v, uint32_t from, uint32_t use) {
    const struct ir *ir = s->ir;
    const uint32_t first = ir->info[from].block, last = ir->info[use].block;
    unsigned char *seen = arena_array(ir->tmp, ir->n_blocks, 1);
    uint32_t *left = arena_array(ir->tmp, ir->n_blocks, sizeof *left), n = 0;
    if (writes(s, v, from, ir->blocks[first].end) || writes(s, v, ir->blocks[last].begin, use))
        return true;
    seen[first] = 1;
    for (left[n++] = last; n;) {
        const uint32_t b = left[--n];
        for (uint32_t k = ir->cfg.pred_first[b]; k < ir->cfg.pred_first[b + 1]; k++) {
            const uint32_t p = ir->cfg.pred[k];
            if (seen[p])
                continue;
            if (writes(s, v, ir->blocks[p].begin, ir->blocks[p].end))
                return true;
            seen[p] = 1;
            left[n++] = p;
        }
    }
    return false;
}

bool select_keeps(const struct select *s, opnd_t o, uint32_t from, uint32_t use) {
    const struct ir *ir = s->ir;
    const uint32_t v = o >> 1;
    if (o & 1 || v == SINK_VREG || ir->vregs[v].special || !s->writers[v])
        return true;
    const struct reg_use *read = defuse_use(&s->du, from, v);
    if (s->writers[v] == 1 && read && read->n == 1 && !read->start)
        return true;
    if (ir->info[use].block != ir->info[from].block)
        return !written_between(s, v, from, use);
    return use > from && !writes(s, v, from, use);
}

void select_keep_definitions(struct select *s, uint32_t i, opnd_t o) {
    const struct reg_use *read = o & 1 ? NULL : defuse_use(&s->du, i, o >> 1);
    for (uint32_t k = 0; read && k < read->n; k++)
        s->touched[s->du.defs[s->du.use_defs[read->first + k]].inst] = true;
}

bool select_is_sum(const struct isa_row *row, unsigned bytes) {
    return row->op == OP_ADD && row->kind == K_LANE && !row->form && type_class(row->d) != 'f' && bytes >= 4 &&
           type_bytes(row->d) == bytes;
}

struct replacement {
    opnd_t from, to;
};

static void replace_operand(void *ctx, opnd_t *o, enum operand_role role) {
    const struct replacement *r = ctx;
    if (role == OPERAND_READ && *o == r->from)
        *o = r->to;
}

void select_replace(struct select *s, uint32_t i, uint32_t v, opnd_t by) {
    ir_operands(s->ir, edit_inst(s->e, i), replace_operand, &(struct replacement){v << 1, by});
    s->touched[i] = true;
}

void select_become(struct select *s, uint32_t i, const struct isa_row *row, const opnd_t sources[4]) {
    struct inst *to = edit_inst(s->e, i);
    to->a = sources[0];
    to->b = sources[1];
    to->c = sources[2];
    to->e = sources[3];
    inst_set_row(to, row);
    s->touched[i] = true;
}

int64_t select_constant(const struct ir *ir, opnd_t o, unsigned bytes) {
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, ir->constants + (o >> 1), sizeof narrow);
    if (bytes == 4)
        return narrow;
    memcpy(&wide, ir->constants + (o >> 1), sizeof wide);
    return wide;
}

bool select_has_constants(const struct ir *ir) { return pass_option(&ir->context, "core.constant_operands", 1) != 0; }

bool select_is_parameter(const struct ir *ir, opnd_t o) {
    if (o & 1 || !ir->vregs[o >> 1].special)
        return false;
    for (uint32_t i = 0; i < ir->n_specials; i++)
        if (ir->specials[i].offset == o >> 1)
            return special_is_constant(ir->specials[i].id);
    return false;
}

unsigned select_outside(const struct ir *ir, opnd_t o) {
    return (o & 1 && o != OPND_ZERO) || select_is_parameter(ir, o);
}

bool select_may_absorb(const struct select *s, uint32_t i, const struct reg_use *use) {
    const struct inst *in = &s->ir->code[i];
    const opnd_t sources[] = {in->a, in->b, in->c};
    if (use->n != 1 || use->start || s->touched[use->inst] || s->ir->code[use->inst].kind != K_LANE)
        return false;
    for (int k = 0; k < 3; k++)
        if (!select_keeps(s, sources[k], i, use->inst))
            return false;
    return true;
}

void select_absorbed(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    select_keep_definitions(s, i, in->a);
    select_keep_definitions(s, i, in->b);
    select_keep_definitions(s, i, in->c);
    edit_remove(s->e, i);
    ir_note(s->ir, i, "is part of the instructions that use it");
}
