/* The prefetches of OWL: when a load misses a slice of the L2, its row of DRAM is open. The prefetcher then requests
 * further lines of this row into the slice, so that they need no activation later. A request reads the tags only in a
 * cycle in which no other access does, and is dropped if the DRAM has no room.
 *
 * Our reading of the paper: A miss requests the next owl.prefetch lines of its row after its own line. The beginning
 * of the row follows its end. It leaves out lines that missed or were requested since the bank's row changed. */
#include "owl_parts.h"
#include "timing/config/config.h"
#include "timing/mem/memmap.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BANKS = 64, MOST_LINES = 2048 };

struct owl_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "owl.def"
};

struct owl_rows {
    const struct prefetch_place *place;
    uint32_t degree;
    struct memmap map;
    struct owl_counts n;
    /* by bank: the last row in which a load missed, plus 1; its lines that missed or were requested */
    struct {
        uint64_t row;
        uint64_t seen[MOST_LINES / 64];
    } bank[MOST_BANKS];
};

static void *make(const struct config *cfg, const struct prefetch_place *place, void *ctx) {
    struct owl_rows *p = calloc(1, sizeof *p);
    (void)ctx;
    if (!p)
        return NULL;
    p->place = place;
    p->degree = cfg->owl.prefetch;
    memmap_init(&p->map, cfg);
    return p;
}

static void request(struct owl_rows *p, const struct prefetch_seen *s, uint64_t line) {
    const struct prefetch_request r = {.address = memmap_address(&p->map, p->place->number, line),
                                       .pc = s->pc,
                                       .warp = s->warp,
                                       .want = PREFETCH_LINE};
    p->n.full += prefetch_ask(p->place, &r, s->cycle) != PREFETCH_QUEUED;
}

static void observe(void *prefetcher, const struct prefetch_seen *s) {
    struct owl_rows *p = prefetcher;
    if (s->kind != SEEN_LOAD || s->result != SEEN_MISS || !p->place->line_bytes)
        return;
    const uint64_t line = memmap_place(&p->map, s->line).line;
    const uint32_t lines = p->map.row_pieces << p->map.lines_shift;
    const struct dram_place at = memmap_dram(&p->map, p->place->number, line);
    const uint64_t first = line - line % lines;
    uint64_t *seen = p->bank[at.bank % MOST_BANKS].seen;
    uint32_t k = (uint32_t)(line - first);
    if (p->bank[at.bank % MOST_BANKS].row != (uint64_t)at.row + 1) {
        p->bank[at.bank % MOST_BANKS].row = (uint64_t)at.row + 1;
        memset(seen, 0, MOST_LINES / 8);
        p->n.rows++;
    }
    seen[k / 64] |= 1ull << k % 64;
    for (uint32_t tried = 1, wanted = p->degree; tried < lines && wanted; tried++) {
        k = k + 1 < lines ? k + 1 : 0;
        if (seen[k / 64] >> k % 64 & 1)
            continue;
        seen[k / 64] |= 1ull << k % 64;
        request(p, s, first + k);
        wanted--;
    }
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct owl_counts
#include "owl.def"
};
/* clang-format on */

static void add_stats(void *prefetcher, const struct prefetch_counts *n, struct stats *s) {
    struct owl_rows *p = prefetcher;
    STATS_COUNT(s, rows, &p->n);
    PREFETCH_STATS_PUT(owl, n, s);
    memset(&p->n, 0, sizeof p->n);
}

const struct prefetcher_ops owl_rows = {
    .name = "owl", .make = make, .free = free, .observe = observe, .stats = add_stats};
