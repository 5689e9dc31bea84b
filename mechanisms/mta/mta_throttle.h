#ifndef MECHANISMS_MTA_THROTTLE_H
#define MECHANISMS_MTA_THROTTLE_H
/* How many of the prefetches that the tables name are asked for: of five in a row, so many as the level are not. The
 * level follows from what became of the last period's ("Many-Thread Aware Prefetching ...", section V). */
#include <stdbool.h>
#include <stdint.h>

enum { MTA_LEVELS = 5 }; /* at this level nothing is asked for */

struct mta_limits {
    uint32_t period;          /* loads */
    uint32_t least;           /* prefetches sent in a period, or nothing is concluded from it */
    double low, high, merges; /* of the prefetches sent, lines used; of the misses, those that joined an earlier one */
};

struct mta_throttle {
    struct mta_limits limits;
    uint32_t level, turn;
    uint32_t loads, sent, useful, misses, merged; /* of this period */
    struct {
        uint64_t raised, lowered;
    } n;
};

/* Whether this one is asked for. */
static inline bool mta_throttle_lets(struct mta_throttle *t) {
    t->turn = t->turn + 1 == MTA_LEVELS ? 0 : t->turn + 1;
    return t->turn >= t->level;
}
/* A load has been counted: ends the period when it is over. */
void mta_throttle_load(struct mta_throttle *t);
#endif
