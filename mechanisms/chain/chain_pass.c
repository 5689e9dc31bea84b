/* Fuses each sequence of dependent f32 operations in a block into one instruction, the longest sequences first. Two
 * sequences share an instruction if it has enough FPUs for both ("PEPSC: A Power-Efficient Processor for Scientific
 * Computing", section III-A: identifying chains, chain coalescence). Requires: blocks. Keeps: every result, bit for bit
 * with chain.ieee=on. The pass skips streams that other passes created, because the affine engine, which executes them,
 * computes tuples and not values of lanes. */
#include "frontend/passes/fuse.h"
#include "frontend/passes/pass.h"
#include "mechanisms/fused_inst.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include <stdlib.h>

enum { WINDOW = 64 }; /* maximum distance between the two sequences of a pair, in instructions */

struct chaining {
    struct ir *ir;
    struct edit *edit;
    struct fuse_search search;
    struct fuse_kind kind;
    unsigned least; /* minimum number of FPUs of each of the two sequences of a pair; 0: sequences are not paired */
    /* groups (sequences of operations, or single operations) of the current block, in the order of their last
     * operations */
    struct fuse_group *group;
    uint32_t n_groups, cap_groups;
    uint32_t *partner; /* indexed by group: the partner group, NO_INST if there is none */
    uint32_t cap_partners;
};

static uint32_t last_of(const struct fuse_group *g) { return g->inst[g->n - 1]; }

static int by_place(const void *a, const void *b) {
    uint32_t x = last_of(a), y = last_of(b);
    return x < y ? -1 : x > y;
}

static void add_group(struct chaining *c, const struct fuse_group *g) {
    c->group = IR_ROOM(c->ir, c->group, c->n_groups, c->cap_groups);
    c->group[c->n_groups++] = *g;
}

static void collect(struct chaining *c, uint32_t begin, uint32_t end) {
    struct fuse_search *s = &c->search;
    fuse_find(s, begin, end);
    c->n_groups = 0;
    for (uint32_t k = 0; k < s->n_groups; k++)
        add_group(c, &s->group[k]);
    for (uint32_t i = begin; i < end; i++) {
        struct fuse_group one = {.inst = {i}, .n = 1, .units = fuse_units_of(&c->ir->code[i])};
        if (one.units && !s->taken[i])
            add_group(c, &one);
    }
    if (c->n_groups)
        qsort(c->group, c->n_groups, sizeof *c->group, by_place);
}

static bool reads(const struct ir *ir, uint32_t i, uint32_t vreg) {
    const struct inst_info *info = &ir->info[i];
    for (unsigned k = 0; k < info->n_reads; k++)
        if (ir->regs[info->regs + k] == vreg)
            return true;
    return false;
}

static bool group_reads(const struct ir *ir, const struct fuse_group *g, uint32_t vreg) {
    for (uint32_t k = 0; k < g->n; k++)
        if (reads(ir, g->inst[k], vreg))
            return true;
    return false;
}

/* Returns true if instruction i may move across the group. */
static bool indifferent(const struct ir *ir, const struct fuse_group *g, uint32_t i) {
    const struct inst_info *info = &ir->info[i];
    uint32_t result = ir->code[last_of(g)].d >> 1;
    if (reads(ir, i, result) || fuse_writes(ir, i, result))
        return false;
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (group_reads(ir, g, ir->regs[info->regs + k]))
            return false;
    return true;
}

/* Returns true if instruction i is a load whose result the group reads. */
static bool feeds(const struct ir *ir, const struct fuse_group *g, uint32_t i) {
    const struct inst_info *info = &ir->info[i];
    uint8_t kind = ir->code[i].kind;
    if (kind != K_LOAD && kind != K_ATOM && kind != K_TEX)
        return false;
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (group_reads(ir, g, ir->regs[info->regs + k]))
            return true;
    return false;
}

/* Returns true if both groups have the same guard, and group `a` may move down to the place of group `b` without
 * waiting for a load that only b needs. */
static bool may_pair(const struct ir *ir, const struct fuse_group *a, const struct fuse_group *b) {
    const struct inst *x = &ir->code[a->inst[0]], *y = &ir->code[b->inst[0]];
    if (x->guard != y->guard || (x->guard != NO_GUARD && x->guard_not != y->guard_not))
        return false;
    if (ir->code[last_of(a)].d == ir->code[last_of(b)].d || group_reads(ir, b, ir->code[last_of(a)].d >> 1))
        return false;
    for (uint32_t i = last_of(a) + 1; i < last_of(b); i++)
        if (!indifferent(ir, a, i) || feeds(ir, b, i))
            return false;
    return true;
}

static void pair(struct chaining *c) {
    while (c->n_groups > c->cap_partners)
        c->partner = ir_grow(c->ir->tmp, c->partner, c->n_groups, &c->cap_partners, sizeof *c->partner);
    for (uint32_t k = 0; k < c->n_groups; k++)
        c->partner[k] = NO_INST;
    for (uint32_t k = 0; c->least && k < c->n_groups; k++)
        for (uint32_t j = k + 1; j < c->n_groups && c->partner[k] == NO_INST; j++) {
            const struct fuse_group *a = &c->group[k], *b = &c->group[j];
            if (last_of(b) - last_of(a) > WINDOW)
                break;
            if (c->partner[j] != NO_INST || a->units < c->least || b->units < c->least ||
                a->units + b->units > c->search.length || !may_pair(c->ir, a, b))
                continue;
            c->partner[k] = j;
            c->partner[j] = k;
        }
}

static void note_group(struct chaining *c, const struct fuse_group *g) {
    char text[128];
    int n = 0;
    if (g->n == 1)
        return;
    for (uint32_t k = 0; k < g->n && n >= 0 && n < (int)sizeof text; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%u", k ? ", " : "", c->ir->info[g->inst[k]].line);
    ir_note(c->ir, last_of(g), "chain of %u operations: lines %s", g->units, text);
}

static void note_alone(struct chaining *c, const struct fuse_group *g) {
    const struct fuse_search *s = &c->search;
    const char *why = s->alone[g->inst[0]];
    if (!why && s->next[g->inst[0]] != NO_INST && s->taken[s->next[g->inst[0]]])
        why = "what reads its result is in another chain";
    if (!why)
        why = "a source is written before the next operation, or both are longer than chain.length";
    ir_note(c->ir, g->inst[0], "left alone: %s%s", why, c->least ? "; nothing near goes beside it" : "");
}

static void emit(struct chaining *c) {
    for (uint32_t k = 0; k < c->n_groups; k++) {
        const struct fuse_group *g = &c->group[k], *other = NULL;
        if (c->partner[k] != NO_INST && c->partner[k] > k)
            continue; /* the instruction is created when the loop reaches the partner group */
        if (c->partner[k] != NO_INST)
            other = &c->group[c->partner[k]];
        if (g->n == 1 && !other) {
            note_alone(c, g);
            continue;
        }
        struct inst in = other ? fuse_make(c->ir, other, g, &c->kind) : fuse_make(c->ir, g, NULL, &c->kind);
        fuse_place(c->edit, edit_before(c->edit, last_of(g), &in), last_of(g));
        note_group(c, g);
        if (other) {
            note_group(c, other);
            ir_note(c->ir, last_of(g), "beside it: what ends in line %u", c->ir->info[last_of(other)].line);
        }
        for (const struct fuse_group *each = g; each; each = each == g ? other : NULL)
            for (uint32_t i = 0; i < each->n; i++)
                edit_remove(c->edit, each->inst[i]);
    }
}

static bool is_stream(const struct ir *ir, uint32_t function) {
    for (uint32_t s = 0; s < ir->n_streams; s++)
        if (ir->streams[s].function == function)
            return true;
    return false;
}

static bool run(struct ir *ir) {
    const struct fused_cfg *options = fused_options(&ir->context);
    struct chaining c = {.ir = ir, .edit = edit_begin(ir), .search = fuse_search_begin(ir, options->length, false)};
    c.kind = (struct fuse_kind){.ops = &fused_ops, .wide = !options->ieee};
    c.least = options->dual ? options->dual_min : 0;
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        if (!is_stream(ir, ir->blocks[b].function)) {
            collect(&c, ir->blocks[b].begin, ir->blocks[b].end);
            pair(&c);
            emit(&c);
        }
    return edit_end(c.edit);
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "chain"); }

static const struct pass pass_chain = {
    .name = "chain",
    .help = "dependent f32 operations in one instruction, and two chains beside each other",
    .before = "waits",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'chain'",
};

static uint32_t lane_operations(const struct config *cfg) { return cfg->fused.length; }

const struct mechanism mechanism_chain = {
    .name = "chain",
    .help = "PEPSC: dependent f32 operations in one instruction, on chained FPUs (docs/pepsc.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .passes = PASSES(&pass_chain),
    .options = PREFIXES("chain."),
    .statistics = PREFIXES("chain."),
    .instructions = INSTRUCTIONS(&fused_ops),
    .lane_operations = lane_operations,
};
