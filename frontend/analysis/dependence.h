#ifndef FRONTEND_CONTROL_H
#define FRONTEND_CONTROL_H
/* Control dependence: which branches decide whether a block of the kernel executes. It uses post-dominators of a graph
 * that has the kernel's blocks and one more node, the end of the thread. Unlike pass_postdom(), it counts every path to
 * the end: a branch to an exit controls all code after it. Source: Ferrante, Ottenstein and Warren, "The program
 * dependence graph and its use in optimization", TOPLAS 1987. */
#include "ir.h"

struct control {
    /* number of blocks of the kernel, which are the first blocks of the program; node n is the end of the thread */
    uint32_t n;
    struct cfg g;         /* the graph, n + 1 nodes */
    struct dom_tree post; /* post-dominators of g; node n is the root */
    uint32_t *level;      /* node -> depth in the tree `post`; the end of the thread has depth 0 */
    uint32_t *order;      /* nodes in preorder of the tree `post` */
    uint32_t *place;      /* node -> its index in `order` */
    uint32_t *last;       /* node -> index in `order` after the last node of its subtree */
    uint32_t stuck;       /* a block that cannot reach the end, NO_BLOCK if none; if set, `post` is invalid */
};

/* Returns an array: instruction -> true if it calls a function that may end the thread, directly or in a callee. */
unsigned char *calls_that_exit(struct arena *a, const struct ir *ir);
/* Finds the control dependences of the kernel. `may_exit`: instruction -> true if it is a call that may end the
 * thread; NULL means that no call ends the thread. Requires: blocks. */
struct control find_control(struct arena *a, const struct ir *ir, const unsigned char *may_exit);
/* Returns the first block that lies on all paths from the end of block b to the end of the thread; control.n means that
 * this is the end of the thread. */
static inline uint32_t control_join(const struct control *c, uint32_t b) { return c->post.up[b]; }
/* Returns true if block b has several successors. */
static inline bool control_parts(const struct control *c, uint32_t b) {
    return c->g.succ_first[b + 1] - c->g.succ_first[b] > 1;
}

/* Iterates over the blocks that depend on branches. A block that depends on several branches is returned once, with the
 * first of these branches that the caller asks for. */
struct dependents {
    const struct control *c;
    uint32_t *up; /* node -> the node itself, or an ancestor; the nodes between the two were returned already */
};
/* Starts the iteration. Arrays are allocated in `a`. */
struct dependents find_dependents(struct arena *a, const struct control *c);
/* Fills `list` with the blocks that depend directly on the branch at the end of block b and were not returned before.
 * Returns their number. `list` has room for all blocks. */
uint32_t dependents_of(struct dependents *d, uint32_t b, uint32_t *list);

/* Iterates over the blocks that end with a branch on which a given block depends. Each block is returned once. */
struct deciders {
    const struct control *c;
    uint32_t *from;  /* source block of each edge; edges are sorted by the preorder index of their target */
    uint32_t *first; /* preorder index -> its first edge */
    /* segment tree of minima with a leaf for each edge: the depth in `post` of the node where the paths from the edge's
     * source meet; UINT32_MAX once the edge was returned */
    uint32_t *least;
    uint32_t leaves; /* number of leaves, a power of two */
};
/* Starts the iteration. Arrays are allocated in `a`. */
struct deciders find_deciders(struct arena *a, const struct control *c);
/* Returns a block whose branch b depends on and that was not returned before, or NO_BLOCK. */
uint32_t next_decider(struct deciders *d, uint32_t b);
#endif
