#ifndef MECHANISMS_REDUCE_H
#define MECHANISMS_REDUCE_H
/* The data of the compound instruction `#reduce`, a sum over the lanes of a warp. The instruction replaces a ladder of
 * shuffles and f32 additions, and does its steps in their order. A tree of 31 adders between the lanes is wired for
 * that order, and takes the time of five additions ("PEPSC: A Power-Efficient Processor for Scientific Computing",
 * section III-C2). */
#include "isa/compound.h"

enum {
    REDUCE_STEPS = 5,        /* steps of a sum over 32 lanes */
    REDUCE_ADDERS = 31,      /* adders of the tree */
    REDUCE_ALL = WARP_LANES, /* program_reduce.lane: every lane takes the sum */
    REDUCE_SERIAL = 32,      /* most values of a sum of one lane */
    REDUCE_LEAST = 4,        /* fewer values take as long in a tree as one by one */
};

struct program_reduce {
    warp_fn *shuffle; /* executes the shuffle of a step; the instruction's list has the distances */
    lane_fn *add;
    uint16_t shuffle_row, add_row;
    uint8_t distance[REDUCE_STEPS]; /* 16, 8, 4, 2, 1, or the other way round */
    bool own_first[REDUCE_STEPS];   /* the addition's first source is the lane's own value, not the shuffled one */
    uint8_t lane;                   /* the lane whose sum is used; REDUCE_ALL */
    uint8_t moves;                  /* moves between shuffles and additions of the ladder */
    /* If `lane` is not REDUCE_ALL, a lane uses the sum where (b & mask) == value. The tree serves the instruction if no
     * lane but `lane` does. */
    uint32_t mask, value;
    /* `tree`: the sum is made in shared memory, without shuffles. The value of a lane is at address b + at. Each step
     * adds the value of the lane `distance` further on and stores the sum, so memory ends up as the steps leave it.
     * `reload`: the step loads the lane's own value from memory. `reads`: the program reads address `read` afterwards,
     * which must not be the place of another lane than the first. */
    bool tree, reads, reload[REDUCE_STEPS];
    uint32_t at, read;
    /* Not 0: a serial sum of one lane. The instruction adds `serial` words of shared memory from address b + at on to
     * the lane's value `a`, and has no list. The tree sums words for one lane only, so several lanes fall back.
     * Intermediate sums are not rounded (chain.ieee=off), because the tree adds in another order than the program.
     * Here `moves`
     * is the number of loads. */
    uint8_t serial;
};

/* Returns the number of instructions that the sum replaces. */
static inline unsigned reduce_ladder(const struct program_reduce *r) {
    return (r->serial ? r->serial : 2 * REDUCE_STEPS) + r->moves;
}
/* Returns the levels of adders of a serial sum: the levels of the tree, and one for the lane's start value. */
static inline unsigned reduce_levels(const struct program_reduce *r) {
    unsigned levels = 1;
    for (unsigned n = r->serial; n > 1; n = (n + 1) / 2)
        levels++;
    return levels;
}
#endif
