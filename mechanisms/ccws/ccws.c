/* Cache-conscious wavefront scheduling [Rogers, O'Connor and Aamodt, MICRO 2012]. Each warp has victim tags: the tags
 * of lines that it fetched into the L1 and that have been evicted. A load that misses the L1 and finds its line among
 * the victim tags of its warp has lost locality: fewer warps would have kept the line. The score of the warp then
 * rises, and the warps with the lowest scores may not issue loads until scores fall (ccws_score.h).
 *
 * Our reading of the paper: A miss searches before the line that it evicts becomes a victim. A hit removes the victim
 * tag. A line that a store drops is no victim. Equal scores are ordered by slot. A score is at most the cutoff, with
 * which only one warp may load. A warp that begins has no victim tags. */
#include "ccws_score.h"
#include "ccws_vta.h"
#include "mechanisms/mechanism.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

struct ccws_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "ccws.def"
};

struct ccws {
    const struct ccws_cfg *cfg;
    const struct prefetch_place *place;
    struct sm *sm;
    struct ccws_vta vta;
    struct ccws_scores scores;
    uint32_t warps;        /* warp slots of CTAs */
    uint64_t hits, issued; /* in this launch: number of hits of victim tags; number of issued instructions */
    struct prefetch_victim victim;
    bool evicts;    /* the access that observe() gets next has evicted `victim`, whose tag observe() must add */
    bool stale;     /* scores or live warps have changed since scores.held was computed */
    uint64_t since; /* cycle in which scores.held was computed */
    struct ccws_counts n;
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct ccws *c = calloc(1, sizeof *c);
    (void)sm, (void)ctx;
    if (!c)
        return NULL;
    c->cfg = &cfg->ccws;
    c->warps = sm_warp_slots(&cfg->sm);
    c->scores.base = cfg->ccws.base_score;
    c->scores.words = (c->warps + 63) / 64;
    if (!ccws_vta_init(&c->vta, c->warps, cfg->ccws.vta_entries, cfg->ccws.vta_ways)) {
        free(c);
        return NULL;
    }
    return c;
}

static void ccws_free(void *u) {
    struct ccws *c = u;
    ccws_vta_free(&c->vta);
    free(c);
}

/* Returns the live warps of CTAs. */
static struct warp_set live_warps(const struct ccws *c) {
    struct warp_set live = *sm_get_live(c->sm);
    for (uint32_t w = c->warps; w < c->warps + MAX_CONTEXTS; w++)
        warp_set_drop(&live, w);
    return live;
}

/* Searches the victim tags for the line of an access. */
static void look_up(struct ccws *c, const struct prefetch_seen *s) {
    if (s->kind != SEEN_LOAD || s->result != SEEN_MISS || s->warp >= c->warps)
        return;
    c->n.lookups++;
    if (!ccws_vta_take(&c->vta, s->warp, s->line / c->place->line_bytes))
        return;
    c->n.hits++;
    c->hits++;
    const struct warp_set live = live_warps(c);
    ccws_raise(&c->scores, s->warp, c->hits, c->issued, c->cfg->throttle, &live, s->cycle);
    c->stale = true;
}

/* The L1 reports an evicted line just before the access that evicts it. */
static void evicted(void *u, const struct prefetch_victim *v) {
    struct ccws *c = u;
    c->victim = *v;
    c->evicts = v->warp < c->warps && !v->dropped && !v->unused;
}

static void observe(void *u, const struct prefetch_seen *s) {
    struct ccws *c = u;
    look_up(c, s);
    if (!c->evicts)
        return;
    c->evicts = false;
    c->n.inserts++;
    ccws_vta_add(&c->vta, c->victim.warp, c->victim.line / c->place->line_bytes);
}

static const struct prefetcher_ops watch = {.name = "ccws", .observe = observe, .evicted = evicted};

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct ccws *c = u;
    c->sm = sm;
    c->hits = c->issued = 0;
    c->stale = false;
    c->since = now;
    c->scores.held = (struct warp_set){.word = {0}};
    c->scores.n_held = 0;
    c->scores.change = UINT64_MAX;
    if (!c->place)
        c->place = lsu_join(sm_get_lsu(sm), &watch, c);
    return c->place != NULL;
}

static void warp_start(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    struct ccws *c = u;
    (void)sm, (void)now;
    ccws_vta_clear(&c->vta, w);
    c->scores.until[w] = 0;
    c->stale = true;
}

static void exited(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    (void)sm, (void)w, (void)now;
    ((struct ccws *)u)->stale = true;
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    (void)sm;
    ((struct ccws *)u)->issued += i->phase != ISSUE_PERFORMED;
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    const struct ccws *k = u;
    (void)sm, (void)now;
    return inst_is_counted_load(c->in) && warp_set_has(&k->scores.held, c->warp) ? PATH_QUEUE : PATH_READY;
}

static void count_held(struct ccws *c, uint64_t now) {
    c->n.held += c->scores.n_held * (now - c->since);
    c->since = now;
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct ccws *c = u;
    if (!c->stale && now < c->scores.change)
        return;
    const struct warp_set live = live_warps(c), before = c->scores.held;
    uint32_t w;
    count_held(c, now);
    ccws_hold(&c->scores, &live, now);
    c->stale = false;
    for (w = 0; w < c->warps; w++)
        if (warp_set_has(&before, w) != warp_set_has(&c->scores.held, w))
            sm_reconsider(sm, w, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    const struct ccws *c = u;
    (void)sm;
    return c->stale ? now + 1 : max64(c->scores.change, now + 1);
}

/* Returns the number of cycles in which the highest score falls to the base score. Then all warps may load. */
static uint64_t patience(const struct config *cfg) { return (uint64_t)sm_warp_slots(&cfg->sm) * cfg->ccws.base_score; }

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct ccws_counts
#include "ccws.def"
};
/* clang-format on */

static void stats(void *u, struct stats *s) {
    struct ccws *c = u;
    STATS_COUNT(s, rows, &c->n);
    c->n = (struct ccws_counts){0};
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct ccws *c = u;
    (void)sm;
    if (c->scores.n_held)
        fprintf(out, "  %u warp%s not issue loads now (ccws)\n", c->scores.n_held,
                c->scores.n_held == 1 ? " may" : "s may");
}

static const struct sm_unit_ops unit = {
    .name = "ccws",
    .make = make,
    .free = ccws_free,
    .launch = launch,
    .may_issue = may_issue,
    .issued = issued,
    .exited = exited,
    .warp_start = warp_start,
    .tick = tick,
    .next = next,
    .patience = patience,
    .stats = stats,
    .describe = describe,
};

const struct mechanism mechanism_ccws = {
    .name = "ccws",
    .help = "cache-conscious scheduling: warps that lose L1 lines keep others from loading (docs/models.md)",
    .paper = "Rogers, O'Connor and Aamodt, Cache-conscious wavefront scheduling, MICRO 2012",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .unit = &unit,
    .groups = GROUPS("limits of loading warps"),
    .options = PREFIXES("ccws."),
    .statistics = PREFIXES("ccws."),
};
