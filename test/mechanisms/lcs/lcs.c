/* Tests lazy and block CTA scheduling: the limit of an SM, the SM of each CTA, and the picks of the scheduler baws. */
#include "test/mechanisms/policy_rig.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"                                \
    ".reg .pred %q; .reg .b32 %r<9>; .reg .b64 %a<4>;\n ld.param.u64 %a1,[p]; mov.u32 %r1,%ctaid.x;\n"

/* CTA 0 runs a loop of 15 iterations. The other CTAs wait for a load, which takes 10000 cycles. CTA 0 issues 66
 * instructions: ld.param, %ctaid, setp, bra, mov; 15 x 4 in the loop; exit. When it ends, each of CTAs 1, 2 and 3 has
 * issued the first four instructions and the load: 15 in total. So the limit is 81 / 66 rounded up, that is, 2. */
static const char one_short[] =
    HEAD " setp.ne.u32 %q,%r1,0; @%q bra W; mov.u32 %r2,0;\n"
         "L: add.u32 %r2,%r2,1; xor.b32 %r3,%r2,5; setp.lt.u32 %q,%r2,15; @%q bra L;\n exit;\n"
         "W: ld.global.u32 %r4,[%a1]; add.u32 %r4,%r4,1; st.global.u32 [%a1+128],%r4; ret;\n}\n";

/* Runs 12 CTAs of the kernel above on an SM with room for four. Returns the number of waves, which is the number of
 * loads that run one after another: each load takes 10000 cycles. Sets *limits to the number of SMs with a limit, and
 * *sum to the sum of these limits. */
static double waves(const char *policy, double *limits, double *sum) {
    char out[256];
    const char *const set[] = {policy, "sched.policy=gto", "memory.latency=10000", "l1.size=0", NULL};
    struct heddle *h = rig_run("tiny", set, 1, one_short, 12, out, sizeof out);
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    *limits = heddle_stat(h, 0, "lcs.limits");
    *sum = heddle_stat(h, 0, "lcs.limit_sum");
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.ctas"), 12);
    heddle_close(h);
    return (double)(int)(cycles / 10000);
}

/* The first wave is the load of the parameter, for which all CTAs wait. CTA 0 then ends early. The CTAs of the further
 * waves are:
 * - in_order: 1 to 4 (CTA 4 replaces CTA 0), 5 to 8, 9 to 11: three waves
 * - lcs: 1 to 3, because the SM already holds more than its limit of 2; then 4 5, 6 7, 8 9 and 10 11: five waves
 * - lbcs: like lcs, since its limit of 2 is a whole block
 * - bcs: 1 to 3, because the room that CTA 0 leaves is too small for a block; then 4 to 7, 8 to 11: three waves */
START_TEST(limit_follows_the_first_cta) {
    double limits, sum;
    ck_assert_double_eq(waves("gpu.cta_policy=in_order", &limits, &sum), 1 + 3);
    ck_assert_double_eq(limits, 0);
    ck_assert_double_eq(sum, 0);
    ck_assert_double_eq(waves("gpu.cta_policy=lcs", &limits, &sum), 1 + 5);
    ck_assert_double_eq(limits, 1);
    ck_assert_double_eq(sum, 2);
    ck_assert_double_eq(waves("gpu.cta_policy=lbcs", &limits, &sum), 1 + 5);
    ck_assert_double_eq(limits, 1);
    ck_assert_double_eq(sum, 2);
    ck_assert_double_eq(waves("gpu.cta_policy=bcs", &limits, &sum), 1 + 3);
    ck_assert_double_eq(limits, 0);
    ck_assert_double_eq(sum, 0);
}
END_TEST

/* All CTAs issue the same number of instructions before the first of them ends. So the limit is the number of CTAs that
 * fit, 4. Three waves of 4 CTAs follow the load of the parameter. With two SMs and twice the CTAs, each SM does the
 * same. */
START_TEST(equal_ctas_all_stay) {
    static const char text[] =
        HEAD " ld.global.u32 %r4,[%a1]; add.u32 %r4,%r4,1; st.global.u32 [%a1+128],%r4; ret;\n}\n";
    for (uint32_t sms = 1; sms <= 2; sms++) {
        const char *const set[] = {sms == 1 ? "gpu.sms=1" : "gpu.sms=2", "gpu.cta_policy=lcs", "memory.latency=10000",
                                   "l1.size=0", NULL};
        char out[256];
        struct heddle *h = rig_run("tiny", set, 1, text, 12 * sms, out, sizeof out);
        ck_assert_double_eq(heddle_stat(h, 0, "lcs.limits"), sms);
        ck_assert_double_eq(heddle_stat(h, 0, "lcs.limit_sum"), 4 * sms);
        ck_assert_double_eq(heddle_stat(h, 0, "lcs.limit"), 4);
        ck_assert_double_eq((double)(int)(heddle_stat(h, 0, "gpu.cycles") / 10000), 1 + 3);
        heddle_close(h);
    }
}
END_TEST

/* Each CTA writes the number of its SM. A block is two consecutive CTAs. Two SMs get blocks in turn. An SM with room
 * for three CTAs gets one block. If only one CTA fits, there are no blocks. The last block of an odd grid has one CTA.
 * All CTAs wait so long that none ends before each SM is full. */
START_TEST(blocks_stay_together) {
    static const struct {
        const char *policy, *ctas, *sms;
    } rows[] = {{"gpu.cta_policy=in_order", "sm.ctas=4", "0101010"},
                {"gpu.cta_policy=bcs", "sm.ctas=4", "0011001"},
                {"gpu.cta_policy=bcs", "sm.ctas=3", "0011001"},
                {"gpu.cta_policy=bcs", "sm.ctas=1", "0101010"}};
    static const char text[] = HEAD " mul.wide.u32 %a2,%r1,4; add.u64 %a2,%a1,%a2; ld.global.u32 %r3,[%a2+128];\n"
                                    " mov.u32 %r2,%smid; add.u32 %r2,%r2,%r3; st.global.u32 [%a2],%r2; ret;\n}\n";
    const char *const set[] = {rows[_i].policy, rows[_i].ctas, "gpu.sms=2", NULL};
    uint32_t sm[64];
    char got[8] = "";
    struct heddle *h = rig_run("tiny", set, 1, text, 7, sm, sizeof sm);
    for (int i = 0; i < 7; i++)
        got[i] = (char)('0' + sm[i]);
    ck_assert_str_eq(got, rows[_i].sms);
    heddle_close(h);
}
END_TEST

/* Each of three CTAs takes a ticket when it begins (stored in words 0, 2 and 4) and when it ends (words 1, 3 and 5).
 * The SM has room for two CTAs, and CTA 1 runs long. Under in_order, CTA 2 begins when CTA 0 has ended, before CTA 1
 * ends, so its first ticket is 3. Under bcs, CTA 2 waits for the room of a block, so its first ticket is 4. */
START_TEST(a_block_waits_for_room) {
    static const char text[] =
        HEAD " mov.u32 %r6,%tid.x; setp.ne.u32 %q,%r6,0; @%q exit;\n"
             " mul.wide.u32 %a2,%r1,8; add.u64 %a2,%a1,%a2;\n"
             " atom.global.add.u32 %r2,[%a1+128],1; st.global.u32 [%a2],%r2; setp.ne.u32 %q,%r1,1; mov.u32 %r4,0;\n"
             " @%q bra E;\nL: add.u32 %r4,%r4,1; setp.lt.u32 %q,%r4,1000; @%q bra L;\n"
             "E: atom.global.add.u32 %r3,[%a1+128],1; st.global.u32 [%a2+4],%r3; ret;\n}\n";
    uint32_t word[64];
    for (int k = 0; k < 2; k++) {
        const char *const set[] = {k ? "gpu.cta_policy=bcs" : "gpu.cta_policy=in_order", "sm.ctas=2", NULL};
        struct heddle *h = rig_run("tiny", set, 1, text, 3, word, sizeof word);
        ck_assert_uint_eq(word[4], k ? 4 : 3);
        heddle_close(h);
    }
}
END_TEST

/* Eight warps in four CTAs of two warps: blocks {0 1 2 3} and {4 5 6 7}. The oldest block issues round-robin, so its
 * CTAs advance together. Block 1 issues while no warp of block 0 is ready, and stays until it stalls. */
START_TEST(baws_stays_with_a_block) {
    rig_start("baws", NULL, 0, 8, 2);
    static const struct {
        uint64_t ready;
        int picked;
    } rows[] = {{0xff, 0}, {0xff, 1}, {0xff, 2}, {0xff, 3}, {0xff, 0},
                {0xf0, 4}, {0xff, 5}, {0xff, 6}, {0x1f, 4}, {0x0e, 1}};
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(rig_issue((uint64_t)i, rows[i].ready), rows[i].picked);
    ck_assert_int_eq(rig_issue(10, 0x70), 4);
    /* the slots of CTA 0 get CTA 4, whose warps are the youngest: block 2. Block 0 is CTA 1 alone. */
    for (uint32_t w = 0; w < 2; w++) {
        rig.age[w] = 8 + w;
        rig.warp[w].cta = 4;
    }
    ck_assert_int_eq(rig_issue(11, 0x0f), 2); /* block 0 is older than block 2 */
    ck_assert_int_eq(rig_issue(12, 0x03), 0);
    ck_assert_int_eq(rig_issue(13, 0xff), 1);
    ck_assert_int_eq(rig_issue(14, 0xfc), 2);
}
END_TEST

static const char *const options[] = {"gpu.cta_policy=lcs", "gpu.cta_policy=bcs", "gpu.cta_policy=lbcs",
                                      "sched.policy=baws"};
START_TEST(threads_change_nothing) { rig_check_threads(options[_i]); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results(options[_i]); }
END_TEST

SUITE(mechanisms_lcs) {
    tcase_add_checked_fixture(tc, NULL, rig_stop);
    TEST_SPEED(limit_follows_the_first_cta);
    TEST_SPEED(equal_ctas_all_stay);
    TEST_LOOP(blocks_stay_together, 0, 4);
    TEST(a_block_waits_for_room);
    TEST(baws_stays_with_a_block);
    TEST_LOOP(threads_change_nothing, 0, 4);
    TEST_LOOP(results_do_not_change, 0, 4);
}
