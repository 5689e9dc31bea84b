#ifndef MECHANISMS_FRONTIERS_PRIORITY_H
#define MECHANISMS_FRONTIERS_PRIORITY_H
/* The compiler's part of thread frontiers: priorities of blocks, and the thread frontier of each block. */
#include "frontend/analysis/dom.h"

/* Returns the priority of each block: 0 is the highest, and each block has its own. A block comes after the blocks that
 * lead to it, apart from back edges. All blocks of a loop come before the other blocks that the loop leads to. Of
 * several possible blocks, the first one in the code comes first. */
uint32_t *find_priorities(struct arena *a, const struct cfg *g, const uint32_t *roots, uint32_t n_roots);

/* The thread frontiers of all blocks: the frontier of block b has the blocks at which threads of a warp may wait while
 * the warp executes b. */
struct frontier_sets {
    uint32_t n, words;        /* number of blocks; number of words of a set */
    const uint32_t *priority; /* block -> priority */
    const uint32_t *block;    /* priority -> block */
    uint64_t *set;            /* the words from set[b * words] on: a bit for each priority in the frontier of block b */
};
struct frontier_sets find_frontiers(struct arena *a, const struct cfg *g, const uint32_t *priority);
/* Returns true if `other` is in the frontier of block b. */
bool frontier_has(const struct frontier_sets *f, uint32_t b, uint32_t other);
/* Returns the block of highest priority in the frontier of block b; NO_BLOCK: the frontier is empty. */
uint32_t frontier_first(const struct frontier_sets *f, uint32_t b);
#endif
