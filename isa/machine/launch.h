#ifndef ISA_LAUNCH_H
#define ISA_LAUNCH_H
/* One kernel launch, and what can go wrong while it runs. */
#include "isa/program.h"
#include "memory.h"
#include <stdatomic.h>
#include <stdio.h>

struct texture; /* texture and surface objects; isa/machine/texture.h */

struct launch {
    const struct program *program;
    struct memory *memory;
    struct dim3 grid, block;
    uint32_t dynamic_shared;     /* bytes */
    const unsigned char *params; /* program->param_bytes bytes, laid out as program->params says */
    uint64_t cycle_limit;        /* 0: none. Timing: cycles. Interpreter: warp instructions */
    atomic_bool *stop;           /* set by anybody at any time: the launch is to end soon. NULL: nobody can */
    uint32_t number;             /* of this launch in its context, from 0: %gridid */
    const struct texture *textures;
    uint32_t n_textures;
    /* A cooperative grid: all CTAs are begun before any has to end. Its barriers are in the workspace, whose address
     * %envreg1 (high word) and %envreg2 hold; 0: it is none. */
    uint64_t workspace;
    uint32_t n_sms;      /* %nsmid; 0: 1 */
    FILE *device_stdout; /* where vprintf writes; NULL: stdout */
    const char *text;    /* the PTX, for traces; NULL: there is none */
};

enum fault_kind {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS, /* address, bytes */
    FAULT_MISALIGNED,
    FAULT_USE_AFTER_FREE,
    FAULT_READ_ONLY,
    FAULT_TRAP,     /* trap, or brkpt */
    FAULT_ASSERT,   /* __assertfail; text holds the message */
    FAULT_BAD_CALL, /* call through a pointer to no function */
    FAULT_STACK,    /* recursion deeper than the stack */
    FAULT_BAD_TEXTURE,
    FAULT_UNSUPPORTED, /* text says what */
    FAULT_DIVERGENT_BARRIER,
    FAULT_PARTIAL_WARP, /* an instruction for all lanes of a warp, without all of them; text says which */
    FAULT_DEADLOCK,     /* text is the whole report */
    FAULT_MEMORY,       /* of the host: there is none left */
    FAULT_LIMIT,        /* cycle limit reached; text is the whole report */
    FAULT_STOPPED,      /* launch.stop was set; likewise */
    FAULT_STANDSTILL,   /* the simulator's clock stands still: a bug of ours; likewise */
};

/* A kernel fault: what, and exactly where. */
struct fault {
    enum fault_kind kind;
    uint32_t pc;
    struct dim3 cta;
    uint32_t warp, lane; /* warp in its CTA */
    enum space space;
    uint64_t address;
    uint32_t bytes;
    bool is_store;
    char *text;          /* malloc'ed, or NULL */
    const char *context; /* not NULL: no CTA's warp, but the one of a unit of the SM that is called so */
};

/* "out-of-bounds read of 4 bytes at 0x...": several lines, ends with a newline. Names kernel, PTX line, the source
 * line of .loc, CTA, warp, lane, thread, address and the nearest allocation. */
void fault_print(const struct fault *f, const struct launch *l, FILE *out);
/* How a launch ended that met this: "cycle-limit", "stopped", "deadlock", else "fault". */
const char *launch_end_word(enum fault_kind kind);
void fault_free(struct fault *f);

/* Does the kernel ask for clusters of more than one CTA, which launch_check() refuses? */
bool launch_has_clusters(const struct launch *l);
/* Checks a launch against the limits of types.h and the program's .reqntid and .maxntid. NULL when it is fine, else a
 * message in `buffer` that goes on where "kernel 'k': " begins. */
const char *launch_check(const struct launch *l, uint32_t max_shared, char *buffer, size_t size);
/* Is the launch to end? To be asked every ten microseconds or so. */
static inline bool launch_stopped(const struct launch *l) {
    return l->stop && atomic_load_explicit(l->stop, memory_order_relaxed);
}
static inline uint32_t dim3_count(struct dim3 d) { return d.x * d.y * d.z; }
/* Warps of a CTA; the last may have fewer threads than lanes. */
static inline uint32_t launch_warps(const struct launch *l) {
    return (dim3_count(l->block) + WARP_LANES - 1) / WARP_LANES;
}
#endif
