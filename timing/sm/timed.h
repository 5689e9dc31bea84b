#ifndef TIMING_TIMED_H
#define TIMING_TIMED_H
/* The properties of each instruction of a program that the SM needs: scoreboard registers, banks, pipe, time and
 * flags. They are computed once per launch. */
#include "isa/control_bits.h"
#include "timing/sm/regfile/collector.h"
#include "timing/sm/scoreboard/scoreboard.h"

enum {
    TIMED_MEMORY = 1,  /* goes to the load/store unit */
    TIMED_LOAD = 2,    /* if a warp stalls on the result, it waits for a load */
    TIMED_CONTROL = 4, /* kind >= K_BRANCH */
    TIMED_ENDS = 8,    /* last instruction of a basic block: the divergence model is notified */
    TIMED_FENCE = 16,
    TIMED_ORDERED = 32,       /* performed at the next edge, in order of (cycle, SM): see sm.h */
    TIMED_FREE = 64,          /* BSSY, BSYNC, BREAK and their jumps: counted separately from warp instructions */
    TIMED_LONG = 128,         /* long-latency operation: loads from memory, textures */
    TIMED_MEMBERS = 512,      /* waits for the lanes of the instruction's member mask */
    TIMED_GATHER = 256,       /* lanes of a path may diverge here, or the result depends on the lanes of the path */
    TIMED_YIELD = 2048,       /* .pragma "heddle yield" */
    TIMED_DEQ = 4096,         /* reads operands from queues: sm_units_take() */
    TIMED_COMPOUND = 8192,    /* a compound instruction */
    TIMED_FALLBACK = 16384,   /* if effects.taken is 0, the time comes from timed_program.fallback */
    TIMED_SPILLED = 32768,    /* a load or store of a spilled register */
    TIMED_COPY = 65536,       /* cp.async and related: sm_copies_issued(); if also TIMED_FENCE: sm_copies_hold() */
    TIMED_TAKEN = 131072,     /* a branch: threads that take it do not exit or return at once */
    TIMED_NOT_TAKEN = 262144, /* a branch: threads that fall through do not exit or return at once */
    TIMED_SLOW = 1024,        /* slow arithmetic: transcendental functions, division, and f64 where it is slow */
    TIMED_TENSOR = 524288,    /* wgmma, and mma and commit of tcgen05: call sm_tensor_issued(), and with TIMED_FENCE
                               * also sm_tensor_hold() */
    TIMED_UNIFORM = 1048576,  /* the uniform datapath executes the instruction once for the warp */
    TIMED_SLEEP = 2097152,    /* nanosleep */
    TIMED_PRODUCT = 4194304,  /* an integer product, on a modern core whose f32 units do not wait for products */
    TIMED_WIDE = 8388608,     /* TIMED_PRODUCT, and it computes the upper half of the product */
    TIMED_PLAIN = 16777216,   /* a modern core with control bits only reads the operands, computes and writes a
                               * fixed-latency result: modern_plain() */
    /* instructions with these bits take the general path, not the fast path (fast_path.h) */
    TIMED_RARE = TIMED_ORDERED | TIMED_FREE | TIMED_MEMBERS | TIMED_YIELD | TIMED_DEQ | TIMED_COMPOUND | TIMED_SPILLED |
                 TIMED_COPY | TIMED_TENSOR | TIMED_SLEEP
};

/* Classes of instructions in the statistics and for energy. */
enum op_class {
    CLASS_INT,
    CLASS_INT_MUL,
    CLASS_INT_DIV,
    CLASS_F32_ADD,
    CLASS_F32_MUL,
    CLASS_F32_FMA,
    CLASS_F32_DIV,
    CLASS_F32_MINMAX,
    CLASS_F64,
    CLASS_F64_DIV,
    CLASS_F16,
    CLASS_MMA,
    CLASS_SFU,
    CLASS_SHFL,
    CLASS_MEM,
    CLASS_CONTROL,
    CLASS_COMPACT,  /* lanes of instructions that the affine unit executes once for the warp */
    CLASS_EXPANDED, /* lanes of instructions with an expansion: the classes of its machine instructions count apart */
    N_OP_CLASSES
};

enum { TIMED_BANKS = 2 }; /* register banks of a sub-core of a modern core */

/* The ports of the register banks that an instruction of a modern core needs. */
struct timed_ports {
    uint8_t reads[TIMED_BANKS]; /* reads of each bank, if no operand is in the register-file cache */
    uint8_t written;            /* bit b: the instruction writes bank b */
    uint8_t places;             /* places of its operands in the register-file cache, one bit each */
    bool fills;                 /* some operand stays in the register-file cache */
};

struct timed_inst {
    struct sb_regs regs;
    struct bank_list banks;
    uint16_t latency, initiation;     /* cycles */
    uint16_t whole;                   /* `initiation` for 32 lanes */
    uint8_t pipe;                     /* enum pipe_id of an existing pipe */
    uint8_t kind;                     /* enum inst_kind */
    uint8_t op;                       /* enum op_class */
    uint32_t flags;                   /* TIMED_ */
    uint16_t read_words, write_words; /* 32-bit words per lane; with an expansion, of all machine instructions */
    uint32_t place; /* number of machine instructions before it in the code; its PC if there are no expansions */
    /* the largest value of each dependence counter with which the instruction may issue: one byte each, the first
     * counter in the lowest byte */
    uint64_t limits;
    struct timed_ports ports;
    uint8_t fetch;     /* number of instructions that a fetch at this instruction brings, including this one */
    uint8_t expansion; /* enum expansion_id, if it is several machine instructions; else EXPANSION_NONE */
};

struct timed_program {
    const struct program *program;
    struct timed_inst *inst;
    uint8_t *bank;
    /* by compound instruction: its timing if effects.taken is 0; valid only with TIMED_FALLBACK */
    struct timed_inst *fallback;
    uint64_t code_address; /* device address of instruction 0 */
    bool copies, tensor;   /* there are asynchronous copies (K_COPY); there are tensor instructions (TIMED_TENSOR) */
};

/* The time of one machine instruction. */
struct timed_part {
    uint8_t pipe; /* enum pipe_id of an existing pipe */
    uint8_t op;   /* enum op_class */
    uint16_t latency, initiation;
};
/* Adds to `out`, by operation, the lanes of the machine instructions of an expansion (enum expansion_id) that `lanes`
 * lanes execute. */
void timed_count_expansion(uint8_t expansion, uint64_t lanes, uint64_t out[N_OP_CLASSES]);
/* Returns the time of a machine instruction of a latency class. */
struct timed_part timed_part_of(const struct config *cfg, uint8_t class);
/* Returns the cycles from the issue of instruction `pc`, or of its last machine instruction, until the scoreboard
 * releases its result. With control bits: `latency`. Without: at least what the pass `control` makes readers of a
 * fixed-latency result wait. The scoreboard does not tell guards from other readers of a predicate. */
uint16_t timed_release(const struct config *cfg, const struct program *p, uint32_t pc, uint16_t latency);

/* Returns timed_inst.limits for the control bits of an instruction. */
uint64_t timed_limits_of(const struct control_bits *c);

/* Returns TIMED_PLAIN if that flag is right for the instruction with the control bits `c`, else 0. */
uint32_t timed_plain_of(const struct timed_inst *ti, const struct control_bits *c);

/* Initialises `t` for the program `p`. Returns false if memory is out. `code_address`: device address of the code in
 * the timing model. */
bool timed_init(struct timed_program *t, const struct program *p, const struct config *cfg, uint64_t code_address);
void timed_free(struct timed_program *t);
#endif
