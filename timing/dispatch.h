#ifndef TIMING_DISPATCH_H
#define TIMING_DISPATCH_H
/* Dispatches the CTAs of a launch to the SMs. A policy (sm/cta_ops.h) assigns them. CTAs begin only at
 * edges (windows.h). An SM stops at an edge if the policy may give it a CTA there. So the policy sees the same events
 * in the same order, however far the other SMs have run. */
#include "isa/machine/warp.h"
#include "timing/sm/cta_ops.h"
#include <stdbool.h>
#include <stdint.h>

/* A CTA that an SM begins at the start of the next cycles that its host thread simulates. */
struct cta_begin {
    uint64_t cta, cycle;
    struct cluster *cluster; /* the CTA's cluster, and its rank there; NULL: a cluster of one CTA */
    uint32_t rank;
};
/* maximum distance of two edges in cycles; small, because CTAs begin and atomics are performed only at edges */
enum { MAX_EDGE = 16 };

/* The CTAs that an SM begins after an edge, at most one per cycle, and the state of the SM after its last job. The
 * state is a copy from struct sm_status: the states of all SMs are in few lines of the host's cache. */
struct cta_begins {
    struct cta_begin *at; /* MAX_EDGE entries */
    uint64_t reached;
    uint32_t ctas, n_ordered;
    uint32_t n;    /* number of entries in use */
    uint32_t keep; /* number of CTAs: an SM with fewer CTAs stops at the next edge */
    bool stores;   /* sm_has_stores() */
    bool stopped;
    bool failed; /* memory is out */
};

struct clusters; /* clusters.h */

/* The CTAs of a launch. */
struct ctas {
    const struct launch *launch;
    struct clusters *clusters; /* NULL: the launch has no clusters, and its kernel uses no barrier of a cluster */
    const struct cta_ops *ops;
    void *state;    /* of the policy */
    uint32_t turn;  /* SM for which pick() is called first */
    uint32_t *held; /* by SM: number of CTAs that it held when it last stopped at an edge, plus the CTAs that it
                           * got there */
    bool *open;     /* by SM: it can hold more CTAs, and the policy has not refused it since a CTA ended */
    /* Makes an SM take part in the launch; returns false if memory is out. NULL: all SMs take part from the start. Else
     * an SM takes part from its first CTA on (`joined`, by SM). */
    bool (*join)(void *ctx, uint32_t sm);
    void *join_ctx;
    bool *joined;
    bool none_kept;               /* cta_begins.keep is 0 for all SMs from now on */
    struct cluster_source source; /* gives clusters that have not begun to clusterlaunchcontrol */
    struct cta_view view; /* argument of the policy's functions; it counts all CTAs and the CTAs that have begun */
};

/* Prepares the launch. Returns false if memory is out; ctas_free() follows in any case. `ops`: NULL for the built-in
 * policy of the configuration. */
bool ctas_init(struct ctas *c, const struct cta_ops *ops, const struct cta_view *view);
void ctas_free(struct ctas *c);
static inline bool ctas_all_begun(const struct ctas *c) { return c->view.begun == c->view.total; }
/* Returns true if the SM takes part in the launch. */
static inline bool ctas_joined(const struct ctas *c, uint32_t sm) { return !c->join || c->joined[sm]; }
/* Returns the number of CTAs of the SM, including the CTAs that it will begin in its next job. */
static inline uint32_t ctas_of(const struct cta_begins *b) { return b->ctas + b->n; }
/* Returns true if a CTA may begin at the next edge even if no other event comes before. */
bool ctas_may_begin(const struct ctas *c);
/* Assigns CTAs to the SMs that have reached the edge `at`, one per cycle and SM, up to the next edge. Sets `keep`. */
void ctas_dispatch(struct ctas *c, struct cta_begins *begins, uint64_t at, uint32_t edge);
/* Begins the CTAs that the SM got at the last edge. */
void ctas_begin_on(const struct ctas *c, struct cta_begins *b, uint32_t sm);
#endif
