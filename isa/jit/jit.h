#ifndef ISA_JIT_JIT_H
#define ISA_JIT_JIT_H
/* Native code for blocks of a program: docs/jit.md.
 *
 * A block is compiled after it has been entered often: once for warps with all 32 lanes, once for partial warps.
 * Its code has the same effects as the interpreter, and returns how many instructions it executed. It may stop
 * before any instruction; the interpreter then continues there. All rare cases are handled in this way: faults,
 * accesses whose shape differs from the profiled one, and control instructions.
 *
 * Needs x86-64 with AVX-512, or with AVX2 and FMA. */
#include "isa/machine/effects.h"
#include <stdatomic.h>

struct jit;
struct jit_tables;

enum { JIT_STREAMS = 8 };
/* The state of the warp that runs native code. */
struct jit_frame {
    unsigned char *bank[2]; /* as in struct warp */
    const struct jit_tables *tables;
    uint64_t threads; /* lanes that executed, summed over instructions; the code adds to it */
    /* number of executed loads that inst_is_counted_load() counts; loads executed by step() are not included */
    uint64_t loads;
    const struct memory *memory;
    unsigned char *shared;
    uint64_t shared_bytes;
    unsigned char *local; /* the warp's local memory, interleaved by words (warp_local()) */
    const unsigned char *params;
    uint64_t param_bytes;
    /* Executes instruction first[i] as the interpreter does, and adds its lanes to `threads`. Returns JIT_WENT_ON, or
     * the reason to stop. */
    uint32_t (*step)(struct jit_frame *f, uint32_t i);
    /* Like step(), for a simple access whose addresses come from a queue. Fast if the addresses are consecutive. */
    uint32_t (*row)(struct jit_frame *f, uint32_t i);
    /* Takes the predicate of the branch first[i] from a queue, and sets `taken`. The return values have the same
     * meaning as for step(). */
    uint32_t (*take)(struct jit_frame *f, uint32_t i);
    /* Executes first[i], a call or return after a block, if all lanes go to one PC that has code. Updates `first`
     * and the counts for the block at that PC. Returns the address at which to continue, or NULL if it did nothing. */
    void *(*call)(struct jit_frame *f, uint32_t i);
    /* Lets the paths of the warp change at the end of a block of i instructions: executes first[i] if it is a branch or
     * an exit, and then continues the path that the model selects, or returns NULL as call() does. */
    void *(*next)(struct jit_frame *f, uint32_t i);
    /* Lets all lanes of the warp arrive at the barrier first[i] after a block of i instructions. Continues this warp,
     * or the next warp if this one waits. bank[0] then has the registers of the warp that continues. Returns like
     * next(). */
    void *(*wait)(struct jit_frame *f, uint32_t i);
    bool moved;  /* set by next() and wait(): paths have changed, and the interpreter must not execute first[i] */
    bool yields; /* the code ends with JIT_WAITS before a store with HINT_OVERWRITES */
    const struct inst *taken;
    const struct inst *first; /* first instruction of the block; set before the call, updated in each further block */
    uint64_t clock;           /* %clock at the block's start; set and updated together with `first` */
    uint64_t executed;        /* number of instructions of earlier blocks that this call executed; initially 0 */
    uint64_t budget;          /* the code continues in another block only while `executed` is below `budget` */
    uint64_t offsets[WARP_LANES];                                      /* scratch of compile_lane_loop() */
    _Alignas(64) uint64_t result[WARP_LANES], result2[WARP_LANES / 4]; /* scratch of compile_lane_call() */
    unsigned char *last[JIT_STREAMS]; /* host addresses that loads of loops accessed last (prefetch_next()) */
    uint32_t rpc;                     /* PC where paths meet: the code does not continue there */
    /* The active lanes, the inactive lanes, and the number of active lanes. They are set before the code is called. */
    rowmask_t active, inactive;
    uint64_t n_active;
    struct jit *jit;
    struct warp *warp;  /* set before the code is called */
    struct effects *fx; /* effects of the last step */
    void *ctx;          /* context of step() */
};

/* Result of the code and of step(): number of executed instructions of the block at `first`, plus the reason if
 * execution stopped early. */
enum {
    JIT_WENT_ON = 0,
    JIT_LEFT = 0x20000000,    /* stopped before an instruction whose check failed: call jit_left() */
    JIT_WAITS = 0x40000000,   /* stopped before an instruction that the interpreter must execute */
    JIT_STOPPED = 0x60000000, /* stopped in an instruction that faulted, or that ends the run */
    JIT_REASON = 0x60000000,
};
typedef uint32_t jit_code(struct jit_frame *f);

/* The state of a block. A block is identified by the PC of its first instruction. */
struct jit_entry {
    _Atomic(jit_code *) code; /* NULL: the block is not compiled, or not yet */
    _Atomic(void *) inside;   /* address at which other blocks enter the code; NULL if they cannot enter it */
    /* number of entries left before the block is profiled; 0 if the block has been profiled or rejected */
    atomic_uint countdown;
    atomic_uint profiled; /* number of interpreted runs recorded */
    /* protected by the lock: side exits taken; value of jit_parts.executed when `left` was last a multiple of
     * EXITS_TO_RECOMPILE; the last compilation of the block */
    uint32_t left;
    uint64_t since;
    struct jit_block *block;
};
struct jit {
    struct jit_entry *entry[2]; /* [0]: for all lanes; [1]: for partial warps */
    struct jit_parts *parts;
};

/* Creates the code cache of `p`, which must outlive it. A block is compiled after `after` entries. Returns NULL if
 * memory is out or the host cannot run such code. Kernels are then interpreted, with the same results. Several threads
 * and launches may share it. */
struct jit *jit_new(const struct program *p, uint32_t after);
void jit_free(struct jit *j);
/* Reports that the code of the block at `pc` stopped with JIT_LEFT before instruction i. Updates hints, and recompiles
 * the block after many exits with little native work between them. */
void jit_left(struct jit *j, struct jit_frame *f, uint32_t pc, uint32_t i);
/* Reports n warp instructions that native code has executed since the last call. */
void jit_executed(struct jit *j, uint64_t n);
/* Statistics of compilation. */
struct jit_counts {
    uint32_t blocks, instructions, native; /* native: number of instructions compiled without a call */
    uint64_t bytes;
    double seconds; /* compile time */
    uint64_t exits; /* side exits taken */
};
struct jit_counts jit_count(const struct jit *j);

/* Returns false where lanes exit or only exits follow: the path driver handles these cases. */
static inline bool jit_may_enter(const struct program *p, uint32_t pc) {
    return pc < p->n && !p->info[pc].only_exits && !p->info[pc].only_returns;
}

/* Constants that native code loads. Each array is at least as long as the vector register that is loaded from it. */
struct jit_tables {
    _Alignas(64) uint64_t step8[2][16]; /* [0]: lane * 4, [1]: lane * 8, for the 16 lanes of a half warp */
    _Alignas(64) uint32_t step4[2][16];
    uint32_t zero[16], ones[16]; /* ones: all bits */
    uint32_t f32_nan[16], f32_sign[16], f32_magnitude[16], f32_exponent[16], f32_one[16], f32_65536[16];
    uint32_t low_5_bits[16], word_bits[16]; /* 31; 32 */
    uint32_t bytes[16];                     /* [m]: the bytes of a word whose bits are set in m */
    uint32_t f32_2p31[16], f32_2p126[16];
    uint64_t sign8[8], magnitude8[8], f64_s32_max[8];
    uint32_t bit4[WARP_LANES]; /* for each lane: its bit in a predicate */
    uint64_t bit8[WARP_LANES];
    _Alignas(64) uint32_t lane[WARP_LANES]; /* the number of each lane */
    uint64_t lane_words[WARP_LANES];        /* 4 * lane */
};

extern const struct jit_tables jit_tables;

/* Starts profiling the block at `pc` after enough entries. Returns its code, or NULL if the block is not worth
 * compiling or its profiling has already started. */
jit_code *jit_request(const struct jit *j, uint32_t pc, bool partial);
/* Returns the code for the block at `pc`, or NULL if it has no code. Before calling it, set `first`, `clock` and the
 * lanes of the frame. The countdown decreases by a load and a store, which is cheaper than an atomic
 * decrement. So two concurrent entries may count as one, which is harmless. */
static inline jit_code *jit_enter(const struct jit *j, uint32_t pc, bool partial) {
    struct jit_entry *e = &j->entry[partial][pc];
    jit_code *code = atomic_load_explicit(&e->code, memory_order_acquire);
    unsigned countdown;
    if (code || !(countdown = atomic_load_explicit(&e->countdown, memory_order_relaxed)))
        return code;
    atomic_store_explicit(&e->countdown, countdown - 1, memory_order_relaxed);
    return countdown > 1 ? NULL : jit_request(j, pc, partial);
}
#endif
