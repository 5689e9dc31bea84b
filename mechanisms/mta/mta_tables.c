#include "mta_tables.h"
#include <stdlib.h>

enum { MOST = 255 };

static bool table_init(struct mta_table *t, uint32_t entries, uint32_t ways) {
    t->ways = ways < entries ? ways : entries;
    t->sets = entries / t->ways;
    t->entry = calloc((size_t)t->sets * t->ways, sizeof *t->entry);
    return t->entry;
}

bool mta_tables_init(struct mta_tables *t, const struct mta_sizes *size) {
    *t = (struct mta_tables){.size = *size};
    if (table_init(&t->warp, size->warp_entries, size->ways) &&
        table_init(&t->global, size->global_entries, size->ways) &&
        table_init(&t->inter, size->inter_entries, size->ways))
        return true;
    mta_tables_free(t);
    return false;
}

void mta_tables_free(struct mta_tables *t) {
    free(t->warp.entry);
    free(t->global.entry);
    free(t->inter.entry);
    t->warp.entry = t->global.entry = t->inter.entry = NULL;
}

void mta_forget_warp(struct mta_tables *t, uint16_t warp) {
    for (uint32_t i = 0; i < t->warp.sets * t->warp.ways; i++)
        if (t->warp.entry[i].warp == warp)
            t->warp.entry[i].used = 0;
}

/* Returns the set of a load. The number of the warp or kernel is added to the set index, so that the same load of all
 * warps or kernels does not map to one set. */
static struct mta_entry *set_of(const struct mta_table *t, uint64_t pc, uint32_t warp) {
    return t->entry + (size_t)((pc + pc / MTA_KERNEL * 97 + 61ull * warp) % t->sets) * t->ways;
}

static struct mta_entry *find(struct mta_tables *t, const struct mta_table *table, uint64_t pc, uint32_t warp,
                              bool own) {
    struct mta_entry *set = set_of(table, pc, own ? warp : 0);
    t->n.lookups++;
    for (uint32_t i = 0; i < table->ways; i++)
        if (set[i].used && set[i].pc == pc && (!own || set[i].warp == warp)) {
            set[i].used = ++t->clock;
            return &set[i];
        }
    return NULL;
}

static struct mta_entry *replace(struct mta_tables *t, const struct mta_table *table, uint64_t pc, uint32_t warp,
                                 bool own) {
    struct mta_entry *set = set_of(table, pc, own ? warp : 0), *oldest = set;
    for (uint32_t i = 1; i < table->ways; i++)
        if (set[i].used < oldest->used)
            oldest = &set[i];
    t->n.conflicts += oldest->used != 0;
    *oldest = (struct mta_entry){.pc = pc, .warp = (uint16_t)warp, .used = ++t->clock};
    return oldest;
}

/* Counts, in the global table, one more warp that has trained this stride for the load. */
static void vote(struct mta_tables *t, uint64_t pc, int64_t stride) {
    struct mta_entry *g = find(t, &t->global, pc, 0, false);
    if (!g)
        g = replace(t, &t->global, pc, 0, false);
    if (g->stride != stride || !g->seen) {
        g->stride = stride;
        g->seen = 1;
    } else if (g->seen < MOST) {
        g->seen++;
    }
    t->n.promotions += g->seen == t->size.promote;
}

static void learn_warp(struct mta_tables *t, uint64_t pc, uint16_t warp, uint64_t address) {
    struct mta_entry *e = find(t, &t->warp, pc, warp, true);
    if (!e) {
        replace(t, &t->warp, pc, warp, true)->address = address;
        return;
    }
    int64_t stride = (int64_t)(address - e->address);
    e->address = address;
    if (e->seen && stride == e->stride) {
        if (e->seen < MOST)
            e->seen++;
    } else {
        e->stride = stride;
        e->seen = 1;
    }
    if (e->seen == t->size.train)
        vote(t, pc, stride);
}

/* Learns the stride from warp to warp. Warps do not execute in order, so a single different stride only lowers the
 * confidence by one. */
static void learn_inter(struct mta_tables *t, uint64_t pc, uint16_t warp, uint64_t address) {
    struct mta_entry *e = find(t, &t->inter, pc, 0, false);
    if (!e)
        e = replace(t, &t->inter, pc, 0, false);
    else if (e->warp != warp) {
        int64_t steps = (int64_t)warp - e->warp, d = (int64_t)(address - e->address);
        bool fits = d % steps == 0 && e->seen && d / steps == e->stride;
        if (fits) {
            e->seen = (uint8_t)(e->seen > t->size.train ? e->seen : e->seen + 1);
        } else if (e->seen > 1) {
            e->seen--;
        } else if (d % steps == 0) {
            e->stride = d / steps;
            e->seen = 1;
        }
    }
    e->warp = warp;
    e->address = address;
}

void mta_learn(struct mta_tables *t, uint64_t pc, uint16_t warp, uint64_t address) {
    learn_warp(t, pc, warp, address);
    learn_inter(t, pc, warp, address);
}

struct mta_prediction mta_predict(struct mta_tables *t, uint64_t pc, uint16_t warp) {
    const struct mta_entry *g = find(t, &t->global, pc, 0, false);
    if (g && g->seen >= t->size.promote)
        return (struct mta_prediction){g->stride ? MTA_GLOBAL : MTA_NONE, g->stride};
    const struct mta_entry *i = find(t, &t->inter, pc, 0, false);
    if (i && i->seen >= t->size.train && i->stride)
        return (struct mta_prediction){MTA_INTER, i->stride};
    const struct mta_entry *w = find(t, &t->warp, pc, warp, true);
    if (w && w->seen >= t->size.train && w->stride)
        return (struct mta_prediction){MTA_WARP, w->stride};
    return (struct mta_prediction){MTA_NONE, 0};
}
