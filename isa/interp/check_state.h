#ifndef ISA_CHECK_STATE_H
#define ISA_CHECK_STATE_H
/* Internal state of the checker; private to isa/interp/check*.c. */
#include "check.h"
#include "check_clock.h"
#include "isa/decode.h"

enum check_kind {
    CHECK_UNINIT,             /* a read of uninitialised bytes */
    CHECK_RACE,               /* two unordered accesses of different threads to one byte of shared or global memory */
    CHECK_PARTIAL_BARRIER,    /* not all live threads of a warp arrive at an aligned barrier */
    CHECK_DIFFERENT_BARRIERS, /* threads of a warp wait at two different barriers */
    CHECK_BARRIER_COUNT,      /* two arrivals at one barrier give different thread counts */
    CHECK_BARRIER_ZERO,       /* an instruction gives a thread count of 0 */
    CHECK_BARRIER_MIXED,      /* bar.red and another kind of bar instruction use the same barrier */
    CHECK_NOT_MEMBER,         /* a thread is not in its own member mask */
    CHECK_SHUFFLE_SOURCE,     /* a shuffle reads from a lane that does not execute the shuffle */
    CHECK_NULL_FORMAT,        /* vprintf with a null format */
    CHECK_HEAP_BOUNDS,        /* an access outside all blocks of malloc() */
    CHECK_HEAP_FREED,         /* an access to a block after free() */
    CHECK_COPY,               /* an access to the destination of an unfinished cp.async copy */
    CHECK_REGISTER,           /* an access to a register of an unfinished wgmma, tcgen05.ld or tcgen05.st */
    CHECK_GROUP_FENCE,        /* wgmma of a register that has changed since the last wgmma.fence */
    CHECK_CELLS,              /* tensor memory of an unfinished tcgen05.mma */
    CHECK_PROXY,              /* an asynchronous read of shared memory that threads have written, without a fence */
    CHECK_SAME_VALUE,         /* a note, not an error: two stores of the same value that would otherwise be a race */
};

enum { MAX_FINDINGS = 64, NO_PC = UINT32_MAX };

/* One finding: all occurrences with equal kind, pc and other_pc. The other fields describe the first occurrence. */
struct finding {
    enum check_kind kind;
    uint32_t pc, other_pc; /* NO_PC: none */
    uint64_t count;
    struct dim3 cta, other_cta;
    uint32_t thread, other_thread; /* number of the thread in the CTA: 32 * warp + lane */
    enum space space;
    uint64_t address;
    uint32_t bytes;
    bool is_write, other_is_write; /* the access is a write or an atomic */
    bool lost_update;              /* race: several lanes that have read the value write it in one
                                               * instruction */
    bool same_instruction;         /* race: lanes of one instruction store different values */
    /* for barriers: arrived lanes and live lanes; for member masks: the mask and the live lanes */
    rowmask_t lanes, live;
    uint32_t barrier, threads, other_threads; /* barrier number; the two thread counts, of which 0 means no count */
    char where[320];                          /* description of the address; "" for none */
};

/* A recorded access to a granule (struct granule). */
struct access {
    uint32_t time;        /* time of the thread's warp, from 1; 0 means that there is no access */
    uint32_t cta;         /* serial number of the CTA: check_cta.serial */
    uint32_t pc : 20;     /* PC of the access; LAST_PC stands for this and all later PCs */
    uint32_t thread : 10; /* thread in the CTA */
    uint32_t strong : 2;  /* enum strength */
};
enum { LAST_PC = (1 << 20) - 1 };
/* Strength of an access: atomic, volatile and similar accesses are strong. Two strong accesses do not race if both
 * scopes contain both threads. */
enum strength { WEAK, STRONG_CTA, STRONG_GPU };

/* The access history of a granule: 4 bytes, or 1 byte where accesses are smaller. It keeps the last weak write and the
 * last strong write after that weak write, because weak and strong writes race with different accesses. Of the readers
 * since the last write, it keeps the latest reader, one unordered earlier reader on another path of the same warp, and
 * one reader of another warp or CTA. A later writer that races with any reader also races with one of these three, if
 * all barriers are for the whole CTA and a warp has at most two paths. */
struct granule {
    struct access write, strong_write, read, read_lane, read_far;
    uint32_t value; /* value that the weak write stored */
};

/* Access histories of PAGE_BYTES bytes of memory; allocated at the first access. */
enum { PAGE_BYTES = 1024 };
/* Limit of the memory for all pages, in bytes. A page of words takes 16 times the memory it describes, a page of
 * bytes 64 times. */
#define SHADOW_LIMIT (4ull << 30)
struct shadow_page {
    unsigned shift; /* a granule has 1 << shift bytes */
    struct granule g[];
};
/* The pages of an allocation or of a CTA's shared memory. The array and its entries are NULL until first needed. */
struct shadow {
    struct shadow_page **page;
    uint64_t bytes;
};

/* State of an allocation: its initialised bytes and its access histories. */
struct device_shadow {
    unsigned char *written; /* one bit per byte, set if the byte has been written; NULL: no byte has been written */
    bool all;               /* all bytes are initialised */
    bool known;             /* the state has been set up, which happens at the first access */
    bool live;              /* scratch variable: true if the allocation still exists */
    struct shadow touched;
};

/* A block of malloc() in kernels. The entry remains after free() until malloc() reuses the memory. */
struct heap_record {
    uint64_t begin, bytes;
    bool live;
    uint32_t free_pc, free_thread;
};

/* A synchronisation object: a flag, lock, counter or mbarrier. */
struct sync_place {
    uint64_t address;       /* the key of the hash table: address + 1; 0: free slot */
    struct clock *released; /* events that precede a read of this object with GPU scope */
    /* events that precede a read by CTA `local_cta` with CTA scope; NULL: equal to `released` */
    struct clock *local;
    uint32_t local_cta;
    /* mbarrier: events before the arrivals of the current phase; `released` has the events of earlier phases */
    struct clock *arrived;
    uint64_t word; /* mbarrier: its value after the last operation */
};
struct sync_places {
    struct sync_place *slot; /* hash table; NULL while empty */
    uint32_t n, size;        /* number of entries; number of slots, a power of two */
};

struct checker {
    struct device_shadow *shadow; /* indexed by allocation.serial */
    uint32_t n_shadow;
    uint32_t hint;             /* index of the allocation found last; see mem_find() */
    uint64_t heap;             /* address of the heap of malloc(), 0 while unknown */
    struct heap_record *block; /* sorted by address */
    uint32_t n_blocks, cap_blocks;
    bool out_of_memory; /* some events were missed */
    struct finding finding[MAX_FINDINGS];
    int n_findings;
    uint64_t count, more; /* number of errors; number of occurrences that are not in finding[] */
    /* races */
    uint32_t base;             /* serial number of the launch's first CTA; lower numbers belong to earlier launches */
    uint64_t n_ctas;           /* number of CTAs of the current launch */
    uint64_t shadow_bytes;     /* total size of all pages in bytes */
    uint64_t unfollowed;       /* bytes of memory that have no page because of the limit */
    struct clocks clocks;      /* clocks over the warps of the launch; check_order.c defines the entries */
    struct sync_places places; /* synchronisation objects in device memory, and barriers of clusters */
    struct check_cta *ctas;    /* all records of CTAs, linked by `next` */
};

/* Times of the warps of a CTA. Each warp has two: the time of its weak accesses and the time of its strong accesses.
 * A clock released by a strong write includes strong accesses up to that write. */
enum { CHECK_WARPS = MAX_CTA_THREADS / WARP_LANES, N_TIMES = 2 * CHECK_WARPS };

/* The events that precede a point in the execution. */
struct knowledge {
    uint32_t seen[N_TIMES];       /* for each warp of the CTA: its events up to this time precede the point */
    uint32_t fenced[N_TIMES];     /* as `seen`, but only the events that a fence of GPU scope covers */
    uint32_t fenced_cta[N_TIMES]; /* as `seen`, but only the events that a fence of any scope covers */
    struct clock *foreign;        /* events of other CTAs */
    struct clock *foreign_fenced;
};

/* The order of a warp's threads relative to other threads. Time counts the warp's instructions that the checker
 * sees, from 1 in each CTA. */
struct warp_order {
    uint32_t now;
    uint32_t all;    /* time when all lanes last executed an instruction together */
    uint32_t synced; /* time when lanes of the warp last waited for each other, at a barrier or by
                                           * a mask */
    /* time up to which the warp's own strong accesses precede its current instruction, through a lock or flag */
    uint32_t strong_known;
    rowmask_t path;                       /* lanes of the current path */
    bool diverged;                        /* the warp has diverged, so `row` is valid */
    uint32_t row[WARP_LANES][WARP_LANES]; /* [i][j]: time up to which lane j precedes lane i */
    /* the common row of the lanes of `path`; stored in `row` when lanes leave the path */
    uint32_t path_row[WARP_LANES];
    struct knowledge know;
    /* events acquired by strong reads; they precede the warp's instructions after the next fence */
    struct clock *pending;
    struct clock *released;     /* events that a strong write at time `released_at` releases; NULL: none */
    struct clock *released_cta; /* events that a strong write at time `released_cta_at` releases inside the CTA */
    uint32_t released_at, released_cta_at;
};

/* The first arrival at the current phase of a barrier. */
struct barrier_use {
    uint32_t pc, thread;
    uint32_t threads; /* thread count of the instruction; 0: no count */
    bool active, reduces;
};

/* Lanes of a warp that arrived at an aligned barrier without the warp's remaining lanes. It is an error if the
 * remaining lanes have not arrived when the barrier completes or the CTA ends, since a model may run the paths of a
 * warp one after another. */
struct partial {
    uint32_t pc;
    rowmask_t lanes, live; /* lanes that arrived; lanes that were live at that time (0: no such arrival) */
};

/* A part of shared memory that an unfinished bulk copy fills (if `fills` is set) or reads. */
struct check_bulk {
    uint64_t from, to; /* [from, to) */
    uint32_t thread, pc;
    uint32_t signal; /* fills: the mbarrier */
    /* for a part that is read: number of groups that the thread has closed since, including the group of the copy */
    uint32_t since;
    bool fills;
};

struct check_cta {
    struct checker *checker;
    struct check_cta *next;
    const struct cta *cta;
    uint32_t serial;
    bool foreign; /* another CTA of the cluster has written to the shared memory, which is no longer checked */
    struct shadow shared;
    struct sync_places places;                /* synchronisation objects in shared memory */
    uint64_t malloc_bytes[WARP_LANES];        /* for each lane: argument of the malloc() that the warp executes */
    struct knowledge arrived[N_CTA_BARRIERS]; /* for each barrier: events that precede its bar.arrive instructions */
    struct barrier_use use[N_CTA_BARRIERS];
    struct partial partial[N_CTA_BARRIERS][CHECK_WARPS];
    struct check_copy *copies; /* unfinished copies: check_copy.c */
    uint32_t n_copies, cap_copies;
    struct check_bulk *bulks; /* unfinished bulk copies: check_bulk.c */
    struct bulk_job *jobs;    /* the jobs of the bulk instruction that is executing */
    uint32_t n_bulks, n_jobs;
    struct bulk_sink sink;
    struct check_tensor *tensor; /* check_tensor.c; NULL until the first event */
    struct warp_order warp[];
};

/* The current instruction. */
struct now {
    struct check_cta *c;
    const struct warp *w;
    const struct inst *in;
    struct warp_order *order;
    uint32_t pc;
    unsigned bytes; /* bytes accessed per lane */
    uint8_t strong; /* enum strength */
    uint8_t words;  /* ORDER_ bits */
    bool reads, writes;
};

/* check_finding.c: counts a finding. Returns the finding, with kind, PCs, CTA and count set, if this is its first
 * occurrence; else NULL. */
struct finding *check_count(struct check_cta *c, enum check_kind kind, uint32_t pc, uint32_t other_pc);
static inline uint32_t check_thread(const struct warp *w, int lane) { return w->index * WARP_LANES + (uint32_t)lane; }
static inline uint32_t check_pc(const struct warp *w, const struct inst *in) {
    return (uint32_t)(in - w->program->code);
}
static inline uint16_t check_opcode(const struct inst *in) {
    uint32_t n;
    return isa_rows(&n)[in->row].op;
}

/* check_order.c: records which events happened before which. order_start() prepares the records of a CTA, and
 * order_end() frees them. */
void order_start(struct check_cta *c);
void order_end(struct check_cta *c);
/* Records that `lanes` execute an instruction; advances the warp's time. */
void order_path(struct check_cta *c, const struct warp *w, rowmask_t lanes);
/* Records that `lanes` have waited for each other. */
void order_join_lanes(struct warp_order *o, rowmask_t lanes, rowmask_t launched);
/* Returns true if access `a`, of another path of the warp or of another CTA, happened before lane `lane` of the current
 * instruction. */
bool order_is_before_slow(const struct now *n, const struct access *a, int lane);
/* Works like order_is_before_slow(), but accepts any access. */
static inline bool order_is_before(const struct now *n, const struct access *a, int lane) {
    unsigned warp = a->thread / WARP_LANES;
    if (a->cta != n->c->serial)
        return a->cta < n->c->checker->base || order_is_before_slow(n, a, lane);
    if (warp != n->w->index)
        return a->time <= n->order->know.seen[2 * warp + (a->strong != WEAK)];
    return n->order->path >> a->thread % WARP_LANES & 1 || order_is_before_slow(n, a, lane);
}
void order_fence(const struct now *n);
/* Records that a barrier is complete. Call it before cta_barrier_reset(). */
void order_release(struct check_cta *c, uint32_t barrier);
/* Makes the events of clock `c` precede the current path; with `cta_scope`, only the events of this CTA. */
void order_acquire(const struct now *n, struct clock *c, bool cta_scope);
/* Each function returns a new clock, which the caller owns. In this order, the clocks have: all events before now; the
 * events that a strong write releases to all threads; the events that a strong write releases inside the CTA. */
struct clock *order_everything(const struct now *n);
struct clock *order_released(const struct now *n);
struct clock *order_released_cta(const struct now *n);
/* Adds the events of warp `i`, and all events that precede it, to `to`. */
void knowledge_add_warp(struct check_cta *c, struct knowledge *to, uint32_t i);

/* check_sync.c: records how strong accesses to one address, and operations on mbarriers, order threads. */
void sync_accesses(const struct now *n, struct sync_places *p, rowmask_t lanes, const struct effects *fx);
/* `of`: the CTA whose shared memory holds the objects; `at`: their offsets there, by lane. */
void sync_mbarrier(const struct now *n, struct check_cta *of, rowmask_t lanes, const uint64_t *at);
/* Records that lanes arrive at the barrier of their cluster. */
void sync_cluster_arrive(const struct now *n);
/* Makes the events before all arrivals at the barrier of the cluster precede the current path. */
void sync_cluster_wait(const struct now *n);
void sync_forget(struct sync_places *p);

/* check_race.c: checks accesses of `lanes` at fx->addr, in memory that begins at `begin` and has the histories `s`. In
 * shared memory, reads of bytes that this CTA has not written are reported too. */
void race_accesses(const struct now *n, struct shadow *s, uint64_t begin, rowmask_t lanes, const struct effects *fx,
                   enum space space);

/* check_shadow.c: returns the granules of [offset, offset + bytes), all in one page, and their size 1 << *shift; NULL
 * if there is no page. */
struct granule *shadow_at(struct checker *k, struct shadow *s, uint64_t offset, unsigned bytes, unsigned msize,
                          unsigned *shift);
/* Clears the histories of a range. */
void shadow_clear(struct shadow *s, uint64_t offset, uint64_t bytes);
void shadow_free(struct checker *k, struct shadow *s);

/* check_copy.c: checks of cp.async. copies_issue() records an issued copy. copies_commit() records that `lanes` commit
 * a group. copies_wait() records that `lanes` wait until at most `groups` groups are unfinished (-1: until all copies
 * are finished). copies_check() checks an access to shared memory against unfinished copies. */
void copies_issue(const struct now *n, const struct effects *fx);
void copies_commit(struct check_cta *c, const struct warp *w, rowmask_t lanes);
void copies_wait(const struct now *n, rowmask_t lanes, int64_t groups);
void copies_check(const struct now *n, rowmask_t lanes, const struct effects *fx);
void copies_forget(struct check_cta *c);
void copies_free(struct check_cta *c);

/* check_bulk.c: the bulk copies that no thread has waited for. bulk_remember() adds a copy. bulk_commit() records that
 * `lanes` commit a group. bulk_wait() records that `lanes` wait until at most `groups` groups are unfinished.
 * bulk_phase_ended() records that a thread has seen the end of a phase of an mbarrier. bulk_check() checks an access to
 * shared memory against unfinished copies. */
void bulk_remember(struct check_cta *c, const struct check_bulk *b);
void bulk_commit(struct check_cta *c, const struct warp *w, rowmask_t lanes);
void bulk_wait(const struct now *n, rowmask_t lanes, int64_t groups);
void bulk_phase_ended(struct check_cta *c, uint64_t mbarrier);
void bulk_check(const struct now *n, rowmask_t lanes, const struct effects *fx);

/* check_bulk_job.c: checks of instructions for bulk copies. bulk_sink_of() returns the sink for the CTA's copies.
 * bulk_after() checks the copies of an instruction that the lanes of a path have executed. */
struct bulk_sink *bulk_sink_of(struct check_cta *c);
void bulk_after(const struct now *n, rowmask_t path);
void bulk_forget(struct check_cta *c);
void bulk_free(struct check_cta *c);

/* check_tensor.c: registers of asynchronous matrix instructions, and tensor memory. tensor_before() handles every
 * instruction that is not K_LANE; check.h has tensor_block() for K_LANE. tensor_after() handles wgmma and tcgen05, and
 * tensor_wait_group() handles wgmma.wait_group. tensor_commit() handles a tcgen05.commit; `at` has the mbarrier of each
 * lane. tensor_phase_ended() records that a thread has seen the end of a phase. */
void tensor_before(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);
void tensor_after(const struct now *n, const struct effects *fx);
void tensor_wait_group(struct check_cta *c, const struct warp *w, const struct inst *in);
void tensor_commit(const struct now *n, rowmask_t lanes, const uint64_t *at);
void tensor_phase_ended(struct check_cta *c, uint64_t mbarrier);
void tensor_forget(struct check_cta *c);
/* proxy_write() records writes of threads to shared memory, proxy_fence() a fence.proxy.async of `lanes`, and
 * proxy_access() an access of an asynchronous instruction to [address, address + bytes) of shared memory. */
void proxy_write(const struct now *n, rowmask_t lanes, const struct effects *fx);
void proxy_fence(const struct now *n, rowmask_t lanes);
void proxy_access(const struct now *n, int lane, uint64_t address, uint64_t bytes, bool write);

/* check_warp.c: checks the format of vprintf. Call it before the instruction executes. */
void check_format(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);

/* check_device.c: checks accesses to device memory and to blocks of its heap. */
void check_device(const struct now *n, rowmask_t lanes, const struct effects *fx);
/* Updates memory shared with the host: all bytes that the host has accessed since the last launch count as written. */
void check_shared_memory(struct checker *k, const struct memory *m);
/* Marks the whole allocation that contains `address` as written. */
void check_all_written(struct check_cta *c, const struct warp *w, uint64_t address);
void check_malloc(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);
void check_heap_free(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);
#endif
