/* Compares statistics of an SM with values derived by hand. The difference between a long and a short kernel is the
 * contribution of the additional instructions. configs/tiny.cfg has one scheduler, one fetch of two instructions per
 * cycle, and no instruction cache unless a test adds one. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { TEXT = 64 * 1024, FEW = 32, MANY = 96, MAX_SETS = 12, BUFFER = 65536 };
static struct heddle *h;
static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }

struct kernel {
    const char *before, *repeat, *after;
    uint32_t threads;
    const char *model, *set[MAX_SETS];
};

static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

/* Runs a kernel with `n` repeats, and stores the context of the launch in `h`. %t is the thread number, %q its lowest
 * bit, %w is true for threads below 32, %no is always false, and %a is the address of the buffer. */
static void run(const struct kernel *k, int n) {
    static char text[TEXT];
    char err[512] = "";
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = k->model ? k->model : "spe", .config = "tiny", .set = k->set},
                    err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    size_t at = (size_t)snprintf(
        text, TEXT,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%t, %%r<20>; "
        ".reg .f32 %%f<9>; .reg .f64 %%d<5>; .reg .b64 %%a, %%b; .reg .b16 %%h<3>; .reg .pred %%q, %%w, %%no;\n"
        ".shared .align 16 .b8 s[256];\nld.param.u64 %%a,[p]; mov.u32 %%t,%%tid.x; and.b32 %%r1,%%t,1; setp.eq.u32 "
        "%%q,%%r1,1; setp.gt.u32 %%no,%%t,9999; setp.lt.u32 %%w,%%t,32; cvt.rn.f32.u32 %%f1,%%t; cvt.rn.f64.u32 "
        "%%d1,%%t; mov.u32 %%r2,3; mov.u64 %%b,%%a; %s\n",
        k->before ? k->before : "");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, TEXT - at, "%s\n", k->repeat);
    ck_assert_uint_lt(at, TEXT - 512);
    snprintf(
        text + at, TEXT - at,
        "%s\ncvt.rzi.u32.f64 %%r4,%%d1; cvt.rzi.u32.f32 %%r5,%%f1; add.u32 %%r4,%%r4,%%r5; add.u32 %%r4,%%r4,%%r1; "
        "cvt.u32.u64 %%r5,%%b; add.u32 %%r4,%%r4,%%r5; st.global.u32 [%%a+8],%%r4; ret;\n}\n",
        k->after ? k->after : "");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, BUFFER);
    uint64_t *words = calloc(BUFFER, 1); /* the first word of the buffer points to itself */
    ck_assert_ptr_nonnull(words);
    words[0] = p;
    ck_assert_int_eq(heddle_write(h, p, words, BUFFER), HEDDLE_OK);
    free(words);
    const struct heddle_arg args[] = {{&p, 8}};
    const struct heddle_dim one = {1, 1, 1}, threads = {k->threads ? k->threads : 32, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, threads, 0, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
}

/* Returns the amount by which one more `repeat` increases a statistic. */
static double each(const struct kernel *k, const char *name) {
    run(k, FEW);
    double few = stat(name);
    run(k, MANY);
    return (stat(name) - few) / (MANY - FEW);
}

static void adds(const struct kernel *k, const char *name, double expect) {
    double got = each(k, name);
    ck_assert_msg(got > expect - 1e-9 && got < expect + 1e-9, "%s: %s: %.9g, not %g", k->repeat, name, got, expect);
}

/* One row per instruction: the statistics that one execution by one warp increases. These are its operation class,
 * which counts lanes; its pipe (tiny has SP, SFU and memory); operands read and written; and the words of these
 * operands: 1 word for 32 bits, 2 words for 64 bits, no word for a predicate. */
static const struct {
    const char *inst, *op, *pipe;
    double reads, writes, read_words, write_words;
} rows[] = {
    {"add.u32 %r1,%r1,%r2;", "op.int", "pipe.sp", 2, 1, 2, 1},
    {"xor.b32 %r1,%r1,%r2;", "op.int", "pipe.sp", 2, 1, 2, 1},
    {"add.u64 %b,%b,%b;", "op.int", "pipe.sp", 1, 1, 2, 2},
    {"mul.lo.u32 %r1,%r1,%r2;", "op.int_mul", "pipe.sp", 2, 1, 2, 1},
    {"mad.lo.u32 %r1,%r1,%r2,%t;", "op.int_mul", "pipe.sp", 3, 1, 3, 1},
    {"div.u32 %r1,%r1,%r2;", "op.int_div", "pipe.sfu", 2, 1, 2, 1},
    {"add.f32 %f1,%f1,%f1;", "op.f32_add", "pipe.sp", 1, 1, 1, 1},
    {"mul.f32 %f1,%f1,%f1;", "op.f32_mul", "pipe.sp", 1, 1, 1, 1},
    {"fma.rn.f32 %f1,%f1,%f1,%f1;", "op.f32_fma", "pipe.sp", 1, 1, 1, 1},
    {"add.f64 %d1,%d1,%d1;", "op.f64", "pipe.sfu", 1, 1, 2, 2},
    {"ex2.approx.f32 %f1,%f1;", "op.sfu", "pipe.sfu", 1, 1, 1, 1},
    {"ld.global.u64 %b,[%b];", "op.mem", "pipe.mem", 1, 1, 2, 2},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

START_TEST(classes_and_operands_of_instructions) {
    const struct kernel k = {.repeat = rows[_i].inst};
    static const char *const all[] = {"op.int",     "op.int_mul", "op.int_div", "op.f32_add", "op.f32_mul",
                                      "op.f32_fma", "op.f32_div", "op.f64",     "op.f64_div", "op.f16",
                                      "op.sfu",     "op.shfl",    "op.mem",     "op.control", "op.affine",
                                      "pipe.sp",    "pipe.sfu",   "pipe.int",   "pipe.dp",    "pipe.mem"};
    double few[sizeof all / sizeof all[0]], lanes = 32;
    run(&k, FEW);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        few[i] = stat(all[i]);
    run(&k, MANY);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double more = (stat(all[i]) - few[i]) / (MANY - FEW);
        double expect = !strcmp(all[i], rows[_i].op) ? lanes : !strcmp(all[i], rows[_i].pipe) ? 1 : 0;
        ck_assert_msg(more == expect, "%s: %s: %g, not %g", rows[_i].inst, all[i], more, expect);
    }
    adds(&k, "collector.reads", rows[_i].reads);
    adds(&k, "collector.writes", rows[_i].writes);
    adds(&k, "collector.read_words", rows[_i].read_words);
    adds(&k, "collector.write_words", rows[_i].write_words);
}
END_TEST

/* Two warps execute an instruction in odd threads, in no thread, and in all threads. */
START_TEST(lanes_of_guarded_instructions) {
    static const struct {
        const char *inst;
        double lanes;
    } guards[] = {{"@%q add.u32 %r1,%r1,%r2;", 32}, {"@%no add.u32 %r1,%r1,%r2;", 0}, {"add.u32 %r1,%r1,%r2;", 64}};
    for (int i = 0; i < 3; i++) {
        const struct kernel k = {.repeat = guards[i].inst, .threads = 64};
        adds(&k, "gpu.warp_instructions", 2);
        adds(&k, "issue.issued", 2);
        adds(&k, "gpu.lane_slots", 64);
        adds(&k, "gpu.path_sum", 2);
        adds(&k, "gpu.thread_instructions", guards[i].lanes);
        adds(&k, "op.int", guards[i].lanes);
        adds(&k, "gpu.active_lanes", 64);
    }
    ck_assert_double_eq(stat("gpu.ctas"), 1);
    ck_assert_double_eq(stat("gpu.warps"), 2);
    ck_assert_double_eq(stat("gpu.max_resident_warps"), 2);
}
END_TEST

/* A fetch brings two instructions, so each instruction adds half a fetch. Without an instruction cache there are no
 * misses. */
START_TEST(fetches) {
    const struct kernel k = {.repeat = "add.u32 %r1,%r1,%r2;"};
    adds(&k, "fetch.fetches", 1 / 2.);
    adds(&k, "fetch.misses", 0);
    adds(&k, "fetch.l1_accesses", 0);
}
END_TEST

/* A single warp runs code without branches. A line of 128 bytes has 16 instructions of 8 bytes, and each line misses
 * once. Without an L0, each fetch accesses the L1. With an L0, each fetch accesses the L0, and the L0 accesses the
 * L1 once per line. */
START_TEST(fetches_from_caches) {
    struct kernel k = {.repeat = "add.u32 %r1,%r1,%r2;", .set = {"l1i.size=2048"}};
    adds(&k, "fetch.fetches", 1 / 2.);
    adds(&k, "fetch.misses", 1 / 16.);
    adds(&k, "fetch.l1_accesses", 1 / 2.);
    adds(&k, "fetch.l0_accesses", 0);
    adds(&k, "fetch.l0_misses", 0);
    ck_assert_double_eq(stat("fetch.miss_rate"), stat("fetch.misses") / stat("fetch.fetches"));
    k.set[1] = "l0i.size=1024";
    adds(&k, "fetch.fetches", 1 / 2.);
    adds(&k, "fetch.misses", 1 / 16.);
    adds(&k, "fetch.l0_accesses", 1 / 2.);
    adds(&k, "fetch.l0_misses", 1 / 16.);
    adds(&k, "fetch.l1_accesses", 1 / 16.);
}
END_TEST

/* A chain of dependent additions, of which one issues every 10 cycles (test/timing/micro.c).
 * - a fetch brings two instructions, and after the second the buffer is empty
 * - the next fetch leaves when the second addition issues, and its instructions can issue 2 cycles later
 * - so one slot in 20 cycles is lost to fetch, and all other slots that issue nothing are lost to the scoreboard */
START_TEST(slots_of_a_chain) {
    const struct kernel k = {.repeat = "add.u32 %r1,%r1,%r2;"};
    adds(&k, "gpu.cycles", 10);
    adds(&k, "issue.slots", 10);
    adds(&k, "issue.issued", 1);
    adds(&k, "issue.fetch", 1 / 2.);
    adds(&k, "issue.scoreboard_arith", 10 - 1 - 1 / 2.);
    adds(&k, "gpu.idle_cycles", 9);
    adds(&k, "sm.warp_cycles", 10);
    adds(&k, "sm.exposed_load_stalls", 0);
    adds(&k, "issue.no_warp", 0);
    adds(&k, "issue.pipe_busy", 0);
}
END_TEST

/* A chain of loads with a memory latency of 100 cycles or more: all slots are lost to the load, except the issue
 * slot and half a slot for fetch. */
START_TEST(slots_of_a_chain_of_loads) {
    struct kernel k = {.repeat = "ld.global.u64 %b,[%b];", .set = {"l1.size=0"}};
    double cycles = each(&k, "gpu.cycles");
    ck_assert_double_gt(cycles, 100);
    adds(&k, "issue.issued", 1);
    adds(&k, "issue.fetch", 1 / 2.);
    adds(&k, "issue.scoreboard_load", cycles - 1 - 1 / 2.);
    adds(&k, "sm.exposed_load_stalls", cycles - 1 - 1 / 2.);
    adds(&k, "sm.exposed_load_stalls_divergent", 0);
    adds(&k, "gpu.idle_cycles", cycles - 1);
    k.before = "@%q bra END;", k.after = "END:"; /* odd threads leave */
    cycles = each(&k, "gpu.cycles");
    adds(&k, "sm.exposed_load_stalls_divergent", cycles - 1 - 1 / 2.);
    adds(&k, "gpu.active_lanes", 16);
    adds(&k, "gpu.path_sum", 1);
}
END_TEST

/* Two schedulers. With a single warp, one scheduler has no warp. Of two warps, one waits at a barrier while the
 * other warp executes its chain. */
START_TEST(slots_of_the_other_scheduler) {
    struct kernel k = {.repeat = "add.u32 %r1,%r1,%r2;", .set = {"sm.schedulers=2"}};
    adds(&k, "issue.slots", 20);
    adds(&k, "issue.no_warp", 10);
    adds(&k, "issue.barrier", 0);
    k.before = "@%w bra BAR;", k.after = "BAR: bar.sync 0;", k.threads = 64;
    adds(&k, "issue.slots", 20);
    adds(&k, "issue.no_warp", 0);
    adds(&k, "issue.barrier", 10);
    adds(&k, "issue.issued", 1);
    adds(&k, "sm.warp_cycles", 20);
}
END_TEST

/* Six warps execute four SFU instructions each.
 * - the SFU starts one instruction every 8 cycles: the 24 instructions take 192 cycles, and an instruction issues in 24
 *   of these
 * - its 8 collectors and the pipe hold 9 or 10 instructions, so in each of the remaining cycles a ready warp waits
 *   for the pipe */
START_TEST(slots_of_a_busy_pipe) {
    const struct kernel k = {.repeat = "ex2.approx.f32 %f2,%f1; ex2.approx.f32 %f3,%f1; ex2.approx.f32 %f4,%f1; "
                                       "ex2.approx.f32 %f5,%f1;",
                             .threads = 192,
                             .set = {"sm.registers=32768"}};
    adds(&k, "gpu.cycles", 4 * 48);
    adds(&k, "issue.issued", 24);
    adds(&k, "issue.pipe_busy", 4 * 48 - 24);
}
END_TEST

/* A load of four words writes all of them at once. With one register bank, each word except the first waits; with 16
 * banks, no word waits. A single word never waits. Each load depends on the previous load, since it loads its own
 * address. */
START_TEST(results_wait_for_their_bank) {
    struct kernel k = {.before = "mov.u32 %r9,s; st.shared.u32 [%r9],%r9;",
                       .repeat = "ld.shared.v4.u32 {%r9,%r6,%r7,%r8},[%r9]; add.u32 %r5,%r6,%r9;",
                       .after = "st.shared.u32 [%r9+16],%r5;",
                       .set = {"collector.banks=16"}};
    adds(&k, "collector.write_conflicts", 0);
    k.set[0] = "collector.banks=1";
    adds(&k, "collector.write_conflicts", 3);
    adds(&k, "collector.writes", 5);
    k.repeat = "ld.shared.u32 %r9,[%r9]; add.u32 %r5,%r5,%r9;";
    adds(&k, "collector.write_conflicts", 0);
}
END_TEST

/* A second launch of a kernel has the same statistics as the first. */
START_TEST(launches_count_by_themselves) {
    static const char *const names[] = {"gpu.warp_instructions",
                                        "gpu.thread_instructions",
                                        "gpu.active_lanes",
                                        "gpu.path_sum",
                                        "gpu.max_stack_depth",
                                        "gpu.max_resident_warps",
                                        "gpu.ctas",
                                        "gpu.warps",
                                        "issue.issued",
                                        "collector.reads",
                                        "collector.writes",
                                        "collector.read_words",
                                        "collector.write_words",
                                        "fetch.fetches",
                                        "pipe.sp",
                                        "op.int",
                                        "gpu.cycles",
                                        "sm.warp_cycles",
                                        "collector.bank_conflicts"};
    char err[512] = "";
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<5>; .reg .pred %q;\n"
        "mov.u32 %r1,%tid.x; mad.lo.u32 %r2,%r1,%r1,%r1; setp.gt.u32 %q,%r1,7; @%q bra J; add.u32 %r2,%r2,%r1;\n"
        "J: add.u32 %r2,%r2,%r1; ret;\n}\n";
    h = heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny"}, err, sizeof err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){3, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, NULL, 0),
            HEDDLE_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(heddle_stat(h, 0, names[i]) == heddle_stat(h, 1, names[i]), "%s: %g, then %g", names[i],
                      heddle_stat(h, 0, names[i]), heddle_stat(h, 1, names[i]));
    ck_assert_double_eq(heddle_stat(h, 1, "gpu.ctas"), 3);
    /* one stack entry for the join, and one for the lanes below 8 */
    ck_assert_double_eq(heddle_stat(h, 1, "gpu.max_stack_depth"), 2);
}
END_TEST

/* A fault report says whether memory was read or written, in the timing model and in the interpreter. */
START_TEST(a_fault_says_what_was_done) {
    static const struct {
        const char *instruction, *says;
    } cases[] = {{"ld.global.u32 %r1,[%a];", "read of 4 bytes at 0x8"},
                 {"ld.shared.u32 %r1,[%r2];", "read of 4 bytes at 0x10000"},
                 {"st.global.u32 [%a],%r2;", "write of 4 bytes at 0x8"},
                 {"st.shared.u32 [%r2],%r1;", "write of 4 bytes at 0x10000"},
                 {"atom.global.add.u32 %r1,[%a],1;", "write of 4 bytes at 0x8"},
                 {"red.global.add.u32 [%a],1;", "write of 4 bytes at 0x8"}};
    for (int functional = 0; functional < 2; functional++) {
        char err[512] = "", text[512];
        heddle_close(h);
        h = heddle_open(
            &(struct heddle_options){.model = functional ? "functional" : "spe", .config = functional ? NULL : "tiny"},
            err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<3>; "
                 ".reg .b64 %%a;\nmov.u64 %%a,8; mov.u32 %%r2,65536;\n%s\nret;\n}\n",
                 cases[_i].instruction);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        const struct heddle_dim one = {1, 1, 1}, threads = {32, 1, 1};
        ck_assert_int_eq(heddle_launch(h, m, "k", one, threads, 0, NULL, 0), HEDDLE_FAULT);
        ck_assert_msg(strstr(heddle_error(h), cases[_i].says) != NULL, "%s", heddle_error(h));
    }
}
END_TEST

SUITE(timing_sm_counts) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(classes_and_operands_of_instructions, 0, N_ROWS);
    TEST(lanes_of_guarded_instructions);
    TEST(fetches);
    TEST(fetches_from_caches);
    TEST(slots_of_a_chain);
    TEST(slots_of_a_chain_of_loads);
    TEST(slots_of_the_other_scheduler);
    TEST(slots_of_a_busy_pipe);
    TEST(results_wait_for_their_bank);
    TEST(launches_count_by_themselves);
    TEST_LOOP(a_fault_says_what_was_done, 0, 6);
}
