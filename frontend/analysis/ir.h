#ifndef FRONTEND_IR_H
#define FRONTEND_IR_H
/* A program under construction. Instructions already are struct inst; until registers are allocated, operands of
 * bank 0, guards and lists hold numbers of virtual registers in place of byte offsets (number << 1), and targets hold
 * first instruction numbers and, once blocks exist, block numbers. Constants have their final offsets from the start.
 */
#include "dom.h"
#include "frontend/frontend.h"
#include "isa/decode.h"
#include "isa/program.h"

/* Addresses wrap: text may name any offset. */
static inline int64_t wrap_add(int64_t a, uint64_t b) { return (int64_t)((uint64_t)a + b); }

/* Registers of one class share an area of bank 0; areas of different classes never overlap. */
enum reg_class { RC_PRED, RC_8, RC_16, RC_32, RC_64, RC_128, N_REG_CLASSES };

struct vreg {
    uint8_t cls;       /* enum reg_class */
    uint8_t component; /* of a vector register: 'x' 'y' 'z' 'w'; 0 for a scalar */
    bool special;      /* filled at warp start or constant: has a slot of its own and no scoreboard number */
    bool written;      /* by some instruction; those that are not read as zero */
    bool stays_zero;   /* special only because it is a predicate that nothing writes (pass_liveness) */
    uint32_t function; /* index into ir.functions */
    uint32_t slot;     /* in its function and class, once allocated */
    uint32_t offset;   /* in bank 0, once allocated */
    const char *name;  /* as declared, NULL for one that lowering made */
    uint32_t name_len;
};
enum { SINK_VREG = 0 }; /* takes what is thrown away */

/* Positions order the program: instruction i reads at 2i and writes at 2i + 1. The interval of a register covers all
 * places where it keeps a value that is still needed; begin > end: nowhere. */
struct interval {
    uint32_t begin, end; /* positions, both inclusive */
};

struct ir_function {
    const struct function *tree;
    const char *name;
    uint32_t id;         /* image function id */
    uint32_t begin, end; /* instructions */
    uint32_t block, block_end;
    uint32_t frame_bytes, frame_base;
    uint32_t param_offset[16], n_params, n_results;
    uint32_t reg_begin, reg_end;         /* bytes of bank 0 */
    uint32_t slots[N_REG_CLASSES];       /* registers of each class that it uses */
    uint32_t slot_offset[N_REG_CLASSES]; /* byte offset of the first of them in bank 0 */
    uint32_t pressure;                   /* 32-bit words live at once, without those of functions it calls */
    uint32_t total_pressure;             /* with them */
    bool recursive, address_taken, is_entry;
    bool uses_alloca; /* its calls take and give back stack memory */
    bool has_stack;   /* who runs it joins paths by a stack, whatever the model is: it gets no convergence barriers */
};

/* Caller and callee of every call in the program: a call through a pointer has an entry for each function that the
 * pointer may name. `inst` is NO_INST when no path reaches the call. */
struct ir_call {
    uint32_t caller, callee, inst;
};
#define NO_INST UINT32_MAX

/* An instruction that holds an address which is known only when all functions are lowered: a memory access by its imm,
 * #address by its constant source. */
struct ir_fixup {
    uint32_t inst;
    enum { FIX_FRAME, FIX_DYNAMIC_SHARED } what;
    uint64_t offset; /* in the frame; of the dynamic part */
};

/* What a pass did to a place, or why it left it alone. */
struct ir_note {
    uint32_t line; /* of the PTX text */
    const char *text;
};

/* An entry beside the kernel's own: see edit_copy_function(). */
struct ir_stream {
    const char *name;
    uint32_t function;
};

/* Functions in groups that can call each other in a circle; callees come before callers. */
struct call_order {
    uint32_t *members, n_members; /* function indices, group after group */
    uint32_t *first, n_groups;    /* group k: members[first[k]] to members[first[k + 1] - 1] */
    uint32_t *group;              /* function -> group */
    uint32_t *calls, *call_first; /* function -> its calls: indices into ir.calls */
};
#define MAX_LOCAL_BYTES (DEVICE_BASE - LOCAL_WINDOW)

struct ir {
    struct arena *tmp;  /* freed when lowering ends */
    struct arena *keep; /* owned by the program */
    const char *kernel;
    const struct module *module;
    struct pass_context context;
    const struct statement **files; /* .file of the module, in order of their numbers */
    uint32_t n_files;

    struct inst *code;
    struct inst_info *info;
    uint32_t n, cap;
    opnd_t *lists;
    uint32_t n_lists, cap_lists;
    uint32_t *regs; /* inst_info.regs: virtual registers read, then written */
    uint32_t n_regs, cap_regs;
    struct vreg *vregs;
    uint32_t n_vregs, cap_vregs;
    struct ir_function *functions;
    uint32_t n_functions, cap_functions;
    struct ir_call *calls;
    uint32_t n_calls, cap_calls;
    struct ir_fixup *fixups;
    uint32_t n_fixups, cap_fixups;
    uint32_t frame_pointer; /* virtual register, 0 when no function is recursive */

    unsigned char *constants;
    uint32_t constant_bytes, cap_constants;
    struct constant_key *constant_keys; /* open hash of what is in the pool */
    uint32_t n_constant_keys, cap_constant_keys;
    struct special_init *specials; /* offset is the virtual register until registers are allocated */
    uint32_t n_specials, cap_specials;

    /* once blocks exist */
    struct block *blocks;
    uint32_t n_blocks;
    struct cfg cfg;
    struct call_order order;
    bool has_postdom; /* ipdom and rpc of all blocks are right */

    /* once liveness is known */
    struct interval *intervals; /* of each virtual register */
    uint32_t *live_at;          /* words live while instruction i executes, for calls */

    /* once registers are allocated */
    bool allocated;
    uint32_t n_boards; /* scoreboard registers */
    uint16_t *board;   /* of a virtual register */
    uint8_t *board_words;
    uint32_t reg_area[N_REG_CLASSES + 1];
    uint32_t reg_bytes, thread_regs;

    /* results that only have to be copied */
    struct program_param *params;
    uint32_t n_params, param_bytes, shared_bytes, local_bytes;
    struct dim3 reqntid, maxntid, cluster;
    uint32_t maxnreg; /* of the kernel, the least that it says; 0: none */
    uint32_t place;   /* instructions of the text before the kernel */
    bool uses_barriers, uses_stack;
    struct ir_stream *streams; /* without the kernel itself */
    uint32_t n_streams, cap_streams;
    struct program_site *sites; /* kind and line; inst_info.site and guard_site name them */
    uint32_t n_sites, cap_sites;
    struct program_compound *compounds;
    uint32_t n_compounds, cap_compounds;
    struct program_coverage coverage;
    struct program_count *counts;
    uint32_t n_counts, cap_counts;
    uint32_t decouple_limit;             /* what is decoupled is among so many instructions that are worth most */
    uint32_t deq_address, deq_predicate; /* virtual registers, special ones; 0: none */
    struct program *program;             /* set by the last pass */
    bool noting;                         /* somebody will read what the pass at hand notes */
    struct ir_note *notes;
    uint32_t n_notes, cap_notes;
    char failure[160]; /* what a pass found impossible; empty when all is well */
};

/* Makes room for element `n` of a growing array: doubles it in the arena. */
void *ir_grow(struct arena *a, void *array, uint32_t n, uint32_t *cap, size_t size);
#define IR_ROOM(ir, array, n, cap) ((n) < (cap) ? (array) : ir_grow((ir)->tmp, array, n, &(cap), sizeof *(array)))

/* A new virtual register of this class. */
uint32_t ir_vreg(struct ir *ir, enum reg_class cls, uint32_t function, const char *name, uint32_t name_len);
/* The constant `bits` (and `high` for 128 bits) as an operand of class `cls`; predicates: 0 or 1. */
opnd_t ir_constant(struct ir *ir, enum reg_class cls, uint64_t bits, uint64_t high);
/* Bytes of one lane's value of a class; 0 for a predicate. */
unsigned class_bytes(enum reg_class cls);
/* The class of registers of `bytes` bytes. */
enum reg_class class_of_bytes(unsigned bytes);
/* 32-bit words a value of this class takes in a thread's registers: 16-bit and 8-bit values take one, predicates none.
 */
unsigned class_words(enum reg_class cls);
/* Bytes of bank 0 that one register of this class takes. */
unsigned class_slot_bytes(enum reg_class cls);
/* How an instruction uses an operand. */
enum operand_role { OPERAND_GUARD, OPERAND_READ, OPERAND_WRITE };
typedef void operand_fn(void *ctx, opnd_t *o, enum operand_role role);
/* Calls `fn` for every operand that instruction `in` has or could have: guard (when it has one), d, d2, a, b, c, e,
 * then the elements of its list. `fn` may change it. Targets of branches and descriptions of calls are no operands. */
void ir_operands(const struct ir *ir, struct inst *in, operand_fn *fn, void *ctx);
/* Elements at the beginning of its list that an instruction writes; it reads the others. */
unsigned inst_list_writes(const struct inst *in);
struct inst_regs {
    uint32_t reads[MAX_INST_REGS], writes[MAX_INST_REGS];
    unsigned n_reads, n_writes;
};
/* Which registers an instruction reads, its guard included, and writes; special registers and constants are none. */
void ir_find_regs(const struct ir *ir, struct inst *in, struct inst_regs *out);
/* Writes down in info[inst].regs which registers instruction `inst` reads and writes, from its operands. */
void ir_note_regs(struct ir *ir, uint32_t inst);
/* Turns the instruction into the one of this row: function, kind, latency class, sizes. Operands stay. */
void inst_set_row(struct inst *in, const struct isa_row *row);
/* An instruction of this row without operands or guard. */
struct inst inst_of_row(const struct isa_row *row);
/* True when control never goes on to the next instruction. */
bool inst_never_falls_through(const struct inst *in);
/* A compound instruction (isa/compound.h) without operands or guard. */
struct inst ir_compound(struct ir *ir, const struct program_compound *c);
/* The entry of a compound instruction; NULL: it is none. */
const struct program_compound *ir_compound_of(const struct ir *ir, const struct inst *in);
/* True for a compound instruction of which each lane computes by itself, from registers alone. */
bool ir_is_lane_wise(const struct ir *ir, const struct inst *in);
/* True when all lanes that execute the instruction get what it writes: it has no guard, and its lanes do not each write
 * one of two registers. */
bool inst_writes_all(const struct ir *ir, const struct inst *in);
/* True when the destination must not share a register with a source that dies here. */
bool inst_keeps_sources(const struct ir *ir, const struct inst *in, const struct inst_info *info);

/* Adds to what passes counted for a statistic. `name` outlives the program. */
void ir_count(struct ir *ir, const char *name, double more);
/* Notes what a pass found at instruction `inst`, as numbered now: a candidate and what became of it. */
void ir_note(struct ir *ir, uint32_t inst, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Makes a function that nobody calls the entry of one more stream. Returns the stream's number in the program. */
uint32_t ir_add_stream(struct ir *ir, uint32_t function, const char *name);
/* A place where the streams meet. Returns its number + 1, as inst_info.site and guard_site want it; the instructions
 * that bear it need HINT_DEQ and the hidden registers, or are K_ENQ_*. */
uint16_t ir_add_site(struct ir *ir, enum site_kind kind, uint32_t line);
/* 32-bit registers that a thread needs which starts at `function`: at least 2. Requires: registers are allocated. */
uint32_t ir_thread_regs(const struct ir *ir, uint32_t function);
/* Groups of functions, callees first, and which of them are recursive: from ir.calls. */
void ir_order_functions(struct ir *ir);
/* Blocks, edges and function bounds from code whose targets are instruction numbers; targets become blocks. Returns
 * where each instruction has gone, NO_INST for those that no path reaches: they are dropped. */
uint32_t *ir_make_blocks(struct ir *ir);

/* What each block's function cannot reach it without. Requires: blocks. */
struct dom_tree ir_dominators(const struct ir *ir);

/* The passes, see pass.c for what each requires. */
bool pass_frames(struct ir *ir);
bool pass_cfg(struct ir *ir);
bool pass_exits(struct ir *ir);
/* The graph without edges to blocks in which threads only exit: what is left joins, or ends. */
struct cfg cfg_of_live(struct arena *a, const struct ir *ir);
bool pass_postdom(struct ir *ir);
/* Registers that the tuple file must hold for the affine stream; 0: there is none. Requires: registers are allocated,
 * operands are still virtual registers. */
uint32_t ir_tuple_registers(const struct ir *ir);
/* Sets the flag of each function that calls one whose flag is set, directly or by way of others. */
void ir_mark_callers(const struct ir *ir, unsigned char *flags);
bool pass_waits(struct ir *ir);
bool pass_barriers(struct ir *ir);
bool pass_liveness(struct ir *ir);
bool pass_regalloc(struct ir *ir);
bool pass_emit(struct ir *ir);
#endif
