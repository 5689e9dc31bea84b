#ifndef TIMING_MEMPORT_H
#define TIMING_MEMPORT_H
/* The port of one SM to the memory side: a ring of requests and a ring of replies. Both sides may run at the same time.
 * Each side receives the other side's actions at memport_exchange(), while neither side runs. Each action is stored
 * with the cycle in which it becomes visible to the other side, so the result does not depend on the time of the
 * exchange. "Room" is the number of requests that still fit into the ring of requests. */
#include "icnt.h"
#include "memsys.h"

/* Replies of the cache of the SM's cluster (gpc.h). The SM learns of these replies later than of replies of the
 * crossbar. So an SM that expects such a reply does not run beyond memport.sure. */
struct memport_near {
    uint64_t taken, replied; /* number of replies that the SM has taken; the SM's copy of `put` */
    uint32_t due;            /* requests without a reply */
    uint32_t mask;
    struct mem_request *reply;
    _Alignas(64) uint64_t put; /* memory side's half: number of replies put in */
};

struct memport {
    /* read by both sides, and written only while neither runs */
    struct mem_request *request, *reply;
    uint64_t *removed_at;      /* cycle at which the memory side removed each request */
    struct memport_near *near; /* NULL if the SM's cluster has no cache */
    uint32_t request_mask;
    uint32_t reply_mask; /* of the part of the ring in use, which stays small so that it stays in the host's caches */
    uint32_t depth;      /* number of entries of the ring that the SM can use */
    uint32_t max_outstanding;
    uint32_t delay;      /* cycles until the SM learns that a request has left */
    uint32_t unit;       /* maximum number of entries that a request occupies: 1, or the flits of the largest packet */
    uint32_t flit_bytes; /* 0 if every request occupies one entry */
    uint8_t fan_shift;   /* log2 of the largest number of replies to one request */
    bool write_acks;     /* writes get replies, too */
    bool split;          /* true if requests are answered by group of sectors */
    uint8_t group_shift; /* log2 of the sectors of a group, l2.request_sectors */
    uint16_t whole;      /* bit mask of the request kinds that get a single reply even if `split` is true */
    /* the SM's half */
    _Alignas(64) uint64_t sent; /* number of requests put in */
    uint64_t freed, taken;      /* requests known to have left; replies taken */
    uint64_t removed, replied;  /* the SM's copies of the memory side's counts */
    uint64_t reply_cycle;       /* cycle of the next known reply; UINT64_MAX if there is none */
    uint64_t sure;              /* cycle before which the SM knows its room exactly; later there may be more room */
    uint32_t outstanding;       /* replies due */
    uint64_t sent_flits, freed_flits, removed_flits; /* `sent`, `freed` and `removed` in flits */
    uint64_t counted;                                /* value of `sent` at the last memsys_crowded() */
    /* the memory side's half, in its own host cache lines: two threads may write requests and replies */
    struct {
        _Alignas(64) uint64_t removed; /* number of requests taken out */
        uint64_t sent;                 /* the memory side's copy of the SM's count `sent` */
        uint64_t pace_cycle;           /* fixed model: cycle of the last accepted request */
        uint32_t pace_n;               /* fixed model: number of requests accepted in pace_cycle */
        _Alignas(64) uint64_t replied; /* number of replies put in */
    } mem;
};

/* memport_far_cycle() returns the cycle of the next reply of the crossbar. memport_near_cycle() returns the cycle of
 * the next reply of the cluster's cache. UINT64_MAX means that no reply is known. */
static inline uint64_t memport_far_cycle(const struct memport *p) {
    return p->taken == p->replied ? UINT64_MAX : p->reply[p->taken & p->reply_mask].cycle;
}
static inline uint64_t memport_near_cycle(const struct memport *p) {
    const struct memport_near *near = p->near;
    return !near || near->taken == near->replied ? UINT64_MAX : near->reply[near->taken & near->mask].cycle;
}
/* Updates reply_cycle after a change of the known replies. */
static inline void memport_look(struct memport *p) {
    p->reply_cycle = memport_far_cycle(p);
    if (__builtin_expect(p->near != NULL, 0) && memport_near_cycle(p) < p->reply_cycle)
        p->reply_cycle = memport_near_cycle(p);
}

/* Returns the number of flits of request number `i`. */
static inline uint32_t memport_flits(const struct memport *p, uint64_t i) {
    const struct mem_request *r = &p->request[i & p->request_mask];
    bool data = r->kind == MEM_WRITE || r->kind == MEM_WRITE_BACK || r->kind == MEM_ATOMIC;
    return (ICNT_HEADER_BYTES + (data ? r->bytes : 0u) + p->flit_bytes - 1) / p->flit_bytes;
}
static inline void memport_count_removed(struct memport *p) {
    for (uint64_t i = p->removed; i != p->mem.removed; i++)
        p->removed_flits += memport_flits(p, i);
}

/* Returns true if the memory side has removed all requests, and the SM has taken all replies, as far as the SM knows.
 * The memory side then has nothing to do for this port, and each half knows the actions of the other half. */
static inline bool memport_idle(const struct memport *p) { return p->sent == p->removed && !p->outstanding; }

/* Enlarges the ring of replies to at least p->outstanding entries. */
void memport_grow(struct memport *p);
/* Makes the actions of each half known to the other half. Neither side may run during the call. `sure` is the value for
 * the field memport.sure. */
static inline void memport_exchange(struct memport *p, uint64_t sure) {
    p->sure = sure;
    if (memport_idle(p))
        return; /* most ports of a large GPU */
    if (p->mem.sent == p->sent && p->mem.removed == p->removed && p->mem.replied == p->replied &&
        (!p->near || p->near->replied == p->near->put))
        return;
    if (__builtin_expect(p->outstanding > p->reply_mask, 0))
        memport_grow(p);
    if (p->flit_bytes)
        memport_count_removed(p);
    p->removed = p->mem.removed;
    p->replied = p->mem.replied;
    if (p->near)
        p->near->replied = p->near->put;
    memport_look(p);
    for (uint64_t i = p->mem.sent; i < p->sent; i += 2) /* the memory side reads them next; a host line has two */
        __builtin_prefetch(&p->request[i & p->request_mask]);
    p->mem.sent = p->sent;
}

/* Initialises rings for `depth` requests and `max_outstanding` replies. Returns false when memory runs out. */
bool memport_init(struct memport *p, uint32_t depth, uint32_t max_outstanding, uint32_t delay);
/* Sends requests of MEM_NEAR_KINDS to the cache of the cluster from now on, with up to `most` requests in flight.
 * Returns false when memory runs out. */
bool memport_add_near(struct memport *p, uint32_t most);
/* Makes `depth` count flits instead of requests. Call it before the first request. No request may write more than
 * `most` bytes. */
void memport_use_flits(struct memport *p, uint32_t flit_bytes, uint32_t most);
void memport_free(struct memport *p);

/* Returns the port of SM `sm`. */
struct memport *memsys_port(struct memsys *m, uint32_t sm);

/* Returns how many requests of the largest size fit into the ring, as far as the SM knows. */
static inline uint32_t memport_places(const struct memport *p) {
    if (__builtin_expect(p->flit_bytes != 0, 0))
        return (p->depth - (uint32_t)(p->sent_flits - p->freed_flits)) / p->unit;
    return p->depth - (uint32_t)(p->sent - p->freed);
}
static inline uint32_t memport_room(struct memport *p, uint64_t now) {
    for (; p->freed != p->removed && p->removed_at[p->freed & p->request_mask] + p->delay <= now; p->freed++)
        if (__builtin_expect(p->flit_bytes != 0, 0))
            p->freed_flits += memport_flits(p, p->freed);
    uint32_t room = memport_places(p), due = (p->max_outstanding - p->outstanding) >> p->fan_shift;
    return room < due ? room : due;
}
/* Tells why memport_room() returned no room. Returns true if the ring lacks room for `n` requests, and false if
 * replies must arrive first. */
static inline bool memport_full(const struct memport *p, uint32_t n) { return memport_places(p) < n; }
/* Returns true if the ring has room for `most` requests, including the room of removed requests that the SM may use
 * only in later cycles (`delay`). */
static inline bool memport_ample(const struct memport *p, uint32_t most) {
    if (__builtin_expect(p->flit_bytes != 0, 0))
        return p->depth - (uint32_t)(p->sent_flits - p->removed_flits) >= most * p->unit;
    return p->depth - (uint32_t)(p->sent - p->removed) >= most;
}
static inline uint64_t memport_room_cycle(const struct memport *p) {
    return p->freed == p->removed ? UINT64_MAX : p->removed_at[p->freed & p->request_mask] + p->delay;
}
/* Returns true if requests of this kind are answered by group of sectors. */
static inline bool memport_splits(const struct memport *p, uint8_t kind) { return p->split && !(p->whole >> kind & 1); }
/* Returns the sectors of `sectors` that one reply brings together with sector `first`. */
static inline uint8_t memport_group(const struct memport *p, uint8_t sectors, unsigned first) {
    const unsigned n = 1u << p->group_shift;
    return (uint8_t)(sectors & ((1u << n) - 1) << (first & ~(n - 1)));
}
/* Returns the number of groups that these sectors are in. */
static inline uint32_t memport_groups(const struct memport *p, uint8_t sectors) {
    uint32_t groups = 0;
    if (__builtin_expect(!p->group_shift, 1))
        return (uint32_t)__builtin_popcount(sectors);
    for (; sectors; groups++)
        sectors &= (uint8_t)~memport_group(p, sectors, (unsigned)__builtin_ctz(sectors));
    return groups;
}
/* Returns the number of replies to `r`. */
static inline uint32_t memport_replies(const struct memport *p, const struct mem_request *r) {
    if (r->kind == MEM_WRITE_BACK || (r->kind == MEM_WRITE && !p->write_acks))
        return 0;
    return memport_splits(p, r->kind) ? memport_groups(p, (uint8_t)r->sectors) : 1;
}
/* Returns the ring entry in which the caller builds the next request. (Copying a request right after its fields were
 * stored would stall the host's pipeline.) memport_send() sends the request. */
static inline struct mem_request *memport_place(struct memport *p) { return &p->request[p->sent & p->request_mask]; }
static inline void memport_send(struct memport *p) {
    p->outstanding += memport_replies(p, memport_place(p));
    if (__builtin_expect(p->near != NULL, 0))
        p->near->due += MEM_NEAR_KINDS >> memport_place(p)->kind & 1;
    if (__builtin_expect(p->flit_bytes != 0, 0))
        p->sent_flits += memport_flits(p, p->sent);
    p->sent++;
}
static inline uint64_t memport_reply_cycle(const struct memport *p) { return p->reply_cycle; }
/* Returns true if a reply of the cluster's cache is due. */
static inline bool memport_near_due(const struct memport *p) { return p->near && p->near->due; }
/* Takes the first reply. If two replies have the same cycle, the reply of the crossbar is first. Requires a known
 * reply. */
static inline struct mem_request memport_receive(struct memport *p) {
    bool near = __builtin_expect(p->near != NULL, 0) && memport_near_cycle(p) < memport_far_cycle(p);
    const struct mem_request r =
        near ? p->near->reply[p->near->taken++ & p->near->mask] : p->reply[p->taken++ & p->reply_mask];
    if (near)
        p->near->due--;
    p->outstanding--;
    memport_look(p);
    return r;
}

/* Functions of the memory side. memport_head() returns the request at the head, or NULL if there is none.
 * memport_remove() removes this request at cycle `now`. memport_reply() and memport_near_reply() add a reply, and
 * return its ring entry, which the caller fills in. */
static inline const struct mem_request *memport_head(const struct memport *p) {
    return p->mem.removed == p->mem.sent ? NULL : &p->request[p->mem.removed & p->request_mask];
}
/* Returns the ring entry after the head. */
static inline const struct mem_request *memport_second(const struct memport *p) {
    return &p->request[(p->mem.removed + 1) & p->request_mask];
}
static inline void memport_remove(struct memport *p, uint64_t now) {
    p->removed_at[p->mem.removed++ & p->request_mask] = now;
}
/* Returns the first cycle >= `now` at which one more request may pass, at `rate` requests per cycle, and counts this
 * request. */
static inline uint64_t memport_pace(struct memport *p, uint64_t now, uint32_t rate) {
    if (now > p->mem.pace_cycle) {
        p->mem.pace_cycle = now;
        p->mem.pace_n = 0;
    } else if (p->mem.pace_n == rate) {
        p->mem.pace_cycle++;
        p->mem.pace_n = 0;
    }
    p->mem.pace_n++;
    return p->mem.pace_cycle;
}
static inline struct mem_request *memport_reply(struct memport *p) {
    return &p->reply[p->mem.replied++ & p->reply_mask];
}
/* Returns the ring entry of the next reply. */
static inline struct mem_request *memport_next_reply(const struct memport *p) {
    return &p->reply[p->mem.replied & p->reply_mask];
}
static inline struct mem_request *memport_near_reply(struct memport *p) {
    return &p->near->reply[p->near->put++ & p->near->mask];
}
#endif
