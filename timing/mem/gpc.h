#ifndef TIMING_GPC_H
#define TIMING_GPC_H
/* The cache of a cluster of SMs (gpc.*), between their instruction and constant caches and the crossbar. NVIDIA calls
 * it the GPC constant cache: it serves the instruction and constant caches of a General Processing Cluster, and reads
 * missing lines from the L2 (Nsight Compute, Profiling Guide, units gcc, icc, idc and imc).
 *
 * A request that leaves the port of an SM reaches the cache of its cluster after one crossing, the latency between
 * SMs and the memory side (memsys.h). It occupies one of `gpc.queue` entries until its reply. While all entries are
 * in use, the SMs wait. The tags are read gpc.latency cycles after the arrival, in order, one request per cycle. A
 * hit waits for the port, which sends gpc.port_bytes bytes per cycle, and reaches its SM one crossing later. A miss
 * requests the line from the L2 through its own input of the crossbar; requests of other SMs for that line join it. */
#include "cache.h"
#include "isa/arith.h"
#include "memport.h"
#include "timing/report/stat.h"
#include <stdatomic.h>

/* A request in the cache, from its arrival to its reply. */
struct gpc_entry {
    struct mem_request request;
    uint64_t arrived; /* cycle */
};

/* A reply of the L2: sectors of a line, which arrive at `cycle`. */
struct gpc_fill {
    uint64_t cycle;
    uint16_t mshr;
    uint8_t sectors; /* sectors of the line */
};

/* Counts of the cache of one cluster. */
struct gpc_counts {
#define COUNT_FIELDS
#include "gpc_stats.def"
};

struct gpc {
    struct cache cache;
    uint32_t latency, crossing; /* cycles */
    uint32_t port_bytes;        /* a cycle */
    uint32_t line_bits;         /* log2 of the line's bytes */
    uint32_t piece_bits;        /* log2 of the bytes of a request to the L2; a request does not cross an L2 line */
    uint16_t sender;            /* value of mem_request.sm in this cache's requests to the L2 */
    struct gpc_entry *entry;    /* gpc.queue entries */
    uint16_t *free_entry;
    uint32_t n_free, entries;
    uint32_t entry_mask, miss_mask, fill_mask;
    uint16_t *tags;           /* ring: entries that wait for the tags, in order of arrival */
    uint16_t *data;           /* ring: entries with data that wait for the port */
    struct mem_request *miss; /* ring: requests that wait for the crossbar */
    struct gpc_fill *fill;    /* ring: replies of the L2, in order of arrival */
    uint64_t tags_head, tags_tail, data_head, data_tail;
    uint64_t miss_head, miss_tail;
    uint64_t fill_head, fill_tail; /* the cache knows the replies before `fill_tail` */
    uint64_t sent_at;              /* last cycle of the present transfer; NEVER if there is none */
    uint64_t port_free;            /* cycle from which the port may begin the next transfer */
    uint64_t stalled_since;        /* cycle in which the tags first refused the oldest request; else NEVER */
    uint64_t next;                 /* cycle of the next work, or an earlier cycle; NEVER if the cache has no work */
    uint32_t turn;                 /* index in the cluster of the SM that has the highest priority */
    struct gpc_counts n;
    _Alignas(64) _Atomic uint64_t fill_put; /* number of replies put into the ring */
};

/* The caches of all clusters. SM s belongs to cluster s % n, so that cluster sizes differ by at most one SM. */
struct gpcs {
    struct gpc *gpc;
    uint32_t n, sms; /* n is 0 if there are no clusters */
    uint64_t *due;   /* for each SM: cycle from which its oldest request can be accepted; NEVER if it has no request */
    uint64_t next;   /* cycle of the next work of a cache or SM port, or an earlier cycle; NEVER if no work is left */
    uint64_t filled; /* value of `fills` at the last gpcs_receive() */
    _Alignas(64) _Atomic uint64_t fills; /* number of gpc_fill() calls */
};

/* Returns the number of clusters, or 0 if the configuration has no such caches. */
uint32_t gpcs_clusters(const struct config *c);
/* Returns how many requests to its cluster's cache an SM can have in flight. */
uint32_t gpcs_requests(const struct config *c);
/* Creates the caches. Returns false when memory runs out. The caches send requests to the L2 with SM numbers from
 * gpu.sms on. */
bool gpcs_init(struct gpcs *x, const struct config *c);
void gpcs_free(struct gpcs *x);
/* Returns true if requests of this kind go to a cluster's cache. */
static inline bool gpcs_take(const struct gpcs *x, uint8_t kind) { return x->n && MEM_NEAR_KINDS >> kind & 1; }
/* Returns true if SM `sm` has offered its oldest request to its cluster. */
static inline bool gpcs_offered(const struct gpcs *x, uint32_t sm) { return x->n && x->due[sm] != NEVER; }
/* Offers the oldest request of SM `sm` from `cycle` on. `cycle` must be later than the cycle of the last
 * gpcs_accept(). */
void gpcs_offer(struct gpcs *x, uint32_t sm, uint64_t cycle);
/* Schedules every cache and SM port for cycle `now`, even without work. */
void gpcs_call(struct gpcs *x, uint64_t now);
/* Runs cycle `now` of one cache. Replies go to `port`, indexed by SM. `*replied` gets the cycle at which a reply
 * reaches its SM, or 0 if no reply was sent. Returns true if anything changed. */
bool gpc_tick(struct gpc *g, struct memport *port, uint64_t now, uint64_t *replied);
/* Accepts an offered request that finds room, after gpc_tick(). Returns the SM of the request. The caller then
 * removes the request and offers the SM's next request for a later cycle. Returns -1 if no more requests can be
 * accepted; x->next is then set. */
int gpcs_accept(struct gpcs *x, const struct memport *port, uint64_t now);
/* Returns the oldest request that waits for the crossbar, or NULL if there is none. */
static inline const struct mem_request *gpc_miss(const struct gpc *g) {
    return g->miss_head == g->miss_tail ? NULL : &g->miss[g->miss_head & g->miss_mask];
}
static inline void gpc_miss_taken(struct gpc *g) { g->miss_head++; }
/* Delivers a reply of the L2 to cluster `i`. Its last flit arrives at `cycle`. Calls come in the order of cycles. The
 * caches may run at the same time, up to this cycle. They see the reply after gpcs_receive(). */
void gpc_fill(struct gpcs *x, uint32_t i, const struct mem_request *reply, uint64_t cycle);
/* Makes the delivered replies known to the caches. */
void gpcs_receive(struct gpcs *x);
/* Adds to `s` the counts since the last call, and clears them. */
void gpcs_stats(struct gpcs *x, struct stats *s);
#endif
