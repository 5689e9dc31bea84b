#include "sampling.h"
#include <math.h>
#include <stdlib.h>

/* A launch joins a group if its signature is at most most_distance from that of the group's first launch, and the ratio
 * of their weights is at most most_weight_ratio. */
static const double most_distance = 0.1, most_weight_ratio = 1.25;
/* A launch with another grid also joins a group of its kernel if it resembles the group's latest launch: its number of
 * CTAs differs at most by the factor most_step, its number of instructions per CTA by the factor most_cta_ratio. */
static const double most_step = 2, most_cta_ratio = 1.05;
/* Every interval also contains this fraction of the cycles after the first CTA without time, in launches that were
 * measured as well as in others. The allowance covers the error of the machine state in which these cycles began (the
 * bias of SMARTS). */
const double sampling_allowance = 0.02;
/* The cycles per instruction of launches of a group are expected to have this standard deviation, as a fraction. */
static const double group_deviation = 0.03;
enum {
    DRAWN_LEAST = 3,    /* launches that a further run measures of a group without a measured launch */
    GROWTH = 4,         /* the launches of a group up to the end of a block are GROWTH times those before the block */
    GROWTH_RESIZED = 2, /* the same if their grids differ: a line through the cycles needs more samples */
    FINE_FROM = 64,     /* number of launches of a group from which on a block has a quarter as many as precede it */
    LOOK_AHEAD = 16,    /* largest number of launches that warm the L2 for a measured launch */
    HISTORY = 16,       /* largest number of launches by which similar sequences are compared */
    GROUPS_LOOKED = 64, /* number of newest groups of a kernel with which a launch is compared */
    UNKNOWN = -1
};

uint64_t sampling_key(const char *kernel, const uint32_t dims[7]) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (const char *c = kernel; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3ull;
    for (int i = 0; i < 7; i++)
        h = (h ^ dims[i]) * 0x100000001b3ull;
    return h;
}

static uint64_t random_next(uint64_t *state) { return survey_hash(*state += 0x9e3779b97f4a7c15ull); }

/* ---- the first run ---- */

/* Returns how many launches before launch `j` equal the latest launches, up to HISTORY. */
static uint32_t common(const struct heddle_plan *p, uint32_t j) {
    uint32_t n = 0;
    while (n < HISTORY && n < j && p->launch[j - 1 - n].key == p->launch[p->n - 1 - n].key)
        n++;
    return n;
}

/* Returns the number of the launch of this key whose predecessors are most similar to the latest launches, or
 * UINT32_MAX. Of several, returns the latest. */
static uint32_t find_match(const struct heddle_plan *p, uint64_t key) {
    uint32_t best = UINT32_MAX, most = 0;
    for (uint32_t j = p->n; j-- && most < HISTORY;) {
        const uint32_t n = p->launch[j].key == key ? 1 + common(p, j) : 0;
        best = n > most ? j : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Returns true if the launches of the group are long: cold caches change little of the first one. */
static bool is_long(const struct heddle_plan *p, uint32_t g) {
    return p->launch[p->group[g].first].weight >= p->long_weight;
}

/* Returns true if launch number `member` of group `g` is drawn. The launches of a group are divided into blocks, and
 * one launch of each block is drawn at random. The length of the program is not known, so blocks grow with their
 * position: 0, 1 to 3, 4 to 15, and so on for long launches; 0, 1, 2 to 7, 8 to 31 for others; 0, 1, 2 to 3, 4 to 7 if
 * grids differ. */
static bool drawn(const struct heddle_plan *p, uint32_t g, uint64_t member) {
    const uint64_t growth = p->group[g].resized ? GROWTH_RESIZED : GROWTH;
    uint64_t from = 0, size = 1;
    while (member >= from + size) {
        from += size;
        size = from >= FINE_FROM ? from / 4 : from == 1 && !is_long(p, g) ? 1 : (growth - 1) * from;
    }
    return member == from + survey_hash(from * 0x9e3779b97f4a7c15ull + g) % size;
}

static bool within(double a, double b, double most_ratio) { return fmax(a, b) <= most_ratio * fmin(a, b); }

/* Returns the number of the latest launch of the kernel if the launch may join its group with another grid, or
 * UINT32_MAX. */
static uint32_t find_kin(const struct heddle_plan *p, const struct planned *l) {
    for (uint32_t j = p->n; j--;)
        if (p->launch[j].kin == l->kin)
            return within(p->launch[j].ctas, l->ctas, most_step) ? j : UINT32_MAX;
    return UINT32_MAX;
}

bool sampling_draws(struct heddle_plan *p, const struct planned *l) {
    if (p->n && (p->match == UINT32_MAX || p->launch[p->match].key != l->key))
        p->match = find_match(p, l->key);
    if (p->n && p->match == UINT32_MAX)
        p->match = find_kin(p, l);
    if (!p->n || p->match == UINT32_MAX)
        return true;
    const uint32_t g = p->launch[p->match].group;
    return drawn(p, g, p->group[g].n);
}

/* Returns the fraction of the CTAs of a launch that touches `bytes` bytes, which is enough to fill the L2 twice. */
static double fills(double bytes, double l2_bytes) { return bytes > 2 * l2_bytes ? 2 * l2_bytes / bytes : 1; }

static double bytes_of(const struct heddle_plan *p, uint32_t group) {
    return p->launch[p->group[group].prototype].bytes;
}

double sampling_warms(const struct heddle_plan *p, double l2_bytes) {
    uint32_t ahead[LOOK_AHEAD]; /* groups of this launch and of the predicted launches */
    double later = 0;
    for (uint32_t n = 0; n < LOOK_AHEAD && later < l2_bytes; n++) {
        const uint32_t g = ahead[n] = p->launch[p->match + n % (p->n - p->match)].group;
        uint64_t member = p->group[g].n;
        for (uint32_t i = 0; i < n; i++)
            member += ahead[i] == g;
        if (n && drawn(p, g, member))
            return fills(bytes_of(p, ahead[0]), l2_bytes);
        later += n ? bytes_of(p, g) : 0;
    }
    return 0;
}

/* Makes room for one more element of `bytes` bytes in an array. Returns false if memory is out. */
static bool grown(void *array, uint32_t n, uint32_t *room, size_t bytes) {
    void **at = array;
    if (n < *room)
        return true;
    void *more = realloc(*at, (2 * (size_t)*room + 64) * bytes);
    if (!more)
        return false;
    *at = more;
    *room = 2 * *room + 64;
    return true;
}

/* Returns true if the launch may belong to the group. A launch that was not observed has no signature to compare. */
static bool alike(const struct heddle_plan *p, const struct sampling_group *g, const struct planned *l) {
    const struct planned *first = &p->launch[g->first], *seen = &p->launch[g->prototype];
    const struct planned *latest = &p->launch[g->latest];
    const bool equal = first->key == l->key && within(first->weight, l->weight, most_weight_ratio),
               resized = first->kin == l->kin && (g->resized || first->key != l->key) &&
                         within(latest->ctas, l->ctas, most_step) &&
                         within(latest->weight * l->ctas, l->weight * latest->ctas, most_cta_ratio);
    return (equal || resized) &&
           (!seen->observed || !l->observed || signature_distance(&seen->signature, &l->signature) <= most_distance);
}

/* Returns the group of the launch, or UNKNOWN. The predicted group is tried first. */
static int64_t find_group(const struct heddle_plan *p, const struct planned *l) {
    uint32_t looked = 0;
    if (!p->n || p->match == UINT32_MAX)
        return UNKNOWN;
    const uint32_t predicted = p->launch[p->match].group;
    if (alike(p, &p->group[predicted], l))
        return predicted;
    for (uint32_t g = p->n_groups; g-- && looked < GROUPS_LOOKED;) {
        looked += p->launch[p->group[g].first].kin == l->kin;
        if (alike(p, &p->group[g], l))
            return g;
    }
    return UNKNOWN;
}

bool sampling_add(struct heddle_plan *p, const struct planned *l) {
    if (!grown(&p->launch, p->n, &p->room, sizeof *p->launch) ||
        !grown(&p->group, p->n_groups, &p->groups_room, sizeof *p->group))
        return false;
    const int64_t found = find_group(p, l);
    const uint32_t g = found == UNKNOWN ? p->n_groups++ : (uint32_t)found;
    struct sampling_group *to = &p->group[g];
    struct planned *added = &p->launch[p->n];
    if (found == UNKNOWN)
        *to = (struct sampling_group){.first = p->n, .prototype = p->n};
    *added = *l;
    to->resized |= p->launch[to->first].key != l->key;
    to->latest = p->n;
    added->group = g;
    added->member = to->n++;
    if (added->observed && !p->launch[to->prototype].observed)
        to->prototype = p->n;
    p->match = p->n++ && p->match != UINT32_MAX ? p->match + 1 : UINT32_MAX;
    return true;
}

/* The launches in the order of their groups: group g has the elements member[from[g]] to member[from[g + 1] - 1]. */
struct members {
    uint32_t *member, *from;
};

static void members_free(struct members *m) {
    free(m->member);
    free(m->from);
    *m = (struct members){0};
}

static bool members_list(struct members *m, const struct heddle_plan *p) {
    *m = (struct members){calloc(p->n + 1, sizeof *m->member), calloc(p->n_groups + 2, sizeof *m->from)};
    if (!m->member || !m->from) {
        members_free(m);
        return false;
    }
    for (uint32_t g = 0; g < p->n_groups; g++)
        m->from[g + 1] = m->from[g] + p->group[g].n;
    for (uint32_t i = 0; i < p->n; i++)
        m->member[m->from[p->launch[i].group] + p->launch[i].member] = i;
    return true;
}

/* Draws a random order of the launches of each group that were not measured. The order does not depend on how many
 * launches further runs measure, so models that measure different numbers have the smaller number in common. */
bool sampling_end_first(struct heddle_plan *p) {
    struct members m;
    if (!members_list(&m, p))
        return false;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        uint32_t *list = m.member + m.from[g], n = 0;
        uint64_t state = g + 1;
        for (uint32_t i = 0; i < p->group[g].n; i++)
            if (!p->launch[list[i]].measured)
                list[n++] = list[i];
        for (uint32_t k = n; k > 1; k--) {
            const uint32_t with = (uint32_t)(random_next(&state) % k), old = list[k - 1];
            list[k - 1] = list[with];
            list[with] = old;
        }
        for (uint32_t k = 0; k < n; k++)
            p->launch[list[k]].turn = k;
    }
    members_free(&m);
    p->surveyed = true;
    return true;
}

/* ---- further runs ---- */

bool sampling_chosen(const struct heddle_plan *p, const struct planned *l) {
    return p->whole || (!l->measured && l->turn < p->group[l->group].wanted);
}

double sampling_warms_again(const struct heddle_plan *p, uint32_t i, double l2_bytes) {
    double later = 0;
    for (uint32_t k = i + 1; k < p->n && k <= i + LOOK_AHEAD && later < l2_bytes; k++) {
        if (sampling_chosen(p, &p->launch[k]))
            return fills(bytes_of(p, p->launch[i].group), l2_bytes);
        later += bytes_of(p, p->launch[k].group);
    }
    return 0;
}

/* ---- estimates ---- */

/* A sample of a group: launch number `launch`, and the total weight of the launches that it stands for. */
struct sample {
    uint32_t launch;
    double stands_for;
};

/* The estimate of a launch that was not measured: the sum of two samples, each multiplied by a number. */
struct between {
    uint32_t sample[2];
    double times[2];
};

/* The launches of a group (`list`), its samples, and the estimates of the launches. The arrays have room for all
 * launches of the plan and one more. */
struct of_group {
    struct heddle_plan *p;
    uint32_t *list, n, n_samples;
    struct sample *sample;
    struct between *between;
};

/* Returns a measured launch after the group's last launch: the next one of the same kernel, if its weight is similar,
 * and if its group begins after the old group's last launch. If the launches of a kernel change slowly, a new group
 * begins where the launches differ enough from the old group's first. The new group's first sample then shows how the
 * old group ends. Groups whose launches alternate show nothing of each other. Returns UNKNOWN if there is none. */
static int64_t successor(const struct of_group *o) {
    const struct planned *last = &o->p->launch[o->list[o->n - 1]];
    for (uint32_t i = o->list[o->n - 1] + 1; i < o->p->n; i++) {
        const struct planned *l = &o->p->launch[i];
        if (l->key != last->key || !l->measured)
            continue;
        const bool follows = o->p->group[l->group].first > o->list[o->n - 1];
        return follows && within(l->weight, last->weight, most_weight_ratio) ? (int64_t)i : UNKNOWN;
    }
    return UNKNOWN;
}

/* Returns the least number of samples for an interval. A line has one degree of freedom less than a ratio. A single
 * long launch is enough, as the caches change it little. */
static uint32_t least_samples(const struct heddle_plan *p, uint32_t g) {
    return (p->group[g].resized ? 3 : 2) - is_long(p, g);
}

/* Lists the samples of a group. The first launch of a group starts with cold caches, so it is a sample only if there
 * are too few others. */
static void list_samples(struct of_group *o, uint32_t g) {
    const struct planned *launch = o->p->launch;
    uint32_t measured = 0;
    for (uint32_t i = 0; i < o->n; i++)
        measured += launch[o->list[i]].measured;
    o->n_samples = 0;
    for (uint32_t i = measured > least_samples(o->p, g) && launch[o->list[0]].measured; i < o->n; i++)
        if (launch[o->list[i]].measured)
            o->sample[o->n_samples++] = (struct sample){o->list[i], 0};
    const int64_t next = measured && !launch[o->list[o->n - 1]].measured ? successor(o) : UNKNOWN;
    if (next != UNKNOWN)
        o->sample[o->n_samples++] = (struct sample){(uint32_t)next, 0};
}

/* Returns the estimate of launch `l` by sample `at` and the next sample. Launches with equal grids have values in
 * proportion to their weight, at a rate that changes along the program. */
static struct between by_rate(const struct of_group *o, uint32_t l, uint32_t at) {
    const struct planned *launch = o->p->launch;
    const uint32_t from = o->sample[at].launch, to = at + 1 < o->n_samples ? o->sample[at + 1].launch : from;
    const double part = l > from && to > from ? (double)(l - from) / (to - from) : 0;
    return (struct between){
        {at, at + (part > 0)},
        {(1 - part) * launch[l].weight / launch[from].weight, part * launch[l].weight / launch[to].weight}};
}

/* Works like by_rate(), for launches with different grids: values lie on the line through those of both samples. After
 * the last sample, the line through the first and the last sample continues. */
static struct between by_size(const struct of_group *o, uint32_t l, uint32_t at) {
    const struct planned *launch = o->p->launch;
    const bool after = at + 1 == o->n_samples;
    const uint32_t a = after ? 0 : at, b = after ? at : at + 1;
    const double from = launch[o->sample[a].launch].weight, to = launch[o->sample[b].launch].weight;
    if (within(from, to, 1.01))
        return by_rate(o, l, at);
    const double part = fmax(-2, fmin(3, (launch[l].weight - from) / (to - from)));
    return (struct between){{a, b}, {1 - part, part}};
}

/* Estimates each launch that was not measured by interpolation between the sample before it and the sample after it in
 * the order of the program. */
static void interpolate(struct of_group *o, bool resized) {
    struct planned *launch = o->p->launch;
    uint32_t at = 0;
    for (uint32_t i = 0; i < o->n && o->n_samples; i++) {
        const uint32_t l = o->list[i];
        while (at + 1 < o->n_samples && o->sample[at + 1].launch <= l)
            at++;
        if (launch[l].measured)
            continue;
        const struct between b = o->between[i] = resized && o->n_samples > 1 ? by_size(o, l, at) : by_rate(o, l, at);
        for (int k = 0; k < 2; k++)
            o->sample[b.sample[k]].stands_for += b.times[k] * launch[o->sample[b.sample[k]].launch].weight;
    }
    for (uint32_t i = 0; i < o->n; i++)
        launch[o->list[i]].stands_for = 0;
    for (uint32_t k = 0; k < o->n_samples; k++)
        if (launch[o->sample[k].launch].group == launch[o->list[0]].group)
            launch[o->sample[k].launch].stands_for = o->sample[k].stands_for;
}

/* Estimates the sum of gap_stats[stat] over the group's launches. Adds the inexact part of this sum (struct
 * sampling_interval) to *inexact. `sample` has room for all samples of the group. */
static struct estimate estimate_group(const struct of_group *o, int stat, struct estimate_sample *sample,
                                      double *inexact) {
    struct estimate measured = {.value = 0}, rest;
    double sum = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct planned *l = &o->p->launch[o->list[i]];
        left += !l->measured;
        if (!l->measured)
            continue;
        const double value = stats_kept_get(&l->stats, gap_stats[stat]);
        estimate_add(&measured, &(struct estimate){value, l->gaps.variance[stat], l->gaps.freedom});
        *inexact += value * l->inexact;
    }
    for (uint32_t k = 0; k < o->n_samples; k++) {
        const struct planned *l = &o->p->launch[o->sample[k].launch];
        sample[k] = (struct estimate_sample){l->weight, stats_kept_get(&l->stats, gap_stats[stat]),
                                             l->gaps.variance[stat], o->sample[k].stands_for};
        sum += sample[k].value;
    }
    if (left) {
        rest = estimate_rest(sample, o->n_samples, left, o->p->group[o->p->launch[o->list[0]].group].resized,
                             group_deviation * sum / o->n_samples);
        estimate_add(&measured, &rest);
        *inexact += rest.value;
    }
    return measured;
}

typedef bool filler(void *ctx, uint32_t i, const struct stats *s);

/* Sets *s to the statistics of launch number `i` of the group. */
static void stats_of(const struct of_group *o, uint32_t i, struct stats *s) {
    const struct planned *l = &o->p->launch[o->list[i]];
    const struct between *b = &o->between[i];
    stats_clear(s);
    if (l->measured) {
        stats_kept_add(s, &l->stats);
        return;
    }
    const struct stats_kept *kept[2] = {&o->p->launch[o->sample[b->sample[0]].launch].stats,
                                        &o->p->launch[o->sample[b->sample[1]].launch].stats};
    stats_kept_add(s, kept[0]); /* sets the maxima, which cannot be scaled */
    stats_kept_add_scaled(s, kept[0], b->times[0] - 1);
    if (b->times[1] != 0)
        stats_kept_add_scaled(s, kept[1], b->times[1]);
}

/* Returns true if the samples cannot give an interval for the launches that were not measured. */
static bool lacks_samples(const struct of_group *o, uint32_t g) {
    bool left = false;
    for (uint32_t i = 0; i < o->n; i++)
        left |= !o->p->launch[o->list[i]].measured;
    return left && o->n_samples < least_samples(o->p, g);
}

static void count_skipped(struct heddle_plan *p) {
    p->skipped_ctas = p->skipped_launches = p->measured_launches = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        p->skipped_launches += !p->launch[i].measured;
        p->measured_launches += p->launch[i].measured;
        p->skipped_ctas += p->launch[i].measured ? p->launch[i].gaps.skipped : 0;
    }
}

/* Estimates a group, and adds its contributions to the sums over all groups. */
static bool add_group(struct of_group *o, uint32_t number, struct estimate all[GAP_STATS], double inexact[GAP_STATS],
                      struct estimate_sample *sample, struct stats *s, filler *fill, void *ctx) {
    struct sampling_group *g = &o->p->group[number];
    list_samples(o, number);
    interpolate(o, g->resized);
    g->lacks = lacks_samples(o, number);
    for (int k = 0; k < GAP_STATS && !g->lacks; k++) {
        const struct estimate e = estimate_group(o, k, sample, &inexact[k]);
        estimate_add(&all[k], &e);
        g->variance = k == GAP_CYCLES ? e.variance : g->variance;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < o->n && !g->lacks; i++) {
        stats_of(o, i, s);
        ok = fill(ctx, o->list[i], s);
    }
    return ok;
}

bool sampling_estimate(struct heddle_plan *p, filler *fill, void *ctx) {
    struct estimate all[GAP_STATS] = {{.value = 0}};
    double inexact[GAP_STATS] = {0};
    struct estimate_sample *sample = calloc(p->n + 2, sizeof *sample);
    struct of_group o = {
        .p = p, .sample = calloc(p->n + 2, sizeof *o.sample), .between = calloc(p->n + 2, sizeof *o.between)};
    struct members m = {0};
    struct stats s = {0};
    bool ok = sample && o.sample && o.between && members_list(&m, p) && stats_init(&s);
    for (uint32_t g = 0; ok && g < p->n_groups; g++) {
        o.list = m.member + m.from[g];
        o.n = p->group[g].n;
        ok = add_group(&o, g, all, inexact, sample, &s, fill, ctx);
    }
    count_skipped(p);
    for (int k = 0; k < GAP_STATS; k++)
        p->interval[k] = (struct sampling_interval){
            all[k].value, hypot(estimate_half_width(&all[k]), sampling_allowance * inexact[k]), inexact[k]};
    stats_free(&s);
    members_free(&m);
    free(o.between);
    free(o.sample);
    free(sample);
    return ok;
}

/* Chooses launches of the groups with too few samples. Returns true if there are any. */
static bool measure_lacking(struct heddle_plan *p) {
    bool more = false;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        struct sampling_group *of = &p->group[g];
        if (of->lacks)
            of->wanted += DRAWN_LEAST;
        more |= of->lacks;
    }
    return more;
}

/* Returns the number of launches of a group that were not measured in the first run, nor chosen since. */
static uint32_t left_of(const struct heddle_plan *p, uint32_t g) {
    uint32_t n = 0;
    for (uint32_t i = p->group[g].first; i < p->n; i++)
        n += p->launch[i].group == g && !p->launch[i].measured && p->launch[i].turn >= p->group[g].wanted;
    return n;
}

bool sampling_grow(struct heddle_plan *p) {
    const struct sampling_interval *c = &p->interval[GAP_CYCLES];
    bool more = measure_lacking(p);
    if (more || p->error <= 0 || c->half <= p->error * c->value)
        return more;
    if (sampling_allowance * c->inexact > p->error * c->value)
        return p->whole = true;
    double all = 0;
    for (uint32_t g = 0; g < p->n_groups; g++)
        all += p->group[g].variance;
    /* The half width falls with the square root of the number of samples. Groups that contribute little stay as they
     * are. */
    const double ratio = isfinite(c->half) ? fmin(8, pow(c->half / (p->error * c->value), 2)) : 2;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        struct sampling_group *of = &p->group[g];
        const uint32_t left = of->variance < 0.02 * all ? 0 : left_of(p, g);
        if (!left)
            continue;
        const double wanted = ceil((ratio - 1) * (of->n - left)) + 1;
        of->wanted += wanted < left ? (uint32_t)wanted : left;
        more = true;
    }
    return more;
}

void sampling_clear(struct heddle_plan *p) {
    for (uint32_t i = 0; i < p->n; i++)
        stats_kept_free(&p->launch[i].stats);
    free(p->launch);
    free(p->group);
    p->launch = NULL;
    p->group = NULL;
    p->n = p->room = p->n_groups = p->groups_room = 0;
}
