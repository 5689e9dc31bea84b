#ifndef ISA_CHECK_STATE_H
#define ISA_CHECK_STATE_H
/* Inside of the checker; only isa/check*.c looks in here. */
#include "check.h"

enum check_kind {
    CHECK_UNINIT,             /* a read of bytes that nobody wrote */
    CHECK_RACE,               /* two threads of a CTA, one byte of shared memory, nothing that orders them */
    CHECK_PARTIAL_BARRIER,    /* not all live threads of a warp come to an aligned barrier */
    CHECK_DIFFERENT_BARRIERS, /* threads of a warp wait at two of them */
    CHECK_HEAP_BOUNDS,        /* outside of every block of malloc() */
    CHECK_HEAP_FREED,         /* in a block that free() took back */
};

enum { MAX_FINDINGS = 64, NO_PC = UINT32_MAX };

/* Equal kind, pc and other_pc: one finding. The rest is of its first occurrence. */
struct finding {
    enum check_kind kind;
    uint32_t pc, other_pc; /* NO_PC: there is no other */
    uint64_t count;
    struct dim3 cta;
    uint32_t thread, other_thread; /* in the CTA: 32 * warp + lane */
    enum space space;
    uint64_t address;
    uint32_t bytes;
    bool is_write, other_is_write; /* the accesses; atomics write */
    bool same_instruction;         /* race: lanes of one instruction that store different values */
    lanemask_t lanes, live;        /* barriers */
    char where[320];               /* the address, in words; "" when there is nothing to say */
};

/* Which bytes of an allocation have been written. */
struct device_shadow {
    unsigned char *written; /* a bit a byte; NULL: none */
    bool all;               /* every byte */
    bool known;             /* false until it is first looked at */
};

/* A block of malloc() in kernels; kept after free() until its place is used again. */
struct heap_record {
    uint64_t begin, bytes;
    bool live;
    uint32_t free_pc, free_thread;
};

struct checker {
    struct device_shadow *shadow; /* by index into memory.list */
    uint32_t n_shadow;
    uint32_t hint;             /* see mem_find */
    uint64_t heap;             /* address of the heap of malloc(), 0 while none is known */
    struct heap_record *block; /* by address */
    uint32_t n_blocks, cap_blocks;
    bool out_of_memory; /* something could not be followed */
    struct finding finding[MAX_FINDINGS];
    int n_findings;
    uint64_t count, more; /* occurrences; of these, those without a place in finding[] */
};

/* One access to a granule of shared memory. */
struct access {
    uint32_t time; /* of the thread's warp; up to warp_order.start: of an earlier CTA, that is, none */
    uint32_t pc;
    uint16_t thread;
    uint8_t strong; /* atomic or volatile: no race with its like */
};

/* The smallest piece of shared memory that the program touches: 1, 2 or 4 bytes. Of the readers since the last write
 * the latest is kept, the one before it that is not ordered with it on another path of its warp, and likewise of
 * another warp: whoever writes next, a reader that conflicts with it is among these as long as all barriers are the
 * whole CTA's and a warp has two paths. */
struct granule {
    struct access write, read, read_lane, read_warp;
};

/* What orders the threads of a warp with others. Time counts the warp's instructions that the checker saw. */
struct warp_order {
    uint32_t now, start;          /* start: when the CTA began */
    uint32_t seen[MAX_CTA_WARPS]; /* what warp v did up to this time of its came before what this warp does now */
    uint32_t all;                 /* when all lanes last executed one instruction together */
    lanemask_t path;              /* lanes that execute now */
    uint32_t together[WARP_LANES][WARP_LANES]; /* when two lanes last did so, before the present path */
};

struct check_cta {
    struct checker *checker;
    const struct cta *cta;
    struct granule *granule;
    unsigned shift;                                  /* a granule is 1 << shift bytes */
    uint64_t malloc_bytes[WARP_LANES];               /* arguments of the malloc() that executes */
    uint32_t arrived[N_CTA_BARRIERS][MAX_CTA_WARPS]; /* what bar.arrive brings to the barrier, as warp_order.seen */
    struct warp_order warp[];
};

/* The finding of this kind and these places, counted once more; NULL when it is not its first occurrence. Kind, places,
 * CTA and count are set. */
struct finding *check_found(struct check_cta *c, enum check_kind kind, uint32_t pc, uint32_t other_pc);
static inline uint32_t check_thread(const struct warp *w, int lane) { return w->index * WARP_LANES + (uint32_t)lane; }
static inline uint32_t check_pc(const struct warp *w, const struct inst *in) {
    return (uint32_t)(in - w->program->code);
}

/* check_shared.c: lanes of an instruction that touch shared memory at fx->addr. */
void check_shared(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                  const struct effects *fx);
/* When lanes i and j of a warp last executed together. */
uint32_t check_together(const struct warp_order *o, unsigned i, unsigned j);
/* Those of `lanes` have been together until `time`. */
void check_were_together(struct warp_order *o, lanemask_t lanes, lanemask_t launched, uint32_t time);

/* check_device.c: the same for device memory, and the heap in it. */
void check_device(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                  const struct effects *fx);
/* The whole allocation that holds `address`. */
void check_all_written(struct check_cta *c, const struct warp *w, uint64_t address);
void check_malloc(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
void check_heap_free(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
#endif
