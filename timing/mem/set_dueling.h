#ifndef TIMING_SET_DUELING_H
#define TIMING_SET_DUELING_H
/* Set dueling: a cache tries two policies and uses the better one (Qureshi et al., ISCA 2007, section 5.2). A few sets,
 * the leaders of policy A, always use policy A; equally many, the leaders of policy B, always use policy B. A counter
 * of 10 bits compares the misses of both groups. All other sets use the policy whose leaders miss less. */
#include <stdbool.h>
#include <stdint.h>

enum {
    DUEL_COUNTER_MAX = 1023,
    /* initial value of the counter: the highest at which the other sets use policy A */
    DUEL_START = 511,
    DUEL_LEADERS = 32,   /* maximum number of leaders of each policy, as in the paper */
    DUEL_LEAST_APART = 8 /* at most one set in 8 leads policy A, so that in a small cache most sets are not leaders */
};

/* Returns the distance between two leaders of the same policy, in sets. */
static inline uint32_t duel_distance(uint32_t sets) {
    uint32_t apart = sets / DUEL_LEADERS;
    apart = apart > DUEL_LEAST_APART ? apart : DUEL_LEAST_APART;
    return apart < sets ? apart : sets;
}
/* Returns true if the set is in one of the groups of duel_distance() sets, each of which has a leader of both policies.
 * The sets after the last whole group have no leader. */
static inline bool duel_in_group(uint32_t set, uint32_t sets) { return set < sets - sets % duel_distance(sets); }
static inline bool duel_leads_a(uint32_t set, uint32_t sets) {
    return duel_in_group(set, sets) && set % duel_distance(sets) == 0;
}
static inline bool duel_leads_b(uint32_t set, uint32_t sets) {
    uint32_t apart = duel_distance(sets);
    return apart > 1 && duel_in_group(set, sets) && set % apart == apart / 2;
}

/* Returns true if the set uses policy B. */
static inline bool duel_uses_b(uint32_t counter, uint32_t set, uint32_t sets) {
    return duel_leads_b(set, sets) || (!duel_leads_a(set, sets) && counter > DUEL_START);
}

/* Counts a miss in the set. Misses of the leaders of A increment the counter, and misses of the leaders of B decrement
 * it. Returns the new value. */
static inline uint32_t duel_count_miss(uint32_t counter, uint32_t set, uint32_t sets) {
    if (duel_leads_a(set, sets))
        return counter < DUEL_COUNTER_MAX ? counter + 1 : counter;
    if (duel_leads_b(set, sets))
        return counter > 0 ? counter - 1 : counter;
    return counter;
}
#endif
