/* Writes the random kernels of random_kernel.h: their basic statements and control flow. random_rich.c,
 * random_floats.c, random_ladders.c and random_locks.c write further statements. */
#include "random_gen.h"
#include <stdlib.h>

/* The letters stand for operands. The first operand is the destination. r, d, f and p are registers; R is a 32-bit
 * register or a number; i is a number below 32; I is a number below 256; F is a float. */
static const struct op {
    const char *name, *operands;
} ops[] = {
    {"add.u32", "rrR"},          {"sub.s32", "rrR"},          {"mul.lo.s32", "rrR"},      {"mul.hi.u32", "rrR"},
    {"mul.hi.s32", "rrR"},       {"mad.lo.s32", "rrRr"},      {"mad.hi.u32", "rrrr"},     {"min.s32", "rrR"},
    {"max.u32", "rrR"},          {"and.b32", "rrR"},          {"or.b32", "rrR"},          {"xor.b32", "rrR"},
    {"not.b32", "rr"},           {"shl.b32", "rri"},          {"shr.u32", "rrr"},         {"shr.s32", "rri"},
    {"abs.s32", "rr"},           {"neg.s32", "rr"},           {"div.u32", "rrr"},         {"div.s32", "rrR"},
    {"rem.u32", "rrr"},          {"rem.s32", "rrr"},          {"bfe.u32", "rrii"},        {"bfe.s32", "rrri"},
    {"bfi.b32", "rrrii"},        {"popc.b32", "rr"},          {"clz.b32", "rr"},          {"brev.b32", "rr"},
    {"prmt.b32", "rrrr"},        {"lop3.b32", "rrrrI"},       {"shf.l.wrap.b32", "rrrr"}, {"shf.r.clamp.b32", "rrri"},
    {"selp.b32", "rrRp"},        {"slct.u32.s32", "rrrr"},    {"sad.u32", "rrrr"},        {"mov.u32", "rR"},
    {"cnot.b32", "rr"},          {"bfind.u32", "rr"},         {"mul24.lo.u32", "rrr"},    {"set.lt.u32.s32", "rrR"},
    {"add.s64", "ddd"},          {"sub.u64", "ddd"},          {"mul.lo.u64", "ddd"},      {"mul.hi.u64", "ddd"},
    {"mul.wide.u32", "drr"},     {"mul.wide.s32", "drR"},     {"mad.wide.s32", "drrd"},   {"xor.b64", "ddd"},
    {"and.b64", "ddd"},          {"or.b64", "ddd"},           {"shl.b64", "ddi"},         {"shr.s64", "ddr"},
    {"min.s64", "ddd"},          {"max.u64", "ddd"},          {"popc.b64", "rd"},         {"clz.b64", "rd"},
    {"div.s64", "ddd"},          {"rem.u64", "ddd"},          {"cvt.u64.u32", "dr"},      {"cvt.s64.s32", "dr"},
    {"cvt.u32.u64", "rd"},       {"selp.b64", "dddp"},        {"add.f32", "fff"},         {"sub.ftz.f32", "fff"},
    {"mul.f32", "ffF"},          {"fma.rn.f32", "ffff"},      {"mad.f32", "fffF"},        {"min.f32", "fff"},
    {"max.f32", "ffF"},          {"abs.f32", "ff"},           {"neg.f32", "ff"},          {"div.rn.f32", "fff"},
    {"sqrt.rn.f32", "ff"},       {"rcp.rn.f32", "ff"},        {"add.sat.f32", "fff"},     {"cvt.rn.f32.s32", "fr"},
    {"cvt.rn.f32.u64", "fd"},    {"cvt.rzi.s32.f32", "rf"},   {"cvt.rni.u32.f32", "rf"},  {"cvt.s8.s32", "rr"},
    {"selp.f32", "fffp"},        {"mov.b32", "rf"},           {"mov.b32", "fr"},          {"setp.lt.s32", "prR"},
    {"setp.ne.u32", "prr"},      {"setp.gt.f32", "pff"},      {"setp.leu.f32", "pfF"},    {"setp.ge.u64", "pdd"},
    {"setp.eq.and.s32", "prRp"}, {"setp.ne.xor.b32", "prrp"}, {"and.pred", "ppp"},        {"xor.pred", "ppp"},
    {"not.pred", "pp"},          {"mov.pred", "pp"},
};
enum { N_OPS = sizeof ops / sizeof ops[0] };

static void number(struct gen *g) {
    static const uint32_t edges[] = {0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff};
    uint32_t n = chance(g, 3) ? (uint32_t)test_random(&g->rng) : below(g, 64);
    fprintf(g->out, "%d", (int32_t)(chance(g, 4) ? edges[below(g, sizeof edges / sizeof edges[0])] : n));
}

void operand(struct gen *g, char letter) {
    static const char *const floats[] = {"0f00000000", "0f3f800000", "0fc0490fdb",
                                         "0f7f800000", "0f00000001", "0f3e99999a"};
    switch (letter) {
    case 'R':
        if (chance(g, 2)) {
            number(g);
            return;
        }
        /* fall through */
    case 'r':
        fprintf(g->out, "%%r%u", below(g, WORDS));
        return;
    case 'd':
        fprintf(g->out, "%%d%u", below(g, LONGS));
        return;
    case 'F':
        if (chance(g, 2)) {
            fputs(floats[below(g, sizeof floats / sizeof floats[0])], g->out);
            return;
        }
        /* fall through */
    case 'f':
        fprintf(g->out, "%%f%u", below(g, FLOATS));
        return;
    case 'p':
        fprintf(g->out, "%%p%u", below(g, PREDS));
        return;
    case 'i':
        fprintf(g->out, "%u", below(g, 32));
        return;
    default:
        fprintf(g->out, "%u", below(g, 256));
    }
}

void guard(struct gen *g, uint32_t one_in) {
    if (chance(g, one_in))
        fprintf(g->out, "@%s%%p%u ", chance(g, 2) ? "!" : "", below(g, PREDS));
}

static void arithmetic(struct gen *g) {
    const struct op *o = &ops[below(g, N_OPS)];
    guard(g, 6);
    fputs(o->name, g->out);
    for (const char *c = o->operands; *c; c++) {
        fputs(c == o->operands ? " " : ", ", g->out);
        operand(g, *c);
    }
    fputs(";\n", g->out);
}

static void add_with_carry(struct gen *g) {
    uint32_t d = below(g, WORDS), e = (d + 1 + below(g, WORDS - 1)) % WORDS, a = below(g, WORDS);
    bool sub = chance(g, 2);
    fprintf(g->out, "%s.cc.u32 %%r%u, %%r%u, %%r%u;\n", sub ? "sub" : "add", d, d, a);
    fprintf(g->out, "%s.u32 %%r%u, %%r%u, %%r%u;\n", sub ? "subc" : "addc", e, e, a);
}

uint32_t condition(struct gen *g) {
    static const char *const how[] = {"lt", "ge", "eq", "ne", "gt", "le"};
    uint32_t p = below(g, PREDS);
    switch (below(g, 4)) {
    case 0:
        fprintf(g->out, "and.b32 %%t0, %%r%u, %u;\nsetp.eq.u32 %%p%u, %%t0, 0;\n", below(g, WORDS), 1 + below(g, 7), p);
        break;
    case 1:
        fprintf(g->out, "and.b32 %%t0, %%tid_, %u;\nsetp.%s.u32 %%p%u, %%t0, %u;\n", 1 + below(g, 31), how[below(g, 6)],
                p, below(g, 16));
        break;
    case 2:
        fprintf(g->out, "setp.%s.s32 %%p%u, %%r%u, %%r%u;\n", how[below(g, 6)], p, below(g, WORDS), below(g, WORDS));
        break;
    default:
        break;
    }
    return p;
}

static void memory(struct gen *g) {
    static const struct {
        const char *type;
        char letter;
        uint32_t bytes;
    } kinds[] = {{"u32", 'r', 4}, {"f32", 'f', 4}, {"u64", 'd', 8}, {"s8", 'r', 1}, {"u16", 'r', 2}};
    uint32_t k = below(g, 5);
    bool shared = chance(g, 2), store = chance(g, 2);
    uint32_t bytes = 4 * (shared ? SHARED : SLICE), at = below(g, bytes / kinds[k].bytes) * kinds[k].bytes;
    if (chance(g, 2)) { /* an address that depends on the thread */
        fprintf(g->out, "and.b32 %%t0, %%r%u, %u;\n", below(g, WORDS), (bytes - 1) & ~(kinds[k].bytes - 1));
        fprintf(g->out, "cvt.u64.u32 %%a2, %%t0;\nadd.u64 %%a2, %%a2, %%a%d;\n", shared);
        guard(g, 6);
        fprintf(g->out, "%s.%s.%s ", store ? "st" : "ld", shared ? "shared" : "global",
                store && k == 3 ? "u8" : kinds[k].type);
        if (store)
            fputs("[%a2], ", g->out);
        operand(g, kinds[k].letter);
        fputs(store ? ";\n" : ", [%a2];\n", g->out);
        return;
    }
    guard(g, 6);
    fprintf(g->out, "%s.%s.%s ", store ? "st" : "ld", shared ? "shared" : "global", kinds[k].type);
    if (store)
        fprintf(g->out, "[%%a%d+%u], ", shared, at);
    operand(g, kinds[k].letter);
    if (store)
        fputs(";\n", g->out);
    else
        fprintf(g->out, ", [%%a%d+%u];\n", shared, at);
}

/* Writes a reduction (red) on a cell. Each cell is used with only one operation, so the order does not affect the
 * result. */
static void reduction(struct gen *g) {
    static const char *const how[RANDOM_CELLS] = {"add.u32", "xor.b32", "max.u32", "min.s32",
                                                  "and.b32", "or.b32",  "inc.u32", "add.u32"};
    uint32_t cell = below(g, RANDOM_CELLS);
    guard(g, 3);
    fprintf(g->out, "red.global.%s [%%a3+%u], ", how[cell], 4 * cell);
    if (cell == 6)
        fputs("0xffffffff;\n", g->out);
    else
        fprintf(g->out, "%%r%u;\n", below(g, WORDS));
}

static void call(struct gen *g) {
    if (g->callable == 0) {
        arithmetic(g);
        return;
    }
    fprintf(g->out, "call (%%r%u, %%d%u), f%u, (%%r%u, %%d%u, %%a0, %%a1, %%a3, %%tid_);\n", below(g, WORDS),
            below(g, LONGS), below(g, (uint32_t)g->callable), below(g, WORDS), below(g, LONGS));
}

static void simple(struct gen *g) {
    if (g->rich && chance(g, 3)) {
        rich_statement(g);
        return;
    }
    if (g->chains && chance(g, 2)) {
        float_statement(g);
        return;
    }
    uint32_t k = below(g, 16);
    if (k < 9)
        arithmetic(g);
    else if (k < 10)
        add_with_carry(g);
    else if (k < 13)
        memory(g);
    else if (k < 14)
        reduction(g);
    else if (k < 15 && g->loops < 2)
        call(g);
    else
        condition(g);
}

static void if_else(struct gen *g) {
    int label = g->labels++;
    uint32_t p = condition(g);
    bool has_else = chance(g, 2);
    fprintf(g->out, "@%s%%p%u bra L%d;\n", chance(g, 2) ? "!" : "", p, label);
    statements(g, 1 + below(g, 4));
    if (has_else) {
        int end = g->labels++;
        fprintf(g->out, "bra L%d;\n", end);
        fprintf(g->out, "L%d:\n", label);
        statements(g, 1 + below(g, 4));
        fprintf(g->out, "L%d:\n", end);
    } else {
        fprintf(g->out, "L%d:\n", label);
    }
}

/* Writes a while or do-while loop. The number of iterations is in the low bits of a register. Some loops contain a
 * break or a continue. */
static void loop(struct gen *g) {
    int head = g->labels++, next = g->labels++, end = g->labels++;
    int trips = g->counters++;
    bool tested_first = chance(g, 2);
    fprintf(g->out, "and.b32 %%c%d, %%%s, %u;\n", trips, (const char *[]){"r0", "r1", "r2", "tid_"}[below(g, 4)],
            1 + below(g, 7));
    fprintf(g->out, "L%d:\n", head);
    if (tested_first)
        fprintf(g->out, "setp.eq.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\n", trips, end);
    g->loops++;
    statements(g, 1 + below(g, 3));
    if (chance(g, 3))
        fprintf(g->out, "@%%p%u bra L%d;\n", condition(g), chance(g, 2) ? end : next);
    statements(g, 1 + below(g, 3));
    g->loops--;
    fprintf(g->out, "L%d:\n", next);
    if (tested_first)
        fprintf(g->out, "sub.u32 %%c%d, %%c%d, 1;\nbra L%d;\n", trips, trips, head);
    else
        fprintf(g->out, "setp.ne.u32 %%q, %%c%d, 0;\nsub.u32 %%c%d, %%c%d, 1;\n@%%q bra L%d;\n", trips, trips, trips,
                head);
    fprintf(g->out, "L%d:\n", end);
}

/* Writes the end of one of several blocks that jump to each other: a switch, a branch with two targets, or a jump.
 * `first` is the label of the first block. */
static void soup_branch(struct gen *g, int first, int n, int at, int fuel) {
    bool back = fuel >= 0 && chance(g, 3);
    int low = back ? 0 : at + 1, targets[4];
    for (int i = 0; i < 4; i++)
        targets[i] = first + low + (int)below(g, (uint32_t)(n + 1 - low));
    if (back) {
        fprintf(g->out, "setp.eq.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\nsub.u32 %%c%d, %%c%d, 1;\n", fuel, first + n, fuel,
                fuel);
    }
    switch (below(g, 4)) {
    case 0:
        fprintf(g->out, "and.b32 %%t0, %%r%u, 3;\nT%d: .branchtargets L%d, L%d, L%d, L%d;\nbrx.idx %%t0, T%d;\n",
                below(g, WORDS), g->labels, targets[0], targets[1], targets[2], targets[3], g->labels);
        g->labels++;
        break;
    case 1:
        fprintf(g->out, "bra L%d;\n", targets[0]);
        break;
    case 2:
        fprintf(g->out, "@%%p%u bra L%d;\n", condition(g), targets[0]);
        break;
    default:
        fprintf(g->out, "@!%%p%u bra L%d;\nbra L%d;\n", condition(g), targets[0], targets[1]);
    }
}

/* Writes several blocks that jump to each other at random. So there are shared tails, and loops with several entries. A
 * fuel counter limits the number of backward jumps. */
static void soup(struct gen *g) {
    int n = 2 + (int)below(g, MAX_BLOCKS - 1), first = g->labels, fuel = -1;
    g->labels += n + 1;
    if (chance(g, 2) && g->loops < MAX_LOOPS) {
        fuel = g->counters++;
        fprintf(g->out, "and.b32 %%c%d, %%r%u, 15;\n", fuel, below(g, WORDS));
        g->loops++;
    }
    for (int i = 0; i < n; i++) {
        fprintf(g->out, "L%d:\n", first + i);
        statements(g, 1 + below(g, 2));
        soup_branch(g, first, n, i, fuel);
    }
    if (fuel >= 0)
        g->loops--;
    fprintf(g->out, "L%d:\n", first + n);
}

/* Writes code in which threads with a true condition exit early, in one of several forms. The body must end in `FAR:
 * bra GONE; GONE: ret;`. */
static void leave_somehow(struct gen *g) {
    uint32_t p = condition(g);
    int label = g->labels++;
    switch (below(g, 7)) {
    case 0:
        fprintf(g->out, "@%%p%u %s;\n", p, g->away);
        break;
    case 1:
        fprintf(g->out, "@%%p%u bra GONE;\n", p);
        break;
    case 2:
        fprintf(g->out, "@%%p%u bra FAR;\n", p);
        break;
    case 3:
        fprintf(g->out, "@!%%p%u bra L%d;\nbra.uni FAR;\nL%d:\n", p, label, label);
        break;
    case 4: /* executes some instructions before the exit */
        fprintf(g->out, "@!%%p%u bra L%d;\n", p, label);
        memory(g);
        fprintf(g->out, "%s\nL%d:\n", chance(g, 2) ? "bra GONE;" : g->function < 0 ? "exit;" : "ret;", label);
        break;
    case 5:
        fprintf(g->out, "selp.b32 %%t0, 1, 0, %%p%u;\nT%d: .branchtargets L%d, GONE;\nbrx.idx %%t0, T%d;\nL%d:\n", p,
                label, label, label, label);
        break;
    default: /* some threads exit from inside a loop; the other threads finish the loop */
        fprintf(g->out, "and.b32 %%c%d, %%r%u, 3;\nL%d:\nsetp.eq.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\n", g->counters,
                below(g, WORDS), label, g->counters, g->labels);
        fprintf(g->out, "@%%p%u bra GONE;\nsub.u32 %%c%d, %%c%d, 1;\nbra L%d;\nL%d:\n", p, g->counters, g->counters,
                label, g->labels);
        g->counters++;
        g->labels++;
    }
}

void some_leave(struct gen *g) {
    leave_somehow(g);
    g->gone = true;
    if (!g->rich)
        return;
    if (chance(g, 2))
        fputs("bar.warp.sync %full;\n", g->out);
    fputs("setp.eq.u32 %q, 0, 0;\nvote.sync.ballot.b32 %full, %q, %full;\n", g->out); /* remaining lanes */
}

static void leave(struct gen *g) {
    if (g->may_exit && g->leavers && g->counters < COUNTERS - 2)
        leave_somehow(g);
    else if (g->may_exit)
        fprintf(g->out, "@%%p%u %s;\n", condition(g), g->function < 0 && chance(g, 2) ? "ret" : g->away);
    else
        arithmetic(g);
}

static void statement(struct gen *g) {
    uint32_t k = g->depth >= MAX_DEPTH || g->counters >= COUNTERS - 2 ? 0 : below(g, 20);
    int mask = g->mask;
    g->depth++;
    if (g->locks && chance(g, 5)) {
        lock_statement(g);
        g->depth--;
        return;
    }
    if (k >= 12) /* inside this code, the set of active lanes is not known */
        g->mask = MASK_UNKNOWN;
    if (k < 12)
        simple(g);
    else if (k < 15)
        if_else(g);
    else if (k < 17 && g->loops < MAX_LOOPS)
        loop(g);
    else if (k < 18)
        soup(g);
    else if (k < 19 && g->depth > 1)
        leave(g);
    else
        simple(g);
    g->depth--;
    g->mask = mask;
}

void statements(struct gen *g, uint32_t n) {
    while (n--)
        statement(g);
}

/* Writes code in which every thread reads another thread's slice of shared memory, between two barriers. All threads
 * must reach this code. */
static void exchange(struct gen *g) {
    fprintf(g->out, "bar.sync 0;\nadd.u32 %%t0, %%tid_, %u;\nrem.u32 %%t0, %%t0, %u;\n",
            1 + below(g, RANDOM_THREADS - 1), RANDOM_THREADS);
    fprintf(g->out, "mad.lo.u32 %%t0, %%t0, %u, %u;\n", 4 * SHARED, 4 * below(g, SHARED));
    fprintf(g->out, "mov.u64 %%a2, s;\ncvt.u64.u32 %%d%u, %%t0;\nadd.u64 %%a2, %%a2, %%d%u;\n", 0, 0);
    fprintf(g->out, "ld.shared.u32 %%r%u, [%%a2];\nbar.sync 0;\n", below(g, WORDS));
}

void registers(struct gen *g) {
    fprintf(g->out,
            ".reg .b32 %%r<%d>, %%c<%d>, %%t0%s;\n.reg .b64 %%d<%d>%s;\n.reg .f32 %%f<%d>;\n.reg .pred %%p<%d>, %%q;\n",
            WORDS, COUNTERS, g->rich ? ", %t1" : "", LONGS, g->rich ? ", %fp, %fq" : "", FLOATS, PREDS);
    if (g->chains)
        fputs(".reg .f32 %u<4>;\n", g->out);
    if (g->locks)
        fputs(".reg .b32 %l<5>;\n.reg .pred %lq;\nmov.u32 %l3, 0;\n", g->out);
}

void derive(struct gen *g) {
    for (int i = 0; g->chains && i < 4; i++)
        fprintf(g->out, "cvt.rn.f32.s32 %%u%d, %%r%d;\n", i, i + 4);
    for (int i = 0; i < FLOATS; i++)
        fprintf(g->out, i % 2 ? "mov.b32 %%f%d, %%r%d;\n" : "cvt.rn.f32.s32 %%f%d, %%r%d;\n", i, i);
    for (int i = 0; i < PREDS; i++)
        fprintf(g->out, "and.b32 %%t0, %%r%d, %d;\nsetp.ne.u32 %%p%d, %%t0, 0;\n", i, 1 << i, i);
}

static void function(struct gen *g, int id) {
    g->function = id;
    g->callable = id;
    g->away = "ret";
    g->may_exit = true;
    g->counters = 0;
    g->loops = 1;
    g->depth = 1;
    fprintf(g->out,
            ".func (.reg .b32 %%rr, .reg .b64 %%rd) f%d(.reg .b32 %%x, .reg .b64 %%y, .reg .b64 %%a0, .reg .b64 %%a1, "
            ".reg .b64 %%a3, .reg .b32 %%tid_)\n{\n",
            id);
    registers(g);
    fputs(".reg .b64 %a2;\nmov.u32 %rr, 7;\nmov.u64 %rd, 9;\n", g->out);
    for (int i = 0; i < WORDS; i++)
        fprintf(g->out, "mad.lo.u32 %%r%d, %%x, %d, %%tid_;\n", i, 2 * i + 1);
    for (int i = 0; i < LONGS; i++)
        fprintf(g->out, "add.u64 %%d%d, %%y, %d;\n", i, i);
    derive(g);
    statements(g, 2 + below(g, 6));
    fputs("mov.u32 %rr, %r1;\nmov.u64 %rd, %d1;\n", g->out);
    statements(g, 1 + below(g, 3));
    fputs("add.u32 %rr, %rr, %r0;\nret;\n", g->out);
    fputs(g->leavers ? "FAR: bra GONE;\nGONE: ret;\n}\n" : "}\n", g->out);
}

static void prologue(struct gen *g) {
    fprintf(g->out, ".visible .entry k(.param .u64 out, .param .u64 in)\n.reqntid %d, 1, 1\n{\n", RANDOM_THREADS);
    registers(g);
    fprintf(g->out, ".reg .b64 %%a<4>, %%in;\n.reg .b32 %%tid_, %%gid;\n.shared .align 16 .b8 s[%d];\n",
            4 * SHARED * RANDOM_THREADS);
    fputs("ld.param.u64 %a0, [out];\nld.param.u64 %in, [in];\nmov.u32 %tid_, %tid.x;\nmov.u32 %t0, %ctaid.x;\n",
          g->out);
    fprintf(g->out, "mad.lo.u32 %%gid, %%t0, %d, %%tid_;\n", RANDOM_THREADS);
    fprintf(g->out, "add.u64 %%a3, %%a0, %d;\n", 4 * RANDOM_CTAS * RANDOM_THREADS * RANDOM_OUT);
    fprintf(g->out, "mad.wide.u32 %%a0, %%gid, %d, %%a0;\nmad.wide.u32 %%in, %%gid, %d, %%in;\n", 4 * RANDOM_OUT,
            4 * RANDOM_IN);
    fprintf(g->out, "mov.u64 %%a1, s;\nmad.wide.u32 %%a1, %%tid_, %d, %%a1;\n", 4 * SHARED);
    for (int i = 0; i < WORDS; i++)
        fprintf(g->out, "ld.global.u32 %%r%d, [%%in+%d];\nst.shared.u32 [%%a1+%d], %%r%d;\n", i, 4 * i, 4 * i, i);
    for (int i = 0; i < LONGS; i++)
        fprintf(g->out, "mul.wide.u32 %%d%d, %%r%d, %%r%d;\n", i, i, i + 4);
    derive(g);
}

static void epilogue(struct gen *g) {
    for (int i = 0; i < WORDS; i++)
        fprintf(g->out, "st.global.u32 [%%a0+%d], %%r%d;\n", 4 * (SLICE + i), i);
    for (int i = 0; i < LONGS - 2; i++)
        fprintf(g->out, "st.global.u64 [%%a0+%d], %%d%d;\n", 4 * (SLICE + WORDS) + 8 * i, i);
    for (int i = 0; i < FLOATS; i++)
        fprintf(g->out, "st.global.f32 [%%a0+%d], %%f%d;\n", 4 * (SLICE + WORDS + 4 + i), i);
    fputs(g->leavers ? "ret;\nFAR: bra GONE;\nGONE: ret;\n}\n" : "ret;\n}\n", g->out);
}

char *random_kernel(uint64_t seed, unsigned kind) {
    bool rich = kind & RANDOM_RICH;
    char *text = NULL;
    size_t size;
    struct gen g = {.out = open_memstream(&text, &size), .rng = seed};
    if (!g.out)
        abort();
    g.rich = rich;
    g.leavers = kind & RANDOM_LEAVERS;
    g.chains = kind & RANDOM_CHAINS;
    g.ladders = kind & RANDOM_LADDERS;
    g.locks = kind & RANDOM_LOCKS;
    g.mask = MASK_UNKNOWN;
    fprintf(g.out, ".version 7.0\n.target sm_%d\n.address_size 64\n", rich ? 80 : 70);
    if (rich)
        rich_module(&g);
    if (g.locks)
        locks_module(&g);
    int functions = (int)below(&g, 3);
    for (int i = 0; i < functions; i++)
        function(&g, i);
    g.function = -1;
    g.callable = functions;
    g.away = "exit";
    g.may_exit = g.leavers && !rich; /* statements of rich kernels need to know the exact set of active lanes */
    g.counters = g.loops = g.depth = 0;
    prologue(&g);
    if (rich)
        rich_prologue(&g);
    for (uint32_t n = below(&g, 4); n; n--) {
        statements(&g, 1 + below(&g, 4));
        if (rich && chance(&g, 2))
            rich_uniform(&g);
        if (g.leavers && chance(&g, 2))
            some_leave(&g);
        exchange(&g);
    }
    g.mask = MASK_UNKNOWN;
    g.may_exit = true;
    statements(&g, 3 + below(&g, 8));
    epilogue(&g);
    fclose(g.out);
    return text;
}

void random_input(uint64_t seed, uint32_t in[RANDOM_IN_WORDS]) {
    uint64_t rng = ~seed;
    for (int i = 0; i < RANDOM_IN_WORDS; i++) {
        uint32_t word = (uint32_t)test_random(&rng);
        in[i] = word >> (test_random_below(&rng, 4) * 8);
    }
}
