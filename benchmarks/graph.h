#ifndef BENCHMARKS_GRAPH_H
#define BENCHMARKS_GRAPH_H
/* Directed graphs from a seed, in compressed sparse rows; equal everywhere. Each function returns false when memory is
 * out or the graph has more than 2^32 - 1 edges; free the graph with bench_graph_free(), also then. */
#include <stdbool.h>
#include <stdint.h>

struct bench_graph {
    uint32_t nodes, edges;
    uint32_t *offsets; /* nodes + 1: where the edges of a node begin */
    uint32_t *targets; /* edges: where each leads */
};

/* From `least` to `most` edges a node (1 <= least <= most); one node in `every` is a hub with `hub_least` to
 * `hub_most`. The first edge of node i leads to i + 1, so that all can be reached, the others to uniformly
 * chosen nodes. */
bool bench_graph_hubs(struct bench_graph *g, uint32_t nodes, uint32_t least, uint32_t most, uint32_t every,
                      uint32_t hub_least, uint32_t hub_most, uint64_t seed);
/* Degrees that follow a power law: both ends of each edge are chosen by four-way bisection with odds of 57, 19, 19 and
 * 5 in a hundred (R-MAT; Chakrabarti, Zhan and Faloutsos, SDM 2004). Low numbers have most edges, many nodes have none.
 */
bool bench_graph_power_law(struct bench_graph *g, uint32_t nodes, uint32_t edges, uint64_t seed);
/* Like roads: crossings in a grid of width x height, each linked in both directions to its right and lower neighbour,
 * but for the links that are missing, `keep` in a hundred stay. Two to four edges a node, long ways. */
bool bench_graph_road(struct bench_graph *g, uint32_t width, uint32_t height, uint32_t keep, uint64_t seed);
/* Compressed rows from `edges` pairs of from and to, which keep their order within a row. `order`, unless NULL: for
 * each edge of the graph the number of its pair. */
bool bench_graph_pairs(struct bench_graph *g, uint32_t nodes, const uint32_t (*pairs)[2], uint32_t edges,
                       uint32_t *order);
/* How many edges each node is from node 0, -1 when out of reach, found with a queue: what searches are compared with.
 * `levels` has room for `nodes`. */
bool bench_graph_levels(const struct bench_graph *g, int32_t *levels);
void bench_graph_free(struct bench_graph *g);
#endif
