#ifndef FRONTEND_LOOPS_H
#define FRONTEND_LOOPS_H
/* Natural loops, as a forest. A back edge leads to a block that dominates its source. The dominating block is the
 * header of the loop. The loop has all blocks that reach the source of the back edge without passing the header. Loops
 * with the same header are one loop. Two loops are disjoint or nested. A cycle with several entries has no header; its
 * blocks are marked irregular. */
#include "dom.h"

#define NO_LOOP UINT32_MAX

struct loop {
    uint32_t header;
    uint32_t parent; /* smallest enclosing loop, NO_LOOP if none */
    uint32_t depth;  /* nesting depth; 1: outermost */
    /* this loop has number `first`; its inner loops have the next numbers, up to `last` */
    uint32_t first, last;
    const uint32_t *number;       /* block -> number of the smallest loop that contains it, 0 for none */
    uint32_t n_blocks;            /* including inner loops */
    uint32_t *latches, n_latches; /* blocks inside with an edge to the header, ascending */
    struct cfg_edge *exits;       /* edges that leave the loop */
    uint32_t n_exits;
    /* the only predecessor of the header outside the loop, if the header is its only successor; else NO_BLOCK */
    uint32_t preheader;
    bool innermost; /* true if the loop contains no other loop */
};

struct loops {
    struct loop *list; /* sorted by header */
    uint32_t n;
    uint32_t *of;             /* block -> smallest loop that contains it, NO_LOOP for none */
    uint32_t *headed;         /* block -> the loop that has this block as header, NO_LOOP for none */
    unsigned char *irregular; /* block -> true if it is in a cycle with several entries */
};

/* Finds the loops of graph `g`. `dom` is its dominator tree. Arrays are allocated in `a`. */
struct loops find_loops(struct arena *a, const struct cfg *g, const struct dom_tree *dom);

/* Returns true if block b is in the loop, inner loops included. */
static inline bool loop_has(const struct loop *l, uint32_t b) {
    return l->number[b] >= l->first && l->number[b] <= l->last;
}
/* Returns true if loop `inner` is `outer` or inside it. */
bool loop_in(const struct loops *l, uint32_t inner, uint32_t outer);
#endif
