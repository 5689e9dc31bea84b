/* Tests the constrained scheduler of DPE (dual-path paper, section 3.3), and the count of paths in Equation 1. The
 * first tests use the model alone. The later tests run a warp in which each side of a branch executes one kind of
 * instruction. */
#include "host/heddle.h"
#include "test/toys/toy.h"
#include <stdio.h>

static struct reconv_cfg cfg;
static void *st;
static struct heddle *h;
static void setup(void) {
    st = NULL;
    h = NULL;
}
static void teardown(void) {
    free(st);
    heddle_close(h);
}

static void start(uint32_t scheduler) {
    reconv_cfg_default(&cfg);
    cfg.dpe_scheduler = scheduler;
    free(st);
    st = calloc(1, reconv_dpe.size(&cfg, MAX_WARP_LANES));
    reconv_dpe.start(st, &cfg, 0, 0xf);
}

static struct path shown(void) {
    struct path p[2];
    ck_assert_int_ge(reconv_dpe.paths(st, p, 2), 1);
    return p[0];
}

/* Makes the path that paths() returns diverge: `lanes` branch to `pc`, which makes them the left side. The
 * reconvergence PC is 90. */
static void diverge(uint32_t pc, lanemask_t lanes) {
    struct path p = shown();
    struct target t[2] = {{pc, lanes}, {p.pc + 1, p.lanes & ~lanes}};
    struct branch_site site = {.pc = p.pc, .rpc = 90, .rpc_block = 1, .taken_pc = pc};
    reconv_dpe.branch(st, p.id, t, 2, &site);
}

/* If there is only one live path, a long operation has no effect, neither now nor at the next divergence, where the
 * left side runs first. */
START_TEST(one_path_never_switches) {
    start(1);
    for (int k = 0; k < 3; k++)
        ck_assert_uint_eq(reconv_dpe.stall(st, shown().id, STALL_LOAD_USE), 0);
    diverge(20, 0x3);
    ck_assert_uint_eq(shown().pc, 20);
    ck_assert_uint_ne(reconv_dpe.stall(st, shown().id, STALL_LOAD_USE), 0);
    ck_assert_uint_eq(shown().pc, 1);
    diverge(30, 0x4); /* a new pair of sides begins with its left side */
    ck_assert_uint_eq(shown().pc, 30);
}
END_TEST

/* Equation 1 counts 1 path before a divergence. It counts 2 paths while both sides of the top entry are valid, even if
 * paths() returns only one of them, or if they wait at a barrier. It counts 1 path again when one side has reached the
 * reconvergence point. */
START_TEST(both_valid_sides_are_counted) {
    for (uint32_t scheduler = 0; scheduler < 2; scheduler++) {
        start(scheduler);
        ck_assert_int_eq(reconv_dpe.concurrent(st), 1);
        diverge(20, 0x3);
        ck_assert_int_eq(reconv_dpe.concurrent(st), 2);
        reconv_dpe.stall(st, shown().id, STALL_OTHER);
        ck_assert_int_eq(reconv_dpe.concurrent(st), 2);
        struct path p = shown();
        reconv_dpe.advance(st, p.id, 90);
        ck_assert_int_eq(reconv_dpe.concurrent(st), 1);
    }
}
END_TEST

/* Section 7.1, path forwarding: if the top entry has only one side left, a path from a lower entry runs in the free
 * slot. It uses the free scoreboard, whether it is a left or a right side. In this test both are right sides, and the
 * top side keeps scoreboard 1. */
START_TEST(a_forwarded_path_has_the_free_scoreboard) {
    for (int arrives = 0; arrives < 2; arrives++) {
        struct path p[2];
        start(0);
        cfg.dpe_forwarding = true;
        diverge(20, 0x3); /* the path at PC 20 has lanes 0 and 1, the path at PC 1 lanes 2 and 3 */
        ck_assert_int_eq(reconv_dpe.paths(st, p, 2), 2);
        struct target t[2] = {{30, 0x1}, {21, 0x2}};
        struct branch_site site = {.pc = 20, .rpc = 40, .rpc_block = 1, .taken_pc = 30};
        reconv_dpe.branch(st, p[0].id, t, 2, &site);
        ck_assert_int_eq(reconv_dpe.paths(st, p, 2), 2);
        ck_assert_uint_eq(p[0].board, 0);
        ck_assert_uint_eq(p[1].board, 1);
        reconv_dpe.advance(st, p[arrives].id, 40);
        ck_assert_int_eq(reconv_dpe.paths(st, p, 2), 2);
        ck_assert_uint_eq(p[0].pc, arrives ? 30 : 21);
        ck_assert_uint_eq(p[0].board, !arrives);
        ck_assert_uint_eq(p[1].pc, 1);
        ck_assert_uint_eq(p[1].board, arrives);
    }
}
END_TEST

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.shared .b32 s[64];\n"        \
    ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<4>; .reg .pred %q; .reg .b64 %a; ld.param.u64 %a,[p];\n"           \
    " mov.u32 %r1,%laneid; mov.f32 %f1,0f40000000; mov.f64 %d1,0d4000000000000000; setp.lt.u32 %q,%r1,16;\n"           \
    " add.u64 %a,%a,0;\n"

static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

/* Runs one warp. After the code `before`, the sides of a branch run `left` and `right`, in which "%d0" is an offset of
 * their own. */
static void run(const char *scheduler, const char *before, const char *left, const char *right) {
    static char text[4096];
    char err[512] = "";
    const char *const set[] = {scheduler, NULL};
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = "dpe", .config = "fermi", .set = set, .cycle_limit = 100000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, "%s%s @%%q bra T; %s bra J;\nT: %s\nJ: st.global.u32 [%%a],%%r2; ret;\n}\n", HEAD,
             before, right, left);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
}

/* Each side executes one operation and needs its result. The left side runs first. If the operation takes long, the
 * right side then executes its operation, and afterwards the left side continues: two switches. If the operation is
 * short, the right side runs after the left side has ended. Loads hit if their lines were loaded before. */
START_TEST(switches_follow_misses_and_long_operations) {
    static const struct {
        const char *what, *before, *left, *right;
        int turns;
    } rows[] = {
        {"miss", "", "ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;",
         "ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;", 2},
        {"hit", "ld.global.u32 %r3,[%a+1024]; ld.global.u32 %r4,[%a+2048]; add.u32 %r3,%r3,%r4;",
         "ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;", "ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;", 0},
        {"past the L1", "", "ld.global.cg.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;",
         "ld.global.cg.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;", 2},
        {"shared", "mov.u32 %r5,s;", "ld.shared.u32 %r2,[%r5]; add.u32 %r2,%r2,1;",
         "ld.shared.u32 %r2,[%r5+4]; add.u32 %r2,%r2,2;", 2},
        {"shared store", "mov.u32 %r5,s;", "st.shared.u32 [%r5],%r1; add.u32 %r2,%r1,1;",
         "st.shared.u32 [%r5+4],%r1; add.u32 %r2,%r1,2;", 0},
        {"sine", "", "sin.approx.f32 %f2,%f1; cvt.rzi.u32.f32 %r2,%f2;",
         "sin.approx.f32 %f2,%f1; cvt.rzi.u32.f32 %r2,%f2;", 2},
        {"division", "", "div.u32 %r2,%r1,3; add.u32 %r2,%r2,1;", "div.u32 %r2,%r1,5; add.u32 %r2,%r2,1;", 2},
        {"slow f64", "", "add.f64 %d2,%d1,%d1; cvt.rzi.u32.f64 %r2,%d2;",
         "add.f64 %d2,%d1,%d1; cvt.rzi.u32.f64 %r2,%d2;", 2},
        {"f32", "", "add.f32 %f2,%f1,%f1; cvt.rzi.u32.f32 %r2,%f2;", "add.f32 %f2,%f1,%f1; cvt.rzi.u32.f32 %r2,%f2;",
         0},
        {"integers", "", "mad.lo.u32 %r2,%r1,3,%r1; add.u32 %r2,%r2,1;", "mad.lo.u32 %r2,%r1,5,%r1; add.u32 %r2,%r2,1;",
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run("dpe.scheduler=constrained", rows[i].before, rows[i].left, rows[i].right);
        ck_assert_msg(stat("sm.path_rotations") == rows[i].turns, "%s: %g turns, not %d", rows[i].what,
                      stat("sm.path_rotations"), rows[i].turns);
        run("dpe.scheduler=expanded", rows[i].before, rows[i].left, rows[i].right);
        ck_assert_double_eq(stat("sm.path_rotations"), 0);
    }
}
END_TEST

/* An if without else has only one live path at a time. So the constrained and the expanded scheduler of DPE take the
 * same cycles, with any number of long operations. */
START_TEST(one_path_loses_no_cycle) {
    static const char one_sided[] =
        "mov.u32 %r2,0; @%q bra S; ld.global.u32 %r2,[%a+1024]; sin.approx.f32 %f2,%f1; div.u32 %r3,%r1,3;"
        "add.u32 %r2,%r2,%r3; ld.global.u32 %r4,[%a+4096]; add.u32 %r2,%r2,%r4;\nS:";
    run("dpe.scheduler=expanded", one_sided, "", "");
    double cycles = stat("gpu.cycles"), idle = stat("gpu.idle_cycles");
    run("dpe.scheduler=constrained", one_sided, "", "");
    ck_assert_double_eq(stat("gpu.cycles"), cycles);
    ck_assert_double_eq(stat("gpu.idle_cycles"), idle);
    ck_assert_double_eq(stat("sm.path_rotations"), 0);
}
END_TEST

/* Each side of the branch waits for a load. Under spe, one side waits after the other. Under dpe, both sides wait at
 * the same time, with either scheduler. */
START_TEST(constrained_hides_a_miss) {
    static const char *const side[2] = {"ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;",
                                        "ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;"};
    run("dpe.scheduler=expanded", "", side[0], side[1]);
    double both = stat("gpu.cycles");
    run("dpe.scheduler=constrained", "", side[0], side[1]);
    ck_assert_double_ge(stat("gpu.cycles"), both);
    /* the constrained scheduler loses at most the time until the L1 detects a miss, and two fetches */
    ck_assert_double_le(stat("gpu.cycles"), both + 60);
}
END_TEST

SUITE(mechanisms_dpe) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(one_path_never_switches);
    TEST(both_valid_sides_are_counted);
    TEST(a_forwarded_path_has_the_free_scoreboard);
    TEST(switches_follow_misses_and_long_operations);
    TEST(one_path_loses_no_cycle);
    TEST(constrained_hides_a_miss);
}
