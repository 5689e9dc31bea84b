/* Tests the exact output of `inspect --pass dominators`, `loops` and `defuse` (frontend/analysis/dump_shape.c). */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

/* Returns the listing of kernel k with this body. The caller frees it. */
static char *shown(const char *body, const char *pass) {
    char err[512], *text = NULL, *source = NULL;
    size_t len, n;
    FILE *to = open_memstream(&source, &n);
    ck_assert_ptr_nonnull(to);
    fprintf(to, "%s%s", head, body);
    fclose(to);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", source, n);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    FILE *out = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(heddle_listing(h, m, "k", pass, out), HEDDLE_OK);
    fclose(out);
    heddle_close(h);
    free(source);
    return text;
}

/* Block 0 precedes the loops (lines 7 and 8). Block 1 is the header of the outer loop (line 9), block 2 is the inner
 * loop (lines 10 to 12), and block 3 is the latch of the outer loop (lines 13 to 15). Block 4 follows the loops. */
static const char nested[] =
    ".visible .entry k(.param .u64 p)\n{\n.reg .u32 %i, %j; .reg .u64 %a; .reg .pred %q;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %i, 0;\n"
    "OUTER: mov.u32 %j, 0;\nINNER: add.u32 %j, %j, 1;\nsetp.lt.u32 %q, %j, 4;\n@%q bra INNER;\n"
    "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 3;\n@%q bra OUTER;\n"
    "st.global.u32 [%a], %j;\nret;\n}\n";

/* Two blocks jump to each other. The cycle has an entry at each of them (lines 8 and 9). */
static const char crossed[] = ".visible .entry k()\n{\n.reg .u32 %i; .reg .pred %q;\n"
                              "mov.u32 %i, %tid.x; setp.eq.u32 %q, %i, 3; @%q bra B;\n"
                              "A: add.u32 %i, %i, 1;\nB: add.u32 %i, %i, 2; setp.lt.u32 %q, %i, 40; @%q bra A;\n"
                              "ret;\n}\n";

/* A call of a function that reads a register that may never have been written. */
static const char calls[] = ".func f(.reg .u32 %x)\n{\n.reg .u32 %y; .reg .pred %q;\nsetp.eq.u32 %q, %x, 1;\n"
                            "@%q mov.u32 %y, 2;\nst.shared.u32 [0], %y;\nret;\n}\n"
                            ".visible .entry k()\n{\n.reg .u32 %x;\nmov.u32 %x, 5;\ncall f, (%x);\nret;\n}\n";

static void shows(const char *body, const char *pass, const char *want) {
    char *text = shown(body, pass);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(blocks_and_their_dominators) {
    shows(nested, "dominators",
          "entry k\n"
          "block 0: lines 7 to 8  idom -  ipdom 1\n"
          "block 1: lines 9 to 9  idom 0  ipdom 2\n"
          "block 2: lines 10 to 12  idom 1  ipdom 3\n"
          "block 3: lines 13 to 15  idom 2  ipdom 4\n"
          "block 4: lines 16 to 17  idom 3  ipdom -\n");
}
END_TEST

START_TEST(loops_and_cycles) {
    shows(nested, "loops",
          "entry k\n"
          "loop of block 1 (line 9), depth 1: blocks 1 2 3; latches 3; exits 3->4; preheader 0\n"
          "loop of block 2 (line 10), depth 2, innermost: blocks 2; latches 2; exits 2->3; inside the loop of block 1; "
          "preheader "
          "1\n");
    shows(crossed, "loops",
          "entry k\n"
          "block 1 (line 8) is in a cycle with several entries\n"
          "block 2 (line 9) is in a cycle with several entries\n");
}
END_TEST

/* The output must list, for each read, the definitions that reach it, by instruction number. */
START_TEST(definitions_of_each_read) {
    char *text = shown(nested, "defuse");
    static const char *const parts[] = {
        "entry k\nblock 0\n     0  ld.u64 %a, param[0]  // 7\n     1  mov.u32 %i, 0x0  // 8\nblock 1\n",
        "     3  add.u32 %j, %j, 0x1  // 10\n          %j from 2 3\n     4  setp",
        "     6  add.u32 %i, %i, 0x1  // 13\n          %i from 1 6\n",
        "     9  st.u32 global[%a+0], %j  // 16\n          %a from 0\n          %j from 3\n    10  exit  // 17\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "%s\nis not in\n%s", parts[i], text);
    free(text);
    text = shown(calls, "defuse");
    ck_assert_msg(strstr(text, "\nfunction f\nblock ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "%y from ") != NULL && strstr(text, " or unset\n") != NULL, "%s", text);
    free(text);
}
END_TEST

SUITE(frontend_dump_shape) {
    TEST(blocks_and_their_dominators);
    TEST(loops_and_cycles);
    TEST(definitions_of_each_read);
}
