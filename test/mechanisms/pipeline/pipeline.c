/* Tests software pipelining: initiation intervals derived by hand, the reasons why loops are not pipelined, and results
 * of pipelined loops. The results must equal those of the same loops without pipelining, for 0 to 20 iterations, which
 * are equal in all lanes or differ by lane. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { LANES = 32, IN = 2048, OUT = 4096, MOST = 20 };

/* Registers before the loop:
 * - %r1: tid.x
 * - %r2: number of iterations, which is n, or 0 to 20 by lane if n > 20; if it is 0, the loop is skipped
 * - %d1: the lane's part of `out` (128 words), at its ninth word, so that the loop may access words before %d1
 * - %d2: the lane's part of `in` (64 words)
 * - %d3: %d1 + 4, which the compiler cannot know
 * - %r3: 0; the loop counts in it
 * After the loop, %f1, %f2 and %r4 are stored. */
static char *kernel(const char *loop) {
    char *text = malloc(8192);
    ck_assert(text != NULL);
    snprintf(text, 8192,
             ".version 7.0 .target sm_70 .address_size 64\n"
             ".func (.reg .f32 %%o) twice(.reg .f32 %%i) { add.f32 %%o, %%i, %%i; ret; }\n"
             ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 near, .param .u32 n) {\n"
             ".shared .align 8 .b8 s[16384]; .reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%d<20>;\n"
             ".reg .f32 %%f<40>; .reg .f64 %%g<9>;\n"
             "ld.param.u64 %%d1, [out]; ld.param.u64 %%d2, [in]; ld.param.u64 %%d3, [near]; ld.param.u32 %%r2, [n];\n"
             "mov.u32 %%r1, %%tid.x; mad.wide.u32 %%d1, %%r1, 512, %%d1; mad.wide.u32 %%d2, %%r1, 256, %%d2;\n"
             "mad.wide.u32 %%d3, %%r1, 512, %%d3; add.s64 %%d1, %%d1, 32; add.s64 %%d3, %%d3, 36;\n"
             "setp.gt.u32 %%p1, %%r2, 20; mul.lo.u32 %%r5, %%r1, 8; rem.u32 %%r5, %%r5, 21;\n"
             "selp.b32 %%r2, %%r5, %%r2, %%p1; mul.lo.u32 %%r6, %%r1, 512; mov.u32 %%r7, s; add.u32 %%r6, %%r6, %%r7;\n"
             "mov.u64 %%d10, %%d1; cvt.rn.f32.u32 %%f1, %%r1; mov.f32 %%f2, 0f3F000000; mov.f32 %%f3, 0f3FA00000;\n"
             "mov.f32 %%f4, 0f3F800000; mov.u32 %%r3, 0; mov.u32 %%r4, 7; setp.eq.u32 %%p1, %%r2, 0; @%%p1 bra DONE;\n"
             "LOOP:\n%sDONE:\nst.global.f32 [%%d10-32], %%f1; st.global.f32 [%%d10-28], %%f2;\n"
             "st.global.u32 [%%d10-24], %%r4; ret;\n}\n",
             loop);
    return text;
}

/* The end of a loop that runs %r2 iterations. */
#define ROUND "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r2;\n@%p2 bra LOOP;\n"

#define ROUND_TEXT "add.u32 %%r3, %%r3, 1;\nsetp.lt.u32 %%p2, %%r3, %%r2;\n@%%p2 bra LOOP;\n"

struct machine {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t out, in;
};

static struct machine begin(const char *model, const char *const *set, bool pipelined, const char *loop) {
    char err[512] = "", *text = kernel(loop);
    const char *all[16] = {pipelined ? "pepsc.pipeline=on" : "pepsc.pipeline=off", "sm.shared_bytes=16384"};
    for (int i = 0; set && set[i]; i++)
        all[2 + i] = set[i];
    struct machine x = {
        .h = heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = all}, err, sizeof err)};
    ck_assert_msg(x.h != NULL, "%s", err);
    x.m = heddle_module_text(x.h, "p.ptx", text, strlen(text));
    ck_assert_msg(x.m != NULL, "%s\n%s", heddle_error(x.h), text);
    free(text);
    x.out = heddle_alloc(x.h, OUT * 4);
    x.in = heddle_alloc(x.h, IN * 4);
    return x;
}

static void run(struct machine *x, uint32_t n, uint32_t *out) {
    uint32_t in[IN];
    uint64_t state = 5;
    for (int i = 0; i < IN; i++) {
        float f = (float)test_random_below(&state, 1000) * 0.013f - 3;
        memcpy(&in[i], &f, 4);
    }
    for (int i = 0; i < OUT; i++) {
        float f = (float)(i % 37) * 0.25f;
        memcpy(&out[i], &f, 4);
    }
    ck_assert_int_eq(heddle_write(x->h, x->in, in, sizeof in), HEDDLE_OK);
    ck_assert_int_eq(heddle_write(x->h, x->out, out, OUT * 4), HEDDLE_OK);
    uint64_t near = x->out;
    struct heddle_arg args[] = {{&x->out, 8}, {&x->in, 8}, {&near, 8}, {&n, 4}};
    ck_assert_msg(heddle_launch(x->h, x->m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){LANES, 1, 1}, 0,
                                args, 4) == HEDDLE_OK,
                  "%s", heddle_error(x->h));
    ck_assert_int_eq(heddle_read(x->h, x->out, out, OUT * 4), HEDDLE_OK);
}

static char *show(struct machine *x) {
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(x->h, x->m, "k", "pipeline", f) == HEDDLE_OK, "%s", heddle_error(x->h));
    fclose(f);
    return shown;
}

/* ---- by hand ---- */

/* Latencies: two cycles pass from issue to the pipe. In the pipe an integer operation takes 1 cycle, and an f32
 * operation 2 cycles. A load counts as 12 cycles in total. So an instruction issues 3, 4 or 12 cycles after the integer
 * operation, f32 operation or load on which it depends.
 * Names of instructions in the comments below: "count" adds 1 to %r3, "compare" and "branch" end the loop (these three
 * are the macro ROUND), "address" moves a pointer, "sum" and "product" are the f32 operations. */
#define BY_HAND                                                                                                        \
    "latency.int_add=1", "latency.int_other=1", "latency.f32_add=2", "latency.f32_mul=2", "latency.f32_fma=2",         \
        "pepsc.pipeline_load=12"

static const struct {
    const char *what, *set[2], *loop, *want;
} notes[] = {
    /* The loop has 6 instructions. The count takes 3 cycles and the compare 3, so the branch is at cycle 6 at the
     * earliest, and the interval is 7.
     * - Issue cycles without pipelining: load 0, address 1, sum 12, count 13, compare 16, branch 19, so 20 cycles.
     * - Issue cycles with interval 7: count 0, compare 3, branch 6, and the load at 1, 2, 4 or 5. The sum is at least
     *   12 cycles after the load, at 13 to 17, which is the third stage. */
    {"a sum",
     {NULL},
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f1, %f1, %f5;\n" ROUND,
     "pipelined: an iteration every 7 cycles, in order 7.0 in place of 20.0; at least 6 by its 6 instructions, 7 by "
     "recurrences; 3 stages"},
    /* Four dependent operations of 4 cycles each are 16 cycles from iteration to iteration. Issue cycles without
     * pipelining: fourth operation 12, count 13, compare 16, branch 19, so 20 cycles. With an interval of 16, the loop
     * has one stage. */
    {"a recurrence",
     {NULL},
     "add.f32 %f1, %f1, %f3;\nmul.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f4;\nmul.f32 %f1, %f1, %f3;\n" ROUND,
     "pipelined: an iteration every 16 cycles, in order 16.0 in place of 20.0; at least 7 by its 7 instructions, 16 by "
     "recurrences; 1 stage,"},
    /* The same operations, but the count and the compare are between them. Issue cycles: count 0, operations 1 and 5,
     * compare 6, operations 9 and 13, branch 14. In the next iteration the count is at 15, and the first operation at
     * 17 = 13 + 4. So the loop already takes 16 cycles without pipelining. */
    {"a recurrence that nothing can shorten",
     {NULL},
     "add.u32 %r3, %r3, 1;\nadd.f32 %f1, %f1, %f3;\nmul.f32 %f1, %f1, %f2;\nsetp.lt.u32 %p2, %r3, %r2;\n"
     "add.f32 %f1, %f1, %f4;\nmul.f32 %f1, %f1, %f3;\n@%p2 bra LOOP;\n",
     "left alone: it takes as long in order: 16.0 cycles an iteration; at least 7 by its 7 instructions, 16 by "
     "recurrences"},
    /* %f6 = %f1 * c becomes %f2 in the next iteration, and %f1 in the iteration after that. The product takes 4 cycles,
     * and each of two moves 3. These are 10 cycles over two iterations, so 5 per iteration. The path to the branch
     * takes 7 cycles. The loop has 10 instructions, so the interval is 10. */
    {"what was two iterations before",
     {NULL},
     "ld.global.f32 %f5, [%d2];\nmul.f32 %f6, %f1, %f3;\nmov.f32 %f1, %f2;\nadd.s64 %d2, %d2, 4;\n"
     "add.f32 %f7, %f5, %f6;\nmov.f32 %f2, %f6;\nst.shared.f32 [%r6], %f7;\n" ROUND,
     "pipelined: an iteration every 10 cycles, in order 10.0 in place of 24.0; at least 10 by its 10 instructions, 7 "
     "by "
     "recurrences"},
    /* The same, but with six products: 6 x 4 cycles and two moves of 3 cycles are 30 cycles over two iterations, so 15
     * per iteration. But an interval of 15 is impossible, because all slots of this cycle of dependences follow from
     * the first. With products at 0, 4, 8, 12, 16, 20 and one move at 24, the other move is at 27, which is the slot of
     * the fourth product: 27 - 15 = 12. So the interval is 16. Issue cycles without pipelining: last product 20, moves
     * 21 and 24, count 25, compare 28, branch 31, so 32 cycles. */
    {"what was two iterations before, and takes long",
     {NULL},
     "mul.f32 %f6, %f1, %f3;\nmul.f32 %f6, %f6, %f3;\nmul.f32 %f6, %f6, %f3;\nmul.f32 %f6, %f6, %f3;\n"
     "mul.f32 %f6, %f6, %f3;\nmul.f32 %f6, %f6, %f3;\nmov.f32 %f1, %f2;\nmov.f32 %f2, %f6;\n" ROUND,
     "pipelined: an iteration every 16 cycles, in order 16.0 in place of 32.0; at least 11 by its 11 instructions, 15 "
     "by "
     "recurrences"},
    /* x[i] = x[i - 2] * c: each load reads the word that was stored two iterations before. The load takes 12 cycles and
     * the product 4, and the next load of the word issues at least 1 cycle after the store. These are 17 cycles over
     * two iterations, so 8.5 per iteration, rounded up to 9. Issue cycles without pipelining: load 0, product 12, store
     * 16, address 17, count 18, compare 21, branch 24, so 25 cycles. */
    {"memory of two iterations before",
     {NULL},
     "ld.global.f32 %f5, [%d1-8];\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1], %f6;\nadd.s64 %d1, %d1, 4;\n" ROUND,
     "pipelined: an iteration every 9 cycles, in order 8.5 in place of 25.0; at least 7 by its 7 instructions, 9 by "
     "recurrences; 3 stages"},
    /* x[i] = x[i - 1] * c: the 17 cycles of the previous case now limit each single iteration. */
    {"memory of the iteration before",
     {NULL},
     "ld.global.f32 %f5, [%d1-4];\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1], %f6;\nadd.s64 %d1, %d1, 4;\n" ROUND,
     "pipelined: an iteration every 17 cycles, in order 17.0 in place of 25.0; at least 7 by its 7 instructions, 17 by "
     "recurrences"},
    /* The store uses another pointer, which may point to the loaded word. So the load must wait for the store of the
     * previous iteration, as without pipelining. */
    {"a pointer that could be the same",
     {NULL},
     "ld.global.f32 %f5, [%d2];\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1], %f6;\nadd.s64 %d1, %d1, 4;\n"
     "add.s64 %d2, %d2, 4;\n" ROUND,
     "at least 8 by its 8 instructions, 17 by recurrences"},
    /* A loop as above, but it stores to shared memory, which cannot overlap global memory. Issue cycles without
     * pipelining: load 0, two addresses, product 12, store 16, count 17, compare 20, branch 23, so 24 cycles. With
     * pipelining: count at 0 or 1, branch at 7. The store is 16 cycles after the load, which is the third stage. */
    {"another space",
     {NULL},
     "ld.global.f32 %f5, [%d2];\nadd.s32 %r8, %r6, 4;\nadd.s64 %d2, %d2, 4;\nmul.f32 %f6, %f5, %f3;\n"
     "st.shared.f32 [%r8], %f6;\n" ROUND,
     "pipelined: an iteration every 8 cycles, in order 8.0 in place of 24.0; at least 8 by its 8 instructions, 7 by "
     "recurrences; 3 stages"},
    {"fewer stages where more are not allowed",
     {"pepsc.pipeline_stages=2"},
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f1, %f1, %f5;\n" ROUND,
     "; 2 stages"},
    {"an atomic", {NULL}, "atom.global.add.u32 %r4, [%d1], 1;\n" ROUND, "is atomic"},
    {"a reduction in memory", {NULL}, "red.global.add.u32 [%d1], 1;\n" ROUND, "is atomic"},
    {"a volatile load",
     {NULL},
     "ld.volatile.global.u32 %r4, [%d1];\n" ROUND,
     "is an access that other threads are meant to see"},
    {"a fence", {NULL}, "membar.gl;\n" ROUND, "orders what threads do"},
    {"a shuffle",
     {NULL},
     "shfl.sync.idx.b32 %r4, %r4, 0, 31, -1;\n" ROUND,
     "is more than an operation or an access of one thread"},
    {"a clock", {NULL}, "mov.u32 %r4, %clock;\n" ROUND, "is more than an operation or an access of one thread"},
    {"no end", {NULL}, "add.u32 %r3, %r3, 1;\nbra LOOP;\n", "left alone: it never ends"},
};
enum { N_NOTES = sizeof notes / sizeof notes[0] };

START_TEST(intervals_and_reasons) {
    const char *const set[] = {BY_HAND, notes[_i].set[0], NULL};
    struct machine x = begin("spe", set, true, notes[_i].loop);
    char *shown = show(&x), *from = strstr(shown, "note: ");
    ck_assert_msg(strstr(shown, notes[_i].want) != NULL, "%s: no '%s' in\n%s", notes[_i].what, notes[_i].want,
                  from ? from : shown);
    free(shown);
    heddle_close(x.h);
}
END_TEST

/* The loop "a sum" above, in the statistics of a launch: interval 7, 3 stages, and two registers more than without
 * pipelining. Two instructions cannot issue in the same cycle modulo 7:
 * - the load is at cycle 1, so the sum is at cycle 13 or later
 * - cycles 13, 14 and 15 are taken by the branch (6), the count (0) and the load (1) of other iterations
 * - so the sum is at 16 or later, when the loads of two more iterations have issued
 * The second loop would not be faster with pipelining. It is a candidate, but is not changed. */
START_TEST(figures_of_a_launch) {
    static const char *const names[] = {"pipeline.candidates", "pipeline.loops", "pipeline.cycles", "pipeline.stages",
                                        "pipeline.registers"};
    static const double want[2][5] = {{1, 1, 7, 3, 2}, {1, 0, 0, 0, 0}};
    const char *const loop[2] = {notes[0].loop,
                                 "add.u32 %r3, %r3, 1;\nadd.f32 %f1, %f1, %f3;\nmul.f32 %f1, %f1, %f2;\n"
                                 "setp.lt.u32 %p2, %r3, %r2;\nadd.f32 %f1, %f1, %f4;\nmul.f32 %f1, %f1, %f3;\n"
                                 "@%p2 bra LOOP;\n"},
                      *const set[] = {BY_HAND, NULL};
    uint32_t out[OUT];
    for (int k = 0; k < 2; k++) {
        struct machine x = begin("spe", set, true, loop[k]);
        run(&x, 5, out);
        for (int i = 0; i < 5; i++)
            ck_assert_msg(heddle_stat(x.h, 0, names[i]) == want[k][i], "%s is %g, not %g", names[i],
                          heddle_stat(x.h, 0, names[i]), want[k][i]);
        heddle_close(x.h);
    }
}
END_TEST

/* With dac, both streams share a loop if the affine stream computes its load and its end. Such a loop is not pipelined.
 * If the end of a loop depends on data, the loop belongs to the kernel's stream alone. */
START_TEST(loops_of_both_streams_are_left_alone) {
    static const char *const first[] = {"mov.u32 %r2, %r4;\n", "ld.global.u32 %r2, [%d3];\n"},
                             *const want[] = {"left alone: the affine stream has this loop, too\n",
                                              "pipelined: an iteration every "};
    for (int k = 0; k < 2; k++) {
        char err[512] = "", text[2048], *shown = NULL;
        size_t size;
        snprintf(
            text, sizeof text,
            ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {\n"
            ".reg .pred %%p<3>; .reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<9>;\nld.param.u64 %%d1, [out];\n"
            "ld.param.u32 %%r4, [n]; mov.u32 %%r1, %%tid.x; mad.wide.u32 %%d2, %%r1, 4, %%d1; mov.u64 %%d3, %%d2;\n"
            "mov.u32 %%r3, 0;\n%sLOOP:\nld.global.f32 %%f5, [%%d2];\nadd.s64 %%d2, %%d2, 128;\n"
            "add.f32 %%f1, %%f1, %%f5;\n" ROUND_TEXT "st.global.f32 [%%d3], %%f1;\nret;\n}\n",
            first[k]);
        struct heddle *h = heddle_open(
            &(struct heddle_options){.model = "spe+dac", .set = (const char *const[]){"pepsc.pipeline=on", NULL}}, err,
            sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "d.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        FILE *f = open_memstream(&shown, &size);
        ck_assert_msg(heddle_listing(h, m, "k", "pipeline", f) == HEDDLE_OK, "%s", heddle_error(h));
        fclose(f);
        ck_assert_msg(strstr(shown, want[k]) != NULL, "no '%s' in\n%s", want[k], shown);
        free(shown);
        heddle_close(h);
    }
}
END_TEST

/* Loops of two blocks, and loops that contain other loops, are no candidates. A call ends a block. */
START_TEST(other_loops_are_no_candidates) {
    static const char *const loops[] = {
        "setp.lt.f32 %p3, %f1, %f2;\n@%p3 bra L;\nadd.f32 %f1, %f1, %f3;\nL: add.f32 %f2, %f2, %f4;\n" ROUND,
        "call (%f1), twice, (%f1);\n" ROUND,
        "bar.sync 0;\n" ROUND,
    };
    for (int k = 0; k < 3; k++) {
        uint32_t out[OUT];
        struct machine x = begin("spe", NULL, true, loops[k]);
        run(&x, 3, out);
        ck_assert_double_eq(heddle_stat(x.h, 0, "pipeline.loops"), 0);
        heddle_close(x.h);
    }
}
END_TEST

static uint32_t registers_of(const char *const *set, bool pipelined, const char *loop, bool *spills, double *loops) {
    uint32_t out[OUT];
    struct heddle_kernel_info info;
    struct machine x = begin("spe", set, pipelined, loop);
    run(&x, 3, out);
    ck_assert_msg(heddle_kernel_info(x.h, x.m, "k", &info) == HEDDLE_OK, "%s", heddle_error(x.h));
    *spills = heddle_stat(x.h, 0, "regs.spill_loads") > 0;
    *loops = heddle_stat(x.h, 0, "pipeline.loops");
    heddle_close(x.h);
    return info.registers;
}

/* In the pipelined loop, three values of different iterations are in flight, and the loop has the most live registers
 * of the kernel. Without a register limit, the number of live registers grows by the number in the statistic. If the
 * limit is above the number without pipelining but below the number with pipelining, the loop gets fewer stages, and no
 * register is spilled. */
START_TEST(a_register_limit_reduces_stages) {
    static const char loop[] =
        "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f6, %f5, %f3;\nmul.f32 %f7, %f6, %f5;\n"
        "add.f32 %f8, %f7, %f5;\nmul.f32 %f9, %f8, %f5;\nsub.f32 %f2, %f9, %f5;\nadd.f32 %f1, %f1, %f2;\n" ROUND;
    bool spills;
    double loops;
    uint32_t plain = registers_of((const char *const[]){BY_HAND, NULL}, false, loop, &spills, &loops);
    uint32_t most = registers_of((const char *const[]){BY_HAND, NULL}, true, loop, &spills, &loops), last = 0;
    ck_assert_msg(most > plain + 1, "%u and %u registers", plain, most);
    for (uint32_t max = plain; max <= most; max++) {
        char limit[32];
        snprintf(limit, sizeof limit, "regs.max=%u", max);
        uint32_t n = registers_of((const char *const[]){BY_HAND, limit, NULL}, true, loop, &spills, &loops);
        ck_assert_msg(n <= max && n >= last && !spills && (max < most || loops == 1), "%s: %u registers", limit, n);
        last = n;
    }
    ck_assert_uint_eq(last, most);
}
END_TEST

START_TEST(it_is_an_option) {
    struct machine x = begin("spe", NULL, false, "add.f32 %f1, %f1, %f2;\n" ROUND);
    char *shown = show(&x);
    ck_assert_str_eq(shown, "pass 'pipeline' is for machines with software pipelining (pepsc.pipeline); model 'spe' "
                            "does without\n");
    free(shown);
    heddle_close(x.h);
}
END_TEST

/* ---- comparison with loops that are not pipelined ---- */

static const struct {
    const char *what, *loop;
    const char *set[3];
} loops[] = {
    {"a sum", "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f1, %f1, %f5;\n" ROUND, {NULL}},
    {"each is stored, where it is known to be apart",
     "ld.global.f32 %f5, [%d1+256];\nfma.rn.f32 %f1, %f1, %f2, %f5;\nst.global.f32 [%d1], %f1;\nadd.s64 %d1, %d1, "
     "4;\n" ROUND,
     {NULL}},
    {"distance 2 in registers",
     "ld.global.f32 %f5, [%d2];\nmul.f32 %f6, %f1, %f3;\nmov.f32 %f1, %f2;\nadd.s64 %d2, %d2, 4;\n"
     "add.f32 %f7, %f5, %f6;\nmov.f32 %f2, %f7;\nst.shared.f32 [%r6], %f7;\nld.shared.u32 %r4, [%r6];\n" ROUND,
     {NULL}},
    {"distance 1 in memory, forward",
     "ld.global.f32 %f5, [%d1+4];\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1], %f6;\nadd.s64 %d1, %d1, 4;\n" ROUND,
     {NULL}},
    {"distance 2 in memory",
     "ld.global.f32 %f5, [%d1-8];\nmul.f32 %f6, %f5, %f3;\nadd.f32 %f6, %f6, %f2;\nst.global.f32 [%d1], %f6;\n"
     "add.s64 %d1, %d1, 4;\n" ROUND,
     {NULL}},
    {"distance 3 in memory, by two pointers that are one, and steps on the way",
     "ld.global.f32 %f5, [%d1];\nadd.s64 %d4, %d1, 8;\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d4+4], %f6;\n"
     "add.s64 %d1, %d4, -4;\n" ROUND,
     {NULL}},
    {"two pointers that meet, and nobody knows",
     "ld.global.f32 %f5, [%d1];\nld.global.f32 %f7, [%d2];\nmul.f32 %f6, %f5, %f3;\nadd.f32 %f1, %f1, %f7;\n"
     "st.global.f32 [%d3], %f6;\nadd.s64 %d1, %d1, 4;\nadd.s64 %d2, %d2, 4;\nadd.s64 %d3, %d3, 4;\n" ROUND,
     {NULL}},
    {"parts of words",
     "ld.global.u8 %r4, [%d1-3];\nld.global.f32 %f5, [%d2];\nadd.u32 %r4, %r4, 3;\nst.global.u16 [%d1+2], %r4;\n"
     "add.s64 %d1, %d1, 4;\nadd.s64 %d2, %d2, 4;\nadd.f32 %f1, %f1, %f5;\n" ROUND,
     {NULL}},
    {"what is needed long after it was loaded",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f6, %f5, %f3;\nmul.f32 %f7, %f6, %f5;\n"
     "add.f32 %f8, %f7, %f5;\nmul.f32 %f9, %f8, %f5;\nsub.f32 %f2, %f9, %f5;\nadd.f32 %f1, %f1, %f2;\n" ROUND,
     {"pepsc.pipeline_stages=8"}},
    {"guards: over what is there, and over what the iteration wrote",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nsetp.lt.f32 %p3, %f5, %f4;\n@%p3 add.f32 %f1, %f1, %f5;\n"
     "mov.f32 %f2, %f5;\n@!%p3 mul.f32 %f2, %f2, %f3;\n@%p3 st.shared.f32 [%r6+4], %f2;\nld.shared.u32 %r4, "
     "[%r6+4];\n" ROUND,
     {NULL}},
    {"a guarded write must wait for who reads the value before it",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nmov.f32 %f6, %f3;\nsetp.gt.u32 %p3, %r3, 2;\n"
     "fma.rn.f32 %f2, %f5, %f6, %f5;\n@%p3 mov.f32 %f6, %f4;\nfma.rn.f32 %f1, %f2, %f6, %f1;\n" ROUND,
     {NULL}},
    {"what only some iterations write is read at the beginning of the next",
     "add.f32 %f2, %f2, %f1;\nld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nmul.f32 %f6, %f5, %f3;\n"
     "setp.lt.f32 %p3, %f6, %f4;\n@%p3 mov.f32 %f1, %f6;\n" ROUND,
     {NULL}},
    {"a place that four iterations in a row read and write, and whose step nobody knows",
     "ld.global.f32 %f7, [%d2];\nadd.s64 %d2, %d2, 4;\nand.b32 %r8, %r3, 4;\nadd.u32 %r8, %r8, %r6;\n"
     "ld.shared.f32 %f5, [%r8];\nfma.rn.f32 %f5, %f5, %f2, %f7;\nst.shared.f32 [%r8], %f5;\nadd.f32 %f1, %f1, "
     "%f5;\n" ROUND,
     {NULL}},
    {"a store that the load of the next iteration reads, and stands before",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1+4], %f6;\n"
     "ld.global.f32 %f7, [%d1];\nadd.f32 %f1, %f1, %f7;\nadd.s64 %d1, %d1, 4;\n" ROUND,
     {NULL}},
    {"the same of two iterations later, and a store that goes over it",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nmul.f32 %f6, %f5, %f3;\nst.global.f32 [%d1+8], %f6;\n"
     "ld.global.f32 %f7, [%d1];\nst.global.f32 [%d1+4], %f3;\nadd.f32 %f1, %f1, %f7;\nadd.s64 %d1, %d1, 4;\n" ROUND,
     {NULL}},
    {"an end that the data decide, and a guard that comes from the iteration before",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\n@%p4 add.f32 %f2, %f2, %f5;\nmul.f32 %f6, %f5, %f3;\n"
     "fma.rn.f32 %f1, %f6, %f6, %f1;\nadd.u32 %r3, %r3, 1;\nsetp.gt.u32 %p4, %r3, 2;\nadd.u32 %r4, %r4, %r3;\n"
     "setp.ge.u32 %p2, %r3, %r2;\n@!%p2 bra LOOP;\n",
     {NULL}},
    {"a branch out at the end, and a jump back",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nfma.rn.f32 %f1, %f5, %f3, %f1;\nadd.u32 %r3, %r3, "
     "1;\nsetp.ge.u32 %p2, %r3, %r2;\n@%p2 bra DONE;\nbra.uni LOOP;\n",
     {NULL}},
    {"64 bits and vectors",
     "ld.global.v2.f32 {%f5, %f6}, [%d2];\nadd.s64 %d2, %d2, 8;\ncvt.f64.f32 %g1, %f5;\nadd.f64 %g2, %g1, %g2;\n"
     "cvt.rn.f32.f64 %f1, %g2;\nst.shared.v2.f32 [%r6], {%f6, %f1};\nadd.f32 %f2, %f2, %f6;\n" ROUND,
     {NULL}},
    {"one name for many values",
     "ld.global.f32 %f5, [%d2];\nadd.f32 %f1, %f1, %f5;\nld.global.f32 %f5, [%d2+4];\nadd.f32 %f1, %f1, %f5;\n"
     "add.s64 %d2, %d2, 4;\nld.global.f32 %f5, [%d2+4];\nmul.f32 %f2, %f5, %f3;\nadd.s64 %d2, %d2, 4;\n" ROUND,
     {NULL}},
    {"few registers",
     "ld.global.f32 %f5, [%d2];\nadd.s64 %d2, %d2, 4;\nadd.f32 %f6, %f5, %f3;\nmul.f32 %f7, %f6, %f5;\n"
     "add.f32 %f8, %f7, %f5;\nmul.f32 %f9, %f8, %f5;\nsub.f32 %f2, %f9, %f5;\nadd.f32 %f1, %f1, %f2;\n" ROUND,
     {"regs.max=18"}},
};
enum { N_LOOPS = sizeof loops / sizeof loops[0] };

static void compare(const char *model, const char *const *set, int k) {
    static uint32_t want[OUT], got[OUT];
    struct machine plain = begin(model, set, false, loops[k].loop), fast = begin(model, set, true, loops[k].loop);
    for (uint32_t n = 0; n <= MOST + 1; n++) {
        run(&plain, n, want);
        run(&fast, n, got);
        for (int i = 0; i < OUT; i++)
            EXPECT(got[i] == want[i], "%s, %s, %u iterations: word %d of lane %d is 0x%x, not 0x%x", loops[k].what,
                   model, n, i % 128 - 8, i / 128, got[i], want[i]);
    }
    ck_assert_msg(heddle_stat(fast.h, 0, "pipeline.loops") == 1, "%s: not pipelined", loops[k].what);
    ck_assert(isnan(heddle_stat(plain.h, 0, "pipeline.loops")) || heddle_stat(plain.h, 0, "pipeline.loops") == 0);
    heddle_close(plain.h);
    heddle_close(fast.h);
}

/* By default each loop runs in every fourth model, and the next loops in the other models. */
START_TEST(memory_equals_the_plain_loop) {
    const struct every_model *models = timed_models();
    for (int m = 0; m < models->n; m++) {
        char reconv[32], chained[48];
        if ((m + _i) % 4 && !test_every())
            continue;
        snprintf(reconv, sizeof reconv, "reconv=%s", models->name[m]);
        snprintf(chained, sizeof chained, "%s+chain+fold+reduce", models->name[m]);
        compare(models->name[m], loops[_i].set, _i);
        compare(chained, loops[_i].set, _i);
        const char *const set[] = {reconv, loops[_i].set[0], NULL};
        compare("functional", set, _i);
    }
}
END_TEST

/* Dependent loads with a long assumed latency. Only intervals of thousands of cycles give few stages. The pass tries
 * many intervals, but must not take long. */
START_TEST(a_long_search_is_fast) {
    static uint32_t want[OUT], got[OUT];
    char loop[4096] = "mov.u64 %d4, %d2;\n";
    for (int i = 0; i < 16; i++)
        strcat(loop, "ld.global.u32 %r4, [%d4];\nand.b32 %r4, %r4, 63;\nmad.wide.u32 %d4, %r4, 4, %d2;\n");
    strcat(loop, "ld.global.f32 %f5, [%d4];\nfma.rn.f32 %f1, %f1, %f2, %f5;\n" ROUND);
    const char *const set[] = {"pepsc.pipeline_load=1000", "pepsc.pipeline_stages=2", NULL};
    struct machine plain = begin("spe", set, false, loop), fast = begin("spe", set, true, loop);
    clock_t before = clock();
    run(&fast, 3, got);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    ck_assert_msg(seconds < 10, "%.1f s", seconds); /* the test usually takes less than a hundredth of this time */
    run(&plain, 3, want);
    ck_assert_mem_eq(got, want, sizeof want);
    ck_assert(heddle_stat(fast.h, 0, "pipeline.loops") == 1);
    heddle_close(plain.h);
    heddle_close(fast.h);
}
END_TEST

SUITE(mechanisms_pipeline) {
    TEST_LOOP(intervals_and_reasons, 0, N_NOTES);
    TEST(figures_of_a_launch);
    TEST(loops_of_both_streams_are_left_alone);
    TEST(other_loops_are_no_candidates);
    TEST(a_register_limit_reduces_stages);
    TEST(it_is_an_option);
    TEST(a_long_search_is_fast);
    TEST_LOOP(memory_equals_the_plain_loop, 0, N_LOOPS);
}
