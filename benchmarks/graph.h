#ifndef BENCHMARKS_GRAPH_H
#define BENCHMARKS_GRAPH_H
/* Generates directed graphs in compressed sparse rows from a seed. Every machine gets the same graphs. Each function
 * returns false if memory runs out or the graph has more than 2^32 - 1 edges. Free the graph with
 * bench_graph_free(), also on failure. */
#include <stdbool.h>
#include <stdint.h>

struct bench_graph {
    uint32_t nodes, edges;
    uint32_t *offsets; /* nodes + 1 elements: the index in `targets` of the first edge of each node */
    uint32_t *targets; /* one element per edge: its target node */
};

/* Makes a graph with `least` to `most` edges per node (1 <= least <= most). One node in `every` is a hub with
 * `hub_least` to `hub_most` edges. The first edge of node i leads to i + 1, so that all nodes are reachable; other
 * edges lead to uniformly chosen nodes. */
bool bench_graph_hubs(struct bench_graph *g, uint32_t nodes, uint32_t least, uint32_t most, uint32_t every,
                      uint32_t hub_least, uint32_t hub_most, uint64_t seed);
/* Makes a graph whose degrees follow a power law: both ends of each edge are chosen by four-way bisection with odds
 * of 57, 19, 19 and 5 in a hundred (R-MAT; Chakrabarti, Zhan and Faloutsos, SDM 2004). Nodes with low numbers have
 * most edges, many nodes have none. */
bool bench_graph_power_law(struct bench_graph *g, uint32_t nodes, uint32_t edges, uint64_t seed);
/* Makes a road network: crossings in a grid of width x height, linked in both directions to their right and lower
 * neighbours. `keep` percent of the links stay. Nodes have two to four edges, and paths are long. */
bool bench_graph_road(struct bench_graph *g, uint32_t width, uint32_t height, uint32_t keep, uint64_t seed);
/* Makes a graph from `edges` pairs of source and target node. The edges of a node keep the order of their pairs. If
 * `order` is not NULL, order[e] gets the number of the pair from which edge e of the graph was made. */
bool bench_graph_pairs(struct bench_graph *g, uint32_t nodes, const uint32_t (*pairs)[2], uint32_t edges,
                       uint32_t *order);
/* Computes the distance of each node from node 0, in edges, or -1 for an unreachable node. It is the reference of the
 * breadth-first searches, and uses a queue. `levels` has `nodes` elements. */
bool bench_graph_levels(const struct bench_graph *g, int32_t *levels);
void bench_graph_free(struct bench_graph *g);
#endif
