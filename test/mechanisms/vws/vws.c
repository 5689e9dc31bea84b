/* Tests gangs of narrow warps on an SM: how many slots they use when they stay together and when they split. */
#include "benchmarks/bench.h"
#include "host/cli/job.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"           \
    ".reg .b32 %r<20>; .reg .b64 %a<6>; .reg .pred %q<4>;\n ld.param.u64 %a1,[in];\n ld.param.u64 %a2,[out];\n"        \
    " mov.u32 %r1,%tid.x;\n mul.wide.u32 %a3,%r1,4;\n add.u64 %a2,%a2,%a3;\n"
#define END " st.global.u32 [%a2],%r4;\n ret;\n}\n"
enum { BEFORE = 5, THREADS = 32, WARPS = 8 };

struct ran {
    uint32_t out[THREADS];
    double slots, saved, lanes, whole, parts, beside, lane_slots, lsu, cycles;
};

static struct ran run(const char *model, const char *size, const char *text) {
    static const uint32_t in[2048] = {100, [1024] = 200};
    char err[512] = "";
    struct ran r = {.slots = 0};
    const char *const set[] = {size, "sm.schedulers=1", "fetch.width=8", "fetch.perfect=on", "gpu.sms=1", NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof r.out);
    heddle_write(h, din, in, sizeof in);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args,
                                2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, dout, r.out, sizeof r.out);
    r.slots = heddle_stat(h, -1, "gpu.warp_instructions");
    r.saved = heddle_stat(h, -1, "joint.saved_slots");
    r.lanes = heddle_stat(h, -1, "gpu.active_lanes");
    r.lane_slots = heddle_stat(h, -1, "gpu.lane_slots");
    r.whole = heddle_stat(h, -1, "vws.whole_gangs");
    r.parts = heddle_stat(h, -1, "vws.gang_parts");
    r.beside = heddle_stat(h, -1, "vws.beside");
    r.lsu = heddle_stat(h, -1, "lsu.instructions");
    r.cycles = heddle_stat(h, -1, "gpu.cycles");
    heddle_close(h);
    return r;
}

/* Without divergence a gang of eight warps of 4 lanes issues each of 9 instructions once, as a warp of 32 lanes does,
 * and accesses memory as often. */
START_TEST(a_gang_is_a_wide_warp) {
    static const char text[] = HEAD " cvt.rn.f32.u32 %r4,%r1;\n ex2.approx.f32 %r4,%r4;\n" END;
    struct ran wide = run("spe", "sm.warp_size=32", text), gang = run("spe+vws", "sm.warp_size=4", text);
    ck_assert_double_eq(wide.slots, BEFORE + 4);
    ck_assert_double_eq(gang.slots, BEFORE + 4);
    ck_assert_double_eq(gang.saved, (WARPS - 1) * (BEFORE + 4));
    ck_assert_double_eq(gang.whole, BEFORE + 4);
    ck_assert_double_eq(gang.parts, 0);
    ck_assert_double_eq(gang.lane_slots, 32 * gang.slots);
    ck_assert_double_eq(gang.lsu, wide.lsu);
    ck_assert_mem_eq(gang.out, wide.out, sizeof gang.out);
}
END_TEST

/* The second kernel has eight more special functions, which do not depend on each other. A gang of eight warps occupies
 * the SFU for 8 cycles at each of them: the initiation interval of a warp of 32 lanes, not the 1 cycle of a warp of 4
 * lanes. So the second kernel takes at least 64 cycles more. */
START_TEST(a_gang_takes_the_time_of_a_wide_warp) {
#define EX2(r)    " ex2.approx.f32 %r" r ",%r4;\n"
#define ADD(a, b) " add.f32 %r" a ",%r" a ",%r" b ";\n"
    static const char few[] = HEAD " cvt.rn.f32.u32 %r4,%r1;\n" EX2("13") ADD("4", "13") END;
    static const char many[] = HEAD " cvt.rn.f32.u32 %r4,%r1;\n" EX2("5") EX2("6") EX2("7") EX2("8") EX2("9") EX2("10")
        EX2("11") EX2("12") EX2("13") ADD("5", "6") ADD("7", "8") ADD("9", "10") ADD("11", "12") ADD("5", "7")
            ADD("9", "11") ADD("5", "9") ADD("4", "5") ADD("4", "13") END;
    double gang = run("spe+vws", "sm.warp_size=4", many).cycles - run("spe+vws", "sm.warp_size=4", few).cycles;
    ck_assert_double_ge(gang, 64);
}
END_TEST

/* Warps 0 to 3 take a branch, warps 4 to 7 do not. Both sides wait for one load of all threads, and each side has four
 * instructions (including the jump). So in each of four slots, four warps of one side and four warps of the other side
 * issue an instruction. A warp of 32 lanes issues the sides one after the other, which takes four slots more. At the
 * join the gang is whole again. */
START_TEST(parts_of_a_gang_use_idle_slices) {
    if (LEAST_TABLES) {
        test_skip("the smallest tables hold too few instructions in flight");
        return;
    }
    static const char text[] =
        HEAD " ld.global.u32 %r3,[%a1];\n setp.lt.u32 %q1,%r1,16;\n @%q1 bra T;\n"
             " add.u32 %r5,%r3,1;\n add.u32 %r6,%r3,2;\n add.u32 %r7,%r3,3;\n bra J;\n"
             "T:\n add.u32 %r5,%r3,5;\n add.u32 %r6,%r3,6;\n add.u32 %r7,%r3,7;\n add.u32 %r8,%r3,8;\nJ:\n"
             " add.u32 %r4,%r5,%r6;\n add.u32 %r4,%r4,%r7;\n" END;
    struct ran wide = run("spe", "sm.warp_size=32", text), gang = run("spe+vws", "sm.warp_size=4", text);
    ck_assert_double_eq(wide.slots, BEFORE + 3 + 4 + 4 + 4);
    ck_assert_double_eq(gang.slots, BEFORE + 3 + 4 + 4);
    ck_assert_double_eq(gang.whole, BEFORE + 3 + 4);
    ck_assert_double_eq(gang.parts, 4);
    ck_assert_double_eq(gang.beside, 4 * 4);
    ck_assert_mem_eq(gang.out, wide.out, sizeof gang.out);
}
END_TEST

/* All threads load one word, so its line is in the L1. Then warp 0 loads it again, and the other warps load a line that
 * misses, in one access. Warp 0 does not wait for the others. So the three instructions that follow issue twice, for
 * warp 0 and for the seven others, which are the whole gang when warp 0 has ended. */
START_TEST(a_warp_that_hits_leaves_its_gang) {
    if (LEAST_TABLES) {
        test_skip("the smallest tables hold too few instructions in flight");
        return;
    }
    static const char text[] = HEAD " ld.global.u32 %r3,[%a1];\n add.u32 %r5,%r3,%r1;\n setp.lt.u32 %q1,%r5,104;\n"
                                    " add.u64 %a3,%a1,4096;\n selp.b64 %a3,%a1,%a3,%q1;\n"
                                    " ld.global.u32 %r6,[%a3];\n add.u32 %r4,%r6,%r5;\n" END;
    struct ran wide = run("spe", "sm.warp_size=32", text), gang = run("spe+vws", "sm.warp_size=4", text);
    ck_assert_double_eq(wide.slots, BEFORE + 9);
    ck_assert_double_eq(gang.whole, BEFORE + 6 + 3);
    ck_assert_double_eq(gang.parts, 3);
    ck_assert_double_eq(gang.saved, 7 * (BEFORE + 6) + 6 * 3);
    ck_assert_double_eq(gang.lsu, wide.lsu + 1); /* the store issues twice */
    ck_assert_mem_eq(gang.out, wide.out, sizeof gang.out);
}
END_TEST

/* On a modern core, a warp waits for counters of its control bits. A counter that does not fall when part of an access
 * ends (modern_hand_over()) is a deadlock in bfs. */
START_TEST(counters_fall_for_each_member) {
    if (!test_every()) {
        test_skip("bfs at size paper takes some seconds; make check-long runs it");
        return;
    }
    struct job j = {
        .bench = bench_find("bfs"), .size = BENCH_PAPER, .options = {.model = "spe+vws", .config = "a6000"}};
    job_run(&j, 0, NULL);
    ck_assert_msg(j.status == HEDDLE_OK, "%.1000s", j.message ? j.message : "");
    job_free(&j);
}
END_TEST

static void run_random(const char *model, const char *size, bool poll, uint64_t seed, const char *text, uint32_t *out,
                       double *cycles) {
    static uint32_t in[RANDOM_IN_WORDS];
    char err[512];
    const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=49152", size,
                               poll ? "gpu.poll=on" : "gpu.poll=off", NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model,
                                                            .config = seed % 2 ? "tiny" : "volta-classic",
                                                            .set = set,
                                                            .threads = 2,
                                                            .cycle_limit = 50000000},
                                   err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    random_input(seed, in);
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, RANDOM_OUT_WORDS * sizeof *out);
    heddle_write(h, din, in, sizeof in);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s, seed %llu: %s", model, (unsigned long long)seed, heddle_error(h));
    heddle_read(h, dout, out, RANDOM_OUT_WORDS * sizeof *out);
    *cycles = heddle_stat(h, 0, strcmp(model, "functional") == 0 ? "gpu.warp_instructions" : "gpu.cycles");
    heddle_close(h);
}

/* Random kernels leave the same memory contents as in the functional model, and take the same number of cycles with and
 * without polling. */
START_TEST(results_are_the_same) {
    static const struct {
        const char *model, *size;
    } rows[] = {{"spe+vws", "sm.warp_size=4"},
                {"anypc+vws", "sm.warp_size=8"},
                {"its+vws", "sm.warp_size=4"},
                {"dpe+vws", "sm.warp_size=16"},
                {"spe+vws", "sm.warp_size=32"}};
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    double cycles, again;
    for (uint64_t seed = 1; seed <= (test_every() ? 100 : 2); seed++) {
        char *text = random_kernel(seed, 0);
        run_random("functional", rows[_i].size, false, seed, text, want, &cycles);
        run_random(rows[_i].model, rows[_i].size, false, seed, text, got, &cycles);
        ck_assert_msg(memcmp(want, got, sizeof want) == 0, "%s, seed %llu", rows[_i].model, (unsigned long long)seed);
        run_random(rows[_i].model, rows[_i].size, true, seed, text, got, &again);
        ck_assert_double_eq(again, cycles);
        free(text);
    }
}
END_TEST

/* heddle refuses vws with models and extensions that form warps of their own, and in the functional model. */
START_TEST(refusals) {
    static const struct {
        const char *model, *why;
    } rows[] = {{"large+vws", "this model forms warps of its own"},
                {"functional+vws", "changes how long a kernel takes"},
                {"anypc+dwf+vws", "are two extensions that pair"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char err[512] = "";
        ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = rows[i].model}, err, sizeof err));
        ck_assert_msg(strstr(err, rows[i].why), "%s: %s", rows[i].model, err);
    }
}
END_TEST

SUITE(mechanisms_vws) {
    TEST(a_gang_is_a_wide_warp);
    TEST(a_gang_takes_the_time_of_a_wide_warp);
    TEST(parts_of_a_gang_use_idle_slices);
    TEST(a_warp_that_hits_leaves_its_gang);
    TEST(counters_fall_for_each_member);
    TEST_LOOP(results_are_the_same, 0, 5);
    TEST(refusals);
}
