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
    SAMPLES_LEAST = 3,
    SAMPLES_MORE = THINNING * SAMPLES_LEAST,
    SAMPLES_MOST = THINNING * SAMPLES_MORE,
    MORE_FROM = 100, /* a launch of at least MORE_FROM waves has at least SAMPLES_MORE samples */
    STABLE = 3,      /* number of consecutive units whose cycles per instruction are compared */
    /* The last wave / WARMING CTAs of a gap warm the caches. More CTAs would evict the lines of CTAs in flight. */
    WARMING = 8,
    HEAD_MOST = 8, /* largest number of units that run in time before the first gap */
};
/* The launch is stable when the cycles per instruction of STABLE consecutive units differ by at most this fraction. */
static const double stable_range = 0.05;
static const double usual_error = 0.03; /* wanted relative error of the cycles, if the caller does not choose one */

const char *const gap_stats[GAP_STATS] = {"gpu.cycles", "gpu.idle_cycles", "l1.misses",        "l2.accesses",
                                          "l2.misses",  "dram.read_bytes", "dram.write_bytes", "energy.total_joules"};

const char *const gap_exact[] = {"gpu.warp_instructions",
                                 "gpu.thread_instructions",
                                 "gpu.lane_slots",
                                 "gpu.barrier_instructions",
                                 "gpu.ctas",
                                 "gpu.warps",
                                 NULL};

/* A sampled unit. */
struct sample {
    struct gap_unit unit;
    double value[GAP_STATS];
    double stands_for; /* warp instructions of gaps that the unit estimates */
    struct stats_kept all;
};

struct gaps {
    struct gap_orders orders;
    uint64_t waves, wave;  /* number of whole waves; CTAs of a wave. The CTAs after the last wave run in time */
    uint64_t length;       /* waves of a unit */
    uint64_t at, next;     /* at: first CTA of the present or next sampled unit; the present unit ends when `next` CTAs
                           * have begun */
    uint64_t settled_from; /* cycle at which the last CTA of the unit had begun; UINT64_MAX: not yet */
    bool settles, stable, tail;
    uint32_t head;          /* units that ended before the first gap */
    uint32_t place, wanted; /* place: the next sampled unit is number `place` of `wanted`, from 0 */
    struct stats present;   /* statistics of the present unit */
    struct stats exact;     /* of all gaps */
    uint64_t skipped;
    uint64_t total, before; /* CTAs of the launch; CTAs that had begun at the first gap */
    double owed;            /* half of the warp instructions of the latest gap, which the next sample stands for */
    uint32_t n;
    struct sample sample[GAP_UNITS];
};

struct gaps *gaps_new(const struct gap_orders *o, uint64_t total, uint64_t wave, bool *whole) {
    const uint64_t waves = total > wave ? (total - wave) / wave : 0;
    *whole = waves < UNITS_LEAST;
    struct gaps *g = *whole ? NULL : calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->orders = *o;
    g->total = total;
    g->waves = waves;
    g->wave = g->next = wave;
    g->length = 1;
    g->settled_from = UINT64_MAX;
    g->wanted = waves < MORE_FROM ? SAMPLES_LEAST : SAMPLES_MORE;
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

bool gaps_due(struct gaps *g, uint64_t begun, uint64_t now, uint64_t settle) {
    if (g->tail || begun < g->next)
        return false;
    if (!g->settles)
        g->settled_from = now;
    g->settles = true;
    return now - g->settled_from >= settle;
}

static double rate(const struct sample *s) { return s->unit.cycles / s->unit.instructions; }

/* Stores the statistics of the present unit as a sample. */
static void keep(struct gaps *g) {
    const double w = stats_get(&g->present, "gpu.warp_instructions");
    if (g->n == GAP_UNITS || w <= 0)
        return;
    struct sample *s = &g->sample[g->n];
    if (!stats_keep(&s->all, &g->present))
        return;
    g->n++;
    s->stands_for = g->owed;
    g->owed = 0;
    s->unit = (struct gap_unit){(double)g->at, stats_get(&g->present, "gpu.cycles"), w};
    for (int i = 0; i < GAP_STATS; i++)
        s->value[i] = stats_get(&g->present, gap_stats[i]);
}

/* Returns true if the cycles per instruction of the last STABLE units differ by at most stable_range. */
static bool is_stable(const struct gaps *g) {
    if (g->n < STABLE)
        return false;
    double least = INFINITY, most = 0;
    for (uint32_t i = g->n - STABLE; i < g->n; i++) {
        least = fmin(least, rate(&g->sample[i]));
        most = fmax(most, rate(&g->sample[i]));
    }
    return most - least <= stable_range * most;
}

/* Drops the samples before the last STABLE units: then the SMs were still filling with CTAs, and caches were cold. */
static void drop_unstable(struct gaps *g) {
    const uint32_t n = g->n > STABLE ? STABLE : g->n;
    for (uint32_t i = 0; i < g->n - n; i++)
        stats_kept_free(&g->sample[i].all);
    memmove(g->sample, g->sample + g->n - n, n * sizeof *g->sample);
    g->n = n;
}

static double mean_rate(const struct gaps *g) {
    double cycles = 0, instructions = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        cycles += g->sample[i].unit.cycles;
        instructions += g->sample[i].unit.instructions;
    }
    return cycles / instructions;
}

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

void gaps_passed(struct gaps *g, uint64_t ctas, const struct stats *exact) {
    const double instructions = stats_get(exact, "gpu.warp_instructions");
    g->skipped += ctas;
    if (g->n)
        g->sample[g->n - 1].stands_for += instructions / 2;
    g->owed = instructions / 2;
    stats_merge(&g->exact, exact);
}

/* Returns how many units like sample `i` the gaps would have, for which the sample stands. */
static double times(const struct gaps *g, uint32_t i) {
    return (g->sample[i].stands_for + (i + 1 == g->n ? g->owed : 0)) / g->sample[i].unit.instructions;
}

/* Returns the variance of one statistic of a unit around the samples' mean ratio of the statistic to instructions. It
 * is the variance of successive samples, so that a slow change along the grid counts little. */
static double residual(const struct gaps *g, int stat) {
    double square = 0, value = 0, instructions = 0, last = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        value += g->sample[i].value[stat];
        instructions += g->sample[i].unit.instructions;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const double e = g->sample[i].value[stat] - value / instructions * g->sample[i].unit.instructions;
        square += i ? (e - last) * (e - last) / 2 : 0;
        last = e;
    }
    return g->n > 1 ? square / (g->n - 1) : 0;
}

/* Adds the statistics of the gaps to `s`. Statistics in gap_exact are known exactly. Each other statistic is estimated
 * by the samples: a gap counts half as the sample before it, and half as the sample after it. */
static void add_gaps(const struct gaps *g, struct stats *s) {
    for (uint32_t i = 0; i < g->n; i++)
        stats_kept_add_scaled(s, &g->sample[i].all, times(g, i));
    for (const char *const *name = gap_exact; *name; name++) {
        double estimated = 0;
        for (uint32_t i = 0; i < g->n; i++)
            estimated += times(g, i) * stats_kept_get(&g->sample[i].all, *name);
        stats_add(s, *name, stats_get(&g->exact, *name) - estimated);
    }
}

void gaps_finish(const struct gaps *g, struct stats *s, struct gap_result *r) {
    memset(r, 0, sizeof *r);
    r->skipped = g->skipped;
    r->instructions = stats_get(&g->exact, "gpu.warp_instructions");
    r->after = g->skipped ? 1 - (double)g->before / (double)g->total : 0;
    r->n = g->n;
    for (uint32_t i = 0; i < g->n; i++)
        r->unit[i] = g->sample[i].unit;
    if (!g->skipped || !g->n)
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
