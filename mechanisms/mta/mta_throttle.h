#ifndef MECHANISMS_MTA_THROTTLE_H
#define MECHANISMS_MTA_THROTTLE_H
/* Throttling of prefetches: of every five consecutive predicted prefetches, `level` prefetches are dropped. The level
 * depends on how many prefetches of the last period were used ("Many-Thread Aware Prefetching ...", section V). */
#include <stdbool.h>
#include <stdint.h>

enum { MTA_LEVELS = 5 }; /* the level at which all prefetches are dropped */

struct mta_limits {
    uint32_t period; /* length of a period, in loads */
    uint32_t least;  /* with fewer prefetches sent in a period, the level decreases by one */
    /* low and high limits for the fraction of sent prefetches whose lines were used; limit for the fraction of misses
     * that merged with an earlier miss */
    double low, high, merges;
};

struct mta_throttle {
    struct mta_limits limits;
    uint32_t level, turn;
    uint32_t loads, sent, useful, misses, merged; /* counts of this period */
    struct {
        uint64_t raised, lowered;
    } n;
};

/* Returns true if this prefetch may be sent. */
static inline bool mta_throttle_lets(struct mta_throttle *t) {
    t->turn = t->turn + 1 == MTA_LEVELS ? 0 : t->turn + 1;
    return t->turn >= t->level;
}
/* Counts a load, and ends the period if it is complete. */
void mta_throttle_load(struct mta_throttle *t);
#endif
