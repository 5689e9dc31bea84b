#ifndef TIMING_BYPASS_H
#define TIMING_BYPASS_H
/* A bypass policy decides which misses go past a cache, that is, allocate no line. Each L1 and each slice of the L2 has
 * its own state. Caches run on several host threads, so the states of two caches must not share variable data.
 *
 * The cache asks the policy about each load and store of global memory that finds no line in the tags. A load that goes
 * past holds an MSHR until its data arrive, fetches only its own sectors, and merges with outstanding loads of these
 * sectors. A store that goes past is sent to the next level. Local memory, atomics, prefetches, instruction fetches,
 * and loads that unlock a line never go past; loads with a cache operator that PTX does not let into the L1 (.cg, .cv)
 * do not reach its tags. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache;
struct cache_spot;

struct bypass_access {
    uint64_t line; /* line number in the cache */
    uint32_t set;
    uint32_t pc;
    uint16_t sm, warp;
    uint8_t cache_op; /* enum cache_op of the instruction, at the L1; 0 at the L2 */
    bool store;
    bool full; /* all lines of the set are locked or outstanding, so a miss that allocates must wait */
};

struct bypass_ops {
    const char *name, *help; /* name as a choice of l1.bypass and l2.bypass; help text of one line */
    /* Returns the number of bytes of state for one cache. The state is zeroed at the start. NULL: no state. */
    size_t (*size)(uint32_t sets, uint32_t ways);
    /* Returns true if the access, whose line is absent, goes past the cache. The cache may ask again before the access
     * succeeds. NULL: no access goes past. */
    bool (*goes_past)(const void *state, const struct bypass_access *a);

    /* Functions for events, when an access has succeeded. Each may be NULL. `way` is the way within all sets: set *
     * ways + way of the set. */
    void (*hit)(void *state, const struct bypass_access *a, uint32_t way);  /* the line is present or outstanding */
    void (*fill)(void *state, const struct bypass_access *a, uint32_t way); /* a miss allocated `way` */
    void (*passed)(void *state, const struct bypass_access *a);             /* the access went past */
};

/* The policy of one cache. `ops` is NULL if no access goes past. */
struct bypass {
    const struct bypass_ops *ops;
    void *state;
};
/* Sets the policy of a cache. Returns false when memory runs out. */
bool bypass_use(struct bypass *b, const struct bypass_ops *ops, const struct cache *c);
void bypass_free(struct bypass *b);
/* Returns true if the access, whose line is at `at`, goes past the cache. Sets a->set and a->full. */
bool bypass_goes_past(const struct bypass *b, const struct cache *c, struct cache_spot at, struct bypass_access *a);
/* Tells the policy that an access has succeeded. `hit`: it found its line. */
void bypass_tell(struct bypass *b, const struct cache *c, const struct bypass_access *a, bool past, bool hit);

#define BYPASS(name) extern const struct bypass_ops bypass_##name;
#include "timing/config/policies.def"
/* The built-in policies, in the order of the choices of l1.bypass. The list ends with NULL. */
extern const struct bypass_ops *const bypass_built_in[];
#endif
