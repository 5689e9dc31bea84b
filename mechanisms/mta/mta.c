/* Many-thread aware prefetching into the L1, as evaluated in "Decoupled Affine Computation for SIMT GPUs" (its
 * reference [15]). docs/cae-mta.md separates rules of the papers from choices of this project. Options: struct
 * mta_cfg. */
#include "isa/types.h"
#include "mechanisms/mechanism.h"
#include "mta_tables.h"
#include "mta_throttle.h"
#include "timing/config/config.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>
#include <string.h>

/* Device memory is between these addresses. Prefetch addresses outside are dropped. */
#define LOWEST  DEVICE_BASE
#define HIGHEST (1ull << 40)

struct mta_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "mta.def"
};

struct mta {
    const struct prefetch_place *place;
    const struct mta_cfg *cfg;
    struct mta_tables tables;
    struct mta_throttle throttle;
    const struct program **kernel; /* kernels in the order of their first launches */
    uint32_t n_kernels, cap_kernels;
    uint64_t first_pc; /* PC offset of the running kernel */
    struct mta_counts n;
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    const struct mta_cfg *c = &cfg->mta;
    struct mta *m = calloc(1, sizeof *m);
    (void)sm;
    (void)ctx;
    if (!m)
        return NULL;
    m->cfg = c;
    const struct mta_sizes sizes = {c->warp_entries, c->global_entries, c->inter_entries,
                                    c->ways,         c->train,          c->promote};
    m->throttle = (struct mta_throttle){.limits = {c->period, c->least, c->accuracy_low, c->accuracy_high, c->merges}};
    if (!mta_tables_init(&m->tables, &sizes)) {
        free(m);
        return NULL;
    }
    return m;
}

static void mta_free(void *p) {
    struct mta *m = p;
    mta_tables_free(&m->tables);
    free(m->kernel);
    free(m);
}

/* Gives each kernel its own range of PCs, since the PCs of every kernel begin at 0. Returns false if memory runs
 * out. */
static bool enter_kernel(struct mta *m, const struct program *p) {
    uint32_t k = 0;
    while (k < m->n_kernels && m->kernel[k] != p)
        k++;
    if (k == m->cap_kernels) {
        uint32_t cap = k ? 2 * k : 8;
        const struct program **more = realloc(m->kernel, cap * sizeof *more);
        if (!more)
            return false;
        m->kernel = more;
        m->cap_kernels = cap;
    }
    if (k == m->n_kernels)
        m->kernel[m->n_kernels++] = p;
    m->first_pc = k * MTA_KERNEL;
    return true;
}

static void ask(struct mta *m, const struct prefetch_seen *s, uint64_t address) {
    if (address < LOWEST || address >= HIGHEST) {
        m->n.outside++;
        return;
    }
    if (m->cfg->throttle && !mta_throttle_lets(&m->throttle)) {
        m->n.throttled++;
        return;
    }
    const struct prefetch_request r = {.address = address, .pc = s->pc, .warp = s->warp, .want = PREFETCH_LINE};
    m->n.full += prefetch_ask(m->place, &r, s->cycle) != PREFETCH_QUEUED;
}

/* Prefetches the lines that the prediction names for this load. A stride shorter than a line can name the same line
 * again, which is then skipped. */
static void prefetch(struct mta *m, const struct prefetch_seen *s) {
    struct mta_prediction p = mta_predict(&m->tables, m->first_pc + s->pc, s->warp);
    if (p.source == MTA_NONE)
        return;
    uint32_t first = p.source == MTA_INTER ? m->cfg->warp_distance : m->cfg->distance;
    uint64_t last = s->line;
    for (uint32_t k = 0; k < m->cfg->degree; k++) {
        uint64_t address = s->address + (uint64_t)p.stride * (first + k),
                 line = address & ~(m->place->line_bytes - 1ull);
        if (line == last)
            continue;
        last = line;
        *(p.source == MTA_INTER ? &m->n.inter : &m->n.intra) += 1;
        ask(m, s, address);
    }
}

static void observe(void *prefetcher, const struct prefetch_seen *s) {
    struct mta *m = prefetcher;
    m->throttle.useful += s->first_use && s->own;
    if (s->kind != SEEN_LOAD || s->local || s->result == SEEN_PAST || !m->place->line_bytes)
        return;
    m->n.loads++;
    m->throttle.misses += s->result != SEEN_HIT;
    m->throttle.merged += s->result == SEEN_MERGED;
    if (s->leads)
        mta_learn(&m->tables, m->first_pc + s->pc, s->warp, s->address);
    prefetch(m, s);
    mta_throttle_load(&m->throttle);
    if (m->throttle.level > m->n.level)
        m->n.level = m->throttle.level;
}

static void answer(void *prefetcher, uint32_t tag, enum prefetch_answer a, uint64_t now) {
    struct mta *m = prefetcher;
    (void)tag;
    (void)now;
    m->throttle.sent += a == PREFETCH_SENT;
}

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct mta_counts
#include "mta.def"
};
/* clang-format on */

static void add_stats(void *prefetcher, const struct prefetch_counts *n, struct stats *s) {
    struct mta *m = prefetcher;
    STATS_COUNT(s, rows, &m->n);
    PREFETCH_STATS_PUT(mta, n, s);
    stats_put(s, STAT_mta_lookups, (double)m->tables.n.lookups);
    stats_put(s, STAT_mta_conflicts, (double)m->tables.n.conflicts);
    stats_put(s, STAT_mta_promotions, (double)m->tables.n.promotions);
    stats_put(s, STAT_mta_raised, (double)m->throttle.n.raised);
    stats_put(s, STAT_mta_lowered, (double)m->throttle.n.lowered);
    memset(&m->n, 0, sizeof m->n);
    memset(&m->tables.n, 0, sizeof m->tables.n);
    memset(&m->throttle.n, 0, sizeof m->throttle.n);
    m->n.level = m->throttle.level;
}

static int describe(const void *prefetcher, char *out, size_t size) {
    const struct mta *m = prefetcher;
    return snprintf(out, size, "; mta: %u of %d prefetches are withheld", m->throttle.level, MTA_LEVELS);
}

/* The prefetcher at the SM's L1. It also provides the statistics and reports. */
static const struct prefetcher_ops at_l1 = {
    .name = "mta",
    .observe = observe,
    .answer = answer,
    .stats = add_stats,
    .describe = describe,
};

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct mta *m = u;
    (void)now;
    if (!m->place)
        m->place = lsu_join(sm_get_lsu(sm), &at_l1, m);
    return m->place && enter_kernel(m, sm_get_launch(sm)->program);
}

static void begin_cta(void *u, struct sm *sm, uint32_t cta, uint64_t now) {
    struct mta *m = u;
    (void)now;
    const struct warp_set *warps = &sm_get_cta(sm, cta)->warps;
    uint32_t w;
    for (struct warp_walk at = warp_walk(warps); warp_next(&at, warps, WARP_WORDS, &w);)
        mta_forget_warp(&m->tables, (uint16_t)w);
}

static const struct sm_unit_ops unit = {
    .name = "mta",
    .make = make,
    .free = mta_free,
    .launch = launch,
    .cta_start = begin_cta,
};

const struct mechanism mechanism_mta = {
    .name = "mta",
    .help = "many-thread aware prefetching: strides of warps, and from warp to warp, into the L1 (docs/cae-mta.md)",
    .paper = "Many-Thread Aware Prefetching Mechanisms for GPGPU Applications, MICRO 2010, section III",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .groups = GROUPS("ways to load ahead into the L1", "prefetchers"),
    .unit = &unit,
    .options = PREFIXES("mta."),
    .statistics = PREFIXES("mta."),
};
