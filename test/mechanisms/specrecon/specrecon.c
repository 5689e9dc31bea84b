/* Tests speculative reconvergence: issue counts of the paper's two forms, derived by hand, loops that the pass leaves
 * alone, and random kernels. */
#include "host/heddle.h"
#include "test/random/random_kernel.h"
#include "test/test.h"

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"                                \
    ".reg .pred %p, %q; .reg .b32 %r<8>; .reg .b64 %d<3>;\n"                                                           \
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\n"                \
    "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
#define STEP "mad.lo.u32 %r3, %r3, 5, %r1;\n"
#define TAIL "st.global.u32 [%d1], %r3;\nret;\n}\n"

/* Four iterations; in iteration i, the eight lanes with (tid + i) % 4 == 0 execute ten instructions of common code. */
#define DELAY(EXTRA)                                                                                                   \
    HEAD "LOOP: add.u32 %r4, %r1, %r2;\nand.b32 %r4, %r4, 3;\nsetp.ne.u32 %p, %r4, 0;\n@%p bra NEXT;\n" STEP STEP STEP \
        STEP STEP STEP STEP STEP STEP STEP "NEXT: " EXTRA                                                              \
         "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %q, %r2, 4;\n@%q bra LOOP;\n" TAIL
static const char delay[] = DELAY("");

/* Two tasks. The odd lanes execute the inner loop four times, then once; the even lanes once, then four times. */
static const char merge[] =
    HEAD "OUTER: add.u32 %r4, %r1, %r2;\nand.b32 %r4, %r4, 1;\nmad.lo.u32 %r5, %r4, 3, 1;\nmov.u32 %r6, 0;\n"
         "INNER: " STEP STEP STEP STEP STEP STEP "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p, %r6, %r5;\n@%p bra INNER;\n"
         "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %q, %r2, 2;\n@%q bra OUTER;\n" TAIL;

static struct heddle *open_run(const char *model, const char *config, const char *const *set) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", model, err);
    return h;
}

/* Runs a kernel with one warp. Each lane must have executed STEP `steps` times. */
static struct heddle *run(const char *model, const char *const *set, const char *text, int steps) {
    uint32_t mem[32];
    struct heddle *h = open_run(model, "fermi", set);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof mem);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, p, mem, sizeof mem);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t want = 0;
        for (int i = 0; i < steps; i++)
            want = want * 5 + t;
        ck_assert_uint_eq(mem[t], want);
    }
    return h;
}

static double stat(const struct heddle *h, const char *name) { return heddle_stat(h, -1, name); }

/* Instructions: entry 6, head of the loop 4, common code 10, rest of the loop 3, end 2.
 * - its: each iteration executes the common code for 8 lanes: 6 + 4 x (4 + 10 + 3) + 2 = 76.
 * - specrecon: in each iteration, 8 lanes wait at the common code, and the other lanes continue. So the head first
 *   issues 4 times, for 32, 24, 16 and 8 lanes, and the rest 3 times, for 24, 16 and 8 lanes. Then all lanes execute
 *   the common code together. After it, the rest issues 4 times, for 32, 24, 16 and 8 lanes, and the head 3 times in
 *   between: 6 + (4 + 3) x 4 + 10 + (3 + 4) x 3 + 2 = 67. */
START_TEST(iterations_are_delayed) {
    struct heddle *h = run("its", NULL, delay, 10);
    ck_assert_double_eq(stat(h, "gpu.warp_instructions"), 76);
    heddle_close(h);
    h = run("its+specrecon", NULL, delay, 10);
    ck_assert_double_eq(stat(h, "gpu.warp_instructions"), 67);
    ck_assert_double_eq(stat(h, "specrecon.delays"), 1);
    ck_assert_double_eq(stat(h, "specrecon.merged_loops"), 0);
    /* gathering replaces the barrier of the branch in the loop */
    ck_assert_double_eq(stat(h, "specrecon.cancelled"), 1);
    heddle_close(h);
}
END_TEST

/* The kernel `delay` with reconv.first=fallthrough: lanes A (tid % 4 = 0), D, C and B reach the common code in
 * iterations 0, 1, 2 and 3, and wait there.
 * - 25 lanes: all gather, 67 as above.
 * - 16 lanes: D finds A at the barrier, and both execute the common code. C and B follow as the second pair. Before the
 *   pairs gather, the head issues 4 times and the rest 3 times. After the common code, A and D issue the rest 4 times
 *   and the head 3 times, C and B the rest 2 times and the head once:
 *   6 + (4 + 3 + 1) x 4 + 2 x 10 + (3 + 4 + 2) x 3 + 2 = 87.
 * - 24 lanes: A, D and C gather, and B comes alone, because the others have left the loop. The common code and the rest
 *   after it issue once more: 67 + 10 + 3 = 80. */
START_TEST(enough_lanes_open_a_soft_barrier) {
    static const struct {
        const char *threshold;
        double instructions;
    } row[] = {{"specrecon.threshold=0", 67},
               {"specrecon.threshold=25", 67},
               {"specrecon.threshold=24", 80},
               {"specrecon.threshold=16", 87}};
    const char *const set[] = {"reconv.first=fallthrough", row[_i].threshold, NULL};
    struct heddle *h = run("its+specrecon", set, delay, 10);
    ck_assert_double_eq(stat(h, "gpu.warp_instructions"), row[_i].instructions);
    heddle_close(h);
}
END_TEST

/* Instructions: entry 6, head of the outer loop 4, inner loop 9, rest of the outer loop 3, end 2.
 * - its: in each of the two tasks, the inner loop has four iterations. Half of the lanes execute only the first one:
 *   6 + 2 x (4 + 4 x 9 + 3) + 2 = 94.
 * - specrecon: the even lanes begin their second task after one iteration of the inner loop, and the odd lanes after
 *   four iterations. So the inner loop has five iterations, all of them with all lanes. The head issues three times
 *   (for all, even and odd lanes), and the rest three times (for even, odd and all lanes): 6 + 3 x 4 + 5 x 9 + 3 x 3 +
 *   2 = 74. */
START_TEST(inner_loops_merge) {
    struct heddle *h = run("its", NULL, merge, 30);
    ck_assert_double_eq(stat(h, "gpu.warp_instructions"), 94);
    heddle_close(h);
    h = run("its+specrecon", NULL, merge, 30);
    ck_assert_double_eq(stat(h, "gpu.warp_instructions"), 74);
    ck_assert_double_eq(stat(h, "specrecon.merged_loops"), 1);
    ck_assert_double_eq(stat(h, "specrecon.delays"), 0);
    heddle_close(h);
}
END_TEST

/* The pass leaves a loop unchanged in these cases:
 * - The code outside the common code is too long for specrecon.ratio. Here the common code has 10 instructions and the
 *   other code counts as 8, so the ratio is 1.25.
 * - The loop has a CTA barrier, at which threads would wait for threads that gather.
 * - The loop has a shuffle, which threads execute together.
 * - specrecon.line names a line outside the common code. */
START_TEST(loops_that_stay) {
    static const struct {
        const char *text, *set[2];
        double delays;
    } row[] = {
        {delay, {"specrecon.ratio=1.3", NULL}, 0}, {delay, {"specrecon.ratio=1.2", NULL}, 1},
        {DELAY("bar.sync 0;\n"), {NULL}, 0},       {DELAY("shfl.sync.idx.b32 %r7, %r3, 0, 31, -1;\n"), {NULL}, 0},
        {DELAY("mov.u32 %r7, 0;\n"), {NULL}, 1},   {delay, {"specrecon.line=8", NULL}, 0},
        {delay, {"specrecon.line=15", NULL}, 1}};
    struct heddle *h = run("its+specrecon", row[_i].set, row[_i].text, 10);
    ck_assert_double_eq(stat(h, "specrecon.delays"), row[_i].delays);
    heddle_close(h);
}
END_TEST

/* The inner loop has 9 instructions; the rest counts 1 + 4 + 3. With one assumed iteration, the ratio is 9 / 8; with
 * eight, it is 9. */
START_TEST(assumed_iterations_weigh_inner_loops) {
    static const char *const sets[][3] = {{"specrecon.ratio=1.2", "specrecon.trips=1", NULL},
                                          {"specrecon.ratio=1.1", "specrecon.trips=1", NULL},
                                          {"specrecon.ratio=8.9", NULL},
                                          {"specrecon.ratio=9.1", NULL}};
    struct heddle *h = run("its+specrecon", sets[_i], merge, 30);
    ck_assert_double_eq(stat(h, "specrecon.merged_loops"), _i == 1 || _i == 2);
    heddle_close(h);
}
END_TEST

START_TEST(other_bases_refuse) {
    static const char *const models[] = {"spe+specrecon", "dpe+specrecon", "functional+specrecon"};
    char err[512];
    ck_assert(!heddle_open(&(struct heddle_options){.model = models[_i], .config = "fermi"}, err, sizeof err));
    ck_assert_msg(strstr(err, "'specrecon' places convergence barriers; take a base that has them") != NULL, "%s", err);
}
END_TEST

/* Random kernels leave the same memory, wherever threads may gather. */
START_TEST(random_kernels_end_alike) {
    static const char *const models[] = {"functional", "its+specrecon", "si+dac+specrecon"};
    static uint32_t in[RANDOM_IN_WORDS], out[2][RANDOM_OUT_WORDS];
    const char *const set[] = {"specrecon.ratio=0", "sm.registers=65536", "sm.shared_bytes=16384",
                               _i % 3 ? "specrecon.threshold=5" : NULL, NULL};
    uint64_t seed = 300 + (uint64_t)_i;
    char *text = random_kernel(seed, _i % 4 == 3 ? RANDOM_RICH : _i % 2 ? RANDOM_LEAVERS : 0);
    random_input(seed, in);
    for (int k = 0; k < 3; k++) {
        struct heddle *h = open_run(models[k], "tiny", k ? set : NULL);
        struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof out[0]);
        heddle_write(h, din, in, sizeof in);
        struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
        ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                    (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                      "seed %d, %s: %s", (int)seed, models[k], heddle_error(h));
        heddle_read(h, dout, out[k > 0], sizeof out[0]);
        ck_assert_msg(!k || memcmp(out[0], out[1], sizeof out[0]) == 0, "seed %d, %s", (int)seed, models[k]);
        heddle_close(h);
    }
    free(text);
}
END_TEST

SUITE(mechanisms_specrecon) {
    TEST(iterations_are_delayed);
    TEST(inner_loops_merge);
    TEST_LOOP(enough_lanes_open_a_soft_barrier, 0, 4);
    TEST_LOOP(loops_that_stay, 0, 7);
    TEST_LOOP(assumed_iterations_weigh_inner_loops, 0, 4);
    TEST_LOOP(other_bases_refuse, 0, 3);
    TEST_LOOP(random_kernels_end_alike, 0, 24);
}
