/* Tests that loading and lowering take time proportional to the size of the text. A text of four times the size
 * takes about four times as long, not 16 or 64 times. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <time.h>

#define HEAD   ".version 8.0\n.target sm_75\n.address_size 64\n"
#define KERNEL ".visible .entry k(.param .u64 p)\n{\n.reg .u64 d; ld.param.u64 d, [p];\n"

static void kernels(FILE *to, int n) {
    for (int i = 0; i < n; i++)
        fprintf(to, ".file %d \"f%d.cu\"\n.visible .entry k%d() { .loc %d 1 1\nret; }\n", i + 1, i, i, i + 1);
}

static void functions(FILE *to, int n) {
    for (int i = 0; i < n; i++)
        fprintf(to, ".func f%d() { ret; }\n", i);
    fputs(KERNEL, to);
    for (int i = 0; i < n; i++)
        fprintf(to, "call f%d;\n", i);
    fputs("ret; }\n", to);
}

static void loops(FILE *to, int n) {
    fprintf(to, KERNEL ".reg .u32 r<%d>; .reg .pred q;\n", n);
    for (int i = 0; i < n; i++)
        fprintf(to, "mov.u32 r%d, 0;\nL%d:\n", i, i);
    fputs("st.global.u32 [d], r0;\n", to);
    for (int i = n; i-- > 0;)
        fprintf(to, "add.u32 r%d, r%d, 1; setp.lt.u32 q, r%d, 4;\n@q bra L%d;\n", i, i, i, i);
    fputs("ret; }\n", to);
}

static void ifs(FILE *to, int n) {
    fprintf(to, KERNEL ".reg .u32 r<%d>; .reg .pred q;\n", n);
    for (int i = 0; i < n; i++)
        fprintf(to, "ld.global.u32 r%d, [d+%d]; setp.gt.u32 q, r%d, 4;\n@q bra L%d;\n", i, 4 * i, i, i);
    for (int i = n; i-- > 0;)
        fprintf(to, "L%d: st.global.u32 [d], r%d;\n", i, i);
    fputs("ret; }\n", to);
}

static void blocks(FILE *to, int n) {
    fputs(KERNEL, to);
    for (int i = 0; i < n; i++)
        fprintf(to, "{ .reg .u32 %%a<4>; .reg .u64 x; mov.u64 x, %d; st.global.u32 [d], %%a1+%d; }\n", i, i);
    fputs("ret; }\n", to);
}

static void variables(FILE *to, int n) {
    for (int i = 0; i < n; i++)
        fprintf(to, ".global .u32 v%d = %d; .shared .u32 s%d;\n", i, i, i);
    fputs(KERNEL ".reg .u32 r;\n", to);
    for (int i = 0; i < n; i++)
        fprintf(to, "ld.global.u32 r, [v%d]; st.shared.u32 [s%d], r;\n", i, i % 1000);
    fputs("ret; }\n", to);
}

/* Writes n nested loops that use the same register, so that only the number of loops grows. */
static void nest(FILE *to, int n) {
    fputs(KERNEL ".reg .u32 r; .reg .pred q;\nmov.u32 r, %tid.x;\n", to);
    for (int i = 0; i < n; i++)
        fprintf(to, "L%d: add.u32 r, r, 1;\n", i);
    for (int i = n; i-- > 0;)
        fprintf(to, "setp.lt.u32 q, r, %d;\n@q bra L%d;\n", i, i);
    fputs("st.global.u32 [d], r; ret; }\n", to);
}

/* Writes n branches to an exit, so that the execution of each block depends on all earlier branches. */
static void exits(FILE *to, int n) {
    fputs(KERNEL ".reg .u32 r; .reg .pred q; .reg .u64 a;\nmov.u32 r, %tid.x; mad.wide.u32 a, r, 4, d;\n", to);
    for (int i = 0; i < n; i++)
        fprintf(to, "setp.gt.u32 q, r, %d;\n@q bra END;\nst.global.u32 [a+%d], r;\n", 2 * n - i, 4 * i);
    fputs("END: ret; }\n", to);
}

static const struct shape {
    const char *name;
    void (*write)(FILE *to, int n);
    int n;
} shapes[] = {{"kernels", kernels, 2000},   {"functions", functions, 4000},
              {"nested loops", loops, 700}, {"nested ifs", ifs, 1500},
              {"blocks", blocks, 4000},     {"variables", variables, 4000},
              {"early exits", exits, 1500}, {"nested loops with convergence barriers", nest, 2000}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the time in seconds to load a module of size n and to lower all its kernels: the minimum of `tries`
 * measurements. A measurement takes at least 40 ms, because some hosts count processor time in steps of 4 ms. */
static double seconds(const char *model, void (*write)(FILE *to, int n), int n, int tries) {
    char *text, err[200];
    size_t len;
    FILE *to = open_memstream(&text, &len);
    double best = 1e9;
    ck_assert_ptr_nonnull(to);
    fputs(HEAD, to);
    write(to, n);
    fclose(to);
    for (int turn = 0; turn < tries; turn++) {
        double took = 0;
        int loads = 0;
        for (; took < 0.04; loads++) {
            struct heddle *h = heddle_open(&(struct heddle_options){.model = model}, err, sizeof err);
            ck_assert_msg(h != NULL, "%s", err);
            double begin = cpu_seconds();
            struct heddle_module *m = heddle_module_text(h, "t.ptx", text, len);
            ck_assert_msg(m != NULL, "%s", heddle_error(h));
            const char *kernel;
            for (int i = 0; (kernel = heddle_kernel(m, i)); i++) {
                struct heddle_kernel_info info;
                ck_assert_msg(heddle_kernel_info(h, m, kernel, &info) == HEDDLE_OK, "%s", heddle_error(h));
            }
            took += cpu_seconds() - begin;
            heddle_close(h);
        }
        best = took / loads < best ? took / loads : best;
    }
    free(text);
    return best;
}

/* The time ratio must be below 8, which is half way between linear (4) and quadratic (16) on a logarithmic scale. This
 * leaves room for effects of caches and pages. On a busy machine the measurement is repeated several times; code with
 * faster growth fails all tries. The time of the small module is always the minimum of three measurements, because a
 * time that is too long would hide a high ratio. The large module is measured again only if the first ratio was too
 * high. */
START_TEST(four_times_the_text) {
    const struct shape *s = &shapes[_i % N_SHAPES];
    const bool keeps = test_keep_pages();
    const char *model = _i >= N_SHAPES ? "functional+dac" : s->write == nest ? "its" : "functional";
    double small = 0, large = 0;
    if (_i >= N_SHAPES && (s->write == loops || s->write == nest))
        return; /* loops.h lists the blocks of each loop: for nested loops the output itself grows quadratically */
    if (!keeps) {
        seconds(model, s->write, s->n, 1);
        test_skip("the allocator gives pages back, so page faults decide the time");
        return;
    }
    for (int turn = 0; turn < 4 && (turn == 0 || large >= 8 * small); turn++) {
        small = seconds(model, s->write, s->n, 3);
        large = seconds(model, s->write, 4 * s->n, turn ? 3 : 1);
    }
    ck_assert_msg(large < 8 * small, "%s, %s: %.1f ms for %d, %.1f ms for %d", s->name, model, 1e3 * small, s->n,
                  1e3 * large, 4 * s->n);
}
END_TEST

SUITE(frontend_linear) { TEST_LOOP(four_times_the_text, 0, 2 * N_SHAPES); }
