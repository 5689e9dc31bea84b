/* Tests subwarp interleaving (si) against its baseline (its), with results derived by hand: the cost of a switch,
 * hidden latency, statistics, and the bits of a warp's state. Memory latency is 600 cycles. */
#include "host/heddle.h"
#include "test/bases.h"
#include "test/every_model.h"
#include "test/mechanisms/policy_rig.h"
#include "test/test.h"
#include <stdio.h>

static struct heddle *h;
static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }
static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"           \
    ".reg .pred %q, %o; .reg .b64 %a; .reg .f32 %f1; .shared .b32 s[64]; ld.param.u64 %a,[p]; mov.u32 %r1,%laneid; "   \
    "setp.lt.u32 %q,%r1,16;\n add.u64 "                                                                                \
    "%a,%a,0;\n" /* waits for the parameter */

/* Runs a kernel with `body`. `set` is a list of options that ends with NULL. */
static void run_threads(const char *model, const char *const *set, const char *body, uint32_t threads) {
    static char text[4096];
    char err[512] = "";
    const char *all[8] = {"memory.latency=600"};
    for (int i = 0; set && set[i]; i++)
        all[1 + i] = set[i];
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = model, .config = "turing", .set = all, .cycle_limit = 100000},
                    err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, "%s%s ret;\n}\n", HEAD, body);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
}

static void run(const char *model, const char *const *set, const char *body) { run_threads(model, set, body, 32); }

/* Each half of the warp executes an addition and does not wait. The only switch is at the BSYNC, where the first half
 * blocks. */
static const char plain[] = "@%q bra T; add.u32 %r2,%r1,1; bra J;\nT: add.u32 %r2,%r1,2;\nJ: st.global.u32 [%a],%r2;\n";
/* Each half of the warp loads its own line and uses the value at once. */
static const char loads[] = "@%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
                            "T: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2;\n";
/* All lanes load one line and use it. */
static const char together[] = "ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; st.global.u32 [%a],%r2;\n";
/* Each quarter of the warp loads its own line and uses the value. */
static const char quarters[] =
    "shr.u32 %r3,%r1,3; ts: .branchtargets A,B,C,D; brx.idx %r3,ts;\n"
    "A: ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\nB: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2; bra "
    "J;\n"
    "C: ld.global.u32 %r2,[%a+3072]; add.u32 %r2,%r2,3; bra J;\nD: ld.global.u32 %r2,[%a+4096]; add.u32 %r2,%r2,4;\n"
    "J: st.global.u32 [%a],%r2;\n";

static double cycles(const char *model, const char *option, const char *body) {
    const char *const set[] = {option, NULL};
    run(model, set, body);
    return stat("gpu.cycles");
}

/* In both models the only switch is at the barrier. If a switch takes 100 cycles more, the kernel takes 100 cycles
 * more. The kernel has no stalls, so the cost of a switch at a stall has no effect. */
START_TEST(a_selection_at_a_barrier_costs_both_models_the_same) {
    double quick = cycles("its", "its.switch_latency=0", plain);
    ck_assert_double_eq(stat("sm.path_switches"), 1);
    ck_assert_double_eq_tol(cycles("its", "its.switch_latency=100", plain) - quick, 100, 4);
    ck_assert_double_eq(cycles("si", "its.switch_latency=0", plain), quick);
    ck_assert_double_eq(stat("sm.path_switches"), 1);
    ck_assert_double_eq(cycles("si", "si.switch_latency=100", plain), cycles("its", "si.switch_latency=100", plain));
    ck_assert_double_eq(cycles("si", "si.yield=off", plain),
                        cycles("si", "its.switch_latency=6", plain)); /* the default */
}
END_TEST

/* Both halves execute a load. There are two switches at stalls (each half stalls, and the half that wakes first becomes
 * ACTIVE), and switches at barriers. Assume that a switch at a stall takes 100 cycles. The first switch overlaps with
 * the first load and delays the second load. The second switch occurs while both halves wait, and delays the first
 * half's use of its value. */
START_TEST(a_selection_at_a_stall_costs_its_own) {
    cycles("si", "si.switch_latency=0", loads);
    double switches = stat("sm.path_switches"), quick = cycles("si", "si.switch_latency=0", loads);
    double slow = cycles("si", "si.switch_latency=100", loads);
    ck_assert_double_ge(switches, 3);
    ck_assert_double_ge(slow - quick, 96);
    ck_assert_double_le(slow - quick, 100 * switches + 4);
    ck_assert_double_eq(cycles("its", "si.switch_latency=100", loads), cycles("its", "si.switch_latency=0", loads));
}
END_TEST

/* A converged warp waits for one load latency, and no wait counts as divergent. Two halves that run one after the other
 * (its) wait for two latencies; halves that overlap (si) wait for one. All these waits count as divergent. No wait for
 * the last store is counted. */
START_TEST(exposed_stalls_are_counted) {
    run("its", NULL, "");
    double before = stat("sm.exposed_load_stalls"); /* all lanes wait for the parameter */
    run("its", NULL, together);
    double one = stat("sm.exposed_load_stalls") - before;
    ck_assert_double_ge(one, 600);
    ck_assert_double_lt(one, 700);
    ck_assert_double_eq(stat("sm.exposed_load_stalls_divergent"), 0);
    run("its", NULL, loads);
    ck_assert_double_eq_tol(stat("sm.exposed_load_stalls") - before, 2 * one, 40);
    ck_assert_double_eq(stat("sm.exposed_load_stalls_divergent"), stat("sm.exposed_load_stalls") - before);
    run("si", NULL, loads);
    ck_assert_double_eq_tol(stat("sm.exposed_load_stalls") - before, one, 60);
    ck_assert_double_eq(stat("sm.exposed_load_stalls_divergent"), stat("sm.exposed_load_stalls") - before);
}
END_TEST

/* Writes a kernel body in which eight subwarps each execute four loads and use each value at once. Under its, the warp
 * waits 32 times for 600 cycles. With n table entries, the loads of n subwarps overlap, so the warp waits 32 / n times.
 * Each subwarp also has instruction cache misses, because the code is straight. No other work hides them, so the test
 * sets a short miss latency. */
static void eighths(char *body, size_t size) {
    size_t at = (size_t)snprintf(body, size,
                                 "shr.u32 %%r3,%%r1,2; ts: .branchtargets C0,C1,C2,C3,C4,C5,C6,C7; brx.idx %%r3,ts;\n");
    for (int c = 0; c < 8; c++) {
        at += (size_t)snprintf(body + at, size - at, "C%d:", c);
        for (int k = 0; k < 4; k++)
            at += (size_t)snprintf(body + at, size - at, " ld.global.u32 %%r%d,[%%a+%d]; add.u32 %%r2,%%r%d,%d;", 4 + k,
                                   1024 * (4 * c + k + 1), 4 + k, c);
        at += (size_t)snprintf(body + at, size - at, " bra J;\n");
    }
    snprintf(body + at, size - at, "J: st.global.u32 [%%a],%%r2;\n");
}

START_TEST(the_status_table_bounds_interleaving) {
    static char body[4096];
    eighths(body, sizeof body);
    double before = cycles("its", "fetch.miss_latency=1", ""); /* all lanes wait for the parameter */
    double its = cycles("its", "fetch.miss_latency=1", body) - before;
    ck_assert_double_ge(its, 32 * 600);
    for (int n = 2; n <= 8; n *= 2) {
        char option[32];
        snprintf(option, sizeof option, "si.max_subwarps=%d", n);
        run("si", (const char *[]){"fetch.miss_latency=1", option, NULL}, body);
        double times = its / (stat("gpu.cycles") - before);
        ck_assert_msg(times <= n && times >= 0.9 * n, "%d entries: %g times", n, times);
    }
}
END_TEST

/* With one table entry, no other subwarp can become active at a stall. If both models use the same kind of scoreboard,
 * si then takes the same cycles as the baseline, for any values of the other options. */
START_TEST(one_entry_is_the_baseline) {
    static char body[4096];
    eighths(body, sizeof body);
    const char *const bodies[] = {plain, loads, together, quarters, body};
    static const char *const extra[] = {"si.yield=off", "si.yield=on", "si.trigger=any", "si.switch_latency=50"};
    for (int b = 0; b < 5; b++) {
        run("its", (const char *[]){"its.scoreboard=exact", NULL}, bodies[b]);
        double cycles = stat("gpu.cycles"), switches = stat("sm.path_switches"), idle = stat("gpu.idle_cycles");
        for (int k = 0; k < 4; k++) {
            run("si", (const char *[]){"its.scoreboard=exact", "si.max_subwarps=1", extra[k], NULL}, bodies[b]);
            ck_assert_double_eq(stat("gpu.cycles"), cycles);
            ck_assert_double_eq(stat("gpu.idle_cycles"), idle);
            ck_assert_double_eq(stat("sm.path_switches"), switches);
        }
    }
}
END_TEST

/* With si.yield, a half of the warp switches as soon as its load has issued, before the value is needed. This adds one
 * switch for each half. */
START_TEST(yield_switches_after_the_load) {
    run("si", (const char *[]){"si.yield=off", NULL}, loads);
    double off = stat("sm.path_switches");
    run("si", (const char *[]){"si.yield=on", NULL}, loads);
    ck_assert_double_gt(stat("sm.path_switches"), off);
    run("si", (const char *[]){"si.yield=on", "si.yield_after=5", NULL}, loads);
    ck_assert_double_eq(stat("sm.path_switches"), off);
}
END_TEST

/* A yield hint after each load in `loads` has the effect of si.yield. The hint works with any value of si.yield, but
 * only in the model si. Other models take the same cycles with and without the hint. */
static const char hinted[] =
    "@%q bra T; .pragma \"heddle yield\"; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
    "T: .pragma \"nounroll\", \"heddle yield\"; ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\n"
    "J: st.global.u32 [%a],%r2;\n";
START_TEST(a_hint_in_the_code_yields) {
    run("si", (const char *[]){"si.yield=off", NULL}, loads);
    double off = stat("sm.path_switches");
    run("si", (const char *[]){"si.yield=on", NULL}, loads);
    double on = stat("sm.path_switches"), cycles = stat("gpu.cycles");
    ck_assert_double_gt(on, off);
    for (int k = 0; k < 2; k++) { /* only the hint makes the subwarp yield before the second of its two operations */
        run("si", (const char *[]){k ? "si.yield=on" : "si.yield=off", "si.yield_after=2", NULL}, hinted);
        ck_assert_double_eq(stat("sm.path_switches"), on);
        ck_assert_double_eq(stat("gpu.cycles"), cycles);
    }
    for (int m = 0; m < base_models()->n; m++) {
        if (base_models()->ops[m] == &reconv_si)
            continue;
        run(base_models()->name[m], NULL, loads);
        cycles = stat("gpu.cycles");
        run(base_models()->name[m], NULL, hinted);
        ck_assert_double_eq(stat("gpu.cycles"), cycles);
    }
}
END_TEST

/* The paper counts "operations to core-level shared functional units, such as those executing transcendental
 * operations" as long operations. So a sine counts, and an addition does not. After its sine, each half yields once
 * more. */
START_TEST(transcendental_operations_are_counted) {
    static const char body[] = "@%%q bra T; %s add.u32 %%r3,%%r1,1; add.u32 %%r2,%%r3,1; bra J;\n"
                               "T: %s add.u32 %%r3,%%r1,2; add.u32 %%r2,%%r3,2;\nJ: st.global.u32 [%%a],%%r2;\n";
    static const struct {
        const char *operation;
        bool is_long;
    } rows[] = {{"sin.approx.f32 %f1,%f1;", true},  {"rsqrt.approx.f32 %f1,%f1;", true},
                {"div.u32 %r4,%r1,%r1;", true},     {"add.f32 %f1,%f1,%f1;", false},
                {"mul.lo.u32 %r4,%r1,%r1;", false}, {"ld.shared.u32 %r4,[s];", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static char text[1024];
        snprintf(text, sizeof text, body, rows[i].operation, rows[i].operation);
        run("si", (const char *[]){"si.yield=off", NULL}, text);
        double off = stat("sm.path_switches");
        run("si", (const char *[]){"si.yield=on", NULL}, text);
        ck_assert_msg((stat("sm.path_switches") > off) == rows[i].is_long, "%s %g and %g switches", rows[i].operation,
                      off, stat("sm.path_switches"));
    }
}
END_TEST

/* Two warps, in slots 0 and 4, share a processing block. One warp is diverged and waits for its loads; the other warp
 * always computes. So half of the warps are stalled, but never all of them. With the triggers `any` and `half`, the
 * first warp switches at its first stall. With the trigger `all`, it switches only at its BSYNC. */
START_TEST(the_trigger_depends_on_the_block) {
    static const char body[] =
        "mov.u32 %r4,%tid.x; shr.u32 %r4,%r4,5; setp.eq.u32 %o,%r4,0; @%o bra W; setp.ne.u32 %o,%r4,4; @%o bra E;\n"
        " mov.u32 %r5,0;\nL: add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,1000; @%o bra L; bra E;\n"
        "W: @%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
        "T: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2;\nE:";
    double switches[3];
    for (int i = 0; i < 3; i++) {
        char option[32];
        snprintf(option, sizeof option, "si.trigger=%s", (const char *[]){"any", "half", "all"}[i]);
        run_threads("si", (const char *[]){option, NULL}, body, 160);
        switches[i] = stat("sm.path_switches");
    }
    ck_assert_double_eq(switches[2], 1);
    ck_assert_double_gt(switches[0], switches[2]);
    ck_assert_double_eq(switches[0], switches[1]);
}
END_TEST

/* Bits per stack entry, as in the papers: 96 for SPE, 160 for DPE. The thread status table of SI has 12 more bits for
 * each of its entries. */
START_TEST(storage_is_reported) {
    /* a branch on an empty stack pushes one entry for each side; with the entry below them, the stack has three
     * entries */
    run("spe", NULL, loads);
    ck_assert_double_eq(stat("storage.entry_bits"), 96);
    ck_assert_double_eq(stat("storage.path_bits"), 96 * 3);
    double registers = stat("storage.scoreboard_bits");
    ck_assert_double_ge(registers, 3);
    run("dpe", NULL, loads);
    ck_assert_double_eq(stat("storage.entry_bits"), 160);
    ck_assert_double_eq(stat("storage.path_bits"), 160 * 2);
    ck_assert_double_eq(stat("storage.scoreboard_bits"), 4 * registers);
    run("its", NULL, loads);
    double its = stat("storage.path_bits");
    ck_assert_double_eq(its, 32 * 34 + 16 * 32);
    ck_assert_double_eq(stat("storage.scoreboard_bits"), 36);
    run("si", (const char *[]){"si.max_subwarps=4", NULL}, loads);
    ck_assert_double_eq(stat("storage.path_bits"), its + 4 * 12);
    ck_assert_double_eq(stat("storage.scoreboard_bits"), 36 * 32);
    run("si", (const char *[]){"its.scoreboard=exact", NULL}, loads);
    ck_assert_double_eq(stat("storage.scoreboard_bits"), 32 * registers);
}
END_TEST

/* Paths A and B of the paper's section VI: half of the warp runs a loop of COUNT iterations, the other half waits for a
 * load. A loads nothing, so it never gives way. */
#define LOOP(COUNT)                                                                                                    \
    " mov.u32 %r4,0;\nL: add.u32 %r4,%r4,1; add.u32 %r5,%r4,2; setp.lt.u32 %o,%r4," COUNT "; @%o bra L;\n"
#define USE " ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;\n"
static const char *const loads_last[] = {"@%q bra T;\n" USE " bra J;\nT:" LOOP("10") "J: st.global.u32 [%a],%r2;\n",
                                         "@%q bra T;\n" USE " bra J;\nT:" LOOP("20") "J: st.global.u32 [%a],%r2;\n"};
static const char *const loads_first[] = {"@%q bra T;\n" LOOP("10") " bra J;\nT:" USE "J: st.global.u32 [%a],%r2;\n",
                                          "@%q bra T;\n" LOOP("20") " bra J;\nT:" USE "J: st.global.u32 [%a],%r2;\n"};

/* By default the taken path runs first. If it is the loop, the load comes after the loop, and each iteration makes the
 * kernel longer. With hints, the path with the load runs first, and the loop runs during the stall of 600 cycles. Then
 * ten more iterations take no time. If the taken path has the load, the default and the hint agree. */
START_TEST(a_hint_hides_a_path_behind_loads) {
    double ten = cycles("its", "si.order=first", loads_last[1]) - cycles("its", "si.order=first", loads_last[0]);
    ck_assert_double_ge(ten, 10 * 4); /* an iteration is 4 instructions */
    ck_assert_double_lt(ten, 300);    /* the loop is shorter than the stall */
    ck_assert_double_eq(cycles("si", "si.order=first", loads_last[1]) - cycles("si", "si.order=first", loads_last[0]),
                        ten);
    ck_assert_double_eq(cycles("si", "si.order=loads", loads_last[1]), cycles("si", "si.order=loads", loads_last[0]));
    for (int i = 0; i < 2; i++) {
        ck_assert_double_gt(cycles("si", "si.order=first", loads_last[i]),
                            cycles("si", "si.order=loads", loads_last[i]) + ten);
        ck_assert_double_eq(cycles("si", "si.order=first", loads_first[i]),
                            cycles("si", "si.order=loads", loads_first[i]));
    }
    /* other models have no order */
    ck_assert_double_eq(cycles("its", "si.order=loads", loads_last[1]), cycles("its", "si.order=first", loads_last[1]));
}
END_TEST

/* Returns the notes of the pass `order` for a kernel. */
static const char *hints(const char *body) {
    static char all[2048];
    char text[4096], *shown = NULL;
    size_t size;
    cycles("si", "si.order=loads", body);
    snprintf(text, sizeof text, "%s%s ret;\n}\n", HEAD, body);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    FILE *f = open_memstream(&shown, &size);
    ck_assert_msg(heddle_listing(h, m, "k", "order", f) == HEDDLE_OK, "%s", heddle_error(h));
    fclose(f);
    *all = '\0';
    for (char *at = shown; (at = strstr(at, "hint: ")) != NULL; at++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s|", (int)strcspn(at, "\n"), at);
    free(shown);
    return all;
}

/* The estimate of a path is its number of loads, without loads from shared memory and of parameters. A branch has no
 * hint if all its paths have the same estimate. For a brx, the hint names the path with the most loads. */
START_TEST(estimates_count_loads) {
    ck_assert_str_eq(hints(plain), "");
    ck_assert_str_eq(hints(loads), "");
    ck_assert_str_eq(hints("@%q bra T; add.u32 %r2,%r1,1; bra J;\nT: ld.shared.u32 %r2,[s];\n"
                           "J: st.global.u32 [%a],%r2;\n"),
                     "");
    ck_assert_str_eq(hints("@%q bra T; ld.global.u32 %r2,[%a]; bra J;\nT: ld.global.u32 %r3,[%a];\n"
                           "ld.global.u32 %r4,[%a+4]; ld.global.u32 %r2,[%a+8];\nJ: st.global.u32 [%a],%r2;\n"),
                     "hint: the path with an estimate of 3 loads runs first (least: 1)|");
    ck_assert_str_eq(hints(loads_last[0]), "hint: the path with an estimate of 1 loads runs first (least: 0)|");
    ck_assert_str_eq(hints("shr.u32 %r3,%r1,4; ts: .branchtargets A,B,C; brx.idx %r3,ts;\n"
                           "A: bra J;\nB: ld.global.u32 %r2,[%a]; bra J;\n"
                           "C: ld.global.u32 %r2,[%a]; ld.global.u32 %r2,[%a+4];\nJ: st.global.u32 [%a],%r2;\n"),
                     "hint: the path with an estimate of 2 loads runs first (least: 0)|");
}
END_TEST

/* A load in a loop counts 8 times. So the branch before the loop has the estimates 8 (the loop) and 1. The branch at
 * the loop's end has the estimates 8 (the next iteration) and 0 (the exit). */
START_TEST(loops_count_more) {
    ck_assert_str_eq(hints("@%q bra T; ld.global.u32 %r2,[%a]; bra J;\nT: mov.u32 %r4,0;\n"
                           "L: ld.global.u32 %r2,[%a]; add.u32 %r4,%r4,1; setp.lt.u32 %o,%r4,%r1; @%o bra L;\n"
                           "J: st.global.u32 [%a],%r2;\n"),
                     "hint: the path with an estimate of 8 loads runs first (least: 1)|"
                     "hint: the path with an estimate of 8 loads runs first (least: 0)|");
}
END_TEST

/* The order changes only timing. */
START_TEST(order_changes_no_result) { rig_check_results(_i ? "si.order=random" : "si.order=loads"); }
END_TEST

SUITE(mechanisms_si_run) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_selection_at_a_barrier_costs_both_models_the_same);
    TEST(a_selection_at_a_stall_costs_its_own);
    TEST(exposed_stalls_are_counted);
    TEST_SPEED(the_status_table_bounds_interleaving);
    TEST(one_entry_is_the_baseline);
    TEST(yield_switches_after_the_load);
    TEST(a_hint_in_the_code_yields);
    TEST(transcendental_operations_are_counted);
    TEST(the_trigger_depends_on_the_block);
    TEST(storage_is_reported);
    TEST(a_hint_hides_a_path_behind_loads);
    TEST(estimates_count_loads);
    TEST(loops_count_more);
    TEST_LOOP(order_changes_no_result, 0, 2);
}
