#ifndef ISA_REDUCE_H
#define ISA_REDUCE_H
/* Sums over the lanes of a warp: the data of the compound instruction that mechanisms/reduce makes. It is here because
 * timing/sm reads it. The instruction stands for a ladder of shuffles and f32 additions, and does its steps in their
 * order. A tree of 31 adders between the lanes is wired for that order, and takes five additions' time ("PEPSC: A
 * Power-Efficient Processor for Scientific Computing", section III-C2). */
#include "fused.h"

enum {
    REDUCE_STEPS = 5,        /* of a warp */
    REDUCE_ADDERS = 31,      /* of the tree */
    REDUCE_ALL = WARP_LANES, /* program_reduce.lane: every lane takes the sum */
    REDUCE_SERIAL = 32,      /* most values of a sum of one lane */
    REDUCE_LEAST = 4,        /* fewer take as long in a tree */
};

struct program_reduce {
    warp_fn *shuffle; /* of each step; its distances are the instruction's list */
    lane_fn *add;
    uint16_t shuffle_row, add_row;
    uint8_t distance[REDUCE_STEPS]; /* 16, 8, 4, 2, 1, or the other way round */
    bool own_first[REDUCE_STEPS];   /* the addition's first source is the lane's own value, not the shuffled one */
    uint8_t lane;                   /* the only one whose sum is used; REDUCE_ALL */
    uint8_t moves;                  /* of the ladder, between shuffles and additions */
    /* Not REDUCE_ALL: who uses the sum is chosen by `b`: lanes in which (b & mask) is `value`. Unless these are that
     * lane alone, or none, the tree is not enough. */
    uint32_t mask, value;
    /* A sum in shared memory: register `b` is the address of each lane's part, less `at`, and each step adds the part
     * of `distance` lanes further and stores the sum. It is done in memory, step by step, so that what is stored is
     * what the steps store; shuffles have no part in it. `reload`: the step reads the lane's own part from memory.
     * `read`, when `reads`: the address that is read afterwards, which must be none of the lanes but the first. */
    bool tree, reads, reload[REDUCE_STEPS];
    uint32_t at, read;
    /* A sum of one lane, made one value after another: not 0: so many words of shared memory from register `b` + `at`
     * on, added to the lane's `a`. The instruction has no list, and no other lane has a part in it; the tree sums a row
     * of the memory for one lane, so that more of them do without. Values in between are not rounded (chain.ieee=off),
     * for a tree has another order than the program. `moves`: its loads. */
    uint8_t serial;
};

/* Instructions of the ladder. */
static inline unsigned reduce_ladder(const struct program_reduce *r) {
    return (r->serial ? r->serial : 2 * REDUCE_STEPS) + r->moves;
}
/* Levels of adders that a sum of one lane goes through: those of the tree, and that which adds what the lane has. */
static inline unsigned reduce_levels(const struct program_reduce *r) {
    unsigned levels = 1;
    for (unsigned n = r->serial; n > 1; n = (n + 1) / 2)
        levels++;
    return levels;
}
/* The sum of an instruction; NULL: it is none. There are two kinds of compound instructions, and this is the other. */
static inline const struct program_reduce *reduce_of(const struct program *p, const struct inst *in) {
    const struct program_compound *c = compound_of(p, in);
    return c && !fused_of_compound(c) ? c->what : NULL;
}
#endif
