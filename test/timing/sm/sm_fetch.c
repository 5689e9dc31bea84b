/* What a fetch brings, and whose turn it is, to the cycle, on configs/tiny.cfg: a fetch goes out in the cycle in which
 * the last instruction of the buffer issues, and brings the next ones two cycles later. */
#include "slots_rig.h"

#define ADD(n) "add.u32 %r" #n ",%l," #n ";"

/* Instructions of 8 bytes, lines of 128: 16 a line, and code begins a line. The branch, number 6, goes to the last of
 * the first line: its fetch brings that alone, whatever its width. The next one brings four, and so does the one
 * behind. */
static const char behind[] = "setp.gt.u32 %o,%t,9999; @!%o bra T;\n" /* 5, 6 */
    ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) ADD(1) "\nT:" ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7) ADD(8)
        ADD(9) ADD(10) ADD(11) "add.u32 %r2,%r2,%r3; add.u32 %r4,%r4,%r5; add.u32 %r6,%r6,%r7; add.u32 %r8,%r8,%r9; "
                               "add.u32 %r10,%r10,%r11;"
                               "add.u32 %r2,%r2,%r4; add.u32 %r6,%r6,%r8; add.u32 %r2,%r2,%r6; add.u32 %r2,%r2,%r10; "
                               "st.global.u32 [%a],%r2;";
enum { TARGET = 15 };

START_TEST(a_fetch_ends_with_its_line) {
    rig_run("spe", (const char *[]){"fetch.width=4", NULL}, behind, 32);
    static const uint32_t expect[] = {0, 2, 3, 4, 5, 7, 8, 9, 10, 12};
    uint64_t t = rig_at(0, TARGET, ~0u);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(rig_at(0, TARGET + i, ~0u), t + expect[i]);
}
END_TEST

/* Fetches bring instructions 4 and 5, then 6 and 7. A jump as number 6 leaves 7 in the buffer: with fetch.astray the
 * buffer is emptied a cycle later, and the fetch begins then: 3 cycles from jump to target instead of 2. A jump as
 * number 7 leaves an empty buffer: 8 and 9 are fetched first, which takes 2 cycles more. */
START_TEST(a_jump_is_noticed_late) {
    static const char *const models[] = {"spe", "dpe"};
    static const char *const body[2] = {"setp.gt.u32 %o,%t,9999; @!%o bra T;\n" ADD(1) "T:" ADD(2) ADD(3),
                                        "setp.gt.u32 %o,%t,9999; setp.eq.u32 %w,%t,7; @!%o bra T;\n" ADD(1) "T:" ADD(2)
                                            ADD(3)};
    for (int m = 0; m < 2; m++)
        for (uint32_t slot = 0; slot < 2; slot++)
            for (uint32_t late = 0; late < 2; late++) {
                const char *set[] = {"fetch.width=2", late ? "fetch.astray=true" : "fetch.astray=false", NULL};
                rig_run(models[m], set, body[slot], 32);
                uint64_t jump = rig_at(0, 6 + slot, ~0u), target = rig_at(0, 8 + slot, ~0u);
                ck_assert_msg(target == jump + 2 + late * (1 + slot), "%s, slot %u, astray %u: %u", models[m], slot,
                              late, (unsigned)(target - jump));
            }
}
END_TEST

/* A branch that no lane takes is followed by the next instruction of the buffer. */
START_TEST(what_does_not_jump_is_as_before) {
    uint64_t next[2];
    for (uint32_t late = 0; late < 2; late++) {
        const char *set[] = {"fetch.width=2", late ? "fetch.astray=true" : "fetch.astray=false", NULL};
        rig_run("spe", set, "setp.lt.u32 %o,%t,9999; @!%o bra T;\n" ADD(1) "T:" ADD(2) ADD(3), 32);
        next[late] = rig_at(0, 7, ~0u) - rig_at(0, 6, ~0u);
    }
    ck_assert_uint_eq(next[0], 1);
    ck_assert_uint_eq(next[1], 1);
}
END_TEST

SUITE(timing_sm_fetch) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(a_fetch_ends_with_its_line);
    TEST(a_jump_is_noticed_late);
    TEST(what_does_not_jump_is_as_before);
}
