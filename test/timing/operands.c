/* Tests the cost of operands on volta-classic and turing-rtx2060 against values computed by hand.
 * - a processing block has two register banks of 64 bits (Jia et al., 2018 and 2019), so an instruction has a bank
 *   conflict only if all three sources are in one bank
 * - a pipe of 16 lanes takes a warp instruction every two cycles
 * - dependent instructions are four cycles apart: latch, collector, operands, and one cycle in the pipe */
#include "micro_rig.h"

static const char *const presets[] = {"volta-classic", "turing-rtx2060"};
enum { PRESETS = 2 };

#define PERFECT "fetch.perfect=on"
/* Six registers that are live at the same time are numbered in the order in which they are written, and alternate
 * between the two banks. So f2, f4 and f6 share a bank, and so do f3, f5 and f7. */
#define NAMED "mov.f32 %f2,%f1; mov.f32 %f3,%f1; mov.f32 %f4,%f1; mov.f32 %f5,%f1; mov.f32 %f6,%f1; mov.f32 %f7,%f1;\n"
#define LIVE                                                                                                           \
    "add.f32 %f1,%f1,%f2; add.f32 %f1,%f1,%f3; add.f32 %f1,%f1,%f4; add.f32 %f1,%f1,%f5;\n"                            \
    "add.f32 %f1,%f1,%f6; add.f32 %f1,%f1,%f7;\n"

static double apart(int preset, const char *inst) {
    return each((struct micro){
        .config = presets[preset], .before = NAMED, .repeat = inst, .after = LIVE, .set = {PERFECT, "gpu.sms=1"}});
}

static const char *const dependent[] = {
    "not.b32 %r1,%r1;",
    "add.f32 %f1,%f1,%f1;",
    "add.u32 %r1,%r1,%r2;",
    "add.u32 %r1,%r1,%r3;",
    "add.u32 %r1,%r1,%r12;",
    "add.u32 %r1,%r1,%r13;",
    "xor.b32 %r1,%r14,%r1;",
    "add.f32 %f1,%f1,%f2;",
    "add.f32 %f1,%f1,%f3;",
    "mul.f32 %f1,%f1,%f4;",
    "fma.rn.f32 %f1,%f1,%f1,%f1;",
    "fma.rn.f32 %f1,%f1,%f2,%f3;",
    "fma.rn.f32 %f1,%f1,%f4,%f5;",
    "fma.rn.f32 %f1,%f2,%f1,%f1;",
};
enum { N_DEPENDENT = sizeof dependent / sizeof dependent[0] };

START_TEST(dependents_of_up_to_two_sources_of_a_bank_are_four_cycles_apart) {
    for (int p = 0; p < PRESETS; p++)
        ck_assert_double_eq(apart(p, dependent[_i]), 4);
}
END_TEST

/* All three sources of an fma are in one bank. The third source is read a cycle later than the other two, so a
 * dependent fma issues after 5 cycles instead of 4. */
START_TEST(a_third_source_of_a_bank_costs_a_cycle) {
    for (int p = 0; p < PRESETS; p++) {
        ck_assert_double_eq(apart(p, "fma.rn.f32 %f3,%f3,%f5,%f7;"), 5);
        ck_assert_double_eq(apart(p, "fma.rn.f32 %f2,%f2,%f4,%f6;"), 5);
    }
}
END_TEST

/* Sixteen independent instructions. */
#define FOUR(op, b)    op "%f1," b op "%f8," b op "%f9," b op "%f0," b
#define SIXTEEN(op, b) FOUR(op, b) FOUR(op, b) FOUR(op, b) FOUR(op, b)

static const struct {
    const char *insts;
    double cycles;
} independent[] = {
    {SIXTEEN("neg.f32 ", "%f2;"), 2},
    {SIXTEEN("add.f32 ", "%f2,%f2;"), 2},
    {SIXTEEN("add.f32 ", "%f2,%f3;"), 2},
    {SIXTEEN("add.f32 ", "%f2,%f4;"), 2}, /* the four half-warp reads from one bank take two cycles */
    {SIXTEEN("fma.rn.f32 ", "%f2,%f3,%f4;"), 2},
    {SIXTEEN("fma.rn.f32 ", "%f2,%f2,%f4;"), 2},
    {SIXTEEN("fma.rn.f32 ", "%f2,%f4,%f6;"), 3}, /* six halves: three cycles */
};
enum { N_INDEPENDENT = sizeof independent / sizeof independent[0] };

/* With up to eight warps per processing block, all banks, pipes and write ports reach their maximum use. */
START_TEST(independent_ones_are_as_far_apart_as_pipe_or_bank_allow) {
    for (int p = 0; p < PRESETS; p++)
        for (uint32_t warps = 1; warps <= 8; warps *= 2) {
            struct micro m = {.config = presets[p],
                              .before = NAMED,
                              .after = LIVE,
                              .repeat = independent[_i].insts,
                              .few = 4,
                              .many = 20,
                              .block = 4 * 32 * warps,
                              .set = {PERFECT, "gpu.sms=1"}};
            double wanted = independent[_i].cycles * warps;
            ck_assert_double_eq_tol(each(m) / 16, wanted, wanted * .03);
        }
}
END_TEST

SUITE(timing_operands) {
    TEST_LOOP(dependents_of_up_to_two_sources_of_a_bank_are_four_cycles_apart, 0, N_DEPENDENT);
    TEST(a_third_source_of_a_bank_costs_a_cycle);
    TEST_SPEED_LOOP(independent_ones_are_as_far_apart_as_pipe_or_bank_allow, 0, N_INDEPENDENT);
}
