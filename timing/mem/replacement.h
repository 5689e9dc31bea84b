#ifndef TIMING_REPLACEMENT_H
#define TIMING_REPLACEMENT_H
/* A replacement policy decides which line of a full set a cache evicts. Each cache has its own state. Caches run on
 * several host threads, so the states of two caches must not share variable data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats;

/* Value in replacement_set.used of a way that is locked or whose data are outstanding. Its line must not be evicted. */
#define CACHE_STAYS (~0ull)

/* A set whose ways all hold a line. */
struct replacement_set {
    uint32_t number, ways;
    const uint64_t *used; /* indexed by way: larger for lines that were used later, or CACHE_STAYS */
};

/* An access of a warp to an L1. */
struct replacement_access {
    uint64_t line; /* line number in the cache */
    uint32_t pc;
    uint16_t warp;
    bool critical; /* a unit says that the warp is critical: lsu_ask_critical() */
    bool ahead;    /* a prefetch */
};

struct replacement_ops {
    const char *name, *help; /* name as a choice of l1.replacement and l2.replacement; help text of one line */
    /* Returns the number of bytes of state for one cache. The state is zeroed at the start. If this function is
     * NULL, the policy has no state, and the other functions get NULL as `state`. */
    size_t (*size)(uint32_t sets, uint32_t ways);
    /* Sets the state of a cache before its first access. NULL: zeros are enough. */
    void (*start)(void *state, uint32_t sets, uint32_t ways);
    /* Returns the way whose line is evicted: a way without CACHE_STAYS, of which there is at least one. The cache
     * uses empty ways first. It may call this function again before it allocates the line. */
    uint32_t (*victim)(const void *state, const struct replacement_set *s);

    /* Functions for events. Their arguments are the number of the set, the number of ways per set, and the way. Each
     * function may be NULL. */
    /* An access finds its line, whose data may still be outstanding. */
    void (*hit)(void *state, uint32_t set, uint32_t ways, uint32_t way);
    /* A line is allocated, in place of the victim or in an empty way. Its data come later. */
    void (*fill)(void *state, uint32_t set, uint32_t ways, uint32_t way);
    /* A way becomes empty without a new line: a store or the end of a launch dropped its line. */
    void (*drop)(void *state, uint32_t set, uint32_t ways, uint32_t way);
    /* An L1 calls it before each access of global or local memory. The calls of hit(), victim() and fill() that follow
     * belong to this access. The L1 repeats the call if the access is refused. */
    void (*access)(void *state, const struct replacement_access *a);
    /* Adds to `s` the counts of an L1 since the last call, and clears them. */
    void (*stats)(void *state, struct stats *s);
};

/* The choices of l1.replacement and l2.replacement, also those of mechanisms. */
enum replacement_choice {
#define DECLARED_POLICIES
#define REPLACEMENT(name) REPLACEMENT_CHOICE_##name,
#include "timing/config/policies.def"
};

#define REPLACEMENT(name) extern const struct replacement_ops replacement_##name;
#include "timing/config/policies.def"
/* The built-in policies, in the order of the choices of l1.replacement. The list ends with NULL. */
extern const struct replacement_ops *const replacement_built_in[];
/* Returns the built-in policy with this choice number, or LRU if the choice is a policy of a mechanism. */
const struct replacement_ops *replacement_selected(uint32_t choice);
#endif
