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

SUITE(timing_sm_fetch) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(a_fetch_ends_with_its_line);
}
