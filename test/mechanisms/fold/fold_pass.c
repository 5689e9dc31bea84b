/* Tests which branches and guarded operations the pass `fold` puts into one instruction, on hand-written graphs, and
 * the results of each lane. test/mechanisms/chain/chain_pass.c tests branches under the limits of a region. */
#include "test/frontend/frontend_help.h"
#include "test/timing/sm/float_rig.h"

/* The body's first line is line 14. %p1 differs between lanes. */
#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"              \
    ".reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .f32 %%f<30>;\nld.param.u64 %%d1, [out];\n"           \
    "ld.param.u64 %%d2, [in];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d3, %%r1, 4;\nadd.u64 %%d1, %%d1, %%d3;\n"       \
    "add.u64 %%d2, %%d2, %%d3;\nld.global.f32 %%f1, [%%d2];\nld.global.f32 %%f2, [%%d2+128];\n"                        \
    "setp.lt.f32 %%p1, %%f1, %%f2;\nmov.f32 %%f8, %%f1;\n%s\nst.global.f32 [%%d1], %%f8;\nret;\n}\n"

#define IF   "@!%p1 bra E;\n"
#define ELSE "bra J;\nE: "
#define JOIN "J: "
#define SUM4 "add.f32 %f3, %f3, %f4;\nadd.f32 %f5, %f5, %f6;\nadd.f32 %f8, %f3, %f5;\n"
#define FOUR(op, x)                                                                                                    \
    op ".f32 %f3, %f1, " x ";\n" op ".f32 %f4, %f2, " x ";\n" op ".f32 %f5, " x ", %f1;\n" op ".f32 %f6, " x ", "      \
       "%f2;\n"

static const struct body {
    const char *what, *set, *body;
    int folded;
    const char *want[2];
} bodies[] = {
    /* as in the source of srad: each side has 4 operations, and 4 instructions replace all 8 */
    {"four operations a side",
     "chain.length=5",
     IF FOUR("sub", "0f3F800000") ELSE FOUR("mul", "0f40000000") JOIN SUM4,
     4,
     {"note: line 14: folded: 4 and 4 operations in 4 instructions\n"}},
    {"the old limit",
     "fold.operations=0",
     IF FOUR("sub", "0f3F800000") ELSE FOUR("mul", "0f40000000") JOIN SUM4,
     0,
     {"note: line 14: left alone: 4 and 4 operations on its sides; chain.length is 5\n"}},
    /* 8 operations and no pair: the second side follows the first */
    {"masks alone",
     "fold.parallel=off",
     IF FOUR("sub", "0f3F800000") ELSE FOUR("mul", "0f40000000") JOIN SUM4,
     0,
     {"note: line 14: masked: 4 and 4 operations in 8 instructions\n", "@!%p1 mul.f32 %f6, 0x40000000, %f2  // 23\n"}},
    {"masks for loads and their addresses",
     "fold.parallel=off",
     IF "add.u64 %d3, %d2, 64;\nld.global.f32 %f3, [%d3];\nsub.f32 %f8, %f3, %f1;\n" ELSE
        "mul.f32 %f8, %f1, %f2;\n" JOIN,
     0,
     {"@%p1 ld.f32 %f3, global[%d3+0]", "note: line 14: 2 other instructions get a guard\n"}},
    {"more than fold.operations",
     "fold.operations=3",
     IF FOUR("sub", "0f3F800000") ELSE FOUR("mul", "0f40000000") JOIN SUM4,
     0,
     {"note: line 14: left alone: 4 operations on the side of line 15; fold.operations is 3\n"}},
    /* two chains of three operations do not fit into five FPUs, so each becomes a chain of two operations and a single
     * operation */
    {"three and three",
     "chain.length=5",
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nmul.f32 %f8, %f3, %f2;\n" ELSE
        "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f3;\nmul.f32 %f8, %f3, %f3;\n" JOIN,
     2,
     {"note: line 14: folded: 3 and 3 operations in 2 instructions\n"}},
    {"five in a row and three: 3 + 2, 2 + 1",
     "chain.length=5",
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nmul.f32 %f3, %f3, %f2;\nadd.f32 %f3, %f3, %f1;\n"
        "mul.f32 %f8, %f3, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f2;\nadd.f32 %f8, %f3, %f1;\n" JOIN,
     2,
     {"note: line 14: folded: 5 and 3 operations in 2 instructions\n"}},
    {"loads keep a guard",
     "chain.length=5",
     IF "ld.global.f32 %f3, [%d2+4];\nsub.f32 %f8, %f3, %f1;\n" ELSE
        "ld.global.f32 %f4, [%d2+8];\nadd.f32 %f8, %f4, %f1;\n" JOIN,
     1,
     {"#chain %p1 ? %f8 = sub.f32(%f3, %f1) : %f8 = add.f32(%f4, %f1)  // 16\n",
      "note: line 14: 2 other instructions get a guard\n"}},
    {"their guards",
     "chain.length=5",
     IF "ld.global.f32 %f3, [%d2+4];\nsub.f32 %f8, %f3, %f1;\n" ELSE
        "ld.global.f32 %f4, [%d2+8];\nadd.f32 %f8, %f4, %f1;\n" JOIN,
     1,
     {"@%p1 ld.f32 %f3, global[%d2+4]", "@!%p1 ld.f32 %f4, global[%d2+8]"}},
    {"integers and stores keep a guard",
     "chain.length=5",
     IF "add.u64 %d3, %d2, 64;\nld.global.f32 %f3, [%d3];\nsub.f32 %f8, %f3, %f1;\nst.global.f32 [%d1+256], %f8;\n" ELSE
        "mul.f32 %f8, %f1, %f2;\n" JOIN,
     1,
     {"@%p1 st.f32 global[%d1+256], %f8", "@%p1 add.u64 %d3, %d2, 0x40"}},
    {"more than fold.guarded",
     "fold.guarded=1",
     IF "ld.global.f32 %f3, [%d2];\nld.global.f32 %f4, [%d2+4];\nadd.u64 %d3, %d2, 4;\nsub.f32 %f8, %f3, %f4;\n" ELSE
        "mul.f32 %f8, %f1, %f2;\n" JOIN,
     0,
     {"note: line 14: left alone: 3 other instructions would get a guard; fold.guarded is 1, for each of 2 "
      "operations\n"}},
    {"a load alone on a side",
     "chain.length=5",
     IF "ld.global.f32 %f8, [%d2+4];\n" ELSE "mul.f32 %f8, %f1, %f2;\n" JOIN,
     0,
     {"note: line 14: left alone: no operation of a side fits beside one of the other side\n"}},
    {"a side that writes the predicate",
     "chain.length=5",
     IF "setp.lt.f32 %p1, %f2, %f1;\nsub.f32 %f8, %f2, %f1;\n" ELSE "mul.f32 %f8, %f1, %f2;\n" JOIN,
     0,
     {"note: line 14: left alone: line 15 writes the predicate of the branch\n"}},
    {"a barrier on a side",
     "chain.length=5",
     IF "bar.warp.sync 0;\nsub.f32 %f8, %f2, %f1;\n" ELSE "mul.f32 %f8, %f1, %f2;\n" JOIN,
     0,
     {"bar.warp"}},
    {"a jump to a side",
     "chain.length=5",
     "@%p1 bra E;\nbra.uni F;\nE: mul.f32 %f8, %f1, %f2;\nbra J;\nF: sub.f32 %f8, %f1, %f2;\n" JOIN,
     1,
     {"#chain %p1 ? %f8 = mul.f32(%f1, %f2) : %f8 = sub.f32(%f1, %f2)", "folded: 1 and 1 operations in 1 instruction"}},
    {"a jump to the join",
     "chain.length=5",
     "@%p1 bra E;\nbra.uni J;\nE: mul.f32 %f8, %f1, %f2;\nadd.f32 %f8, %f8, %f2;\n" JOIN,
     0,
     {"@%p1 #chain %f8 = mul.f32(%f1, %f2) -> add.f32(#, %f2)"}},
    {"complementary guards",
     "chain.length=5",
     "@%p1 add.f32 %f8, %f1, %f2;\n@!%p1 sub.f32 %f8, %f1, %f2;\n",
     1,
     {"#chain %p1 ? %f8 = add.f32(%f1, %f2) : %f8 = sub.f32(%f1, %f2)  // 15\n",
      "note: line 15: folded: 1 and 1 operations of complementary guards, in one with line 14\n"}},
    {"the other guard first",
     "chain.length=5",
     "@!%p1 add.f32 %f8, %f1, %f2;\n@%p1 sub.f32 %f8, %f1, %f2;\n",
     1,
     {"#chain %p1 ? %f8 = sub.f32(%f1, %f2) : %f8 = add.f32(%f1, %f2)  // 15\n"}},
    {"complementary guards, switched off",
     "fold.pairs=off",
     "@%p1 add.f32 %f8, %f1, %f2;\n@!%p1 sub.f32 %f8, %f1, %f2;\n",
     0,
     {"@%p1 add.f32 %f8"}},
    {"two and two operations in turns",
     "chain.length=5",
     "@%p1 add.f32 %f3, %f1, %f2;\n@!%p1 sub.f32 %f3, %f1, %f2;\n@%p1 mul.f32 %f8, %f3, %f2;\n"
     "@!%p1 mul.f32 %f8, %f3, %f1;\n",
     2,
     {"#chain %p1 ? %f8 = mul.f32(%f3, %f2) : %f8 = mul.f32(%f3, %f1)  // 17\n"}},
    {"a load with the other guard between",
     "chain.length=5",
     "@%p1 add.f32 %f8, %f1, %f2;\n@!%p1 ld.global.f32 %f3, [%d2+4];\n@!%p1 sub.f32 %f8, %f3, %f2;\n",
     1,
     {"#chain %p1 ? %f8 = add.f32(%f1, %f2) : %f8 = sub.f32(%f3, %f2)  // 16\n"}},
    {"the same guard twice",
     "chain.length=5",
     "@%p1 add.f32 %f8, %f1, %f2;\n@%p1 sub.f32 %f3, %f1, %f2;\n",
     0,
     {"@%p1 add.f32 %f8"}},
    {"the predicate changes between",
     "chain.length=5",
     "@%p1 add.f32 %f8, %f1, %f2;\nsetp.lt.f32 %p1, %f2, %f1;\n@!%p1 sub.f32 %f8, %f1, %f2;\n",
     0,
     {"@!%p1 sub.f32 %f8"}},
    {"the result is read between",
     "chain.length=5",
     "@%p1 add.f32 %f8, %f1, %f2;\nst.global.f32 [%d1+256], %f8;\n@!%p1 sub.f32 %f8, %f1, %f2;\n",
     0,
     {"@%p1 add.f32 %f8"}},
    {"a source is written between",
     "chain.length=5",
     "mov.f32 %f9, %f2;\n@%p1 add.f32 %f8, %f1, %f9;\nmov.f32 %f9, %f1;\n@!%p1 sub.f32 %f8, %f9, %f2;\n",
     0,
     {"@%p1 add.f32 %f8"}},
    {"pairs inside a side",
     "chain.length=5",
     "setp.gt.f32 %p2, %f1, 0f00000000;\n" IF "@%p2 add.f32 %f8, %f1, %f2;\n@!%p2 sub.f32 %f8, %f1, %f2;\n" ELSE
     "mul.f32 %f8, %f1, %f2;\nmul.f32 %f8, %f8, %f2;\n" JOIN,
     1,
     {"@%p1 #chain %p2 ? %f8 = add.f32(%f1, %f2) : %f8 = sub.f32(%f1, %f2)  // 17\n"}},
};
enum { N_BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(operations_are_folded) {
    const struct body *b = &bodies[_i];
    char text[4096];
    snprintf(text, sizeof text, HEAD, b->body);
    char *shown = listing_of("functional+fold", (const char *const[]){b->set, NULL}, "fold", text);
    ck_assert_msg(occurrences(shown, " #chain %p") == b->folded, "%s: not %d in\n%s", b->what, b->folded, shown);
    for (int k = 0; k < 2 && b->want[k]; k++)
        ck_assert_msg(strstr(shown, b->want[k]) != NULL, "%s: no '%s' in\n%s", b->what, b->want[k], shown);
    free(shown);
}
END_TEST

START_TEST(each_lane_has_its_own) {
    float in[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        in[i] = (float)(i * 37 % 101) - 50.3f;
    static const char *const models[] = {"functional+fold", "spe+fold", "dws+fold+chain+dac", "pepsc"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const struct heddle_dim warp = {32, 1, 1};
        struct outcome plain = run_floats("spe", NULL, warp, HEAD, bodies[_i].body, in);
        struct outcome fold =
            run_floats(models[m], (const char *const[]){bodies[_i].set, NULL}, warp, HEAD, bodies[_i].body, in);
        ck_assert_msg(memcmp(plain.out, fold.out, 32 * sizeof(float)) == 0, "%s: %s", models[m], bodies[_i].what);
        heddle_close(plain.h);
        heddle_close(fold.h);
    }
}
END_TEST

SUITE(mechanisms_fold) {
    TEST_LOOP(operations_are_folded, 0, N_BODIES);
    TEST_LOOP(each_lane_has_its_own, 0, N_BODIES);
}
