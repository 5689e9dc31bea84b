#ifndef TIMING_MEM_TLB_H
#define TIMING_MEM_TLB_H
/* Address translation (tlb.entries). The L1 caches have virtual tags, so only requests that leave an SM are translated:
 * a TLB of the SM looks up the oldest request of its port, one in a cycle. A hit takes no time. A request that misses
 * leaves the port and waits in a table of tlb.misses requests, so that later requests pass it. The TLB of all SMs
 * replies tlb.latency cycles later, or after a page walk tlb.walk cycles later still. Requests for an outstanding page
 * wait for the same reply. Both TLBs are fully associative and replace the entry that was used least recently.
 *
 * Not modelled: a limit of page walks and of accesses to the TLB of all SMs in a cycle; the memory accesses of a walk;
 * translations of instructions and constants, whose requests pass the TLB. */
#include "memsys.h"
#include "timing/config/config.h"

struct tlb_entry {
    uint64_t page;        /* number of the page + 1; 0: empty */
    uint64_t ready, used; /* cycle from which the translation is known; tlb.uses at the last use */
};

struct tlb {
    struct tlb_entry *entry;
    uint32_t entries, shift; /* shift: log2 of the bytes of a page */
    uint32_t recent;         /* entry of the last access */
    uint64_t uses;           /* number of accesses */
};

/* A request that waits for its translation. */
struct tlb_miss {
    struct mem_request request;
    uint64_t ready;
};

/* The TLB of an SM. */
struct tlb_port {
    struct tlb tlb;
    struct tlb_miss *miss; /* the waiting misses, the oldest first; room for tlb.misses */
    uint32_t n_misses;
    uint32_t offered; /* element of `miss` that is offered to the crossbar, or TLB_HEAD: the port's oldest request */
    uint64_t due;     /* cycle from which the port's oldest request may be looked up; NEVER: it is unknown */
};
enum { TLB_HEAD = UINT32_MAX };

struct tlb_counts {
#define COUNT_FIELDS
#include "tlb_stats.def"
};

struct tlbs {
    struct tlb_port *port; /* by SM */
    uint32_t sms;          /* 0: there are no TLBs */
    struct tlb all;        /* the TLB of all SMs */
    uint32_t latency, walk, misses;
    uint64_t next; /* cycle of the next work, or an earlier cycle; NEVER if there is none */
    struct tlb_counts n;
};

enum tlb_did { TLB_NOTHING, TLB_TRANSLATED, TLB_MISSED };

/* Returns false when memory runs out. Without TLBs, x->sms is 0. */
bool tlbs_init(struct tlbs *x, const struct config *c);
void tlbs_free(struct tlbs *x);
/* Lets the oldest request of the port of SM `sm` be looked up from `cycle` on. */
void tlbs_offer(struct tlbs *x, uint32_t sm, uint64_t cycle);
/* Returns true if tlbs_offer() has been called for the oldest request, which has not left the port since. */
static inline bool tlbs_offered(const struct tlbs *x, uint32_t sm) { return x->sms && x->port[sm].due != UINT64_MAX; }
/* Returns the next cycle in which tlbs_tick() may have work for the SM. */
uint64_t tlbs_next(const struct tlbs *x, uint32_t sm);
/* Works for an SM that offers nothing to the crossbar. TLB_TRANSLATED: the caller offers tlbs_request() there.
 * TLB_MISSED: the request `head` waits in the table, and the caller removes it from the port. */
enum tlb_did tlbs_tick(struct tlbs *x, uint32_t sm, const struct mem_request *head, uint64_t now);
/* Returns the translated request; `head` is the oldest request of the port. */
static inline const struct mem_request *tlbs_request(const struct tlbs *x, uint32_t sm,
                                                     const struct mem_request *head) {
    return x->sms && x->port[sm].offered != TLB_HEAD ? &x->port[sm].miss[x->port[sm].offered].request : head;
}
/* Records that the crossbar took the offered request. Returns true if it was the oldest request of the port, which the
 * caller removes. */
bool tlbs_granted(struct tlbs *x, uint32_t sm, uint64_t now);
/* Records that no translation is outstanding, because the clock may be set back. */
void tlbs_settle(struct tlbs *x);
void tlbs_stats(struct tlbs *x, struct stats *s);
#endif
