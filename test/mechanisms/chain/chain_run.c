/* Tests timing and results of chains: cycle counts computed by hand, statistics, and results without intermediate
 * rounding. */
#include "test/timing/sm/float_rig.h"

enum { LANES = 32 };

/* Runs a kernel in one warp. Before the body, %f1 = in[tid], %f2 = in[32 + tid], %f3 = in[64 + tid], and %p1 = (tid <
 * 7). After the body, %f7, %f8 and %f9 are stored. An f32 addition takes 3 cycles, as in the paper. */
static struct outcome run_body(const char *model, const char *const *more, const char *body, const float *in) {
    static const char kernel[] =
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"
        ".reg .pred %%p<3>; .reg .b32 %%r<3>; .reg .b64 %%d<4>; .reg .f32 %%f<30>;\n"
        "ld.param.u64 %%d1, [out];\nld.param.u64 %%d2, [in];\nmov.u32 %%r1, %%tid.x;\n"
        "mad.wide.u32 %%d1, %%r1, 4, %%d1;\nmad.wide.u32 %%d2, %%r1, 4, %%d2;\n"
        "ld.global.f32 %%f1, [%%d2];\nld.global.f32 %%f2, [%%d2+128];\nld.global.f32 %%f3, [%%d2+256];\n"
        "setp.lt.u32 %%p1, %%r1, 7;\n%s\nst.global.f32 [%%d1], %%f7;\nst.global.f32 [%%d1+128], %%f8;\n"
        "st.global.f32 [%%d1+256], %%f9;\nret;\n}\n";
    const char *set[16] = {"latency.f32_add=3", "latency.f32_mul=3", "latency.f32_fma=5"};
    for (int n = 0; more && more[n]; n++)
        set[3 + n] = more[n];
    return run_floats(model, set, (struct heddle_dim){LANES, 1, 1}, kernel, body, in);
}

static void fill(float in[3 * LANES]) {
    for (int i = 0; i < 3 * LANES; i++)
        in[i] = (float)(i % 17) * 0.37f - 2 + (float)i;
}

static double cycles(const char *model, const char *const *set, const char *body) {
    float in[3 * LANES];
    fill(in);
    return cycles_of(run_body(model, set, body, in));
}

/* Writes n operations on %f7: two additions, a multiplication, and so on. Each depends on the previous one. Each
 * instruction, chain or not, reads two registers. */
static void additions(char *body, size_t size, int n) {
    int at = 0;
    for (int i = 1; i <= n; i++)
        at += snprintf(body + at, size - (size_t)at, "%s.f32 %%f7, %s, %%f2;\n", i % 3 ? "add" : "mul",
                       i == 1 ? "%f1" : "%f7");
}

/* A chain of n operations of 3 cycles takes 2n + 1 cycles, which is 2 (n - 1) cycles more than a single, unchained
 * operation. As separate instructions, each further operation takes 9 cycles from issue to issue: latch 1, allocation
 * 1, operands 1, dispatch 1, pipe 3, write-back 2. */
START_TEST(a_chain_of_n_takes_2n_and_1) {
    char one[64], body[512];
    additions(one, sizeof one, 1);
    additions(body, sizeof body, _i);
    const char *const set[] = {"chain.length=6", "chain.dual=off", NULL};
    double single = cycles("spe+chain", set, one), chained = cycles("spe+chain", set, body);
    ck_assert_double_eq(chained - single, 2 * (_i - 1));
    double apart = cycles("spe", NULL, body) - cycles("spe", NULL, one), two;
    additions(body, sizeof body, 2);
    two = cycles("spe", NULL, body) - cycles("spe", NULL, one);
    ck_assert_double_eq(apart, (_i - 1) * two);
    ck_assert_double_eq(two, 9);
}
END_TEST

/* The option chain.latency<n> sets the latency of a chain of n operations. */
START_TEST(latencies_can_be_given) {
    char body[512], set_latency[32];
    additions(body, sizeof body, _i);
    snprintf(set_latency, sizeof set_latency, "chain.latency%d=40", _i);
    const char *const derived[] = {"chain.length=6", "chain.dual=off", NULL};
    const char *const given[] = {"chain.length=6", "chain.dual=off", set_latency, NULL};
    ck_assert_double_eq(cycles("spe+chain", given, body) - cycles("spe+chain", derived, body), 40 - (2 * _i + 1));
}
END_TEST

/* Two parallel chains in one instruction (a pair) take as long as the longer chain. Here the chains have 3 operations
 * and 2 operations. */
START_TEST(pairs_take_the_longer_time) {
    static const char three[] = "add.f32 %f7, %f1, %f2;\nadd.f32 %f7, %f7, %f2;\nmul.f32 %f7, %f7, %f2;\n";
    static const char both[] = "sub.f32 %f8, %f1, %f2;\nmul.f32 %f8, %f8, %f2;\nadd.f32 %f7, %f1, %f2;\n"
                               "add.f32 %f7, %f7, %f2;\nmul.f32 %f7, %f7, %f2;\n";
    ck_assert_double_eq(cycles("spe+chain", NULL, both), cycles("spe+chain", NULL, three));
}
END_TEST

/* A chain reads three operands per cycle. A pair has one more read port, so it reads four. With four operands, a pair
 * takes as long as with three, but a chain takes one cycle longer. */
START_TEST(a_pair_has_a_read_port_more) {
    static const char pair[] = "add.f32 %f7, %f1, %f2;\nmul.f32 %f8, %f3, %f10;\n";
    static const char fewer[] = "add.f32 %f7, %f1, %f2;\nmul.f32 %f8, %f3, %f3;\n";
    static const char four[] = "add.f32 %f7, %f1, %f2;\nmul.f32 %f7, %f7, %f3;\nsub.f32 %f7, %f7, %f10;\n";
    static const char three[] = "add.f32 %f7, %f1, %f2;\nmul.f32 %f7, %f7, %f3;\nsub.f32 %f7, %f7, %f3;\n";
    char text[4][256];
    const char *const bodies[] = {pair, fewer, four, three};
    double n[4];
    for (int i = 0; i < 4; i++) { /* %f10 is ready as early as the other operands */
        snprintf(text[i], sizeof text[i], "ld.global.f32 %%f10, [%%d2+64];\n%s", bodies[i]);
        n[i] = cycles("spe+chain", (const char *const[]){"collector.banks=64", NULL}, text[i]);
    }
    ck_assert_double_eq(n[0], n[1]);
    ck_assert_double_eq(n[2], n[3] + 1);
}
END_TEST

/* Launches a kernel for each chain length n, since each length has its own statistic. */
START_TEST(each_length_has_its_statistic) {
    static const char *const names[] = {"chain.length_1", "chain.length_2", "chain.length_3",
                                        "chain.length_4", "chain.length_5", "chain.length_6"};
    const char *const set[] = {"chain.length=6", "chain.dual=off", NULL};
    float in[3 * LANES];
    char body[512];
    fill(in);
    for (int n = 2; n <= 6; n++) { /* a single operation is not a chain */
        additions(body, sizeof body, n);
        struct outcome o = run_body("spe+chain", set, body, in);
        for (int k = 1; k <= 6; k++)
            ck_assert_msg(stat(&o, names[k - 1]) == (k == n), "%s of %d operations: %g", names[k - 1], n,
                          stat(&o, names[k - 1]));
        heddle_close(o.h);
    }
}
END_TEST

/* Counts that were derived by hand for: a chain of 3 operations, one of which is a product; a chain of fma and add,
 * which has length 3; a pair of two single operations; and a fold of two single operations. */
static const char counted[] = "add.f32 %f4, %f1, %f2;\nmul.f32 %f4, %f4, %f3;\nadd.f32 %f7, %f4, %f1;\n"
                              "fma.rn.f32 %f5, %f1, %f2, %f3;\nadd.f32 %f8, %f5, %f7;\n"
                              "add.f32 %f10, %f8, %f1;\nsub.f32 %f11, %f8, %f2;\nmax.f32 %f8, %f10, %f11;\n"
                              "@!%p1 bra E;\nadd.f32 %f9, %f8, %f1;\nbra J;\nE: mul.f32 %f9, %f8, %f2;\nJ:\n";

START_TEST(everything_is_counted) {
    float in[3 * LANES];
    fill(in);
    struct outcome plain = run_body("spe", NULL, counted, in), o = run_body("spe+chain+fold", NULL, counted, in);
    ck_assert(memcmp(plain.out, o.out, sizeof o.out) == 0);
    static const struct {
        const char *name;
        double value;
    } want[] = {{"chain.instructions", 4},
                {"chain.operations", 10},
                {"chain.length_1", 4},
                {"chain.length_2", 0},
                {"chain.length_3", 2},
                {"chain.pairs", 1},
                {"chain.folded", 1},
                /* additions in the 32 - 7 lanes that keep the product; their results are dropped */
                {"chain.wasted_adds", 32 - 7},
                {"chain.wasted_muls", 7},
                /* both sides of the fold write the same register, so one write is saved */
                {"chain.writes_saved", 2 + 1 + 0 + 1},
                /* registers read: the separate operations read 2+2+2, 3+2, 2+2 and 2+2; the chains read f1 f2 f3, f1 f2
                 * f3 f7, f8 f1 f2, and f8 f1 f2 */
                {"chain.reads_saved", 19 - 13},
                /* operations in lanes: 5 additions in all lanes and one in 7 lanes; one product in all lanes and one in
                 * 25 lanes */
                {"op.f32_add", 5 * 32 + 7},
                {"op.f32_minmax", 32},
                {"op.f32_mul", 32 + 25},
                {"op.f32_fma", 32}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        ck_assert_msg(stat(&o, want[i].name) == want[i].value, "%s is %g, not %g", want[i].name, stat(&o, want[i].name),
                      want[i].value);
    static const char *const same[] = {"op.f32_add", "op.f32_mul", "op.f32_fma", "op.mem"};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(stat(&o, same[i]), stat(&plain, same[i]));
    ck_assert_double_eq(stat(&plain, "chain.instructions"), 0);
    ck_assert_double_eq(stat(&plain, "collector.read_words") - stat(&o, "collector.read_words"), 6);
    ck_assert_double_eq(stat(&plain, "collector.write_words") - stat(&o, "collector.write_words"), 4);
    ck_assert_double_lt(stat(&o, "energy.regfile_joules"), stat(&plain, "energy.regfile_joules"));
    ck_assert_double_gt(stat(&o, "energy.float_joules"),
                        stat(&plain, "energy.float_joules")); /* the dropped additions */
    heddle_close(plain.h);
    heddle_close(o.h);
}
END_TEST

/* If the two sides of a fold write different registers, each lane keeps its value of the register that only the other
 * side writes. */
START_TEST(folded_lanes_keep_what_they_had) {
    float in[3 * LANES];
    fill(in);
    struct outcome o = run_body(_i ? "functional+fold" : "its+fold", NULL,
                                "mov.f32 %f7, 0f3F800000;\nmov.f32 %f8, 0f40000000;\n@!%p1 bra E;\n"
                                "add.f32 %f7, %f1, %f2;\nbra J;\nE: sub.f32 %f8, %f1, %f2;\nJ: mov.f32 %f9, %f7;\n",
                                in);
    for (int l = 0; l < LANES; l++) {
        ck_assert_float_eq(o.out[l], l < 7 ? in[l] + in[LANES + l] : 1);
        ck_assert_float_eq(o.out[LANES + l], l < 7 ? 2 : in[l] - in[LANES + l]);
    }
    heddle_close(o.h);
}
END_TEST

/* 1e8 + 1 - 1e8 is 0 if the first sum is rounded, and 1 if it is not. */
START_TEST(wide_results_are_measured) {
    static const char body[] = "add.f32 %f4, %f1, %f2;\nsub.f32 %f7, %f4, %f1;\nmul.f32 %f5, %f3, %f3;\n"
                               "mul.rz.f32 %f8, %f5, %f3;\n";
    const char *const off[] = {"chain.ieee=off", "chain.dual=off", NULL};
    float in[3 * LANES];
    for (int l = 0; l < LANES; l++) {
        in[l] = l ? (float)l : 1e8f;
        in[LANES + l] = 1;
        in[2 * LANES + l] = 1.1f + (float)l * 0.013f;
    }
    struct outcome exact = run_body("functional+chain", NULL, body, in),
                   wide = run_body(_i ? "spe+chain" : "functional+chain", off, body, in);
    int differ = 0;
    double largest = 0;
    ck_assert_float_eq(exact.out[0], 0);
    ck_assert_float_eq(wide.out[0], 1);
    for (int l = 0; l < LANES; l++) {
        double x = in[2 * LANES + l], cube = x * x * x;
        float want = (float)cube;
        if ((double)want > cube) /* .rz */
            want = nextafterf(want, 0);
        ck_assert_float_eq(wide.out[LANES + l], want);
        for (int k = 0; k < 2; k++) {
            double a = exact.out[k * LANES + l], b = wide.out[k * LANES + l];
            differ += a != b;
            largest = fmax(largest, a == b ? 0 : fabs(a - b) / fmax(fabs(a), fabs(b)));
        }
    }
    ck_assert_double_eq(stat(&wide, "chain.wide_results"), 2 * LANES);
    ck_assert_double_eq(stat(&wide, "chain.wide_differ"), differ);
    ck_assert_int_gt(differ, 1);
    ck_assert_double_eq(stat(&wide, "chain.wide_beyond"), 1);
    ck_assert_double_eq(stat(&wide, "chain.max_relative_error"), largest);
    ck_assert_double_eq(stat(&exact, "chain.wide_results"), 0);
    heddle_close(exact.h);
    heddle_close(wide.h);
}
END_TEST

/* The peak of a pipe is 32 lanes per cycle times the number of operations that one instruction executes per lane. This
 * number is two for an fma. If the model has chains or folds, it is chain.length, but at least two. */
START_TEST(peak_is_that_of_the_longest_chain) {
    static const struct {
        const char *model, *length;
        double operations;
    } of[] = {{"spe", "5", 2}, {"spe+chain", "5", 5}, {"spe+fold", "6", 6}, {"spe+chain+fold", "1", 2}};
    float in[3 * LANES];
    char set[32];
    fill(in);
    snprintf(set, sizeof set, "chain.length=%s", of[_i].length);
    struct outcome o = run_body(of[_i].model, (const char *const[]){set, "initiation.f32_fma=1", NULL},
                                "add.f32 %f7, %f1, %f2;\n", in);
    ck_assert_double_gt(stat(&o, "util.pipe_cycles"), 0);
    ck_assert_double_eq(stat(&o, "util.peak_flops"), stat(&o, "util.pipe_cycles") * 32 * of[_i].operations);
    heddle_close(o.h);
}
END_TEST

/* Three dependent operations of 10 pJ in 32 lanes. In a chain the second and the third cost 4 pJ less. */
START_TEST(later_operations_cost_less) {
    static const char *const set[] = {"energy.f32_add=10", "energy.f32_mul=10", "energy.chained=-4", NULL};
    char body[512];
    float in[3 * LANES];
    fill(in);
    additions(body, sizeof body, 3);
    for (int chain = 0; chain < 2; chain++) {
        struct outcome o = run_body(chain ? "spe+chain" : "spe", set, body, in);
        ck_assert_double_eq(stat(&o, "chain.later_operations"), chain ? 64 : 0);
        ck_assert_double_eq_tol(stat(&o, "energy.float_joules"), 32e-12 * (chain ? 30 - 8 : 30), 1e-18);
        heddle_close(o.h);
    }
}
END_TEST

SUITE(mechanisms_chain_run) {
    TEST(later_operations_cost_less);
    TEST_LOOP(peak_is_that_of_the_longest_chain, 0, 4);
    TEST_LOOP(a_chain_of_n_takes_2n_and_1, 2, 7);
    TEST_LOOP(latencies_can_be_given, 2, 7);
    TEST(pairs_take_the_longer_time);
    TEST(a_pair_has_a_read_port_more);
    TEST(each_length_has_its_statistic);
    TEST(everything_is_counted);
    TEST_LOOP(folded_lanes_keep_what_they_had, 0, 2);
    TEST_LOOP(wide_results_are_measured, 0, 2);
}
