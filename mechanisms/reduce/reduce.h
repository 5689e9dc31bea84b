#ifndef MECHANISMS_REDUCE_H
#define MECHANISMS_REDUCE_H
/* The data of the compound instruction `#reduce`, a sum over the lanes of a warp. The instruction replaces a ladder of
 * shuffles and f32 additions, and does its steps in their order. A tree of 31 adders between the lanes is wired for that
 * order, and takes the time of five additions ("PEPSC: A Power-Efficient Processor for Scientific Computing", section
 * III-C2). */
#include "isa/compound.h"

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
    /* Not REDUCE_ALL: `b` chooses the lanes that use the sum: those in which (b & mask) is `value`. The tree is enough
     * if these are lane `lane` alone, or none. */
    uint32_t mask, value;
    /* A sum in shared memory. Register `b` is the address of each lane's part, less `at`. Each step adds the part of
     * the lane `distance` further and stores the sum, so memory ends up as the steps leave it. No shuffle takes part.
     * `reload`: the step reads the lane's own part from memory. If `reads`, address `read` is read afterwards; it must
     * belong to no lane but the first. */
    bool tree, reads, reload[REDUCE_STEPS];
    uint32_t at, read;
    /* Not 0: a sum of one lane, made one value after another, of so many words of shared memory from register `b` +
     * `at` on, added to the lane's `a`. The instruction has no list. The tree sums a row of memory for one lane, so
     * with several lanes it is not enough. Values in between are not rounded (chain.ieee=off), since a tree has another
     * order than the program. `moves`: its loads. */
    uint8_t serial;
};

/* Number of instructions of the ladder. */
static inline unsigned reduce_ladder(const struct program_reduce *r) {
    return (r->serial ? r->serial : 2 * REDUCE_STEPS) + r->moves;
}
/* Levels of adders in a sum of one lane: those of the tree, and one that adds the lane's start value. */
static inline unsigned reduce_levels(const struct program_reduce *r) {
    unsigned levels = 1;
    for (unsigned n = r->serial; n > 1; n = (n + 1) / 2)
        levels++;
    return levels;
}
#endif
