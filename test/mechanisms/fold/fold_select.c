/* Tests folding of a selection (selp) with the two operations that compute its values: which selections are folded, the
 * results by lane, and the statistics. test/random/random_kernels.c tests random kernels. */
#include "test/timing/sm/float_rig.h"

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"              \
    ".reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .f32 %%f<30>;\nld.param.u64 %%d1, [out];\n"           \
    "ld.param.u64 %%d2, [in];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d3, %%r1, 4;\nadd.u64 %%d1, %%d1, %%d3;\n"       \
    "add.u64 %%d2, %%d2, %%d3;\nld.global.f32 %%f1, [%%d2];\nld.global.f32 %%f2, [%%d2+128];\n"                        \
    "setp.lt.f32 %%p1, %%f1, %%f2;\nmov.f32 %%f9, %%f1;\n%s\nst.global.f32 [%%d1], %%f8;\nret;\n}\n"

/* the first line of the body is line 14 of the text */
static const struct {
    const char *what, *set, *body;
    int folded;
    const char *want;
} bodies[] = {
    {"an operation on each side", "chain.length=5",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f2;\nselp.f32 %f8, %f3, %f4, %p1;\n", 1,
     "#chain %p1 ? %f8 = add.f32(%f1, %f2) : %f8 = mul.f32(%f1, %f2)  // 16\n"},
    {"at most two operations", "chain.length=2",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f2;\nselp.f32 %f8, %f3, %f4, %p1;\n", 1,
     "#chain %p1 ? %f8 = add.f32(%f1, %f2) : %f8 = mul.f32(%f1, %f2)  // 16\n"},
    {"chains of one operation cannot hold two", "chain.length=1",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f2;\nselp.f32 %f8, %f3, %f4, %p1;\n", 0, "left alone: no f32"},
    {"an operation, or the old value", "chain.length=5", "sub.f32 %f3, %f2, %f1;\nselp.b32 %f8, %f1, %f3, %p1;\n", 1,
     "#chain %p1 ? %f8 = mov.b32(%f1) : %f8 = sub.f32(%f2, %f1)  // 15\n"},
    {"an operation, or a constant", "chain.length=5", "sub.f32 %f3, %f2, %f1;\nselp.f32 %f8, 0f3F800000, %f3, %p1;\n",
     1, "#chain %p1 ? %f8 = mov.b32(0x3f800000) : %f8 = sub.f32(%f2, %f1)  // 15\n"},
    {"three and two", "chain.length=5",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f2;\nsub.f32 %f3, %f1, %f3;\nfma.rn.f32 %f4, %f1, %f2, %f1;\n"
     "selp.f32 %f8, %f3, %f4, %p1;\n",
     1, "add.f32(%f1, %f2) -> mul.f32(#, %f2) -> sub.f32(%f1, #) : %f8 = fma.rn.f32(%f1, %f2, %f1)  // 18\n"},
    {"four units: three of four operations, and one; the first ones stay", "chain.length=4",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f2;\nsub.f32 %f3, %f1, %f3;\nneg.f32 %f3, %f3;\nadd.f32 %f4, %f2, "
     "%f2;\n"
     "mul.f32 %f4, %f4, %f2;\nselp.f32 %f8, %f3, %f4, %p1;\n",
     1, "mul.f32(%f3, %f2) -> sub.f32(%f1, #) -> neg.f32(#) : %f8 = mul.f32(%f4, %f2)  // 20\n"},
    {"a value with another reader", "chain.length=5",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f3;\nselp.f32 %f8, %f3, %f4, %p1;\n", 1,
     "#chain %p1 ? %f8 = mov.b32(%f3) : %f8 = mul.f32(%f1, %f3)  // 16\n"},
    {"a source written between", "chain.length=5",
     "mul.f32 %f3, %f9, %f9;\nadd.f32 %f4, %f3, %f2;\nmov.f32 %f9, %f2;\nselp.f32 %f8, %f4, %f9, %p1;\n", 1,
     "#chain %p1 ? %f8 = add.f32(%f3, %f2) : %f8 = mov.b32(%f9)  // 17\n"},
    {"a source of all operations written between", "chain.length=5",
     "mul.f32 %f4, %f9, %f9;\nmov.f32 %f9, %f2;\nselp.f32 %f8, %f4, %f9, %p1;\n", 0, "left alone: no f32"},
    {"the same on both sides", "chain.length=5", "mul.f32 %f4, %f1, %f9;\nselp.f32 %f8, %f4, %f4, %p1;\n", 0, ""},
    {"integers", "chain.length=5", "add.u32 %r2, %r1, 5;\nselp.b32 %r3, %r2, %r1, %p1;\ncvt.rn.f32.u32 %f8, %r3;\n", 0,
     "left alone: no f32 operation makes what it selects, for it alone\n"},
    {"an operation with a guard", "chain.length=5",
     "mov.f32 %f4, %f2;\n@%p1 mul.f32 %f4, %f1, %f9;\nselp.f32 %f8, %f4, %f1, %p1;\n", 0, "left alone: no f32"},
    {"another block", "chain.length=5", "mul.f32 %f4, %f1, %f9;\nbar.sync 0;\nselp.f32 %f8, %f4, %f1, %p1;\n", 0,
     "left alone: no f32"},
    {"64 bits", "chain.length=5",
     "mul.f32 %f4, %f1, %f9;\ncvt.u64.u32 %d3, %r1;\nselp.b64 %d3, %d3, %d1, %p1;\nadd.u64 %d1, %d1, 0;\n"
     "mov.f32 %f8, %f4;\n",
     0, ""},
    {"switched off", "fold.selections=off",
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f1, %f2;\nselp.f32 %f8, %f3, %f4, %p1;\n", 0,
     "selp.f32 %f8, %f3, %f4, %p1"},
};

START_TEST(selections_are_folded) {
    char err[512] = "", text[4096], *shown = NULL;
    size_t size;
    const char *const set[] = {bodies[_i].set, NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional+fold", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, HEAD, bodies[_i].body);
    struct heddle_module *m = heddle_module_text(h, "c.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(h, m, "k", "fold", f) == HEDDLE_OK, "%s", heddle_error(h));
    fclose(f);
    ck_assert_msg((strstr(shown, " #chain ") != NULL) == bodies[_i].folded, "%s:\n%s", bodies[_i].what, shown);
    ck_assert_msg((strstr(shown, " selp") == NULL) == bodies[_i].folded || !*bodies[_i].want, "%s:\n%s",
                  bodies[_i].what, shown);
    ck_assert_msg(strstr(shown, bodies[_i].want) != NULL, "%s: no '%s' in\n%s", bodies[_i].what, bodies[_i].want,
                  shown);
    free(shown);
    heddle_close(h);
}
END_TEST

/* Numbers of both signs, and a NaN whose bits a move must not change. */
static void fill(float in[FLOATS]) {
    const uint32_t nan = 0x7fa12345;
    for (int i = 0; i < FLOATS; i++)
        in[i] = (float)(i * 37 % 101) - 50.3f;
    memcpy(&in[5], &nan, 4);
    memcpy(&in[45], &nan, 4);
}

START_TEST(each_lane_has_its_own) {
    float in[FLOATS];
    fill(in);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        for (int dac = 0; dac < 2; dac++) {
            const struct heddle_dim warp = {32, 1, 1};
            struct outcome plain = run_floats("spe", NULL, warp, HEAD, bodies[i].body, in);
            struct outcome fold =
                run_floats(dac ? "dws+fold+chain+dac" : "spe+fold", (const char *const[]){bodies[i].set, NULL}, warp,
                           HEAD, bodies[i].body, in);
            ck_assert_msg(memcmp(plain.out, fold.out, 32 * sizeof(float)) == 0, "%s", bodies[i].what);
            heddle_close(plain.h);
            heddle_close(fold.h);
        }
}
END_TEST

/* add and mul execute in 32 lanes each, and each lane keeps one result. As separate instructions (add, mul, selp), they
 * write 3 registers and read 6 (two sources each). The folded instruction writes one register and reads two. */
START_TEST(selections_are_counted) {
    float in[FLOATS], holds = 0;
    for (int i = 0; i < FLOATS; i++)
        in[i] = (float)(i * 37 % 101) - 50.3f;
    for (int i = 0; i < 32; i++)
        holds += in[i] < in[i + 32];
    const struct heddle_dim warp = {32, 1, 1};
    struct outcome o = run_floats("spe+fold", NULL, warp, HEAD, bodies[0].body, in);
    ck_assert(holds > 5 && holds < 27);
    ck_assert_double_eq(stat(&o, "chain.instructions"), 1);
    ck_assert_double_eq(stat(&o, "chain.folded"), 1);
    ck_assert_double_eq(stat(&o, "op.f32_add"), holds);
    ck_assert_double_eq(stat(&o, "op.f32_mul"), 32 - holds);
    ck_assert_double_eq(stat(&o, "chain.wasted_adds"), 32 - holds);
    ck_assert_double_eq(stat(&o, "chain.wasted_muls"), holds);
    ck_assert_double_eq(stat(&o, "chain.writes_saved"), 2);
    ck_assert_double_eq(stat(&o, "chain.reads_saved"), 4);
    heddle_close(o.h);
    /* one value is computed and the other is a register: separately 2 writes and 4 reads, folded 1 write and 2 reads */
    o = run_floats("spe+fold", NULL, warp, HEAD, bodies[3].body, in);
    ck_assert_double_eq(stat(&o, "chain.writes_saved"), 1);
    ck_assert_double_eq(stat(&o, "chain.reads_saved"), 2);
    heddle_close(o.h);
}
END_TEST

SUITE(mechanisms_fold_select) {
    TEST_LOOP(selections_are_folded, 0, sizeof bodies / sizeof bodies[0]);
    TEST(each_lane_has_its_own);
    TEST(selections_are_counted);
}
