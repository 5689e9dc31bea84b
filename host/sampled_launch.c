/* Sampled simulation in a context: surveys launches, runs each launch as the plan says, and completes the statistics of
 * launches that did not run in time. */
#include "context.h"
#include "handles.h"
#include "isa/machine/cluster.h"
#include "timing/sm/cta_ops.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 6 }; /* sampled units of a launch after its first units, without a wanted error */

struct heddle_plan *heddle_plan_new(double error) {
    struct heddle_plan *p = calloc(1, sizeof *p);
    if (p)
        p->error = error > 0 ? error : 0;
    return p;
}

void heddle_plan_free(struct heddle_plan *p) {
    if (p)
        sampling_clear(p);
    free(p);
}

bool heddle_plan_write(const struct heddle_plan *p, FILE *out) { return p && out && sampling_write(p, out); }
struct heddle_plan *heddle_plan_read(FILE *in) {
    return in ? sampling_read(in) : NULL;
}

static uint64_t key_of(const struct launch *l) {
    const uint32_t dims[7] = {l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, l->dynamic_shared};
    return sampling_key(l->program->name, dims);
}

static uint64_t ctas_of(const struct launch *l) { return (uint64_t)l->grid.x * l->grid.y * l->grid.z; }

static bool no_memory(struct fault *f) {
    *f = (struct fault){.kind = FAULT_MEMORY};
    return false;
}

/* ---- the survey ---- */

/* Runs the launch without time, and observes SURVEY_CTAS CTAs, evenly spread over the grid. The CTAs of a launch that
 * may wait for each other run together; they are not observed. */
static bool observe(struct heddle *h, struct heddle_module *m, const struct launch *l, enum dependence d,
                    struct stats *s, struct fault *f) {
    const struct interp_observer *o = survey_begin(h->survey, l->program);
    const uint64_t n = ctas_of(l);
    if (d == CTAS_WAIT || h->check)
        return launch_forward(h, m, l, &(struct launch_part){.n = 0}, s, f);
    if (n <= SURVEY_CTAS)
        return launch_forward(h, m, l, &(struct launch_part){.observer = o}, s, f);
    bool ok = true;
    uint64_t at = 0;
    for (uint32_t k = 0; ok && k < SURVEY_CTAS; k++) {
        const uint64_t cta = (2 * k + 1) * n / (2 * SURVEY_CTAS);
        ok = (cta == at || launch_forward(h, m, l, &(struct launch_part){at, cta - at, NULL}, s, f)) &&
             launch_forward(h, m, l, &(struct launch_part){cta, 1, o}, s, f);
        at = cta + 1;
    }
    return ok && (at == n || launch_forward(h, m, l, &(struct launch_part){at, n - at, NULL}, s, f));
}

static bool survey_launch(struct heddle *h, struct heddle_module *m, const struct launch *l, struct stats *s,
                          struct fault *f) {
    struct planned *planned;
    if (!h->survey && !(h->survey = survey_new()))
        return no_memory(f);
    if (!observe(h, m, l, survey_dependence(l), s, f))
        return false;
    if (!(planned = sampling_add(h->plan)))
        return no_memory(f);
    const double n = (double)ctas_of(l), seen = n < SURVEY_CTAS ? n : SURVEY_CTAS;
    planned->key = key_of(l);
    planned->weight = stats_get(s, "gpu.warp_instructions");
    planned->signature = survey_end(h->survey);
    planned->bytes = fmin(planned->signature.bytes * n / seen, (double)h->memory.live_bytes);
    return true;
}

/* ---- the measuring runs ---- */

/* A launch. Some of its CTAs run without timing, and may warm the caches. */
struct forward {
    struct heddle *h;
    struct heddle_module *m;
    const struct launch *l;
};

static void on_block(void *ctx, uint32_t pc, lanemask_t lanes) { (void)ctx, (void)pc, (void)lanes; }

static void on_executed(void *ctx, const struct warp *w, const struct inst *in, const struct effects *fx) {
    const struct forward *r = ctx;
    if (in->kind >= K_LOAD && in->kind <= K_TEX)
        gpu_warm(r->h->gpu, w->cta->linear_id, in, fx);
}

/* Implements gap_orders.forward. */
static bool go_forward(void *ctx, uint64_t first, uint64_t n, uint64_t warm_from, struct stats *exact,
                       struct fault *f) {
    struct forward *r = ctx;
    const struct interp_observer o = {r, on_block, on_executed};
    const uint64_t cold = warm_from - first;
    return (!cold || launch_forward(r->h, r->m, r->l, &(struct launch_part){first, cold, NULL}, exact, f)) &&
           (cold == n || launch_forward(r->h, r->m, r->l, &(struct launch_part){warm_from, n - cold, &o}, exact, f));
}

/* Runs a launch without timing. The last CTAs warm the L2; `warms` is their fraction of all CTAs. */
static bool pass_over(struct forward *r, double warms, enum dependence d, struct stats *s, struct fault *f) {
    const uint64_t n = ctas_of(r->l);
    if (d == CTAS_WAIT || warms <= 0)
        return launch_forward(r->h, r->m, r->l, &(struct launch_part){.n = 0}, s, f);
    uint64_t warm = (uint64_t)ceil(warms * (double)n);
    warm = warm < n ? warm : n;
    const bool ok = go_forward(r, 0, n, n - warm, s, f);
    gpu_warmed(r->h->gpu);
    return ok;
}

static bool may_have_gaps(const struct heddle *h, enum dependence d) {
    return d == CTAS_FREE && h->config.gpu.cta_policy == CTA_CHOICE_in_order && !h->cycle_limit;
}

/* Runs a launch in time, as a whole or with gaps. */
static bool measure(struct forward *r, enum dependence d, struct planned *planned, struct stats *s, struct fault *f) {
    struct heddle *h = r->h;
    const struct gap_orders o = {.samples = SAMPLES, .error = h->plan->error / 2, .forward = go_forward, .ctx = r};
    if (!gpu_run_sampled(h->gpu, r->l, may_have_gaps(h, d) ? &o : NULL, &planned->gaps, s, f))
        return false;
    planned->measured = stats_keep(&planned->stats, s);
    return planned->measured || no_memory(f);
}

bool sampled_launch(struct heddle *h, struct heddle_module *m, const struct launch *l, struct stats *s,
                    struct fault *f) {
    struct heddle_plan *p = h->plan;
    if (!h->gpu)
        return survey_launch(h, m, l, s, f);
    struct planned *planned = p->next < p->n ? &p->launch[p->next] : NULL;
    if (p->other || !planned || planned->key != key_of(l)) {
        p->other = true;
        return gpu_run(h->gpu, l, s, f);
    }
    const uint32_t i = p->next++;
    const enum dependence d = survey_dependence(l);
    struct forward r = {h, m, l};
    if (sampling_chosen(p, planned) && !planned->measured)
        return measure(&r, d, planned, s, f);
    return pass_over(&r, sampling_warms(p, i, h->config.l2.size), d, s, f);
}

/* ---- results ---- */

/* Sets the statistics of launch `i` to `factor` times `sum`. Statistics counted by the functional model stay exact. */
static bool fill(void *ctx, uint32_t i, const struct stats *sum, double factor) {
    struct heddle *h = ctx;
    struct launch_record *r = &h->launches[i];
    struct stats_kept kept;
    struct stats s;
    if (!stats_init(&s))
        return false;
    stats_merge(&s, sum); /* sets the maxima, which cannot be scaled */
    stats_add_scaled(&s, sum, factor - 1);
    for (const char *const *name = gap_exact; *name; name++)
        stats_add(&s, *name, stats_kept_get(&r->stats, *name) - stats_get(&s, *name));
    stats_add(&s, "host.seconds", stats_kept_get(&r->stats, "host.seconds") - stats_get(&s, "host.seconds"));
    const double cycles = stats_get(&s, "gpu.cycles");
    stats_add(&s, "gpu.cycles", rint(cycles) - cycles);
    stats_add(&s, "host.peak_rss_bytes", stats_kept_get(&r->stats, "host.peak_rss_bytes"));
    const bool ok = stats_keep(&kept, &s);
    stats_free(&s);
    if (!ok)
        return false;
    stats_kept_free(&r->stats);
    r->stats = kept;
    return true;
}

enum heddle_status heddle_plan_settle(struct heddle *h, bool *more) {
    bool ignored = false;
    if (!context_enter(h))
        return HEDDLE_USAGE;
    struct heddle_plan *p = h->plan;
    more = more ? more : &ignored;
    *more = false;
    if (!p)
        return fail(h, HEDDLE_USAGE, "this context has no plan of samples: set options.plan");
    if (!h->gpu) {
        if (p->surveyed)
            return fail(h, HEDDLE_USAGE, "the plan has its survey: the next run needs a timing model");
        *more = p->more = true;
        return sampling_group(p) ? HEDDLE_OK : fail_memory(h);
    }
    const bool ended = !heddle_incomplete(h, -1), other = p->other || p->next < p->n;
    const uint32_t at = p->next;
    p->next = 0;
    p->other = false;
    if (ended && other)
        return fail(h, HEDDLE_USAGE,
                    "launch %u is not that of the survey: a sampled program must launch the same kernels with the same "
                    "grids in each run; run it without sampling",
                    at + 1);
    if (ended && !sampling_estimate(p, fill, h))
        return fail_memory(h);
    *more = p->more = ended && sampling_grow(p);
    h->settled = ended;
    stats_clear(&h->totals);
    for (int i = 0; i < h->n_launches; i++)
        stats_kept_add(&h->totals, &h->launches[i].stats);
    if (ended && !*more && !p->skipped_launches && !p->skipped_ctas)
        note(h, "there are too few launches and CTAs for a sample: everything was simulated");
    return HEDDLE_OK;
}

double heddle_plan_interval(const struct heddle *h, const char *name) {
    if (!handle_is_open(h, HANDLE_CONTEXT) || !h->plan || !h->settled || !name)
        return NAN;
    for (int i = 0; i < GAP_STATS; i++)
        if (strcmp(gap_stats[i], name) == 0)
            return h->plan->interval[i].half;
    for (const char *const *exact = gap_exact; *exact; exact++)
        if (strcmp(*exact, name) == 0)
            return 0;
    return NAN;
}
