/* Tests the two streams of a kernel, instruction by instruction. The expected streams follow the paper's figures and
 * the rules in docs/dac.md. The verifier has accepted each stream before. */
#include "mechanisms/dac/decouple.h"
#include "mechanisms/all.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include "test/toys/passes.h"

static const char *const dac[] = {"dac", NULL};

/* Returns the output of a pass for the kernel. `barriers` selects a model that uses convergence barriers. */
static char *show_with(const char *text, const char *kernel, const char *pass, bool barriers) {
    struct lowered *l = lower_text(text, kernel);
    char *shown = NULL;
    size_t size;
    FILE *f = open_memstream(&shown, &size);
    struct lower_options o = {.context = {.extensions = dac, .barriers = barriers, .model = "spe"},
                              .passes = mechanism_passes(),
                              .dump_after = pass,
                              .dump_to = f};
    EXPECT(l->image && !l->diags.errors, "%s", text);
    struct program *p = frontend_lower(l->image, kernel, &o);
    fclose(f);
    EXPECT(p != NULL, "%s: %s", kernel, l->diags.n ? l->diags.list[0].message : "?");
    program_free(p);
    lowered_free(l);
    return shown;
}

static char *show(const char *text, const char *kernel) { return show_with(text, kernel, "decouple", false); }

static char *kernel_of(const char *body) {
    static const char head[] = ".version 8.0 .target sm_90 .address_size 64\n"
                               ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
                               ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %d<19>; .reg .f32 %f<9>;"
                               "ld.param.u64 %d0, [p];\nld.param.u32 %r0, [n];\n";
    size_t size = sizeof head + strlen(body) + 8;
    char *text = malloc(size);
    snprintf(text, size, "%s%s\nret;\n}\n", head, body);
    return text;
}

/* Extracts the instructions of one stream from the listing, without numbers, blocks, lines and source text. */
static void extract(const char *shown, const char *stream, char *out, size_t size) {
    size_t n = 0;
    const char *at = strstr(shown, stream);
    EXPECT(at != NULL, "no '%s' in\n%s", stream, shown);
    at = strchr(at, '\n') + 1;
    while (*at && strncmp(at, "note", 4) != 0 && strncmp(at, "stream", 6) != 0) {
        const char *end = strchr(at, '\n'), *from = at + 8, *comment = strstr(at, "  //");
        if (*at != ';' && strncmp(at, "block", 5) != 0 && n + (size_t)(comment - from) + 2 < size) {
            memcpy(out + n, from, (size_t)(comment - from));
            n += (size_t)(comment - from);
            out[n++] = '\n';
        }
        at = end + 1;
    }
    out[n] = '\0';
}

/* Checks both streams of a kernel with this body. A stream that is NULL is not checked. Returns the whole listing,
 * which the caller frees. */
static char *expect(const char *body, const char *own, const char *affine) {
    char *text = kernel_of(body), *shown = show(text, "k"), got[8192];
    extract(shown, "entry k", got, sizeof got);
    if (own)
        ck_assert_str_eq(got, own);
    if (affine) {
        extract(shown, "stream affine", got, sizeof got);
        ck_assert_str_eq(got, affine);
    }
    free(text);
    return shown;
}

static void streams(const char *body, const char *own, const char *affine) { free(expect(body, own, affine)); }

/* Checks that the kernel has only one stream, and that a note gives this reason. */
static void check_whole(const char *body, const char *why) {
    char *text = kernel_of(body), *shown = show(text, "k"), note[200];
    snprintf(note, sizeof note, "left whole: %s\n", why);
    EXPECT(strstr(shown, note) && !strstr(shown, "stream affine") && !strstr(shown, "deq"), "'%s' in\n%s", why, shown);
    free(text);
    free(shown);
}

/* Figure 7 of the paper: a loop of nine instructions becomes a loop of four in the kernel's stream, and a loop of nine
 * in the affine stream: two enqs of addresses, i, num * 4, two sums, the comparison, its enq, and the branch. */
#define FIGURE_7_OWN                                                                                                   \
    "ld.u32 %tmp, deq.data\nadd.u32 %r2, %tmp, 0x1\nst.u32 global[deq.addr], %r2\n@deq.pred bra 0\nexit\n"
#define FIGURE_7_LOOP                                                                                                  \
    "#enq.data global[%addrA+0]\n#enq.addr global[%addrB+0]\nadd.u32 %i, %i, 0x1\nmul.wide.u32 %r3, %num, 0x4\n"       \
    "add.u64 %addrA, %r3, %addrA\nadd.u64 %addrB, %r3, %addrB\nsetp.ne.u32 %p0, %dim, %i\n#enq.pred %p0\n"             \
    "@%p0 bra 3\nexit\n"

START_TEST(figure_7) {
    char *text = read_whole("kernels/affine.ptx"), *shown = show(text, "example"), got[4096];
    extract(shown, "entry example", got, sizeof got);
    ck_assert_str_eq(got, FIGURE_7_OWN);
    extract(shown, "stream affine", got, sizeof got);
    ck_assert_msg(strlen(got) > strlen(FIGURE_7_LOOP), "%s", got);
    ck_assert_str_eq(got + strlen(got) - strlen(FIGURE_7_LOOP), FIGURE_7_LOOP);
    ck_assert_msg(strstr(shown, "loop of 9 instructions: 9 in the affine stream, 4 in its own\n") != NULL, "%s", shown);
    free(text);
    free(shown);
}
END_TEST

/* Figure 7 compiled by nvcc.
 * - At -O1 the product is outside the loop. So the affine loop has 8 instructions: two enqs of addresses, two sums, i,
 *   the comparison, its enq, and the branch.
 * - At -O3 the loop is unrolled by four. The affine loop has 8 addresses, 8 sums, two counters and three instructions
 *   for the predicate. The kernel's loop has four times ld, add and st, and the branch. The remainder loop is the same
 *   as at -O1. */
START_TEST(figure_7_compiled) {
    char *text = read_whole("test/kernels/affine_o1.ptx"), *shown = show(text, "example");
    ck_assert_msg(strstr(shown, "loop of 8 instructions: 8 in the affine stream, 4 in its own\n") != NULL, "%s", shown);
    free(text);
    free(shown);
    text = read_whole("test/kernels/affine_o3.ptx");
    shown = show(text, "example");
    ck_assert_msg(strstr(shown, "loop of 24 instructions: 21 in the affine stream, 13 in its own\n") != NULL, "%s",
                  shown);
    ck_assert_msg(strstr(shown, "loop of 8 instructions: 8 in the affine stream, 4 in its own\n") != NULL, "%s", shown);
    free(text);
    free(shown);
}
END_TEST

/* Classes as in Figures 4 and 5: r0 is a scalar, tid and the addresses are affine, i is a scalar, tmp is a vector. */
START_TEST(figure_5) {
    static const char *const lines[] = {"\nscalar    *     4  mul.lo.u32 %r0,",
                                        "\naffine    *     5  add.u32 %tid,",
                                        "\naffine    *     7  add.u64 %addrA,",
                                        "\nscalar    *     9  mov.u32 %i,",
                                        "\nat affine      10  ld.u32 %tmp,",
                                        "\nvector         11  add.u32 %r2,",
                                        "\nat affine      12  st.u32 global",
                                        "\nscalar    *    13  add.u32 %i,",
                                        "\naffine    *    15  add.u64 %addrA,",
                                        "\nscalar    *    17  setp.ne",
                                        "\nscalar    *    18  @%p0 bra",
                                        "\n               19  exit",
                                        "potentially affine: 16 of 20 instructions (80.0 %)\n"};
    char *text = read_whole("kernels/affine.ptx"), *shown = show_with(text, "example", "affine", false);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(strstr(shown, lines[i]) != NULL, "'%s' in\n%s", lines[i], shown);
    free(text);
    free(shown);
}
END_TEST

#define TID1   "mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1;\n"
#define ADDR1  "mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %d0, %d1;\n"
#define LOAD1  "ld.global.u32 %r3, [%d2];\n"
#define STORE1 "st.global.u32 [%d2], %r3;\n"

/* Source: if (i >= n) return. The kernel gets the guard from a queue. The guarded accesses are decoupled. */
START_TEST(early_return) {
    streams(TID1 "setp.ge.u32 %p1, %r2, %r0; @%p1 ret;\n" ADDR1 LOAD1 "add.u32 %r3, %r3, %r3;" STORE1,
            "@deq.pred exit\nld.u32 %r3, deq.data\nadd.u32 %r3, %r3, %r3\nst.u32 global[deq.addr], %r3\nexit\n",
            "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.x\n"
            "mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\nsetp.ge.u32 %p1, %r2, %r0\n#enq.pred %p1\n@%p1 exit\n"
            "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\n#enq.addr global[%d2+0]\n"
            "exit\n");
}
END_TEST

/* Threads return depending on data. The affine stream ends at this return, so later code is not decoupled. */
START_TEST(early_return_by_data) {
    char *shown = expect(TID1 ADDR1 LOAD1 "setp.eq.u32 %p1, %r3, 0; @%p1 ret;\n" STORE1,
                         "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
                         "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\nld.u32 %r3, deq.data\n"
                         "setp.eq.u32 %p1, %r3, 0x0\n@%p1 exit\nst.u32 global[%d2+0], %r3\nexit\n",
                         "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
                         "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\nexit\n");
    ck_assert_msg(strstr(shown, "left alone: whether a thread comes to it depends on data (line ") != NULL, "%s",
                  shown);
    free(shown);
}
END_TEST

/* The affine stream skips a region whose execution depends on data. Code after the region is decoupled. */
START_TEST(a_region_is_skipped) {
    streams(TID1 ADDR1 LOAD1 "setp.eq.u32 %p1, %r3, 0; @%p1 bra E;\nst.global.u32 [%d2+4], %r3;\nE:\n"
                             "st.global.u32 [%d2+8], %r3;\n",
            "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
            "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\nld.u32 %r3, deq.data\nsetp.eq.u32 %p1, %r3, 0x0\n"
            "@%p1 bra 2\nst.u32 global[%d2+4], %r3\nst.u32 global[deq.addr], %r3\nexit\n",
            "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
            "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\n#enq.addr global[%d2+8]\n"
            "exit\n");
}
END_TEST

/* Both sides of a branch define an address. If the affine stream resolves the branch, the address after it is affine;
 * otherwise it is a vector. */
START_TEST(definitions_on_both_sides) {
    char *shown = expect(TID1 ADDR1 LOAD1 "setp.lt.u32 %p1, %r2, %r0; @%p1 bra A;\nadd.u64 %d3, %d2, 64; bra E;\n"
                                          "A: add.u64 %d3, %d2, 128;\nE: st.global.u32 [%d3], %r3;\n",
                         "ld.u32 %r3, deq.data\nst.u32 global[deq.addr], %r3\nexit\n", NULL);
    free(shown);
    shown = expect(TID1 ADDR1 LOAD1 "setp.lt.u32 %p1, %r3, %r0; @%p1 bra A;\nadd.u64 %d3, %d2, 64; bra E;\n"
                                    "A: add.u64 %d3, %d2, 128;\nE: st.global.u32 [%d3], %r3;\n",
                   NULL, NULL);
    ck_assert_msg(strstr(shown, "left alone: its address depends on data\n") != NULL, "%s", shown);
    ck_assert_msg(strstr(shown, "  st.u32 global[%d3+0], %r3") != NULL, "%s", shown);
    free(shown);
}
END_TEST

/* If nothing is left on the two sides of a branch, the branch disappears from the kernel's stream. An empty loop
 * stays. */
START_TEST(an_empty_loop_stays) {
    streams(TID1 ADDR1 "mov.u32 %r4, 0;\nL: add.u64 %d2, %d2, 4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r0;\n"
                       "@%p1 bra L;\n" LOAD1 "st.global.u32 [%d2+64], %r3;",
            "@deq.pred bra 0\nld.u32 %r3, deq.data\nst.u32 global[deq.addr], %r3\nexit\n", NULL);
}
END_TEST

/* A predicate with several readers is read from the queue once, at the place where it was computed. The same holds for
 * a predicate that an instruction reads as data. */
START_TEST(predicates_with_more_readers) {
    streams(TID1 ADDR1 "setp.lt.u32 %p1, %r2, %r0;\n@%p1 ld.global.u32 %r3, [%d2];\n@!%p1 mov.u32 %r3, 7;\n" STORE1,
            "#deq.pred %p1\n@%p1 ld.u32 %r3, deq.data\n@!%p1 mov.u32 %r3, 0x7\nst.u32 global[deq.addr], %r3\nexit\n",
            "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.x\n"
            "mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\nmul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n"
            "setp.lt.u32 %p1, %r2, %r0\n#enq.pred %p1\n@%p1 #enq.data global[%d2+0]\n#enq.addr global[%d2+0]\nexit\n");
    streams(TID1 ADDR1 LOAD1 "setp.lt.u32 %p1, %r2, %r0;\nselp.u32 %r3, %r3, 5, %p1;\n" STORE1,
            "ld.u32 %r3, deq.data\n#deq.pred %p1\nselp.u32 %r3, %r3, 0x5, %p1\nst.u32 global[deq.addr], %r3\nexit\n",
            NULL);
}
END_TEST

/* A predicate with one reader is read from the queue by this reader's guard. The predicates from which it was computed
 * then disappear from the kernel's stream. A guarded access also reads its address from a queue. */
START_TEST(predicates_of_predicates) {
    streams(TID1 ADDR1 "setp.lt.u32 %p1, %r2, %r0; setp.ge.u32 %p2, %r1, 3; and.pred %p3, %p1, %p2;\n"
                       "@!%p3 st.global.u32 [%d2], %r2;\n",
            "mov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
            "@!deq.pred st.u32 global[deq.addr], %r2\nexit\n",
            "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.x\n"
            "mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\nmul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n"
            "setp.lt.u32 %p1, %r2, %r0\nsetp.ge.u32 %p2, %r1, 0x3\nand.pred %p3, %p1, %p2\n#enq.pred %p3\n"
            "@!%p3 #enq.addr global[%d2+0]\nexit\n");
}
END_TEST

/* A predicate is read in a region that the affine stream skips. The kernel reads it from the queue before the
 * region. */
START_TEST(predicates_for_other_regions) {
    streams(TID1 ADDR1 LOAD1 "setp.lt.u32 %p1, %r2, %r0; setp.eq.u32 %p2, %r3, 0;\n@%p2 bra E;\n"
                             "@%p1 st.global.u32 [%d0], %r3;\nE:\n",
            "ld.u64 %d0, param[0]\nld.u32 %r3, deq.data\n#deq.pred %p1\nsetp.eq.u32 %p2, %r3, 0x0\n@%p2 bra 2\n"
            "@%p1 st.u32 global[%d0+0], %r3\nexit\n",
            NULL);
}
END_TEST

/* Nested loops. The end of the inner loop depends on data, so the inner loop's access is not decoupled. The trip count
 * of the outer loop is affine, so its access is decoupled. */
START_TEST(nested_loops) {
    char *shown =
        expect(TID1 ADDR1 "mov.u32 %r4, 0;\nL:\n" LOAD1 "M: ld.global.u32 %r5, [%d2+4];\nadd.u32 %r3, %r3, %r5;\n"
                          "setp.lt.u32 %p2, %r3, 100;\n@%p2 bra M;\n" STORE1
                          "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r0;\n@%p1 bra L;\n",
               "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
               "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\nld.u32 %r3, deq.data\n"
               "ld.u32 %r5, global[%d2+4]\nadd.u32 %r3, %r3, %r5\nsetp.lt.u32 %p2, %r3, 0x64\n@%p2 bra 2\n"
               "st.u32 global[deq.addr], %r3\n@deq.pred bra 1\nexit\n",
               "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.x\n"
               "mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\nmul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n"
               "mov.u32 %r4, 0x0\n#enq.data global[%d2+0]\n#enq.addr global[%d2+0]\nadd.u32 %r4, %r4, 0x1\n"
               "setp.lt.u32 %p1, %r4, %r0\n#enq.pred %p1\n@%p1 bra 6\nexit\n");
    free(shown);
    /* reversed case: the end of the outer loop depends on data, so nothing in it is decoupled */
    shown = expect(TID1 ADDR1 LOAD1 "L: mov.u32 %r4, 0;\nM: ld.global.u32 %r5, [%d2+4];\nadd.u32 %r3, %r3, %r5;\n"
                                    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r0;\n@%p1 bra M;\n"
                                    "setp.lt.u32 %p2, %r3, 100;\n@%p2 bra L;\nst.global.u32 [%d2+8], %r3;\n",
                   NULL,
                   "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
                   "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\n"
                   "#enq.addr global[%d2+8]\nexit\n");
    free(shown);
}
END_TEST

/* A loop reads a predicate that is defined before it. The predicate is taken from the queue once, before the loop, not
 * in each iteration. The loop's own condition changes, so each iteration takes it from the queue. In the second kernel
 * the definition is in the outer loop (block 0; block 1 is the inner loop), so each iteration of the outer loop takes
 * it once. */
START_TEST(predicates_that_a_loop_does_not_change) {
    streams(TID1 ADDR1 "setp.lt.u32 %p1, %r2, %r0; mov.u32 %r4, 0;\nL: @%p1 st.global.u32 [%d2], %r4;\n"
                       "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, %r0;\n@%p2 bra L;\n",
            "#deq.pred %p1\nmov.u32 %r4, 0x0\n@%p1 st.u32 global[deq.addr], %r4\nadd.u32 %r4, %r4, 0x1\n"
            "@deq.pred bra 1\nexit\n",
            "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.x\n"
            "mad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\nmul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n"
            "setp.lt.u32 %p1, %r2, %r0\n#enq.pred %p1\nmov.u32 %r4, 0x0\n@%p1 #enq.addr global[%d2+0]\n"
            "add.u32 %r4, %r4, 0x1\nsetp.lt.u32 %p2, %r4, %r0\n#enq.pred %p2\n@%p2 bra 4\nexit\n");
    streams(TID1 ADDR1 "mov.u32 %r5, 0;\nK: setp.lt.u32 %p1, %r5, 3; mov.u32 %r4, 0;\n"
                       "L: @%p1 st.global.u32 [%d2], %r4;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, %r0;\n"
                       "@%p2 bra L;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, %r0;\n@%p3 bra K;\n",
            "#deq.pred %p1\nmov.u32 %r4, 0x0\n@%p1 st.u32 global[deq.addr], %r4\nadd.u32 %r4, %r4, 0x1\n"
            "@deq.pred bra 1\n@deq.pred bra 0\nexit\n",
            NULL);
}
END_TEST

/* A loop that is entered in its middle is treated like other loops. */
START_TEST(irregular_loops) {
    streams(TID1 ADDR1 "setp.lt.u32 %p1, %r2, %r0; mov.u32 %r4, 0;\n@%p1 bra B;\nA: add.u32 %r4, %r4, 1;\n"
                       "st.global.u32 [%d2], %r4;\nB: add.u32 %r4, %r4, 2;\nsetp.lt.u32 %p2, %r4, 50; @%p2 bra A;\n",
            "mov.u32 %r4, 0x0\n@deq.pred bra 2\nadd.u32 %r4, %r4, 0x1\nst.u32 global[deq.addr], %r4\n"
            "add.u32 %r4, %r4, 0x2\n@deq.pred bra 1\nexit\n",
            NULL);
}
END_TEST

/* Both streams contain the barriers, at corresponding places. The operands of a barrier reduction are computed in the
 * kernel's stream. */
START_TEST(barriers) {
    streams(TID1 ADDR1 LOAD1 "setp.lt.u32 %p1, %r3, 5;\nbar.red.popc.u32 %r4, 0, %p1;\nst.global.u32 [%d2], %r4;\n"
                             "bar.sync 0;\nld.global.u32 %r5, [%d2+4];\nst.global.u32 [%d2+64], %r5;\n",
            "ld.u32 %r3, deq.data\nsetp.lt.u32 %p1, %r3, 0x5\nbar.red.popc.u32 %r4\nst.u32 global[deq.addr], %r4\n"
            "bar\nld.u32 %r5, deq.data\nst.u32 global[deq.addr], %r5\nexit\n",
            "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
            "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\nbar.red.popc.u32\n"
            "#enq.addr global[%d2+0]\nbar\n#enq.data global[%d2+4]\n#enq.addr global[%d2+64]\nexit\n");
}
END_TEST

/* Addresses with two and three dimensions, constant strides and shifts, min and rem of scalars, narrow and wide
 * accesses, and vectors. */
START_TEST(shapes_of_accesses) {
    streams("mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, %ntid.x, %tid.x; mad.lo.u32 %r2, %tid.z, 64, %r2;\n"
            "min.u32 %r5, %r0, 99; rem.u32 %r6, %r5, 7; sub.u32 %r2, %r2, %r6; shl.b32 %r2, %r2, 4;\n"
            "cvt.s64.s32 %d1, %r2; add.s64 %d2, %d0, %d1;\nld.global.v2.u32 {%r3, %r4}, [%d2];\n"
            "ld.global.nc.u8 %h1, [%d2+8];\nld.global.u16 %h2, [%d2+10];\nst.global.v4.u32 [%d2], {%r3, %r4, %r3, %r4};"
            "st.global.u8 [%d2+16], %h1; st.global.u16 [%d2+18], %h2;\nst.global.u64 [%d2+24], %d2;\n",
            NULL,
            "ld.u64 %d0, param[0]\nld.u32 %r0, param[8]\nmov.u32 %r1, %tid.y\nmad.lo.u32 %r2, %r1, %ntid.x, %tid.x\n"
            "mad.lo.u32 %r2, %tid.z, 0x40, %r2\nmin.u32 %r5, %r0, 0x63\nrem.u32 %r6, %r5, 0x7\n"
            "sub.u32 %r2, %r2, %r6\nshl.b32 %r2, %r2, 0x4\ncvt.s64.s32 %d1, %r2\nadd.s64 %d2, %d0, %d1\n"
            "#enq.data global[%d2+0]\n#enq.data global[%d2+8]\n#enq.data global[%d2+10]\n#enq.addr global[%d2+0]\n"
            "#enq.addr global[%d2+16]\n#enq.addr global[%d2+18]\n#enq.addr global[%d2+24]\nexit\n");
}
END_TEST

/* Accesses that are not decoupled, each with the reason. Without this reason, the access would be decoupled. */
static const struct {
    const char *body, *why;
} alone[] = {
    {"ld.volatile.global.u32 %r3, [%d2];", "it is volatile, or ordered with other threads' accesses"},
    {"ld.acquire.gpu.global.u32 %r3, [%d2];", "it is volatile, or ordered with other threads' accesses"},
    {"st.relaxed.gpu.global.u32 [%d2], %r3;", "it is volatile, or ordered with other threads' accesses"},
    {"ld.global.cv.u32 %r3, [%d2];", "it is volatile, or ordered with other threads' accesses"},
    {"atom.global.add.u32 %r3, [%d2], 1;", "it is atomic"},
    {"red.global.add.u32 [%d2], 1;", "it is atomic"},
    {"ld.u32 %r3, [%d2];", "its address is generic: the memory that it means is known when it executes"},
    {"ld.shared.u32 %r3, [%r2];", "it accesses shared memory (dac.shared)"},
    {"ld.global.u32 %r3, [%d3]; ld.global.u32 %r4, [%d2];", "its address depends on data"},
    {"mul.lo.u32 %r4, %r1, %r1; cvt.u64.u32 %d4, %r4; ld.global.u32 %r3, [%d4];",
     "its address is not affine: it has no tuple"},
    {"shr.u32 %r4, %r1, 1; add.u32 %r4, %r4, %r3; cvt.u64.u32 %d4, %r4; ld.global.u32 %r3, [%d4];",
     "its address is not affine: it has no tuple"},
    {"ld.global.u32 %r3, [%d2]; mul.lo.u32 %r4, %r1, %r3; cvt.u64.u32 %d4, %r4; ld.global.u32 %r3, [%d4];",
     "its address depends on data"},
    {"and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%d2], 1;", "its guard is not affine"},
    {"ld.global.u32 %r3, [%d2]; setp.eq.u32 %p1, %r3, 0; @%p1 st.global.u32 [%d2], 1;", "its guard depends on data"},
    {"st.global.u32 [4096], %r3;", "its address is a constant: nothing would be saved"},
    {"mov.u32 %r3, %laneid; cvt.u64.u32 %d4, %r3; ld.global.u32 %r4, [%d4];", "its address depends on data"},
};

START_TEST(left_alone) {
    char body[512], note[200];
    snprintf(body, sizeof body, "%s%s\n", TID1 ADDR1 "ld.global.u64 %d3, [%d2];\n", alone[_i].body);
    snprintf(note, sizeof note, "left alone: %s\n", alone[_i].why);
    char *shown = expect(body, NULL, NULL);
    ck_assert_msg(strstr(shown, note) != NULL, "'%s' in\n%s", note, shown);
    free(shown);
}
END_TEST

static const struct {
    const char *body, *why;
} wholes[] = {
    {"clock: bra clock;", "a loop that never ends"},
    {"mov.u32 %r3, %laneid; cvt.u64.u32 %d2, %r3; ld.global.u32 %r4, [%d2]; st.global.u32 [%d2], %r4;",
     "nothing that it needs is affine"},
    {TID1 ADDR1 LOAD1 "bar.arrive 1, 64;", "a barrier that some threads do not wait at"},
    {TID1 ADDR1 LOAD1 "bar.sync 1, 64;", "a barrier of some threads"},
    {TID1 ADDR1 LOAD1 "setp.eq.u32 %p1, %r3, 0; @%p1 bra E; bar.sync 0;\nE:\n",
     "a barrier to which threads come by what they have computed from data"},
    {TID1 ADDR1 LOAD1 "setp.eq.u32 %p1, %r3, 0; @%p1 bar.sync 0;\n", "a barrier under a guard that depends on data"},
    {TID1 ADDR1 LOAD1 "L: ld.volatile.global.u32 %r4, [%d0]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L;",
     "a loop that ends by what other threads write meanwhile"},
    {TID1 ADDR1 LOAD1 "L: atom.global.cas.b32 %r4, [%d0], 0, 1; add.u32 %r5, %r4, 1; setp.ne.u32 %p1, %r5, 1;\n"
                      "@%p1 bra L;",
     "a loop that ends by what other threads write meanwhile"},
    {TID1 ADDR1 LOAD1 "L: nanosleep.u32 20; ld.global.u32 %r4, [%d0]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L;",
     "a loop that waits for other threads"},
    {TID1 ADDR1 LOAD1 "barrier.cluster.arrive; barrier.cluster.wait;", "a barrier of a cluster"},
    {".shared .align 8 .b64 bar;\n" TID1 ADDR1 LOAD1 "mbarrier.arrive.shared.b64 %d5, [bar];" STORE1,
     "a barrier object in shared memory"},
    {TID1 ADDR1 LOAD1 "alloca.u64 %d5, 16; st.local.u32 [%d5], %r3;" STORE1, "memory taken from the stack (alloca)"},
};

START_TEST(left_whole) { check_whole(wholes[_i].body, wholes[_i].why); }
END_TEST

/* If the result of an atomic does not decide when the loop ends, it does not prevent decoupling. */
START_TEST(atomics_in_loops) {
    char *shown =
        expect(TID1 ADDR1 "mov.u32 %r4, 0;\nL:\n" LOAD1 "atom.global.add.u32 %r6, [%d0], %r3;\nadd.u32 %r4, %r4, 1;\n"
                          "setp.lt.u32 %p1, %r4, %r0; @%p1 bra L;",
               NULL, NULL);
    ck_assert_msg(strstr(shown, "  ld.u32 %r3, deq.data") && strstr(shown, "@deq.pred bra"), "%s", shown);
    free(shown);
}
END_TEST

#define HEAD ".version 7.0 .target sm_70 .address_size 64\n"
static const struct {
    const char *functions, *body, *why;
} calls[] = {
    {".func f(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 0; @%p ret; sub.u32 %x, %x, 1; call f, (%x); ret; }\n",
     "call f, (%r3);", "a function that calls itself"},
    {".func f(.reg .b32 %x) { bar.sync 0; ret; }\n", "call f, (%r3);", "a barrier in a function that it calls"},
    {".func f(.reg .b32 %x) { ret; }\n.func g(.reg .b32 %x) { ret; }\n",
     "{ .reg .b64 %t; mov.u64 %t, f; T: .calltargets f, g; call %t, (%r3), T; }", "a call through a pointer"},
    {".func f(.reg .b64 %x) { .reg .pred %p; .reg .b32 %r;\nL: ld.volatile.global.u32 %r, [%x]; setp.eq.u32 %p, %r, 0; "
     "@%p bra L; ret; }\n",
     "call f, (%d0);", "a loop of a function that looks at what other threads write"},
    {".func f(.reg .b32 %x) { add.u32 %x, %x, 1; ret; }\n", "call f, (%r3);", NULL},
    /* code after this point is not analysed, so the store stays in the kernel */
    {".func f(.reg .b32 %x) { .reg .pred %p; setp.eq.u32 %p, %x, 0; @%p exit; ret; }\n", "call f, (%r3);", NULL},
};

START_TEST(functions) {
    char text[2048];
    char *kernel = kernel_of("");
    char *brace = strstr(kernel, "\nret;"), *entry = strstr(kernel, ".visible");
    *brace = '\0';
    snprintf(text, sizeof text, "%s%s%s\n%s%s\n%s", HEAD, calls[_i].functions, entry, TID1 ADDR1 LOAD1, calls[_i].body,
             STORE1 "ret; }\n");
    char *shown = show(text, "k");
    bool exits = strstr(calls[_i].functions, "exit") != NULL;
    if (calls[_i].why)
        ck_assert_msg(strstr(shown, calls[_i].why) && !strstr(shown, "deq"), "%s", shown);
    else
        ck_assert_msg(strstr(shown, "ld.u32 %r3, deq.data") && !!strstr(shown, "[deq.addr]") == !exits, "%s", shown);
    free(shown);
    free(kernel);
}
END_TEST

/* The affine stream treats every branch through a table as a branch that depends on data, even if the index is affine.
 * It skips the code up to the join. Code after the join is decoupled again. */
START_TEST(switches) {
    char *shown = expect(TID1 ADDR1 LOAD1 "T: .branchtargets A, B, C;\nand.b32 %r4, %r0, 1;\nbrx.idx %r4, T;\n"
                                          "A: st.global.u32 [%d2+4], 1; bra C;\nB: st.global.u32 [%d2+4], 2;\n"
                                          "C: st.global.u32 [%d2+8], %r3;\n",
                         NULL,
                         "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
                         "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\n"
                         "#enq.addr global[%d2+8]\nexit\n");
    free(shown);
}
END_TEST

/* If all entries of a branch table have one target, the affine stream continues at this target and drops unreachable
 * code. The kernel's stream keeps the check of the index. */
START_TEST(a_switch_without_a_choice) {
    static const char *const tables[] = {"A", "A, A, A"};
    for (int i = 0; i < 2; i++) {
        char body[1024];
        snprintf(body, sizeof body, "%s%s%s%s", TID1 ADDR1 LOAD1 "T: .branchtargets ", tables[i],
                 ";\nand.b32 %r4, %r0, 1;\nbrx.idx %r4, T;\n",
                 "st.global.u32 [%d2+4], 1;\nA: st.global.u32 [%d2+8], %r3;\n");
        char *shown = expect(body, NULL,
                             "ld.u64 %d0, param[0]\nmov.u32 %r1, %tid.x\nmad.lo.u32 %r2, %ctaid.x, %ntid.x, %r1\n"
                             "mul.wide.u32 %d1, %r2, 0x4\nadd.u64 %d2, %d0, %d1\n#enq.data global[%d2+0]\n"
                             "#enq.addr global[%d2+8]\nexit\n");
        ck_assert_ptr_nonnull(strstr(shown, "brx.idx %r4"));
        free(shown);
    }
}
END_TEST

/* The listing marks instructions after which a thread "only exits". An instruction that reads a queue entry before the
 * exit gets no such mark, because its lanes must read the entry. */
START_TEST(a_marker_takes_its_guard) {
    char *text = kernel_of("mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 16; mov.u32 %r2, %ctaid.x;\n"
                           "setp.eq.u32 %p2, %r2, 0; @%p1 bra E;\nE: @%p2 pmevent 1;\n");
    char *shown = show_with(text, "k", "emit", false), *at = strstr(shown, "@deq.pred pmevent");
    EXPECT(at != NULL, "%s", shown);
    EXPECT(!memmem(at, strcspn(at, "\n"), "only exits", 10), "%s", at);
    free(shown);
    free(text);
}
END_TEST

/* Without the extension, or without code to decouple, the program is unchanged. */
START_TEST(programs_without_decoupled_code) {
    static const char *const models[] = {"spe", "its"};
    char *text = kernel_of("mov.u32 %r3, %laneid; cvt.u64.u32 %d2, %r3; ld.global.u32 %r4, [%d2];\n"
                           "setp.eq.u32 %p1, %r4, 0; @%p1 bra E; st.global.u32 [%d2], %r4;\nE:\n");
    for (int k = 0; k < 2; k++) {
        struct lowered *l = lower_text(text, "k");
        struct lower_options with = {.context = {.extensions = dac, .barriers = k, .model = models[k]},
                                     .passes = mechanism_passes()},
                             without = with;
        without.context.extensions = NULL;
        char *shown[2];
        size_t size;
        struct lower_options *both[] = {&with, &without};
        for (int m = 0; m < 2; m++) {
            FILE *f = open_memstream(&shown[m], &size);
            both[m]->dump_after = "emit";
            both[m]->dump_to = f;
            struct program *p = frontend_lower(l->image, "k", both[m]);
            fclose(f);
            ck_assert_uint_eq(p->n_streams, 1);
            ck_assert_uint_eq(p->n_sites, 0);
            ck_assert_uint_eq(p->coverage.loads, m == 0);
            program_free(p);
        }
        ck_assert_str_eq(shown[0], shown[1]);
        free(shown[0]);
        free(shown[1]);
        lowered_free(l);
    }
    free(text);
}
END_TEST

SUITE(mechanisms_dac_decouple) {
    TEST(figure_7);
    TEST(figure_7_compiled);
    TEST(figure_5);
    TEST(early_return);
    TEST(early_return_by_data);
    TEST(a_region_is_skipped);
    TEST(definitions_on_both_sides);
    TEST(an_empty_loop_stays);
    TEST(predicates_with_more_readers);
    TEST(predicates_of_predicates);
    TEST(predicates_for_other_regions);
    TEST(nested_loops);
    TEST(predicates_that_a_loop_does_not_change);
    TEST(irregular_loops);
    TEST(barriers);
    TEST(shapes_of_accesses);
    TEST_LOOP(left_alone, 0, sizeof alone / sizeof *alone);
    TEST_LOOP(left_whole, 0, sizeof wholes / sizeof *wholes);
    TEST(atomics_in_loops);
    TEST_LOOP(functions, 0, sizeof calls / sizeof *calls);
    TEST(switches);
    TEST(a_switch_without_a_choice);
    TEST(a_marker_takes_its_guard);
    TEST(programs_without_decoupled_code);
}
