/* bfs2: breadth-first search from node 0 over a directed graph whose degrees follow a power law: eight edges a node on
 * average, both ends of each chosen by four-way bisection with odds of 57, 19, 19 and 5 in a hundred (R-MAT). Low
 * numbers have most edges; many nodes have none. The reference is a queue.
 *   small: 4,096 nodes, 0.19 M warp and 1.2 M thread instructions
 *   paper: 65,536 nodes, 3.0 M and 21 M (the dual-path paper: 26 M) */
#include "bench.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_bfs2;

enum { BLOCK = 512, DEGREE = 8 };

struct graph {
    uint32_t nodes, edges;
    uint32_t (*node)[2]; /* nodes: first edge, number of edges */
    uint32_t *edge;      /* ends of the edges */
    uint32_t *queue;     /* nodes */
    int32_t *want, *got; /* nodes: levels, -1 when out of reach */
    uint8_t *flags;      /* nodes: 1 for node 0 */
};

static bool generate(struct graph *g) {
    struct bench_graph r;
    if (!bench_graph_power_law(&r, g->nodes, g->edges, 49))
        return false;
    for (uint32_t i = 0; i < g->nodes; i++) {
        g->node[i][0] = r.offsets[i];
        g->node[i][1] = r.offsets[i + 1] - r.offsets[i];
    }
    memcpy(g->edge, r.targets, g->edges * sizeof *g->edge);
    bench_graph_free(&r);
    memset(g->want, 0xff, g->nodes * sizeof *g->want);
    g->want[0] = 0;
    g->flags[0] = 1;
    return true;
}

static void reference(const struct graph *g) {
    uint32_t head = 0, tail = 0;
    g->queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = g->queue[head++];
        for (uint32_t i = 0; i < g->node[at][1]; i++) {
            uint32_t to = g->edge[g->node[at][0] + i];
            if (g->want[to] < 0) {
                g->want[to] = g->want[at] + 1;
                g->queue[tail++] = to;
            }
        }
    }
}

static enum heddle_status search(struct heddle *h, struct heddle_module *m, const struct graph *g, uint64_t cost) {
    uint64_t node = bench_buffer(h, g->node, g->nodes * sizeof *g->node);
    uint64_t edge = bench_buffer(h, g->edge, g->edges * sizeof *g->edge),
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

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct graph *g, char *why,
                                 size_t why_size) {
    if (!generate(g))
        return bench_no_memory(why, why_size);
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
    struct graph g = {.nodes = size == BENCH_SMALL ? 4096 : 65536};
    g.edges = DEGREE * g.nodes;
    g.node = calloc(g.nodes, sizeof *g.node);
    g.edge = calloc(g.edges, sizeof *g.edge);
    g.queue = calloc(g.nodes, sizeof *g.queue);
    g.want = calloc(g.nodes, 2 * sizeof *g.want);
    g.flags = calloc(g.nodes, 1);
    enum heddle_status s;
    if (g.node && g.edge && g.queue && g.want && g.flags) {
        g.got = g.want + g.nodes;
        s = run_on(h, m, &g, why, why_size);
    } else
        s = bench_no_memory(why, why_size);
    free(g.node), free(g.edge), free(g.queue), free(g.want), free(g.flags);
    return s;
}

const struct bench bench_bfs2 = {
    "bfs2",
    "search of a graph with a power law; an if without else in a loop of uneven length",
    "dual-path-regular",
    "bfs2.ptx",
    run,
};
