/* Tests the reconvergence stack (SPE) on cases that were worked out by hand. */
#include "isa/paths/reconv_spe.h"
#include "test/test.h"

static struct spe_stack stack;
static struct reconv_cfg cfg;

static void start(lanemask_t lanes) {
    memset(&stack, 0, sizeof stack);
    reconv_cfg_default(&cfg);
    reconv_spe.start(&stack, &cfg, 0, lanes);
}

static void check_path(uint32_t pc, lanemask_t lanes) {
    struct path p;
    ck_assert_int_eq(reconv_spe.paths(&stack, &p, 1), 1);
    ck_assert_uint_eq(p.pc, pc);
    ck_assert_uint_eq(p.lanes, lanes);
}

static void branch(uint32_t rpc, uint32_t taken, lanemask_t taken_lanes, uint32_t next, lanemask_t rest) {
    struct target t[2] = {{taken, taken_lanes}, {next, rest}};
    struct branch_site site = {.rpc = rpc, .taken_pc = taken};
    reconv_spe.branch(&stack, 0, t, 2, &site);
}

static void jump(uint32_t pc) {
    struct target t = {pc, stack.e[stack.n - 1].lanes};
    struct branch_site site = {.rpc = PC_EXIT, .taken_pc = pc};
    reconv_spe.branch(&stack, 0, &t, 1, &site);
}

/* Figure 1 of the dual-path paper. Each block has three instructions, but F has one. A branches to B (lane 0) and C
 * (lanes 1 to 3), which reconverge at G. C branches to D (lane 1) and E (lanes 2 and 3), which reconverge at F. The
 * blocks run in the order A B C D E F G, as in Figure 2. */
enum { A = 0, B = 3, C = 6, D = 9, E = 12, F = 15, G = 16 };

START_TEST(figure_1) {
    start(0xf);
    check_path(A, 0xf);
    branch(G, B, 0x1, C, 0xe);
    ck_assert_int_eq(reconv_spe.depth(&stack), 3); /* the stack has entries G, C, B: Figure 2 (b) */
    check_path(B, 0x1);
    jump(G); /* popped: (c) */
    ck_assert_int_eq(reconv_spe.depth(&stack), 2);
    check_path(C, 0xe);
    branch(F, D, 0x2, E, 0xc);
    ck_assert_int_eq(reconv_spe.depth(&stack), 4); /* the stack has entries G, F, E, D: Figure 2 (d) */
    check_path(D, 0x2);
    jump(F);
    check_path(E, 0xc);
    reconv_spe.advance(&stack, 0, F); /* falls through to F */
    check_path(F, 0xe);               /* (e) */
    reconv_spe.advance(&stack, 0, G);
    check_path(G, 0xf); /* (f) */
    ck_assert_int_eq(reconv_spe.depth(&stack), 1);
    reconv_spe.leave(&stack, 0, 0xf, G + 3);
    ck_assert(reconv_spe.finished(&stack));
}
END_TEST

START_TEST(fallthrough_first) {
    start(0xf);
    stack.first = 1;
    branch(G, B, 0x1, C, 0xe);
    check_path(C, 0xe);
    jump(G);
    check_path(B, 0x1);
}
END_TEST

/* The model never reports events: one scoreboard serves all paths, and the caller requests the paths after each
 * step. */
START_TEST(steps_report_no_events) {
    const struct target t[2] = {{B, 0x3}, {C, 0xc}};
    const struct branch_site site = {.rpc = G, .taken_pc = B};
    start(0xf);
    ck_assert_uint_eq(reconv_spe.advance(&stack, 0, 1), 0);
    ck_assert_uint_eq(reconv_spe.branch(&stack, 0, t, 2, &site), 0);
    ck_assert_uint_eq(reconv_spe.leave(&stack, 0, 0x1, 4), 0);
    check_path(4, 0x2);
    ck_assert_uint_eq(reconv_spe.leave(&stack, 0, 0x2, 5), 0);
    check_path(C, 0xc);
}
END_TEST

/* In an if without else, the side that begins at the reconvergence point gets no stack entry. */
START_TEST(side_at_the_reconvergence_point) {
    start(0xf);
    branch(G, B, 0x3, G, 0xc);
    ck_assert_int_eq(reconv_spe.depth(&stack), 2);
    check_path(B, 0x3);
    jump(G);
    check_path(G, 0xf);
}
END_TEST

START_TEST(uniform_branch_pushes_nothing) {
    start(0xf);
    jump(C);
    ck_assert_int_eq(reconv_spe.depth(&stack), 1);
    check_path(C, 0xf);
}
END_TEST

/* If lanes leave a loop one by one, the stack needs one extra entry, for any number of branches. */
START_TEST(loop_does_not_grow) {
    start(LANES_ALL);
    lanemask_t in = LANES_ALL;
    for (int i = 0; i < 31; i++) {
        lanemask_t leaving = in & -in;
        in ^= leaving;
        branch(G, A, in, G, leaving);
        ck_assert_int_eq(reconv_spe.depth(&stack), 2);
        check_path(A, in);
    }
    jump(G);
    check_path(G, LANES_ALL);
}
END_TEST

/* The state of a warp of 32 lanes has a header of 32 bytes and 64 entries of 24 bytes. Each branch adds two entries:
 * one lane leaves the others, which branch next. So 31 branches make 1 + 2 * 31 = 63 entries. */
START_TEST(size_follows_lanes) {
    const size_t size = reconv_spe.size(&cfg, 32);
    ck_assert_uint_eq(size, 32 + 64 * 24);
    ck_assert_uint_eq(reconv_spe.size(&cfg, 64), sizeof stack);
    unsigned char *st = calloc(1, size + sizeof stack);
    memset(st + size, 0x5a, sizeof stack);
    reconv_spe.start(st, &cfg, 0, 0xffffffffu);
    for (uint32_t lane = 0; lane < 31; lane++) {
        const lanemask_t one = (lanemask_t)1 << lane;
        struct target t[2] = {{2 * lane + 2, 0xffffffffu & ~(2 * one - 1)}, {2 * lane + 1, one}};
        struct branch_site site = {.rpc = 100 + lane, .taken_pc = 2 * lane + 2};
        reconv_spe.branch(st, 0, t, 2, &site);
    }
    ck_assert_int_eq(reconv_spe.depth(st), 63);
    for (size_t i = 0; i < sizeof stack; i++)
        ck_assert_uint_eq(st[size + i], 0x5a);
    free(st);
}
END_TEST

START_TEST(n_way) {
    start(0xf);
    struct target t[3] = {{3, 0x1}, {6, 0x6}, {16, 0x8}};
    struct branch_site site = {.rpc = G, .taken_pc = PC_EXIT};
    reconv_spe.branch(&stack, 0, t, 3, &site);
    check_path(3, 0x1); /* the first group runs first; the third group starts at the reconvergence point */
    jump(G);
    check_path(6, 0x6);
    jump(G);
    check_path(G, 0xf);
}
END_TEST

START_TEST(exit_inside_a_side) {
    start(0xf);
    branch(G, B, 0x3, C, 0xc);
    reconv_spe.leave(&stack, 0, 0x1, B + 1); /* lane 0 exits, lane 1 continues */
    check_path(B + 1, 0x2);
    reconv_spe.leave(&stack, 0, 0x2, B + 2); /* the side is empty */
    check_path(C, 0xc);
    jump(G);
    check_path(G, 0xc);
    reconv_spe.leave(&stack, 0, 0xc, 0);
    ck_assert(reconv_spe.finished(&stack));
    ck_assert_int_eq(reconv_spe.paths(&stack, &(struct path){0}, 1), 0);
}
END_TEST

/* Worst case: each branch splits one lane from the path, and has its own reconvergence point. 31 branches of a path
 * with 32 lanes leave two entries each. With the entry of the running path, the stack has 63 entries, which is the
 * maximum that a comment in reconv_spe.h derives. */
START_TEST(deepest_stack) {
    start(LANES_ALL);
    lanemask_t in = LANES_ALL;
    for (uint32_t i = 0; i < 31; i++) {
        lanemask_t one = in & -in;
        in ^= one;
        branch(1000 - i, 100 + i, in, 500 + i, one);
    }
    ck_assert_int_eq(reconv_spe.depth(&stack), 63);
    ck_assert_uint_lt(63, SPE_MAX_DEPTH);
}
END_TEST

/* A stack of SPE_NEAR entries stays in the near bytes. A deeper stack moves to the far bytes, and keeps its entries.
 * Branch i pushes the entries {500 + i, lane i} and {100 + i, the lanes above}. Then the stack has 2 i + 3 entries. */
START_TEST(a_deep_stack_moves_to_the_far_bytes) {
    reconv_cfg_default(&cfg);
    struct spe_stack *st = malloc(reconv_spe.near); /* the sanitizer finds accesses behind it */
    struct spe_entry far[SPE_MAX_DEPTH] = {{0}};
    struct path p;
    reconv_spe.start(st, &cfg, 0, LANES_ALL);
    reconv_spe.inform(st, &(struct reconv_warp){.far = far});
    for (uint32_t i = 0; i < 31; i++) {
        const struct target t[2] = {{100 + i, LANES_ALL << (i + 1) & LANES_ALL}, {500 + i, (lanemask_t)1 << i}};
        reconv_spe.branch(st, 0, t, 2, &(struct branch_site){.rpc = 1000 - i, .taken_pc = 100 + i});
        ck_assert_uint_eq(far[0].lanes, 2 * i + 3 > SPE_NEAR ? LANES_ALL : 0);
    }
    ck_assert_int_eq(reconv_spe.depth(st), 63);
    for (uint32_t i = 31; i-- > 0;) { /* both sides arrive at the PC where they join, and the join entry is on top */
        reconv_spe.advance(st, 0, 1000 - i);
        reconv_spe.paths(st, &p, 1);
        ck_assert_uint_eq(p.pc, 500 + i);
        ck_assert_uint_eq(p.lanes, (lanemask_t)1 << i);
        reconv_spe.advance(st, 0, 1000 - i);
    }
    reconv_spe.paths(st, &p, 1);
    ck_assert_uint_eq(p.pc, 1000);
    ck_assert_uint_eq(p.lanes, LANES_ALL);
    free(st);
}
END_TEST

/* A branch inside a called function may have no post-dominator. Then it reconverges at the reconvergence point of the
 * branch in the caller. */
START_TEST(branch_without_post_dominator) {
    start(0xf);
    branch(G, B, 0x3, C, 0xc);
    branch(PC_EXIT, 100, 0x1, 200, 0x2);
    check_path(100, 0x1);
    jump(G);
    check_path(200, 0x2);
    jump(G);
    check_path(C, 0xc);
}
END_TEST

START_TEST(describes_all_entries) {
    struct path_desc d[4];
    start(0xf);
    branch(G, B, 0x1, C, 0xe);
    ck_assert_int_eq(reconv_spe.describe(&stack, d, 4), 3);
    ck_assert_str_eq(d[0].state, "top of stack");
    ck_assert_uint_eq(d[0].path.pc, B);
    ck_assert_uint_eq(d[1].path.pc, C);
    ck_assert_uint_eq(d[1].rpc, G);
    ck_assert_uint_eq(d[2].rpc, PC_EXIT);
}
END_TEST

/* In a recursive call, a path reaches the same PC at a greater call depth. A path reconverges only at the call depth
 * where it diverged. */
START_TEST(recursion_does_not_reconverge) {
    struct spe_stack st = {0};
    struct path p;
    struct target sides[2] = {{6, 0x3}, {8, 0xc}}, callee = {0, 0x3}, back = {10, 0x3};
    struct branch_site branch = {.pc = 5, .rpc = 10, .taken_pc = 6},
                       call = {.pc = 6, .rpc = 7, .taken_pc = PC_EXIT, .calls = 1},
                       ret = {.pc = 12, .rpc = PC_EXIT, .taken_pc = PC_EXIT, .calls = -1};
    reconv_spe.start(&st, NULL, 0, 0xf);
    reconv_spe.branch(&st, 0, sides, 2, &branch);
    reconv_spe.branch(&st, 0, &callee, 1, &call);
    reconv_spe.advance(&st, 0, 10); /* the PC of the reconvergence point, but in the callee */
    reconv_spe.paths(&st, &p, 1);
    ck_assert_uint_eq(p.lanes, 0x3);
    ck_assert_uint_eq(p.pc, 10);
    reconv_spe.branch(&st, 0, &back, 1, &ret);
    reconv_spe.paths(&st, &p, 1);
    ck_assert_uint_eq(p.lanes, 0xc); /* the other side runs */
    reconv_spe.advance(&st, 0, 10);
    reconv_spe.paths(&st, &p, 1);
    ck_assert_uint_eq(p.lanes, 0xf);
}
END_TEST

/* Lanes 0 and 1 execute the call at PC 5. Lanes 2 and 3 skip the call, and wait at PC 6 for the return. No lane may
 * execute PC 6 before all lanes have arrived there. */
START_TEST(lanes_that_skip_a_call_wait_after_it) {
    struct spe_stack st = {0};
    struct path p;
    struct target sides[2] = {{20, 0x3}, {6, 0xc}}, back = {6, 0x3};
    struct branch_site call = {.pc = 5, .rpc = 6, .taken_pc = PC_EXIT, .calls = 1},
                       ret = {.pc = 22, .rpc = PC_EXIT, .taken_pc = PC_EXIT, .calls = -1};
    reconv_spe.start(&st, NULL, 5, 0xf);
    reconv_spe.branch(&st, 0, sides, 2, &call);
    ck_assert_uint_eq(st.n, 2);
    reconv_spe.paths(&st, &p, 1);
    ck_assert_uint_eq(p.pc, 20);
    ck_assert_uint_eq(p.lanes, 0x3);
    reconv_spe.branch(&st, 0, &back, 1, &ret);
    ck_assert_uint_eq(st.n, 1);
    reconv_spe.paths(&st, &p, 1);
    ck_assert_uint_eq(p.pc, 6);
    ck_assert_uint_eq(p.lanes, 0xf);
}
END_TEST

/* A branch in a called function has no post-dominator, so it reconverges at the reconvergence point of the caller's
 * branch, at the caller's call depth. It must not reconverge when the called function itself executes this PC. */
START_TEST(inherited_reconvergence_has_the_callers_depth) {
    const struct target callee = {100, 0x3}, sides[2] = {{110, 0x1}, {120, 0x2}}, back = {B + 1, 0x1},
                        other = {B + 1, 0x2};
    const struct branch_site call = {.pc = B, .rpc = B + 1, .taken_pc = PC_EXIT, .calls = 1},
                             site = {.pc = 100, .rpc = PC_EXIT, .taken_pc = 110},
                             ret = {.pc = 130, .rpc = PC_EXIT, .taken_pc = PC_EXIT, .calls = -1};
    start(0xf);
    branch(G, B, 0x3, C, 0xc);
    reconv_spe.branch(&stack, 0, &callee, 1, &call);
    reconv_spe.branch(&stack, 0, sides, 2, &site);
    check_path(110, 0x1);
    reconv_spe.advance(&stack, 0, G); /* the PC is reached in the called function, not in the caller */
    check_path(G, 0x1);
    reconv_spe.branch(&stack, 0, &back, 1, &ret);
    check_path(B + 1, 0x1);
    jump(G);
    check_path(120, 0x2);
    reconv_spe.branch(&stack, 0, &other, 1, &ret);
    jump(G);
    check_path(C, 0xc);
    jump(G);
    check_path(G, 0xf);
    ck_assert_int_eq(reconv_spe.depth(&stack), 1);
}
END_TEST

/* A unit is a part of the stack whose lanes never reconverge with lanes of other parts. Lane 0 (at D) waits for lane 2,
 * so it becomes a unit of its own, and the other lanes run. Later lane 2, on one side of C's branch, waits for lane 0.
 * Then the whole unit of lane 2 moves below lane 0. The other side of C's branch (lane 3) does not wait, but it is in
 * the unit that has moved, so it does not run before lane 0. */
START_TEST(a_unit_stays_together) {
    start(0xf);
    branch(G, B, 0x3, C, 0xc);
    branch(F, D, 0x1, F, 0x2);
    struct lane_waits ws = {.waiting = 0x1, .wants = {[0] = 0x4}};
    ck_assert_uint_eq(reconv_spe.give_way(&stack, &ws), RECONV_CHANGED);
    check_path(F, 0x2);
    jump(G);
    check_path(C, 0xc);
    branch(F, 7, 0x4, 8, 0x8);
    ws = (struct lane_waits){.waiting = 0x4, .wants = {[2] = 0x1}};
    ck_assert_uint_eq(reconv_spe.give_way(&stack, &ws), RECONV_CHANGED);
    check_path(D, 0x1);
    reconv_spe.leave(&stack, 0, 0x1, D + 1);
    check_path(7, 0x4);
    jump(F);
    check_path(8, 0x8);
    jump(F);
    check_path(F, 0xc);
    jump(G);
    check_path(G, 0xe);
}
END_TEST

/* A path that waits for lanes of a lower stack entry lets this entry run. Lanes 0 (at D) and 1 (at E) are two sides of
 * a branch, and both wait for lane 2. So each side becomes a unit of its own (see above), and C runs. Then C waits for
 * lane 0, so the unit of C moves below the two other units. The unit of D became a unit first, so it is on top. */
START_TEST(units_take_turns) {
    start(0xf);
    branch(G, B, 0x3, C, 0xc);
    branch(F, D, 0x1, E, 0x2);
    check_path(D, 0x1);
    struct lane_waits ws = {.waiting = 0x3, .wants = {[0] = 0x4, [1] = 0x4}};
    ck_assert_uint_eq(reconv_spe.give_way(&stack, &ws), RECONV_CHANGED);
    check_path(C, 0xc);
    ws = (struct lane_waits){.waiting = 0xc, .wants = {[2] = 0x1, [3] = 0x1}};
    ck_assert_uint_eq(reconv_spe.give_way(&stack, &ws), RECONV_CHANGED);
    check_path(D, 0x1);
    reconv_spe.leave(&stack, 0, 0x1, D + 1);
    check_path(E, 0x2);
    jump(F); /* F was its reconvergence point; the path continues because it is alone in its unit */
    check_path(F, 0x2);
    reconv_spe.leave(&stack, 0, 0x2, F + 1);
    check_path(C, 0xc);
    ws = (struct lane_waits){.waiting = 0xc, .wants = {[2] = 0x8, [3] = 0x4}}; /* no path is left to run */
    ck_assert_uint_eq(reconv_spe.give_way(&stack, &ws), 0);
}
END_TEST

/* reconv_cfg_default() sets all fields. */
START_TEST(defaults_set_all_fields) {
    struct reconv_cfg clear, dirty;
    memset(&clear, 0, sizeof clear);
    memset(&dirty, 0xff, sizeof dirty);
    reconv_cfg_default(&clear);
    reconv_cfg_default(&dirty);
    ck_assert_mem_eq(&clear, &dirty, sizeof clear);
    ck_assert_uint_eq(clear.dws_threshold, 50);
    ck_assert_uint_eq(clear.dws_wst_entries, 0);
    ck_assert_uint_eq(clear.subwarp_latency, 6);
    ck_assert_uint_eq(clear.si_switch_latency, 6);
    ck_assert_uint_eq(clear.si_trigger, 1);
    ck_assert_uint_eq(clear.si_yield_after, 1);
    ck_assert_uint_eq(clear.si_max_subwarps, 32);
}
END_TEST

SUITE(isa_reconv_spe) {
    TEST(units_take_turns);
    TEST(inherited_reconvergence_has_the_callers_depth);
    TEST(a_unit_stays_together);
    TEST(defaults_set_all_fields);
    TEST(figure_1);
    TEST(fallthrough_first);
    TEST(steps_report_no_events);
    TEST(side_at_the_reconvergence_point);
    TEST(uniform_branch_pushes_nothing);
    TEST(loop_does_not_grow);
    TEST(size_follows_lanes);
    TEST(n_way);
    TEST(exit_inside_a_side);
    TEST(deepest_stack);
    TEST(a_deep_stack_moves_to_the_far_bytes);
    TEST(branch_without_post_dominator);
    TEST(describes_all_entries);
    TEST(recursion_does_not_reconverge);
    TEST(lanes_that_skip_a_call_wait_after_it);
}
