#ifndef ISA_WARP_H
#define ISA_WARP_H
/* The architectural state of a CTA and its warps: registers, memories, barriers. No paths (reconv.h) and no time. */
#include "held.h"
#include "isa/rounding.h"
#include "launch.h"

/* Lanes that wait at an instruction with a member mask for other lanes that it names; see warpsync.h. */
struct warp_sync {
    lanemask_t waiting;
    uint32_t pc[WARP_LANES]; /* of those that wait: the instruction */
};

struct call_stack; /* return addresses and saved frames by lane; isa/machine/call.c */
struct atom_op;    /* an atomic that is to be performed later; isa/exec/exec_atom.h */

struct warp {
    unsigned char *bank[2]; /* 0: registers, 64-byte aligned; 1: the program's constants (never written) */
    const struct program *program;
    struct cta *cta;
    lanemask_t launched;      /* lanes that exist */
    lanemask_t live;          /* lanes that have not exited; kept by the exit instruction itself */
    uint32_t index;           /* in the CTA */
    uint32_t alloc_hint;      /* see mem_find */
    uint32_t inst_hint[8];    /* likewise, by instruction: one reads here, another there */
    unsigned char *local;     /* of all lanes: see warp_local() */
    uint32_t local_stride;    /* bytes from lane to lane; 0 where they lie by words */
    uint32_t local_bytes;     /* that a lane may use, stack included */
    struct call_stack *calls; /* NULL until the first call */
    uint64_t clock;           /* %clock64, set by the driver before it executes */
    uint32_t smid;            /* %smid, likewise at start */
    struct warp_sync sync;
    struct atom_op *capture; /* not NULL: the next atomic is captured here in place of being performed */
};

/* A named barrier of a CTA (PTX ISA 9.7.13.1). */
struct cta_barrier {
    uint32_t expected;                      /* threads; 0 while none has arrived */
    uint32_t arrived;                       /* threads */
    lanemask_t waiting[MAX_CTA_WARPS];      /* lanes that wait here, by warp */
    const struct inst *inst[MAX_CTA_WARPS]; /* the instruction they wait at */
    uint8_t mode[MAX_CTA_WARPS];            /* enum barrier_mode of that instruction */
    uint32_t count_true, count_red;         /* bar.red: predicates seen */
    bool whole_cta;                         /* no count was given: all threads that have not exited */
    bool divergent;                         /* set when lanes of one warp arrive at different PCs */
};

struct cta {
    const struct launch *launch;
    struct held_stores *held; /* where plain stores to device memory go first; NULL: nowhere */
    struct dim3 id;
    uint64_t linear_id;
    unsigned char *shared;
    uint32_t shared_bytes; /* static and dynamic */
    uint32_t n_warps, n_threads;
    uint32_t live_threads; /* not exited */
    struct warp *warps;
    struct cta_barrier barriers[N_CTA_BARRIERS];
    uint32_t barriers_used; /* bit b: threads wait at barrier b */
    bool copies_take_time;  /* who drives it calls mbarrier_copies_done() for arrivals that wait for copies; else they
                              are performed at once, as copies are */
    struct rounding_error rounding_error; /* of all CTAs that have been here; the driver takes it away */
};

/* Memory for one CTA of a launch: registers, local and shared memory in one block. NULL when memory is out. Reusable
 * for every CTA of the same launch with cta_start(). */
struct cta *cta_new(const struct launch *l);
void cta_free(struct cta *c);
/* Makes `c` the CTA `id`: registers of undefined content are zero, special registers filled, memories zeroed. */
void cta_start(struct cta *c, struct dim3 id, uint32_t smid);
/* A special register that is the same in all lanes of the warp; 0 for those that are not. */
uint64_t warp_special(const struct warp *w, enum special s);
/* Where the threads of warp `index` stand in their CTA: %tid.x, .y or .z by lane. */
void warp_thread_ids(struct dim3 block, uint32_t index, enum special s, uint32_t out[WARP_LANES]);
/* Bytes of shared memory a CTA of this launch takes. */
uint32_t launch_shared_bytes(const struct launch *l);

enum { LOCAL_ROW = 4 * WARP_LANES }; /* bytes of one word of all lanes */

/* Byte `at` of a lane's local memory. Where program.local_by_word, word i of all lanes is one row, i * LOCAL_ROW bytes
 * behind the first: bytes up to the word's end follow, and the next word is a row further. Else a lane's bytes are
 * together, local_stride bytes from the next lane's. */
static inline unsigned char *warp_local(const struct warp *w, unsigned lane, uint64_t at) {
    if (w->local_stride)
        return w->local + (size_t)lane * w->local_stride + at;
    return w->local + (at >> 2) * LOCAL_ROW + 4 * lane + (at & 3);
}

struct effects;
/* `lanes` of `w` arrive as fx says. Returns true when that completes the barrier; then waiting[] says which lanes go on
 * (those of arrive-only are never in it), results of bar.red are written, and the caller must call
 * cta_barrier_reset() after it has moved them on. */
bool cta_barrier_arrive(struct cta *c, struct warp *w, const struct inst *in, lanemask_t lanes,
                        const struct effects *fx);
void cta_barrier_reset(struct cta *c, uint32_t barrier);
/* `lanes` of `w` exited (w->live knows): returns the barriers that this completes, bit i for barrier i. */
uint32_t cta_threads_exit(struct cta *c, const struct warp *w, lanemask_t lanes);
/* Lanes of warp `index` that wait at any barrier. */
lanemask_t cta_waiting(const struct cta *c, uint32_t index);
#endif
