#include "gaps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNITS_LEAST = 12,  /* a launch with fewer units runs in time as a whole */
    SAMPLES_LEAST = 3, /* smallest number of sampled units after the first gap */
    STABLE = 3,        /* number of consecutive units whose cycles per instruction are compared */
    /* The last wave / WARMING CTAs of a gap warm the caches. More CTAs would evict the lines of CTAs in flight. */
    WARMING = 8,
    HEAD_MOST = 8, /* largest number of units that run in time before the first gap */
};
/* The launch is stable when the cycles per instruction of STABLE consecutive units differ by at most this fraction. */
static const double stable_range = 0.05;

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
    struct stats_kept all;
};

struct gaps {
    struct gap_orders orders;
    uint64_t units, wave;  /* number of units; CTAs of a unit. The CTAs after the last unit run in time */
    uint64_t at, next;     /* at: first CTA of the present or next sampled unit; the present unit ends when `next` CTAs
                           * have begun */
    uint64_t settled_from; /* cycle at which the last CTA of the unit had begun; UINT64_MAX: not yet */
    bool settles, stable, tail;
    uint32_t head;          /* units that ended before the first gap */
    uint32_t place, wanted; /* place: the next sampled unit is number `place` of `wanted`, from 0 */
    struct stats present;   /* statistics of the present unit */
    struct stats exact;     /* of all gaps */
    uint64_t skipped;
    uint32_t n;
    struct sample sample[GAP_UNITS];
};

static uint32_t limited(uint64_t n, uint64_t least, uint64_t most) {
    n = n < least ? least : n;
    n = n > most ? most : n;
    return (uint32_t)(n < GAP_UNITS - HEAD_MOST ? n : GAP_UNITS - HEAD_MOST);
}

struct gaps *gaps_new(const struct gap_orders *o, uint64_t total, uint64_t wave, bool *whole) {
    const uint64_t units = total > wave ? (total - wave) / wave : 0;
    *whole = units < UNITS_LEAST;
    struct gaps *g = *whole ? NULL : calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->orders = *o;
    g->units = units;
    g->wave = g->next = wave;
    g->settled_from = UINT64_MAX;
    /* a short launch gets fewer samples than wanted, so that gaps remain between them */
    g->wanted = limited(o->samples, SAMPLES_LEAST, (units - UNITS_LEAST) / 3 + SAMPLES_LEAST);
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
 * (SMARTS, section 3). */
static void want_samples(struct gaps *g) {
    const double mean = mean_rate(g), error = g->orders.error;
    double square = 0;
    for (uint32_t i = 0; i < g->n; i++)
        square += (rate(&g->sample[i]) - mean) * (rate(&g->sample[i]) - mean);
    const double variation = sqrt(square / (g->n > 1 ? g->n - 1 : 1)) / mean;
    const double n = error > 0 ? fmin(ceil(pow(2.5 * variation / error, 2)), GAP_UNITS) : 0;
    if (n > g->wanted)
        g->wanted = limited((uint64_t)n, g->wanted, (g->units - UNITS_LEAST) / 3 + SAMPLES_LEAST);
}

/* Returns the first CTA of the next sampled unit, or of the tail. Sampled units have the same places in every model,
 * whenever the first gap begins. */
static uint64_t next_place(struct gaps *g, uint64_t begun) {
    while (g->place < g->wanted) {
        const uint64_t at = (2 * (uint64_t)g->place++ + 1) * g->units / (2 * (uint64_t)g->wanted) * g->wave;
        if (at + g->wave / 2 >= begun)
            return at;
    }
    g->tail = true;
    return g->units * g->wave;
}

uint64_t gaps_next(struct gaps *g, uint64_t begun, uint64_t *warm_from) {
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
    g->next = g->at + g->wave;
    const uint64_t to = g->at > begun ? g->at : begun;
    const uint64_t w = g->wave / WARMING + 1;
    *warm_from = to > begun + w ? to - w : begun;
    return to - begun;
}

void gaps_passed(struct gaps *g, uint64_t ctas, const struct stats *exact) {
    g->skipped += ctas;
    stats_merge(&g->exact, exact);
}

/* Returns the variance of one statistic around the samples' mean ratio of the statistic to instructions. Sets *value
 * and *instructions to the sums over the samples. */
static double residual(const struct gaps *g, int stat, double *value, double *instructions) {
    double square = 0;
    *value = *instructions = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        *value += g->sample[i].value[stat];
        *instructions += g->sample[i].unit.instructions;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const double e = g->sample[i].value[stat] - *value / *instructions * g->sample[i].unit.instructions;
        square += e * e;
    }
    return g->n > 1 ? square / (g->n - 1) : 0;
}

/* Adds the statistics of the gaps to `s`. Statistics in gap_exact are known exactly. Each other statistic is estimated
 * as `factor` times its value in the samples. */
static void add_gaps(const struct gaps *g, struct stats *s, double factor) {
    for (uint32_t i = 0; i < g->n; i++)
        stats_kept_add_scaled(s, &g->sample[i].all, factor);
    for (const char *const *name = gap_exact; *name; name++) {
        double estimated = 0;
        for (uint32_t i = 0; i < g->n; i++)
            estimated += factor * stats_kept_get(&g->sample[i].all, *name);
        stats_add(s, *name, stats_get(&g->exact, *name) - estimated);
    }
}

void gaps_finish(const struct gaps *g, struct stats *s, struct gap_result *r) {
    memset(r, 0, sizeof *r);
    r->skipped = g->skipped;
    r->instructions = stats_get(&g->exact, "gpu.warp_instructions");
    r->n = g->n;
    for (uint32_t i = 0; i < g->n; i++)
        r->unit[i] = g->sample[i].unit;
    if (!g->skipped || !g->n)
        return;
    r->freedom = g->n - 1;
    double instructions = 0;
    for (int i = 0; i < GAP_STATS; i++) {
        double value;
        const double square = residual(g, i, &value, &instructions), m = r->instructions / (instructions / g->n);
        /* the variance of the mean, and the variances of the m units that were not measured */
        r->variance[i] = m * m * square / g->n + m * square;
    }
    add_gaps(g, s, r->instructions / instructions);
}
