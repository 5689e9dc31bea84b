/* Tests the search for spans of blocks (frontend/analysis/span.h) against the definition of a span. */
#include "frontend/analysis/span.h"
#include "test/test.h"

enum { MAX_BLOCKS = 60, MAX_EDGES = 200 };

struct graph {
    struct arena *arena;
    struct cfg cfg;
    struct cfg_edge edges[MAX_EDGES];
    uint32_t n_edges;
};

static void edge(struct graph *g, uint32_t from, uint32_t to) {
    ck_assert_uint_lt(g->n_edges, MAX_EDGES);
    g->edges[g->n_edges++] = (struct cfg_edge){from, to};
}

static uint32_t *spans_of(struct graph *g, uint32_t n) {
    g->arena = arena_new(0);
    g->cfg = cfg_from_edges(g->arena, n, g->edges, g->n_edges);
    return spans(g->arena, &g->cfg);
}

/* Returns whether the blocks first..last are a span, by the definition in span.h. */
static bool is_span(const struct graph *g, uint32_t first, uint32_t last) {
    bool reaches[MAX_BLOCKS] = {false};
    for (uint32_t i = 0; i < g->n_edges; i++) {
        uint32_t from = g->edges[i].from, to = g->edges[i].to;
        bool leaves = from >= first && from <= last, enters = to >= first && to <= last;
        if ((leaves && !enters && from != last) || (enters && !leaves && to != first))
            return false;
    }
    reaches[last] = true;
    for (uint32_t round = first; round <= last; round++)
        for (uint32_t i = 0; i < g->n_edges; i++)
            if (g->edges[i].from >= first && g->edges[i].from <= last && reaches[g->edges[i].to])
                reaches[g->edges[i].from] = true;
    for (uint32_t b = first; b <= last; b++)
        if (!reaches[b])
            return false;
    return true;
}

/* Most edges are short, so that the graph has spans. */
START_TEST(found_spans_match_the_definition) {
    struct graph g = {.n_edges = 0};
    uint64_t rng = (uint64_t)_i;
    uint32_t n = 2 + (uint32_t)(test_random(&rng) % (MAX_BLOCKS - 2));
    for (uint32_t b = 0; b + 1 < n; b++) {
        if (test_random(&rng) % 16)
            edge(&g, b, b + 1);
        if (test_random(&rng) % 3 == 0) {
            uint32_t reach = test_random(&rng) % 8 ? 5 : n, to = b + (uint32_t)(test_random(&rng) % reach);
            edge(&g, b, to < n ? to : b);
        }
        if (test_random(&rng) % 6 == 0)
            edge(&g, b, b - (uint32_t)(test_random(&rng) % 4 % (b + 1)));
    }
    const uint32_t *first = spans_of(&g, n);
    for (uint32_t b = 0; b < n; b++) {
        ck_assert_uint_le(first[b], b);
        ck_assert_msg(first[b] == b || is_span(&g, first[b], b), "%u..%u is none", first[b], b);
    }
    arena_free(g.arena);
}
END_TEST

/* Ten nested ifs: block i branches to block 20 - i, which follows the if. */
START_TEST(nested_ifs) {
    struct graph g = {.n_edges = 0};
    for (uint32_t b = 0; b < 20; b++)
        edge(&g, b, b + 1);
    for (uint32_t b = 0; b < 10; b++)
        edge(&g, b, 20 - b);
    const uint32_t *first = spans_of(&g, 21);
    for (uint32_t b = 11; b < 20; b++)
        ck_assert_uint_eq(first[b], 20 - b);
    arena_free(g.arena);
}
END_TEST

/* Ten nested loops: block 20 - i ends the loop that begins with block i. Block 11 ends the second innermost loop; the
 * smallest span that ends with it begins with the innermost loop's header. */
START_TEST(nested_loops) {
    struct graph g = {.n_edges = 0};
    for (uint32_t b = 0; b <= 20; b++)
        edge(&g, b, b + 1);
    for (uint32_t b = 0; b < 10; b++)
        edge(&g, 20 - b, b);
    const uint32_t *first = spans_of(&g, 22);
    for (uint32_t b = 12; b < 20; b++)
        ck_assert_uint_eq(first[b], 20 - b + 1);
    arena_free(g.arena);
}
END_TEST

SUITE(frontend_span) {
    TEST_LOOP(found_spans_match_the_definition, 0, 300);
    TEST(nested_ifs);
    TEST(nested_loops);
}
