#ifndef TIMING_AGENDA_H
#define TIMING_AGENDA_H
/* Which units have work at which cycle: a ring of cycles, each a set of units. Finding the next cycle with work is a
 * search for a set bit, so units without work cost nothing. A unit may be called though it has nothing to do; its tick
 * must then change nothing. */
#include "timing/config/table_size.h"
#include <stdint.h>

enum { AGENDA_CYCLES = TABLE_SIZE(512, 64), AGENDA_WORDS = 5, AGENDA_UNITS = 64 * AGENDA_WORDS };

struct agenda {
    uint64_t now;                      /* cycle being worked on; all work lies in [now, now + AGENDA_CYCLES) */
    uint32_t over;                     /* units with a smaller number have had their turn in it */
    uint32_t words;                    /* of a set */
    uint64_t busy[AGENDA_CYCLES / 64]; /* cycles whose set is not empty */
    uint64_t set[AGENDA_CYCLES * AGENDA_WORDS];
};

/* An empty agenda of `units` units, up to AGENDA_UNITS, at cycle `now`. */
void agenda_init(struct agenda *a, uint32_t units, uint64_t now);
/* The first cycle with work; UINT64_MAX: none. */
uint64_t agenda_next(const struct agenda *a);
/* Unit `unit` has work at `cycle`: moved to the earliest cycle it can still have its turn, and to the end of the ring
 * when it is further away (it is then called too early, does nothing, and says again when). */
static inline void agenda_add(struct agenda *a, uint32_t unit, uint64_t cycle) {
    uint64_t first = a->now + (unit < a->over), end = a->now + AGENDA_CYCLES - 1;
    cycle = cycle < first ? first : cycle;
    cycle = cycle > end ? end : cycle;
    uint32_t at = cycle % AGENDA_CYCLES;
    a->set[at * a->words + unit / 64] |= 1ull << unit % 64;
    a->busy[at / 64] |= 1ull << at % 64;
}
/* Begins work on `cycle`, which is not before the last and not after agenda_next(). */
static inline void agenda_begin(struct agenda *a, uint64_t cycle) {
    a->now = cycle;
    a->over = 0;
}
/* All units have had their turn in the cycle. */
static inline void agenda_end(struct agenda *a) { a->over = UINT32_MAX; }
/* The next unit with work at the cycle, lowest first; -1 when there is none left. */
static inline int agenda_take(struct agenda *a) {
    uint32_t at = a->now % AGENDA_CYCLES;
    for (uint32_t w = a->over / 64; w < a->words; w++) {
        uint64_t *set = &a->set[at * a->words + w], units = *set;
        if (!units)
            continue;
        uint32_t unit = w * 64 + (uint32_t)__builtin_ctzll(units);
        *set = units & (units - 1);
        a->over = unit + 1;
        return (int)unit;
    }
    a->busy[at / 64] &= ~(1ull << at % 64);
    agenda_end(a);
    return -1;
}
#endif
