#ifndef FRONTEND_CFG_H
#define FRONTEND_CFG_H
/* A control-flow graph of blocks. Edges are stored as compressed sparse rows (CSR). */
#include "ptx/arena.h"
#include <stdbool.h>
#include <stdint.h>

#define NO_BLOCK UINT32_MAX

struct cfg {
    uint32_t n;
    uint32_t *succ_first, *succ; /* successors of b: succ[succ_first[b]] to succ[succ_first[b + 1] - 1] */
    uint32_t *pred_first, *pred; /* predecessors of each block, stored in the same way as the successors */
};

struct cfg_edge {
    uint32_t from, to;
};

/* Builds the graph of `n` blocks with `n_edges` edges. Edges keep their order; duplicates stay. Arrays are allocated in
 * `a`. */
struct cfg cfg_from_edges(struct arena *a, uint32_t n, const struct cfg_edge *edges, uint32_t n_edges);
#endif
