/* Tests the pass `select`: the machine instructions of divisions and roots of floats. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { WORDS = 16 };

/* Counts the machine instructions of a kernel of one thread on `ampere`. %f1, %f2 and %e2 are words that it loads; it
 * stores them, %f8 and %e1. */
static void count(const char *body, uint32_t n[N_MACHINE_CLASSES]) {
    uint32_t out[WORDS];
    char text[2048];
    const struct program *p;
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .b64 %%d<9>; .reg .f32 %%f<9>; .reg .f64 %%e<9>; ld.param.u64 %%d1, [p];\n"
             "ld.global.f32 %%f1, [%%d1]; ld.global.f32 %%f2, [%%d1+4]; ld.global.f64 %%e2, [%%d1+8];\n"
             "%s\nst.global.f32 [%%d1+16], %%f8; st.global.f64 [%%d1+24], %%e1; st.global.f32 [%%d1+32], %%f1;\n"
             "st.global.f32 [%%d1+36], %%f2; st.global.f64 [%%d1+40], %%e2; ret;\n}\n",
             body);
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = 0x3fc00000u + i;
    struct heddle *h =
        late_run(&(struct late_run){text, "ampere", "functional", NULL, 1, 1, .n = 5, .words = WORDS}, out, &p);
    control_count(p, n);
    heddle_close(h);
}

static const struct {
    const char *op;
    uint32_t special, f32, f64, other; /* machine instructions */
} quotients[] = {
    {"div.rn.f32 %f8, %f1, %f2;", 2, 5, 0, 3},          {"div.full.f32 %f8, %f1, %f2;", 1, 7, 0, 0},
    {"div.full.ftz.f32 %f8, %f1, %f2;", 1, 4, 0, 0},    {"div.approx.f32 %f8, %f1, %f2;", 1, 4, 0, 0},
    {"div.approx.ftz.f32 %f8, %f1, %f2;", 1, 1, 0, 0},  {"div.rn.f32 %f8, %f1, 0f40C00000;", 1, 5, 0, 2 + 3},
    {"div.full.f32 %f8, %f1, 0f40C00000;", 0, 1, 0, 0}, {"div.approx.f32 %f8, %f1, 0f40C00000;", 0, 1, 0, 0},
    {"rsqrt.approx.f64 %e1, %e2;", 1, 0, 5, 5 + 3}};

/* ptxas 13 for sm_86 writes these numbers of instructions. Without .ftz, it scales subnormal divisors. For div.full, a
 * comparison and two products scale large divisors. The reciprocal of a constant divisor is a constant, so two moves
 * fetch both, and the special function unit only checks the dividend. Three instructions of flow pass the slow path. */
START_TEST(quotients_of_floats) {
    uint32_t n[N_MACHINE_CLASSES], none[N_MACHINE_CLASSES];
    count("", none);
    count(quotients[_i].op, n);
    ck_assert_uint_eq(n[MACHINE_XU] - none[MACHINE_XU], quotients[_i].special);
    ck_assert_uint_eq(n[MACHINE_FMA] - none[MACHINE_FMA], quotients[_i].f32);
    ck_assert_uint_eq(n[MACHINE_F64] - none[MACHINE_F64], quotients[_i].f64);
    ck_assert_uint_eq(n[MACHINE_ALU] + n[MACHINE_FLOW] - none[MACHINE_ALU] - none[MACHINE_FLOW], quotients[_i].other);
}
END_TEST

SUITE(frontend_passes_select_floats) {
    TEST_LOOP(quotients_of_floats, 0, (int)(sizeof quotients / sizeof quotients[0]));
}
