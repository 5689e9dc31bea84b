#ifndef FRONTEND_DOM_H
#define FRONTEND_DOM_H
/* Dominators and post-dominators of a control-flow graph. They use only the shape of the graph. dom.c names the
 * algorithm. */
#include "cfg.h"

/* A dominator tree. `a` dominates `b` if every path from a root to `b` passes `a`; every block dominates itself. For
 * post-dominators the roots are the ends, and paths run backward. */
struct dom_tree {
    uint32_t n;
    /* immediate dominator; NO_BLOCK for an unreachable block, and for a block without a dominator except itself: a
     * root, or a block that several roots reach on separate paths */
    uint32_t *up;
    /* preorder and postorder times in a walk over the tree; 0 for blocks unreachable from the roots */
    uint32_t *in, *out;
};

/* Returns the dominator tree of `g` for `n_roots` roots. An unreachable block is dominated only by itself. */
struct dom_tree dominators(struct arena *a, const struct cfg *g, const uint32_t *roots, uint32_t n_roots);
/* Returns the result of postdom() as a tree. Every block must reach an end. */
struct dom_tree post_dominators(struct arena *a, const struct cfg *g);
/* Returns true if `a` dominates `b`. */
bool dominates(const struct dom_tree *t, uint32_t a, uint32_t b);
/* Returns the nearest block that dominates both arguments, or NO_BLOCK. */
uint32_t dom_common(const struct dom_tree *t, uint32_t a, uint32_t b);

/* Fills out[b] with the immediate post-dominator of b, NO_BLOCK if it is the end of the thread. Blocks without
 * successors lead to the end. In a loop that reaches no end, the end of an iteration counts as the end: sides of a
 * branch that meet nowhere else join at the loop's header. So a header can be its own post-dominator. Such loops do not
 * change the post-dominators of blocks outside of them. */
void postdom(struct arena *tmp, const struct cfg *g, uint32_t *out);
#endif
