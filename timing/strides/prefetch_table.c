#include "prefetch_table.h"
#include <stdlib.h>
#include <string.h>

bool prefetch_table_init(struct prefetch_table *t, uint32_t entries, uint32_t ways, uint32_t train) {
    *t = (struct prefetch_table){.ways = ways < entries ? ways : entries, .train = train, .grain = 1};
    t->sets = entries / t->ways;
    t->entry = calloc((size_t)t->sets * t->ways, sizeof *t->entry);
    return t->entry;
}

void prefetch_table_free(struct prefetch_table *t) {
    free(t->entry);
    t->entry = NULL;
}

void prefetch_table_clear(struct prefetch_table *t) {
    memset(t->entry, 0, (size_t)t->sets * t->ways * sizeof *t->entry);
}

/* Returns the set of an entry. The warp number is part of the index, so that warps that execute the same load use
 * different sets. */
static struct prefetch_entry *set_of(const struct prefetch_table *t, uint32_t pc, uint16_t warp) {
    return t->entry + (size_t)((pc + 61u * warp) % t->sets) * t->ways;
}

struct prefetch_entry *prefetch_table_find(struct prefetch_table *t, uint32_t pc, uint16_t warp) {
    struct prefetch_entry *set = set_of(t, pc, warp);
    t->n.lookups++;
    for (uint32_t i = 0; i < t->ways; i++)
        if (set[i].used && set[i].pc == pc && set[i].warp == warp) {
            set[i].used = ++t->clock;
            return &set[i];
        }
    return NULL;
}

static struct prefetch_entry *replace(struct prefetch_table *t, uint32_t pc, uint16_t warp, uint64_t address) {
    struct prefetch_entry *set = set_of(t, pc, warp), *oldest = set;
    for (uint32_t i = 1; i < t->ways; i++)
        if (set[i].used < oldest->used)
            oldest = &set[i];
    t->n.conflicts += oldest->used != 0;
    *oldest = (struct prefetch_entry){.address = address, .used = ++t->clock, .pc = pc, .warp = warp, .degree = 1};
    return oldest;
}

struct prefetch_entry *prefetch_table_learn(struct prefetch_table *t, struct prefetch_entry *e, uint32_t pc,
                                            uint16_t warp, uint64_t address) {
    if (!e)
        return replace(t, pc, warp, address);
    int64_t stride = (int64_t)(address - e->address);
    int64_t blocks = (int64_t)(address / t->grain - e->address / t->grain) * t->grain;
    bool equal = stride == e->stride;
    bool confirmed = e->seen && (equal || blocks == e->blocks);
    e->address = address;
    e->blocks = blocks;
    if (confirmed) {
        e->stride = equal ? stride : blocks;
        e->seen = (uint8_t)(e->seen > t->train ? e->seen : e->seen + 1);
    } else if (e->seen > t->train) {
        e->seen--;
    } else {
        t->n.changes += e->seen != 0;
        e->stride = stride;
        e->seen = 1;
    }
    return e;
}
