#include "bypass.h"
#include "cache.h"
#include <stdlib.h>

const struct bypass_ops *const bypass_built_in[] = {
#define BYPASS(name) &bypass_##name,
#include "timing/config/policies.def"
    NULL,
};

bool bypass_use(struct bypass *b, const struct bypass_ops *ops, const struct cache *c) {
    bypass_free(b);
    if (!ops->goes_past)
        return true;
    if (ops->size && !(b->state = calloc(1, ops->size(c->shape.sets, c->shape.ways))))
        return false;
    b->ops = ops;
    return true;
}

void bypass_free(struct bypass *b) {
    free(b->state);
    *b = (struct bypass){NULL, NULL};
}

bool bypass_goes_past(const struct bypass *b, const struct cache *c, struct cache_spot at, struct bypass_access *a) {
    if (at.way != CACHE_NO_WAY)
        return false;
    a->set = at.first / c->shape.ways;
    a->full = true;
    for (uint32_t w = at.first; w < at.first + c->shape.ways; w++)
        a->full = a->full && c->used[w] == CACHE_STAYS;
    return b->ops->goes_past(b->state, a);
}

void bypass_tell(struct bypass *b, const struct cache *c, const struct bypass_access *a, bool past, bool hit) {
    const struct bypass_ops *ops = b->ops;
    const uint32_t way = past ? CACHE_NO_WAY : cache_look(c, a->line).way;
    if (past && ops->passed)
        ops->passed(b->state, a);
    else if (way != CACHE_NO_WAY && hit && ops->hit)
        ops->hit(b->state, a, way);
    else if (way != CACHE_NO_WAY && !hit && ops->fill)
        ops->fill(b->state, a, way);
}
