/* Tests the cache policy of CAWA in one set, with accesses that can be followed by hand, and the accesses of critical
 * warps of a kernel. */
#include "test/mechanisms/policy_rig.h"
#include "test/mechanisms/replacement_rig.h"

/* Reads a line, at `pc`, by a warp that is critical or not. Returns true if it was a hit. */
static bool reads_as(uint64_t line, uint32_t pc, bool critical) {
    c.policy->access(c.policy_state, &(struct replacement_access){.line = line, .pc = pc, .critical = critical});
    return reads(line);
}

enum { A = 1, B = 2, C = 3, D = 4, E = 5, STREAM = 100 }; /* lines of one region of 16 KB, which has 128 lines */

/* A critical warp hits lines A and B at PC 1. These lines are in the first half of the set, which has four ways. Then
 * other warps read 20 lines at PC 2, each twice. These lines replace each other in the second half, so A stays. Without
 * critical warps the set is not divided, and all predictions are 0. So the third line of PC 2 already replaces A, which
 * is in the first way. */
START_TEST(lines_of_critical_warps_stay) {
    const bool critical = _i;
    start("cacp", 1, 4);
    for (int i = 0; i < 2; i++) {
        reads_as(A, 1, critical);
        reads_as(B, 1, critical);
    }
    for (uint64_t line = STREAM; line < STREAM + (critical ? 20 : 3); line++)
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(reads_as(line, 2, false), i);
    ck_assert_int_eq(reads_as(A, 1, critical), critical);
    cache_free(&c);
}
END_TEST

/* After the hits of A and B, the counter of PC 1 is 2, as in the test above. So the next lines of PC 1 belong to the
 * first half, although no critical warp reads them:
 * - C replaces A in way 0.
 * - D replaces B, whose prediction is now 3.
 * - E replaces C, because C and D have equal predictions and C is in the lower way. C was not used, so the counter of
 *   PC 1 falls to 1.
 * - The next line of PC 1 goes to the second half, where it replaces the first line of the stream (way 2). */
START_TEST(unused_lines_are_no_longer_kept) {
    struct stats s;
    start("cacp", 1, 4);
    for (int i = 0; i < 2; i++) {
        reads_as(A, 1, true);
        reads_as(B, 1, true);
    }
    for (int i = 0; i < 2; i++)
        for (uint64_t line = STREAM; line < STREAM + 2; line++)
            ck_assert_int_eq(reads_as(line, 2, false), i);
    for (uint64_t line = C; line <= E + 1; line++)
        ck_assert(!reads_as(line, 1, false));
    ck_assert(stats_init(&s));
    c.policy->stats(c.policy_state, &s);
    ck_assert_double_eq(stats_get(&s, "cawa.kept"), 3);
    ck_assert_double_eq(stats_value(&s, STAT_cawa_critical_misses), 2);
    ck_assert_double_eq(stats_value(&s, STAT_cawa_critical_hits), 2);
    stats_free(&s);
    ck_assert(reads_as(STREAM + 1, 2, false));
    ck_assert(!reads_as(STREAM, 2, false));
    ck_assert(reads_as(D, 1, false));
    ck_assert(reads_as(E, 1, false));
    cache_free(&c);
}
END_TEST

/* Lines 0 to 9 of the stream, at PC 2, are not used again. After line 0 has been replaced, the counter of PC 2 is 0. So
 * each new line of PC 2 is the next victim, and line A stays. (Under srrip, the fourth new line would replace A.) Then
 * line 9 hits, which raises the counter to 1:
 * - A and line 9 now have the prediction 0, so line 10 replaces A.
 * - Line 11 replaces line 9, whose prediction has become 3.
 * - Lines 10 and 11 have the prediction 2, so line 12 replaces line 10, and line 11 stays.
 * With a counter of 0, line 11 would have replaced line 10, and line 12 would have replaced line 11. */
START_TEST(unused_lines_leave_first) {
    start("cacp", 1, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(reads_as(A, 1, false), i);
    for (uint64_t line = STREAM; line < STREAM + 10; line++)
        ck_assert(!reads_as(line, 2, false));
    ck_assert(reads_as(A, 1, false));
    ck_assert(reads_as(STREAM + 9, 2, false));
    for (uint64_t line = STREAM + 10; line < STREAM + 13; line++)
        ck_assert(!reads_as(line, 2, false));
    ck_assert(reads_as(STREAM + 11, 2, false));
    cache_free(&c);
}
END_TEST

/* A prefetch for a critical warp does not count as an access of a critical warp. */
START_TEST(prefetches_are_not_critical) {
    start("cacp", 1, 4);
    c.policy->access(c.policy_state, &(struct replacement_access){.line = A, .critical = true, .ahead = true});
    reads(A);
    reads(A);
    struct stats s;
    ck_assert(stats_init(&s));
    c.policy->stats(c.policy_state, &s);
    ck_assert_double_eq(stats_value(&s, STAT_cawa_critical_misses), 0);
    stats_free(&s);
    cache_free(&c);
}
END_TEST

START_TEST(locked_lines_stay) { check_locked_lines("cacp"); }
END_TEST

#define FILLER                                                                                                         \
    "mul.lo.u32 %r4,%r2,3; xor.b32 %r4,%r4,%r2; mul.lo.u32 %r4,%r4,3; xor.b32 %r4,%r4,%r2;\n"                          \
    "mul.lo.u32 %r4,%r4,7; xor.b32 %r4,%r4,%r2; mul.lo.u32 %r4,%r4,9; add.u32 %r2,%r2,%r4;\n"

/* Each of two warps reads a line of its own, 16 times. In each iteration, warp 1 does not take a branch over 26
 * instructions, and then jumps over the last 24 of them. So its estimate of the instructions left grows by more than 20
 * in each iteration, while the estimate of warp 0 falls. So all 16 accesses of warp 1 are critical. Of warp 0 only the
 * first access is critical, because it comes before warp 1 has issued a branch. In a CTA of one warp, no access is
 * critical, because the warp is no slower than the mean. */
START_TEST(the_slower_warp_is_critical) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .pred %q,%w; .reg .b32 %r<9>; .reg .b64 %a<4>;\nld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x;\n"
        "shr.u32 %r1,%r1,5; mul.wide.u32 %a2,%r1,128; add.u64 %a1,%a1,%a2; setp.ne.u32 %w,%r1,0; mov.u32 %r2,0;\n"
        "L: @!%w bra M;\nsetp.ne.u32 %q,%r2,99; @%q bra M;\n" FILLER FILLER FILLER "st.shared.u32 [0],%r4;\n"
        "M: ld.global.u32 %r3,[%a1]; cvt.u64.u32 %a2,%r3; add.u64 %a1,%a1,%a2;\n"
        "add.u32 %r2,%r2,1; setp.lt.u32 %q,%r2,16; @%q bra L;\nret;\n}\n";
    static const char *const set[] = {"l1.replacement=cacp", NULL};
    char err[256];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    heddle_clear(h, p, 4096);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){_i ? 64 : 32, 1, 1}, 4, args, 1),
        HEDDLE_OK);
    const double critical = heddle_stat(h, 0, "cawa.critical_hits") + heddle_stat(h, 0, "cawa.critical_misses");
    ck_assert_double_eq(critical, _i ? 17 : 0);
    heddle_close(h);
}
END_TEST

START_TEST(threads_change_nothing) { rig_check_threads("l1.replacement=cacp"); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results("l1.replacement=cacp"); }
END_TEST

SUITE(mechanisms_cawa_cacp) {
    TEST_LOOP(lines_of_critical_warps_stay, 0, 2);
    TEST(unused_lines_are_no_longer_kept);
    TEST(unused_lines_leave_first);
    TEST(prefetches_are_not_critical);
    TEST(locked_lines_stay);
    TEST_LOOP(the_slower_warp_is_critical, 0, 2);
    TEST(threads_change_nothing);
    TEST(results_do_not_change);
}
