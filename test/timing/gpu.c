/* Tests kernels with timing: latencies derived by hand, the accounting of issue slots, barriers, order between SMs, and
 * launches that are stopped. */
#include "test/every_model.h"
#include "test/timing/gpu_rig.h"
#include "timing/sm/carveout.h"
#include "timing/sm/stages.h"
#include <stdio.h>

/* Returns the text of a kernel that executes `inst` `n` times. */
static const char *repeat(const char *inst, int n) {
    int at =
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .f64 %%d<9>;\n"
                      ".reg .b64 %%a; .reg .pred %%q;\n ld.param.u64 %%a,[p]; mov.u32 %%r1,%%tid.x;\n"
                      " mov.u32 %%r2,%%ntid.x; cvt.rn.f32.u32 %%f1,%%r1; cvt.rn.f64.u32 %%d1,%%r1;\n"
                      " cvt.rn.f32.u32 %%f2,%%r2; cvt.rn.f32.u32 %%f3,%%r2; mov.u32 %%r3,%%r1;\n");
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %s\n", inst);
    snprintf(text + at, sizeof text - (size_t)at,
             " cvt.rzi.u32.f64 %%r5,%%d1; cvt.rzi.u32.f32 %%r6,%%f1; add.u32 %%r1,%%r1,%%r5; add.u32 %%r1,%%r1,%%r6;\n"
             " add.u32 %%r1,%%r1,%%r3; st.global.u32 [%%a],%%r1; ret;\n}\n");
    return text;
}

/* Returns the additional cycles for one more `inst`, as the mean over 64 of them. */
static double cycles_each(const char *inst, uint32_t block) {
    double few, many;
    open_gpu("tiny");
    run(repeat(inst, 32), 1, block, 64, NULL);
    few = stat("gpu.cycles");
    run(repeat(inst, 96), 1, block, 64, NULL);
    many = stat("gpu.cycles");
    return (many - few) / 64;
}

/* Cycles from the issue of an instruction to the issue of a dependent instruction:
 * - collector 1, operands 1, dispatch 1, pipe 1, write-back 2
 * - the latency of the pipe
 * Two different registers are in two banks, which are read in one cycle. So the sum is 6 + latency. */
START_TEST(dependent_instructions_are_a_pipeline_apart) {
    ck_assert_double_eq(cycles_each("add.u32 %r1,%r1,%r2;", 32), 6 + 4);
    ck_assert_double_eq(cycles_each("and.b32 %r1,%r1,%r2;", 32), 6 + 1);
    ck_assert_double_eq(cycles_each("mad.lo.u32 %r1,%r1,%r2,%r3;", 32), 6 + 5);
    ck_assert_double_eq(cycles_each("fma.rn.f32 %f1,%f1,%f2,%f3;", 32), 6 + 5);
    ck_assert_double_eq(cycles_each("ex2.approx.f32 %f1,%f1;", 32), 6 + 8);
    ck_assert_double_eq(cycles_each("add.f64 %d1,%d1,%d1;", 32), 6 + 8);
}
END_TEST

/* Eight warps share one scheduler. One independent instruction issues per cycle, or one per initiation interval of the
 * pipe if this is longer. */
START_TEST(independent_warps_fill_the_pipes) {
    ck_assert_double_eq_tol(cycles_each("and.b32 %r1,%r1,%r2;", 256), 8, 0.3);
    ck_assert_double_eq_tol(cycles_each("ex2.approx.f32 %f1,%f1;", 256), 8 * 8, 0.3);
    ck_assert_double_eq_tol(cycles_each("add.f64 %d1,%d1,%d1;", 256), 8 * 8, 0.3);
    ck_assert_double_eq_tol(cycles_each("sqrt.rn.f64 %d1,%d1;", 256), 8 * 130, 2);
}
END_TEST

/* A load that hits the L1 adds the L1's latency of 10 cycles, or more, to a chain of dependent instructions. */
START_TEST(a_hit_takes_the_l1_latency) {
    double each;
    open_gpu("tiny");
    /* the address depends on the loaded value, which is 0, so every load hits the line of the first load */
    each = cycles_each("ld.global.u32 %r4,[%a]; cvt.u64.u32 %a,%r4; ld.param.u64 %a,[p];", 32);
    ck_assert_msg(each > 10 && each < 80, "%g", each);
}
END_TEST

static const char *const slot_names[] = {
    "issue.issued",    "issue.no_warp", "issue.scoreboard_load", "issue.scoreboard_arith",
    "issue.pipe_busy", "issue.barrier", "issue.fetch",           "issue.reconvergence",
    "issue.queue",     "issue.sleep"};

static void check_slots(double schedulers, double sms) {
    double sum = 0;
    for (size_t i = 0; i < sizeof slot_names / sizeof slot_names[0]; i++)
        sum += stat(slot_names[i]);
    ck_assert_double_eq(sum, stat("issue.slots"));
    ck_assert_double_eq(sum, stat("gpu.cycles") * schedulers * sms);
    ck_assert_double_eq(stat("issue.issued"), stat("gpu.warp_instructions") + stat("gpu.barrier_instructions"));
    ck_assert_double_le(stat("gpu.idle_cycles"), stat("gpu.cycles") * sms);
    ck_assert_double_le(stat("sm.exposed_load_stalls"), stat("gpu.idle_cycles"));
}

/* A kernel with divergent branches, loads, a barrier and shared memory. Every thread computes a different number. */
static const char mixed[] = HEAD
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %q<3>;\n.shared .b32 s[256];\n"
    " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x;\n"
    " mad.lo.u32 %r4,%r2,%r3,%r1; mul.wide.u32 %a2,%r4,4; add.u64 %a2,%a1,%a2; mov.u32 %r5,0;\n"
    " and.b32 %r6,%r1,7;\n"
    "L: setp.ge.u32 %q1,%r5,%r6;\n @%q1 bra D;\n add.u32 %r5,%r5,1; ld.global.u32 %r7,[%a2]; add.u32 %r7,%r7,%r5;\n"
    " st.global.u32 [%a2],%r7; bra L;\n"
    "D: shl.b32 %r8,%r1,2; mov.u32 %r7,s; add.u32 %r8,%r8,%r7; st.shared.u32 [%r8],%r5;\n bar.sync 0;\n"
    " xor.b32 %r8,%r8,4; ld.shared.u32 %r7,[%r8]; ld.global.u32 %r5,[%a2]; mad.lo.u32 %r5,%r5,100,%r7;\n"
    " add.u32 %r5,%r5,%r4; st.global.u32 [%a2],%r5; ret;\n}\n";

/* Returns the expected result of thread t of a CTA: 100 times the sum 1 + ... + (t & 7), plus the number of iterations
 * of the neighbouring thread (t ^ 1), plus the thread's number in the launch. */
static uint32_t mixed_result(uint32_t cta, uint32_t t, uint32_t block) {
    uint32_t n = t & 7;
    return n * (n + 1) / 2 * 100 + ((t ^ 1) & 7) + cta * block + t;
}

static void run_mixed(void) {
    static uint32_t out[40 * 256];
    run(mixed, 40, 256, sizeof out, out);
    for (uint32_t i = 0; i < 40 * 256; i++)
        EXPECT(out[i] == mixed_result(i / 256, i % 256, 256), "word %u is %u", i, out[i]);
}

static const struct {
    const char *name;
    double schedulers, sms;
} machines[] = {{"fermi", 2, 15},          {"tiny", 1, 1},           {"turing", 4, 2}, {"gt200", 1, 30},
                {"turing-rtx2060", 4, 30}, {"fermi-gpgpusim", 2, 15}};
enum { N_MACHINES = 6 };

/* Models with extensions; the units of some extensions still work after the last CTA has ended. */
static const char *const extended[] = {"spe+dac", "dpe+dac", "its+dac", "spe+cae", "spe+mta"};
/* Returns true if the pair `i` of a model and a machine runs. By default each model runs on every second machine, and
 * the next model on the other machines. With HEDDLE_EVERY, all pairs run. */
static bool is_sampled(int i) { return test_every() || (i / N_MACHINES + i % N_MACHINES) % 2 == 0; }
START_TEST(every_issue_slot_is_accounted_for) {
    int model = _i / N_MACHINES, machine = _i % N_MACHINES, n = timed_models()->n;
    open_with(model < n ? timed_models()->name[model] : extended[model - n], machines[machine].name, NULL, 1, 0);
    run_mixed();
    check_slots(machines[machine].schedulers, machines[machine].sms);
}
END_TEST

static const char *const policies[] = {"sched.policy=lrr",    "sched.policy=gto",      "sched.policy=two_level",
                                       "sched.policy=oldest", "sched.policy=youngest", "sched.policy=cggty"};
START_TEST(every_policy_runs) {
    const char *set[] = {policies[_i], "sched.active_warps=3", NULL};
    open_with("spe", "fermi", set, 1, 0);
    run_mixed();
    check_slots(2, 15);
}
END_TEST

enum { MOST_FIGURES = 1024 };

/* Copies all statistics of the last launch, without host.*. Returns their number, at most MOST_FIGURES. */
static int snapshot(double *out) {
    int n, kept = 0;
    const struct stat_def *d = stat_defs(&n);
    ck_assert_int_le(n, MOST_FIGURES);
    for (int i = 0; i < n; i++)
        if (strncmp(d[i].name, "host.", 5) != 0)
            out[kept++] = stat(d[i].name);
    return kept;
}

static void same_as(const double *was) {
    static double is[MOST_FIGURES];
    int n = snapshot(is);
    for (int i = 0; i < n; i++)
        EXPECT(is[i] == was[i], "figure %d is %g, not %g", i, is[i], was[i]);
}

/* Every thread takes two tickets by atomics: one from a common counter, and one from one of 16 counters. The tickets
 * show the order in which the atomics were executed. */
static const char tickets[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<5>;\n ld.param.u64 %a1,[p]; mov.u32 "
         "%r1,%tid.x;\n"
         " mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mad.lo.u32 %r4,%r2,%r3,%r1; mul.wide.u32 %a2,%r4,4;\n"
         " add.u64 %a2,%a1,%a2; add.u64 %a2,%a2,128; and.b32 %r6,%r1,15; mul.wide.u32 %a3,%r6,4; add.u64 %a3,%a3,%a1;\n"
         " atom.global.add.u32 %r5,[%a3+64],1;\n atom.global.add.u32 %r5,[%a1],1;\n st.global.u32 [%a2],%r5; ret;\n}\n";
enum { TICKETS = 60 * 128 };

START_TEST(tickets_are_all_different) {
    static uint32_t out[32 + TICKETS];
    static bool seen[TICKETS];
    open_gpu("fermi");
    run(tickets, 60, 128, sizeof out, out);
    ck_assert_uint_eq(out[0], TICKETS);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < TICKETS; i++) {
        EXPECT(out[32 + i] < TICKETS && !seen[out[32 + i]], "thread %d has ticket %u", i, out[32 + i]);
        seen[out[32 + i]] = true;
    }
}
END_TEST

/* 2, 4 and 8 host threads must give the same statistics, and the same order of atomics, as one host thread. */
START_TEST(host_threads_change_nothing) {
    static uint32_t single[32 + TICKETS], several[32 + TICKETS];
    static double was[MOST_FIGURES];
    open_gpu("fermi");
    run(tickets, 60, 128, sizeof single, single);
    snapshot(was);
    open_with("spe", "fermi", NULL, 2u << _i, 0);
    run(tickets, 60, 128, sizeof several, several);
    same_as(was);
    ck_assert_mem_eq(single, several, sizeof single);
}
END_TEST

START_TEST(a_launch_is_repeatable) {
    static double was[MOST_FIGURES];
    open_with("dpe", "fermi", NULL, 1, 0);
    run_mixed();
    snapshot(was);
    open_with("dpe", "fermi", NULL, 1, 0);
    run_mixed();
    same_as(was);
}
END_TEST

START_TEST(dual_paths_are_counted) {
    open_with("dpe", "fermi", NULL, 1, 0);
    run(HEAD
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .pred %q; .reg .b64 %a;\n ld.param.u64 %a,[p];\n"
        " mov.u32 %r1,%laneid; setp.lt.u32 %q,%r1,16;\n @%q bra T;\n add.u32 %r2,%r1,1; add.u32 %r2,%r2,1;\n"
        " add.u32 %r2,%r2,1; bra J;\nT: add.u32 %r2,%r1,2; add.u32 %r2,%r2,2; add.u32 %r2,%r2,2;\n"
        "J: st.global.u32 [%a],%r2; ret;\n}\n",
        1, 32, 64, NULL);
    /* 7 instructions issue while the warp has two paths (fewer if one path is already at the join); the other
     * instructions issue with one path */
    ck_assert_double_gt(stat("gpu.avg_paths"), 1.2);
    ck_assert_double_lt(stat("gpu.avg_paths"), 2);
    ck_assert_double_eq(stat("gpu.warp_instructions"), 4 + 7 + 2);
}
END_TEST

/* A fence waits for an earlier load even if no instruction uses the loaded value yet. So the kernel takes longer than
 * the fixed memory latency of 100 cycles. */
START_TEST(a_fence_waits_for_accesses) {
    static const char *const fence[] = {"", "membar.gl;"};
    uint32_t took[2];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 HEAD
                 ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%a, %%b;\n ld.param.u64 %%a,[p];\n"
                 " add.u64 %%b,%%a,128; mov.u32 %%r1,%%clock; ld.global.u32 %%r2,[%%b]; %s mov.u32 %%r3,%%clock;\n"
                 " sub.u32 %%r3,%%r3,%%r1; st.global.u32 [%%a],%%r3; st.global.u32 [%%a+4],%%r2; ret;\n}\n",
                 fence[i]);
        uint32_t out[64];
        open_gpu("tiny");
        run(text, 1, 1, sizeof out, out);
        took[i] = out[0];
    }
    ck_assert_uint_lt(took[0], 30);
    ck_assert_uint_gt(took[1], 100);
}
END_TEST

/* Warp 0 waits at barrier 1, and warp 1 waits at barrier 2. Each barrier needs both warps, so the launch deadlocks. */
static const char crossed[] = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .pred %q;\n mov.u32 "
                                   "%r1,%tid.x; setp.lt.u32 %q,%r1,32;\n"
                                   " @%q bra A;\n bar.sync 2, 64;\n bra E;\nA: bar.sync 1, 64;\nE: ret;\n}\n";

START_TEST(a_deadlock_is_reported) {
    open_gpu("tiny");
    ck_assert_int_eq(try_run(crossed, 1, 64, 4, NULL), HEDDLE_DEADLOCK);
    const char *e = heddle_error(gpu);
    ck_assert_msg(strstr(e, "deadlock after"), "%s", e);
    ck_assert_msg(strstr(e, "CTA (0,0,0), warp 0"), "%s", e);
    ck_assert_msg(strstr(e, "CTA (0,0,0), warp 1"), "%s", e);
    ck_assert_msg(strstr(e, "barrier 1: 32 of 64 threads have arrived"), "%s", e);
    ck_assert_msg(strstr(e, "barrier 2: 32 of 64 threads have arrived"), "%s", e);
    ck_assert_msg(strstr(e, "t.ptx:"), "%s", e);
}
END_TEST

START_TEST(the_cycle_limit_stops_a_launch) {
    open_with("spe", "tiny", NULL, 1, 5000);
    ck_assert_int_eq(try_run(HEAD ".visible .entry k(.param .u64 p)\n{\nL: bra L;\n}\n", 1, 64, 4, NULL),
                     HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(heddle_error(gpu), "stopped by the limit of 5000 cycles"), "%s", heddle_error(gpu));
}
END_TEST

START_TEST(a_fault_is_reported_and_the_next_launch_runs) {
    open_gpu("fermi");
    ck_assert_int_eq(try_run(HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %a; .reg .b32 %r;\n"
                                  " ld.param.u64 %a,[p];\n st.global.u32 [%a+64],%r; ret;\n}\n",
                             30, 64, 64, NULL),
                     HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(gpu), "out-of-bounds write of 4 bytes"), "%s", heddle_error(gpu));
    run_mixed();
    check_slots(2, 15);
}
END_TEST

/* Limits of an SM: 1536 threads, 8 CTAs, 32768 registers (allocated per warp in units of 64), and 49152 bytes of shared
 * memory (in units of 128). */
static const struct {
    uint32_t block, registers, shared, ctas;
} footprints[] = {
    {256, 16, 0, 6},  /* 48 warps / 8 */
    {64, 16, 0, 8},   /* 8 CTAs at most */
    {96, 16, 0, 8},   /* 48 warps / 3 = 16 CTAs would fit, but an SM has at most 8 */
    {1024, 16, 0, 1}, /* 48 / 32 */
    {256, 32, 0, 4},  /* a CTA has 8 warps of 1024 registers: 32768 / 8192 = 4 CTAs */
    /* 8 warps of 832 registers (25 x 32 = 800, rounded up): 32768 / 6656 = 4 CTAs; without rounding there would be 5 */
    {256, 25, 0, 4},
    {256, 16, 12289, 3}, /* 12289 bytes are rounded up to 12416: 49152 / 12416 = 3 CTAs */
    {32, 16, 49152, 1},
    {32, 16, 49153, 0}, /* no CTA fits on an SM */
    {1024, 63, 0, 0},   /* 32 warps of 2048 */
};
START_TEST(occupancy_by_hand) {
    struct config c;
    struct program p = {.thread_regs = footprints[_i].registers, .shared_bytes = footprints[_i].shared};
    struct launch l = {.program = &p, .grid = {100, 1, 1}, .block = {footprints[_i].block, 1, 1}};
    config_default(&c);
    ck_assert_uint_eq(sm_occupancy(&c, &l, (struct sm_demand){0}), footprints[_i].ctas);
}
END_TEST

/* The option sm.thread_registers gives 64 registers per thread, as another compiler may assign them; they replace the
 * program's own 16. A CTA has 8 warps of 2048 registers: 32768 / 16384 = 2 CTAs. */
START_TEST(occupancy_with_registers_that_are_given) {
    struct config c;
    struct program p = {.thread_regs = 16};
    struct launch l = {.program = &p, .grid = {100, 1, 1}, .block = {256, 1, 1}};
    config_default(&c);
    c.sm.thread_registers = 64;
    ck_assert_uint_eq(sm_occupancy(&c, &l, (struct sm_demand){0}), 2);
}
END_TEST

/* Shared memory in KB of a launch. Registers do not limit the CTAs: 8 of 256 threads fit on gv100 (64 warps), 4 on
 * rtx2080ti (32 warps), 6 on a6000 (48 warps).
 * 2 KB x 8 = 16. 3 KB x 8 = 24, so 32. 13 KB: 96 / 13 = 7 CTAs of 13 = 91, so 96, all there is. 3 KB x 4 = 12, but
 * Turing has 32 or 64. 15 KB x 6 = 90, so 100 on Ampere. Fermi's 48 KB are fixed. */
static const struct {
    const char *preset;
    uint32_t shared, all;
} carveouts[] = {{"gv100", 0, 0},      {"gv100", 2, 16},     {"gv100", 3, 32},   {"gv100", 13, 96},
                 {"rtx2080ti", 0, 32}, {"rtx2080ti", 3, 32}, {"a6000", 15, 100}, {"fermi", 0, 48}};
START_TEST(the_carveout_holds_all_ctas) {
    struct config c;
    char why[512];
    struct program p = {.thread_regs = 16, .shared_bytes = carveouts[_i].shared * 1024};
    struct launch l = {.program = &p, .grid = {100, 1, 1}, .block = {256, 1, 1}};
    ck_assert_msg(config_load(&c, carveouts[_i].preset, why, sizeof why), "%s", why);
    ck_assert_uint_eq(carveout_shared(&c, &l, (struct sm_demand){0}), carveouts[_i].all * 1024);
}
END_TEST

START_TEST(a_cta_that_fits_nowhere_is_refused) {
    const char *set[] = {"sm.shared_bytes=512", NULL};
    open_with("spe", "tiny", set, 1, 0);
    ck_assert_int_ne(try_run(mixed, 1, 64, 4096, NULL), HEDDLE_OK); /* needs 1024 */
}
END_TEST

/* The SM of the preset tiny has 8 warps, so four CTAs of two warps fit. At most these four are resident at a time, and
 * all nine CTAs must run. */
START_TEST(ctas_follow_when_others_end) {
    open_gpu("tiny");
    run(repeat("add.u32 %r1,%r1,%r2;", 20), 9, 64, 64, NULL);
    ck_assert_double_eq(stat("gpu.ctas"), 9);
    ck_assert_double_eq(stat("gpu.warps"), 18);
    ck_assert_double_eq(stat("gpu.max_resident_warps"), 8);
}
END_TEST

/* A single warp executes straight code, which begins at the start of a line of 128 / 8 = 16 instructions. Each fetch
 * reads `width` instructions, or the rest of the program. Wider fetches make the kernel faster. */
START_TEST(a_fetch_brings_its_width) {
    static const char *const widths[] = {"fetch.width=1", "fetch.width=2", "fetch.width=8"};
    static const int width[] = {1, 2, 8};
    double cycles[3];
    for (int i = 0; i < 3; i++) {
        const char *set[] = {widths[i], NULL};
        open_with("spe", "fermi", set, 1, 0);
        run(repeat("add.u32 %r4,%r1,1;", 40), 1, 32, 4, NULL);
        double n = stat("gpu.warp_instructions");
        ck_assert_double_eq(stat("fetch.fetches"), (double)(((int)n + width[i] - 1) / width[i]));
        cycles[i] = stat("gpu.cycles");
    }
    ck_assert_double_gt(cycles[0], cycles[1]);
    ck_assert_double_gt(cycles[1], cycles[2]);
}
END_TEST

START_TEST(energy_is_the_sum_of_its_parts) {
    open_gpu("fermi");
    run_mixed();
    static const char *const parts[] = {"frontend", "regfile", "int", "float", "sfu",   "shared",
                                        "l1",       "icnt",    "l2",  "dram",  "affine"};
    double sum = 0;
    for (int i = 0; i < 11; i++) {
        char name[64];
        snprintf(name, sizeof name, "energy.%s_joules", parts[i]);
        sum += stat(name);
    }
    ck_assert_double_eq_tol(sum, stat("energy.dynamic_joules"), 1e-15);
    /* static power is (15 x 1.5 W + 20 W); the clock is 700 MHz */
    ck_assert_double_eq_tol(stat("energy.static_joules"), 42.5 * stat("gpu.cycles") / 700e6, 1e-12);
    ck_assert_double_eq_tol(stat("energy.total_joules"), sum + stat("energy.static_joules"), 1e-12);
    ck_assert_double_gt(stat("energy.dram_joules"), 0);
}
END_TEST

/* CTA 0 runs on SM 0 and CTA 1 on SM 1, and neither waits for memory or code. Both fault. The fault that occurs earlier
 * must be reported; if both occur in the same cycle, the fault of the SM with the lower number. Before its fault, CTA 0
 * executes `more` additional instructions of 10 cycles. */
START_TEST(the_first_fault_is_reported) {
    static const char *const set[] = {"gpu.sms=2", "memory.perfect=true", "l1i.size=0", NULL};
    for (int more = 0; more < 4; more++) {
        int at = snprintf(text, sizeof text,
                          HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .pred %%p, %%q;\n"
                               " mov.u32 %%r1,%%ctaid.x; mov.u32 %%r2,%%tid.x; setp.ne.u32 %%p,%%r1,0;\n%s",
                          more ? " @%p bra T;\n" : "");
        for (int i = 0; i < more; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " add.u32 %%r2,%%r2,%%r2;\n");
        snprintf(text + at, sizeof text - (size_t)at, " setp.ne.u32 %%q,%%r2,-1; @%%q trap;\nT: trap; ret;\n}\n");
        open_with("spe", "fermi", set, 1, 100000);
        ck_assert_int_eq(try_run(text, 2, 32, 4, NULL), HEDDLE_FAULT);
        ck_assert_msg(strstr(heddle_error(gpu), more ? "CTA (1,0,0)" : "CTA (0,0,0)"), "%d: %s", more,
                      heddle_error(gpu));
    }
}
END_TEST

/* Four warps load the same line. The first misses, and the other three join its pending miss. Afterwards, all four
 * loads of this line hit. */
START_TEST(loads_join_a_miss) {
    static const char *const set[] = {"gpu.sms=1", NULL};
    open_with("spe", "fermi", set, 1, 0);
    run(HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a<3>;\n ld.param.u64 %a1,[p];\n"
             " mov.u32 %r1,%tid.x; and.b32 %r2,%r1,31; mad.wide.u32 %a2,%r2,4,%a1; ld.global.u32 %r3,[%a2];\n"
             " add.u32 %r3,%r3,1; bar.sync 0; ld.global.u32 %r4,[%a2]; add.u32 %r3,%r3,%r4;\n"
             " st.global.u32 [%a2+128],%r3; ret;\n}\n",
        1, 128, 256, NULL);
    ck_assert_double_eq(stat("l1.pending_hits"), 3);
    ck_assert_double_eq(stat("l1.misses"), 1 + 3 + 4); /* the last 4 are the stores, which also miss */
    ck_assert_double_eq(stat("l1.hits"), 4);
}
END_TEST

/* Returns the bytes that a first launch reads from DRAM if the host has written the words that it loads. */
static double bytes_after_a_copy(const char *host_copies) {
    const char *const set[] = {"gpu.sms=1", host_copies, NULL};
    static const char kernel[] = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>; .reg .b64 %a<3>;\n"
                                      " ld.param.u64 %a1,[p]; mov.u32 %r1,%tid.x; mad.wide.u32 %a2,%r1,4,%a1;\n"
                                      " ld.global.u32 %r2,[%a2]; ret;\n}\n";
    const uint32_t words[32] = {1};
    open_with("spe", "fermi", set, 1, 0);
    struct heddle_module *m = heddle_module_text(gpu, "t.ptx", kernel, sizeof kernel - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(gpu));
    uint64_t p = heddle_alloc(gpu, sizeof words);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_int_eq(heddle_write(gpu, p, words, sizeof words), HEDDLE_OK);
    ck_assert_int_eq(heddle_launch(gpu, m, "k", DIM(1), DIM(32), 0, args, 1), HEDDLE_OK);
    return stat("dram.read_bytes");
}

/* The machine is built when it is first needed (gpu_build_machine()). With l2.host_copies, that is the host's first
 * copy: its 32 words of 4 bytes are in the L2, and the load reads 128 bytes less from DRAM. */
START_TEST(a_copy_before_the_first_launch_fills_the_l2) {
    const double without = bytes_after_a_copy("l2.host_copies=off");
    ck_assert_double_eq(without - bytes_after_a_copy("l2.host_copies=on"), 32 * 4);
}
END_TEST

SUITE(timing_gpu) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(the_first_fault_is_reported);
    TEST(loads_join_a_miss);
    TEST(dependent_instructions_are_a_pipeline_apart);
    TEST_SPEED(independent_warps_fill_the_pipes);
    TEST(a_hit_takes_the_l1_latency);
    for (int i = 0; i < (timed_models()->n + 5) * N_MACHINES; i++)
        if (is_sampled(i))
            TEST_LOOP(every_issue_slot_is_accounted_for, i, i + 1);
    TEST_LOOP(every_policy_runs, 0, 5);
    TEST(tickets_are_all_different);
    TEST_LOOP(host_threads_change_nothing, 0, 3);
    TEST(a_launch_is_repeatable);
    TEST(dual_paths_are_counted);
    TEST(a_fence_waits_for_accesses);
    TEST(a_deadlock_is_reported);
    TEST(the_cycle_limit_stops_a_launch);
    TEST(a_fault_is_reported_and_the_next_launch_runs);
    TEST_LOOP(occupancy_by_hand, 0, (int)(sizeof footprints / sizeof footprints[0]));
    TEST(occupancy_with_registers_that_are_given);
    TEST_LOOP(the_carveout_holds_all_ctas, 0, (int)(sizeof carveouts / sizeof carveouts[0]));
    TEST(a_cta_that_fits_nowhere_is_refused);
    TEST(ctas_follow_when_others_end);
    TEST(a_fetch_brings_its_width);
    TEST(energy_is_the_sum_of_its_parts);
    TEST(a_copy_before_the_first_launch_fills_the_l2);
}
