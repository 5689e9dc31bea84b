/* Tests that launches in which all runnable warps repeat the same steps are detected and explained, and that spins
 * which end are not stopped. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/resident.h"
#include "test/test.h"
#include <stdio.h>

#define ENTRY ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
#define REGISTERS                                                                                                      \
    "{\n.reg .b32 %r<9>, %lane;\n"                                                                                     \
    ".reg .pred %q, %o; .reg .b64 %a<5>; .shared .b32 s[4];\n"                                                         \
    " ld.param.u64 %a0,[p]; mov.u32 %lane,%laneid; setp.lt.u32 %q,%lane,16; mov.u32 %r5,%ctaid.x;\n"
#define HEAD ENTRY REGISTERS

static enum heddle_status run_kernel(const char *directive, uint64_t limit, const char *option, const char *body,
                                     const char *model, uint32_t ctas, char error[4096], double *cycles) {
    static char text[4096];
    char err[512];
    const char *const set[] = {"deadlock.cycles=20000", option, NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = set, .cycle_limit = limit}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, "%s%s%s%s ret;\n}\n", ENTRY, directive, REGISTERS, body);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 128);
    const struct heddle_arg args[] = {{&p, 8}};
    heddle_clear(h, p, 128);
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1);
    snprintf(error, 4096, "%s", heddle_error(h));
    *cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return s;
}

static enum heddle_status run_limited(uint64_t limit, const char *option, const char *body, const char *model,
                                      uint32_t ctas, char error[4096], double *cycles) {
    return run_kernel("", limit, option, body, model, ctas, error, cycles);
}

static enum heddle_status run_set(const char *option, const char *body, const char *model, uint32_t ctas,
                                  char error[4096], double *cycles) {
    return run_limited(100000000, option, body, model, ctas, error, cycles);
}

static enum heddle_status run(const char *body, const char *model, uint32_t ctas, char error[4096], double *cycles) {
    return run_set(NULL, body, model, ctas, error, cycles);
}

static const struct {
    const char *name, *body;
} endless[] = {
    {"volatile", "L: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L;\n"},
    {"cas", "L: atom.global.cas.b32 %r1,[%a0],5,1; setp.ne.u32 %o,%r1,5; @%o bra L;\n"},
    {"exch shared", "mov.u64 %a1,s; mov.u32 %r2,1; atom.shared.exch.b32 %r1,[%a1],1;\n"
                    "L: atom.shared.exch.b32 %r1,[%a1],%r2; setp.eq.u32 %o,%r1,1; @%o bra L;\n"},
    {"nanosleep and vote", "L: nanosleep.u32 100; ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0;\n"
                           " vote.sync.any.pred %o,%o,-1; @%o bra L;\n"},
    {"two paths", "@%q bra B;\nA: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra A; bra E;\n"
                  "B: ld.volatile.global.u32 %r1,[%a0+4]; setp.eq.u32 %o,%r1,0; @%o bra B;\nE:\n"},
    {"rounds of three", "mov.u32 %r2,0;\nL: add.u32 %r2,%r2,1; rem.u32 %r2,%r2,3; ld.volatile.global.u32 %r1,[%a0];\n"
                        " setp.eq.u32 %o,%r1,0; @%o bra L;\n"},
    {"lane 0 alone", "setp.ne.u32 %o,%lane,0; @%o bra E;\nL: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0;\n"
                     " @%o bra L;\nE:\n"},
    {"others wait at a barrier", "@%q bra W;\nL: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L;\n"
                                 "W: bar.sync 0;\n"},
};
enum { N_ENDLESS = sizeof endless / sizeof endless[0] };

START_TEST(warps_that_repeat_themselves_are_found) {
    char error[4096];
    double cycles;
    for (int k = 0; k < N_ENDLESS; k++) {
        ck_assert_msg(run(endless[k].body, base_models()->name[_i], 2, error, &cycles) == HEDDLE_DEADLOCK,
                      "%s in %s: %s", endless[k].name, base_models()->name[_i], error);
        ck_assert_msg(strstr(error, "has repeated itself") != NULL, "%s in %s: %s", endless[k].name,
                      base_models()->name[_i], error);
        ck_assert_msg(strstr(error, "; repeats itself, in the loop of lines ") != NULL, "%s in %s: %s", endless[k].name,
                      base_models()->name[_i], error);
        ck_assert_msg(strstr(error, "in the loop of lines ") != NULL, "%s in %s: %s", endless[k].name,
                      base_models()->name[_i], error);
    }
}
END_TEST

/* Lanes of one warp compete for a lock. The lanes without the lock spin on the path at the top of the stack, so the
 * lane that holds the lock never continues. The livelock is detected after deadlock.cycles. */
START_TEST(a_lock_inside_a_warp_is_found) {
    static const char lock[] = "L: atom.global.cas.b32 %r1,[%a0],0,1; setp.ne.u32 %o,%r1,0; @%o bra L;\n"
                               " atom.global.exch.b32 %r1,[%a0],0;\n";
    char error[4096];
    double cycles;
    ck_assert_int_eq(run(lock, (const char *[]){"spe", "dpe"}[_i], 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "has repeated itself") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "lanes fffffffe at pc") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "choose a model with convergence barriers") != NULL, "%s", error);
}
END_TEST

/* The lanes without the lock count their attempts in memory, so no repetition is found, and the launch reaches its
 * limit. Under SPE the lane with the lock waits for them, so the report gives the advice. ITS has convergence barriers.
 * A warp whose lanes stay together gets no advice. */
START_TEST(a_limit_reached_in_a_lock_gives_the_advice) {
    static const char lock[] = "L: atom.global.cas.b32 %r1,[%a0],0,1; red.global.add.u32 [%a0+64],1;\n"
                               " setp.ne.u32 %o,%r1,0; @%o bra L;\n atom.global.exch.b32 %r1,[%a0],0;\n",
                      together[] = "L: red.global.add.u32 [%a0+64],1; bra L;\n";
    char error[4096];
    double cycles;
    ck_assert_int_eq(run_limited(50000, NULL, lock, "spe", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "stopped by the limit of 50000 cycles") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "; if lanes of a warp wait for each other, as for a lock, choose a model") != NULL,
                  "%s", error);
    ck_assert_int_eq(run_limited(1000, NULL, lock, "its", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "stopped by the limit of 1000 cycles") && !strstr(error, "-m its"), "%s", error);
    ck_assert_int_eq(run_limited(1000, NULL, together, "spe", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "stopped by the limit of 1000 cycles") && !strstr(error, "-m its"), "%s", error);
}
END_TEST

/* CTA 0 waits for 64 threads but has 32. The other CTAs change memory forever, so no search finds a repetition. The
 * second of two checks in a row, each at the end of half of deadlock.cycles, ends the launch: at cycle 20000, plus the
 * rest of a window. */
START_TEST(a_cta_that_cannot_continue_ends_the_launch) {
    static const char waits[] = "setp.eq.u32 %o,%r5,0; @%o bra W;\nL: red.global.add.u32 [%a0+64],1; bra L;\n"
                                "W: bar.sync 1,64;\n";
    const char *model = base_models()->name[_i];
    char error[4096];
    double cycles;
    ck_assert_msg(run_limited(200000, NULL, waits, model, 2, error, &cycles) == HEDDLE_DEADLOCK, "%s", model);
    ck_assert_msg(strstr(error, "deadlock: no warp of CTA (0,0,0) can continue, for at least 10000 cycles") != NULL,
                  "%s: %s", model, error);
    ck_assert_msg(strstr(error, "CTA (0,0,0), warp 0, model ") != NULL, "%s: %s", model, error);
    ck_assert_msg(!strstr(error, "CTA (1,0,0)") && !strstr(error, "choose a model"), "%s: %s", model, error);
    ck_assert_double_ge(cycles, 20000);
    ck_assert_double_le(cycles, 22000);
}
END_TEST

/* Half of the lanes of CTA 0 wait at one barrier, half at another. */
START_TEST(lanes_of_a_warp_that_wait_apart_get_the_advice) {
    static const char waits[] = "setp.eq.u32 %o,%r5,0; @%o bra W;\nL: red.global.add.u32 [%a0+64],1; bra L;\n"
                                "W: @%q bra V; barrier.sync 1,64; bra E;\nV: barrier.sync 2,64;\nE:\n";
    char error[4096];
    double cycles;
    ck_assert_msg(run_limited(200000, NULL, waits, "spe", 2, error, &cycles) == HEDDLE_DEADLOCK, "%s", error);
    ck_assert_msg(strstr(error, "can continue, for at least 10000 cycles; if lanes of a warp wait for each other") !=
                      NULL,
                  "%s", error);
}
END_TEST

/* CTA 0 of a cluster waits at the cluster's barrier for CTA 1, which counts for longer than deadlock.cycles. */
START_TEST(a_cta_that_waits_for_its_cluster_is_left_alone) {
    static const char waits[] = "setp.eq.u32 %o,%r5,0; @%o bra W; mov.u32 %r2,0;\n"
                                "L: red.global.add.u32 [%a0+64],1; add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,20000;\n"
                                " @%o bra L;\nW: barrier.cluster.arrive; barrier.cluster.wait;\n";
    char error[4096];
    double cycles;
    ck_assert_msg(run_kernel(".reqnctapercluster 2\n", 100000000, NULL, waits, "spe", 2, error, &cycles) == HEDDLE_OK,
                  "%s", error);
    ck_assert_double_ge(cycles, 40000);
}
END_TEST

/* Half of the lanes sleep until the other half, below them on the stack, sets a flag. The stores hide the livelock from
 * the search. The watchdog ends the launch after 100 checks that find only sleep, at least 10000 cycles apart. */
START_TEST(sleep_that_waits_for_lanes_of_the_warp_is_found) {
    static const char sleeps[] =
        "@%q bra L; mov.u32 %r1,1; st.volatile.global.u32 [%a0],%r1; bra E;\n"
        "L: nanosleep.u32 1000000; st.volatile.global.u32 [%a0+64],%r5; ld.volatile.global.u32 %r1,[%a0];\n"
        " setp.eq.u32 %o,%r1,0; @%o bra L;\nE:\n";
    char error[4096];
    double cycles;
    ck_assert_int_eq(run_set("deadlock.cycles=10000", sleeps, "spe", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "and often before, while paths sleep; if lanes of a warp wait") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "such as -m its (docs/models.md)") != NULL, "%s", error);
    ck_assert_double_ge(cycles, 100 * 10000);
    ck_assert_msg(run_set("deadlock.cycles=10000", sleeps, "its", 1, error, &cycles) == HEDDLE_OK, "%s", error);
}
END_TEST

/* All lanes sleep for 700000 cycles of 700 MHz, then half of them for 350000 cycles. Every 512 cycles the SM runs a
 * window of cycles, and these cycles exceed deadlock.cycles. */
START_TEST(sleep_is_no_deadlock) {
    static const char sleeps[] = "nanosleep.u32 1000000; @%q nanosleep.u32 500000;\n";
    const char *model = base_models()->name[_i];
    char error[4096];
    double cycles;
    enum heddle_status s = run_set("deadlock.cycles=10000", sleeps, model, 1, error, &cycles);
    ck_assert_msg(s == HEDDLE_OK, "%s: %s", model, error);
    ck_assert_double_ge(cycles, 1050000);
}
END_TEST

/* A search period is half of deadlock.cycles, here 10000 cycles, and the first one begins at cycle 10000. The warp then
 * counts, so the search pauses for 15 periods, from cycle 20000 to 170000. The warp spins long before cycle 170000, and
 * the second search finds it in its first period, at cycle 180000. Windows end a few cycles later. */
START_TEST(the_search_pauses_while_a_warp_counts) {
    static const char counts[] = "mov.u32 %r2,0;\nC: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,4000; @%o bra C;\n"
                                 "L: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L;\n";
    char error[4096];
    double cycles;
    ck_assert_int_eq(run(counts, "spe", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "has repeated itself") != NULL, "%s", error);
    ck_assert_double_ge(cycles, 180000);
    ck_assert_double_le(cycles, 181000);
}
END_TEST

/* The last of nine CTAs would set the flag, but the SM holds four CTAs, and these spin. */
START_TEST(a_cta_without_room_does_not_help) {
    static const char late[] = "setp.eq.u32 %o,%r5,8; @%o bra S;\n"
                               "L: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L; bra E;\n"
                               "S: mov.u32 %r1,1; st.volatile.global.u32 [%a0],%r1;\nE:\n";
    char error[4096];
    double cycles;
    ck_assert_int_eq(run(late, "spe", 9, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "has repeated itself") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "; 5 of the 9 CTAs have not begun: CTAs that wait for each other must fit") != NULL,
                  "%s", error);
}
END_TEST

/* Spins that end long after deadlock.cycles. They end because another CTA has finished counting, because of the
 * clock, because of their own counter, because of another path of the warp, or because of an atomic addition. */
static const struct {
    const char *name, *body, *model;
} ending[] = {
    {"another CTA",
     "setp.eq.u32 %o,%r5,1; @%o bra S;\nL: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L; bra E;\n"
     "S: mov.u32 %r2,0;\nC: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,8000; @%o bra C; mov.u32 %r1,1;\n"
     " st.volatile.global.u32 [%a0],%r1;\nE:\n",
     "spe"},
    {"clock",
     "mov.u64 %a1,%clock64; add.u64 %a1,%a1,100000;\nL: mov.u64 %a2,%clock64; setp.lt.u64 %o,%a2,%a1; @%o bra L;\n",
     "spe"},
    {"count", "mov.u32 %r2,0;\nL: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,20000; @%o bra L;\n", "spe"},
    {"another path",
     "@%q bra S;\nL: ld.volatile.global.u32 %r1,[%a0]; setp.eq.u32 %o,%r1,0; @%o bra L; bra E;\n"
     "S: mov.u32 %r2,0;\nC: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,4000; @%o bra C; mov.u32 %r1,1;\n"
     " st.volatile.global.u32 [%a0],%r1;\nE:\n",
     "its"},
    {"sum", "L: atom.global.add.u32 %r1,[%a0],1; setp.lt.u32 %o,%r1,20000; @%o bra L;\n", "spe"},
};

START_TEST(a_spin_that_ends_is_left_alone) {
    char error[4096];
    double cycles;
    ck_assert_msg(run(ending[_i].body, ending[_i].model, 2, error, &cycles) == HEDDLE_OK, "%s: %s", ending[_i].name,
                  error);
    ck_assert_msg(cycles > 40000, "%s: %.0f cycles prove nothing", ending[_i].name, cycles);
}
END_TEST

/* Loops whose iterations leave a warp's registers unchanged, because the affine warp of the dac model counts the
 * iterations. The affine warp ends long before the other warps, since its queue has an entry for each iteration. An
 * iteration has a chain of CHAIN loads of a pointer to itself, so that all iterations together take longer than
 * deadlock.cycles. */
enum { CHAIN = 90 };
static const struct {
    const char *name, *before, *after; /* code before and after the chain of loads */
    uint32_t ctas;
} counted_elsewhere[] = {
    {"a chain in a loop", "mov.u32 %r1,0;\nO:\n", "add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,20; @%o bra O;\n", 1},
    {"CTAs", "mov.u32 %r1,0;\nO:\n", "add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,20; @%o bra O;\n", 4},
    {"addresses from a queue, too", "mov.u32 %r1,0; mov.u64 %a2,%a0;\nO:\n",
     "ld.global.u32 %r3,[%a2]; add.u64 %a2,%a2,4; add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,20; @%o bra O;\n", 1},
    {"half of the lanes", "mov.u32 %r1,0; @%q bra E;\nO:\n",
     "add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,20; @%o bra O;\nE:\n", 1},
    {"two loops", "mov.u32 %r1,0;\nO: mov.u32 %r2,0;\nI:\n",
     "add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,2; @%o bra I; add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,10; @%o bra O;\n", 1},
};
enum { N_COUNTED = sizeof counted_elsewhere / sizeof counted_elsewhere[0] };

START_TEST(a_loop_that_counts_elsewhere_is_left_alone) {
    char error[4096], body[4096];
    double cycles, least = 1e9;
    int n =
        snprintf(body, sizeof body, "st.global.u64 [%%a0],%%a0; mov.u64 %%a1,%%a0; %s", counted_elsewhere[_i].before);
    for (int i = 0; i < CHAIN; i++)
        n += snprintf(body + n, sizeof body - (size_t)n, "ld.global.u64 %%a1,[%%a1];\n");
    snprintf(body + n, sizeof body - (size_t)n, "%s", counted_elsewhere[_i].after);
    for (int m = 0; m < mixed_models()->n; m++) {
        const char *model = mixed_models()->name[m];
        enum heddle_status s = run(body, model, counted_elsewhere[_i].ctas, error, &cycles);
        ck_assert_msg(s == HEDDLE_OK, "%s in %s: %s", counted_elsewhere[_i].name, model, error);
        least = cycles < least ? cycles : least;
    }
    ck_assert_msg(least > 25000, "%.0f cycles prove nothing", least);
}
END_TEST

/* The report at the interpreter's limit names the loop. */
START_TEST(the_interpreter_names_the_loop) {
    char error[4096];
    double cycles;
    ck_assert_int_eq(run(endless[0].body, "functional", 1, error, &cycles), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "in the loop of lines ") != NULL, "%s", error);
}
END_TEST

/* A warp that counts to 20,000 is watched from cycle 5,000 on. The other 14 SMs have no warp. Entries for all their
 * warp slots would take 135 pages an SM, 2,025 together; an SM without warps takes at most 2. */
START_TEST(a_search_takes_memory_for_warps_in_use_only) {
    static const char text[] =
        HEAD "mov.u32 %r1,0;\nL: add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,%r2; @%o bra L;\n ret;\n}\n";
    char err[512], kernel[sizeof text + 64];
    const char *const set[] = {"deadlock.cycles=10000", NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "fermi", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    unsigned long pages[2];
    for (int i = 0; i < 2; i++) {
        const char *head = strstr(text, "mov.u32 %r1,0;");
        snprintf(kernel, sizeof kernel, "%.*smov.u32 %%r2,%d; %s", (int)(head - text), text, i ? 20000 : 1, head);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", kernel, strlen(kernel));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        const struct heddle_arg args[] = {{&(uint64_t){0}, 8}};
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        pages[i] = resident_pages();
    }
    ck_assert_msg(heddle_stat(h, 1, "gpu.cycles") > 20000, "no search");
    ck_assert_msg(pages[1] - pages[0] < 500, "%lu pages", pages[1] - pages[0]);
    heddle_close(h);
}
END_TEST

SUITE(timing_livelock) {
    TEST(a_search_takes_memory_for_warps_in_use_only);
    TEST_LOOP(warps_that_repeat_themselves_are_found, 0, base_models()->n);
    TEST_LOOP(a_lock_inside_a_warp_is_found, 0, 2);
    TEST(a_limit_reached_in_a_lock_gives_the_advice);
    TEST(a_cta_without_room_does_not_help);
    TEST_LOOP(a_cta_that_cannot_continue_ends_the_launch, 0, base_models()->n);
    TEST(lanes_of_a_warp_that_wait_apart_get_the_advice);
    TEST(a_cta_that_waits_for_its_cluster_is_left_alone);
    TEST_LOOP(sleep_is_no_deadlock, 0, base_models()->n);
    TEST(sleep_that_waits_for_lanes_of_the_warp_is_found);
    TEST(the_search_pauses_while_a_warp_counts);
    TEST_LOOP(a_spin_that_ends_is_left_alone, 0, 5);
    TEST_LOOP(a_loop_that_counts_elsewhere_is_left_alone, 0, N_COUNTED);
    TEST(the_interpreter_names_the_loop);
}
