#ifndef ISA_RECONV_SUBWARPS_H
#define ISA_RECONV_SUBWARPS_H
/* The divergence handling unit of Volta and later, as described by the subwarp-interleaving paper (section III-A):
 * subwarps, each with a state, and convergence barriers. All models with convergence barriers share it. */
#include "reconv.h"

/* maximum number of convergence barriers: 16 are in registers, and the compiler spills the others
 * (frontend/passes/barriers.c) */
enum { N_CONVERGENCE_BARRIERS = 32 };

enum subwarp_state { SUBWARP_FREE, SUBWARP_ACTIVE, SUBWARP_READY, SUBWARP_BLOCKED, SUBWARP_STALLED, SUBWARP_WAITING };

struct subwarp {
    uint32_t pc;
    lanemask_t lanes;
    /* enum subwarp_state; WAITING means that the subwarp waits at a CTA barrier or for lanes of its member mask */
    uint8_t state;
    uint8_t barrier;   /* index of the convergence barrier, for BLOCKED */
    uint8_t enough;    /* for BLOCKED: number of lanes that open the barrier; 0: all */
    uint32_t backward; /* number of backward branches that the subwarp has taken since it became active */
};

struct subwarps {
    const struct reconv_cfg *cfg;
    lanemask_t alive;
    uint32_t divergences;   /* number of divergent branches; only the model si counts them */
    int active, last;       /* slot of the active subwarp (-1 if there is none); slot of the last active subwarp */
    int slots;              /* slots of `w` in use: no lane of the warp has this number or a higher one */
    uint32_t barriers_used; /* bit b is set if group[b] may have an entry that is not 0; other groups have no value */
    struct subwarp w[MAX_WARP_LANES];
    /* lanes that take part in barrier b together with this lane; 0 if this lane does not take part */
    lanemask_t group[N_CONVERGENCE_BARRIERS][MAX_WARP_LANES];
};

/* Implementations of the functions of the same names in struct reconv_ops. */
size_t subwarps_size(const struct reconv_cfg *cfg, uint32_t lanes);
void subwarps_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes);
int subwarps_paths(const void *st, struct path *out, int max);
bool subwarps_finished(const void *st);
unsigned subwarps_advance(void *st, int id, uint32_t next);
unsigned subwarps_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site);
/* Works like subwarps_branch(), but the caller chooses the side that stays active: t[stays]. */
unsigned subwarps_branch_first(void *st, int id, const struct target *t, int n, const struct branch_site *site,
                               int stays);
unsigned subwarps_leave(void *st, int id, lanemask_t lanes, uint32_t next);
unsigned subwarps_bssy(void *st, int id, uint32_t bar, uint32_t join, uint32_t next);
unsigned subwarps_bsync(void *st, int id, uint32_t bar, uint32_t enough, uint32_t next);
unsigned subwarps_leave_barrier(void *st, int id, uint32_t bar, lanemask_t lanes, uint32_t next);
unsigned subwarps_give_way(void *st, const struct lane_waits *ws);
int subwarps_describe(const void *st, struct path_desc *out, int max);
lanemask_t subwarps_runnable(const void *st);
int subwarps_depth(const void *st);
/* Returns the hardware storage of a warp in bits: for each thread a PC and two bits of state, and sixteen barriers per
 * warp. */
static inline uint32_t subwarps_bits(void) { return WARP_LANES * (32 + 2) + 16 * WARP_LANES; }
/* Returns the number of subwarps in `state`. */
uint32_t subwarps_in(const struct subwarps *s, enum subwarp_state state);
/* Moves subwarp `id` to state `to`. An active subwarp is then no longer active; with `elect`, the next READY subwarp
 * becomes active. A subwarp that becomes READY merges with a READY subwarp at the same PC, so slot `id` may be free
 * afterwards. */
unsigned subwarps_retire(struct subwarps *s, int id, enum subwarp_state to, bool elect);
/* Makes the next READY subwarp after the last active one ACTIVE. Returns false if there is none. */
bool subwarps_elect(struct subwarps *s);
unsigned subwarps_wake(void *st, int id);
unsigned subwarps_wait(void *st, int id, enum reconv_stall why);
unsigned subwarps_yield(void *st, int id);

/* The fields of struct reconv_ops that are equal in all models with convergence barriers. */
#define SUBWARPS_CALLS                                                                                                 \
    .flags = RECONV_BARRIERS, .size = subwarps_size, .zeroed = offsetof(struct subwarps, group),                       \
    .start = subwarps_start, .paths = subwarps_paths, .finished = subwarps_finished, .advance = subwarps_advance,      \
    .leave = subwarps_leave, .bssy = subwarps_bssy, .bsync = subwarps_bsync, .leave_barrier = subwarps_leave_barrier,  \
    .wake = subwarps_wake, .give_way = subwarps_give_way, .describe = subwarps_describe,                               \
    .runnable = subwarps_runnable, .depth = subwarps_depth
#endif
