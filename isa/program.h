#ifndef ISA_PROGRAM_H
#define ISA_PROGRAM_H
/* A kernel ready to run: flat decoded instructions with operands resolved to byte offsets, and what the analyses
 * found out about them. Built by frontend/, executed by isa/, timed by timing/. */
#include "types.h"
#include <stdio.h>

struct inst;
struct warp;
struct effects;
struct program_compound; /* isa/compound.h */

/* A group of lanes and where it goes. */
struct target {
    uint32_t pc;
    lanemask_t lanes;
};

/* A lane function computes all 32 lanes of a pure operation; masks are the caller's business (see exec.h).
 * Pointers are to 32 consecutive elements of the operand's type, or to one lanemask_t for predicates. A destination
 * may be the same array as a source of the same size; otherwise they do not overlap. */
typedef void lane_fn(void *d, void *d2, const void *a, const void *b, const void *c, const void *e);
/* A warp function does the rest: memory, cross-lane, control. `m` is the set of lanes that execute, never empty
 * unless the kind is control. It writes what happened into `fx`. */
typedef void warp_fn(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx);

/* An operand: (byte offset << 1) | bank. Bank 0 is the warp's registers, bank 1 the program's constants (uniform values
 * replicated over the lanes). Never invalid: an absent source is OPND_ZERO (a constant 0, 64 bits a lane), an absent
 * destination is OPND_SINK (scratch at the start of bank 0). */
typedef uint32_t opnd_t;
#define OPND_ZERO ((opnd_t)1)
#define OPND_SINK ((opnd_t)0)
enum { SINK_BYTES = 512, ZERO_BYTES = 512 }; /* reserved at the start of bank 0 and bank 1; 32 lanes of 128 bits */
#define NO_GUARD 0xffffffffu
#define PC_EXIT  0xffffffffu /* as an rpc or target: the end of the thread */

/* What the driver must do around an instruction. */
enum inst_kind {
    K_LANE,     /* fn.lane; blend under mask */
    K_CVT,      /* fn.lane, with a source or destination register wider than the type (PTX ISA 9.4.1) */
    K_WARP,     /* fn.warp: cross-lane, clock, system calls */
    K_LOAD,     /* fn.warp, memory read */
    K_STORE,    /* fn.warp, memory write */
    K_ATOM,     /* fn.warp, read-modify-write (atom, and red when d is OPND_SINK) */
    K_TEX,      /* fn.warp: tex, tld4, suld, sust, sured */
    K_FENCE,    /* membar, fence: no architectural effect here; timing waits */
    K_NOP,      /* counts as an instruction, does nothing (pragma-like instructions, prefetch without address) */
    K_PREFETCH, /* fn.warp computes addresses, no effect */
    K_COPY,     /* fn.warp: cp.async, from device to shared memory; when it is complete is told by who keeps time */
    K_COMMIT,   /* cp.async.commit_group: no architectural effect here */
    K_COLLECT,  /* cp.async.wait_group, wait_all: likewise; timing waits for copies of the threads' own */
    K_COMPOUND, /* fn.warp: several operations of the program in one instruction (isa/compound.h) */
    /* of the affine stream only; its engine executes them (isa/affine/engine.h), exec_inst() never does */
    K_ENQ_DATA, /* sends the addresses of a load to its site, and fetches */
    K_ENQ_ADDR, /* sends addresses */
    K_ENQ_PRED, /* sends a predicate */
    /* control: from here on the driver asks the effects for the next PCs */
    K_BRANCH, /* conditional or not: target in `target`, reconvergence PC in `rpc` */
    K_BRX,    /* brx.idx: lanes choose from a table */
    K_CALL,   /* direct or indirect */
    K_RET,    /* return from a function; in an entry it is K_EXIT */
    K_EXIT,
    K_BARRIER,  /* bar, barrier: arrive, sync, red */
    K_WARPSYNC, /* bar.warp.sync */
    K_BSSY,     /* convergence barriers, inserted by frontend/passes/barriers.c: target is the join, rpc the barrier */
    K_BSYNC,    /* imm is the barrier */
    K_BREAK,    /* its lanes take no further part in barrier imm */
    K_TRAP,
    N_KINDS
};

/* Is it an instruction of convergence barriers, which no PTX names? */
static inline bool kind_is_convergence(uint8_t kind) { return kind == K_BSSY || kind == K_BSYNC || kind == K_BREAK; }

/* Latency class: which row of the latency table applies (timing) and which pipe. */
/* clang-format off */
#define ISA_LATENCIES(X)                                                                                               \
    X(INT_ADD) X(INT_MINMAX) X(INT_MUL) X(INT_MAD) X(INT_DIV) X(INT_OTHER)                                             \
    X(F32_ADD) X(F32_MINMAX) X(F32_MUL) X(F32_FMA) X(F32_DIV)                                                          \
    X(F64_ADD) X(F64_MINMAX) X(F64_MUL) X(F64_FMA) X(F64_DIV) X(F64_RCP)                                               \
    X(F16) X(SFU) X(SHFL) X(MMA) X(MEM) X(CONTROL)
/* clang-format on */
enum latency_class {
#define X(id) LAT_##id,
    ISA_LATENCIES(X)
#undef X
        N_LATENCIES
};
const char *latency_name(enum latency_class c);

/* Hints that do not change what is computed. */
enum {
    HINT_VOLATILE = 1,
    HINT_UNI = 2,
    HINT_CACHE_POLICY = 4, /* a last operand to ignore: for lowering */
    HINT_COLLECTIVE = 8,   /* what it does depends on which lanes execute it together: shfl, vote, ..., activemask */
    HINT_MEMBERS = 16,     /* it waits for the lanes that its member mask names: warpsync.h */
    HINT_APART = 32,       /* a jump that goes with convergence barriers: counted apart, as these are */
    HINT_ALIGNED = 64,     /* all threads of a warp that have not exited execute it together: for those who check */
    HINT_DEQ = 128,        /* an operand or the guard comes from a queue: struct program_site. Never of a K_LANE */
};
/* What the words .volatile, .relaxed, .acquire ... and the scope say about the order of memory accesses (PTX ISA 8);
 * nothing of it is needed to execute. */
enum {
    ORDER_RELAXED = 1, /* .relaxed, .volatile, .mmio: strong, and orders nothing by itself */
    ORDER_ACQUIRE = 2, /* .acquire, .acq_rel, .sc */
    ORDER_RELEASE = 4, /* .release, .acq_rel, .sc */
    ORDER_STRONG = ORDER_RELAXED | ORDER_ACQUIRE | ORDER_RELEASE,
    ORDER_CTA = 8, /* the scope is the CTA, or the cluster, which is one CTA */
};
enum cache_op { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_LU, CACHE_CV, CACHE_WB, CACHE_WT };

struct inst {
    union {
        lane_fn *lane;
        warp_fn *warp;
    } fn;
    opnd_t d, d2, a, b, c, e;
    union {
        int64_t imm; /* address offset in bytes; barrier number for K_BSYNC and K_BREAK */
        struct {
            uint32_t target,
                rpc; /* K_BRANCH, K_BRX, K_CALL (rpc is where the call returns), K_BSSY (rpc is the barrier) */
        };
    };
    uint32_t guard;     /* byte offset of the guard predicate in bank 0, NO_GUARD for none */
    uint32_t list;      /* first entry in program.lists: vector elements, brx targets, call arguments */
    uint16_t row;       /* index of the semantics row, see decode.h */
    uint8_t kind;       /* enum inst_kind */
    uint8_t guard_not;  /* execute where the guard is false */
    uint8_t dsize;      /* bytes a lane of d; 0: a predicate mask or nothing */
    uint8_t d2size;     /* likewise */
    uint8_t n_list;     /* entries in program.lists */
    uint8_t space;      /* enum space */
    uint8_t msize;      /* bytes of one element in memory */
    uint8_t rsize;      /* bytes of the register that holds one element (loads, stores, K_CVT destination) */
    uint8_t asize;      /* bytes a lane of the address register (4 or 8); K_CVT: of the source register */
    uint8_t is_signed;  /* loads, K_CVT: sign-extend into a wider register */
    uint8_t latency;    /* enum latency_class */
    uint8_t hints;      /* HINT_ bits */
    uint8_t cache_op;   /* enum cache_op */
    uint8_t ends_block; /* BLOCK_ENDS: the next PC is a block leader, or this is control: the model must hear of it */
};
enum {
    BLOCK_ENDS = 1,
    BLOCK_MAY_EXIT = 2, /* a branch to where threads only return or exit, on one of its ways */
    BLOCK_WAITS = 4     /* a branch back in a loop that waits for other threads (inst_info.waits) */
};

/* Is it an access that other threads are meant to see, or that looks for theirs: an atomic, a volatile or stronger one
 * (PTX ISA 8.4), or one past the L1? */
static inline bool inst_is_strong(const struct inst *in) {
    return in->kind == K_ATOM || in->hints & HINT_VOLATILE || in->cache_op == CACHE_CG || in->cache_op == CACHE_CV ||
           in->cache_op == CACHE_WT;
}

/* Is it a load that statistics of decoupling count: of memory that other threads may write? */
static inline bool inst_is_counted_load(const struct inst *in) {
    return in->kind == K_LOAD && (in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL || in->space == SPACE_GENERIC);
}

enum { MAX_INST_REGS = 24, N_REG_AREAS = 6 };

/* The same instruction, for those who do not execute it. */
struct inst_info {
    uint32_t line, column;       /* in the PTX text */
    uint32_t src_file, src_line; /* of the last .loc before it; 0 when none */
    uint32_t block;              /* index into program.blocks */
    uint32_t function;           /* index into program.functions */
    uint32_t regs;               /* first entry in program.regs: registers read, then registers written */
    uint8_t n_reads, n_writes;
    bool only_exits;   /* a thread here has nothing left to do but exit (frontend/analysis/exits.c) */
    bool only_returns; /* or but return from its function: what is left then is a matter of who called it */
    uint8_t order;     /* ORDER_ bits */
    bool spilled;      /* a load or store of a register that is kept in local memory */
    bool waits;        /* a branch back in a loop that waits for other threads (frontend/analysis/waits.c) */
    bool yields;       /* .pragma "heddle yield" stands before it: a subwarp gives way when it has issued (si) */
    /* HINT_DEQ: sites + 1, 0 for none. Before the instruction executes, the lanes of its path take the guard of
     * `guard_site` into program.deq_predicate; then those whose guard holds take what `site` sends them: addresses into
     * program.deq_address, or a predicate (#deq.pred) into program.deq_predicate. K_ENQ_*: `site` is its own. */
    uint16_t site, guard_site;
    uint16_t live; /* 32-bit words of registers that hold a value behind it, without those of callers; at most 65535 */
    uint32_t twin; /* a branch that both streams have: a number of the two; 0: there is only one */
};

/* A basic block [begin, end). */
struct block {
    uint32_t begin, end;
    uint32_t succ[2]; /* block indices; UINT32_MAX for none. Blocks that end in brx list them in program.lists */
    uint32_t ipdom;   /* block index of the immediate post-dominator, UINT32_MAX: the end of the thread */
    uint32_t function;
    uint32_t run_end; /* PC behind the next branch, return or end of the thread, or of the next join: barriers, calls
                         and guarded exits end a block, but not the straight code that it begins */
};

/* A function body inside the program; 0 is the kernel itself. */
struct program_function {
    const char *name;
    uint32_t entry, end;         /* PCs [entry, end) */
    uint32_t reg_begin, reg_end; /* bytes of bank 0 that hold its registers (saved when it calls itself) */
    uint32_t frame_bytes;        /* its .local and .param variables, in its threads' local memory */
    uint32_t frame_base;         /* where they start when it is not recursive */
    uint32_t id;                 /* its address is CODE_BASE + 16 * id */
    uint32_t param_offset[16];   /* of its formal parameters in the frame, for calls through a pointer */
    uint32_t n_params, n_results;
    bool recursive;
    uint32_t saves, n_saves; /* recursive: registers that a call of it saves, see call.h */
};

/* A sequence of instructions that a warp may run from its beginning to its end. Stream 0 is the kernel; further ones
 * are what passes take out of it for warps of another kind. They share constants, special registers and the functions
 * that they call; the warps that run them have registers of their own. */
struct program_stream {
    const char *name;
    uint32_t function;    /* index into program.functions: its body, which begins at the function's entry */
    uint32_t thread_regs; /* 32-bit registers a thread needs at once: what occupancy counts */
};

/* Where the affine stream sends something that the kernel's own stream takes: one place in each. A lane takes what
 * was sent to it in the order of sending, data and addresses in one queue and predicates in another. */
enum site_kind { SITE_DATA, SITE_ADDR, SITE_PRED };
struct program_site {
    uint32_t enq_pc, deq_pc; /* the K_ENQ_* of the affine stream; the instruction with HINT_DEQ */
    uint32_t line;           /* of the PTX text: the access, or the setp */
    uint8_t kind;            /* enum site_kind */
};

/* What of a kernel and the functions that it calls could be computed from scalar data and thread indices, and what was
 * decoupled; counts of instructions of the text as lowered, before anything was decoupled. */
struct program_coverage {
    uint32_t instructions;
    uint32_t potential;              /* compute on scalar data and thread indices alone (the paper's Figure 6) */
    uint32_t loads, loads_decoupled; /* of global, local, shared and generic memory; atomic accesses are none */
    uint32_t stores, stores_decoupled;
    uint32_t tuples;     /* tuple registers of the affine stream; 0: there is none */
    uint32_t tuples_all; /* what it would have with everything decoupled that could be: more, where they do not fit */
};

/* What a pass counted in a kernel and the functions that it calls, for a statistic of each launch. */
struct program_count {
    const char *name; /* of the statistic */
    double value;
};

/* Registers that hold special registers, filled when a warp starts. */
struct special_init {
    uint16_t id;     /* enum special */
    uint16_t bytes;  /* 4 or 8 a lane */
    uint32_t offset; /* in bank 0 */
};
/* clang-format off */
#define ISA_SPECIALS(X)                                                                                                \
    X(TID_X, "%tid.x") X(TID_Y, "%tid.y") X(TID_Z, "%tid.z")                                                           \
    X(NTID_X, "%ntid.x") X(NTID_Y, "%ntid.y") X(NTID_Z, "%ntid.z")                                                     \
    X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") X(CTAID_Z, "%ctaid.z")                                               \
    X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y") X(NCTAID_Z, "%nctaid.z")                                         \
    X(LANEID, "%laneid") X(WARPID, "%warpid") X(NWARPID, "%nwarpid") X(SMID, "%smid") X(NSMID, "%nsmid")               \
    X(GRIDID, "%gridid")                                                                                               \
    X(LANEMASK_EQ, "%lanemask_eq") X(LANEMASK_LE, "%lanemask_le") X(LANEMASK_LT, "%lanemask_lt")                       \
    X(LANEMASK_GE, "%lanemask_ge") X(LANEMASK_GT, "%lanemask_gt")                                                      \
    X(QUAD, "#quad") X(QUAD_PLACE, "#quad.place") /* lowering's own: lane / 4, lane % 4 */                             \
    X(CLOCK, "%clock") X(CLOCK_HI, "%clock_hi") X(CLOCK64, "%clock64")                                                 \
    X(GLOBALTIMER, "%globaltimer") X(GLOBALTIMER_LO, "%globaltimer_lo") X(GLOBALTIMER_HI, "%globaltimer_hi")           \
    X(TOTAL_SMEM, "%total_smem_size") X(DYNAMIC_SMEM, "%dynamic_smem_size") X(AGGR_SMEM, "%aggr_smem_size")            \
    X(RESERVED_SMEM, "%reserved_smem_offset_begin") X(ENVREG, "%envreg") X(PM, "%pm")                                  \
    X(ENVREG1, "%envreg1") X(ENVREG2, "%envreg2")                                                                      \
    X(CLUSTERID_X, "%clusterid.x") X(CLUSTERID_Y, "%clusterid.y") X(CLUSTERID_Z, "%clusterid.z")                       \
    X(NCLUSTERID_X, "%nclusterid.x") X(NCLUSTERID_Y, "%nclusterid.y") X(NCLUSTERID_Z, "%nclusterid.z")                 \
    X(CLUSTER_CTAID_X, "%cluster_ctaid.x") X(CLUSTER_CTAID_Y, "%cluster_ctaid.y")                                      \
    X(CLUSTER_CTAID_Z, "%cluster_ctaid.z") X(CLUSTER_NCTAID_X, "%cluster_nctaid.x")                                    \
    X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y") X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z")                                  \
    X(CLUSTER_CTARANK, "%cluster_ctarank") X(CLUSTER_NCTARANK, "%cluster_nctarank")                                    \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster") X(CURRENT_GRAPH_EXEC, "%current_graph_exec")
/* clang-format on */
enum special {
#define X(id, name) SPECIAL_##id,
    ISA_SPECIALS(X)
#undef X
        N_SPECIALS
};
/* True for those that must be read when the instruction executes (clocks, timers): lowering emits an instruction. */
bool special_is_volatile(enum special s);
const char *special_name(enum special s);

struct program_param {
    const char *name;
    enum type type;                /* of an element; T_B8 for a block of bytes */
    uint32_t offset, bytes, align; /* in the parameter space */
    bool is_pointer;               /* declared with .ptr */
};

/* .file index "name": what inst_info.src_file refers to. */
struct program_source {
    uint32_t index;
    const char *name;
};

struct program {
    const char *name;       /* of the kernel */
    const char *file;       /* of the PTX text */
    struct inst *code;      /* n instructions */
    struct inst_info *info; /* n */
    uint32_t n;
    struct block *blocks;
    uint32_t n_blocks;
    opnd_t *lists; /* see inst.list */
    uint32_t n_lists;
    uint16_t *regs; /* scoreboard register numbers, see inst_info.regs */
    uint32_t n_regs_list;
    uint32_t n_regs;          /* scoreboard registers: numbers are below this; one a register, predicates included */
    uint8_t *reg_words;       /* n_regs: 32-bit words of each, 0 for a predicate */
    unsigned char *constants; /* bank 1, 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t reg_bytes;                 /* bank 0 of one warp; a multiple of 64 */
    uint32_t reg_area[N_REG_AREAS + 1]; /* where in it registers of 0 (predicates), 1, 2, 4, 8, 16 bytes a lane begin */
    uint32_t thread_regs;               /* of stream 0 */
    struct special_init *specials;
    uint32_t n_specials;
    struct program_function *functions;
    uint32_t n_functions;
    struct program_stream *streams; /* at least one; that of the affine warp is called AFFINE_STREAM */
    uint32_t n_streams;
    struct affine_stream *affine; /* what isa/affine/stream.h makes of that; NULL where nobody has made it */
    struct program_site *sites;   /* where the two meet */
    uint32_t n_sites;
    struct program_compound *compounds; /* of each K_COMPOUND, by its imm */
    uint32_t n_compounds;
    struct program_coverage coverage; /* zero where the pass `decouple` did not run */
    struct program_count *counts;     /* of passes */
    uint32_t n_counts;
    opnd_t deq_address;     /* hidden register, 64 bits a lane: addresses from a queue; OPND_SINK when there is none */
    uint32_t deq_predicate; /* hidden predicate, byte offset in bank 0; NO_GUARD when there is none */
    struct program_param *params;
    uint32_t n_params, param_bytes;
    uint32_t shared_bytes; /* static; dynamic shared memory follows at the next multiple of 16 */
    uint32_t local_bytes;  /* a thread, without the stack of recursive functions */
    uint32_t place;        /* instructions of the PTX text before the kernel's first */
    struct dim3 reqntid;   /* .reqntid; zero when absent */
    struct dim3 maxntid;   /* .maxntid; zero when absent */
    struct dim3 cluster;   /* .reqnctapercluster; zero when absent */
    bool uses_barriers;    /* prepared by the barriers pass */
    bool uses_stack;       /* alloca, stacksave or stackrestore */
    bool local_by_word;    /* word by word all lanes' local memory: nothing reaches more of it than loads and stores do
                              (exec_local_by_word()) */
    opnd_t frame_pointer;  /* 64 bits a lane, where a recursive function is reachable; OPND_SINK where none is. See
                              call.h */
    struct program_source *sources;
    uint32_t n_sources;
    void *owner; /* the arena that holds all of this; freed by program_free */
    void (*free_owner)(void *owner);
};

#define AFFINE_STREAM "affine"
/* The number of the affine stream; 0 when the program has none. */
uint32_t program_affine_stream(const struct program *p);
/* What passes counted under this name; 0: nothing. */
double program_count(const struct program *p, const char *name);
void program_free(struct program *p);
/* The PC at which warps of a stream start. */
static inline uint32_t program_entry(const struct program *p, uint32_t stream) {
    return p->functions[p->streams[stream].function].entry;
}
/* Prints instruction `pc` as text: its mnemonic and operands by their place ("r3", "p0", constants by value). */
void program_print_inst(const struct program *p, uint32_t pc, char *out, size_t size);
/* " (k.cu:7)": where .loc says that the instruction comes from; nothing when there is none. */
void program_print_source(const struct program *p, uint32_t pc, FILE *out);
#endif
