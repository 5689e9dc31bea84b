#ifndef FRONTEND_FUSE_H
#define FRONTEND_FUSE_H
/* Groups of dependent f32 operations that become one instruction (isa/fused.h), for the passes that make them: of
 * straight code, or of both sides of a branch. */
#include "edit.h"
#include "frontend/analysis/defuse.h"
#include "isa/fused.h"

/* Operations that become one: each takes the result of the one before it, in program order. One alone is a group, too.
 */
struct fuse_group {
    uint32_t inst[FUSED_LENGTH], n;
    unsigned units; /* FPUs */
};

/* The groups of a block. */
struct fuse_search {
    struct ir *ir;
    struct defuse defuse;
    unsigned length;    /* most units of a group */
    bool sides;         /* groups may have what the side of a folded branch may have (fuse_side_holds) */
    uint32_t *next;     /* instruction -> the only one that takes its result, in its block; NO_INST */
    const char **alone; /* instruction -> why there is none */
    struct fuse_group *group;
    uint32_t n_groups, cap_groups;
    unsigned char *taken; /* instruction: it is in a group */
};

/* FPUs that an instruction takes: 1 for an f32 addition, subtraction or multiplication, 2 for a fused multiply-add; 0
 * for any other. */
unsigned fuse_units_of(const struct inst *in);
/* May it be on a side of a folded branch: what has units, minimum, maximum, sign and absolute value of f32, of one unit
 * each, for an adder compares and the row of FPUs hands a value on; or a move of 32 bits? */
bool fuse_side_holds(const struct ir *ir, const struct inst *in);
/* Units of such an instruction there. A move has none: it is the copy of a result. */
unsigned fuse_side_units(const struct inst *in);
/* Does instruction i write register `vreg`? */
bool fuse_writes(const struct ir *ir, uint32_t i, uint32_t vreg);
struct fuse_search fuse_search_begin(struct ir *ir, unsigned length, bool sides);
/* Fills s->group with the groups of at least two operations among instructions [begin, end) of a block, the longest
 * first, those of equal length in program order. */
void fuse_find(struct fuse_search *s, uint32_t begin, uint32_t end);

/* The instruction that computes `first`, and `second` beside it (NULL: nothing), each from the values that its sources
 * have where it will stand. Its guard is that of the first operation. `wide`: operations between are not rounded. */
struct inst fuse_make(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second, bool wide);
/* The same with a predicate: where it holds a lane keeps the result of the first group, elsewhere that of the second.
 */
struct inst fuse_make_folded(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second,
                             uint32_t predicate, bool wide);
/* One side of a selection: operations, or, when the group is empty, a value that is there already. */
struct fuse_choice {
    struct fuse_group group;
    opnd_t value;
};
/* The instruction of selection `select`, d = p ? a : b, with the operations that make a and b: fuse_make_folded() of
 * its two sides, whose results are both d. */
struct inst fuse_make_selected(struct ir *ir, const struct inst *select, const struct fuse_choice side[2], bool wide);
/* What an instruction that these functions made computes; NULL: it is another instruction. */
const struct fused *fuse_made(const struct ir *ir, const struct inst *in);
/* The place in the source of `node` becomes that of instruction `inst`. */
void fuse_place(struct edit *e, uint32_t node, uint32_t inst);
#endif
