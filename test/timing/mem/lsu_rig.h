#ifndef TEST_TIMING_MEM_LSU_RIG_H
#define TEST_TIMING_MEM_LSU_RIG_H
/* A load/store unit with a memory of fixed latency. Expected cycles follow from the configuration. */
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

/* Latencies of Fermi (the defaults): address generation 1 cycle, L1 35 cycles, shared memory 26 cycles. Memory
 * beyond the L1 takes 300 cycles. */
static struct config cfg;
static struct memsys *mem;
static struct lsu *lsu;
static uint64_t now;
static uint64_t addr[WARP_LANES];
static const struct inst *inst; /* instruction of the next accesses; NULL: the instruction does not matter */

static inline void start(void) {
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = 300;
    mem = memsys_new(&cfg);
    lsu = lsu_new(&cfg, mem, 0);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_nonnull(lsu);
    now = 0;
}

static inline void setup(void) {
    config_default(&cfg);
    inst = NULL;
}

static inline void stop(void) {
    lsu_free(lsu);
    memsys_free(mem);
}

static inline void strided(uint64_t base, unsigned stride) {
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
}

static inline void give(enum space space, enum mem_kind kind, unsigned bytes, uint32_t tag) {
    struct lsu_access a = {.inst = inst,
                           .lanes = LANES_ALL,
                           .space = (uint8_t)space,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = (uint8_t)bytes,
                           .addr = addr,
                           .local_base = 0x20000000,
                           .local_stride = 128,
                           .tag = tag};
    ck_assert(lsu_can_accept(lsu));
    lsu_accept(lsu, &a, now);
}

/* Runs until an access completes. Returns the cycle, its tag, and whether it missed. */
static inline uint64_t wait(uint32_t *tag, bool *missed) {
    for (uint64_t limit = now + 10000; now < limit; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        if (lsu_done(lsu, tag, missed))
            return now;
    }
    ck_abort_msg("nothing finished in 10000 cycles");
    return 0;
}

static inline void expect(uint64_t cycle, uint32_t tag, bool missed) {
    uint32_t t;
    bool m;
    ck_assert_uint_eq(wait(&t, &m), cycle);
    ck_assert_uint_eq(t, tag);
    ck_assert_int_eq(m, missed);
}
#endif
