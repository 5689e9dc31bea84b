#ifndef ISA_WARP_H
#define ISA_WARP_H
/* The architectural state of a CTA and its warps: registers, memories and barriers. It contains neither paths
 * (reconv.h) nor timing. */
#include "bulk_job.h"
#include "cluster.h"
#include "held.h"
#include "isa/rounding.h"
#include "launch.h"

/* Lanes that wait, at an instruction with a member mask, for other members of the mask; see warpsync.h. */
struct warp_sync {
    rowmask_t waiting;
    uint32_t pc[WARP_LANES]; /* PC of the instruction at which each waiting lane waits */
};

struct call_stack; /* return addresses and saved frames by lane; isa/machine/call.c */
struct pending_copies;
struct atom_op; /* an atomic to be performed later; isa/exec/exec_atom.h */

/* A warp of up to 32 lanes, or a row of a warp of 64 lanes. Executors see one row as if it were a warp. Its drivers see
 * the first row as the warp: `launched` and `live` of the first row have the lanes of both rows. */
struct warp {
    unsigned char *bank[2]; /* bank 0: registers, 64-byte aligned; bank 1: the program's constants (never written) */
    const struct program *program;
    struct cta *cta;
    struct warp *high;     /* the second row of a warp of 64 lanes; NULL in other warps, and in a second row */
    lanemask_t launched;   /* lanes with a thread */
    lanemask_t live;       /* lanes that have not exited; the exit instruction updates it */
    uint32_t index;        /* index in the CTA */
    uint32_t first;        /* number of the first thread in the CTA */
    uint32_t alloc_hint;   /* see mem_find */
    uint32_t inst_hint[8]; /* hints of mem_find(), indexed by a hash of the instruction */
    unsigned char *local;  /* local memory of all lanes: see warp_local() */
    /* bytes from one lane's local memory to the next lane's; 0 if local memory is interleaved by words */
    uint32_t local_stride;
    uint32_t local_bytes;     /* bytes of local memory per lane, stack included */
    struct call_stack *calls; /* NULL until the first call */
    /* cp.async of the row that has not written shared memory (pending.h); NULL until the first */
    struct pending_copies *copies;
    uint64_t clock; /* %clock64, set by the driver before execution */
    uint32_t smid;  /* %smid, set at start */
    struct warp_sync sync;
    struct atom_op *capture; /* if set, the next atomic is recorded here instead of performed */
    /* lanes of the row that have arrived at the cluster's barrier and have not waited yet: first the lanes that arrived
     * in the present phase, then the lanes that arrived in a phase that has ended */
    rowmask_t cluster_arrived, cluster_passed;
};

/* A named barrier of a CTA (PTX ISA 9.7.13.1). */
struct cta_barrier {
    uint32_t expected;        /* number of threads; 0 until the first thread arrives */
    uint32_t arrived;         /* number of threads that have arrived */
    lanemask_t *waiting;      /* waiting lanes, by warp */
    const struct inst **inst; /* by warp: instruction at which the warp's lanes wait */
    uint8_t *mode;            /* by warp: enum barrier_mode of that instruction */
    /* bar.red: number of arrivals with a true predicate, and number of all arrivals */
    uint32_t count_true, count_red;
    bool whole_cta; /* no thread count was specified: the barrier waits for all threads that have not exited */
    bool divergent; /* lanes of one warp arrived at different PCs */
};

/* The clusters of a launch that have not begun. take() removes the next one for CTA `c`, and sets *first to the id of
 * its first CTA. Returns false if all clusters have begun. */
struct cluster_source {
    bool (*take)(void *ctx, const struct cta *c, struct dim3 *first);
    void *ctx;
};

struct cta {
    const struct launch *launch;
    const struct cluster_source *source; /* set by the driver if the kernel has clusterlaunchcontrol; else NULL */
    struct tensor_memory *tensor;        /* tensor memory (isa/tensor_memory.h); NULL until its first use */
    uint32_t *tensor_used;    /* columns that the CTAs of the SM have allocated; NULL: no limit for all CTAs */
    struct held_stores *held; /* buffer that holds back ordinary stores to device memory; NULL if there is none */
    struct dim3 id;
    uint64_t linear_id;
    unsigned char *shared;
    uint32_t shared_bytes; /* shared_room() of the launch */
    uint32_t n_warps, n_rows, n_threads;
    uint32_t live_threads; /* number of threads that have not exited */
    /* the bytes of each row's bank 0 that hold only special registers of 4 bytes. fixed_filled: cta_start() has set the
     * special registers that have the same values in all CTAs */
    uint32_t specials_begin, specials_end;
    bool fixed_filled;
    struct warp *warps; /* n_warps first rows, and then the second rows of warps of 64 lanes */
    struct cta_barrier barriers[N_CTA_BARRIERS];
    uint32_t barriers_used; /* bit b is set if threads wait at barrier b */
    /* true: the driver calls mbarrier_copies_done() for arrivals that wait for copies. False: such an arrival completes
     * at once, and the copies before it */
    bool copies_take_time;
    /* takes the jobs of bulk copies (bulk_job.h); if NULL, copies are complete at once */
    const struct bulk_sink *bulk;
    struct rounding_error rounding_error; /* sum over all CTAs since the driver last read and cleared it */
    struct cluster *cluster;              /* the CTA's cluster: `alone` unless a driver calls cluster_join() */
    uint32_t rank;                        /* in the cluster */
    uint32_t cluster_arrived; /* live threads that have arrived at the cluster's barrier in the present phase */
    struct cluster alone;
};

/* Returns the lanes of row r (0 or 1) of a warp's lanes. */
static inline rowmask_t warp_row(lanemask_t m, unsigned r) { return (rowmask_t)(m >> r * WARP_LANES); }
/* Returns the lanes of a warp whose rows have the lanes `low` and `high`. */
static inline lanemask_t warp_lanes(rowmask_t low, rowmask_t high) { return (lanemask_t)high << WARP_LANES | low; }
/* Returns the row of the warp with the lane, which becomes the lane's number in this row. */
static inline struct warp *warp_row_of(struct warp *w, unsigned *lane) {
    struct warp *row = *lane < WARP_LANES ? w : w->high;
    *lane %= WARP_LANES;
    return row;
}
/* Allocates memory for one CTA of a launch: registers, local and shared memory in one block. Reusable for every CTA of
 * the launch. Returns NULL if out of memory. */
struct cta *cta_new(const struct launch *l);
/* Frees the tensor memory of a CTA that has ended, which gives its columns back to the SM. */
void cta_free_tensor(struct cta *c);
/* Frees a CTA. NULL is allowed. */
void cta_free(struct cta *c);
/* Starts CTA `id` on SM `smid`: sets special registers, zeroes other registers and memories. */
void cta_start(struct cta *c, struct dim3 id, uint32_t smid);
/* Returns a special register that has one value for all lanes of the warp; 0 for other registers. */
uint64_t warp_special(const struct warp *w, enum special s);
/* Computes %tid.x, .y or .z (`s`) of WARP_LANES threads in sequence, from thread number `first` of the CTA on. */
void warp_thread_ids(struct dim3 block, uint32_t first, enum special s, uint32_t out[WARP_LANES]);
/* Returns the bytes of shared memory of one CTA of this launch. */
uint32_t launch_shared_bytes(const struct launch *l);

enum { LOCAL_ROW = 4 * WARP_LANES }; /* bytes that one word takes in all 32 lanes */

/* Returns byte `at` of a lane's local memory. If program.local_by_word, word i of all lanes is one row at i *
 * LOCAL_ROW, so a lane's bytes are contiguous only within a word. Otherwise a lane's bytes are contiguous, local_stride
 * bytes after those of the previous lane. */
static inline unsigned char *warp_local(const struct warp *w, unsigned lane, uint64_t at) {
    if (w->local_stride)
        return w->local + (size_t)lane * w->local_stride + at;
    return w->local + (at >> 2) * LOCAL_ROW + 4 * lane + (at & 3);
}

struct effects;
/* Lets `lanes` of `w` arrive at the barrier that fx describes. Returns true if the barrier is complete: waiting[] then
 * has the lanes to release (never those of bar.arrive), results of bar.red are written, and the caller calls
 * cta_barrier_reset() after releasing them. */
bool cta_barrier_arrive(struct cta *c, struct warp *w, const struct inst *in, lanemask_t lanes,
                        const struct effects *fx);
/* Prepares a complete barrier for its next use. */
void cta_barrier_reset(struct cta *c, uint32_t barrier);
/* Updates the barriers after `lanes` of `w` exited (w->live is already updated). Returns a mask of the barriers that
 * the exit completes, with bit i for barrier i. */
uint32_t cta_threads_exit(struct cta *c, struct warp *w, lanemask_t lanes);
/* Returns the lanes of warp `index` that wait at any barrier. */
lanemask_t cta_waiting(const struct cta *c, uint32_t index);
#endif
