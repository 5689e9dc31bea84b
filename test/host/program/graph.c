/* Tests the properties of each kind of graph that host/program/graph.c generates. */
#include "benchmarks/graph.h"
#include "test/test.h"

static bool has_edge(const struct bench_graph *g, uint32_t from, uint32_t to) {
    for (uint32_t e = g->offsets[from]; e < g->offsets[from + 1]; e++)
        if (g->targets[e] == to)
            return true;
    return false;
}

static void check_rows(const struct bench_graph *g) {
    ck_assert_uint_eq(g->offsets[0], 0);
    ck_assert_uint_eq(g->offsets[g->nodes], g->edges);
    for (uint32_t i = 0; i < g->nodes; i++)
        EXPECT(g->offsets[i] <= g->offsets[i + 1], "row %u", i);
    for (uint32_t e = 0; e < g->edges; e++)
        EXPECT(g->targets[e] < g->nodes, "edge %u leads to %u", e, g->targets[e]);
}

START_TEST(hubs_have_their_degrees_and_a_ring) {
    struct bench_graph g;
    uint32_t hubs = 0;
    ck_assert(bench_graph_hubs(&g, 6400, 3, 5, 64, 20, 30, 1));
    check_rows(&g);
    for (uint32_t i = 0; i < g.nodes; i++) {
        uint32_t degree = g.offsets[i + 1] - g.offsets[i];
        EXPECT((degree >= 3 && degree <= 5) || (degree >= 20 && degree <= 30), "node %u has %u", i, degree);
        hubs += degree >= 20;
        EXPECT(has_edge(&g, i, (i + 1) % g.nodes), "node %u", i);
    }
    ck_assert_uint_ge(hubs, 70); /* mean degree 6400 / 64 = 100; standard deviation 10 */
    ck_assert_uint_le(hubs, 130);
    bench_graph_free(&g);
}
END_TEST

START_TEST(power_law_has_few_large_nodes) {
    struct bench_graph g;
    /* the number of nodes is no power of two, so an edge to a node that does not exist is drawn again */
    ck_assert(bench_graph_power_law(&g, 1000, 16000, 2));
    check_rows(&g);
    ck_assert_uint_eq(g.edges, 16000);
    uint32_t first = g.offsets[100], none = 0;
    for (uint32_t i = 0; i < g.nodes; i++)
        none += g.offsets[i] == g.offsets[i + 1];
    ck_assert_uint_gt(first, 16000 / 3); /* skewed degrees: a tenth of the nodes has more than a third of the edges */
    ck_assert_uint_gt(none, 20);
    bench_graph_free(&g);
}
END_TEST

START_TEST(roads_lead_both_ways_to_neighbours) {
    static const uint32_t keep[] = {100, 60, 0};
    for (int k = 0; k < 3; k++) {
        struct bench_graph g;
        uint32_t w = 30, h = 20, all = 2 * ((w - 1) * h + w * (h - 1));
        ck_assert(bench_graph_road(&g, w, h, keep[k], 3));
        check_rows(&g);
        ck_assert_uint_eq(g.nodes, w * h);
        for (uint32_t i = 0; i < g.nodes; i++)
            for (uint32_t e = g.offsets[i]; e < g.offsets[i + 1]; e++) {
                uint32_t to = g.targets[e], apart = to > i ? to - i : i - to;
                EXPECT(apart == w || (apart == 1 && i / w == to / w), "from %u to %u", i, to);
                EXPECT(has_edge(&g, to, i), "from %u to %u, and not back", i, to);
            }
        if (keep[k] != 60)
            ck_assert_uint_eq(g.edges, all * keep[k] / 100);
        else /* expected number of links: 60 % of 1150 = 690; standard deviation 17 */
            ck_assert(g.edges > 2 * 600 && g.edges < 2 * 780);
        bench_graph_free(&g);
    }
}
END_TEST

START_TEST(pairs_keep_their_order) {
    static const uint32_t pairs[][2] = {{2, 0}, {0, 1}, {2, 3}, {0, 0}, {2, 1}};
    struct bench_graph g;
    uint32_t order[5];
    ck_assert(bench_graph_pairs(&g, 4, pairs, 5, order));
    static const uint32_t offsets[] = {0, 2, 2, 5, 5}, targets[] = {1, 0, 0, 3, 1}, from[] = {1, 3, 0, 2, 4};
    ck_assert_mem_eq(g.offsets, offsets, sizeof offsets);
    ck_assert_mem_eq(g.targets, targets, sizeof targets);
    ck_assert_mem_eq(order, from, sizeof from);
    bench_graph_free(&g);
}
END_TEST

/* The edges are 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3, 3 -> 4, 3 -> 0, 5 -> 0 and 4 -> 4. The shortest paths from node 0 to
 * node 4 have length 3, so the level of node 4 is 3. No edge leads to node 5, so its level is -1. */
START_TEST(levels_are_shortest_distances) {
    static const uint32_t pairs[][2] = {{3, 0}, {0, 2}, {0, 1}, {1, 3}, {2, 3}, {3, 4}, {5, 0}, {4, 4}};
    static const int32_t want[] = {0, 1, 1, 2, 3, -1};
    int32_t levels[6];
    struct bench_graph g;
    ck_assert(bench_graph_pairs(&g, 6, pairs, 8, NULL));
    ck_assert(bench_graph_levels(&g, levels));
    ck_assert_mem_eq(levels, want, sizeof want);
    bench_graph_free(&g);
}
END_TEST

/* In a grid with all of its links, the level of a crossing is its horizontal distance plus its vertical distance from
 * the start. */
START_TEST(levels_in_a_grid_are_its_distances) {
    enum { W = 17, H = 9 };
    int32_t levels[W * H];
    struct bench_graph g;
    ck_assert(bench_graph_road(&g, W, H, 100, 3));
    ck_assert(bench_graph_levels(&g, levels));
    for (int i = 0; i < W * H; i++)
        EXPECT(levels[i] == i % W + i / W, "crossing %d: %d", i, levels[i]);
    bench_graph_free(&g);
}
END_TEST

SUITE(host_program_graph) {
    TEST(levels_are_shortest_distances);
    TEST(levels_in_a_grid_are_its_distances);
    TEST(hubs_have_their_degrees_and_a_ring);
    TEST(power_law_has_few_large_nodes);
    TEST(roads_lead_both_ways_to_neighbours);
    TEST(pairs_keep_their_order);
}
