/* The prefetcher with spatial locality detection of Jog et al., Orchestrated scheduling and prefetching for GPGPUs,
 * ISCA 2013. A macro-block is an aligned group of sld.lines lines. A table counts the lines of each macro-block that
 * loads missed. When the count reaches sld.threshold, the prefetcher requests the other lines, once.
 * mechanisms/orchestrated has the paper's prefetch-aware warp scheduler.
 *
 * Our reading of the paper: The table has sld.entries entries with LRU replacement, and a merged miss counts as a miss
 * of its line. */
#include "mechanisms/mechanism.h"
#include "timing/config/config.h"
#include <stdlib.h>
#include <string.h>

struct sld_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "sld.def"
};

struct sld_entry {
    uint64_t block;  /* number of the macro-block */
    uint64_t used;   /* time of the last miss; 0 for a free entry */
    uint32_t missed; /* lines that loads missed */
};

struct sld {
    const struct prefetch_place *place;
    const struct sld_cfg *cfg;
    uint64_t clock;
    struct sld_counts n;
    struct sld_entry entry[];
};

static void *make(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    struct sld *p = calloc(1, sizeof *p + cfg->sld.entries * sizeof p->entry[0]);
    (void)ctx;
    if (p) {
        p->place = place;
        p->cfg = &cfg->sld;
    }
    return p;
}

/* Returns the entry of a macro-block, which it makes if there is none. */
static struct sld_entry *find(struct sld *p, uint64_t block) {
    struct sld_entry *oldest = &p->entry[0];
    for (struct sld_entry *e = p->entry; e < p->entry + p->cfg->entries; e++) {
        if (e->used && e->block == block)
            return e;
        if (e->used < oldest->used)
            oldest = e;
    }
    p->n.replaced += oldest->used != 0;
    *oldest = (struct sld_entry){.block = block};
    return oldest;
}

/* Requests the lines of the macro-block that no load has missed yet. */
static void prefetch(struct sld *p, struct sld_entry *e, const struct prefetch_seen *s) {
    p->n.blocks++;
    for (uint32_t k = 0; k < p->cfg->lines; k++) {
        if (e->missed >> k & 1)
            continue;
        const struct prefetch_request r = {.address = (e->block * p->cfg->lines + k) * p->place->line_bytes,
                                           .pc = s->pc,
                                           .warp = s->warp,
                                           .want = PREFETCH_LINE};
        p->n.wanted++;
        p->n.full += prefetch_ask(p->place, &r, s->cycle) != PREFETCH_QUEUED;
    }
}

static void observe(void *prefetcher, const struct prefetch_seen *s) {
    struct sld *p = prefetcher;
    bool missed = s->result == SEEN_MISS || s->result == SEEN_MERGED;
    if (s->kind != SEEN_LOAD || s->local || !missed || !p->place->line_bytes)
        return;
    uint64_t line = s->line / p->place->line_bytes;
    struct sld_entry *e = find(p, line / p->cfg->lines);
    uint32_t before = (uint32_t)__builtin_popcount(e->missed);
    p->n.lookups++;
    e->used = ++p->clock;
    e->missed |= 1u << line % p->cfg->lines;
    uint32_t now = (uint32_t)__builtin_popcount(e->missed);
    if (now > before && now == p->cfg->threshold)
        prefetch(p, e, s);
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct sld_counts
#include "sld.def"
};
/* clang-format on */

static void add_stats(void *prefetcher, const struct prefetch_counts *n, struct stats *s) {
    struct sld *p = prefetcher;
    STATS_COUNT(s, rows, &p->n);
    PREFETCH_STATS_PUT(sld, n, s);
    memset(&p->n, 0, sizeof p->n);
}

static const struct prefetcher_ops at_l1 = {
    .name = "sld", .make = make, .free = free, .observe = observe, .stats = add_stats};

const struct mechanism mechanism_sld = {
    .name = "sld",
    .help = "prefetching of macro-blocks whose lines miss, into the L1 (docs/prefetching.md)",
    .paper = "Jog et al., Orchestrated scheduling and prefetching for GPGPUs, ISCA 2013",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("prefetchers"),
    .at_l1 = &at_l1,
    .options = PREFIXES("sld."),
    .statistics = PREFIXES("sld."),
};
