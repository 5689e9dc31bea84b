#include "watchdog.h"
#include "deadlock.h"
#include "isa/arith.h"
#include "isa/machine/warp.h"
#include "isa/paths/host_poll.h"
#include "timing/config/config.h"
#include "timing/mem/memsys.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/livelock.h"
#include "timing/sm/unit_access.h"
#include <inttypes.h>

/* Number of warps that the report of a stopped launch describes. */
enum { FEW_NAMED = 4 };

/* Returns the cycles without progress that count as a deadlock: deadlock.cycles cycles of the slowest clock, because an
 * SM with a much slower memory waits longer. Units of an SM may require a longer time. */
static uint64_t patience(const struct config *c, const struct sm_unit_row *units, uint32_t n) {
    double slowest = c->gpu.core_mhz;
    uint64_t longest = 0;
    const double clocks[] = {c->gpu.icnt_mhz, c->gpu.l2_mhz, c->gpu.dram_mhz};
    for (int i = 0; i < 3; i++)
        slowest = clocks[i] < slowest ? clocks[i] : slowest;
    for (uint32_t i = 0; i < n; i++)
        if (units[i].ops->patience)
            longest += units[i].ops->patience(c);
    return max64(longest, (uint64_t)(c->deadlock.cycles * (c->gpu.core_mhz / slowest)));
}

/* Returns the cycles of a search period for livelocks. */
static uint64_t period(const struct config *c) { return c->deadlock.cycles / 2; }

void watchdog_begin(struct watchdog *d, const struct watchdog_parts *parts, const struct launch *l, uint64_t start,
                    uint64_t first) {
    *d = (struct watchdog){.parts = *parts,
                           .launch = l,
                           .start = start,
                           .patience = patience(parts->cfg, parts->units, parts->n_units),
                           .progress_at = first,
                           .due = first + period(parts->cfg),
                           .look = first + period(parts->cfg),
                           .dead = {.number = CTA_NONE},
                           .offer = first + period(parts->cfg),
                           .most = 1};
}

void watchdog_skip(struct watchdog *d, uint64_t cycles) { d->progress_at += cycles; }

void watchdog_counts_cleared(struct watchdog *d) { d->moved = UINT64_MAX; }

struct fault watchdog_standstill(const struct watchdog *d, struct sm *sm, uint64_t at) {
    char why[440];
    snprintf(why, sizeof why,
             "kernel '%.120s': the clock stands still at cycle %" PRIu64
             "%s. This is a bug of the simulator, not of the "
             "kernel: please report it with the kernel, the model and the options",
             d->launch->program->name, at - d->start, sm ? "" : ", in all SMs");
    return (struct fault){.kind = FAULT_STANDSTILL, .text = standstill_report(d->parts.sm, d->parts.n_sms, sm, why)};
}

/* Returns a fault with a report that begins with "kernel 'K': `before` N cycles`after`". The report shows all warps, or
 * those of the CTA `dead`. */
static struct fault stuck_in(const struct watchdog *d, const struct dead_cta *dead, enum fault_kind kind,
                             const char *before, uint64_t cycles, const char *after) {
    char why[640];
    snprintf(why, sizeof why, "kernel '%.120s': %s %" PRIu64 " cycles%s", d->launch->program->name, before, cycles,
             after);
    uint32_t warps = d->parts.cfg->deadlock.max_report;
    if (kind != FAULT_DEADLOCK && warps > FEW_NAMED)
        warps = FEW_NAMED;
    return (struct fault){.kind = kind, .text = deadlock_report(d->parts.sm, d->parts.n_sms, warps, dead, why)};
}

static struct fault stuck(const struct watchdog *d, enum fault_kind kind, const char *before, uint64_t cycles,
                          const char *after) {
    return stuck_in(d, NULL, kind, before, cycles, after);
}

/* Returns true if a path of the warp in the slot can run while other lanes of the warp wait. */
static bool holds_lanes_back(const struct sm *sm, uint32_t slot) {
    const struct warp *warp = sm_get_warp(sm, slot);
    const lanemask_t may_run = warp && sm_is_live(sm, slot) ? sm_lanes_may_run(sm, slot) : 0;
    return may_run && warp->live & ~may_run;
}

static bool some_warp_holds_lanes_back(const struct watchdog *d) {
    bool any = false;
    for (uint32_t i = 0; i < d->parts.n_sms && !any; i++)
        for (uint32_t w = 0; w < sm_get_slots(d->parts.sm[i]) && !any; w++)
            any = holds_lanes_back(d->parts.sm[i], w);
    return any;
}

/* Returns the advice for lanes that wait for lanes of their warp; "" if the model lets all of them continue. */
static const char *barrier_advice(const struct watchdog *d) {
    return d->parts.barriers ? ""
                             : "; if lanes of a warp wait for each other, as for a lock, choose a model with "
                               "convergence barriers, such as -m its (docs/models.md)";
}

/* Returns the fault of a launch that has reached its limit. The limit is checked at the end of a window of cycles, so
 * the launch may have run a few cycles longer. */
static struct fault beyond_limit(const struct watchdog *d, uint64_t cycles) {
    char after[256], limit[96] = "";
    if (cycles > d->launch->cycle_limit)
        snprintf(limit, sizeof limit, " (it ran until cycle %" PRIu64 ", the end of a window of cycles)", cycles);
    snprintf(after, sizeof after, "%s%s", limit, some_warp_holds_lanes_back(d) ? barrier_advice(d) : "");
    return stuck(d, FAULT_LIMIT, "stopped by the limit of", d->launch->cycle_limit, after);
}

struct fault watchdog_stopped(const struct watchdog *d, uint64_t to) {
    return stuck(d, FAULT_STOPPED, "stopped after", to - d->start, ", on demand");
}

/* Returns true if a warp of the launch computes: the search will not end before this warp ends its loop. */
static bool some_warp_computes(const struct watchdog *d) {
    bool any = false;
    for (uint32_t i = 0; i < d->parts.n_sms && !any; i++)
        any = livelock_computes(d->parts.sm[i]);
    return any;
}

/* Lets other launches run if a warp of the launch polls memory with a time limit. Returns false if none does. */
static bool offer_turn(const struct watchdog *d) {
    bool any = false;
    for (uint32_t i = 0; d->launch->stands && i < d->parts.n_sms && !any; i++)
        any = livelock_polls_clock(d->parts.sm[i]);
    if (any)
        launch_continues(d->launch, true);
    return any;
}

/* Ends a search at cycle `to`. SMs run slower during a search, so the next one begins PAUSE * `most` periods later. It
 * may take twice as many periods, so that it also finds long repetitions. */
static void pause_search(struct watchdog *d, uint64_t to) {
    enum { PAUSE = 15 }; /* periods without a search for each period of a search */
    for (uint32_t i = 0; i < d->parts.n_sms; i++)
        livelock_end(d->parts.sm[i]);
    d->watching = false;
    d->due = to + PAUSE * d->most * period(d->parts.cfg);
    d->most *= 2;
}

/* Searches for a livelock, in which every warp repeats its states. Returns true when the launch can never end. A search
 * period is half of deadlock.cycles. The findings of a search are valid until memory changes, so a search continues in
 * the next period if memory has not changed: with slow memory, repetitions take several periods. After `most` periods,
 * the search pauses if a warp computes. */
static bool find_livelock(struct watchdog *d, uint64_t to) {
    bool due = to >= d->due, any = false;
    if (!due && !d->watching)
        return false;
    const bool watched = d->watching;
    for (uint32_t i = 0; i < d->parts.n_sms && d->watching; i++)
        d->watching = !livelock_disturbed(d->parts.sm[i]);
    if (watched && !d->watching)
        d->most = 1;
    bool all = d->watching && due;
    for (uint32_t i = 0; i < d->parts.n_sms && all; i++)
        all = livelock_repeats(d->parts.sm[i], &any);
    if (all && any) {
        const bool first = !d->stands;
        d->stands = true;
        return !launch_continues(d->launch, first);
    }
    const bool offered = due && d->watching && offer_turn(d);
    if (due && d->watching && !offered && ++d->periods >= d->most && some_warp_computes(d)) {
        pause_search(d, to);
        return false;
    }
    for (uint32_t i = 0; i < d->parts.n_sms; i++)
        if (due && !d->watching)
            livelock_begin(d->parts.sm[i]);
        else if (!d->watching)
            livelock_end(d->parts.sm[i]);
    if (!d->watching) {
        d->periods = 0;
        d->stands = false;
    }
    if (due)
        d->due = to + period(d->parts.cfg);
    d->watching |= due;
    return false;
}

/* Returns the number of instructions issued and packets moved between SMs and memory. */
static uint64_t moved_so_far(const struct watchdog *d) {
    uint64_t n = memsys_moved(d->parts.mem);
    for (uint32_t i = 0; i < d->parts.n_sms; i++)
        n += sm_issue_count(d->parts.sm[i]);
    return n;
}

/* Returns true if a path of a warp of the SM sleeps at cycle `now` (nanosleep), so that it continues later. With
 * `whole`, only warps without lanes that wait for the path count. */
static bool some_path_sleeps(const struct sm *sm, bool whole, uint64_t now) {
    for (uint32_t w = 0; w < sm_get_slots(sm); w++) {
        if (!sm_get_warp(sm, w) || !sm_is_live(sm, w) || (whole && holds_lanes_back(sm, w)))
            continue;
        uint32_t n;
        const struct sm_path *path = sm_get_paths(sm, w, &n);
        for (uint32_t p = 0; p < n; p++)
            if (path[p].sleeps && path[p].switched > now)
                return true;
    }
    return false;
}

/* Returns true if something has issued or moved within the last `patience` cycles. Sleep is progress, too. But after
 * SLEEPS checks, a path whose warp holds other lanes back may wait for these lanes. */
static bool makes_progress(struct watchdog *d, uint64_t to) {
    enum { SLEEPS = 100 };
    if (to < d->progress_at + d->patience)
        return true;
    const bool was_busy = d->busy;
    const uint64_t before = d->moved;
    d->moved = moved_so_far(d);
    d->progress_at = to;
    d->busy = d->moved != before;
    if (d->busy && was_busy) /* more than a poll between two sleeps */
        d->sleeps = 0;
    if (d->busy)
        return true;
    bool sleeps = false;
    for (uint32_t i = 0; i < d->parts.n_sms && !sleeps; i++)
        sleeps = some_path_sleeps(d->parts.sm[i], d->sleeps >= SLEEPS, to);
    d->sleeps += sleeps;
    return sleeps;
}

/* Returns a fault for a deadlock. `unit` follows the number of cycles. */
static struct fault deadlock(const struct watchdog *d, const char *before, uint64_t cycles, const char *unit) {
    char after[400], left[160] = "";
    const struct cta_view *v = d->parts.ctas;
    if (v->begun < v->total)
        snprintf(left, sizeof left,
                 "; %" PRIu64 " of the %" PRIu64 " CTAs %s not begun: CTAs that wait for each other must fit on the "
                 "machine together",
                 v->total - v->begun, v->total, v->total - v->begun == 1 ? "has" : "have");
    snprintf(after, sizeof after, "%.80s%s%s", unit, left, barrier_advice(d));
    return stuck(d, FAULT_DEADLOCK, before, cycles, after);
}

/* Searches for a dead CTA at the end of each period. Returns true if the last two searches found the same CTA. */
static bool find_dead_cta(struct watchdog *d, uint64_t to) {
    if (to < d->look)
        return false;
    const uint64_t before = d->dead.number;
    d->look = to + period(d->parts.cfg);
    d->dead = dead_cta_find(d->parts.sm, d->parts.n_sms);
    return d->dead.number != CTA_NONE && d->dead.number == before;
}

static struct fault dead_cta(const struct watchdog *d) {
    const struct dim3 id = sm_get_cta(d->parts.sm[d->dead.sm], d->dead.slot)->id;
    char before[96];
    snprintf(before, sizeof before, "deadlock: no warp of CTA (%u,%u,%u) can continue, for at least", id.x, id.y, id.z);
    return stuck_in(d, &d->dead, FAULT_DEADLOCK, before, period(d->parts.cfg), d->dead.split ? barrier_advice(d) : "");
}

/* Returns true if warps have polled this kind of memory in this period, and in `patience` periods altogether. */
static bool polls_for_long(struct watchdog *d, enum poll kind, uint32_t patience) {
    uint64_t polled = 0;
    for (uint32_t i = 0; i < d->parts.n_sms; i++)
        polled += sm_polls(d->parts.sm[i], kind);
    const bool now = polled != d->polled[kind];
    d->polled[kind] = polled;
    d->polling[kind] = d->stands ? 0 : d->polling[kind] + now;
    return now && d->polling[kind] >= patience;
}

/* At the end of each period, lets the host and other launches run if warps have polled memory for long. Before that,
 * find_livelock() may find that the launch stands. */
static void offer_host_turn(struct watchdog *d, uint64_t to) {
    enum { HOST_PATIENCE = 8, DEVICE_PATIENCE = 200 };
    if (!d->launch->stands || to < d->offer)
        return;
    d->offer = to + period(d->parts.cfg);
    const bool host = polls_for_long(d, POLL_HOST, HOST_PATIENCE),
               device = polls_for_long(d, POLL_DEVICE, DEVICE_PATIENCE);
    if (host || device)
        launch_continues(d->launch, true);
}

bool watchdog_check(struct watchdog *d, uint64_t to, uint64_t next, struct fault *fault) {
    uint64_t cycles = to - d->start;
    offer_host_turn(d, to);
    if (launch_stopped(d->launch))
        *fault = watchdog_stopped(d, to);
    else if (d->launch->cycle_limit && cycles >= d->launch->cycle_limit)
        *fault = beyond_limit(d, cycles);
    else if (next == UINT64_MAX)
        *fault = stuck(d, FAULT_DEADLOCK, "deadlock after", cycles, ": nothing can happen any more");
    else if (find_livelock(d, to))
        *fault =
            deadlock(d, "deadlock: every warp that can run has repeated itself, in memory that nobody changes, for",
                     d->parts.cfg->deadlock.cycles / 2, " (half of deadlock.cycles)");
    else if (find_dead_cta(d, to))
        *fault = dead_cta(d);
    else if (!makes_progress(d, to))
        *fault = deadlock(d, "deadlock: no instruction was issued and no memory access moved for", d->patience,
                          d->sleeps ? " (deadlock.cycles), and often before, while paths sleep" : " (deadlock.cycles)");
    else
        return true;
    return false;
}
