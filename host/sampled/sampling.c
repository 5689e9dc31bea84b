#include "sampling.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch joins a group if its signature is at most most_distance from that of the group's first launch, and the ratio
 * of their weights is at most most_weight_ratio. */
static const double most_distance = 0.1, most_weight_ratio = 1.25;
/* Every interval also contains this fraction of the part that did not run in time. The allowance covers the error of
 * machine state that a gap does not carry over, such as the content of the caches (the bias of SMARTS). */
static const double allowance = 0.02;
enum {
    ALL = 6,           /* a group of at most ALL launches is measured as a whole */
    DRAWN_LEAST = 5,   /* number of launches drawn at random from a larger group */
    DRAWN_OF = 100,    /* without a wanted error, one launch of DRAWN_OF is drawn from a large group, */
    DRAWN_MOST = 10,   /* but at most DRAWN_MOST launches */
    LOOK_AHEAD = 16,   /* largest number of launches that warm the L2 for a measured launch */
    GROUPS_LOOKED = 64 /* number of newest groups of a kernel with which a launch is compared */
};

uint64_t sampling_key(const char *kernel, const uint32_t dims[7]) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (const char *c = kernel; *c; c++)
        h = (h ^ (unsigned char)*c) * 0x100000001b3ull;
    for (int i = 0; i < 7; i++)
        h = (h ^ dims[i]) * 0x100000001b3ull;
    return h;
}

struct planned *sampling_add(struct heddle_plan *p) {
    if (p->n == p->room) {
        const uint32_t room = p->room ? 2 * p->room : 64;
        struct planned *more = realloc(p->launch, room * sizeof *more);
        if (!more)
            return NULL;
        p->launch = more;
        p->room = room;
    }
    p->launch[p->n] = (struct planned){.key = 0};
    return &p->launch[p->n++];
}

static bool alike(const struct planned *a, const struct planned *b) {
    const double most = fmax(a->weight, b->weight), least = fmin(a->weight, b->weight);
    return a->key == b->key && most <= most_weight_ratio * least &&
           signature_distance(&a->signature, &b->signature) <= most_distance;
}

/* Returns the group of launch `i`, which may be new. */
static uint32_t group_of(struct heddle_plan *p, uint32_t i) {
    uint32_t looked = 0;
    for (uint32_t g = p->n_groups; g-- && looked < GROUPS_LOOKED;) {
        const struct planned *first = &p->launch[p->group[g].first];
        looked += first->key == p->launch[i].key;
        if (alike(first, &p->launch[i]))
            return g;
    }
    p->group[p->n_groups] = (struct sampling_group){.first = i};
    return p->n_groups++;
}

static uint64_t random_next(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Draws a random order of the launches of each group, after its first launch. The order does not depend on how many
 * launches are measured later, so models that measure different numbers have the smaller number in common. */
static void draw_orders(struct heddle_plan *p, uint32_t *member) {
    for (uint32_t g = 0; g < p->n_groups; g++) {
        uint32_t n = 0;
        uint64_t state = g + 1;
        for (uint32_t i = p->group[g].first; i < p->n; i++)
            if (p->launch[i].group == g)
                member[n++] = i;
        for (uint32_t k = n - 1; k > 1; k--) {
            const uint32_t with = 1 + (uint32_t)(random_next(&state) % k), old = member[k];
            member[k] = member[with];
            member[with] = old;
        }
        for (uint32_t k = 0; k < n; k++)
            p->launch[member[k]].turn = k;
    }
}

bool sampling_group(struct heddle_plan *p) {
    uint32_t *member = calloc(p->n + 1, sizeof *member);
    p->group = calloc(p->n + 1, sizeof *p->group);
    if (!member || !p->group) {
        free(member);
        return false;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        p->launch[i].group = group_of(p, i);
        p->group[p->launch[i].group].n++;
    }
    draw_orders(p, member);
    free(member);
    for (uint32_t g = 0; g < p->n_groups; g++) {
        struct sampling_group *of = &p->group[g];
        uint32_t drawn = DRAWN_LEAST;
        if (p->error <= 0 && of->n / DRAWN_OF > drawn)
            drawn = of->n / DRAWN_OF < DRAWN_MOST ? of->n / DRAWN_OF : DRAWN_MOST;
        of->wanted = of->n <= ALL ? of->n : 1 + drawn;
    }
    p->surveyed = true;
    return true;
}

bool sampling_chosen(const struct heddle_plan *p, const struct planned *l) {
    return l->turn < p->group[l->group].wanted;
}

double sampling_warms(const struct heddle_plan *p, uint32_t i, double l2_bytes) {
    double later = 0;
    for (uint32_t k = i + 1; k < p->n && k <= i + LOOK_AHEAD && later < l2_bytes; k++) {
        if (sampling_chosen(p, &p->launch[k]) && !p->launch[k].measured)
            return p->launch[i].bytes > 2 * l2_bytes ? 2 * l2_bytes / p->launch[i].bytes : 1;
        later += p->launch[k].bytes;
    }
    return 0;
}

/* Returns true if the launch is a sample for launches that were not measured. The first launch of a group starts with
 * cold caches, so it is a sample only if the group has no other measured launch. */
static bool serves(const struct heddle_plan *p, const struct planned *l) {
    return l->measured && (l->turn > 0 || p->group[l->group].wanted == 1);
}

/* Estimates the sum of gap_stats[stat] over the group's launches. Adds the part of this sum that did not run in time to
 * *estimated. `sample` has room for all launches of the group. */
static struct estimate of_group(const struct heddle_plan *p, uint32_t g, int stat, struct estimate_sample *sample,
                                double *estimated) {
    struct estimate measured = {.value = 0}, rest;
    uint32_t n = 0, left = 0;
    double weight = 0;
    for (uint32_t i = p->group[g].first; i < p->n; i++) {
        const struct planned *l = &p->launch[i];
        if (l->group != g)
            continue;
        if (!l->measured) {
            weight += l->weight;
            left++;
            continue;
        }
        const double value = stats_kept_get(&l->stats, gap_stats[stat]);
        estimate_add(&measured, &(struct estimate){value, l->gaps.variance[stat], l->gaps.freedom});
        *estimated += l->gaps.skipped ? value * l->gaps.instructions / l->weight : 0;
        if (serves(p, l))
            sample[n++] = (struct estimate_sample){l->weight, value, l->gaps.variance[stat]};
    }
    if (left && n) {
        rest = estimate_rest(sample, n, left, weight);
        estimate_add(&measured, &rest);
        *estimated += rest.value;
    }
    return measured;
}

static bool fill_group(const struct heddle_plan *p, uint32_t g, struct stats *sum,
                       bool (*fill)(void *ctx, uint32_t i, const struct stats *sum, double factor), void *ctx) {
    double weight = 0;
    bool ok = true;
    stats_clear(sum);
    for (uint32_t i = p->group[g].first; i < p->n; i++)
        if (p->launch[i].group == g && serves(p, &p->launch[i])) {
            stats_kept_add(sum, &p->launch[i].stats);
            weight += p->launch[i].weight;
        }
    for (uint32_t i = p->group[g].first; ok && i < p->n; i++)
        if (p->launch[i].group == g && !p->launch[i].measured && weight > 0)
            ok = fill(ctx, i, sum, p->launch[i].weight / weight);
    return ok;
}

bool sampling_estimate(struct heddle_plan *p,
                       bool (*fill)(void *ctx, uint32_t i, const struct stats *sum, double factor), void *ctx) {
    struct estimate all[GAP_STATS] = {{.value = 0}};
    double estimated[GAP_STATS] = {0};
    struct estimate_sample *sample = calloc(p->n + 1, sizeof *sample);
    struct stats sum;
    bool ok = sample && stats_init(&sum);
    if (!ok) {
        free(sample);
        return false;
    }
    for (uint32_t g = 0; ok && g < p->n_groups; g++) {
        for (int k = 0; k < GAP_STATS; k++) {
            const struct estimate e = of_group(p, g, k, sample, &estimated[k]);
            estimate_add(&all[k], &e);
            if (k == GAP_CYCLES)
                p->group[g].variance = e.variance;
        }
        ok = fill_group(p, g, &sum, fill, ctx);
    }
    p->skipped_ctas = p->skipped_launches = p->measured_launches = 0;
    for (uint32_t i = 0; ok && i < p->n; i++) {
        const struct planned *l = &p->launch[i];
        p->skipped_launches += !l->measured;
        p->measured_launches += l->measured;
        p->skipped_ctas += l->measured ? l->gaps.skipped : 0;
        if (!l->measured)
            continue;
        stats_clear(&sum);
        stats_kept_add(&sum, &l->stats);
        ok = fill(ctx, i, &sum, 1);
    }
    for (int k = 0; k < GAP_STATS; k++)
        p->interval[k] = (struct sampling_interval){
            all[k].value, hypot(estimate_half_width(&all[k]), allowance * estimated[k]), estimated[k]};
    stats_free(&sum);
    free(sample);
    return ok;
}

bool sampling_grow(struct heddle_plan *p) {
    const struct sampling_interval *c = &p->interval[GAP_CYCLES];
    if (p->error <= 0 || c->half <= p->error * c->value)
        return false;
    double all = 0;
    bool more = false;
    for (uint32_t g = 0; g < p->n_groups; g++)
        all += p->group[g].variance;
    /* The half width falls with the square root of the number of samples. Groups that contribute little stay as they
     * are. */
    const double ratio = isfinite(c->half) ? fmin(8, pow(c->half / (p->error * c->value), 2)) : 2;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        struct sampling_group *of = &p->group[g];
        if (of->variance < 0.02 * all || of->wanted == of->n)
            continue;
        const double wanted = ceil(of->wanted * ratio) + 1;
        of->wanted = wanted < of->n ? (uint32_t)wanted : of->n;
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
    p->n = p->room = p->n_groups = 0;
}

/* ---- files ---- */

static const char magic[16] = "heddle plan 1";
/* Sizes of structs, which a file contains. A reader refuses a file with other sizes: another Heddle has written it. */
static const uint32_t sizes[] = {sizeof(struct heddle_plan), sizeof(struct planned), sizeof(struct sampling_group),
                                 N_STATS};

static bool write_stats(const struct stats_kept *k, FILE *out) {
    return fwrite(&k->n, sizeof k->n, 1, out) == 1 &&
           (!k->n || (fwrite(k->v, sizeof *k->v, (size_t)k->n, out) == (size_t)k->n &&
                      fwrite(k->index, sizeof *k->index, (size_t)k->n, out) == (size_t)k->n));
}

bool sampling_write(const struct heddle_plan *p, FILE *out) {
    bool ok = fwrite(magic, sizeof magic, 1, out) == 1 && fwrite(sizes, sizeof sizes, 1, out) == 1 &&
              fwrite(p, sizeof *p, 1, out) == 1 && fwrite(p->launch, sizeof *p->launch, p->n, out) == p->n &&
              fwrite(p->group, sizeof *p->group, p->n_groups, out) == p->n_groups;
    for (uint32_t i = 0; ok && i < p->n; i++)
        ok = !p->launch[i].measured || write_stats(&p->launch[i].stats, out);
    return ok && fflush(out) == 0;
}

/* Reads statistics into a new stats_kept. */
static bool read_stats(struct stats_kept *k, FILE *in) {
    struct stats s;
    double v[N_STATS];
    uint16_t index[N_STATS];
    int n;
    if (fread(&n, sizeof n, 1, in) != 1 || n < 0 || n > N_STATS || fread(v, sizeof *v, (size_t)n, in) != (size_t)n ||
        fread(index, sizeof *index, (size_t)n, in) != (size_t)n || !stats_init(&s))
        return false;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok = ok && index[i] < N_STATS;
        if (ok)
            s.v[index[i]] = v[i];
    }
    ok = ok && stats_keep(k, &s);
    stats_free(&s);
    return ok;
}

struct heddle_plan *sampling_read(FILE *in) {
    char word[sizeof magic];
    uint32_t found[sizeof sizes / sizeof *sizes];
    struct heddle_plan *p = calloc(1, sizeof *p);
    bool ok = p && fread(word, sizeof word, 1, in) == 1 && fread(found, sizeof found, 1, in) == 1 &&
              memcmp(word, magic, sizeof magic) == 0 && memcmp(found, sizes, sizeof sizes) == 0 &&
              fread(p, sizeof *p, 1, in) == 1;
    if (!ok) {
        free(p);
        return NULL;
    }
    const uint32_t n = p->n, groups = p->n_groups;
    p->launch = calloc((size_t)n + 1, sizeof *p->launch);
    p->group = calloc((size_t)groups + 1, sizeof *p->group);
    p->room = n;
    p->n = 0;
    ok = p->launch && p->group && groups <= n && fread(p->launch, sizeof *p->launch, n, in) == n &&
         fread(p->group, sizeof *p->group, groups, in) == groups;
    for (uint32_t i = 0; ok && i < n; i++) {
        p->launch[i].stats = (struct stats_kept){.n = 0};
        p->n = i + 1;
        ok = p->launch[i].group < groups && (!p->launch[i].measured || read_stats(&p->launch[i].stats, in));
    }
    p->next = 0;
    if (ok)
        return p;
    sampling_clear(p);
    free(p);
    return NULL;
}
