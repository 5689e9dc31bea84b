/* The affine analysis. Every definition starts as scalar, and classes only get weaker. An instruction is evaluated
 * again if a definition that reaches it has changed. When the guard of a branch becomes a vector, the blocks that
 * depend on the branch are excluded from the affine stream. Each definition changes at most twice, and each block is
 * excluded at most once. */
#include "affine.h"
#include "dump.h"
#include <string.h>

struct work {
    struct affine *a;
    struct arena *arena;
    uint32_t *list, n; /* worklist of instructions */
    unsigned char *listed;
    struct dependents dependents;
    uint32_t *blocks; /* scratch for dependents_of() */
};

static uint32_t kernel_end(const struct ir *ir) { return ir->functions[0].end; }

/* Returns the weakest class among the definitions that reach a use. */
static enum affine_class affine_use(const struct affine *a, const struct reg_use *u) {
    unsigned char worst = CLASS_SCALAR;
    for (uint32_t k = u->first; k < u->first + u->n; k++) {
        unsigned char c = a->def_class[a->defuse.use_defs[k]];
        worst = c > worst ? c : worst;
    }
    return worst;
}

static enum affine_class class_of_use(const struct affine *a, uint32_t inst, uint32_t vreg) {
    const struct reg_use *u = defuse_use(&a->defuse, inst, vreg);
    return u ? affine_use(a, u) : CLASS_SCALAR; /* never written: zero */
}

enum affine_class affine_operand(const struct affine *a, uint32_t inst, opnd_t o) {
    if (o & 1 || o >> 1 == SINK_VREG)
        return CLASS_SCALAR;
    return a->ir->vregs[o >> 1].special ? a->special_class[o >> 1] : class_of_use(a, inst, o >> 1);
}

enum affine_class affine_guard(const struct affine *a, uint32_t inst) {
    const struct inst *in = &a->ir->code[inst];
    return in->guard == NO_GUARD ? CLASS_SCALAR : affine_operand(a, inst, in->guard << 1);
}

bool affine_is_pure(const struct inst *in) {
    return in->kind == K_LANE || in->kind == K_CVT || affine_rule_of(in) == RULE_LD_PARAM ||
           affine_rule_of(in) == RULE_LD_CONST;
}

/* Returns the class that a listing shows for an instruction: the class of its result, of a branch's guard, or of a
 * store's address. */
static enum affine_class affine_inst(const struct affine *a, uint32_t inst) {
    const struct inst *in = &a->ir->code[inst];
    uint32_t from = a->defuse.inst_defs[inst], to = a->defuse.inst_defs[inst + 1];
    enum affine_class c = affine_guard(a, inst), more = CLASS_SCALAR;
    if (from < to)
        return a->def_class[from];
    if (in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_PREFETCH || in->kind == K_BRX)
        more = affine_operand(a, inst, in->a);
    return more > c ? more : c;
}

static void enqueue(struct work *w, uint32_t i) {
    if (!w->listed[i]) {
        w->listed[i] = 1;
        w->list[w->n++] = i;
    }
}

/* Raises every definition of instruction i to class c at least. */
static void raise_class(struct work *w, uint32_t i, enum affine_class c) {
    struct affine *a = w->a;
    const struct defuse *d = &a->defuse;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++) {
        if (a->def_class[k] >= c)
            continue;
        a->def_class[k] = (unsigned char)c;
        for (uint32_t u = d->defs[k].first; u < d->defs[k].first + d->defs[k].n; u++)
            enqueue(w, d->uses[d->def_uses[u]].inst);
    }
}

/* Returns true if lanes with a guard of this class may go separate ways, as far as the analysis is concerned. */
static bool separates(const struct affine *a, enum affine_class guard) {
    return guard == CLASS_VECTOR || (a->uniform && guard != CLASS_SCALAR);
}

static enum affine_class class_of_result(const struct affine *a, uint32_t i) {
    const struct inst *in = &a->ir->code[i];
    const enum affine_class source[4] = {affine_operand(a, i, in->a), affine_operand(a, i, in->b),
                                         affine_operand(a, i, in->c), affine_operand(a, i, in->e)};
    if (separates(a, affine_guard(a, i)))
        return CLASS_VECTOR;
    return affine_result(affine_rule_of(in), source);
}

/* Returns true if the lanes that continue after block b all take the same way, because the others end at once. */
static bool only_ends_lanes(const struct ir *ir, uint32_t b) {
    const uint32_t last = ir->blocks[b].end - 1;
    const struct inst *in = &ir->code[last];
    bool ends = in->kind == K_EXIT;
    for (int k = 0; k < 2 && in->kind == K_BRANCH; k++)
        ends |= ir->blocks[b].succ[k] != UINT32_MAX && ir->info[ir->blocks[ir->blocks[b].succ[k]].begin].only_exits;
    return ends;
}

/* Returns true if the affine stream cannot determine the branch direction of each lane at the end of block b. The
 * affine stream does not support brx. */
static bool diverges_on_data(const struct affine *a, uint32_t b) {
    uint32_t last = a->ir->blocks[b].end - 1;
    const struct inst *in = &a->ir->code[last];
    if (!control_parts(&a->control, b) || (a->uniform && only_ends_lanes(a->ir, b)))
        return false;
    return a->excluded[b] || a->may_exit[last] || in->kind == K_BRX || separates(a, affine_guard(a, last));
}

static void exclude(struct work *w, uint32_t b, uint32_t by) {
    struct affine *a = w->a;
    a->excluded[b] = a->excluded[by] && by != b ? a->excluded[by] : by + 1;
    for (uint32_t i = a->ir->blocks[b].begin; i < a->ir->blocks[b].end; i++)
        raise_class(w, i, CLASS_VECTOR);
    enqueue(w, a->ir->blocks[b].end - 1);
}

static void evaluate(struct work *w, uint32_t i) {
    struct affine *a = w->a;
    uint32_t b = a->ir->info[i].block;
    raise_class(w, i, a->excluded[b] ? CLASS_VECTOR : class_of_result(a, i));
    if (i + 1 != a->ir->blocks[b].end || !diverges_on_data(a, b))
        return;
    for (uint32_t k = 0, n = dependents_of(&w->dependents, b, w->blocks); k < n; k++)
        exclude(w, w->blocks[k], b);
}

static void find_classes(struct work *w) {
    struct affine *a = w->a;
    uint32_t end = kernel_end(a->ir);
    if (a->control.stuck != NO_BLOCK) {
        memset(a->def_class, CLASS_VECTOR, a->defuse.n_defs);
        return;
    }
    for (uint32_t i = end; i-- > 0;)
        enqueue(w, i);
    while (w->n) {
        uint32_t i = w->list[--w->n];
        w->listed[i] = 0;
        evaluate(w, i);
    }
    for (uint32_t k = a->defuse.inst_defs[end]; k < a->defuse.n_defs; k++)
        a->def_class[k] = CLASS_VECTOR; /* definitions in called functions */
}

/* Returns false if the instruction alone shows that it is not potentially affine. In Figure 6, an instruction is
 * potentially affine if all its inputs come from scalar data and thread indices. Writable memory, warp-wide operations
 * and function results are not such inputs. Accesses, barriers and unguarded jumps are not counted, because they
 * compute nothing. */
static bool may_be_potential(const struct affine *a, uint32_t i) {
    struct inst in = a->ir->code[i];
    struct inst_regs r;
    opnd_t sources[] = {in.a, in.b, in.c, in.e};
    if (in.kind == K_BRANCH || in.kind == K_EXIT || in.kind == K_BRX)
        return in.guard != NO_GUARD || in.kind == K_BRX;
    ir_find_regs(a->ir, &in, &r);
    if (!affine_is_pure(&in))
        return false;
    for (unsigned k = 0; k < 4; k++)
        if (!(sources[k] & 1) && sources[k] >> 1 != SINK_VREG && a->ir->vregs[sources[k] >> 1].special &&
            a->special_class[sources[k] >> 1] == CLASS_VECTOR)
            return false;
    return true;
}

static void not_potential(struct work *w, uint32_t i) {
    const struct defuse *d = &w->a->defuse;
    w->a->potential[i] = 0;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        for (uint32_t u = d->defs[k].first; u < d->defs[k].first + d->defs[k].n; u++)
            if (w->a->potential[d->uses[d->def_uses[u]].inst])
                enqueue(w, d->uses[d->def_uses[u]].inst);
}

static void find_potential(struct work *w) {
    struct affine *a = w->a;
    const struct ir *ir = a->ir;
    memset(a->potential, 1, ir->n);
    for (uint32_t i = 0; i < ir->n; i++)
        if (!may_be_potential(a, i))
            not_potential(w, i);
    while (w->n) {
        uint32_t i = w->list[--w->n];
        w->listed[i] = 0;
        if (a->potential[i])
            not_potential(w, i);
    }
    a->n_instructions = ir->n;
    for (uint32_t i = 0; i < ir->n; i++)
        a->n_potential += a->potential[i];
}

static unsigned char *classes_of_specials(struct arena *arena, const struct ir *ir) {
    unsigned char *c = arena_array(arena, (size_t)ir->n_vregs + 1, 1);
    memset(c, CLASS_VECTOR, ir->n_vregs);
    for (uint32_t s = 0; s < ir->n_specials; s++)
        c[ir->specials[s].offset] = (unsigned char)affine_special(ir->specials[s].id);
    return c;
}

static struct affine analyse(struct arena *arena, const struct ir *ir, bool uniform) {
    struct affine a = {.ir = ir, .uniform = uniform};
    struct work w = {.a = &a, .arena = arena};
    a.may_exit = calls_that_exit(arena, ir);
    a.control = find_control(arena, ir, a.may_exit);
    a.defuse = find_defuse(arena, ir);
    a.def_class = arena_array(arena, (size_t)a.defuse.n_defs + 1, 1);
    a.excluded = arena_array(arena, (size_t)ir->n_blocks + 1, sizeof *a.excluded);
    a.potential = arena_array(arena, (size_t)ir->n + 1, 1);
    a.special_class = classes_of_specials(arena, ir);
    w.list = arena_array(arena, (size_t)ir->n + 1, sizeof *w.list);
    w.listed = arena_array(arena, (size_t)ir->n + 1, 1);
    w.blocks = arena_array(arena, (size_t)ir->n_blocks + 1, sizeof *w.blocks);
    w.dependents = find_dependents(arena, &a.control);
    find_classes(&w);
    find_potential(&w);
    return a;
}

struct affine find_affine(struct arena *arena, const struct ir *ir) {
    return analyse(arena, ir, false);
}
struct affine find_uniform(struct arena *arena, const struct ir *ir) {
    return analyse(arena, ir, true);
}

/* Prints the class of an instruction. A memory access without its own class gets the class of its address. */
static void print_class(const struct affine *a, uint32_t i, FILE *out) {
    const struct inst *in = &a->ir->code[i];
    char text[32] = "";
    bool accesses = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM;
    if (in->guard != NO_GUARD || a->defuse.inst_defs[i] < a->defuse.inst_defs[i + 1])
        snprintf(text, sizeof text, "%s", affine_class_name(affine_inst(a, i)));
    if (accesses && !affine_is_pure(in))
        snprintf(text, sizeof text, "at %s", affine_class_name(affine_operand(a, i, in->a)));
    fprintf(out, "%-10s%c", text, a->potential[i] ? '*' : ' ');
}

static void print_block(const struct affine *a, uint32_t b, struct dump_source *source, FILE *out) {
    const struct ir *ir = a->ir;
    fprintf(out, "block %u", b);
    if (a->excluded[b])
        fprintf(out, ": execution depends on data (branch at line %u)",
                ir->info[ir->blocks[a->excluded[b] - 1].end - 1].line);
    fputc('\n', out);
    for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
        dump_source_at(source, i, out);
        print_class(a, i, out);
        dump_inst(ir, i, out);
    }
}

void dump_affine(const struct ir *ir, FILE *out) {
    struct affine a = find_affine(ir->tmp, ir);
    struct dump_source *source = dump_source_begin(ir);
    uint32_t count[3] = {0};
    fprintf(
        out,
        "kernel %s: class of each instruction's result (branch: its guard; access: its address); * uses only scalar "
        "data and thread indices\n",
        ir->kernel);
    for (uint32_t b = 0; b < ir->functions[0].block_end; b++)
        print_block(&a, b, source, out);
    for (uint32_t i = 0; i < kernel_end(ir); i++)
        if (a.defuse.inst_defs[i] < a.defuse.inst_defs[i + 1])
            count[affine_inst(&a, i)]++;
    fprintf(out, "written: %u scalar, %u affine, %u vector; potentially affine: %u of %u instructions (%.1f %%)\n",
            count[CLASS_SCALAR], count[CLASS_AFFINE], count[CLASS_VECTOR], a.n_potential, a.n_instructions,
            100.0 * a.n_potential / a.n_instructions);
}
