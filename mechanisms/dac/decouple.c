/* The pass `decouple`. It selects the accesses that will take their addresses from a queue, and adds notes that explain
 * why other accesses are not decoupled. decouple_live.c then finds the predicates to send, and decouple_streams.c
 * creates the two streams. Requires: blocks, post-dominators. Keeps: the unchanged program, if nothing is decoupled. */
#include "decouple.h"
#include "frontend/passes/pass.h"
#include <string.h>

static bool is_access(const struct inst *in) { return in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM; }

/* Returns true for accesses that statistics count: all except reads of parameters and of constants. */
static bool is_memory(const struct inst *in) {
    return is_access(in) && in->space != SPACE_PARAM && in->space != SPACE_CONST;
}

/* Worklist of a search through the definitions that reach a value. */
struct origins {
    uint32_t *list, n; /* instructions to examine */
    unsigned char *listed;
};

static void add_origins(struct origins *o, const struct plan *p, uint32_t inst, uint32_t vreg) {
    const struct defuse *d = &p->a.defuse;
    const struct reg_use *u = defuse_use(d, inst, vreg);
    for (uint32_t k = u ? u->first : 0; u && k < u->first + u->n; k++) {
        const uint32_t from = d->defs[d->use_defs[k]].inst;
        if (p->a.def_class[d->use_defs[k]] == CLASS_VECTOR && !o->listed[from]) {
            o->listed[from] = 1;
            o->list[o->n++] = from;
        }
    }
}

/* Returns true if the vector value of register `vreg` at instruction i depends on data. Returns false if it is computed
 * from scalar data and thread indices only, so that it is merely not affine. A branch that excludes a block from the
 * affine stream counts as data. */
static bool depends_on_data(const struct plan *p, uint32_t i, uint32_t vreg) {
    const struct defuse *d = &p->a.defuse;
    struct origins o = {.list = arena_array(p->arena, (size_t)p->ir->n + 1, sizeof *o.list),
                        .listed = arena_array(p->arena, (size_t)p->ir->n + 1, 1)};
    if (p->ir->vregs[vreg].special)
        return true;
    add_origins(&o, p, i, vreg);
    while (o.n) {
        const uint32_t at = o.list[--o.n];
        if (!p->a.potential[at] || !plan_known(p, at))
            return true;
        for (uint32_t u = d->inst_uses[at]; u < d->inst_uses[at + 1]; u++)
            add_origins(&o, p, at, d->uses[u].vreg);
    }
    return false;
}

/* Returns why the address of access i cannot be decoupled, or NULL if it can be. */
static const char *why_not(const struct plan *p, uint32_t i) {
    const struct inst *in = &p->ir->code[i];
    const struct inst_info *info = &p->ir->info[i];
    bool constant = in->a & 1 || in->a >> 1 == SINK_VREG;
    if (in->kind == K_ATOM)
        return "it is atomic";
    if (in->hints & HINT_COLLECTIVE)
        return "the lanes of the warp execute it together";
    if (in->cache_op == CACHE_WALK)
        return "the walk unit executes it";
    if (in->hints & HINT_VOLATILE || info->order & ORDER_STRONG || in->cache_op == CACHE_CV)
        return "it is volatile, or ordered with other threads' accesses";
    if (in->space == SPACE_GENERIC)
        return "its address is generic: the memory that it means is known when it executes";
    if (in->space == SPACE_SHARED && !pass_option(&p->ir->context, "dac.shared", 0))
        return "it accesses shared memory (dac.shared)";
    if (in->space != SPACE_GLOBAL && in->space != SPACE_LOCAL && in->space != SPACE_SHARED)
        return "it is no access of global or local memory";
    if (!plan_known(p, i))
        return "whether a thread comes to it depends on data";
    if (affine_operand(&p->a, i, in->a) == CLASS_VECTOR)
        return depends_on_data(p, i, in->a >> 1) ? "its address depends on data"
                                                 : "its address is not affine: it has no tuple";
    if (affine_guard(&p->a, i) == CLASS_VECTOR)
        return depends_on_data(p, i, in->guard) ? "its guard depends on data" : "its guard is not affine";
    if (constant && (in->kind == K_STORE || in->space != SPACE_GLOBAL))
        return "its address is a constant: nothing would be saved";
    if (!plan_has_room(p, i))
        return "there are too few tuple registers for it (dac.tuples)";
    return NULL;
}

static void note_excluded(const struct plan *p, uint32_t i) {
    const struct ir *ir = p->ir;
    uint32_t by = p->a.excluded[ir->info[i].block] - 1, last = ir->blocks[by].end - 1;
    const bool by_guard = ir->code[last].kind != K_BRX && ir->code[last].guard != NO_GUARD;
    ir_note(p->ir, i, "left alone: whether a thread comes to it %s (line %u)",
            by_guard && !depends_on_data(p, last, ir->code[last].guard) ? "is decided by a predicate that is not affine"
                                                                        : "depends on data",
            ir->info[last].line);
}

static void choose_access(struct plan *p, uint32_t i) {
    struct ir *ir = p->ir;
    const struct inst *in = &ir->code[i];
    const char *reason = why_not(p, i);
    enum site_kind kind = in->kind == K_LOAD && in->space != SPACE_SHARED ? SITE_DATA : SITE_ADDR;
    if (!reason)
        p->site[i] = plan_site(p, kind, i);
    if (!reason)
        ir_note(ir, i, kind == SITE_DATA ? "decoupled: deq.data" : "decoupled: deq.addr");
    else if (!plan_known(p, i) && in->kind != K_ATOM)
        note_excluded(p, i);
    else
        ir_note(ir, i, "left alone: %s", reason);
}

static void choose_accesses(struct plan *p) {
    for (uint32_t i = 0; i < p->ir->functions[0].end; i++)
        if (is_memory(&p->ir->code[i]))
            choose_access(p, i);
}

static void count_accesses(const struct plan *p, struct program_coverage *c) {
    const struct ir *ir = p->ir;
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        if (!is_memory(in) || in->kind == K_ATOM)
            continue;
        *(in->kind == K_LOAD ? &c->loads : &c->stores) += 1;
        if (ir->info[i].function == 0 && p->site[i])
            *(in->kind == K_LOAD ? &c->loads_decoupled : &c->stores_decoupled) += 1;
    }
    c->instructions = p->a.n_instructions;
    c->potential = p->a.n_potential;
}

/* Adds notes with the number of instructions in each loop, before and after the pass. */
static void note_loops(const struct plan *p) {
    struct ir *ir = p->ir;
    for (uint32_t k = 0; ir->noting && k < p->loops.n; k++) {
        const struct loop *l = &p->loops.list[k];
        uint32_t all = 0, own = 0, affine = 0;
        if (ir->blocks[l->header].function != 0)
            continue;
        for (uint32_t b = l->header; b < ir->functions[0].block_end; b++)
            for (uint32_t i = ir->blocks[b].begin; loop_has(l, b) && i < ir->blocks[b].end; i++) {
                uint32_t sent = (p->site[i] != 0) + (p->guard_site[i] != 0);
                for (uint32_t d = p->a.defuse.inst_defs[i]; d < p->a.defuse.inst_defs[i + 1]; d++) {
                    sent += p->def_site[d] != 0;
                    own += p->def_site[d] != 0;
                }
                all++;
                own += p->own[i];
                affine += p->affine[i] + sent;
            }
        ir_note(ir, ir->blocks[l->header].begin, "loop of %u instructions: %u in the affine stream, %u in its own", all,
                affine, own);
    }
}

static void leave_whole(struct plan *p) {
    struct ir *ir = p->ir;
    ir_note(ir, p->whole_at == NO_INST ? 0 : p->whole_at, "left whole: %s", p->whole);
    ir->n_sites = 0;
    memset(p->site, 0, ir->n * sizeof *p->site);
}

static void open_plan(struct plan *p, struct ir *ir) {
    struct dom_tree dom = ir_dominators(ir);
    *p = (struct plan){.ir = ir, .arena = ir->tmp, .whole_at = NO_INST};
    p->a = find_affine(ir->tmp, ir);
    p->loops = find_loops(ir->tmp, &ir->cfg, &dom);
    p->rank = plan_ranks(p);
    p->site = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *p->site);
    p->guard_site = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *p->guard_site);
    p->def_site = arena_array(ir->tmp, (size_t)p->a.defuse.n_defs + 1, sizeof *p->def_site);
    p->own = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    p->affine = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
}

bool decouple(struct ir *ir) {
    struct plan p;
    char buffer[160];
    open_plan(&p, ir);
    plan_whole(&p);
    if (!p.whole)
        choose_accesses(&p);
    if (!p.whole)
        plan_own(&p);
    if (!p.whole && !p.n_sites && p.rank)
        p.whole = "there are too few tuple registers for what it needs (dac.tuples)";
    if (!p.whole && !p.n_sites)
        p.whole = "nothing that it needs is affine";
    if (p.whole)
        leave_whole(&p);
    count_accesses(&p, &ir->coverage);
    if (p.whole)
        return true;
    plan_affine(&p);
    note_loops(&p);
    if (!make_streams(&p))
        return false;
    const char *wrong = verify_streams(ir, buffer, sizeof buffer);
    if (wrong)
        snprintf(ir->failure, sizeof ir->failure, "internal error, streams do not agree: %.119s", wrong);
    return !wrong;
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "dac"); }
static void dump(const struct ir *ir, FILE *out) { dump_streams(ir, "decouple", out); }

const struct pass pass_decouple = {
    .name = "decouple",
    .help = "addresses and predicates for all warps in a stream of their own",
    .before = "waits",
    .lower = decouple_lower,
    .run = decouple,
    .wanted = wanted,
    .dump = dump,
    .when = "models with the extension 'dac'",
};
