/* Dominators, post-dominators and loops of random graphs, checked against their definitions: a block dominates another
 * if removing it makes the other block unreachable, and a graph is reducible if it can be reduced to one block. */
#include "frontend/analysis/loops.h"
#include "test/test.h"

enum { MAX_N = 20, GRAPHS = 4000 };

struct graph {
    struct arena *a;
    struct cfg g;
    bool edge[MAX_N][MAX_N];
};

/* Makes a random graph with up to three edges from each block. In half of the graphs most edges go forward, so that
 * more graphs are reducible. */
static struct graph make_graph(uint64_t seed) {
    struct graph r = {.a = arena_new(0)};
    uint32_t n = 1 + (uint32_t)(test_random(&seed) % MAX_N), n_edges = 0;
    struct cfg_edge edges[3 * MAX_N];
    bool forward = test_random(&seed) % 2;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = (uint32_t)(test_random(&seed) % 4); k > 0; k--) {
            uint32_t to = (uint32_t)(test_random(&seed) % n);
            if (forward && b + 1 < n && test_random(&seed) % 4)
                to = b + 1 + (uint32_t)(test_random(&seed) % 3);
            if (to >= n || r.edge[b][to])
                continue;
            r.edge[b][to] = true;
            edges[n_edges++] = (struct cfg_edge){b, to};
        }
    r.g = cfg_from_edges(r.a, n, edges, n_edges);
    return r;
}

/* Marks the blocks that can be reached from `from` without passing `without`, along the edges or, if `back` is set,
 * against their direction. */
static void spread(const struct graph *r, uint32_t from, uint32_t without, bool back, bool *seen) {
    if (from == without || seen[from])
        return;
    seen[from] = true;
    for (uint32_t to = 0; to < r->g.n; to++)
        if (back ? r->edge[to][from] : r->edge[from][to])
            spread(r, to, without, back, seen);
}

struct reference {
    bool reached[MAX_N], dom[MAX_N][MAX_N]; /* dom[a][b]: a dominates b */
};

static struct reference find_reference(const struct graph *r) {
    struct reference ref = {0};
    spread(r, 0, NO_BLOCK, false, ref.reached);
    for (uint32_t a = 0; a < r->g.n; a++) {
        bool seen[MAX_N] = {false};
        spread(r, 0, a, false, seen);
        for (uint32_t b = 0; b < r->g.n; b++)
            ref.dom[a][b] = a == b || (ref.reached[b] && !seen[b]);
    }
    return ref;
}

/* Returns the immediate dominator: the strict dominator that all other strict dominators dominate. */
static uint32_t nearest(const struct reference *ref, uint32_t n, uint32_t b) {
    for (uint32_t d = 0; d < n; d++) {
        bool last = d != b && ref->dom[d][b];
        for (uint32_t o = 0; o < n && last; o++)
            last = o == b || !ref->dom[o][b] || ref->dom[o][d];
        if (last)
            return d;
    }
    return NO_BLOCK;
}

START_TEST(dominators_match_the_definition) {
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct graph r = make_graph(seed);
        struct reference ref = find_reference(&r);
        uint32_t entry = 0;
        struct dom_tree t = dominators(r.a, &r.g, &entry, 1);
        for (uint32_t b = 0; b < r.g.n; b++) {
            EXPECT((t.in[b] != 0) == ref.reached[b], "graph %d: block %u", (int)seed, b);
            uint32_t want = ref.reached[b] ? nearest(&ref, r.g.n, b) : NO_BLOCK;
            EXPECT(t.up[b] == want, "graph %d: idom of %u is %d, not %d", (int)seed, b, (int)t.up[b], (int)want);
            for (uint32_t a = 0; a < r.g.n; a++) {
                EXPECT(dominates(&t, a, b) == ref.dom[a][b], "graph %d: %u over %u", (int)seed, a, b);
                uint32_t common = dom_common(&t, a, b);
                for (uint32_t d = 0; d < r.g.n; d++) /* a block that dominates both also dominates the nearest common
                                                      * dominator */
                    EXPECT((ref.dom[d][a] && ref.dom[d][b]) == (common != NO_BLOCK && ref.dom[d][common]),
                           "graph %d: %u and %u have %d in common", (int)seed, a, b, (int)common);
            }
        }
        arena_free(r.a);
    }
}
END_TEST

/* For graphs where all blocks reach an end: a post-dominates b if no end can be reached from b without a. */
START_TEST(post_dominators_match_the_definition) {
    int compared = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct graph r = make_graph(seed);
        struct dom_tree t = post_dominators(r.a, &r.g);
        bool ends[MAX_N] = {false};
        for (uint32_t b = 0; b < r.g.n; b++)
            if (r.g.succ_first[b] == r.g.succ_first[b + 1])
                spread(&r, b, NO_BLOCK, true, ends);
        bool all = true;
        for (uint32_t b = 0; b < r.g.n; b++)
            all &= ends[b];
        compared += all;
        for (uint32_t a = 0; a < r.g.n && all; a++) {
            bool without[MAX_N] = {false};
            for (uint32_t e = 0; e < r.g.n; e++)
                if (r.g.succ_first[e] == r.g.succ_first[e + 1])
                    spread(&r, e, a, true, without);
            for (uint32_t b = 0; b < r.g.n; b++)
                EXPECT(dominates(&t, a, b) == (a == b || !without[b]), "graph %d: %u after %u", (int)seed, a, b);
        }
        arena_free(r.a);
    }
    ck_assert_int_gt(compared, 500);
}
END_TEST

static void check_loop(const struct graph *r, const struct reference *ref, const struct loops *l, uint32_t i,
                       bool sets[][MAX_N], int seed) {
    const struct loop *loop = &l->list[i];
    uint32_t n_blocks = 0, latches = 0, exits = 0, outside = 0, entry = NO_BLOCK, degree = 0;
    for (uint32_t b = 0; b < r->g.n; b++) {
        n_blocks += sets[i][b];
        EXPECT(loop_has(loop, b) == sets[i][b], "graph %d: loop of %u, block %u", seed, loop->header, b);
        latches += sets[i][b] && r->edge[b][loop->header];
        for (uint32_t to = 0; to < r->g.n; to++)
            exits += sets[i][b] && r->edge[b][to] && !sets[i][to];
        if (!sets[i][b] && r->edge[b][loop->header]) {
            outside++;
            entry = b;
        }
    }
    for (uint32_t to = 0; entry != NO_BLOCK && to < r->g.n; to++)
        degree += r->edge[entry][to];
    EXPECT(loop->n_blocks == n_blocks && loop->n_latches == latches && loop->n_exits == exits, "graph %d: loop of %u",
           seed, loop->header);
    EXPECT(loop->preheader == (outside == 1 && degree == 1 ? entry : NO_BLOCK), "graph %d: preheader of %u", seed,
           loop->header);
    for (uint32_t k = 0; k < loop->n_exits; k++)
        EXPECT(sets[i][loop->exits[k].from] && !sets[i][loop->exits[k].to] &&
                   r->edge[loop->exits[k].from][loop->exits[k].to],
               "graph %d: exit of %u", seed, loop->header);
    for (uint32_t k = 0; k < loop->n_latches; k++)
        EXPECT(ref->dom[loop->header][loop->latches[k]], "graph %d: latch of %u", seed, loop->header);
    uint32_t depth = 1;
    bool innermost = true;
    for (uint32_t k = 0; k < l->n; k++) {
        depth += k != i && sets[k][loop->header];
        innermost &= k == i || !sets[i][l->list[k].header];
        EXPECT(loop_in(l, i, k) == (sets[k][loop->header] != 0), "graph %d: %u in %u", seed, i, k);
    }
    EXPECT(loop->depth == depth && loop->innermost == innermost, "graph %d: depth of %u", seed, loop->header);
}

/* Finds the header and the blocks of each loop by the definition: the blocks are the reachable blocks from which a
 * latch can be reached without passing the header. Returns the number of loops. */
static uint32_t loop_sets(const struct graph *r, const struct reference *ref, bool sets[][MAX_N], uint32_t *headers) {
    uint32_t n = 0;
    for (uint32_t h = 0; h < r->g.n; h++) {
        bool some = false, seen[MAX_N] = {false};
        for (uint32_t p = 0; p < r->g.n; p++)
            if (ref->reached[p] && r->edge[p][h] && ref->dom[h][p]) {
                some = true;
                spread(r, p, h, true, seen);
            }
        if (!some)
            continue;
        for (uint32_t b = 0; b < r->g.n; b++)
            sets[n][b] = b == h || (seen[b] && ref->reached[b]);
        headers[n++] = h;
    }
    return n;
}

/* Returns whether the graph is reducible. Repeatedly removes edges from a block to itself, and merges blocks with their
 * only predecessor. The graph is reducible if a single block is left. */
static bool is_reducible(const struct graph *r, const struct reference *ref) {
    struct graph s = *r;
    bool gone[MAX_N];
    uint32_t left = 0;
    for (uint32_t b = 0; b < s.g.n; b++) {
        gone[b] = !ref->reached[b];
        left += !gone[b];
        for (uint32_t to = 0; to < s.g.n; to++)
            s.edge[b][to] &= ref->reached[b];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < s.g.n; b++) {
            uint32_t preds = 0, only = 0;
            s.edge[b][b] = false;
            for (uint32_t p = 0; p < s.g.n; p++)
                if (!gone[p] && s.edge[p][b]) {
                    preds++;
                    only = p;
                }
            if (gone[b] || b == 0 || preds != 1)
                continue;
            for (uint32_t to = 0; to < s.g.n; to++)
                s.edge[only][to] |= s.edge[b][to];
            s.edge[only][b] = false;
            gone[b] = changed = true;
            left--;
        }
    }
    return left == 1;
}

static bool in_other_cycle(const struct graph *r, const struct reference *ref, uint32_t b) {
    struct graph s = *r;
    bool seen[MAX_N] = {false};
    for (uint32_t f = 0; f < s.g.n; f++)
        for (uint32_t to = 0; to < s.g.n; to++)
            s.edge[f][to] &= ref->reached[f] && !ref->dom[to][f];
    for (uint32_t to = 0; to < s.g.n; to++)
        if (s.edge[b][to])
            spread(&s, to, NO_BLOCK, false, seen);
    return seen[b];
}

START_TEST(loops_match_the_definition) {
    int reducible = 0, irreducible = 0, nested = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct graph r = make_graph(seed);
        struct reference ref = find_reference(&r);
        uint32_t entry = 0, headers[MAX_N];
        bool sets[MAX_N][MAX_N], irregular = false;
        struct dom_tree t = dominators(r.a, &r.g, &entry, 1);
        struct loops l = find_loops(r.a, &r.g, &t);
        uint32_t n = loop_sets(&r, &ref, sets, headers);
        EXPECT(l.n == n, "graph %d: %u loops, not %u", (int)seed, l.n, n);
        for (uint32_t i = 0; i < n; i++) {
            EXPECT(l.list[i].header == headers[i] && l.headed[headers[i]] == i, "graph %d: loop %u", (int)seed, i);
            check_loop(&r, &ref, &l, i, sets, (int)seed);
            nested += l.list[i].depth > 1;
        }
        for (uint32_t b = 0; b < r.g.n; b++) {
            uint32_t depth = 0;
            for (uint32_t i = 0; i < n; i++)
                depth += sets[i][b];
            EXPECT((l.of[b] == NO_LOOP ? 0 : l.list[l.of[b]].depth) == depth, "graph %d: loop of %u", (int)seed, b);
            EXPECT(l.irregular[b] == in_other_cycle(&r, &ref, b), "graph %d: cycle of %u", (int)seed, b);
            irregular |= l.irregular[b];
        }
        EXPECT(irregular == !is_reducible(&r, &ref), "graph %d", (int)seed);
        reducible += !irregular;
        irreducible += irregular;
        arena_free(r.a);
    }
    ck_assert_int_gt(reducible, 1000);
    ck_assert_int_gt(irreducible, 500);
    ck_assert_int_gt(nested, 500);
}
END_TEST

/* Two functions in one graph. The entry of each function dominates all blocks of the function, even if the entry is
 * the header of a loop. */
START_TEST(each_function_has_its_entry) {
    struct arena *a = arena_new(0);
    struct cfg_edge edges[] = {{0, 1}, {1, 0}, {1, 2}, {3, 4}, {4, 3}, {4, 5}};
    uint32_t entries[] = {0, 3};
    struct cfg g = cfg_from_edges(a, 6, edges, 6);
    struct dom_tree t = dominators(a, &g, entries, 2);
    static const uint32_t want[] = {NO_BLOCK, 0, 1, NO_BLOCK, 3, 4};
    ck_assert_mem_eq(t.up, want, sizeof want);
    struct loops l = find_loops(a, &g, &t);
    ck_assert_uint_eq(l.n, 2);
    ck_assert_uint_eq(l.list[0].header, 0);
    ck_assert_uint_eq(l.list[1].header, 3);
    arena_free(a);
}
END_TEST

SUITE(frontend_loops) {
    TEST(dominators_match_the_definition);
    TEST(post_dominators_match_the_definition);
    TEST(loops_match_the_definition);
    TEST(each_function_has_its_entry);
}
