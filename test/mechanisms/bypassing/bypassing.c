/* Tests misses that allocate no line: MSHRs of a cache, the policies, and kernels whose loads go past the L1 or L2. */
#include "host/heddle.h"
#include "mechanisms/all.h"
#include "test/every_model.h"
#include "test/random.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/mem/bypass.h"
#include "timing/mem/cache.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cache c;
static struct cache_out out;

static void start(uint32_t sets, uint32_t ways, bool sectored) {
    const struct cache_shape s = {
        .sets = sets, .ways = ways, .line_bytes = 128, .mshrs = 2, .merges = 2, .sectored = sectored};
    ck_assert(cache_init(&c, &s));
}

/* A miss past the cache fetches only the wanted sectors and holds an MSHR. A read of some of these sectors joins it, a
 * read of others needs its own MSHR, and both MSHRs are then in use. The fill leaves no line. */
START_TEST(a_miss_past_the_cache_holds_an_mshr) {
    uint64_t target;
    start(1, 2, _i == 1);
    ck_assert_int_eq(cache_read(&c, 5, 0xf, 9, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_int_eq(cache_read_past(&c, 7, 0x6, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.fetch, 0x6);
    ck_assert(!out.evicted);
    const uint32_t mshr = out.mshr;
    ck_assert(cache_fills_nothing(&c, mshr));
    ck_assert_int_eq(cache_read_past(&c, 7, 0x2, 2, &out), CACHE_MERGED);
    ck_assert_uint_eq(out.mshr, mshr);
    if (_i == 0) {
        ck_assert_int_eq(cache_read_past(&c, 7, 0x2, 3, &out), CACHE_NO_MERGE);
        ck_assert_int_eq(cache_read_past(&c, 7, 0x1, 3, &out), CACHE_MISS);
        ck_assert_uint_ne(out.mshr, mshr);
    }
    /* no MSHR is free: both hold a miss, or, in the sectored cache, both possible sectors are outstanding */
    ck_assert_int_eq(cache_read_past(&c, 8, 0x1, 4, &out), CACHE_NO_MSHR);
    ck_assert_int_eq(cache_read(&c, 8, 0x1, 4, &out), CACHE_NO_MSHR);
    cache_fill(&c, mshr, 0x6);
    for (uint64_t want = 1; want <= 2; want++) {
        ck_assert(cache_take(&c, mshr, &target));
        ck_assert_uint_eq(target, want);
    }
    ck_assert(!cache_take(&c, mshr, &target));
    ck_assert_uint_eq(cache_look(&c, 7).way, CACHE_NO_WAY);
    ck_assert_int_eq(cache_read(&c, 5, 0xf, 9, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read_past(&c, 7, 0x2, 5, &out), CACHE_MISS);
    cache_free(&c);
}
END_TEST

enum { SETS = 4, WAYS = 2, LOADS = 6 };

/* The reference for `reuse`: for each set the lines in the order of use, and for each load a counter. */
static struct held_line {
    uint64_t line;
    uint32_t pc;
    bool used;
} sets[SETS][WAYS];
static int unused[LOADS], run_of_passes[LOADS];

/* Returns 'h' for a hit, 'p' for a miss that goes past, 'a' for a miss that allocates a line. */
static char reference(uint32_t pc, uint64_t line) {
    struct held_line *set = sets[(line - 1) % SETS], now = {line, pc, false};
    uint32_t at = 0;
    while (at < WAYS - 1 && set[at].line != line)
        at++;
    const bool hit = set[at].line == line;
    if (!hit && unused[pc] >= 8 && run_of_passes[pc] < 15) {
        run_of_passes[pc]++;
        return 'p';
    }
    if (hit) {
        unused[set[at].pc] -= !set[at].used && unused[set[at].pc] > 0;
        now = set[at];
        now.used = true;
    } else {
        unused[set[at].pc] += set[at].line && !set[at].used && unused[set[at].pc] < 15;
        run_of_passes[pc] = 0;
    }
    for (; at; at--)
        set[at] = set[at - 1];
    set[0] = now;
    return hit ? 'h' : 'a';
}

static char access_with(struct bypass *b, uint32_t pc, uint64_t line) {
    struct cache_spot at = cache_look(&c, line);
    struct bypass_access a = {.line = line, .pc = pc};
    uint64_t target;
    bool past = bypass_goes_past(b, &c, at, &a);
    ck_assert(at.way != CACHE_NO_WAY || a.set == line % SETS);
    ck_assert(!a.full);
    enum cache_result r = past ? cache_read_past(&c, line, 1, 1, &out) : cache_read_at(&c, at, line, 0xf, 1, &out);
    bypass_tell(b, &c, &a, past, at.way != CACHE_NO_WAY);
    if (r == CACHE_HIT)
        return 'h';
    cache_fill(&c, out.mshr, out.fetch);
    ck_assert(cache_take(&c, out.mshr, &target));
    return past ? 'p' : 'a';
}

/* Loads 0 to 2 read few lines again and again; loads 3 to 5 read lines of a large area. */
START_TEST(reuse_is_as_the_reference) {
    struct bypass b = {NULL, NULL};
    uint64_t random = 17;
    int n[3] = {0};
    start(SETS, WAYS, false);
    ck_assert(bypass_use(&b, mechanism_bypass("reuse"), &c));
    for (int i = 0; i < 30000; i++) {
        uint32_t pc = (uint32_t)test_random_below(&random, LOADS);
        uint64_t line = pc < LOADS / 2 ? test_random_below(&random, 6) : 100 + test_random_below(&random, 200);
        char want = reference(pc, line + 1), got = access_with(&b, pc, line);
        ck_assert_msg(want == got, "access %d: %c, not %c", i, got, want);
        n[want == 'h' ? 0 : want == 'p' ? 1 : 2]++;
    }
    ck_assert(n[0] > 3000 && n[1] > 3000 && n[2] > 1000);
    bypass_free(&b);
    cache_free(&c);
}
END_TEST

#define HEAD                                                                                                           \
    ".version 7.4\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %q;\n ld.param.u64 %a1,[p];\n"
#define LOAD(op, offset) " ld.global" op ".u32 %r1,[%a1+" offset "]; cvt.u64.u32 %a2,%r1; add.u64 %a1,%a1,%a2;\n"

/* One warp reads lines A, B, C, D and E twice each, one load after another. The loads of B, C and D have hints. The
 * loads of E (.cg) do not access the L1. */
static const char ten_loads[] = HEAD LOAD("", "0") LOAD(".cs", "128") LOAD(".lu", "256") LOAD(".L1::no_allocate", "384")
    LOAD(".cg", "512") LOAD("", "0") LOAD(".cs", "128") LOAD(".lu", "256") LOAD(".L1::no_allocate", "384")
        LOAD(".cg", "512") " ret;\n}\n";

static struct heddle *run(const char *model, const char *const *set, uint32_t threads, const char *text, int launches,
                          uint32_t ctas) {
    char err[256];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = set, .threads = threads}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 20);
    heddle_clear(h, p, 1 << 20);
    const struct heddle_arg args[] = {{&p, 8}};
    for (int i = 0; i < launches; i++)
        ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args,
                                    1) == HEDDLE_OK,
                      "%s", heddle_error(h));
    return h;
}

static void check_l1(const char *policy, const char *text, double accesses, double misses, double bypassed) {
    const char *const set[] = {policy, NULL};
    struct heddle *h = run("spe", set, 1, text, 1, 1);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.accesses"), accesses);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.misses"), misses);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.bypassed"), bypassed);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.fills"), misses - bypassed);
    heddle_close(h);
}

/* 8 of the 10 loads read the tags of the L1. Without a policy, lines A to D miss once each. With `all`, each of the 8
 * loads misses. With `hinted`, A misses once, and each of the 6 loads of B, C and D misses. */
START_TEST(static_policies) {
    check_l1("l1.bypass=none", ten_loads, 8, 4, 0);
    check_l1("l1.bypass=all", ten_loads, 8, 8, 8);
    check_l1("l1.bypass=hinted", ten_loads, 8, 7, 6);
}
END_TEST

/* The L1 has room for one line. The kernel loads lines A, B and A; only the last load waits for the others. Line A is
 * outstanding when the load of B reads the tags.
 * - none: the load of B waits until line A has arrived, and then replaces it. So the last load misses again: three
 *   misses, one after another.
 * - stall: the load of B goes past the L1. Lines A and B arrive almost together, and the last load hits. So the kernel
 *   takes about two latencies less. */
START_TEST(stall_goes_past_a_full_set) {
    static const char text[] = HEAD " ld.global.u32 %r1,[%a1]; ld.global.u32 %r2,[%a1+128]; add.u32 %r1,%r1,%r2;\n"
                                    " cvt.u64.u32 %a2,%r1; add.u64 %a1,%a1,%a2;\n" LOAD("", "0") " ret;\n}\n";
    static const char *const set[2][5] = {{"l1.size=128", "l1.ways=1", "memory.latency=1000", "l1.bypass=none", NULL},
                                          {"l1.size=128", "l1.ways=1", "memory.latency=1000", "l1.bypass=stall", NULL}};
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        struct heddle *h = run("spe", set[i], 1, text, 1, 1);
        ck_assert_double_eq(heddle_stat(h, 0, "l1.bypassed"), i);
        ck_assert_double_eq(heddle_stat(h, 0, "l1.misses"), i ? 2 : 3);
        cycles[i] = heddle_stat(h, 0, "gpu.cycles");
        heddle_close(h);
    }
    ck_assert_double_le(cycles[0] - cycles[1], 2000);
    ck_assert_double_ge(cycles[0] - cycles[1], 1990);
}
END_TEST

/* The second launch finds A, B, C, D and E in the L2, unless they went past it. Instructions and the line of the
 * parameter are in the L2 in any case. */
START_TEST(l2_keeps_no_line) {
    static const char *const set[2][3] = {{"memory.model=full", "l2.bypass=none", NULL},
                                          {"memory.model=full", "l2.bypass=all", NULL}};
    for (int i = 0; i < 2; i++) {
        struct heddle *h = run("spe", set[i], 1, ten_loads, 2, 1);
        ck_assert_double_eq(heddle_stat(h, 1, "l2.misses"), i ? 6 : 0); /* .cg reads E twice */
        ck_assert_double_eq(heddle_stat(h, 1, "l2.bypassed"), i ? 6 : 0);
        heddle_close(h);
    }
}
END_TEST

static const char *const policies[] = {"all", "hinted", "stall", "reuse"};
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* Policies change only timing. Small caches and tables make accesses wait. With gpu.poll, which
 * simulates every cycle, a run takes the same number of cycles. */
START_TEST(random_kernels_compute_the_same) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    char l1[32], l2[32], err[256];
    snprintf(l1, sizeof l1, "l1.bypass=%s", policies[_i]);
    snprintf(l2, sizeof l2, "l2.bypass=%s", policies[_i]);
    for (unsigned seed = 1; seed <= 3; seed++) {
        double cycles = 0;
        char *text = random_kernel((uint64_t)seed * 10 + (unsigned)_i, seed % 4);
        random_input(seed, in);
        for (int run = 0; run < 3; run++) {
            const char *const set[] = {"sm.registers=65536",
                                       "sm.shared_bytes=16384",
                                       "memory.model=full",
                                       "l1.size=1024",
                                       "l1.mshrs=3",
                                       "l2.mshrs=2",
                                       "l1.write=write_back",
                                       seed == 2 ? "l1.sectored=on" : "l1.sectored=off",
                                       seed == 2 ? "l2.sectored=on" : "l2.sectored=off",
                                       run == 2 ? "gpu.poll=true" : "gpu.poll=false",
                                       l1,
                                       l2,
                                       NULL};
            const char *model = run ? base_models()->name[seed % (unsigned)base_models()->n] : "functional";
            struct heddle *h =
                heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
            ck_assert_msg(h != NULL, "%s", err);
            struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
            ck_assert_msg(m != NULL, "%s", heddle_error(h));
            uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof got);
            heddle_write(h, din, in, sizeof in);
            const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
            ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                        (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                          "%s: %s", model, heddle_error(h));
            heddle_read(h, dout, run ? got : want, sizeof got);
            ck_assert(!run || memcmp(got, want, sizeof want) == 0);
            ck_assert(run < 2 || heddle_stat(h, 0, "gpu.cycles") == cycles);
            cycles = run ? heddle_stat(h, 0, "gpu.cycles") : 0;
            heddle_close(h);
        }
        free(text);
    }
}
END_TEST

SUITE(mechanisms_bypassing) {
    TEST_LOOP(a_miss_past_the_cache_holds_an_mshr, 0, 2);
    TEST(reuse_is_as_the_reference);
    TEST(static_policies);
    TEST(stall_goes_past_a_full_set);
    TEST(l2_keeps_no_line);
    TEST_LOOP(random_kernels_compute_the_same, 0, N_POLICIES);
}
