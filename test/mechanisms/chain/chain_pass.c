/* Tests the passes that combine f32 operations into one instruction, on small hand-written programs: which operations
 * are combined, which are not, and why. test/random/random_kernels.c and test/timing/sm/chain.c compare results. */
#include "host/heddle.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <stdio.h>

/* Returns the output of `inspect --pass` for a kernel with this body, whose first line is line 4 of the text. */
static char *show(const char *model, const char *pass, const char *const *set, const char *body) {
    static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64 .visible .entry k(.param .u64 p) "
                               "{ .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<30>;\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%s}\n", head, body);
    return listing_of(model, set, pass, text);
}

enum { MOST = 5 };
struct graph {
    const char *what, *set[4], *body;
    int chains; /* combined instructions */
    const char *want[MOST];
};

static void check_graph(const struct graph *g, const char *model, const char *pass) {
    char *shown = show(model, pass, g->set, g->body);
    ck_assert_msg(occurrences(shown, " #chain ") == g->chains, "%s: %d chains, not %d in\n%s", g->what,
                  occurrences(shown, " #chain "), g->chains, shown);
    for (int i = 0; i < MOST && g->want[i]; i++)
        ck_assert_msg(strstr(shown, g->want[i]) != NULL, "%s: no '%s' in\n%s", g->what, g->want[i], shown);
    free(shown);
}

#define USE(f) "st.global.f32 [%d1], " f ";\n"
#define END    "ret;\n"

static const struct graph graphs[] = {
    {"three in a row",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\nsub.f32 %f5, %f1, %f4;\n" USE("%f5") END,
     1,
     {"#chain %f5 = add.f32(%f1, %f2) -> mul.f32(#, %f2) -> sub.f32(%f1, #)  // 6\n",
      "note: line 6: chain of 3 operations: lines 4, 5, 6\n"}},
    {"both operands are the same result",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f3;\n" USE("%f4") END,
     1,
     {"#chain %f4 = add.f32(%f1, %f2) -> mul.f32(#, #)  // 5\n"}},
    {"an intermediate with two readers",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\nsub.f32 %f5, %f3, %f4;\n" USE("%f5") END,
     1,
     {"#chain %f5 = mul.f32(%f3, %f2) -> sub.f32(%f3, #)  // 6\n",
      "note: line 4: left alone: its result is read more than once\n"}},
    {"an intermediate that is stored, too",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\n" USE("%f3") USE("%f4") END,
     0,
     {"note: line 4: left alone: its result is read more than once\n"}},
    {"an intermediate that is live in another block",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\n@%p1 bra L;\nmul.f32 %f4, %f3, %f2;\n" USE("%f4") "L: " END,
     0,
     {"note: line 4: left alone: its result is read in another block, or when the loop comes round\n"}},
    {"an intermediate of the previous iteration",
     {"chain.dual=off"},
     "L: mul.f32 %f4, %f3, %f2;\nadd.f32 %f3, %f4, %f2;\nsetp.lt.f32 %p1, %f3, %f1;\n@%p1 bra L;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: its result is read more than once\n",
      "note: line 5: left alone: its result is read "}},
    {"one guard",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\n@%p1 mul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     1,
     {"@%p1 #chain %f4 = add.f32(%f1, %f2) -> mul.f32(#, %f2)  // 5\n"}},
    {"two guards",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\n@%p2 mul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: what reads its result has another guard\n"}},
    {"a guard and its opposite",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\n@!%p1 mul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: what reads its result has another guard\n"}},
    {"a guard and no guard",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: what reads its result has another guard\n"}},
    {"a guard written between",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\nnot.pred %p1, %p1;\n@%p1 mul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: a source is written before the next operation"}},
    {"a source written between",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmov.f32 %f1, 0f3F800000;\nmul.f32 %f4, %f3, %f1;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: a source is written before the next operation"}},
    {"a source of the last operation written between",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmov.f32 %f6, 0f3F800000;\nmul.f32 %f4, %f3, %f6;\n" USE("%f4") END,
     1,
     {"#chain %f4 = add.f32(%f1, %f2) -> mul.f32(#, %f6)  // 6\n"}},
    {"a result that a guarded instruction also writes",
     {"chain.dual=off"},
     "@%p1 add.f32 %f3, %f1, %f2;\n@%p1 mov.f32 %f3, %f2;\n@%p1 mul.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     0,
     {"note: line 4: left alone: "}},
    {"one register throughout",
     {"chain.dual=off"},
     "add.f32 %f1, %f1, %f2;\nmul.f32 %f1, %f1, %f2;\nsub.f32 %f1, %f1, %f1;\n" USE("%f1") END,
     1,
     {"#chain %f1 = add.f32(%f1, %f2) -> mul.f32(#, %f2) -> sub.f32(#, #)  // 6\n"}},
    {"an fma counts two: 2 + 2, and the third does not fit",
     {"chain.dual=off"},
     "fma.rn.f32 %f3, %f1, %f2, %f1;\nfma.rn.f32 %f4, %f3, %f2, %f1;\nfma.rn.f32 %f5, %f4, %f2, %f1;\n" USE("%f5") END,
     1,
     {"note: line 5: chain of 4 operations: lines 4, 5\n", "fma.rn.f32 %f5, %f4, %f2, %f1  // 6\n"}},
    {"with six units it fits",
     {"chain.length=6", "chain.dual=off"},
     "fma.rn.f32 %f3, %f1, %f2, %f1;\nfma.rn.f32 %f4, %f3, %f2, %f1;\nfma.rn.f32 %f5, %f4, %f2, %f1;\n" USE("%f5") END,
     1,
     {"note: line 6: chain of 6 operations: lines 4, 5, 6\n"}},
    {"seven operations: five and two",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f2;\nadd.f32 %f5, %f4, %f2;\nadd.f32 %f6, %f5, %f2;\n"
     "add.f32 %f7, %f6, %f2;\nadd.f32 %f8, %f7, %f2;\nadd.f32 %f9, %f8, %f2;\n" USE("%f9") END,
     2,
     {"note: line 8: chain of 5 operations: lines 4, 5, 6, 7, 8\n",
      "note: line 10: chain of 2 operations: lines 9, 10\n"}},
    {"one chain of four rather than two of two: lines 4 to 7, not 4, 6 and 5, 7",
     {"chain.length=4", "chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\nadd.f32 %f5, %f4, %f2;\nmul.f32 %f6, %f5, %f2;\n" USE("%f6") END,
     1,
     {"note: line 7: chain of 4 operations: lines 4, 5, 6, 7\n"}},
    {"two equally long chains meet: the first keeps the shared operation",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f1;\nsub.f32 %f4, %f2, %f1;\nmul.f32 %f5, %f4, %f3;\n" USE("%f5") END,
     1,
     {"#chain %f5 = add.f32(%f1, %f1) -> mul.f32(%f4, #)  // 6\n",
      "note: line 5: left alone: what reads its result is in another chain\n"}},
    {"the longer of two chains that meet",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f1;\nsub.f32 %f4, %f2, %f1;\nmul.f32 %f5, %f4, %f1;\nmul.f32 %f6, %f5, %f3;\n" USE("%f6") END,
     1,
     {"#chain %f6 = sub.f32(%f2, %f1) -> mul.f32(#, %f1) -> mul.f32(#, %f3)  // 7\n"}},
    {"no chain of one operation",
     {"chain.length=1"},
     "add.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f2;\nfma.rn.f32 %f5, %f4, %f4, %f4;\n" USE("%f5") END,
     0,
     {"note: line 4: left alone: "}},
    {"other operations than f32 addition, subtraction and multiplication",
     {"chain.dual=off"},
     "add.f32 %f3, %f1, %f2;\nmax.f32 %f4, %f3, %f2;\ndiv.rn.f32 %f5, %f4, %f3;\n" USE("%f5") END,
     0,
     {"note: line 4: left alone: its result is read more than once\n"}},
    {"operations with modifiers",
     {"chain.dual=off"},
     "add.rz.ftz.f32 %f3, %f1, %f2;\nmul.sat.f32 %f4, %f3, %f2;\n" USE("%f4") END,
     1,
     {"#chain %f4 = add.rz.ftz.f32(%f1, %f2) -> mul.sat.f32(#, %f2)  // 5\n"}},
    {"a butterfly: no chain, but a pair of two single operations",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f2;\n" USE("%f3") USE("%f4") END,
     1,
     {"#chain %f3 = add.f32(%f1, %f2), %f4 = sub.f32(%f1, %f2)  // 5\n",
      "note: line 5: beside it: what ends in line 4\n"}},
    {"no single operations",
     {"chain.dual_min=2"},
     "add.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f1, %f2;\n" USE("%f3") USE("%f4") END,
     0,
     {"note: line 4: left alone: what reads its result is no f32 "}},
    {"two chains of two, where an fma counts two",
     {"chain.dual_min=2"},
     "fma.rn.f32 %f3, %f1, %f2, %f1;\nadd.f32 %f4, %f1, %f2;\nsub.f32 %f5, %f4, %f2;\n" USE("%f3") USE("%f5") END,
     1,
     {"#chain %f3 = fma.rn.f32(%f1, %f2, %f1), %f5 = add.f32(%f1, %f2) -> sub.f32(#, %f2)  // 6\n"}},
    {"three and three operations are one too many",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f3, %f2;\nadd.f32 %f5, %f4, %f2;\n"
     "sub.f32 %f6, %f1, %f2;\nsub.f32 %f7, %f6, %f2;\nsub.f32 %f8, %f7, %f2;\n" USE("%f5") USE("%f8") END,
     2,
     {"%f5 = add.f32(%f1, %f2) -> add.f32(#, %f2) -> add.f32(#, %f2)  // 6\n", "sub.f32(#, %f2)  // 9\n"}},
    {"the second needs the first",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nsub.f32 %f4, %f3, %f3;\n" USE("%f3") USE("%f4") END,
     0,
     {NULL}},
    {"the first is stored before the second",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\n" USE("%f3") "sub.f32 %f4, %f1, %f2;\n" USE("%f4") END,
     0,
     {NULL}},
    {"a source of the first is written before the second",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nmov.f32 %f1, 0f3F800000;\nsub.f32 %f4, %f2, %f2;\n" USE("%f3") USE("%f4") END,
     0,
     {NULL}},
    {"both write one register",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nsub.f32 %f3, %f2, %f2;\n" USE("%f3") END,
     0,
     {NULL}},
    {"the second writes what the first reads",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nsub.f32 %f1, %f2, %f2;\n" USE("%f3") USE("%f1") END,
     1,
     {"#chain %f3 = add.f32(%f1, %f2), %f1 = sub.f32(%f2, %f2)  // 5\n"}},
    {"the second waits for memory",
     {"chain.dual=on"},
     "add.f32 %f3, %f1, %f2;\nld.global.f32 %f4, [%d1];\nsub.f32 %f5, %f4, %f2;\n" USE("%f3") USE("%f5") END,
     0,
     {NULL}},
    {"both wait for memory",
     {"chain.dual=on"},
     "ld.global.f32 %f4, [%d1];\nadd.f32 %f3, %f4, %f2;\nsub.f32 %f5, %f4, %f2;\n" USE("%f3") USE("%f5") END,
     1,
     {"#chain %f3 = add.f32(%f4, %f2), %f5 = sub.f32(%f4, %f2)  // 6\n"}},
};

START_TEST(chains_are_found) { check_graph(&graphs[_i], "functional+chain", "chain"); }
END_TEST

#define IF   "@!%p1 bra E;\n"
#define ELSE "bra J;\nE: "
#define JOIN "J: "

static const struct graph branches[] = {
    {"both sides write one register",
     {NULL},
     IF "add.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     1,
     {"#chain %p1 ? %f3 = add.f32(%f1, %f2) : %f3 = sub.f32(%f1, %f2)  // 5\n",
      "note: line 4: folded: 1 and 1 operations in 1 instruction\n"}},
    {"the branch is on the predicate itself",
     {NULL},
     "@%p1 bra E;\nadd.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     1,
     {"#chain %p1 ? %f3 = sub.f32(%f1, %f2) : %f3 = add.f32(%f1, %f2)  // 7\n"}},
    {"two registers",
     {NULL},
     IF "add.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f4, %f1, %f2;\n" JOIN USE("%f3") USE("%f4") END,
     1,
     {"#chain %p1 ? %f3 = add.f32(%f1, %f2) : %f4 = sub.f32(%f1, %f2)  // 5\n"}},
    {"three and two",
     {NULL},
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nmul.f32 %f3, %f3, %f2;\n" ELSE
        "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f3;\n" JOIN USE("%f3") END,
     1,
     {"? %f3 = add.f32(%f1, %f2) -> add.f32(#, %f2) -> mul.f32(#, %f2) : %f3 = sub.f32(%f1, %f2) -> mul.f32(#, #)"}},
    {"three and three operations are too many",
     {"fold.operations=0"},
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nmul.f32 %f3, %f3, %f2;\n" ELSE
        "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f3;\nmul.f32 %f3, %f3, %f3;\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: 3 and 3 operations on its sides; chain.length is 5\n"}},
    {"with six units they fit",
     {"chain.length=6"},
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nmul.f32 %f3, %f3, %f2;\n" ELSE
        "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f3;\nmul.f32 %f3, %f3, %f3;\n" JOIN USE("%f3") END,
     1,
     {"note: line 4: folded: 3 and 3 operations in 1 instruction\n"}},
    {"an fma counts two",
     {"chain.length=4"},
     IF "fma.rn.f32 %f3, %f1, %f2, %f1;\n" ELSE "fma.rn.f32 %f3, %f2, %f2, %f1;\n" JOIN USE("%f3") END,
     1,
     {"note: line 4: folded: 2 and 2 operations in 1 instruction\n"}},
    {"one side only",
     {NULL},
     "@!%p1 bra J;\nadd.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f2;\n" JOIN USE("%f3") END,
     1,
     {"@%p1 #chain %f3 = add.f32(%f1, %f2) -> mul.f32(#, %f2)  // 6\n",
      "note: line 4: folded: 2 and 0 operations in 1 instruction\n"}},
    {"one operation on one side keeps its form",
     {NULL},
     "@%p1 bra J;\nadd.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     0,
     {"@!%p1 add.f32 %f3, %f1, %f2  // 5\n"}},
    {"two results on one side: one folded with the other side's, one guarded",
     {NULL},
     IF "add.f32 %f3, %f1, %f2;\nadd.f32 %f4, %f2, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") USE("%f4")
         END,
     1,
     {"#chain %p1 ? %f3 = add.f32(%f1, %f2) : %f3 = sub.f32(%f1, %f2)  // 5\n", "@%p1 add.f32 %f4, %f2, %f2  // 6\n"}},
    {"a load on a side",
     {"fold.guarded=0"},
     IF "add.f32 %f3, %f1, %f2;\n" ELSE "ld.global.f32 %f3, [%d1];\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: line 7 accesses memory, which FPUs do not\n"}},
    {"a selection on a side",
     {"fold.guarded=0"},
     IF "add.f32 %f3, %f1, %f2;\n" ELSE "selp.f32 %f3, %f1, %f2, %p2;\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: line 7 selects by a predicate of its own, for which FPUs have no input\n"}},
    {"a division, and a special register, on a side",
     {"fold.guarded=0"},
     IF "mov.u32 %r1, %tid.x;\n" ELSE "div.rn.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") "st.global.u32 [%d1], %r1;\n" END,
     0,
     {"note: line 4: left alone: line 5 is no f32 operation of the FPUs, nor a move\n"}},
    {"a move of an operation's result needs no unit",
     {NULL},
     IF "add.f32 %f4, %f1, %f2;\nmov.f32 %f3, %f4;\n" ELSE "mul.f32 %f5, %f1, %f2;\nmov.f32 %f3, %f5;\n" JOIN USE("%f3")
         END,
     1,
     {"#chain %p1 ? %f3 = add.f32(%f1, %f2) -> mov.f32(#) : %f3 = mul.f32(%f1, %f2) -> mov.f32(#)  // 6\n",
      "note: line 4: folded: 1 and 1 operations in 1 instruction\n"}},
    {"likewise between two operations: three and two units are five",
     {NULL},
     IF "add.f32 %f4, %f1, %f2;\nmov.f32 %f5, %f4;\nmul.f32 %f6, %f5, %f2;\nadd.f32 %f3, %f6, %f1;\n" ELSE
        "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f3;\n" JOIN USE("%f3") END,
     1,
     {"note: line 4: folded: 3 and 2 operations in 1 instruction\n"}},
    {"a move alone takes a unit",
     {"chain.length=1"},
     IF "mov.f32 %f3, 0f3F800000;\n" ELSE "mov.f32 %f3, %f1;\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: 1 and 1 operations on its sides; chain.length is 1\n"}},
    {"a constant on one side, an operation on the other",
     {"chain.length=2"},
     IF "add.f32 %f3, %f1, %f2;\n" ELSE "mov.f32 %f3, 0f3F800000;\n" JOIN USE("%f3") END,
     1,
     {"#chain %p1 ? %f3 = add.f32(%f1, %f2) : %f3 = mov.f32("}},
    {"min and max",
     {NULL},
     IF "min.f32 %f3, %f1, %f2;\n" ELSE "max.f32 %f3, %f1, %f2;\nneg.f32 %f3, %f3;\n" JOIN USE("%f3") END,
     1,
     {"#chain %p1 ? %f3 = min.f32(%f1, %f2) : %f3 = max.f32(%f1, %f2) -> neg.f32(#)",
      "note: line 4: folded: 1 and 2 operations in 1 instruction\n"}},
    {"a move of a value that is read again takes a unit: three units",
     {NULL},
     IF "add.f32 %f4, %f1, %f2;\nmov.f32 %f3, %f4;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") USE("%f4") END,
     1,
     {"note: line 4: folded: 2 and 1 operations in 2 instructions\n", "  @%p1 mov.f32 %f3, %f4"}},
    {"six moves are too many",
     {"fold.operations=0"},
     IF "mov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f1;\nmov.f32 %f7, %f1;\n"
        "mov.f32 %f8, %f1;\nmov.f32 %f9, %f1;\nmov.f32 %f10, %f1;\nmov.f32 %f11, %f1;\nmov.f32 %f12, %f1;\n" ELSE
        "mov.f32 %f3, %f2;\n" JOIN USE("%f3") USE("%f12") END,
     0,
     {"note: line 4: left alone: 10 and 1 operations on its sides; chain.length is 5\n"}},
    {"a guard on a side",
     {NULL},
     IF "@%p2 add.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: line 5 has a guard of its own\n"}},
    {"a uniform branch",
     {NULL},
     "@!%p1 bra.uni E;\nadd.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     0,
     {"note: line 4: left alone: .uni says that it does not diverge\n"}},
    {"a side that other paths reach",
     {NULL},
     "@%p2 bra E;\n" IF "add.f32 %f3, %f1, %f2;\n" ELSE "sub.f32 %f3, %f1, %f2;\n" JOIN USE("%f3") END,
     0,
     {NULL}},
    {"Figure 8 of the paper: C and D in one instruction, then B and F, and E for the lanes that reach it",
     {NULL},
     "mov.f32 %f9, 0f40A00000;\n@!%p1 bra F;\nadd.f32 %f10, %f8, %f9;\n@!%p2 bra D;\nadd.f32 %f11, %f1, %f2;\nbra EE;\n"
     "D: sub.f32 %f11, %f1, %f2;\nEE: add.f32 %f12, %f3, %f4;\nbra G;\nF: sub.f32 %f10, %f8, %f9;\n"
     "G: add.f32 %f10, %f10, 0f3F800000;\n" USE("%f10") USE("%f11") USE("%f12") END,
     2,
     {"#chain %p1 ? %f10 = add.f32(%f8, %f9) : %f10 = sub.f32(%f8, %f9)  // 6\n",
      "@%p1 #chain %p2 ? %f11 = add.f32(%f1, %f2) : %f11 = sub.f32(%f1, %f2)  // 8\n",
      "@%p1 add.f32 %f12, %f3, %f4  // 11\n", "note: line 7: folded: 1 and 1 operations in 1 instruction\n",
      "note: line 5: folded: 4 and 1 operations in 3 instructions\n"}},
    {"Figure 8 with four units: only C and D",
     {"chain.length=4", "fold.operations=0"},
     "mov.f32 %f9, 0f40A00000;\n@!%p1 bra F;\nadd.f32 %f10, %f8, %f9;\n@!%p2 bra D;\nadd.f32 %f11, %f1, %f2;\nbra EE;\n"
     "D: sub.f32 %f11, %f1, %f2;\nEE: add.f32 %f12, %f3, %f4;\nbra G;\nF: sub.f32 %f10, %f8, %f9;\n"
     "G: add.f32 %f10, %f10, 0f3F800000;\n" USE("%f10") USE("%f11") USE("%f12") END,
     1,
     {" #chain %p2 ? %f11 = add.f32(%f1, %f2) : %f11 = sub.f32(%f1, %f2)  // 8\n",
      "note: line 5: left alone: 4 and 1 operations on its sides; chain.length is 4\n"}},
};

START_TEST(branches_are_folded) { check_graph(&branches[_i], "functional+fold", "fold"); }
END_TEST

/* Each extension runs its own pass. In a model without the extension, the program is unchanged. */
START_TEST(passes_are_for_their_extensions) {
    char *chain = show("spe+fold", "chain", NULL, graphs[0].body),
         *fold = show("dpe+chain", "fold", NULL, graphs[0].body);
    char *none = show("spe", NULL, NULL, graphs[0].body);
    ck_assert_str_eq(chain, "pass 'chain' is for models with the extension 'chain'; model 'spe' does without\n");
    ck_assert_str_eq(fold, "pass 'fold' is for models with the extension 'fold'; model 'dpe' does without\n");
    ck_assert_ptr_null(strstr(none, "#chain"));
    free(chain), free(fold), free(none);
}
END_TEST

/* The listing of the program shows the chains and the registers that they use. */
START_TEST(programs_show_chains) {
    char *shown = show("spe+chain+fold", NULL, (const char *const[]){"chain.dual=off", NULL},
                       "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\nadd.f32 %f3, %f1, %f2;\n"
                       "mul.f32 %f4, %f3, 0f40200000;\nsetp.lt.f32 %p1, %f4, %f1;\n" IF "add.f32 %f5, %f1, %f4;\n" ELSE
                       "sub.f32 %f6, %f1, %f4;\n" JOIN USE("%f5") USE("%f6") END);
    const char *at = strstr(shown, "  #chain r"), *fold = strstr(shown, "  #chain p");
    ck_assert_msg(at && strstr(at, " = add.f32(r") && strstr(at, ") -> mul.f32(#, 2.5) "), "%s", shown);
    ck_assert_msg(fold && strstr(fold, " ? r") && strstr(fold, ") : r") && strstr(fold, " = sub.f32(r"), "%s", shown);
    free(shown);
}
END_TEST

static const char *const wrong[] = {"chain.length=0",   "chain.length=7",   "chain.dual_min=0",
                                    "chain.dual_min=3", "chain.latency7=3", "chain.ieee=perhaps"};
START_TEST(wrong_options_are_refused) {
    char err[512] = "";
    const char *const set[] = {wrong[_i], NULL};
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = "spe+chain", .set = set}, err, sizeof err));
    ck_assert_msg(strstr(err, "chain.") != NULL, "%s", err);
}
END_TEST

START_TEST(wrong_models_are_refused) {
    static const char *const models[] = {"spe+chains", "chain+fold+chain", "spe+fold+dws+chain"};
    char err[512] = "";
    ck_assert_ptr_null(heddle_open(&(struct heddle_options){.model = models[_i]}, err, sizeof err));
    ck_assert_msg(strstr(err, _i == 0 ? "did you mean 'chain'?" : _i == 1 ? "twice" : "two bases") != NULL, "%s", err);
}
END_TEST

SUITE(mechanisms_chain) {
    TEST_LOOP(chains_are_found, 0, sizeof graphs / sizeof graphs[0]);
    TEST_LOOP(branches_are_folded, 0, sizeof branches / sizeof branches[0]);
    TEST(passes_are_for_their_extensions);
    TEST(programs_show_chains);
    TEST_LOOP(wrong_options_are_refused, 0, 6);
    TEST_LOOP(wrong_models_are_refused, 0, 3);
}
