#include "ccws_vta.h"
#include <stdlib.h>
#include <string.h>

bool ccws_vta_init(struct ccws_vta *v, uint32_t warps, uint32_t entries, uint32_t ways) {
    ways = ways < entries ? ways : entries;
    *v = (struct ccws_vta){.warps = warps, .sets = entries / ways, .ways = ways};
    v->tag = calloc((size_t)warps * v->sets * ways, sizeof *v->tag);
    return v->tag != NULL;
}

void ccws_vta_free(struct ccws_vta *v) { free(v->tag); }

static struct ccws_tag *set_of(const struct ccws_vta *v, uint32_t warp, uint64_t line) {
    return &v->tag[((size_t)warp * v->sets + line % v->sets) * v->ways];
}

void ccws_vta_clear(struct ccws_vta *v, uint32_t warp) {
    memset(set_of(v, warp, 0), 0, (size_t)v->sets * v->ways * sizeof *v->tag);
}

void ccws_vta_add(struct ccws_vta *v, uint32_t warp, uint64_t line) {
    struct ccws_tag *set = set_of(v, warp, line), *oldest = set;
    for (uint32_t w = 1; w < v->ways; w++)
        if (set[w].time < oldest->time)
            oldest = &set[w];
    *oldest = (struct ccws_tag){line, ++v->clock};
}

bool ccws_vta_take(struct ccws_vta *v, uint32_t warp, uint64_t line) {
    struct ccws_tag *set = set_of(v, warp, line);
    for (uint32_t w = 0; w < v->ways; w++)
        if (set[w].time && set[w].line == line) {
            set[w].time = 0;
            return true;
        }
    return false;
}
