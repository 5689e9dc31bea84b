/* bfs: breadth-first search from node 0, two launches per level. The graph is random: most nodes have 2 to 10 edges,
 * and one node in 64 is a hub with up to 64 edges. Edges are directed and lead to uniformly chosen nodes, but node i
 * also has an edge to node i + 1, so that all nodes are reachable. The reference is a search with a queue.
 *   size small: 8192 nodes, 0.27 M warp and 2.7 M thread instructions
 *   size paper: 65536 nodes as in Rodinia's larger graph, 2.2 M warp and 24 M thread instructions; 33.5 % of
 *     lanes are active */
#include "bench.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_bfs;

struct search {
    struct bench_graph graph;
    uint32_t nodes;
    int32_t *want, *got; /* levels */
    uint8_t *flags;      /* one element per node: 1 for node 0, 0 for the others */
};

static void search_free(struct search *g) {
    bench_graph_free(&g->graph);
    free(g->want);
    free(g->got);
    free(g->flags);
}

static bool search_alloc(struct search *g) {
    g->want = calloc(g->nodes, sizeof *g->want);
    g->got = calloc(g->nodes, sizeof *g->got);
    g->flags = calloc(g->nodes, 1);
    return g->want && g->got && g->flags;
}

static enum heddle_status search(struct heddle *h, struct heddle_module *m, struct search *g) {
    uint32_t n = g->nodes, again = 1;
    memset(g->got, 0xff, n * sizeof *g->got);
    g->got[0] = 0;
    uint64_t first = bench_buffer(h, g->graph.offsets, (n + 1) * sizeof *g->graph.offsets);
    uint64_t edges = bench_buffer(h, g->graph.targets, g->graph.edges * sizeof *g->graph.targets);
    uint64_t frontier = bench_buffer(h, g->flags, n), visited = bench_buffer(h, g->flags, n),
             next = bench_buffer(h, NULL, n);
    uint64_t cost = bench_buffer(h, g->got, n * sizeof *g->got), flag = bench_buffer(h, NULL, sizeof again);
    if (!first || !edges || !frontier || !visited || !next || !cost || !flag)
        return heddle_status(h);
    struct heddle_dim block = {256, 1, 1}, grid = {(n + 255) / 256, 1, 1};
    enum heddle_status s = heddle_clear(h, next, n);
    while (again && s == HEDDLE_OK) {
        again = 0;
        s = heddle_write(h, flag, &again, sizeof again);
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "bfs_expand", grid, block, BENCH_ARG(first), BENCH_ARG(edges), BENCH_ARG(frontier),
                             BENCH_ARG(next), BENCH_ARG(visited), BENCH_ARG(cost), BENCH_ARG(n));
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "bfs_update", grid, block, BENCH_ARG(frontier), BENCH_ARG(next), BENCH_ARG(visited),
                             BENCH_ARG(flag), BENCH_ARG(n));
        if (s == HEDDLE_OK)
            s = heddle_read(h, flag, &again, sizeof again);
    }
    return s == HEDDLE_OK ? heddle_read(h, cost, g->got, n * sizeof *g->got) : s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct search g = {.nodes = size == BENCH_SMALL ? 8192 : 65536};
    enum heddle_status s;
    if (!search_alloc(&g) || !bench_graph_hubs(&g.graph, g.nodes, 2, 10, 64, 16, 64, 5) ||
        !bench_graph_levels(&g.graph, g.want)) {
        s = bench_no_memory(why, why_size);
    } else {
        g.flags[0] = 1;
        s = search(h, m, &g);
        for (uint32_t i = 0; s == HEDDLE_OK && i < g.nodes; i++)
            if (g.got[i] != g.want[i]) {
                snprintf(why, why_size, "node %u has level %d, the reference says %d", i, g.got[i], g.want[i]);
                s = HEDDLE_WRONG;
            }
    }
    search_free(&g);
    return s;
}

const struct bench bench_bfs = {
    "bfs", "breadth-first search; ifs without else, loops as long as a node's degree", "dac", "bfs.ptx", run,
};
