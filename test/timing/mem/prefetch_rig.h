#ifndef TEST_TIMING_MEM_PREFETCH_RIG_H
#define TEST_TIMING_MEM_PREFETCH_RIG_H
/* Test fixture: a load/store unit with a memory of fixed latency, and with a prefetcher that records its callbacks.
 * Expected cycles follow from Fermi's latencies:
 * - an access that is issued in cycle 0 enters the L1's pipeline in cycle 1 and reads the tags at 35
 * - a miss returns 300 cycles later
 * - a prefetch request of cycle 0 enters in cycle 1, too */
#include "test/test.h"
#include "timing/mem/lsu_parts.h"
#include "timing/mem/prefetch.h"

enum { A = 0x10000000, SET = 4096 /* distance in bytes between lines of one set: 32 sets of lines of 128 bytes */ };

static struct config cfg;
static struct memsys *mem;
static struct lsu *lsu;
static uint64_t now;
static const struct prefetch_place *place;

/* Callbacks of the prefetcher, as recorded. */
static struct told {
    struct {
        uint32_t tag;
        enum prefetch_answer a;
        uint64_t cycle;
    } answer[1024];
    struct prefetch_seen seen[256];
    struct prefetch_victim victim[64];
    uint64_t room[8];
    uint32_t n_answers, n_seen, n_victims, n_room;
    struct prefetch_counts n;
    bool asks_again;
} told;

static inline uint32_t tag_asked_again(void) { return 99; }

static inline void on_answer(void *p, uint32_t tag, enum prefetch_answer a, uint64_t cycle) {
    struct told *t = p;
    t->answer[t->n_answers].tag = tag;
    t->answer[t->n_answers].a = a;
    t->answer[t->n_answers++].cycle = cycle;
}
static inline void on_observe(void *p, const struct prefetch_seen *s) {
    struct told *t = p;
    t->seen[t->n_seen++] = *s;
}
static inline void on_evicted(void *p, const struct prefetch_victim *v) {
    struct told *t = p;
    t->victim[t->n_victims++] = *v;
}
static inline void on_room(void *p, uint64_t cycle) {
    struct told *t = p;
    t->room[t->n_room++] = cycle;
    if (t->asks_again) {
        t->asks_again = false;
        const struct prefetch_request r = {.address = A + 128 * 99, .tag = tag_asked_again()};
        ck_assert_int_eq(prefetch_ask(place, &r, cycle), PREFETCH_QUEUED);
    }
}
static inline void on_stats(void *p, const struct prefetch_counts *n, struct stats *s) {
    (void)s;
    ((struct told *)p)->n = *n;
}
static inline int on_describe(const void *p, char *out, size_t size) {
    return snprintf(out, size, "%u answers", ((const struct told *)p)->n_answers);
}
static const struct prefetcher_ops recorder = {.name = "recorder",
                                               .observe = on_observe,
                                               .evicted = on_evicted,
                                               .answer = on_answer,
                                               .room = on_room,
                                               .stats = on_stats,
                                               .describe = on_describe};

static inline void setup(void) {
    config_default(&cfg);
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = 300;
    memset(&told, 0, sizeof told);
}

static inline void start(void) {
    mem = memsys_new(&cfg);
    lsu = lsu_new(&cfg, mem, 0);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_nonnull(lsu);
    place = lsu_join(lsu, &recorder, &told);
    now = 0;
}

static inline void stop(void) {
    lsu_free(lsu);
    memsys_free(mem);
}

static inline enum prefetch_asked ask(enum prefetch_want want, uint64_t address, uint32_t tag) {
    const struct prefetch_request r = {
        .address = address, .tag = tag, .pc = 7, .warp = 3, .note = (uint16_t)(tag + 1000), .want = (uint8_t)want};
    return prefetch_ask(place, &r, now);
}

static inline void give_inst(const struct inst *in, enum mem_kind kind, uint64_t base, unsigned stride, unsigned bytes,
                             uint32_t tag, bool unlock) {
    uint64_t addr[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
    struct lsu_access a = {.inst = in,
                           .lanes = LANES_ALL,
                           .space = SPACE_GLOBAL,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = (uint8_t)bytes,
                           .addr = addr,
                           .pc = 40 + tag,
                           .warp = 5,
                           .unlock = unlock,
                           .tag = tag};
    ck_assert(lsu_can_accept(lsu));
    lsu_accept(lsu, &a, now);
}

static inline void give(enum mem_kind kind, uint64_t base, unsigned stride, uint32_t tag) {
    give_inst(NULL, kind, base, stride, 4, tag, false);
}

/* Runs until `end`, and drops finished accesses. */
static inline void run(uint64_t end) {
    uint32_t tag;
    bool missed;
    for (; now < end; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        while (lsu_done(lsu, &tag, &missed))
            ;
    }
}

/* Returns the cycle in which the next access completes. Its tag must be `tag`. */
static inline uint64_t done(uint32_t tag) {
    uint32_t t;
    bool missed;
    for (uint64_t end = now + 5000; now < end; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        if (lsu_done(lsu, &t, &missed)) {
            ck_assert_uint_eq(t, tag);
            return now;
        }
    }
    ck_abort_msg("not done");
    return 0;
}

static inline void answered(uint32_t i, uint32_t tag, enum prefetch_answer a, uint64_t cycle) {
    ck_assert_uint_lt(i, told.n_answers);
    ck_assert_msg(told.answer[i].tag == tag && told.answer[i].a == a && told.answer[i].cycle == cycle,
                  "answer %u: tag %u, answer %d at %u, expected tag %u, %d at %u", i, told.answer[i].tag,
                  told.answer[i].a, (unsigned)told.answer[i].cycle, tag, a, (unsigned)cycle);
}

static inline double stat(const char *name) {
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    double v = stats_get(&s, name);
    stats_free(&s);
    return v;
}
#endif
