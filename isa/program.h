#ifndef ISA_PROGRAM_H
#define ISA_PROGRAM_H
/* A kernel that is ready to run: decoded instructions, whose operands are byte offsets, and results of analyses. The
 * folder frontend/ builds a program, isa/ executes it, and timing/ simulates its time. */
#include "types.h"
#include <stdio.h>

struct inst;
struct warp;
struct effects;
struct program_compound; /* defined in isa/compound.h */
struct control_bits;     /* defined in isa/control_bits.h */

/* A group of lanes and the PC where it continues. */
struct target {
    uint32_t pc;
    lanemask_t lanes;
};

/* A lane function computes all 32 lanes of a pure operation. The caller applies the lane mask (see exec.h). Pointers
 * are to 32 consecutive elements of the operand's type, or to one rowmask_t for predicates. A destination may be the
 * same array as a source of the same size; otherwise source and destination do not overlap. */
typedef void lane_fn(void *d, void *d2, const void *a, const void *b, const void *c, const void *e);
/* A warp function executes everything else: memory, cross-lane operations, control. `m` is the set of lanes that
 * execute; it is empty only for control instructions. The function writes its effects to `fx`. */
typedef void warp_fn(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx);

/* An operand: (byte offset << 1) | bank. Bank 0 is the warp's registers. Bank 1 is the program's constants, replicated
 * over the lanes. Operands are always valid: an absent source is OPND_ZERO (a constant 0, 64 bits per lane), an absent
 * destination is OPND_SINK (scratch at the start of bank 0). */
typedef uint32_t opnd_t;
#define OPND_ZERO ((opnd_t)1)
#define OPND_SINK ((opnd_t)0)
enum { SINK_BYTES = 512, ZERO_BYTES = 512 }; /* bytes reserved at the start of each bank, for 32 lanes of 128 bits */
#define NO_GUARD 0xffffffffu
#define PC_EXIT  0xffffffffu /* as an rpc or target, this value means the exit of the thread */

/* The kind of an instruction: how the driver executes it. */
enum inst_kind {
    K_LANE,     /* executed by fn.lane; the caller writes the result only to the lanes of the mask */
    K_CVT,      /* executed by fn.lane, with a source or destination register wider than the type (PTX ISA 9.4.1) */
    K_WARP,     /* executed by fn.warp: cross-lane operations, clock reads, system calls */
    K_LOAD,     /* fn.warp, memory read */
    K_STORE,    /* fn.warp, memory write */
    K_ATOM,     /* executed by fn.warp: read-modify-write (atom; red if d is OPND_SINK) */
    K_TEX,      /* executed by fn.warp: tex, tld4, suld, sust, sured */
    K_FENCE,    /* membar, fence: no architectural effect here; the timing model waits for earlier accesses */
    K_NOP,      /* counts as an instruction and does nothing (pragmas, prefetch without an address) */
    K_PREFETCH, /* fn.warp only computes addresses; no architectural effect */
    /* cp.async, executed by fn.warp: reads device memory now, and writes shared memory later (isa/machine/pending.h) */
    K_COPY,
    K_COMMIT,   /* cp.async.commit_group, executed by fn.warp */
    K_COLLECT,  /* cp.async.wait_group, wait_all, executed by fn.warp: the threads' own copies write shared memory */
    K_COMPOUND, /* fn.warp: several operations of the program in one instruction (isa/compound.h) */
    /* K_ENQ_* occur only in the affine stream. The affine engine (isa/affine/engine.h) executes them; exec_inst() never
     * executes them. */
    K_ENQ_DATA, /* sends the addresses of a load to the queue of its site, and prefetches the data */
    K_ENQ_ADDR, /* sends the addresses of an access to the queue of its site */
    K_ENQ_PRED, /* sends a predicate to the kernel's stream: struct program_site */
    /* K_BRANCH and later kinds are control instructions: the driver takes the next PCs from the effects */
    K_BRANCH, /* conditional or not: target in `target`, reconvergence PC in `rpc` */
    K_BRX,    /* brx.idx: each lane selects its target from a table */
    K_CALL,   /* direct or indirect call */
    K_RET,    /* return from a function; a return in an entry function is K_EXIT */
    K_EXIT,
    K_BARRIER,  /* bar, barrier: arrive, sync, red */
    K_WARPSYNC, /* bar.warp.sync */
    /* convergence barriers, which frontend/passes/barriers.c inserts: target is the PC of the join, rpc is the
     * barrier number */
    K_BSSY,
    K_BSYNC, /* imm is the barrier */
    K_BREAK, /* the executing lanes leave the barrier with number imm */
    K_TRAP,
    N_KINDS
};

/* Returns true for instructions of convergence barriers, which PTX does not have. */
static inline bool kind_is_convergence(uint8_t kind) { return kind == K_BSSY || kind == K_BSYNC || kind == K_BREAK; }

/* Latency class: selects a row of the latency table, and a pipe. */
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

/* Hints. They do not change what is computed. */
enum {
    HINT_VOLATILE = 1,
    HINT_UNI = 2,
    HINT_CACHE_POLICY = 4, /* the last operand is a cache policy, which lowering drops */
    HINT_OVERWRITES = 4,   /* of a K_STORE after lowering: other warps may have to read first (pass `overwrites`) */
    HINT_COLLECTIVE = 8,   /* the result depends on the lanes that execute it together: shfl, vote, ..., activemask */
    HINT_MEMBERS = 16,     /* the instruction waits for the lanes of its member mask: see warpsync.h */
    HINT_APART = 32,       /* a jump that the convergence barriers need; statistics count it separately */
    HINT_ALIGNED = 64,     /* all threads of a warp that have not exited must execute it together; checks use this */
    /* an operand or the guard comes from a queue (struct program_site); not allowed for kind K_LANE */
    HINT_DEQ = 128,
};
/* Memory order of an access, from modifiers (.volatile, .relaxed, .acquire ...) and the scope (PTX ISA 8). Functional
 * execution ignores it. */
enum {
    ORDER_RELAXED = 1, /* .relaxed, .volatile, .mmio: a strong access without an order of its own */
    ORDER_ACQUIRE = 2, /* .acquire, .acq_rel, .sc */
    ORDER_RELEASE = 4, /* .release, .acq_rel, .sc */
    ORDER_STRONG = ORDER_RELAXED | ORDER_ACQUIRE | ORDER_RELEASE,
    ORDER_CTA = 8, /* the scope is the CTA; the scope of a cluster counts as that of the GPU */
};
/* CACHE_NO_L1: .L1::no_allocate. CACHE_WALK: the access is a heddle.walk, which the walk unit executes (isa/walk.h). */
enum cache_op {
    CACHE_DEFAULT,
    CACHE_CA,
    CACHE_CG,
    CACHE_CS,
    CACHE_LU,
    CACHE_CV,
    CACHE_WB,
    CACHE_WT,
    CACHE_NO_L1,
    CACHE_WALK
};

struct inst {
    union {
        lane_fn *lane;
        warp_fn *warp;
    } fn;
    opnd_t d, d2, a, b, c, e;
    union {
        int64_t imm; /* address offset in bytes; barrier number for K_BSYNC and K_BREAK */
        struct {
            /* rpc: reconvergence PC of K_BRANCH and K_BRX; return PC of K_CALL; barrier number of K_BSSY */
            uint32_t target, rpc;
        };
    };
    uint32_t guard;    /* byte offset of the guard predicate in bank 0, NO_GUARD for none */
    uint32_t list;     /* index of its first entry in program.lists: vector elements, brx targets, call arguments */
    uint16_t row;      /* index of the semantics row, see decode.h */
    uint8_t kind;      /* enum inst_kind */
    uint8_t guard_not; /* the instruction executes in lanes whose guard is false */
    uint8_t dsize;     /* bytes per lane of d; 0: d is a predicate mask, or there is no d */
    uint8_t d2size;    /* as dsize, of d2 */
    uint8_t n_list;    /* number of entries in program.lists */
    uint8_t space;     /* enum space */
    uint8_t msize;     /* bytes of one element in memory; K_BSYNC: lanes that open the barrier, 0: all */
    uint8_t rsize;     /* bytes of the register that holds one element (loads, stores, K_CVT destination) */
    uint8_t asize;     /* bytes per lane of the address register (4 or 8), or, for K_CVT, of the source register */
    uint8_t is_signed; /* loads, K_CVT: sign-extend into a wider register */
    uint8_t latency;   /* enum latency_class */
    uint8_t hints;     /* HINT_ bits */
    uint8_t cache_op;  /* enum cache_op */
    /* BLOCK_ bits. BLOCK_ENDS: the instruction is a control instruction, or the next PC begins a block; the driver then
     * calls the reconvergence model */
    uint8_t ends_block;
};
enum {
    BLOCK_ENDS = 1,
    BLOCK_MAY_EXIT = 2, /* a branch with a target from which threads can only return or exit */
    BLOCK_WAITS = 4     /* a backward branch of a loop that waits for other threads (inst_info.waits) */
};

/* Returns true for accesses that communicate with other threads: atomics, volatile and stronger accesses (PTX ISA 8.4),
 * and accesses that bypass the L1. */
static inline bool inst_is_strong(const struct inst *in) {
    return in->kind == K_ATOM || in->hints & HINT_VOLATILE || in->cache_op == CACHE_CG || in->cache_op == CACHE_CV ||
           in->cache_op == CACHE_WT;
}

/* Return the number of elements of a lane's access, their bytes in memory, and the register of element k. `lists`:
 * program.lists. */
static inline unsigned inst_elements(const struct inst *in) { return in->n_list ? in->n_list : 1; }
static inline unsigned inst_bytes(const struct inst *in) { return inst_elements(in) * in->msize; }
static inline opnd_t inst_element(const opnd_t *lists, const struct inst *in, unsigned k) {
    return in->n_list ? lists[in->list + k] : in->kind == K_LOAD ? in->d : in->b;
}

/* Returns true for loads from global, local and generic memory. The statistics of decoupling count these loads. */
static inline bool inst_is_counted_load(const struct inst *in) {
    return in->kind == K_LOAD && (in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL || in->space == SPACE_GENERIC);
}

enum { MAX_INST_REGS = 160, N_REG_AREAS = 6 };

/* Values of inst_info.order_hint, which name the target of a branch that should run first: none; the next PC; the
 * target of the branch, or the first target of a brx. The next values name its other targets. */
enum { ORDER_HINT_NONE, ORDER_HINT_NEXT, ORDER_HINT_TARGET };
/* Further data of an instruction, not needed to execute it. */
struct inst_info {
    uint32_t line, column;       /* position in the PTX text */
    uint32_t src_file, src_line; /* source file and line of the last .loc before the instruction; 0: no .loc */
    uint32_t block;              /* index into program.blocks */
    uint32_t function;           /* index into program.functions */
    uint32_t regs;               /* index of its first entry in program.regs: registers read, then registers written */
    uint8_t n_reads, n_writes;
    bool only_exits; /* from this instruction on, a thread can only exit (frontend/analysis/exits.c) */
    /* from this instruction on, a thread can only return from its function or exit; the callers decide which of
     * the two */
    bool only_returns;
    uint8_t order;        /* ORDER_ bits */
    bool spilled : 1;     /* a load or store of a spilled register */
    bool others_dead : 1; /* lanes without the guard need no old value of the results (select_guards.c) */
    bool waits;  /* the loop waits: of a backward branch, for other threads; of a clock read, for a clock (waits.h) */
    bool yields; /* .pragma "heddle yield" precedes the instruction: a subwarp yields after issuing it (si) */
    /* With HINT_DEQ: the numbers of two sites (struct program_site), plus 1; 0 means no site. Before the instruction
     * executes, the lanes of its path dequeue the guard of `guard_site` into program.deq_predicate. Then the lanes
     * whose guard holds dequeue from `site`: addresses into program.deq_address, or a predicate (#deq.pred) into
     * program.deq_predicate. For K_ENQ_*, `site` is the site to which the instruction sends. */
    uint16_t site, guard_site;
    /* number of live 32-bit register words after the instruction, without registers of callers; at most 65535 */
    uint16_t live;
    uint16_t order_hint; /* of a branch: ORDER_HINT_ value, for si */
    uint32_t twin;       /* a number that a branch has in both streams; 0: only one stream has the branch */
};

/* A basic block [begin, end). */
struct block {
    uint32_t begin, end;
    /* indices of the successor blocks; UINT32_MAX: none. A block that ends in brx lists them in program.lists */
    uint32_t succ[2];
    uint32_t ipdom; /* block index of the immediate post-dominator, UINT32_MAX: the end of the thread */
    uint32_t function;
    /* end of the straight-line code that begins with the block: the PC after the next branch, return or exit, or the
     * next join. Barriers, calls and guarded exits end a block, but not straight-line code */
    uint32_t run_end;
};

/* A function body inside the program; function 0 is the kernel. */
struct program_function {
    const char *name;
    uint32_t entry, end;         /* PCs [entry, end) */
    uint32_t reg_begin, reg_end; /* bytes [reg_begin, reg_end) of bank 0 hold the function's registers */
    uint32_t frame_bytes;        /* bytes of the function's .local and .param variables in local memory */
    uint32_t frame_base;         /* local address of the frame, if the function is not recursive */
    uint32_t id;                 /* the function's address is CODE_BASE + 16 * id */
    /* byte offsets in the frame of its formal parameters and results, for calls through a pointer */
    uint32_t param_offset[16];
    uint32_t n_params, n_results;
    bool recursive;
    uint32_t saves, n_saves; /* recursive function: list and number of the registers that a call saves; see call.h */
};

/* A sequence of instructions that a warp may run from beginning to end. Stream 0 is the kernel. Further streams hold
 * code that passes move out of the kernel; special warps, such as the affine warp, execute it. Streams share constants,
 * special registers and functions; each warp has its own registers. */
struct program_stream {
    const char *name;
    uint32_t function;    /* index into program.functions of the function with this body */
    uint32_t thread_regs; /* maximum number of 32-bit registers that a thread needs at once, for occupancy */
};

/* A site is a channel between streams: one instruction of the affine stream sends values to one instruction of the
 * kernel's stream. A lane receives values in the order of sending. Data and addresses use one queue, predicates
 * another. */
enum site_kind { SITE_DATA, SITE_ADDR, SITE_PRED };
struct program_site {
    uint32_t enq_pc, deq_pc; /* PC of the K_ENQ_* in the affine stream; PC of the receiver (HINT_DEQ) in the kernel */
    uint32_t line;           /* line of the access or setp in the PTX text */
    uint8_t kind;            /* enum site_kind */
};

/* Statistics of decoupling for a kernel and the functions that it calls: how many instructions compute only on scalar
 * data and thread indices, and how many were decoupled. Counts instructions as lowered, before decoupling. */
struct program_coverage {
    uint32_t instructions;
    /* number of instructions that compute only on scalar data and thread indices (Figure 6 of the paper on decoupled
     * affine computation) */
    uint32_t potential;
    /* numbers of loads from global, local, shared and generic memory, without atomics */
    uint32_t loads, loads_decoupled;
    uint32_t stores, stores_decoupled;
    uint32_t tuples; /* number of tuple registers of the affine stream; 0: no affine stream */
    /* number of tuple registers that full decoupling would need; it exceeds `tuples` if the tuple file is too small for
     * it */
    uint32_t tuples_all;
};

/* A count that a pass made for a kernel and the functions that it calls. Each launch of the kernel reports the count as
 * a statistic. */
struct program_count {
    const char *name; /* name of the statistic */
    double value;
};

/* A fact that a pass found about each block, for reconvergence models (see reconv_fact()). */
struct program_fact {
    const char *name;
    uint32_t *of_block; /* n_blocks values */
};

/* A special register that is read into a register when a warp starts. */
struct special_init {
    uint16_t id;      /* enum special */
    uint16_t bytes;   /* bytes per lane: 4 or 8 */
    uint32_t offset;  /* byte offset in bank 0 */
    uint32_t param;   /* SPECIAL_PARAM: byte offset in the parameter space */
    uint64_t address; /* SPECIAL_CONST: address in device memory */
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
    X(QUAD, "#quad") X(QUAD_PLACE, "#quad.place") /* only for lowering: lane / 4, lane % 4 */                          \
    X(TILE_ROW, "#tile.row") X(TILE_HALF, "#tile.half") /* only for lowering: lane % 16 * 2, lane / 16 */              \
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
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster") X(CURRENT_GRAPH_EXEC, "%current_graph_exec")                        \
    /* of the pass `select`, as operands in constant memory: a parameter of the kernel, a word of a .const variable */ \
    X(PARAM, "#param") X(CONST, "#const")
/* clang-format on */
enum special {
#define X(id, name) SPECIAL_##id,
    ISA_SPECIALS(X)
#undef X
        N_SPECIALS
};
/* Returns true for special registers that change (clocks, timers, performance counters): lowering emits an instruction
 * that reads them. */
bool special_is_volatile(enum special s);
const char *special_name(enum special s);
/* Returns true for values that are in constant memory on the machine: parameters, words of .const variables, and the
 * sizes of CTA and grid. */
static inline bool special_is_constant(enum special s) {
    return s == SPECIAL_PARAM || s == SPECIAL_CONST || (s >= SPECIAL_NTID_X && s <= SPECIAL_NTID_Z) ||
           (s >= SPECIAL_NCTAID_X && s <= SPECIAL_NCTAID_Z);
}

struct program_param {
    const char *name;
    enum type type;                /* type of an element; T_B8 for a block of bytes */
    uint32_t offset, bytes, align; /* position and size in the parameter space */
    bool is_pointer;               /* declared with .ptr */
};

/* The name that `.file index "name"` gives to an index; see inst_info.src_file. */
struct program_source {
    uint32_t index;
    const char *name;
};

struct program {
    const char *name;             /* name of the kernel */
    const char *file;             /* name of the PTX file */
    struct inst *code;            /* n instructions */
    struct inst_info *info;       /* n entries, one for each instruction */
    struct control_bits *control; /* n entries (core.kind=modern); NULL: the program has none */
    uint32_t n;
    struct block *blocks;
    uint32_t n_blocks;
    opnd_t *lists; /* see inst.list */
    uint32_t n_lists;
    uint16_t *regs; /* scoreboard register numbers, see inst_info.regs */
    uint32_t n_regs_list;
    uint32_t n_regs;    /* number of scoreboard registers; each register and each predicate has one */
    uint8_t *reg_words; /* n_regs entries: 32-bit words of each register, 0 for a predicate */
    uint8_t *reg_bank;  /* n_regs entries: number of each register for its bank; NULL: the scoreboard register number */
    unsigned char *constants; /* bank 1, 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t reg_bytes; /* bytes of bank 0 of one warp; a multiple of 64 */
    /* offsets in bank 0 where registers of 0 (predicates), 1, 2, 4, 8, 16 bytes per lane begin */
    uint32_t reg_area[N_REG_AREAS + 1];
    uint32_t thread_regs; /* as in stream 0 */
    struct special_init *specials;
    uint32_t n_specials;
    struct program_function *functions;
    uint32_t n_functions;
    struct program_stream *streams; /* at least one; the stream of affine warps is called AFFINE_STREAM */
    uint32_t n_streams;
    struct affine_stream *affine; /* data that isa/affine/stream.h derives from the affine stream; NULL: no such data */
    struct program_site *sites;   /* sites of both streams */
    uint32_t n_sites;
    struct program_compound *compounds; /* indexed by the imm of K_COMPOUND */
    uint32_t n_compounds;
    struct program_coverage coverage; /* zero if the pass `decouple` did not run */
    struct program_count *counts;     /* counts of passes */
    uint32_t n_counts;
    struct program_fact *facts;
    uint32_t n_facts;
    /* hidden register of 64 bits per lane that receives addresses from a queue; OPND_SINK if there is none */
    opnd_t deq_address;
    /* byte offset in bank 0 of the hidden predicate that receives predicates from a queue; NO_GUARD if there is none */
    uint32_t deq_predicate;
    struct program_param *params;
    uint32_t n_params, param_bytes;
    uint32_t shared_bytes; /* bytes of static shared memory; dynamic shared memory begins at the next multiple of 16 */
    uint32_t local_bytes;  /* bytes of local memory per thread, without the stack of recursive functions */
    uint32_t place;        /* number of instructions in the PTX text before the kernel's first instruction */
    struct dim3 reqntid;   /* .reqntid; zero when absent */
    struct dim3 maxntid;   /* .maxntid; zero when absent */
    struct dim3 cluster;   /* .reqnctapercluster; zero when absent */
    /* .maxclusterrank: most CTAs of a cluster; 0 when absent */
    uint32_t max_cluster_rank;
    bool explicit_cluster;    /* .explicitcluster */
    bool warp_groups;         /* the program has wgmma.wait_group */
    bool moves_registers;     /* the program has setmaxnreg */
    bool blocks_are_clusters; /* .blocksareclusters: the grid of a launch is given in clusters */
    bool uses_barriers;       /* contains convergence barriers (frontend/passes/barriers.c) */
    bool uses_stack;          /* contains alloca, stacksave or stackrestore */
    bool uses_dynamic_shared; /* contains an address in dynamic shared memory */
    bool local_by_word;       /* local memory of all lanes is interleaved by words: exec_local_by_word() allows it */
    /* hidden register of 64 bits per lane if the kernel can reach a recursive function, else OPND_SINK; see call.h */
    opnd_t frame_pointer;
    struct program_source *sources;
    uint32_t n_sources;
    void *owner; /* the arena that holds the program's data; program_free() frees it */
    void (*free_owner)(void *owner);
};

#define AFFINE_STREAM "affine"
/* Returns the number of the affine stream; 0: the program has none. */
uint32_t program_affine_stream(const struct program *p);
/* Returns the count that passes made under this name; 0 if no pass made one. */
double program_count(const struct program *p, const char *name);
/* Returns the fact with this name, one value per block; NULL if no pass found it. */
const uint32_t *program_fact(const struct program *p, const char *name);
void program_free(struct program *p);
/* Returns the PC at which warps of a stream start. */
static inline uint32_t program_entry(const struct program *p, uint32_t stream) {
    return p->functions[p->streams[stream].function].entry;
}
/* Prints instruction `pc`: its mnemonic and its operands ("r3", "p0", constants by value). */
void program_print_inst(const struct program *p, uint32_t pc, char *out, size_t size);
/* Prints the source position from .loc, such as " (k.cu:7)", or nothing if there is none. */
void program_print_source(const struct program *p, uint32_t pc, FILE *out);
#endif
