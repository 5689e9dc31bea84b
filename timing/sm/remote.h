#ifndef TIMING_SM_REMOTE_H
#define TIMING_SM_REMOTE_H
/* Accesses to the shared memory of other CTAs of the cluster. Such an access is an ordered instruction: it is performed
 * at the edge after its issue (timing/windows.h). Then it leaves the memory stage as one request for each CTA that it
 * accesses. A request waits for the next edge, where timing/clusters.c sends it through the network to the load/store
 * unit of the other SM. There it occupies the banks of shared memory, as an access of that SM does, and the reply goes
 * back. The instruction ends with its last reply.
 *
 * The functions with struct sm are for the edges, when no SM runs, except where a comment says otherwise. */
#include "in_flight.h"
#include "timing/mem/lsu.h"

struct cluster;
struct cta;
struct mem_inst;
struct mem_turn;
struct sm;

struct remote_counts {
#define COUNT_FIELDS
#include "remote_stats.def"
};

/* Requests that an SM sends between two edges: at most one instruction a cycle. */
enum { REMOTE_EDGE = 16, REMOTE_MOST = (REMOTE_EDGE + 1) * MAX_CLUSTER_CTAS };

struct sm_remote {
    struct lsu_guest out[REMOTE_MOST]; /* requests since the last edge */
    uint32_t n_out, taken;
    struct remote_inst {
        uint64_t ready;        /* cycle of the last reply so far */
        struct mem_inst *rest; /* the instruction, if some of its lanes access the own SM or device memory; else NULL */
        uint32_t pending;      /* replies due */
    } inst[MAX_INFLIGHT];      /* by instruction in flight */
    struct remote_counts n;
};

/* Begin and end a launch on an SM. remote_begin() returns false if memory is out. remote_begin() and the functions
 * below that name a running SM may be called while SMs run. */
bool remote_begin(struct sm *sm);
void remote_end(struct sm *sm);
/* For a running SM: returns true if a lane of the path accesses the shared memory of another CTA. Overwrites the memory
 * fields of sm->fx. */
bool remote_is(struct sm *sm, uint32_t w, const struct inst *in, lanemask_t lanes);
/* Removes the lanes that access other CTAs from an instruction's access, after the instruction was performed. */
void remote_take(const struct sm *sm, struct mem_inst *m);
/* For a running SM: sends the requests of an instruction at the end of the memory stage. Returns true if the
 * instruction has left the memory stage. */
bool remote_send(struct sm *sm, struct mem_inst *m, uint64_t now, struct mem_turn *turn);
/* For a running SM: ends an instruction at its last reply. */
void remote_replied(struct sm *sm, uint32_t inflight, uint64_t now);

/* Removes the oldest request that the SM has sent in a cycle up to `cycle`, and stores it in `out`. Returns false if
 * there is none. */
bool sm_remote_sent(struct sm *sm, uint64_t cycle, struct lsu_guest *out);
/* Passes a request to the SM whose shared memory it accesses. The caller has set g->arrived. Returns false if memory is
 * out. */
bool sm_remote_guest(struct sm *sm, const struct lsu_guest *g);
/* Removes the oldest request that the SM has served in a cycle up to `cycle`, and stores it in `out`. Returns false if
 * there is none. */
bool sm_remote_served(struct sm *sm, uint64_t cycle, struct lsu_guest *out);
/* Records a reply that arrives in cycle `at`. */
void sm_remote_reply(struct sm *sm, const struct lsu_guest *g, uint64_t at);
/* Returns the SM's counts. */
struct remote_counts *sm_remote_counts(struct sm *sm);

/* Sets the source of clusters for clusterlaunchcontrol. It applies to CTAs that begin after this call. */
void sm_set_source(struct sm *sm, const struct cluster_source *source);
/* Begins a CTA of a cluster, as sm_cta_start() does. Of an SM that runs. */
bool sm_cluster_cta_start(struct sm *sm, struct dim3 id, struct cluster *k, uint32_t rank, uint64_t cycle);
/* Releases the lanes of a CTA that wait at the barrier of its cluster. */
void sm_cluster_release(struct sm *sm, const struct cta *c, uint64_t now);
/* Ends the phase of the barrier in all clusters of one CTA, if all threads have arrived. */
void sm_cluster_settle(struct sm *sm, uint64_t now);
#endif
