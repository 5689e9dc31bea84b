/* Tests large warps on an SM: which sub-warps an instruction has, and in which order they issue. */
#include "host/context.h"
#include "host/models.h"
#include "test/test.h"
#include "timing/sm/unit_access.h"
#include <stdio.h>
#include <stdlib.h>

/* The issued instructions, in the order of their issue. */
struct order {
    uint32_t n;
    struct {
        uint64_t cycle;
        uint32_t warp, pc;
    } at[4096];
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct order *o = u;
    (void)sm;
    if (o->n < 4096)
        o->at[o->n].cycle = i->cycle, o->at[o->n].warp = i->warp, o->at[o->n++].pc = i->pc;
}
static const struct sm_unit_ops watch = {.name = "watch", .make = make, .issued = issued};

/* Threads take the branch if their bit of the parameter is set. Before the branch a warp issues 9 instructions. The
 * fall-through has 4 instructions and a jump, the taken side 4. The end has a store and the ret. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 mask)\n{\n"
    ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<5>;\n"
    "ld.param.u64 %d1, [p];\nld.param.u64 %d3, [mask];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.u64 %d1, %d1, %d2;\nshr.u64 %d3, %d3, %r1;\nand.b64 %d3, %d3, 1;\nsetp.ne.u64 %p, %d3, 0;\n@%p bra T;\n"
    "add.u32 %r4, %r1, 1;\nmul.lo.u32 %r4, %r4, %r1;\nadd.u32 %r4, %r4, 7;\nmul.lo.u32 %r4, %r4, %r4;\n"
    "bra J;\n"
    "T:\nadd.u32 %r4, %r1, 5;\nmul.lo.u32 %r4, %r4, %r1;\nadd.u32 %r4, %r4, 3;\nmul.lo.u32 %r4, %r4, %r4;\n"
    "J:\nst.global.u32 [%d1], %r4;\nret;\n}\n";
enum { BEFORE = 9, FALL = 5, TAKEN = 4, AFTER = 2, THREADS = 64 };

struct ran {
    uint32_t out[THREADS];
    double issued, instructions, subwarps, threads, lanes, slots, jumped, waiting;
};

static struct ran run(const char *model, uint32_t threads, uint64_t mask, const char *const *set, struct order *o) {
    char err[512] = "";
    struct ran r = {.issued = 0};
    const struct sm_unit_row row = {&watch, o};
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1},
                     &(struct context_parts){.models = &model_tables, .units = o ? &row : NULL, .n_units = o != NULL},
                     err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof r.out);
    heddle_clear(h, p, sizeof r.out);
    struct heddle_arg args[] = {{&p, 8}, {&mask, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, p, r.out, sizeof r.out);
    r.issued = heddle_stat(h, -1, "gpu.warp_instructions");
    r.instructions = heddle_stat(h, -1, "large.instructions");
    r.subwarps = heddle_stat(h, -1, "large.subwarps");
    r.threads = heddle_stat(h, -1, "gpu.thread_instructions");
    r.lanes = heddle_stat(h, -1, "gpu.active_lanes");
    r.slots = heddle_stat(h, -1, "gpu.lane_slots");
    r.jumped = heddle_stat(h, -1, "joint.jump_threads");
    r.waiting = heddle_stat(h, -1, "large.waiting");
    heddle_close(h);
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t x = mask >> t & 1 ? (t + 5) * t + 3 : (t + 1) * t + 7;
        ck_assert_uint_eq(r.out[t], x * x);
    }
    return r;
}

/* One large warp of eight rows and four columns. The rows have these active threads on the taken side, column 0 first:
 *   1100 1100 1010 0010 0011 0001 1001 0001
 * Column 0 has 4 of them, column 1 has 2, column 2 has 3, and column 3 has 4. So the taken side has 4 sub-warps. The
 * other side has 4, 6, 5 and 4 threads by column, so it has 6 sub-warps. Its jump issues once. All other instructions
 * have 8 sub-warps. Under spe each of the eight warps diverges, so each side issues 8 times. */
static const uint64_t columns =
    0x3 | 0x3 << 4 | 0x5 << 8 | 0x4 << 12 | 0xc << 16 | 0x8 << 20 | 0x9 << 24 | 0x8ull << 28;

START_TEST(the_fullest_column_decides) {
    if (LEAST_TABLES) {
        test_skip("the smallest tables hold too few instructions in flight");
        return;
    }
    static const char *const set[] = {"sm.warp_size=4", "large.warps=8", NULL};
    struct ran spe = run("spe", 32, columns, set, NULL), large = run("large", 32, columns, set, NULL);
    ck_assert_double_eq(spe.issued, 8 * (BEFORE + FALL + TAKEN + AFTER));
    ck_assert_double_eq(large.issued, 8 * (BEFORE + AFTER) + 6 * (FALL - 1) + 1 + 4 * TAKEN);
    ck_assert_double_eq(large.instructions, BEFORE + FALL + TAKEN + AFTER);
    ck_assert_double_eq(large.subwarps, large.issued);
    ck_assert_double_eq(large.threads, spe.threads);
    /* the jump issues once for 19 threads: active_lanes counts one thread for each of the 4 columns; each of the 15
     * other threads counts as an additional lane slot */
    ck_assert_double_eq(large.lanes, spe.lanes - 19 + 4);
    ck_assert_double_eq(large.slots, 4 * large.issued + 15);
    ck_assert_double_eq(large.jumped, 15);
    /* the two schedulers issue the branch for two rows a cycle: 8, 16 and 24 threads wait at the end of three cycles */
    ck_assert_double_eq(large.waiting, 8 + 16 + 24);
}
END_TEST

/* With large warps of two rows, each side of each of the four large warps has 2 sub-warps, because it has 2 threads in
 * some column, and never more:
 * - rows 0 and 1: the taken side in columns 0 and 1, the other side in columns 2 and 3
 * - rows 2 and 3: the taken side in column 2, the other side in columns 1 and 3
 * - rows 4 and 5: the taken side in column 3, the other side in columns 0 and 1
 * - rows 6 and 7: the taken side in column 3, the other side in columns 1 and 2 */
START_TEST(smaller_large_warps) {
    if (LEAST_TABLES) {
        test_skip("the smallest tables hold too few instructions in flight");
        return;
    }
    static const char *const set[] = {"sm.warp_size=4", "large.warps=2", NULL};
    struct ran large = run("large", 32, columns, set, NULL);
    ck_assert_double_eq(large.issued, 8 * (BEFORE + AFTER) + 4 * (2 * (FALL - 1) + 1) + 4 * 2 * TAKEN);
    ck_assert_double_eq(large.instructions, 4 * (BEFORE + FALL + TAKEN + AFTER));
}
END_TEST

/* 64 threads are eight warps of 8 lanes, in two large warps of four. The policy alone would alternate between two ready
 * large warps. But the scheduler issues for one large warp until all sub-warps of its instruction have issued. So each
 * instruction of a large warp, also the jump, takes four consecutive issues. */
START_TEST(sub_warps_issue_back_to_back) {
    if (LEAST_TABLES) {
        test_skip("the smallest tables hold too few instructions in flight");
        return;
    }
    static const char *const set[] = {"sm.warp_size=8", "large.warps=4", "sm.schedulers=1", NULL, NULL};
    const char *more[5] = {set[0], set[1], set[2], _i ? "sched.policy=two_level" : "sched.policy=youngest", NULL};
    static struct order o;
    o.n = 0;
    run("large", 64, 0, more, &o);
    ck_assert_uint_eq(o.n, 8 * (BEFORE + FALL + AFTER));
    for (uint32_t i = 0; i < o.n; i++) {
        ck_assert_uint_eq(o.at[i].warp / 4, o.at[i / 4 * 4].warp / 4);
        ck_assert_uint_eq(o.at[i].pc, o.at[i / 4 * 4].pc);
    }
}
END_TEST

SUITE(mechanisms_large) {
    TEST(the_fullest_column_decides);
    TEST(smaller_large_warps);
    TEST_LOOP(sub_warps_issue_back_to_back, 0, 2);
}
