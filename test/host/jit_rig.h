#ifndef TEST_HOST_JIT_RIG_H
#define TEST_HOST_JIT_RIG_H
/* Runs a kernel k(in, out) with and without native code, and compares the two runs. */
#include "host/context.h"
#include "test/jit_levels.h"
#include <stdio.h>
#include <string.h>

enum { WORDS = 8192, BYTES = 4 * WORDS, TEXT = 8192 };

struct outcome {
    enum heddle_status status;
    char error[2048];
    double warps, threads, blocks;
    uint32_t in[WORDS], out[WORDS];
};

/* Stores to .const variables are faults, as under the checker. */
static bool guards_constants;

static inline bool run_with(const char *text, uint32_t grid, uint32_t block, const char *const *set, uint64_t limit,
                            uint32_t threads, struct outcome *o) {
    struct heddle_options options = {
        .model = "functional", .set = set, .cycle_limit = limit, .threads = threads ? threads : 1};
    struct heddle *h = heddle_open(&options, o->error, sizeof o->error);
    if (!h)
        return false;
    h->memory.guards_constants = guards_constants;
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    if (!m) {
        snprintf(o->error, sizeof o->error, "%s", heddle_error(h));
        return false;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        o->in[i] = i * 2654435761u;
        o->out[i] = i;
    }
    uint64_t in = heddle_alloc(h, BYTES), out = heddle_alloc(h, BYTES);
    heddle_write(h, in, o->in, BYTES);
    heddle_write(h, out, o->out, BYTES);
    struct heddle_arg args[] = {{&in, 8}, {&out, 8}};
    o->status = heddle_launch(h, m, "k", (struct heddle_dim){grid, 1, 1}, (struct heddle_dim){block, 1, 1}, 0, args, 2);
    snprintf(o->error, sizeof o->error, "%s", o->status ? heddle_error(h) : "");
    o->warps = o->status ? 0 : heddle_stat(h, -1, "gpu.warp_instructions");
    o->threads = o->status ? 0 : heddle_stat(h, -1, "gpu.thread_instructions");
    o->blocks = o->status ? 0 : heddle_stat(h, -1, "host.jit_blocks");
    heddle_read(h, in, o->in, BYTES);
    heddle_read(h, out, o->out, BYTES);
    heddle_close(h);
    return true;
}

/* Runs the kernel once with native code and once without, and compares both runs. Returns the number of compiled
 * blocks, or -1 if the kernel faulted. */
static inline double both_under(const char *reconv, const char *text, uint32_t grid, uint32_t block, uint64_t limit) {
    static struct outcome want, got;
    const char *const off[] = {reconv, "gpu.jit=off", NULL}, *const on[] = {reconv, "gpu.jit_after=0", NULL};
    EXPECT(run_with(text, grid, block, off, limit, 1, &want), "%s\n%s", want.error, text);
    EXPECT(run_with(text, grid, block, on, limit, 1, &got), "%s\n%s", got.error, text);
    EXPECT(got.status == want.status && strcmp(got.error, want.error) == 0, "status %d, not %d: %s, not %s\n%s",
           got.status, want.status, got.error, want.error, text);
    EXPECT(got.warps == want.warps && got.threads == want.threads, "counts %.0f %.0f, not %.0f %.0f\n%s", got.warps,
           got.threads, want.warps, want.threads, text);
    for (int i = 0; i < WORDS; i++)
        EXPECT(got.out[i] == want.out[i] && got.in[i] == want.in[i], "word %d: 0x%x 0x%x, not 0x%x 0x%x\n%s", i,
               got.out[i], got.in[i], want.out[i], want.in[i], text);
    return got.status == HEDDLE_FAULT ? -1 : got.blocks;
}
static inline double both(const char *text, uint32_t grid, uint32_t block, uint64_t limit) {
    return both_under("reconv=spe", text, grid, block, limit);
}

/* Code before a loop, which makes some lanes of a warp branch to END, so that the loop runs with the other lanes. */
static const char *const parts[] = {
    "",
    "and.b32 %r17, %r1, 1; setp.eq.u32 %p8, %r17, 0; @%p8 bra END;\n",
    "and.b32 %r17, %r1, 31; setp.gt.u32 %p8, %r17, 4; @%p8 bra END;\n",
    "and.b32 %r17, %r1, 31; setp.eq.u32 %p8, %r17, 31; @%p8 bra END;\n",
};
enum { N_PARTS = sizeof parts / sizeof parts[0] };
#endif
