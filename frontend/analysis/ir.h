#ifndef FRONTEND_IR_H
#define FRONTEND_IR_H
/* The program under construction. Instructions have their final form, struct inst. Until registers are allocated,
 * operands of bank 0, guards and lists hold virtual register numbers (number << 1) instead of byte offsets. Targets
 * hold instruction numbers and, once blocks exist, block numbers. Constants have their final offsets from the start. */
#include "dom.h"
#include "frontend/frontend.h"
#include "isa/decode.h"
#include "isa/program.h"

/* Adds to an address or offset modulo 2^64, because PTX may contain any offset. */
static inline int64_t wrap_add(int64_t a, uint64_t b) { return (int64_t)((uint64_t)a + b); }

/* Registers of one class share an area of bank 0; areas of different classes never overlap. */
enum reg_class { RC_PRED, RC_8, RC_16, RC_32, RC_64, RC_128, N_REG_CLASSES };

struct vreg {
    uint8_t cls;       /* enum reg_class */
    uint8_t component; /* vector register: 'x' 'y' 'z' or 'w'; scalar: 0 */
    /* true if the register is set when the warp starts, or is constant; it has its own register slot and no scoreboard
     * number */
    bool special;
    bool uniform;      /* true for a register of the uniform datapath, which has a slot of its own (uniform.c) */
    bool written;      /* true if an instruction writes the register; an unwritten register reads as zero */
    bool stays_zero;   /* true for a predicate that no instruction writes; pass_liveness() made it a special register */
    uint32_t function; /* index into ir.functions */
    uint32_t slot;     /* number of the register slot within its function and class, once allocated */
    uint32_t offset;   /* byte offset in bank 0, once allocated */
    const char *name;  /* declared name; NULL for a temporary */
    uint32_t name_len;
};
enum { SINK_VREG = 0 }; /* destination of discarded results */

/* Live interval of a register. Instruction i reads at position 2i and writes at 2i + 1. The interval covers all
 * positions where the register holds a value that is needed later. begin > end means an empty interval. */
struct interval {
    uint32_t begin, end; /* positions, both inclusive */
};

struct ir_function {
    const struct function *tree;
    const char *name;
    uint32_t id;         /* image function id */
    uint32_t begin, end; /* instruction range */
    uint32_t block, block_end;
    uint32_t frame_bytes, frame_base;
    uint32_t param_offset[16], n_params, n_results;
    uint32_t reg_begin, reg_end;         /* bytes of bank 0 */
    uint32_t slots[N_REG_CLASSES];       /* number of register slots per class */
    uint32_t slot_offset[N_REG_CLASSES]; /* byte offset of each class in bank 0 */
    /* maximum number of 32-bit words of registers that are live at once, without called functions */
    uint32_t pressure;
    uint32_t total_pressure; /* including called functions */
    bool recursive, address_taken, is_entry;
    bool uses_alloca; /* true if the function contains alloca, so that each of its calls gets a new frame */
    /* the function runs with a reconvergence stack in every model, so it gets no convergence barriers */
    bool has_stack;
};

/* A call in the program. A call through a pointer has one entry per possible callee. `inst` is NO_INST if no path
 * reaches the call. */
struct ir_call {
    uint32_t caller, callee, inst;
};
#define NO_INST UINT32_MAX

/* An instruction that contains an address known only after all functions are lowered: in a memory access's imm, or in
 * #address's constant operand. */
struct ir_fixup {
    uint32_t inst;
    enum { FIX_FRAME, FIX_DYNAMIC_SHARED } what;
    uint64_t offset; /* byte offset in the frame or in dynamic shared memory */
};

/* A note of a pass about a line of the PTX: what the pass did there, or why it did nothing. */
struct ir_note {
    uint32_t line; /* line of the PTX text */
    const char *text;
};

/* An additional stream of the kernel: a copy of the kernel's code with its own entry point, see
 * edit_copy_function(). */
struct ir_stream {
    const char *name;
    uint32_t function;
};

/* Functions in groups that call each other recursively. Callees come before callers. */
struct call_order {
    uint32_t *members, n_members; /* function indices, by group */
    uint32_t *first, n_groups;    /* group k: members[first[k]] to members[first[k + 1] - 1] */
    uint32_t *group;              /* function -> group */
    uint32_t *calls, *call_first; /* function -> its calls, as indices into ir.calls */
};
#define MAX_LOCAL_BYTES (DEVICE_BASE - LOCAL_WINDOW)

struct ir {
    struct arena *tmp;  /* temporary memory, freed when lowering ends */
    struct arena *keep; /* memory that the finished program owns */
    const char *kernel;
    const struct module *module;
    const struct image *image; /* the module with its variables */
    struct pass_context context;
    const struct statement **files; /* .file statements of the module, by number */
    uint32_t n_files;

    struct inst *code;
    struct inst_info *info;
    uint32_t n, cap;
    opnd_t *lists;
    uint32_t n_lists, cap_lists;
    uint32_t *regs; /* register lists of inst_info.regs: registers read, then registers written */
    uint32_t n_regs, cap_regs;
    struct vreg *vregs;
    uint32_t n_vregs, cap_vregs;
    struct ir_function *functions;
    uint32_t n_functions, cap_functions;
    struct ir_call *calls;
    uint32_t n_calls, cap_calls;
    struct ir_fixup *fixups;
    uint32_t n_fixups, cap_fixups;
    uint32_t frame_pointer; /* virtual register; 0 if no function is recursive */

    unsigned char *constants;
    uint32_t constant_bytes, cap_constants;
    struct constant_key *constant_keys; /* hash table of the constant pool */
    uint32_t n_constant_keys, cap_constant_keys;
    /* initial values of special registers; `offset` is a virtual register until registers are allocated */
    struct special_init *specials;
    uint32_t n_specials, cap_specials;

    /* once blocks exist */
    struct block *blocks;
    uint32_t n_blocks;
    struct cfg cfg;
    struct call_order order;
    bool has_postdom; /* ipdom and rpc of all blocks are valid */

    /* once liveness is known */
    struct interval *intervals; /* by virtual register */
    uint32_t *live_at;          /* call instruction -> number of words that are live during the call */

    /* once registers are allocated */
    bool allocated;
    uint32_t n_boards;   /* number of scoreboard registers */
    uint16_t *board;     /* virtual register -> scoreboard register */
    uint8_t *board_bank; /* with peer.own_registers, number in the name of each scoreboard register; else NULL */
    uint8_t *board_words;
    uint32_t reg_area[N_REG_CLASSES + 1];
    uint32_t reg_bytes, thread_regs;

    /* values that lowering copies to the program unchanged */
    struct program_param *params;
    uint32_t n_params, param_bytes, shared_bytes, local_bytes;
    uint32_t n_shared; /* variables in shared memory that the kernel and its functions name */
    struct dim3 reqntid, maxntid, cluster;
    bool warp_groups;     /* the kernel or a function has wgmma.wait_group */
    bool moves_registers; /* the kernel or a function has setmaxnreg */
    uint32_t max_cluster_rank;
    bool explicit_cluster, blocks_are_clusters;
    uint32_t min_ctas; /* .minnctapersm: CTAs that should fit in an SM together; 0: not specified */
    uint32_t maxnreg;  /* the smallest of the register limits that the kernel specifies; 0 means no limit */
    /* number of instructions that precede the kernel in the PTX text; the kernel's code address follows from it */
    uint32_t place;
    bool uses_barriers, uses_stack, uses_dynamic_shared;
    struct ir_stream *streams; /* streams other than the kernel */
    uint32_t n_streams, cap_streams;
    /* communication sites between streams, each with its kind and line; inst_info.site and guard_site refer to them */
    struct program_site *sites;
    uint32_t n_sites, cap_sites;
    struct program_compound *compounds;
    uint32_t n_compounds, cap_compounds;
    struct program_coverage coverage;
    struct program_count *counts;
    uint32_t n_counts, cap_counts;
    struct program_fact *facts;
    uint32_t n_facts, cap_facts;
    uint32_t decouple_limit;             /* maximum number of candidates that are decoupled: the most profitable ones */
    uint32_t deq_address, deq_predicate; /* virtual registers that are special registers; 0 if unused */
    struct program *program;             /* the finished program, which the last pass makes */
    bool noting;                         /* true while the notes of the current pass are kept */
    struct ir_note *notes;
    uint32_t n_notes, cap_notes;
    char failure[160]; /* why a pass failed; empty if none did */
};

/* Doubles a growing array in the arena until it has room for element `n`. */
void *ir_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size);
#define IR_ROOM(ir, array, n, cap) ((n) < (cap) ? (array) : ir_grow((ir)->tmp, array, n, &(cap), sizeof *(array)))

/* Adds an element to ir.lists, where the lists of instructions are. */
void ir_list_add(struct ir *ir, opnd_t o);
/* Adds a virtual register and returns its number. `name` may be NULL. */
uint32_t ir_vreg(struct ir *ir, enum reg_class cls, uint32_t function, const char *name, uint32_t name_len);
/* Returns the constant `bits` (with `high` for 128 bits) of class `cls` as an operand. A predicate constant is 0 or
 * 1. */
opnd_t ir_constant(struct ir *ir, enum reg_class cls, uint64_t bits, uint64_t high);
/* Returns the bytes of one lane's value of a class; 0 for a predicate. */
unsigned class_bytes(enum reg_class cls);
/* Returns the class of registers of `bytes` bytes (0, 1, 2, 4, 8 or 16). */
enum reg_class class_of_bytes(unsigned bytes);
/* Returns the number of 32-bit words that a value of this class occupies in a thread's registers. An 8-bit or 16-bit
 * value occupies one word, and a predicate none. */
unsigned class_words(enum reg_class cls);
/* Returns the number of 32-bit words that the register occupies in a thread's registers: 0 for special and uniform
 * registers. */
unsigned vreg_words(const struct vreg *v);
/* Returns the bytes of bank 0 that one register of this class occupies, for all lanes. */
unsigned class_slot_bytes(enum reg_class cls);
/* How an instruction uses an operand. */
enum operand_role { OPERAND_GUARD, OPERAND_READ, OPERAND_WRITE };
typedef void operand_fn(void *ctx, opnd_t *o, enum operand_role role);
/* Calls `fn` for every operand of `in`: guard (if it has one), d, d2, a, b, c, e, then its list. `fn` may change the
 * operand. Branch targets and call descriptions are not operands. */
void ir_operands(const struct ir *ir, struct inst *in, operand_fn *fn, void *ctx);
/* Returns how many leading elements of its list an instruction writes. It reads the others. */
unsigned inst_list_writes(const struct inst *in);
struct inst_regs {
    uint32_t reads[MAX_INST_REGS], writes[MAX_INST_REGS];
    unsigned n_reads, n_writes;
};
/* Finds the registers that an instruction reads (guard included) and writes. Special registers and constants are left
 * out. */
void ir_find_regs(const struct ir *ir, struct inst *in, struct inst_regs *out);
/* Stores the registers that instruction `inst` reads and writes in info[inst].regs. */
void ir_note_regs(struct ir *ir, uint32_t inst);
/* Sets the instruction's function, kind, latency class and sizes from a row of the opcode table. Operands stay. */
void inst_set_row(struct inst *in, const struct isa_row *row);
/* Returns the register of 32 or 64 bits that holds a special register which never changes in a thread. */
uint32_t ir_special(struct ir *ir, enum special s, bool wide);
/* Returns an instruction of this row of the opcode table, without operands or guard. */
struct inst inst_of_row(const struct isa_row *row);
/* Returns true if control never continues at the next instruction. */
bool inst_never_falls_through(const struct inst *in);
/* Makes a compound instruction (isa/compound.h) without operands and guard. */
struct inst ir_compound(struct ir *ir, const struct program_compound *c);
/* Returns the table entry of a compound instruction, or NULL if the instruction is not compound. */
const struct program_compound *ir_compound_of(const struct ir *ir, const struct inst *in);
/* Returns true for a compound instruction in which each lane computes its results from its own registers alone. */
bool ir_is_lane_wise(const struct ir *ir, const struct inst *in);
/* Returns true if instruction `i` writes its destination in all active lanes that will use it. This is so if it does
 * not select one of two destination registers per lane, and has no guard or inst_info.others_dead. */
bool inst_writes_all(const struct ir *ir, uint32_t i);
/* Returns true if the destination needs a register that no source operand has, even if a source is not used after this
 * instruction. */
bool inst_keeps_sources(const struct ir *ir, const struct inst *in, const struct inst_info *info);

/* Adds `more` to the statistic `name` about what passes did. The string `name` must outlive the program. */
void ir_count(struct ir *ir, const char *name, double more);
/* Adds a fact about the blocks, for reconvergence models. Returns an array of n_blocks values, which the caller fills.
 * The string `name` must outlive the program. Requires: no later pass changes blocks, so the caller runs before
 * "emit". */
uint32_t *ir_add_fact(struct ir *ir, const char *name);
/* Adds a note about what a pass did with the candidate at instruction `inst` (its current number). Does nothing unless
 * ir.noting is set, since only a dump shows the notes. */
void ir_note(struct ir *ir, uint32_t inst, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Makes a function the entry of another stream. No instruction may call the function. Returns the stream's number in
 * the program. */
uint32_t ir_add_stream(struct ir *ir, uint32_t function, const char *name);
/* Adds a communication site between streams. Returns its number + 1, the value of inst_info.site and guard_site. The
 * instructions of a site are K_ENQ_* instructions, or instructions with HINT_DEQ that read ir.deq_address or
 * ir.deq_predicate. */
uint16_t ir_add_site(struct ir *ir, enum site_kind kind, uint32_t line);
/* Returns the number of 32-bit registers of a thread that starts at `function`, at least 2. Requires: registers are
 * allocated. */
uint32_t ir_thread_regs(const struct ir *ir, uint32_t function);
/* Finds groups of mutually recursive functions, callees first, and marks recursive functions. Uses ir.calls. */
void ir_order_functions(struct ir *ir);
/* Builds blocks, edges and function bounds; targets change from instruction numbers to block numbers. Returns the new
 * number of each instruction, NO_INST for unreachable ones, which are dropped. */
uint32_t *ir_make_blocks(struct ir *ir);

/* Returns the dominator tree of the blocks; roots are the function entries. Requires: blocks. */
struct dom_tree ir_dominators(const struct ir *ir);

/* The following functions are the passes. pass.c lists the requirements of each pass. A pass returns false on failure
 * and sets ir.failure. */
bool pass_frames(struct ir *ir);
bool pass_cfg(struct ir *ir);
bool pass_exits(struct ir *ir);
/* Returns the control-flow graph without edges to blocks in which threads only exit. */
struct cfg cfg_of_live(struct arena *a, const struct ir *ir);
/* Returns the number of blocks to which threads go after block b and do more than exit. */
uint32_t cfg_continuing(const struct ir *ir, uint32_t b);
bool pass_postdom(struct ir *ir);
/* Sets the flag of each function that calls a flagged function, directly or through others. */
void ir_mark_callers(const struct ir *ir, unsigned char *flags);
bool pass_waits(struct ir *ir);
bool pass_overwrites(struct ir *ir);
bool pass_barriers(struct ir *ir);
bool pass_liveness(struct ir *ir);
bool pass_regalloc(struct ir *ir);
bool pass_emit(struct ir *ir);
#endif
