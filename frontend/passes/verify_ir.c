/* Checks the invariants of the program under construction: instructions; blocks and edges once they exist;
 * post-dominators, liveness and registers once they are known. */
#include "isa/compound.h"
#include "verify.h"
#include <string.h>

static void check_operand(struct verdict *r, const struct ir *ir, uint32_t i, opnd_t o) {
    if (o & 1) {
        if ((o >> 1) % 64 || (o >> 1) >= ir->constant_bytes)
            wrong(r, "instruction %u: constant at %u of %u bytes", i, o >> 1, ir->constant_bytes);
        return;
    }
    if (o >> 1 >= ir->n_vregs) {
        wrong(r, "instruction %u: register %u of %u", i, o >> 1, ir->n_vregs);
        return;
    }
    const struct vreg *v = &ir->vregs[o >> 1];
    if (o >> 1 != SINK_VREG && !v->special && v->function != ir->info[i].function)
        wrong(r, "instruction %u of function %u uses a register of function %u", i, ir->info[i].function, v->function);
}

struct checking {
    struct verdict *r;
    const struct ir *ir;
    uint32_t inst;
};

static void check_each(void *ctx, opnd_t *o, enum operand_role role) {
    const struct checking *c = ctx;
    check_operand(c->r, c->ir, c->inst, *o);
    if (*o & 1 && role == OPERAND_WRITE)
        wrong(c->r, "instruction %u writes a constant", c->inst);
    if (role == OPERAND_GUARD && (*o >> 1) < c->ir->n_vregs && c->ir->vregs[*o >> 1].cls != RC_PRED)
        wrong(c->r, "instruction %u: the guard is no predicate", c->inst);
}

/* Checks an instruction against its entry in the instruction table. */
static void check_row(struct verdict *r, uint32_t i, const struct inst *in) {
    uint32_t n;
    const struct isa_row *rows = isa_rows(&n);
    if (in->row >= n) {
        wrong(r, "instruction %u: row %u of %u", i, in->row, n);
        return;
    }
    if (in->kind != rows[in->row].kind && rows[in->row].kind != K_CVT)
        wrong(r, "instruction %u: kind %u, its row has %u", i, in->kind, rows[in->row].kind);
    if (in->kind != K_COMPOUND && in->fn.lane != rows[in->row].fn.lane)
        wrong(r, "instruction %u: its function is not that of its row", i);
}

/* Checks that the result of a lane operation goes to a register of its size. */
static void check_size(struct verdict *r, const struct ir *ir, uint32_t i, const struct inst *in) {
    uint32_t d = in->d >> 1;
    if (in->kind == K_LANE && d != SINK_VREG && d < ir->n_vregs && class_bytes(ir->vregs[d].cls) != in->dsize)
        wrong(r, "instruction %u writes %u bytes into a register of %u", i, in->dsize, class_bytes(ir->vregs[d].cls));
}

static void check_uniform_operand(void *ctx, opnd_t *o, enum operand_role role) {
    const struct checking *c = ctx;
    if (role == OPERAND_GUARD ||
        (role == OPERAND_READ && !(*o & 1) && *o != OPND_SINK && vreg_words(&c->ir->vregs[*o >> 1])))
        wrong(c->r, "instruction %u of the uniform datapath has a guard or reads a vector register", c->inst);
}

/* Checks that an instruction of the uniform datapath has no operand that differs from lane to lane. */
static void check_uniform(struct verdict *r, const struct ir *ir, uint32_t i, const struct inst *in) {
    struct inst copy = *in;
    if (in->kind == K_LANE && in->d >> 1 < ir->n_vregs && ir->vregs[in->d >> 1].uniform)
        ir_operands(ir, &copy, check_uniform_operand, &(struct checking){r, ir, i});
}

/* Returns true if the operand is a constant, unused, or a register of this class. */
static bool is_of_class(const struct ir *ir, opnd_t o, enum reg_class cls) {
    return o & 1 || o == OPND_SINK || ir->vregs[o >> 1].cls == cls;
}

/* Checks that a compound instruction has an entry, and registers of 32 bits apart from a wide operand b. */
static void check_compound(struct verdict *r, const struct ir *ir, uint32_t i, const struct inst *in) {
    if (in->kind != K_COMPOUND)
        return;
    if ((uint64_t)in->imm >= ir->n_compounds || in->dsize != 4 || in->rsize != 4 ||
        (in->d2 != OPND_SINK && in->d2size != 4)) {
        wrong(r, "instruction %u: compound instruction %lld of %u", i, (long long)in->imm, ir->n_compounds);
        return;
    }
    const struct program_compound *c = ir_compound_of(ir, in);
    const opnd_t of_32_bits[] = {
        in->d, in->d2, in->a, c->wide_b ? OPND_ZERO : in->b, in->e, c->selects ? OPND_ZERO : in->c};
    for (unsigned k = 0; k < sizeof of_32_bits / sizeof of_32_bits[0]; k++)
        if (!is_of_class(ir, of_32_bits[k], RC_32))
            wrong(r, "instruction %u: a register of %s is not of 32 bits", i, c->ops->name);
    for (unsigned k = 0; k < in->n_list; k++)
        if (!is_of_class(ir, ir->lists[in->list + k], RC_32))
            wrong(r, "instruction %u: a source of %s is not of 32 bits", i, c->ops->name);
    if (c->wide_b && !is_of_class(ir, in->b, RC_64))
        wrong(r, "instruction %u: operand b of %s is not of 64 bits", i, c->ops->name);
    if (c->selects && !is_of_class(ir, in->c, RC_PRED))
        wrong(r, "instruction %u: no predicate chooses", i);
    const char *why = c->ops->wrong(in, c->what);
    if (why)
        wrong(r, "instruction %u: %s: %s", i, c->ops->name, why);
}

static bool same_regs(const uint32_t *have, unsigned n_have, const uint32_t *want, unsigned n_want,
                      const struct vreg *vregs) {
    unsigned k = 0;
    for (unsigned i = 0; i < n_have; i++) {
        if (vregs[have[i]].special)
            continue;
        while (k < n_want && vregs[want[k]].special)
            k++;
        if (k == n_want || want[k++] != have[i])
            return false;
    }
    while (k < n_want && vregs[want[k]].special)
        k++;
    return k == n_want;
}

static void check_regs(struct verdict *r, const struct ir *ir, uint32_t i) {
    const struct inst_info *info = &ir->info[i];
    struct inst in = ir->code[i];
    struct inst_regs want;
    if (info->regs + info->n_reads + info->n_writes > ir->n_regs) {
        wrong(r, "instruction %u: register list out of range", i);
        return;
    }
    ir_find_regs(ir, &in, &want);
    const uint32_t *have = ir->regs + info->regs;
    if (!same_regs(have, info->n_reads, want.reads, want.n_reads, ir->vregs) ||
        !same_regs(have + info->n_reads, info->n_writes, want.writes, want.n_writes, ir->vregs))
        wrong(r, "instruction %u: its list of registers is not that of its operands", i);
}

static void check_targets(struct verdict *r, const struct ir *ir, uint32_t i, const struct inst *in) {
    uint32_t targets = ir->n_blocks ? ir->n_blocks : ir->n;
    if ((in->kind == K_BRANCH || in->kind == K_BSSY) && in->target >= targets)
        wrong(r, "instruction %u branches to %u of %u", i, in->target, targets);
    if (in->kind == K_BRX && (in->list >= ir->n_lists || ir->lists[in->list] >= ir->n_lists - in->list))
        wrong(r, "instruction %u: its table of targets is out of range", i);
    else
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            if (ir->lists[in->list + t] >= targets)
                wrong(r, "instruction %u branches to %u of %u", i, ir->lists[in->list + t], targets);
    if (in->kind == K_BSSY && in->rpc >= 32)
        wrong(r, "instruction %u: barrier %u", i, in->rpc);
    if ((in->kind == K_BSYNC || in->kind == K_BREAK) && (uint64_t)in->imm >= 32)
        wrong(r, "instruction %u: barrier %lld", i, (long long)in->imm);
}

static void check_inst(struct verdict *r, const struct ir *ir, uint32_t i) {
    struct inst in = ir->code[i];
    const struct inst_info *info = &ir->info[i];
    if (in.list + in.n_list > ir->n_lists) {
        wrong(r, "instruction %u: list out of range", i);
        return;
    }
    ir_operands(ir, &in, check_each, &(struct checking){r, ir, i});
    if (r->wrong)
        return;
    check_row(r, i, &in);
    check_size(r, ir, i, &in);
    check_uniform(r, ir, i, &in);
    check_compound(r, ir, i, &in);
    check_regs(r, ir, i);
    check_targets(r, ir, i, &in);
    if (!info->line)
        wrong(r, "instruction %u comes from no line", i);
    if (info->function >= ir->n_functions || i < ir->functions[info->function].begin ||
        i >= ir->functions[info->function].end)
        wrong(r, "instruction %u is not in its function %u", i, info->function);
    if (!ir->n_blocks)
        return;
    if (info->block >= ir->n_blocks || i < ir->blocks[info->block].begin || i >= ir->blocks[info->block].end)
        wrong(r, "instruction %u is not in its block %u", i, info->block);
    else if (in.kind >= K_BRANCH && i + 1 != ir->blocks[info->block].end)
        wrong(r, "instruction %u is control inside block %u", i, info->block);
}

static void check_functions(struct verdict *r, const struct ir *ir, const char *name) {
    uint32_t at = 0, block = 0;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        const struct ir_function *fn = &ir->functions[f];
        if (fn->begin != at || fn->begin >= fn->end || fn->end > ir->n)
            wrong(r, "function %u from %u to %u, the one before ends at %u", f, fn->begin, fn->end, at);
        else if (!inst_never_falls_through(&ir->code[fn->end - 1]))
            wrong(r, "function %u falls off its end after %s", f, name);
        if (ir->n_blocks && (fn->block != block || fn->block >= fn->block_end || fn->block_end > ir->n_blocks ||
                             ir->blocks[fn->block].begin != fn->begin))
            wrong(r, "function %u has blocks %u to %u", f, fn->block, fn->block_end);
        at = fn->end;
        block = fn->block_end;
    }
    for (uint32_t s = 0; s < ir->n_streams; s++)
        if (ir->streams[s].function >= ir->n_functions || !ir->functions[ir->streams[s].function].is_entry)
            wrong(r, "stream %u begins at function %u, which is no entry", s + 1, ir->streams[s].function);
}

static void check_calls(struct verdict *r, const struct ir *ir) {
    for (uint32_t c = 0; c < ir->n_calls; c++) {
        const struct ir_call *call = &ir->calls[c];
        if (call->inst == NO_INST)
            continue;
        if (call->inst >= ir->n || ir->code[call->inst].kind != K_CALL)
            wrong(r, "call %u is no call: instruction %u", c, call->inst);
        else if (ir->info[call->inst].function != call->caller)
            wrong(r, "call %u by function %u stands in function %u", c, call->caller, ir->info[call->inst].function);
        else if (ir->code[call->inst].target != UINT32_MAX && ir->code[call->inst].target != call->callee)
            wrong(r, "call %u of function %u calls function %u", c, call->callee, ir->code[call->inst].target);
    }
    unsigned char *listed = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t c = 0; c < ir->n_calls && !r->wrong; c++)
        if (ir->calls[c].inst != NO_INST)
            listed[ir->calls[c].inst] = 1;
    for (uint32_t i = 0; i < ir->n; i++)
        if (ir->code[i].kind == K_CALL && ir->code[i].target != UINT32_MAX && !listed[i])
            wrong(r, "instruction %u is a call that is not among the calls", i);
    for (uint32_t c = 0; ir->order.group && c < ir->n_calls; c++)
        if (ir->order.group[ir->calls[c].callee] > ir->order.group[ir->calls[c].caller])
            wrong(r, "function %u comes before function %u, which it calls", ir->calls[c].caller, ir->calls[c].callee);
}

/* Checks that the next unchecked edge of block `b` leads to `to`. */
static void check_edge(struct verdict *r, const struct ir *ir, uint32_t b, uint32_t *e, uint32_t to) {
    if (*e >= ir->cfg.succ_first[b + 1] || ir->cfg.succ[*e] != to)
        wrong(r, "block %u has no edge to block %u", b, to);
    else
        ++*e;
}

static void check_blocks(struct verdict *r, const struct ir *ir) {
    uint32_t at = 0;
    for (uint32_t b = 0; b < ir->n_blocks && !r->wrong; b++) {
        const struct block *k = &ir->blocks[b];
        if (k->begin != at || k->begin >= k->end || k->end > ir->n) {
            wrong(r, "block %u from %u to %u, the one before ends at %u", b, k->begin, k->end, at);
            return;
        }
        at = k->end;
        if (k->function != ir->info[k->begin].function)
            wrong(r, "block %u is not of function %u", b, k->function);
        const struct inst *last = &ir->code[k->end - 1];
        uint32_t e = ir->cfg.succ_first[b];
        if (last->kind == K_BRANCH)
            check_edge(r, ir, b, &e, last->target);
        for (uint32_t t = 1; last->kind == K_BRX && t <= ir->lists[last->list]; t++)
            check_edge(r, ir, b, &e, ir->lists[last->list + t]);
        if (!inst_never_falls_through(last))
            check_edge(r, ir, b, &e, b + 1);
        if (e != ir->cfg.succ_first[b + 1])
            wrong(r, "block %u has an edge that its end does not make", b);
        for (e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1] && !r->wrong; e++)
            if (ir->blocks[ir->cfg.succ[e]].function != k->function)
                wrong(r, "block %u has an edge into another function", b);
    }
    if (at != ir->n)
        wrong(r, "%u of %u instructions are in blocks", at, ir->n);
    if (ir->cfg.n != ir->n_blocks || ir->cfg.pred_first[ir->n_blocks] != ir->cfg.succ_first[ir->n_blocks])
        wrong(r, "the graph is not that of the blocks");
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t p = ir->cfg.pred_first[b]; p < ir->cfg.pred_first[b + 1] && !r->wrong; p++) {
            bool known = false;
            uint32_t from = ir->cfg.pred[p];
            for (uint32_t e = ir->cfg.succ_first[from]; e < ir->cfg.succ_first[from + 1]; e++)
                known |= ir->cfg.succ[e] == b;
            if (!known)
                wrong(r, "block %u comes before block %u without an edge", from, b);
        }
}

static void check_joins(struct verdict *r, const struct ir *ir) {
    uint32_t *ipdom = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *ipdom);
    struct cfg live = cfg_of_live(ir->tmp, ir);
    postdom(ir->tmp, &live, ipdom);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        const struct inst *last = &ir->code[ir->blocks[b].end - 1];
        if (ir->blocks[b].ipdom != ipdom[b])
            wrong(r, "block %u: its post-dominator is %d, not %d", b, (int)ipdom[b], (int)ir->blocks[b].ipdom);
        if ((last->kind == K_BRANCH || last->kind == K_BRX) && last->rpc != ipdom[b])
            wrong(r, "instruction %u: its paths join at block %d, not %d", ir->blocks[b].end - 1, (int)ipdom[b],
                  (int)last->rpc);
    }
}

static void check_liveness(struct verdict *r, const struct ir *ir) {
    for (uint32_t i = 0; i < ir->n; i++)
        for (unsigned k = 0; k < (unsigned)ir->info[i].n_reads + ir->info[i].n_writes; k++) {
            uint32_t v = ir->regs[ir->info[i].regs + k], at = 2 * i + (k >= ir->info[i].n_reads);
            const struct interval *l = &ir->intervals[v];
            if (!ir->vregs[v].special && ir->vregs[v].written && (at < l->begin || at > l->end))
                wrong(r, "instruction %u: register %u is not live there", i, v);
        }
}

/* Checks that registers in one slot are never live at the same time. Visits live intervals in the order of their
 * begins. */
static void check_slots(struct verdict *r, const struct ir *ir) {
    uint32_t *first = arena_array(ir->tmp, 2 * (size_t)ir->n + 2, sizeof *first), slots = 0, base[N_REG_CLASSES];
    uint32_t *next = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *next);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        for (int c = 0; c < N_REG_CLASSES; c++)
            slots = ir->functions[f].slots[c] > slots ? ir->functions[f].slots[c] : slots;
    for (int c = 0; c < N_REG_CLASSES; c++)
        base[c] = (uint32_t)c * slots;
    uint32_t *owner = arena_array(ir->tmp, (size_t)N_REG_CLASSES * slots + 1, sizeof *owner);
    for (uint32_t v = ir->n_vregs; v-- > 1;) {
        const struct interval *l = &ir->intervals[v];
        if (ir->vregs[v].special || l->begin > l->end)
            continue;
        if (l->end > 2 * ir->n || ir->vregs[v].slot >= slots) {
            wrong(r, "register %u in slot %u from %u to %u", v, ir->vregs[v].slot, l->begin, l->end);
            return;
        }
        next[v] = first[l->begin];
        first[l->begin] = v;
    }
    for (uint32_t at = 0; at < 2 * ir->n; at++)
        for (uint32_t v = first[at]; v; v = next[v]) {
            uint32_t *o = &owner[base[ir->vregs[v].cls] + ir->vregs[v].slot];
            if (*o && ir->vregs[*o].function == ir->vregs[v].function && ir->intervals[*o].end >= at)
                wrong(r, "registers %u and %u are live together in one slot", *o, v);
            *o = v;
        }
}

const char *verify_ir(const struct ir *ir, const char *name, char *buffer, size_t size) {
    struct verdict r = {buffer, size, false};
    for (uint32_t i = 0; i < ir->n && !r.wrong; i++)
        check_inst(&r, ir, i);
    check_functions(&r, ir, name);
    if (!r.wrong)
        check_calls(&r, ir);
    if (!r.wrong && ir->n_blocks)
        check_blocks(&r, ir);
    if (!r.wrong && ir->has_postdom)
        check_joins(&r, ir);
    if (!r.wrong && ir->n_blocks)
        verify_barriers(&r, ir);
    if (!r.wrong && ir->intervals)
        check_liveness(&r, ir);
    if (!r.wrong && ir->allocated)
        check_slots(&r, ir);
    return r.wrong ? buffer : NULL;
}
