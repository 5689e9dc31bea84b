/* Finds the lanes that use the sum of a ladder, and checks whether other threads may be at another instruction at that
 * time. */
#include "isa/decode.h"
#include "reduce_parts.h"
#include <string.h>

uint32_t reduce_maker(const struct defuse *d, uint32_t inst, opnd_t o) {
    const struct reg_use *use = defuse_use(d, inst, o >> 1);
    const struct reg_def *def = use ? defuse_only_def(d, use) : NULL;
    return def ? def->inst : NO_INST;
}

enum { MOST_MOVES = 16 };

/* Returns true for a move of 32 or 64 bits without a guard. */
static bool moves(const struct inst *in) {
    return in->kind == K_LANE && in->guard == NO_GUARD && reduce_row_of(in)->op == OP_MOV && in->dsize >= 4 &&
           in->dsize <= 8;
}

bool reduce_constant(const struct ir *ir, const struct defuse *d, uint32_t inst, opnd_t o, uint32_t *value) {
    for (int i = 0; !(o & 1) && i < MOST_MOVES; i++) {
        inst = reduce_maker(d, inst, o);
        if (inst == NO_INST || !moves(&ir->code[inst]))
            return false;
        o = ir->code[inst].a;
    }
    *value = 0;
    if ((o & 1) && o != OPND_ZERO)
        memcpy(value, ir->constants + (o >> 1), sizeof *value);
    return o & 1;
}

/* Returns true if operand `o` of `inst` is %tid.x or %laneid, or some of its bits. */
static bool is_number(const struct lane_users *u, uint32_t inst, opnd_t o, struct lane_choice *c) {
    const struct ir *ir = u->ir;
    c->mask = UINT32_MAX;
    for (int i = 0; i < MOST_MOVES && !(o & 1); i++) {
        if (ir->vregs[o >> 1].special) {
            for (uint32_t s = 0; s < ir->n_specials; s++)
                if (ir->specials[s].offset == o >> 1) {
                    c->from = o;
                    return ir->specials[s].id == SPECIAL_TID_X || ir->specials[s].id == SPECIAL_LANEID;
                }
            return false;
        }
        inst = reduce_maker(u->defuse, inst, o);
        if (inst == NO_INST)
            return false;
        const struct inst *in = &ir->code[inst];
        uint32_t bits;
        if (in->kind == K_LANE && in->guard == NO_GUARD && reduce_row_of(in)->op == OP_AND && in->dsize == 4) {
            bool second = reduce_constant(ir, u->defuse, inst, in->b, &bits);
            if (!second && !reduce_constant(ir, u->defuse, inst, in->a, &bits))
                return false;
            c->mask &= bits;
            o = second ? in->a : in->b;
        } else if (reduce_is_move(in)) {
            o = in->a;
        } else {
            return false;
        }
    }
    return false;
}

/* Returns true if predicate `p`, as `inst` reads it, has the value `holds` only in lanes with the number `lane`. */
static bool chooses(const struct lane_users *u, uint32_t inst, uint32_t p, bool holds, unsigned lane,
                    struct lane_choice *c) {
    uint32_t at = reduce_maker(u->defuse, inst, p << 1);
    if (at == NO_INST)
        return false;
    const struct inst *in = &u->ir->code[at];
    const struct isa_row *row = reduce_row_of(in);
    unsigned cmp = form_get(row->form, CAT_CMP);
    if (row->op != OP_SETP || in->guard != NO_GUARD || in->d != p << 1 || form_get(row->form, CAT_OPN) ||
        type_bytes(row->a) != 4 || row->a == T_F32 || cmp != (holds ? CMP_EQ : CMP_NE))
        return false;
    bool first = is_number(u, at, in->a, c);
    if (!first && !is_number(u, at, in->b, c))
        return false;
    return reduce_constant(u->ir, u->defuse, at, first ? in->b : in->a, &c->value) && (c->mask & 31) == 31 &&
           (c->value & 31) == lane;
}

/* Returns true if block `to` is entered only by the conditional branch at the end of block `from`. Then sets `holds`:
 * whether the predicate is true in `to`. */
static bool edge(const struct ir *ir, uint32_t from, uint32_t to, bool *holds) {
    const struct inst *last = &ir->code[ir->blocks[from].end - 1];
    if (last->kind != K_BRANCH || last->guard == NO_GUARD || last->target == from + 1 ||
        ir->cfg.pred_first[to + 1] != ir->cfg.pred_first[to] + 1)
        return false;
    *holds = last->target == to ? !last->guard_not : last->guard_not;
    return last->target == to || to == from + 1;
}

static bool chosen(const struct lane_users *u, uint32_t inst, unsigned lane, struct lane_choice *c) {
    const struct ir *ir = u->ir;
    const struct inst *in = &ir->code[inst];
    if (in->guard != NO_GUARD && in->kind < K_BRANCH && chooses(u, inst, in->guard, !in->guard_not, lane, c))
        return true;
    for (uint32_t b = ir->info[inst].block; b != NO_BLOCK && u->dom.up[b] != NO_BLOCK; b = u->dom.up[b]) {
        uint32_t from = u->dom.up[b], branch = ir->blocks[from].end - 1;
        bool holds;
        if (edge(ir, from, b, &holds) && chooses(u, branch, ir->code[branch].guard, holds, lane, c))
            return true;
    }
    return false;
}

const char *reduce_users(const struct lane_users *u, uint32_t def, unsigned lane, struct lane_choice *choice) {
    const struct reg_def *d = &u->defuse->defs[def];
    struct lane_choice c;
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t inst = u->defuse->uses[u->defuse->def_uses[d->first + k]].inst;
        if (!chosen(u, inst, lane, &c))
            return "lanes without the whole sum may use their partial sums";
        if (k && (c.from != choice->from || c.mask != choice->mask || c.value != choice->value))
            return "the sum is used under several conditions";
        *choice = c;
    }
    return d->n ? NULL : "nothing uses the sum";
}

/* ---- threads at other instructions ---- */

/* Marks the blocks that can be reached from block b without passing `join`. */
static void reach(const struct ir *ir, uint32_t b, uint32_t join, unsigned char *seen, uint32_t *stack) {
    uint32_t top = 0;
    if (b != join && !seen[b]) {
        seen[b] = 1;
        stack[top++] = b;
    }
    while (top) {
        uint32_t at = stack[--top];
        for (uint32_t e = ir->cfg.succ_first[at]; e < ir->cfg.succ_first[at + 1]; e++) {
            uint32_t to = ir->cfg.succ[e];
            if (to == join || seen[to])
                continue;
            seen[to] = 1;
            stack[top++] = to;
        }
    }
}

/* Returns true if the block calls a function, or has an instruction at which threads may wait for each other. */
static bool has_members(const struct ir *ir, uint32_t b) {
    for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
        const struct inst *in = &ir->code[i];
        if (in->kind == K_CALL || in->hints & HINT_COLLECTIVE ||
            (in->kind == K_WARP && reduce_row_of(in)->op == OP_SHFL))
            return true;
    }
    return false;
}

bool reduce_meets_others(const struct ir *ir, const struct control *control, uint32_t b) {
    const uint32_t n = control->n;
    unsigned char *one = arena_array(ir->tmp, (size_t)n + 1, 1), *two = arena_array(ir->tmp, (size_t)n + 1, 1);
    uint32_t *stack = arena_array(ir->tmp, (size_t)n + 1, sizeof *stack);
    for (uint32_t x = 0; x < n; x++) {
        uint32_t first = ir->cfg.succ_first[x], end = ir->cfg.succ_first[x + 1];
        if (end < first + 2 || ir->code[ir->blocks[x].end - 1].hints & HINT_UNI)
            continue;
        uint32_t join = control_join(control, x);
        for (uint32_t e = first; e < end; e++) {
            memset(one, 0, n);
            reach(ir, ir->cfg.succ[e], join, one, stack);
            if (!one[b])
                continue;
            memset(two, 0, n);
            for (uint32_t f = first; f < end; f++)
                if (f != e)
                    reach(ir, ir->cfg.succ[f], join, two, stack);
            for (uint32_t k = 0; k < n; k++)
                if (two[k] && has_members(ir, k))
                    return true;
        }
    }
    return false;
}
