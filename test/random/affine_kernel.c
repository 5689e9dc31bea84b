/* Writes the random kernels of affine_kernel.h. A value is affine if it is linear in the thread index; a scalar is
 * equal in all threads of a CTA. */
#include "affine_kernel.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 6, LONGS = 4, HALVES = 3, PREDS = 4, DATA = 3, MAX_DEPTH = 3 };

struct gen {
    FILE *out;
    uint64_t rng;
    int labels, counters, depth, loops, place;
    bool may_leave;
};

static uint32_t below(struct gen *g, uint32_t n) { return test_random_below(&g->rng, n); }
static bool chance(struct gen *g, uint32_t one_in) { return below(g, one_in) == 0; }
#define PUT(...) fprintf(g->out, __VA_ARGS__)

/* Returns a 32-bit operand that is equal in all threads of a CTA. */
static const char *scalar(struct gen *g, char text[32]) {
    static const char *const some[] = {"%n", "%stride", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x"};
    static const uint32_t edges[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 0x80000010};
    if (chance(g, 3))
        snprintf(text, 32, "%s", some[below(g, 6)]);
    else if (chance(g, 3))
        snprintf(text, 32, "%u", edges[below(g, 8)]);
    else
        snprintf(text, 32, "%d", (int)below(g, 40) - 20);
    return text;
}

static void word_statement(struct gen *g) {
    static const char *const plain[] = {"add.u32", "add.s32", "sub.s32", "sub.u32"};
    static const char *const only[] = {"min.s32", "max.u32", "rem.u32", "div.s32", "and.b32",
                                       "or.b32",  "xor.b32", "shr.u32", "shr.s32", "mul.hi.u32"};
    uint32_t d = below(g, WORDS), a = below(g, WORDS), b = below(g, WORDS), c = below(g, WORDS);
    char s[32];
    switch (below(g, 11)) {
    case 0:
    case 1:
        PUT("  %s %%a%u, %%a%u, %%a%u;\n", plain[below(g, 4)], d, a, b);
        break;
    case 2:
    case 3:
        PUT("  %s %%a%u, %%a%u, %s;\n", plain[below(g, 4)], d, a, scalar(g, s));
        break;
    case 4:
        PUT("  mul.lo.s32 %%a%u, %%a%u, %s;\n", d, a, scalar(g, s));
        break;
    case 5:
        PUT("  mad.lo.u32 %%a%u, %%a%u, %s, %%a%u;\n", d, a, scalar(g, s), c);
        break;
    case 6:
        PUT("  shl.b32 %%a%u, %%a%u, %u;\n", d, a, below(g, chance(g, 3) ? 34 : 5));
        break;
    case 7:
        PUT("  neg.s32 %%a%u, %%a%u;\n", d, a);
        break;
    case 8:
        PUT("  selp.b32 %%a%u, %%a%u, %%a%u, %%p%u;\n", d, a, b, below(g, PREDS));
        break;
    case 9:
        PUT("  mov.u32 %%a%u, %%%s;\n", d,
            (const char *[]){"tid.x", "tid.y", "tid.z", "ctaid.z", "ntid.y", "laneid"}[below(g, 6)]);
        break;
    /* the result is affine only if the source is a scalar; in three of four cases, the source gets a scalar before */
    default:
        if (!chance(g, 4))
            PUT("  mov.u32 %%a%u, %s;\n", a, scalar(g, s));
        PUT("  %s %%a%u, %%a%u, %u;\n", only[below(g, 10)], d, a, 1 + below(g, 9));
    }
}

static void wide_statement(struct gen *g) {
    uint32_t d = below(g, LONGS), a = below(g, WORDS), b = below(g, LONGS), c = below(g, LONGS), h = below(g, HALVES);
    char s[32];
    switch (below(g, 12)) {
    case 0:
        PUT("  mul.wide.%s %%w%u, %%a%u, %s;\n", chance(g, 2) ? "u32" : "s32", d, a, scalar(g, s));
        break;
    case 1:
        PUT("  mad.wide.%s %%w%u, %%a%u, %s, %%w%u;\n", chance(g, 2) ? "u32" : "s32", d, a, scalar(g, s), b);
        break;
    case 2:
        PUT("  cvt.%s %%w%u, %%a%u;\n", chance(g, 2) ? "u64.u32" : "s64.s32", d, a);
        break;
    case 3:
        PUT("  cvt.u32.u64 %%a%u, %%w%u;\n", a, b);
        break;
    case 4:
        PUT("  %s.s64 %%w%u, %%w%u, %%w%u;\n", chance(g, 2) ? "add" : "sub", d, b, c);
        break;
    case 5:
        PUT("  mul.lo.u64 %%w%u, %%w%u, %u;\n", d, b, below(g, 9));
        break;
    case 6:
        PUT("  shl.b64 %%w%u, %%w%u, %u;\n", d, b, below(g, chance(g, 3) ? 66 : 4));
        break;
    case 7:
        PUT("  add.u64 %%w%u, %%w%u, %%far;\n", d, b);
        break;
    case 8:
        PUT("  cvt.%s %%h%u, %%a%u;\n", chance(g, 2) ? "u16.u32" : "s16.s32", h, a);
        break;
    case 9:
        PUT("  cvt.%s %%a%u, %%h%u;\n", (const char *[]){"u32.u16", "s32.s16", "s32.s8", "u32.u8"}[below(g, 4)], a, h);
        break;
    case 10:
        PUT("  %s.u16 %%h%u, %%h%u, %u;\n", chance(g, 2) ? "add" : "mul.lo", h, below(g, HALVES),
            below(g, 70000) & 65535);
        break;
    default:
        PUT("  mul.wide.%s %%a%u, %%h%u, %d;\n", chance(g, 2) ? "u16" : "s16", a, h, (int)below(g, 20) - 10);
    }
}

static void predicate(struct gen *g, uint32_t p) {
    static const char *const unsigned_cmp[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
    static const char *const logic[] = {"and", "or", "xor"};
    char s[32], op[32] = "", with[32] = "";
    bool is_signed = chance(g, 2);
    const char *cmp = unsigned_cmp[below(g, is_signed ? 6 : 10)];
    if (chance(g, 4)) {
        snprintf(op, sizeof op, ".%s", logic[below(g, 3)]);
        snprintf(with, sizeof with, ", %%p%u", below(g, PREDS));
    }
    switch (below(g, 8)) {
    case 0:
        PUT("  setp.%s%s.%s %%p%u, %%w%u, %%w%u%s;\n", cmp, op, is_signed ? "s64" : "u64", p, below(g, LONGS),
            below(g, LONGS), with);
        break;
    case 1:
        PUT("  setp.%s%s.%s %%p%u, %%w%u, %u%s;\n", cmp, op, is_signed ? "s64" : "u64", p, below(g, LONGS),
            below(g, 200), with);
        break;
    case 2:
        PUT("  setp.%s%s.%s %%p%u, %%h%u, %u%s;\n", cmp, op, is_signed ? "s16" : "u16", p, below(g, HALVES),
            below(g, 99), with);
        break;
    case 3:
        PUT("  %s.pred %%p%u, %%p%u, %%p%u;\n", logic[below(g, 3)], p, below(g, PREDS), below(g, PREDS));
        break;
    case 4:
        PUT("  setp.%s%s.%s %%p%u|%%p%u, %%a%u, %%a%u%s;\n", cmp, op, is_signed ? "s32" : "u32", p, (p + 1) % PREDS,
            below(g, WORDS), below(g, WORDS), with);
        break;
    default:
        PUT("  setp.%s%s.%s %%p%u, %%a%u, %s%s;\n", cmp, op, is_signed ? "s32" : "u32", p, below(g, WORDS),
            scalar(g, s), with);
    }
}

/* Writes a random guard, or nothing. */
static void guard(struct gen *g) {
    if (chance(g, 3))
        PUT("  @%s%%p%u", chance(g, 2) ? "!" : "", below(g, PREDS));
}

/* Writes code that computes the address of an element of `in` into %x. The index is linear in the thread and CTA
 * indices. The code has the forms that compilers emit. */
static void address(struct gen *g, bool far) {
    static const char *const from[] = {"%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%n", "%stride"};
    PUT("  mov.u32 %%i, %d;\n", (int)below(g, 2000) - 1000);
    for (uint32_t k = 1 + below(g, 4); k > 0; k--) {
        PUT("  mov.u32 %%j, %s;\n", from[below(g, 7)]);
        if (chance(g, 2))
            PUT("  mad.lo.s32 %%i, %%j, %d, %%i;\n", (int)below(g, 11) - 5);
        else
            PUT("  shl.b32 %%j, %%j, %u;\n  %s.u32 %%i, %%i, %%j;\n", below(g, 3), chance(g, 2) ? "add" : "sub");
    }
    if (chance(g, 3)) /* an addition that overflows, and an addition that undoes the overflow */
        PUT("  add.s32 %%i, %%i, 0x7fffff00;\n  add.s32 %%i, %%i, 0x80000100;\n");
    /* far: the 32-bit sum %j wraps between threads 10 and 11. The correction %y makes the addresses of all threads
     * consecutive again. */
    if (far)
        PUT("  add.u32 %%j, %%tid.x, 0xfffffff5;\n  setp.lt.u32 %%q, %%tid.x, 11;\n"
            "  mul.wide.u32 %%x, %%j, 4;\n  selp.b64 %%y, 0x400000000, 0, %%q;\n  sub.u64 %%x, %%x, %%y;\n"
            "  add.u64 %%x, %%x, %%in;\n");
    else if (chance(g, 2))
        PUT("  mul.wide.s32 %%x, %%i, 4;\n  add.s64 %%x, %%x, %%in;\n");
    else
        PUT("  cvt.s64.s32 %%x, %%i;\n  shl.b64 %%x, %%x, 2;\n  add.s64 %%x, %%in, %%x;\n");
}

static void load(struct gen *g) {
    uint32_t v = below(g, DATA);
    address(g, chance(g, 6));
    switch (below(g, 5)) {
    case 0:
        guard(g);
        PUT("  ld.global.u8 %%t, [%%x+%u];\n", below(g, 40));
        break;
    case 1:
        guard(g);
        PUT("  ld.global.s16 %%t, [%%x+%u];\n", 2 * below(g, 20));
        break;
    case 2:
        PUT("  and.b64 %%x, %%x, -8;\n");
        guard(g);
        PUT("  ld.global.v2.u32 {%%t, %%u}, [%%x];\n  xor.b32 %%t, %%t, %%u;\n");
        break;
    default:
        guard(g);
        PUT("  ld.global.u32 %%t, [%%x+%d];\n", 4 * ((int)below(g, 20) - 10));
    }
    PUT("  mad.lo.u32 %%v%u, %%v%u, 31, %%t;\n", v, v);
}

static void store(struct gen *g) {
    guard(g);
    PUT("  st.global.%s [%%slice+%u], %%v%u;\n", chance(g, 4) ? "u16" : "u32", 4 * below(g, AFFINE_SLICE - 1),
        below(g, DATA));
}

static void data_statement(struct gen *g) {
    uint32_t v = below(g, DATA);
    switch (below(g, 4)) {
    case 0:
        PUT("  xor.b32 %%v%u, %%v%u, %%a%u;\n", v, v, below(g, WORDS));
        break;
    case 1:
        guard(g);
        PUT("  add.u32 %%v%u, %%v%u, %u;\n", v, v, ++g->place);
        break;
    case 2:
        PUT("  cvt.u32.u64 %%t, %%w%u;\n  xor.b32 %%v%u, %%v%u, %%t;\n", below(g, LONGS), v, v);
        break;
    default:
        PUT("  selp.u32 %%t, %d, 77, %%p%u;\n  add.u32 %%v%u, %%v%u, %%t;\n", ++g->place, below(g, PREDS), v, v);
    }
}

static void statements(struct gen *g, uint32_t n);

/* Writes a predicate that is affine, or that depends on data. */
static void condition(struct gen *g, uint32_t p) {
    if (chance(g, 4))
        PUT("  and.b32 %%t, %%v%u, 3;\n  setp.eq.u32 %%p%u, %%t, 1;\n", below(g, DATA), p);
    else
        predicate(g, p);
}

static void branch(struct gen *g) {
    int k = g->labels++;
    uint32_t p = below(g, PREDS);
    bool other = chance(g, 2);
    condition(g, p);
    PUT("  @%s%%p%u bra %s%d;\n", chance(g, 2) ? "!" : "", p, other ? "ELSE" : "END", k);
    statements(g, 1 + below(g, 4));
    if (other) {
        PUT("  bra END%d;\nELSE%d:\n", k, k);
        statements(g, 1 + below(g, 4));
    }
    PUT("END%d:\n", k);
}

/* Writes a loop of at most 6 iterations. The number of iterations is a scalar, or depends on an affine value or on
 * data. */
static void loop(struct gen *g) {
    int k = g->labels++, c = g->counters++;
    uint32_t p = below(g, PREDS);
    g->loops++;
    PUT("  mov.u32 %%c%d, 0;\nLOOP%d:\n", c, k);
    statements(g, 1 + below(g, 4));
    if (chance(g, 2)) {
        condition(g, p);
        PUT("  @%%p%u bra OUT%d;\n", p, k);
        statements(g, 1 + below(g, 2));
    }
    PUT("  add.u32 %%c%d, %%c%d, 1;\n", c, c);
    if (chance(g, 2))
        PUT("  setp.gt.s32 %%q, %%c%d, %s;\n  @%%q bra OUT%d;\n", c, chance(g, 2) ? "%tx" : "%n", k);
    PUT("  setp.lt.u32 %%q, %%c%d, %u;\n  @%%q bra LOOP%d;\nOUT%d:\n", c, 1 + below(g, 6), k, k);
    g->loops--;
}

static void statement(struct gen *g) {
    uint32_t kind = below(g, 20);
    if (kind < 4)
        word_statement(g);
    else if (kind < 7)
        wide_statement(g);
    else if (kind < 9)
        predicate(g, below(g, PREDS));
    else if (kind < 12)
        load(g);
    else if (kind < 14)
        store(g);
    else if (kind < 16)
        data_statement(g);
    else if (g->depth < MAX_DEPTH && kind < 18)
        branch(g);
    else if (g->depth < MAX_DEPTH && g->loops < 2)
        loop(g);
}

static void statements(struct gen *g, uint32_t n) {
    g->depth++;
    while (n--)
        statement(g);
    g->depth--;
}

/* Writes code in which all threads of the CTA meet at a barrier, and then read a word that a neighbouring thread
 * stored. */
static void exchange(struct gen *g) {
    PUT("  shl.b32 %%j, %%tid, 2;\n  mov.u32 %%i, cells;\n  add.u32 %%i, %%i, %%j;\n  st.shared.u32 [%%i], %%v0;\n"
        "  st.global.u32 [%%slice+%d], %%v1;\n  bar.sync 0;\n",
        4 * (AFFINE_SLICE - 1));
    PUT("  add.u32 %%j, %%tid, 1;\n  setp.ge.u32 %%q, %%j, %%all;\n  selp.b32 %%j, 0, %%j, %%q;\n"
        "  shl.b32 %%i, %%j, 2;\n  mov.u32 %%t, cells;\n  add.u32 %%i, %%i, %%t;\n  ld.shared.u32 %%t, [%%i];\n"
        "  xor.b32 %%v2, %%v2, %%t;\n");
    PUT("  sub.u32 %%j, %%j, %%tid;\n  mul.wide.s32 %%x, %%j, %d;\n  add.s64 %%x, %%x, %%slice;\n"
        "  ld.global.u32 %%t, [%%x+%d];\n  add.u32 %%v1, %%v1, %%t;\n  bar.sync 0;\n",
        4 * AFFINE_SLICE, 4 * (AFFINE_SLICE - 1));
}

static void head(struct gen *g) {
    PUT(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 "
        "n, "
        ".param .s32 stride, .param .u64 far)\n{\n"
        "  .reg .pred %%p<%d>, %%q;\n  .reg .b32 %%a<%d>, %%v<%d>, %%c<64>, %%i, %%j, %%t, %%u, %%n, %%stride, %%tid, "
        "%%all, %%tx;\n  .reg .b64 %%w<%d>, %%x, %%y, %%out, %%in, %%slice, %%far;\n  .reg .b16 %%h<%d>;\n"
        "  .shared .b32 cells[1024];\n",
        PREDS, WORDS, DATA, LONGS, HALVES);
    PUT("  ld.param.u64 %%out, [out];\n  ld.param.u64 %%in, [in];\n  ld.param.u32 %%n, [n];\n"
        "  ld.param.s32 %%stride, [stride];\n  ld.param.u64 %%far, [far];\n  mov.u32 %%tx, %%tid.x;\n"
        "  mad.lo.u32 %%tid, %%tid.z, %%ntid.y, %%tid.y;\n  mad.lo.u32 %%tid, %%tid, %%ntid.x, %%tid.x;\n"
        "  mul.lo.u32 %%all, %%ntid.x, %%ntid.y;\n  mul.lo.u32 %%all, %%all, %%ntid.z;\n"
        "  mad.lo.u32 %%i, %%ctaid.z, %%nctaid.y, %%ctaid.y;\n  mad.lo.u32 %%i, %%i, %%nctaid.x, %%ctaid.x;\n"
        "  mad.lo.u32 %%i, %%i, %%all, %%tid;\n  mad.wide.u32 %%slice, %%i, %d, %%out;\n",
        4 * AFFINE_SLICE);
    for (int k = 0; k < WORDS; k++)
        PUT("  mad.lo.s32 %%a%d, %%tid.%c, %d, %d;\n", k, "xxyz"[below(g, 4)], (int)below(g, 9) - 4,
            (int)below(g, 60) - 30);
    for (int k = 0; k < LONGS; k++)
        PUT("  cvt.s64.s32 %%w%d, %%a%d;\n", k, k);
    for (int k = 0; k < HALVES; k++)
        PUT("  cvt.u16.u32 %%h%d, %%a%d;\n", k, k);
    for (int k = 0; k < PREDS; k++)
        PUT("  setp.lt.s32 %%p%d, %%a%d, %d;\n", k, k, (int)below(g, 60) - 30);
    for (int k = 0; k < DATA; k++)
        PUT("  mov.u32 %%v%d, %d;\n", k, k);
    PUT("  mov.u32 %%t, 0;\n  mov.u32 %%u, 0;\n");
}

struct affine_kernel affine_kernel(uint64_t seed) {
    static const uint32_t blocks[][3] = {{80, 1, 1}, {33, 1, 1}, {16, 5, 1}, {7, 3, 4},  {40, 3, 1}, {64, 2, 1},
                                         {32, 4, 1}, {5, 9, 1},  {1, 40, 1}, {12, 2, 3}, {96, 1, 1}, {31, 1, 2}};
    static const uint32_t grids[][3] = {{3, 1, 1}, {2, 2, 1}, {1, 2, 2}, {5, 1, 1}, {1, 1, 1}};
    struct affine_kernel k = {0};
    struct gen gen = {.rng = seed}, *g = &gen;
    size_t size;
    memcpy(k.block, blocks[below(g, 12)], sizeof k.block);
    memcpy(k.grid, grids[below(g, 5)], sizeof k.grid);
    k.n = below(g, 12);
    k.stride = (int32_t)below(g, 9) - 4;
    k.far = below(g, 2) ? 0xfffffffffffffff0u : (uint64_t)1 << (30 + below(g, 33));
    k.threads = k.grid[0] * k.grid[1] * k.grid[2] * k.block[0] * k.block[1] * k.block[2];
    g->out = open_memstream(&k.text, &size);
    if (!g->out)
        abort();
    head(g);
    for (uint32_t part = 1 + below(g, 4); part > 0; part--) {
        statements(g, 3 + below(g, 8));
        if (chance(g, 2) && part > 1)
            exchange(g);
    }
    if (chance(g, 3)) {
        predicate(g, 0);
        PUT("  @%%p0 %s;\n", chance(g, 2) ? "ret" : "exit");
        statements(g, 4);
    }
    for (int v = 0; v < DATA; v++)
        PUT("  st.global.u32 [%%slice+%d], %%v%d;\n", 4 * v, v);
    for (int a = 0; a < WORDS; a++) /* values that DAC does not decouple, so that the kernel's own warps compute them */
        PUT("  st.global.u32 [%%slice+%d], %%a%d;\n", 4 * (DATA + a), a);
    PUT("  ret;\n}\n");
    fclose(g->out);
    return k;
}
