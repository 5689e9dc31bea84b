#include "mta_throttle.h"

static void set_level(struct mta_throttle *t, uint32_t level) {
    t->n.raised += level > t->level;
    t->n.lowered += level < t->level;
    t->level = level;
}

/* Few sent: nobody complains, so one more of five may go, also after a time without any. Fewer used than `low`: none
 * any more. Between `low` and `high`: one of five less, unless misses join lines under way, which were right and late.
 * From `high` on: one more. */
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
