/* Tests the pass `reduce`, which turns a ladder into one instruction that sums over a warp: which ladders it replaces,
 * which it leaves, and why. A ladder is five steps in a row. Each step shuffles a value between lanes, or reads another
 * lane's word in shared memory, and adds it to the lane's own value. test/random/random_kernels.c and
 * test/timing/sm/reduce.c compare results. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <stdio.h>

/* Returns the output of `inspect --pass reduce` for a kernel with this body, whose first line is line 4 of the text. */
static char *show(const char *model, const char *body) {
    static const char head[] = ".version 7.0\n.target sm_60\n.address_size 64 .visible .entry k(.param .u64 p) "
                               "{ .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>; .reg .f32 %f<30>;\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%sret;\n}\n", head, body);
    return listing_of(model, NULL, "reduce", text);
}

/* One step of a ladder: two lines. */
#define STEP(how, i, j, distance, clamp, mask)                                                                         \
    "shfl.sync." how ".b32 %f2" #i ", %f1" #i ", " #distance ", " #clamp ", " mask ";\nadd.f32 %f1" #j ", %f1" #i      \
    ", %f2" #i ";\n"
#define LADDER(how, clamp, mask, a, b, c, d, e)                                                                        \
    STEP(how, 0, 1, a, clamp, mask)                                                                                    \
    STEP(how, 1, 2, b, clamp, mask)                                                                                    \
    STEP(how, 2, 3, c, clamp, mask) STEP(how, 3, 4, d, clamp, mask) STEP(how, 4, 5, e, clamp, mask)
#define OLD(how, i, j, distance, clamp)                                                                                \
    "shfl." how ".b32 %f2" #i ", %f1" #i ", " #distance ", " #clamp ";\nadd.f32 %f1" #j ", %f2" #i ", %f1" #i ";\n"
#define IN_PLACE(how, distance, add, d)                                                                                \
    "shfl.sync." how ".b32 %" d "2, %" d "1, " #distance ", 31, -1;\n" add " %" d "1, %" d "1, %" d "2;\n"
#define USE    "st.global.f32 [%d1], %f15;\n"
#define FIRST  "mov.u32 %r1, %tid.x;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\n"
#define BEHIND "L: "

struct graph {
    const char *what, *body;
    int sums;
    const char *want[2];
};

static const struct graph graphs[] = {
    {"a butterfly from 16",
     LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) USE,
     1,
     {"#reduce %f15, %f10: shfl.bfly.b32, add.f32, 16 to 1  // 13\n",
      "note: line 13: sum over the warp from line 4 on: 10 instructions in one\n"}},
    {"a butterfly from 1", LADDER("bfly", 31, "-1", 1, 2, 4, 8, 16) USE, 1, {"add.f32, 1 to 16  // 13\n"}},
    {"without masks, operands swapped",
     OLD("bfly", 0, 1, 16, 31) OLD("bfly", 1, 2, 8, 31) OLD("bfly", 2, 3, 4, 31) OLD("bfly", 3, 4, 2, 31)
         OLD("bfly", 4, 5, 1, 31) USE,
     1,
     {"#reduce %f15, %f10: "}},
    {"one register throughout",
     IN_PLACE("bfly", 16, "add.f32", "f") IN_PLACE("bfly", 8, "add.f32", "f") IN_PLACE("bfly", 4, "add.f32", "f")
         IN_PLACE("bfly", 2, "add.f32", "f") IN_PLACE("bfly", 1, "add.f32", "f") "st.global.f32 [%d1], %f1;\n",
     1,
     {"#reduce %f1, %f1: "}},
    {"integers",
     IN_PLACE("bfly", 16, "add.s32", "r") IN_PLACE("bfly", 8, "add.s32", "r") IN_PLACE("bfly", 4, "add.s32", "r")
         IN_PLACE("bfly", 2, "add.s32", "r") IN_PLACE("bfly", 1, "add.s32", "r") "st.global.u32 [%d1], %r1;\n",
     0,
     {"note: line 4: left alone: no f32 addition takes what it brings and what it was given\n"}},
    {"products",
     IN_PLACE("bfly", 16, "mul.f32", "f") "st.global.f32 [%d1], %f1;\n",
     0,
     {"note: line 4: left alone: no f32 addition takes"}},
    {"four steps",
     STEP("bfly", 0, 1, 8, 31, "-1") STEP("bfly", 1, 2, 4, 31, "-1") STEP("bfly", 2, 3, 2, 31, "-1")
         STEP("bfly", 3, 5, 1, 31, "-1") USE,
     0,
     {"note: line 11: left alone: a ladder of 4 steps, not of 5\n"}},
    {"half a warp", LADDER("bfly", 31, "0xffff", 16, 8, 4, 2, 1) USE, 0, {"left alone: its member mask does not name"}},
    {"two masks",
     STEP("bfly", 0, 1, 16, 31, "-1") STEP("bfly", 1, 2, 8, 31, "0xff") STEP("bfly", 2, 3, 4, 31, "-1")
         STEP("bfly", 3, 4, 2, 31, "-1") STEP("bfly", 4, 5, 1, 31, "-1") USE,
     0,
     {"left alone: its shuffles have different member masks\n"}},
    {"a mask in a register", LADDER("bfly", 31, "%r9", 16, 8, 4, 2, 1) USE, 1, {"#reduce %f15, %f10: "}},
    {"a mask that changes",
     STEP("bfly", 0, 1, 16, 31, "%r9") "add.u32 %r9, %r9, 1;\n" STEP("bfly", 1, 2, 8, 31, "%r9")
         STEP("bfly", 2, 3, 4, 31, "%r9") STEP("bfly", 3, 4, 2, 31, "%r9") STEP("bfly", 4, 5, 1, 31, "%r9") USE,
     0,
     {"left alone: its member mask is written before its end\n"}},
    {"segments", LADDER("bfly", 0x101f, "-1", 16, 8, 4, 2, 1) USE, 0, {"left alone: it sums parts of a warp\n"}},
    {"another order", LADDER("bfly", 31, "-1", 8, 16, 4, 2, 1) USE, 0, {"left alone: its distances are neither"}},
    {"a partial sum with another reader",
     LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) "st.global.f32 [%d1], %f13;\n" USE,
     0,
     {"left alone: a partial sum is used elsewhere\n"}},
    {"a shuffle's result with another reader",
     LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) "st.global.f32 [%d1], %f22;\n" USE,
     0,
     {"left alone: what a shuffle brings, or its predicate, is used elsewhere\n"}},
    {"a guarded step",
     STEP("bfly", 0, 1, 16, 31, "-1") STEP("bfly", 1, 2, 8, 31, "-1") "@%p1 " STEP("bfly", 2, 3, 4, 31, "-1")
         STEP("bfly", 3, 4, 2, 31, "-1") STEP("bfly", 4, 5, 1, 31, "-1") USE,
     0,
     {"note: line 7: left alone: a ladder of 2 steps, not of 5\n"}},
    {"the summed value is written between",
     STEP("bfly", 0, 1, 16, 31, "-1") "mov.f32 %f10, 0f3F800000;\n" STEP("bfly", 1, 2, 8, 31, "-1")
         STEP("bfly", 2, 3, 4, 31, "-1") STEP("bfly", 3, 4, 2, 31, "-1") STEP("bfly", 4, 5, 1, 31, "-1") USE,
     0,
     {"left alone: what it sums is written before its end\n"}},
    {"a barrier between",
     STEP("bfly", 0, 1, 16, 31, "-1") "bar.warp.sync -1;\n" STEP("bfly", 1, 2, 8, 31, "-1")
         STEP("bfly", 2, 3, 4, 31, "-1") STEP("bfly", 3, 4, 2, 31, "-1") STEP("bfly", 4, 5, 1, 31, "-1") USE,
     0,
     {"left alone: "}},
    {"shfl.down, and all lanes store",
     LADDER("down", 31, "-1", 16, 8, 4, 2, 1) USE,
     0,
     {"left alone: lanes without the whole sum may use their partial sums\n"}},
    {"shfl.down, then thread 0 stores",
     LADDER("down", 31, "-1", 16, 8, 4, 2, 1) FIRST USE BEHIND,
     1,
     {"#reduce %f15, %f10: shfl.down.b32, add.f32, 16 to 1, for lane 0  // 13\n"}},
    {"shfl.down, then thread 1 stores",
     LADDER("down", 31, "-1", 16, 8, 4, 2,
            1) "mov.u32 %r1, %tid.x;\nsetp.ne.s32 %p1, %r1, 1;\n@%p1 bra L;\n" USE BEHIND,
     0,
     {"left alone: lanes without the whole sum may"}},
    {"shfl.down, then all but thread 0 store",
     LADDER("down", 31, "-1", 16, 8, 4, 2,
            1) "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\n" USE BEHIND,
     0,
     {"left alone: lanes without the whole sum may"}},
    {"shfl.down, then the first lanes store, by a guard",
     LADDER("down", 31, "-1", 1, 2, 4, 8, 16) "mov.u32 %r1, %laneid;\nand.b32 %r2, %r1, 31;\n"
                                              "setp.eq.u32 %p1, %r2, 0;\n@%p1 " USE,
     1,
     {"#reduce %f15, %f10: shfl.down.b32, add.f32, 1 to 16, for lane 0  // 13\n"}},
    {"shfl.down, then every sixteenth lane stores",
     LADDER("down", 31, "-1", 16, 8, 4, 2, 1) "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 15;\n"
                                              "setp.eq.u32 %p1, %r2, 0;\n@%p1 " USE,
     0,
     {"left alone: lanes without the whole sum may"}},
    {"shfl.down, then one of a column stores",
     LADDER("down", 31, "-1", 16, 8, 4, 2, 1) "mov.u32 %r1, %tid.y;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 " USE,
     0,
     {"left alone: lanes without the whole sum may"}},
    {"shfl.up, then the last lane stores",
     LADDER("up", 0, "-1", 1, 2, 4, 8, 16) "mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 31;\n@%p1 " USE,
     1,
     {"for lane 31  // 13\n"}},
    {"shfl.up, then the first lane stores",
     LADDER("up", 0, "-1", 1, 2, 4, 8, 16) "mov.u32 %r1, %laneid;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 " USE,
     0,
     {"left alone: lanes without the whole sum may"}},
    {"the sum is not used", LADDER("down", 31, "-1", 16, 8, 4, 2, 1), 0, {"left alone: nothing uses the sum\n"}},
    {"lanes may reach shuffles in two places",
     "@%p1 bra E;\n" LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) USE
     "bra J;\nE: shfl.sync.bfly.b32 %f9, %f8, 1, 31, -1;\nst.global.f32 [%d1], %f9;\nJ: mov.u32 %r1, 0;\n",
     0,
     {"left alone: other threads of the warp may wait at another shuffle meanwhile\n"}},
    {"lanes may shuffle three blocks away",
     "@%p1 bra E;\n" LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) USE
     "bra J;\nE: @%p2 bra F;\nst.global.f32 [%d1], %f8;\nbra J;\nF: @%p3 bra G;\nst.global.f32 [%d1], %f7;\n"
     "bra J;\nG: shfl.sync.bfly.b32 %f9, %f8, 1, 31, -1;\nst.global.f32 [%d1], %f9;\nJ: mov.u32 %r1, 0;\n",
     0,
     {"left alone: other threads of the warp may wait at another shuffle meanwhile\n"}},
    {"without masks lanes do not wait",
     "@%p1 bra E;\n" OLD("bfly", 0, 1, 16, 31) OLD("bfly", 1, 2, 8, 31) OLD("bfly", 2, 3, 4, 31)
         OLD("bfly", 3, 4, 2, 31) OLD("bfly", 4, 5, 1, 31) USE
     "bra J;\nE: shfl.bfly.b32 %f9, %f8, 1, 31;\nst.global.f32 [%d1], %f9;\nJ: mov.u32 %r1, 0;\n",
     1,
     {NULL}},
    {"a ladder on one side, then another shuffle for all",
     "@%p1 bra J;\n" LADDER("bfly", 31, "-1", 16, 8, 4, 2, 1) USE
     "J: shfl.sync.bfly.b32 %f9, %f8, 1, 31, -1;\nst.global.f32 [%d1], %f9;\n",
     1,
     {NULL}},
};

START_TEST(ladders_are_found) {
    const struct graph *g = &graphs[_i];
    char *shown = show("functional+reduce", g->body);
    ck_assert_msg(occurrences(shown, " #reduce ") == g->sums, "%s: %d sums, not %d in\n%s", g->what,
                  occurrences(shown, " #reduce "), g->sums, shown);
    for (int i = 0; i < 2 && g->want[i]; i++)
        ck_assert_msg(strstr(shown, g->want[i]) != NULL, "%s: no '%s' in\n%s", g->what, g->want[i], shown);
    ck_assert_msg(!g->sums || !strstr(shown, "a ladder of"), "%s: its steps are ladders of their own in\n%s", g->what,
                  shown);
    free(shown);
}
END_TEST

/* Two sums whose instructions are interleaved, and whose values are in registers of another type, as in compilers'
 * output. */
START_TEST(interleaved_ladders_are_found) {
    char body[4096], *shown;
    int at = snprintf(body, sizeof body, "mov.u32 %%r20, -1;\nmov.u32 %%r21, 31;\n");
    for (int k = 0; k < 5; k++)
        for (int s = 0; s < 2; s++) {
            int a = 2 * k + s;
            at += snprintf(body + at, sizeof body - (size_t)at,
                           "mov.b32 %%r%d, %%f%d;\nshfl.sync.bfly.b32 %%r%d|%%p%d, %%r%d, %d, %%r21, %%r20;\n"
                           "mov.b32 %%f%d, %%r%d;\nadd.f32 %%f%d, %%f%d, %%f%d;\n",
                           a, a, 10 + s, 1 + s, a, 16 >> k, 20 + s, 10 + s, a + 2, a, 20 + s);
        }
    snprintf(body + at, sizeof body - (size_t)at, "st.global.v2.f32 [%%d1], {%%f10, %%f11};\n");
    shown = show("spe+reduce", body);
    ck_assert_msg(occurrences(shown, " #reduce ") == 2 && !strstr(shown, " shfl.sync"), "%s", shown);
    ck_assert_msg(strstr(shown, "#reduce %f10, %f0: ") && !strstr(shown, "  mov.b32") &&
                      strstr(shown, "#reduce %f11, %f1: "),
                  "%s", shown);
    ck_assert_msg(strstr(shown, "20 instructions in one") != NULL, "%s", shown);
    free(shown);
}
END_TEST

/* Returns the output for the usual reduction tree in shared memory, with which the last warp of a CTA adds values by
 * volatile accesses. The step of distance d adds word tid + d to word tid; d starts at `first` and is halved after each
 * step. `between` is code after the step of distance 4, and `after` is code after the tree. */
static char *show_tree(const char *between, const char *after, bool barriers, int first) {
    char body[3000];
    int at = snprintf(body, sizeof body,
                      ".shared .align 4 .b8 s[256];\nmov.u32 %%r1, %%tid.x;\nshl.b32 %%r2, %%r1, 2;\n"
                      "mov.u32 %%r3, s;\nadd.u32 %%r4, %%r3, %%r2;\n");
    for (int d = first; d; d /= 2) {
        at += snprintf(body + at, sizeof body - (size_t)at,
                       "ld.volatile.shared.f32 %%f1, [%%r4+%d];\n%sld.volatile.shared.f32 %%f2, [%%r4];\n"
                       "add.f32 %%f3, %%f2, %%f1;\n%sst.volatile.shared.f32 [%%r4], %%f3;\n",
                       4 * d, barriers ? "bar.warp.sync -1;\n" : "", barriers ? "bar.warp.sync -1;\n" : "");
        if (d == 4)
            at += snprintf(body + at, sizeof body - (size_t)at, "%s", between);
    }
    snprintf(body + at, sizeof body - (size_t)at, "%s", after);
    return show("spe+reduce", body);
}

#define READ_FIRST "bar.sync 0;\nld.shared.f32 %f5, [s];\nst.global.f32 [%d1], %f5;\n"

static const struct {
    const char *between, *after;
    bool barriers;
    int first, sums;
    const char *want;
} trees[] = {
    {"", READ_FIRST, false, 16, 1, "#reduce %f3, %f2: shared, add.f32, 16 to 1, for lane 0"},
    {"", READ_FIRST, true, 16, 1, "sum over the warp in shared memory from line 9 on: 28 instructions in one"},
    {"", READ_FIRST, false, 32, 1, "line 12: left alone: a step of a sum in shared memory: not one of five in a row"},
    {"", READ_FIRST, false, 8, 0, "left alone: a step of a sum in shared memory: not one of five in a row"},
    {"", "", false, 16, 1, "#reduce"},
    {"", "ld.shared.f32 %f5, [%r4];\nst.global.f32 [%d1], %f5;\n", false, 16, 0,
     "what its steps leave may be read again, in line 29"},
    {"", "ld.shared.f32 %f5, [s];\nld.shared.f32 %f6, [s+4];\nst.global.f32 [%d1], %f5;\nst.global.f32 [%d1], %f6;\n",
     false, 16, 0, "what its steps leave may be read again, in line 30"},
    {"", "ld.f32 %f5, [%d1];\nst.global.f32 [%d1], %f5;\n", false, 16, 0, "may be read again, in line 29"},
    {"st.global.f32 [%d1], %f3;\n", READ_FIRST, false, 16, 0, "a partial sum is used elsewhere"},
    {"st.shared.f32 [s+128], %f9;\n", READ_FIRST, false, 16, 0, "what stands between its steps may not pass them"},
    {"bar.sync 0;\n", READ_FIRST, false, 16, 0, "not one of five in a row"},
    {"ld.global.f32 %f9, [%d1];\nst.global.f32 [%d1+4], %f9;\n", READ_FIRST, false, 16, 0,
     "what stands between its steps may not pass them"},
    {"add.f32 %f9, %f9, %f9;\n", READ_FIRST, false, 16, 1, "#reduce"},
    {"add.u32 %r4, %r4, 0;\n", READ_FIRST, false, 16, 0, "its address is written between its steps"},
    {"", "@%p1 bra B;\nbar.sync 0;\nld.shared.f32 %f5, [%r4];\nst.global.f32 [%d1], %f5;\nB: mov.u32 %r9, 0;\n", false,
     16, 0, "may be read again"},
};

START_TEST(trees_in_shared_memory_are_found) {
    char *shown = show_tree(trees[_i].between, trees[_i].after, trees[_i].barriers, trees[_i].first);
    ck_assert_msg(occurrences(shown, " #reduce ") == trees[_i].sums && strstr(shown, trees[_i].want),
                  "%d: no '%s' in\n%s", _i, trees[_i].want, shown);
    free(shown);
}
END_TEST

/* Warps whose threads are above 31 skip the sum. They wait at a barrier, and then read a word of shared memory that may
 * hold a partial sum. So the sum must stay. */
START_TEST(parts_that_other_warps_may_read_stay) {
    char body[3000], *shown;
    int at = snprintf(body, sizeof body,
                      ".shared .align 4 .b8 s[256];\nmov.u32 %%r1, %%tid.x;\nshl.b32 %%r2, %%r1, 2;\n"
                      "mov.u32 %%r3, s;\nadd.u32 %%r4, %%r3, %%r2;\nsetp.gt.u32 %%p1, %%r1, 31;\n@%%p1 bra O;\n");
    for (int d = 16; d; d /= 2)
        at += snprintf(body + at, sizeof body - (size_t)at,
                       "ld.volatile.shared.f32 %%f1, [%%r4+%d];\nld.volatile.shared.f32 %%f2, [%%r4];\n"
                       "add.f32 %%f3, %%f2, %%f1;\nst.volatile.shared.f32 [%%r4], %%f3;\n",
                       4 * d);
    snprintf(body + at, sizeof body - (size_t)at,
             "bar.sync 0;\nret;\nO: bar.sync 0;\nld.shared.f32 %%f5, [s+8];\nst.global.f32 [%%d1], %%f5;\n");
    shown = show("spe+reduce", body);
    ck_assert_int_eq(occurrences(shown, " #reduce "), 0);
    ck_assert_msg(strstr(shown, "another warp may read what its steps leave, in line 34") != NULL, "%s", shown);
    free(shown);
}
END_TEST

START_TEST(the_pass_is_for_its_extension) {
    char *none = show("spe+chain", graphs[0].body);
    ck_assert_str_eq(none, "pass 'reduce' is for models with the extension 'reduce'; model 'spe' does without\n");
    free(none);
}
END_TEST

SUITE(mechanisms_reduce) {
    TEST_LOOP(ladders_are_found, 0, sizeof graphs / sizeof graphs[0]);
    TEST(interleaved_ladders_are_found);
    TEST(parts_that_other_warps_may_read_stay);
    TEST_LOOP(trees_in_shared_memory_are_found, 0, sizeof trees / sizeof trees[0]);
    TEST(the_pass_is_for_its_extension);
}
