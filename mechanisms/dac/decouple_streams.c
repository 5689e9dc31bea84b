/* Creates the two streams. The affine stream is a copy of the kernel without the instructions that it does not need. It
 * skips blocks that it does not need: control goes to the block where all paths join. Where the kernel's own stream
 * takes a value, the affine stream sends it. */
#include "decouple.h"
#include <assert.h>
#include <string.h>

struct maker {
    struct plan *p;
    struct edit *e;
    struct edit_copy copy;
};

static struct inst row_inst(enum op_id op, enum type t, uint64_t form) {
    return inst_of_row(isa_find_row(op, t, T_NONE, form));
}

static struct inst leave(void) { return row_inst(OP_EXIT, T_NONE, 0); }

static uint32_t hidden_register(struct ir *ir, enum reg_class cls, const char *name) {
    uint32_t v = ir_vreg(ir, cls, 0, name, (uint32_t)strlen(name));
    ir->vregs[v].special = true;
    return v;
}

/* ---- the kernel's own stream ---- */
static void take_operands(struct maker *m, uint32_t i) {
    const struct plan *p = m->p;
    struct edit_node *n = &m->e->nodes[i];
    if (p->site[i]) {
        n->in.a = p->ir->deq_address << 1;
        n->in.asize = 8;
        n->in.imm = 0;
        n->info.site = p->site[i];
    }
    if (p->guard_site[i]) {
        n->in.guard = p->ir->deq_predicate;
        n->info.guard_site = p->guard_site[i];
    }
    if (p->site[i] || p->guard_site[i])
        n->in.hints |= HINT_DEQ;
}

static void take_definitions(struct maker *m, uint32_t i) {
    const struct plan *p = m->p;
    const struct defuse *d = &p->a.defuse;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++) {
        if (!p->def_site[k])
            continue;
        struct inst in = row_inst(OP_DEQ, T_PRED, 0);
        in.d = d->defs[k].vreg << 1;
        in.a = p->ir->deq_predicate << 1;
        in.hints |= HINT_DEQ;
        uint32_t node = edit_before(m->e, i, &in);
        m->e->nodes[node].info.site = p->def_site[k];
    }
}

static bool is_plain_jump(const struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    return (in->kind == K_BRANCH || in->kind == K_EXIT || in->kind == K_TRAP) && in->guard == NO_GUARD;
}

/* Lets block `b` of a stream, which is block `from` of the kernel, continue at the block where all paths from it join.
 * `blocks` maps the kernel's block numbers to the stream's; NULL means that they are equal. */
static void go_to_join(struct maker *m, uint32_t b, uint32_t from, const uint32_t *blocks) {
    const struct control *c = &m->p->a.control;
    uint32_t join = control_join(c, from);
    struct inst out = leave();
    if (join == c->n)
        edit_set_end(m->e, b, &out, NO_BLOCK);
    else
        edit_set_end(m->e, b, NULL, blocks ? blocks[join] : join);
}

static void make_own(struct maker *m) {
    const struct plan *p = m->p;
    const struct ir *ir = p->ir;
    uint32_t n = p->a.control.n;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t i = ir->blocks[b].begin, end = ir->blocks[b].end; i < end; i++) {
            take_definitions(m, i);
            if (p->own[i])
                take_operands(m, i);
            else if (plan_parts(p, i))
                go_to_join(m, b, b, NULL);
            else if (!is_plain_jump(p, i))
                edit_remove(m->e, i);
        }
}

/* ---- the affine stream ---- */
static opnd_t renamed(const struct maker *m, opnd_t o) {
    uint32_t v = o >> 1;
    return o & 1 || v == SINK_VREG || m->p->ir->vregs[v].special ? o : m->copy.vreg[v] << 1;
}

static void set_site(struct maker *m, uint32_t node, uint16_t site) { m->e->nodes[node].info.site = site; }

static struct inst send_predicate(const struct maker *m, uint32_t vreg) {
    struct inst in = row_inst(OP_ENQ, T_PRED, 0);
    in.a = renamed(m, vreg << 1);
    return in;
}

static void send_address(struct maker *m, uint32_t i) {
    const struct plan *p = m->p;
    const struct inst *from = &p->ir->code[i];
    bool fetches = p->ir->sites[p->site[i] - 1].kind == SITE_DATA;
    struct inst in = row_inst(OP_ENQ, T_NONE, form_put(CAT_MODE, fetches ? MODE_DATA : MODE_ADDR));
    in.a = renamed(m, from->a);
    in.asize = from->asize;
    in.imm = from->imm;
    in.space = from->space;
    in.msize = from->msize;
    in.rsize = from->n_list ? from->n_list : 1;
    in.cache_op = from->cache_op;
    in.guard = from->guard == NO_GUARD ? NO_GUARD : renamed(m, from->guard << 1) >> 1;
    in.guard_not = from->guard_not;
    set_site(m, edit_before(m->e, m->copy.inst[i], &in), p->site[i]);
}

static void send_definitions(struct maker *m, uint32_t i) {
    const struct plan *p = m->p;
    const struct defuse *d = &p->a.defuse;
    uint32_t at = m->copy.inst[i];
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++) {
        if (!p->def_site[k])
            continue;
        struct inst in = send_predicate(m, d->defs[k].vreg);
        at = edit_after(m->e, at, &in);
        set_site(m, at, p->def_site[k]);
    }
}

/* Replaces a barrier by an instruction that only marks its position among the sends. */
static void mark_barrier(struct inst *in) {
    in->d = OPND_SINK;
    in->a = in->c = OPND_ZERO;
}

/* Lets the copy of block `b` continue at its only successor, without a jump. */
static void go_to_only(struct maker *m, uint32_t b) {
    const struct cfg *g = &m->p->ir->cfg;
    assert(g->succ_first[b + 1] - g->succ_first[b] == 1);
    edit_set_end(m->e, m->copy.block[b], NULL, m->copy.block[g->succ[g->succ_first[b]]]);
}

static void make_affine_inst(struct maker *m, uint32_t i) {
    const struct plan *p = m->p;
    uint32_t node = m->copy.inst[i], b = p->ir->info[i].block;
    if (p->guard_site[i]) {
        struct inst in = send_predicate(m, p->ir->code[i].guard);
        set_site(m, edit_before(m->e, node, &in), p->guard_site[i]);
    }
    if (p->site[i])
        send_address(m, i);
    send_definitions(m, i);
    if (p->affine[i] && m->e->nodes[node].in.kind == K_BARRIER)
        mark_barrier(&m->e->nodes[node].in);
    else if (p->affine[i] && m->e->nodes[node].in.kind == K_TRAP) /* a trap becomes an exit in this stream */
        inst_set_row(&m->e->nodes[node].in, isa_find_row(OP_EXIT, T_NONE, T_NONE, 0));
    else if (!p->affine[i] && plan_parts(p, i)) {
        if (p->ir->code[i].kind == K_CALL)
            edit_remove(m->e, node);
        go_to_join(m, m->copy.block[b], b, m->copy.block);
    } else if (!p->affine[i] && is_plain_jump(p, i)) {
        struct inst out = leave();
        if (p->ir->code[i].kind == K_TRAP)
            edit_set_end(m->e, m->copy.block[b], &out, NO_BLOCK);
    } else if (!p->affine[i] && inst_never_falls_through(&p->ir->code[i])) {
        /* a branch table with equal targets is not needed here; the kernel's own stream checks the index */
        go_to_only(m, b);
    } else if (!p->affine[i])
        edit_remove(m->e, node);
}

static void make_affine(struct maker *m) {
    for (uint32_t i = 0, n = m->p->ir->functions[0].end; i < n; i++)
        make_affine_inst(m, i);
}

/* Replaces unguarded jumps by fall-throughs, in both streams. The program editor then inserts a jump only where one is
 * needed, so jumps over blocks that have become empty disappear. A jump that led to the next block in the original
 * kernel remains. */
static void drop_jumps(struct maker *m) {
    const struct ir *ir = m->p->ir;
    for (uint32_t b = 0; b < m->p->a.control.n; b++) {
        const struct inst *last = &ir->code[ir->blocks[b].end - 1];
        uint32_t copy = m->copy.block[b], target = last->target;
        if (last->kind != K_BRANCH || last->guard != NO_GUARD || target == b + 1)
            continue;
        edit_set_end(m->e, b, NULL, target);
        edit_set_end(m->e, copy, NULL, m->copy.block[target]);
    }
}

/* Gives a number (inst_info.twin) to each branch that both streams will have, before the kernel is copied. */
static void name_twins(struct plan *p) {
    struct ir *ir = p->ir;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ir->functions[0].end; i++)
        if (p->own[i] && p->affine[i] && plan_parts(p, i))
            ir->info[i].twin = ++n;
}

bool make_streams(struct plan *p) {
    struct maker m = {.p = p};
    name_twins(p);
    m.e = edit_begin(p->ir);
    m.copy = edit_copy_function(m.e, 0, AFFINE_STREAM);
    ir_add_stream(p->ir, m.copy.function, AFFINE_STREAM);
    p->ir->functions[m.copy.function].has_stack = true;
    p->ir->deq_address = hidden_register(p->ir, RC_64, "deq.addr");
    p->ir->deq_predicate = hidden_register(p->ir, RC_PRED, "deq.pred");
    make_affine(&m);
    make_own(&m);
    drop_jumps(&m);
    return edit_end(m.e);
}
