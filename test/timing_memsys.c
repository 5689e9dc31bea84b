/* The whole memory side: latencies as sums of their parts, bandwidth, and the same result whoever calls when. */
#include "test.h"
#include "timing/lsu.h"
#include <stdio.h>

enum { SMS = 15 };

struct rig {
    struct config cfg;
    struct memsys *mem;
    struct lsu *lsu[SMS];
    uint64_t now;
};

static void rig_start(struct rig *r) {
    r->mem = memsys_new(&r->cfg);
    ck_assert_ptr_nonnull(r->mem);
    for (uint32_t s = 0; s < r->cfg.gpu.sms; s++)
        ck_assert_ptr_nonnull(r->lsu[s] = lsu_new(&r->cfg, r->mem, s));
    r->now = 0;
}

static void rig_stop(struct rig *r) {
    for (uint32_t s = 0; s < r->cfg.gpu.sms; s++)
        lsu_free(r->lsu[s]);
    memsys_free(r->mem);
}

static void give(struct rig *r, uint32_t sm, enum mem_kind kind, uint64_t base, unsigned stride, uint32_t tag) {
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

/* Cycles until SM 0's access is done. */
static uint64_t latency(struct rig *r, enum mem_kind kind, uint64_t base, unsigned stride) {
    uint64_t start = r->now;
    uint32_t tag;
    bool missed;
    give(r, 0, kind, base, stride, 1);
    for (; r->now < start + 100000; r->now++) {
        lsu_tick(r->lsu[0], r->now);
        memsys_run(r->mem, r->now, r->now + 1);
        if (lsu_done(r->lsu[0], r->now, &tag, &missed))
            return r->now - start;
    }
    ck_abort_msg("no answer");
    return 0;
}

START_TEST(print_latencies) {
    static struct rig r;
    config_default(&r.cfg);
    rig_start(&r);
    printf("dram %d\n", (int)latency(&r, MEM_READ, 0x10000000, 4));
    printf("l1 %d\n", (int)latency(&r, MEM_READ, 0x10000000, 4));
    printf("dram row hit %d\n", (int)latency(&r, MEM_READ, 0x10000080, 4));
    latency(&r, MEM_WRITE, 0x10000000, 4);
    r.now += 1000;
    memsys_run(r.mem, r.now - 1000, r.now);
    printf("l2 %d\n", (int)latency(&r, MEM_READ, 0x10000000, 4));
    printf("atomic %d\n", (int)latency(&r, MEM_ATOMIC, 0x10000000, 4));
    rig_stop(&r);
}
END_TEST

/* Random traffic. An SM's accesses depend on nothing but its own generator and the cycles at which its unit takes them,
 * so everything that happens is a function of the configuration. */
struct traffic {
    uint64_t rng, next_issue, hash, done;
    uint32_t left, fetches;
};

static uint32_t rnd(struct traffic *t) {
    t->rng = t->rng * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(t->rng >> 33);
}

static void issue(struct rig *r, uint32_t sm, struct traffic *t, uint64_t now) {
    static const uint8_t kinds[16] = {MEM_READ,  MEM_READ,   MEM_READ,     MEM_READ,   MEM_READ,  MEM_READ,
                                      MEM_READ,  MEM_READ,   MEM_WRITE,    MEM_WRITE,  MEM_WRITE, MEM_WRITE,
                                      MEM_WRITE, MEM_ATOMIC, MEM_CONSTANT, MEM_TEXTURE};
    uint64_t addr[WARP_LANES];
    uint32_t pattern = rnd(t) % 8, space = rnd(t) % 8;
    uint64_t base = 0x10000000 + (rnd(t) % 2 ? rnd(t) % 64 : rnd(t) % 4096) * 256, stride = pattern < 4   ? 4
                                                                                            : pattern < 6 ? 36
                                                                                                          : 516;
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = pattern == 7 ? 0x10000000 + (rnd(t) % (1u << 20)) * 4 : base + l * stride;
    struct lsu_access a = {.lanes = rnd(t) | 1,
                           .space = SPACE_GLOBAL,
                           .kind = kinds[rnd(t) % 16],
                           .n_elems = 1,
                           .msize = 4,
                           .addr = addr,
                           .local_base = 0x20000000 + sm * 65536,
                           .tag = rnd(t)};
    if (a.kind <= MEM_ATOMIC && space < 2) {
        a.space = space ? SPACE_LOCAL : SPACE_SHARED;
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = (addr[l] >> 2 & 1023) * 4;
    }
    lsu_accept(r->lsu[sm], &a, now);
    if (rnd(t) % 32 == 0)
        t->fetches += lsu_fetch(r->lsu[sm], 0x4000 + rnd(t) % 64 * 128, rnd(t), now);
    t->next_issue = now + 1 + (rnd(t) % 4 ? rnd(t) % 4 : rnd(t) % 400);
    t->left--;
}

static void note(struct traffic *t, uint64_t now, uint32_t tag) {
    t->hash = (t->hash ^ now ^ (uint64_t)tag << 32) * 1099511628211ull;
    t->done = now;
}

/* One cycle of SM `sm`. */
static void step(struct rig *r, uint32_t sm, struct traffic *t, uint64_t now) {
    uint32_t tag;
    bool missed;
    lsu_tick(r->lsu[sm], now);
    while (lsu_done(r->lsu[sm], now, &tag, &missed))
        note(t, now, tag + missed);
    while (lsu_fetch_done(r->lsu[sm], now, &tag))
        note(t, now, tag), t->fetches--;
    if (t->left && t->next_issue <= now && lsu_can_accept(r->lsu[sm]))
        issue(r, sm, t, now);
}

static uint64_t sm_next(struct rig *r, uint32_t sm, const struct traffic *t, uint64_t now) {
    uint64_t next = lsu_next(r->lsu[sm], now);
    if (t->left && lsu_can_accept(r->lsu[sm])) {
        uint64_t at = t->next_issue > now ? t->next_issue : now + 1;
        next = at < next ? at : next;
    }
    return next;
}

enum mode { EVERY_CYCLE, EVENTS, EVENTS_SHORT_WINDOWS };

/* Runs the traffic to its end; statistics into `s`. The result is a hash of all completions. */
static uint64_t run_traffic(struct rig *r, enum mode mode, struct stats *s, uint32_t accesses) {
    struct traffic t[SMS] = {{0}};
    uint32_t sms = r->cfg.gpu.sms, quantum, n = 0;
    rig_start(r);
    memsys_poll(r->mem, mode == EVERY_CYCLE);
    for (uint32_t i = 0; i < sms; i++)
        t[i] = (struct traffic){.rng = i * 77 + 5, .left = accesses};
    uint64_t now = 0, idle = 0;
    while (idle < 2000) {
        quantum = mode == EVERY_CYCLE ? 1 : memsys_quantum(r->mem);
        if (mode == EVENTS_SHORT_WINDOWS)
            quantum = 1 + ++n % quantum;
        uint64_t to = now + quantum;
        bool any = false;
        for (uint32_t i = 0; i < sms; i++) {
            if (mode == EVERY_CYCLE) {
                any |= sm_next(r, i, &t[i], now) != UINT64_MAX;
                step(r, i, &t[i], now);
                continue;
            }
            uint64_t at = now ? sm_next(r, i, &t[i], now - 1) : 0;
            for (; at < to; at = sm_next(r, i, &t[i], at))
                step(r, i, &t[i], at);
            any |= at != UINT64_MAX;
        }
        memsys_run(r->mem, now, to);
        any |= memsys_next(r->mem, to) != UINT64_MAX;
        if (mode == EVENTS && any) { /* jump */
            uint64_t go = memsys_next(r->mem, to);
            for (uint32_t i = 0; i < sms; i++) {
                uint64_t at = sm_next(r, i, &t[i], to - 1);
                go = at < go ? at : go;
            }
            to = go == UINT64_MAX ? to : go;
        }
        idle = any ? 0 : idle + 1;
        now = to;
        ck_assert_msg(now < 40000000, "no end in sight");
    }
    uint64_t hash = 0;
    for (uint32_t i = 0; i < sms; i++) {
        ck_assert_uint_eq(t[i].left, 0);
        ck_assert_uint_eq(t[i].fetches, 0);
        hash = (hash ^ t[i].hash) * 31 + t[i].done;
        lsu_stats(r->lsu[i], s);
    }
    memsys_stats(r->mem, s);
    rig_stop(r);
    return hash;
}

/* Configurations that reach the rare paths: tiny queues and caches, sectors, one of everything. */
static void variant(struct config *c, int i) {
    config_default(c);
    c->gpu.sms = 4;
    if (i == 1) {
        c->l1.mshrs = c->l1.merges = c->l2.mshrs = c->l2.merges = 2;
        c->icnt.sm_queue = c->icnt.slice_queue = 1;
        c->dram.queue = 3;
        c->icnt.latency = 1;
    } else if (i == 2) {
        c->lsu.sectors = true;
        c->l1.size = 4096;
        c->l2.size = 12 * 8 * 128 * 2;
        c->icnt.latency = 3;
        c->memory.l2_write_miss = L2_FETCH;
        c->l1.write = CACHE_WRITE_BACK;
        c->lsu.queue = 3;
    } else if (i == 3) {
        c->gpu.sms = 15;
        c->memory.l2_slices = c->dram.channels = 1;
        c->l2.size = 65536;
        c->memory.l2_write_miss = L2_THROUGH_FETCH;
        c->dram.latency = 0;
    } else if (i == 4) {
        c->l1.size = c->l1c.size = c->tex.size = c->l2.size = 0;
        c->icnt.speedup = 1;
        c->icnt.buffer = 0;
        c->dram.policy = DRAM_FCFS;
    } else if (i == 5) {
        c->memory.model = MEMORY_FIXED;
        c->memory.latency = 50;
        c->memory.requests = 1;
    } else if (i == 6) {
        c->memory.perfect_memory = true;
        c->l1.ports = 2;
        c->memory.l2_write_miss = L2_THROUGH;
    }
}

START_TEST(events_and_polling_agree) {
    static struct rig r;
    struct stats a, b, c;
    ck_assert(stats_init(&a) && stats_init(&b) && stats_init(&c));
    variant(&r.cfg, _i);
    uint64_t every = run_traffic(&r, EVERY_CYCLE, &a, 400);
    ck_assert_uint_eq(run_traffic(&r, EVENTS, &b, 400), every);
    ck_assert_uint_eq(run_traffic(&r, EVENTS_SHORT_WINDOWS, &c, 400), every);
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++)
        if (d[i].kind == STAT_SUM && strcmp(d[i].name, "dram.clocks") != 0) {
            ck_assert_msg(a.v[i] == b.v[i] && a.v[i] == c.v[i], "%s: %g, %g, %g", d[i].name, a.v[i], b.v[i], c.v[i]);
        }
    if (getenv("SHOW"))
        for (int i = 0; i < n; i++)
            if (stats_get(&a, d[i].name) != 0)
                printf("%d %s %g\n", _i, d[i].name, stats_get(&a, d[i].name));
    stats_free(&a), stats_free(&b), stats_free(&c);
}
END_TEST

SUITE(timing_memsys) {
    TEST(print_latencies);
    TEST_LOOP(events_and_polling_agree, 0, 7);
}
