#ifndef ISA_JIT_COMPILE_H
#define ISA_JIT_COMPILE_H
/* The state of one block's compilation, and the functions that emit it. Internal to isa/jit. The files, from the lowest
 * layer up: lanes.c (vector instructions), held_lines.c (register allocation), active.c (lanes that execute),
 * side_exits.c (side exits), ops.c, carry.c, float_arith.c, floats.c, warp_ops.c, lane_call.c, lane_loop.c and
 * access.c (instructions), compile.c (blocks).
 *
 * A register of a warp is an array of 32 elements in its bank. A line is the part of this array that fits one
 * vector register. Lines are loaded at their first use. They are stored when their vector register is needed for
 * another line, before a call, and at exits. */
#include "isa/decode.h"
#include "lanes.h"

enum {
    N_VECTORS = 32,    /* number of vector registers with AVX-512, the maximum */
    MAX_LINES = 8,     /* maximum number of lines of a warp register */
    MAX_NATIVE = 2048, /* maximum number of instructions of a block that are compiled; the rest is interpreted */
    N_GROUPS = 3,
    MAX_JUMPS = 12, /* maximum number of jumps to one side exit */
};

/* Pattern of an access's 32 addresses. A half warp is uniform (one address) or a row (consecutive elements). */
enum access_shape {
    ACCESS_SAME_SAME, /* bit h of the value: the lanes of half h access consecutive elements */
    ACCESS_ROW_SAME,
    ACCESS_SAME_ROW,
    ACCESS_ROW_ROW,
    ACCESS_ANY,  /* neither uniform nor a row, so the code gathers or scatters */
    ACCESS_CALL, /* call the interpreter's function */
    ACCESS_UNKNOWN,
};
/* The result of profiling the accesses of an instruction. */
struct access_profile {
    _Atomic uint8_t shape;    /* enum access_shape */
    _Atomic uint8_t space;    /* enum space to which the generic addresses pointed */
    atomic_bool has_space;    /* `space` is known */
    atomic_bool call_partial; /* code for a partial warp calls the interpreter's function for this access */
};

struct held_line {
    uint32_t key;  /* byte offset of the line in its bank, + 1 for bank 1; NO_LINE: the vector register is free */
    bool dirty;    /* the line differs from its copy in memory */
    bool any_nan;  /* f32 line whose NaNs are not canonical yet */
    bool flushed;  /* f32 line without subnormals */
    uint8_t index; /* number of the line within its warp register; valid if dirty */
    uint8_t size;  /* bytes of an element; valid if dirty */
    uint32_t used; /* time of last use, by compiler.clock */
};
#define NO_LINE 0xffffffffu

/* Executed instructions that the code has not added to the frame's counts yet. */
struct done {
    uint32_t lanes; /* lanes that executed, summed over instructions */
    uint32_t loads; /* loads that statistics count */
};

/* A side exit: a point before an instruction where the code returns to the interpreter, and the lines to store
 * there. */
struct side_exit {
    uint32_t index;  /* number of instructions executed before the exit */
    uint32_t reason; /* JIT_LEFT, JIT_STOPPED or JIT_WAITS */
    struct done done;
    jump_t jumps[MAX_JUMPS]; /* to this exit */
    unsigned n_jumps;
    struct held_line held[N_VECTORS]; /* lines in vector registers at the exit */
};

/* A group: accesses with one base register, whose bounds are checked together. Two general registers hold the host
 * address of each half warp. */
struct group {
    opnd_t base;
    bool live; /* the group has been checked, and its base register has not been written since */
    uint8_t shape, space, msize;
    bool writes;       /* stores are checked, too */
    int64_t low, high; /* least and greatest offset checked */
    uint32_t used;     /* time of last use */
};

/* A site of an allocation hint: an access, and the allocation that contained its last address. */
struct site {
    uint32_t index; /* index of the instruction in the block */
    uint32_t hint;  /* index in memory.list; read by running code of any thread */
};

struct compiler {
    struct emit e;
    const struct program *program;
    const struct jit_entry *entry;        /* by PC */
    bool partial;                         /* the code is for a partial warp: results of inactive lanes are not stored */
    const struct access_profile *profile; /* by PC */
    size_t inside;                        /* offset in the code at which other blocks enter it */
    const struct inst *first;             /* of the block */
    uint32_t n;                           /* instructions */
    uint32_t at;                          /* index of the current instruction */
    struct done done;           /* counts of the instructions before `at`, without the lanes of guarded instructions */
    uint32_t native;            /* number of instructions compiled without a call */
    bool is_native[MAX_NATIVE]; /* by instruction */
    const struct rule *rule[MAX_NATIVE]; /* rules, indexed by instruction; NULL for accesses */
    unsigned strip, strips;              /* the code is for part `strip` of `strips` equal parts of the lanes */
    struct held_line held[N_VECTORS];    /* lines, indexed by vector register */
    uint32_t keys[N_VECTORS];            /* copy of held[].key, contiguous for fast search */
    uint32_t pinned;                     /* vector registers that the current instruction uses, one bit each */
    uint32_t vectors;                    /* vector registers that may hold lines, one bit each */
    struct group groups[N_GROUPS];
    uint32_t clock; /* counts uses of lines and groups */
    struct side_exit *exits;
    uint32_t n_exits, cap_exits;
    struct site *sites; /* `n_sites` entries; the compiled code contains their addresses */
    uint32_t n_sites;
};

static inline const struct inst *inst_of(const struct compiler *c) { return &c->first[c->at]; }

static inline const struct access_profile *profile_of(const struct compiler *c, const struct inst *in) {
    return &c->profile[in - c->program->code];
}
/* Returns true if the profile says that the code calls the interpreter's function for this instruction. */
static inline bool profiled_call(const struct compiler *c, const struct inst *in) {
    const struct access_profile *s = profile_of(c, in);
    return c->partial ? s->call_partial : s->shape == ACCESS_CALL;
}
/* Returns the state space of an access; for a generic address, the profiled space. */
static inline enum space access_space(const struct compiler *c, const struct inst *in) {
    enum space s = in->space == SPACE_GENERIC ? (enum space)profile_of(c, in)->space : (enum space)in->space;
    return s == SPACE_CONST ? SPACE_GLOBAL : s;
}
/* Returns true for an access by 64-bit addresses to local memory that is stored by words (warp_local()). */
static inline bool access_is_local(const struct compiler *c, const struct inst *in) {
    return access_space(c, in) == SPACE_LOCAL && c->program->local_by_word && in->asize == 8 &&
           c->program->local_bytes >= inst_bytes(in);
}

/* Return the register of element k of an access, and its distance from the place of element 0. */
static inline opnd_t access_register(const struct compiler *c, const struct inst *in, unsigned k) {
    return inst_element(c->program->lists, in, k);
}
static inline int32_t access_step(const struct compiler *c, const struct inst *in, unsigned k) {
    const int32_t bytes = (int32_t)(k * in->msize);
    return access_is_local(c, in) ? bytes / 4 * LOCAL_ROW + bytes % 4 : bytes;
}
/* Returns true if element k is stored, or loaded into a register that no later element overwrites. */
static inline bool access_moves(const struct compiler *c, const struct inst *in, unsigned k) {
    const opnd_t r = access_register(c, in, k);
    if (in->kind == K_STORE || !in->n_list)
        return true;
    for (unsigned later = k + 1; later < in->n_list; later++)
        if (access_register(c, in, later) == r)
            return false;
    return r != OPND_SINK;
}

/* ---- held_lines.c: lines in vector registers ---- */

/* Bytes of a line. */
static inline unsigned line_bytes(const struct compiler *c) { return c->e.vex ? 32 : 64; }
/* Returns the number of lines of a warp register with elements of `size` bytes: at most MAX_LINES. */
static inline unsigned lines_of(const struct compiler *c, unsigned size) { return WARP_LANES * size / line_bytes(c); }

/* Return the bounds of the current strip: its lines have the numbers line_first() to line_end() - 1. */
static inline unsigned line_first(const struct compiler *c, unsigned size) {
    return lines_of(c, size) * c->strip / c->strips;
}
static inline unsigned line_end(const struct compiler *c, unsigned size) {
    return lines_of(c, size) * (c->strip + 1) / c->strips;
}

/* Returns the vector register with line i of an operand, loaded if needed, and pins it. `any_nan`: the instruction
 * accepts f32 NaNs that are not canonical. */
unsigned line_get(struct compiler *c, opnd_t o, unsigned i, bool any_nan);
/* Returns a vector register for line i of d, which the instruction overwrites, and pins it. `any_nan`: the result may
 * have f32 NaNs that are not canonical. */
unsigned line_new(struct compiler *c, opnd_t d, unsigned i, bool any_nan);
/* Marks a line that line_get() returned as modified in its register. */
void line_modified(struct compiler *c, opnd_t d, unsigned i);
/* Returns a pinned vector register for a result that must not replace line i of its destination before the last side
 * exit of the instruction. line_rename() then turns this vector register into line i of the destination. */
unsigned line_temporary(struct compiler *c, unsigned i);
void line_rename(struct compiler *c, unsigned v, opnd_t d, unsigned i);
/* lines_write_back() emits stores of the dirty lines of an operand, which stay in vector registers. lines_drop() drops
 * the lines of d, which the instruction overwrites in memory in all lanes that execute. */
void lines_write_back(struct compiler *c, opnd_t o, unsigned size);
void lines_drop(struct compiler *c, opnd_t d, unsigned size);
/* Unpins all vector registers. */
void lines_unpin(struct compiler *c);
/* Emits the store of line h in vector register v, if it is dirty. In code for a partial warp, lanes that are not active
 * keep their values in memory. */
void line_store(struct compiler *c, struct held_line *h, unsigned v);
/* Emit stores of all dirty lines (lines_store()), and mark all vector registers as free (lines_forget()). Both are
 * needed before a call. */
void lines_store(struct compiler *c);
void lines_forget(struct compiler *c);

/* ---- active.c: lanes that execute ---- */

/* Emits code that writes to register `to` the mask of the active lanes whose guard is true. */
void guard_mask(struct compiler *c, const struct inst *in, enum gpr to);
/* Returns true if the instruction writes only some lanes of its results, because of its guard or of inactive lanes. */
bool writes_some_lanes(const struct compiler *c, const struct inst *in);
/* Writes `from` to predicate `to` in the lanes that execute. Uses RSI and RDI. */
void put_predicate(struct compiler *c, const struct inst *in, opnd_t to, enum gpr from);
/* Emits the addition of d to the frame's counts. Uses RCX. */
void count_done(struct compiler *c, const struct done *d);
/* Emits the addition of the lanes that execute the current instruction, which has a guard. Call it before the
 * instruction is emitted, because the instruction may write its own guard. */
void count_guarded(struct compiler *c);

/* ---- side_exits.c ---- */

/* Adds a side exit before the current instruction, with the lines that vector registers hold now. Returns NULL if
 * memory is out. */
struct side_exit *side_exit_new(struct compiler *c, uint32_t reason);
/* Emits a conditional jump to the exit. */
void exit_if(struct compiler *c, struct side_exit *out, unsigned condition);
/* Emits the code of all side exits. `finish`: offset of the code that returns RAX. */
void compile_exits(struct compiler *c, size_t finish);

/* ---- ops.c: arithmetic ---- */

/* Returns the rule that compiles the instruction, or NULL if it has no rule. Guarded instructions have rules without
 * side exits. */
const struct rule *op_rule(const struct compiler *c, const struct inst *in);
/* Returns true if each result lane depends on the same lane of the sources only, and the rule has no side exit. */
bool rule_is_lanewise(const struct rule *r);
/* Emits the current instruction by its rule. */
void compile_op(struct compiler *c);

/* ---- warp_ops.c: operations across lanes ---- */

/* Returns true for an operation across lanes that compile_direct() can call: if its member mask has no missing lanes,
 * it neither faults nor waits. */
bool warp_op_is_direct(const struct compiler *c, const struct inst *in);
/* Emits an exit if lanes of the member mask are missing, and the call of the current instruction's function. No vector
 * register may hold a dirty line. Forgets all lines. */
void compile_direct(struct compiler *c);
/* Returns true for a shuffle or vote that compile_warp_op() can emit as vector code. */
bool warp_op_is_vector(const struct compiler *c, const struct inst *in);
void compile_warp_op(struct compiler *c);

/* ---- access.c: loads and stores ---- */

/* Returns true if compile_access() can emit the access. */
bool access_is_native(const struct compiler *c, const struct inst *in);
void compile_access(struct compiler *c);
/* Emits the address check of the current instruction if no live group covers it. Returns false if the instruction is
 * not a load whose half warps are uniform or access consecutive elements. */
bool access_check_load(struct compiler *c);
/* Returns true for a load that one of the groups in `live` (one bit per group) covers, and whose half warps are uniform
 * or access consecutive elements. */
bool access_is_checked(const struct compiler *c, const struct inst *in, unsigned live);
/* Returns the groups in `live` that remain valid after a write of d. */
unsigned groups_after_write(const struct compiler *c, unsigned live, opnd_t d);
/* Ends all groups: their general registers have been overwritten. */
void groups_forget(struct compiler *c);
/* Ends the groups whose base register the current instruction has written. */
void groups_invalidate(struct compiler *c);
/* Returns true for a simple access that takes its addresses, and nothing else, from a queue: jit_frame.row executes
 * it. */
bool access_is_queued(const struct compiler *c, const struct inst *in);
/* Returns the shape of the addresses of the lanes, for elements of `bytes` bytes. */
enum access_shape access_shape_of(const uint64_t addr[WARP_LANES], unsigned bytes);

/* ---- local.c: accesses for which access_is_local() is true ---- */

/* Returns true for an access to one constant address, and sets *at to the address. local_access() emits it. */
bool local_is_constant(const struct compiler *c, const struct inst *in, uint64_t *at);
void local_access(struct compiler *c, uint64_t address);
/* Returns the shape that an access at other addresses is compiled for. */
enum access_shape local_shape(const struct compiler *c, const struct inst *in, enum access_shape profiled);
/* Emits the access whose half warps have the addresses RAX and RCX. Exits if they differ, or if the access faults. */
void local_access_same(struct compiler *c, struct side_exit *out);
/* Turns the local addresses in vector register 2, which belong to line i of 64-bit lanes, into distances from
 * jit_frame.local. Uses vector register 3 for elements of 1 and 2 bytes. */
void local_offsets(struct compiler *c, unsigned i);

/* ---- lane_loop.c ---- */

/* Emits the current access as a loop over the lanes that execute. Requires: RDX holds the host address of the memory
 * space or allocation, and jit_frame.offsets the lanes' distances from it. `place`, if not NULL: the place of lane
 * RCX's element instead. */
void compile_lane_loop(struct compiler *c, const struct indexed *place);
/* Returns true for an addition or a bit operation on words of shared memory, which compile_atomic_loop() can emit.
 * Requirements are as for compile_lane_loop(). Uses R8, so groups are no longer valid. */
bool atomic_is_native(const struct compiler *c, const struct inst *in);
void compile_atomic_loop(struct compiler *c);

/* ---- lane_call.c ---- */

/* Returns true if compile_lane_call() can emit the instruction. */
bool lane_call_is_possible(const struct compiler *c, const struct inst *in);
/* Emits a call of the current instruction's lane function. No vector register may hold a line. */
void compile_lane_call(struct compiler *c);

/* ---- compile.c ---- */

/* Compiles the whole block into c->e. Returns false if memory is out. */
bool compile_block(struct compiler *c);
#endif
