/* Tests the reports of launches that do not end: each report must equal the expected text. All launches run on
 * configs/tiny.cfg. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"

/* Runs a launch that does not end, and compares its report after the first line. */
static void reports(const char *text, const char *model, uint32_t ctas, uint32_t threads, const char *const *set,
                    uint64_t limit, const char *want) {
    char err[512] = "";
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = set, .cycle_limit = limit}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4096);
    ck_assert_int_eq(heddle_clear(h, p, 4096), HEDDLE_OK);
    const struct heddle_arg args[] = {{&p, 8}};
    const struct heddle_dim grid = {ctas, 1, 1}, block = {threads, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", grid, block, 0, args, 1), HEDDLE_DEADLOCK);
    const char *body = strchr(heddle_error(h), '\n');
    ck_assert_ptr_nonnull(body);
    ck_assert_str_eq(body + 1, want);
    heddle_close(h);
}

/* Two warps wait at different barriers of 64 threads: each report names the barrier of its warp. Models that remove
 * waiting lanes from their paths only report "a barrier of the CTA". PCs: mov 0, setp 1, bra 2, bar 3, bra 4, bar 5. */
START_TEST(warps_at_two_barriers) {
    static const char text[] = HEAD ".reg .b32 %r<5>; .reg .pred %q;\n"
                                    "mov.u32 %r1,%tid.x;\n" /* line 7 */
                                    "setp.lt.u32 %q,%r1,32;\n"
                                    "@%q bra A;\n"
                                    "bar.sync 2, 64;\n" /* line 10 */
                                    "bra E;\n"
                                    "A: bar.sync 1, 64;\n"
                                    "E: ret;\n}\n";
    static const char *const models[] = {"spe", "dpe", "dws", "its", "si"};
    for (int i = 0; i < 5; i++) {
        char want[512];
        snprintf(want, sizeof want,
                 "  SM 0, CTA (0,0,0), warp 0, model %s\n"
                 "    lanes ffffffff at pc 5, t.ptx:12: A: bar.sync 1, 64;\n"
                 "      waits at a barrier%s (barrier 1: 32 of 64 threads have arrived)\n"
                 "  SM 0, CTA (0,0,0), warp 1, model %s\n"
                 "    lanes ffffffff at pc 3, t.ptx:10: bar.sync 2, 64;\n"
                 "      waits at a barrier%s (barrier 2: 32 of 64 threads have arrived)\n",
                 models[i], i < 3 ? "" : " of the CTA", models[i], i < 3 ? "" : " of the CTA");
        reports(text, models[i], 1, 64, NULL, 0, want);
    }
}
END_TEST

/* Half of a warp waits at barrier 3 for 64 threads, but the CTA has 32. If the model lets the other half continue,
 * this half waits at the join (with a stack or a convergence barrier) or at barrier 0 of the CTA. Each path reports
 * only its own barrier. */
static const char halves[] = HEAD ".reg .b32 %r<5>; .reg .pred %q;\n"
                                  "mov.u32 %r1,%tid.x;\n" /* line 7 */
                                  "setp.lt.u32 %q,%r1,16;\n"
                                  "@%q bra A;\n"
                                  "mov.u32 %r2,%r1;\n" /* line 10 */
                                  "bra E;\n"
                                  "A: barrier.sync 3, 64;\n"
                                  "E: add.u32 %r2,%r2,1;\n"
                                  "bar.sync 0;\n"
                                  "ret;\n}\n";
static const struct {
    const char *model, *want;
} half_rows[] = {
    {"spe", "  SM 0, CTA (0,0,0), warp 0, model spe\n"
            "    lanes 0000ffff at pc 5, t.ptx:12: A: barrier.sync 3, 64;\n"
            "      waits at a barrier (barrier 3: 16 of 64 threads have arrived)\n"
            "    lanes ffff0000 at pc 3, t.ptx:10: mov.u32 %r2,%r1;\n"
            "      below, waits for the entries above, until line 13\n"
            "    lanes ffffffff at pc 6, t.ptx:13: E: add.u32 %r2,%r2,1;\n"
            "      below, waits for the entries above\n"},
    {"dpe", "  SM 0, CTA (0,0,0), warp 0, model dpe\n"
            "    lanes 0000ffff at pc 5, t.ptx:12: A: barrier.sync 3, 64;\n"
            "      waits at a barrier (barrier 3: 16 of 64 threads have arrived)\n"
            "    lanes ffffffff at pc 6, t.ptx:13: E: add.u32 %r2,%r2,1;\n"
            "      waits at the reconvergence point for the entries above\n"},
    {"its", "  SM 0, CTA (0,0,0), warp 0, model its\n"
            "    lanes 0000ffff at pc 6, t.ptx:12: A: barrier.sync 3, 64;\n"
            "      waits at a barrier of the CTA (barrier 3: 16 of 64 threads have arrived)\n"
            "    lanes ffff0000 at pc 7, t.ptx:13: E: add.u32 %r2,%r2,1;\n"
            "      blocked at a convergence barrier\n"},
    {"dws", "  SM 0, CTA (0,0,0), warp 0, model dws\n"
            "    lanes 0000ffff at pc 5, t.ptx:12: A: barrier.sync 3, 64;\n"
            "      waits at a barrier (barrier 3: 16 of 64 threads have arrived)\n"
            "    lanes ffff0000 at pc 7, t.ptx:14: bar.sync 0;\n"
            "      waits at a barrier (barrier 0: 16 of 32 threads have arrived)\n"
            "    lanes ffffffff at the end\n"
            "      waits for its children\n"},
};
START_TEST(paths_of_a_warp) { reports(halves, half_rows[_i].model, 1, 32, NULL, 0, half_rows[_i].want); }
END_TEST

/* Half of a warp waits for the other half of its member mask, which waits at barrier 3 for 64 threads. */
static const char members[] = HEAD ".reg .b32 %r<5>; .reg .pred %q;\n"
                                   "mov.u32 %r1,%tid.x;\n" /* line 7 */
                                   "setp.lt.u32 %q,%r1,16;\n"
                                   "@%q bra A;\n"
                                   "barrier.sync 3, 64;\n" /* line 10 */
                                   "bra E;\n"
                                   "A: bar.warp.sync -1;\n"
                                   "E: ret;\n}\n";
static const struct {
    const char *model, *want;
} member_rows[] = {
    {"spe", "  SM 0, CTA (0,0,0), warp 0, model spe\n"
            "    lanes ffff0000 at pc 3, t.ptx:10: barrier.sync 3, 64;\n"
            "      waits at a barrier (barrier 3: 16 of 64 threads have arrived)\n"
            "    lanes 0000ffff at pc 5, t.ptx:12: A: bar.warp.sync -1;\n"
            "      waits for lanes ffff0000 of its member mask\n"},
    {"dpe", "  SM 0, CTA (0,0,0), warp 0, model dpe\n"
            "    lanes 0000ffff at pc 5, t.ptx:12: A: bar.warp.sync -1;\n"
            "      waits at a barrier for lanes ffff0000 of its member mask\n"
            "    lanes ffff0000 at pc 3, t.ptx:10: barrier.sync 3, 64;\n"
            "      waits at a barrier (barrier 3: 16 of 64 threads have arrived)\n"},
    {"si", "  SM 0, CTA (0,0,0), warp 0, model si\n"
           "    lanes 0000ffff at pc 5, t.ptx:12: A: bar.warp.sync -1;\n"
           "      waits for lanes ffff0000 of its member mask\n"
           "    lanes ffff0000 at pc 3, t.ptx:10: barrier.sync 3, 64;\n"
           "      waits at a barrier of the CTA (barrier 3: 16 of 64 threads have arrived)\n"},
};
START_TEST(lanes_that_wait_for_lanes) { reports(members, member_rows[_i].model, 1, 32, NULL, 0, member_rows[_i].want); }
END_TEST

/* Registers %a and %r1 have numbers 1 and 0. Three warps wait for memory at the cycle limit. The report has
 * deadlock.report entries, the warps first, and counts the warps that are left out. */
START_TEST(warps_that_wait_for_memory) {
    static const char text[] = HEAD ".reg .b32 %r<5>; .reg .b64 %a;\n"
                                    "ld.param.u64 %a,[p];\n"
                                    "ld.global.u32 %r1,[%a];\n"
                                    "add.u32 %r1,%r1,1;\n" /* line 9 */
                                    "st.global.u32 [%a],%r1;\n"
                                    "ret;\n}\n";
    char warp[3][256], want[1024];
    for (int w = 0; w < 3; w++)
        snprintf(warp[w], sizeof warp[w],
                 "  SM 0, CTA (0,0,0), warp %d, model spe, 1 memory access under way\n"
                 "    lanes ffffffff at pc 2, t.ptx:9: add.u32 %%r1,%%r1,1;\n"
                 "      waits for a load: scoreboard register 0\n",
                 w);
    const char *set[] = {"memory.latency=1000", "deadlock.report=3", "gpu.poll=true", NULL};
    snprintf(want, sizeof want, "%s%s%s", warp[0], warp[1], warp[2]);
    reports(text, "spe", 1, 96, set, 1500, want);
    set[1] = "deadlock.report=2";
    snprintf(want, sizeof want, "%s%s  and 1 more warp\n", warp[0], warp[1]);
    reports(text, "spe", 1, 96, set, 1500, want);
    set[1] = "deadlock.report=1";
    snprintf(want, sizeof want, "%s  and 2 more warps\n", warp[0]);
    reports(text, "spe", 1, 96, set, 1500, want);
}
END_TEST

/* Two loads are in flight. The path needs the register of the second load, which has number 1 in the order of first
 * use. */
START_TEST(the_awaited_load_is_named) {
    static const char text[] = HEAD ".reg .b32 %r<5>; .reg .b64 %a;\n"
                                    "ld.param.u64 %a,[p];\n"
                                    "ld.global.u32 %r1,[%a];\n"
                                    "ld.global.u32 %r2,[%a+512];\n"
                                    "add.u32 %r2,%r2,1;\n" /* line 10 */
                                    "add.u32 %r2,%r2,%r1;\n"
                                    "st.global.u32 [%a],%r2;\n"
                                    "ret;\n}\n";
    const char *const set[] = {"memory.latency=1000", "gpu.poll=true", NULL};
    reports(text, "spe", 1, 32, set, 1500,
            "  SM 0, CTA (0,0,0), warp 0, model spe, 2 memory accesses under way\n"
            "    lanes ffffffff at pc 3, t.ptx:10: add.u32 %r2,%r2,1;\n"
            "      waits for a load: scoreboard register 1\n");
}
END_TEST

/* A division of 1000 cycles writes register 2. The thread number and the dividend are registers 0 and 1. */
START_TEST(a_path_that_waits_for_a_result) {
    static const char text[] = HEAD ".reg .b32 %r<5>; .reg .b64 %a; .reg .f64 %d<3>;\n"
                                    "mov.u32 %r1,%tid.x;\n" /* line 7 */
                                    "cvt.rn.f64.u32 %d1,%r1;\n"
                                    "div.rn.f64 %d2,%d1,%d1;\n"
                                    "add.f64 %d2,%d2,%d1;\n" /* line 10 */
                                    "cvt.rzi.u32.f64 %r1,%d2;\n"
                                    "ld.param.u64 %a,[p];\n"
                                    "st.global.u32 [%a],%r1;\n"
                                    "ret;\n}\n";
    const char *const set[] = {"latency.f64_div=1000", "gpu.poll=true", NULL};
    reports(text, "spe", 1, 32, set, 500,
            "  SM 0, CTA (0,0,0), warp 0, model spe\n"
            "    lanes ffffffff at pc 3, t.ptx:10: add.f64 %d2,%d2,%d1;\n"
            "      waits for a result: scoreboard register 2\n");
}
END_TEST

/* One lane leaves the warp at each of twenty nested branches, so the stack has an entry at the bottom and two for
 * each branch. The report lists all entries. */
START_TEST(a_deep_stack_is_shown_whole) {
    enum { DEEP = 20 };
    static char text[8192];
    char err[512];
    size_t at = (size_t)snprintf(text, sizeof text, HEAD ".reg .b32 %%r<5>; .reg .pred %%q; mov.u32 %%r1,%%laneid;\n");
    for (int i = 0; i < DEEP; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "setp.gt.u32 %%q,%%r1,%d; @%%q bra N%d; add.u32 %%r2,%%r1,%d; bra E%d; N%d:\n", i, i, i,
                               i, i);
    at += (size_t)snprintf(text + at, sizeof text - at, "barrier.sync 3,64;\n");
    for (int i = DEEP - 1; i >= 0; i--)
        at += (size_t)snprintf(text + at, sizeof text - at, "E%d: add.u32 %%r2,%%r2,%%r1;\n", i);
    snprintf(text + at, sizeof text - at, "ret;\n}\n");
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny"}, err, sizeof err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = 0;
    const struct heddle_arg args[] = {{&p, 8}};
    const struct heddle_dim one = {1, 1, 1}, block = {32, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", one, block, 0, args, 1), HEDDLE_DEADLOCK);
    int n = 0;
    for (const char *s = heddle_error(h); (s = strstr(s, "    lanes ")) != NULL; s++)
        n++;
    ck_assert_int_eq(n, 1 + 2 * DEEP);
    heddle_close(h);
}
END_TEST

/* Each lane loads its own line three times, and the L1 has one MSHR, which takes one access, so the load/store unit is
 * full. The report describes the unit after the warp, if the report has room. */
START_TEST(a_unit_that_is_full) {
    static const char text[] =
        HEAD ".reg .b32 %r<5>; .reg .b64 %a;\nld.param.u64 %a,[p]; mov.u32 %r1,%tid.x; mad.wide.u32 %a,%r1,128,%a;\n"
             "ld.global.u32 %r1,[%a]; ld.global.u32 %r2,[%a]; ld.global.u32 %r3,[%a];\n"
             "add.u32 %r1,%r1,%r2;\nadd.u32 %r1,%r1,%r3; st.global.u32 [%a],%r1; ret;\n}\n";
    for (int room = 0; room < 2; room++) {
        char err[512];
        const char *const set[] = {"memory.latency=1000",
                                   "gpu.poll=true",
                                   "l1.mshrs=1",
                                   "l1.merges=1",
                                   "lsu.queue=1",
                                   room ? "deadlock.report=2" : "deadlock.report=1",
                                   NULL};
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set, .cycle_limit = 1500},
                        err, sizeof err);
        struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, 4096);
        const struct heddle_arg args[] = {{&p, 8}};
        const struct heddle_dim one = {1, 1, 1}, block = {32, 1, 1};
        ck_assert_int_eq(heddle_launch(h, m, "k", one, block, 0, args, 1), HEDDLE_DEADLOCK);
        const char *e = heddle_error(h);
        ck_assert_msg(strstr(e, "warp 0, model spe, 3 memory accesses under way\n"), "%s", e);
        ck_assert_msg(!strstr(e, "\n  SM 0, load/store unit: 1 accesses in flight, 1 in the queue") == !room, "%s", e);
        heddle_close(h);
    }
}
END_TEST

/* The report of each SM names the CTA on this SM: the second CTA of the grid is on the second SM. */
START_TEST(every_sm_names_its_own) {
    static const char text[] = HEAD "barrier.sync 3, 96;\nret;\n}\n";
    const char *const set[] = {"gpu.sms=2", "deadlock.report=2", NULL};
    reports(text, "spe", 3, 32, set, 0,
            "  SM 0, CTA (0,0,0), warp 0, model spe\n"
            "    lanes ffffffff at pc 0, t.ptx:6: barrier.sync 3, 96;\n"
            "      waits at a barrier (barrier 3: 32 of 96 threads have arrived)\n"
            "  SM 0, CTA (2,0,0), warp 0, model spe\n"
            "    lanes ffffffff at pc 0, t.ptx:6: barrier.sync 3, 96;\n"
            "      waits at a barrier (barrier 3: 32 of 96 threads have arrived)\n"
            "  and 1 more warp\n");
    const char *const all[] = {"gpu.sms=2", NULL};
    reports(text, "spe", 2, 32, all, 0,
            "  SM 0, CTA (0,0,0), warp 0, model spe\n"
            "    lanes ffffffff at pc 0, t.ptx:6: barrier.sync 3, 96;\n"
            "      waits at a barrier (barrier 3: 32 of 96 threads have arrived)\n"
            "  SM 1, CTA (1,0,0), warp 0, model spe\n"
            "    lanes ffffffff at pc 0, t.ptx:6: barrier.sync 3, 96;\n"
            "      waits at a barrier (barrier 3: 32 of 96 threads have arrived)\n");
}
END_TEST

SUITE(timing_sm_describe) {
    TEST(warps_at_two_barriers);
    TEST_LOOP(paths_of_a_warp, 0, 4);
    TEST_LOOP(lanes_that_wait_for_lanes, 0, 3);
    TEST(warps_that_wait_for_memory);
    TEST(the_awaited_load_is_named);
    TEST(a_path_that_waits_for_a_result);
    TEST(a_deep_stack_is_shown_whole);
    TEST(a_unit_that_is_full);
    TEST(every_sm_names_its_own);
}
