/* The statistics registry: the table of names, and the values of a launch. */
#include "stat.h"
#include "isa/rounding.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STAT_ROW(kind, name, unit, help, num, den)    {name, unit, help, kind, num, den, sizeof(name) - 1},
#define STAT_COUNT(field, name, unit, help)           STAT_ROW(STAT_SUM, name, unit, help, NULL, NULL)
#define STAT_MOST(field, name, unit, help)            STAT_ROW(STAT_MAX, name, unit, help, NULL, NULL)
#define STAT_ELEMENT(element, id, name, unit, help)   STAT_ROW(STAT_SUM, name, unit, help, NULL, NULL)
#define STAT_SUM_OF(id, name, unit, help)             STAT_ROW(STAT_SUM, name, unit, help, NULL, NULL)
#define STAT_MAX_OF(id, name, unit, help)             STAT_ROW(STAT_MAX, name, unit, help, NULL, NULL)
#define STAT_RATIO_OF(id, name, unit, help, num, den) STAT_ROW(STAT_RATIO, name, unit, help, num, den)
#define STAT_MEMBER(...)
#define STAT_ENERGY(...)
#define STAT_ENERGY_SECTOR(...)
#define STAT_GROUP(...)
#define STAT_END
static const struct stat_def table[] = {
#include "stats.def"
};
/* The number of rows. It is taken from the table, so that a static checker that sees only some of the rows does not
 * report a loop over all of them. */
enum { ROWS = sizeof table / sizeof table[0] };
_Static_assert((int)ROWS == (int)N_STATS, "a row for each place");

/* For each statistic: true if its values are added. Nothing is added to ratios, whose value is 0. */
#define STAT_COUNT(...)    true,
#define STAT_MOST(...)     false,
#define STAT_ELEMENT(...)  true,
#define STAT_SUM_OF(...)   true,
#define STAT_MAX_OF(...)   false,
#define STAT_RATIO_OF(...) false,
#define STAT_MEMBER(...)
#define STAT_ENERGY(...)
#define STAT_ENERGY_SECTOR(...)
#define STAT_GROUP(...)
#define STAT_END
static const bool is_sum[ROWS] = {
#include "stats.def"
};

const struct stat_def *stat_defs(int *n) {
    *n = N_STATS;
    return table;
}

/* Compares lengths first, because few names have the same length. */
static bool is_called(int i, const char *name, size_t len) {
    return table[i].len == len && memcmp(table[i].name, name, len) == 0;
}

/* A hash table of names (FNV-1a). An entry is the name's index in the table of statistics + 1; 0 marks a free entry. */
enum { PLACES = 2048 };
_Static_assert(N_STATS * 2 <= PLACES, "half of the places are free");
static uint16_t places[PLACES];

static uint32_t place_of(const char *name, size_t len) {
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)name[i]) * 0x01000193u;
    return (h ^ h >> 15) % PLACES;
}

static void fill_places(void) {
    for (int i = 0; i < ROWS; i++) {
        uint32_t at = place_of(table[i].name, table[i].len);
        while (places[at])
            at = (at + 1) % PLACES;
        places[at] = (uint16_t)(i + 1);
    }
}

static int index_of(const char *name, size_t len) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_places);
    uint32_t at = place_of(name, len);
    while (places[at] && !is_called(places[at] - 1, name, len))
        at = (at + 1) % PLACES;
    return places[at] - 1;
}

static const struct {
    const char *old, *name;
} renamed[] = {
#define RENAMED(old, name) {old, name},
#include "renamed.def"
#undef RENAMED
    {NULL, NULL},
};

const char *stat_renamed(const char *old) {
    for (int i = 0; renamed[i].old; i++)
        if (strcmp(renamed[i].old, old) == 0)
            return renamed[i].name;
    return NULL;
}

int stat_index(const char *name) {
    int i = index_of(name, strlen(name));
    const char *now = i < 0 ? stat_renamed(name) : NULL;
    return now ? index_of(now, strlen(now)) : i;
}

bool stats_init(struct stats *s) {
    s->v = calloc(N_STATS, sizeof *s->v);
    s->next = 0;
    return s->v != NULL;
}

void stats_free(struct stats *s) {
    free(s->v);
    s->v = NULL;
}

void stats_clear(struct stats *s) { memset(s->v, 0, N_STATS * sizeof *s->v); }

static void combine(struct stats *s, int i, double value) {
    if (is_sum[i])
        s->v[i] += value;
    else if (s->v[i] < value)
        s->v[i] = value;
}

void stats_add(struct stats *s, const char *name, double value) {
    int i = s->next; /* the next statistic in the table, since units mostly add statistics in the order of the table */
    size_t len = strlen(name);
    if (!is_called(i, name, len))
        i = index_of(name, len);
    assert(i >= 0 && table[i].kind != STAT_RATIO);
    s->next = i + 1 == N_STATS ? 0 : i + 1;
    combine(s, i, value);
}

void stats_put(struct stats *s, enum stat_id id, double value) {
    assert(table[id].kind != STAT_RATIO);
    combine(s, (int)id, value);
}

static uint64_t counter(const void *counts, size_t offset) {
    uint64_t value;
    memcpy(&value, (const char *)counts + offset, sizeof value);
    return value;
}

/* Most counters and statistics of a launch are 0. Groups of zeros are skipped. */
enum { GROUP = 8 };

void stats_count(struct stats *s, const struct stat_row *rows, size_t n, const void *counts, int shift) {
    for (size_t from = 0; from < n; from += GROUP) {
        const size_t to = from + GROUP < n ? from + GROUP : n;
        uint64_t any = 0;
        for (size_t i = from; i < to; i++)
            any |= counter(counts, rows[i].offset);
        for (size_t i = from; any && i < to; i++)
            combine(s, rows[i].id + shift, (double)counter(counts, rows[i].offset));
    }
}

double stats_value(const struct stats *s, enum stat_id id) {
    assert(table[id].kind != STAT_RATIO);
    return s->v[id];
}

void stats_add_rounding_error(struct stats *s, const struct rounding_error *e) {
    stats_put(s, STAT_rounding_results, (double)e->results);
    stats_put(s, STAT_rounding_differ, (double)e->differ);
    stats_put(s, STAT_rounding_beyond, (double)e->beyond);
    stats_put(s, STAT_rounding_largest, e->largest);
}

/* Returns the first statistic after the group that begins with `from`. */
static int group_end(int from) { return from + GROUP < ROWS ? from + GROUP : ROWS; }

/* Returns true if a statistic of the group that begins with `from` is not 0. */
static bool some_in_group(const struct stats *s, int from) {
    uint64_t any = 0;
    for (int i = from, end = group_end(from); i < end; i++)
        any |= counter(s->v, (size_t)i * sizeof *s->v);
    return any;
}

void stats_merge(struct stats *to, const struct stats *from) {
    for (int g = 0; g < ROWS; g += GROUP)
        for (int i = g, end = some_in_group(from, g) ? group_end(g) : g; i < end; i++)
            combine(to, i, from->v[i]);
}

/* Returns the sum of the statistics that `names` joins by '+'. */
static double sum_of(const struct stats *s, const char *names) {
    double sum = 0;
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, "+");
        int i = index_of(at, len);
        assert(i >= 0 && table[i].kind != STAT_RATIO);
        sum += s->v[i];
        at += len;
        at += *at == '+';
    }
    return sum;
}

double stats_get(const struct stats *s, const char *name) { return stats_at(s, stat_index(name)); }

double stats_at(const struct stats *s, int i) {
    assert(i >= 0 && i < N_STATS);
    if (table[i].kind != STAT_RATIO)
        return s->v[i];
    double den = sum_of(s, table[i].den);
    return den > 0 ? sum_of(s, table[i].num) / den : 0;
}

bool stats_keep(struct stats_kept *out, const struct stats *s) {
    int n = 0;
    for (int g = 0; g < ROWS; g += GROUP)
        for (int i = g, end = some_in_group(s, g) ? group_end(g) : g; i < end; i++)
            n += s->v[i] != 0;
    *out = (struct stats_kept){.v = malloc((size_t)n * (sizeof *out->v + sizeof *out->index) + 1)};
    if (!out->v)
        return false;
    out->index = (uint16_t *)(out->v + n);
    for (int g = 0; g < ROWS; g += GROUP)
        for (int i = g, end = some_in_group(s, g) ? group_end(g) : g; i < end; i++)
            if (s->v[i] != 0) {
                out->v[out->n] = s->v[i];
                out->index[out->n++] = (uint16_t)i;
            }
    return true;
}

void stats_kept_free(struct stats_kept *k) {
    free(k->v);
    *k = (struct stats_kept){0};
}

void stats_kept_add(struct stats *to, const struct stats_kept *k) {
    for (int i = 0; i < k->n; i++)
        combine(to, k->index[i], k->v[i]);
}

void stats_kept_add_scaled(struct stats *to, const struct stats_kept *k, double factor) {
    for (int i = 0; i < k->n; i++)
        if (table[k->index[i]].kind == STAT_SUM)
            to->v[k->index[i]] += factor * k->v[i];
}

double stats_kept_get(const struct stats_kept *k, const char *name) {
    double v[N_STATS] = {0};
    struct stats s = {.v = v};
    stats_kept_add(&s, k);
    return stats_get(&s, name);
}
