/* Writes statements of kernels with locks: several kinds of mutex that protect a sum, which is updated by ordinary
 * loads and stores; and rotated loops as compilers write them, with the first test before the loop. */
#include "random_gen.h"

enum { SUM_AT = 4 * RANDOM_CELLS + 8 * RANDOM_LONG_CELLS };

void locks_module(struct gen *g) {
    fprintf(g->out, ".global .align 4 .u32 mutex[%d];\n.global .align 4 .u32 ticket[%d];\n", RANDOM_SUMS, RANDOM_SUMS);
    fprintf(g->out, ".global .align 4 .u32 serving[%d];\n", RANDOM_SUMS);
}

/* Writes one attempt to take the lock. %lq is true if the attempt failed. */
static void try_lock(struct gen *g, int how, int sum) {
    if (how == 0)
        fprintf(g->out, "atom.global.cas.b32 %%l0, [mutex+%d], 0, 1;\nsetp.ne.u32 %%lq, %%l0, 0;\n", 4 * sum);
    else if (how == 1)
        fprintf(g->out, "atom.global.exch.b32 %%l0, [mutex+%d], 1;\nsetp.ne.u32 %%lq, %%l0, 0;\n", 4 * sum);
    else if (how == 2) /* the lock is a single bit of the word */
        fprintf(g->out, "atom.global.or.b32 %%l0, [mutex+%d], 1;\nand.b32 %%l0, %%l0, 1;\nsetp.eq.u32 %%lq, %%l0, 1;\n",
                4 * sum);
    else
        fprintf(g->out, "ld.volatile.global.u32 %%l0, [serving+%d];\nsetp.ne.u32 %%lq, %%l0, %%l2;\n", 4 * sum);
}

static void pause(struct gen *g) {
    switch (below(g, 5)) {
    case 0:
        fputs("membar.gl;\n", g->out);
        break;
    case 1: /* bounded backoff */
        fputs("nanosleep.u32 %l1;\nshl.b32 %l1, %l1, 1;\nmin.u32 %l1, %l1, 64;\n", g->out);
        break;
    case 2:
        fputs("mov.u32 %l3, %clock;\nand.b32 %l3, %l3, 15;\nnanosleep.u32 %l3;\n", g->out);
        break;
    case 3: /* an unused counter */
        fputs("add.u32 %l3, %l3, 1;\n", g->out);
        break;
    default:
        break;
    }
}

/* Writes the loop that takes the lock. It tests the lock before the loop and at its end, only at its end, in its
 * middle, or through a variable. */
static void lock(struct gen *g, int how, int sum) {
    int head = g->labels++, got = g->labels++, again = g->labels++;
    fputs("mov.u32 %l1, 8;\n", g->out);
    if (how == 3)
        fprintf(g->out, "atom.global.add.u32 %%l2, [ticket+%d], 1;\n", 4 * sum);
    switch (below(g, 4)) {
    case 0:
        try_lock(g, how, sum);
        fprintf(g->out, "@!%%lq bra L%d;\nL%d:\n", got, head);
        pause(g);
        try_lock(g, how, sum);
        fprintf(g->out, "@%%lq bra L%d;\nL%d:\n", head, got);
        break;
    case 1:
        fprintf(g->out, "L%d:\n", head);
        try_lock(g, how, sum);
        fprintf(g->out, "@%%lq bra L%d;\n", head);
        break;
    case 2:
        fprintf(g->out, "bra L%d;\nL%d:\n", again, head);
        pause(g);
        fprintf(g->out, "L%d:\n", again);
        try_lock(g, how, sum);
        fprintf(g->out, "@!%%lq bra L%d;\nbra.uni L%d;\nL%d:\n", got, head, got);
        break;
    default:
        fprintf(g->out, "mov.u32 %%l4, 0;\nL%d:\n", head);
        try_lock(g, how, sum);
        fprintf(g->out, "@%%lq bra L%d;\nmov.u32 %%l4, 1;\nbra L%d;\nL%d:\n", again, got, again);
        pause(g);
        fprintf(g->out, "L%d:\nsetp.eq.u32 %%lq, %%l4, 0;\n@%%lq bra L%d;\n", got, head);
    }
}

static void mutex(struct gen *g) {
    int sum = (int)below(g, RANDOM_SUMS), how = sum % 2 ? 3 : (int)below(g, 3);
    int at = SUM_AT + 4 * sum;
    lock(g, how, sum);
    fprintf(g->out, "ld.volatile.global.u32 %%l0, [%%a3+%d];\nadd.u32 %%l0, %%l0, %%r%u;\n", at, below(g, WORDS));
    for (uint32_t n = below(g, 3); n; n--)
        fprintf(g->out, "mad.lo.u32 %%r%u, %%r%u, 3, %%tid_;\n", below(g, WORDS), below(g, WORDS));
    fprintf(g->out, "st.volatile.global.u32 [%%a3+%d], %%l0;\nmembar.gl;\n", at);
    if (how == 3)
        fprintf(g->out, "add.u32 %%l2, %%l2, 1;\nst.volatile.global.u32 [serving+%d], %%l2;\n", 4 * sum);
    else if (how == 2)
        fprintf(g->out, "atom.global.and.b32 %%l0, [mutex+%d], -2;\n", 4 * sum);
    else if (chance(g, 2))
        fprintf(g->out, "atom.global.exch.b32 %%l0, [mutex+%d], 0;\n", 4 * sum);
    else
        fprintf(g->out, "st.volatile.global.u32 [mutex+%d], 0;\n", 4 * sum);
}

/* Writes a rotated while loop, as compilers do. */
static void rotated(struct gen *g) {
    int head = g->labels++, end = g->labels++, trips = g->counters++;
    fprintf(g->out, "and.b32 %%c%d, %%r%u, 3;\nsetp.eq.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\nL%d:\n", trips,
            below(g, WORDS), trips, end, head);
    g->loops++;
    statements(g, 1 + below(g, 2));
    g->loops--;
    fprintf(g->out, "sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\nL%d:\n", trips, trips, trips,
            head, end);
}

void lock_statement(struct gen *g) {
    if (chance(g, 2) || g->loops >= MAX_LOOPS || g->depth >= MAX_DEPTH || g->counters >= COUNTERS - 2)
        mutex(g);
    else
        rotated(g);
}
