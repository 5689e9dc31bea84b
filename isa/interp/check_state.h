#ifndef ISA_CHECK_STATE_H
#define ISA_CHECK_STATE_H
/* Inside of the checker; only isa/interp/check*.c looks in here. */
#include "check.h"
#include "check_clock.h"
#include "isa/decode.h"

enum check_kind {
    CHECK_UNINIT,             /* a read of bytes that nobody wrote */
    CHECK_RACE,               /* two threads, one byte of shared or global memory, nothing that orders them */
    CHECK_PARTIAL_BARRIER,    /* not all live threads of a warp come to an aligned barrier */
    CHECK_DIFFERENT_BARRIERS, /* threads of a warp wait at two of them */
    CHECK_BARRIER_COUNT,      /* two arrivals at one barrier name different numbers of threads */
    CHECK_BARRIER_ZERO,       /* a number of threads is given, and it is 0 */
    CHECK_BARRIER_MIXED,      /* bar.red and another form at one barrier */
    CHECK_NOT_MEMBER,         /* a thread that its own member mask does not name */
    CHECK_SHUFFLE_SOURCE,     /* a shuffle reads a lane that does not execute it */
    CHECK_NULL_FORMAT,        /* vprintf without a format */
    CHECK_HEAP_BOUNDS,        /* outside of every block of malloc() */
    CHECK_HEAP_FREED,         /* in a block that free() took back */
    CHECK_COPY,               /* an access to where a copy by cp.async is under way */
    CHECK_SAME_VALUE,         /* a note and no mistake: two stores of one value, otherwise a race */
};

enum { MAX_FINDINGS = 64, NO_PC = UINT32_MAX };

/* Equal kind, pc and other_pc: one finding. The rest is of its first occurrence. */
struct finding {
    enum check_kind kind;
    uint32_t pc, other_pc; /* NO_PC: there is no other */
    uint64_t count;
    struct dim3 cta, other_cta;
    uint32_t thread, other_thread; /* in the CTA: 32 * warp + lane */
    enum space space;
    uint64_t address;
    uint32_t bytes;
    bool is_write, other_is_write;            /* the accesses; atomics write */
    bool lost_update;                         /* race: lanes that have read it write it in one instruction */
    bool same_instruction;                    /* race: lanes of one instruction that store different values */
    lanemask_t lanes, live;                   /* barriers; member masks: those named, and the one that is meant */
    uint32_t barrier, threads, other_threads; /* numbers of threads given; 0: none */
    char where[320];                          /* the address, in words; "" when there is nothing to say */
};

/* One access to a granule. */
struct access {
    uint32_t time;        /* of the thread's warp, from 1; 0: none */
    uint32_t cta;         /* its number in the checker's life: check_cta.serial */
    uint32_t pc : 20;     /* LAST_PC: that or a later one */
    uint32_t thread : 10; /* in the CTA */
    uint32_t strong : 2;  /* enum strength */
};
enum { LAST_PC = (1 << 20) - 1 };
/* Atomic, volatile and the like: no race with each other, where the scope of both has both threads. */
enum strength { WEAK, STRONG_CTA, STRONG_GPU };

/* A piece of memory: 4 bytes, or 1 where it is touched in smaller pieces. The last weak write and the last strong one
 * since then are kept, which do not race with the same accesses. Of the readers since the last write the
 * latest is kept, the one before it that is not ordered with it on another path of its warp, and likewise of another
 * warp or CTA: whoever writes next, a reader that conflicts with it is among these as long as all barriers are the
 * whole CTA's and a warp has two paths. */
struct granule {
    struct access write, strong_write, read, read_lane, read_far;
    uint32_t value; /* what the weak write left */
};

/* What is known of PAGE_BYTES bytes of memory; made when they are first touched. */
enum { PAGE_BYTES = 1024 };
/* All pages together. A page of words takes 16 times what it stands for, a page of bytes 64 times. */
#define SHADOW_LIMIT (4ull << 30)
struct shadow_page {
    unsigned shift; /* a granule is 1 << shift bytes */
    struct granule g[];
};
/* Pages of an allocation or of a CTA's shared memory: NULL until the first is needed; entries likewise. */
struct shadow {
    struct shadow_page **page;
    uint64_t bytes;
};

/* Which bytes of an allocation have been written, and who touched them. */
struct device_shadow {
    unsigned char *written; /* a bit a byte; NULL: none */
    bool all;               /* every byte */
    bool known;             /* false until it is first looked at */
    bool live;              /* while memory that is gone is looked for */
    struct shadow touched;
};

/* A block of malloc() in kernels; kept after free() until its place is used again. */
struct heap_record {
    uint64_t begin, bytes;
    bool live;
    uint32_t free_pc, free_thread;
};

/* A place at which threads have been ordered: a flag, a lock, a counter, an mbarrier. */
struct sync_place {
    uint64_t address;       /* 0: none here */
    struct clock *released; /* what came before, for those who read here with fences of the GPU's scope */
    struct clock *local;    /* and for those of CTA `local_cta`, of the CTA's scope; NULL: the same */
    uint32_t local_cta;
    struct clock *arrived; /* mbarrier: at the phase under way; at those before: `released` */
    uint64_t word;         /* mbarrier: the object after the last operation */
};
struct sync_places {
    struct sync_place *slot; /* a hash table; NULL while it is empty */
    uint32_t n, size;        /* a power of two */
};

struct checker {
    struct device_shadow *shadow; /* by allocation.serial */
    uint32_t n_shadow;
    uint32_t hint;             /* see mem_find */
    uint64_t heap;             /* address of the heap of malloc(), 0 while none is known */
    struct heap_record *block; /* by address */
    uint32_t n_blocks, cap_blocks;
    bool out_of_memory; /* something could not be followed */
    struct finding finding[MAX_FINDINGS];
    int n_findings;
    uint64_t count, more; /* mistakes; occurrences without a place in finding[] */
    /* races */
    uint32_t base;             /* serial of the launch's first CTA; what is below is of earlier launches */
    uint64_t n_ctas;           /* of the launch under way */
    uint64_t shadow_bytes;     /* in pages */
    uint64_t unfollowed;       /* bytes of memory without a page: the limit was reached */
    struct clocks clocks;      /* over the warps of the launch: check_order.c says what an entry is */
    struct sync_places places; /* in device memory */
};

/* Times of the warps of a CTA, two each: of plain accesses, and of strong ones, which a clock that is told by a strong
 * write includes up to that write itself. */
enum { N_TIMES = 2 * MAX_CTA_WARPS };

/* What came before something. */
struct knowledge {
    uint32_t seen[N_TIMES];       /* what the CTA's warps did up to this time of theirs */
    uint32_t fenced[N_TIMES];     /* of that, what a fence of the GPU's scope has covered */
    uint32_t fenced_cta[N_TIMES]; /* likewise, a fence of any scope */
    struct clock *foreign;        /* what other CTAs did */
    struct clock *foreign_fenced;
};

/* What orders the threads of a warp with others. Time counts the warp's instructions that the checker saw, from 1 in
 * each CTA. */
struct warp_order {
    uint32_t now;
    uint32_t all;                         /* when all lanes last executed one instruction together */
    uint32_t synced;                      /* when lanes of it last waited for each other, at a barrier or by a mask */
    uint32_t strong_known;                /* own strong accesses up to then came before, by a lock or flag */
    lanemask_t path;                      /* lanes that execute now */
    bool apart;                           /* `row` is in use: the warp has diverged */
    uint32_t row[WARP_LANES][WARP_LANES]; /* [i][j]: what lane j did up to then came before what i does */
    uint32_t path_row[WARP_LANES];        /* the same for the lanes of `path`; `row` is theirs when they leave it */
    struct knowledge know;
    struct clock *pending;         /* from strong reads: known after the next fence */
    struct clock *told, *told_cta; /* what a strong write at time `told_at` tells; NULL: not made yet, or nothing */
    uint32_t told_at, told_cta_at;
};

/* The first arrival at a barrier. */
struct barrier_use {
    uint32_t pc, thread;
    uint32_t threads; /* that were named; 0: none */
    bool active, reduces;
};

/* Lanes of a warp that have come to an aligned barrier without the others. It is a mistake if those have not come when
 * it opens, or when the block ends: a model may run the lanes of a warp one path after another. */
struct partial {
    uint32_t pc;
    lanemask_t lanes, live; /* who came; who lived then. 0: nobody came so */
};

struct check_cta {
    struct checker *checker;
    const struct cta *cta;
    uint32_t serial;
    struct shadow shared;
    struct sync_places places;                /* in shared memory */
    uint64_t malloc_bytes[WARP_LANES];        /* arguments of the malloc() that executes */
    struct knowledge arrived[N_CTA_BARRIERS]; /* what bar.arrive brings to the barrier */
    struct barrier_use use[N_CTA_BARRIERS];
    struct partial partial[N_CTA_BARRIERS][MAX_CTA_WARPS];
    struct check_copy *copies; /* under way: check_copy.c */
    uint32_t n_copies, cap_copies;
    struct warp_order warp[];
};

/* The instruction under way, for the parts that look at its lanes. */
struct now {
    struct check_cta *c;
    const struct warp *w;
    const struct inst *in;
    struct warp_order *order;
    uint32_t pc;
    unsigned bytes; /* of a lane's access */
    uint8_t strong; /* enum strength */
    uint8_t words;  /* ORDER_ bits */
    bool reads, writes;
};

/* The finding of this kind and these places, counted once more; NULL when it is not its first occurrence. Kind, places,
 * CTA and count are set. */
struct finding *check_found(struct check_cta *c, enum check_kind kind, uint32_t pc, uint32_t other_pc);
static inline uint32_t check_thread(const struct warp *w, int lane) { return w->index * WARP_LANES + (uint32_t)lane; }
static inline uint32_t check_pc(const struct warp *w, const struct inst *in) {
    return (uint32_t)(in - w->program->code);
}
static inline uint16_t check_opcode(const struct inst *in) {
    uint32_t n;
    return isa_rows(&n)[in->row].op;
}

/* check_order.c: who came before whom. */
void order_start(struct check_cta *c);
void order_end(struct check_cta *c);
/* `lanes` execute one instruction at the next time. */
void order_path(struct check_cta *c, const struct warp *w, lanemask_t lanes);
/* `lanes` have waited for each other. */
void order_meet(struct warp_order *o, lanemask_t lanes, lanemask_t launched);
/* Did the access, of another path of the warp or of another CTA, come before what lane `lane` does now? */
bool order_is_before_slow(const struct now *n, const struct access *a, int lane);
/* Likewise, any access. */
static inline bool order_is_before(const struct now *n, const struct access *a, int lane) {
    unsigned warp = a->thread / WARP_LANES;
    if (a->cta != n->c->serial)
        return a->cta < n->c->checker->base || order_is_before_slow(n, a, lane);
    if (warp != n->w->index)
        return a->time <= n->order->know.seen[2 * warp + (a->strong != WEAK)];
    return n->order->path >> a->thread % WARP_LANES & 1 || order_is_before_slow(n, a, lane);
}
void order_fence(const struct now *n);
/* A barrier is complete and is about to be reset. */
void order_release(struct check_cta *c, uint32_t barrier);
/* What `c` knows came before what the path does from now on; of the scope of the CTA: what it knows of this CTA. */
void order_acquire(const struct now *n, struct clock *c, bool cta_scope);
/* New clocks, owned by the caller: everything before now; what a strong write tells (the second: inside of the CTA). */
struct clock *order_everything(const struct now *n);
struct clock *order_told(const struct now *n);
struct clock *order_told_cta(const struct now *n);
/* All that warp `i` knows and has done. */
void knowledge_add_warp(struct check_cta *c, struct knowledge *to, uint32_t i);

/* check_sync.c: strong accesses to one address after another. */
void sync_accesses(const struct now *n, struct sync_places *p, lanemask_t lanes, const struct effects *fx);
void sync_mbarrier(const struct now *n, lanemask_t lanes, const struct effects *fx);
void sync_forget(struct sync_places *p);

/* check_race.c: accesses of `lanes` at fx->addr in [begin, ...) of `s`; `space` is for the report. `seen_content`:
 * reads of granules that this CTA has not written are reported too (shared memory). */
void race_accesses(const struct now *n, struct shadow *s, uint64_t begin, lanemask_t lanes, const struct effects *fx,
                   enum space space);

/* check_shadow.c: the granules of [offset, offset + bytes), all in one page; NULL: not followed. `*shift` is theirs. */
struct granule *shadow_at(struct checker *k, struct shadow *s, uint64_t offset, unsigned bytes, unsigned msize,
                          unsigned *shift);
/* Nobody has touched it. */
void shadow_clear(struct shadow *s, uint64_t offset, uint64_t bytes);
void shadow_free(struct checker *k, struct shadow *s);

/* check_copy.c: cp.async. A copy; a group of it (`lanes` commit); `lanes` wait for all but so many groups (-1: for
 * every copy); an access of shared memory that may meet a copy. */
void copies_issue(const struct now *n, const struct effects *fx);
void copies_commit(struct check_cta *c, const struct warp *w, lanemask_t lanes);
void copies_collect(const struct now *n, lanemask_t lanes, int64_t groups);
void copies_look(const struct now *n, lanemask_t lanes, const struct effects *fx);
void copies_forget(struct check_cta *c);
void copies_free(struct check_cta *c);

/* check_warp.c: check_members(), and vprintf. Operands are as before the instruction. */
void check_format(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);

/* check_device.c: device memory, and the heap in it. */
void check_device(const struct now *n, lanemask_t lanes, const struct effects *fx);
/* The whole allocation that holds `address`. */
/* Memory that the host shares with kernels: what the host has touched since the last launch. */
void check_shared_memory(struct checker *k, const struct memory *m);
void check_all_written(struct check_cta *c, const struct warp *w, uint64_t address);
void check_malloc(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
void check_heap_free(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
#endif
