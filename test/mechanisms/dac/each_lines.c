/* Checks the affine warp's hardware in each cycle, for small kernels: lines of local memory, and locks. */
#include "each_rig.h"

enum { LOCAL_CASES = 7, LOCK_CASES = 4, KIND_CASES = 8 };

/* Accesses to words of local memory. If the offset is equal for all threads of the CTA, the words of a warp are in one
 * line, or in two lines for 8 bytes per thread. If the offset depends on the thread, they are in 32 lines, for which
 * only the longest queue has room. With lines of 64 bytes, the first two numbers are twice as large. */
START_TEST(local_lines) {
    static const char body[] = " mov.u64 %a2,depot; mad.wide.u32 %a3,%r2,16,%a2; mad.wide.u32 %a4,%r1,4,%a2;\n"
                               " mad.wide.u32 %a5,%r1,4,%a1; st.local.u32 [%a4],%r1; st.local.u32 [%a3],%r1;\n"
                               " st.local.v2.u32 [%a3+8],{%r1,%r2};\n ld.local.u32 %r3,[%a3];\n"
                               " ld.local.v2.u32 {%r4,%r5},[%a3+8]; ld.local.u8 %r6,[%a3+5]; ld.local.u32 %r7,[%a4];\n"
                               " add.u32 %r3,%r3,%r4; add.u32 %r3,%r3,%r5; add.u32 %r3,%r3,%r6;\n"
                               " add.u32 %r3,%r3,%r7; st.global.u32 [%a5],%r3; ret;\n";
    /* lines of the four loads of a warp: 1, 2, 1 and 32, or with lines of 64 bytes 2, 4, 2 and 32; a warp's queue holds
     * 1, 4 or 64 lines */
    static const struct {
        const char *queue, *line, *size;
        uint32_t lines;
    } cases[LOCAL_CASES] = {{"dac.pwaq=1", "128", "49152", 2},     {"dac.pwaq=64", "128", "49152", 4},
                            {"dac.pwaq=1024", "128", "49152", 36}, {"dac.pwaq=1", "64", "49152", 0},
                            {"dac.pwaq=64", "64", "49152", 8},     {"dac.pwaq=1024", "64", "49152", 40},
                            {"dac.pwaq=1024", "128", "0", 36}};
    const int i = _i % LOCAL_CASES;
    const char *model = model_in_turn((uint64_t)(_i / LOCAL_CASES));
    char l1[32], lsu[32], size[32];
    snprintf(l1, sizeof l1, "l1.line=%s", cases[i].line);
    snprintf(lsu, sizeof lsu, "lsu.line=%s", cases[i].line);
    snprintf(size, sizeof size, "l1.size=%s", cases[i].size);
    const char *const set[] = {cases[i].queue, lsu, l1, size, "l1.ways=12", NULL};
    watched(model, model, set, body, 8, 64, 0);
    ck_assert_double_eq(stat("dac.lines"), 8 * 2 * cases[i].lines);
    if (cases[i].size[0] == '0') /* without an L1 there are no locks */
        ck_assert_double_eq(stat("dac.lines_without_lock"), 8 * 2 * cases[i].lines);
}
END_TEST

/* Two CTAs of two warps execute four loads of one line each, which are 16 lines. In the small L1, all lines are in one
 * set of four ways, of which three may be locked. In the large L1, each line finds a place. */
START_TEST(few_lines_wait_for_locks) {
    static const struct {
        const char *wait, *size;
        bool waits, gives_up;
    } cases[LOCK_CASES] = {{"dac.lock_timeout=0", "l1.size=512", false, true},
                           {"dac.lock_timeout=1", "l1.size=512", true, true},
                           {"dac.lock_timeout=100000", "l1.size=512", true, false},
                           {"dac.lock_timeout=1", "l1.size=49152", false, false}};
    static const char body[] = " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,32768,%a2;\n"
                               " ld.global.u32 %r3,[%a2]; ld.global.u32 %r4,[%a2+4096]; ld.global.u32 %r5,[%a2+8192];\n"
                               " ld.global.u32 %r6,[%a2+12288]; add.u32 %r3,%r3,%r4; add.u32 %r3,%r3,%r5;\n"
                               " add.u32 %r3,%r3,%r6; st.global.u32 [%a2],%r3; ret;\n";
    const char *const set[] = {cases[_i].size, "l1.ways=4", cases[_i].wait, NULL};
    watched(cases[_i].wait, "spe+dac", set, body, 2, 64, 0);
    ck_assert_double_eq(stat("dac.lines"), 16);
    ck_assert_msg((lines.waited > 0) == cases[_i].waits, "%llu waited", (unsigned long long)lines.waited);
    ck_assert_msg((lines.gave_up > 0) == cases[_i].gives_up, "%llu gave up", (unsigned long long)lines.gave_up);
}
END_TEST

/* All types of entries, from CTAs of 70 threads whose last warp has six. The kernel has a branch that diverges in warp
 * 1, with a load on each side, a loop with a scalar number of iterations, addresses that are not linear, descending
 * addresses, 64-bit words (two lines in each warp), a guard, shared memory, and code after a barrier. */
START_TEST(kinds_of_entries) {
    static const char *const variants[KIND_CASES][4] = {{NULL},
                                                        {"dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
                                                        {"dac.atq=2", "dac.batch=2", "dac.pwaq=96"},
                                                        {"l1.size=1024", "l1.ways=2", "dac.pwaq=1024"},
                                                        {"l1.size=1024", "l1.ways=2", "dac.lock_timeout=100"},
                                                        {"l1.size=0", "dac.pwpq=1"},
                                                        {"memory.perfect_l1=true", "dac.atq=3"},
                                                        {"lsu.prefetch_queue=1", "l1.mshrs=2", "dac.shared=on"}};
    static const char body[] =
        ".shared .align 8 .b8 tile[512];\n mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,16384,%a2;\n"
        " setp.lt.u32 %p1,%r1,40; @%p1 bra A;\n ld.global.u32 %r3,[%a2+1024]; bra E;\nA: ld.global.u32 %r3,[%a2];\n"
        "E: mov.u32 %r4,0; mov.u64 %a3,%a2;\nL: ld.global.u32 %r5,[%a3]; add.u32 %r3,%r3,%r5;\n"
        " add.u64 %a3,%a3,256; add.u32 %r4,%r4,1; setp.lt.u32 %p2,%r4,3; @%p2 bra L;\n"
        " and.b32 %r6,%r1,7; mad.wide.u32 %a4,%r6,64,%a1; ld.global.u32 %r7,[%a4]; add.u32 %r3,%r3,%r7;\n"
        " sub.u32 %r8,100,%r1; mad.wide.u32 %a5,%r8,8,%a1; ld.global.v2.u32 {%r9,%r10},[%a5]; add.u32 %r3,%r3,%r9;\n"
        " mov.u32 %r11,tile; mad.lo.u32 %r12,%r1,4,%r11; st.shared.u32 [%r12],%r3; bar.sync 0;\n"
        " ld.global.u32 %r13,[%a2+2048]; add.u32 %r3,%r3,%r13; setp.gt.u32 %p2,%r1,35;\n"
        " @%p2 ld.global.u32 %r14,[%a2+4096]; st.global.u32 [%a2+8192],%r3; ret;\n";
    watched(variants[_i][0] ? variants[_i][0] : "as it is", model_in_turn((uint64_t)_i), variants[_i], body, 3, 70, 0);
    ck_assert_double_gt(stat("dac.decoupled_loads"), 0);
}
END_TEST

SUITE(mechanisms_dac_each_lines) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST_LOOP(local_lines, 0, LOCAL_CASES * base_models()->n);
    TEST_LOOP(few_lines_wait_for_locks, 0, LOCK_CASES);
    TEST_LOOP(kinds_of_entries, 0, KIND_CASES);
}
