/* Tests prefetchers in a GPU that runs kernels, with the prefetcher test/toys/next_line.c. */
#include "host/context.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/prefetchers.h"
#include "timing/mem/prefetch.h"
#include "timing/report/stat.h"
#include <stdio.h>

enum { LINES = 8, LATENCY = 600, L1 = 35 };

/* Returns a kernel in which one warp loads `lines` lines, one after another. Each address is computed from the last
 * loaded value. This value is always zero, because the buffer p is zeroed. */
static const char *walk(int lines) {
    static char text[4096];
    int n = snprintf(text, sizeof text,
                     ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                     ".reg .b32 %%r<3>; .reg .b64 %%a<3>;\n ld.param.u64 %%a1,[p];\n");
    for (int i = 0; i < lines; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " ld.global.u32 %%r1,[%%a1+%d]; cvt.u64.u32 %%a2,%%r1; add.u64 %%a1,%%a1,%%a2;\n", 128 * i);
    snprintf(text + n, sizeof text - (size_t)n, " st.global.u32 [%%a1],%%r1; ret;\n}\n");
    return text;
}

static struct heddle *open_with(const char *model, const char *config, const char *const *set, uint32_t threads,
                                const struct prefetcher_row *rows, uint32_t n_rows) {
    char err[512];
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = config, .set = set, .threads = threads},
                     &(struct context_parts){.models = &model_tables, .prefetchers = rows, .n_prefetchers = n_rows},
                     err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static struct heddle_module *module(struct heddle *h, const char *text) {
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static void launch(struct heddle *h, struct heddle_module *m, uint64_t p, uint32_t ctas, uint32_t threads) {
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
}

static uint64_t zeroed(struct heddle *h, uint64_t bytes) {
    uint64_t p = heddle_alloc(h, bytes);
    ck_assert_int_eq(heddle_clear(h, p, bytes), HEDDLE_OK);
    return p;
}

static const char *const fixed_latency[] = {"memory.model=fixed", "memory.latency=600", "l1.latency=35",
                                            "l1.size=16384",      "l1.mshrs=16",        NULL};
static const char *const all_hit[] = {"memory.model=fixed",
                                      "memory.latency=600",
                                      "l1.latency=35",
                                      "l1.size=16384",
                                      "l1.mshrs=16",
                                      "memory.perfect_l1=on",
                                      NULL};

/* Returns the cycles of a kernel that loads `lines` lines in a chain. Instruction fetch costs no time (tiny.cfg). `row`
 * NULL: no prefetcher. */
static double walk_takes(int lines, const char *const *set, const struct prefetcher_row *row) {
    struct heddle *h = open_with("spe", "tiny", set, 1, row, row != NULL);
    launch(h, module(h, walk(lines)), zeroed(h, 4096), 1, 32);
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* If all loads hit, a load reads its tags c cycles after the load before it. Without a prefetcher each line costs 600
 * cycles more. With a prefetcher:
 * - load 1 misses at t and the prefetcher requests line 2, which reads the tags at t + 35 and arrives at t + 635
 * - load 2 reads its tags at t + 600 + c and hits, since c > 35; this is the first use of line 2, and its cycle is
 *   called u
 * - line 3 arrives at u + 635; load 3 reads the tags at u + c, waits for the line, and has its data at u + 635
 * - at u + c, load 3 causes the request of line 4, which arrives at u + c + 635; load 4 reads the tags in this cycle
 *   and hits
 * - so line 1 costs 600 cycles, and lines 3, 5 and 7 cost 635 - c cycles each
 * - line 9 is requested at the first use of line 8, and arrives after the kernel's last instruction, but before the
 *   end of the launch */
START_TEST(lines_one_behind_the_other) {
    struct next_line_toy toy = {.seen = 0};
    const struct prefetcher_row row = {&next_line_prefetcher, &toy, PREFETCH_AT_L1};
    double hits = walk_takes(LINES, all_hit, NULL), c = hits - walk_takes(LINES - 1, all_hit, NULL);
    ck_assert_double_gt(c, L1);
    ck_assert_double_eq(walk_takes(LINES, fixed_latency, NULL), hits + LINES * LATENCY);
    ck_assert_double_eq(walk_takes(LINES, fixed_latency, &row), hits + LATENCY + 3 * (L1 + LATENCY - c));
    ck_assert_uint_eq(toy.seen, LINES + 1 + LINES); /* loads, the store, and the prefetches */
    ck_assert_uint_eq(toy.asked[PREFETCH_QUEUED], LINES);
    ck_assert_uint_eq(toy.answered[PREFETCH_SENT], LINES);
    ck_assert_uint_eq(toy.answered[PREFETCH_ARRIVED], LINES);
    ck_assert_uint_eq(toy.useful, LINES - 1);
    ck_assert_uint_eq(toy.late, 3);
    ck_assert_uint_eq(toy.unused, 0);
}
END_TEST

/* Cycles of two launches of a chain of loads, the first with a cold L2, and the statistics of a prefetcher at the
 * L2. */
struct l2_walk {
    double cycles[2], prefetches, lookups, useful, elsewhere, unused;
};
static struct l2_walk walk_l2(int lines, const char *slices, bool with) {
    const char *const set[] = {"memory.model=full", slices, NULL};
    struct next_line_toy toy = {.seen = 0};
    struct l2_walk w = {.useful = 0};
    const struct prefetcher_row row = {&next_line_prefetcher, &toy, PREFETCH_AT_L2};
    struct heddle *h = open_with("spe", "tiny", set, 1, &row, with);
    struct heddle_module *m = module(h, walk(lines));
    uint64_t p = zeroed(h, 4096);
    for (int again = 0; again < 2; again++) {
        launch(h, m, p, 1, 32);
        w.cycles[again] = heddle_stat(h, again, "gpu.cycles");
        w.elsewhere = again ? w.elsewhere : (double)toy.asked[PREFETCH_ELSEWHERE];
    }
    w.prefetches = heddle_stat(h, 0, "l2.prefetches");
    w.lookups = heddle_stat(h, 0, "l2.prefetch_lookups");
    w.useful = heddle_stat(h, 0, "l2.prefetch_useful");
    heddle_close(h);
    w.unused = (double)toy.unused;
    return w;
}

/* - two slices alternate every 256 bytes: the next line is in the same slice only after the first line of each 256
 *   bytes
 * - of lines 0 to 7, the successors 1, 3, 5 and 7 are requested; 2, 4, 6 and 8 belong to the other slice
 * - with one slice all successors, 1 to 8, are requested
 * - a kernel without loads counts only the accesses to the line of the parameter
 * - with the prefetcher, the first launch is faster than the first launch without it, and slower than the second
 *   launch, for which the L2 has all lines */
START_TEST(lines_of_the_slices) {
    static const char *const slices[] = {"l2.slices=1", "l2.slices=2"};
    for (int i = 0; i < 2; i++) {
        struct l2_walk nothing = walk_l2(0, slices[i], true), cold = walk_l2(LINES, slices[i], false),
                       with = walk_l2(LINES, slices[i], true);
        double n = i ? LINES / 2 : LINES;
        ck_assert_double_eq(cold.prefetches, 0);
        ck_assert_double_eq(with.prefetches - nothing.prefetches, n);
        ck_assert_double_eq(with.lookups - nothing.lookups, n);
        ck_assert_double_eq(with.useful, i ? n : n - 1);
        ck_assert_double_eq(with.elsewhere - nothing.elsewhere, LINES - n);
        ck_assert_double_eq(with.unused, 0);
        ck_assert_double_lt(with.cycles[0], cold.cycles[0] - 50);
        ck_assert_double_gt(with.cycles[0], with.cycles[1]);
        ck_assert_double_eq(with.cycles[1], cold.cycles[1]); /* nothing misses */
    }
}
END_TEST

/* 64 CTAs of 3 warps. Each warp adds up 16 lines of its own, and skips every fourth line. The statistics of all SMs
 * and slices are equal with one host thread, with four host threads, and with polling. */
START_TEST(threads_and_polling_change_nothing) {
    static const char sums[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %q;\n ld.param.u64 %a1,[p];\n mov.u32 %r1,%ctaid.x;\n"
        " mov.u32 %r3,%tid.x; mad.lo.u32 %r1,%r1,256,%r3; mul.wide.u32 %a2,%r1,4;\n"
        " add.u64 %a1,%a1,%a2; mov.u32 %r4,0; mov.u32 %r5,0;\n"
        "L: ld.global.u32 %r6,[%a1]; add.u32 %r5,%r5,%r6; add.u64 %a1,%a1,65536; add.u32 %r4,%r4,1;\n"
        " setp.lt.u32 %q,%r4,16; @%q bra L;\n st.global.u32 [%a1],%r5; ret;\n}\n";
    struct stat_def const *defs;
    int n;
    defs = stat_defs(&n);
    double *first = calloc((size_t)n, sizeof *first);
    ck_assert_ptr_nonnull(first);
    for (int run = 0; run < 3; run++) {
        const struct prefetcher_row rows[] = {{&next_line_prefetcher, NULL, PREFETCH_AT_L1},
                                              {&next_line_prefetcher, NULL, PREFETCH_AT_L2}};
        const char *const set[] = {run == 2 ? "gpu.poll=true" : "gpu.poll=false", "l1.mshrs=14", NULL};
        struct heddle *h = open_with("spe", "fermi", set, run == 1 ? 4 : 1, rows, 2);
        launch(h, module(h, sums), zeroed(h, 65536 * 17), 64, 96);
        ck_assert_double_gt(heddle_stat(h, 0, "l1.prefetches"), 100);
        ck_assert(LEAST_TABLES || heddle_stat(h, 0, "l1.prefetch_refused") > 100);
        ck_assert_double_gt(heddle_stat(h, 0, "l2.prefetches"), 100);
        for (int i = 0; i < n; i++) {
            double v = heddle_stat(h, 0, defs[i].name);
            if (strncmp(defs[i].name, "host.", 5) == 0)
                continue;
            if (run == 0)
                first[i] = v;
            ck_assert_msg(v == first[i], "%s: %g and %g", defs[i].name, first[i], v);
        }
        heddle_close(h);
    }
    free(first);
}
END_TEST

static void run_random(const char *text, const char *model, const char *const *set, const struct prefetcher_row *rows,
                       const uint32_t *in, uint32_t *out) {
    struct heddle *h = open_with(model, "tiny", set, 1, rows, rows ? 2 : 0);
    struct heddle_module *m = module(h, text);
    uint64_t din = heddle_alloc(h, RANDOM_IN_WORDS * 4), dout = heddle_alloc(h, RANDOM_OUT_WORDS * 4);
    heddle_write(h, din, in, RANDOM_IN_WORDS * 4);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s: %s", model, heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * 4);
    heddle_close(h);
}

/* Prefetchers change only timing: results are correct on machines with large queues and with the smallest queues. */
START_TEST(random_kernels_compute_the_same) {
    static const char *const sets[][7] = {{"sm.registers=65536", "sm.shared_bytes=16384", "memory.model=full"},
                                          {"sm.registers=65536", "sm.shared_bytes=16384", "memory.model=full",
                                           "l1.mshrs=1", "l2.mshrs=1", "lsu.prefetch_queue=1"},
                                          {"sm.registers=65536", "sm.shared_bytes=16384", "memory.model=full",
                                           "l1.sectored=on", "l2.sectored=on", "l2.prefetch_queue=1"}};
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (unsigned seed = 1; seed <= 4; seed++) {
        char *text = random_kernel((uint64_t)seed * 100 + (unsigned)_i, seed % 4);
        random_input(seed, in);
        run_random(text, "functional", sets[0], NULL, in, want);
        struct next_line_toy l1 = {.seen = 0}, l2 = {.seen = 0};
        const struct prefetcher_row rows[] = {{&next_line_prefetcher, &l1, PREFETCH_AT_L1},
                                              {&next_line_prefetcher, &l2, PREFETCH_AT_L2}};
        run_random(text, base_models()->name[_i], sets[seed % 3], rows, in, got);
        ck_assert_msg(memcmp(got, want, sizeof want) == 0, "%s, seed %u", base_models()->name[_i],
                      seed * 100 + (unsigned)_i);
        ck_assert_uint_gt(l1.answered[PREFETCH_SENT] + l1.answered[PREFETCH_REFUSED], 0);
        free(text);
    }
}
END_TEST

SUITE(timing_prefetcher) {
    TEST(lines_one_behind_the_other);
    TEST(lines_of_the_slices);
    TEST(threads_and_polling_change_nothing);
    TEST_LOOP(random_kernels_compute_the_same, 0, base_models()->n);
}
