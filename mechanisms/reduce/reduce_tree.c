/* Replaces sums in shared memory. Each of five steps loads the value of another lane of the warp, adds it to the lane's
 * own value and stores the sum. Barriers of the warp or volatile accesses separate the steps. The steps become one
 * instruction between a load and a store ("PEPSC: A Power-Efficient Processor for Scientific Computing", section
 * III-C2) if no instruction afterwards reads the values of lanes other than the first. Keeps: memory, bit for bit. */
#include "frontend/passes/fuse.h"
#include "isa/decode.h"
#include "reduce_parts.h"
#include <string.h>

/* The instructions of one step. */
struct tree_step {
    /* `own` is the load of the lane's own value; NO_INST: the value is already in a register */
    uint32_t store, add, other, own;
    opnd_t own_register;
    uint32_t distance;
    bool own_first;
};

struct tree_search {
    struct ir *ir;
    struct edit *edit;
    const struct control *control;
    struct defuse defuse;
    struct tree_step step[REDUCE_STEPS]; /* consecutive steps, up to the current one */
    unsigned n;
    unsigned char *in_set; /* indexed by instruction: true if the instruction belongs to the current steps */
};

/* Returns the load from shared memory at register `base` that computes operand `o` of instruction `inst`; NO_INST:
 * there is none. */
static uint32_t load_of(const struct ir *ir, const struct defuse *d, uint32_t inst, opnd_t o, opnd_t base) {
    uint32_t i = reduce_is_register(o) ? reduce_maker(d, inst, o) : NO_INST;
    const struct inst *in = i == NO_INST ? NULL : &ir->code[i];
    return in && in->kind == K_LOAD && in->space == SPACE_SHARED && in->msize == 4 && in->rsize == 4 && !in->n_list &&
                   !(in->hints & HINT_COLLECTIVE) && in->guard == NO_GUARD && in->a == base
               ? i
               : NO_INST;
}

static bool read_step(const struct ir *ir, const struct defuse *d, uint32_t i, struct tree_step *s) {
    const struct inst *store = &ir->code[i];
    if (store->kind != K_STORE || store->space != SPACE_SHARED || store->msize != 4 || store->n_list ||
        store->guard != NO_GUARD || !reduce_is_register(store->b) || !reduce_is_register(store->a))
        return false;
    *s = (struct tree_step){.store = i, .add = reduce_maker(d, i, store->b)};
    if (s->add == NO_INST || !reduce_is_addition(&ir->code[s->add]))
        return false;
    const opnd_t source[2] = {ir->code[s->add].a, ir->code[s->add].b};
    for (int k = 0; k < 2; k++) {
        uint32_t other = load_of(ir, d, s->add, source[k], store->a), own;
        int64_t apart = other == NO_INST ? 0 : ir->code[other].imm - store->imm;
        if (apart <= 0 || apart % 4)
            continue;
        own = load_of(ir, d, s->add, source[1 - k], store->a);
        s->other = other;
        s->own = own != NO_INST && ir->code[own].imm == store->imm ? own : NO_INST;
        s->own_register = source[1 - k];
        s->own_first = k == 1;
        s->distance = (uint32_t)(apart / 4);
        return true;
    }
    return false;
}

/* Returns true if step `s` continues the previous step: it is executed by the same lanes and adds to the sum that the
 * previous step stored. */
static bool follows(const struct tree_search *t, const struct tree_step *before, const struct tree_step *s) {
    const struct inst *a = &t->ir->code[before->store], *b = &t->ir->code[s->store];
    if (a->a != b->a || a->imm != b->imm || s->other < before->store)
        return false;
    if (s->own != NO_INST)
        return s->own > before->store;
    return reduce_maker(&t->defuse, s->add, s->own_register) == before->add;
}

static bool in_order(const struct tree_step *s) {
    bool down = true, up = true;
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        down &= s[k].distance == 16u >> k;
        up &= s[k].distance == 1u << k;
    }
    return down || up;
}

/* ---- conditions ---- */

static uint32_t first_of(const struct tree_step *s) {
    return s->own != NO_INST && s->own < s->other ? s->own : s->other;
}

static bool is_warp_barrier(const struct tree_search *t, uint32_t i) {
    uint32_t mask;
    const struct inst *in = &t->ir->code[i];
    return in->kind == K_WARPSYNC && in->guard == NO_GUARD && reduce_constant(t->ir, &t->defuse, i, in->e, &mask) &&
           mask == LANES_ALL;
}

static bool may_stay_between(const struct inst *in) {
    bool far = in->space == SPACE_GLOBAL || in->space == SPACE_CONST || in->space == SPACE_PARAM;
    return in->kind == K_LANE || in->kind == K_CVT || in->kind == K_NOP || (in->kind == K_LOAD && far);
}

static const char *check_between(const struct tree_search *t, bool *barriers) {
    const struct ir *ir = t->ir;
    const struct tree_step *first = &t->step[0];
    opnd_t summed = first->own != NO_INST ? ir->code[first->own].d : first->own_register;
    uint32_t base = ir->code[first->store].a >> 1;
    *barriers = false;
    for (uint32_t i = first_of(first); i < t->step[REDUCE_STEPS - 1].store; i++) {
        if (fuse_writes(ir, i, base))
            return "its address is written between its steps";
        if (!t->in_set[i] && reduce_is_register(summed) && fuse_writes(ir, i, summed >> 1))
            return "what it sums is written between its steps";
        if (is_warp_barrier(t, i))
            *barriers = true;
        else if (!t->in_set[i] && !may_stay_between(&ir->code[i]))
            return "what stands between its steps may not pass them";
    }
    return NULL;
}

/* Returns true if only the steps read what instruction i writes. */
static bool stays_inside(const struct tree_search *t, uint32_t i) {
    const struct defuse *d = &t->defuse;
    for (uint32_t k = d->inst_defs[i]; k < d->inst_defs[i + 1]; k++)
        for (uint32_t u = 0; u < d->defs[k].n; u++)
            if (!t->in_set[d->uses[d->def_uses[d->defs[k].first + u]].inst])
                return false;
    return true;
}

/* Marks the blocks that may execute after the block of instruction i. */
static void find_later(const struct ir *ir, uint32_t i, unsigned char *later) {
    uint32_t *stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *stack), top = 0;
    stack[top++] = ir->info[i].block;
    while (top) {
        uint32_t b = stack[--top];
        for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
            if (!later[ir->cfg.succ[e]]) {
                later[ir->cfg.succ[e]] = 1;
                stack[top++] = ir->cfg.succ[e];
            }
    }
}

static bool may_read_shared(const struct inst *in) {
    return in->kind == K_CALL ||
           ((in->kind == K_LOAD || in->kind == K_ATOM) && (in->space == SPACE_SHARED || in->space == SPACE_GENERIC));
}

/* Checks that the values of all lanes except the first are dead after the steps. A read that can only execute before
 * the steps is harmless, because it belongs to another sum. A read on a path without the steps is not harmless, because
 * another warp may execute it at any time. Returns the reason why the values are not dead; NULL: they are dead. */
static const char *check_reads(const struct tree_search *t, struct program_reduce *r, uint32_t *line) {
    const struct ir *ir = t->ir;
    uint32_t last = t->step[REDUCE_STEPS - 1].store, block = ir->info[last].block;
    unsigned char *later = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
    find_later(ir, last, later);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        uint32_t b = ir->info[i].block, base;
        if (t->in_set[i] ? !later[b] : !may_read_shared(in))
            continue;
        if (t->in_set[i] && in->kind != K_LOAD)
            continue;
        *line = ir->info[i].line;
        if (!later[b] && !(b == block && i > last)) {
            unsigned char *from = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1);
            find_later(ir, i, from);
            if (from[block] || (b == block && i < last))
                continue;
            return "another warp may read what its steps leave";
        }
        bool constant = in->kind == K_LOAD && in->space == SPACE_SHARED && in->msize == 4 && !in->n_list &&
                        !(in->hints & HINT_COLLECTIVE) && reduce_constant(ir, &t->defuse, i, in->a, &base);
        if (!constant || (r->reads && r->read != base + (uint32_t)in->imm))
            return "what its steps leave may be read again";
        r->reads = true;
        r->read = base + (uint32_t)in->imm;
    }
    return NULL;
}

/* ---- the instruction ---- */

static void mark(struct tree_search *t, unsigned char on) {
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        const struct tree_step *s = &t->step[k];
        t->in_set[s->store] = t->in_set[s->add] = t->in_set[s->other] = on;
        if (s->own != NO_INST)
            t->in_set[s->own] = on;
    }
}

/* Removes the instructions of the steps, and the barriers of the warp between them. The load `keep` of the lane's own
 * value and the last store remain. Returns the number of removed instructions. */
static unsigned take_out(struct tree_search *t, uint32_t keep) {
    uint32_t last = t->step[REDUCE_STEPS - 1].store;
    unsigned n = 0;
    for (uint32_t i = first_of(&t->step[0]); i < last; i++)
        if (i != keep && (t->in_set[i] || is_warp_barrier(t, i))) {
            edit_remove(t->edit, i);
            n++;
        }
    return n;
}

static void place(struct tree_search *t, struct program_reduce *r, bool barriers) {
    struct ir *ir = t->ir;
    const struct tree_step *first = &t->step[0], *last = &t->step[REDUCE_STEPS - 1];
    const struct inst *store = &ir->code[last->store], *add = &ir->code[last->add];
    r->tree = true;
    r->wide = reduce_is_wide(ir, store->a);
    r->at = (uint32_t)store->imm;
    r->add = add->fn.lane;
    r->add_row = add->row;
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        r->distance[k] = (uint8_t)t->step[k].distance;
        r->own_first[k] = t->step[k].own_first;
        r->reload[k] = t->step[k].own != NO_INST;
    }
    unsigned taken = take_out(t, first->own);
    r->moves = (uint8_t)(taken > 2 * REDUCE_STEPS ? taken - 2 * REDUCE_STEPS : 0);
    struct inst in = reduce_make(ir, r);
    in.d = add->d;
    in.a = first->own != NO_INST ? ir->code[first->own].d : first->own_register;
    in.b = store->a;
    in.c = ir_constant(ir, RC_32, WARP_LANES - 1, 0);
    reduce_set_members(&in, barriers ? ir_constant(ir, RC_32, LANES_ALL, 0) : OPND_ZERO);
    fuse_place(t->edit, edit_before(t->edit, last->store, &in), last->add);
    ir_note(ir, last->store, "sum over the warp in shared memory from line %u on: %u instructions in one",
            ir->info[first_of(first)].line, taken);
}

static void try_tree(struct tree_search *t) {
    struct program_reduce r = {.lane = 0};
    const struct tree_step *last = &t->step[REDUCE_STEPS - 1];
    uint32_t line = 0;
    bool barriers = false;
    mark(t, 1);
    const char *why = NULL;
    for (unsigned k = 0; k < REDUCE_STEPS && !why; k++) {
        const struct tree_step *s = &t->step[k];
        if (!stays_inside(t, s->add) || !stays_inside(t, s->other) ||
            (k && s->own != NO_INST && !stays_inside(t, s->own)))
            why = "a partial sum is used elsewhere";
        if (t->ir->code[s->add].row != t->ir->code[t->step[0].add].row)
            why = "its steps are not alike";
    }
    why = why ? why : check_between(t, &barriers);
    why = why ? why : check_reads(t, &r, &line);
    if (!why && barriers && reduce_meets_others(t->ir, t->control, t->ir->info[last->store].block))
        why = "other threads of the warp may wait elsewhere meanwhile";
    if (!why)
        place(t, &r, barriers);
    else if (line)
        ir_note(t->ir, last->store, "left alone: a step of a sum in shared memory: %s, in line %u", why, line);
    else
        ir_note(t->ir, last->store, "left alone: a step of a sum in shared memory: %s", why);
    mark(t, 0);
    t->n = 0;
}

/* Drops the first `n` of the current steps, because they do not belong to a complete sum. */
static void leave(struct tree_search *t, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        ir_note(t->ir, t->step[k].store,
                "left alone: a step of a sum in shared memory: not one of five in a row, from 16 or from 1");
    memmove(t->step, t->step + n, (t->n - n) * sizeof *t->step);
    t->n -= n;
}

static void add_step(struct tree_search *t, const struct tree_step *s) {
    if (t->n && !follows(t, &t->step[t->n - 1], s))
        leave(t, t->n);
    if (t->n == REDUCE_STEPS)
        leave(t, 1);
    t->step[t->n++] = *s;
    if (t->n == REDUCE_STEPS && in_order(t->step))
        try_tree(t);
}

void reduce_trees(struct ir *ir, struct edit *edit, const struct control *control) {
    struct tree_search t = {.ir = ir, .edit = edit, .control = control, .defuse = find_defuse(ir->tmp, ir)};
    t.in_set = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t b = 0; b < control->n; b++) {
        uint32_t before = b ? ir->blocks[b].begin - 1 : 0;
        bool goes_on = b && is_warp_barrier(&t, before) && ir->cfg.pred_first[b + 1] == ir->cfg.pred_first[b] + 1 &&
                       ir->cfg.pred[ir->cfg.pred_first[b]] == b - 1;
        struct tree_step s;
        if (!goes_on)
            leave(&t, t.n);
        for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++)
            if (read_step(ir, &t.defuse, i, &s))
                add_step(&t, &s);
    }
    leave(&t, t.n);
}
