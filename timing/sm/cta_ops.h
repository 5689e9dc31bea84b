#ifndef TIMING_SM_CTA_OPS_H
#define TIMING_SM_CTA_OPS_H
/* A CTA policy assigns CTAs to SMs, and limits how many CTAs an SM holds. A policy has one state for the whole GPU.
 * Its functions run on one host thread, between the cycles that SMs simulate. They may change the state, and read the
 * SM for which they are called. Other SMs may have simulated more cycles, so reading them would make results depend on
 * the number of host threads. */
#include "timing/config/config.h"

struct launch;
struct sm;

#define CTA_NONE UINT64_MAX

/* The data of a launch that its policy can read. */
struct cta_view {
    const struct config *cfg;
    const struct launch *launch;
    struct sm *const *sm; /* the SMs, by number; read a unit of an SM with sm_unit_state() (timing/sm/unit_access.h) */
    const uint32_t *held; /* by SM: number of its CTAs, including CTAs assigned in this cycle */
    uint32_t sms;         /* number of SMs */
    uint32_t occupancy;   /* most CTAs that fit on an SM, at least 1 */
    uint64_t begun;       /* number of CTAs that have been assigned to SMs */
    uint64_t total;       /* CTAs of the launch */
    uint64_t cycle;       /* the present cycle */
};

struct cta_ops {
    const char *name, *help; /* name in the option gpu.cta_policy; description in one line */
    /* Returns the number of bytes of state. The state is zeroed when a launch begins. If this function is NULL, the
     * policy has no state, and `state` is NULL. */
    size_t (*size)(uint32_t sms);
    /* Returns the number of the CTA that the SM gets, or CTA_NONE. The caller begins the CTA, so the function must
     * return each number below `total` once. A CTA's number is its position in the grid, with x fastest. The function
     * is called only for an SM with fewer than `occupancy` CTAs, while CTAs remain, at most once per cycle. SMs take
     * turns. The first SM of a dispatch has the number `begun` modulo the number of SMs, as in round-robin dispatch.
     *
     * After CTA_NONE, the SM gets no CTA until one of its own CTAs has ended. So an SM that holds no CTA must not be
     * refused, except if the policy has no CTA left for it. */
    uint64_t (*pick)(void *state, const struct cta_view *v, uint32_t sm);

    /* Functions for events. Each may be NULL. */
    void (*begin)(void *state, const struct cta_view *v); /* the launch begins; no SM holds a CTA */
    /* Since the last call, `n` >= 1 CTAs of the SM have ended. The call comes at the next edge (timing/windows.h). No
     * call comes after the last CTA of the launch has begun. */
    void (*ended)(void *state, const struct cta_view *v, uint32_t sm, uint32_t n);
};

/* The choices of gpu.cta_policy, as values of config.gpu.cta_policy. */
enum cta_choice {
#define CTA_POLICY(name) CTA_CHOICE_##name,
#define DECLARED_POLICIES
#include "timing/config/policies.def"
    N_CTA_CHOICES
};

#define CTA_POLICY(name) extern const struct cta_ops cta_policy_##name;
#include "timing/config/policies.def"
/* The built-in policies, in the order of the choices of gpu.cta_policy. The list ends with NULL. */
extern const struct cta_ops *const cta_built_in[];
#endif
