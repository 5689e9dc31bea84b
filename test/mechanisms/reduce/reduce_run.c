/* Tests timing and results of sums over a warp: cycles derived by hand, statistics, and values that depend on the order
 * of the additions. */
#include "test/every_model.h"
#include "test/timing/sm/float_rig.h"

enum { STEPS = 5 };

/* Writes a ladder: five steps, each a shuffle and an addition, that sum %f7 over the lanes of a warp. The sum stays in
 * %f7, so no step copies it to another register. The distances begin with 16 if `from_16` is true, else with 1. */
static int ladder(char *body, size_t size, const char *how, bool from_16, const char *mask) {
    int at = 0;
    bool up = strstr(how, "up") != NULL;
    for (int k = 0; k < STEPS; k++)
        at += snprintf(body + at, size - (size_t)at,
                       "shfl%s.%s.b32 %%f8, %%f7, %d, %d%s%s;\nadd.f32 %%f7, %%f7, %%f8;\n", mask ? ".sync" : "", how,
                       from_16 ? 16 >> k : 1 << k, up ? 0 : 31, mask ? ", " : "", mask ? mask : "");
    return at;
}

/* Runs a kernel. Before the body, f7 = in[tid]; after it, out[tid] = f9. */
static struct outcome run_body(const char *model, struct heddle_dim block, const char *body, const float in[FLOATS]) {
    static const char kernel[] =
        ".version 7.0 .target sm_60 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"
        ".reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .f32 %%f<30>;\n"
        "ld.param.u64 %%d1, [out];\nld.param.u64 %%d2, [in];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%tid.y;\n"
        "mov.u32 %%r3, %%ntid.x;\nmad.lo.u32 %%r4, %%r2, %%r3, %%r1;\nmul.wide.u32 %%d3, %%r4, 4;\n"
        "add.u64 %%d1, %%d1, %%d3;\nadd.u64 %%d2, %%d2, %%d3;\nld.global.f32 %%f7, [%%d2];\n"
        "mov.f32 %%f9, 0f00000000;\n%s\nst.global.f32 [%%d1], %%f9;\nret;\n}\n";
    static const char *const set[] = {"latency.f32_add=3", "latency.shfl=7", NULL};
    return run_floats(model, set, block, kernel, body, in);
}

/* Fills in numbers whose sum depends on the order of the additions. */
static void fill(float in[FLOATS]) {
    for (int i = 0; i < FLOATS; i++)
        in[i] = ldexpf((float)(i * 37 % 101) - 50.3f, i * 7 % 29 - 14);
}

/* Computes the result of the ladder in plain C. */
static void expect(const float in[32], float out[32], const char *how, bool from_16) {
    float now[32], other[32];
    memcpy(now, in, sizeof now);
    for (int k = 0; k < STEPS; k++) {
        int d = from_16 ? 16 >> k : 1 << k;
        for (int l = 0; l < 32; l++) {
            int from = how[0] == 'b' ? l ^ d : how[0] == 'd' ? l + d : l - d;
            other[l] = from >= 0 && from < 32 ? now[from] : now[l];
        }
        for (int l = 0; l < 32; l++)
            now[l] += other[l];
    }
    memcpy(out, now, sizeof now);
}

#define ONLY(lane) "mov.u32 %r5, %laneid;\nsetp.eq.u32 %p1, %r5, " #lane ";\n@%p1 "
#define SUM        "mov.f32 %f9, %f7;\n"

static const struct {
    const char *how, *mask;
    bool from_16;
    int lane; /* 32: all lanes */
    const char *use;
} forms[] = {
    {"bfly", "-1", true, 32, SUM},         {"bfly", "-1", false, 32, SUM},        {"bfly", NULL, true, 32, SUM},
    {"down", "-1", true, 0, ONLY(0) SUM},  {"down", NULL, false, 0, ONLY(0) SUM}, {"up", "-1", true, 31, ONLY(31) SUM},
    {"up", "-1", false, 31, ONLY(31) SUM},
};

/* Models: each base model with the reduction tree (extension reduce), and the tree together with other extensions. */
static const char *const with_tree[] = {"functional+reduce", "spe+dac+reduce", "its+chain+fold+reduce"};
static int reducing(void) { return base_models()->n + (int)(sizeof with_tree / sizeof with_tree[0]); }
static const char *reducing_model(int i) {
    int bases = base_models()->n;
    return i < bases ? bases_with("+reduce")->name[i] : with_tree[i - bases];
}

/* Each sum must equal the ladder's sum bit for bit. The order of the distances matters: 16 down to 1 and 1 up to 16
 * give different sums. */
START_TEST(sums_are_the_ladders) {
    float in[FLOATS], want[32], other[32];
    char body[1024];
    fill(in);
    int at = ladder(body, sizeof body, forms[_i].how, forms[_i].from_16, forms[_i].mask);
    snprintf(body + at, sizeof body - (size_t)at, "%s", forms[_i].use);
    expect(in, want, forms[_i].how, forms[_i].from_16);
    expect(in, other, forms[_i].how, !forms[_i].from_16);
    int lane = forms[_i].lane % 32;
    ck_assert_int_ne(memcmp(&want[lane], &other[lane], 4), 0);
    for (int m = 0; m < reducing(); m++) {
        const char *model = reducing_model(m);
        struct outcome o = run_body(model, (struct heddle_dim){32, 1, 1}, body, in);
        for (int l = 0; l < 32; l++)
            if (forms[_i].lane == 32 || forms[_i].lane == l)
                ck_assert_msg(memcmp(&o.out[l], &want[l], 4) == 0, "%s, lane %d: %a, not %a", model, l, o.out[l],
                              want[l]);
        if (model[0] != 'f') {
            ck_assert_double_eq(stat(&o, "reduce.instructions"), 1);
            ck_assert_double_eq(stat(&o, "reduce.fallbacks"), 0);
            /* one instruction replaces five shuffles and five additions */
            ck_assert_double_eq(stat(&o, "reduce.instructions_saved"), 9);
            ck_assert_double_eq(stat(&o, "op.f32_add"), 31); /* the tree adds 32 values with 31 additions */
            ck_assert_double_eq(stat(&o, "op.shfl"), 0);
        }
        heddle_close(o.h);
    }
}
END_TEST

static double cycles(const char *model, struct heddle_dim block, const char *body) {
    float in[FLOATS];
    fill(in);
    return cycles_of(run_body(model, block, body, in));
}

/* The tree takes five additions of 3 cycles each, which is 12 cycles more than one addition. */
START_TEST(the_tree_takes_five_additions) {
    char body[1024];
    const struct heddle_dim warp = {32, 1, 1};
    int at = ladder(body, sizeof body, "bfly", true, "-1");
    snprintf(body + at, sizeof body - (size_t)at, "%s", SUM);
    ck_assert_double_eq(cycles("spe+reduce", warp, body) - cycles("spe+reduce", warp, "add.f32 %f7, %f7, %f7;\n" SUM),
                        5 * 3 - 3);
}
END_TEST

/* A CTA of 16 threads is half a warp, so the tree is not used. The instruction then takes as long as the ladder: 5
 * shuffles of 7 cycles, 5 additions of 3 cycles, and, between each two of these 10 instructions, the cycles from a
 * result to the next operands. */
START_TEST(half_a_warp_costs_as_much_as_the_ladder) {
    char body[1024];
    float in[FLOATS];
    const struct heddle_dim half = {16, 1, 1};
    fill(in);
    int at = ladder(body, sizeof body, "bfly", true, "-1");
    snprintf(body + at, sizeof body - (size_t)at, "%s", SUM);
    struct outcome with = run_body("spe+reduce", half, body, in), without = run_body("spe", half, body, in);
    ck_assert_int_eq(memcmp(with.out, without.out, 16 * sizeof(float)), 0);
    ck_assert_double_eq(stat(&with, "reduce.fallbacks"), 1);
    ck_assert_double_eq(stat(&with, "reduce.instructions_saved"), 0);
    ck_assert_double_eq(stat(&with, "op.f32_add"), 5 * 16);
    ck_assert_double_eq(stat(&with, "op.shfl"), 5 * 16);
    ck_assert_double_eq(stat(&with, "gpu.cycles"), stat(&without, "gpu.cycles"));
    heddle_close(with.h);
    heddle_close(without.h);
}
END_TEST

/* If a CTA is 32 threads wide, "tid.x == 0" is true in lane 0 only. If it is 16 threads wide, the condition is true in
 * lanes 0 and 16. Lane 16 then needs a sum that differs from the sum of lane 0, and the tree cannot compute both. The
 * instruction checks this when it executes. */
START_TEST(the_cta_shape_is_checked) {
    char body[1024];
    float in[FLOATS];
    fill(in);
    int at = ladder(body, sizeof body, "down", true, "-1");
    snprintf(body + at, sizeof body - (size_t)at,
             "setp.eq.u32 %%p1, %%r1, 0;\n@%%p1 "
             "mov.f32 %%f9, %%f7;\n");
    struct heddle_dim row = {32, 1, 1}, rows = {16, 2, 1};
    struct outcome a = run_body("spe+reduce", row, body, in), b = run_body("spe+reduce", rows, body, in),
                   want = run_body("spe", rows, body, in);
    ck_assert_double_eq(stat(&a, "reduce.fallbacks"), 0);
    ck_assert_double_eq(stat(&b, "reduce.fallbacks"), 1);
    ck_assert_int_eq(memcmp(b.out, want.out, 32 * sizeof(float)), 0);
    heddle_close(a.h);
    heddle_close(b.h);
    heddle_close(want.h);
}
END_TEST

/* The member mask is in a register. It contains all lanes, or only the lane's own half of the warp, so that each half
 * computes its own sum. */
START_TEST(masks_are_checked) {
    static const char *const models[] = {"spe+reduce", "its+reduce", "dws+reduce", "functional+reduce"};
    char body[1024], halves[1024];
    float in[FLOATS];
    fill(in);
    int at = snprintf(body, sizeof body,
                      "mov.u32 %%r6, %%laneid;\nsetp.lt.u32 %%p2, %%r6, 16;\n"
                      "selp.b32 %%r6, 0xffff, 0xffff0000, %%p2;\n");
    memcpy(halves, body, sizeof body);
    ladder(halves + at, sizeof halves - (size_t)at, "bfly", false, "%r6");
    strcat(halves, SUM);
    for (int m = 0; m < 4; m++) {
        struct outcome o = run_body(models[m], (struct heddle_dim){32, 1, 1}, halves, in),
                       want = run_body("spe", (struct heddle_dim){32, 1, 1}, halves, in);
        ck_assert_msg(memcmp(o.out, want.out, 32 * sizeof(float)) == 0, "%s", models[m]);
        if (models[m][0] != 'f')
            ck_assert_double_ge(stat(&o, "reduce.fallbacks"), 1);
        heddle_close(o.h);
        heddle_close(want.h);
    }
}
END_TEST

/* ---- in shared memory ---- */

enum { FROM_16 = 1, BARRIERS = 2, PART = 4, WIDE = 8, FORMS = 16 };

/* Writes a kernel body whose first warp stores s[t] = f7, then executes s[t] += s[t + d] for five distances. Then all
 * threads read s[which]. WIDE: through addresses of 64 bits. */
static void tree(char *body, size_t size, int form, int which) {
    const char *s = form & WIDE ? "%w1" : "%r6";
    int at = snprintf(body, size,
                      ".shared .align 4 .b8 s[512];\n.reg .b64 %%w<3>;\n%sst.shared.f32 [%s], %%f7;\n"
                      "bar.sync 0;\nsetp.gt.u32 %%p1, %%r4, 31;\n@%%p1 bra J;\n",
                      form & WIDE ? "mul.wide.u32 %w1, %r1, 4;\nmov.u64 %w2, s;\nadd.s64 %w1, %w2, %w1;\n"
                                  : "shl.b32 %r6, %r1, 2;\nmov.u32 %r7, s;\nadd.u32 %r6, %r6, %r7;\n",
                      s);
    for (int k = 0; k < STEPS; k++) {
        const int distance = 4 * (form & FROM_16 ? 16 >> k : 1 << k);
        if (form & BARRIERS)
            at += snprintf(body + at, size - (size_t)at,
                           "ld.shared.f32 %%f2, [%s+%d];\nadd.f32 %%f7, %%f7, %%f2;\nbar.warp.sync -1;\n"
                           "st.shared.f32 [%s], %%f7;\nbar.warp.sync -1;\n",
                           s, distance, s);
        else
            at += snprintf(body + at, size - (size_t)at,
                           "ld.volatile.shared.f32 %%f1, [%s];\nld.volatile.shared.f32 %%f2, [%s+%d];\n"
                           "add.f32 %%f3, %%f2, %%f1;\nst.volatile.shared.f32 [%s], %%f3;\n",
                           s, s, distance, s);
    }
    snprintf(body + at, size - (size_t)at, "J: bar.sync 0;\nld.shared.f32 %%f9, [%s+%d];\n", form & WIDE ? "%w2" : "s",
             4 * which);
}

/* Returns word `which` of shared memory after `threads` threads have executed the steps. */
static float tree_sum(const float in[FLOATS], int threads, bool from_16, int which) {
    float s[128] = {0}, sum[32];
    int lanes = threads < 32 ? threads : 32;
    memcpy(s, in, (size_t)threads * sizeof *s);
    for (int k = 0; k < STEPS; k++) {
        for (int l = 0; l < lanes; l++)
            sum[l] = s[l + (from_16 ? 16 >> k : 1 << k)] + s[l];
        memcpy(s, sum, (size_t)lanes * sizeof *s);
    }
    return s[which];
}

/* The results are the whole sum, or a partial sum that the tree does not compute. They must be equal bit for bit in
 * each model, for one warp, half a warp, and several warps. In CTAs of width 16, two threads store to one word, and the
 * last store counts. So the expected values come from a run of the model without extensions. */
START_TEST(sums_in_shared_memory_are_the_steps) {
    static const struct heddle_dim blocks[] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {16, 1, 1}, {16, 4, 1}};
    const bool from_16 = _i & FROM_16;
    const int which = _i & PART ? 5 : 0;
    char body[4096];
    float in[FLOATS];
    fill(in);
    tree(body, sizeof body, _i, which);
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        struct outcome plain = run_body("spe", blocks[b], body, in);
        int threads = (int)(blocks[b].x * blocks[b].y);
        if (blocks[b].y == 1)
            /* under spe, the program computes the sum that C computes */
            ck_assert(plain.out[0] == tree_sum(in, threads, from_16, which));
        for (int m = 0; m < reducing(); m++) {
            const char *model = reducing_model(m);
            struct outcome o = run_body(model, blocks[b], body, in);
            ck_assert_msg(memcmp(o.out, plain.out, (size_t)threads * sizeof(float)) == 0, "%s, %d threads: %a, not %a",
                          model, threads, o.out[0], plain.out[0]);
            if (model[0] != 'f') {
                bool suits = threads >= 32 && blocks[b].y == 1 && !which;
                ck_assert_double_ge(stat(&o, "reduce.instructions"), 1);
                ck_assert_msg((stat(&o, "reduce.fallbacks") == 0) == suits, "%s, %d threads", model, threads);
                ck_assert(stat(&o, "gpu.warp_instructions") < stat(&plain, "gpu.warp_instructions"));
            }
            heddle_close(o.h);
        }
        heddle_close(plain.h);
    }
}
END_TEST

/* The steps with volatile accesses have 20 instructions. The first load and the last store stay, so the pass removes 18
 * instructions and adds 1. In the steps with warp barriers and registers, the pass removes 5 loads, 5 additions, 4
 * stores and 9 barriers (23 instructions), and adds 1; the last store stays. */
START_TEST(steps_in_shared_memory_are_counted) {
    static const double saved[] = {17, 22};
    float in[FLOATS];
    char body[4096];
    fill(in);
    for (int barriers = 0; barriers < 2; barriers++) {
        tree(body, sizeof body, barriers ? FROM_16 | BARRIERS : FROM_16, 0);
        struct outcome with = run_body("spe+reduce", (struct heddle_dim){32, 1, 1}, body, in),
                       without = run_body("spe", (struct heddle_dim){32, 1, 1}, body, in);
        ck_assert_double_eq(stat(&with, "reduce.instructions_saved"), saved[barriers]);
        ck_assert_double_eq(stat(&without, "gpu.warp_instructions") - stat(&with, "gpu.warp_instructions"),
                            saved[barriers]);
        ck_assert_double_eq(stat(&with, "op.f32_add"), 31);
        ck_assert(stat(&with, "gpu.cycles") < stat(&without, "gpu.cycles"));
        heddle_close(with.h);
        heddle_close(without.h);
    }
}
END_TEST

/* If a step accesses an address outside of shared memory, it must fault in the same way as without the pass. */
START_TEST(a_step_out_of_memory_is_a_fault) {
    char err[512] = "", body[4096], text[8192];
    tree(body, sizeof body, _i ? FROM_16 | WIDE : FROM_16, 0);
    char *size = strstr(body, "s[512]");
    memcpy(size, "s[128]", 6);
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out) {\n"
             ".reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .f32 %%f<30>;\n"
             "ld.param.u64 %%d1, [out];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r4, %%r1;\nmov.f32 %%f7, 0f3F800000;\n%s"
             "st.global.f32 [%%d1], %%f9;\nret;\n}\n",
             body);
    for (int k = 0; k < 2; k++) {
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = k ? "spe+reduce" : "functional+reduce", .config = "tiny"},
                        err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "c.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t to = heddle_alloc(h, 4);
        struct heddle_arg arg = {&to, 8};
        struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
        ck_assert_int_eq(heddle_launch(h, m, "k", one, warp, 0, &arg, 1), HEDDLE_FAULT);
        /* lane 16 reads the word at distance 16, which is word 32, but the array has only 32 words (0 to 31) */
        ck_assert_msg(strstr(heddle_error(h), "lane 16") != NULL, "%s", heddle_error(h));
        heddle_close(h);
    }
}
END_TEST

SUITE(mechanisms_reduce_run) {
    TEST_LOOP(sums_in_shared_memory_are_the_steps, 0, FORMS);
    TEST(steps_in_shared_memory_are_counted);
    TEST_LOOP(a_step_out_of_memory_is_a_fault, 0, 2);
    TEST_LOOP(sums_are_the_ladders, 0, 7);
    TEST(the_tree_takes_five_additions);
    TEST(half_a_warp_costs_as_much_as_the_ladder);
    TEST(the_cta_shape_is_checked);
    TEST(masks_are_checked);
}
