/* Next-line prefetching into the L1 [Smith, Cache memories, Computing Surveys 1982]. A load that misses prefetches the
 * next lines. With nextline.tagged, so does the first use of a prefetched line. */
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include <stdlib.h>
#include <string.h>

struct nextline_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "nextline.def"
};

struct nextline {
    const struct prefetch_place *place;
    const struct nextline_cfg *cfg;
    struct nextline_counts n;
};

static void *make(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    struct nextline *p = calloc(1, sizeof *p);
    (void)ctx;
    if (p) {
        p->place = place;
        p->cfg = &cfg->nextline;
    }
    return p;
}

static void observe(void *prefetcher, const struct prefetch_seen *s) {
    struct nextline *p = prefetcher;
    bool begins = s->result == SEEN_MISS || (p->cfg->tagged && s->first_use);
    if (s->kind != SEEN_LOAD || s->local || !begins || !p->place->line_bytes)
        return;
    for (uint32_t k = 1; k <= p->cfg->degree; k++) {
        const struct prefetch_request r = {.address = s->line + (uint64_t)k * p->place->line_bytes,
                                           .pc = s->pc,
                                           .warp = s->warp,
                                           .want = PREFETCH_LINE};
        p->n.wanted++;
        p->n.full += prefetch_ask(p->place, &r, s->cycle) != PREFETCH_QUEUED;
    }
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct nextline_counts
#include "nextline.def"
};
/* clang-format on */

static void add_stats(void *prefetcher, const struct prefetch_counts *n, struct stats *s) {
    struct nextline *p = prefetcher;
    STATS_COUNT(s, rows, &p->n);
    PREFETCH_STATS_PUT(nextline, n, s);
    memset(&p->n, 0, sizeof p->n);
}

static const struct prefetcher_ops at_l1 = {
    .name = "nextline", .make = make, .free = free, .observe = observe, .stats = add_stats};

const struct mechanism mechanism_nextline = {
    .name = "nextline",
    .help = "next-line prefetching into the L1, after a miss or a first use (docs/prefetching.md)",
    .paper = "Smith, Cache memories, Computing Surveys 1982",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("prefetchers"),
    .at_l1 = &at_l1,
    .options = PREFIXES("nextline."),
    .statistics = PREFIXES("nextline."),
};
