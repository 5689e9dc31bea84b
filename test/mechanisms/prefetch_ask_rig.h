#ifndef TEST_PREFETCH_ASK_RIG_H
#define TEST_PREFETCH_ASK_RIG_H
/* Test fixture: runs a mechanism's prefetcher without a cache. The test reports accesses by observe(), and the fixture
 * records the prefetcher's requests. */
#include "mechanisms/mechanism.h"
#include "test/test.h"
#include "timing/config/config.h"

enum { LINE = 128, MAX_ASKED = 64 };
static struct config cfg;
static uint64_t asked[MAX_ASKED]; /* line numbers */
static uint32_t n_asked;

static enum prefetch_asked record(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now) {
    (void)cache, (void)who, (void)now;
    ck_assert_uint_lt(n_asked, MAX_ASKED);
    ck_assert_int_eq(r->want, PREFETCH_LINE);
    asked[n_asked++] = r->address / LINE;
    return PREFETCH_QUEUED;
}

static const struct prefetch_place place = {.level = PREFETCH_AT_L1, .line_bytes = LINE, .ask = record};

/* Makes the prefetcher with options such as "sld.lines=2"; the last is NULL. */
static void *start(const struct mechanism *m, const char *const *set) {
    char err[256];
    config_default(&cfg);
    for (; *set; set++)
        ck_assert_msg(config_set(&cfg, *set, err, sizeof err), "%s", err);
    void *p = m->at_l1->make(&cfg, &place, NULL);
    ck_assert_ptr_nonnull(p);
    n_asked = 0;
    return p;
}

/* Reports an access to a line. Returns the number of requests that it causes; they are in asked[]. */
static uint32_t see(const struct mechanism *m, void *p, uint64_t line, enum prefetch_kind kind,
                    enum prefetch_result result, bool first_use) {
    n_asked = 0;
    m->at_l1->observe(p, &(struct prefetch_seen){.address = line * LINE + 8,
                                                 .line = line * LINE,
                                                 .kind = (uint8_t)kind,
                                                 .result = (uint8_t)result,
                                                 .first_use = first_use});
    return n_asked;
}
#endif
