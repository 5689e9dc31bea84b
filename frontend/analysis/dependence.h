#ifndef FRONTEND_CONTROL_H
#define FRONTEND_CONTROL_H
/* Which branches decide whether a block of the kernel is executed: control dependence, from post-dominators of the
 * kernel's own blocks and one node more, the end of the thread. Unlike joins (pass_postdom()) it counts every way to
 * the end: a branch to an exit decides about all that comes behind it. Ferrante, Ottenstein and Warren, "The program
 * dependence graph and its use in optimization", TOPLAS 1987. */
#include "ir.h"

struct control {
    uint32_t n;   /* blocks of the kernel, which are the first of the program; node n is the end of the thread */
    struct cfg g; /* n + 1 nodes */
    struct dom_tree post; /* its post-dominators: node n is the root */
    uint32_t *level;      /* of a node in that tree: 0 is the end */
    uint32_t *order;      /* nodes as a walk over the tree meets them, each before those below it */
    uint32_t *place;      /* back: node -> its place in the order */
    uint32_t *last;       /* node -> the place behind the last of those below it */
    uint32_t stuck; /* a block that no way leads out of to the end; NO_BLOCK: there is none. Else post is nothing */
};

/* Instruction -> a call of a function in which, or in what that calls, threads may end. */
unsigned char *calls_that_exit(struct arena *a, const struct ir *ir);
/* Requires: blocks. `may_exit`: whether a call, by its instruction, may end the thread; NULL: none does. */
struct control find_control(struct arena *a, const struct ir *ir, const unsigned char *may_exit);
/* Where the ways that part at the end of block b have all met; control.n: at the end of the thread. */
static inline uint32_t control_join(const struct control *c, uint32_t b) { return c->post.up[b]; }
static inline bool control_parts(const struct control *c, uint32_t b) {
    return c->g.succ_first[b + 1] - c->g.succ_first[b] > 1;
}

/* The blocks that depend on branches, each told once, whichever branch it is. */
struct dependents {
    const struct control *c;
    uint32_t *up; /* node -> itself, or a node above it: those between were told */
};
struct dependents find_dependents(struct arena *a, const struct control *c);
/* Blocks that depend on the branch at the end of block b, at the first step, and were not told before. Fills `list`,
 * which has room for all; returns how many. */
uint32_t dependents_of(struct dependents *d, uint32_t b, uint32_t *list);

/* The other way round: the blocks whose branches a block depends on, each told once. */
struct deciders {
    const struct control *c;
    uint32_t *from;  /* edges by the place of their target: the blocks that they leave */
    uint32_t *first; /* place -> its first edge */
    uint32_t *least; /* a tree of minima over edges: the level of the join of the ways; once told: UINT32_MAX */
    uint32_t leaves; /* of that tree; a power of two */
};
struct deciders find_deciders(struct arena *a, const struct control *c);
/* A block that ends in a branch on which b depends and that was not told before; NO_BLOCK: there is none. */
uint32_t next_decider(struct deciders *d, uint32_t b);
#endif
