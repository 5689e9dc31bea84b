/* Tests instructions with a member mask whose lanes are on two paths. Each path takes its own issue slot, and the
 * result comes one latency after the last arrival. The tests run on configs/tiny.cfg, where a dependent addition
 * takes 10 cycles (test/timing/micro.c), with models that schedule threads independently. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

static const char *const models[] = {"its", "si"};
enum { N_MODELS = 2 };
static struct heddle *h;
static uint32_t out[64];
static void setup(void) { h = NULL; }
static void teardown(void) { heddle_close(h); }
static double stat(const char *name) { return heddle_stat(h, heddle_launches(h) - 1, name); }

/* Runs a kernel in which lanes from 16 on branch to B. Each thread stores %v. */
static double run(const char *model, const char *option, const char *low, int n, const char *high, uint32_t threads) {
    static char text[16384];
    char err[512] = "";
    const char *const set[] = {"sm.registers=32768", option, NULL};
    heddle_close(h);
    h = heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set, .cycle_limit = 100000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%t, %%l, %%v, "
        "%%m, %%r<9>; .reg .b64 %%a; .reg .pred %%q, %%o;\nld.param.u64 %%a,[p]; mov.u32 %%t,%%tid.x; mov.u32 "
        "%%l,%%laneid; mad.wide.u32 %%a,%%t,4,%%a; setp.ge.u32 %%q,%%l,16; mov.u32 %%v,7; add.u32 %%r1,%%t,100; "
        "mov.u32 %%r2,%%l; @%%q bra B;\n%s\nbra J;\nB:\n",
        low);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "add.u32 %%r2,%%r2,1;\n");
    snprintf(text + at, sizeof text - at, "%s\nJ: st.global.u32 [%%a],%%v; ret;\n}\n", high);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof out);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, p, out, sizeof out), HEDDLE_OK);
    return stat("gpu.cycles");
}

#define SHFL(lane) "shfl.sync.idx.b32 %v,%r1," lane ",31,-1;"
#define USE        " add.u32 %v,%v,1;"

/* Checks the values that the threads have read. Lanes 0 to 15 read lane 20, which is on the other path. Lanes 16 to 31
 * read lane 3. Each value is 100 plus the number of the thread that was read, plus `more`. */
static void check_values(uint32_t threads, uint32_t more) {
    for (uint32_t t = 0; t < threads; t++)
        ck_assert_uint_eq(out[t], 100 + t / 32 * 32 + (t % 32 < 16 ? 20 : 3) + more);
}

/* The first path waits for the second: each addition in B delays the end by 10 cycles. The first path arrives long
 * before the second, whether B has 8 additions or 40. */
START_TEST(the_last_arrival_counts) {
    double few = run(models[_i], NULL, SHFL("20") USE, 8, SHFL("3") USE, 32);
    check_values(32, 1);
    double instructions = stat("gpu.warp_instructions"), lanes = stat("op.shfl"),
           threads = stat("gpu.thread_instructions");
    double many = run(models[_i], NULL, SHFL("20") USE, 40, SHFL("3") USE, 32);
    check_values(32, 1);
    ck_assert_double_eq(many - few, 32 * 10);
    ck_assert_double_eq(stat("gpu.warp_instructions") - instructions, 32);
    ck_assert_double_eq(stat("gpu.thread_instructions") - threads, 32 * 16);
    ck_assert_double_eq(lanes, 32); /* each lane counts once, although each path issues its own instruction */
    ck_assert_double_eq(stat("op.shfl"), 32);
}
END_TEST

/* The result comes one latency after the last arrival, whether an instruction uses the result or the result is only
 * pending when the warp ends. */
START_TEST(one_latency_for_all) {
    double slow, fast = run(models[_i], "latency.shfl=32", SHFL("20") USE, 8, SHFL("3") USE, 32);
    slow = run(models[_i], "latency.shfl=132", SHFL("20") USE, 8, SHFL("3") USE, 32);
    check_values(32, 1);
    ck_assert_double_eq(slow - fast, 100);
    static const char end[] = "shfl.sync.idx.b32 %r5,%r1,0,31,-1; ret;";
    fast = run(models[_i], "latency.shfl=300", end, 8, end, 32);
    slow = run(models[_i], "latency.shfl=400", end, 8, end, 32);
    ck_assert_double_eq_tol(slow - fast, 100, 16); /* the tolerance is the distance of two edges (timing/windows.h) */
}
END_TEST

/* A barrier of the warp has no result. Both paths take an issue slot, and continue when the second path has arrived. */
START_TEST(a_barrier_has_no_result) {
    static const char bar[] = "bar.warp.sync -1; add.u32 %v,%v,1;";
    double few = run(models[_i], NULL, bar, 8, bar, 32);
    double many = run(models[_i], "latency.shfl=200", bar, 40, bar, 32);
    ck_assert_double_eq(many - few, 32 * 10);
    for (int t = 0; t < 32; t++)
        ck_assert_uint_eq(out[t], 8);
}
END_TEST

/* A lane whose guard is false does not execute the instruction: lane 5 of the first path does not wait, and no lane
 * waits for lane 5. */
START_TEST(lanes_that_do_not_take_part) {
    static const char low[] = "setp.ne.u32 %o,%l,5; @%o shfl.sync.idx.b32 %v,%r1,20,31,0xffffffdf;" USE,
                      high[] = "shfl.sync.idx.b32 %v,%r1,3,31,0xffffffdf;" USE;
    run(models[_i], NULL, low, 8, high, 32);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(out[t], t == 5 ? 8 : t < 16 ? 121 : 104);
    ck_assert_double_eq(stat("op.shfl"), 31);
}
END_TEST

/* No lane waits for lanes that have exited; their registers can be read. */
START_TEST(members_that_have_exited) {
    run(models[_i], NULL, "bra E; E: st.global.u32 [%a],%l; ret;", 8, "shfl.sync.idx.b32 %v,%r1,17,31,-1;" USE, 32);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(out[t], t < 16 ? t : 118);
}
END_TEST

/* Two shuffles in a row, and two warps: each result belongs to its instruction and its warp. */
START_TEST(one_after_another) {
    static const char low[] = SHFL("20") " add.u32 %r1,%v,1000; shfl.sync.idx.b32 %v,%r1,31,31,-1;",
                      high[] = SHFL("3") " add.u32 %r1,%v,2000; shfl.sync.idx.b32 %v,%r1,0,31,-1;";
    double events = run(models[_i], NULL, low, 8, high, 64);
    for (uint32_t t = 0; t < 64; t++) /* lanes 31 and 0: 100 + 3 + 2000, 100 + 20 + 1000; second warp: 32 more */
        ck_assert_uint_eq(out[t], (t % 32 < 16 ? 2103 : 1120) + t / 32 * 32);
    ck_assert_double_eq(run(models[_i], "gpu.poll=true", low, 8, high, 64), events);
    ck_assert_double_eq(stat("op.shfl"), 128);
}
END_TEST

/* In every model, also with one scoreboard per warp, nothing stays pending for lanes that waited. So all registers
 * can be used afterwards. */
START_TEST(all_models_agree) {
    static const char low[] = SHFL("20") " add.u32 %r1,%v,1000; shfl.sync.idx.b32 %v,%r1,31,31,-1;" USE,
                      high[] = SHFL("3") " add.u32 %r1,%v,2000; shfl.sync.idx.b32 %v,%r1,0,31,-1;" USE;
    const char *model = base_models()->name[_i];
    run(model, NULL, SHFL("20") USE, 8, SHFL("3") USE, 32);
    check_values(32, 1);
    double events = run(model, NULL, low, 8, high, 64);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(out[t], (t % 32 < 16 ? 2103 : 1120) + t / 32 * 32 + 1);
    ck_assert_double_eq(stat("op.shfl"), 128);
    ck_assert_double_eq(run(model, "gpu.poll=true", low, 8, high, 64), events);
}
END_TEST

SUITE(timing_sm_members) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(the_last_arrival_counts, 0, N_MODELS);
    TEST_LOOP(one_latency_for_all, 0, N_MODELS);
    TEST_LOOP(a_barrier_has_no_result, 0, N_MODELS);
    TEST_LOOP(lanes_that_do_not_take_part, 0, N_MODELS);
    TEST_LOOP(members_that_have_exited, 0, N_MODELS);
    TEST_LOOP(one_after_another, 0, N_MODELS);
    TEST_LOOP(all_models_agree, 0, base_models()->n);
}
