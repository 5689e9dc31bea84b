/* Prefetchers in a GPU that runs kernels, by one that is not part of the product (test/toys/next_line.c). */
#include "host/context.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/prefetchers.h"
#include "timing/mem/prefetch.h"
#include "timing/report/stat.h"
#include <stdio.h>

enum { LINES = 8, LATENCY = 600, L1 = 35 };

/* One warp loads so many lines, one behind the other, each from an address that the last load gave (p is zeroed). */
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

/* Cycles of the walk over `lines` lines; instructions cost nothing to fetch (tiny.cfg). `row` NULL: no prefetcher. */
static double walk_takes(int lines, const char *const *set, const struct prefetcher_row *row) {
    struct heddle *h = open_with("spe", "tiny", set, 1, row, row != NULL);
    launch(h, module(h, walk(lines)), zeroed(h, 4096), 1, 32);
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* Let a load's tags be read c cycles after those of the load before it when all hit. Without a prefetcher each line
 * costs 600 more. With one, line 1 misses at t, and 2 is asked for, whose tags are read at t + 35 and whose data come
 * at t + 635. Load 2 reads its tags at t + 600 + c: it hits, since c > 35, and is line 2's first use, at u. Line 3
 * comes at u + 635; its load is there at u + c, late, and goes on at u + 635. It has asked for 4 at u + c, which comes
 * at u + c + 635, in the cycle in which its load reads the tags: a hit again. So 1 costs 600, and 3, 5 and 7 cost 635 -
 * c each. Line 9 is asked for last, when 8 is used first; it comes when the kernel has ended, before the launch has. */
START_TEST(lines_one_behind_the_other) {
    struct next_line_toy toy = {.seen = 0};
    const struct prefetcher_row row = {&next_line_prefetcher, &toy, PREFETCH_AT_L1};
    double hits = walk_takes(LINES, all_hit, NULL), c = hits - walk_takes(LINES - 1, all_hit, NULL);
    ck_assert_double_gt(c, L1);
    ck_assert_double_eq(walk_takes(LINES, fixed_latency, NULL), hits + LINES * LATENCY);
    ck_assert_double_eq(walk_takes(LINES, fixed_latency, &row), hits + LATENCY + 3 * (L1 + LATENCY - c));
    ck_assert_uint_eq(toy.seen, LINES + 1 + LINES); /* loads, the store, and what it asks for */
    ck_assert_uint_eq(toy.asked[PREFETCH_QUEUED], LINES);
    ck_assert_uint_eq(toy.answered[PREFETCH_SENT], LINES);
    ck_assert_uint_eq(toy.answered[PREFETCH_ARRIVED], LINES);
    ck_assert_uint_eq(toy.useful, LINES - 1);
    ck_assert_uint_eq(toy.late, 3);
    ck_assert_uint_eq(toy.unused, 0);
}
END_TEST

/* What a prefetcher at the L2 does for a walk from a cold L2, and again. */
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

/* Two slices take 256 bytes in turn: the next line is the slice's own after each first line of a piece. Of eight lines
 * 1, 3, 5 and 7 (from 0) are asked for; 2, 4, 6 and 8 are another slice's. With one slice all are, 1 to 8. What the
 * parameter's line brings is counted with a walk of nothing. The kernel then takes less than one that finds nothing in
 * the L2, and more than one that finds all of it there, as a second launch does. */
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
        ck_assert_double_eq(with.cycles[1], cold.cycles[1]); /* nothing misses then */
    }
}
END_TEST

/* 64 CTAs of 3 warps, each of which adds up 16 lines that nobody else wants; every fourth is nobody's: the counts and
 * cycles of all SMs and slices are the same on one host thread and on four, and when every cycle is walked. */
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

/* Prefetchers change when things happen, and nothing else: in machines with plenty and with least of everything. */
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
