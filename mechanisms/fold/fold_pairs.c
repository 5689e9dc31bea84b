/* Folds operations that the program itself guards by complementary predicates, `@p add ...; @!p sub ...`: "the compiler
 * is modified to allow FPU operations guarded by complementary predicates to be executed on the FPU datapath at the
 * same time" ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-C1). The earlier group moves
 * down to the later one. */
#include "fold.h"
#include "frontend/passes/pass.h"
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 }; /* largest distance of a partner, in instructions, as in the pass `chain` */

struct pairing {
    struct ir *ir;
    struct edit *edit;
    struct fuse_search search;
    unsigned length;
    const struct fuse_kind *kind;
    /* guarded groups of the current block, in the order of their last operations */
    struct fuse_group *group;
    uint32_t n_groups, cap_groups;
    uint32_t *partner; /* indexed by group: the later group of its pair; NO_INST: none */
    uint32_t cap_partners;
    unsigned char *in_pair; /* indexed by instruction: true if its group has a partner */
};

static uint32_t last_of(const struct fuse_group *g) { return g->inst[g->n - 1]; }

static int by_place(const void *a, const void *b) {
    uint32_t x = last_of(a), y = last_of(b);
    return x < y ? -1 : x > y;
}

static bool is_guarded(const struct ir *ir, uint32_t i) {
    return ir->code[i].guard != NO_GUARD && fuse_side_holds(ir, &ir->code[i]);
}

static void add(struct pairing *p, const struct fuse_group *g) {
    p->group = IR_ROOM(p->ir, p->group, p->n_groups, p->cap_groups);
    p->group[p->n_groups++] = *g;
}

/* Cuts the guarded operations of a block into chains of at most `most` operations. */
static void cut(struct pairing *p, uint32_t begin, uint32_t end, unsigned most) {
    struct fuse_search *s = &p->search;
    memset(s->taken + begin, 0, end - begin);
    s->length = most;
    p->n_groups = 0;
    fuse_find(s, begin, end);
    for (uint32_t k = 0; k < s->n_groups; k++)
        if (is_guarded(p->ir, s->group[k].inst[0]))
            add(p, &s->group[k]);
    for (uint32_t i = begin; i < end; i++)
        if (!s->taken[i] && is_guarded(p->ir, i))
            add(p, &(struct fuse_group){.inst = {i}, .n = 1, .units = fuse_side_units(&p->ir->code[i])});
    if (p->n_groups)
        qsort(p->group, p->n_groups, sizeof *p->group, by_place);
}

static bool reads(const struct ir *ir, uint32_t i, uint32_t vreg) {
    const struct inst_info *info = &ir->info[i];
    for (unsigned k = 0; k < info->n_reads; k++)
        if (ir->regs[info->regs + k] == vreg)
            return true;
    return false;
}

/* Returns true if instruction i writes a register that the group reads. */
static bool feeds(const struct ir *ir, uint32_t i, const struct fuse_group *g) {
    const struct inst_info *info = &ir->info[i];
    for (uint32_t k = 0; k < g->n; k++)
        for (unsigned w = info->n_reads; w < (unsigned)info->n_reads + info->n_writes; w++)
            if (reads(ir, g->inst[k], ir->regs[info->regs + w]))
                return true;
    return false;
}

/* Returns true if group `a` may move down to the place of group `b`. Instructions between them with the complementary
 * guard execute in other lanes, so they do not conflict with `a`. */
static bool may_move(const struct ir *ir, const struct fuse_group *a, const struct fuse_group *b) {
    const struct inst *x = &ir->code[last_of(a)];
    for (uint32_t i = last_of(a) + 1; i < last_of(b); i++) {
        const struct inst *in = &ir->code[i];
        if (fuse_writes(ir, i, x->guard))
            return false;
        if (in->guard == x->guard && in->guard_not != x->guard_not)
            continue;
        if (reads(ir, i, x->d >> 1) || fuse_writes(ir, i, x->d >> 1) || feeds(ir, i, a))
            return false;
    }
    return true;
}

static unsigned fpus(const struct fuse_group *g) { return g->units ? g->units : 1; }

static bool fits(const struct pairing *p, const struct fuse_group *a, const struct fuse_group *b) {
    const struct inst *x = &p->ir->code[last_of(a)], *y = &p->ir->code[last_of(b)];
    return x->guard == y->guard && x->guard_not != y->guard_not && a->units + b->units > 0 &&
           fpus(a) + fpus(b) <= p->length && may_move(p->ir, a, b);
}

static void mark(struct pairing *p, const struct fuse_group *g) {
    for (uint32_t k = 0; k < g->n; k++)
        p->in_pair[g->inst[k]] = 1;
}

/* Finds pairs of groups. Returns the number of instructions if each pair becomes one instruction. */
static uint32_t find_pairs(struct pairing *p, uint32_t begin, uint32_t end, unsigned most) {
    uint32_t pairs = 0;
    cut(p, begin, end, most);
    memset(p->in_pair + begin, 0, end - begin);
    while (p->n_groups > p->cap_partners)
        p->partner = ir_grow(p->ir->tmp, p->partner, p->n_groups, &p->cap_partners, sizeof *p->partner);
    for (uint32_t a = 0; a < p->n_groups; a++) {
        p->partner[a] = NO_INST;
        for (uint32_t b = a + 1; b < p->n_groups && !p->in_pair[last_of(&p->group[a])]; b++) {
            if (last_of(&p->group[b]) - last_of(&p->group[a]) > WINDOW)
                break;
            if (p->in_pair[last_of(&p->group[b])] || !fits(p, &p->group[a], &p->group[b]))
                continue;
            p->partner[a] = b;
            mark(p, &p->group[a]);
            mark(p, &p->group[b]);
            pairs++;
        }
    }
    return p->n_groups - pairs;
}

static void emit(struct pairing *p) {
    for (uint32_t k = 0; k < p->n_groups; k++) {
        if (p->partner[k] == NO_INST)
            continue;
        const struct fuse_group *a = &p->group[k], *b = &p->group[p->partner[k]];
        const struct inst *x = &p->ir->code[last_of(a)];
        struct inst in = fuse_make_folded(p->ir, x->guard_not ? b : a, x->guard_not ? a : b, x->guard, p->kind);
        fuse_place(p->edit, edit_before(p->edit, last_of(b), &in), last_of(b));
        ir_note(p->ir, last_of(b), "folded: %u and %u operations of complementary guards, in one with line %u", fpus(a),
                fpus(b), p->ir->info[last_of(a)].line);
        for (uint32_t i = 0; i < a->n; i++)
            edit_remove(p->edit, a->inst[i]);
        for (uint32_t i = 0; i < b->n; i++)
            edit_remove(p->edit, b->inst[i]);
    }
}

static void fold_block(struct pairing *p, uint32_t begin, uint32_t end) {
    uint32_t best = UINT32_MAX;
    unsigned most = 1;
    bool any = false;
    for (uint32_t i = begin; i < end && !any; i++)
        any = is_guarded(p->ir, i);
    for (unsigned m = any ? FOLD_SIDE : 0; m > 0; m--) {
        uint32_t n = m <= p->length ? find_pairs(p, begin, end, m) : UINT32_MAX;
        if (n < best) {
            best = n;
            most = m;
        }
    }
    if (!any)
        return;
    find_pairs(p, begin, end, most);
    emit(p);
}

bool fold_pairs(struct ir *ir, unsigned length, const struct fuse_kind *kind) {
    struct pairing p = {.ir = ir, .length = length, .kind = kind};
    bool any = false;
    for (uint32_t i = 0; i < ir->n && !any; i++)
        any = is_guarded(ir, i);
    if (!any)
        return true;
    p.edit = edit_begin(ir);
    p.search = fuse_search_begin(ir, FOLD_SIDE, true);
    p.in_pair = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        fold_block(&p, ir->blocks[b].begin, ir->blocks[b].end);
    return edit_end(p.edit);
}
