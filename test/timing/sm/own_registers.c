/* Tests registers that share no scoreboard entry, and whose banks follow from their names (peer.own_registers). */
#include "host/heddle.h"
#include "test/test.h"
#include <string.h>

#define OWN_HEAD                                                                                                       \
    ".version 7.0 .target sm_70 .address_size 64\n"                                                                    \
    ".visible .entry k(.param .u64 p) { .reg .b32 %r<40>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"                        \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;\n"

/* Runs a kernel with one warp and returns a statistic. */
static double run_own(const char *text, const char *own, const char *statistic) {
    char err[256];
    const char *const set[] = {own, "gpu.sms=1", NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "spe", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t words = heddle_alloc(h, 128);
    heddle_clear(h, words, 128);
    struct heddle_arg arg = {&words, 8};
    ck_assert_int_eq(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1),
                     HEDDLE_OK);
    double value = heddle_stat(h, 0, statistic);
    heddle_close(h);
    return value;
}

/* Lanes 0 to 15 load %r3 from DRAM first. Then the other lanes divide twice in %r2, which is never live with %r3. If
 * both share a scoreboard entry, the divisions wait for the load. Otherwise they take place meanwhile, which saves at
 * least one division of 145 cycles. */
START_TEST(own_registers_do_not_wait) {
    static const char text[] = OWN_HEAD "@%p1 bra B;\nadd.u32 %r2, %r1, 99; div.u32 %r2, %r2, 3; div.u32 %r2, %r2, 3;\n"
                                        "add.u32 %r3, %r2, 1; bra M;\nB: ld.global.u32 %r3, [%d1];\n"
                                        "M: st.global.u32 [%d1+4], %r3; ret; }\n";
    double shared = run_own(text, "peer.own_registers=off", "gpu.cycles"),
           own = run_own(text, "peer.own_registers=on", "gpu.cycles");
    EXPECT(own <= shared - 145, "%g, %g", own, shared);
}
END_TEST

/* With 16 banks, %r2 and %r18 are in one bank, and %r2 and %r19 are not. */
START_TEST(own_registers_have_the_banks_of_their_names) {
    static const char *const text[] = {
        OWN_HEAD "ld.global.u32 %r2, [%d1]; ld.global.u32 %r18, [%d1];\nadd.u32 %r4, %r2, %r18;\n"
                 "st.global.u32 [%d1], %r4; ret; }\n",
        OWN_HEAD "ld.global.u32 %r2, [%d1]; ld.global.u32 %r19, [%d1];\nadd.u32 %r4, %r2, %r19;\n"
                 "st.global.u32 [%d1], %r4; ret; }\n"};
    double one = run_own(text[0], "peer.own_registers=on", "collector.bank_conflicts"),
           two = run_own(text[1], "peer.own_registers=on", "collector.bank_conflicts");
    EXPECT(one == two + 1, "%g, %g", one, two);
}
END_TEST

SUITE(timing_sm_own_registers) {
    TEST(own_registers_do_not_wait);
    TEST(own_registers_have_the_banks_of_their_names);
}
