/* Tests faults and deadlocks of kernels with an affine warp, and the reports of waiting warps. */
#include "test/mechanisms/dac/dac_rig.h"
#include <stdio.h>

/* A decoupled load of an unmapped address faults. The report must name the same line, CTA and lane as without dac. */
START_TEST(the_affine_stream_faults) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p];\n mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x;\n"
        " mad.lo.u32 %r3,%r2,64,%r1; mad.wide.u32 %a2,%r3,4,%a1;\n"
        " ld.global.u32 %r4,[%a2];\n" /* line 10 */
        " st.global.u32 [%a2],%r4; ret;\n}\n";
    char whole[1024], err[1024], *cut;
    const uint64_t nowhere = 64;
    struct heddle_arg args[] = {{&nowhere, 8}};
    static const char *const set[] = {"gpu.sms=1", NULL};
    open_with("spe", set, 100000);
    ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_FAULT);
    snprintf(whole, sizeof whole, "%s", heddle_error(h));
    open_with("spe+dac", set, 100000);
    ck_assert_int_eq(start(load(text), "k", 2, 64, args, 1), HEDDLE_FAULT);
    snprintf(err, sizeof err, "%s", heddle_error(h));
    /* the two reports are equal except for the operand */
    ck_assert_ptr_nonnull(cut = strstr(whole, "ld.global.u32 "));
    ck_assert_int_eq(strncmp(err, whole, (size_t)(cut - whole)), 0);
    ck_assert_str_eq(strstr(err, "CTA"), strstr(whole, "CTA"));
    ck_assert_msg(strstr(err, "t.ptx:10:") && strstr(err, "CTA (0,0,0)") && strstr(err, "warp 0"), "%s", err);
}
END_TEST

/* The affine stream reads a table in constant memory. In the second CTA, the threads from 41 on read beyond its end.
 * The message must name the same lane, address and number of bytes as without dac. */
START_TEST(a_constant_load_of_the_affine_stream_faults) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b32 tab[4];\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %a<9>;\n ld.param.u64 %a1,[p]; ld.param.u32 %r5,[n];\n"
        " mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mul.lo.u32 %r2,%r2,%r5; mul.wide.u32 %a3,%r2,4;\n"
        " mov.u64 %a4,tab; add.u64 %a4,%a4,%a3;\n setp.gt.u32 %p1,%r1,40;\n @%p1 bra L;\n ret;\n"
        "L: ld.const.u32 %r4,[%a4];\n" /* line 14 */
        " add.u32 %r6,%r1,%r4; mad.wide.u32 %a2,%r6,4,%a1; st.global.u32 [%a2],%r1; ret;\n}\n";
    static const char *const set[] = {"gpu.sms=1", NULL};
    static const char *const models[] = {"spe", "spe+dac"};
    char message[2][1024];
    uint32_t n = 1u << 28;
    for (int i = 0; i < 2; i++) {
        open_with(models[i], set, 100000);
        struct heddle_arg args[] = {{&buffer, 8}, {&n, 4}};
        ck_assert_int_eq(start(load(text), "k", 2, 64, args, 2), HEDDLE_FAULT);
        snprintf(message[i], sizeof message[i], "%s", heddle_error(h));
    }
    ck_assert_msg(strstr(message[1], "t.ptx:14:") && strstr(message[1], "CTA (1,0,0)") &&
                      strstr(message[1], "warp 1") && strstr(message[1], "lane 9"),
                  "%s", message[1]);
    /* the two reports are equal, except that one names the function of the affine stream */
    ck_assert_ptr_nonnull(strstr(message[1], " in function 'affine'\n"));
    ck_assert_int_eq(strncmp(message[1], message[0], strcspn(message[0], "\n")), 0);
    ck_assert_str_eq(strstr(message[1], "    L: ld.const"), strstr(message[0], "    L: ld.const"));
    ck_assert_str_eq(strstr(message[1], "  CTA"), strstr(message[0], "  CTA"));
    n = 0; /* no fault, because only the affine stream executes the load */
    open_with("spe+dac", set, 100000);
    struct heddle_arg args[] = {{&buffer, 8}, {&n, 4}};
    ck_assert_int_eq(start(load(text), "k", 2, 64, args, 2), HEDDLE_OK);
    STAT("dac.loads", 0);
    STAT("dac.decoupled_addresses", 2);
}
END_TEST

/* Runs a kernel that must deadlock: half of warp 0 waits for the other half of the warp, and the other half waits at a
 * barrier that the first half never reaches. `at_e` is the code before the barrier. */
static void deadlock(const char *const *set, const char *at_e) {
    char text[1024];
    uint32_t word[64] = {0};
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%a<9>;\n ld.param.u64 %%a1,[p];\n"
             " mov.u32 %%r1,%%tid.x; mad.wide.u32 %%a2,%%r1,4,%%a1; ld.global.u32 %%r2,[%%a2];\n"
             " setp.ne.u32 %%p1,%%r2,0; @%%p1 bra E;\n bar.warp.sync 0xffffffff;\nE: %s bar.sync 0;\n"
             " ld.global.u32 %%r3,[%%a2+512];\n st.global.u32 [%%a2],%%r3; ret;\n}\n",
             at_e);
    open_with("its+dac", set, 0);
    for (uint32_t i = 0; i < 16; i++)
        word[i] = 1;
    heddle_write(h, buffer, word, sizeof word);
    struct heddle_arg args[] = {{&buffer, 8}};
    ck_assert_int_eq(start(load(text), "k", 1, 64, args, 1), HEDDLE_DEADLOCK);
}

#define SAYS(text) ck_assert_msg(strstr(heddle_error(h), text) != NULL, "%s", heddle_error(h))

/* The entries of a load and a store after the barrier stay in the ATQ. If the ATQ has only one entry, it holds the
 * first of them, and the affine warp waits to send the second. */
START_TEST(deadlocks_name_queues) {
    static const char *const set[] = {"gpu.sms=1", NULL}, *const one[] = {"gpu.sms=1", "dac.atq=1", NULL},
                             *const two[] = {"gpu.sms=1", "dac.atq=1", "dac.contexts=2", NULL};
    deadlock(set, "");
    SAYS("  dac: 2 of 24 entries in the affine tuple queue; 0 lines locked\n");
    /* nothing is in the warps' queues yet */
    ck_assert_msg(!strstr(heddle_error(h), " in its "), "%s", heddle_error(h));
    deadlock(one, "");
    SAYS("  dac: 1 of 1 entries in the affine tuple queue; 0 lines locked; the affine warp is at line 13\n");
    deadlock(two, "");
    SAYS("0 lines locked; the affine warp of context 0 is at line 13\n");
}
END_TEST

/* 64 records for 16 warps are 4 for each warp. Before the barrier, half of warp 0 reads the addresses of its load and
 * store. The entries stay in the queue for the other half. The line of the load stays locked until the other half has
 * read it, too. */
START_TEST(deadlocks_name_warps) {
    static const char *const set[] = {"gpu.sms=1", "dac.pwaq=64", "dac.pwpq=32", NULL};
    deadlock(set, "ld.global.u32 %r4,[%a2+256]; st.global.u32 [%a2+1024],%r4;\n");
    SAYS(" entries in the affine tuple queue; 1 lines locked\n");
    SAYS("\n  dac: CTA (0,0,0), warp 0: 2 of 4 in its address queue, the first for the data of line 11, lanes "
         "0xffff0000\n");
    ck_assert_msg(!strstr(heddle_error(h), "warp 1: "), "%s", heddle_error(h));
    deadlock(set, "st.global.u32 [%a2+1024],%r1;\n");
    SAYS("; 0 lines locked\n");
    SAYS("warp 0: 1 of 4 in its address queue, the first for the address of line 11, lanes 0xffff0000\n");
    deadlock(set, "setp.gt.u32 %p2,%r1,3; @%p2 st.global.u32 [%a1],%r2;\n");
    SAYS("warp 0: 1 of 2 in its predicate queue, the first for the predicate of line 11, lanes 0xffff0000\n");
}
END_TEST

/* Figure 4's kernel is stopped at many points. The report must name for what each warp waits: the first load waits for
 * its address, and then for its line. The predicate queue of each warp has room for one predicate, so the affine warp
 * waits before it sends the next one. With dac.enq_waits=off, it waits after its branch. */
START_TEST(reports_name_what_warps_wait_for) {
    const char *set[] = {"gpu.sms=1",          "dac.pwaq=48", "dac.pwpq=16", "memory.model=fixed",
                         "memory.latency=600", NULL,          NULL};
    static const char *const texts[] = {
        "\n  dac: CTA (0,0,0), warp 1: 0 of 3 in its address queue; it waits for one that has not come\n",
        "in its address queue, the first for the data of line 30, lanes 0xffffffff, 1 lines on their way\n",
        "of 1 in its predicate queue, the first for the predicate of line 38, lanes 0xffffffff\n",
        "; the affine warp is at line 38 and waits for room in a predicate queue\n",
        "; the affine warp is at line 30 and waits for a predicate to be expanded\n"};
    uint32_t dim = 3, num = 64, limit = 16;
    bool seen[5] = {false};
    enum heddle_status status = HEDDLE_DEADLOCK;
    for (; status != HEDDLE_OK || !set[5]; limit += 16) {
        if (status == HEDDLE_OK) {
            set[5] = "dac.enq_waits=off";
            limit = 16;
        }
        open_with("spe+dac", set, limit);
        struct heddle_arg args[] = {{&buffer, 8}, {&buffer, 8}, {&dim, 4}, {&num, 4}};
        status = start(heddle_module_file(h, "kernels/affine.ptx"), "example", 1, 64, args, 4);
        ck_assert(status == HEDDLE_OK || status == HEDDLE_DEADLOCK);
        for (int i = 0; i < 5 && status != HEDDLE_OK; i++)
            seen[i] |= strstr(heddle_error(h), texts[i]) != NULL;
        ck_assert_uint_lt(limit, 20000);
    }
    for (int i = 0; i < 5; i++)
        ck_assert_msg(seen[i], "no report has '%s'", texts[i]);
}
END_TEST

SUITE(mechanisms_dac_faults) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(the_affine_stream_faults);
    TEST(a_constant_load_of_the_affine_stream_faults);
    TEST(deadlocks_name_queues);
    TEST(deadlocks_name_warps);
    TEST(reports_name_what_warps_wait_for);
}
