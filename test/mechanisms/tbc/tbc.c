/* Tests compacted warps on an SM: how many instructions they issue, and that they wait for their slowest thread. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>

enum { WARPS = 2, THREADS = 32 * WARPS };

/* `side` selects the threads that take the branch. Before the branch each warp issues 8 instructions: ld.param, four
 * for the thread, its address and its warp, one from `side`, and two for the condition and the branch. The fall-through
 * has 4 instructions and a jump, the taken side 4. The end has a store and the ret. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .pred %%p; .reg .b32 %%r<9>; .reg .b64 %%d<4>;\n"
    "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d2, %%r1, 4;\nadd.u64 %%d1, %%d1, %%d2;\n"
    "shr.u32 %%r2, %%r1, 5;\n%s\nsetp.ne.u32 %%p, %%r3, 0;\n@%%p bra T;\n"
    "add.u32 %%r4, %%r1, 1;\nmul.lo.u32 %%r4, %%r4, %%r1;\nadd.u32 %%r4, %%r4, 7;\nmul.lo.u32 %%r4, %%r4, %%r4;\n"
    "bra J;\n"
    "T:\nadd.u32 %%r4, %%r1, 5;\nmul.lo.u32 %%r4, %%r4, %%r1;\nadd.u32 %%r4, %%r4, 3;\nmul.lo.u32 %%r4, %%r4, %%r4;\n"
    "J:\nst.global.u32 [%%d1], %%r4;\nret;\n}\n";
enum { BEFORE = 8, FALL = 5, TAKEN = 4, AFTER = 2 };

struct ran {
    uint32_t out[THREADS];
    double issued, saved, threads, swaps;
};

static void run(const char *model, const char *config, const char *turns, const char *side, struct ran *r) {
    char err[512] = "", code[2048];
    snprintf(code, sizeof code, text, side);
    const char *const set[] = {turns, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", code, strlen(code));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof r->out);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, &arg,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, p, r->out, sizeof r->out);
    bool timed = strcmp(model, "functional") != 0;
    r->issued = heddle_stat(h, -1, "gpu.warp_instructions");
    r->threads = heddle_stat(h, -1, "gpu.thread_instructions");
    r->saved = timed ? heddle_stat(h, -1, "joint.saved_slots") : 0;
    r->swaps = timed ? heddle_stat(h, -1, "sm.warp_swaps") : 0;
    heddle_close(h);
}

static const char all_run[] = "sm.running_warps=0";

static void check(const char *config, const char *side, uint32_t spe_issues, uint32_t tbc_issues) {
    struct ran right, spe, tbc;
    run("functional", config, all_run, side, &right);
    run("spe", config, all_run, side, &spe);
    run("tbc", config, all_run, side, &tbc);
    ck_assert_mem_eq(spe.out, right.out, sizeof right.out);
    ck_assert_mem_eq(tbc.out, right.out, sizeof right.out);
    ck_assert_double_eq(tbc.threads, spe.threads);
    ck_assert_double_eq(spe.issued, spe_issues);
    ck_assert_double_eq(tbc.issued, tbc_issues);
    ck_assert_double_eq(tbc.saved, spe_issues - tbc_issues);
}

/* The even lanes of warp 0 and the odd lanes of warp 1 take the branch. Under spe each warp issues both sides. Under
 * tbc each side is one compacted warp. */
START_TEST(a_compacted_warp_issues_once) {
    check("fermi", "xor.b32 %r3, %r1, %r2; and.b32 %r3, %r3, 1;", WARPS * (BEFORE + 1 + FALL + TAKEN + AFTER),
          WARPS * (BEFORE + 1 + AFTER) + FALL + TAKEN);
}
END_TEST

/* The odd lanes of both warps take the branch, so there is nothing to compact. */
START_TEST(aligned_lanes_issue_as_under_spe) {
    check("fermi", "and.b32 %r3, %r1, 1;", WARPS * (BEFORE + FALL + TAKEN + AFTER),
          WARPS * (BEFORE + FALL + TAKEN + AFTER));
}
END_TEST

/* In a divided SM the two warps are in different parts, so the members of a compacted warp do not share a slot. */
START_TEST(parts_of_an_sm_are_not_compacted) {
    check("volta-classic", "xor.b32 %r3, %r1, %r2; and.b32 %r3, %r3, 1;", WARPS * (BEFORE + 1 + FALL + TAKEN + AFTER),
          WARPS * (BEFORE + 1 + FALL + TAKEN + AFTER));
}
END_TEST

/* Only one warp at a time runs (sm.running_warps). A member of a compacted warp does not wait for a member whose warp
 * sleeps, so each side issues once for each warp. Four swaps: warp 0 arrives at the branch (0>1); warp 1 arrives and
 * issues its part of the first side (1>0); warp 0 issues its part of both sides (0>1); warp 1 issues its part of the
 * second side and ends (1>0). */
START_TEST(a_compacted_warp_does_not_wait_for_a_sleeping_member) {
    static const char *const models[] = {"tbc", "capri"};
    static const char side[] = "xor.b32 %r3, %r1, %r2; and.b32 %r3, %r3, 1;";
    struct ran right, got;
    run("functional", "fermi", all_run, side, &right);
    run(models[_i], "fermi", "sm.running_warps=1", side, &got);
    ck_assert_mem_eq(got.out, right.out, sizeof right.out);
    ck_assert_double_eq(got.issued, WARPS * (BEFORE + 1 + FALL + TAKEN + AFTER));
    ck_assert_double_eq(got.saved, 0);
    ck_assert_double_eq(got.swaps, 4);
}
END_TEST

/* Before the branch, warp 1 waits for a load that no thread of warp 0 executes. Each warp reads its clock right before
 * the branch. So each of the 32 threads of warp 0 waits at the branch for the difference of the two clocks. tbc.waiting
 * is the sum over these threads, and the samples of 50 cycles add up to the same number. */
START_TEST(waiting_threads_are_counted) {
    static const char code[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .pred %p,%q; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
        "ld.param.u64 %d1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %d2,%r1,4; add.u64 %d1,%d1,%d2;\n"
        "setp.gt.u32 %p,%r1,31; and.b32 %r3,%r1,1; setp.ne.u32 %q,%r3,0; mov.u32 %r4,0;\n"
        "@%p ld.global.u32 %r4,[%d1]; add.u32 %r4,%r4,1; mov.u32 %r2,%clock; @%q bra T;\n"
        "add.u32 %r4,%r4,5; mul.lo.u32 %r4,%r4,3; bra J;\nT: mul.lo.u32 %r4,%r4,7; add.u32 %r4,%r4,9;\n"
        "J: st.global.u32 [%d1],%r2; st.global.u32 [%d1+1024],%r4; ret;\n}\n";
    char err[512], line[65536];
    uint32_t clock[THREADS];
    double sampled = 0;
    FILE *samples = tmpfile();
    ck_assert_ptr_nonnull(samples);
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = "tbc", .config = "fermi", .samples = samples, .sample_interval = 50}, err,
        sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", code, strlen(code));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    struct heddle_arg arg = {&p, 8};
    ck_assert_int_eq(
        heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, &arg, 1),
        HEDDLE_OK);
    heddle_read(h, p, clock, sizeof clock);
    const double waiting = heddle_stat(h, 0, "tbc.waiting");
    ck_assert_double_gt(waiting, 32 * 100);
    ck_assert_double_eq(waiting, 32.0 * (clock[32] - clock[0]));
    heddle_close(h);
    rewind(samples);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, samples));
    int column = 0;
    for (const char *at = strstr(line, ",tbc.waiting"); at > line; at--)
        column += *at == ',';
    ck_assert_int_gt(column, 0);
    int rows = 0;
    for (; fgets(line, sizeof line, samples); rows++) {
        const char *at = line;
        for (int i = 0; i < column; i++)
            at = strchr(at, ',') + 1;
        sampled += strtod(at, NULL);
    }
    fclose(samples);
    ck_assert_int_gt(rows, 4);
    ck_assert_double_eq(sampled, waiting);
}
END_TEST

SUITE(mechanisms_tbc) {
    TEST(a_compacted_warp_issues_once);
    TEST(aligned_lanes_issue_as_under_spe);
    TEST(parts_of_an_sm_are_not_compacted);
    TEST_LOOP(a_compacted_warp_does_not_wait_for_a_sleeping_member, 0, 2);
    TEST(waiting_threads_are_counted);
}
