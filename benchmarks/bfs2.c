/* bfs2: breadth-first search from node 0 over a directed graph whose degrees follow a power law: each node has eight
 * edges on average, and both ends of each edge are chosen by four-way bisection with odds of 57, 19, 19 and 5 in a
 * hundred (R-MAT). Low numbers have most edges; many nodes have none. The reference is a search with a queue.
 *   size small: 4,096 nodes, 0.19 M warp and 1.2 M thread instructions
 *   size paper: 65,536 nodes, 3.0 M warp and 21 M thread instructions (26 M in the dual-path paper) */
#include "bench.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_bfs2;

enum { BLOCK = 512, DEGREE = 8 };

struct search {
    struct bench_graph graph;
    uint32_t nodes;
    uint32_t (*node)[2]; /* for each node: its first edge, its number of edges */
    int32_t *want, *got; /* level of each node, -1 if it is not reached; `got` begins with a level for node 0 only */
    uint8_t *flags;      /* one element per node: 1 for node 0, 0 for the others */
};

static bool search_fill(struct search *g) {
    g->node = calloc(g->nodes, sizeof *g->node);
    g->want = calloc(g->nodes, sizeof *g->want);
    g->got = calloc(g->nodes, sizeof *g->got);
    g->flags = calloc(g->nodes, 1);
    if (!g->node || !g->want || !g->got || !g->flags ||
        !bench_graph_power_law(&g->graph, g->nodes, DEGREE * g->nodes, 49))
        return false;
    for (uint32_t i = 0; i < g->nodes; i++) {
        g->node[i][0] = g->graph.offsets[i];
        g->node[i][1] = g->graph.offsets[i + 1] - g->graph.offsets[i];
    }
    memset(g->got, 0xff, g->nodes * sizeof *g->got);
    g->got[0] = 0;
    g->flags[0] = 1;
    return bench_graph_levels(&g->graph, g->want);
}

static void search_free(struct search *g) {
    bench_graph_free(&g->graph);
    free(g->node);
    free(g->want);
    free(g->got);
    free(g->flags);
}

static enum heddle_status search(struct heddle *h, struct heddle_module *m, const struct search *g, uint64_t cost) {
    uint64_t node = bench_buffer(h, g->node, g->nodes * sizeof *g->node);
    uint64_t edge = bench_buffer(h, g->graph.targets, g->graph.edges * sizeof *g->graph.targets),
             again = bench_buffer(h, NULL, sizeof(int32_t));
    uint64_t frontier = bench_buffer(h, g->flags, g->nodes), marked = bench_buffer(h, NULL, g->nodes);
    uint64_t visited = bench_buffer(h, g->flags, g->nodes);
    if (!node || !edge || !again || !frontier || !marked || !visited || heddle_clear(h, marked, g->nodes) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(g->nodes, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    int32_t more = 1, none = 0;
    enum heddle_status s = HEDDLE_OK;
    while (s == HEDDLE_OK && more) {
        s = heddle_write(h, again, &none, sizeof none);
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "bfs2_expand", grid, block, BENCH_ARG(node), BENCH_ARG(edge), BENCH_ARG(frontier),
                             BENCH_ARG(marked), BENCH_ARG(visited), BENCH_ARG(cost), BENCH_ARG(g->nodes));
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "bfs2_update", grid, block, BENCH_ARG(frontier), BENCH_ARG(marked),
                             BENCH_ARG(visited), BENCH_ARG(again), BENCH_ARG(g->nodes));
        if (s == HEDDLE_OK)
            s = heddle_read(h, again, &more, sizeof more);
    }
    return s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct search *g, char *why,
                                 size_t why_size) {
    uint64_t bytes = g->nodes * sizeof *g->got, cost = bench_buffer(h, g->got, bytes);
    if (!cost)
        return heddle_status(h);
    enum heddle_status s = search(h, m, g, cost);
    if (s != HEDDLE_OK || (s = heddle_read(h, cost, g->got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare_words((uint32_t *)g->got, (uint32_t *)g->want, g->nodes, "level", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct search g = {.nodes = size == BENCH_SMALL ? 4096 : 65536};
    enum heddle_status s = search_fill(&g) ? run_on(h, m, &g, why, why_size) : bench_no_memory(why, why_size);
    search_free(&g);
    return s;
}

const struct bench bench_bfs2 = {
    "bfs2",
    "search of a graph with a power law; an if without else in a loop of uneven length",
    "dual-path-regular",
    "bfs2.ptx",
    run,
};
