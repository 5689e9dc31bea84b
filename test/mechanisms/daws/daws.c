/* Tests divergence-aware warp scheduling: the kinds of loads, and kernels with predictions counted by hand. */
#include "host/heddle.h"
#include "mechanisms/daws/daws_predict.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <stdio.h>
#include <string.h>

/* Adds an instruction of the load at `pc` that accesses `n` lines from `line` on. */
static void load(struct daws_table *t, uint32_t pc, uint64_t line, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        daws_sample(t, pc, line + i, i == 0);
}

/* A loop of five loads, executed twice:
 * - PC 1 reads the same 8 lines each time, so it is diverged: one line for each lane
 * - PC 2 reads the same line, and PC 3 the same two lines, so they are converged: one line each
 * - PC 4 reads 8 new lines each time: no lines, because it never uses a line again
 * - PC 5 reads the lines of PC 1: no lines, because PC 1 brought them
 * So 10 active lanes need 10 + 1 + 1 lines. Loads of another loop do not count. */
START_TEST(kinds_of_loads) {
    struct daws_table t;
    ck_assert(daws_init(&t, 100));
    daws_sample_begin(&t, 7);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(daws_footprint(&t, 7, 10), 0);
        load(&t, 1, 0, 8);
        load(&t, 2, 20, 1);
        load(&t, 3, 30, 2);
        load(&t, 4, 40 + i * 8, 8);
        load(&t, 5, 0, 8);
    }
    ck_assert_uint_eq(daws_footprint(&t, 7, 10), 12);
    ck_assert_uint_eq(daws_footprint(&t, 7, 4), 6);
    daws_sample_begin(&t, 8);
    load(&t, 9, 100, 1);
    load(&t, 9, 100, 1);
    ck_assert_uint_eq(daws_footprint(&t, 8, 10), 1);
    ck_assert_uint_eq(daws_footprint(&t, 7, 10), 12);
    daws_free(&t);
}
END_TEST

/* One of four line accesses must use a line again. PC 1 accesses 5 lines, then line 0 again: 1 of 6 accesses is too
 * few. Then it accesses line 1 again: 2 of 7 are enough. With room for 4 lines, line 1 has left the sample before it
 * is used again. */
START_TEST(few_uses_are_not_enough) {
    struct daws_table t;
    ck_assert(daws_init(&t, _i ? 4 : 5));
    daws_sample_begin(&t, 1);
    for (uint64_t line = 0; line < 5; line++)
        ck_assert(!daws_sample(&t, 1, line, true));
    ck_assert(!daws_sample(&t, 1, 0, true));
    ck_assert_int_eq(daws_sample(&t, 1, 1, true), _i == 0);
    ck_assert_uint_eq(daws_footprint(&t, 1, 32), _i == 0);
    daws_free(&t);
}
END_TEST

/* At a new sample, the counts of the old sample are halved: its 8 accesses of one line, 7 of them repeated, count as 4
 * accesses, 3 of them repeated. After eight accesses of new lines, 3 of 12 accesses are repeated, which is enough.
 * After one more, 3 of 13 are too few. Without the counts of the old sample, the first new line would already be too
 * much. */
START_TEST(samples_age) {
    struct daws_table t;
    ck_assert(daws_init(&t, 100));
    daws_sample_begin(&t, 1);
    load(&t, 1, 5, 1);
    for (int i = 0; i < 7; i++)
        load(&t, 1, 5, 1);
    daws_sample_begin(&t, 1);
    load(&t, 1, 10, 8);
    ck_assert_uint_gt(daws_footprint(&t, 1, 32), 0);
    load(&t, 1, 20, 1);
    ck_assert_uint_eq(daws_footprint(&t, 1, 32), 0);
    daws_free(&t);
}
END_TEST

/* Runs the kernel "k" on a zeroed buffer, which is its argument, with CTAs of `threads` threads. */
static struct heddle *run(const char *model, const char *config, const char *const *set, uint32_t workers,
                          const char *body, uint32_t ctas, uint32_t threads) {
    static char text[4096];
    char err[256];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n"
             ".reg .b64 %%a<4>; .reg .pred %%q; .reg .pred %%w;\n ld.param.u64 %%a1,[p]; mov.u32 %%r1,%%tid.x;\n"
             " mul.wide.u32 %%a2,%%r1,128; add.u64 %%a1,%%a1,%%a2; mov.u32 %%r2,0;\n%s\n ret;\n}\n",
             body);
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .threads = workers}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 16);
    heddle_clear(h, p, 1 << 16);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

/* An L1 of one set of 64 lines; 0.6 x 64 = 38 lines may be predicted. */
#define SMALL_L1 "l1.size=8192", "l1.ways=64"

/* Each lane reads its own line 64 times, one load after another. */
#define LOOP                                                                                                           \
    "L: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2;\n"                                          \
    " add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,64; @%q bra L;\n"

static double figure(struct heddle *h, const char *name) {
    double v = heddle_stat(h, 0, name);
    heddle_close(h);
    return v;
}

/* Each of 8 warps needs 32 lines, so one may load at a time. Before the first warp has used its lines again, all warps
 * load once or twice. Then 256 lines miss once more at most. Each warp leaves the loop with a prediction of 32. */
START_TEST(warps_take_turns) {
    static const char *const set[] = {SMALL_L1, "daws.patience=100000", NULL};
    double without = figure(run("spe", "tiny", set, 1, LOOP, 1, 256), "l1.misses");
    struct heddle *h = run("spe+daws", "tiny", set, 1, LOOP, 1, 256);
    ck_assert_double_gt(without, 10000);
    ck_assert_double_lt(heddle_stat(h, 0, "l1.misses"), 256 * 3);
    ck_assert_double_eq(heddle_stat(h, 0, "daws.entries"), 8);
    ck_assert_double_eq(heddle_stat(h, 0, "daws.samples"), 1); /* all warps enter while the first one is sampled */
    ck_assert_double_eq(heddle_stat(h, 0, "daws.sampled"), 64 * 32);
    ck_assert_double_eq(heddle_stat(h, 0, "daws.predicted"), 8 * 32);
    ck_assert_double_eq(heddle_stat(h, 0, "daws.promoted"), 0);
    ck_assert_double_gt(heddle_stat(h, 0, "daws.held_cycles"), 1000);
    heddle_close(h);
}
END_TEST

/* Of a warp of 32 lanes, lane 0 leaves the loop after 2 iterations, lane 1 after 3 ... The last taken branch keeps
 * lanes 28 to 31, so the warp needs 4 lines when it leaves. */
START_TEST(active_lanes_count) {
    static const char body[] = " min.u32 %r4,%r1,28;\n add.u32 %r4,%r4,2;\n"
                               "L: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2;\n"
                               " add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,%r4; @%q bra L;\n";
    static const char *const set[] = {SMALL_L1, NULL};
    ck_assert_double_eq(figure(run("spe+daws", "tiny", set, 1, body, 1, 32), "daws.predicted"), 4);
}
END_TEST

/* Warps that wait at a barrier need no lines, so the other warps reach it. */
START_TEST(barriers_release_warps) {
    static const char *const set[] = {SMALL_L1, NULL};
    struct heddle *h = run("spe+daws", "tiny", set, 1,
                           "L: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2; bar.sync 0;\n"
                           " add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,16; @%q bra L;\n",
                           1, 256);
    ck_assert_double_gt(heddle_stat(h, 0, "daws.held_cycles"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "daws.promoted"), 0);
    heddle_close(h);
}
END_TEST

/* Warp 0 stays in the loop until warp 1, which is younger, has made 64 iterations and a store. Both need more lines
 * than may be predicted, so warp 1 is held until it becomes the first warp. */
START_TEST(a_warp_does_not_wait_forever) {
    static const char body[] = " setp.gt.u32 %w,%r1,31;\n ld.param.u64 %a3,[p];\n"
                               "L: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2;\n"
                               " add.u32 %r2,%r2,1; ld.volatile.global.u32 %r5,[%a3+32768]; setp.eq.u32 %q,%r5,0;\n"
                               " @%w setp.lt.u32 %q,%r2,64; @%q bra L;\n @%w st.volatile.global.u32 [%a3+32768],1;\n";
    static const char *const set[] = {SMALL_L1, "daws.patience=2000", NULL};
    ck_assert_double_ge(figure(run("spe+daws", "tiny", set, 1, body, 1, 64), "daws.promoted"), 1);
}
END_TEST

/* All statistics are the same with one host thread, with four, and with simulation of every cycle. */
START_TEST(threads_and_polling_change_nothing) {
    static double first[1024];
    int n;
    const struct stat_def *defs = stat_defs(&n);
    ck_assert_int_lt(n, 1024);
    for (int i = 0; i < 3; i++) {
        const char *const set[] = {i == 2 ? "gpu.poll=true" : "gpu.poll=false", SMALL_L1, "gpu.sms=4",
                                   "daws.patience=500", NULL};
        struct heddle *h = run("dpe+daws", "fermi", set, i == 1 ? 4 : 1, LOOP, 16, 64);
        ck_assert_double_gt(heddle_stat(h, 0, "daws.held_cycles"), 1000);
        ck_assert_double_gt(heddle_stat(h, 0, "daws.promoted"), 0);
        for (int k = 0; k < n; k++) {
            double v = heddle_stat(h, 0, defs[k].name);
            if (strncmp(defs[k].name, "host.", 5) == 0)
                continue;
            first[k] = i ? first[k] : v;
            ck_assert_msg(v == first[k], "run %d, %s: %g and %g", i, defs[k].name, first[k], v);
        }
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_daws) {
    TEST(kinds_of_loads);
    TEST_LOOP(few_uses_are_not_enough, 0, 2);
    TEST(samples_age);
    TEST(warps_take_turns);
    TEST(active_lanes_count);
    TEST(barriers_release_warps);
    TEST(a_warp_does_not_wait_forever);
    TEST(threads_and_polling_change_nothing);
}
