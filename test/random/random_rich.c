/* Writes the statements of rich kernels: warp collectives whose member masks are exactly the lanes that reach them,
 * atomics that commute or that access words of one thread, recursion, and calls through registers. */
#include "random_gen.h"

static void mask_name(const struct gen *g, char name[16]) {
    if (g->mask == MASK_FULL)
        snprintf(name, 16, "%%full");
    else
        snprintf(name, 16, "%%m%d", g->mask);
}

/* Writes a shuffle within segments of at most 16 lanes. Such segments exist both in a full warp and in the last warp,
 * which is half full. */
static void shuffle(struct gen *g) {
    static const char *const how[] = {"up", "down", "bfly", "idx"};
    uint32_t k = below(g, 4), width = 2u << below(g, 4), r = below(g, WORDS);
    uint32_t clamp = (32 - width) << 8 | (k == 0 ? 0 : 31);
    fprintf(g->out, "and.b32 %%t0, %%%s, %u;\n", k == 3 ? "tid_" : "full", width - 1);
    if (chance(g, 2)) /* each lane has its own distance, or its own source lane */
        fprintf(g->out, "and.b32 %%t0, %%r%u, %u;\n", below(g, WORDS), width - 1);
    fprintf(g->out, "shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %%t0, %u, %%full;\n", how[k], r, below(g, PREDS),
            below(g, WORDS), clamp);
}

static void collective(struct gen *g) {
    static const char *const reductions[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                             "max.s32", "and.b32", "or.b32",  "xor.b32"};
    static const char *const votes[] = {"all", "any", "uni"};
    char mask[16];
    mask_name(g, mask);
    uint32_t r = below(g, WORDS), s = below(g, WORDS), p = below(g, PREDS), q = below(g, PREDS);
    if (g->ladders && g->mask == MASK_FULL && !g->gone && chance(g, 2)) {
        ladder_statement(g);
        return;
    }
    switch (below(g, g->mask == MASK_FULL && !g->gone ? 10 : 7)) {
    case 0:
        fprintf(g->out, "vote.sync.%s.pred %%p%u, %s%%p%u, %s;\n", votes[below(g, 3)], p, chance(g, 2) ? "!" : "", q,
                mask);
        break;
    case 1:
        fprintf(g->out, "vote.sync.ballot.b32 %%r%u, %%p%u, %s;\n", r, q, mask);
        break;
    case 2:
        fprintf(g->out, "and.b32 %%t0, %%r%u, %u;\nmatch.any.sync.b32 %%r%u, %%t0, %s;\n", s, below(g, 8), r, mask);
        break;
    case 3:
        fprintf(g->out, "and.b32 %%t0, %%r%u, %u;\nmatch.all.sync.b32 %%r%u|%%p%u, %%t0, %s;\n", s, below(g, 4), r, p,
                mask);
        break;
    case 4:
        fprintf(g->out, "bar.warp.sync %s;\n", mask);
        break;
    case 5: /* the value comes from the lowest of the active lanes */
        fprintf(g->out, "brev.b32 %%t0, %s;\nclz.b32 %%t0, %%t0;\nshfl.sync.idx.b32 %%r%u, %%r%u, %%t0, 31, %s;\n",
                mask, r, s, mask);
        break;
    case 6:
        fprintf(g->out, "redux.sync.%s %%r%u, %%r%u, %s;\n", reductions[below(g, 9)], r, s, mask);
        break;
    default:
        shuffle(g);
    }
}

/* Writes a branch. A ballot before the branch gives the lane masks of its two sides. */
static void masked_if_else(struct gen *g) {
    int label = g->labels, mask = g->mask, taken = g->masks, rest = g->masks + 1;
    char name[16];
    g->labels += 2;
    g->masks += 2;
    uint32_t p = condition(g);
    mask_name(g, name);
    fprintf(g->out, "vote.sync.ballot.b32 %%m%d, %%p%u, %s;\nnot.b32 %%m%d, %%m%d;\nand.b32 %%m%d, %%m%d, %s;\n", taken,
            p, name, rest, taken, rest, rest, name);
    fprintf(g->out, "@!%%p%u bra L%d;\n", p, label);
    g->mask = taken;
    statements(g, 1 + below(g, 2));
    collective(g);
    statements(g, below(g, 2));
    fprintf(g->out, "bra L%d;\nL%d:\n", label + 1, label);
    g->mask = rest;
    if (chance(g, 2)) {
        statements(g, 1 + below(g, 2));
        collective(g);
    }
    fprintf(g->out, "L%d:\n", label + 1);
    g->mask = mask;
}

/* Writes a loop with the same number of iterations in all lanes, so that it does not change the set of active lanes. */
static void uniform_loop(struct gen *g) {
    int head = g->labels++, trips = g->counters++;
    fprintf(g->out, "mov.u32 %%c%d, %u;\nL%d:\n", trips, 1 + below(g, 3), head);
    g->loops++;
    statements(g, 1 + below(g, 2));
    collective(g);
    g->loops--;
    fprintf(g->out, "sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%q, %%c%d, 0;\n@%%q bra L%d;\n", trips, trips, trips, head);
}

/* Writes an atomic on a word that no other thread accesses. */
static void own_atomic(struct gen *g) {
    static const char *const words[] = {"add.u32", "exch.b32", "min.s32", "max.u32", "and.b32",
                                        "or.b32",  "xor.b32",  "inc.u32", "dec.u32"};
    static const char *const longs[] = {"add.u64", "exch.b64", "min.s64", "max.u64", "xor.b64"};
    int shared = (int)below(g, 2);
    const char *space = shared ? "shared" : "global";
    uint32_t bytes = 4 * (shared ? SHARED : SLICE);
    if (chance(g, 5))
        fprintf(g->out, "@%%p%u ", below(g, PREDS));
    switch (below(g, 4)) {
    case 0:
        fprintf(g->out, "atom.%s.%s %%d%u, [%%a%d+%u], %%d%u;\n", space, longs[below(g, 5)], below(g, LONGS), shared,
                8 * below(g, bytes / 8), below(g, LONGS));
        break;
    case 1:
        fprintf(g->out, "atom.%s.cas.b32 %%r%u, [%%a%d+%u], %%r%u, %%r%u;\n", space, below(g, WORDS), shared,
                4 * below(g, bytes / 4), below(g, WORDS), below(g, WORDS));
        break;
    default:
        fprintf(g->out, "atom.%s.%s %%r%u, [%%a%d+%u], %%r%u;\n", space, words[below(g, 9)], below(g, WORDS), shared,
                4 * below(g, bytes / 4), below(g, WORDS));
    }
}

static const char *const shared_how[RANDOM_SHARED_CELLS] = {"add.u32", "xor.b32", "max.s32", "min.u32"};

/* Writes an atomic on a cell that all threads use. All atomics on a cell use the same operation, so their order does
 * not matter. The returned value is not used. */
static void common_atomic(struct gen *g) {
    static const char *const longs[RANDOM_LONG_CELLS] = {"add.u64", "xor.b64", "max.s64", "min.u64"};
    uint32_t cell = below(g, RANDOM_LONG_CELLS);
    if (chance(g, 2)) {
        cell = below(g, RANDOM_SHARED_CELLS);
        fprintf(g->out,
                chance(g, 2) ? "red.shared.%s [cells+%u], %%r%u;\n" : "atom.shared.%s %%t1, [cells+%u], %%r%u;\n",
                shared_how[cell], 4 * cell, below(g, WORDS));
    } else
        fprintf(g->out, "red.global.%s [%%a3+%u], %%d%u;\n", longs[cell], 4 * RANDOM_CELLS + 8 * cell, below(g, LONGS));
}

static void arguments(struct gen *g) {
    fprintf(g->out, "(%%r%u, %%d%u, %%a0, %%a1, %%a3, %%tid_)", below(g, WORDS), below(g, LONGS));
}
static void results(struct gen *g) { fprintf(g->out, "(%%r%u, %%d%u)", below(g, WORDS), below(g, LONGS)); }

/* Writes a call through a register. Different lanes may call different functions. */
static void indirect_call(struct gen *g) {
    uint32_t n = (uint32_t)g->callable;
    int label = g->labels++;
    if (n == 0) {
        common_atomic(g);
        return;
    }
    if (chance(g, 2))
        fprintf(g->out,
                "T%d: .callprototype (.reg .b32 _, .reg .b64 _) _ (.reg .b32 _, .reg .b64 _, .reg .b64 _, .reg "
                ".b64 _, .reg .b64 _, .reg .b32 _);\n",
                label);
    else {
        fprintf(g->out, "T%d: .calltargets f0", label);
        for (uint32_t i = 1; i < n; i++)
            fprintf(g->out, ", f%u", i);
        fputs(";\n", g->out);
    }
    fprintf(g->out, "mov.u64 %%fp, f%u;\nmov.u64 %%fq, f%u;\nselp.b64 %%fp, %%fp, %%fq, %%p%u;\ncall ", below(g, n),
            below(g, n), condition(g));
    results(g);
    fputs(", %fp, ", g->out);
    arguments(g);
    fprintf(g->out, ", T%d;\n", label);
}

static void recursive_call(struct gen *g) {
    if (!g->recursive) {
        common_atomic(g);
        return;
    }
    fprintf(g->out, "and.b32 %%t0, %%r%u, 3;\ncall ", below(g, WORDS));
    results(g);
    fprintf(g->out, ", rec, (%%t0, %%r%u, %%d%u, %%a0, %%a1, %%a3, %%tid_);\n", below(g, WORDS), below(g, LONGS));
}

void rich_statement(struct gen *g) {
    bool known = g->mask != MASK_UNKNOWN;
    uint32_t k = below(g, known ? 12 : 6);
    bool deep = g->depth > MAX_DEPTH;
    switch (k) {
    case 0:
    case 1:
        own_atomic(g);
        break;
    case 2:
    case 3:
        common_atomic(g);
        break;
    case 4:
        if (g->loops < 2)
            indirect_call(g);
        else
            own_atomic(g);
        break;
    case 5:
        if (g->loops < 2 && g->function < 0)
            recursive_call(g);
        else
            common_atomic(g);
        break;
    case 6:
    case 7:
        if (!deep && g->masks < MASKS - 2) {
            masked_if_else(g);
            break;
        } /* fall through */
    case 8:
        if (!deep && g->loops < MAX_LOOPS && g->counters < COUNTERS - 2) {
            uniform_loop(g);
            break;
        } /* fall through */
    default:
        collective(g);
    }
}

void rich_uniform(struct gen *g) {
    static const char *const how[] = {"and", "or"};
    uint32_t cell = below(g, RANDOM_SHARED_CELLS);
    switch (below(g, 4)) {
    case 0:
        fprintf(g->out, "bar.red.popc.u32 %%r%u, 0, %%p%u;\n", below(g, WORDS), below(g, PREDS));
        break;
    case 1:
        fprintf(g->out, "barrier.red.%s.pred %%p%u, %u, %s%%p%u;\n", how[below(g, 2)], below(g, PREDS), below(g, 16),
                chance(g, 2) ? "!" : "", below(g, PREDS));
        break;
    default:
        fprintf(g->out, "bar.sync 0;\nld.shared.u32 %%r%u, [cells+%u];\nbar.sync 0;\n", below(g, WORDS), 4 * cell);
    }
}

/* Writes the function rec(n, ...): a body, one or two calls of rec with n - 1, and another body. */
static void recursion(struct gen *g) {
    g->function = g->callable;
    g->away = "ret";
    g->may_exit = true;
    g->counters = 0;
    g->loops = 2; /* no loops, because up to 15 activations of the function exist */
    g->depth = 2;
    int calls = 1 + (int)below(g, 2);
    fputs(".func (.reg .b32 %rr, .reg .b64 %rd) rec(.reg .b32 %n, .reg .b32 %x, .reg .b64 %y, .reg .b64 %a0, .reg .b64 "
          "%a1, .reg .b64 %a3, .reg .b32 %tid_)\n{\n",
          g->out);
    registers(g);
    fputs(
        ".reg .b64 %a2;\nmov.u32 %rr, %x;\nadd.u64 %rd, %y, 3;\nsetp.eq.u32 %q, %n, 0;\n@%q ret;\nsub.u32 %n, %n, 1;\n",
        g->out);
    for (int i = 0; i < WORDS; i++)
        fprintf(g->out, "mad.lo.u32 %%r%d, %%x, %d, %%n;\n", i, 2 * i + 1);
    for (int i = 0; i < LONGS; i++)
        fprintf(g->out, "add.u64 %%d%d, %%y, %d;\n", i, i);
    derive(g);
    while (calls--) {
        statements(g, 1 + below(g, 3));
        fprintf(g->out, "call (%%rr, %%rd), rec, (%%n, %%r%u, %%d%u, %%a0, %%a1, %%a3, %%tid_);\n", below(g, WORDS),
                below(g, LONGS));
        fprintf(g->out, "xor.b32 %%r%u, %%r%u, %%rr;\nadd.u64 %%d%u, %%d%u, %%rd;\n", below(g, WORDS), below(g, WORDS),
                below(g, LONGS), below(g, LONGS));
    }
    statements(g, 1 + below(g, 3));
    fputs("add.u32 %rr, %rr, %r0;\nret;\n", g->out);
    fputs(g->leavers ? "FAR: bra GONE;\nGONE: ret;\n}\n" : "}\n", g->out);
    g->recursive = true;
}

void rich_module(struct gen *g) {
    fprintf(g->out, ".shared .align 8 .b32 cells[%d];\n", RANDOM_SHARED_CELLS);
    if (chance(g, 2))
        recursion(g);
}

/* Writes the declarations and the start of a rich kernel. %full becomes the mask of all lanes of the warp; in the last
 * warp only half of the lanes exist. */
void rich_prologue(struct gen *g) {
    fprintf(g->out, ".reg .b32 %%m<%d>, %%full;\nsetp.lt.u32 %%q, %%tid_, %d;\nselp.b32 %%full, -1, %u, %%q;\n", MASKS,
            RANDOM_THREADS / 32 * 32, (1u << RANDOM_THREADS % 32) - 1);
    fprintf(g->out, "setp.lt.u32 %%q, %%tid_, %d;\nmov.u64 %%a2, cells;\nmad.wide.u32 %%a2, %%tid_, 4, %%a2;\n",
            RANDOM_SHARED_CELLS);
    fputs("@%q st.shared.u32 [%a2], 5;\nbar.sync 0;\n", g->out);
    g->mask = MASK_FULL;
    g->masks = 0;
}
