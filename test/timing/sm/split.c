/* Tests splits of a path by hit and miss of a load. A split happens as soon as the tags of all lines are read, and
 * lanes that hit lose no time. */
#include "host/context.h"
#include "test/test.h"
#include "timing/sm/unit.h"
#include <stdio.h>

/* Half of the lanes load from a line that the L1 has, and half from another line. All lanes then add to the loaded
 * value. If the second word of p is not 0, all lanes have loaded the other line before, so that both lines hit. */
static const char halves[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .pred %q; .reg .b64 %a<6>;\n"
    " ld.param.u64 %a1,[p]; mov.u32 %r1,%laneid; ld.global.u32 %r2,[%a1]; ld.global.u32 %r4,[%a1+4];\n"
    " cvt.u64.u32 %a4,%r4; add.u64 %a4,%a4,%a1; ld.global.u32 %r5,[%a4];\n"
    " setp.lt.u32 %q,%r1,16; selp.b64 %a2,0,1024,%q; add.u32 %r2,%r2,%r5;\n"
    " cvt.u64.u32 %a3,%r2; add.u64 %a2,%a2,%a3; add.u64 %a2,%a2,%a1;\n"
    " ld.global.u32 %r3,[%a2];\n" /* the 15th instruction */
    " add.u32 %r3,%r3,%r1;\n"
    " mul.wide.u32 %a2,%r1,4; add.u64 %a2,%a2,%a1; st.global.u32 [%a2+128],%r3; ret;\n}\n";
enum { LOAD = 13, ADD = 14 };

/* The cycle in which each PC issued first. */
static uint64_t first[64];
static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    (void)u, (void)sm;
    if (!first[i->pc])
        first[i->pc] = i->cycle;
}
static const struct sm_unit_ops clock_unit = {.name = "clock", .make = make, .issued = issued};

/* Runs a kernel, and stores the cycle of each PC's first issue in `first`. Returns the number of splits. */
static double run(const char *kernel, const char *model, const char *option, const char *more, bool both, bool poll) {
    char err[512];
    int dummy;
    const char *const set[] = {option,
                               "memory.model=fixed",
                               "memory.latency=600",
                               "gpu.sms=1",
                               poll ? "gpu.poll=true" : "gpu.poll=false",
                               more,
                               NULL};
    const struct sm_unit_row row = {&clock_unit, &dummy};
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1},
                     &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", kernel, strlen(kernel));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint32_t data[2048] = {0, both ? 1024 : 0};
    uint64_t p = heddle_alloc(h, sizeof data);
    ck_assert_int_eq(heddle_write(h, p, data, sizeof data), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    memset(first, 0, sizeof first);
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    double splits = heddle_stat(h, 0, "sm.memory_splits");
    heddle_close(h);
    return splits;
}

/* Returns the cycles from the load to the addition of the lanes that hit, and the number of splits. */
static uint64_t wait_of(const char *model, const char *option, const char *more, bool both, bool poll, double *splits) {
    *splits = run(halves, model, option, more, both, poll);
    return first[ADD] - first[LOAD];
}

/* The halves of a warp load a line each. The test compares the cycles from the load to its use in these cases:
 * - both lines are in the L1: no split; the second line's tags are read one cycle after the first line's tags, and then
 *   the data are written to the register
 * - one line is in the L1: lanes that hit continue in the same cycle as in the first case, and lanes that miss continue
 *   600 cycles later; without a split, all lanes wait
 * - a split is made at the end of a cycle: if results can be used in the cycle in which they are written, lanes that
 *   hit lose one cycle */
START_TEST(lanes_that_hit_lose_nothing) {
    static const char *const with[][3] = {{"dws50", "dws.memory=branch_bypass"},
                                          {"dws50", "dws.memory=branch_bypass", "pipe.writeback=0"},
                                          {"dws50", "dws.memory=branch_bypass", "l1.latency=200"},
                                          {"dpe", "dpe.memory_divergence=on"},
                                          {"dpe", "dpe.memory_divergence=on", "dpe.scheduler=constrained"},
                                          {"dpe", "dpe.memory_divergence=on", "dpe.scoreboard=optimistic"}};
    double splits;
    uint64_t all = wait_of(with[_i][0], with[_i][1], with[_i][2], true, false, &splits);
    ck_assert_double_eq(splits, 0);
    if (_i == 1)
        all++;
    for (int poll = 0; poll < 2; poll++) {
        uint64_t half = wait_of(with[_i][0], with[_i][1], with[_i][2], false, poll == 1, &splits);
        ck_assert_double_eq(splits, 1);
        ck_assert_msg(half == all, "%s %s: %u cycles with a split, %u when both lines are there", with[_i][0],
                      with[_i][1], (unsigned)half, (unsigned)all);
    }
    ck_assert_uint_eq(wait_of("spe", "l1.latency=35", with[_i][2], false, false, &splits),
                      wait_of("spe", "l1.latency=35", with[_i][2], true, false, &splits) + 600);
}
END_TEST

/* A kernel in which each lane loads its own line, and the instruction `other` follows. The L1 has the lines of lanes 16
 * to 31. If `other` is a load from shared memory:
 * - the 32 tags are read one per cycle, the misses first
 * - the second load is on the same path, and takes 26 cycles, whereas the L1's tags take 35
 * - this second load ends before the last tag is read, which must not cause a split
 * - so lanes that hit continue in the same cycle as with a move as `other` */
#define LINES(other)                                                                                                   \
    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<7>; .reg .pred " \
    "%q; .reg .b64 %a<6>; .shared .b32 s[4];\n"                                                                        \
    " ld.param.u64 %a1,[p]; mov.u32 %r1,%laneid; setp.gt.u32 %q,%r1,15; mad.wide.u32 %a2,%r1,128,%a1;\n"               \
    " add.u64 %a2,%a2,128; selp.b64 %a3,%a2,%a1,%q; ld.global.u32 %r2,[%a3]; membar.gl; cvt.u64.u32 %a3,%r2;\n"        \
    " add.u64 %a2,%a2,%a3; mad.wide.u32 %a4,%r1,4,%a1;\n"                                                              \
    " ld.global.u32 %r3,[%a2];\n" other "\n add.u32 %r3,%r3,%r6;\n st.global.u32 [%a4],%r3; ret;\n}\n"
START_TEST(another_load_causes_no_split) {
    static const char *const with[][2] = {{"dws50", "dws.memory=branch_bypass"}, {"dpe", "dpe.memory_divergence=on"}};
    enum { LONG_LOAD = 11, LAST_ADD = 13 };
    ck_assert_double_ge(run(LINES("mov.u32 %r6,%r1;"), with[_i][0], with[_i][1], NULL, false, false), 1);
    uint64_t alone = first[LAST_ADD] - first[LONG_LOAD];
    ck_assert_double_ge(run(LINES("ld.shared.u32 %r6,[s];"), with[_i][0], with[_i][1], NULL, false, false), 1);
    uint64_t beside = first[LAST_ADD] - first[LONG_LOAD];
    ck_assert_uint_gt(alone, 35 + 31);
    ck_assert_uint_lt(alone, 600);
    ck_assert_uint_eq(beside, alone);
}
END_TEST

SUITE(timing_sm_split) {
    TEST_LOOP(lanes_that_hit_lose_nothing, 0, 6);
    TEST_LOOP(another_load_causes_no_split, 0, 2);
}
