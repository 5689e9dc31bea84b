/* Checks the affine warp's hardware in each cycle of kernels with long waits for lines and entries. These tests take
 * seconds. */
#include "each_rig.h"
#include "mechanisms/tbc/reconv_tbc.h"

/* The L1 has one set with four ways, and three of the ways may be locked. In the first kernel, 16 warps execute 8 loads
 * of one line each. In the second kernel, each load has two lines, because addresses start in the middle of a line. In
 * both kernels, a line waits for a lock for at most dac.lock_timeout cycles. In the second kernel, an entry that has a
 * lock for one of its two lines does not wait for the other lock. */
START_TEST(lines_wait_for_locks) {
    static const struct {
        const char *wait;
        bool waits, gives_up;
    } cases[] = {{"dac.lock_timeout=0", false, true},
                 {"dac.lock_timeout=1", true, true},
                 {"dac.lock_timeout=100", true, true},
                 {"dac.lock_timeout=1000000", true, false}};
    char body[1024] = " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,32768,%a2; mov.u32 %r4,0;\n";
    for (uint32_t i = 0, at = (uint32_t)strlen(body); i < 8; i++)
        at += (uint32_t)snprintf(body + at, sizeof body - at,
                                 " ld.global.u32 %%r3,[%%a2+%u]; add.u32 %%r4,%%r4,%%r3;\n", i * 4096);
    strcat(body, " st.global.u32 [%a2],%r4; ret;\n");
    for (uint64_t offset = 0; offset <= 64; offset += 64) {
        const char *const set[] = {"l1.size=512", "l1.ways=4", cases[_i].wait, NULL};
        watched(cases[_i].wait, "spe+dac", set, body, 4, 128, offset);
        ck_assert_msg((lines.waited > 0) == cases[_i].waits, "%llu waited", (unsigned long long)lines.waited);
        ck_assert_msg((lines.gave_up > lines.held) == cases[_i].gives_up, "%llu gave up",
                      (unsigned long long)lines.gave_up);
        ck_assert_msg((lines.held > 0) == (offset != 0), "%llu had another lock", (unsigned long long)lines.held);
    }
}
END_TEST

static int step(void) { return test_every() ? 1 : 4; }

/* A warp polls a word until the first warp of its CTA has set it. The first warp needs eight loads before that. Their
 * queue entries come after entries that do not fit the polling warps' queues. The polling loads also use the L1 set of
 * the eight loads' lines. By default every fourth base model is tested, with HEDDLE_EVERY all of them. The model tbc is
 * left out: there the first warp would wait for the polling warp at the end of the loop. tbc avoids this only for loops
 * with volatile or atomic loads, and a kernel with such a loop is not decoupled. */
START_TEST(a_long_wait_ends_with_an_entry) {
    const int base = _i * step();
    char body[2048] = " mad.wide.u32 %a2,%r1,4,%a1; mad.wide.u32 %a2,%r2,32768,%a2; shr.u32 %r5,%r1,5;\n"
                      " mad.wide.u32 %a4,%r2,4096,%a1; add.u64 %a4,%a4,262144; mad.wide.u32 %a3,%r5,4,%a4;\n"
                      "L: ld.global.u32 %r3,[%a3]; setp.eq.u32 %p1,%r3,0; @%p1 bra L;\n mov.u32 %r4,0;\n";
    static const char *const set[] = {"dac.atq=1", "dac.pwaq=1", "deadlock.cycles=1000000", NULL};
    for (uint32_t i = 0, at = (uint32_t)strlen(body); i < 8; i++)
        at += (uint32_t)snprintf(body + at, sizeof body - at,
                                 " ld.global.u32 %%r3,[%%a2+%u]; add.u32 %%r4,%%r4,%%r3;\n", i * 4096);
    strcat(body, " st.global.u32 [%a3+4],%r4; ret;\n");
    const char *model = model_in_turn((uint64_t)base);
    if (base_models()->ops[base] == &reconv_tbc || strcmp(base_models()->name[base], "large") == 0)
        return;
    watched(model, model, set, body, 6, 64, 0);
    ck_assert_uint_gt(seen.overdue, 0);
    ck_assert(LEAST_TABLES || lines.too_long > 0);
}
END_TEST

SUITE(mechanisms_dac_each_wait) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST_LOOP(lines_wait_for_locks, 0, 4);
    TEST_LOOP(a_long_wait_ends_with_an_entry, 0, (base_models()->n + step() - 1) / step());
}
