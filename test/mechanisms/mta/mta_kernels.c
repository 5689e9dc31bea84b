/* Tests many-thread aware prefetching on kernels whose prefetches are known in advance. */
#include "host/heddle.h"
#include "mechanisms/mta/mta_throttle.h"
#include "test/test.h"
#include <stdio.h>

/* One warp computes the sum of 64 words in each lane. Successive loads are one line apart, so 64 loads access 64
 * lines. */
static const char walks[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 "
    "%a, "
    "%b; .reg .pred %p;\n ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n mul.wide.u32 %b,%r1,4;\n add.u64 %b,%a,%b;\n"
    " mov.u32 %r2,0; mov.u32 %r3,0;\nL: ld.global.u32 %r4,[%b];\n add.u32 %r3,%r3,%r4;\n add.u64 %b,%b,128;\n"
    " add.u32 %r2,%r2,1;\n setp.lt.u32 %p,%r2,64;\n @%p bra L;\n st.global.u32 [%a],%r3;\n ret;\n}\n";

static struct heddle *run(const char *model, const char *const *set) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", walks, strlen(walks));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

/* The third load is the first that predicts, so 62 prefetches are sent, for loads 4 to 65. Load 65 does not exist, so
 * 61 prefetches are used. */
START_TEST(a_walk_is_prefetched) {
    struct heddle *h = run("mta", NULL), *plain = run("spe", NULL);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 64);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.inter_warp"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.issued"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.useful"), 61);
    /* some are late, because an iteration is shorter than the memory's latency of 100 cycles */
    ck_assert_double_gt(heddle_stat(h, 0, "mta.late"), 10);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.throttled"), 0);
    ck_assert_double_lt(heddle_stat(h, 0, "gpu.cycles"), 0.8 * heddle_stat(plain, 0, "gpu.cycles"));
    ck_assert_double_eq(heddle_stat(plain, 0, "mta.loads"), 0);
    heddle_close(h), heddle_close(plain);
}
END_TEST

/* With a distance of eight executions, most prefetches arrive in time. With a degree of two, each load predicts two
 * lines. From the third load on, one of these lines is usually present already. */
START_TEST(distance_and_degree) {
    static const char *const far[] = {"mta.distance=8", "l1.size=4096", "l1.ways=8", NULL}, *const two[] = {
                                                                                                "mta.distance=4",
                                                                                                "mta.degree=2",
                                                                                                "l1.size=4096",
                                                                                                "l1.ways=8", NULL};
    struct heddle *h = run("mta", far);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.useful"), 62 - 8);
    ck_assert_double_lt(heddle_stat(h, 0, "mta.late"), 62 - 8);
    heddle_close(h);
    h = run("mta", two);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 2 * 62);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.issued") + heddle_stat(h, 0, "mta.present") +
                            heddle_stat(h, 0, "mta.refused") + heddle_stat(h, 0, "mta.full"),
                        2 * 62);
    ck_assert_double_ge(heddle_stat(h, 0, "mta.present"), 60);
    heddle_close(h);
}
END_TEST

/* Two kernels have the same instructions at the same PCs but different strides: one line and two lines. With
 * mta.promote=1, the stride of one warp becomes global, and later launches keep it. The first launch of a kernel
 * predicts from its third load on, 62 times, even after a launch of the other kernel. The second launch of a kernel
 * predicts at once, 64 times. */
START_TEST(kernels_have_loads_of_their_own) {
    char err[512], two[sizeof walks + 4];
    static const char *const set[] = {"mta.promote=1", "mta.throttle=false", NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "mta", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    const char *step = strstr(walks, "128;");
    snprintf(two, sizeof two, "%.*s256%s", (int)(step - walks), walks, step + 3);
    struct heddle_module *m[2] = {heddle_module_text(h, "1.ptx", walks, strlen(walks)),
                                  heddle_module_text(h, "2.ptx", two, strlen(two))};
    ck_assert(m[0] && m[1]);
    uint64_t p = heddle_alloc(h, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(
            heddle_launch(h, m[i % 2], "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        ck_assert_double_eq(heddle_stat(h, i, "mta.intra_warp"), i < 2 ? 62 : 64);
        ck_assert_double_eq(heddle_stat(h, i, "mta.promotions"), i < 2); /* later it is global */
    }
    heddle_close(h);
}
END_TEST

/* Each prediction is counted in exactly one statistic of its outcome. The energy model counts reads of the tables. */
START_TEST(predictions_have_one_fate) {
    static const char *const set[] = {"mta.period=16", "mta.min_prefetches=1", "mta.distance=32",
                                      "energy.mta_lookup=1e6", NULL},
                             *const no_energy[] = {"mta.period=16", "mta.min_prefetches=1", "mta.distance=32",
                                                   "energy.mta_lookup=0", NULL};
    struct heddle *h = run("mta", set), *free_tables = run("mta", no_energy);
    double fates = 0;
    static const char *const names[] = {"mta.throttled", "mta.out_of_range", "mta.full",
                                        "mta.present",   "mta.refused",      "mta.issued"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fates += heddle_stat(h, 0, names[i]);
    ck_assert_double_eq(fates, heddle_stat(h, 0, "mta.intra_warp") + heddle_stat(h, 0, "mta.inter_warp"));
    /* prefetches are 32 loads ahead, so no prefetched line is used in the first period of 16 loads */
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttled"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.throttle_level"), MTA_LEVELS);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttle_lowered"), 0);
    ck_assert_double_eq_tol(heddle_stat(h, 0, "energy.l1_joules") - heddle_stat(free_tables, 0, "energy.l1_joules"),
                            heddle_stat(h, 0, "mta.lookups") * 1e-6, 1e-9);
    heddle_close(h), heddle_close(free_tables);
}
END_TEST

/* Runs a kernel in which each warp executes `loads` loads with a stride of `step` bytes. The first load of each warp is
 * 1 << 16 bytes after the first load of the previous warp. */
static struct heddle *walk(const char *const *set, int step, uint32_t threads, uint32_t ctas, int loads,
                           uint64_t from) {
    char err[512], text[1024];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "mta", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg "
        ".b64 %%a, %%b; .reg .pred %%p;\n ld.param.u64 %%a,[p];\n mov.u32 %%r1,%%tid.x; and.b32 %%r5,%%r1,31;\n"
        " shr.u32 %%r1,%%r1,5; mul.wide.u32 %%b,%%r1,65536; add.u64 %%a,%%a,%%b; mul.wide.u32 %%b,%%r5,4;\n"
        " add.u64 %%b,%%a,%%b;\n mov.u32 %%r2,0; mov.u32 %%r3,0;\nL: ld.global.u32 %%r4,[%%b];\n"
        " add.u32 %%r3,%%r3,%%r4;\n add.s64 %%b,%%b,%d;\n add.u32 %%r2,%%r2,1;\n setp.lt.u32 %%p,%%r2,%d;\n"
        " @%%p bra L;\n st.global.u32 [%%a],%%r3;\n ret;\n}\n",
        step, loads);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 20), at = p + from;
    heddle_clear(h, p, 1 << 20);
    const struct heddle_arg args[] = {{&at, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

#define STAT(h, name, value)                                                                                           \
    ck_assert_msg(heddle_stat(h, 0, name) == (value), "%s is %g, not %g", name, heddle_stat(h, 0, name),               \
                  (double)(value))

/* Of 64 loads, the last 62 predict. With steps of 32 bytes (first case), every fourth load reaches a new line. With
 * steps of 64 bytes and degree four (second case), two of the four predicted addresses are in new lines. Every second
 * load starts in the middle of a line, so it reads two lines, and both lines predict: 31 loads of one line and 31 loads
 * of two lines. */
START_TEST(short_steps_lead_to_a_line_once) {
    static const char *const four[] = {"mta.degree=4", "mta.throttle=off", NULL}, *const one[] = {"mta.throttle=off",
                                                                                                  NULL};
    struct heddle *h = walk(one, 32, 32, 1, 64, 0);
    STAT(h, "mta.intra_warp", 16);
    heddle_close(h);
    h = walk(four, 64, 32, 1, 64, 0);
    STAT(h, "mta.intra_warp", 2 * (31 + 2 * 31));
    heddle_close(h);
}
END_TEST

/* The addresses go down from the 64th line of memory, and prefetches are eight lines ahead. So the last eight
 * predictions are below the first line of memory. */
START_TEST(addresses_out_of_memory_are_not_prefetched) {
    static const char *const set[] = {"mta.distance=8", "mta.throttle=off", NULL};
    struct heddle *h = walk(set, -128, 32, 1, 64, 63 * 128);
    STAT(h, "mta.intra_warp", 62);
    STAT(h, "mta.out_of_range", 8);
    STAT(h, "mta.throttled", 0);
    heddle_close(h);
}
END_TEST

/* If a CTA replaces another CTA, it trains again, so it predicts 62 times, too. */
START_TEST(a_new_cta_trains_again) {
    static const char *const set[] = {"mta.throttle=off", "mta.promote=64", "sm.ctas=1", "gpu.sms=1", NULL};
    struct heddle *h = walk(set, 128, 32, 3, 64, 0);
    STAT(h, "mta.intra_warp", 3 * 62);
    STAT(h, "mta.inter_warp", 0);
    heddle_close(h);
}
END_TEST

/* Eight warps execute one load each. The third warp gives the second stride between warps, so it is the first warp that
 * predicts, for any order of the warps. */
START_TEST(from_warp_to_warp_in_a_kernel) {
    static const char *const set[] = {"mta.throttle=off", "gpu.sms=1", "mta.warp_distance=3", NULL};
    struct heddle *h = walk(set, 128, 256, 1, 1, 0);
    STAT(h, "mta.loads", 8);
    STAT(h, "mta.inter_warp", 6);
    STAT(h, "mta.intra_warp", 0);
    heddle_close(h);
}
END_TEST

/* With a distance of sixteen loads, prefetches arrive in time. But the last lines that are prefetched in a period are
 * used only in the next period, so the accuracy is below mta.accuracy_high. Only the first loads miss, and none of them
 * joins a pending prefetch, so prefetches do not count as late. So the throttle level rises, and some prefetches are
 * withheld. */
START_TEST(prefetches_in_time_may_be_withheld) {
    static const char *const set[] = {"mta.period=16",
                                      "mta.min_prefetches=1",
                                      "mta.accuracy_low=0",
                                      "mta.merge_ratio=0.1",
                                      "mta.accuracy_high=1",
                                      "mta.distance=16",
                                      "l1.size=8192",
                                      "l1.ways=8",
                                      NULL};
    struct heddle *h = run("mta", set);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttle_raised"), 0);
    ck_assert_double_gt(heddle_stat(h, 0, "mta.throttled"), 0);
    heddle_close(h);
}
END_TEST

/* Of 16 loads, the third is the first that prefetches. The lines beyond the last load are not used, so the accuracy is
 * below mta.accuracy_high. So the throttle level rises, unless the share of misses that join a pending prefetch is at
 * least mta.merge_ratio. The first three loads miss. Some of the other 13 loads join a pending prefetch, which the L1
 * also counts as a miss; the others hit. So late / (3 + late) of the misses are late. */
START_TEST(lateness_is_a_share_of_the_misses) {
    double late = 0;
    for (int i = 0; i < 3; i++) {
        char merges[64];
        snprintf(merges, sizeof merges, "mta.merge_ratio=%.3f", i ? late / (3 + late) + 0.02 * (i == 1 ? -1 : 1) : 0);
        const char *set[] = {"mta.period=16",
                             "mta.min_prefetches=1",
                             "mta.accuracy_low=0",
                             "mta.degree=2",
                             "mta.accuracy_high=1",
                             merges,
                             "l1.size=16384",
                             "l1.ways=8",
                             "l1.mshrs=8",
                             "gpu.poll=off",
                             NULL};
        struct heddle *h = walk(set, 128, 32, 1, 16, 0);
        late = heddle_stat(h, 0, "mta.late");
        ck_assert(late >= 4 && late <= 10); /* of the 13 loads, at least 4 are late and at least 3 hit */
        STAT(h, "l1.pending_hits", late);
        STAT(h, "l1.misses", 3 + late);
        STAT(h, "mta.useful", 13);
        STAT(h, "mta.throttle_raised", i == 2);
        heddle_close(h);
    }
}
END_TEST

/* A second launch counts only its own loads. */
START_TEST(launches_have_their_own_statistics) {
    struct heddle *h = run("mta", NULL);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", walks, strlen(walks));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 1; i < 3; i++) {
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        ck_assert_double_eq(heddle_stat(h, i, "mta.loads"), 64);
        ck_assert_double_eq(heddle_stat(h, i, "mta.intra_warp"), 62);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_raised"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_lowered"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.conflicts"), 0);
        ck_assert_double_eq(heddle_stat(h, i, "mta.throttle_level"), 0);
    }
    heddle_close(h);
}
END_TEST

/* Without an L1, the prefetcher does nothing. */
START_TEST(no_cache_no_prefetch) {
    struct heddle *h = run("mta", (const char *const[]){"l1.size=0", NULL});
    ck_assert_double_eq(heddle_stat(h, 0, "mta.loads"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "mta.intra_warp"), 0);
    heddle_close(h);
}
END_TEST

SUITE(mechanisms_mta_kernels) {
    TEST(a_walk_is_prefetched);
    TEST(distance_and_degree);
    TEST(kernels_have_loads_of_their_own);
    TEST(predictions_have_one_fate);
    TEST(short_steps_lead_to_a_line_once);
    TEST(addresses_out_of_memory_are_not_prefetched);
    TEST(a_new_cta_trains_again);
    TEST(from_warp_to_warp_in_a_kernel);
    TEST(prefetches_in_time_may_be_withheld);
    TEST(lateness_is_a_share_of_the_misses);
    TEST(launches_have_their_own_statistics);
    TEST(no_cache_no_prefetch);
}
