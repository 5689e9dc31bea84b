/* Tests reports about misuse of barriers, member masks, shuffles, mbarriers and printf(). The small kernels are in this
 * file. A wrong kernel gives the expected report; the correct kernels next to it give no report. */
#include "benchmarks/bench.h"
#include "test/test.h"

enum { BYTES = 4096 };
static struct heddle *h;
static char report[16384];

static void open_with(const char *reconv) {
    char err[512] = "";
    const char *set[] = {reconv, NULL};
    h = heddle_open(&(struct heddle_options){.check = true, .cycle_limit = 1000000, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
}
static void setup(void) { open_with("reconv=spe"); }
static void teardown(void) { heddle_close(h); }

/* Runs a kernel with one block. In the body, %t is the thread, %n the parameter n, %a the address of out[t], and %s the
 * address of the shared words s. */
static enum heddle_status run(const char *body, uint32_t threads, uint32_t n) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_90\n.address_size 64\n"
             ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
             ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
             ".reg .u32 %%t, %%n, %%s, %%v, %%w, %%m; .reg .u64 %%a, %%b, %%g; .reg .pred %%p, %%q;\n"
             ".shared .align 8 .b32 s[64];\n"
             "mov.u32 %%t, %%tid.x; ld.param.u32 %%n, [n]; ld.param.u64 %%b, [out]; mad.wide.u32 %%a, %%t, 4, %%b;\n"
             "mov.u32 %%s, s; setp.lt.u32 %%p, %%t, 32;\n%s\nret;\n}\n",
             body);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t out = heddle_alloc(h, BYTES);
    ck_assert_int_eq(heddle_clear(h, out, BYTES), HEDDLE_OK);
    const struct heddle_arg args[] = {BENCH_ARG(out), BENCH_ARG(n)};
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, 2);
    snprintf(report, sizeof report, "%s", heddle_error(h));
    return s;
}

static void expect_clean(const char *body, uint32_t threads, uint32_t n) {
    enum heddle_status s = run(body, threads, n);
    ck_assert_msg(s == HEDDLE_OK && !*report, "%s: %s", body, report);
}

/* Expects a report that begins with `headline` and also contains the text `also`. */
static void expect_report(const char *body, uint32_t threads, uint32_t n, const char *headline, const char *also) {
    enum heddle_status s = run(body, threads, n);
    ck_assert_msg(s != HEDDLE_OK && strstr(report, headline) == report, "%s: %s", body, report);
    ck_assert_msg(strstr(report, also) != NULL, "%s: %s", body, report);
}

START_TEST(numbers_of_threads) {
    expect_clean("bar.sync 0;\nbar.sync 1, 64;\nbar.sync 1, %n;", 64, 64);
    expect_clean("@%p bar.sync 2, 64;\n@!%p bar.sync 2;", 64, 64); /* the count of 64 threads equals the whole block */
    expect_report("bar.sync 3, %n;", 64, 0,
                  "barrier 3 for 0 threads in kernel 'k'\n  at t.ptx:11:1\n    bar.sync 3, %n;\n    ^\n",
                  "check: 2 mistakes at 1 place"); /* each of the two warps gives one report */
    expect_report("bar.sync 3, 0;", 32, 0, "barrier 3 for 0 threads", "check: 1 mistake at 1 place");
    /* Warp 0 arrives at barrier 1 with a count of 96 threads. Then warp 1 arrives with a count of 64, which is
     * reported. The barrier keeps the count of 96, so it waits until warp 2 arrives. */
    expect_report("@%p bra L;\nbar.sync 1, 64;\nbra.uni END;\nL: bar.sync 1, 96;\nEND:", 96, 0,
                  "barrier 1 for 64 threads here and 96 elsewhere in kernel 'k'\n  at t.ptx:12:1",
                  "thread (0,0,0) (warp 0, lane 0) arrived first, at t.ptx:14:4\n");
    expect_report("bar.sync 1, 33;", 64, 0, "unsupported: barrier 1 with 33 threads", "t.ptx:11:1");
    expect_report("bar.sync %n;", 64, 16, "unsupported: barrier 16: there are 16", "t.ptx:11:1");
}
END_TEST

START_TEST(forms_of_one_barrier) {
    expect_clean("@%p bar.arrive 1, 64;\n@!%p bar.sync 1, 64;", 64, 0);
    expect_clean("setp.eq.u32 %q, %t, 0; bar.red.or.pred %q, 1, %q;", 64, 0);
    expect_report(
        "setp.eq.u32 %q, %t, 0;\n@%p bra L;\nbar.red.or.pred %q, 1, %q;\nbra.uni END;\nL: bar.sync 1;\nEND:", 64, 0,
        "barrier 1 with and without a reduction in kernel 'k'\n  at t.ptx:13:1", "arrived first, at t.ptx:15:4");
}
END_TEST

START_TEST(member_masks) {
    expect_clean("shfl.sync.idx.b32 %v, %t, 3, 31, 0xffffffff;", 32, 0);
    expect_report("shfl.sync.idx.b32 %v, %t, 3, 31, 0xfffffffe;", 32, 0,
                  "a thread is not in its own member mask in kernel 'k'\n  at t.ptx:11:1",
                  "thread (0,0,0) (warp 0, lane 0)\n  the mask is 0xfffffffe\n");
    expect_report("setp.ne.u32 %q, %t, 5;\nvote.sync.all.pred %q, %q, 0xffffff00;", 32, 0,
                  "a thread is not in its own member mask", "  8 occurrences; this is the first\n"); /* lanes 0 to 7 */
    expect_report("match.any.sync.b32 %v, %t, 0x7fffffff;", 32, 0, "a thread is not in its own member mask", "lane 31");
    expect_report("redux.sync.add.u32 %v, %t, 0x7fffffff;", 32, 0, "a thread is not in its own member mask", "lane 31");
    expect_report("bar.warp.sync 0x7fffffff;", 32, 0, "a thread is not in its own member mask", "lane 31");
}
END_TEST

/* Lanes 0 to 15 execute the shuffle; the other lanes have exited. Lane 15 reads from lane 15 + 1 = 16, which is
 * absent. */
START_TEST(shuffles_from_absent_lanes) {
    static const char half[] = "setp.ge.u32 %q, %t, 16;\n@%q ret;\n";
    char body[256];
    snprintf(body, sizeof body, "%sshfl.sync.down.b32 %%v, %%t, 1, 31, 0xffff;", half);
    expect_report(body, 32, 0, "shuffle from a lane that does not execute the shuffle in kernel 'k'\n  at t.ptx:13:1",
                  "(warp 0, lane 15)\n  it reads lane 16; lanes 0x0000ffff execute it, 0x0000ffff are live\n");
    ck_assert_ptr_nonnull(strstr(report, "check: 1 mistake at 1 place"));
    snprintf(body, sizeof body, "%sshfl.sync.down.b32 %%v, %%t, 1, 31, 0xffffffff;", half);
    expect_report(body, 32, 0, "shuffle from a lane that does not execute the shuffle",
                  "it reads lane 16; lanes 0x0000ffff execute it");
    snprintf(body, sizeof body, "%sshfl.down.b32 %%v, %%t, 1, 31;", half);
    snprintf(body, sizeof body, "%sshfl.sync.down.b32 %%v, %%t, 1, 0x100f, 0xffff;", half); /* segments of 16 lanes */
    expect_clean(body, 32, 0);
    snprintf(body, sizeof body, "%sshfl.sync.bfly.b32 %%v, %%t, 8, 31, 0xffff;", half);
    expect_clean(body, 32, 0);
    snprintf(body, sizeof body, "%sshfl.sync.bfly.b32 %%v, %%t, 16, 31, 0xffff;", half);
    expect_report(body, 32, 0, "shuffle from a lane", "  16 occurrences; this is the first\n");
}
END_TEST

/* The result of the shuffle overwrites the register with the member mask. The checker must use the mask from before the
 * instruction. */
START_TEST(results_in_the_place_of_masks) {
    expect_clean(
        "mov.u32 %m, 0xffffffff; add.u32 %m, %m, %n; shfl.sync.idx.b32 %m, %t, 3, 31, %m; st.global.u32 [%a], %m;", 32,
        0);
    heddle_close(h);
    open_with("reconv=its");
    expect_clean(
        "setp.lt.u32 %q, %t, 16; @%q bra L; mov.u32 %m, 0xffffffff; add.u32 %m, %m, %n;\n"
        "shfl.sync.idx.b32 %m, %t, 3, 31, %m; st.global.u32 [%a], %m; ret;\n"
        "L: mov.u32 %w, 0xffffffff; add.u32 %w, %w, %n; shfl.sync.idx.b32 %w, %t, 3, 31, %w; st.global.u32 [%a], %w;",
        32, 0);
}
END_TEST

START_TEST(null_format) {
    expect_report("{ .param .b64 f; .param .b64 a; .param .b32 r;\nst.param.b64 [f], 0; st.param.b64 [a], 0;\n"
                  "call.uni (r), vprintf, (f, a); }",
                  32, 0, "printf() of a null pointer in kernel 'k'\n  at t.ptx:13:1",
                  "  32 occurrences; this is the first\n");
}
END_TEST

/* mbarrier.init initialises an mbarrier object, whatever the form of its address. A wait for the end of a phase orders
 * the accesses before the arrivals before the accesses after the wait. */
#define INIT "setp.eq.u32 %q, %t, 0;\n@%q mbarrier.init.shared.b64 [%s], 2;\nbar.sync 0;\n"
#define WAIT(parity)                                                                                                   \
    "W" #parity ": mbarrier.test_wait.parity.shared.b64 %q, [%s], " #parity ";\n@!%q bra W" #parity ";\n"
#define LEADER "and.b32 %w, %t, 31; setp.ne.u32 %q, %w, 0;\n"

START_TEST(mbarriers) {
    /* thread 32 (warp 1) stores; two threads arrive; all threads wait for the phase and read */
    expect_clean(INIT "setp.eq.u32 %q, %t, 32;\n@%q st.shared.u32 [%s+16], %t;\n" LEADER
                      "@!%q mbarrier.arrive.shared.b64 _, [%s];\n" WAIT(0) "ld.shared.u32 %v, [%s+16];",
                 64, 0);
    expect_report(INIT
                  "setp.eq.u32 %q, %t, 32;\n@%q st.shared.u32 [%s+16], %t;\n" LEADER
                  "@!%q mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%s];\n" WAIT(0) "ld.shared.u32 %v, [%s+16];",
                  64, 0, "race: read of 4 bytes at 0x10 (shared memory)", "thread (32,0,0) (warp 1, lane 0) writes it");
    /* transactions complete the phase; the thread that completes them has arrived before that */
    expect_clean(
        INIT "setp.eq.u32 %q, %t, 32;\n@%q st.shared.u32 [%s+16], %t;\n" LEADER
             "@!%q mbarrier.arrive.expect_tx.shared.b64 _, [%s], 8;\n"
             "@!%q mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 8;\n" WAIT(0) "ld.shared.u32 %v, [%s+16];",
        64, 0);
    /* thread 32 arrives with .noComplete, then thread 0 completes the phase */
    expect_clean(INIT "setp.eq.u32 %q, %t, 32;\n@%q st.shared.u32 [%s+16], %t;\n@!%p bra L;\nbar.sync 1, 64;\n"
                      "setp.eq.u32 %q, %t, 0;\n@%q mbarrier.arrive.shared.b64 _, [%s];\nbra.uni D;\n"
                      "L: @%q mbarrier.arrive.noComplete.shared.b64 %g, [%s], 1;\nbar.sync 1, 64;\nD:\n" WAIT(
                          0) "ld.shared.u32 %v, [%s+16];",
                 64, 0);
    /* a wait for parity 1 is true at once for a new object, so it orders nothing */
    expect_report(INIT "setp.eq.u32 %q, %t, 32;\n@%q st.shared.u32 [%s+16], %t;\n@!%p bra END;\n" WAIT(
                      1) "ld.shared.u32 %v, [%s+16];\nEND:",
                  64, 0, "", "race: ");
}
END_TEST

SUITE(isa_check_misuse) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(numbers_of_threads);
    TEST(forms_of_one_barrier);
    TEST(member_masks);
    TEST(shuffles_from_absent_lanes);
    TEST(results_in_the_place_of_masks);
    TEST(null_format);
    TEST(mbarriers);
}
