/* Tests post-dominators and blocks on graphs with known results. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"

/* Checks the immediate post-dominator of every block of a graph given by its edges; -1 is the end of the thread. */
static void check_graph(uint32_t n, const struct cfg_edge *edges, uint32_t n_edges, const int *expected) {
    struct arena *a = arena_new(0);
    struct cfg g = cfg_from_edges(a, n, edges, n_edges);
    uint32_t *out = arena_array(a, n, sizeof *out);
    postdom(a, &g, out);
    for (uint32_t b = 0; b < n; b++)
        ck_assert_msg(out[b] == (uint32_t)expected[b], "ipdom of block %u is %d, not %d", b, (int)out[b], expected[b]);
    arena_free(a);
}

enum { A, B, C, D, E, F, G };

/* Figure 1 of the dual-path paper: A branches to B and C, C to D and E, which meet in F; B and F meet in G. */
START_TEST(figure_1_of_the_dual_path_paper) {
    struct cfg_edge edges[] = {{A, B}, {A, C}, {C, D}, {C, E}, {D, F}, {E, F}, {B, G}, {F, G}};
    int expected[] = {G, G, F, F, F, G, -1};
    check_graph(7, edges, 8, expected);
}
END_TEST

START_TEST(straight_line) {
    struct cfg_edge edges[] = {{0, 1}, {1, 2}};
    int expected[] = {1, 2, -1};
    check_graph(3, edges, 2, expected);
}
END_TEST

/* Edges 0 -> 1 -> 2 -> 1 and 2 -> 3: the only exit of the loop is in block 2, so 2 post-dominates 1, and 3
 * post-dominates 2. */
START_TEST(loop) {
    struct cfg_edge edges[] = {{0, 1}, {1, 2}, {2, 1}, {2, 3}};
    int expected[] = {1, 2, 3, -1};
    check_graph(4, edges, 4, expected);
}
END_TEST

/* Blocks 1 and 2 jump to each other, and block 0 jumps to both, so the cycle is irreducible. Blocks 1 and 2 both have
 * an exit to block 3. */
START_TEST(irreducible) {
    struct cfg_edge edges[] = {{0, 1}, {0, 2}, {1, 2}, {2, 1}, {1, 3}, {2, 3}};
    int expected[] = {3, 3, 3, -1};
    check_graph(4, edges, 6, expected);
}
END_TEST

/* Threads end in block 1 or in block 3, so the branch in block 0 has no join. */
START_TEST(two_exits) {
    struct cfg_edge edges[] = {{0, 1}, {0, 2}, {2, 3}};
    int expected[] = {-1, -1, 3, -1};
    check_graph(4, edges, 3, expected);
}
END_TEST

/* Block 0 branches to block 3 (an end) and to the loop of blocks 1 and 2, which never ends. Block 1 is the header, so
 * block 2 ends the iteration. The result for block 3 is the same as without the loop. */
START_TEST(infinite_loop) {
    struct cfg_edge edges[] = {{0, 1}, {1, 2}, {2, 1}, {0, 3}};
    int expected[] = {-1, 2, 1, -1};
    check_graph(4, edges, 4, expected);
}
END_TEST

/* The block ends its iteration and is the header of the next one. */
START_TEST(loop_to_itself_without_end) {
    struct cfg_edge edges[] = {{0, 0}};
    int expected[] = {0};
    check_graph(1, edges, 1, expected);
}
END_TEST

/* An if inside an infinite loop still has its join in the loop. Block 1 branches to 2 and 3, which join in 4, and 4
 * jumps back to 1. */
START_TEST(branch_in_an_infinite_loop) {
    struct cfg_edge edges[] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}};
    int expected[] = {1, 4, 4, 4, 1};
    check_graph(5, edges, 6, expected);
}
END_TEST

/* An inner loop keeps its join behind the loop. Block 1 is the header of the endless loop, and its blocks 2 and 3 are
 * an inner loop with the exit 4. */
START_TEST(loop_in_an_infinite_loop) {
    struct cfg_edge edges[] = {{0, 1}, {1, 3}, {2, 3}, {3, 2}, {3, 4}, {4, 1}};
    int expected[] = {1, 3, 3, 4, 1};
    check_graph(5, edges, 6, expected);
}
END_TEST

/* Sides that both begin the next iteration join at the header, even if the header has the branch. Block 1 branches to
 * itself and to block 2. Block 0 enters at block 1. */
START_TEST(branch_to_the_next_iteration) {
    struct cfg_edge edges[] = {{0, 1}, {1, 1}, {1, 2}, {2, 1}};
    int expected[] = {1, 1, 1};
    check_graph(3, edges, 4, expected);
}
END_TEST

/* Two loops without end, both reached from block 0, meet nowhere. */
START_TEST(two_infinite_loops) {
    struct cfg_edge edges[] = {{0, 1}, {0, 3}, {1, 2}, {2, 1}, {3, 4}, {4, 3}};
    int expected[] = {-1, 2, 1, 4, 3};
    check_graph(5, edges, 6, expected);
}
END_TEST

/* 200 diamonds in a row: each branch has the join of its own diamond. */
START_TEST(many_diamonds) {
    enum { N = 200 };
    static struct cfg_edge edges[4 * N];
    static int expected[3 * N + 1];
    for (int i = 0; i < N; i++) {
        uint32_t top = 3u * (uint32_t)i;
        edges[4 * i] = (struct cfg_edge){top, top + 1};
        edges[4 * i + 1] = (struct cfg_edge){top, top + 2};
        edges[4 * i + 2] = (struct cfg_edge){top + 1, top + 3};
        edges[4 * i + 3] = (struct cfg_edge){top + 2, top + 3};
        expected[top] = expected[top + 1] = expected[top + 2] = (int)top + 3;
    }
    expected[3 * N] = -1;
    check_graph(3 * N + 1, edges, 4 * N, expected);
}
END_TEST

/* Returns whether an end can be reached from `from` without passing `without`. Searches all paths. */
static bool reaches_end_without(const struct cfg *g, uint32_t from, uint32_t without) {
    uint32_t stack[64], top = 0;
    bool seen[64] = {false};
    if (from == without)
        return false;
    stack[top++] = from;
    seen[from] = true;
    while (top) {
        uint32_t b = stack[--top];
        if (g->succ_first[b] == g->succ_first[b + 1])
            return true;
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
            uint32_t s = g->succ[e];
            if (s != without && !seen[s]) {
                seen[s] = true;
                stack[top++] = s;
            }
        }
    }
    return false;
}

static bool postdominates(const struct cfg *g, uint32_t d, uint32_t b) {
    return d != b && !reaches_end_without(g, b, d);
}

/* Random graphs in which every block reaches an end, checked against the definition: the immediate post-dominator is
 * the strict post-dominator that all other strict post-dominators post-dominate. */
START_TEST(random_graphs_match_the_definition) {
    enum { N = 12 };
    struct arena *a = arena_new(0);
    uint64_t seed = 12345u + (uint32_t)_i;
    struct cfg_edge edges[2 * N];
    uint32_t n_edges = 0, out[N];
    for (uint32_t b = 0; b + 1 < N; b++) {
        edges[n_edges++] = (struct cfg_edge){b, b + 1}; /* this edge makes the end reachable from every block */
        if (test_random_below(&seed, 4))
            edges[n_edges++] = (struct cfg_edge){b, test_random_below(&seed, N)};
    }
    struct cfg g = cfg_from_edges(a, N, edges, n_edges);
    postdom(a, &g, out);
    for (uint32_t b = 0; b < N; b++) {
        uint32_t nearest = NO_BLOCK;
        for (uint32_t d = 0; d < N; d++) {
            bool is_nearest = postdominates(&g, d, b);
            for (uint32_t other = 0; other < N; other++)
                if (other != d && postdominates(&g, other, b))
                    is_nearest &= postdominates(&g, other, d);
            if (is_nearest)
                nearest = d;
        }
        ck_assert_msg(out[b] == nearest, "ipdom of block %u is %d, not %d", b, (int)out[b], (int)nearest);
    }
    arena_free(a);
}
END_TEST

/* The blocks of a kernel: they begin at targets of branches and after control instructions; unreachable code is
 * dropped. */
START_TEST(blocks_of_a_kernel) {
    struct lowered *l = lower_body("setp.eq.u32 %p1, %r1, 0;\n"
                                   "@%p1 bra THEN;\n"  /* block 0 */
                                   "mov.u32 %r2, 1;\n" /* block 1 */
                                   "bra END;\n"
                                   "mov.u32 %r2, 7;\n"                     /* unreachable */
                                   "THEN: mov.u32 %r2, 2;\n"               /* block 2 */
                                   "END: st.global.u32 [%d1], %r2; ret;"); /* block 3 */
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->n_blocks, 4);
    ck_assert_uint_eq(p->n, 7);
    ck_assert_uint_eq(p->blocks[0].ipdom, 3);
    ck_assert_uint_eq(p->code[1].kind, K_BRANCH);
    ck_assert_uint_eq(p->code[1].target, 4);
    ck_assert_uint_eq(p->code[1].rpc, 5);
    ck_assert_uint_eq(p->code[3].target, 5);
    ck_assert_uint_eq(p->blocks[3].ipdom, UINT32_MAX);
    lowered_free(l);
}
END_TEST

/* A join ends the block before it even if that block has no control instruction, because the reconvergence model
 * must be called there. */
START_TEST(falling_into_a_join_ends_the_block) {
    struct lowered *l = lower_body("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\nmov.u32 %r2, 1;\n"
                                   "JOIN: st.global.u32 [%d1], %r2; ret;");
    const struct program *p = l->program;
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->code[0].ends_block, 0);
    ck_assert_uint_eq(p->code[1].ends_block, 1);
    ck_assert_uint_eq(p->code[2].ends_block, 1); /* the mov */
    ck_assert_uint_eq(p->code[3].ends_block, 0);
    lowered_free(l);
}
END_TEST

SUITE(frontend_postdom) {
    TEST(figure_1_of_the_dual_path_paper);
    TEST(straight_line);
    TEST(loop);
    TEST(irreducible);
    TEST(two_exits);
    TEST(infinite_loop);
    TEST(loop_to_itself_without_end);
    TEST(branch_in_an_infinite_loop);
    TEST(loop_in_an_infinite_loop);
    TEST(branch_to_the_next_iteration);
    TEST(two_infinite_loops);
    TEST(many_diamonds);
    TEST_LOOP(random_graphs_match_the_definition, 0, 50);
    TEST(blocks_of_a_kernel);
    TEST(falling_into_a_join_ends_the_block);
}
