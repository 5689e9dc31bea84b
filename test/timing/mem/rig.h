#ifndef TEST_TIMING_MEM_RIG_H
#define TEST_TIMING_MEM_RIG_H
/* Test fixture: load/store units and the whole memory side, which tests call cycle by cycle. */
#include "test/test.h"
#include "timing/mem/lsu.h"

enum { SMS = 15 };

struct rig {
    struct config cfg;
    struct memsys *mem;
    struct lsu *lsu[SMS];
    uint64_t now;
};

static inline void rig_start(struct rig *r) {
    r->mem = memsys_new(&r->cfg);
    ck_assert_ptr_nonnull(r->mem);
    for (uint32_t s = 0; s < r->cfg.gpu.sms; s++)
        ck_assert_ptr_nonnull(r->lsu[s] = lsu_new(&r->cfg, r->mem, s));
    r->now = 0;
}

static inline void rig_stop(struct rig *r) {
    for (uint32_t s = 0; s < r->cfg.gpu.sms; s++)
        lsu_free(r->lsu[s]);
    memsys_free(r->mem);
}

static inline void give(struct rig *r, uint32_t sm, enum mem_kind kind, uint64_t base, unsigned stride, uint32_t tag) {
    uint64_t addr[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
    struct lsu_access a = {.lanes = LANES_ALL,
                           .space = SPACE_GLOBAL,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = 4,
                           .addr = addr,
                           .tag = tag};
    lsu_accept(r->lsu[sm], &a, r->now);
}

/* Returns the cycles until SM 0's access completes. */
static inline uint64_t latency(struct rig *r, enum mem_kind kind, uint64_t base, unsigned stride) {
    uint64_t start = r->now;
    uint32_t tag;
    bool missed;
    give(r, 0, kind, base, stride, 1);
    for (; r->now < start + 100000; r->now++) {
        lsu_tick(r->lsu[0], r->now);
        memsys_run(r->mem, r->now, r->now + 1);
        if (lsu_done(r->lsu[0], &tag, &missed))
            return r->now - start;
    }
    ck_abort_msg("no answer");
    return 0;
}

static inline void ticks(struct rig *r, uint64_t cycles) {
    for (uint64_t end = r->now + cycles; r->now < end; r->now++) {
        lsu_tick(r->lsu[0], r->now);
        memsys_run(r->mem, r->now, r->now + 1);
    }
}

/* Starts a rig in which all domains have one clock. `far`: l2.far_latency. A load that misses:
 * - reads the L1's tags at 35 and leaves the SM
 * - reads the L2's tags at 163, after 8 cycles in the crossbar and 120 in the ROP */
static inline void one_clock_far(struct rig *r, uint32_t far) {
    config_default(&r->cfg);
    r->cfg.memory.l2_far = far;
    r->cfg.dram.data_rate = 2;
    r->cfg.gpu.core_mhz = r->cfg.gpu.icnt_mhz = r->cfg.gpu.l2_mhz = r->cfg.gpu.dram_mhz = 700;
    rig_start(r);
}
static inline void one_clock(struct rig *r) { one_clock_far(r, 0); }

/* Returns the bytes per cycle that DRAM delivers to loads when each load reads a new line. */
static inline double stream(struct rig *r) {
    uint64_t line = 0;
    struct stats s;
    ck_assert(stats_init(&s));
    rig_start(r);
    for (; r->now < 24000; r->now++) {
        for (uint32_t sm = 0; sm < r->cfg.gpu.sms; sm++) {
            uint32_t tag;
            bool missed;
            lsu_tick(r->lsu[sm], r->now);
            while (lsu_done(r->lsu[sm], &tag, &missed))
                ;
            if (lsu_can_accept(r->lsu[sm]))
                give(r, sm, MEM_READ, 0x10000000 + 128 * line++, 4, 0);
        }
        memsys_run(r->mem, r->now, r->now + 1);
        if (r->now == 3999) { /* the pipelines are full, so bytes are counted from here on */
            memsys_stats(r->mem, &s);
            stats_free(&s);
            ck_assert(stats_init(&s));
        }
    }
    memsys_stats(r->mem, &s);
    double rate = stats_get(&s, "dram.read_bytes") / 20000;
    stats_free(&s);
    rig_stop(r);
    return rate;
}
#endif
