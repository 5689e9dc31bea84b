/* Divergence-aware warp scheduling [Rogers, O'Connor and Aamodt, MICRO 2013]. A warp in a loop is predicted to need
 * lines of the L1: for each load of the loop that uses its lines again, one line for each active lane if the load is
 * divergent, else one. The kinds of loads come from samples, the accesses of one warp at a time (daws_predict.h). The
 * warps in loops are ordered by age. A warp may load in its loop if its lines and those of the warps before it that may
 * load fit into a share of the L1. So a warp is held before it evicts lines of others; ccws waits until locality is
 * lost.
 *
 * Our reading of the paper: A loop is the outermost one. Active lanes are counted when a warp enters a loop and at
 * each taken backward branch. A load uses its lines again if one of four line accesses does, within as many lines as
 * the L1 has. It is divergent if its instructions access more than two lines on average. A line counts for the load
 * that brings it. A warp whose lanes all wait at a barrier needs no lines. Samples follow one another: after a sample,
 * the next warp that enters a loop gives the next one. Each launch begins without predictions. daws.share is 0.6
 * because lines do not spread evenly over the sets. This project adds daws.patience: no warp waits forever for a
 * younger one. */
#include "daws_parts.h"
#include "daws_predict.h"
#include "mechanisms/mechanism.h"
#include "timing/sm/unit_access.h"
#include <stdlib.h>

struct daws_counts {
#define DECLARED_STATISTICS
#define COUNT_FIELDS
#include "daws.def"
};

enum { NO_SAMPLER = WARP_SLOTS };

struct daws {
    const struct daws_cfg *cfg;
    const struct prefetch_place *place;
    struct sm *sm;
    const struct program *program;
    const uint32_t *loops; /* FACT_LOOP; NULL: none */
    struct daws_table table;
    uint32_t room;    /* predicted lines of warps that may load */
    uint32_t warps;   /* warp slots of CTAs */
    uint32_t words;   /* words of warp sets in use */
    uint32_t sampler; /* warp that is sampled, or NO_SAMPLER */
    uint32_t left;    /* number of line accesses until the sample of warp `sampler` ends */
    struct daws_warp {
        uint32_t loop, lanes; /* loop of the last instruction; 0: none */
        uint64_t since;       /* if held: first cycle */
        uint64_t promoted;    /* number of its last promotion; 0: none; the warp with the largest number is first */
    } warp[WARP_SLOTS];
    struct warp_set in_loops, held;
    uint32_t n_held;
    uint64_t promotions, promoted_at; /* number of promotions in this launch; cycle of the last one */
    uint64_t change;                  /* cycle of the next promotion; UINT64_MAX: none */
    uint64_t since;                   /* cycle in which `held` was computed */
    bool stale;                       /* `held` must be computed again */
    struct daws_counts n;
};

static uint32_t l1_lines(const struct config *cfg) { return cfg->l1.line ? cfg->l1.size / cfg->l1.line : 0; }

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    struct daws *d = calloc(1, sizeof *d);
    (void)sm, (void)ctx;
    if (!d)
        return NULL;
    d->cfg = &cfg->daws;
    d->warps = sm_warp_slots(&cfg->sm);
    d->words = (d->warps + 63) / 64;
    d->room = (uint32_t)(cfg->daws.share * l1_lines(cfg));
    if (!daws_init(&d->table, l1_lines(cfg))) {
        free(d);
        return NULL;
    }
    return d;
}

static void daws_unit_free(void *u) {
    struct daws *d = u;
    daws_free(&d->table);
    free(d);
}

static uint32_t loop_at(const struct daws *d, uint32_t pc) {
    return d->loops ? d->loops[d->program->info[pc].block] : 0;
}

/* Learns from a line access of the sampled warp. */
static void observe(void *u, const struct prefetch_seen *s) {
    struct daws *d = u;
    if (s->warp != d->sampler || s->kind != SEEN_LOAD || s->result == SEEN_PAST || loop_at(d, s->pc) != d->table.loop)
        return;
    d->n.sampled++;
    d->stale |= daws_sample(&d->table, s->pc, s->line / d->place->line_bytes, s->leads);
    if (--d->left == 0)
        d->sampler = NO_SAMPLER;
}

static const struct prefetcher_ops watch = {.name = "daws", .observe = observe};

static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct daws *d = u;
    d->sm = sm;
    d->program = sm_get_program(sm)->program;
    d->loops = program_fact(d->program, FACT_LOOP);
    d->table.n = 0;
    d->sampler = NO_SAMPLER;
    d->in_loops = d->held = (struct warp_set){.word = {0}};
    d->n_held = 0;
    d->promotions = 0;
    d->promoted_at = d->since = now;
    d->change = UINT64_MAX;
    d->stale = false;
    for (uint32_t w = 0; w < d->warps; w++)
        d->warp[w] = (struct daws_warp){.loop = 0};
    if (!d->place)
        d->place = lsu_join(sm_get_lsu(sm), &watch, d);
    return d->place != NULL;
}

static void leave(struct daws *d, uint32_t w) {
    if (!d->warp[w].loop)
        return;
    d->n.lines += daws_footprint(&d->table, d->warp[w].loop, d->warp[w].lanes);
    d->warp[w] = (struct daws_warp){.loop = 0};
    warp_set_drop(&d->in_loops, w);
    d->sampler = d->sampler == w ? NO_SAMPLER : d->sampler;
    d->stale = true;
}

static void enter(struct daws *d, uint32_t w, uint32_t loop, uint32_t lanes) {
    leave(d, w);
    d->warp[w] = (struct daws_warp){.loop = loop, .lanes = lanes};
    warp_set_add(&d->in_loops, w);
    d->n.entries++;
    d->stale = true;
    if (d->sampler != NO_SAMPLER)
        return;
    d->n.samples++;
    d->sampler = w;
    d->left = d->cfg->sample;
    daws_sample_begin(&d->table, loop);
}

static void issued(void *u, struct sm *sm, const struct sm_issued *i) {
    struct daws *d = u;
    (void)sm;
    if (i->warp >= d->warps)
        return;
    struct daws_warp *w = &d->warp[i->warp];
    const uint32_t loop = loop_at(d, i->pc);
    if (loop && loop != w->loop)
        enter(d, i->warp, loop, lanes_count(i->lanes));
    else if (!loop)
        leave(d, i->warp);
    if (!loop)
        return;
    if (i->in->kind == K_BRANCH && i->fx && i->fx->taken && i->in->target <= i->pc) {
        const uint32_t lanes = lanes_count(i->fx->taken);
        d->stale |= lanes != w->lanes;
        w->lanes = lanes;
    }
    d->stale |= i->in->kind == K_BARRIER;
}

static void barrier(void *u, struct sm *sm, uint32_t cta, uint32_t number, uint64_t now) {
    (void)sm, (void)cta, (void)number, (void)now;
    ((struct daws *)u)->stale = true;
}

static void warp_start(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    (void)sm, (void)now;
    leave(u, w);
}

static void exited(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    (void)sm, (void)w, (void)now;
    ((struct daws *)u)->stale = true;
}

/* Ends the loop visits of warps that have ended, or of all warps. */
static void end_visits(struct daws *d, bool all) {
    uint32_t w;
    for (struct warp_walk at = warp_walk(&d->in_loops); warp_next(&at, &d->in_loops, d->words, &w);)
        if (all || sm_is_finished(d->sm, w))
            leave(d, w);
}

static void launch_end(void *u, struct sm *sm) {
    (void)sm;
    end_visits(u, true);
}

static uint8_t may_issue(void *u, struct sm *sm, const struct sm_candidate *c, uint64_t now) {
    const struct daws *d = u;
    (void)sm, (void)now;
    return inst_is_counted_load(c->in) && warp_set_has(&d->held, c->warp) && loop_at(d, c->pc) ? PATH_QUEUE
                                                                                               : PATH_READY;
}

static bool is_before(const struct daws *d, uint32_t a, uint32_t b) {
    if (d->warp[a].promoted != d->warp[b].promoted)
        return d->warp[a].promoted > d->warp[b].promoted;
    return sm_is_older(d->sm, a, b);
}

/* Lists the warps in loops in order. Returns their number. */
static uint32_t order(const struct daws *d, uint16_t list[WARP_SLOTS]) {
    uint32_t n = 0, w;
    for (struct warp_walk at = warp_walk(&d->in_loops); warp_next(&at, &d->in_loops, d->words, &w); n++) {
        uint32_t k = n;
        for (; k && is_before(d, w, list[k - 1]); k--)
            list[k] = list[k - 1];
        list[k] = (uint16_t)w;
    }
    return n;
}

/* Computes the held warps and the cycle of the next promotion. */
static void hold(struct daws *d, uint64_t now) {
    uint16_t list[WARP_SLOTS];
    const struct warp_set before = d->held;
    const uint32_t n = order(d, list);
    uint64_t lines = 0, longest = UINT64_MAX;
    d->held = (struct warp_set){.word = {0}};
    d->n_held = 0;
    for (uint32_t k = 0; k < n; k++) {
        struct daws_warp *w = &d->warp[list[k]];
        const uint32_t needs = sm_lanes_may_run(d->sm, list[k]) ? daws_footprint(&d->table, w->loop, w->lanes) : 0;
        if (!lines || lines + needs <= d->room) {
            lines += needs;
            continue;
        }
        if (!warp_set_has(&before, list[k]))
            w->since = now;
        longest = min64(longest, w->since);
        warp_set_add(&d->held, list[k]);
        d->n_held++;
    }
    d->change = d->n_held ? max64(longest, d->promoted_at) + d->cfg->patience : UINT64_MAX;
    for (uint32_t w = 0; w < d->warps; w++)
        if (warp_set_has(&before, w) != warp_set_has(&d->held, w))
            sm_reconsider(d->sm, w, now);
}

/* Makes the warp that has been held longest the first one. */
static void promote(struct daws *d, uint64_t now) {
    uint32_t w, longest = warp_set_first(&d->held);
    for (struct warp_walk at = warp_walk(&d->held); warp_next(&at, &d->held, d->words, &w);)
        if (d->warp[w].since < d->warp[longest].since)
            longest = w;
    d->warp[longest].promoted = ++d->promotions;
    d->promoted_at = now;
    d->n.promoted++;
}

static void tick(void *u, struct sm *sm, uint64_t now) {
    struct daws *d = u;
    (void)sm;
    if (!d->stale && now < d->change)
        return;
    d->n.held += d->n_held * (now - d->since);
    d->since = now;
    end_visits(d, false);
    if (now >= d->change)
        promote(d, now);
    d->stale = false;
    hold(d, now);
}

static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    const struct daws *d = u;
    (void)sm;
    return d->stale ? now + 1 : max64(d->change, now + 1);
}

/* Returns the longest wait, in cycles, that is not a deadlock. Within this time, each warp is the first one at least
 * once. */
static uint64_t patience(const struct config *cfg) { return (uint64_t)sm_warp_slots(&cfg->sm) * cfg->daws.patience; }

/* clang-format off */
static const struct stat_row rows[] = {
#define DECLARED_STATISTICS
#define COUNT_ROWS struct daws_counts
#include "daws.def"
};
/* clang-format on */

static void stats(void *u, struct stats *s) {
    struct daws *d = u;
    STATS_COUNT(s, rows, &d->n);
    d->n = (struct daws_counts){0};
}

static void describe(const void *u, const struct sm *sm, FILE *out) {
    const struct daws *d = u;
    (void)sm;
    if (d->n_held)
        fprintf(out, "  %u warp%s not issue loads in loops now (daws)\n", d->n_held, d->n_held == 1 ? " may" : "s may");
}

static const struct sm_unit_ops unit = {
    .name = "daws",
    .make = make,
    .free = daws_unit_free,
    .launch = launch,
    .launch_end = launch_end,
    .may_issue = may_issue,
    .issued = issued,
    .exited = exited,
    .warp_start = warp_start,
    .barrier = barrier,
    .tick = tick,
    .next = next,
    .patience = patience,
    .stats = stats,
    .describe = describe,
};

const struct mechanism mechanism_daws = {
    .name = "daws",
    .help = "divergence-aware scheduling: warps load in loops only while their predicted lines fit into the L1",
    .paper = "Rogers, O'Connor and Aamodt, Divergence-aware warp scheduling, MICRO 2013",
    .kind = MECHANISM_EXTENSION,
    .refuse = model_needs_time,
    .unit = &unit,
    .passes = PASSES(&pass_daws_loops),
    .groups = GROUPS("limits of loading warps"),
    .options = PREFIXES("daws."),
    .statistics = PREFIXES("daws."),
};
