#ifndef TIMING_AGENDA_H
#define TIMING_AGENDA_H
/* Which units have work at which cycle: a ring of cycles, each a set of unit numbers. Finding the next cycle with work
 * is a search for a set bit, so units without work cost nothing. A unit may be called though it has nothing to do; its
 * tick must then change nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AGENDA_CYCLES = 512, AGENDA_UNITS = 512, AGENDA_WORDS = AGENDA_UNITS / 64 };

struct agenda {
    uint64_t now;                      /* cycle being worked on; all work lies in [now, now + AGENDA_CYCLES) */
    uint32_t unit;                     /* of the current call: units up to here are over for this cycle */
    uint32_t words;                    /* of the sets in use */
    uint64_t busy[AGENDA_CYCLES / 64]; /* cycles whose set is not empty */
    uint64_t set[AGENDA_CYCLES][AGENDA_WORDS];
};

void agenda_init(struct agenda *a, uint32_t units);
/* The first cycle with work; UINT64_MAX: none. */
uint64_t agenda_next(const struct agenda *a);
/* Unit `unit` has work at `cycle`: moved to the earliest cycle it can still have its turn, and to the end of the ring
 * when it is further away (it is then called too early, does nothing, and says again when). */
static inline void agenda_add(struct agenda *a, uint32_t unit, uint64_t cycle) {
    uint64_t first = unit > a->unit ? a->now : a->now + 1;
    cycle = cycle < first ? first : cycle;
    if (cycle >= a->now + AGENDA_CYCLES)
        cycle = a->now + AGENDA_CYCLES - 1;
    uint32_t at = cycle % AGENDA_CYCLES;
    a->set[at][unit / 64] |= 1ull << unit % 64;
    a->busy[at / 64] |= 1ull << at % 64;
}
/* Begins work on `cycle`, which is not before `now` and not after agenda_next(). */
static inline void agenda_begin(struct agenda *a, uint64_t cycle) {
    a->now = cycle;
    a->unit = 0;
}
/* The next unit with work at the cycle, lowest first; 0 when there is none left (units are numbered from 1). */
static inline uint32_t agenda_take(struct agenda *a) {
    uint32_t at = a->now % AGENDA_CYCLES;
    uint64_t *set = a->set[at];
    for (uint32_t w = a->unit / 64; w < a->words; w++)
        if (set[w]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(set[w]);
            set[w] &= set[w] - 1;
            return a->unit = w * 64 + bit;
        }
    a->busy[at / 64] &= ~(1ull << at % 64);
    a->unit = AGENDA_UNITS; /* the cycle is over */
    return 0;
}
#endif
