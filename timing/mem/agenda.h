#ifndef TIMING_AGENDA_H
#define TIMING_AGENDA_H
/* A calendar of the units (parts of the memory side) that have work: a ring of cycles, each with a set of units.
 * Finding the next cycle with work is a search for a set bit, so idle units cost nothing. A unit can be called in a
 * cycle in which it has no work. Its tick must then change nothing. */
#include "timing/config/table_size.h"
#include <stdint.h>

enum { AGENDA_CYCLES = TABLE_SIZE(512, 64), AGENDA_WORDS = 5, AGENDA_UNITS = 64 * AGENDA_WORDS };

struct agenda {
    uint64_t now;                      /* present cycle; all work lies in [now, now + AGENDA_CYCLES) */
    uint32_t over;                     /* units below this number have run in the present cycle */
    uint32_t words;                    /* words of a set */
    uint64_t busy[AGENDA_CYCLES / 64]; /* bit mask of the cycles whose set is not empty */
    uint64_t set[AGENDA_CYCLES * AGENDA_WORDS];
};

/* Initialises an empty agenda of `units` units (at most AGENDA_UNITS) at cycle `now`. */
void agenda_init(struct agenda *a, uint32_t units, uint64_t now);
/* Returns the first cycle with work, or UINT64_MAX if there is none. */
uint64_t agenda_next(const struct agenda *a);
/* Records that `unit` has work at `cycle`. If the unit can no longer run in `cycle`, it runs in the next cycle in which
 * it can. If `cycle` is beyond the end of the ring, the unit is called in the ring's last cycle, which is too early.
 * The unit then does nothing and adds itself again. */
static inline void agenda_add(struct agenda *a, uint32_t unit, uint64_t cycle) {
    uint64_t first = a->now + (unit < a->over), end = a->now + AGENDA_CYCLES - 1;
    cycle = cycle < first ? first : cycle;
    cycle = cycle > end ? end : cycle;
    uint32_t at = cycle % AGENDA_CYCLES;
    a->set[at * a->words + unit / 64] |= 1ull << unit % 64;
    a->busy[at / 64] |= 1ull << at % 64;
}
/* Begins the work of `cycle`. It must be neither earlier than the last cycle that began, nor later than
 * agenda_next(). */
static inline void agenda_begin(struct agenda *a, uint64_t cycle) {
    a->now = cycle;
    a->over = 0;
}
/* Ends the present cycle for all units. */
static inline void agenda_end(struct agenda *a) { a->over = UINT32_MAX; }
/* Returns the next unit with work in the cycle, lowest first, or -1 if none is left. */
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
