#ifndef MECHANISMS_FOLD_H
#define MECHANISMS_FOLD_H
/* Parts of the pass `fold`. Internal to this folder. */
#include "frontend/passes/fuse.h"

enum {
    FOLD_SIDE = 3,   /* most operations of one side in an instruction: "limited to 2- or 3-long chains" */
    FOLD_ITEMS = 64, /* most items of a side */
};

enum fold_what {
    FOLD_GROUP, /* one or more f32 operations, which may share an instruction with a group of the other side */
    FOLD_MADE,  /* an instruction that was folded before */
    FOLD_OTHER, /* a load, a store or integer arithmetic, which stays as it is, with a guard */
};

struct fold_item {
    enum fold_what what;
    struct fuse_group group; /* FOLD_MADE, FOLD_OTHER: group.inst[0] is the item's only instruction */
    unsigned units;          /* FPUs */
};

/* The items of one side of a branch, in the order of their last instructions. */
struct fold_side {
    uint32_t block; /* NO_BLOCK if the side is empty */
    struct fold_item item[FOLD_ITEMS];
    unsigned n, units, others; /* number of items; sum of their FPUs; number of items that are FOLD_OTHER */
    bool full;                 /* the side has more items than fit */
};

/* Returns the last instruction of an item. */
uint32_t fold_place(const struct fold_item *i);
/* fold_side.c: returns the reason why instruction i of a side cannot be folded; NULL if it can be. `guarded`: a side
 * may have instructions that only get a guard. */
const char *fold_why_not(const struct ir *ir, uint32_t i, bool guarded);
/* Fills the items of both sides with the chains that need the fewest instructions, if an instruction has `length` FPUs.
 * If several choices need equally many, takes the choice with the most pairs. Returns the number of pairs: instructions
 * with a chain of each side. */
unsigned fold_read_sides(struct fuse_search *search, struct fold_side side[2], unsigned length);
/* The order in which the items of both sides are emitted. When i items of side 0 and j items of side 1 have been
 * emitted, fold_order_next() returns the side (0 or 1) of the next item, 2 if the next items of both sides share an
 * instruction, or -1 if no item is left. */
struct fold_order {
    const struct fold_side *side;
    unsigned length;
    unsigned char best[FOLD_ITEMS + 1][FOLD_ITEMS + 1]; /* [i][j]: most pairs that the items from i and j on can form */
};
void fold_order_begin(struct fold_order *o, const struct fold_side side[2], unsigned length);
int fold_order_next(const struct fold_order *o, unsigned i, unsigned j);

/* fold_pairs.c: finds pairs of operation groups with complementary guards in a block, and makes one instruction of each
 * pair. Notes name the pairs. Returns false if out of memory. */
bool fold_pairs(struct ir *ir, unsigned length, const struct fuse_kind *kind);
/* fold_select.c: folds selections between results of a few f32 operations. `length` is the number of FPUs of an
 * instruction. Notes name the selections that were folded, and give the reason for each selection that was not.
 * Returns false if out of memory. */
bool fold_selections(struct ir *ir, unsigned length, const struct fuse_kind *kind);
#endif
