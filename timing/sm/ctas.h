#ifndef TIMING_SM_CTAS_H
#define TIMING_SM_CTAS_H
/* CTAs of an SM: their resources, and how their warps begin and end. */
#include "isa/machine/launch.h"
#include "timing/config/warp_set.h"

struct reconv_cta;
struct sm;

enum { SM_CTA_SLOTS = 64 };
struct sm_cta {
    struct cta *cta; /* NULL until the slot is first used */
    struct dim3 id;
    uint64_t number;       /* its position in the grid, with x fastest */
    bool begun;            /* its warps have begun: sm_warps_start() */
    struct warp_set warps; /* warps that have not ended; if the set is empty, the slot is free */
    /* state of the reconvergence model that the CTA's warps share, in sm_ctas.shared_states; NULL if there is none */
    struct reconv_cta *shared;
};

/* Owns the CTA slots, and counts the resources of their CTAs. A context is a warp of a unit, which belongs to no CTA of
 * the launch (unit_context.h). */
struct sm_ctas {
    uint32_t warps_used, registers_used, shared_used; /* shared: bytes */
    uint32_t tensor_used;                             /* columns of tensor memory that the SM's CTAs have allocated */
    uint32_t warps_each, registers_each, shared_each; /* resources that each CTA of the launch needs */
    uint32_t most;                                    /* CTAs of the launch that the SM can hold */
    uint32_t n_slots;                                 /* slots from n_slots on have no sm_cta.cta */
    const struct cluster_source *source;              /* gives clusters that have not begun to clusterlaunchcontrol */
    unsigned char *shared_states;                     /* sm_cta.shared of `most` CTAs and of the contexts; NULL: none */
    struct sm_cta slot[SM_CTA_SLOTS + MAX_CONTEXTS];  /* slots of the CTAs, then one slot for each context */
};

/* Allocates the states that the warps of CTAs share, for a launch under a model that has such states. Returns false if
 * memory is out. sm_free_shared() must follow. */
bool sm_place_shared(struct sm *sm);
void sm_free_shared(struct sm *sm);
/* Starts the warps of the CTA in slot `cta`, at the event EVENT_START. */
void sm_warps_start(struct sm *sm, uint32_t cta, uint64_t now);
/* Starts a warp at `pc`. The caller has set the warp's slot, scoreboard and lanes. (warp_life.c) */
void sm_warp_start(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now);
/* Returns true if the warp has finished and has no instruction in flight. (warp_life.c) */
bool sm_warp_over(const struct sm *sm, uint32_t w);
/* Frees the warp's slot if sm_warp_over() is true. The slots of all warps of a CTA become free together. */
void sm_warp_check_done(struct sm *sm, uint32_t w, uint64_t now);
#endif
