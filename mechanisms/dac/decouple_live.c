/* Finds the instructions that each stream needs. Both searches go backward from the instructions that must execute. A
 * needed instruction needs the definitions that reach its operands, and the branches that decide whether a thread
 * executes it. A branch that no instruction needs is dropped (aggressive dead-code elimination).
 *
 * In the kernel's own stream, the search ends where a value comes from a queue: at the address of a decoupled access
 * and at predicates that the affine stream knows. A guard takes such a predicate itself (the paper's `@deq.pred bra`)
 * if it is the only reader of all definitions that reach it. If a predicate has several readers, or a reader in blocks
 * whose threads the affine stream does not know, or a reader in a loop that does not define it, the predicate is taken
 * from the queue once, at its definition. */
#include "decouple.h"
#include <string.h>

struct need {
    struct plan *p;
    unsigned char *needed; /* indexed by instruction: true if it is needed */
    uint32_t *list, n;     /* work list: needed instructions whose operands are still to be examined */
    struct deciders deciders;
    /* the following fields are used only for the kernel's own stream */
    unsigned char *taken;     /* indexed by definition: true if the predicate is taken from a queue at the definition */
    unsigned char *read;      /* indexed by definition: number of needed guards that read it */
    unsigned char *guard_use; /* indexed by use: true for a guard that may take its predicate from the queue itself */
};

static struct need begin(struct plan *p, unsigned char *needed) {
    struct need w = {.p = p, .needed = needed};
    w.list = arena_array(p->arena, (size_t)p->ir->n + 1, sizeof *w.list);
    w.deciders = find_deciders(p->arena, &p->a.control);
    return w;
}

static void need(struct need *w, uint32_t i) {
    if (!w->needed[i]) {
        w->needed[i] = 1;
        w->list[w->n++] = i;
    }
}

/* Marks block b as needed, and with it the branches that decide whether threads reach this block. */
static void need_block(struct need *w, uint32_t b) {
    for (uint32_t from; (from = next_decider(&w->deciders, b)) != NO_BLOCK;)
        need(w, w->p->ir->blocks[from].end - 1);
}

static bool is_guard(const struct plan *p, uint32_t i, uint32_t vreg) { return p->ir->code[i].guard == vreg; }

/* Finds the registers that instruction i reads, except an address or guard that comes from a queue. */
static void read_regs(const struct plan *p, uint32_t i, bool guard, struct inst_regs *r) {
    struct inst in = p->ir->code[i];
    if (p->site[i])
        in.a = OPND_ZERO;
    if (!guard)
        in.guard = NO_GUARD;
    ir_find_regs(p->ir, &in, r);
}

static bool reads(const struct inst_regs *r, uint32_t vreg) {
    for (unsigned k = 0; k < r->n_reads; k++)
        if (r->reads[k] == vreg)
            return true;
    return false;
}

/* Returns true if a definition may be taken from a queue instead of being computed. Two kinds of definitions do not
 * qualify. A guarded definition changes its register only in some threads. A definition by an instruction with a second
 * result (a carry) is computed together with that result. */
static bool can_send(const struct plan *p, uint32_t def) {
    const struct defuse *d = &p->a.defuse;
    uint32_t i = d->defs[def].inst;
    const struct inst *in = &p->ir->code[i];
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        if (p->ir->vregs[d->defs[k].vreg].cls != RC_PRED || p->a.def_class[k] == CLASS_VECTOR)
            return false;
    return in->guard == NO_GUARD && in->kind == K_LANE && plan_known(p, i) && plan_has_room(p, i);
}

static void take_at_definition(struct need *w, uint32_t def);

/* Handles a use that reads its value from the register. If a definition that reaches the use can be sent, its value is
 * taken from a queue at the definition. */
static void use_of_register(struct need *w, uint32_t use) {
    const struct defuse *d = &w->p->a.defuse;
    w->guard_use[use] = 0;
    for (uint32_t k = d->uses[use].first; k < d->uses[use].first + d->uses[use].n; k++) {
        if (can_send(w->p, d->use_defs[k]))
            take_at_definition(w, d->use_defs[k]);
        else
            need(w, d->defs[d->use_defs[k]].inst);
    }
}

static void take_at_definition(struct need *w, uint32_t def) {
    const struct defuse *d = &w->p->a.defuse;
    if (w->taken[def])
        return;
    w->taken[def] = 1;
    need_block(w, w->p->ir->info[d->defs[def].inst].block);
    for (uint32_t u = d->defs[def].first; u < d->defs[def].first + d->defs[def].n; u++)
        if (w->guard_use[d->def_uses[u]])
            use_of_register(w, d->def_uses[u]);
}

/* Returns true if a loop repeats this use, but not the definition: the queue would get the same predicate in each
 * iteration. */
static bool is_invariant(const struct plan *p, uint32_t use, uint32_t def) {
    const struct defuse *d = &p->a.defuse;
    uint32_t l = p->loops.of[p->ir->info[d->uses[use].inst].block];
    return l != NO_LOOP && !loop_has(&p->loops.list[l], p->ir->info[d->defs[def].inst].block);
}

/* Handles a needed guard. It takes its predicate from the queue itself if no other known use reads the definitions. */
static void use_of_guard(struct need *w, uint32_t use) {
    const struct defuse *d = &w->p->a.defuse;
    const struct reg_use *u = &d->uses[use];
    bool alone = u->n && !u->start && plan_known(w->p, u->inst) && w->p->ir->code[u->inst].kind != K_LANE;
    for (uint32_t k = u->first; k < u->first + u->n; k++)
        alone = alone && can_send(w->p, d->use_defs[k]) && !w->taken[d->use_defs[k]] &&
                !is_invariant(w->p, use, d->use_defs[k]);
    if (!alone) {
        use_of_register(w, use);
        return;
    }
    w->guard_use[use] = 1;
    for (uint32_t k = u->first; k < u->first + u->n; k++)
        if (w->read[d->use_defs[k]]++)
            alone = false;
    if (!alone)
        use_of_register(w, use);
}

static void look_at_own(struct need *w, uint32_t i) {
    const struct plan *p = w->p;
    const struct defuse *d = &p->a.defuse;
    struct inst_regs r;
    read_regs(p, i, false, &r);
    for (uint32_t u = d->inst_uses[i]; u < d->inst_uses[i + 1]; u++) {
        if (reads(&r, d->uses[u].vreg))
            use_of_register(w, u);
        else if (is_guard(p, i, d->uses[u].vreg))
            use_of_guard(w, u);
    }
    need_block(w, p->ir->info[i].block);
}

/* Returns true if control can leave a loop at the end of block b. The branch there must be kept even if the loop has no
 * needed instruction, because it controls the number of iterations. */
static bool ends_loop(const struct plan *p, uint32_t b) {
    const struct ir *ir = p->ir;
    if (p->loops.irregular[b])
        return true;
    if (p->loops.of[b] == NO_LOOP)
        return false;
    for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
        if (!loop_has(&p->loops.list[p->loops.of[b]], ir->cfg.succ[e]))
            return true;
    return ir->code[ir->blocks[b].end - 1].kind == K_EXIT;
}

/* Returns true if the kernel's own stream always needs instruction i. Returns false for unguarded jumps, which are kept
 * if their blocks are kept. */
static bool must_stay(const struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    if (affine_is_pure(in) || ((in->kind == K_BRANCH || in->kind == K_EXIT) && !plan_parts(p, i)))
        return false;
    if (in->kind == K_TRAP)
        return true;
    return !plan_resolved(p, i) || ends_loop(p, p->ir->info[i].block);
}

static void number_predicates(struct need *w) {
    struct plan *p = w->p;
    const struct defuse *d = &p->a.defuse;
    for (uint32_t u = 0; u < d->n_uses && !p->whole; u++)
        if (w->guard_use[u]) {
            p->guard_site[d->uses[u].inst] = plan_site(p, SITE_PRED, d->uses[u].inst);
            ir_note(p->ir, d->uses[u].inst, "decoupled: @deq.pred");
        }
    for (uint32_t k = 0; k < d->n_defs && !p->whole; k++)
        if (w->taken[k]) {
            p->def_site[k] = plan_site(p, SITE_PRED, d->defs[k].inst);
            ir_note(p->ir, d->defs[k].inst, "decoupled: deq.pred in place of the comparison");
        }
}

void plan_own(struct plan *p) {
    struct need w = begin(p, p->own);
    w.taken = arena_array(p->arena, (size_t)p->a.defuse.n_defs + 1, 1);
    w.read = arena_array(p->arena, (size_t)p->a.defuse.n_defs + 1, 1);
    w.guard_use = arena_array(p->arena, (size_t)p->a.defuse.n_uses + 1, 1);
    for (uint32_t i = 0; i < p->ir->functions[0].end; i++)
        if (must_stay(p, i))
            need(&w, i);
    while (w.n)
        look_at_own(&w, w.list[--w.n]);
    number_predicates(&w);
}

static void need_use(struct need *w, uint32_t inst, uint32_t vreg) {
    const struct defuse *d = &w->p->a.defuse;
    const struct reg_use *u = defuse_use(d, inst, vreg);
    for (uint32_t k = u ? u->first : 0; u && k < u->first + u->n; k++)
        need(w, d->defs[d->use_defs[k]].inst);
}

static void need_register(struct need *w, uint32_t i, opnd_t o) {
    if (!(o & 1) && o >> 1 != SINK_VREG)
        need_use(w, i, o >> 1);
}

/* Marks what a sending instruction needs: its value, its guard, and the branches that decide whether threads reach
 * it. */
static void need_sends(struct need *w, uint32_t i) {
    const struct plan *p = w->p;
    const struct inst *in = &p->ir->code[i];
    const struct defuse *d = &p->a.defuse;
    if (p->site[i])
        need_register(w, i, in->a);
    if (p->site[i] || p->guard_site[i] || in->kind == K_BARRIER) {
        if (in->guard != NO_GUARD)
            need_use(w, i, in->guard);
        need_block(w, p->ir->info[i].block);
    }
    if (in->kind == K_BARRIER)
        w->needed[i] = 1; /* the affine stream has only a mark for a barrier, so the operands are not needed */
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        if (p->def_site[k])
            need(w, i);
}

void plan_affine(struct plan *p) {
    struct need w = begin(p, p->affine);
    const struct defuse *d = &p->a.defuse;
    for (uint32_t i = 0; i < p->ir->functions[0].end; i++)
        need_sends(&w, i);
    while (w.n) {
        uint32_t i = w.list[--w.n];
        for (uint32_t u = d->inst_uses[i]; u < d->inst_uses[i + 1]; u++)
            need_use(&w, i, d->uses[u].vreg);
        need_block(&w, p->ir->info[i].block);
    }
}
