#ifndef TEST_JIT_RIG_H
#define TEST_JIT_RIG_H
/* Fixture: one block, which one warp runs as native code and also instruction by instruction. */
#include "isa/exec/exec.h"
#include "isa/jit/jit.h"
#include "test/isa/isa_asm.h"
#include "test/jit_levels.h"

enum { RIG_BANK = 64 * 1024 };

struct rig {
    struct asm_program *a;
    struct jit *j;
    struct warp w;
    struct jit_frame f;
    struct effects fx;
    uint32_t steps; /* calls of step() */
    _Alignas(64) unsigned char bank[RIG_BANK], before[RIG_BANK], want[RIG_BANK];
};

/* Returns true if the host can run native code; else skips the test. */
static inline bool rig_can(void) {
    struct inst nothing = {0};
    struct program p = {.code = &nothing, .n = 1};
    struct jit *j = jit_new(&p, 0);
    jit_free(j);
    if (!j)
        test_skip(JIT_NOT_HERE);
    return j;
}

static uint32_t rig_step(struct jit_frame *f, uint32_t i) {
    struct rig *r = f->ctx;
    exec_inst(&r->w, &f->first[i], f->active, &r->fx);
    r->steps++;
    f->threads += (unsigned)__builtin_popcount(r->fx.lanes);
    return r->fx.fault ? JIT_STOPPED : JIT_WENT_ON;
}

static inline struct rig *rig_new(void) {
    struct rig *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
    ck_assert_ptr_nonnull(r);
    memset(r, 0, sizeof *r);
    r->a = asm_new();
    r->a->p.code = r->a->code;
    return r;
}

static inline void rig_free(struct rig *r) {
    jit_free(r->j);
    asm_free(r->a);
    free(r);
}

/* Sets the active lanes. */
static inline void rig_lanes(struct rig *r, rowmask_t active) {
    r->f.active = active;
    r->f.inactive = ~active;
    r->f.n_active = (unsigned)__builtin_popcount(active);
}

/* Returns a random mask that contains some, but not all lanes: one lane, the first lanes, all but one lane, or
 * arbitrary lanes. */
static inline rowmask_t rig_part(uint64_t *rng) {
    rowmask_t m = (rowmask_t)test_random(rng);
    switch (test_random_below(rng, 5)) {
    case 0: /* one lane */
        m = 1u << test_random_below(rng, WARP_LANES);
        break;
    case 1: /* the first lanes */
        m = LANES_ALL >> (1 + test_random_below(rng, WARP_LANES - 1));
        break;
    case 2: /* all but one lane */
        m = ~(1u << test_random_below(rng, WARP_LANES));
        break;
    default:
        break;
    }
    return m == LANES_ALL || !m ? 5 : m;
}

/* Completes the block and enters it with the lanes `active` until it is compiled. Returns true if it was compiled.
 * r->before must have the initial register values. */
static inline bool rig_compile(struct rig *r, rowmask_t active) {
    r->a->code[r->a->p.n - 1].ends_block = 1;
    ck_assert_uint_le(r->a->p.reg_bytes, RIG_BANK);
    r->w = (struct warp){.bank = {r->bank, r->a->constants}, .program = &r->a->p, .launched = LANES_ALL};
    r->w.live = LANES_ALL;
    r->j = jit_new(&r->a->p, 0);
    ck_assert_ptr_nonnull(r->j);
    r->f = (struct jit_frame){.bank = {r->bank, r->a->constants},
                              .tables = &jit_tables,
                              .step = rig_step,
                              .first = r->a->code,
                              .jit = r->j,
                              .warp = &r->w,
                              .fx = &r->fx,
                              .ctx = r};
    rig_lanes(r, active);
    for (int i = 0; i < 3; i++) { /* the block is compiled after two profiled runs */
        jit_code *code = jit_enter(r->j, 0, r->f.active != LANES_ALL);
        memcpy(r->bank, r->before, sizeof r->bank);
        if (code)
            code(&r->f);
    }
    return jit_enter(r->j, 0, r->f.active != LANES_ALL) != NULL && jit_count(r->j).blocks == 1;
}

/* Runs the block as native code and instruction by instruction. Returns true if registers and lane counts are equal.
 * Otherwise *at is the offset of the first register byte that differs. */
static inline bool rig_same(struct rig *r, uint32_t *at) {
    uint64_t lanes = 0;
    memcpy(r->bank, r->before, sizeof r->bank);
    for (uint32_t i = 0; i < r->a->p.n; i++) {
        exec_inst(&r->w, &r->a->code[i], r->f.active, &r->fx);
        lanes += (unsigned)__builtin_popcount(r->fx.lanes);
    }
    memcpy(r->want, r->bank, sizeof r->bank);
    memcpy(r->bank, r->before, sizeof r->bank);
    r->f.threads = r->f.executed = 0;
    uint32_t done = jit_enter(r->j, 0, r->f.active != LANES_ALL)(&r->f);
    for (uint32_t i = done & ~(uint32_t)JIT_REASON; i < r->a->p.n; i++)
        rig_step(&r->f, i);
    for (*at = SINK_BYTES; *at < r->a->p.reg_bytes; ++*at)
        if (r->bank[*at] != r->want[*at])
            return false;
    return r->f.threads == lanes;
}

/* Returns a random value, often one at the limits of its range. */
static inline uint64_t rig_value(uint64_t *rng, unsigned bytes) {
    static const uint32_t words[] = {0, 1, 2, 31, 32, 33, 0xffffffff, 0x80000000, 0x7fffffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000,
                                     0xbf800000, 0x7f7fffff, 0x40490fdb,
                                     /* the limits of f32: 2^126 for div.approx, 2^31 and 2^32 for integers */
                                     0x7e800000, 0xfe800001, 0x4f000000, 0xcf000000, 0x4f800000,
                                     /* their products and quotients are near the least normal f32 */
                                     0x00ffffff, 0x81000001, 0x3f000000, 0xbf000001, 0x40000000};
    static const uint64_t longs[] = {0,
                                     1,
                                     63,
                                     64,
                                     UINT64_MAX,
                                     1ull << 63,
                                     INT64_MAX,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x7ff0000000000001,
                                     0xfff8123456789abc,
                                     0x000fffffffffffff,
                                     0x3ff0000000000000,
                                     0x7fefffffffffffff,
                                     0x80000000,
                                     0xffffffff80000000,
                                     0x41dfffffffc00000, /* 2^31 - 1 */
                                     0x41dfffffffe00000,
                                     0xc1e0000000000000};
    uint64_t x = test_random(rng);
    if (test_random_below(rng, 3) == 0)
        return x;
    /* both operands have similar magnitudes, so that a sum differs from each of them */
    if (test_random_below(rng, 3) == 0)
        return bytes == 8 ? 0x4000000000000000 | x >> 12 : 0x40000000 | (uint32_t)x >> 9;
    return bytes == 8 ? longs[x % (sizeof longs / sizeof *longs)] : words[x % (sizeof words / sizeof *words)];
}

/* Fills register `reg`, of `size` bytes per lane (0: a predicate), with random values for the start of the block. */
static inline void rig_fill(struct rig *r, uint64_t *rng, opnd_t reg, unsigned size) {
    unsigned char *to = r->before + (reg >> 1);
    if (!size) {
        uint32_t m = (uint32_t)test_random(rng);
        memcpy(to, &m, sizeof m);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t v = rig_value(rng, size);
        memcpy(to + l * size, &v, size < 8 ? size : 8);
    }
}
#endif
