/* Reads the two sides of a branch, cuts their f32 operations into chains, and finds the chains that share an
 * instruction. */
#include "fold.h"
#include "isa/decode.h"
#include <string.h>

const char *fold_why_not(const struct ir *ir, uint32_t i, bool guarded) {
    uint32_t n;
    const struct inst *in = &ir->code[i];
    if (in->guard != NO_GUARD)
        return "has a guard of its own";
    if (fuse_side_holds(ir, in) || fuse_made(ir, in))
        return NULL;
    const bool memory = in->kind == K_LOAD || in->kind == K_STORE;
    if (in->hints & HINT_COLLECTIVE)
        return "is executed by the lanes of a warp together";
    if (guarded && (memory || in->kind == K_LANE || in->kind == K_CVT))
        return NULL;
    if (memory || in->kind == K_ATOM || in->kind == K_TEX)
        return "accesses memory, which FPUs do not";
    if (in->kind == K_LANE && isa_rows(&n)[in->row].op == OP_SELP)
        return "selects by a predicate of its own, for which FPUs have no input";
    return "is no f32 operation of the FPUs, nor a move";
}

uint32_t fold_place(const struct fold_item *i) { return i->group.inst[i->group.n - 1]; }

static void add_item(struct fold_side *s, const struct fold_item *item) {
    s->units += item->units;
    s->others += item->what == FOLD_OTHER;
    s->full |= s->n == FOLD_ITEMS;
    if (s->full)
        return;
    unsigned at = s->n++;
    for (; at && fold_place(&s->item[at - 1]) > fold_place(item); at--)
        s->item[at] = s->item[at - 1];
    s->item[at] = *item;
}

/* Adds a group. A single move needs an FPU. */
static void add_group(struct fold_side *s, const struct fuse_group *g) {
    add_item(s, &(struct fold_item){.what = FOLD_GROUP, .group = *g, .units = g->units ? g->units : 1});
}

static void add_single(const struct ir *ir, struct fold_side *s, uint32_t i) {
    const struct inst *in = &ir->code[i];
    const struct fused *made = fuse_made(ir, in);
    struct fold_item one = {.what = FOLD_OTHER, .group = {.inst = {i}, .n = 1}};
    if (made) {
        one.what = FOLD_MADE;
        one.units = fused_units(made, 0) + fused_units(made, 1);
    } else if (fuse_side_holds(ir, in)) {
        one.group.units = fuse_side_units(in);
        add_group(s, &one.group);
        return;
    }
    add_item(s, &one);
}

/* Fills the items of a side with chains of at most `most` operations. */
static void cut(struct fuse_search *search, struct fold_side *s, unsigned most) {
    const struct ir *ir = search->ir;
    s->n = s->units = s->others = 0;
    s->full = false;
    if (s->block == NO_BLOCK)
        return;
    uint32_t begin = ir->blocks[s->block].begin, end = ir->blocks[s->block].end;
    end -= ir->code[end - 1].kind == K_BRANCH;
    memset(search->taken + begin, 0, end - begin);
    search->length = most;
    fuse_find(search, begin, end);
    for (uint32_t k = 0; k < search->n_groups; k++)
        add_group(s, &search->group[k]);
    for (uint32_t i = begin; i < end; i++)
        if (!search->taken[i])
            add_single(ir, s, i);
}

/* Returns true if two items may share an instruction of `length` FPUs. */
static bool fit(const struct fold_item *a, const struct fold_item *b, unsigned length) {
    return a->what == FOLD_GROUP && b->what == FOLD_GROUP && a->units + b->units <= length;
}

void fold_order_begin(struct fold_order *o, const struct fold_side side[2], unsigned length) {
    o->side = side;
    o->length = length;
    memset(o->best, 0, sizeof o->best);
    for (unsigned i = side[0].n; i-- > 0;)
        for (unsigned j = side[1].n; j-- > 0;) {
            unsigned most = o->best[i + 1][j] > o->best[i][j + 1] ? o->best[i + 1][j] : o->best[i][j + 1];
            if (fit(&side[0].item[i], &side[1].item[j], length) && o->best[i + 1][j + 1] + 1u > most)
                most = o->best[i + 1][j + 1] + 1u;
            o->best[i][j] = (unsigned char)most;
        }
}

int fold_order_next(const struct fold_order *o, unsigned i, unsigned j) {
    const struct fold_side *side = o->side;
    if (i == side[0].n || j == side[1].n)
        return i < side[0].n ? 0 : j < side[1].n ? 1 : -1;
    if (fit(&side[0].item[i], &side[1].item[j], o->length) && o->best[i][j] == o->best[i + 1][j + 1] + 1)
        return 2;
    return o->best[i][j] == o->best[i + 1][j] ? 0 : 1;
}

unsigned fold_read_sides(struct fuse_search *search, struct fold_side side[2], unsigned length) {
    struct fold_order order;
    unsigned fewest = UINT32_MAX, most_pairs = 0, most[2] = {1, 1};
    for (unsigned m = FOLD_SIDE; m > 0; m--)
        for (unsigned n = FOLD_SIDE; n > 0; n--) {
            if (m > length || n > length)
                continue;
            cut(search, &side[0], m);
            cut(search, &side[1], n);
            fold_order_begin(&order, side, length);
            unsigned pairs = order.best[0][0], instructions = side[0].n + side[1].n - pairs;
            if (instructions < fewest || (instructions == fewest && pairs > most_pairs)) {
                fewest = instructions;
                most_pairs = pairs;
                most[0] = m;
                most[1] = n;
            }
        }
    cut(search, &side[0], most[0]);
    cut(search, &side[1], most[1]);
    return most_pairs;
}
