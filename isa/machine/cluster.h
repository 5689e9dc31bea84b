#ifndef ISA_CLUSTER_H
#define ISA_CLUSTER_H
/* Clusters of CTAs: CTAs of a launch that run at the same time, may access each other's shared memory, and share a
 * barrier (PTX ISA 9.0, sections 2.2.2 and 9.7.13.3). Without clusters, each CTA is a cluster of its own. */
#include "isa/types.h"

struct cta;
struct warp;
struct launch;
struct effects;

/* Addresses of the state space shared::cluster. An address below CLUSTER_STEP points to the shared memory of the
 * thread's own CTA, as in the space shared::cta. Address (r + 1) * CLUSTER_STEP + b points to byte b of the shared
 * memory of the CTA with rank r, in every CTA of the cluster. The instruction mapa returns such addresses, also for the
 * rank of the own CTA. Generic addresses add SHARED_WINDOW. */
#define CLUSTER_STEP 0x80000ull
_Static_assert(MAX_SHARED_BYTES <= CLUSTER_STEP, "the shared memory of a CTA fills at most one step");
_Static_assert((MAX_CLUSTER_CTAS + 1) * CLUSTER_STEP <= LOCAL_WINDOW - SHARED_WINDOW, "all CTAs are in the window");

/* The CTAs of a cluster. The driver that starts them owns the struct. It fills `cta` before the first of them runs. */
struct cluster {
    uint32_t n;
    struct cta *cta[MAX_CLUSTER_CTAS]; /* by rank */
    /* used by the timing model only: the CTA has ended, but its cluster still keeps it */
    bool left[MAX_CLUSTER_CTAS];
};

/* Where a shared::cluster address points. While CTAs of a cluster run on several host threads, only cluster_rank_at()
 * may be used, because other CTAs of the cluster may be about to begin. */
struct cluster_place {
    struct cta *cta; /* NULL if the cluster has no CTA of this rank */
    uint32_t rank;
    uint64_t offset; /* offset in the CTA's shared memory; the offset may be beyond the end of this memory */
};
/* Returns the rank of the CTA to whose shared memory a shared::cluster address (not generic) points, for threads of CTA
 * `c`. The cluster may have no CTA of this rank. */
uint32_t cluster_rank_at(const struct cta *c, uint64_t address);
/* Returns true if threads of CTA `c` may use the shared address (not generic), of at least CLUSTER_STEP, as a
 * shared::cluster address. In a launch without clusters, it must point to the shared memory of CTA `c`. */
bool cluster_owns(const struct cta *c, uint64_t address);
/* Returns the place to which a shared::cluster address (not generic) points, for threads of CTA `c`. */
struct cluster_place cluster_place(const struct cta *c, uint64_t address);
/* Returns true if an address in shared memory, as executors leave it in struct effects, is in another CTA's memory. */
static inline bool cluster_is_remote(uint64_t address) { return address >= CLUSTER_STEP; }
/* Returns the shared::cluster address of byte `offset` of the CTA of rank `rank`. Ranks beyond 30 count as 30, which no
 * cluster has. */
static inline uint64_t cluster_address(uint32_t rank, uint64_t offset) {
    return ((uint64_t)(rank < 30 ? rank : 30) + 1) * CLUSTER_STEP + offset;
}
/* Returns the host address of `bytes` bytes at *address, a shared::cluster address that `lane` reads or writes. Turns
 * *address into a shared::cta address if it points to the lane's own CTA. Returns NULL if the cluster has no such
 * memory, or if its CTA has ended and memory.page_bounds is off; in that case it stores the fault in fx. */
unsigned char *cluster_lane(struct cta *c, struct effects *fx, int lane, uint64_t *address, unsigned bytes, bool write);

/* Returns the number of CTAs of the launch along each dimension of a cluster: 1 x 1 x 1 without clusters. */
struct dim3 launch_cluster(const struct launch *l);
/* Returns the number of CTAs of a cluster. */
uint32_t launch_cluster_ctas(const struct launch *l);
/* Returns the id of the CTA with this rank in cluster number `cluster`. Clusters are numbered by x, then y, then z. */
struct dim3 launch_cluster_cta(const struct launch *l, uint64_t cluster, uint32_t rank);
/* Returns the rank of a CTA in its cluster. */
uint32_t launch_cluster_rank(const struct launch *l, struct dim3 cta);
/* Gives a CTA its place in a cluster. */
void cluster_join(struct cluster *k, struct cta *c, uint32_t rank);

/* The barrier of a cluster. Each thread arrives and later waits. Arrivals and exits change only the state of the
 * thread's own CTA, so that CTAs of a cluster can run on several host threads. cluster_settle() then reads the state of
 * all CTAs. cluster_arrive() lets lanes of a row arrive. If one of them has already arrived, stores a fault in fx and
 * returns false. */
bool cluster_arrive(struct warp *row, rowmask_t lanes, struct effects *fx);
/* Tests that all lanes of a row that wait have arrived before. If not, stores a fault in fx. */
bool cluster_may_wait(const struct warp *row, rowmask_t lanes, struct effects *fx);
/* Returns the lanes of a warp whose wait is over: all threads have arrived since these lanes arrived. */
lanemask_t cluster_pass(struct warp *w, lanemask_t lanes);
/* Notes that lanes of a warp have exited. Exited threads count as arrived. */
void cluster_exit(struct cta *c, struct warp *w, lanemask_t lanes);
/* Returns true if at least one thread has arrived in this phase, and every thread has either arrived or exited. */
bool cluster_complete(const struct cluster *k);
/* If the phase is complete, ends the phase of the barrier and returns true. The caller then
 * releases CLUSTER_BARRIER in each CTA that uses it, before lanes of the CTA run again. */
bool cluster_settle(struct cluster *k);
/* Returns true if a thread of the cluster has arrived in a phase that has not ended. */
bool cluster_awaits(const struct cluster *k);
#endif
