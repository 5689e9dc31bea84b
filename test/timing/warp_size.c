/* Tests warps of 4, 8, 16, 32 and 64 lanes (sm.warp_size): issue slots, pipes and residency derived by hand, results of
 * benchmarks, and the refusal of kernels that depend on 32 lanes. */
#include "job_rig.h"
#include "timing/config/config.h"
#include <stdio.h>

static const uint32_t sizes[] = {4, 8, 16, 32, 64};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Opens `model` on `config` with warps of `size` lanes. */
static struct heddle *open_size(const char *model, const char *config, uint32_t size) {
    char err[512] = "", set[32];
    snprintf(set, sizeof set, "sm.warp_size=%u", size);
    const char *const list[] = {set, "gpu.sms=1", "fetch.perfect=true", NULL}, *const functional[] = {set, NULL};
    struct heddle_options o = {.model = model,
                               .config = config,
                               .set = strcmp(model, "functional") == 0 ? functional : list,
                               .cycle_limit = 10000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static struct heddle_module *load(struct heddle *h, const char *body) {
    static char text[8192];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<8>; .reg .b64 %%a<4>; .reg .f32 %%f<8>; .reg .pred %%q; .shared .align 16 .b32 s[64];\n"
             "%s\nret;\n}\n",
             body);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

/* Runs the kernel with CTAs of `threads` threads. The caller closes the machine. */
static struct heddle *run_body(const char *model, const char *config, uint32_t size, const char *body, uint32_t ctas,
                               uint32_t threads, uint32_t *out) {
    struct heddle *h = open_size(model, config, size);
    struct heddle_module *m = load(h, body);
    uint64_t p = heddle_alloc(h, 65536);
    struct heddle_arg args[] = {{&p, 8}};
    heddle_clear(h, p, 65536);
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    if (out)
        heddle_read(h, p, out, threads * sizeof *out);
    return h;
}

/* Groups of 8 threads take one or the other side of a branch: even groups fall through, and odd groups jump.
 * 1. All threads execute 5 instructions up to the branch. Then even groups execute 3 instructions on their side, and
 *    odd groups 1. All threads execute 4 instructions after the join.
 * 2. So a warp with both kinds of groups issues 5 + 3 + 1 + 4 = 13 instructions, a warp of an even group 12, and a warp
 *    of an odd group 10.
 * 3. 64 threads are these warps, with these issue slots:
 *      64 lanes   1 warp with both kinds       1 x 13 = 13
 *      32 lanes   2 warps with both kinds      2 x 13 = 26
 *      16 lanes   4 warps with both kinds      4 x 13 = 52
 *       8 lanes   4 even and 4 odd warps       4 x 12 + 4 x 10 = 88
 *       4 lanes   8 even and 8 odd warps       8 x 12 + 8 x 10 = 176
 * 4. The lanes of these slots are 13 x 64 = 26 x 32 = 52 x 16 = 832 and 88 x 8 = 176 x 4 = 704.
 * 5. With each warp size, the threads execute 32 x 12 + 32 x 10 = 704 instructions. The branch counts only for the 32
 *    threads that take it, so thread_instructions is 704 - 32 = 672. */
static const char groups[] = "ld.param.u64 %a0, [p];\n"
                             "shr.u32 %r1, %tid.x, 3;\n"
                             "and.b32 %r1, %r1, 1;\n"
                             "setp.ne.u32 %q, %r1, 0;\n"
                             "@%q bra ODD;\n"
                             "add.u32 %r2, %tid.x, 100;\n"
                             "xor.b32 %r2, %r2, 5;\n"
                             "bra JOIN;\n"
                             "ODD: add.u32 %r2, %tid.x, 200;\n"
                             "JOIN: mul.wide.u32 %a1, %tid.x, 4;\n"
                             "add.u64 %a0, %a0, %a1;\n"
                             "st.global.u32 [%a0], %r2;\n";

START_TEST(divergence_within_a_warp_costs_slots) {
    static const double slots[SIZES] = {176, 88, 52, 26, 13}, lanes[SIZES] = {704, 704, 832, 832, 832};
    static const char *const models[] = {"functional", "spe", "minpc", "its"};
    uint32_t out[64];
    for (int i = 0; i < SIZES; i++)
        for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
            test_case("%u lanes in %s", sizes[i], models[m]);
            struct heddle *h = run_body(models[m], "fermi", sizes[i], groups, 1, 64, out);
            ck_assert_double_eq(heddle_stat(h, 0, "gpu.warp_instructions"), slots[i]);
            ck_assert_double_eq(heddle_stat(h, 0, "gpu.thread_instructions"), 672);
            ck_assert_double_eq(heddle_stat(h, 0, "gpu.lane_slots"), lanes[i]);
            ck_assert_double_eq_tol(heddle_stat(h, 0, "gpu.lane_utilization"), 672 / lanes[i], 1e-12);
            for (uint32_t t = 0; t < 64; t++)
                ck_assert_uint_eq(out[t], t / 8 % 2 ? t + 200 : (t + 100) ^ 5);
            heddle_close(h);
        }
}
END_TEST

/* An SFU pipe of fermi executes 4 lanes per cycle. So an instruction occupies it for 16, 8, 4 or 2 cycles if warps have
 * 64, 32, 16 or 8 lanes. 16 warps hide all latencies, so 32 more instructions in each warp take 32 x 16 times as long.
 * Warps of 4 lanes are not tested: an instruction would occupy the pipe for 1 cycle, but its fetch takes one and a
 * half. */
START_TEST(a_pipe_takes_cycles_for_each_lane) {
    static const double each[SIZES] = {0, 2, 4, 8, 16};
    char body[2][4096];
    for (int k = 0; k < 2; k++) {
        int n = 0;
        for (int i = 0; i < 32 * (k + 1); i++)
            n += snprintf(body[k] + n, sizeof body[k] - (size_t)n, "sin.approx.f32 %%f%d, 0f3F800000;\n", i % 8);
    }
    for (int i = 1; i < SIZES; i++) {
        struct heddle *less = run_body("spe", "fermi", sizes[i], body[0], 1, 16 * sizes[i], NULL),
                      *more = run_body("spe", "fermi", sizes[i], body[1], 1, 16 * sizes[i], NULL);
        double cycles = heddle_stat(more, 0, "gpu.cycles") - heddle_stat(less, 0, "gpu.cycles");
        ck_assert_double_eq(cycles, 32 * each[i] * 16);
        heddle_close(less);
        heddle_close(more);
    }
}
END_TEST

/* Of 1024 threads, those with bit 5 of %tid.x execute `n` operations on one side of a branch, the others `n` on the
 * other side. Warps of 32 lanes are on one side: 32 warps occupy the SFU pipe for n x 8 cycles each. The two rows of a
 * warp of 64 lanes diverge: 16 warps occupy the pipe for 2 n x 16 cycles each, because inactive lanes occupy the pipe,
 * too. So 16 more operations take 32 x 16 x 8 = 4096 and 16 x 2 x 16 x 16 = 8192 cycles. */
START_TEST(rows_that_diverge_pass_a_pipe_one_after_the_other) {
    char body[2][8192];
    for (int k = 0; k < 2; k++) {
        int n =
            snprintf(body[k], sizeof body[k], "and.b32 %%r1, %%tid.x, 32;\nsetp.ne.u32 %%q, %%r1, 0;\n@%%q bra ODD;\n");
        for (int i = 0; i < 32 * (k + 1); i++)
            n += snprintf(body[k] + n, sizeof body[k] - (size_t)n, "%ssin.approx.f32 %%f%d, 0f3F800000;\n",
                          i == 16 * (k + 1) ? "bra JOIN;\nODD: " : "", i % 8);
        snprintf(body[k] + n, sizeof body[k] - (size_t)n, "JOIN:\n");
    }
    for (int i = 3; i < SIZES; i++) {
        struct heddle *less = run_body("spe", "fermi", sizes[i], body[0], 1, 1024, NULL),
                      *more = run_body("spe", "fermi", sizes[i], body[1], 1, 1024, NULL);
        double cycles = heddle_stat(more, 0, "gpu.cycles") - heddle_stat(less, 0, "gpu.cycles");
        ck_assert_double_eq(cycles, sizes[i] == 32 ? 4096 : 8192);
        heddle_close(less);
        heddle_close(more);
    }
}
END_TEST

/* A kernel with calls, recursion, branches by a table, local memory, reductions at barriers, copies to shared memory,
 * atomics, and lanes that leave early. It runs 96 threads, which are one and a half warps of 64 lanes. */
static const char mixture[] =
    ".version 9.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n"
    "{\n"
    ".reg .b32 %r<4>; .reg .pred %q;\n"
    "ld.param.u32 %r1, [x];\n"
    "and.b32 %r2, %r1, 1;\n"
    "setp.eq.u32 %q, %r2, 0;\n"
    "@%q bra EVEN;\n"
    "add.u32 %r1, %r1, 5;\n"
    "st.param.b32 [r], %r1;\n"
    "ret;\n"
    "EVEN: shl.b32 %r1, %r1, 1;\n"
    "st.param.b32 [r], %r1;\n"
    "ret;\n"
    "}\n"
    ".func (.param .b32 r) sum(.param .b32 x)\n"
    "{\n"
    ".reg .b32 %r<4>; .reg .pred %q;\n"
    "ld.param.u32 %r1, [x];\n"
    "setp.eq.u32 %q, %r1, 0;\n"
    "@%q bra END;\n"
    "sub.u32 %r2, %r1, 1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), sum, (a); ld.param.b32 %r3, [b]; }\n"
    "add.u32 %r1, %r1, %r3;\n"
    "END: st.param.b32 [r], %r1;\n"
    "ret;\n"
    "}\n"
    ".visible .entry k(.param .u64 p)\n"
    "{\n"
    ".reg .b32 %r<16>; .reg .b64 %a<8>; .reg .pred %q<4>;\n"
    ".local .align 4 .b8 loc[64];\n"
    ".shared .align 16 .b32 s[256];\n"
    ".shared .align 4 .b32 count;\n"
    "ld.param.u64 %a0, [p];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mov.u64 %a2, loc;\n"
    "and.b32 %r2, %r1, 7;\n"
    "mul.wide.u32 %a3, %r2, 4;\n"
    "add.u64 %a3, %a3, %a2;\n"
    "st.local.u32 [%a3], %r1;\n"
    "rem.u32 %r3, %r1, 3;\n"
    "T: .branchtargets A, B, C;\n"
    "brx.idx %r3, T;\n"
    "A: { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r4, [b]; }\n"
    "bra J;\n"
    "B: and.b32 %r5, %r1, 15;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call (b), sum, (a); ld.param.b32 %r4, [b]; }\n"
    "bra J;\n"
    "C: ld.local.u32 %r4, [%a3];\n"
    "J: setp.gt.u32 %q1, %r1, 40;\n"
    "setp.eq.u32 %q2, %r3, 1;\n"
    "bar.red.popc.u32 %r6, 0, %q1;\n"
    "bar.red.and.pred %q3, 0, %q2;\n"
    "selp.b32 %r7, 100000, 0, %q3;\n"
    "add.u32 %r4, %r4, %r6;\n"
    "add.u32 %r4, %r4, %r7;\n"
    "mov.u32 %r8, s;\n"
    "shl.b32 %r9, %r1, 2;\n"
    "add.u32 %r8, %r8, %r9;\n"
    "mul.wide.u32 %a1, %r1, 4;\n"
    "add.u64 %a1, %a0, %a1;\n"
    "st.global.u32 [%a1], %r4;\n"
    "cp.async.ca.shared.global [%r8], [%a1], 4;\n"
    "cp.async.wait_all;\n"
    "bar.sync 0;\n"
    "mov.u32 %r8, s;\n"
    "sub.u32 %r9, 95, %r1;\n"
    "shl.b32 %r9, %r9, 2;\n"
    "add.u32 %r8, %r8, %r9;\n"
    "ld.shared.u32 %r10, [%r8];\n"
    "atom.global.add.u32 %r11, [%a0 + 4096], %r1;\n"
    "and.b32 %r12, %r1, 3;\n"
    "mul.wide.u32 %a4, %r12, 4;\n"
    "add.u64 %a4, %a4, %a0;\n"
    "red.global.max.u32 [%a4 + 4100], %r10;\n"
    "setp.eq.u32 %q1, %r3, 2;\n"
    "@%q1 ret;\n"
    "bar.sync 1;\n"
    "st.global.u32 [%a1 + 1024], %r10;\n"
    "setp.lt.u32 %q2, %r1, 50;\n"
    "@%q2 exit;\n"
    "ld.global.v2.u32 {%r13, %r14}, [%a0 + 1024];\n"
    "add.u32 %r13, %r13, %r14;\n"
    "st.global.u32 [%a1 + 2048], %r13;\n"
    "ret;\n"
    "}\n";

START_TEST(two_rows_are_one_warp) {
    static const char *const models[] = {"functional", "spe",           "dpe",           "its",       "si",
                                         "tbc",        "minpc",         "multipath",     "frontiers", "dws50",
                                         "anypc+dwf",  "anypc+sbi+swi", "multipath+mimd"};
    enum { WORDS = 2048 };
    static uint32_t want[WORDS], got[WORDS];
    for (size_t i = 0; i < 1 + sizeof models / sizeof models[0]; i++) {
        const char *model = i ? models[i - 1] : "functional";
        test_case("%s", model);
        struct heddle *h = open_size(model, "volta-classic", i ? 64 : 32);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", mixture, strlen(mixture));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, sizeof want);
        struct heddle_arg args[] = {{&p, 8}};
        heddle_clear(h, p, sizeof want);
        ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){96, 1, 1}, 0, args,
                                    1) == HEDDLE_OK,
                      "%s", heddle_error(h));
        heddle_read(h, p, i ? got : want, sizeof want);
        for (int k = 0; i && k < WORDS; k++)
            ck_assert_msg(got[k] == want[k], "word %d is %u, not %u", k, got[k], want[k]);
        heddle_close(h);
    }
    ck_assert_uint_eq(want[1024], 2 * 95 * 96 / 2); /* each of the threads of 2 CTAs adds its number */
}
END_TEST

/* A pipe of 16 lanes (2 cycles for 32 lanes) takes 1 cycle for every narrower warp and 4 for 64 lanes; a pipe of 1 lane
 * takes a cycle for each lane. */
START_TEST(cycles_of_a_pipe) {
    struct sm_cfg s = {.warps = 48};
    static const uint32_t wide[SIZES] = {1, 1, 1, 2, 4};
    for (int i = 0; i < SIZES; i++) {
        s.warp_size = sizes[i];
        ck_assert_uint_eq(sm_pipe_cycles(&s, 2), wide[i]);
        ck_assert_uint_eq(sm_pipe_cycles(&s, 32), sizes[i]);
        ck_assert_uint_eq(sm_warp_slots(&s), 48 * 32 / sizes[i]);
    }
}
END_TEST

/* An SM holds the same number of threads with each warp size: 8 CTAs of 192 threads are the 1536 threads of fermi, in
 * up to 384 warps. Every thread executes loads, so prefetchers observe each warp. */
START_TEST(an_sm_holds_the_same_threads) {
    static const char *const models[] = {"spe", "spe+stride", "spe+mta", "spe+ddp", "spe+cae", "spe+dac"};
    static const char loads[] = "ld.param.u64 %a0, [p];\n"
                                "mul.wide.u32 %a1, %tid.x, 128;\n"
                                "add.u64 %a0, %a0, %a1;\n"
                                "ld.global.u32 %r1, [%a0];\n"
                                "ld.global.u32 %r2, [%a0 + 64];\n"
                                "add.u32 %r1, %r1, %r2;\n"
                                "st.global.u32 [%a0], %r1;\n";
    for (size_t k = 0; k < SIZES * sizeof models / sizeof models[0]; k++) {
        const char *model = models[k / SIZES];
        const uint32_t size = sizes[k % SIZES];
        if (size == 64 && (strstr(model, "cae") || strstr(model, "dac"))) /* other_sizes_are_refused() tests this */
            continue;
        test_case("%u lanes in %s", size, model);
        struct heddle *h = run_body(model, "fermi", size, loads, 9, 192, NULL);
        ck_assert_double_eq(heddle_stat(h, 0, "gpu.max_resident_warps"), 1536. / size);
        heddle_close(h);
    }
}
END_TEST

/* A barrier with a thread count counts whole warps: when all live lanes of a warp wait, all lanes of the warp count. 40
 * threads are two warps of 32 lanes, which count as 64 threads; three warps of 16, which count as 48; or five warps of
 * 8, which count as 40. The thread count must be a multiple of the warp size, so the kernel uses these numbers. */
START_TEST(barriers_count_whole_warps) {
    static const char body[] = "ld.param.u64 %%a0, [p];\n"
                               "mul.wide.u32 %%a1, %%tid.x, 4;\n"
                               "add.u64 %%a0, %%a0, %%a1;\n"
                               "mov.u32 %%r1, %%tid.x;\n"
                               "mov.u32 %%r0, s;\n"
                               "shl.b32 %%r2, %%r1, 2;\n"
                               "add.u32 %%r2, %%r2, %%r0;\n"
                               "st.shared.u32 [%%r2], %%r1;\n"
                               "bar.sync 1, %u;\n"
                               "sub.u32 %%r3, 39, %%r1;\n"
                               "shl.b32 %%r3, %%r3, 2;\n"
                               "add.u32 %%r3, %%r3, %%r0;\n"
                               "ld.shared.u32 %%r4, [%%r3];\n"
                               "st.global.u32 [%%a0], %%r4;\n";
    uint32_t out[40];
    char text[2048];
    for (int i = 0; i < SIZES; i++) {
        snprintf(text, sizeof text, body, (40 + sizes[i] - 1) / sizes[i] * sizes[i]);
        for (int timed = 0; timed < 2; timed++) {
            heddle_close(run_body(timed ? "spe" : "functional", "fermi", sizes[i], text, 1, 40, out));
            for (uint32_t t = 0; t < 40; t++)
                ck_assert_uint_eq(out[t], 39 - t);
        }
    }
}
END_TEST

/* Instructions that depend on the warp size. Unless warps have 32 lanes, a kernel with such an instruction is refused.
 * The message names the kernel, the line and `named`. */
static const struct {
    const char *body, *named;
} depends[] = {
    {"shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff;", "'shfl.sync.idx.b32' acts on"},
    {"vote.sync.any.pred %q, %q, 0xffffffff;", "'vote.sync.any.pred' acts on"},
    {"match.any.sync.b32 %r1, %r2, 0xffffffff;", "'match.any.sync.b32' acts on"},
    {"redux.sync.add.u32 %r1, %r2, 0xffffffff;", "'redux.sync.add.u32' acts on"},
    {"activemask.b32 %r1;", "'activemask.b32' acts on"},
    {"elect.sync _|%q, 0xffffffff;", "'elect.sync' acts on"},
    {"bar.warp.sync 0xffffffff;", "'bar.warp.sync' acts on"},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d5, %d6};", "'mma.sync"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [s];", "'ldmatrix.sync"},
    {"mov.u32 %r1, %laneid;", "'%laneid' is a place in a warp"},
    {"add.u32 %r1, %laneid, 1;", "'%laneid' is a place in a warp"},
    {"mov.u32 %r1, %warpid;", "'%warpid' is a place in a warp"},
    {"mov.u32 %r1, %nwarpid;", "'%nwarpid' is a place in a warp"},
    {"mov.u32 %r1, %lanemask_lt;", "'%lanemask_lt' is a place in a warp"},
    {"mov.u32 %r1, %lanemask_ge;", "'%lanemask_ge' is a place in a warp"},
    {"mov.u32 %r1, WARP_SZ;", "'WARP_SZ' is the size of a warp"},
    {"mov.u32 %r1, (WARP_SZ * 2);", "'WARP_SZ' is the size of a warp"},
};

START_TEST(kernels_that_depend_on_the_size_are_refused) {
    char body[256];
    test_case("%s", depends[_i].named);
    snprintf(body, sizeof body, ".reg .f64 %%d<8>;\n%s", depends[_i].body);
    for (int i = 0; i < SIZES; i++) {
        struct heddle *h = open_size(i % 2 ? "spe" : "functional", "fermi", sizes[i]);
        struct heddle_module *m = load(h, body);
        struct heddle_kernel_info info;
        bool taken = heddle_kernel_info(h, m, "k", &info) == HEDDLE_OK;
        ck_assert_msg(taken == (sizes[i] == 32), "%u lanes: %s", sizes[i], heddle_error(h));
        if (!taken) {
            ck_assert_msg(strstr(heddle_error(h), "kernel 'k' depends on warps of 32 lanes: ") != NULL, "%s",
                          heddle_error(h));
            ck_assert_msg(strstr(heddle_error(h), depends[_i].named) != NULL, "%s", heddle_error(h));
            ck_assert_msg(strstr(heddle_error(h), "t.ptx:8:") != NULL, "%s", heddle_error(h));
        }
        heddle_close(h);
    }
}
END_TEST

static void refused(const struct heddle_options *o, const char *why) {
    char err[512] = "";
    struct heddle *h = heddle_open(o, err, sizeof err);
    ck_assert_msg(!h, "%s", why);
    ck_assert_msg(strstr(err, why) != NULL, "%s", err);
}

START_TEST(other_sizes_are_refused) {
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=12", NULL}},
            "sm.warp_size: 12 is not a power of two: take 4, 8, 16, 32 or 64");
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=2", NULL}},
            "sm.warp_size: 2 is out of range (4 to 64 lanes)");
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=128", NULL}},
            "sm.warp_size: 128 is out of range (4 to 64 lanes)");
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=64", "sm.warps=46", NULL}},
            "sm.warps: 46 warps of 32 lanes are no whole number of warps of 64 lanes (sm.warp_size) for each of 2 "
            "schedulers (sm.schedulers)");
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=64", "core.kind=modern",
                                                                  "sm.subcores=true", NULL}},
            "sm.warp_size=64: the operands of core.kind=modern have at most 32 lanes");
    refused(&(struct heddle_options){.model = "functional+dac", .set = (const char *const[]){"sm.warp_size=64", NULL}},
            "sm.warp_size=64: 'dac' sends addresses and predicates to rows of 32 lanes: take at most 32 lanes");
    refused(&(struct heddle_options){.model = "spe+cae", .set = (const char *const[]){"sm.warp_size=64", NULL}},
            "sm.warp_size=64: 'cae' tags rows of 32 lanes: take at most 32 lanes");
    refused(&(struct heddle_options){.set = (const char *const[]){"sm.warp_size=4", "sm.warps=66", NULL}},
            "sm.warps: the threads of 66 warps of 32 lanes are 528 warps of 4 lanes (sm.warp_size), and an SM has at "
            "most 512: take 64 or fewer");
    refused(&(struct heddle_options){.model = "functional",
                                     .check = true,
                                     .set = (const char *const[]){"sm.warp_size=8", NULL}},
            "sm.warp_size=8: the checker follows warps of 32 lanes only");
}
END_TEST

/* Returns true if the benchmark's kernel may depend on warps of 32 lanes: mc (Monte Carlo) sums by shuffles, the loops
 * and sides of PEPSC are kernels of one warp, and the subwarps of the micro-benchmark meet at __syncwarp(). */
static bool may_depend(const char *bench) {
    return strcmp(bench, "mc") == 0 || strstr(bench, "_loop") || strstr(bench, "_sides") ||
           strncmp(bench, "subwarps", strlen("subwarps")) == 0;
}

/* Every benchmark passes its own check at another size, unless its kernel depends on 32 lanes. */
START_TEST(benchmarks_give_the_same_memory) {
    static const char *const models[] = {"functional", "functional+dac"};
    static const uint32_t others[] = {4, 64, 8, 16};
    char set[32];
    for (int b = 0; b < n_benches; b++) {
        snprintf(set, sizeof set, "sm.warp_size=%u", others[b % 4]);
        const char *const list[] = {set, NULL};
        struct job j = {.bench = benches[b], .options = {.model = models[others[b % 4] != 64 && b % 2], .set = list}};
        test_case("%s in %s with %s", j.bench->name, j.options.model, set);
        job_run(&j, 0, NULL);
        bool refusal = j.message && strstr(j.message, "depends on warps of 32 lanes") != NULL;
        ck_assert_msg(j.status == HEDDLE_OK || (refusal && may_depend(j.bench->name)), "%s",
                      j.message ? j.message : "");
        job_free(&j);
    }
}
END_TEST

SUITE(timing_warp_size) {
    TEST(divergence_within_a_warp_costs_slots);
    TEST(a_pipe_takes_cycles_for_each_lane);
    TEST(rows_that_diverge_pass_a_pipe_one_after_the_other);
    TEST(two_rows_are_one_warp);
    TEST(cycles_of_a_pipe);
    TEST(an_sm_holds_the_same_threads);
    TEST(barriers_count_whole_warps);
    TEST_LOOP(kernels_that_depend_on_the_size_are_refused, 0, sizeof depends / sizeof depends[0]);
    TEST(other_sizes_are_refused);
    TEST(benchmarks_give_the_same_memory);
}
