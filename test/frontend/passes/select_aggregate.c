/* Tests select_aggregate.c: one lane adds to a word in memory for all lanes, with the same results. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { LANES = 32, WORDS = LANES + 1 };

/* Runs a CTA of one warp. Lanes whose number is no multiple of 3 execute `body`, which may use n = 5 in %r1. Each lane
 * then stores %r8, which begins with 7, to word 1 + lane. %d1 is the address of word 0, which begins with 1000. */
static void run(const char *body, const char *model, const char *option, uint32_t out[WORDS],
                uint32_t count[N_MACHINE_CLASSES]) {
    char text[2048];
    const struct program *p;
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .pred %%p<9>; .reg .b32 %%r<12>; .reg .b64 %%d<9>;\n"
             "ld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [n]; mov.u32 %%r2, %%tid.x; mul.wide.u32 %%d2, %%r2, 4;\n"
             "add.u64 %%d3, %%d1, %%d2; mov.u32 %%r8, 7; rem.u32 %%r3, %%r2, 3; setp.eq.u32 %%p1, %%r3, 0;\n"
             "@%%p1 bra X; %s X: st.global.u32 [%%d3+4], %%r8; ret;\n}\n",
             body);
    out[0] = 1000;
    for (uint32_t i = 1; i < WORDS; i++)
        out[i] = 0;
    struct heddle *h =
        late_run(&(struct late_run){text, "ampere", model, option, 1, LANES, .n = 5, .words = WORDS}, out, &p);
    control_count(p, count);
    heddle_close(h);
}

/* Besides the access, ptxas 13 for sm_86 writes S2R, VOTE and ISETP, and FLO and POPC for the special function unit. If
 * the result is used, it also writes S2R, LOP3, IADD, another POPC, and a shuffle. If the number is not 1, there is a
 * product, and IMAD in place of the last IADD. */
static const struct {
    const char *body;
    uint32_t step;                   /* by which the results of two lanes differ */
    uint32_t arithmetic, xu, memory; /* machine instructions more than without the pass */
} rows[] = {
    {"red.global.add.u32 [%d1], 1;", 0, 3, 2, 0},
    {"red.global.add.u32 [%d1], 5;", 0, 4, 2, 0},
    {"red.global.add.u32 [%d1], %r1;", 0, 4, 2, 0},
    {"atom.global.add.u32 %r8, [%d1], 1;", 1, 6, 3, 1},
    {"atom.global.add.s32 %r8, [%d1], -3;", 0u - 3, 7, 3, 1},
    {"atom.global.add.u32 %r8, [%d1], %r1;", 5, 7, 3, 1},
    /* these stay: a number of each lane, an address of each lane, 64 bits, another operation, a guard */
    {"red.global.add.u32 [%d1], %r2;", 0, 0, 0, 0},
    {"red.global.add.u32 [%d3+4], 1;", 0, 0, 0, 0},
    {"red.global.add.u64 [%d1], 1;", 0, 0, 0, 0},
    {"red.global.inc.u32 [%d1], 2000;", 0, 0, 0, 0},
    {"setp.lt.u32 %p2, %r2, 9; @%p2 red.global.add.u32 [%d1], 1;", 0, 0, 0, 0},
};

static uint32_t arithmetic(const uint32_t n[N_MACHINE_CLASSES]) {
    return n[MACHINE_ALU] + n[MACHINE_FMA] + n[MACHINE_UNIFORM];
}

START_TEST(one_lane_adds_for_all) {
    uint32_t with[WORDS], without[WORDS], n[N_MACHINE_CLASSES], none[N_MACHINE_CLASSES], rank = 0;
    char apart[256];
    run(rows[_i].body, "its", "core.select=off", without, none);
    run(rows[_i].body, "its", NULL, with, n);
    ck_assert_mem_eq(with, without, sizeof with);
    for (uint32_t lane = 0; lane < LANES && rows[_i].step; lane++)
        if (lane % 3)
            ck_assert_uint_eq(with[1 + lane], 1000 + rows[_i].step * rank++);
    snprintf(apart, sizeof apart, "%s", rows[_i].body); /* each lane adds to another word: no pass */
    char *address = strstr(apart, "[%d1");
    if (address && !strstr(apart, "u64"))
        address[3] = '3';
    run(apart, "its", NULL, without, none);
    ck_assert_uint_eq(arithmetic(n) - arithmetic(none), rows[_i].arithmetic);
    ck_assert_uint_eq(n[MACHINE_XU] - none[MACHINE_XU], rows[_i].xu);
    ck_assert_uint_eq(n[MACHINE_MEMORY] - none[MACHINE_MEMORY], rows[_i].memory);
}
END_TEST

/* Each model has the results of lanes in ascending order, though lanes may part. */
START_TEST(models_agree) {
    static const char *const models[] = {"spe", "dpe", "si", "its", "dws", "tbc", "dwf", "multipath", "functional"};
    uint32_t out[WORDS], n[N_MACHINE_CLASSES], rank = 0;
    run("atom.global.add.u32 %r8, [%d1], 5;", models[_i], NULL, out, n);
    ck_assert_uint_eq(out[0], 1000 + 5 * 21); /* 11 of 32 lanes are multiples of 3 */
    for (uint32_t lane = 0; lane < LANES; lane++)
        ck_assert_uint_eq(out[1 + lane], lane % 3 ? 1000 + 5 * rank++ : 7);
}
END_TEST

SUITE(frontend_passes_select_aggregate) {
    TEST_LOOP(one_lane_adds_for_all, 0, (int)(sizeof rows / sizeof rows[0]));
    TEST_LOOP(models_agree, 0, 9);
}
