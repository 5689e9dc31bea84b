#ifndef ISA_JIT_JIT_H
#define ISA_JIT_JIT_H
/* Native code for blocks of a program: docs/jit.md.
 *
 * A block is compiled when it has been entered often: once for warps whose 32 lanes are all there, and once for any
 * part of them. Its code does what the interpreter would have done from the block's first instruction on,
 * and returns how many instructions it executed.
 * It may stop before any of them, and the interpreter then goes on there: that is how everything rare is done (a
 * fault, a memory access of another shape than expected, control). x86-64 with AVX-512, or with AVX2 and FMA. */
#include "isa/machine/effects.h"
#include <stdatomic.h>

struct jit;
struct jit_tables;

/* What the code of a block knows of the warp that runs it. */
struct jit_frame {
    unsigned char *bank[2]; /* as in struct warp */
    const struct jit_tables *tables;
    uint64_t threads; /* lanes that executed, summed over instructions: added to */
    uint64_t loads;   /* inst_is_counted_load(): likewise, where the pass decouple ran; without those of step() */
    const struct memory *memory;
    unsigned char *shared;
    uint64_t shared_bytes;
    unsigned char *local; /* the warp's, where it lies by words: warp_local() */
    const unsigned char *params;
    uint64_t param_bytes;
    /* Executes instruction first[i] as the interpreter does, and adds its lanes to `threads`. JIT_WENT_ON, or why it is
     * not to go on. */
    uint32_t (*step)(struct jit_frame *f, uint32_t i);
    /* The same for an access whose addresses come from a queue, is plain, and takes nothing else from one: mostly they
     * are a row. */
    uint32_t (*row)(struct jit_frame *f, uint32_t i);
    /* Takes what first[i], a branch, takes from a queue; `taken` says so to who executes it. As step(). */
    uint32_t (*take)(struct jit_frame *f, uint32_t i);
    /* A call or return, first[i], of all lanes that execute, behind the last instruction of a block: when they all go
     * to one place, and there is code for it that may run now, it is executed, and `first` and the counts are those of
     * that block. Returns where that code is to be entered; NULL: nothing has been done. */
    void *(*call)(struct jit_frame *f, uint32_t i);
    const struct inst *taken;
    const struct inst *first; /* of the block; set before the code is called, which may go on to other blocks */
    uint64_t clock;           /* %clock before it; likewise */
    uint64_t executed;        /* instructions of blocks that it has left behind; 0 before it is called */
    uint64_t budget;          /* it goes on to another block while `executed` is below */
    uint32_t rpc;             /* and that does not begin here */
    /* the lanes that execute, and the others; how many the former are: set before the code is called */
    lanemask_t active, inactive;
    uint64_t n_active;
    struct jit *jit;
    const struct effects *fx; /* of the last step */
    void *ctx;                /* for step() */
};

/* What code and step() return: how many instructions of the block at `first` were executed, with one of these added
 * when it came to less than was compiled. */
enum {
    JIT_WENT_ON = 0,
    JIT_LEFT = 0x20000000,    /* before an instruction that did not go as was compiled: jit_left() is to be told */
    JIT_WAITS = 0x40000000,   /* before one that the interpreter must look at */
    JIT_STOPPED = 0x60000000, /* in one that faulted, or after which the run is to stop */
    JIT_REASON = 0x60000000,
};
typedef uint32_t jit_code(struct jit_frame *f);

/* By the PC of a block's first instruction. */
struct jit_entry {
    _Atomic(jit_code *) code; /* NULL: there is none, or not yet */
    _Atomic(void *) inside;   /* where other code goes on into it; NULL: nowhere */
    atomic_uint wait; /* times that it is to be entered before something is done about it; 0: it was, or never */
    atomic_uint looked, left; /* times that its accesses were looked at; that its code was left early */
    struct jit_block *block;  /* what it was compiled to last */
};
struct jit {
    struct jit_entry *entry[2]; /* with all lanes; with a part of them */
    struct jit_parts *parts;
};

/* What there is for the blocks of `p`, which outlives it; nothing is compiled yet. Blocks are compiled when they have
 * been entered `after` times. NULL when memory is out, or this processor or host cannot run such code: kernels are
 * interpreted then, with the same results. May be used by several threads and launches at once. */
struct jit *jit_new(const struct program *p, uint32_t after);
void jit_free(struct jit *j);
/* The code that was run for the block at `pc` left it before its instruction `i`. */
void jit_left(struct jit *j, struct jit_frame *f, uint32_t pc, uint32_t i);
/* For those who look at what was done: blocks compiled, and bytes of their code. */
struct jit_counts {
    uint32_t blocks, instructions, native; /* of these instructions so many need no call */
    uint64_t bytes;
    double seconds; /* spent in compiling */
    uint64_t exits; /* times that code was left early */
};
struct jit_counts jit_count(const struct jit *j);

/* Constants that the code loads: whole lines. */
struct jit_tables {
    _Alignas(64) uint64_t step8[2][16]; /* lane * 4, lane * 8; of 16 lanes: the first half of a warp, and the second */
    _Alignas(64) uint32_t step4[2][16];
    uint32_t f32_nan[16], f32_sign[16], f32_magnitude[16], f32_one[16], f32_65536[16];
    uint64_t sign8[4];
    uint32_t bit4[WARP_LANES]; /* the lane's bit in a predicate */
    uint64_t bit8[WARP_LANES];
};

extern const struct jit_tables jit_tables;

/* The block at `pc` has been entered often, with a part of the lanes or with all. */
jit_code *jit_ripe(const struct jit *j, uint32_t pc, bool part);
/* The code for the block at `pc`, with a part of the lanes or with all; NULL: there is none. To be called with the
 * frame: `first`, `clock` and what says which lanes execute set. Threads that count at once count less: that does no
 * harm, and costs less. */
static inline jit_code *jit_enter(const struct jit *j, uint32_t pc, bool part) {
    struct jit_entry *e = &j->entry[part][pc];
    jit_code *code = atomic_load_explicit(&e->code, memory_order_acquire);
    unsigned wait;
    if (code || !(wait = atomic_load_explicit(&e->wait, memory_order_relaxed)))
        return code;
    atomic_store_explicit(&e->wait, wait - 1, memory_order_relaxed);
    return wait > 1 ? NULL : jit_ripe(j, pc, part);
}
#endif
