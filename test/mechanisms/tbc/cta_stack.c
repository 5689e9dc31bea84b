/* Tests the stack of a CTA step by step: compaction, reconvergence, and threads that wait at barriers or exit. The
 * warps have four lanes. */
#include "isa/paths/cta_stack.h"
#include "mechanisms/tbc/reconv_tbc.h"
#include "test/toys/toy.h"
#include <stdio.h>

enum { WARPS = 3, LANES = 0xf };
static struct reconv_cfg cfg;
static struct reconv_cta *cta;
static struct cta_stack_warp warp[WARPS];
static lanemask_t lanes; /* of each warp */

static void start(uint32_t warps) {
    cta = calloc(1, reconv_tbc.cta_size(&cfg, warps));
    cta->n_warps = warps;
    for (uint32_t w = 0; w < warps; w++) {
        reconv_tbc.join(&warp[w], &cfg, cta, w);
        cta_stack_start(&warp[w], &cfg, 0, lanes);
    }
}
static void setup(void) {
    reconv_cfg_default(&cfg);
    lanes = LANES;
}
static void teardown(void) {
    free(cta);
    cta = NULL;
}

/* Lets the CTA's stack combine paths, if it has something to do. The functions below call it after each step. */
static void meet(void) {
    if (cta->due)
        cta_stack_meet(cta);
    cta->due = false;
}

/* If `w` is the first warp of its group, adds path `p` of `w` and the paths of the group's other warps to `out`. */
static void add_group(uint32_t w, const struct path *p, char *out, size_t size) {
    const uint32_t group = cta_stack_group(&warp[w], p->id);
    size_t at = strlen(out);
    snprintf(out + at, size - at, "%u:%u.%x", p->pc, w, (rowmask_t)p->lanes);
    for (uint32_t v = 0; group && v < cta->n_warps; v++) {
        struct path q[MAX_PATHS];
        for (int n = cta_stack_paths(&warp[v], q, MAX_PATHS); n-- > 0;) {
            if (cta_stack_group(&warp[v], q[n].id) != group || v == w)
                continue;
            ck_assert_uint_eq(q[n].pc, p->pc);
            if (v < w) {
                out[at] = 0;
                return;
            }
            snprintf(out + strlen(out), size - strlen(out), "+%u.%x", v, (rowmask_t)q[n].lanes);
        }
    }
    snprintf(out + strlen(out), size - strlen(out), " ");
}

/* Returns the paths of the CTA that may issue as "pc:", and for each compacted warp "warp.lanes" of its members. */
static const char *running(void) {
    static char out[256];
    struct path p[MAX_PATHS];
    out[0] = 0;
    for (uint32_t w = 0; w < cta->n_warps; w++)
        for (int n = cta_stack_paths(&warp[w], p, MAX_PATHS), i = 0; i < n; i++)
            add_group(w, &p[i], out, sizeof out);
    return out;
}

static int id_at(uint32_t w, uint32_t pc) {
    struct path p[MAX_PATHS];
    for (int n = cta_stack_paths(&warp[w], p, MAX_PATHS); n-- > 0;)
        if (p[n].pc == pc)
            return p[n].id;
    ck_abort_msg("warp %u has no path at %u: %s", w, pc, running());
    return -1;
}

/* A path of warp `w` at `from` branches: `lanes` to `pc`, its other lanes fall through; all reconverge at `rpc`. */
static void branch_at(uint32_t w, struct branch_site site, lanemask_t taken) {
    const uint32_t from = site.pc, pc = site.taken_pc;
    int id = id_at(w, from), n = 0;
    const lanemask_t all = warp[w].path[id].lanes;
    struct target t[2];
    if (all & taken)
        t[n++] = (struct target){pc, all & taken};
    if (all & ~taken)
        t[n++] = (struct target){from + 1, all & ~taken};
    cta_stack_branch(&warp[w], id, t, n, &site);
    meet();
}
static void branch(uint32_t w, uint32_t from, uint32_t pc, lanemask_t taken, uint32_t rpc) {
    branch_at(w, (struct branch_site){.pc = from, .rpc = rpc, .taken_pc = pc, .conditional = true}, taken);
}
/* A path of warp `w` branches like in branch(), but the branch belongs to a loop that waits for other threads. */
static void poll(uint32_t w, uint32_t from, uint32_t pc, lanemask_t taken) {
    struct branch_site site = {.pc = from, .rpc = from + 1, .taken_pc = pc, .conditional = true, .waits = true};
    branch_at(w, site, taken);
}

static void go(uint32_t w, uint32_t from, uint32_t to) {
    cta_stack_advance(&warp[w], id_at(w, from), to);
    meet();
}

/* Every other lane of warp 0 and the complementary lanes of warp 1 take a branch. With a stack for each warp, the two
 * sides issue 2 x 2 times; compacted, each side is one warp, which issues once. */
START_TEST(complementary_lanes_share_a_warp) {
    start(2);
    ck_assert_str_eq(running(), "0:0.f 0:1.f ");
    branch(0, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "0:1.f "); /* warp 0 waits for warp 1 */
    branch(1, 0, 10, 0xa, 20);
    ck_assert_str_eq(running(), "10:0.5+1.a ");
    go(0, 10, 20);
    ck_assert_str_eq(running(), "10:1.a "); /* the other side waits for all threads of this side */
    go(1, 10, 20);
    ck_assert_str_eq(running(), "1:0.a+1.5 ");
    go(0, 1, 20);
    go(1, 1, 20);
    ck_assert_str_eq(running(), "20:0.f 20:1.f "); /* all threads are in their own warps again */
    ck_assert_int_eq(cta_stack_depth(&warp[0]), 1);
}
END_TEST

/* If the same lanes of both warps take the branch, no lane is free for another thread: each side has two warps. */
START_TEST(aligned_lanes_are_not_compacted) {
    start(2);
    branch(0, 0, 10, 0x5, 20);
    branch(1, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "10:0.5 10:1.5 ");
}
END_TEST

/* Threads of three warps take the branch: lanes 0 and 1 of warp 0, lanes 1 and 2 of warp 1, and lane 0 of warp 2. The
 * first compacted warp has the first of these threads in each lane: lanes 0 and 1 of warp 0, and lane 2 of warp 1. The
 * second compacted warp has the remaining threads: lane 1 of warp 1, and lane 0 of warp 2. */
START_TEST(a_warp_rides_in_two_compacted_warps) {
    start(3);
    branch(0, 0, 10, 0x3, 20);
    branch(1, 0, 10, 0x6, 20);
    branch(2, 0, 10, 0x1, 20);
    ck_assert_str_eq(running(), "10:0.3+1.4 10:1.2+2.1 ");
}
END_TEST

/* No warp diverges, but the two warps go to different sides. So the branch diverges for the CTA. */
START_TEST(warps_on_different_sides) {
    start(2);
    branch(0, 0, 10, 0, 20);
    branch(1, 0, 10, LANES, 20);
    ck_assert_str_eq(running(), "10:1.f ");
    go(1, 10, 20);
    ck_assert_str_eq(running(), "1:0.f ");
}
END_TEST

/* A branch that all threads take leaves the warps as they are. */
START_TEST(a_uniform_branch) {
    start(2);
    branch(0, 0, 10, LANES, 20);
    branch(1, 0, 10, LANES, 20);
    ck_assert_str_eq(running(), "10:0.f 10:1.f ");
    ck_assert_int_eq(cta_stack_depth(&warp[0]), 1);
}
END_TEST

START_TEST(the_fall_through_runs_first_if_wanted) {
    cfg.first = FIRST_FALLTHROUGH;
    start(1);
    branch(0, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "1:0.a ");
}
END_TEST

/* Lanes leave a loop one by one; the branch has the same rpc as its entry, so the stack has two entries. The first
 * lanes of the warps leave first, then their second lanes. */
START_TEST(a_loop_needs_two_entries) {
    start(2);
    for (uint32_t i = 0; i < 3; i++) {
        branch(0, i, 9, 1u << i, 9);
        branch(1, i, 9, 1u << i, 9);
        ck_assert_int_eq(cta_stack_depth(&warp[0]), 2);
    }
    ck_assert_str_eq(running(), "3:0.8 3:1.8 ");
    go(0, 3, 9);
    go(1, 3, 9);
    ck_assert_str_eq(running(), "9:0.f 9:1.f ");
}
END_TEST

/* Both sides wait at a barrier: when the top entry cannot run, the other entry does. After the barrier each side runs
 * to the join. */
START_TEST(both_sides_reach_a_barrier) {
    start(2);
    branch(0, 0, 10, 0x5, 20);
    branch(1, 0, 10, 0xa, 20);
    int a = id_at(0, 10), b = id_at(1, 10);
    cta_stack_stall(&warp[0], a, STALL_OTHER);
    meet();
    ck_assert_str_eq(running(), "10:1.a ");
    cta_stack_stall(&warp[1], b, STALL_OTHER);
    meet();
    ck_assert_str_eq(running(), "1:0.a+1.5 ");
    cta_stack_wake(&warp[0], a);
    cta_stack_wake(&warp[1], b);
    meet();
    ck_assert_str_eq(running(), "1:0.a+1.5 "); /* this side remains the top while it can run */
    go(0, 1, 20);
    go(1, 1, 20);
    ck_assert_str_eq(running(), "10:0.5+1.a ");
    go(0, 10, 20);
    go(1, 10, 20);
    ck_assert_str_eq(running(), "20:0.f 20:1.f ");
}
END_TEST

/* Warp 0 takes the branch and waits at a barrier for warp 1, which waits at the join for warp 0. Warp 0 no longer
 * reconverges, so warp 1 continues. */
START_TEST(the_join_does_not_wait_for_a_barrier) {
    start(2);
    branch(0, 0, 10, LANES, 20);
    branch(1, 0, 10, 0, 20);
    int a = id_at(0, 10);
    cta_stack_stall(&warp[0], a, STALL_OTHER);
    meet();
    go(1, 1, 20);
    ck_assert_str_eq(running(), "20:1.f ");
    cta_stack_wake(&warp[0], a);
    meet();
    ck_assert_str_eq(running(), "20:1.f ");
    cta_stack_leave(&warp[1], id_at(1, 20), LANES, 0);
    meet();
    ck_assert(cta_stack_finished(&warp[1]));
    ck_assert_str_eq(running(), "10:0.f ");
}
END_TEST

/* Warp 0 waits at a barrier, warp 1 waits for it at a branch: warp 1 continues alone. */
START_TEST(a_branch_does_not_wait_for_a_barrier) {
    start(2);
    int a = id_at(0, 0);
    branch(1, 0, 10, LANES, 20);
    cta_stack_stall(&warp[0], a, STALL_OTHER);
    meet();
    ck_assert_str_eq(running(), "10:1.f ");
}
END_TEST

/* Threads exit on one side; the other threads of the side reconverge without them. */
START_TEST(exited_threads_are_not_waited_for) {
    start(2);
    branch(0, 0, 10, 0x5, 20);
    branch(1, 0, 10, 0xa, 20);
    cta_stack_leave(&warp[0], id_at(0, 10), 0x5, 11);
    cta_stack_leave(&warp[1], id_at(1, 10), 0x2, 20);
    meet();
    ck_assert_str_eq(running(), "1:0.a+1.5 ");
    go(0, 1, 20);
    go(1, 1, 20);
    ck_assert_str_eq(running(), "20:0.a 20:1.d ");
}
END_TEST

/* Warp 1 leaves a loop that waits for other threads, and reaches a branch, while warp 0 polls in the loop. The branch
 * does not wait for warp 0. From then on each warp has an entry of its own in the CTA's stack. After each poll of warp
 * 0, the entry of warp 1 runs. */
START_TEST(a_branch_does_not_wait_for_a_poll) {
    start(2);
    go(0, 0, 4);
    go(1, 0, 4);
    poll(0, 4, 2, LANES);
    ck_assert_str_eq(running(), "2:0.f 4:1.f ");
    poll(1, 4, 2, 0);
    ck_assert_str_eq(running(), "2:0.f 5:1.f ");
    branch(1, 5, 10, 0x3, 20);
    ck_assert_str_eq(running(), "10:1.3 ");
    go(1, 10, 20);
    go(1, 6, 20);
    ck_assert_str_eq(running(), "20:1.f ");
    cta_stack_leave(&warp[1], id_at(1, 20), LANES, 0);
    meet();
    ck_assert_str_eq(running(), "2:0.f ");
}
END_TEST

/* Both sides of a branch poll: they take turns. */
START_TEST(polling_sides_take_turns) {
    start(2);
    branch(0, 0, 10, LANES, 20);
    branch(1, 0, 10, 0, 20);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(running(), "10:0.f ");
        poll(0, 10, 10, LANES);
        ck_assert_str_eq(running(), "1:1.f ");
        poll(1, 1, 1, LANES);
    }
}
END_TEST

/* With the predictor: no warp waits at a branch that has never diverged. */
START_TEST(capri_ignores_uniform_branches) {
    cfg.tbc_predict = true;
    start(2);
    branch(0, 0, 10, LANES, 20);
    ck_assert_str_eq(running(), "10:0.f 0:1.f ");
}
END_TEST

/* Two warps execute one branch three times:
 * 1. The branch diverges for the first time, so the warps wait for each other. The same lanes of both warps take the
 *    branch, so there are 4 warps with and without compaction. The predictor learns that compaction is not adequate.
 * 2. The warps do not wait, and each has a stack of its own. Now complementary lanes take the branch: compaction would
 *    make 2 warps instead of 4. The predictor learns that compaction is adequate.
 * 3. The warps wait again. */
START_TEST(capri_predicts_what_was_adequate) {
    cfg.tbc_predict = true;
    start(2);
    branch(0, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "0:1.f ");
    branch(1, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "10:0.5 10:1.5 ");
    go(0, 10, 20);
    go(1, 10, 20);
    go(0, 1, 20);
    go(1, 1, 20);
    go(0, 20, 0);
    go(1, 20, 0);
    branch(0, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "10:0.5 0:1.f ");
    branch(1, 0, 10, 0xa, 20);
    ck_assert_str_eq(running(), "10:0.5 10:1.a ");
    go(0, 10, 20);
    ck_assert_str_eq(running(), "1:0.a 10:1.a ");
    go(0, 1, 20);
    ck_assert_str_eq(running(), "20:0.f 10:1.a ");
    go(1, 10, 20);
    go(1, 1, 20);
    ck_assert_str_eq(running(), "20:0.f 20:1.f ");
    go(0, 20, 0);
    go(1, 20, 0);
    branch(0, 0, 10, 0x5, 20);
    ck_assert_str_eq(running(), "0:1.f ");
}
END_TEST

/* Random programs: three warps with different outcomes of the branches. Whatever is scheduled, each lane executes the
 * instructions that it executes alone. Paths also wait at random, and wake in another order. */
START_TEST(random_programs) {
    cfg.tbc_predict = _i;
    for (uint32_t seed = 0; seed < 300; seed++) {
        static struct toy_run r[WARPS];
        struct toy t[WARPS];
        uint32_t rng = seed, asleep[WARPS] = {0};
        for (uint32_t w = 0; w < WARPS; w++) {
            t[w] = toy_random(seed);
            t[w].seed = seed + 1000 * w;
        }
        memset(r, 0, sizeof r);
        free(cta);
        lanes = LANES_ALL;
        start(WARPS);
        uint32_t done = 0;
        for (uint32_t step = 0; step < 200000 && done != (1u << WARPS) - 1; step++) {
            struct path p[MAX_PATHS];
            uint32_t w = (rng = toy_hash(rng, 5, step)) % WARPS, what = rng >> 8;
            int n = cta_stack_paths(&warp[w], p, MAX_PATHS);
            if (asleep[w] && what % 4 == 0) {
                cta_stack_wake(&warp[w], __builtin_ctz(asleep[w]));
                asleep[w] &= asleep[w] - 1;
            } else if (n && what % 8 == 1) {
                cta_stack_stall(&warp[w], p[what / 8 % (uint32_t)n].id, STALL_OTHER);
                asleep[w] |= 1u << p[what / 8 % (uint32_t)n].id;
            } else if (n) {
                toy_issue(&t[w], &reconv_tbc, &warp[w], p[what / 8 % (uint32_t)n], &r[w]);
            }
            meet();
            done |= (uint32_t)cta_stack_finished(&warp[w]) << w;
        }
        ck_assert_msg(done == (1u << WARPS) - 1, "seed %u does not end", seed);
        for (uint32_t i = 0; i < WARPS * WARP_LANES; i++)
            ck_assert_msg(r[i / WARP_LANES].trace[i % WARP_LANES] == toy_walk_alone(&t[i / WARP_LANES], i % WARP_LANES),
                          "seed %u: lane %u of warp %u walked another path", seed, i % WARP_LANES, i / WARP_LANES);
    }
}
END_TEST

SUITE(mechanisms_tbc_cta_stack) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(complementary_lanes_share_a_warp);
    TEST(aligned_lanes_are_not_compacted);
    TEST(a_warp_rides_in_two_compacted_warps);
    TEST(warps_on_different_sides);
    TEST(a_uniform_branch);
    TEST(the_fall_through_runs_first_if_wanted);
    TEST(a_loop_needs_two_entries);
    TEST(both_sides_reach_a_barrier);
    TEST(the_join_does_not_wait_for_a_barrier);
    TEST(a_branch_does_not_wait_for_a_barrier);
    TEST(exited_threads_are_not_waited_for);
    TEST(a_branch_does_not_wait_for_a_poll);
    TEST(polling_sides_take_turns);
    TEST(capri_ignores_uniform_branches);
    TEST(capri_predicts_what_was_adequate);
    TEST_LOOP(random_programs, 0, 2);
}
