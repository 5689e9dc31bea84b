/* Runs random control flow graphs. A graph has branches, branch tables and jumps to any block, in a kernel and in the
 * functions that it calls. It has cycles with several entries, early returns, and exits in any block. Convergence
 * barriers may be anywhere in the graph. Every thread must end, with the same results as under a model with a stack.
 * HEDDLE_RANDOM_KERNELS sets the number of graphs, and HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "test/random.h"
#include "test/test.h"
#include <stdio.h>

enum { KERNELS = 60, MOST_BLOCKS = 24, FUNCTIONS = 3, THREADS = 80, ROUNDS = 24 };

struct graph {
    FILE *out;
    uint64_t rng;
    /* function: number of the function that is being written; the kernel has the highest number; a function calls only
     * functions with lower numbers */
    uint32_t blocks, function;
};

static uint32_t below(struct graph *g, uint32_t n) { return test_random_below(&g->rng, n); }
static bool is_kernel(const struct graph *g) { return g->function == FUNCTIONS; }

static uint32_t any_block(struct graph *g, uint32_t from) {
    uint32_t near = from + below(g, 5);
    if (below(g, 3))
        return near < g->blocks ? near : g->blocks;
    return below(g, g->blocks + 1);
}

static void end(struct graph *g) {
    if (is_kernel(g))
        fputs("st.global.u32 [%a], %h;\n", g->out);
    else
        fputs("st.param.b32 [r], %h;\n", g->out);
    fputs("ret;\n", g->out);
}

/* Writes the check before a backward branch. Register %f, the fuel, is the number of backward branches that the thread
 * may still take. The check subtracts 1 from it. At 0 the thread jumps to the last block. */
static void count(struct graph *g) {
    fprintf(g->out, "sub.u32 %%f, %%f, 1; setp.eq.u32 %%q, %%f, 0; @%%q bra B%u;\n", g->blocks);
}

static void draw_bits(struct graph *g, uint32_t mask) {
    fprintf(g->out, "shr.u32 %%t, %%h, %u; and.b32 %%t, %%t, %u; setp.eq.u32 %%p, %%t, 0;\n", 3 + below(g, 20), mask);
}

static void leave_block(struct graph *g, uint32_t b) {
    uint32_t to = any_block(g, b), other = any_block(g, b);
    switch (below(g, 8)) {
    case 0:
        if (to <= b)
            count(g);
        fprintf(g->out, "bra B%u;\n", to);
        return;
    case 1:
        count(g);
        draw_bits(g, 3);
        fprintf(g->out, "T%u: .branchtargets B%u, B%u, B%u, B%u;\nbrx.idx %%t, T%u;\n", b, to, other, any_block(g, b),
                any_block(g, b), b);
        return;
    case 2:
        draw_bits(g, 7);
        fprintf(g->out, "@%s%%p bra R%u;\n", below(g, 2) ? "!" : "", b);
        end(g);
        fprintf(g->out, "R%u:\n", b);
        return;
    case 3:
        draw_bits(g, 7);
        fputs(is_kernel(g) ? "@%p st.global.u32 [%a], %h; @%p exit;\n" : "@%p st.param.b32 [r], %h; @%p ret;\n",
              g->out);
        return;
    default:
        if (to <= b)
            count(g);
        draw_bits(g, below(g, 2) ? 1 : 3);
        fprintf(g->out, "@%s%%p bra B%u;\n", below(g, 2) ? "!" : "", to);
    }
}

static void block(struct graph *g, uint32_t b) {
    fprintf(g->out, "B%u: mad.lo.u32 %%h, %%h, 1664525, %u;\n", b, 1013904223 + 2 * b);
    if (g->function && !below(g, 4))
        fprintf(g->out, "{ .param .b32 x, y; st.param.b32 [x], %%h; call (y), f%u, (x); ld.param.b32 %%h, [y]; }\n",
                below(g, g->function));
    if (below(g, 8) == 0)
        fputs("xor.b32 %h, %h, %l;\n", g->out);
    leave_block(g, b);
}

static void body(struct graph *g) {
    g->blocks = 3 + below(g, MOST_BLOCKS - 3);
    fprintf(g->out, ".reg .b32 %%h, %%f, %%t, %%l; .reg .pred %%p, %%q; .reg .b64 %%a, %%b;\nmov.u32 %%f, %d;\n",
            is_kernel(g) ? ROUNDS : ROUNDS / 4);
    fputs("mov.u32 %l, %tid.x;\n", g->out);
    if (is_kernel(g))
        fputs("ld.param.u64 %a, [o]; mul.wide.u32 %b, %l, 4; add.u64 %a, %a, %b; mul.lo.u32 %h, %l, 40503;\n", g->out);
    else
        fputs("ld.param.b32 %h, [s];\n", g->out);
    for (uint32_t b = 0; b < g->blocks; b++)
        block(g, b);
    fprintf(g->out, "B%u: add.u32 %%h, %%h, 7;\n", g->blocks);
    end(g);
    fputs("}\n", g->out);
}

static char *kernel(uint64_t seed) {
    char *text = NULL;
    size_t size;
    struct graph g = {.out = open_memstream(&text, &size), .rng = seed};
    fputs(".version 7.0\n.target sm_70\n.address_size 64\n", g.out);
    for (; g.function < FUNCTIONS; g.function++) {
        fprintf(g.out, ".func (.param .b32 r) f%u(.param .b32 s)\n{\n", g.function);
        body(&g);
    }
    fprintf(g.out, ".visible .entry k(.param .u64 o) .reqntid %d\n{\n", THREADS);
    body(&g);
    fclose(g.out);
    return text;
}

/* Reports a failure, and writes the kernel's text to a file in build/. */
static void give_up(uint64_t seed, const char *text, const char *model, const char *machine, const char *option,
                    const char *what) {
    char path[64];
    snprintf(path, sizeof path, "build/random-gotos-%llu.ptx", (unsigned long long)seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    ck_abort_msg("%s: %s on %s %s: %.1500s", path, model, machine, option ? option : "", what);
}

static void run(uint64_t seed, const char *text, const char *model, const char *machine, const char *option,
                uint32_t out[THREADS]) {
    char err[1024];
    const char *set[] = {option, NULL};
    struct heddle_options o = {.model = model, .config = machine, .set = set, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "seed %llu: %s", (unsigned long long)seed, heddle_error(h));
    uint64_t p = heddle_alloc(h, 4 * THREADS);
    struct heddle_arg args[] = {{&p, 8}};
    if (heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args, 1) !=
        HEDDLE_OK)
        give_up(seed, text, model, machine, option, heddle_error(h));
    heddle_read(h, p, out, 4 * THREADS);
    heddle_close(h);
}

static const struct {
    const char *model, *machine, *option;
} ways[] = {
    {"functional", "tiny", "reconv=its"},
    {"its", "tiny", NULL},
    {"si", "turing", "si.yield=on"},
    {"its", "volta-classic", "reconv.first=fallthrough"},
    {"si", "fermi", "si.yield=off"},
    {"functional", "turing", "reconv=si"},
    {"functional", "tiny", "gpu.capability=7"},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/* Seeds of graphs in which threads once waited for each other forever: some threads entered a loop before other threads
 * had reconverged at a point inside this loop. */
static const uint64_t special[] = {1266};
enum { N_SPECIAL = sizeof special / sizeof special[0] };

START_TEST(every_thread_ends) {
    uint64_t n = from_environment("HEDDLE_RANDOM_KERNELS", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    uint32_t want[THREADS], got[THREADS];
    for (uint64_t i = 0; i < n + N_SPECIAL; i++) {
        uint64_t seed = i < N_SPECIAL ? special[i] : first + i - N_SPECIAL;
        char *text = kernel(seed);
        run(seed, text, "functional", "tiny", NULL, want);
        for (uint64_t w = 0; w < N_WAYS; w++) {
            if (!test_every() && w > 1 && (seed + w) % N_WAYS)
                continue;
            run(seed, text, ways[w].model, ways[w].machine, ways[w].option, got);
            if (memcmp(got, want, sizeof got) != 0)
                give_up(seed, text, ways[w].model, ways[w].machine, ways[w].option, "other results than on a stack");
        }
        free(text);
    }
}
END_TEST

SUITE(random_gotos) { TEST(every_thread_ends); }
