#ifndef TIMING_GPC_H
#define TIMING_GPC_H
/* The cache of a cluster of SMs (gpc.*), between their instruction and constant caches and the crossbar. NVIDIA calls
 * it the GPC constant cache: it serves the instruction and constant caches of a General Processing Cluster, and reads
 * what it lacks from the L2 (Nsight Compute, Profiling Guide, units gcc, icc, idc and imc).
 *
 * A request that leaves the door of an SM reaches the cache of its cluster after a crossing (memsys.h), gets one of
 * `gpc.queue` entries, and waits there for its reply; when all are taken, the doors of the SMs wait. The tags are read
 * gpc.latency cycles after it came, one request a cycle, in order. A hit waits for the port, which sends gpc.port_bytes
 * a cycle, and is at its SM a crossing later. A miss asks the L2 for the line, through a port of its own at the
 * crossbar; requests of other SMs for that line join it. */
#include "cache.h"
#include "isa/arith.h"
#include "memport.h"
#include "timing/report/stat.h"

/* A request inside, from its arrival to its reply. */
struct gpc_entry {
    struct mem_request request;
    uint64_t arrived; /* cycle */
};

/* Sectors that come from the L2. */
struct gpc_fill {
    uint64_t cycle;
    uint16_t mshr;
    uint8_t sectors; /* of the line */
};

/* The cache of one cluster. Rings are indexed modulo a power of two. */
struct gpc_counts {
#define COUNT_FIELDS
#include "gpc_stats.def"
};

struct gpc {
    struct cache cache;
    uint32_t latency, crossing; /* cycles */
    uint32_t port_bytes;        /* a cycle */
    uint32_t line_bits;         /* log2 of the line's bytes */
    uint32_t piece_bits;        /* log2 of the bytes of a request to the L2, which does not cross a line there */
    uint16_t sender;            /* as mem_request.sm of these */
    struct gpc_entry *entry;    /* gpc.queue */
    uint16_t *free_entry;
    uint32_t n_free, entries;
    uint32_t entry_mask, miss_mask, fill_mask;
    uint16_t *tags;           /* ring: entries that wait for the tags, in order of arrival */
    uint16_t *data;           /* ring: entries whose data is there, which wait for the port */
    struct mem_request *miss; /* ring: requests that wait for the crossbar */
    struct gpc_fill *fill;    /* ring, in order of cycles */
    uint64_t tags_head, tags_tail, data_head, data_tail;
    uint64_t miss_head, miss_tail, fill_head, fill_tail;
    uint64_t sent_at;       /* last cycle of the transfer under way; NEVER: there is none */
    uint64_t port_free;     /* cycle from which the port may begin another */
    uint64_t stalled_since; /* cycle; NEVER: the tags took what they read */
    uint64_t next;          /* cycle at which it has work, or earlier; NEVER: none */
    uint32_t turn;          /* SM of the cluster whose door is asked first */
    struct gpc_counts n;
};

/* Those of all clusters. SM s belongs to cluster s % n, so that clusters differ by one SM at most. */
struct gpcs {
    struct gpc *gpc;
    uint32_t n, sms; /* n = 0: there are none */
    uint64_t *due;   /* by SM: cycle at which its door hands over the request at its head; NEVER: it has none */
    uint64_t next;   /* cycle at which a cache or a door has work, or earlier; NEVER: none */
};

/* Clusters of a configuration, 0: it has no such caches. */
uint32_t gpcs_clusters(const struct config *c);
/* Requests that an SM may have sent there without a reply, at most. */
uint32_t gpcs_requests(const struct config *c);
/* False when memory is out. Requests to the L2 come from "SMs" numbered from gpu.sms on. */
bool gpcs_init(struct gpcs *x, const struct config *c);
void gpcs_free(struct gpcs *x);
/* Does a request of this kind go to a cluster's cache? */
static inline bool gpcs_take(const struct gpcs *x, uint8_t kind) { return x->n && MEM_NEAR_KINDS >> kind & 1; }
/* Is the head of SM `sm`'s port at the door? */
static inline bool gpcs_offered(const struct gpcs *x, uint32_t sm) { return x->n && x->due[sm] != NEVER; }
/* The request at the head of SM `sm`'s port is at its door from `cycle` on, which is later than the last
 * gpcs_accept(). */
void gpcs_offer(struct gpcs *x, uint32_t sm, uint64_t cycle);
/* Calls every cache and door at `now`. */
void gpcs_call(struct gpcs *x, uint64_t now);
/* The cycle `now` of one cache: replies go to `port`, by SM. `*replied`: the cycle at which one is at its SM, 0: none
 * left. Returns whether anything happened. */
bool gpc_tick(struct gpc *g, struct memport *port, uint64_t now, uint64_t *replied);
/* Then hands over what is at the doors and finds room. Returns an SM whose request has been taken: its head is to be
 * removed and the next one offered, for a later cycle; -1: no more, and x->next is set. */
int gpcs_accept(struct gpcs *x, const struct memport *port, uint64_t now);
/* The oldest request that waits for the crossbar; NULL: none. */
static inline const struct mem_request *gpc_miss(const struct gpc *g) {
    return g->miss_head == g->miss_tail ? NULL : &g->miss[g->miss_head & g->miss_mask];
}
static inline void gpc_miss_taken(struct gpc *g) { g->miss_head++; }
/* A reply of the L2 to cluster `i`, whose last flit comes at `cycle`, not before the one of the last call. */
void gpc_fill(struct gpcs *x, uint32_t i, const struct mem_request *reply, uint64_t cycle);
/* Adds the counts since the last call to `s`, and clears them. */
void gpcs_stats(struct gpcs *x, struct stats *s);
#endif
