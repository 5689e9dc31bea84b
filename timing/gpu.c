/* The whole GPU: runs a launch window by window, and ends it. */
#include "clusters.h"
#include "gaps.h"
#include "gpu_parts.h"
#include "inside.h"
#include "isa/arith.h"
#include "isa/exec/syscall.h"
#include "timing/mem/memsys.h"
#include "timing/mem/replacement.h"
#include "timing/report/energy.h"
#include "timing/report/utilization.h"
#include "timing/sm/livelock.h"
#include "timing/sm/sm.h"
#include "timing/sm/timed.h"
#include "timing/sm/tma.h"
#include "timing/sm/unit_access.h"
#include "timing/sm/unit_trace.h"
#include "timing/watchdog.h"
#include "timing/windows.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_EDGES = 256 };

struct gpu *gpu_new(const struct config *cfg, const struct gpu_options *opt) {
    struct gpu *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->cfg = *cfg;
    g->opt = *opt;
    if (g->opt.threads > cfg->gpu.sms)
        g->opt.threads = cfg->gpu.sms;
    if (g->opt.threads > 1)
        g->workers = workers_new(g->opt.threads);
    g->unbuilt = true;
    return g;
}

void gpu_free(struct gpu *g) {
    if (!g)
        return;
    workers_free(g->workers);
    gpu_free_machine(g);
    if (g->opt.trace)
        trace_end(g->opt.trace, !g->traced, g->trace_lost);
    free(g->profile);
    free(g->code);
    free(g);
}

/* A launch in progress. */
struct run {
    struct gpu *g;
    const struct launch *l;
    struct timed_program program;
    struct ctas ctas;
    uint64_t done;                /* CTAs that have ended */
    uint64_t start, end, drained; /* cycles at which the launch began, the last CTA ended, and memory traffic ended */
    uint64_t from, to;            /* the present window */
    uint64_t sampled, collected;  /* first cycle that is in no sample yet; that is in no statistics yet */
    struct stats own;             /* statistics collected so far; zeros before the first interval (`counted`) */
    bool counted;
    struct stats part;    /* statistics collected since the last sample */
    struct gpu_view view; /* view.sm is NULL if nobody observes */
    uint64_t edges;       /* number of edges (windows.h) that the launch has passed */
    struct watchdog watchdog;
    struct fault *fault;
    struct trace_names names;        /* for the trace */
    const struct gap_orders *orders; /* NULL: all CTAs run in time */
    struct gaps *gaps;               /* NULL: the launch has no gaps */
    struct inside *inside;           /* NULL: it has no gaps inside CTAs */
    enum no_gaps why;                /* if `gaps` is NULL */
};

static bool fail(struct run *r, enum fault_kind kind, char *text) {
    return *r->fault = (struct fault){.kind = kind, .text = text}, false;
}

/* Finds the earliest fault of all SMs; false if there is none. */
static bool find_fault(struct run *r) {
    struct sm *first = NULL;
    for (uint32_t i = 0; i < r->g->n_sms; i++) {
        const struct sm_status *s = sm_status(r->g->sm[i]);
        if (s->stopped && (!first || s->fault_cycle < sm_status(first)->fault_cycle))
            first = r->g->sm[i];
    }
    for (uint32_t i = 0; first && i < r->g->n_sms; i++)
        if (r->g->sm[i] != first && sm_status(r->g->sm[i])->stopped) {
            struct fault later = sm_take_fault(r->g->sm[i]);
            fault_free(&later);
        }
    if (first)
        *r->fault = sm_take_fault(first);
    if (first && r->fault->kind == FAULT_STANDSTILL)
        *r->fault = watchdog_standstill(&r->watchdog, first, sm_status(first)->fault_cycle);
    return first != NULL;
}

/* Returns the cycle after the last CTA ended. */
static uint64_t last_cta(const struct run *r) {
    uint64_t last = r->start;
    for (uint32_t i = 0; i < r->g->n_sms; i++)
        if (ctas_joined(&r->ctas, i))
            last = max64(last, sm_status(r->g->sm[i])->finished_at);
    return last;
}

/* Adds the statistics of the SMs in the cycles from r->collected up to `end` to `s`. */
static void collect_sms(const struct run *r, uint64_t end, struct stats *s) {
    uint32_t without = 0;
    for (uint32_t i = 0; i < r->g->n_sms; i++)
        if (ctas_joined(&r->ctas, i))
            sm_stats(r->g->sm[i], end, s);
        else
            without++;
    sm_no_stats(&r->g->cfg, without, end - r->collected, s);
}

/* Adds the statistics of the cycles from r->collected up to `end` to `s`, and sets r->collected to `end`. */
static void collect(struct run *r, uint64_t end, struct stats *s) {
    struct gpu *g = r->g;
    if (r->view.sm)
        view_collect(&r->view, g->sm, end, s);
    else
        collect_sms(r, end, s);
    memsys_stats(g->mem, s);
    stats_add(s, "gpu.cycles", (double)(end - r->collected));
    stats_add(s, "gpu.drained_cycles", (double)((end == r->end ? r->drained : end) - r->collected));
    stats_add(s, "gpu.sm_cycles", (double)(end - r->collected) * g->n_sms);
    energy_stats(&g->cfg, s);
    utilization_stats(&g->cfg, g->opt.lane_operations ? g->opt.lane_operations : 2, &r->own, s);
    r->collected = end;
    watchdog_counts_cleared(&r->watchdog);
}

/* Calls view() with the statistics of the cycles from `from` up to `end`: `interval` for the GPU, and the statistics of
 * each SM. */
static void show_view(struct run *r, uint64_t from, uint64_t end, const struct stats *interval) {
    r->view.from = from - r->start;
    r->view.to = end - r->start;
    r->view.ctas_done = r->done;
    r->view.ctas = r->ctas.view.total;
    r->view.interval = interval;
    r->g->opt.view(r->g->opt.progress_ctx, &r->view);
}

/* Collects the statistics of the cycles up to `end` that are not collected yet. Adds them to the launch's statistics,
 * and passes them to view() if this callback is used. If `sample` is true, also ends a sample and passes it to
 * sample(). */
static bool add_interval(struct run *r, uint64_t end, bool sample) {
    struct gpu *g = r->g;
    struct stats interval;
    uint64_t from = r->collected;
    if (!stats_init(&interval))
        return fail(r, FAULT_MEMORY, NULL);
    collect(r, end, &interval);
    if (r->view.sm)
        show_view(r, from, end, &interval);
    if (g->opt.sample_interval)
        stats_merge(&r->part, &interval);
    if (r->gaps)
        stats_merge(gaps_unit(r->gaps), &interval);
    if (!r->counted) { /* the first interval becomes the sum, because a short launch would spend much time on adding */
        const struct stats zero = r->own;
        r->counted = true;
        r->own = interval;
        interval = zero;
    } else {
        stats_merge(&r->own, &interval);
    }
    if (sample && g->opt.sample_interval && g->opt.sample) {
        g->opt.sample(g->opt.sample_ctx, r->sampled - r->start, end - r->start, &r->part);
        stats_clear(&r->part);
        r->sampled = end;
    }
    stats_free(&interval);
    return true;
}

/* Takes samples and views between two windows, while CTAs run. */
static bool sample_and_view(struct run *r) {
    struct gpu *g = r->g;
    if (r->done == r->ctas.view.total)
        return true;
    uint64_t before = r->edges;
    r->edges += (r->to - r->from) / g->windows.edge;
    bool view = g->opt.progress && r->edges / PROGRESS_EDGES != before / PROGRESS_EDGES &&
                g->opt.progress(g->opt.progress_ctx, r->to - r->start, r->done, r->ctas.view.total) && r->view.sm;
    bool sample = g->opt.sample_interval && r->to - r->sampled >= g->opt.sample_interval;
    return !(view || sample) || add_interval(r, r->to, sample);
}

/* Writes the events of the SMs that have at least `least` events. SMs that are not traced have no state. */
static void write_trace(struct run *r, uint32_t least) {
    struct gpu *g = r->g;
    for (uint32_t i = 0; i < g->n_sms; i++) {
        struct trace *t = sm_unit_state(g->sm[i], &unit_trace);
        if (!t || t->n < least)
            continue;
        g->traced = trace_write(t, i, r->l->program, &r->names, g->opt.trace, !g->traced);
        g->trace_lost += t->lost;
        t->lost = 0;
    }
}

/* Ends all open bars in the trace, and adds a mark if the launch did not complete. */
static void end_trace(struct run *r, bool ok) {
    struct gpu *g = r->g;
    for (uint32_t i = 0; g->sm && i < g->n_sms; i++)
        if (sm_unit_state(g->sm[i], &unit_trace))
            trace_finish(sm_unit_state(g->sm[i], &unit_trace), r->to);
    if (!g->sm)
        return;
    write_trace(r, 0);
    if (g->broken)
        g->trace_shift += r->to; /* the next launch runs on a new machine, whose cycles begin at 0 */
    if (ok)
        return;
    const struct program *p = r->l->program;
    bool at = r->fault->kind < FAULT_DEADLOCK && r->fault->pc < p->n; /* other faults have no source line */
    char text[128];
    snprintf(text, sizeof text, at ? "kernel '%.60s', line %u" : "kernel '%.60s'", p->name,
             at ? p->info[r->fault->pc].line : 0);
    trace_write_end(g->opt.trace, !g->traced, g->trace_shift, launch_end_word(r->fault->kind), text);
    g->traced = true;
}

/* Returns the end of the window that begins at r->from. Sets *exact if the statistics are read at this end, so that all
 * units must stop there. */
static uint64_t window_end(const struct run *r, bool *exact) {
    const struct gpu *g = r->g;
    const struct windows *w = &g->windows;
    uint64_t to = r->from + w->longest;
    *exact = (r->gaps && gaps_settles(r->gaps)) || g->cfg.gpu.poll || g->opt.trace || g->opt.view ||
             (g->opt.sample && g->opt.sample_interval);
    /* Windows near the cycle limit are short and exact. The memory side may be ahead of the SMs by up to two windows
     * and two crossings. So windows are exact as soon as the limit is within this distance. */
    if (r->l->cycle_limit)
        *exact |= to + 2 * (uint64_t)w->longest + 2 * memsys_crossing(g->mem) >= r->start + r->l->cycle_limit;
    return *exact ? r->from + w->edge : to;
}

/* Sets the fault of a launch whose window did not complete. Always returns false. */
static bool ended_early(struct run *r) {
    if (find_fault(r))
        return false;
    switch (r->g->windows.ended) {
    case WINDOWS_STOPPED:
        *r->fault = watchdog_stopped(&r->watchdog, r->to);
        return false;
    case WINDOWS_STANDSTILL:
        *r->fault = watchdog_standstill(&r->watchdog, NULL, r->g->windows.at);
        return false;
    default:
        return fail(r, FAULT_MEMORY, NULL);
    }
}

/* Runs a gap of `n` whole CTAs. */
static bool skip_ctas(struct run *r, uint64_t n, uint64_t warm_from) {
    struct cta_view *ctas = &r->ctas.view;
    struct stats exact;
    if (!stats_init(&exact))
        return fail(r, FAULT_MEMORY, NULL);
    const bool ok = r->orders->forward(r->orders->ctx, ctas->begun, n, warm_from, &exact, r->fault);
    gaps_passed(r->gaps, n, &exact, GAP_FULL);
    ctas->begun += n;
    stats_free(&exact);
    return ok;
}

/* Runs a gap inside CTAs, or between CTAs of mixed ages, if one follows the unit that has ended. */
static bool gap_inside(struct run *r) {
    struct stats exact;
    const struct cta_view *ctas = &r->ctas.view;
    const enum inside_state state = inside_state(r->inside);
    if (state >= INSIDE_BEGINS)
        gaps_restart(r->gaps, state == INSIDE_BEGINS ? 1 : GAP_STABLE);
    if (state == INSIDE_UNEVEN)
        gaps_stop(r->gaps);
    const double part = state == INSIDE_MIXED ? (double)ctas->begun / (double)ctas->total : state == INSIDE_LEVEL;
    const double times = gaps_next_inside(r->gaps, r->to, part);
    if (times <= 0)
        return true;
    if (state == INSIDE_MIXED)
        return skip_ctas(r, inside_skip(r->inside, times), ctas->begun);
    if (!stats_init(&exact))
        return fail(r, FAULT_MEMORY, NULL);
    gaps_passed(r->gaps, 0, &exact, inside_gap(r->inside, times, r->to, &exact));
    stats_free(&exact);
    return !find_fault(r);
}

/* Ends a unit of a sampled launch if one is due, and runs the CTAs of the gap that follows. */
static bool end_unit(struct run *r) {
    struct gpu *g = r->g;
    struct cta_view *ctas = &r->ctas.view;
    /* the memory side is at most this number of cycles ahead of the SMs (window_end()) */
    const uint64_t settle = 2 * (uint64_t)g->windows.longest + 2 * memsys_crossing(g->mem);
    uint64_t warm_from;
    if (!r->gaps || r->done == ctas->total ||
        !gaps_due(r->gaps, ctas->begun, r->inside ? inside_issued(r->inside) : 0, r->to, settle))
        return true;
    if (r->inside && !inside_may(r->inside))
        return true;
    if (!add_interval(r, r->to, false))
        return false;
    if (r->inside)
        return gap_inside(r);
    const uint64_t n = gaps_next(r->gaps, ctas->begun, &warm_from);
    return !n || skip_ctas(r, n, warm_from);
}

/* Returns the cycle of the next event or begin of a CTA, or UINT64_MAX. If the launch has gaps, the memory side must
 * not run alone: at the end of a unit it is at most as far ahead as end_unit() assumes. */
static uint64_t next_work(struct run *r) {
    const uint64_t clusters = r->ctas.clusters ? clusters_next(r->ctas.clusters) : NEVER;
    return windows_seek(&r->g->windows, ctas_may_begin(&r->ctas) ? r->to : clusters, !r->gaps);
}

/* Runs windows until all CTAs have ended and all memory traffic has settled. */
static bool run_windows(struct run *r) {
    struct gpu *g = r->g;
    const uint32_t edge = g->windows.edge;
    for (;;) {
        bool exact;
        r->to = window_end(r, &exact);
        if (!windows_run(&g->windows, &r->ctas, r->from, r->to, exact))
            return ended_early(r);
        if (g->opt.trace)
            write_trace(r, TRACE_BATCH);
        bool stopped;
        r->done = r->ctas.view.begun - windows_resident(&g->windows, &stopped);
        if (stopped && find_fault(r))
            return false;
        const bool done = r->done == r->ctas.view.total;
        uint64_t next = next_work(r);
        if (done && next == UINT64_MAX) {
            uint64_t settled = memsys_settled(g->mem);
            r->to = windows_end(&g->windows);
            r->end = last_cta(r);
            r->drained = settled > r->end ? settled : r->end;
            return true;
        }
        if (!sample_and_view(r) || !end_unit(r))
            return false;
        if (r->inside) /* after a gap, warps may have work earlier */
            next = next_work(r);
        if (r->gaps)
            windows_look(&g->windows);
        if (!watchdog_check(&r->watchdog, r->to, next, r->fault))
            return false;
        uint64_t from = next / edge * edge;
        if (g->cfg.gpu.poll && from > r->to)
            from = r->to + edge;
        watchdog_skip(&r->watchdog, from - r->to);
        r->from = g->cfg.gpu.poll ? r->to : from;
    }
}

static struct sm_demand units_demand(const struct gpu *g, const struct launch *l) {
    return sm_demand_of(g->opt.units, g->opt.n_units, &g->cfg, l);
}

static bool begin_ctas(struct run *r) {
    struct gpu *g = r->g;
    const struct cta_view view = {.cfg = &g->cfg,
                                  .launch = r->l,
                                  .sm = g->sm,
                                  .sms = g->n_sms,
                                  .occupancy = sm_occupancy(&g->cfg, r->l, units_demand(g, r->l)),
                                  .total = (uint64_t)r->l->grid.x * r->l->grid.y * r->l->grid.z,
                                  .cycle = r->from};
    assert(view.occupancy);
    bool whole = true;
    if (r->orders)
        r->gaps = gaps_new(r->orders, view.total, (uint64_t)view.occupancy * view.sms, launch_warps(r->l), &whole);
    r->why = whole ? NO_GAPS_ERROR : GAPS_ARE;
    return (whole || r->gaps) && ctas_init(&r->ctas, g->opt.policies.ctas, &view) &&
           clusters_init(&r->ctas.clusters, &g->cfg, r->l, g->sm);
}

/* Makes an SM take part in the launch. */
static bool join(void *run, uint32_t sm) {
    const struct run *r = run;
    return sm_launch(r->g->sm[sm], r->l, &r->program, r->g->opt.profile, r->start);
}

/* Returns true if only SMs with CTAs take part in the launch. All others count the same, once: when the launch ends. */
static bool joins_late(const struct run *r) {
    const struct gpu_options *o = &r->g->opt;
    const bool l1_counts = o->n_prefetchers || (o->policies.l1 && o->policies.l1->stats);
    return !o->n_units && !l1_counts && !o->profile && !o->trace && !o->view && !o->sample_interval && !r->gaps &&
           !r->ctas.clusters && !r->g->cfg.gpu.poll;
}

/* Prepares gaps inside CTAs. If the SMs cannot lend the CTAs, the launch has no gaps. */
static bool begin_inside(struct run *r) {
    bool refused;
    if (!r->gaps || !gaps_are_inside(r->gaps))
        return true;
    r->inside = inside_new(r->orders, &r->ctas.view, r->g->opt.model, &refused);
    if (!refused)
        return r->inside != NULL;
    gaps_free(r->gaps);
    r->gaps = NULL;
    r->why = NO_GAPS_UNITS;
    return true;
}

static bool begin(struct run *r) {
    struct gpu *g = r->g;
    if (g->broken)
        gpu_free_machine(g);
    if (!g->mem && !gpu_build_machine(g))
        return fail(r, FAULT_MEMORY, NULL);
    r->from = windows_first(&g->windows, g->now, g->cfg.gpu.launch_latency);
    r->start = r->sampled = r->collected = r->from - g->cfg.gpu.launch_latency;
    watchdog_begin(&r->watchdog,
                   &(struct watchdog_parts){&g->cfg, g->sm, g->n_sms, g->mem, g->opt.units, g->opt.n_units,
                                            g->opt.model->flags & RECONV_BARRIERS, &r->ctas.view},
                   r->l, r->start, r->from);
    if (!begin_ctas(r) || !device_heap_prepare(r->l))
        return fail(r, FAULT_MEMORY, NULL);
    bool ok = gpu_bring_code(g, r->l, &r->program);
    windows_look(&g->windows);
    r->ctas.join = joins_late(r) ? join : NULL;
    r->ctas.join_ctx = r;
    for (uint32_t i = 0; ok && !r->ctas.join && i < g->n_sms; i++)
        ok = join(r, i);
    ok = ok && begin_inside(r);
    return (ok && (!g->opt.trace || trace_names_init(&r->names, r->l->program, r->l->text))) ||
           fail(r, FAULT_MEMORY, NULL);
}

/* Allocates the GPU's counts by PC, the sum of the SMs' counts. */
static bool begin_profile(struct run *r) {
    struct gpu *g = r->g;
    free(g->profile);
    g->n_profile = r->l->program->n;
    g->profile = calloc(g->n_profile + 1, sizeof *g->profile);
    return g->profile || fail(r, FAULT_MEMORY, NULL);
}

static void end_profile(struct gpu *g) {
    for (uint32_t i = 0; i < g->n_sms; i++) {
        const struct gpu_profile *from = sm_profile(g->sm[i]);
        for (uint32_t pc = 0; pc < g->n_profile; pc++) {
            g->profile[pc].issued += from[pc].issued;
            g->profile[pc].lanes += from[pc].lanes;
            g->profile[pc].misses += from[pc].misses;
            g->profile[pc].sectors += from[pc].sectors;
            for (int k = 0; k < PROFILE_DEGREES; k++)
                g->profile[pc].degree[k] += from[pc].degree[k];
            for (int k = 0; k < N_SLOTS; k++)
                g->profile[pc].stall[k] += from[pc].stall[k];
        }
    }
}

bool gpu_fits(const struct gpu *g, const struct launch *l, char *why, size_t size) {
    const struct sm_demand d = units_demand(g, l);
    return sm_fits(&g->cfg, l, d, why, size) && clusters_fit(&g->cfg, l, sm_occupancy(&g->cfg, l, d), why, size);
}

bool gpu_simulates(const struct gpu *g, const struct launch *l, char *why, size_t size) {
    return clusters_simulated(l, g->opt.policies.ctas, why, size);
}

void gpu_watch(struct gpu *g, const struct windows_watch *watch) {
    assert(!g->workers);
    g->watch = watch;
    if (g->mem)
        gpu_watch_machine(g);
}

uint64_t gpu_trace_lost(const struct gpu *g) { return g->trace_lost; }

void gpu_prepare(struct gpu *g) {
    if (g->unbuilt)
        gpu_build_machine(g);
}

void gpu_host_wrote(struct gpu *g, uint64_t address, uint64_t bytes) {
    if (g->cfg.memory.host_copies)
        gpu_prepare(g);
    if (g->mem) /* after a failed launch nothing must be reset: the next launch builds a new machine */
        memsys_host_wrote(g->mem, address, bytes);
}

const struct gpu_profile *gpu_profile(const struct gpu *g, uint32_t *n) {
    *n = g->profile ? g->n_profile : 0;
    return g->profile;
}

/* Ends a launch on all SMs. If the launch was complete (`ok`), the L1s are emptied, and the instruction, constant and
 * texture caches keep their lines. */
static void end_launch(struct gpu *g, const struct ctas *ctas, bool ok) {
    for (uint32_t i = 0; g->sm && i < g->n_sms; i++) {
        if (ctas_joined(ctas, i))
            sm_launch_end(g->sm[i]);
        if (ok && ctas_joined(ctas, i))
            sm_flush(g->sm[i]);
    }
}

bool gpu_regroups(const struct gpu *g) {
    bool regroups = g->opt.model->flags & RECONV_MEETS;
    for (uint32_t i = 0; i < g->opt.n_units; i++)
        regroups |= g->opt.units[i].ops->join != NULL;
    return regroups;
}

void gpu_warm(struct gpu *g, const struct warp *warp, bool in_slot, const struct inst *in, const struct effects *fx) {
    if (!g->broken && (!g->unbuilt || gpu_build_machine(g)))
        sm_warm(g->sm[warp->smid % g->n_sms], g->mem, in_slot ? warp : NULL, in, fx);
}

void gpu_warmed(struct gpu *g) {
    for (uint32_t i = 0; g->sm && i < g->n_sms; i++)
        sm_flush(g->sm[i]);
}

bool gpu_run(struct gpu *g, const struct launch *l, struct stats *s, struct fault *fault) {
    return gpu_run_sampled(g, l, NULL, NULL, s, fault);
}

bool gpu_run_sampled(struct gpu *g, const struct launch *l, const struct gap_orders *o, struct gap_result *result,
                     struct stats *s, struct fault *fault) {
    struct launch timed = *l;
    timed.n_sms = g->cfg.gpu.sms;
    if (g->watch)
        g->watch->told(g->watch->ctx, WINDOWS_OUTSIDE);
    struct run r = {.g = g, .l = &timed, .orders = o, .fault = fault};
    bool ok = stats_init(&r.own) && (!g->opt.sample_interval || stats_init(&r.part)) &&
              (!g->opt.view || view_init(&r.view, g->cfg.gpu.sms));
    if (!ok)
        fail(&r, FAULT_MEMORY, NULL);
    ok = ok && begin(&r) && (!g->opt.profile || begin_profile(&r)) && run_windows(&r) && add_interval(&r, r.end, true);
    g->broken = !ok || g->cfg.gpu.cold_launches;
    if (!g->broken)
        g->now = r.to;
    if (result)
        *result = (struct gap_result){.why = r.why};
    if (ok && r.gaps)
        gaps_finish(r.gaps, &r.own, result);
    if (ok || (fault->kind != FAULT_MEMORY && add_interval(&r, r.to, true))) {
        stats_merge(s, &r.own);
        if (g->opt.profile)
            end_profile(g);
    }
    if (g->opt.trace && r.to)
        end_trace(&r, ok);
    trace_names_free(&r.names);
    end_launch(g, &r.ctas, ok);
    timed_free(&r.program);
    clusters_free(r.ctas.clusters);
    gaps_free(r.gaps);
    inside_free(r.inside);
    ctas_free(&r.ctas);
    stats_free(&r.own);
    stats_free(&r.part);
    view_free(&r.view);
    if (g->watch)
        g->watch->told(g->watch->ctx, WINDOWS_FEW);
    return ok;
}
