#include "mta_throttle.h"

static void set_level(struct mta_throttle *t, uint32_t level) {
    t->n.raised += level > t->level;
    t->n.lowered += level < t->level;
    t->level = level;
}

/* Sets the level at the end of a period. If few prefetches were sent, the level decreases by one, so that prefetching
 * resumes after a pause. If the used fraction is below `low`, the level becomes the highest: no prefetches. Between
 * `low` and `high`, the level increases by one, unless enough misses merged with lines in flight, since these
 * prefetches were correct but late. From `high` on, the level decreases by one. */
static void conclude(struct mta_throttle *t) {
    const struct mta_limits *l = &t->limits;
    double used = t->sent ? (double)t->useful / t->sent : 0, merged = t->misses ? (double)t->merged / t->misses : 0;
    uint32_t fewer = t->level < MTA_LEVELS ? t->level + 1 : MTA_LEVELS, more = t->level ? t->level - 1 : 0;
    if (t->sent < l->least)
        set_level(t, more);
    else if (used < l->low)
        set_level(t, MTA_LEVELS);
    else if (used >= l->high)
        set_level(t, more);
    else if (merged < l->merges)
        set_level(t, fewer);
}

void mta_throttle_load(struct mta_throttle *t) {
    if (++t->loads < t->limits.period)
        return;
    conclude(t);
    t->loads = t->sent = t->useful = t->misses = t->merged = 0;
}
