#ifndef TEST_TIMING_STRIDE_RIG_H
#define TEST_TIMING_STRIDE_RIG_H
/* Test fixture: a stride prefetcher without a machine. Tests pass it loads that miss, and read its requests. */
#include "isa/types.h"
#include "mechanisms/mechanism.h"
#include "test/test.h"
#include "timing/strides/prefetch_stride.h"
#include <stdio.h>

enum { LINE = 128, PC = 7, MOST = 256 };
#define BASE (DEVICE_BASE + 0x100000)

static struct config cfg;
static struct stride_prefetcher *p;
static struct stats stats;
/* The cache: the requests that it received, and its answer to the next request. */
static struct prefetch_request asked[MOST];
static int n_asked;
static enum prefetch_asked says;
static uint64_t now;

static inline enum prefetch_asked ask(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t cycle) {
    (void)cache, (void)who;
    ck_assert_uint_eq(cycle, now);
    ck_assert_int_lt(n_asked, MOST);
    if (says == PREFETCH_QUEUED)
        asked[n_asked++] = *r;
    return says;
}
static const struct prefetch_place place = {.level = PREFETCH_AT_L1, .line_bytes = LINE, .ask = ask};

/* Creates a prefetcher with these options, connected to the recording cache above. */
static inline void begin(const char *extension, const char *const *set) {
    char err[256];
    if (p)
        stride_prefetcher_free(p);
    config_default(&cfg);
    for (; set && *set; set++)
        ck_assert_msg(config_set(&cfg, *set, err, sizeof err), "%s", err);
    stats_free(&stats);
    ck_assert(stats_init(&stats));
    const struct mechanism *m = strcmp(extension, "ddp") == 0 ? &mechanism_ddp : &mechanism_stride;
    p = m->unit->make(&cfg, 0, NULL);
    ck_assert(p);
    stride_prefetcher_place(p, &cfg, &place);
    n_asked = 0;
    now = 1;
    says = PREFETCH_QUEUED;
}
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void setup(void) { ck_assert(stats_init(&stats)); }
static inline void teardown(void) {
    if (p)
        stride_prefetcher_free(p);
    p = NULL;
    stats_free(&stats);
}

static inline void see(uint32_t pc, uint8_t warp, uint64_t address, enum prefetch_result result, bool leads) {
    now++;
    stride_prefetcher_ops.observe(p, &(struct prefetch_seen){.cycle = now,
                                                             .address = address,
                                                             .line = address & ~(LINE - 1ull),
                                                             .pc = pc,
                                                             .warp = warp,
                                                             .kind = SEEN_LOAD,
                                                             .result = (uint8_t)result,
                                                             .leads = leads,
                                                             .sectors = 15});
}
/* Makes a load miss line `k`, counted from BASE. */
static inline void miss(int k) { see(PC, 0, BASE + (uint64_t)((int64_t)k * LINE), SEEN_MISS, true); }

static inline void arrive(int k) {
    for (int i = n_asked - 1; i >= 0; i--)
        if ((asked[i].address & ~(LINE - 1ull)) == BASE + (uint64_t)((int64_t)k * LINE)) {
            stride_prefetcher_ops.answer(p, asked[i].tag, PREFETCH_SENT, now);
            stride_prefetcher_ops.answer(p, asked[i].tag, PREFETCH_ARRIVED, now);
            return;
        }
    ck_abort_msg("line %d was not asked for", k);
}

/* Checks all requests, by their line numbers counted from BASE. */
static inline void expect_lines(const int *lines, int n) {
    char text[1024] = "";
    for (int i = 0; i < n_asked; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %lld",
                 ((long long)(asked[i].address - BASE)) / LINE);
    for (int i = 0; i < n || i < n_asked; i++)
        ck_assert_msg(i < n && i < n_asked && (long long)(asked[i].address - BASE) / LINE == lines[i],
                      "asked for%s: number %d is wrong", text, i);
}
#define ASKED(...) expect_lines((const int[]){__VA_ARGS__}, (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int)))

static inline double stat_of(const char *name) {
    stride_prefetcher_ops.stats(p, &(struct prefetch_counts){.asked = (uint64_t)n_asked}, &stats);
    return stats_get(&stats, name);
}
#endif
