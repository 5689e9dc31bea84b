#ifndef TEST_TIMING_MICRO_RIG_H
#define TEST_TIMING_MICRO_RIG_H
/* Test fixture for micro-benchmarks: a short and a long kernel that repeat a piece of PTX, and the cost of one more
 * repetition. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { TEXT = 256 * 1024, MAX_SETS = 16, MEMORY = 4 << 20 };
static char text[TEXT];

/* A kernel: the PTX text `before`, then n times `repeat`, then `after`. It declares the registers r0-r63, f0-f9,
 * d1-d4 (f64), a0-a9 (64 bits) and q1-q4. */
struct micro {
    const char *before, *repeat, *after;
    uint32_t grid, block;      /* 0: 1 and 32 */
    int few, many;             /* 0: 32 and 96 */
    const char *config;        /* NULL: tiny */
    const char *set[MAX_SETS]; /* options */
    uint32_t stride;  /* bytes from one element of the linked list in the buffer to the next element; 0: no list */
    const char *last; /* statistic to use instead of gpu.cycles */
};

static void write_kernel(const struct micro *m, int n) {
    size_t at = (size_t)snprintf(text, TEXT,
                                 ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                                 ".reg .b32 %%r<64>; .reg .f32 %%f<10>; .reg .f64 %%d<5>; .reg .b64 %%a<10>;\n"
                                 ".reg .pred %%q<5>; .shared .align 8 .b8 s[4096];\n ld.param.u64 %%a1,[p];\n"
                                 " mov.u32 %%r1,%%tid.x; mov.u32 %%r2,%%ntid.x; mov.u32 %%r3,%%ctaid.x;\n"
                                 " cvt.rn.f32.u32 %%f1,%%r1; cvt.rn.f64.u32 %%d1,%%r1; mov.u64 %%a2,%%a1; %s\n",
                                 m->before ? m->before : "");
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, TEXT - at, "%s\n", m->repeat);
        ck_assert_uint_lt(at, TEXT - 1024);
    }
    snprintf(text + at, TEXT - at,
             "%s cvt.rzi.u32.f64 %%r4,%%d1; cvt.rzi.u32.f32 %%r5,%%f1; cvt.u32.u64 %%r6,%%a2; add.u32 %%r1,%%r1,%%r4;\n"
             " add.u32 %%r1,%%r1,%%r5; add.u32 %%r1,%%r1,%%r6; st.global.u32 [%%a1+8],%%r1; ret;\n}\n",
             m->after ? m->after : "");
}

/* Fills the buffer with a circular linked list. The first 8 bytes of each element are the address of the next element.
 * Kernels may write the second 8 bytes. */
static void link_list(struct heddle *h, uint64_t base, uint32_t stride) {
    uint64_t *words = calloc(1, MEMORY);
    ck_assert_ptr_nonnull(words);
    for (uint64_t at = 0; at < MEMORY; at += stride)
        words[at / 8] = base + (at + stride) % MEMORY;
    ck_assert_int_eq(heddle_write(h, base, words, MEMORY), HEDDLE_OK);
    free(words);
}

static double run(const struct micro *m, int n) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = m->config ? m->config : "tiny", .set = m->set},
                    err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    write_kernel(m, n);
    struct heddle_module *module = heddle_module_text(h, "micro.ptx", text, strlen(text));
    ck_assert_msg(module != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, MEMORY);
    if (m->stride)
        link_list(h, buffer, m->stride);
    const struct heddle_arg arg = {&buffer, 8};
    struct heddle_dim grid = {m->grid ? m->grid : 1, 1, 1}, block = {m->block ? m->block : 32, 1, 1};
    enum heddle_status s = heddle_launch(h, module, "k", grid, block, 0, &arg, 1);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(h));
    double cycles = heddle_stat(h, 0, m->last ? m->last : "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* Returns the additional cycles that one more copy of `repeat` takes. */
static double each(struct micro m) {
    int few = m.many ? m.few : 32, many = m.many ? m.many : 96;
    return (run(&m, many) - run(&m, few)) / (many - few);
}

#endif
