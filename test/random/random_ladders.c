/* Writes sums over a warp in the form that programs use: a ladder of shuffles and f32 additions. Some sums are not
 * valid ladders, because a step is missing, the distances are in another order, or a partial sum is used elsewhere. */
#include "random_gen.h"

enum { STEPS = 5, UP, DOWN, BUTTERFLY };

/* Writes a step of a ladder: %w<to> becomes the sum of %w<from> and the %w<from> of another lane. */
static void step(struct gen *g, const char *how, int clamp, uint32_t distance, const char *mask, int from, int to) {
    bool moves = chance(g, 2), own_first = chance(g, 2);
    if (moves)
        fprintf(g->out, "mov.b32 %%x%d, %%w%d;\n", from, from);
    fprintf(g->out, "shfl.sync.%s.b32 %%x%d, %%%c%d, %u, %d, %s;\n", how, from + 10, moves ? 'x' : 'w', from, distance,
            clamp, mask);
    fprintf(g->out, "mov.b32 %%v%d, %%x%d;\nadd.f32 %%w%d, %%%c%d, %%%c%d;\n", from, from + 10, to,
            own_first ? 'w' : 'v', from, own_first ? 'v' : 'w', from);
}

/* Writes code that uses the sum, either only in the lane that has the whole sum, or in every lane. */
static void use(struct gen *g, int how, int last) {
    uint32_t f = below(g, FLOATS);
    if (how == BUTTERFLY || chance(g, 6)) {
        fprintf(g->out, "mov.f32 %%f%u, %%w%d;\n", f, last);
        return;
    }
    fprintf(g->out, "mov.u32 %%x30, %%%s;\nand.b32 %%x31, %%x30, 31;\nsetp.%s.u32 %%e, %%x31, %d;\n",
            chance(g, 2) ? "laneid" : "tid.x", "eq", how == DOWN ? 0 : 31);
    if (chance(g, 2)) {
        fprintf(g->out, "@%%e mov.f32 %%f%u, %%w%d;\n", f, last);
        return;
    }
    fprintf(g->out, "@!%%e bra L%d;\nmul.f32 %%f%u, %%w%d, 0f3F000000;\nL%d:\n", g->labels, f, last, g->labels);
    g->labels++;
}

void ladder_statement(struct gen *g) {
    static const uint32_t odd[STEPS] = {4, 16, 1, 8, 2};
    static const char *const names[] = {[UP] = "up", [DOWN] = "down", [BUTTERFLY] = "bfly"};
    int how = UP + (int)below(g, 3), steps = chance(g, 8) ? 4 : STEPS, order = chance(g, 8) ? 2 : (int)below(g, 2);
    const char *mask = chance(g, 2) ? "%full" : "-1";
    bool one_register = chance(g, 3);
    fputs("{ .reg .f32 %w<8>, %v<8>; .reg .b32 %x<32>; .reg .pred %e;\n", g->out);
    fprintf(g->out, "mov.f32 %%w0, %%f%u;\n", below(g, FLOATS));
    for (int k = 0; k < steps; k++) {
        uint32_t distance = order == 2 ? odd[k] : order ? 1u << k : 16u >> k;
        step(g, names[how], how == UP ? 0 : 31, distance, mask, one_register ? 0 : k, one_register ? 0 : k + 1);
        if (chance(g, 24))
            fprintf(g->out, "mov.f32 %%f%u, %%w%d;\n", below(g, FLOATS), one_register ? 0 : k + 1);
        else if (chance(g, 8))
            fprintf(g->out, "add.f32 %%f%u, %%f%u, %%f%u;\n", below(g, FLOATS), below(g, FLOATS), below(g, FLOATS));
    }
    use(g, how, one_register ? 0 : steps);
    fputs("}\n", g->out);
}
