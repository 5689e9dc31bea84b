/* Tests the whole memory side with random traffic: the results are equal for every order in which the parts run. */
#include "test/test.h"
#include "test/timing/mem/rig.h"
#include "timing/config/warp_set.h"
#include "timing/mem/lsu.h"

/* Random traffic. An SM's accesses depend only on its own generator and on the cycles in which its unit accepts
 * them. So the traffic and its results depend only on the configuration. */
struct traffic {
    uint64_t rng, next_issue, hash, done;
    uint32_t left, sectors; /* sectors: number of sectors of instruction fetches in flight */
};

static uint32_t rnd(struct traffic *t) { return (uint32_t)(test_random(&t->rng) >> 33); }

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
                           .local_stride = r->cfg.lsu.local_map == LOCAL_BY_WORD ? 1920 : 128,
                           .warp = (uint8_t)(rnd(t) % WARP_SLOTS),
                           .tag = rnd(t)};
    if (a.kind <= MEM_ATOMIC && space < 2) {
        a.space = space ? SPACE_LOCAL : SPACE_SHARED;
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = (addr[l] >> 2 & 1023) * 4;
    }
    lsu_accept(r->lsu[sm], &a, now);
    if (rnd(t) % 32 == 0)
        t->sectors += 4 * lsu_fetch(r->lsu[sm], 0x4000 + rnd(t) % 64 * 128, rnd(t), false, now);
    t->next_issue = now + 1 + (rnd(t) % 4 ? rnd(t) % 4 : rnd(t) % 400);
    t->left--;
}

static void note(struct traffic *t, uint64_t now, uint32_t tag) {
    t->hash = (t->hash ^ now ^ (uint64_t)tag << 32) * 1099511628211ull;
    t->done = now;
}

/* Runs one cycle of SM `sm`. */
static void step(struct rig *r, uint32_t sm, struct traffic *t, uint64_t now) {
    uint32_t tag;
    uint8_t sectors;
    bool missed;
    lsu_tick(r->lsu[sm], now);
    while (lsu_done(r->lsu[sm], &tag, &missed))
        note(t, now, tag + missed);
    while (lsu_fetch_done(r->lsu[sm], now, &tag, &sectors))
        note(t, now, tag + sectors), t->sectors -= (uint32_t)__builtin_popcount(sectors);
    while (lsu_stores_ended(r->lsu[sm], &tag))
        note(t, now, tag);
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

/* A prefetcher that requests lines near the lines that are accessed, sometimes with a lock, and unlocks some lines
 * when they arrive. It computes a hash of all its callbacks. */
struct wild {
    const struct prefetch_place *place;
    uint64_t rng, hash;
    uint32_t locked;
    uint64_t *sum; /* of all prefetchers */
};

static void wild_note(struct wild *w, uint64_t a, uint64_t b) { w->hash = (w->hash ^ a ^ b << 17) * 1099511628211ull; }

static void wild_ask(struct wild *w, enum prefetch_want want, uint64_t address, uint64_t now) {
    const struct prefetch_request r = {.address = address, .tag = (uint32_t)(address >> 5), .want = (uint8_t)want};
    enum prefetch_asked a = prefetch_ask(w->place, &r, now);
    wild_note(w, a, now);
    w->locked += a == PREFETCH_QUEUED && want == PREFETCH_LOCK;
}

static void wild_observe(void *p, const struct prefetch_seen *s) {
    struct wild *w = p;
    uint32_t dice = (uint32_t)(test_random(&w->rng) >> 33);
    wild_note(w, s->cycle * 64 + s->kind * 8 + s->result, s->line + s->first_use + 2 * s->late + 4 * s->own);
    if (dice % 4)
        return;
    static const uint8_t wants[8] = {PREFETCH_LINE, PREFETCH_LINE,    PREFETCH_LINE, PREFETCH_LINE,
                                     PREFETCH_LOCK, PREFETCH_INTO_L2, PREFETCH_LINE, PREFETCH_LOCK};
    wild_ask(w, wants[dice / 4 % 8], s->address + dice / 32 % 16 * 128 - 512, s->cycle);
}

static void wild_evicted(void *p, const struct prefetch_victim *v) {
    wild_note(p, v->cycle * 4 + v->ahead * 2 + v->unused, v->line);
}

static void wild_answer(void *p, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    struct wild *w = p;
    wild_note(w, now * 8 + a, tag);
    if (w->locked && (a == PREFETCH_ARRIVED || a == PREFETCH_PRESENT) && test_random(&w->rng) >> 62) {
        w->locked--;
        wild_ask(w, PREFETCH_UNLOCK, (uint64_t)tag << 5, now);
    }
}

static void wild_room(void *p, uint64_t now) { wild_note(p, now, 1); }

static void *wild_make(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    (void)cfg;
    struct wild *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    *w = (struct wild){.place = place, .rng = place->number * 2 + (place->level == PREFETCH_AT_L2), .sum = ctx};
    return w;
}

static void wild_free(void *p) {
    struct wild *w = p;
    *w->sum = (*w->sum ^ w->hash) * 31;
    free(w);
}

static const struct prefetcher_ops wild_ops = {.name = "wild",
                                               .make = wild_make,
                                               .free = wild_free,
                                               .observe = wild_observe,
                                               .evicted = wild_evicted,
                                               .answer = wild_answer,
                                               .room = wild_room};

/* MEMORY_FIRST: the memory side runs each window before the SMs. HALVES: the request network and the other units run
 * one after the other, in turn, as if on two threads. The results must be the same as in the other modes. */
enum mode { EVERY_CYCLE, EVENTS, EVENTS_SHORT_WINDOWS, MEMORY_FIRST, HALVES };

/* Runs the memory side as memsys_run() does, but each half alone. The units run as far ahead as they can without the
 * requests of this window. Returns true if this was possible: the units were as far ahead before. */
static bool run_halves(struct memsys *m, uint64_t from, uint64_t to, bool requests_first) {
    memsys_exchange(m);
    const uint64_t ahead = memsys_leads(m, 0);
    const bool apart = memsys_followed(m) == from && memsys_led(m) >= to;
    if (!apart)
        memsys_run(m, from, to);
    if (apart && requests_first)
        memsys_follow_beside(m, to);
    for (uint32_t p = 0; p < memsys_partitions(m); p++)
        memsys_lead_partition(m, p, ahead);
    memsys_lead(m, ahead);
    if (apart && !requests_first)
        memsys_follow_beside(m, to);
    memsys_exchange(m);
    return apart;
}

/* Returns true if the units are a whole window ahead: the ROP latency is longer than two crossings. */
static bool halves_may_run_apart(const struct config *c) {
    return c->memory.model == MEMORY_FULL && c->memory.rop_latency > 2 * c->icnt.latency;
}

/* Runs the traffic to its end and adds its statistics to `s`. Returns a hash of all completions. If each cache has a
 * prefetcher, the hash covers the prefetchers' callbacks, too. */
static uint64_t run_traffic(struct rig *r, enum mode mode, struct stats *s, uint32_t accesses, bool prefetch) {
    struct traffic t[SMS] = {{0}};
    uint32_t sms = r->cfg.gpu.sms, quantum, n = 0;
    uint64_t sum = 0;
    rig_start(r);
    for (uint32_t i = 0; prefetch && i < sms; i++)
        ck_assert(lsu_add_prefetcher(r->lsu[i], &wild_ops, &sum));
    if (prefetch)
        ck_assert(memsys_add_prefetcher(r->mem, &wild_ops, &sum));
    memsys_poll(r->mem, mode == EVERY_CYCLE);
    for (uint32_t i = 0; i < sms; i++)
        t[i] = (struct traffic){.rng = i * 77 + 5, .left = accesses};
    uint64_t now = 0, idle = 0, apart = 0;
    while (idle < 2000) {
        uint32_t crossing = memsys_crossing(r->mem), window = crossing ? crossing : memsys_quantum(r->mem);
        bool first = mode == MEMORY_FIRST && crossing;
        quantum = mode == EVERY_CYCLE ? 1 : window;
        if (mode == EVENTS_SHORT_WINDOWS)
            quantum = 1 + ++n % quantum;
        uint64_t to = now + quantum;
        bool any = false;
        memsys_exchange(r->mem);
        if (first)
            memsys_follow(r->mem, to);
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
        if (mode == HALVES)
            apart += run_halves(r->mem, now, to, ++n % 2);
        else if (!first)
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
        EXPECT(now < 40000000, "no end in sight");
    }
    uint64_t hash = 0;
    ck_assert(mode != HALVES || apart * 2 > n || !halves_may_run_apart(&r->cfg));
    for (uint32_t i = 0; i < sms; i++) {
        ck_assert_uint_eq(t[i].left, 0);
        ck_assert_uint_eq(t[i].sectors, 0);
        for (uint32_t w = 0; w < 64; w++)
            ck_assert_uint_eq(lsu_stores(r->lsu[i], w), 0);
        hash = (hash ^ t[i].hash) * 31 + t[i].done;
        lsu_stats(r->lsu[i], s);
    }
    memsys_stats(r->mem, s);
    rig_stop(r);
    return hash ^ sum;
}

enum { VARIANTS = 13 };

/* Configurations with caches of clusters: with the usual sizes, with the smallest sizes, without any other caches,
 * and with a sectored L2. */
static void variant_of_clusters(struct config *c, int i) {
    c->gpc.sms = i == 9 ? 2 : i == 11 ? 1 : 4;
    c->gpc.cache.size = 4096;
    if (i == 10) {
        c->gpc.cache = (struct cache_cfg){.size = 256, .ways = 1, .line = 256, .mshrs = 1, .merges = 1, .latency = 1};
        c->gpc.queue = c->gpc.port_bytes = 1;
        c->icnt.sm_queue = c->icnt.slice_queue = c->icnt.latency = 1;
    } else if (i == 11) {
        c->l1.size = c->l1c.size = c->tex.size = c->l2.size = 0;
        c->gpc.queue = 5;
        c->gpc.cache.line = 128;
    } else if (i == 12) {
        c->l2.sectored = c->l1.sectored = true;
        c->gpu.sms = 15;
        c->gpc.cache.latency = 2000;
        c->gpc.cache.merges = 3;
        c->memory.rop_latency = 7;
    }
}

/* Configurations that exercise rare code paths: tiny queues and caches, sectors, and one unit of every kind. */
static void variant(struct config *c, int i) {
    config_default(c);
    c->gpu.sms = 4;
    if (i == 8 || i == 12)
        c->tlb = (struct tlb_cfg){.entries = 2,
                                  .page = 4096,
                                  .l2_entries = 3,
                                  .l2_page = 8192,
                                  .latency = 30,
                                  .walk = 70,
                                  .misses = i == 8 ? 2 : 9};
    if (i == 1) {
        c->l1.mshrs = c->l1.merges = c->l2.mshrs = c->l2.merges = 2;
        c->icnt.sm_queue = c->icnt.slice_queue = 1;
        c->dram.queue = 3;
        c->icnt.latency = 1;
    } else if (i == 2) {
        c->l1.sectored = c->tex.sectored = c->l2.sectored = true;
        c->l1.size = 4096;
        c->l2.size = 12 * 8 * 128 * 2;
        c->memory.request_sectors = 2;
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
    } else if (i == 7) { /* most memory options that fermi-gpgpusim sets */
        c->l2.sectored = true;
        c->l1.index = INDEX_FERMI;
        c->lsu.split_wide = c->lsu.local_allocate = c->lsu.shared_serial = false;
        c->lsu.segments = c->lsu.atomic_lanes = c->lsu.constant_lines = true;
        c->lsu.local_map = LOCAL_BY_WORD;
        c->icnt.buffer = c->icnt.sm_queue = c->icnt.slice_queue = 64;
    } else if (i == 8) { /* like the previous configuration, with the smallest sizes */
        c->l2.sectored = c->l1.sectored = true;
        c->l1.mshrs = c->l1.merges = c->l2.mshrs = c->l2.merges = 1;
        c->memory.request_sectors = 4;
        c->icnt.sm_queue = c->icnt.slice_queue = 1;
        c->icnt.speedup = 8;
        c->dram.queue = 1;
        c->dram.atom = 32;
        c->l2.index = INDEX_XOR;
        c->l1.size = 4096;
        c->l2.size = 12 * 8 * 128 * 2;
        c->lsu.segments = c->lsu.atomic_lanes = true;
        c->lsu.local_allocate = false;
    } else if (i >= 9) {
        variant_of_clusters(c, i);
    }
}

START_TEST(events_and_polling_agree) {
    static struct rig r;
    struct stats a, b, c, e, h;
    ck_assert(stats_init(&a) && stats_init(&b) && stats_init(&c) && stats_init(&e) && stats_init(&h));
    variant(&r.cfg, _i % VARIANTS);
    uint64_t every = run_traffic(&r, EVERY_CYCLE, &a, 300, _i >= VARIANTS);
    ck_assert_uint_eq(run_traffic(&r, EVENTS, &b, 300, _i >= VARIANTS), every);
    ck_assert_uint_eq(run_traffic(&r, EVENTS_SHORT_WINDOWS, &c, 300, _i >= VARIANTS), every);
    ck_assert_uint_eq(run_traffic(&r, MEMORY_FIRST, &e, 300, _i >= VARIANTS), every);
    ck_assert_uint_eq(run_traffic(&r, HALVES, &h, 300, _i >= VARIANTS), every);
    if (_i >= VARIANTS) { /* the prefetchers had work */
        bool l2 = r.cfg.memory.model == MEMORY_FULL && r.cfg.l2.size;
        ck_assert(!r.cfg.l1.size || (stats_get(&a, "l1.prefetches") > 0 && stats_get(&a, "l1.locked_lines") > 0));
        ck_assert(!l2 || stats_get(&a, "l2.prefetch_lookups") > 20);
        ck_assert(!l2 || r.cfg.memory.perfect_memory || stats_get(&a, "l2.prefetches") > 20);
    }
    ck_assert((_i % VARIANTS == 8 || _i % VARIANTS == 12) == (stats_get(&a, "tlb.walks") > 3));
    ck_assert((_i % VARIANTS >= 9) == (stats_get(&a, "gpc.accesses") > 30));
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++)
        if (d[i].kind == STAT_SUM && strcmp(d[i].name, "dram.clocks") != 0) {
            ck_assert_msg(a.v[i] == b.v[i] && a.v[i] == c.v[i] && a.v[i] == e.v[i] && a.v[i] == h.v[i],
                          "%s: %g, %g, %g, %g, %g", d[i].name, a.v[i], b.v[i], c.v[i], e.v[i], h.v[i]);
        }
    stats_free(&a), stats_free(&b), stats_free(&c), stats_free(&e), stats_free(&h);
}
END_TEST

/* By default each variant is tested either with prefetchers or without; with HEDDLE_EVERY, both. */
SUITE(timing_traffic) {
    for (int i = 0; i < 2 * VARIANTS; i++)
        if (test_every() || (i / VARIANTS + i % VARIANTS) % 2 == 0)
            TEST_LOOP(events_and_polling_agree, i, i + 1);
}
