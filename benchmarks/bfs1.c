/* bfs1: breadth-first search from node 0 as the ISPASS-2009 suite has it, one launch a level. The graph is random, of
 * the kind of that suite's: 1 to 11 edges a node to uniformly chosen nodes, six on average, directed, and node i has
 * one to i + 1 so that all can be reached. The reference is a queue.
 *   small: 8,192 nodes, 0.21 M warp and 2.2 M thread instructions
 *   paper: 65,536 nodes as in the suite, 1.8 M and 19 M (the dual-path paper: 16 M); 33.0 % of lanes are used (the
 *   paper: 32 %) */
#include "bench.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_bfs1;

enum { BLOCK = 256 };

struct search {
    struct bench_graph graph;
    uint32_t nodes;
    uint32_t (*node)[2]; /* nodes: first edge, number of edges */
    uint32_t *queue;     /* nodes */
    int32_t *want, *got; /* nodes: levels, -1 when out of reach */
    uint8_t *flags;      /* nodes: 1 for node 0 */
};

static bool search_fill(struct search *g) {
    g->node = calloc(g->nodes, sizeof *g->node);
    g->queue = calloc(g->nodes, sizeof *g->queue);
    g->want = calloc(g->nodes, sizeof *g->want);
    g->got = calloc(g->nodes, sizeof *g->got);
    g->flags = calloc(g->nodes, 1);
    if (!g->node || !g->queue || !g->want || !g->got || !g->flags ||
        !bench_graph_hubs(&g->graph, g->nodes, 1, 11, g->nodes + 1, 1, 1, 2009))
        return false;
    for (uint32_t i = 0; i < g->nodes; i++) {
        g->node[i][0] = g->graph.offsets[i];
        g->node[i][1] = g->graph.offsets[i + 1] - g->graph.offsets[i];
    }
    memset(g->want, 0xff, g->nodes * sizeof *g->want);
    g->want[0] = 0;
    g->flags[0] = 1;
    return true;
}

static void search_free(struct search *g) {
    bench_graph_free(&g->graph);
    free(g->node);
    free(g->queue);
    free(g->want);
    free(g->got);
    free(g->flags);
}

/* `want` as search_fill() leaves it: node 0 alone is reached. */
static void reference(const struct search *g) {
    uint32_t head = 0, tail = 0;
    g->queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = g->queue[head++];
        for (uint32_t e = g->graph.offsets[at]; e < g->graph.offsets[at + 1]; e++) {
            uint32_t to = g->graph.targets[e];
            if (g->want[to] < 0) {
                g->want[to] = g->want[at] + 1;
                g->queue[tail++] = to;
            }
        }
    }
}

static enum heddle_status search(struct heddle *h, struct heddle_module *m, const struct search *g, uint64_t cost) {
    uint64_t node = bench_buffer(h, g->node, g->nodes * sizeof *g->node);
    uint64_t edge = bench_buffer(h, g->graph.targets, g->graph.edges * sizeof *g->graph.targets);
    uint64_t frontier = bench_buffer(h, g->flags, g->nodes), next = bench_buffer(h, NULL, g->nodes);
    uint64_t visited = bench_buffer(h, g->flags, g->nodes), over = bench_buffer(h, NULL, 1);
    if (!node || !edge || !frontier || !next || !visited || !over || heddle_clear(h, next, g->nodes) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(g->nodes, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    uint8_t more = 1, none = 0;
    enum heddle_status s = HEDDLE_OK;
    while (s == HEDDLE_OK && more) {
        s = heddle_write(h, over, &none, sizeof none);
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "bfs1", grid, block, BENCH_ARG(node), BENCH_ARG(edge), BENCH_ARG(frontier),
                             BENCH_ARG(next), BENCH_ARG(visited), BENCH_ARG(cost), BENCH_ARG(over),
                             BENCH_ARG(g->nodes));
        if (s == HEDDLE_OK)
            s = heddle_read(h, over, &more, sizeof more);
        uint64_t turn = frontier;
        frontier = next;
        next = turn;
    }
    return s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct search *g, char *why,
                                 size_t why_size) {
    uint64_t bytes = g->nodes * sizeof *g->want, cost = bench_buffer(h, g->want, bytes);
    if (!cost)
        return heddle_status(h);
    enum heddle_status s = search(h, m, g, cost);
    if (s != HEDDLE_OK || (s = heddle_read(h, cost, g->got, bytes)) != HEDDLE_OK)
        return s;
    reference(g);
    return bench_compare_words((uint32_t *)g->got, (uint32_t *)g->want, g->nodes, "level", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct search g = {.nodes = size == BENCH_SMALL ? 8192 : 65536};
    enum heddle_status s = search_fill(&g) ? run_on(h, m, &g, why, why_size) : bench_no_memory(why, why_size);
    search_free(&g);
    return s;
}

const struct bench bench_bfs1 = {
    "bfs1",
    "search of a random graph, one launch a level; an if without else in a loop of uneven length",
    "dual-path-regular",
    "bfs1.ptx",
    run,
};
