#include "graph.h"
#include "bench.h"
#include <stdlib.h>
#include <string.h>

void bench_graph_free(struct bench_graph *g) {
    free(g->offsets);
    free(g->targets);
    g->offsets = g->targets = NULL;
}

static bool begin(struct bench_graph *g, uint32_t nodes, uint64_t edges) {
    *g = (struct bench_graph){.nodes = nodes};
    if (edges > UINT32_MAX)
        return false;
    g->offsets = calloc((size_t)nodes + 1, sizeof *g->offsets);
    g->targets = calloc((size_t)edges + 1, sizeof *g->targets);
    return g->offsets && g->targets;
}

bool bench_graph_hubs(struct bench_graph *g, uint32_t nodes, uint32_t least, uint32_t most, uint32_t every,
                      uint32_t hub_least, uint32_t hub_most, uint64_t seed) {
    uint32_t room = most > hub_most ? most : hub_most;
    if (!begin(g, nodes, (uint64_t)nodes * room))
        return false;
    for (uint32_t i = 0; i < nodes; i++) {
        uint64_t r = bench_random(&seed);
        uint32_t pick = (uint32_t)(r >> 32);
        uint32_t degree = r % every ? least + pick % (most - least + 1) : hub_least + pick % (hub_most - hub_least + 1);
        g->offsets[i] = g->edges;
        g->targets[g->edges++] = (i + 1) % nodes;
        for (uint32_t e = 1; e < degree; e++)
            g->targets[g->edges++] = (uint32_t)(bench_random(&seed) % nodes);
    }
    g->offsets[nodes] = g->edges;
    return true;
}

bool bench_graph_pairs(struct bench_graph *g, uint32_t nodes, const uint32_t (*pairs)[2], uint32_t edges,
                       uint32_t *order) {
    if (!begin(g, nodes, edges))
        return false;
    g->edges = edges;
    for (uint32_t e = 0; e < edges; e++)
        g->offsets[pairs[e][0] + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        g->offsets[i + 1] += g->offsets[i];
    /* During this loop, g->offsets[i] is the index where the next edge of node i goes. The following loop restores the
     * index of its first edge. */
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t at = g->offsets[pairs[e][0]]++;
        g->targets[at] = pairs[e][1];
        if (order)
            order[at] = e;
    }
    for (uint32_t i = nodes; i > 0; i--)
        g->offsets[i] = g->offsets[i - 1];
    g->offsets[0] = 0;
    return true;
}

bool bench_graph_power_law(struct bench_graph *g, uint32_t nodes, uint32_t edges, uint64_t seed) {
    uint32_t(*pairs)[2] = calloc((size_t)edges + 1, sizeof *pairs);
    *g = (struct bench_graph){0};
    for (uint32_t e = 0; pairs && e < edges;) {
        uint64_t from = 0, to = 0;
        for (uint64_t reach = 1; reach < nodes; reach *= 2) {
            uint32_t r = (uint32_t)(bench_random(&seed) % 100);
            from = 2 * from + (r >= 76);
            to = 2 * to + (r >= 95 || (r >= 57 && r < 76));
        }
        if (from >= nodes || to >= nodes)
            continue;
        pairs[e][0] = (uint32_t)from;
        pairs[e++][1] = (uint32_t)to;
    }
    bool fine = pairs && bench_graph_pairs(g, nodes, (const uint32_t(*)[2])pairs, edges, NULL);
    free(pairs);
    return fine;
}

bool bench_graph_road(struct bench_graph *g, uint32_t width, uint32_t height, uint32_t keep, uint64_t seed) {
    uint64_t nodes = (uint64_t)width * height, n = 0;
    *g = (struct bench_graph){0};
    if (4 * nodes > UINT32_MAX)
        return false;
    uint32_t(*pairs)[2] = calloc(4 * nodes + 1, sizeof *pairs);
    for (uint32_t i = 0; pairs && i < nodes; i++)
        for (int down = 0; down < 2; down++) {
            bool edge = down ? i / width + 1 < height : i % width + 1 < width;
            if (!edge || bench_random(&seed) % 100 >= keep)
                continue;
            uint32_t to = i + (down ? width : 1);
            pairs[n][0] = pairs[n + 1][1] = i;
            pairs[n][1] = pairs[n + 1][0] = to;
            n += 2;
        }
    bool fine = pairs && bench_graph_pairs(g, (uint32_t)nodes, (const uint32_t(*)[2])pairs, (uint32_t)n, NULL);
    free(pairs);
    return fine;
}

bool bench_graph_levels(const struct bench_graph *g, int32_t *levels) {
    uint32_t *queue = calloc((size_t)g->nodes + 1, sizeof *queue), head = 0, tail = 0;
    if (!queue)
        return false;
    memset(levels, 0xff, g->nodes * sizeof *levels);
    levels[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t e = g->offsets[at]; e < g->offsets[at + 1]; e++) {
            uint32_t to = g->targets[e];
            if (levels[to] < 0) {
                levels[to] = levels[at] + 1;
                queue[tail++] = to;
            }
        }
    }
    free(queue);
    return true;
}
