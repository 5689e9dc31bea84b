/* Tests schedulers and replacement policies in a GPU that runs kernels. The policies are defined in test/toys. */
#include "test/toys/policies.h"
#include "host/context.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/mem/replacement.h"
#include "timing/report/stat.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/sched/sched_ops.h"
#include <stdio.h>

static const struct gpu_policies built_in, toys = {.scheduler = &sched_highest,
                                                   .l1 = &replacement_fifo,
                                                   .l2 = &replacement_fifo,
                                                   .l1_bypass = &bypass_odd,
                                                   .ctas = &cta_policy_chunks};

static struct heddle *open_with(const char *model, const char *config, const char *const *set, uint32_t threads,
                                const struct gpu_policies *p) {
    char err[512];
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = config, .set = set, .threads = threads},
                     &(struct context_parts){.models = &model_tables, .policies = *p}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static uint64_t last_buffer; /* address of the memory of the last launch() */

/* Runs the kernel "k" of `text` on zeroed memory. */
static void launch(struct heddle *h, const char *text, uint64_t bytes, uint32_t ctas, uint32_t threads) {
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = last_buffer = heddle_alloc(h, bytes);
    ck_assert_int_eq(heddle_clear(h, p, bytes), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
}

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %q;\n ld.param.u64 %a1,[p];\n"
#define LOAD(offset) " ld.global.u32 %r1,[%a1+" offset "]; cvt.u64.u32 %a2,%r1; add.u64 %a1,%a1,%a2;\n"

/* One warp loads lines A, B, A, C, A, one after another, from a cache of one set of two ways. Under lru, C replaces B,
 * so the misses are A, B and C. Under fifo, C replaces A, which was allocated first although it was used last, so the
 * last load of A is the fourth miss. */
static const char five_loads[] = HEAD LOAD("0") LOAD("128") LOAD("0") LOAD("256") LOAD("0") " ret;\n}\n";

static double l1_misses(const struct gpu_policies *p) {
    static const char *const set[] = {"l1.size=256", "l1.ways=2", NULL};
    struct heddle *h = open_with("spe", "tiny", set, 1, p);
    launch(h, five_loads, 4096, 1, 32);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.accesses"), 5);
    double misses = heddle_stat(h, 0, "l1.misses");
    heddle_close(h);
    return misses;
}

START_TEST(l1_uses_the_policy) {
    ck_assert_double_eq(l1_misses(&built_in), 3);
    ck_assert_double_eq(l1_misses(&(struct gpu_policies){.l1 = &replacement_fifo}), 4);
    ck_assert_double_eq(l1_misses(&(struct gpu_policies){.l2 = &replacement_fifo}), 3);
}
END_TEST

/* Runs the same loads from the L2, without an L1. The line that holds the kernel parameter is read first, and B
 * replaces this line under both policies. */
static double l2_misses(const struct gpu_policies *p) {
    static const char *const set[] = {"l1.size=0",   "memory.model=full", "l2.slices=1",
                                      "l2.size=256", "l2.ways=2",         NULL};
    struct heddle *h = open_with("spe", "tiny", set, 1, p);
    launch(h, five_loads, 4096, 1, 32);
    double misses = heddle_stat(h, 0, "l2.misses");
    ck_assert_double_eq(heddle_stat(h, 0, "l2.accesses"), 6);
    heddle_close(h);
    return misses;
}

START_TEST(l2_uses_the_policy) {
    ck_assert_double_eq(l2_misses(&built_in), 4);
    ck_assert_double_eq(l2_misses(&(struct gpu_policies){.l2 = &replacement_fifo}), 5);
    ck_assert_double_eq(l2_misses(&(struct gpu_policies){.l1 = &replacement_fifo}), 4);
}
END_TEST

/* Makes a unit that records the order in which warps end. */
static void *note_make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static void note_exited(void *u, struct sm *sm, uint32_t warp, uint64_t now) {
    char *text = u;
    (void)sm, (void)now;
    snprintf(text + strlen(text), 4, "%u ", warp);
}
static const struct sm_unit_ops note_unit = {.name = "note", .make = note_make, .exited = note_exited};

static void order_of_ends(const struct gpu_policies *p, char out[64]) {
    static const char text[] = HEAD " mov.u32 %r4,0;\nL: add.u32 %r4,%r4,1; add.u32 %r5,%r5,1; add.u32 %r6,%r6,1;\n"
                                    " setp.lt.u32 %q,%r4,50; @%q bra L;\n ret;\n}\n";
    char err[512];
    const struct sm_unit_row row = {&note_unit, out};
    *out = '\0';
    struct heddle *h = context_open(
        &(struct heddle_options){.model = "spe", .config = "tiny", .threads = 1},
        &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1, .policies = *p}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    launch(h, text, 64, 1, 128);
    heddle_close(h);
}

/* Four warps, which start in the order 0, 1, 2, 3, compete for one scheduler. A round-robin scheduler lets them end in
 * that order. If the highest slot has priority, warp 3 never waits for another warp, warp 2 waits only for warp 3, and
 * so on, so they end in the reverse order. While a table is nearly full, schedulers pick warps round-robin, so the test
 * needs larger tables than the smallest. */
START_TEST(highest_warp_ends_first) {
    char order[64];
    if (LEAST_TABLES) {
        test_skip("the smallest tables are often nearly full, and then no policy picks the warps");
        return;
    }
    order_of_ends(&built_in, order);
    ck_assert_str_eq(order, "0 1 2 3 ");
    order_of_ends(&(struct gpu_policies){.scheduler = &sched_highest}, order);
    ck_assert_str_eq(order, "3 2 1 0 ");
}
END_TEST

/* Counts of the calls that the schedulers of a single SM made to their policy. */
static struct { uint32_t starts, ends, live, issued, parked; } told;
static int tell_pick(void *state, const struct sched_view *s, const struct warp_set *ready) {
    (void)state, (void)s;
    return (int)warp_set_first(ready);
}
static void tell_issued(void *state, const struct sched_view *s, uint32_t warp) {
    (void)state;
    ck_assert(warp_set_has(s->mine, warp));
    told.issued++;
}
static void tell_starts(void *state, const struct sched_view *s, uint32_t warp) {
    (void)state;
    ck_assert(warp_set_has(s->mine, warp));
    told.starts++;
    told.live++;
}
static void tell_ends(void *state, const struct sched_view *s, uint32_t warp) {
    (void)state;
    ck_assert(warp_set_has(s->mine, warp) && told.live);
    told.ends++;
    told.live--;
}
static void tell_parked(void *state, const struct sched_view *s, const struct warp_set *live,
                        const struct warp_set *parked) {
    (void)state, (void)s;
    if (warp_set_any(live, 1))
        told.parked += warp_set_count(parked, 1) == warp_set_count(live, 1);
}

/* Six CTAs of two warps on one SM: twelve warps start and end, and each issues 8 instructions: one reads the
 * parameter, one ends the warp, and each of two loads takes three. With `cycle_ends`, every warp is parked at some
 * time, since all warps wait for their loads. */
START_TEST(policy_hears_of_warps) {
    static const char text[] = HEAD LOAD("0") LOAD("128") " ret;\n}\n";
    struct sched_ops ops = {.name = "told",
                            .pick = tell_pick,
                            .issued = tell_issued,
                            .warp_starts = tell_starts,
                            .warp_ends = tell_ends,
                            .cycle_ends = _i ? tell_parked : NULL};
    memset(&told, 0, sizeof told);
    struct heddle *h = open_with("spe", "tiny", NULL, 1, &(struct gpu_policies){.scheduler = &ops});
    launch(h, text, 4096, 6, 64);
    ck_assert_uint_eq(told.starts, 12);
    ck_assert_uint_eq(told.ends, 12);
    ck_assert_uint_eq(told.live, 0);
    ck_assert_uint_eq(told.issued, 12 * 8);
    ck_assert_double_eq(told.issued, heddle_stat(h, 0, "issue.issued"));
    ck_assert(_i ? told.parked > 0 : told.parked == 0);
    heddle_close(h);
}
END_TEST

/* Runs a kernel of `ctas` CTAs on two SMs. Each CTA writes the number of its SM. Returns these numbers as text. */
static const char *sms_of_ctas(const struct cta_ops *ops, const char *most, uint32_t ctas) {
    static const char text[] = HEAD " mov.u32 %r1,%ctaid.x; mul.wide.u32 %a2,%r1,4; add.u64 %a1,%a1,%a2;\n"
                                    " mov.u32 %r2,%smid; st.global.u32 [%a1],%r2; ret;\n}\n";
    static char out[64];
    uint32_t sm[32], n = 0;
    const char *const set[] = {"gpu.sms=2", most, NULL};
    struct heddle *h = open_with("spe", "tiny", set, 1, &(struct gpu_policies){.ctas = ops});
    launch(h, text, sizeof sm, ctas, 32);
    ck_assert_int_eq(heddle_read(h, last_buffer, sm, sizeof sm), HEDDLE_OK);
    for (; n < ctas; n++)
        out[n] = (char)('0' + sm[n]);
    out[n] = '\0';
    heddle_close(h);
    return out;
}

/* Two SMs have room for four CTAs each. Under in_order they take turns. Under chunks, SM 0 gets the first half of the
 * grid. With room for only one CTA, each SM gets the next CTA of its half when its current CTA has ended. */
START_TEST(cta_policy_chooses_the_sm) {
    ck_assert_str_eq(sms_of_ctas(NULL, "sm.ctas=4", 7), "0101010");
    ck_assert_str_eq(sms_of_ctas(&cta_policy_chunks, "sm.ctas=4", 7), "0001111");
    ck_assert_str_eq(sms_of_ctas(&cta_policy_chunks, "sm.ctas=1", 7), "0001111");
}
END_TEST

/* A policy that gives an SM at most two CTAs, and records its calls. */
static struct { uint32_t begins, picks, refused, ended, most_held; } calls;
static void calls_begin(void *state, const struct cta_view *v) {
    (void)state;
    calls.begins++;
    ck_assert_uint_eq(v->begun, 0);
    ck_assert_uint_eq(v->total, 6);
    ck_assert_uint_eq(v->occupancy, 4);
}
static uint64_t calls_pick(void *state, const struct cta_view *v, uint32_t sm) {
    (void)state;
    calls.picks++;
    calls.most_held = v->held[sm] > calls.most_held ? v->held[sm] : calls.most_held;
    calls.refused += v->held[sm] == 2;
    return v->held[sm] < 2 ? v->begun : CTA_NONE;
}
static void calls_ended(void *state, const struct cta_view *v, uint32_t sm, uint32_t n) {
    (void)state;
    calls.ended += n;
    ck_assert_uint_lt(v->held[sm], 2);
}

/* Six CTAs on one SM, two at a time. Two begin, the policy refuses a third, and this repeats after each end. The last
 * CTA begins when four have ended. The SM never holds more than two CTAs of one warp each. */
START_TEST(cta_policy_hears_of_ends) {
    static const char text[] = HEAD LOAD("0") LOAD("128") " ret;\n}\n";
    static const struct cta_ops ops = {.name = "calls", .pick = calls_pick, .begin = calls_begin, .ended = calls_ended};
    memset(&calls, 0, sizeof calls);
    struct heddle *h = open_with("spe", "tiny", NULL, 1, &(struct gpu_policies){.ctas = &ops});
    launch(h, text, 4096, 6, 32);
    ck_assert_uint_eq(calls.begins, 1);
    ck_assert_uint_eq(calls.ended, 4);
    ck_assert_uint_eq(calls.most_held, 2);
    ck_assert_uint_eq(calls.picks, 6 + calls.refused);
    ck_assert_uint_le(calls.refused, 4); /* after a refusal, the policy is called again only when a CTA has ended */
    ck_assert_double_eq(heddle_stat(h, 0, "gpu.max_resident_warps"), 2);
    heddle_close(h);
}
END_TEST

static void hear_nothing(void *state, const struct sched_view *s, const struct warp_set *live,
                         const struct warp_set *parked) {
    (void)state, (void)s, (void)live, (void)parked;
}

/* 64 CTAs of 3 warps add up the words of lines. All statistics are the same with one host thread, with four host
 * threads, with simulation of every cycle, and with a policy that has a callback at the end of cycles (this callback
 * disables the SM's fast path). */
START_TEST(threads_and_paths_change_nothing) {
    static const char sums[] =
        HEAD " mov.u32 %r1,%ctaid.x;\n mov.u32 %r3,%tid.x; mad.lo.u32 %r1,%r1,256,%r3; mul.wide.u32 %a2,%r1,4;\n"
             " add.u64 %a1,%a1,%a2; mov.u32 %r4,0; mov.u32 %r5,0;\n"
             "L: ld.global.u32 %r6,[%a1]; add.u32 %r5,%r5,%r6; add.u64 %a1,%a1,65536; add.u32 %r4,%r4,1;\n"
             " setp.lt.u32 %q,%r4,16; @%q bra L;\n st.global.u32 [%a1],%r5; ret;\n}\n";
    struct sched_ops listens = sched_highest;
    listens.cycle_ends = hear_nothing;
    int n;
    const struct stat_def *defs = stat_defs(&n);
    double *first = calloc((size_t)n, sizeof *first);
    ck_assert_ptr_nonnull(first);
    for (int run = 0; run < 4; run++) {
        const char *const set[] = {run == 2 ? "gpu.poll=true" : "gpu.poll=false", NULL};
        struct gpu_policies p = toys;
        p.scheduler = run == 3 ? &listens : p.scheduler;
        struct heddle *h = open_with("spe", "fermi", set, run == 1 ? 4 : 1, &p);
        launch(h, sums, 65536 * 17, 64, 96);
        for (int i = 0; i < n; i++) {
            double v = heddle_stat(h, 0, defs[i].name);
            if (strncmp(defs[i].name, "host.", 5) == 0)
                continue;
            if (run == 0)
                first[i] = v;
            ck_assert_msg(v == first[i], "run %d, %s: %g and %g", run, defs[i].name, first[i], v);
        }
        heddle_close(h);
    }
    free(first);
}
END_TEST

static void run_random(const char *text, const char *model, const struct gpu_policies *p, const uint32_t *in,
                       uint32_t *out) {
    static const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384", "memory.model=full", NULL};
    struct heddle *h = open_with(model, "tiny", set, 1, p);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, RANDOM_IN_WORDS * 4), dout = heddle_alloc(h, RANDOM_OUT_WORDS * 4);
    heddle_write(h, din, in, RANDOM_IN_WORDS * 4);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s: %s", model, heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * 4);
    heddle_close(h);
}

/* Policies change only timing: the results are the same. */
START_TEST(random_kernels_compute_the_same) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (unsigned seed = 1; seed <= 4; seed++) {
        char *text = random_kernel((uint64_t)seed * 100 + (unsigned)_i, seed % 4);
        random_input(seed, in);
        run_random(text, "functional", &built_in, in, want);
        run_random(text, base_models()->name[_i], &toys, in, got);
        ck_assert_msg(memcmp(got, want, sizeof want) == 0, "%s, seed %u", base_models()->name[_i],
                      seed * 100 + (unsigned)_i);
        free(text);
    }
}
END_TEST

SUITE(timing_policies) {
    TEST(l1_uses_the_policy);
    TEST(l2_uses_the_policy);
    TEST(highest_warp_ends_first);
    TEST_LOOP(policy_hears_of_warps, 0, 2);
    TEST(cta_policy_chooses_the_sm);
    TEST(cta_policy_hears_of_ends);
    TEST(threads_and_paths_change_nothing);
    TEST_LOOP(random_kernels_compute_the_same, 0, base_models()->n);
}
