/* Tests sums of words in shared memory that one lane computes in the order of the tree. C code computes the expected
 * values and errors; expected cycles are computed by hand. */
#include "test/every_model.h"
#include "test/timing/sm/float_rig.h"

/* Runs a kernel in which lanes below `lanes` each add n words to in[tid]. The words begin at word `from` after the
 * lane's own word. The kernel runs under `model`, so the additions use the tree or are serial. */
static struct outcome run_sum(const char *model, const char *const *set, int n, int from, int lanes, const char *add,
                              const float in[FLOATS]) {
    static const char kernel[] =
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"
        ".shared .align 16 .b8 s[384]; .reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .f32 %%f<60>;\n"
        "ld.param.u64 %%d1, [out];\nld.param.u64 %%d2, [in];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d3, %%r1, 4;\n"
        "add.u64 %%d1, %%d1, %%d3;\nadd.u64 %%d2, %%d2, %%d3;\nld.global.f32 %%f0, [%%d2];\nmov.u32 %%r2, s;\n"
        "shl.b32 %%r3, %%r1, 2;\nadd.u32 %%r3, %%r3, %%r2;\nst.shared.f32 [%%r3], %%f0;\nbar.sync 0;\n%s"
        "st.global.f32 [%%d1], %%f0;\nret;\n}\n";
    char body[4096];
    int at = snprintf(body, sizeof body, "setp.ge.u32 %%p1, %%r1, %d;\n@%%p1 bra DONE;\n", lanes);
    for (int k = 0; k < n; k++)
        at += snprintf(body + at, sizeof body - (size_t)at, "ld.shared.f32 %%f%d, [%%r3+%d];\n%s %%f0, %%f0, %%f%d;\n",
                       k + 1, 4 * (from + k), add, k + 1);
    snprintf(body + at, sizeof body - (size_t)at, "DONE:\n");
    return run_floats(model, set, (struct heddle_dim){32, 1, 1}, kernel, body, in);
}

/* Fills in numbers whose sum depends on the order of the additions. */
static void fill(float in[FLOATS]) {
    for (int i = 0; i < FLOATS; i++)
        in[i] = ldexpf((float)(i * 37 % 101) - 50.3f, i * 7 % 29 - 14);
}

/* Computes the sum as the tree does: adds neighbours first, by recursion, over the next power of two. Missing values
 * are 0. */
static double tree_of(const float *v, int n, int width) {
    if (width == 1)
        return v[0];
    double left = tree_of(v, n, width / 2);
    return n > width / 2 ? left + tree_of(v + width / 2, n - width / 2, width / 2) : left;
}

static double relative(float have, float want) {
    double size = fmax(fabs((double)have), fabs((double)want));
    return have == want ? 0 : fabs((double)have - (double)want) / size;
}

/* For each number of values: the result must be the tree's sum with a single rounding. Also checks the statistic that
 * reports the difference between this sum and the serial sum. */
START_TEST(sums_are_the_trees) {
    static const char *const wide[] = {"chain.ieee=off", NULL}, *const exact[] = {"chain.ieee=on", NULL};
    float in[FLOATS];
    fill(in);
    int differ = 0;
    for (int n = 4; n <= 32; n++) {
        const float first = in[0];
        float one_by_one = first, tree = (float)(tree_of(in, n, 32) + (double)first);
        for (int k = 0; k < n; k++)
            one_by_one += in[k];
        differ += tree != one_by_one;
        struct outcome o = run_sum("spe+reduce", wide, n, 0, 1, "add.f32", in);
        ck_assert_msg(o.out[0] == tree, "%d values: %a, not %a", n, o.out[0], tree);
        ck_assert_double_eq(stat(&o, "reduce.serial"), 1);
        ck_assert_double_eq(stat(&o, "reduce.fallbacks"), 0);
        ck_assert_double_eq(stat(&o, "reduce.instructions_saved"), 2 * n - 1);
        ck_assert_double_eq(stat(&o, "op.f32_add"), n);
        ck_assert_double_eq(stat(&o, "util.flops"), n);
        ck_assert_double_eq(stat(&o, "chain.wide_results"), 1);
        ck_assert_double_eq(stat(&o, "chain.wide_differ"), tree != one_by_one);
        ck_assert_double_eq(stat(&o, "chain.max_relative_error"), relative(tree, one_by_one));
        heddle_close(o.h);
        o = run_sum("spe+reduce", exact, n, 0, 1, "add.f32", in);
        ck_assert_msg(o.out[0] == one_by_one, "%d values: %a, not %a", n, o.out[0], one_by_one);
        ck_assert_double_eq(stat(&o, "reduce.instructions"), 0);
        heddle_close(o.h);
    }
    ck_assert_int_gt(differ, 5);
}
END_TEST

/* The result depends neither on the model nor on the other lanes. */
START_TEST(sums_do_not_depend_on_the_model) {
    float in[FLOATS], want[32];
    fill(in);
    for (int l = 0; l < 32; l++)
        want[l] = l < 7 ? (float)(tree_of(in + l, 20, 32) + (double)in[l]) : in[l];
    for (int m = 0; m < timed_models()->n; m++) {
        char timed[48], reconv[48];
        snprintf(timed, sizeof timed, "%s+chain+fold+reduce%s", timed_models()->name[m], m % 2 ? "+dac" : "");
        snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[m]);
        for (int k = 0; k < 2; k++) {
            const char *const set[] = {"chain.ieee=off", k ? reconv : NULL, NULL};
            struct outcome o = run_sum(k ? "functional+reduce" : timed, set, 20, 0, 7, "add.f32", in);
            for (int l = 0; l < 32; l++)
                ck_assert_msg(o.out[l] == want[l], "%s: lane %d has %a, not %a", k ? reconv : timed, l, o.out[l],
                              want[l]);
            heddle_close(o.h);
        }
    }
}
END_TEST

/* Subnormal inputs count as 0. The inputs are twenty times 2^-140, and a normal number. */
START_TEST(small_numbers_are_flushed) {
    static const char *const set[] = {"chain.ieee=off", NULL};
    float in[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        in[i] = i == 3 ? 0x1p-126f : 0x1p-140f;
    struct outcome keeps = run_sum("spe+reduce", set, 20, 0, 1, "add.f32", in);
    struct outcome flushes = run_sum("spe+reduce", set, 20, 0, 1, "add.ftz.f32", in);
    ck_assert(keeps.out[0] == 0x1p-126f + 20 * 0x1p-140f);
    ck_assert(flushes.out[0] == 0x1p-126f);
    heddle_close(keeps.h);
    heddle_close(flushes.h);
}
END_TEST

static double cycles(const char *ieee, const char *more, int n, int lanes) {
    const char *const set[] = {"latency.f32_add=3", ieee, more, NULL};
    float in[FLOATS];
    fill(in);
    return cycles_of(run_sum("spe+reduce", set, n, 0, lanes, "add.f32", in));
}

/* The tree takes 3 cycles per level, and one more addition for the start value. 32 values need five levels, 17 values
 * five, 16 values four, and 4 values two. reduce.latency is the latency of the whole tree for any number of values. */
START_TEST(the_tree_takes_its_levels) {
    double base = cycles("chain.ieee=off", NULL, 32, 1);
    ck_assert_double_eq(base - cycles("chain.ieee=off", NULL, 4, 1), 3 * 3);
    ck_assert_double_eq(base - cycles("chain.ieee=off", NULL, 17, 1), 0);
    ck_assert_double_eq(base - cycles("chain.ieee=off", NULL, 16, 1), 3);
    ck_assert_double_eq(cycles("chain.ieee=off", "reduce.latency=100", 32, 1) - base, 100 - 5 * 3);
    ck_assert_double_eq(cycles("chain.ieee=off", "reduce.latency=100", 4, 1) - base, 100 - 5 * 3);
}
END_TEST

/* The tree serves a single lane. If two lanes execute the sum, the SM adds the words one after another. Each addition
 * takes at least 3 cycles, but the whole sum takes no longer than separate instructions (chain.ieee=on). */
START_TEST(two_lanes_add_serially) {
    static const char *const set[] = {"chain.ieee=off", NULL};
    float in[FLOATS];
    fill(in);
    struct outcome o = run_sum("spe+reduce", set, 32, 0, 2, "add.f32", in);
    ck_assert_double_eq(stat(&o, "reduce.serial"), 1);
    ck_assert_double_eq(stat(&o, "reduce.fallbacks"), 1);
    ck_assert_double_eq(stat(&o, "reduce.instructions_saved"), 0);
    ck_assert_double_eq(stat(&o, "op.f32_add"), 64);
    ck_assert_double_eq(stat(&o, "chain.wide_results"), 2);
    heddle_close(o.h);
    /* Single-lane loads execute one after the other, so 16 more loads with additions take longer than the additions
     * alone. */
    double tree = cycles("chain.ieee=off", NULL, 32, 2) - cycles("chain.ieee=off", NULL, 16, 2);
    double alone = cycles("chain.ieee=on", NULL, 32, 2) - cycles("chain.ieee=on", NULL, 16, 2);
    ck_assert_msg(tree >= 16 * 3 && tree <= alone, "16 more take %.0f cycles, by themselves %.0f", tree, alone);
}
END_TEST

/* The array has 16 words. In the first case, the sum reads these words. In the second case, it begins one word later,
 * so its last word is beyond the array. */
START_TEST(a_word_out_of_memory_is_a_fault) {
    char err[512] = "";
    for (int beyond = 0; beyond < 2; beyond++) {
        char text[4096];
        int at = snprintf(text, sizeof text,
                          ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k() {\n"
                          ".shared .align 16 .b8 s[64]; .reg .b32 %%r<9>; .reg .f32 %%f<60>;\nmov.u32 %%r1, s;\n");
        for (int k = 0; k < 16; k++)
            at += snprintf(text + at, sizeof text - (size_t)at,
                           "ld.shared.f32 %%f%d, [%%r1+%d];\nadd.f32 %%f0, %%f0, %%f%d;\n", k + 1, 4 * (k + beyond),
                           k + 1);
        snprintf(text + at, sizeof text - (size_t)at, "st.shared.f32 [s], %%f0;\nret;\n}\n");
        struct heddle *h = heddle_open(&(struct heddle_options){.model = "spe+reduce",
                                                                .config = "tiny",
                                                                .set = (const char *const[]){"chain.ieee=off", NULL}},
                                       err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        enum heddle_status s =
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){1, 1, 1}, 0, NULL, 0);
        ck_assert_int_eq(s, beyond ? HEDDLE_FAULT : HEDDLE_OK);
        ck_assert_msg(!beyond || strstr(heddle_error(h), "k.ptx:36:1"), "%s", heddle_error(h));
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_reduce_serial_run) {
    TEST(sums_are_the_trees);
    TEST(sums_do_not_depend_on_the_model);
    TEST(small_numbers_are_flushed);
    TEST(the_tree_takes_its_levels);
    TEST(two_lanes_add_serially);
    TEST(a_word_out_of_memory_is_a_fault);
}
