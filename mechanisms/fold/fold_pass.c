/* Removes branches whose sides are a few f32 operations. The operations of the two sides get complementary
 * predicates. A sequence of one side and a sequence of the other side form one instruction, and each lane keeps one
 * of the two results ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-C). The remaining
 * operations of the longer side get the predicate as their guard. A side may contain folded instructions, so regions
 * are folded from the inside out. Selections come last (fold_select.c). Requires: blocks, post-dominators. Keeps:
 * the values that each lane computes. Lanes of one side do not use results of the other side, so the order between
 * the sides is free. */
#include "fold.h"
#include "frontend/passes/pass.h"
#include "mechanisms/fused_inst.h"
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include <stdarg.h>

struct folding {
    struct ir *ir;
    struct edit *edit;
    struct fuse_search search;
    unsigned length, operations, guarded; /* options chain.length, fold.operations and fold.guarded */
    struct fuse_kind kind;
    bool parallel; /* option fold.parallel */
    bool any;      /* true if something was folded in this round */
    bool reasons;  /* in this round, notes state why branches are left unchanged */
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

/* Returns false if a side has instructions that cannot be folded. A note at the branch then gives the reason. */
static bool may_fold(const struct folding *f, uint32_t branch, uint32_t block) {
    const struct ir *ir = f->ir;
    const struct block *b = &ir->blocks[block];
    for (uint32_t i = b->begin; i < b->end - is_jump(&ir->code[b->end - 1]); i++) {
        const char *why = fold_why_not(ir, i, f->guarded != 0);
        if (!why && fuse_writes(ir, i, ir->code[branch].guard))
            why = "writes the predicate of the branch";
        if (why) {
            leave(f, branch, "line %u %s", ir->info[i].line, why);
            return false;
        }
    }
    return true;
}

/* Returns false if the sides have too many instructions. A note at the branch then gives the reason. */
static bool short_enough(const struct folding *f, uint32_t branch, const struct fold_side side[2], unsigned pairs) {
    const struct ir *ir = f->ir;
    for (int k = 0; k < 2; k++)
        if (side[k].full || (f->operations && side[k].units > f->operations)) {
            leave(f, branch, "%u operations on the side of line %u; fold.operations is %u", side[k].units,
                  ir->info[ir->blocks[side[k].block].begin].line, f->operations);
            return false;
        }
    /* If fold.operations is 0 or no pair was found, chain.length limits the sum of both sides: without a pair, folding
     * saves only the branch. */
    const bool together = !f->operations || !pairs;
    if (together && side[0].units + side[1].units > f->length) {
        leave(f, branch, "%u and %u operations on its sides; chain.length is %u", side[0].units, side[1].units,
              f->length);
        return false;
    }
    const unsigned others = side[0].others + side[1].others;
    if (!pairs && others) {
        leave(f, branch, "no operation of a side fits beside one of the other side");
        return false;
    }
    const unsigned units = side[0].units + side[1].units;
    if (others > f->guarded * units) {
        leave(f, branch, "%u other instructions would get a guard; fold.guarded is %u, for each of %u operations",
              others, f->guarded, units);
        return false;
    }
    return true;
}

/* If block `*to` after block `from` contains only a jump, sets `*to` to the target: nvcc writes `@p bra A; bra.uni B;`.
 * Returns the predecessor of `*to`. */
static uint32_t pass_jump(const struct ir *ir, uint32_t from, uint32_t *to) {
    const uint32_t b = *to;
    if (ir->blocks[b].end - ir->blocks[b].begin != 1 || !is_jump(&ir->code[ir->blocks[b].begin]) ||
        !entered_from(ir, b, from))
        return from;
    *to = leads_to(ir, b);
    return b;
}

struct region {
    uint32_t head, branch, join;
    /* side[0]: code of lanes whose branch predicate is true; side[1]: code of the other lanes */
    struct fold_side side[2];
};

/* Returns true if both sides of a branch join after at most one block each. */
static bool find_region(struct folding *f, uint32_t head, struct region *r) {
    const struct ir *ir = f->ir;
    uint32_t branch = ir->blocks[head].end - 1;
    const struct inst *in = &ir->code[branch];
    *r = (struct region){.head = head, .branch = branch};
    if (in->kind != K_BRANCH || in->guard == NO_GUARD)
        return false;
    uint32_t way[2] = {in->target, head + 1};
    bool own[2];
    for (int k = 0; k < 2; k++) {
        const uint32_t from = pass_jump(ir, head, &way[k]);
        own[k] = way[k] != head && entered_from(ir, way[k], from) && leads_to(ir, way[k]) != NO_BLOCK;
    }
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
static void put_guarded(struct folding *f, const struct region *r, const struct fold_item *item, int side) {
    struct inst in = item->what == FOLD_GROUP && item->group.n > 1 ? fuse_make(f->ir, &item->group, NULL, &f->kind)
                                                                   : f->ir->code[item->group.inst[0]];
    in.guard = f->ir->code[r->branch].guard;
    in.guard_not = (uint8_t)side;
    fuse_place(f->edit, edit_at_end(f->edit, r->head, &in), fold_place(item));
}

/* fold.parallel=off: replaces the branch by the instructions of one side and then of the other side, each guarded by
 * the predicate of its side: "the traditional predicate mask technique" (section III-C). Returns their number. */
static unsigned mask(struct folding *f, const struct region *r) {
    struct ir *ir = f->ir;
    unsigned n = 0;
    for (int k = 0; k < 2; k++) {
        if (r->side[k].block == NO_BLOCK)
            continue;
        const struct block *b = &ir->blocks[r->side[k].block];
        const uint32_t end = b->end - (ir->code[b->end - 1].kind == K_BRANCH);
        for (uint32_t i = b->begin; i < end; i++, n++) {
            struct fold_item one = {.what = FOLD_OTHER, .group = {.inst = {i}, .n = 1}};
            put_guarded(f, r, &one, k);
        }
    }
    edit_set_end(f->edit, r->head, NULL, r->join);
    f->any = true;
    return n;
}

/* Replaces the branch by the instructions of both sides. Returns the number of these instructions. */
static unsigned fold(struct folding *f, const struct region *r) {
    struct fold_order order;
    unsigned at[2] = {0, 0}, n = 0;
    uint32_t predicate = f->ir->code[r->branch].guard;
    fold_order_begin(&order, r->side, f->length);
    for (int next; (next = fold_order_next(&order, at[0], at[1])) >= 0; n++) {
        const struct fold_item *a = &r->side[0].item[at[0]], *b = &r->side[1].item[at[1]];
        if (next == 2) {
            struct inst in = fuse_make_folded(f->ir, &a->group, &b->group, predicate, &f->kind);
            fuse_place(f->edit, edit_at_end(f->edit, r->head, &in), fold_place(a));
            at[0]++;
            at[1]++;
        } else {
            put_guarded(f, r, next ? b : a, next);
            at[next]++;
        }
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
        if (r.side[k].block != NO_BLOCK && !may_fold(f, r.branch, r.side[k].block))
            return;
    unsigned pairs = fold_read_sides(&f->search, r.side, f->length);
    const unsigned units[2] = {r.side[0].units, r.side[1].units}, others = r.side[0].others + r.side[1].others;
    if (!(units[0] + units[1]) || !short_enough(f, r.branch, r.side, pairs))
        return;
    unsigned n = f->parallel ? fold(f, &r) : mask(f, &r);
    ir_note(f->ir, r.branch, "%s: %u and %u operations in %u instruction%s", f->parallel ? "folded" : "masked",
            units[0], units[1], n - others, n - others == 1 ? "" : "s");
    if (others)
        ir_note(f->ir, r.branch, "%u other instruction%s a guard", others, others == 1 ? " gets" : "s get");
}

/* Folds every region that contains no branch. */
static bool fold_once(struct folding *f) {
    struct ir *ir = f->ir;
    f->any = false;
    f->edit = edit_begin(ir);
    f->search = fuse_search_begin(ir, FOLD_SIDE, true);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        try_region(f, b);
    return edit_end(f->edit);
}

/* Pairs guarded instructions first (fold.pairs). Then folds regions from the inside out, one nesting level per round.
 * The last round writes the reasons for unfolded branches into notes. In the end, folds selections
 * (fold.selections). */
static bool run(struct ir *ir) {
    const struct fused_cfg *options = fused_options(&ir->context);
    struct folding f = {.ir = ir, .length = options->length};
    f.kind = (struct fuse_kind){.ops = &fused_ops, .wide = !options->ieee};
    f.operations = (unsigned)pass_option(&ir->context, "fold.operations", 16);
    f.guarded = (unsigned)pass_option(&ir->context, "fold.guarded", 3);
    f.parallel = pass_option(&ir->context, "fold.parallel", 1) != 0;
    if (f.parallel && pass_option(&ir->context, "fold.pairs", 1) != 0 && !fold_pairs(ir, f.length, &f.kind))
        return false;
    do
        if (!fold_once(&f))
            return false;
    while (f.any);
    f.reasons = true;
    const bool selections = f.parallel && pass_option(&ir->context, "fold.selections", 1) != 0;
    return (!ir->noting || fold_once(&f)) && (!selections || fold_selections(ir, f.length, &f.kind));
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
    .options = PREFIXES("fold."),
    .shares = SHARES(CONFIG_PART(fused)),
    .lane_operations = lane_operations,
};
