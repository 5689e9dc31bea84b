#ifndef TIMING_SCHED_OPS_H
#define TIMING_SCHED_OPS_H
/* A policy of warp schedulers, which decides which of the ready warps issues. Each scheduler of an SM has its own
 * state. SMs run on several host threads, so the states of two schedulers must not share variable data. */
#include "timing/config/config.h"
#include "timing/config/warp_set.h"

struct inst;

/* The CTA of a warp. */
struct sched_warp {
    uint64_t cta;  /* number of the CTA: its position in the grid, with x fastest; UINT64_MAX for a context */
    uint32_t slot; /* slot of the CTA in the SM, which later CTAs reuse; a context has a slot of its own */
};

/* The SM of a scheduler, as far as policies can read it. */
struct sched_sm {
    uint32_t id;                   /* number of the SM */
    uint32_t cta_warps, most_ctas; /* of the launch: warps of each CTA; CTAs that the SM can hold */
    const uint64_t *next_cycle;    /* the cycle after the present one */
    const struct sched_warp *warp; /* by warp slot; valid while the warp lives */
};

/* The data of a scheduler that its policy can read. */
struct sched_view {
    const struct warp_set *mine; /* slots of the scheduler's warps, including contexts */
    uint32_t words;              /* number of words in use in each warp_set */
    uint32_t last;       /* warp slot that issued last; before the first issue, a value after which slot 0 is next */
    const uint32_t *age; /* for pick(): by warp slot, smaller for warps that started earlier */
    const struct sched_sm *sm; /* NULL in tests of a scheduler without an SM */
};
static inline uint64_t sched_now(const struct sched_view *s) { return s->sm ? *s->sm->next_cycle - 1 : 0; }

/* An instruction that has issued and executed. */
struct sched_executed {
    uint32_t warp, pc;
    lanemask_t lanes; /* lanes of the path */
    lanemask_t taken; /* for K_BRANCH: lanes that take the branch */
    const struct inst *in;
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
    bool always; /* pick() never returns -1 */
    bool greedy; /* pick() has no state, and returns the warp that issued last if it is ready */

    /* Functions for events. Each may be NULL. */
    void (*issued)(void *state, const struct sched_view *s, uint32_t warp);
    /* Follows issued() after the instruction has executed. A faulting instruction is not reported. */
    void (*executed)(void *state, const struct sched_view *s, const struct sched_executed *e);
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

/* Returns the warp of `ready` that started first. A policy may use this function as its pick(). */
static inline int sched_pick_oldest(const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, best = warp_set_first(ready);
    struct warp_walk at = warp_walk(ready);
    while (warp_next(&at, ready, s->words, &w))
        if (s->age[w] < s->age[best])
            best = w;
    return (int)best;
}

/* Returns the warp of `ready` that started last. */
static inline int sched_pick_youngest(const struct sched_view *s, const struct warp_set *ready) {
    uint32_t w, best = warp_set_first(ready);
    struct warp_walk at = warp_walk(ready);
    while (warp_next(&at, ready, s->words, &w))
        if (s->age[w] > s->age[best])
            best = w;
    return (int)best;
}

#define SCHEDULER(name) extern const struct sched_ops sched_##name;
#include "timing/config/policies.def"
/* The built-in policies, in the order of the choices of sched.policy. The list ends with NULL. */
extern const struct sched_ops *const sched_built_in[];
#endif
