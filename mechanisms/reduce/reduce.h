#ifndef MECHANISMS_REDUCE_H
#define MECHANISMS_REDUCE_H
/* The data of the compound instruction `#reduce`, a sum over the lanes of a warp. The instruction replaces a ladder:
 * five steps of a shuffle and an f32 addition each. It adds in the order of the ladder. A tree of 31 adders between the
 * lanes is wired for this order, and takes as long as five additions ("PEPSC: A Power-Efficient Processor for
 * Scientific Computing", section III-C2). */
#include "isa/compound.h"

enum {
    REDUCE_STEPS = 5,        /* number of steps of a sum over 32 lanes */
    REDUCE_ADDERS = 31,      /* number of adders of the tree */
    REDUCE_ALL = WARP_LANES, /* value of program_reduce.lane if every lane uses the sum */
    REDUCE_SERIAL = 32,      /* maximum number of values in a sum of one lane */
    REDUCE_LEAST = 4,        /* with fewer values, the tree takes as long as successive additions */
};

struct program_reduce {
    /* function that executes the shuffle of a step; the operand list of the instruction has the distances */
    warp_fn *shuffle;
    lane_fn *add;
    uint16_t shuffle_row, add_row;
    uint8_t distance[REDUCE_STEPS]; /* shuffle distance of each step: 16, 8, 4, 2, 1 or 1, 2, 4, 8, 16 */
    bool own_first[REDUCE_STEPS];   /* the addition's first source is the lane's own value, not the shuffled one */
    uint8_t lane;                   /* the lane whose sum is used; REDUCE_ALL: all lanes use it */
    uint8_t moves;                  /* number of moves between the shuffles and additions of the ladder */
    /* If `lane` is not REDUCE_ALL, a lane uses the sum where (b & mask) == value. The tree computes the sum if only
     * `lane` uses it. */
    uint32_t mask, value;
    /* `tree`: the program sums in shared memory, without shuffles. The value of a lane is at address b + at. In each
     * step, every lane adds the value of the lane that is `distance` lanes further on, and stores the sum. So the
     * instruction, too, leaves these sums in shared memory. `reload`: each step loads the lane's own value from memory.
     * `reads`: the program later reads address `read`, which must not hold the value of any lane but the first. */
    bool tree, reads, reload[REDUCE_STEPS];
    bool wide; /* for a sum in shared memory: operand b has 64 bits */
    uint32_t at, read;
    /* If `serial` is not 0, the instruction is a serial sum of one lane. The instruction adds `serial` words of shared
     * memory from address b + at on to the lane's value `a`, and has no list. The tree computes the sum of one lane
     * only. If several lanes execute the instruction, they use the fallback: successive additions. Intermediate sums
     * are not rounded (chain.ieee=off), because the tree adds in another order than the program. Here `moves` is the
     * number of loads. */
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
