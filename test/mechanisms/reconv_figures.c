/* Tests the worked examples in the papers, block by block, and rules that only one model has. */
#include "test/toys/toy.h"
#include <stdio.h>

/* Figure 1 of the dual-path paper. A branches to B and C, and C branches to D and E. D and E reconverge at F, B and F
 * at G. Each block has three instructions, but F has one. Lane 0 runs B, lanes 1 to 3 run C. Of these, lane 1 runs D,
 * lanes 2 and 3 run E. */
enum { A = 0, B = 3, C = 6, D = 9, E = 12, F = 15, G = 16 };
static struct toy figure1(void) {
    struct toy t = {.n = 19};
    t.code[A + 2] = (struct toy_inst){.kind = BRANCH, .target = C, .takers = 0xe};
    t.code[B + 2] = (struct toy_inst){.kind = BRANCH, .target = G, .takers = LANES_ALL};
    t.code[C + 2] = (struct toy_inst){.kind = BRANCH, .target = E, .takers = 0xc};
    t.code[D + 2] = (struct toy_inst){.kind = BRANCH, .target = F, .takers = LANES_ALL};
    t.code[G + 2] = (struct toy_inst){.kind = EXIT};
    toy_find_rpcs(&t);
    return t;
}

/* Runs the first path that paths() returns, again and again. Writes "B:1 C:e ..." with each block that is entered and
 * its lanes. */
static void block_order(const struct reconv_ops *ops, const struct reconv_cfg *cfg, char *out, size_t size) {
    static struct toy_run r;
    struct toy t = figure1();
    void *st = calloc(1, ops->size(cfg, MAX_WARP_LANES));
    memset(&r, 0, sizeof r);
    out[0] = 0;
    ops->start(st, cfg, 0, 0xf);
    while (!ops->finished(st)) {
        struct path p[MAX_PATHS];
        ck_assert_int_gt(ops->paths(st, p, MAX_PATHS), 0);
        static const struct {
            uint32_t pc;
            char name;
        } blocks[] = {{A, 'A'}, {B, 'B'}, {C, 'C'}, {D, 'D'}, {E, 'E'}, {F, 'F'}, {G, 'G'}};
        for (size_t i = 0; i < 7; i++)
            if (blocks[i].pc == p[0].pc)
                snprintf(out + strlen(out), size - strlen(out), "%c:%x ", blocks[i].name, (rowmask_t)p[0].lanes);
        toy_issue(&t, ops, st, p[0], &r);
    }
    free(st);
}

START_TEST(figure1_post_dominators) {
    struct toy t = figure1();
    ck_assert_uint_eq(t.code[A + 2].rpc, G);
    ck_assert_uint_eq(t.code[C + 2].rpc, F);
}
END_TEST

START_TEST(figure2_spe_goes_depth_first) {
    char order[128];
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.first = 1; /* in the paper, the fall-through block B runs first */
    block_order(&reconv_spe, &cfg, order, sizeof order);
    ck_assert_str_eq(order, "A:f B:1 C:e D:2 E:c F:e G:f ");
    cfg.first = 0; /* the taken path runs first: C before B, E before D */
    block_order(&reconv_spe, &cfg, order, sizeof order);
    ck_assert_str_eq(order, "A:f C:e E:c D:2 F:e B:1 G:f ");
}
END_TEST

/* Issues n instructions of the path at `pc`. */
static void step(const struct toy *t, const struct reconv_ops *ops, void *st, uint32_t pc, int n) {
    static struct toy_run r;
    for (; n > 0; n--, pc++) {
        struct path p[MAX_PATHS];
        int k = 0, count = ops->paths(st, p, MAX_PATHS);
        while (k < count && p[k].pc != pc)
            k++;
        ck_assert_msg(k < count, "no path at %u", pc);
        toy_issue(t, ops, st, p[k], &r);
    }
}

/* Returns the paths that may issue as "pc:lanes pc:lanes", the path on the left scoreboard first. */
static const char *schedulable(const struct reconv_ops *ops, const void *st) {
    static char out[128];
    struct path p[MAX_PATHS];
    int n = ops->paths(st, p, MAX_PATHS);
    out[0] = 0;
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%u:%x ", p[i].pc, (rowmask_t)p[i].lanes);
    return out;
}

/* Figure 4: after A, both B and C may issue. While C is diverged, only D and E may issue. B may issue again when its
 * stack entry is on top again. */
START_TEST(figure4_dpe_interleaves) {
    struct toy t = figure1();
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, A, 0xf);
    step(&t, &reconv_dpe, st, A, 3);
    /* the taken path C is on the left scoreboard, B on the right */
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "6:e 3:1 ");
    step(&t, &reconv_dpe, st, B, 1);
    step(&t, &reconv_dpe, st, C, 3);
    /* D and E may issue; B is suspended at its second instruction */
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "12:c 9:2 ");
    ck_assert_int_eq(reconv_dpe.depth(st), 3);
    step(&t, &reconv_dpe, st, D, 3);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "12:c ");
    step(&t, &reconv_dpe, st, E, 3);
    /* F runs once, for all lanes of C, and B may issue beside it */
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "15:e 4:1 ");
    step(&t, &reconv_dpe, st, F, 1);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "4:1 ");
    step(&t, &reconv_dpe, st, B + 1, 2);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "16:f ");
    ck_assert_int_eq(reconv_dpe.depth(st), 1);
    free(st);
}
END_TEST

/* Section 7.1: with path forwarding, B runs in the slot that becomes free when D ends. The example in the paper's text
 * runs B and E in this way. */
START_TEST(dpe_forwards_a_lower_path) {
    struct toy t = figure1();
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.dpe_forwarding = true;
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, A, 0xf);
    step(&t, &reconv_dpe, st, A, 3);
    step(&t, &reconv_dpe, st, C, 3);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "12:c 9:2 ");
    step(&t, &reconv_dpe, st, D, 3);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "12:c 3:1 ");
    step(&t, &reconv_dpe, st, B, 3); /* B ends while E still runs */
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "12:c ");
    step(&t, &reconv_dpe, st, E, 3);
    step(&t, &reconv_dpe, st, F, 1);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "16:f ");
    free(st);
}
END_TEST

/* Section 7.2: if one half of a split load reaches a branch first, it waits there for the other half. The joined halves
 * are one path on the left scoreboard. This scoreboard must include the pending registers of the right scoreboard. */
START_TEST(dpe_halves_gather_before_a_branch) {
    struct reconv_cfg cfg;
    struct path p[2], slow;
    reconv_cfg_default(&cfg);
    cfg.dpe_memory_divergence = true;
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, 0, 0xf);
    ck_assert_uint_eq(reconv_dpe.gather(st, 0, 1), 0); /* the path is not split yet, so no half waits */
    ck_assert_uint_ne(reconv_dpe.split(st, 0, 0x3, 1, &slow), 0);
    ck_assert_uint_eq(slow.lanes, 0x3);
    ck_assert_uint_eq(slow.board, 1);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:c 1:3 ");
    reconv_dpe.paths(st, p, 2);
    ck_assert_uint_ne(reconv_dpe.gather(st, p[0].id, 5), 0);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:3 ");
    ck_assert_uint_eq(reconv_dpe.gather(st, slow.id, 5) & 3, RECONV_SHADOW_1);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "5:f ");
    free(st);
}
END_TEST

/* A waiting half continues alone if the lanes for which it waits have exited. */
START_TEST(dpe_half_does_not_wait_for_exited_lanes) {
    struct reconv_cfg cfg;
    struct path slow;
    reconv_cfg_default(&cfg);
    cfg.dpe_memory_divergence = true;
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, 0, 0xf);
    reconv_dpe.split(st, 0, 0x3, 1, &slow);
    reconv_dpe.gather(st, 0, 5);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:3 ");
    reconv_dpe.leave(st, slow.id, 0x3, 2);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "5:c ");
    free(st);
}
END_TEST

/* Section 3.3: the constrained scheduler returns only one path. It begins with the path whose load hit. It returns the
 * other path after a long-latency operation, and while the first path waits at a barrier. */
START_TEST(dpe_constrained_shows_one_path) {
    struct reconv_cfg cfg;
    struct path slow;
    reconv_cfg_default(&cfg);
    cfg.dpe_memory_divergence = true;
    cfg.dpe_scheduler = 1;
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, 0, 0xf);
    reconv_dpe.split(st, 0, 0x3, 1, &slow);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:c ");
    reconv_dpe.stall(st, 0, STALL_LOAD_USE);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:3 ");
    reconv_dpe.stall(st, slow.id, STALL_OTHER);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:c ");
    reconv_dpe.wake(st, slow.id);
    ck_assert_str_eq(schedulable(&reconv_dpe, st), "1:3 ");
    free(st);
}
END_TEST

/* Section 3.2, shadow copies: at a divergence both scoreboards are copied. At the reconvergence point, the scoreboard
 * of the arriving side is copied. */
START_TEST(dpe_reports_when_to_shadow) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    void *st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, A, 0xf);
    struct target t[2] = {{C, 0xe}, {B, 0x1}};
    struct branch_site site = {.pc = A + 2, .rpc = G, .rpc_block = 3, .taken_pc = C};
    ck_assert_uint_eq(reconv_dpe.branch(st, 0, t, 2, &site) & 3, RECONV_SHADOW_0 | RECONV_SHADOW_1);
    struct path p[2];
    reconv_dpe.paths(st, p, 2);
    ck_assert_uint_eq(reconv_dpe.advance(st, p[1].id, B + 1) & 3, 0);
    ck_assert_uint_eq(reconv_dpe.advance(st, p[1].id, G) & 3, RECONV_SHADOW_1);
    ck_assert_uint_eq(reconv_dpe.advance(st, p[0].id, G) & 3, RECONV_SHADOW_0);
    free(st);
}
END_TEST

/* Figure 3 with threshold 2. The branch in A uses the stack, because its post-dominator block G has three instructions.
 * The branch in C subdivides the warp, because F has one instruction. So F executes twice, once for each split. */
START_TEST(figure3_dws_runs_f_twice) {
    char order[128];
    struct toy t = figure1();
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.dws_threshold = 2;
    cfg.first = 1;
    void *st = calloc(1, reconv_dws.size(&cfg, MAX_WARP_LANES));
    reconv_dws.start(st, &cfg, A, 0xf);
    step(&t, &reconv_dws, st, A, 3);
    ck_assert_str_eq(schedulable(&reconv_dws, st), "3:1 ");
    step(&t, &reconv_dws, st, B, 3);
    ck_assert_str_eq(schedulable(&reconv_dws, st), "6:e ");
    step(&t, &reconv_dws, st, C, 3);
    ck_assert_str_eq(schedulable(&reconv_dws, st), "12:c 9:2 "); /* the table has room for only two splits */
    free(st);
    block_order(&reconv_dws, &cfg, order, sizeof order);
    int f = 0;
    for (const char *c = order; *c; c++)
        f += *c == 'F';
    ck_assert_msg(f == 2, "%s", order);
}
END_TEST

/* With multi-path execution, B, D and E run side by side, and D and E reconverge in F, which runs once. */
START_TEST(figure1_multipath_runs_three_paths) {
    struct toy t = figure1();
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    void *st = calloc(1, reconv_multipath.size(&cfg, MAX_WARP_LANES));
    reconv_multipath.start(st, &cfg, A, 0xf);
    step(&t, &reconv_multipath, st, A, 3);
    step(&t, &reconv_multipath, st, C, 3);
    ck_assert_int_eq(reconv_multipath.paths(st, (struct path[4]){0}, 4), 3);
    step(&t, &reconv_multipath, st, D, 3);
    step(&t, &reconv_multipath, st, E, 3);
    step(&t, &reconv_multipath, st, B, 3);
    ck_assert_str_eq(schedulable(&reconv_multipath, st), "15:e ");
    step(&t, &reconv_multipath, st, F, 1);
    ck_assert_str_eq(schedulable(&reconv_multipath, st), "16:f ");
    free(st);
}
END_TEST

/* Two splits that reach the same PC merge. */
START_TEST(dws_merges_at_the_same_pc) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.dws_threshold = 2;
    void *st = calloc(1, reconv_dws.size(&cfg, MAX_WARP_LANES));
    reconv_dws.start(st, &cfg, C, 0xe);
    struct target t[2] = {{E, 0xc}, {D, 0x2}};
    struct branch_site site = {.pc = C + 2, .rpc = F, .rpc_block = 1, .taken_pc = E};
    reconv_dws.branch(st, 0, t, 2, &site);
    struct path p[2];
    ck_assert_int_eq(reconv_dws.paths(st, p, 2), 2);
    reconv_dws.advance(st, p[0].id, F);
    reconv_dws.advance(st, p[1].id, F);
    ck_assert_str_eq(schedulable(&reconv_dws, st), "15:e ");
    free(st);
}
END_TEST

/* Figures 9 and 10 (a) of the subwarp-interleaving paper. t1 falls through and stalls at PC 5; t0 branches to PC 7 and
 * stalls at PC 8. The PCs are those of the paper's listing. */
START_TEST(figure10_si_states) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.first = 1; /* t1, the fall-through side, stays ACTIVE */
    void *st = calloc(1, reconv_si.size(&cfg, MAX_WARP_LANES));
    const lanemask_t t0 = 1, t1 = 2;
    struct path p[2];
    reconv_si.start(st, &cfg, 1, t0 | t1);
    reconv_si.paths(st, p, 2);
    reconv_si.bssy(st, p[0].id, 0, 10, 2);
    struct target to[2] = {{7, t0}, {3, t1}};
    struct branch_site site = {.pc = 2, .rpc = 10, .rpc_block = 1, .taken_pc = 7};
    reconv_si.branch(st, p[0].id, to, 2, &site); /* step 1: t1 is ACTIVE, t0 is READY */
    ck_assert_str_eq(schedulable(&reconv_si, st), "3:2 ");
    reconv_si.paths(st, p, 2);
    uint16_t id1 = p[0].id;
    reconv_si.advance(st, id1, 4);            /* step 2: TLD */
    reconv_si.advance(st, id1, 5);            /* step 3: independent FMUL */
    reconv_si.stall(st, id1, STALL_LOAD_USE); /* step 4: t1 STALLED */
    ck_assert_str_eq(schedulable(&reconv_si, st), "");
    ck_assert(reconv_si.select(st)); /* t0 ACTIVE */
    ck_assert_str_eq(schedulable(&reconv_si, st), "7:1 ");
    reconv_si.paths(st, p, 2);
    uint16_t id0 = p[0].id;
    reconv_si.advance(st, id0, 8);
    reconv_si.wake(st, id1); /* the data of t1 arrives: t1 is READY, and t0 stays ACTIVE */
    ck_assert_str_eq(schedulable(&reconv_si, st), "8:1 ");
    reconv_si.stall(st, id0, STALL_LOAD_USE); /* step 7 */
    ck_assert(reconv_si.select(st));          /* step 8: t1 ACTIVE */
    ck_assert_str_eq(schedulable(&reconv_si, st), "5:2 ");
    reconv_si.advance(st, id1, 10);
    reconv_si.bsync(st, id1, 0, 0, 11); /* steps 9 and 10: the subwarp is BLOCKED */
    ck_assert_str_eq(schedulable(&reconv_si, st), "");
    reconv_si.wake(st, id0);
    ck_assert_str_eq(schedulable(&reconv_si, st), "8:1 ");
    reconv_si.advance(st, id0, 10);
    reconv_si.bsync(st, id0, 0, 0, 11); /* the last subwarp arrives and opens the barrier; both merge */
    ck_assert_str_eq(schedulable(&reconv_si, st), "11:3 ");
    free(st);
}
END_TEST

/* Figure 10 (b): with yielding, t0 becomes ACTIVE as soon as t1 has issued its load. */
START_TEST(figure10_si_yield) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    cfg.first = 1;
    void *st = calloc(1, reconv_si.size(&cfg, MAX_WARP_LANES));
    struct path p[2];
    reconv_si.start(st, &cfg, 2, 3);
    struct target to[2] = {{7, 1}, {3, 2}};
    struct branch_site site = {.pc = 2, .rpc = 10, .rpc_block = 1, .taken_pc = 7};
    reconv_si.branch(st, 0, to, 2, &site);
    reconv_si.paths(st, p, 2);
    reconv_si.advance(st, p[0].id, 4);
    reconv_si.yield(st, p[0].id);
    ck_assert_str_eq(schedulable(&reconv_si, st), "7:1 ");
    free(st);
}
END_TEST

/* A spin loop: lane 0 must leave the loop while the other lanes spin at PCs 0 and 1. Under the model `its`, every
 * subwarp makes progress. */
START_TEST(its_spinning_lanes_yield) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    void *st = calloc(1, reconv_its.size(&cfg, MAX_WARP_LANES));
    struct path p[2];
    reconv_its.start(st, &cfg, 0, 3);
    struct branch_site site = {.pc = 1, .rpc = PC_EXIT, .rpc_block = 0, .taken_pc = 0};
    struct target first[2] = {{0, 2}, {2, 1}}, again[1] = {{0, 2}};
    reconv_its.advance(st, 0, 1);
    reconv_its.branch(st, 0, first, 2, &site); /* the subwarp that took the branch stays active, so lane 1 spins */
    int spins = 0;
    while (reconv_its.paths(st, p, 2) && p[0].lanes == 2 && spins < 1000) {
        reconv_its.advance(st, p[0].id, 1);
        reconv_its.branch(st, p[0].id, again, 1, &site);
        spins++;
    }
    ck_assert_int_lt(spins, 100);
    ck_assert_str_eq(schedulable(&reconv_its, st), "2:1 ");
    free(st);
}
END_TEST

SUITE(mechanisms_figures) {
    TEST(figure1_post_dominators);
    TEST(figure2_spe_goes_depth_first);
    TEST(figure4_dpe_interleaves);
    TEST(dpe_forwards_a_lower_path);
    TEST(dpe_halves_gather_before_a_branch);
    TEST(dpe_half_does_not_wait_for_exited_lanes);
    TEST(dpe_constrained_shows_one_path);
    TEST(dpe_reports_when_to_shadow);
    TEST(figure3_dws_runs_f_twice);
    TEST(figure1_multipath_runs_three_paths);
    TEST(dws_merges_at_the_same_pc);
    TEST(figure10_si_states);
    TEST(figure10_si_yield);
    TEST(its_spinning_lanes_yield);
}
