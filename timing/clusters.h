#ifndef TIMING_CLUSTERS_H
#define TIMING_CLUSTERS_H
/* Clusters of CTAs in time. All CTAs of a cluster begin after the same edge, on SMs of one GPC (cluster.sms), as soon
 * as these SMs have room for all of them. While a launch has clusters, all SMs stop at each edge. Between two edges, an
 * SM only collects its requests to other SMs, and the arrivals of its threads at the barrier. At an edge, one thread
 * passes requests and replies through the network, in order of (cycle, SM), and releases the lanes that wait at a
 * barrier. So results do not depend on the number of host threads.
 *
 * Each SM has one port into the network and one port out of it, which pass cluster.bytes a cycle. A crossing takes
 * cluster.latency cycles: the last byte of a packet arrives that long after it has left its port, or later if the port
 * of the destination is busy. Two CTAs on the same SM do not use the network. */
#include "dispatch.h"
#include "timing/sm/occupancy.h"

struct clusters;

/* Prepares a launch with clusters, or with a kernel that uses the barrier of its cluster. Sets *out to NULL for any
 * other launch. Returns false if memory is out. */
bool clusters_init(struct clusters **out, const struct config *cfg, const struct launch *l, struct sm *const *sm);
void clusters_free(struct clusters *k);
/* Returns the number of CTAs of a cluster. */
uint32_t clusters_ctas(const struct clusters *k);
/* Assigns the CTAs of the next clusters at the edge `at`, as ctas_dispatch() does. */
void clusters_dispatch(struct ctas *c, struct cta_begins *begins, uint64_t at, uint32_t edge);
/* Returns true if a cluster has room at the next edge. */
bool clusters_may_begin(const struct ctas *c);
/* Does the work of clusters at the edge `at`, which all SMs have reached. Returns false if memory is out. */
bool clusters_edge(struct clusters *k, uint64_t at, uint32_t edge);
/* Returns the cycle in which the next barrier of a cluster ends, or UINT64_MAX if none is known. */
uint64_t clusters_next(const struct clusters *k);
/* Returns true if the policy of CTAs can be used with the launch's clusters. Otherwise writes the reason. */
bool clusters_simulated(const struct launch *l, const struct cta_ops *policy, char *why, size_t size);
/* Returns true if a cluster of the launch fits into a GPC. Otherwise writes the reason. */
bool clusters_fit(const struct config *cfg, const struct launch *l, uint32_t occupancy, char *why, size_t size);
#endif
