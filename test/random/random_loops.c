/* Runs random loops of one block with software pipelining and without it. Memory must be equal, for iteration counts
 * that differ by thread. HEDDLE_RANDOM_LOOPS sets the number of loops, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

enum { LOOPS = 150, TIMED_ONE_IN = 30, THREADS = 48, IN = 64, OUT = 128, MOST_OPS = 22 };

struct text {
    char *at, *end;
    uint64_t rng;
    /* near: there are few words, so accesses often overlap; the pass can compute the distance of the two pointers */
    bool near;
    int f[2], r[2]; /* the two registers that were written last; later operations prefer to read them */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at, (size_t)(t->end - t->at), fmt, args);
    va_end(args);
    ck_assert(n >= 0 && n < t->end - t->at);
    t->at += n;
}

static int below(struct text *t, int n) { return (int)test_random_below(&t->rng, (uint32_t)n); }

/* Returns one of %f1 to %f8, or one of %r10 to %r15. Registers that were written recently are more likely. */
static int some_f(struct text *t) { return below(t, 2) ? t->f[below(t, 2)] : 1 + below(t, 8); }
static int some_r(struct text *t) { return below(t, 2) ? t->r[below(t, 2)] : 10 + below(t, 6); }

static void wrote_f(struct text *t, int f) {
    t->f[1] = t->f[0];
    t->f[0] = f;
}
static void wrote_r(struct text *t, int r) {
    t->r[1] = t->r[0];
    t->r[0] = r;
}

/* Writes an access to words of the thread. Accesses are from 32 bytes before the initial pointer (%d10) to 480 bytes
 * after it. The pointers move by at most 8 bytes per iteration. */
static void access(struct text *t) {
    static const char *const pointers[] = {"%d1", "%d3", "%d1", "%d5"};
    int k = t->near ? 3 * below(t, 2) : below(t, 4), f = 1 + below(t, 8);
    int offset = t->near ? 4 * (below(t, 8) - 4) : 4 * (below(t, 24) - 8);
    switch (below(t, 6)) {
    case 0:
        add(t, "ld.global.f32 %%f%d, [%%d2+%d];\n", f, 4 * below(t, 16));
        break;
    case 1:
        add(t, "ld.global.v2.f32 {%%f%d, %%f%d}, [%%d10+%d];\n", f, f % 8 + 1, offset & ~7);
        break;
    case 2:
    case 3:
        add(t, "st.global.f32 [%s+%d], %%f%d;\n", pointers[k], offset, some_f(t));
        return;
    case 4:
        add(t, "st.global.u8 [%s+%d], %%r%d;\n", pointers[k], offset + below(t, 4), some_r(t));
        return;
    default:
        add(t, "ld.global.f32 %%f%d, [%s+%d];\n", f, pointers[k], offset);
    }
    wrote_f(t, f);
}

static void operation(struct text *t) {
    static const char *const two[] = {"add.f32", "sub.f32", "mul.f32", "max.f32", "add.rz.f32"};
    static const char *const ints[] = {"add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.u32"};
    int f = 1 + below(t, 8), r = 10 + below(t, 6);
    switch (below(t, 12)) {
    case 0:
    case 1:
    case 2:
        access(t);
        return;
    case 3:
        add(t, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", f, some_f(t), some_f(t), some_f(t));
        break;
    case 4:
        add(t, "setp.%s.f32 %%p%d, %%f%d, %%f%d;\n", below(t, 2) ? "lt" : "geu", 3 + below(t, 2), some_f(t), some_f(t));
        return;
    case 5:
        add(t, "@%s%%p%d %s %%f%d, %%f%d, %%f%d;\n", below(t, 2) ? "!" : "", 3 + below(t, 2), two[below(t, 5)], f,
            some_f(t), some_f(t));
        break;
    case 6:
        add(t, "mov.f32 %%f%d, %%f%d;\n", f, some_f(t));
        break;
    case 7:
        add(t, "selp.b32 %%r%d, %%r%d, %%r%d, %%p%d;\n", r, some_r(t), some_r(t), 3 + below(t, 2));
        wrote_r(t, r);
        return;
    case 8:
    case 9:
        add(t, "%s %%r%d, %%r%d, %%r%d;\n", ints[below(t, 5)], r, some_r(t), below(t, 4) ? some_r(t) : 3);
        wrote_r(t, r);
        return;
    default:
        add(t, "%s %%f%d, %%f%d, %%f%d;\n", two[below(t, 5)], f, some_f(t), some_f(t));
    }
    wrote_f(t, f);
}

static char *random_loop(uint64_t seed) {
    enum { SIZE = 1 << 14 };
    char *text = malloc(SIZE);
    ck_assert(text != NULL);
    struct text t = {text, text + SIZE, seed * 0x9e3779b97f4a7c15ull + 1, seed % 3 != 0, {1, 2}, {10, 11}};
    add(&t,
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 "
        "n) {\n"
        ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%d<20>; .reg .f32 %%f<12>;\nld.param.u64 %%d1, [out]; "
        "ld.param.u64 %%d2, [in]; ld.param.u32 %%r2, [n];\nmov.u32 %%r1, %%tid.x; mad.wide.u32 %%d1, %%r1, 512, %%d1; "
        "mad.wide.u32 %%d2, %%r1, 256, %%d2;\nadd.s64 %%d1, %%d1, 32; mov.u64 %%d10, %%d1; add.s64 %%d3, %%d1, 8; "
        "mov.u64 %%d5, %%d1; "
        "mov.u32 %%r3, 0;\nmul.lo.u32 %%r4, %%r1, 5; add.u32 %%r4, %%r4, %%r2; rem.u32 %%r2, %%r4, 21;\n");
    for (int k = 1; k <= 8; k++)
        add(&t, "ld.global.f32 %%f%d, [%%d2+%d];\n", k, 4 * k);
    for (int k = 10; k <= 15; k++)
        add(&t, "mad.lo.u32 %%r%d, %%r1, %d, %d;\n", k, k, 77 * k);
    add(&t, "setp.gt.u32 %%p3, %%r1, 5; setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra DONE;\nLOOP:\n");
    int n = 2 + below(&t, MOST_OPS), step = below(&t, n + 1), count = below(&t, n + 1);
    for (int k = 0; k <= n; k++) {
        if (k == step)
            add(&t,
                "add.s64 %%d5, %%d1, %d;\nadd.s64 %%d1, %%d%d, %d;\nadd.s64 %%d3, %%d3, %d;\nadd.s64 %%d2, %%d2, 4;\n",
                4 * below(&t, 2), below(&t, 2) ? 5 : 1, 4 * below(&t, 2), 4 * below(&t, 3));
        if (k == count)
            add(&t, "add.u32 %%r3, %%r3, 1;\n");
        if (k < n && (k >= step || k != 0))
            operation(&t);
    }
    add(&t, "setp.%s.u32 %%p2, %%r3, %%r2;\n", seed % 2 ? "lt" : "ge");
    add(&t, "@%s%%p2 bra LOOP;\nDONE:\n", seed % 2 ? "" : "!");
    for (int k = 1; k <= 8; k++)
        if (below(&t, 3))
            add(&t, "st.global.f32 [%%d10+%d], %%f%d;\n", 400 + 4 * k, k);
    for (int k = 10; k <= 15; k++)
        if (below(&t, 3))
            add(&t, "st.global.u32 [%%d10+%d], %%r%d;\n", 400 + 4 * k, k);
    add(&t, "ret;\n}\n");
    return text;
}

/* Runs a loop once, in the given model with the given options. Returns whether the loop was pipelined. */
static bool run(const char *text, const char *model, const char *const *set, uint64_t seed, uint32_t *out) {
    char err[512] = "";
    uint32_t in[THREADS * IN], n = (uint32_t)(seed % 21);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, 512);
    ck_assert_msg(h != NULL, "seed %llu: %s", (unsigned long long)seed, err);
    struct heddle_module *m = heddle_module_text(h, "loop.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "seed %llu: %s", (unsigned long long)seed, heddle_error(h));
    for (int i = 0; i < THREADS * IN; i++) {
        float f = (float)((i * 37 + (int)seed) % 211) * 0.031f - 2;
        memcpy(&in[i], &f, 4);
    }
    for (int i = 0; i < THREADS * OUT; i++) {
        float f = (float)(i % 53) * 0.11f;
        memcpy(&out[i], &f, 4);
    }
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, THREADS * OUT * 4);
    heddle_write(h, from, in, sizeof in);
    heddle_write(h, to, out, THREADS * OUT * 4);
    struct heddle_arg args[] = {{&to, 8}, {&from, 8}, {&n, 4}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args,
                                3) == HEDDLE_OK,
                  "seed %llu: %s\n%s", (unsigned long long)seed, heddle_error(h), text);
    heddle_read(h, to, out, THREADS * OUT * 4);
    bool pipelined = heddle_stat(h, 0, "pipeline.loops") == 1;
    heddle_close(h);
    return pipelined;
}

static bool compare(const char *text, const char *model, const char *const *set, uint64_t seed, const uint32_t *want) {
    static uint32_t got[THREADS * OUT];
    bool pipelined = run(text, model, set, seed, got);
    for (int i = 0; i < THREADS * OUT; i++)
        EXPECT(got[i] == want[i], "seed %llu in %s: word %d of thread %d is 0x%x, not 0x%x; the kernel:\n%s",
               (unsigned long long)seed, model, i % OUT - 8, i / OUT, got[i], want[i], text);
    return pipelined;
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

START_TEST(memory_equals_the_original_loops) {
    static uint32_t want[THREADS * OUT];
    static const char *const words[] = {"functional", "functional+chain+fold", "functional+dac",
                                        "functional+dac+chain+reduce"};
    uint64_t n = from_environment("HEDDLE_RANDOM_LOOPS", LOOPS), first = from_environment("HEDDLE_RANDOM_SEED", 1),
             done = 0;
    const struct every_model *models = timed_models();
    for (uint64_t seed = first; seed < first + n; seed++) {
        char *text = random_loop(seed), load[40], stages[40], limit[40], reconv[40];
        snprintf(load, sizeof load, "pepsc.pipeline_load=%d", (int)(seed % 4 * 9 + 1));
        snprintf(stages, sizeof stages, "pepsc.pipeline_stages=%d", (int)(2 + seed / 4 % 7));
        snprintf(limit, sizeof limit, "regs.max=%d", seed % 5 ? 0 : (int)(16 + seed % 16));
        snprintf(reconv, sizeof reconv, "reconv=%s", models->name[seed % (uint64_t)models->n]);
        run(text, "functional", (const char *const[]){"pepsc.pipeline=off", NULL}, seed, want);
        const char *const set[] = {"pepsc.pipeline=on", load, stages, limit, reconv, NULL};
        const bool pipelined = compare(text, words[seed % 4], set, seed, want);
        done += pipelined && seed % 4 < 2;
        for (int m = 0; m < models->n && seed % TIMED_ONE_IN == 0; m++) {
            char chained[48];
            snprintf(chained, sizeof chained, "%s%s", models->name[m],
                     seed / TIMED_ONE_IN % 2 ? "+chain+fold" : "+dac");
            compare(text, models->name[m], (const char *const[]){"pepsc.pipeline=on", load, stages, limit, NULL}, seed,
                    want);
            compare(text, chained, (const char *const[]){"pepsc.pipeline=on", load, stages, limit, NULL}, seed, want);
        }
        free(text);
    }
    /* with dac, a queue decides the end of loops whose number of iterations is affine, so they are not pipelined */
    ck_assert_msg(done * 4 > n, "%d of %d loops were pipelined without dac", (int)done, (int)n / 2);
}
END_TEST

SUITE(random_loops) { TEST(memory_equals_the_original_loops); }
