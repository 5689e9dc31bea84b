/* What passes that chain and fold f32 operations live on: values that are used once, and branches around a few. */
#include "random_gen.h"

/* u: a register for values on their way, which may be read again all the same. */
static void value(struct gen *g, int newest) {
    if (newest >= 0 && !chance(g, 4))
        fprintf(g->out, "%%u%d", newest);
    else if (chance(g, 6))
        fprintf(g->out, "%%u%u", below(g, 4));
    else
        operand(g, 'F');
}

/* One operation; returns the %u that it writes, -1 when it is another register. `newest`: one to read, -1 for none. */
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

/* `n` operations, most of which take the result of the one before; now and then one of something else between. */
static void chain(struct gen *g, uint32_t n, bool guards) {
    int newest = -1;
    uint32_t p = below(g, PREDS), one_in = guards && chance(g, 4) ? 1 : guards && chance(g, 4) ? 3 : 0;
    bool inverse = chance(g, 2);
    while (n--) {
        if (one_in && chance(g, one_in))
            fprintf(g->out, "@%s%%p%u ", inverse ? "!" : "", p);
        newest = operation(g, newest, n == 0);
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
        chain(g, below(g, 4), chance(g, 12));
        if (!side)
            fprintf(g->out, "bra L%d;\nL%d:\n", end, other);
    }
    fprintf(g->out, "L%d:\n", end);
}

void float_statement(struct gen *g) {
    if (chance(g, 3)) {
        int mask = g->mask;
        diamond(g, 0);
        g->mask = mask;
    } else if (chance(g, 3)) { /* two that can stand beside each other, sometimes */
        for (int i = 0; i < 2; i++)
            chain(g, 1 + below(g, 2), false);
    } else {
        chain(g, 1 + below(g, 6), true);
    }
}
