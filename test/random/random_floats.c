/* Writes code that the extensions `chain` and `fold` transform: f32 values that are used only once, and short branches
 * around f32 operations. */
#include "random_gen.h"

/* Writes a source operand. Usually this is the newest intermediate result, %u<newest>, unless `newest` is -1. Sometimes
 * it is any intermediate result, which is then read a second time. Otherwise it is an %f register or a number. */
static void value(struct gen *g, int newest) {
    if (newest >= 0 && !chance(g, 4))
        fprintf(g->out, "%%u%d", newest);
    else if (chance(g, 6))
        fprintf(g->out, "%%u%u", below(g, 4));
    else
        operand(g, 'F');
}

/* Writes an operation that is not arithmetic: a move of a register or constant, a sign change, a minimum or a maximum.
 * Such operations occur in the sides of branches. */
static void simple(struct gen *g, int newest) {
    static const char *const one[] = {"mov.f32", "mov.b32", "mov.f32", "neg.f32", "abs.f32", "neg.ftz.f32"};
    static const char *const two[] = {"min.f32", "max.f32", "min.ftz.f32", "max.f32"};
    static const uint32_t numbers[] = {0, 0x80000000, 0x3f800000, 0x7f800001, 0xffc00000, 0x00000001, 0xdeadbeef};
    bool of_two = chance(g, 3), number = !of_two && chance(g, 4);
    fprintf(g->out, "%s", number ? "mov.b32" : of_two ? two[below(g, 4)] : one[below(g, 6)]);
    fprintf(g->out, chance(g, 2) ? " %%f%u, " : " %%u%u, ", below(g, 4));
    if (number) {
        fprintf(g->out, "0x%x", numbers[below(g, 7)]);
    } else {
        value(g, newest);
        if (of_two) {
            fputs(", ", g->out);
            value(g, -1);
        }
    }
    fputs(";\n", g->out);
}

/* Writes one operation. Returns the number of the %u register that it writes, or -1 if it writes another register. If
 * `newest` is not -1, the operation may read register %u<newest>. */
static int operation(struct gen *g, int newest, bool last) {
    static const char *const two[] = {"add.f32",        "sub.f32",    "mul.f32",     "add.rn.f32",
                                      "sub.ftz.f32",    "mul.rz.f32", "add.sat.f32", "sub.rm.f32",
                                      "mul.rp.ftz.f32", "add.f32",    "sub.f32",     "mul.f32"};
    static const char *const three[] = {"fma.rn.f32", "fma.rz.ftz.f32", "mad.f32", "fma.rp.sat.f32"};
    bool fused = chance(g, 4);
    int to = last && !chance(g, 6) ? -1 : (int)below(g, 4);
    fputs(fused ? three[below(g, 4)] : two[below(g, sizeof two / sizeof two[0])], g->out);
    if (to < 0)
        fprintf(g->out, " %%f%u", below(g, FLOATS));
    else
        fprintf(g->out, " %%u%d", to);
    for (int i = 0, at = (int)below(g, fused ? 3 : 2); i < (fused ? 3 : 2); i++) {
        fputs(", ", g->out);
        value(g, i == at || chance(g, 5) ? newest : -1);
    }
    fputs(";\n", g->out);
    return to;
}

/* Writes `n` operations. Most of them read the previous result; other operations are in between. */
static void chain(struct gen *g, uint32_t n, bool guards) {
    int newest = -1;
    uint32_t p = below(g, PREDS), one_in = guards && chance(g, 4) ? 1 : guards && chance(g, 4) ? 3 : 0;
    bool inverse = chance(g, 2);
    while (n--) {
        if (one_in && chance(g, one_in))
            fprintf(g->out, "@%s%%p%u ", inverse ? "!" : "", p);
        newest = operation(g, newest, n == 0);
        while (chance(g, 4))
            simple(g, newest);
        if (guards && chance(g, 8))
            fprintf(g->out, "mov.b32 %%f%u, %%r%u;\n", below(g, FLOATS), below(g, WORDS));
    }
}

static void diamond(struct gen *g, int depth) {
    int other = g->labels++, end = g->labels++;
    fprintf(g->out, "@%s%%p%u bra L%d;\n", chance(g, 2) ? "!" : "", depth ? below(g, PREDS) : condition(g), other);
    for (int side = 0; side < 2; side++) {
        if (depth < 2 && chance(g, 3))
            diamond(g, depth + 1);
        if (chance(g, 4))
            simple(g, -1);
        chain(g, below(g, 4), chance(g, 12));
        if (!side)
            fprintf(g->out, "bra L%d;\nL%d:\n", end, other);
    }
    fprintf(g->out, "L%d:\n", end);
}

/* Writes a short if-else in the form without a branch that compilers use: the code of both sides (at most three
 * operations or one value each), and then a selp. */
static void selection(struct gen *g) {
    static const char *const two[] = {"add.f32", "sub.ftz.f32", "mul.f32", "max.f32", "add.sat.f32", "mul.rz.f32"};
    uint32_t n[2] = {below(g, 4), below(g, 4)};
    fputs("{ .reg .f32 %s<8>;\n", g->out);
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t k = 0; k < n[side]; k++) {
            bool turned = chance(g, 2);
            fprintf(g->out, "%s %%s%u, ", two[below(g, 6)], 4 * side + k);
            for (int i = 0; i < 2; i++) {
                if (k && i == turned)
                    fprintf(g->out, "%%s%u", 4 * side + k - 1);
                else
                    operand(g, 'F');
                fputs(i ? ";\n" : ", ", g->out);
            }
            if (chance(g, 8))
                fprintf(g->out, "mov.b32 %%f%u, %%r%u;\n", below(g, FLOATS), below(g, WORDS));
        }
    fprintf(g->out, "selp.%s %%f%u", chance(g, 2) ? "f32" : "b32", below(g, FLOATS));
    for (uint32_t side = 0; side < 2; side++) {
        fputs(", ", g->out);
        if (n[side])
            fprintf(g->out, "%%s%u", 4 * side + n[side] - 1);
        else
            fprintf(g->out, "%%f%u", below(g, FLOATS));
    }
    fprintf(g->out, ", %%p%u;\n}\n", below(g, PREDS));
}

void float_statement(struct gen *g) {
    if (chance(g, 4)) {
        selection(g);
    } else if (chance(g, 3)) {
        int mask = g->mask;
        diamond(g, 0);
        g->mask = mask;
    } else if (chance(g, 3)) { /* writes two chains, which are sometimes independent of each other */
        for (int i = 0; i < 2; i++)
            chain(g, 1 + below(g, 2), false);
    } else {
        chain(g, 1 + below(g, 6), true);
    }
}
