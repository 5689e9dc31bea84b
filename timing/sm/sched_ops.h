#ifndef TIMING_SCHED_OPS_H
#define TIMING_SCHED_OPS_H
/* A policy of warp schedulers, which decides the ready warp that issues. Each scheduler of an SM has its own state. SMs
 * run on several host threads, so states share nothing that changes. */
#include "timing/config/config.h"
#include "timing/config/warp_set.h"

/* What a policy sees of its scheduler. */
struct sched_view {
    const struct warp_set *mine; /* slots of the scheduler's warps, including contexts */
    uint32_t words;              /* words in use of all sets of warps */
    uint32_t last;               /* warp slot that issued last; before the first issue, the slot before slot 0 */
    const uint32_t *age;         /* for pick: by warp slot, smaller for warps that started earlier */
};

struct sched_ops {
    const char *name, *help; /* name in the option sched.policy; description in one line */
    /* Bytes of state of one scheduler, which begin as zeros. NULL: the policy has no state, and `state` is NULL. */
    size_t (*size)(const struct sm_cfg *cfg);
    void (*init)(void *state, const struct sm_cfg *cfg); /* NULL: zeros are enough */
    /* Returns the warp to issue, one of `ready`, or -1 to leave the issue slot empty. `ready` is never empty. It has
     * only warps whose next instruction can issue in this cycle. */
    int (*pick)(void *state, const struct sched_view *s, const struct warp_set *ready);

    /* Events. Each may be NULL. */
    void (*issued)(void *state, const struct sched_view *s, uint32_t warp);
    /* A warp starts or ends. Later warps use the slot again. For the policy, a context ends when it goes to sleep and
     * starts when it wakes. */
    void (*warp_starts)(void *state, const struct sched_view *s, uint32_t warp);
    void (*warp_ends)(void *state, const struct sched_view *s, uint32_t warp);
    /* Called at the end of each cycle that the SM simulates. Nothing changes in other cycles. `live`: warps that have
     * not ended. `parked`: warps whose paths all wait for a load, a barrier or a queue. Both sets have warps of all
     * schedulers. With a policy that has this call, the SM does not use its fast path. */
    void (*cycle_ends)(void *state, const struct sched_view *s, const struct warp_set *live,
                       const struct warp_set *parked);
};

#define SCHEDULER(name) extern const struct sched_ops sched_##name;
#define REPLACEMENT(name)
#include "timing/config/policies.def"
#undef SCHEDULER
#undef REPLACEMENT
/* The built-in policies, in the order of the choices of sched.policy; NULL ends. */
extern const struct sched_ops *const sched_built_in[];
#endif
