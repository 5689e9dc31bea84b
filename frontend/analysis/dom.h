#ifndef FRONTEND_DOM_H
#define FRONTEND_DOM_H
/* Dominators and post-dominators of a graph of blocks. They know nothing but its shape.
 * Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". */
#include "cfg.h"

/* `a` dominates `b` when every way from a root to `b` passes `a`; every block dominates itself. In a tree of
 * post-dominators the roots are the ends, and ways are walked backward. */
struct dom_tree {
    uint32_t n;
    uint32_t *up; /* the immediate dominator; NO_BLOCK for a root, what several roots lead to by ways of their own,
                     and what none leads to */
    uint32_t *in, *out; /* when a walk over the tree comes to a block and leaves it for good; 0: no root leads to it */
};

/* What the blocks in `roots` dominate. Blocks that no root leads to are dominated by themselves alone. */
struct dom_tree dominators(struct arena *a, const struct cfg *g, const uint32_t *roots, uint32_t n_roots);
/* The tree of what postdom() says. */
struct dom_tree post_dominators(struct arena *a, const struct cfg *g);
/* Does `a` dominate `b`? */
bool dominates(const struct dom_tree *t, uint32_t a, uint32_t b);
/* The nearest block that dominates both; NO_BLOCK when there is none. */
uint32_t dom_common(const struct dom_tree *t, uint32_t a, uint32_t b);

/* out[b]: the immediate post-dominator of b, NO_BLOCK when it is the end of the thread. Blocks without successors lead
 * to the end. Blocks that cannot reach it (infinite loops) get an edge to it from the block that a depth-first walk
 * from the lowest-numbered block leaves first, so that every block has an answer and no other block's changes. */
void postdom(struct arena *tmp, const struct cfg *g, uint32_t *out);
#endif
