#ifndef TIMING_MEMPORT_H
#define TIMING_MEMPORT_H
/* One SM's door to the memory side: a ring of requests and a ring of replies. The two sides may run at the same time:
 * what one has done the other learns at memport_exchange(), between windows. What it learns then carries the cycle at
 * which it may know, so the result does not depend on when that is. */
#include "icnt.h"
#include "memsys.h"

/* Replies of the cache of the SM's cluster (gpc.h). They are not known as long before their cycle as the crossbar's:
 * an SM for which some are due does not go beyond memport.sure. */
struct memport_near {
    uint64_t taken, replied; /* replies taken out; what the SM knows of `put` */
    uint32_t due;            /* requests without a reply */
    uint32_t mask;
    struct mem_request *reply;
    _Alignas(64) uint64_t put; /* the memory side's half: replies put in */
};

struct memport {
    /* the SM's half */
    uint64_t sent, freed, taken; /* requests put in; known to be gone; replies taken out */
    uint64_t removed, replied;   /* what it knows of the other half */
    uint64_t reply_cycle;        /* of the next reply that it knows of; UINT64_MAX: none */
    uint64_t sure;               /* cycle before which it knows all room there is; later there may be more */
    uint32_t unit;               /* most places that a request takes: 1, or flits of the largest packet */
    uint32_t flit_bytes;         /* 0: a request takes a place, whatever its size */
    uint64_t sent_flits, freed_flits, removed_flits; /* likewise, in flits */
    uint32_t outstanding;                            /* replies due */
    uint32_t depth;                                  /* requests the ring may hold, as the SM sees it */
    uint32_t max_outstanding;
    uint32_t delay; /* cycles until the SM learns that a request is gone */
    uint32_t request_mask, reply_mask;
    bool write_acks;    /* writes are answered, too */
    bool split;         /* requests are answered sector by sector, */
    uint16_t whole;     /* but for these kinds, a bit each, which have one reply */
    uint32_t fan_shift; /* log2 of the most replies to one request */
    struct mem_request *request, *reply;
    uint64_t *removed_at;      /* cycle, by request */
    struct memport_near *near; /* NULL: the SM's cluster has no cache */
    /* the memory side's half, in a cache line of its own */
    struct {
        _Alignas(64) uint64_t removed, replied; /* requests taken out, replies put in */
        uint64_t sent;                          /* what it knows of the SM's half */
        uint64_t pace_cycle;                    /* fixed model: cycle of the last request that was let through, */
        uint32_t pace_n;                        /* and how many were in that cycle */
    } mem;
};

/* Cycle of the next reply of the crossbar, and of the cache of the cluster; UINT64_MAX: none is known. */
static inline uint64_t memport_far_cycle(const struct memport *p) {
    return p->taken == p->replied ? UINT64_MAX : p->reply[p->taken & p->reply_mask].cycle;
}
static inline uint64_t memport_near_cycle(const struct memport *p) {
    const struct memport_near *near = p->near;
    return !near || near->taken == near->replied ? UINT64_MAX : near->reply[near->taken & near->mask].cycle;
}
/* Looks at the next reply. */
static inline void memport_look(struct memport *p) {
    p->reply_cycle = memport_far_cycle(p);
    if (__builtin_expect(p->near != NULL, 0) && memport_near_cycle(p) < p->reply_cycle)
        p->reply_cycle = memport_near_cycle(p);
}

/* Flits of the request that was sent as number `i`. */
static inline uint32_t memport_flits(const struct memport *p, uint64_t i) {
    const struct mem_request *r = &p->request[i & p->request_mask];
    bool data = r->kind == MEM_WRITE || r->kind == MEM_WRITE_BACK || r->kind == MEM_ATOMIC;
    return (ICNT_HEADER_BYTES + (data ? r->bytes : 0u) + p->flit_bytes - 1) / p->flit_bytes;
}
static inline void memport_count_removed(struct memport *p) {
    for (uint64_t i = p->removed; i != p->mem.removed; i++)
        p->removed_flits += memport_flits(p, i);
}

/* What each half has done becomes known to the other. Neither side may be running. `sure`: see above. */
static inline void memport_exchange(struct memport *p, uint64_t sure) {
    p->sure = sure;
    if (p->flit_bytes)
        memport_count_removed(p);
    p->removed = p->mem.removed;
    p->replied = p->mem.replied;
    if (p->near)
        p->near->replied = p->near->put;
    memport_look(p);
    p->mem.sent = p->sent;
}

/* Rings for `depth` requests and `max_outstanding` replies. False when memory is out. */
bool memport_init(struct memport *p, uint32_t depth, uint32_t max_outstanding, uint32_t delay);
/* Requests of MEM_NEAR_KINDS go to the cache of the cluster, up to `most` at a time. False when memory is out. */
bool memport_add_near(struct memport *p, uint32_t most);
/* Before the first request: the depth is in flits. No request writes more than `most` bytes. */
void memport_use_flits(struct memport *p, uint32_t flit_bytes, uint32_t most);
void memport_free(struct memport *p);

/* The door of SM `sm`. */
struct memport *memsys_port(struct memsys *m, uint32_t sm);

/* Requests of the largest size for which the ring has places, as far as the SM has asked. */
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
/* memport_room() has just said that there is not room for `n`: is it the ring that has none? Else replies have to come
 * first. */
static inline bool memport_full(const struct memport *p, uint32_t n) { return memport_places(p) < n; }
/* From `sure` on: room for `most` requests by what is known, so that it does not matter what is not? */
static inline bool memport_ample(const struct memport *p, uint32_t most) {
    if (__builtin_expect(p->flit_bytes != 0, 0))
        return p->depth - (uint32_t)(p->sent_flits - p->removed_flits) >= most * p->unit;
    return p->depth - (uint32_t)(p->sent - p->removed) >= most;
}
static inline uint64_t memport_room_cycle(const struct memport *p) {
    return p->freed == p->removed ? UINT64_MAX : p->removed_at[p->freed & p->request_mask] + p->delay;
}
/* Is a request of this kind answered sector by sector? */
static inline bool memport_splits(const struct memport *p, uint8_t kind) { return p->split && !(p->whole >> kind & 1); }
/* Replies that `r` will have. */
static inline uint32_t memport_replies(const struct memport *p, const struct mem_request *r) {
    if (r->kind == MEM_WRITE_BACK || (r->kind == MEM_WRITE && !p->write_acks))
        return 0;
    return memport_splits(p, r->kind) ? (uint32_t)__builtin_popcount(r->sectors) : 1;
}
/* A request is put together where it is kept, for a copy would wait for its fields: it leaves with memport_send(). */
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
/* Does the cache of the cluster owe a reply? */
static inline bool memport_near_due(const struct memport *p) { return p->near && p->near->due; }
/* Takes the first reply, the crossbar's when there are two of one cycle; requires that there is one. */
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

/* The memory side: the request at the head, NULL when there is none; taking it at cycle `now`; a reply. */
static inline const struct mem_request *memport_head(const struct memport *p) {
    return p->mem.removed == p->mem.sent ? NULL : &p->request[p->mem.removed & p->request_mask];
}
static inline void memport_remove(struct memport *p, uint64_t now) {
    p->removed_at[p->mem.removed++ & p->request_mask] = now;
}
/* First cycle >= `now` at which one more request passes, when `rate` may each cycle. */
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
static inline struct mem_request *memport_near_reply(struct memport *p) {
    return &p->near->reply[p->near->put++ & p->near->mask];
}
#endif
