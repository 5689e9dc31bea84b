#include "gaps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNITS_LEAST = 9, /* a launch with fewer units runs in time as a whole */
    /* The first wave that fills no empty SM tells how many waves take about CYCLES_LEAST cycles: they are a unit. A
     * shorter unit would depend on whether its CTAs have just begun or are about to end. */
    CYCLES_LEAST = 2500,
    /* Number of sampled units after the first gap. More samples are THINNING times as many. THINNING is odd, so the
     * places of few samples are also places of many samples, and models with different numbers have common samples. */
    THINNING = 3,
    SAMPLES_SOME = THINNING,
    SAMPLES_MORE = THINNING * SAMPLES_SOME,
    SAMPLES_MOST = THINNING * SAMPLES_MORE,
    /* a launch of at least SOME_FROM waves has at least SAMPLES_SOME samples; of MORE_FROM waves, SAMPLES_MORE */
    SOME_FROM = 28,
    MORE_FROM = 100,
    /* The last wave / WARMING CTAs of a gap warm the caches. More CTAs would evict the lines of CTAs in flight. */
    WARMING = 8,
    HEAD_MOST = 8, /* largest number of units that run in time before the first gap */
    /* Gaps inside CTAs. A unit has at least CYCLES_INSIDE cycles, ALL_INSIDE instructions, and EACH_INSIDE instructions
     * of each warp. Between a gap and the next unit are at least REFILL cycles, and EACH_INSIDE instructions of each
     * warp: then the warps have used what the gap has left in the caches. Random numbers of cycles, up to REFILL_MORE
     * and CYCLES_MORE, are added to both after the first gap. Else units might always begin and end at the same
     * instructions of a loop. A gap has at most TIMES_MOST times the instructions of a unit. */
    CYCLES_INSIDE = 2000,
    CYCLES_MORE = 1024,
    ALL_INSIDE = 512,
    EACH_INSIDE = 16,
    REFILL = 500,
    REFILL_MORE = 512,
    TIMES_MOST = 64,
    GROWTH = 5, /* a gap inside CTAs has at most a GROWTH-th of the instructions before it */
    SPREAD = 8, /* a gap between CTAs of mixed ages has at most a SPREAD-th of the instructions that remain */
    PRIOR = 2,  /* number of units in addition to the samples, whose rates are assumed to differ by stable_range */
};
/* The launch is stable when the cycles per instruction of GAP_STABLE consecutive units differ by at most this. */
static const double stable_range = 0.05;
static const double usual_error = 0.03; /* wanted relative error of the cycles, if the caller does not choose one */

const char *const gap_stats[GAP_STATS] = {"gpu.cycles", "gpu.idle_cycles", "l1.misses",        "l2.accesses",
                                          "l2.misses",  "dram.read_bytes", "dram.write_bytes", "energy.total_joules"};

static const char *const counted[] = {"gpu.lane_slots",
                                      "gpu.barrier_instructions",
                                      "gpu.warp_instructions",
                                      "gpu.thread_instructions",
                                      "gpu.ctas",
                                      "gpu.warps",
                                      NULL};
enum { BY_WARPS = 3 }; /* number of statistics at the begin of counted[] that count by warp */

const char *const *gap_exact(bool regroups) { return regroups ? counted + BY_WARPS : counted; }
const char *gap_weight(bool regroups) { return counted[regroups ? BY_WARPS : BY_WARPS - 1]; }

const char *gaps_reason(enum no_gaps why) {
    static const char *const text[N_NO_GAPS] = {
        [GAPS_ARE] = "",
        [NO_GAPS_ORDER] = "its CTAs may depend on each other, or gpu.cta_policy or a cycle limit forbids gaps",
        [NO_GAPS_ERROR] = "the wanted error is too small",
        [NO_GAPS_WAVES] = "its CTAs run in more than one wave, and in too few waves for gaps between CTAs",
        [NO_GAPS_UNITS] = "a unit takes part in issue, paths join where they meet, or asynchronous units work",
        [NO_GAPS_SHORT] = "it ends before three units are stable",
        [NO_GAPS_UNEVEN] = "its CTAs advance unevenly",
        [NO_GAPS_VARIES] = "its units vary too much, or it ends before a gap may have the length of a unit"};
    return text[why];
}

/* A sampled unit. */
struct sample {
    struct gap_unit unit;
    double value[GAP_STATS];
    double stands_for; /* warp instructions of gaps that the unit estimates */
    struct stats_kept all;
    bool apart; /* gaps_restart() lies between the unit and the unit before */
};

struct gaps {
    struct gap_orders orders;
    uint64_t waves, wave; /* number of whole waves; CTAs of a wave. The CTAs after the last wave run in time */
    uint64_t length;      /* waves of a unit */
    /* at: first CTA of the present or next sampled unit; inside CTAs: number of warp instructions before it. The
     * present unit ends when `next` CTAs have begun */
    uint64_t at, next;
    uint64_t settled_from; /* cycle at which the last CTA of the unit had begun; UINT64_MAX: not yet */
    bool settles, stable, tail;
    bool few;               /* too few units remain for gaps between CTAs */
    bool stands;            /* the launch has been stable; later units may differ */
    bool uneven;            /* gaps_stop() has ended the gaps, though no warps drain */
    uint32_t head;          /* units that ended before the first gap */
    uint32_t place, wanted; /* place: the next sampled unit is number `place` of `wanted`, from 0 */
    struct stats present;   /* statistics of the present unit */
    struct stats exact;     /* of all gaps */
    uint64_t skipped;
    uint64_t total, before; /* CTAs of the launch; CTAs that had begun at the first gap */
    bool inside;            /* gaps lie inside CTAs, and the fields from here to `owed` are used */
    bool refills;           /* the present cycles follow a gap, and no sampled unit has them */
    uint64_t ends;          /* first cycle at which the present unit may end */
    uint64_t warps;         /* number of warps of a wave */
    uint32_t fresh, least;  /* number of samples before the last gaps_restart(); its `units` */
    uint32_t gaps;          /* number of gaps */
    uint32_t first;         /* number of samples before the first gap */
    double timed, begun;    /* warp instructions in units so far; of these, before the first gap */
    double since;           /* warp instructions in units and gaps before the last gaps_restart(g, GAP_STABLE) */
    double owed;            /* half of the warp instructions of the latest gap, which the next sample stands for */
    uint32_t n;
    struct sample sample[GAP_UNITS];
};

struct gaps *gaps_new(const struct gap_orders *o, uint64_t total, uint64_t wave, uint32_t cta_warps, bool *whole) {
    const uint64_t waves = total > wave ? (total - wave) / wave : 0;
    const bool inside = o->inside && waves < UNITS_LEAST;
    *whole = waves < UNITS_LEAST && !inside;
    struct gaps *g = *whole ? NULL : calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->orders = *o;
    g->total = total;
    g->waves = waves;
    g->wave = g->next = wave;
    g->length = 1;
    g->settled_from = UINT64_MAX;
    g->inside = inside;
    g->warps = (total < wave ? total : wave) * cta_warps;
    g->least = GAP_STABLE;
    g->wanted = waves < SOME_FROM ? 1 : waves < MORE_FROM ? SAMPLES_SOME : SAMPLES_MORE;
    if (stats_init(&g->present) && stats_init(&g->exact))
        return g;
    gaps_free(g);
    return NULL;
}

void gaps_free(struct gaps *g) {
    if (!g)
        return;
    for (uint32_t i = 0; i < g->n; i++)
        stats_kept_free(&g->sample[i].all);
    stats_free(&g->present);
    stats_free(&g->exact);
    free(g);
}

struct stats *gaps_unit(struct gaps *g) {
    return &g->present;
}

bool gaps_settles(const struct gaps *g) { return g->settles; }

bool gaps_due(struct gaps *g, uint64_t begun, uint64_t issued, uint64_t now, uint64_t settle) {
    if (g->inside && !g->ends)
        g->ends = now + CYCLES_INSIDE;
    const uint64_t each = EACH_INSIDE * g->warps, least = each > ALL_INSIDE || g->refills ? each : ALL_INSIDE;
    if (g->inside ? g->tail || now < g->ends || issued < least : g->tail || begun < g->next)
        return false;
    if (!g->settles)
        g->settled_from = now;
    g->settles = true;
    return now - g->settled_from >= settle;
}

/* Returns the weight of what `s` counts. */
static double weight_of(const struct gaps *g, const struct stats *s) {
    return stats_get(s, gap_weight(g->orders.regroups));
}

static double rate(const struct sample *s) { return s->unit.cycles / s->unit.instructions; }

/* Stores the statistics of the present unit as a sample. */
static void keep(struct gaps *g) {
    const double w = weight_of(g, &g->present);
    if (g->n == GAP_UNITS || w <= 0)
        return;
    struct sample *s = &g->sample[g->n];
    if (!stats_keep(&s->all, &g->present))
        return;
    g->n++;
    s->stands_for = g->owed;
    s->apart = g->fresh > 0 && g->fresh + 1 == g->n;
    g->owed = 0;
    s->unit = (struct gap_unit){(double)g->at, stats_get(&g->present, "gpu.cycles"), w};
    for (int i = 0; i < GAP_STATS; i++)
        s->value[i] = stats_get(&g->present, gap_stats[i]);
}

/* Returns true if the cycles per instruction of the last GAP_STABLE units differ by at most stable_range. */
static bool is_stable(const struct gaps *g) {
    if (g->n < g->fresh + g->least || g->n < GAP_STABLE)
        return false;
    double least = INFINITY, most = 0;
    for (uint32_t i = g->n - GAP_STABLE; i < g->n; i++) {
        least = fmin(least, rate(&g->sample[i]));
        most = fmax(most, rate(&g->sample[i]));
    }
    return most - least <= stable_range * most;
}

/* Drops the samples before the last GAP_STABLE units: the SMs were still filling with CTAs, and caches were cold. */
static void drop_unstable(struct gaps *g) {
    const uint32_t n = g->n > GAP_STABLE ? GAP_STABLE : g->n;
    for (uint32_t i = 0; i < g->n - n; i++)
        stats_kept_free(&g->sample[i].all);
    memmove(g->sample, g->sample + g->n - n, n * sizeof *g->sample);
    g->fresh -= g->fresh < g->n - n ? g->fresh : g->n - n;
    g->n = n;
}

/* Returns the cycles per instruction of the samples [from, to). */
static double rate_of(const struct gaps *g, uint32_t from, uint32_t to) {
    double cycles = 0, instructions = 0;
    for (uint32_t i = from; i < to; i++) {
        cycles += g->sample[i].unit.cycles;
        instructions += g->sample[i].unit.instructions;
    }
    return cycles / instructions;
}

static double mean_rate(const struct gaps *g) { return rate_of(g, 0, g->n); }

/* Raises the number of samples to meet the wanted error. The number follows from the variation of the first units
 * (SMARTS, section 3). Gaps of two units remain between the samples. */
static void want_samples(struct gaps *g) {
    const double mean = mean_rate(g), error = g->orders.error > 0 ? g->orders.error : usual_error;
    double square = 0;
    for (uint32_t i = 0; i < g->n; i++)
        square += (rate(&g->sample[i]) - mean) * (rate(&g->sample[i]) - mean);
    const double variation = sqrt(square / (g->n > 1 ? g->n - 1 : 1)) / mean;
    const double n = pow(2.5 * variation / error, 2);
    while (g->n + g->wanted < n && g->wanted < SAMPLES_MOST && g->waves / g->length > 9 * (uint64_t)g->wanted)
        g->wanted *= THINNING;
}

/* Returns the first CTA of the next sampled unit, or of the tail. Sampled units have the same places in every model,
 * whenever the first gap begins. */
static uint64_t next_place(struct gaps *g, uint64_t begun) {
    while (g->place < g->wanted) {
        const uint64_t at = (2 * (uint64_t)g->place++ + 1) * g->waves / (2 * (uint64_t)g->wanted) * g->wave;
        if (at + g->wave / 2 >= begun)
            return at;
    }
    g->tail = true;
    return g->waves * g->wave;
}

/* Chooses the length of a unit by the time of the second unit, which is one wave. If too few units remain, all CTAs run
 * in time. */
static void choose_length(struct gaps *g) {
    const double cycles = stats_get(&g->present, "gpu.cycles");
    g->length = cycles > 0 && cycles < CYCLES_LEAST ? (uint64_t)ceil(CYCLES_LEAST / cycles) : 1;
    g->tail = g->waves / g->length < UNITS_LEAST;
    g->few = g->tail;
}

uint64_t gaps_next(struct gaps *g, uint64_t begun, uint64_t *warm_from) {
    if (g->head == 1)
        choose_length(g);
    if (g->head++) /* the first unit fills empty SMs and is no sample */
        keep(g);
    stats_clear(&g->present);
    g->settles = false;
    if (!g->stable && (is_stable(g) || g->head >= HEAD_MOST)) {
        g->stable = true;
        drop_unstable(g);
        want_samples(g);
    }
    g->at = g->stable ? next_place(g, begun) : begun;
    g->next = g->at + g->length * g->wave;
    const uint64_t to = g->at > begun ? g->at : begun;
    const uint64_t w = g->wave / WARMING + 1;
    *warm_from = to > begun + w ? to - w : begun;
    if (!g->skipped)
        g->before = begun;
    return to - begun;
}

bool gaps_are_inside(const struct gaps *g) { return g->inside; }

/* Returns the length of the next gap, in units, that keeps the expected error of the launch at the wanted error. If a
 * unit stands for m of T units, the standard error is that of a unit times sqrt(m / T). As many units as have run
 * since the number of warps changed are assumed to follow; with mixed ages, T follows from `part`. */
static double gap_length(const struct gaps *g, double part) {
    const double mean = rate_of(g, g->fresh, g->n), error = g->orders.error > 0 ? g->orders.error : usual_error;
    const double done = g->timed + weight_of(g, &g->exact) - (part < 1 ? 0 : g->since);
    double square = 0, each = 0;
    for (uint32_t i = g->fresh; i < g->n; i++) {
        const double step = i > g->fresh ? rate(&g->sample[i]) - rate(&g->sample[i - 1]) : 0;
        square += step * step / 2;
        each += g->sample[i].unit.instructions / (g->n - g->fresh);
    }
    const double square_all = square / mean / mean + PRIOR * stable_range * stable_range;
    const double variation = sqrt(square_all / (g->n - g->fresh - 1 + PRIOR)), units = done / each;
    const double all = part < 1 ? units / part : 2 * units, wanted = all * pow(error / (2.5 * variation), 2);
    const double most = fmin(part < 1 ? (all - units) / SPREAD : units / GROWTH, TIMES_MOST);
    /* the last samples that GAP_UNITS permits spread over the rest of the launch */
    return g->n > GAP_UNITS * 3 / 4 ? fmax(fmin(most, wanted), units / 8) : fmin(most, wanted);
}

/* Adds warp instructions that the neighbouring units estimate. `before`: the part that the unit before estimates. */
static void owe(struct gaps *g, double instructions, double before) {
    if (g->n)
        g->sample[g->n - 1].stands_for += instructions * before;
    g->owed += instructions * (1 - before);
}

/* Returns the length of the gap that may begin now, in units; 0: none. `part`: see gaps_next_inside(). With mixed ages,
 * units vary at random, so they need not be stable. */
static double length_now(struct gaps *g, double part) {
    const bool settled = part < 1 ? g->n >= g->fresh + g->least : is_stable(g);
    if (!g->stable && !g->gaps && (settled || g->n >= HEAD_MOST))
        drop_unstable(g); /* later, samples stand for gaps */
    g->stable |= settled;
    g->stands |= settled;
    const double length = g->stable && !g->tail && g->n < GAP_UNITS - 1 && part > 0 ? gap_length(g, part) : 0;
    return length < 1 ? 0 : length;
}

/* Returns a number from 0 to 1, which depends on the number of gaps and on `what`. */
static double random_part(const struct gaps *g, uint32_t what) {
    return (double)(((2ull * g->gaps + what) * 0x9e3779b97f4a7c15ull) >> 32) / 0x1p32;
}

double gaps_next_inside(struct gaps *g, uint64_t now, double part) {
    const bool refilled = g->refills;
    double length = 0;
    g->settles = false;
    g->timed += weight_of(g, &g->present);
    if (!refilled) {
        if (g->head++)
            keep(g);
        length = length_now(g, part);
    }
    stats_clear(&g->present);
    g->at = (uint64_t)(g->timed + weight_of(g, &g->exact));
    g->refills = length > 0;
    g->ends = now + (g->refills ? REFILL : CYCLES_INSIDE);
    if (refilled || g->refills)
        g->ends += (uint64_t)(random_part(g, 1) * (refilled ? CYCLES_MORE : REFILL_MORE));
    if (length <= 0)
        return 0;
    if (!g->gaps++) {
        g->begun = g->timed;
        g->first = g->n;
    }
    return length * (0.75 + random_part(g, 0) / 2);
}

void gaps_passed(struct gaps *g, uint64_t ctas, const struct stats *exact, enum gap_end end) {
    g->skipped += ctas;
    owe(g, weight_of(g, exact), end == GAP_FULL ? 0.5 : 1);
    g->stable &= end == GAP_FULL;
    stats_merge(&g->exact, exact);
}

void gaps_stop(struct gaps *g) {
    g->tail = true;
    g->uneven = true;
}

void gaps_restart(struct gaps *g, uint32_t units) {
    owe(g, g->owed, 1);
    g->owed = 0;
    if (units == GAP_STABLE)
        g->since = g->timed + weight_of(g, &g->present) + weight_of(g, &g->exact);
    g->fresh = g->n;
    g->least = units;
    g->stable = false;
    g->refills = true;
}

/* Returns how many units like sample `i` the gaps would have, for which the sample stands. */
static double times(const struct gaps *g, uint32_t i) {
    return (g->sample[i].stands_for + (i + 1 == g->n ? g->owed : 0)) / g->sample[i].unit.instructions;
}

/* Returns the variance of one statistic of a unit around the samples' mean ratio of the statistic to instructions. It
 * is the variance of successive samples, so that a slow change along the grid counts little. */
static double residual(const struct gaps *g, int stat) {
    double square = 0, value = 0, instructions = 0, last = 0, steps = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        value += g->sample[i].value[stat];
        instructions += g->sample[i].unit.instructions;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const double e = g->sample[i].value[stat] - value / instructions * g->sample[i].unit.instructions;
        square += i && !g->sample[i].apart ? (e - last) * (e - last) / 2 : 0;
        steps += i && !g->sample[i].apart;
        last = e;
    }
    return steps > 0 ? square / steps : 0;
}

/* Adds the statistics of the gaps to `s`. Statistics of gap_exact() are known exactly. Each other statistic is
 * estimated by the samples: a gap counts half as the sample before it, and half as the sample after it. */
static void add_gaps(const struct gaps *g, struct stats *s) {
    for (uint32_t i = 0; i < g->n; i++)
        stats_kept_add_scaled(s, &g->sample[i].all, times(g, i));
    for (const char *const *name = gap_exact(g->orders.regroups); *name; name++) {
        double estimated = 0;
        for (uint32_t i = 0; i < g->n; i++)
            estimated += times(g, i) * stats_kept_get(&g->sample[i].all, *name);
        stats_add(s, *name, stats_get(&g->exact, *name) - estimated);
    }
}

static enum no_gaps why_none(const struct gaps *g) {
    if (g->few)
        return NO_GAPS_WAVES;
    return g->uneven ? NO_GAPS_UNEVEN : g->stands ? NO_GAPS_VARIES : NO_GAPS_SHORT;
}

void gaps_finish(const struct gaps *g, struct stats *s, struct gap_result *r) {
    memset(r, 0, sizeof *r);
    r->skipped = g->skipped;
    r->inside = g->inside;
    r->instructions = weight_of(g, &g->exact);
    r->why = r->instructions > 0 ? GAPS_ARE : why_none(g);
    r->after = g->skipped ? 1 - (double)g->before / (double)g->total : 0;
    if (g->gaps)
        r->after = 1 - g->begun / (weight_of(g, s) + r->instructions);
    if (g->gaps && g->n > g->first)
        r->drift = fabs(rate_of(g, g->first, g->n) / rate_of(g, 0, g->first) - 1);
    r->n = g->n;
    for (uint32_t i = 0; i < g->n; i++)
        r->unit[i] = g->sample[i].unit;
    if (r->instructions <= 0 || !g->n)
        return;
    r->freedom = g->n - 1;
    double squares = 0, many = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        squares += times(g, i) * times(g, i);
        many += times(g, i);
    }
    /* the variance of the samples as estimates, and the variances of the units that were not measured */
    for (int i = 0; i < GAP_STATS; i++)
        r->variance[i] = (squares + many) * residual(g, i);
    add_gaps(g, s);
}
