#ifndef TIMING_SCHED_OPS_H
#define TIMING_SCHED_OPS_H
/* A policy of warp schedulers, which decides which of the ready warps issues. Each scheduler of an SM has its own
 * state. SMs run on several host threads, so the states of two schedulers must not share variable data. */
#include "timing/config/config.h"
#include "timing/config/warp_set.h"

/* The data of a scheduler that its policy can read. */
struct sched_view {
    const struct warp_set *mine; /* slots of the scheduler's warps, including contexts */
    uint32_t words;              /* number of words in use in each warp_set */
    uint32_t last;               /* warp slot that issued last; before the first issue, the slot before slot 0 */
    const uint32_t *age;         /* for pick(): by warp slot, smaller for warps that started earlier */
};

struct sched_ops {
    const char *name, *help; /* name in the option sched.policy; description in one line */
    /* Returns the number of bytes of state for one scheduler. The state is zeroed at the start. If this function is
     * NULL, the policy has no state, and `state` is NULL. */
    size_t (*size)(const struct sm_cfg *cfg);
    void (*init)(void *state, const struct sm_cfg *cfg); /* NULL: zeros are enough */
    /* Returns the warp to issue, one of `ready`, or -1 to leave the issue slot empty. `ready` is never empty. It has
     * only warps whose next instruction can issue in this cycle. */
    int (*pick)(void *state, const struct sched_view *s, const struct warp_set *ready);

    /* Functions for events. Each may be NULL. */
    void (*issued)(void *state, const struct sched_view *s, uint32_t warp);
    /* A warp starts or ends. Later warps reuse the slot. For the policy, a context ends when it goes to sleep and
     * starts when it wakes. */
    void (*warp_starts)(void *state, const struct sched_view *s, uint32_t warp);
    void (*warp_ends)(void *state, const struct sched_view *s, uint32_t warp);
    /* Called at the end of each cycle that the SM simulates. In other cycles no state of a warp changes. `live`:
     * warps that have not ended. `parked`: warps whose paths all wait for a load, a barrier or a queue. Both sets
     * have warps of all schedulers. If a policy has this function, the SM does not use its fast path. */
    void (*cycle_ends)(void *state, const struct sched_view *s, const struct warp_set *live,
                       const struct warp_set *parked);
};

/* A function for policies: returns the warp of `ready` that started first. */
static inline int sched_pick_oldest(const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, best = warp_set_first(ready);
    struct warp_walk at = warp_walk(ready);
    while (warp_next(&at, ready, s->words, &w))
        if (s->age[w] < s->age[best])
            best = w;
    return (int)best;
}

#define SCHEDULER(name) extern const struct sched_ops sched_##name;
#define REPLACEMENT(name)
#define BYPASS(name)
#include "timing/config/policies.def"
#undef SCHEDULER
#undef REPLACEMENT
#undef BYPASS
/* The built-in policies, in the order of the choices of sched.policy. The list ends with NULL. */
extern const struct sched_ops *const sched_built_in[];
#endif
