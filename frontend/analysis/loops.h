#ifndef FRONTEND_LOOPS_H
#define FRONTEND_LOOPS_H
/* Natural loops, as a forest. An edge to a block that dominates its source closes a loop around all blocks that reach
 * the source without passing the header; loops with one header are one. Two loops are apart or one lies in the other.
 * Cycles that can be entered at several blocks have no header: their blocks are marked. */
#include "dom.h"

#define NO_LOOP UINT32_MAX

struct loop {
    uint32_t header;
    uint32_t parent;              /* the smallest loop around it; NO_LOOP when none is */
    uint32_t depth;               /* 1: lies in no other */
    uint32_t first, last;         /* numbers of itself and of the loops in it, from 1: see loop_has() */
    const uint32_t *number;       /* block -> number of the smallest loop around it, 0 for none */
    uint32_t n_blocks;            /* inner loops' included */
    uint32_t *latches, n_latches; /* blocks with an edge to the header from inside, ascending */
    struct cfg_edge *exits;       /* edges that leave it */
    uint32_t n_exits;
    uint32_t
        preheader;  /* the one block outside that leads to the header, and to nothing else; NO_BLOCK: there is none */
    bool innermost; /* no loop lies in it */
};

struct loops {
    struct loop *list; /* by header, ascending */
    uint32_t n;
    uint32_t *of;             /* block -> the smallest loop around it, NO_LOOP for none */
    uint32_t *headed;         /* block -> the loop it is the header of, NO_LOOP for none */
    unsigned char *irregular; /* block -> lies in a cycle that several blocks are the first of */
};

/* The loops of a graph whose dominators are `dom`. */
struct loops find_loops(struct arena *a, const struct cfg *g, const struct dom_tree *dom);

static inline bool loop_has(const struct loop *l, uint32_t b) {
    return l->number[b] >= l->first && l->number[b] <= l->last;
}
/* Does `inner` lie in `outer`, or is it the same? */
bool loop_in(const struct loops *l, uint32_t inner, uint32_t outer);
#endif
