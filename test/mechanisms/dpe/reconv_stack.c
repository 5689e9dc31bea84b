/* Tests reconvergence stacks some of whose entries are in memory (dual-path paper, section 7.3): spills, fills, and
 * their cost. Expected values were derived by hand. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { WINDOW = 16 }; /* the simulator checks only every 16 cycles whether the launch has ended */
static struct heddle *h;
static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }
static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

/* Three nested if-else statements. Each inner statement is on the taken side of the outer statement, and the taken side
 * runs first. */
static const char nest[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .pred "
    "%q1, %q2, %q3; .reg .b64 %a, %o;\nld.param.u64 %a,[p]; mov.u32 %r1,%laneid; mul.wide.u32 %o,%r1,4; add.u64 "
    "%a,%a,%o;\nsetp.lt.u32 %q1,%r1,16; setp.lt.u32 %q2,%r1,8; setp.lt.u32 %q3,%r1,4; mov.u32 %r2,0;\n"
    "@%q1 bra T1; add.u32 %r2,%r2,1; bra J1;\n"
    "T1: @%q2 bra T2; add.u32 %r2,%r2,2; bra J2;\n"
    "T2: @%q3 bra T3; add.u32 %r2,%r2,3; bra J3;\n"
    "T3: add.u32 %r2,%r2,4;\nJ3: add.u32 %r2,%r2,10;\nJ2: add.u32 %r2,%r2,20;\nJ1: st.global.u32 [%a],%r2;\n ret;\n}\n";

static double run(const char *model, int entries, const char *more) {
    char err[512] = "", option[40];
    snprintf(option, sizeof option, "reconv.stack_entries=%d", entries);
    const char *const set[] = {option, more, NULL};
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .cycle_limit = 100000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", nest, sizeof nest - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    uint32_t got[32];
    ck_assert_int_eq(heddle_read(h, p, got, sizeof got), HEDDLE_OK);
    for (uint32_t l = 0; l < 32; l++)
        ck_assert_uint_eq(got[l], l >= 16 ? 1 : l >= 8 ? 22 : l >= 4 ? 33 : 34);
    return stat("gpu.cycles");
}

/* SPE: each divergence turns the top entry into the reconvergence entry, and pushes two entries. So the stack has 1, 3,
 * 5, 7 entries. With two entries in hardware, the three divergences spill 1, 2 and 2 entries. When the paths
 * reconverge, six entries pop, and five times the next entry is in memory and is filled. DPE: the stack has 1, 2, 3, 4
 * entries. With two entries in hardware, the second and third divergence spill 1 entry each, and both entries are
 * filled. */
START_TEST(entries_that_do_not_fit_are_spilled) {
    static const struct {
        const char *model;
        int entries, spills, bytes;
    } rows[] = {
        {"spe", 0, 0, 12}, {"spe", 1, 6, 12},  {"spe", 2, 5, 12}, {"spe", 3, 4, 12}, {"spe", 6, 1, 12},
        {"spe", 7, 0, 12}, {"dpe", 0, 0, 20},  {"dpe", 1, 3, 20}, {"dpe", 2, 2, 20}, {"dpe", 3, 1, 20},
        {"dpe", 4, 0, 20}, {"dpe", 64, 0, 20}, {"its", 1, 0, 0},  {"dws", 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run(rows[i].model, rows[i].entries, NULL);
        ck_assert_msg(stat("sm.stack_spills") == rows[i].spills && stat("sm.stack_fills") == rows[i].spills,
                      "%s with %d: %g spills, %g fills", rows[i].model, rows[i].entries, stat("sm.stack_spills"),
                      stat("sm.stack_fills"));
        ck_assert_double_eq(stat("sm.stack_bytes"), 2 * rows[i].spills * rows[i].bytes);
    }
}
END_TEST

/* One warp. A spill takes one cycle for each word. A fill takes one cycle for each word, and the L1's latency. SPE
 * spills and fills five entries of three words: 5 * 3 + 5 * (3 + 35) = 205 cycles. Some of these cycles overlap with
 * waits for additions (at most 8 cycles between two pops). */
START_TEST(spills_and_fills_cost_cycles) {
    double all = run("spe", 0, NULL), two = run("spe", 2, NULL);
    ck_assert_double_le(two - all, 205 + WINDOW);
    ck_assert_double_ge(two - all, 205 - 5 * 8 - WINDOW);
    /* the kernel's own access is a store, so the latency slows only fills */
    double slow = run("spe", 2, "l1.latency=135");
    ck_assert_double_eq_tol(slow - run("spe", 0, "l1.latency=135"), two - all + 500, 2 * WINDOW);
    all = run("dpe", 0, NULL);
    two = run("dpe", 2, NULL); /* two spills and two fills of five words: 2 * 5 + 2 * (5 + 35) */
    ck_assert_double_le(two - all, 90 + WINDOW);
    ck_assert_double_ge(two - all, 90 - 2 * 8 - WINDOW);
}
END_TEST

/* The storage bits of a warp depend on the limit of entries, not on the deepest stack. An entry has 96 bits for SPE and
 * 160 bits for DPE. */
START_TEST(storage_follows_the_limit) {
    run("spe", 0, NULL);
    ck_assert_double_eq(stat("storage.path_bits"), 7 * 96);
    run("spe", 2, NULL);
    ck_assert_double_eq(stat("storage.path_bits"), 2 * 96);
    ck_assert_double_eq(stat("gpu.max_stack_depth"), 7);
    run("dpe", 3, NULL);
    ck_assert_double_eq(stat("storage.path_bits"), 3 * 160);
}
END_TEST

/* With polling, the number of cycles must be the same, which shows that the model loses no event. Under dpe with the
 * constrained scheduler, a limited stack must not be faster than an unlimited stack. */
START_TEST(polling_changes_nothing) {
    for (int entries = 0; entries < 4; entries++) {
        double events = run("spe", entries, NULL);
        ck_assert_double_eq(run("spe", entries, "gpu.poll=true"), events);
        events = run("dpe", entries, "dpe.scheduler=constrained");
        ck_assert_double_ge(events, run("dpe", 0, "dpe.scheduler=constrained"));
    }
}
END_TEST

SUITE(mechanisms_stack) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(entries_that_do_not_fit_are_spilled);
    TEST(spills_and_fills_cost_cycles);
    TEST(storage_follows_the_limit);
    TEST(polling_changes_nothing);
}
