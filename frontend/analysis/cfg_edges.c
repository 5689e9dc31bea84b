/* Builds a control-flow graph from its edges. */
#include "cfg.h"

struct cfg cfg_from_edges(struct arena *a, uint32_t n, const struct cfg_edge *edges, uint32_t n_edges) {
    struct cfg g = {.n = n};
    g.succ_first = arena_array(a, (size_t)n + 2, sizeof *g.succ_first);
    g.pred_first = arena_array(a, (size_t)n + 2, sizeof *g.pred_first);
    g.succ = arena_array(a, (size_t)n_edges + 1, sizeof *g.succ);
    g.pred = arena_array(a, (size_t)n_edges + 1, sizeof *g.pred);
    /* Counts the edges of node b in element b + 2. After the sums, element b + 1 is the index of b's first edge. The
     * last loop stores the edges and increments this element for each, so at the end it is the index after b's last
     * edge. */
    for (uint32_t i = 0; i < n_edges; i++) {
        g.succ_first[edges[i].from + 2]++;
        g.pred_first[edges[i].to + 2]++;
    }
    for (uint32_t b = 2; b < n + 2; b++) {
        g.succ_first[b] += g.succ_first[b - 1];
        g.pred_first[b] += g.pred_first[b - 1];
    }
    for (uint32_t i = 0; i < n_edges; i++) {
        g.succ[g.succ_first[edges[i].from + 1]++] = edges[i].to;
        g.pred[g.pred_first[edges[i].to + 1]++] = edges[i].from;
    }
    return g;
}
