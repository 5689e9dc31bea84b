/* Sampled simulation in a context: runs each launch with timing, or functionally under observation, as the plan says,
 * and completes the statistics of launches that did not run in time. */
#include "context.h"
#include "handles.h"
#include "isa/machine/cluster.h"
#include "timing/sm/cta_ops.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t kin_of(const struct launch *l) {
    const uint32_t dims[7] = {0, 0, 0, l->block.x, l->block.y, l->block.z, l->dynamic_shared};
    return sampling_key(l->program->name, dims);
}

static uint64_t ctas_of(const struct launch *l) { return (uint64_t)l->grid.x * l->grid.y * l->grid.z; }

static bool no_memory(struct fault *f) {
    *f = (struct fault){.kind = FAULT_MEMORY};
    return false;
}

/* A launch whose CTAs run without timing. */
struct forward {
    struct heddle *h;
    struct heddle_module *m;
    const struct launch *l;
    struct survey *survey;                  /* observes some CTAs of the launch; NULL: nothing does */
    const struct interp_observer *observer; /* of the survey */
    const struct interp_observer *seeing;   /* `observer` while an observed CTA runs; NULL otherwise */
    bool warms;                             /* the CTAs warm the caches */
    bool in_slots;                          /* the CTAs are CTAs of the SMs, in a gap inside CTAs */
    struct interp_observer inside;          /* observes CTAs in gaps inside CTAs */
};

/* A gap inside CTAs enters blocks in their middle, too. Their first instructions tell how often they ran. */
static void on_block(void *ctx, uint32_t pc, lanemask_t lanes) {
    const struct forward *r = ctx;
    const struct program *p = r->l->program;
    if (r->seeing && (!r->in_slots || p->blocks[p->info[pc].block].begin == pc))
        r->seeing->block(r->seeing->ctx, pc, lanes);
}

static void on_executed(void *ctx, const struct warp *w, const struct inst *in, const struct effects *fx) {
    const struct forward *r = ctx;
    if (r->seeing)
        r->seeing->executed(r->seeing->ctx, w, in, fx);
    if (r->warms && in->kind >= K_LOAD && in->kind <= K_TEX)
        gpu_warm(r->h->gpu, w, r->in_slots, in, fx);
}

/* Returns the observer for CTA `cta` in a gap inside CTAs. Implements gap_orders.observer. */
static const struct interp_observer *observe(void *ctx, uint64_t cta) {
    struct forward *r = ctx;
    r->seeing = r->survey && survey_sees(r->survey, cta) ? r->observer : NULL;
    r->warms = r->in_slots = true;
    return &r->inside;
}

/* Runs the CTAs [first, end). If nothing observes them, native code may run them. */
static bool go(struct forward *r, uint64_t first, uint64_t end, struct stats *s, struct fault *f) {
    const struct interp_observer o = {r, on_block, on_executed};
    const struct launch_part part = {first, end - first, r->seeing || r->warms ? &o : NULL};
    return first == end || launch_forward(r->h, r->m, r->l, &part, s, f);
}

/* Runs the CTAs [first, end). The survey observes the CTAs for which survey_sees() is true. */
static bool go_surveyed(struct forward *r, uint64_t first, uint64_t end, struct stats *s, struct fault *f) {
    bool ok = true;
    while (ok && first < end) {
        const uint64_t next = r->survey ? survey_next(r->survey, first) : end, to = next < end ? next : end;
        ok = go(r, first, to, s, f);
        first = to;
        if (!ok || to == end)
            break;
        r->seeing = r->observer;
        ok = go(r, first, first + 1, s, f);
        r->seeing = NULL;
        first++;
    }
    return ok;
}

/* Runs `n` CTAs from CTA number `first` on. The CTAs from `warm_from` on warm the caches. Implements
 * gap_orders.forward; ctx is a struct forward. */
static bool go_warming(void *ctx, uint64_t first, uint64_t n, uint64_t warm_from, struct stats *s, struct fault *f) {
    struct forward *r = ctx;
    const uint64_t end = first + n, from = warm_from < first ? first : warm_from > end ? end : warm_from;
    r->seeing = NULL; /* a gap inside CTAs may have set it */
    r->warms = r->in_slots = false;
    const bool ok = go_surveyed(r, first, from, s, f);
    r->warms = true;
    return ok && go_surveyed(r, from, end, s, f);
}

static bool may_have_gaps(const struct heddle *h, enum dependence d) {
    return d == CTAS_FREE && h->config.gpu.cta_policy == CTA_CHOICE_in_order && !h->cycle_limit;
}

/* Gaps inside CTAs also change how warps are in step. This changes the cycles after the first gap by up to 5 % in a
 * program. So the allowance for these cycles is 1.5 to 3 times that of sampling.h: the difference of the units after
 * gaps from the units before, if it is in between. Gaps also move the end of the launch, by up to the time of an access
 * to memory: inside_shift cycles. */
static const double inside_least = 1.5, inside_most = 3, inside_shift = 500;

static double inexact_part(const struct gap_result *g, double cycles) {
    const double drift = fmin(fmax(g->drift / sampling_allowance, inside_least), inside_most);
    return !g->inside || g->instructions <= 0 ? g->after
                                              : g->after * drift + inside_shift / (sampling_allowance * cycles);
}

/* Returns the warp instructions of a CTA in the latest launch of the kernel; 0: there was none. */
static double length_before(const struct heddle_plan *p, const struct planned *l) {
    for (uint32_t j = p->n; j--;)
        if (p->launch[j].kin == l->kin)
            return p->launch[j].weight / p->launch[j].ctas;
    return 0;
}

/* Runs a launch in time, as a whole or with gaps. */
static bool measure(struct forward *r, enum dependence d, struct planned *planned, struct stats *s, struct fault *f) {
    struct heddle *h = r->h;
    const struct gap_orders o = {.error = h->plan->error / 2,
                                 .forward = go_warming,
                                 .regroups = gpu_regroups(h->gpu),
                                 .inside = h->plan->error <= 0 || sampling_allowance * inside_least <= h->plan->error,
                                 .cta_length = length_before(h->plan, planned),
                                 .observer = observe,
                                 .ctx = r};
    r->in_slots = false;
    r->inside = (struct interp_observer){r, on_block, on_executed};
    const bool gaps = may_have_gaps(h, d) && !h->plan->whole;
    h->surveyed = r->survey;
    const bool ok = gpu_run_sampled(h->gpu, r->l, gaps ? &o : NULL, &planned->gaps, s, f);
    h->surveyed = NULL;
    if (!ok)
        return false;
    if (!gaps)
        planned->gaps.why = h->plan->whole ? NO_GAPS_ERROR : NO_GAPS_ORDER;
    planned->inexact = fmax(h->plan->strayed ? 1 : 0, inexact_part(&planned->gaps, stats_get(s, "gpu.cycles")));
    h->plan->strayed |= planned->gaps.instructions > 0;
    stats_kept_free(&planned->stats);
    planned->measured = stats_keep(&planned->stats, s);
    return planned->measured || no_memory(f);
}

/* Returns the first CTA that warms the L2, if the fraction `warms` of the CTAs does so. */
static uint64_t first_warming(uint64_t n, double warms) {
    const uint64_t warm = warms > 0 ? (uint64_t)ceil(warms * (double)n) : 0;
    return warm < n ? n - warm : 0;
}

/* Runs a launch without timing. The last CTAs warm the L2; `warms` is their fraction of all CTAs. The CTAs of a launch
 * that may wait for each other run together. */
static bool pass_over(struct forward *r, double warms, enum dependence d, struct stats *s, struct fault *f) {
    const uint64_t n = ctas_of(r->l);
    r->h->plan->strayed = true;
    if (!gpu_warm_code(r->h->gpu, r->l))
        return no_memory(f);
    if (d == CTAS_WAIT)
        return launch_forward(r->h, r->m, r->l, &(struct launch_part){.n = 0}, s, f);
    const bool ok = go_warming(r, 0, n, first_warming(n, warms), s, f);
    if (warms > 0)
        gpu_warmed(r->h->gpu);
    return ok;
}

/* Begins the survey of a launch, unless its CTAs may wait for each other, or the SMs have no room for the unit that
 * observes them. Returns false if memory is out. */
static bool begin_survey(struct forward *r, enum dependence d) {
    struct heddle *h = r->h;
    if (!h->survey && !(h->survey = survey_new()))
        return false;
    if (d == CTAS_WAIT || !h->surveys)
        return true;
    r->survey = h->survey;
    r->observer = survey_begin(h->survey, r->l->program, ctas_of(r->l));
    return true;
}

/* Sets the signature of the launch to what the survey has observed. */
static void end_survey(const struct forward *r, struct planned *planned) {
    const double n = planned->ctas, seen = n < SURVEY_CTAS ? n : SURVEY_CTAS;
    if (!r->survey)
        return;
    planned->observed = true;
    planned->signature = survey_end(r->survey);
    planned->bytes = fmin(planned->signature.bytes * n / seen, (double)r->h->memory.live_bytes);
    planned->signature.bytes *= SURVEY_CTAS / seen; /* comparable to that of a larger grid */
}

/* Cold caches cost a launch about 2,000 to 5,000 cycles. So a launch is long if it takes at least this many cycles,
 * even if all schedulers issue in every cycle. */
static const double long_cycles = 25000;

static double long_weight(const struct heddle *h) {
    const double lanes = gpu_regroups(h->gpu) ? 32 : 1;
    return long_cycles * h->config.gpu.sms * h->config.sm.schedulers * lanes;
}

/* Runs a launch of the first run: measures it if the plan draws it. */
static bool launch_first(struct forward *r, enum dependence d, struct stats *s, struct fault *f) {
    struct heddle *h = r->h;
    h->plan->long_weight = long_weight(h);
    struct planned planned = {.key = key_of(r->l), .kin = kin_of(r->l), .ctas = (double)ctas_of(r->l)};
    if (!begin_survey(r, d))
        return no_memory(f);
    const bool ok = sampling_draws(h->plan, &planned)
                        ? measure(r, d, &planned, s, f)
                        : pass_over(r, sampling_warms(h->plan, h->config.l2.size), d, s, f);
    if (!ok)
        return false;
    end_survey(r, &planned);
    planned.weight = stats_get(s, gap_weight(gpu_regroups(h->gpu)));
    if (sampling_add(h->plan, &planned))
        return true;
    stats_kept_free(&planned.stats);
    return no_memory(f);
}

bool sampled_launch(struct heddle *h, struct heddle_module *m, const struct launch *l, struct stats *s,
                    struct fault *f) {
    struct heddle_plan *p = h->plan;
    struct forward r = {.h = h, .m = m, .l = l};
    const enum dependence d = survey_dependence(l);
    if (!p->surveyed)
        return launch_first(&r, d, s, f);
    struct planned *planned = p->next < p->n ? &p->launch[p->next] : NULL;
    if (p->other || !planned || planned->key != key_of(l)) {
        p->other = true;
        return gpu_run(h->gpu, l, s, f);
    }
    const uint32_t i = p->next++;
    return sampling_chosen(p, planned) ? measure(&r, d, planned, s, f)
                                       : pass_over(&r, sampling_warms_again(p, i, h->config.l2.size), d, s, f);
}

/* ---- results ---- */

/* Sets the statistics of launch `i`. Statistics counted by the functional model stay exact. */
static bool fill(void *ctx, uint32_t i, const struct stats *estimate) {
    struct heddle *h = ctx;
    struct launch_record *r = &h->launches[i];
    struct stats_kept kept;
    struct stats s;
    if (!stats_init(&s))
        return false;
    stats_merge(&s, estimate);
    for (const char *const *name = gap_exact(gpu_regroups(h->gpu)); *name; name++)
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
    if (!h->gpu)
        return fail(h, HEDDLE_USAGE, "a plan of samples needs a timing model");
    const bool ended = !heddle_incomplete(h, -1), first = !p->surveyed, other = !first && (p->other || p->next < p->n);
    const uint32_t at = p->next;
    p->next = 0;
    p->other = p->strayed = false;
    if (ended && other)
        return fail(h, HEDDLE_USAGE,
                    "launch %u is not that of the first run: a sampled program must launch the same kernels with the "
                    "same grids in each run; run it without sampling",
                    at + 1);
    if (!ended && first)
        sampling_clear(p);
    if (ended && ((first && !sampling_end_first(p)) || !sampling_estimate(p, fill, h)))
        return fail_memory(h);
    *more = p->more = ended && sampling_grow(p);
    h->settled = ended;
    stats_clear(&h->totals);
    for (int i = 0; i < h->n_launches; i++)
        stats_kept_add(&h->totals, &h->launches[i].stats);
    if (ended && !*more && p->interval[GAP_CYCLES].inexact <= 0)
        note(h, p->whole ? "no sample reaches the wanted error: everything was simulated"
                         : "there are too few launches and CTAs for a sample: everything was simulated");
    return HEDDLE_OK;
}

double heddle_plan_interval(const struct heddle *h, const char *name) {
    if (!handle_is_open(h, HANDLE_CONTEXT) || !h->plan || !h->settled || !name)
        return NAN;
    for (int i = 0; i < GAP_STATS; i++)
        if (strcmp(gap_stats[i], name) == 0)
            return h->plan->interval[i].half;
    for (const char *const *exact = gap_exact(gpu_regroups(h->gpu)); *exact; exact++)
        if (strcmp(*exact, name) == 0)
            return 0;
    return NAN;
}
