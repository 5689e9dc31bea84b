#ifndef ISA_LAUNCH_H
#define ISA_LAUNCH_H
/* A kernel launch, and the faults that can occur in it. */
#include "isa/program.h"
#include "memory.h"
#include <stdatomic.h>
#include <stdio.h>

struct texture; /* texture and surface objects; isa/machine/texture.h */

struct launch {
    const struct program *program;
    struct memory *memory;
    struct dim3 grid, block;
    /* CTAs of a cluster along each dimension, as the launch requests; {0, 0, 0} means the cluster that the kernel
     * declares (launch_cluster()) */
    struct dim3 cluster;
    bool large_clusters;     /* clusters of more than PORTABLE_CLUSTER_CTAS CTAs are allowed */
    uint32_t dynamic_shared; /* bytes */
    uint32_t warp_size;      /* lanes of a warp, a power of two from MIN_WARP_LANES to MAX_WARP_LANES; 0: WARP_LANES */
    const unsigned char *params; /* program->param_bytes bytes in the layout of program->params */
    /* limit in cycles of the timing model, or in warp instructions of the interpreter; 0: no limit */
    uint64_t cycle_limit;
    atomic_bool *stop; /* set by any thread to end the launch early; NULL if the launch cannot be stopped */
    /* called when all CTAs repeat their states; returns true if memory may still change. NULL: nobody changes it */
    bool (*stands)(void *ctx, bool first);
    void *stands_ctx;
    uint32_t number; /* number of this launch in its context, counted from 0; kernels read it as %gridid */
    const struct texture *textures;
    uint32_t n_textures;
    /* Device address of the workspace of a cooperative grid, which contains the grid's barriers. 0 means that the
     * grid is not cooperative. All CTAs of a cooperative grid are resident at once. Kernels read the address from
     * %envreg1 (high word) and %envreg2. */
    uint64_t workspace;
    uint32_t n_sms;      /* %nsmid; 0: 1 */
    FILE *device_stdout; /* output of vprintf; NULL: stdout */
    const char *text;    /* the PTX text, for traces; NULL if there is none */
    /* compute capability * 10 of the card whose sums mma computes (isa/exec/card_sums.h); 0: exact sums */
    uint32_t mma_card;
    /* The launch runs the CTAs from `first_cta` on, in the order of the grid; earlier CTAs have run before. The
     * interpreter stops before CTA `end_cta`; 0: after the last CTA. Both are multiples of the cluster's size. */
    uint64_t first_cta, end_cta;
};

enum fault_kind {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS, /* `address` and `bytes` are set */
    FAULT_MISALIGNED,
    FAULT_USE_AFTER_FREE,
    FAULT_READ_ONLY,
    FAULT_ENDED_CTA, /* an access to the shared memory of a CTA of the cluster that has ended */
    FAULT_TRAP,      /* trap or brkpt */
    FAULT_ASSERT,    /* __assertfail; `text` holds the message */
    FAULT_BAD_CALL,  /* call through a pointer that does not point to a function */
    FAULT_STACK,     /* recursion deeper than the stack */
    FAULT_BAD_TEXTURE,
    FAULT_UNSUPPORTED, /* `text` names the unsupported feature */
    FAULT_DIVERGENT_BARRIER,
    /* some lanes did not execute an instruction that requires all lanes; `text` names the missing lanes */
    FAULT_PARTIAL_WARP,
    FAULT_DEADLOCK,   /* `text` is the complete report */
    FAULT_MEMORY,     /* out of host memory */
    FAULT_LIMIT,      /* cycle limit reached; `text` is the complete report */
    FAULT_STOPPED,    /* launch.stop was set; `text` is the complete report */
    FAULT_STANDSTILL, /* simulated time does not advance, a bug in Heddle; `text` is the complete report */
};

/* A kernel fault and its exact location. */
struct fault {
    enum fault_kind kind;
    uint32_t pc;
    struct dim3 cta;
    uint32_t warp, lane; /* warp index in its CTA */
    enum space space;
    uint64_t address;
    uint32_t bytes;
    bool is_store;
    char *text;          /* text of the fault, from malloc(); NULL: none */
    lanemask_t lanes;    /* lanes that execute the instruction; 0: not known */
    lanemask_t failing;  /* the lanes of `lanes` whose access is invalid, too; 0: not known */
    const char *context; /* name of an SM unit if the warp belongs to that unit and not to a CTA; else NULL */
};

/* Prints a fault: "out-of-bounds read of 4 bytes at 0x..." and further lines, each ending in a newline. They name the
 * kernel, PTX line, source line from .loc, CTA, warp, lane, thread, address and nearest allocation. */
void fault_print(const struct fault *f, const struct launch *l, FILE *out);
/* What a caller can tell about a fault beside its message. */
struct fault_facts {
    uint64_t address; /* of the invalid access to global memory; 0: the fault has no such address */
    bool page_bounds; /* memory.page_bounds allows the access */
    bool no_source;   /* the instruction has a line of PTX, but no line of the source */
};
struct fault_facts fault_facts(const struct fault *f, const struct launch *l);
/* Prints the PTX line of instruction `pc` as the user wrote it, without indentation. Without a launch or its text,
 * prints the decoded instruction. `l` may be NULL. */
void launch_print_line(const struct launch *l, const struct program *p, uint32_t pc, FILE *out);
/* Prints the source line that .loc names, if its file can be read: "    k.cu:7: x[i] = 0;". */
void program_print_source_line(const struct program *p, uint32_t pc, FILE *out);
/* Returns how a launch with this fault ended: "cycle-limit", "stopped", "deadlock" or "fault". */
const char *launch_end_word(enum fault_kind kind);
/* Frees the fault's text. */
void fault_free(struct fault *f);

/* Checks a launch against the limits of types.h, `max_shared` bytes of shared memory per SM, the program's .reqntid and
 * .maxntid, and what it declares of clusters. Returns NULL if it is valid, else a message in `buffer` that continues
 * "kernel 'k': ". */
const char *launch_check(const struct launch *l, uint32_t max_shared, char *buffer, size_t size);
/* Returns true if the launch should end early. Drivers call this about every ten microseconds. */
static inline bool launch_stopped(const struct launch *l) {
    return l->stop && atomic_load_explicit(l->stop, memory_order_relaxed);
}
/* Returns true if a launch should continue although all its CTAs repeat their states. `first`: it is the first call
 * since the launch made progress. */
static inline bool launch_continues(const struct launch *l, bool first) {
    return l->stands && l->stands(l->stands_ctx, first);
}
/* Returns the number of threads of a block. */
static inline uint32_t dim3_count(struct dim3 d) { return d.x * d.y * d.z; }
/* Returns the number of lanes of a warp. */
static inline uint32_t launch_lanes(const struct launch *l) { return l->warp_size ? l->warp_size : WARP_LANES; }
/* Returns the lanes of a warp in which every lane has a thread. */
static inline lanemask_t launch_full_warp(const struct launch *l) {
    return ~(lanemask_t)0 >> (MAX_WARP_LANES - launch_lanes(l));
}
/* Returns the number of warps of a CTA. In the last warp, some lanes may have no thread. */
static inline uint32_t launch_warps(const struct launch *l) {
    return (dim3_count(l->block) + launch_lanes(l) - 1) / launch_lanes(l);
}
#endif
