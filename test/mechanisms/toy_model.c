/* Runs real kernels under reconvergence models that are not part of heddle (test/toys/solo.c and echo.c), as
 * docs/adding-a-model.md promises. The suite mechanisms_reconv tests that the model solo follows the rules of the
 * interface. */
#include "host/context.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/models.h"
#include "test/toys/passes.h"

static const struct mechanism mechanism_solo = {
    .name = "solo",
    .kind = MECHANISM_BASE,
    .models = (const struct model[]){{"solo", "each lane by itself", &reconv_solo, false, NULL}, {.name = NULL}}};
static const struct mechanism mechanism_echo = {
    .name = "echo",
    .kind = MECHANISM_BASE,
    .models = (const struct model[]){{"echo", "long blocks issue twice", &reconv_echo, false, NULL}, {.name = NULL}}};
static const struct mechanism *const with_toys[] = {&mechanism_spe, &mechanism_solo, &mechanism_echo, NULL};

struct ran {
    uint32_t out[RANDOM_OUT_WORDS];
    double warp_instructions, thread_instructions;
};

static FILE *trace_file; /* trace of the next run(); NULL: none */

static void run(const char *model, const char *reconv, const char *text, const uint32_t *in, uint32_t ctas,
                uint32_t threads, struct ran *r) {
    char err[512];
    struct model_tables tables = {with_toys, NULL};
    struct pass table[MAX_PASSES];
    passes_with(table, &block_lengths, "regalloc");
    const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384", reconv, NULL};
    struct heddle *h = context_open(
        &(struct heddle_options){
            .model = model, .config = "tiny", .set = set, .cycle_limit = 50000000, .trace = trace_file},
        &(struct context_parts){.models = &tables, .passes = table}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, RANDOM_IN_WORDS * 4), dout = heddle_alloc(h, sizeof r->out);
    heddle_write(h, din, in, RANDOM_IN_WORDS * 4);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, dout, r->out, sizeof r->out);
    r->warp_instructions = heddle_stat(h, 0, "gpu.warp_instructions");
    r->thread_instructions = heddle_stat(h, 0, "gpu.thread_instructions");
    heddle_close(h);
}

/* The kernel does not diverge. With the stack, a warp of 32 threads issues its seven instructions 7 times in total. The
 * model solo runs one lane at a time, so it issues them 7 x 32 times. The number of thread instructions is equal. */
START_TEST(each_lane_by_itself) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 in) { .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
        "mov.u32 %r1, %tid.x;\n"
        "ld.param.u64 %d1, [out];\n"
        "mul.wide.u32 %d2, %r1, 4;\n"
        "add.u64 %d1, %d1, %d2;\n"
        "add.u32 %r1, %r1, 5;\n"
        "st.global.u32 [%d1], %r1;\n"
        "ret; }\n";
    static const uint32_t in[RANDOM_IN_WORDS];
    static struct ran stack, solo;
    const char *how = _i ? "reconv=solo" : NULL;
    run(_i ? "functional" : "spe", NULL, text, in, 1, 32, &stack);
    run(_i ? "functional" : "solo", how, text, in, 1, 32, &solo);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(solo.out[t], t + 5);
    ck_assert_double_eq(solo.warp_instructions, 32 * stack.warp_instructions);
    ck_assert_double_eq(solo.thread_instructions, 32 * stack.warp_instructions);
    ck_assert_double_eq(stack.thread_instructions, solo.thread_instructions);
}
END_TEST

static const char three_blocks[] =
    ".version 7.0 .target sm_70 .address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in) { .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\n"
    "setp.gt.u32 %p, %r1, 100;\n@%p bra L;\nadd.u32 %r1, %r1, 5;\nL: st.global.u32 [%d1], %r1;\nret; }\n";

/* The kernel's three blocks have 6 instructions (with the branch), 1 and 2 (st, ret). Each of two warps issues these 9
 * instructions. Under the model echo, the second warp issues the first block once more, without lanes: 2 x 9 + 6 warp
 * instructions. */
START_TEST(a_model_knows_warps_and_facts) {
    static const uint32_t in[RANDOM_IN_WORDS];
    static struct ran r;
    run(_i ? "functional" : "echo", _i ? "reconv=echo" : NULL, three_blocks, in, 1, 64, &r);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(r.out[t], t + 5);
    ck_assert_double_eq(r.warp_instructions, 2 * 9 + 6);
    ck_assert_double_eq(r.thread_instructions, 32 * (2 * 9 - 2)); /* no lane takes the branches */
}
END_TEST

/* In the same kernel, the second warp has a path without lanes once. The level rises to 1 and falls to 0. */
START_TEST(a_model_has_a_curve_in_the_trace) {
    static const uint32_t in[RANDOM_IN_WORDS];
    static struct ran r;
    char line[512], values[16] = "";
    trace_file = tmpfile();
    ck_assert_ptr_nonnull(trace_file);
    run("echo", NULL, three_blocks, in, 1, 64, &r);
    rewind(trace_file);
    while (fgets(line, sizeof line, trace_file)) {
        const char *n = strstr(line, "\"name\":\"" ECHO_LEVEL "\"") ? strstr(line, "\"n\":") : NULL;
        if (n && strlen(values) + 2 < sizeof values)
            strncat(values, n + 4, 1);
    }
    fclose(trace_file);
    trace_file = NULL;
    ck_assert_str_eq(values, "10");
}
END_TEST

START_TEST(random_kernels_end_alike) {
    static struct ran want, got;
    static uint32_t in[RANDOM_IN_WORDS];
    unsigned kind = (unsigned)_i % 4;
    for (uint64_t seed = 9000 + (uint64_t)_i; seed < 9040; seed += 4) {
        char *text = random_kernel(seed, kind);
        random_input(seed, in);
        run("functional", NULL, text, in, RANDOM_CTAS, RANDOM_THREADS, &want);
        run("functional", "reconv=solo", text, in, RANDOM_CTAS, RANDOM_THREADS, &got);
        ck_assert_msg(memcmp(want.out, got.out, sizeof want.out) == 0, "seed %u, functional", (unsigned)seed);
        if (seed < 9004)
            run("solo", NULL, text, in, RANDOM_CTAS, RANDOM_THREADS, &got);
        ck_assert_msg(memcmp(want.out, got.out, sizeof want.out) == 0, "seed %u, in time", (unsigned)seed);
        bool timed = seed / 4 % 2;
        if (seed < 9016)
            run(timed ? "echo" : "functional", timed ? NULL : "reconv=echo", text, in, RANDOM_CTAS, RANDOM_THREADS,
                &got);
        ck_assert_msg(memcmp(want.out, got.out, sizeof want.out) == 0, "seed %u, echo", (unsigned)seed);
        free(text);
    }
}
END_TEST

SUITE(mechanisms_toy_model) {
    TEST_LOOP(each_lane_by_itself, 0, 2);
    TEST_LOOP(a_model_knows_warps_and_facts, 0, 2);
    TEST(a_model_has_a_curve_in_the_trace);
    TEST_LOOP(random_kernels_end_alike, 0, 4);
}
