/* Tests how time passes. In the functional model, nanosleep advances the clock of its warp, and lets others run; a loop
 * that only waits for a clock skips cycles. In a timing model, the warp issues nothing while it sleeps. */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BEGIN                                                                                                          \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<8>; .reg .b64 %a, %d<8>; .reg .pred %q, %o;\nld.param.u64 %a,[p];\n"
#define END "st.global.u64 [%a],%d3;\nret;\n}\n"

/* Runs the kernel with threads 0 to threads-1 in `ctas` CTAs. Returns its instructions, and memory in `words`. */
static uint64_t run(const char *text, uint32_t ctas, uint32_t threads, uint64_t words[2]) {
    char error[2048];
    /* the limit ends a loop that does not skip cycles */
    const struct heddle_options o = {.model = "functional", .config = "turing", .cycle_limit = 2000000};
    struct heddle *h = heddle_open(&o, error, sizeof error);
    ck_assert_msg(h != NULL, "%s", error);
    uint64_t at = heddle_alloc(h, 16), zero[2] = {0};
    heddle_write(h, at, zero, sizeof zero);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1},
                                         0, &(struct heddle_arg){&at, 8}, 1);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, at, words, 16);
    uint64_t n = (uint64_t)heddle_stat(h, -1, "gpu.warp_instructions");
    heddle_close(h);
    return n;
}

/* A warp sleeps as long as its lane with the longest time: lane 31 for 31 * 1000 ns. A ns is a cycle. The
 * clock also counts two instructions: nanosleep and the second clock read. */
START_TEST(the_longest_sleep_of_the_lanes_counts) {
    uint64_t w[2];
    run(BEGIN "mov.u32 %r1,%tid.x; mul.lo.u32 %r1,%r1,1000;\n"
              "mov.u64 %d1,%clock64; nanosleep.u32 %r1; mov.u64 %d2,%clock64; sub.u64 %d3,%d2,%d1;\n" END,
        1, 32, w);
    ck_assert_uint_eq(w[0], 31002);
}
END_TEST

/* A sleep takes at most a million ns. */
START_TEST(a_sleep_takes_at_most_a_millisecond) {
    uint64_t w[2];
    run(BEGIN "mov.u64 %d1,%globaltimer; nanosleep.u32 5000000; mov.u64 %d2,%globaltimer; sub.u64 %d3,%d2,%d1;\n" END,
        1, 1, w);
    ck_assert_uint_eq(w[0], 1000002);
}
END_TEST

/* The loop has three instructions. A wait of 10^9 cycles would take 10^9 instructions; it ends at most 1/64 late. */
START_TEST(a_loop_that_waits_for_the_clock_skips_cycles) {
    static const char *const loops[] = {
        "L: mov.u64 %d2,%clock64; sub.u64 %d3,%d2,%d1; setp.lt.u64 %q,%d3,1000000000; @%q bra L;\n",
        "L: mov.u64 %d2,%globaltimer; sub.u64 %d3,%d2,%d1; add.u32 %r1,%r1,1;\n"
        "setp.ge.u64 %q,%d3,1000000000; @%q bra E; nanosleep.u32 20; bra L;\nE:\n"};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s%s", BEGIN, "mov.u64 %d1,%clock64; mov.u32 %r1,0;\n", loops[i], END);
        uint64_t w[2], n = run(text, 1, 32, w);
        ck_assert_uint_lt(n, 20000);
        ck_assert_uint_ge(w[0], 1000000000);
        ck_assert_uint_le(w[0], 1000000000 + 1000000000 / 64 + 8);
    }
}
END_TEST

/* These loops must run with the pace of their instructions: a counter also ends the first; the second reads memory.
 * Each has 1000 iterations of 6 instructions, after the 5 instructions of the entry. */
START_TEST(other_loops_with_clocks_skip_nothing) {
    static const char *const loops[] = {
        "L: mov.u64 %d2,%clock64; sub.u64 %d3,%d2,%d1; setp.gt.u64 %q,%d3,1000000000; @%q bra E;\n"
        "add.u32 %r1,%r1,1; setp.lt.u32 %q,%r1,1000; @%q bra L;\nE:\n",
        "L: ld.volatile.global.u32 %r2,[%a+8]; mov.u64 %d2,%clock64; sub.u64 %d3,%d2,%d1;\n"
        "add.u32 %r1,%r1,1; setp.lt.u64 %q,%d3,6990; @%q bra L;\n",
    };
    static const uint64_t elapsed[] = {6994, 6991};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s%s", BEGIN, "mov.u32 %r1,0; mov.u64 %d1,%clock64;\n", loops[i], END);
        uint64_t w[2];
        run(text, 1, 32, w);
        ck_assert_msg(w[0] >= elapsed[i] - 8 && w[0] <= elapsed[i] + 8, "%d: %lu", i, (unsigned long)w[0]);
    }
}
END_TEST

/* 1000 waits of 50 cycles, each of at most 25 iterations, run with the pace of their instructions. Each takes 50
 * cycles, at most one iteration more, and the instructions between two waits. */
START_TEST(short_waits_skip_nothing) {
    uint64_t w[2];
    run(BEGIN "mov.u32 %r1,0; mov.u64 %d1,%clock64;\n"
              "N: mov.u64 %d2,%clock64; add.u64 %d2,%d2,50;\n"
              "L: mov.u64 %d4,%clock64; setp.lt.u64 %q,%d4,%d2; @%q bra L;\n"
              "add.u32 %r1,%r1,1; setp.lt.u32 %o,%r1,1000; @%o bra N; sub.u64 %d3,%d4,%d1;\n" END,
        1, 32, w);
    ck_assert_uint_ge(w[0], 50000);
    ck_assert_uint_le(w[0], 60000);
}
END_TEST

/* Thread 0 polls a flag with a time limit, sleeping. Another thread sets the flag: of the same warp, of another warp,
 * of another CTA. It must run before the limit of 50 sleeps. The kernel stores 1 in the second word if it did not. */
START_TEST(a_sleep_lets_the_others_run) {
    static const struct {
        uint32_t ctas, threads;
        const char *who;
    } others[] = {{1, 2, "%tid.x"}, {1, 64, "%tid.x"}, {2, 1, "%ctaid.x"}};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%smov.u32 %%r1,%s; setp.ne.u32 %%q,%%r1,0; @%%q bra S; mov.u64 %%d1,%%clock64;\n"
                 "L: ld.volatile.global.u32 %%r2,[%%a]; setp.ne.u32 %%q,%%r2,0; @%%q bra E;\n"
                 "mov.u64 %%d2,%%clock64; sub.u64 %%d3,%%d2,%%d1; setp.gt.u64 %%q,%%d3,50000; @%%q bra T;\n"
                 "nanosleep.u32 1000; bra L;\n"
                 "T: mov.u32 %%r3,1; st.global.u32 [%%a+8],%%r3; bra E;\n"
                 "S: mov.u32 %%r3,7; st.volatile.global.u32 [%%a],%%r3;\nE: ret;\n}\n",
                 BEGIN, others[i].who);
        uint64_t w[2];
        run(text, others[i].ctas, others[i].threads, w);
        ck_assert_msg(w[0] == 7 && w[1] == 0, "%u", i);
    }
}
END_TEST

/* As above, without a sleep: thread 0 polls with a limit of 100,000 cycles, in an iteration of 8 instructions with one
 * clock read, or 9 with two. Thread 1 waits in the other path of the same warp. It must run after 64 clock reads, so
 * the kernel takes at most 64 iterations and 20 other instructions. */
START_TEST(a_path_that_polls_a_clock_lets_other_paths_run) {
    static const char *const reads[] = {"", "mov.u64 %d4,%globaltimer;"};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%smov.u32 %%r1,%%tid.x; setp.ne.u32 %%q,%%r1,0; @%%q bra S; mov.u64 %%d1,%%clock64;\n"
                 "L: ld.volatile.global.u32 %%r2,[%%a]; setp.ne.u32 %%q,%%r2,0; @%%q bra E;\n"
                 "%s mov.u64 %%d2,%%clock64; sub.u64 %%d3,%%d2,%%d1; setp.gt.u64 %%q,%%d3,100000; @%%q bra T; bra L;\n"
                 "T: mov.u32 %%r3,1; st.global.u32 [%%a+8],%%r3; bra E;\n"
                 "S: mov.u32 %%r3,7; st.volatile.global.u32 [%%a],%%r3;\nE: ret;\n}\n",
                 BEGIN, reads[i]);
        uint64_t w[2], n = run(text, 1, 2, w);
        ck_assert_msg(w[0] == 7 && w[1] == 0 && n < 64 * 9 + 20, "%d: %lu", i, (unsigned long)n);
    }
}
END_TEST

/* One thread of each of two warps sleeps 5000 ns. The clock read behind the sleep issues S = 5000 ns x clock cycles
 * after the nanosleep or, because of the pipeline and of fetches, a few cycles later. The warps sleep at the same time,
 * and the slots of their schedulers count as sleep for less than S cycles each. */
START_TEST(in_time_a_warp_sleeps) {
    static const char *const models[] = {"spe", "dpe", "dws", "its", "si", "tbc", "large", "minpc"};
    static const char *const machines[] = {"fermi", "turing", "gv100"};
    static const char text[] =
        BEGIN "mov.u64 %d1,%clock64; nanosleep.u32 5000; mov.u64 %d2,%clock64; sub.u64 %d3,%d2,%d1;\n" END;
    const char *model = models[_i % 8], *machine = machines[_i / 8];
    char error[2048];
    const struct heddle_options o = {.model = model, .config = machine};
    struct heddle *h = heddle_open(&o, error, sizeof error);
    if (!h)
        ck_abort_msg("%s", error);
    uint64_t at = heddle_alloc(h, 16), took = 0;
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){64, 1, 1}, 0,
                                         &(struct heddle_arg){&at, 8}, 1);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, at, &took, 8);
    const double slept = ceil(5 * heddle_option(h, "clock.core_mhz")), sleep = heddle_stat(h, -1, "issue.sleep");
    ck_assert_msg((double)took >= slept && (double)took < slept + 100, "%s %s: %lu", model, machine,
                  (unsigned long)took);
    ck_assert_msg(sleep > slept - 100 && sleep < 2 * slept, "%s %s: %g", model, machine, sleep);
    ck_assert_double_lt(heddle_stat(h, -1, "gpu.cycles"), slept + 4000);
    heddle_close(h);
}
END_TEST

SUITE(host_sleeps) {
    TEST_LOOP(in_time_a_warp_sleeps, 0, 24);
    TEST(a_path_that_polls_a_clock_lets_other_paths_run);
    TEST(the_longest_sleep_of_the_lanes_counts);
    TEST(a_sleep_takes_at_most_a_millisecond);
    TEST(a_loop_that_waits_for_the_clock_skips_cycles);
    TEST(other_loops_with_clocks_skip_nothing);
    TEST(short_waits_skip_nothing);
    TEST(a_sleep_lets_the_others_run);
}
