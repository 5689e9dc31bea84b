/* Tests the checker on random programs without races. A program consists of phases. In each phase, every thread writes
 * a word of one buffer and reads a word that another warp wrote in the previous phase. A barrier of any kind is between
 * two phases. Blocks also pass messages to each other by flags. The checker must report nothing. If one of the barriers
 * is left out, the checker must report a race of the write before this barrier and the read after it. For kernels of
 * the generators in test/random, the checker must report nothing. */
#include "benchmarks/bench.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include <stdarg.h>

enum { PROGRAMS = 40, RANDOM_PROGRAMS = 60, THREADS = 96, BLOCKS = 3, MAX_PHASES = 12, MAX_TEXT = 32768 };
enum { BUFFERS = 4, BUFFER_BYTES = BLOCKS * THREADS * 4, FLAGS = BUFFERS * BUFFER_BYTES };

/* A barrier of the program: the lines of the write and the read that it orders. */
struct gap {
    int write, read;
};
struct program_text {
    char text[MAX_TEXT];
    size_t len;
    int line; /* number of the next line; lines are counted from 1 */
    uint64_t rng;
    int left_out; /* index of the barrier that is left out; -1: no barrier is left out */
    struct gap gap[2 * MAX_PHASES + 2];
    int gaps;
};

__attribute__((format(printf, 2, 3))) static int emit(struct program_text *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    p->len += (size_t)vsnprintf(p->text + p->len, MAX_TEXT - p->len, fmt, args);
    va_end(args);
    ck_assert_uint_lt(p->len + 2, MAX_TEXT);
    p->text[p->len++] = '\n';
    p->text[p->len] = 0;
    return p->line++;
}

/* Adds a barrier after line `write` (or leaves it out if it is barrier `left_out`). The read that it orders comes
 * later. Returns the barrier's index in gap[]. */
static int barrier(struct program_text *p, int write) {
    static const char *const forms[] = {"bar.sync 0;", "bar.sync 3, 96;", "barrier.sync 5;",
                                        "bar.red.or.pred %q, 2, %q;"};
    const char *form = forms[test_random_below(&p->rng, 4)];
    if (p->gaps != p->left_out)
        emit(p, "%s", form);
    p->gap[p->gaps] = (struct gap){.write = write};
    return p->gaps++;
}

/* Writes code that computes in register `to` the address of the word of thread t + shift. Buffers 0 and 1 are in shared
 * memory. Buffers 2 and 3 are in global memory, where each block has its own words. */
static void address(struct program_text *p, const char *to, int buffer, uint32_t shift) {
    emit(p, "add.u32 %%i, %%t, %u; rem.u32 %%i, %%i, %d; shl.b32 %%i, %%i, 2;", shift, THREADS);
    if (buffer < 2)
        emit(p, "add.u32 %%i, %%i, %d; cvt.u64.u32 %s, %%i; cvta.shared.u64 %s, %s;", buffer * THREADS * 4, to, to, to);
    else
        emit(p, "mad.lo.u32 %%i, %%c, %d, %%i; cvt.u64.u32 %s, %%i; add.u64 %s, %s, %%b; add.u64 %s, %s, %d;",
             THREADS * 4, to, to, to, to, to, (buffer - 2) * BUFFER_BYTES);
}

static void phase(struct program_text *p, int *last, int *open) {
    int to = (*last + 1 + (int)test_random_below(&p->rng, BUFFERS - 1)) % BUFFERS;
    bool generic = test_random_below(&p->rng, 2);
    uint32_t turn = test_random_below(&p->rng, THREADS);
    if (*open >= 0) { /* the thread that wrote the word is 32 to 63 threads further, so it is in another warp */
        address(p, "%x", *last, p->gap[*open].read + 32 + test_random_below(&p->rng, 32));
        p->gap[*open].read = emit(p, "ld.u32 %%v, [%%x];");
    }
    address(p, "%y", to, turn);
    int write = emit(p, to < 2 || generic ? "st.u32 [%%y], %%v;" : "st.global.u32 [%%y], %%v;");
    if (test_random_below(&p->rng, 3) == 0)
        emit(p, "red.global.add.u32 [%%b+%d], 1;", FLAGS + 256);
    *open = barrier(p, write);
    /* stores the shift of the written words in .read, until the line of the read is known */
    p->gap[*open].read = (int)turn;
    *last = to;
}

/* Adds a message from each block to the next. All threads write a word, and thread 0 sets a flag. Thread 0 of the next
 * block waits for this flag, then all threads of that block read. */
static void message(struct program_text *p) {
    int data = FLAGS + 1024;
    emit(p, "mad.lo.u32 %%i, %%c, %d, %%t; mul.wide.u32 %%x, %%i, 4; add.u64 %%x, %%x, %%b;", THREADS);
    int write = emit(p, "st.global.u32 [%%x+%d], %%t;", data);
    int before = barrier(p, write);
    emit(p, "mul.wide.u32 %%y, %%c, 4; add.u64 %%y, %%y, %%b; setp.ne.u32 %%p, %%t, 0;");
    emit(p, "@%%p bra R; membar.gl; st.volatile.global.u32 [%%y+%d], 1;", FLAGS);
    emit(p, "R: setp.eq.u32 %%q, %%c, 0; @%%q bra E; @%%p bra S;");
    emit(p, "W: ld.volatile.global.u32 %%i, [%%y+%d]; setp.eq.u32 %%q, %%i, 0; @%%q bra W; membar.gl;", FLAGS - 4);
    emit(p, "S:");
    int behind = barrier(p, write);
    int read = emit(p, "ld.global.u32 %%v, [%%x+%d];", data - THREADS * 4);
    emit(p, "E: bar.sync 0;");
    p->gap[before].read = p->gap[behind].read = read;
}

static void generate(struct program_text *p, uint64_t seed, int left_out) {
    int last = 0, open = -1;
    memset(p, 0, sizeof *p);
    p->rng = seed;
    p->line = 1;
    p->left_out = left_out;
    emit(p, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{");
    p->line += 4;
    emit(p, ".reg .u32 %%t, %%c, %%i, %%v; .reg .u64 %%b, %%x, %%y; .reg .pred %%p, %%q; .shared .u32 s[%d];",
         2 * THREADS);
    emit(p, "mov.u32 %%t, %%tid.x; mov.u32 %%c, %%ctaid.x; ld.param.u64 %%b, [out]; mov.u32 %%v, %%t;");
    emit(p, "setp.eq.u32 %%q, %%t, 7;");
    if (test_random_below(&p->rng, 2))
        message(p);
    for (uint32_t phases = 2 + test_random_below(&p->rng, MAX_PHASES - 2); phases; phases--)
        phase(p, &last, &open);
    p->gaps--; /* the last barrier has no read after it */
    emit(p, "ret;\n}");
}

static enum heddle_status run(const char *text, const char *kernel, const char *set1, struct heddle_dim block,
                              uint64_t bytes, uint64_t in_bytes, const uint32_t *in, char *report, size_t size) {
    char err[512] = "";
    const char *set[] = {set1, NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.check = true, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "r.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s\n%s", heddle_error(h), text);
    uint64_t a = heddle_alloc(h, bytes), b = in ? heddle_alloc(h, in_bytes) : 0;
    heddle_clear(h, a, bytes);
    if (in)
        heddle_write(h, b, in, in_bytes);
    const struct heddle_arg args[] = {BENCH_ARG(a), BENCH_ARG(b)};
    enum heddle_status s =
        heddle_launch(h, m, kernel, (struct heddle_dim){in ? RANDOM_CTAS : BLOCKS, 1, 1}, block, 0, args, in ? 2 : 1);
    snprintf(report, size, "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

/* Returns true if the report contains a race between the two lines. */
static bool has_race_between(const char *report, struct gap g) {
    char write[32], read[32];
    snprintf(write, sizeof write, "at r.ptx:%d:", g.write);
    snprintf(read, sizeof read, "at r.ptx:%d:", g.read);
    for (const char *at = report; (at = strstr(at, "race: ")); at++) {
        const char *end = strstr(at, "help:"), *w = strstr(at, write), *r = strstr(at, read);
        if (w && r && w < end && r < end)
            return true;
    }
    return false;
}

static const char *const orders[] = {"reconv=spe", "reconv=its"};

START_TEST(barriers_at_random) {
    static struct program_text p;
    static char report[65536];
    const struct heddle_dim block = {THREADS, 1, 1};
    const uint64_t bytes = FLAGS + 1024 + 2 * BUFFER_BYTES;
    const char *order = orders[_i % 2];
    generate(&p, (uint64_t)_i, -1);
    enum heddle_status s = run(p.text, "k", order, block, bytes, 0, NULL, report, sizeof report);
    ck_assert_msg(s == HEDDLE_OK && !*report, "seed %d, %s: %.1500s\n%s", _i, order, report, p.text);
    for (int gap = 0, gaps = p.gaps; gap < gaps; gap++) {
        generate(&p, (uint64_t)_i, gap);
        s = run(p.text, "k", order, block, bytes, 0, NULL, report, sizeof report);
        ck_assert_msg(s == HEDDLE_FAULT && has_race_between(report, p.gap[gap]),
                      "seed %d, %s, without barrier %d (%d, %d): %.1500s\n%s", _i, order, gap, p.gap[gap].write,
                      p.gap[gap].read, report, p.text);
    }
}
END_TEST

START_TEST(random_kernels_are_clean) {
    static uint32_t in[RANDOM_IN_WORDS];
    static char report[65536];
    char *text = random_kernel((uint64_t)_i, _i % 2);
    random_input((uint64_t)_i, in);
    enum heddle_status s = run(text, "k", orders[_i / 2 % 2], (struct heddle_dim){RANDOM_THREADS, 1, 1},
                               4 * RANDOM_OUT_WORDS, sizeof in, in, report, sizeof report);
    ck_assert_msg(s == HEDDLE_OK, "seed %d: %.1500s", _i, report);
    free(text);
}
END_TEST

/* Under the model `its`, lanes of a warp reach a barrier of this kernel on one path after another. All lanes arrive, so
 * the checker must report nothing. */
START_TEST(paths_arrive_at_a_barrier_one_by_one) {
    static uint32_t in[RANDOM_IN_WORDS];
    static char report[65536];
    char *text = random_kernel(55, RANDOM_RICH);
    random_input(55, in);
    for (int i = 0; i < 2; i++) {
        enum heddle_status s = run(text, "k", orders[i], (struct heddle_dim){RANDOM_THREADS, 1, 1},
                                   4 * RANDOM_OUT_WORDS, sizeof in, in, report, sizeof report);
        ck_assert_msg(s == HEDDLE_OK, "%s: %.1500s", orders[i], report);
    }
    free(text);
}
END_TEST

SUITE(isa_check_random) {
    TEST_LOOP(barriers_at_random, 0, PROGRAMS);
    TEST_LOOP(random_kernels_are_clean, 0, RANDOM_PROGRAMS);
    TEST(paths_arrive_at_a_barrier_one_by_one);
}
