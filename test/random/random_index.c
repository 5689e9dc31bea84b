/* Generates random kernels that compute with indices. Their registers:
 * - %a0, %a1 and so on (32 bits) and %b0, %b1 and so on (64 bits) have affine values at first. Later they may have any
 *   value, so they are used only in comparisons, in data, and in 16-bit indices.
 * - %x0, %x1 and so on are data.
 * - %p0, %p1 and so on are predicates of indices or of data.
 * All indices except the 16-bit ones are computed right before their access. Their coefficients are so small that the
 * index stays in bounds. */
#include "random_index.h"
#include "test/random.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { AFFINES = 6, LONGS = 3, DATA = 5, PREDS = 4, MAX_DEPTH = 4, MAX_COUNTERS = 40 };

struct gen {
    FILE *out;
    uint64_t rng;
    int labels, counters, depth;
    int loop[MAX_DEPTH + 1], loops; /* counter registers of the enclosing loops with few iterations */
    bool uniform;                   /* all threads of the CTA are active at this point */
    bool may_leave;                 /* no barrier follows, so threads may exit */
    bool calls;
};

static uint32_t below(struct gen *g, uint32_t n) { return test_random_below(&g->rng, n); }
static bool chance(struct gen *g, uint32_t one_in) { return below(g, one_in) == 0; }
static int small(struct gen *g) { return (int)below(g, 9) - 4; }

#define EMIT(...) fprintf(g->out, __VA_ARGS__)

static void statements(struct gen *g, uint32_t n);

/* Returns an operand that is equal in all threads of a CTA: a constant, a parameter, or an index of the CTA. */
static const char *scalar(struct gen *g) {
    static const char *const names[] = {"%n",  "%m", "%ctaid.x", "%ctaid.y", "%ntid.x", "%ntid.y", "%nctaid.x", "%s0",
                                        "%s1", "3",  "-5",       "7",        "64",      "65535",   "0x7fffffff"};
    return names[below(g, sizeof names / sizeof *names)];
}

static void affine_values(struct gen *g) {
    static const char *const plain[] = {"add.u32", "add.s32", "sub.s32", "sub.u32"};
    uint32_t d = below(g, AFFINES), a = below(g, AFFINES), b = below(g, AFFINES);
    switch (below(g, 14)) {
    case 0:
    case 1:
        EMIT("%s %%a%u, %%a%u, %%a%u;\n", plain[below(g, 4)], d, a, b);
        break;
    case 2:
        EMIT("mul.lo.%s %%a%u, %%a%u, %s;\n", chance(g, 2) ? "s32" : "u32", d, a, scalar(g));
        break;
    case 3:
        EMIT("mad.lo.s32 %%a%u, %%a%u, %s, %%a%u;\n", d, a, scalar(g), b);
        break;
    case 4:
        EMIT("shl.b32 %%a%u, %%a%u, %u;\n", d, a, below(g, 34));
        break;
    case 5:
        EMIT("neg.s32 %%a%u, %%a%u;\n", d, a);
        break;
    case 6:
        EMIT("add.s32 %%a%u, %s, %%tid.%c;\n", d, scalar(g), "xyz"[below(g, 3)]);
        break;
    case 7:
        EMIT("%s %%b%u, %%a%u, %d;\n", chance(g, 2) ? "mul.wide.s32" : "mul.wide.u32", below(g, LONGS), a, small(g));
        break;
    case 8:
        EMIT("mad.wide.%s %%b%u, %%a%u, %s, %%b%u;\n", chance(g, 2) ? "s32" : "u32", below(g, LONGS), a, scalar(g),
             below(g, LONGS));
        break;
    case 9:
        EMIT("%s %%b%u, %%a%u;\n", chance(g, 2) ? "cvt.s64.s32" : "cvt.u64.u32", below(g, LONGS), a);
        break;
    case 10:
        EMIT("%s %%a%u, %%b%u;\n", chance(g, 2) ? "cvt.u32.u64" : "cvt.s32.s64", d, below(g, LONGS));
        break;
    case 11:
        EMIT("%s %%b%u, %%b%u, %%b%u;\n", chance(g, 2) ? "add.s64" : "sub.u64", below(g, LONGS), below(g, LONGS),
             below(g, LONGS));
        break;
    case 12:
        EMIT("selp.b32 %%a%u, %%a%u, %%a%u, %%p%u;\n", d, a, b, below(g, PREDS));
        break;
    default:
        EMIT("mov.u32 %%a%u, %%a%u;\n", d, a);
    }
}

/* Writes operations whose result is affine only if both sources are scalars. */
static void scalar_values(struct gen *g) {
    static const char *const ops[] = {"min.s32", "max.s32", "min.u32", "max.u32", "and.b32",
                                      "or.b32",  "xor.b32", "div.u32", "rem.u32", "rem.s32"};
    EMIT("%s %%s%u, %%s%u, %s;\n", ops[below(g, 10)], below(g, 2), below(g, 2), scalar(g));
}

static void data_values(struct gen *g) {
    static const char *const ops[] = {"add.u32", "xor.b32", "sub.u32", "mul.lo.u32", "max.s32", "min.u32"};
    uint32_t d = below(g, DATA);
    if (chance(g, 3))
        EMIT("%s %%x%u, %%x%u, %%a%u;\n", ops[below(g, 6)], d, below(g, DATA), below(g, AFFINES));
    else if (chance(g, 3))
        EMIT("cvt.u32.u64 %%t, %%b%u;\nadd.u32 %%x%u, %%x%u, %%t;\n", below(g, LONGS), d, d);
    else
        EMIT("%s %%x%u, %%x%u, %%x%u;\n", ops[below(g, 6)], d, below(g, DATA), below(g, DATA));
}

static const char *const orders[] = {"eq", "ne", "lt", "le", "gt", "ge"};

/* Writes code that sets a predicate, which depends on indices or on data. Returns the predicate's number. */
static uint32_t condition(struct gen *g, bool data) {
    static const char *const types[] = {"s32", "u32"};
    uint32_t p = below(g, PREDS);
    const char *cmp = orders[below(g, 6)], *type = types[below(g, 2)];
    if (data)
        EMIT("and.b32 %%t, %%x%u, 7;\nsetp.%s.%s %%p%u, %%t, %u;\n", below(g, DATA), cmp, type, p, below(g, 8));
    else if (chance(g, 3))
        EMIT("setp.%s.%s %%p%u, %%tid.%c, %u;\n", cmp, type, p, "xyz"[below(g, 3)], below(g, 20));
    else if (chance(g, 4))
        EMIT("setp.%s.s64 %%p%u, %%b%u, %d;\n", cmp, p, below(g, LONGS), small(g) * 1000);
    else if (chance(g, 4))
        EMIT("setp.%s.%s %%p%u, %%a%u, %%a%u;\n", cmp, type, p, below(g, AFFINES), below(g, AFFINES));
    else if (chance(g, 4))
        EMIT("setp.%s.%s.%s %%p%u|%%p%u, %%a%u, %s, %%p%u;\n", cmp, chance(g, 2) ? "and" : "or", type, p,
             (p + 1) % PREDS, below(g, AFFINES), scalar(g), below(g, PREDS));
    else
        EMIT("setp.%s.%s %%p%u, %%a%u, %s;\n", cmp, type, p, below(g, AFFINES), scalar(g));
    if (chance(g, 5))
        EMIT("%s.pred %%p%u, %%p%u, %%p%u;\n", chance(g, 2) ? "and" : "or", p, p, below(g, PREDS));
    return p;
}

/* Writes code that computes an index of `in` into %i. The index is the middle of `in` plus small multiples of the
 * thread index, the CTA index and the number of the iteration, so it is in bounds. */
static void index_within(struct gen *g) {
    EMIT("mov.u32 %%i, %d;\n", INDEX_IN / 2 + small(g) * 16);
    for (int k = 0; k < 3; k++)
        if (chance(g, 2))
            EMIT("mad.lo.s32 %%i, %%tid.%c, %d, %%i;\n", "xyz"[k], small(g));
    if (chance(g, 2))
        EMIT("mad.lo.s32 %%i, %%ctaid.%c, %d, %%i;\n", chance(g, 2) ? 'x' : 'y', small(g) * 8);
    if (g->loops && chance(g, 2))
        EMIT("mad.lo.s32 %%i, %%c%d, %d, %%i;\n", g->loop[below(g, (uint32_t)g->loops)], small(g) * 4);
    if (chance(g, 3)) /* the sum overflows, and the subtraction corrects it */
        EMIT("add.s32 %%i, %%i, 0x7fffff00;\nsub.s32 %%i, %%i, 0x7fffff00;\n");
}

/* Writes code that computes base + %i * size into %d, in one of the forms that compilers emit. */
static void address(struct gen *g, const char *base, unsigned size) {
    switch (below(g, 4)) {
    case 0:
        EMIT("mad.wide.s32 %%d, %%i, %u, %s;\n", size, base);
        break;
    case 1:
        EMIT("mul.wide.s32 %%d, %%i, %u;\nadd.s64 %%d, %s, %%d;\n", size, base);
        break;
    case 2:
        EMIT("cvt.s64.s32 %%d, %%i;\nmul.lo.s64 %%d, %%d, %u;\nadd.s64 %%d, %%d, %s;\n", size, base);
        break;
    default:
        EMIT("cvt.u64.u32 %%d, %%i;\nshl.b64 %%d, %%d, %d;\nadd.s64 %%d, %%d, %s;\n", __builtin_ctz(size), base);
    }
}

static void guard(struct gen *g) {
    if (chance(g, 5))
        EMIT("@%s%%p%u ", chance(g, 2) ? "!" : "", below(g, PREDS));
}

/* Writes a load of any size from `in`. */
static void load(struct gen *g) {
    uint32_t d = below(g, DATA), e = (d + 1) % DATA;
    if (chance(g, 4)) { /* the index is any 16-bit value, which may wrap in some threads only */
        EMIT("cvt.u16.u32 %%h, %%a%u;\n", below(g, AFFINES));
        EMIT(chance(g, 2) ? "cvt.u64.u16 %%d, %%h;\nshl.b64 %%d, %%d, 2;\nadd.s64 %%d, %%d, %%in;\n"
                          : "mul.wide.u16 %%i, %%h, 4;\ncvt.u64.u32 %%d, %%i;\nadd.s64 %%d, %%d, %%in;\n");
        guard(g);
        EMIT("ld.global.u32 %%x%u, [%%d];\n", d);
        return;
    }
    index_within(g);
    switch (below(g, 7)) {
    case 0:
        address(g, "%in", 1);
        guard(g);
        EMIT("ld.global.%s %%x%u, [%%d+%u];\n", chance(g, 2) ? "u8" : "s8", d, below(g, 64));
        break;
    case 1:
        address(g, "%in", 2);
        guard(g);
        EMIT("ld.global.%s %%x%u, [%%d-%u];\n", chance(g, 2) ? "u16" : "s16", d, 2 * below(g, 64));
        break;
    case 2:
        EMIT("shr.u32 %%s1, %%s1, 1;\n");
        address(g, "%in", 4);
        EMIT("ld.volatile.global.u32 %%x%u, [%%d];\n", d);
        break;
    case 3:
        EMIT("mov.u32 %%i, %%tid.x;\n"); /* the index is multiplied by 8, so the address is a multiple of 8 */
        address(g, "%in", 8);
        guard(g);
        EMIT("ld.global.v2.u32 {%%x%u, %%x%u}, [%%d+%u];\n", d, e, 8 * below(g, 32));
        break;
    default:
        address(g, "%in", 4);
        guard(g);
        EMIT("ld.global%s.u32 %%x%u, [%%d+%d];\n", chance(g, 3) ? ".nc" : "", d, 4 * small(g));
    }
}

/* Writes code that computes the address of word `slot` of this thread into %d. There are two arrays. In the first, the
 * words of a thread are adjacent. In the second, the words `slot` of all threads are adjacent, in ascending or
 * descending order of the threads. */
static void own_address(struct gen *g, uint32_t slot) {
    switch (below(g, 3)) {
    case 0:
        EMIT("mad.lo.u32 %%i, %%lin, %d, %u;\n", INDEX_SLOTS, slot);
        address(g, "%out", 4);
        break;
    default:
        if (slot % 2)
            EMIT("sub.s32 %%i, %u, %%lin;\n", (slot + 1) * INDEX_THREADS - 1);
        else
            EMIT("add.s32 %%i, %%lin, %u;\n", slot * INDEX_THREADS);
        address(g, "%apart", 4);
    }
}

static void store(struct gen *g) {
    uint32_t x = below(g, DATA);
    if (chance(g, 5)) { /* a vector of two or four words in the first array */
        uint32_t v4 = below(g, 2);
        EMIT("shl.b32 %%i, %%lin, %d;\n", __builtin_ctz(INDEX_SLOTS));
        address(g, "%out", 4);
        guard(g);
        if (v4)
            EMIT("st.global.v4.u32 [%%d+%u], {%%x0, %%x%u, %%x1, %%x2};\n", 16 * below(g, 4), x);
        else
            EMIT("st.global.v2.u32 [%%d+%u], {%%x%u, %%x1};\n", 8 * below(g, 8), x);
        return;
    }
    own_address(g, below(g, INDEX_SLOTS));
    if (chance(g, 8)) {
        EMIT("atom.global.add.u32 %%x%u, [%%d], %%x%u;\n", x, below(g, DATA));
        return;
    }
    guard(g);
    switch (below(g, 6)) {
    case 0:
        EMIT("st.global.u8 [%%d+%u], %%x%u;\n", below(g, 4), x);
        break;
    case 1:
        EMIT("st.global.u16 [%%d+%u], %%x%u;\n", 2 * below(g, 2), x);
        break;
    case 2:
        EMIT("ld.global.u32 %%x%u, [%%d];\n", x);
        break;
    default:
        EMIT("st.global.u32 [%%d], %%%c%u;\n", chance(g, 4) ? 'a' : 'x', x);
    }
}

/* Writes a store to a word of the thread and a load of this word. Sometimes other operations are between them. */
static void again(struct gen *g) {
    uint32_t slot = below(g, INDEX_SLOTS);
    own_address(g, slot);
    EMIT("st.global.u32 [%%d], %%x%u;\n", below(g, DATA));
    if (chance(g, 2))
        data_values(g);
    EMIT("ld.global.u32 %%x%u, [%%d];\n", below(g, DATA));
}

/* Writes accesses to local memory, to constant memory or to the thread's own word of shared memory, or a call. */
static void other_spaces(struct gen *g) {
    uint32_t x = below(g, DATA);
    switch (below(g, 4)) {
    case 0:
        EMIT("mov.u64 %%d, local;\n");
        if (g->loops)
            EMIT("mad.wide.u32 %%d, %%c%d, 4, %%d;\n", g->loop[below(g, (uint32_t)g->loops)]);
        EMIT("st.local.u32 [%%d], %%x%u;\nld.local.u32 %%x%u, [%%d+%u];\n", x, below(g, DATA), 4 * below(g, 4));
        break;
    case 1:
        EMIT("mov.u64 %%d, table;\n");
        if (g->loops)
            EMIT("mad.wide.u32 %%d, %%c%d, 4, %%d;\n", g->loop[below(g, (uint32_t)g->loops)]);
        EMIT("ld.const.u32 %%a%u, [%%d+%u];\n", below(g, AFFINES), 4 * below(g, 4));
        break;
    case 2:
        EMIT("mad.lo.u32 %%i, %%tin, 4, %%shared;\nst.shared.u32 [%%i], %%x%u;\nld.shared.u32 %%x%u, [%%i];\n", x,
             below(g, DATA));
        break;
    default:
        if (g->calls)
            EMIT("call (%%x%u), f, (%%x%u, %%a%u);\n", x, below(g, DATA), below(g, AFFINES));
        else
            EMIT("mov.u32 %%x%u, %%laneid;\n", x);
    }
}

/* Writes code in which the threads of the CTA exchange words between two barriers. */
static void exchange(struct gen *g) {
    bool shared = chance(g, 2);
    uint32_t slot = 2 * below(g, INDEX_SLOTS / 2);
    if (shared)
        EMIT("mad.lo.u32 %%i, %%tin, 4, %%shared;\nst.shared.u32 [%%i], %%x%u;\n", below(g, DATA));
    else
        EMIT("add.s32 %%i, %%lin, %u;\nmad.wide.u32 %%d, %%i, 4, %%apart;\nst.global.u32 [%%d], %%x%u;\n",
             slot * INDEX_THREADS, below(g, DATA));
    EMIT(chance(g, 4) ? "bar.red.popc.u32 %%t, 0, %%p0;\n" : "bar.sync 0;\n");
    if (shared)
        EMIT("sub.u32 %%i, %%last, %%tin;\nmad.lo.u32 %%i, %%i, 4, %%shared;\nld.shared.u32 %%x%u, [%%i];\n",
             below(g, DATA));
    else
        EMIT("sub.u32 %%i, %%last, %%tin;\nadd.u32 %%i, %%i, %%first;\nadd.s32 %%i, %%i, %u;\n"
             "mad.wide.u32 %%d, %%i, 4, %%apart;\nld.global.u32 %%x%u, [%%d];\n",
             slot * INDEX_THREADS, below(g, DATA));
    EMIT("bar.sync 0;\n");
}

static void if_else(struct gen *g) {
    bool data = chance(g, 3), was = g->uniform;
    int label = g->labels;
    g->labels += 2;
    uint32_t p = condition(g, data);
    EMIT("@%s%%p%u bra L%d;\n", chance(g, 2) ? "!" : "", p, label);
    g->uniform = false;
    statements(g, 1 + below(g, 3));
    bool both = chance(g, 2);
    if (both)
        EMIT("bra L%d;\n", label + 1);
    EMIT("L%d:\n", label);
    if (both) {
        statements(g, 1 + below(g, 3));
        EMIT("L%d:\n", label + 1);
    }
    g->uniform = was;
}

/* Writes a loop. The number of iterations is a scalar, depends on the thread, or depends on data. Sometimes the loop is
 * entered in its middle. */
static void loop(struct gen *g) {
    int head = g->labels, c = g->counters++;
    uint32_t kind = below(g, 5), p;
    bool was = g->uniform;
    g->labels += 3;
    EMIT("mov.u32 %%c%d, 0;\n", c);
    if (kind == 1)
        EMIT("min.u32 %%e%d, %%n, %u;\n", c, 1 + below(g, 4));
    else if (kind == 2) /* the number of iterations depends on the thread */
        EMIT("selp.b32 %%e%d, 1, 3, %%p%u;\n", c, condition(g, false));
    else
        EMIT("mov.u32 %%e%d, %u;\n", c, 1 + below(g, 3));
    g->uniform = was && kind != 2 && kind != 3 && kind != 4;
    if (kind == 4) {
        p = condition(g, chance(g, 2));
        EMIT("@%%p%u bra L%d;\n", p, head + 1);
    }
    EMIT("L%d:\n", head);
    g->loop[g->loops++] = c;
    statements(g, 1 + below(g, 3));
    if (kind == 4) {
        EMIT("L%d:\n", head + 1);
        statements(g, 1);
    }
    if (kind == 3) {
        p = condition(g, chance(g, 2));
        EMIT("@%%p%u bra L%d;\n", p, head + 2);
    }
    g->loops--;
    EMIT("add.u32 %%c%d, %%c%d, 1;\nsetp.lt.u32 %%q, %%c%d, %%e%d;\n@%%q bra L%d;\nL%d:\n", c, c, c, c, head, head + 2);
    g->uniform = was;
}

/* Writes code in which some threads exit while the other threads continue. */
static void leave(struct gen *g) {
    uint32_t p = condition(g, chance(g, 3));
    if (chance(g, 2))
        EMIT("@%%p%u %s;\n", p, chance(g, 2) ? "ret" : "exit");
    else
        EMIT("@%%p%u bra END;\n", p);
}

static void statement(struct gen *g) {
    bool deep = g->depth > MAX_DEPTH - 1;
    uint32_t k = below(g, 24);
    if (k < 6)
        affine_values(g);
    else if (k < 7)
        scalar_values(g);
    else if (k < 9)
        data_values(g);
    else if (k < 12)
        load(g);
    else if (k < 15)
        store(g);
    else if (k == 15)
        again(g);
    else if (k == 16)
        other_spaces(g);
    else if (k == 17) {
        condition(g, chance(g, 4));
        guard(g);
        EMIT("mov.u32 %%a%u, %%a%u;\n", below(g, AFFINES), below(g, AFFINES));
    } else if (k == 18 && g->uniform && !g->may_leave)
        exchange(g);
    else if (k == 19 && g->may_leave)
        leave(g);
    else if (k < 22 && !deep)
        if_else(g);
    else if (!deep && g->counters < MAX_COUNTERS)
        loop(g);
    else
        data_values(g);
}

static void statements(struct gen *g, uint32_t n) {
    g->depth++;
    while (n--)
        statement(g);
    g->depth--;
}

static void head(struct gen *g) {
    EMIT(".version 7.0\n.target sm_70\n.address_size 64\n.const .u32 table[8] = {1, 5, 0, -3, 9, 2, 70000, 11};\n");
    EMIT(".shared .u32 words[%d];\n", INDEX_THREADS);
    if (g->calls)
        EMIT(".func (.reg .b32 %%z) f(.reg .b32 %%x, .reg .b32 %%y)\n{ .reg .pred %%p; .reg .b32 %%t; mad.lo.u32 %%z, "
             "%%x, 3, %%y; and.b32 %%t, %%z, 3; setp.eq.u32 %%p, %%t, 0; @%%p add.u32 %%z, %%z, 1; ret; }\n");
    EMIT(".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)\n{\n.local .align 8 .b32 "
         "local[16];\n.reg .pred %%p<%d>, %%q;\n.reg .b16 %%h;\n.reg .b32 %%a<%d>, %%x<%d>, %%c<%d>, %%e<%d>, %%s<2>, "
         "%%i, %%t, %%n, %%m, %%tin, %%lin, %%first, %%last, %%shared;\n.reg .b64 %%b<%d>, %%d, %%out, %%in, "
         "%%apart;\n",
         PREDS, AFFINES, DATA, MAX_COUNTERS, MAX_COUNTERS, LONGS);
    EMIT("ld.param.u64 %%out, [out];\nld.param.u64 %%in, [in];\ncvta.to.global.u64 %%out, %%out;\n"
         "ld.param.u32 %%n, [n];\nld.param.u32 %%m, [m];\nadd.u64 %%apart, %%out, %d;\n",
         4 * INDEX_SLOTS * INDEX_THREADS);
    /* %tin and %lin: the thread's index in the CTA and in the launch; %first and %last: the CTA's first and last
     * thread */
    EMIT("mad.lo.u32 %%tin, %%tid.z, %%ntid.y, %%tid.y;\nmad.lo.u32 %%tin, %%tin, %%ntid.x, %%tid.x;\n"
         "mad.lo.u32 %%first, %%ctaid.y, %%nctaid.x, %%ctaid.x;\nmul.lo.u32 %%last, %%ntid.x, %%ntid.y;\n"
         "mul.lo.u32 %%last, %%last, %%ntid.z;\nmul.lo.u32 %%first, %%first, %%last;\nadd.u32 %%lin, %%first, %%tin;\n"
         "sub.u32 %%last, %%last, 1;\nmov.u32 %%shared, words;\nmov.u32 %%s0, %%ctaid.x;\nadd.u32 %%s1, %%n, 11;\n");
    static const char *const first[] = {"%tid.x", "%tid.y", "%tid.z", "%lin", "%tin", "%ctaid.x"};
    for (int i = 0; i < AFFINES; i++)
        EMIT("mad.lo.s32 %%a%d, %s, %d, %d;\n", i, first[i], small(g), chance(g, 4) ? 0x7ffffff0 : small(g));
    for (int i = 0; i < LONGS; i++)
        EMIT("mad.wide.s32 %%b%d, %%a%d, %d, %%out;\n", i, i, small(g) * (chance(g, 3) ? 70000 : 1));
    for (int i = 0; i < DATA; i++)
        EMIT("mad.wide.u32 %%d, %%lin, 4, %%in;\nld.global.u32 %%x%d, [%%d+%d];\n", i, 4096 * i);
    for (int i = 0; i < PREDS; i++)
        EMIT("setp.lt.u32 %%p%d, %%tid.x, %d;\n", i, 4 * i + 1);
}

/* Writes the end of the kernel, which stores all computed values to words of the thread. */
static void tail(struct gen *g) {
    EMIT("shl.b32 %%i, %%lin, %d;\nmad.wide.u32 %%d, %%i, 4, %%out;\n", __builtin_ctz(INDEX_SLOTS));
    for (int i = 0; i < DATA; i++)
        EMIT("st.global.u32 [%%d+%d], %%x%d;\n", 4 * i, i);
    for (int i = 0; i < AFFINES; i++)
        EMIT("st.global.u32 [%%d+%d], %%a%d;\n", 4 * (DATA + i), i);
    EMIT("mov.u32 %%t, 0;\n");
    for (int i = 0; i < PREDS; i++)
        EMIT("@%%p%d or.b32 %%t, %%t, %d;\n", i, 1 << i);
    EMIT("st.global.u32 [%%d+%d], %%t;\n", 4 * (DATA + AFFINES));
    EMIT("END:\nret;\n}\n");
}

struct index_kernel random_index_kernel(uint64_t seed) {
    static const struct dim3 blocks[] = {{32, 1, 1}, {48, 1, 1}, {5, 7, 1},  {16, 4, 1}, {33, 2, 1},
                                         {8, 4, 2},  {3, 5, 3},  {64, 1, 1}, {7, 1, 1},  {1, 1, 1},
                                         {10, 9, 1}, {1, 32, 1}, {2, 2, 8},  {61, 1, 1}};
    static const struct dim3 grids[] = {{1, 1, 1}, {3, 1, 1}, {2, 2, 1}, {5, 1, 1}, {1, 3, 1}};
    struct gen gen = {.rng = seed * 2 + 1, .uniform = true}, *g = &gen;
    struct index_kernel k = {.text = NULL};
    size_t size;
    k.block = blocks[below(g, sizeof blocks / sizeof *blocks)];
    k.grid = grids[below(g, sizeof grids / sizeof *grids)];
    g->out = open_memstream(&k.text, &size);
    if (!g->out)
        abort();
    g->calls = chance(g, 4);
    head(g);
    statements(g, 4 + below(g, 8));
    g->may_leave = chance(g, 2);
    if (g->may_leave)
        statements(g, 2 + below(g, 6));
    tail(g);
    fclose(g->out);
    return k;
}
