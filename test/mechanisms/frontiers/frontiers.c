/* Tests thread frontiers: priorities and frontiers of an unstructured graph and of a loop, the issue counts of the
 * paper's example, conservative branches, and barriers. Expected values are derived by hand. */
#include "host/heddle.h"
#include "mechanisms/frontiers/priority.h"
#include "test/random/random_kernel.h"
#include "test/toys/toy.h"
#include <stdio.h>

/* ---- the paper's example: if ((c1 || c2) && (c3 || c4)) body ---- */

/* Blocks of the example. A block has two instructions, END has one.
 * - B1: c1 goes to B3, else B2
 * - B2: !c2 goes to END, else B3
 * - B3: c3 goes to B5, else B4
 * - B4: !c4 goes to END, else B5
 * - B5: the body */
enum { B1 = 0, B2 = 2, B3 = 4, B4 = 6, B5 = 8, END = 10, N_EDGES = 9 };
static const struct cfg_edge example_edges[N_EDGES] = {{0, 1}, {0, 2}, {1, 2}, {1, 5}, {2, 3},
                                                       {2, 4}, {3, 4}, {3, 5}, {4, 5}};

/* Returns the example. The arguments are the lanes that branch at B1 to B4. */
static struct toy example(lanemask_t c1, lanemask_t not2, lanemask_t c3, lanemask_t not4) {
    struct toy t = {.n = END + 1};
    t.code[B1 + 1] = (struct toy_inst){.kind = BRANCH, .target = B3, .takers = c1};
    t.code[B2 + 1] = (struct toy_inst){.kind = BRANCH, .target = END, .takers = not2};
    t.code[B3 + 1] = (struct toy_inst){.kind = BRANCH, .target = B5, .takers = c3};
    t.code[B4 + 1] = (struct toy_inst){.kind = BRANCH, .target = END, .takers = not4};
    t.code[END].kind = EXIT;
    toy_find_rpcs(&t);
    return t;
}

/* Writes "priority block: frontier" for each block, in the order of priorities. */
static void describe(uint32_t n, const struct cfg_edge *edges, uint32_t n_edges, char *out, size_t size) {
    struct arena *a = arena_new(1 << 20);
    struct cfg g = cfg_from_edges(a, n, edges, n_edges);
    uint32_t root = 0;
    struct frontier_sets f = find_frontiers(a, &g, find_priorities(a, &g, &root, 1));
    out[0] = 0;
    for (uint32_t at = 0; at < n; at++) {
        snprintf(out + strlen(out), size - strlen(out), "%s%u:", at ? " " : "", f.block[at]);
        for (uint32_t b = 0; b < n; b++)
            if (frontier_has(&f, f.block[at], b))
                snprintf(out + strlen(out), size - strlen(out), "%s%u", b == frontier_first(&f, f.block[at]) ? "*" : "",
                         b);
    }
    arena_free(a);
}

/* Blocks 0 to 4 are B1 to B5, and block 5 is END. Threads wait
 * - at B3 while the warp executes B2, since B1 leads to both
 * - at END while the warp executes B3, since B2 leads to both
 * - at B5, from B3, and at END, from B2, while the warp executes B4
 * - at END while the warp executes B5 */
START_TEST(frontiers_of_the_example) {
    char text[128];
    describe(6, example_edges, N_EDGES, text, sizeof text);
    ck_assert_str_eq(text, "0: 1:*2 2:*5 3:*45 4:*5 5:");
}
END_TEST

/* A loop with two exits. Block 1 is the header. Block 2 leaves to block 3, which precedes block 4 in the code. Block 4
 * branches back or leaves to block 5. In the order of priorities, all blocks of the loop come before blocks 3 and 5.
 * Threads wait at block 3 while others stay in the loop. So from the second iteration on, blocks 3 and 5 are in the
 * frontier of each block of the loop. */
START_TEST(a_loop_comes_before_its_exits) {
    static const struct cfg_edge edges[] = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {4, 1}, {4, 5}, {3, 5}};
    char text[128];
    describe(6, edges, 7, text, sizeof text);
    ck_assert_str_eq(text, "0: 1:*35 2:*35 4:*35 3:*5 5:");
}
END_TEST

/* Four groups of eight lanes take these paths:
 *     T0 B1 B3 B4 END         T1 B1 B2 END
 *     T2 B1 B2 B3 B5 END      T3 B1 B2 B3 B4 B5 END
 * spe reconverges at END, the post-dominator of all branches. The warp issues B1, then B3 B4 for T0, then B2, then B5
 * for T2, then B4 B5 for T3. So it issues B3 twice (with T2 and T3 after B2), B4 twice and B5 twice: 2 x (1 + 1 + 2 + 2
 * + 2) + 1 for END = 17 instructions. With frontiers, T0 waits at B3 for T2 and T3, T2 waits at B5 for T3, and each
 * block issues once: 2 x 5 + 1 = 11. With conservative branches it is the same: each visited block has threads. */
START_TEST(each_block_issues_once) {
    static struct toy_run r;
    const lanemask_t t0 = 0xff, t1 = 0xff00, t2 = 0xff0000;
    struct toy t = example(t0, t1, t2, t0);
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    ck_assert_uint_eq(t.code[B1 + 1].rpc, END);
    toy_run(&t, &reconv_spe, &cfg, &r);
    ck_assert_uint_eq(r.issued, 17);
    for (cfg.frontiers_kind = 0; cfg.frontiers_kind < 2; cfg.frontiers_kind++) {
        toy_run(&t, &reconv_frontiers, &cfg, &r);
        ck_assert_uint_eq(r.issued, 11);
        /* merges at B3, at B5, and twice at END: T1 merges with T0, and then with the lanes that come from B5 */
        ck_assert_uint_eq(r.counts[0], 4);
        ck_assert_uint_eq(r.counts[1], 4); /* divergences at B1 to B4 */
        ck_assert_uint_eq(r.counts[2], 0);
        ck_assert_uint_eq(r.counts[3], 0);
    }
}
END_TEST

/* Runs the example with the lanes `lanes`. */
static void run_lanes(const struct toy *t, enum frontiers_kind kind, lanemask_t lanes, struct toy_run *r) {
    struct reconv_cfg cfg;
    struct path p;
    reconv_cfg_default(&cfg);
    cfg.frontiers_kind = kind;
    memset(r, 0, sizeof *r);
    void *st = calloc(1, reconv_frontiers.size(&cfg, MAX_WARP_LANES));
    reconv_frontiers.start(st, &cfg, 0, lanes);
    toy_inform(t, &reconv_frontiers, st, r->counts);
    for (; !reconv_frontiers.finished(st); r->issued++) {
        ck_assert_int_eq(reconv_frontiers.paths(st, &p, 1), 1);
        toy_issue(t, &reconv_frontiers, st, p, r);
    }
    free(st);
}

/* All lanes of the warp take one path, so nothing diverges. Lane 31 is not in the warp. Conservative branches issue
 * blocks of the frontier without lanes:
 * - path B1 B2 END: after B2, the frontier is B3, whose two instructions issue; then the frontier is END
 * - path B1 B2 B3 B4 END: after B4, the best block of the frontier is B5 */
START_TEST(conservative_branches_issue_empty_blocks) {
    enum { ALL = 0x7fffffff };
    const lanemask_t none = 1u << 31;
    static struct toy_run r;
    const struct toy t = _i ? example(none, none, none, ALL) : example(none, ALL, none, none);
    const uint64_t issued = _i ? 2 * 4 + 1 : 2 * 2 + 1;
    run_lanes(&t, FRONTIERS_STACK, ALL, &r);
    ck_assert_uint_eq(r.issued, issued);
    ck_assert_uint_eq(r.counts[2], 0);
    ck_assert_uint_eq(r.counts[3], 0);
    run_lanes(&t, FRONTIERS_CONSERVATIVE, ALL, &r);
    ck_assert_uint_eq(r.issued, issued + 2);
    ck_assert_uint_eq(r.counts[2], 1);
    ck_assert_uint_eq(r.counts[3], 2);
}
END_TEST

/* ---- waits ---- */

/* Returns the path that may issue as "pc:lanes", and the number of entries. */
static const char *state(const void *st) {
    static char out[40];
    struct path p;
    out[0] = 0;
    if (reconv_frontiers.paths(st, &p, 1))
        snprintf(out, sizeof out, "%u:%x of %d", p.pc, (rowmask_t)p.lanes, reconv_frontiers.depth(st));
    return out;
}
static int id_of(const void *st) {
    struct path p;
    return reconv_frontiers.paths(st, &p, 1) ? p.id : -1;
}

/* Lanes f0 wait at a barrier in B2. Meanwhile lanes f run through B3 and B5 to END, and wait there, too. When lanes f0
 * wake, they have the higher priority. With conservative branches, B3 then issues without lanes after B2, because it is
 * in the frontier of B2. */
START_TEST(a_path_at_a_barrier_lets_others_run) {
    const struct toy t = example(0xf, 0xf0, 0xf, 0xf);
    struct reconv_cfg cfg;
    uint64_t counts[RECONV_COUNTERS] = {0};
    reconv_cfg_default(&cfg);
    cfg.frontiers_kind = (enum frontiers_kind)_i;
    void *st = calloc(1, reconv_frontiers.size(&cfg, MAX_WARP_LANES));
    reconv_frontiers.start(st, &cfg, 0, 0xff);
    toy_inform(&t, &reconv_frontiers, st, counts);
    struct target to[2] = {{B3, 0xf}, {B2, 0xf0}};
    reconv_frontiers.branch(st, id_of(st), to, 2, &(struct branch_site){.pc = B1 + 1, .rpc = END, .taken_pc = B3});
    ck_assert_str_eq(state(st), "2:f0 of 2");
    int waiter = id_of(st);
    ck_assert_uint_eq(reconv_frontiers.stall(st, waiter, STALL_LOAD_USE), 0);
    ck_assert_uint_eq(reconv_frontiers.stall(st, waiter, STALL_OTHER), RECONV_CHANGED);
    ck_assert_str_eq(state(st), "4:f of 2");
    to[0] = (struct target){B5, 0xf};
    reconv_frontiers.branch(st, id_of(st), to, 1, &(struct branch_site){.pc = B3 + 1, .rpc = END, .taken_pc = B5});
    reconv_frontiers.advance(st, id_of(st), END);
    ck_assert_str_eq(state(st), "10:f of 2");
    ck_assert_int_ne(reconv_frontiers.stall(st, id_of(st), STALL_OTHER), 0);
    ck_assert_str_eq(state(st), "");
    ck_assert(!reconv_frontiers.finished(st));
    reconv_frontiers.wake(st, waiter);
    ck_assert_str_eq(state(st), "2:f0 of 2");
    to[0] = (struct target){END, 0xf0};
    reconv_frontiers.branch(st, waiter, to, 1, &(struct branch_site){.pc = B2 + 1, .rpc = END, .taken_pc = END});
    if (cfg.frontiers_kind == FRONTIERS_CONSERVATIVE) { /* no lane waits at B3 */
        ck_assert_str_eq(state(st), "4:0 of 2");
        reconv_frontiers.advance(st, id_of(st), B4);
    }
    ck_assert_str_eq(state(st), "10:f0 of 2"); /* the other lanes at END still wait */
    ck_assert_uint_eq(counts[3], _i ? 2 : 0);
    free(st);
}
END_TEST

/* Lanes f0 wait at a barrier in B2. Lanes f go from B4 to END, and the warp issues B5 without lanes. Then lanes f0
 * wake: B2 has a higher priority than B5. */
START_TEST(a_path_that_wakes_ends_a_visit) {
    const struct toy t = example(0xf, 0xf0, 0xf, 0xf);
    struct reconv_cfg cfg;
    uint64_t counts[RECONV_COUNTERS];
    reconv_cfg_default(&cfg);
    cfg.frontiers_kind = FRONTIERS_CONSERVATIVE;
    void *st = calloc(1, reconv_frontiers.size(&cfg, MAX_WARP_LANES));
    reconv_frontiers.start(st, &cfg, 0, 0xff);
    toy_inform(&t, &reconv_frontiers, st, counts);
    struct target to[2] = {{B4, 0xf}, {B2, 0xf0}};
    reconv_frontiers.branch(st, id_of(st), to, 2, &(struct branch_site){.pc = B1 + 1, .rpc = END, .taken_pc = B4});
    int waiter = id_of(st);
    reconv_frontiers.stall(st, waiter, STALL_OTHER); /* the frontier of B2 is B3, which issues without lanes */
    ck_assert_str_eq(state(st), "4:0 of 2");
    reconv_frontiers.advance(st, id_of(st), B4);
    ck_assert_str_eq(state(st), "6:f of 2");
    to[0] = (struct target){END, 0xf};
    reconv_frontiers.branch(st, id_of(st), to, 1, &(struct branch_site){.pc = B4 + 1, .rpc = END, .taken_pc = END});
    ck_assert_str_eq(state(st), "8:0 of 2");
    reconv_frontiers.wake(st, waiter);
    ck_assert_str_eq(state(st), "2:f0 of 2");
    free(st);
}
END_TEST

/* At the end of B4, lanes f exit before the others move to END. The warp still issues B5, which is in the frontier of
 * B4. */
START_TEST(early_exits_keep_the_frontier) {
    const struct toy t = example(0xf, 0xf, 0xf, 0xf);
    struct reconv_cfg cfg;
    uint64_t counts[RECONV_COUNTERS];
    reconv_cfg_default(&cfg);
    cfg.frontiers_kind = FRONTIERS_CONSERVATIVE;
    void *st = calloc(1, reconv_frontiers.size(&cfg, MAX_WARP_LANES));
    reconv_frontiers.start(st, &cfg, B4, 0xff);
    toy_inform(&t, &reconv_frontiers, st, counts);
    int id = id_of(st);
    struct target to = {END, 0xf0};
    reconv_frontiers.leave(st, id, 0xf, PC_NOWHERE);
    reconv_frontiers.branch(st, id, &to, 1, &(struct branch_site){.pc = B4 + 1, .rpc = END, .taken_pc = END});
    ck_assert_str_eq(state(st), "8:0 of 1");
    free(st);
}
END_TEST

/* Lanes inside more nested calls run first. They do not merge with lanes that are at the same PC with fewer nested
 * calls. */
START_TEST(deeper_calls_go_first) {
    const struct toy t = example(0xf, 0xf, 0xf, 0xf);
    struct reconv_cfg cfg;
    uint64_t counts[RECONV_COUNTERS];
    reconv_cfg_default(&cfg);
    void *st = calloc(1, reconv_frontiers.size(&cfg, MAX_WARP_LANES));
    reconv_frontiers.start(st, &cfg, 0, 0xff);
    toy_inform(&t, &reconv_frontiers, st, counts);
    /* lanes f call the function at B5; the guard of the others is false */
    struct target to[2] = {{B5, 0xf}, {B1 + 1, 0xf0}};
    reconv_frontiers.branch(st, id_of(st), to, 2, &(struct branch_site){.pc = B1, .rpc = B1 + 1, .calls = 1});
    ck_assert_str_eq(state(st), "8:f of 2");
    /* while the lanes in the function wait, the others reach the same PC without a call */
    int waiter = id_of(st);
    reconv_frontiers.stall(st, waiter, STALL_OTHER);
    reconv_frontiers.advance(st, id_of(st), B5);
    ck_assert_str_eq(state(st), "8:f0 of 2");
    reconv_frontiers.wake(st, waiter);
    ck_assert_str_eq(state(st), "8:f of 2");
    to[0] = (struct target){B5, 0xf};
    reconv_frontiers.branch(st, id_of(st), to, 1, &(struct branch_site){.pc = B5 + 1, .rpc = PC_EXIT, .calls = -1});
    ck_assert_str_eq(state(st), "8:ff of 1");
    free(st);
}
END_TEST

/* A sorted stack has entries of 64 bits. With conservative branches, a warp has 32 PCs and a PC of its own. */
START_TEST(storage) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    ck_assert_uint_eq(reconv_frontiers.storage(&cfg).entry, 32 + 32);
    ck_assert_uint_eq(reconv_frontiers.storage(&cfg).fixed, 0);
    cfg.frontiers_kind = FRONTIERS_CONSERVATIVE;
    ck_assert_uint_eq(reconv_frontiers.storage(&cfg).entry, 0);
    ck_assert_uint_eq(reconv_frontiers.storage(&cfg).fixed, 33 * 32);
}
END_TEST

/* ---- whole kernels ---- */

static struct heddle *open_run(const char *model, const char *config, const char *const *set) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", model, err);
    return h;
}

/* The example as a kernel: 32 threads, condition i is bit i of the thread's word. */
static const char kernel[] =
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d1];\n"
    "and.b32 %r3, %r2, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra B3;\n"
    "and.b32 %r3, %r2, 2;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra END;\n"
    "B3: and.b32 %r3, %r2, 4;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra B5;\n"
    "and.b32 %r3, %r2, 8;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra END;\n"
    "B5: add.u32 %r2, %r2, 100;\n"
    "END: st.global.u32 [%d1], %r2;\nret;\n}\n";

enum { K_MERGES, K_DIVERGENCES, K_VISITS, K_EMPTY, K_COUNTS };
static const char *const count_names[K_COUNTS] = {"frontiers.merges", "frontiers.divergences", "frontiers.visits",
                                                  "frontiers.empty_issues"};

/* Runs the kernel. If `words` differ, each path of the example has 8 threads. Returns the number of instructions that
 * the warp issued. `counts`: expected values of count_names. */
static double issued(const char *model, const char *const *set, const uint32_t words[4], const int *counts) {
    uint32_t mem[32];
    struct heddle *h = open_run(model, "fermi", set);
    struct heddle_module *m = heddle_module_text(h, "example.ptx", kernel, sizeof kernel - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    for (int i = 0; i < 32; i++)
        mem[i] = words[i / 8];
    uint64_t p = heddle_alloc(h, sizeof mem);
    heddle_write(h, p, mem, sizeof mem);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, p, mem, sizeof mem);
    for (int i = 0; i < 32; i++) {
        uint32_t w = words[i / 8];
        ck_assert_uint_eq(mem[i], w + ((w & 3) && (w & 12) ? 100 : 0));
    }
    for (int i = 0; i < K_COUNTS; i++)
        ck_assert_msg(heddle_stat(h, -1, count_names[i]) == counts[i], "%s: %s is %g, not %d", model, count_names[i],
                      heddle_stat(h, -1, count_names[i]), counts[i]);
    double n = heddle_stat(h, -1, "gpu.warp_instructions");
    heddle_close(h);
    return n;
}

/* Instructions of the blocks: entry 5, B1 to B4 3 each, B5 1, END 2 (the store and ret).
 * - The four paths of each_block_issues_once: 5 + 4 x 3 + 1 + 2 = 20 with frontiers. Under spe, B3, B4 and B5 issue
 *   twice: 27.
 *   The warp diverges at B1 to B4, and merges at B3, at B5 and twice at END.
 * - All threads take B1 B2 END: 5 + 2 x 3 + 2 = 13, and with conservative branches the three instructions of B3, which
 *   the warp visits once. */
START_TEST(kernels_issue_as_counted) {
    static const uint32_t paths[4] = {1, 0, 2 | 4, 2 | 8}, same[4] = {0};
    static const char *const conservative[] = {"frontiers.kind=conservative", NULL};
    static const char *const both[] = {"reconv=frontiers", "frontiers.kind=conservative", NULL};
    static const int none[K_COUNTS] = {0}, four[K_COUNTS] = {4, 4, 0, 0}, visit[K_COUNTS] = {0, 0, 1, 3};
    ck_assert_double_eq(issued("spe", NULL, paths, none), 27);
    ck_assert_double_eq(issued("frontiers", NULL, paths, four), 20);
    ck_assert_double_eq(issued("frontiers", conservative, paths, four), 20);
    ck_assert_double_eq(issued("frontiers", NULL, same, none), 13);
    ck_assert_double_eq(issued("frontiers", conservative, same, visit), 13 + 3);
    /* the functional model does not report these statistics */
    ck_assert_double_eq(issued("functional", both, same, none), 13 + 3);
}
END_TEST

/* Random kernels, with calls, barriers and member masks, leave the same memory with conservative branches as in the
 * interpreter with spe. */
START_TEST(empty_blocks_change_no_memory) {
    static const char *const models[] = {"functional", "functional", "frontiers", "frontiers+dac", "frontiers+cae"};
    static const char *const sets[][5] = {
        {NULL},
        {"reconv=frontiers", "frontiers.kind=conservative", NULL},
        {"frontiers.kind=conservative", "sm.registers=65536", "sm.shared_bytes=16384", NULL},
        {"frontiers.kind=conservative", "sm.registers=65536", "sm.shared_bytes=16384", NULL},
        {"frontiers.kind=conservative", "sm.registers=65536", "sm.shared_bytes=16384", NULL}};
    static uint32_t in[RANDOM_IN_WORDS], out[2][RANDOM_OUT_WORDS];
    uint64_t seed = 100 + (uint64_t)_i;
    char *text = random_kernel(seed, RANDOM_RICH * (_i & 1) | RANDOM_LEAVERS * (_i >> 1 & 1));
    random_input(seed, in);
    for (int k = 0; k < 5; k++) {
        struct heddle *h = open_run(models[k], "tiny", sets[k]);
        struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof out[0]);
        heddle_write(h, din, in, sizeof in);
        struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
        ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                    (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                      "seed %d, %s: %s", (int)seed, models[k], heddle_error(h));
        heddle_read(h, dout, out[k > 0], sizeof out[0]);
        ck_assert_msg(!k || memcmp(out[0], out[1], sizeof out[0]) == 0, "seed %d, run %d", (int)seed, k);
        heddle_close(h);
    }
    free(text);
}
END_TEST

SUITE(mechanisms_frontiers) {
    TEST(frontiers_of_the_example);
    TEST(a_loop_comes_before_its_exits);
    TEST(each_block_issues_once);
    TEST_LOOP(conservative_branches_issue_empty_blocks, 0, 2);
    TEST_LOOP(a_path_at_a_barrier_lets_others_run, 0, 2);
    TEST(a_path_that_wakes_ends_a_visit);
    TEST(early_exits_keep_the_frontier);
    TEST(deeper_calls_go_first);
    TEST(storage);
    TEST(kernels_issue_as_counted);
    TEST_LOOP(empty_blocks_change_no_memory, 0, 8);
}
