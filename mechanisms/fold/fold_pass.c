/* Removes branches whose sides are a few f32 operations. The operations of the two sides get complementary
 * predicates. A sequence of one side and a sequence of the other side form one instruction, and each lane keeps one
 * of the two results ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-C). The remaining
 * operations of the longer side get the predicate as their guard. A side may contain folded instructions, so regions
 * are folded from the inside out. Selections come last (fold_select.c). Requires: blocks, post-dominators. Keeps:
 * the values that each lane computes. Lanes of one side do not use results of the other side, so the order between
 * the sides is free. */
#include "fold.h"
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "mechanisms/fused_inst.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include <stdarg.h>

enum {
    /* maximum number of items of a side: each item has at least one operation, and chain.length is at most 6 */
    MAX_ITEMS = 8,
};

/* An item: one of the two sequences of an instruction to create. It is a group of operations, or an instruction that an
 * earlier round has folded. */
struct item {
    struct fuse_group group;
    uint32_t folded; /* the instruction that an earlier round has folded; NO_INST if the item is a group */
};

struct side {
    uint32_t block; /* NO_BLOCK if the side is empty */
    struct item item[MAX_ITEMS];
    unsigned n, units;
};

struct folding {
    struct ir *ir;
    struct edit *edit;
    struct fuse_search search;
    unsigned length;
    struct fuse_kind kind;
    bool any;     /* true if something was folded in this round */
    bool reasons; /* in this round, notes state why branches are left unchanged */
};

__attribute__((format(printf, 3, 4))) static void leave(const struct folding *f, uint32_t branch, const char *fmt,
                                                        ...) {
    char why[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    if (f->reasons)
        ir_note(f->ir, branch, "left alone: %s", why);
}

static bool is_jump(const struct inst *in) { return in->kind == K_BRANCH && in->guard == NO_GUARD; }

/* Returns the block that follows a side; NO_BLOCK if the side does not end with exactly one successor. */
static uint32_t leads_to(const struct ir *ir, uint32_t b) {
    const struct inst *last = &ir->code[ir->blocks[b].end - 1];
    if (is_jump(last))
        return last->target;
    return last->kind < K_BRANCH ? b + 1 : NO_BLOCK;
}

static bool entered_from(const struct ir *ir, uint32_t b, uint32_t from) {
    uint32_t first = ir->cfg.pred_first[b];
    return ir->cfg.pred_first[b + 1] == first + 1 && ir->cfg.pred[first] == from &&
           b != ir->functions[ir->blocks[b].function].block;
}

/* Returns the reason why an instruction of a side cannot be folded; NULL if it can be folded. */
static const char *why_not(const struct ir *ir, const struct inst *in) {
    uint32_t n;
    if (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_TEX)
        return "accesses memory, which FPUs do not";
    if (in->kind == K_LANE && isa_rows(&n)[in->row].op == OP_SELP)
        return "selects by a predicate of its own, for which FPUs have no input";
    if (!fuse_side_holds(ir, in) && !fuse_made(ir, in))
        return "is no f32 operation of the FPUs, nor a move";
    if (in->guard != NO_GUARD)
        return "has a guard of its own";
    return NULL;
}

static uint32_t place(const struct item *i) { return i->folded != NO_INST ? i->folded : i->group.inst[i->group.n - 1]; }

/* Returns the number of FPUs that an item needs. An item that is a single move needs one FPU. */
static unsigned units_of(const struct ir *ir, const struct item *i) {
    const struct fused *c = i->folded != NO_INST ? fuse_made(ir, &ir->code[i->folded]) : NULL;
    unsigned units = c ? fused_units(c, 0) + fused_units(c, 1) : i->group.units;
    return units ? units : 1;
}

static void add_item(const struct ir *ir, struct side *s, const struct item *item) {
    s->units += units_of(ir, item);
    if (s->n == MAX_ITEMS) /* too many items, so the pass does not change the branch */
        return;
    unsigned at = s->n++;
    for (; at && place(&s->item[at - 1]) > place(item); at--)
        s->item[at] = s->item[at - 1];
    s->item[at] = *item;
}

/* Collects the items of a side. Returns false if the side does not fit; a note at the branch then gives the reason. */
static bool read_side(struct folding *f, uint32_t branch, struct side *s) {
    struct ir *ir = f->ir;
    const struct block *b = &ir->blocks[s->block];
    uint32_t end = b->end - is_jump(&ir->code[b->end - 1]);
    for (uint32_t i = b->begin; i < end; i++) {
        const struct inst *in = &ir->code[i];
        const char *why = why_not(ir, in);
        if (why) {
            leave(f, branch, "line %u %s", ir->info[i].line, why);
            return false;
        }
    }
    fuse_find(&f->search, b->begin, end);
    for (uint32_t k = 0; k < f->search.n_groups; k++)
        add_item(ir, s, &(struct item){.group = f->search.group[k], .folded = NO_INST});
    for (uint32_t i = b->begin; i < end; i++) {
        struct item one = {.group = {.inst = {i}, .n = 1, .units = fuse_side_units(&ir->code[i])}, .folded = NO_INST};
        if (fuse_made(ir, &ir->code[i]))
            one = (struct item){.folded = i};
        if (!f->search.taken[i])
            add_item(ir, s, &one);
    }
    if (s->units <= f->length)
        return true;
    leave(f, branch, "%u operations on the side of line %u; chain.length is %u", s->units, ir->info[b->begin].line,
          f->length);
    return false;
}

struct region {
    uint32_t head, branch, join;
    /* [0]: the side for lanes where the branch's predicate is true; [1]: the side for the other lanes */
    struct side side[2];
};

/* True if both sides of a branch join after at most one block each. */
static bool find_region(struct folding *f, uint32_t head, struct region *r) {
    const struct ir *ir = f->ir;
    uint32_t branch = ir->blocks[head].end - 1;
    const struct inst *in = &ir->code[branch];
    *r = (struct region){.head = head, .branch = branch};
    if (in->kind != K_BRANCH || in->guard == NO_GUARD)
        return false;
    uint32_t way[2] = {in->target, head + 1};
    bool own[2];
    for (int k = 0; k < 2; k++)
        own[k] = way[k] != head && entered_from(ir, way[k], head) && leads_to(ir, way[k]) != NO_BLOCK;
    if (own[0] && own[1] && leads_to(ir, way[0]) == leads_to(ir, way[1]))
        r->join = leads_to(ir, way[0]);
    else if (own[0] && leads_to(ir, way[0]) == way[1])
        r->join = way[1];
    else if (own[1] && leads_to(ir, way[1]) == way[0])
        r->join = way[0];
    else
        return false;
    for (int k = 0; k < 2; k++)
        r->side[in->guard_not ? 1 - k : k].block = way[k] == r->join ? NO_BLOCK : way[k];
    return r->join != head && way[0] != way[1];
}

/* Appends the item to the block of the branch, with the guard of one side. */
static void put_guarded(struct folding *f, const struct region *r, const struct item *item, int side) {
    struct inst in = item->folded != NO_INST ? f->ir->code[item->folded]
                     : item->group.n > 1     ? fuse_make(f->ir, &item->group, NULL, &f->kind)
                                             : f->ir->code[item->group.inst[0]];
    in.guard = f->ir->code[r->branch].guard;
    in.guard_not = (uint8_t)side;
    fuse_place(f->edit, edit_at_end(f->edit, r->head, &in), place(item));
}

static unsigned fold(struct folding *f, const struct region *r) {
    unsigned n = 0;
    uint32_t predicate = f->ir->code[r->branch].guard;
    for (unsigned k = 0; k < r->side[0].n || k < r->side[1].n; k++) {
        const struct item *a = k < r->side[0].n ? &r->side[0].item[k] : NULL;
        const struct item *b = k < r->side[1].n ? &r->side[1].item[k] : NULL;
        n++;
        if (a && b && a->folded == NO_INST && b->folded == NO_INST) {
            struct inst in = fuse_make_folded(f->ir, &a->group, &b->group, predicate, &f->kind);
            fuse_place(f->edit, edit_at_end(f->edit, r->head, &in), place(a));
            continue;
        }
        n += a && b;
        if (a)
            put_guarded(f, r, a, 0);
        if (b)
            put_guarded(f, r, b, 1);
    }
    edit_set_end(f->edit, r->head, NULL, r->join);
    f->any = true;
    return n;
}

static void try_region(struct folding *f, uint32_t head) {
    struct region r;
    if (!find_region(f, head, &r))
        return;
    if (f->ir->code[r.branch].hints & HINT_UNI) {
        leave(f, r.branch, ".uni says that it does not diverge");
        return;
    }
    for (int k = 0; k < 2; k++)
        if (r.side[k].block != NO_BLOCK && !read_side(f, r.branch, &r.side[k]))
            return;
    unsigned units = r.side[0].units + r.side[1].units;
    if (!units)
        return;
    if (units > f->length) {
        leave(f, r.branch, "%u and %u operations on its sides; chain.length is %u", r.side[0].units, r.side[1].units,
              f->length);
        return;
    }
    unsigned n = fold(f, &r);
    ir_note(f->ir, r.branch, "folded: %u and %u operations in %u instruction%s", r.side[0].units, r.side[1].units, n,
            n == 1 ? "" : "s");
}

/* Folds every region that contains no branch. */
static bool fold_once(struct folding *f) {
    struct ir *ir = f->ir;
    f->any = false;
    f->edit = edit_begin(ir);
    f->search = fuse_search_begin(ir, f->length < FOLD_SIDE ? f->length : FOLD_SIDE, true);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        try_region(f, b);
    return edit_end(f->edit);
}

/* Folds regions from the inside out, one nesting level per round. The last round writes the reasons for unfolded
 * branches into notes. */
static bool run(struct ir *ir) {
    const struct fused_cfg *options = fused_options(&ir->context);
    struct folding f = {.ir = ir, .length = options->length};
    f.kind = (struct fuse_kind){.ops = &fused_ops, .wide = !options->ieee};
    do
        if (!fold_once(&f))
            return false;
    while (f.any);
    f.reasons = true;
    return (!ir->noting || fold_once(&f)) && fold_selections(ir, f.length, &f.kind);
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "fold"); }

static const struct pass pass_fold = {
    .name = "fold",
    .help = "short f32 operations on both sides of a branch in one instruction",
    .before = "dominators",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'fold'",
};

static uint32_t lane_operations(const struct config *cfg) { return cfg->fused.length; }

const struct mechanism mechanism_fold = {
    .name = "fold",
    .help = "PEPSC: short f32 operations on both sides of a branch in one instruction (docs/pepsc.md)",
    .paper = "PEPSC: A Power-Efficient Processor for Scientific Computing, PACT 2011, section III",
    .kind = MECHANISM_EXTENSION,
    .passes = PASSES(&pass_fold),
    .shares = SHARES(CONFIG_PART(fused)),
    .lane_operations = lane_operations,
};
