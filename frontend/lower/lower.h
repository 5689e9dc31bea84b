#ifndef FRONTEND_LOWER_H
#define FRONTEND_LOWER_H
/* Translates statements to instructions on virtual registers: declarations shared by the lower_*.c files. Private to
 * frontend/.
 *
 * An error is reported where it is found, and the bad operand becomes OPND_ZERO or OPND_SINK, so that one run reports
 * all errors of a function. */
#include "frontend/analysis/ir.h"
#include "image.h"

struct lower {
    struct ir *ir;
    const struct image *img;
    const struct module *module;
    struct diags *d;
    struct names names;
    uint32_t warp_size;     /* lanes of a warp of the machine */
    bool selects;           /* the pass `select` will run */
    uint8_t fragment_loads; /* core.fragment_loads if the pass `select` will run, else 0 */
    bool fragment_copies;   /* core.fragment_copies */
    uint32_t fn;            /* index of the current function in ir->functions */
    uint64_t frame;         /* bytes allocated so far in the current function's frame */
    uint64_t shared, local; /* bytes allocated so far: static shared memory, and local variables of module scope */
    uint64_t dynamic_align; /* greatest alignment of a declaration of dynamic shared memory; 0: none */
    uint32_t *fn_of_id;     /* image function id -> index in ir->functions + 1 */
    struct {
        uint32_t caller, inst;
        const struct function *proto;
        struct loc loc;
    } * indirect; /* calls through pointers; resolved after all functions are lowered */
    uint32_t n_indirect, cap_indirect;
    bool any_indirect; /* true once the functions were added whose addresses are in initialisers */
    /* special register -> the virtual registers that hold it in 32 and in 64 bits; 0: not created yet */
    uint32_t special_reg[N_SPECIALS][2];
    /* state of the current function */
    uint32_t carry;     /* the hidden carry predicate; 0: not created yet */
    uint32_t *label_at; /* label -> instruction; NO_INST: not bound yet */
    uint32_t n_labels, cap_labels;
    uint32_t ret_label;
    bool ret_used;
    uint32_t src_file, src_line; /* location from the last .loc */
    bool next_yields;            /* true if a .pragma "heddle yield" precedes the next instruction and applies to it */
    /* state of the current instruction */
    const struct statement *st;
    const struct decoded *dec;
    uint32_t guard; /* virtual register or NO_GUARD */
    bool guard_not;
    /* line of the last instruction in the PTX text, counted from 0; the search for the next line starts here */
    uint32_t line;
};

/* The address of an access. */
struct address {
    opnd_t base;   /* register or OPND_ZERO */
    uint8_t asize; /* size of the base register in each lane, in bytes: 4 or 8 */
    int64_t imm;
    enum space space;
    bool fixup;   /* true if imm is an offset in the frame or in dynamic shared memory, as `what` says */
    uint8_t what; /* FIX_ */
};

/* lower_emit.c adds instructions. emit() adds an instruction with the current guard and returns it. The pointer is
 * valid until another instruction is added. */
struct inst *emit(struct lower *l, const struct isa_row *row);
/* Adds an instruction, as emit() does, with the opcode-table row of operation `op`, these types and `form`. Reports an
 * error if the table has no such row. */
struct inst *emit_op(struct lower *l, enum op_id op, enum type t0, enum type t1, uint64_t form);
/* Records the registers of the last instruction. Call it once its operands are set. */
void emit_done(struct lower *l);
/* Marks the last instruction's address as relative to a frame or to dynamic shared memory (FIX_). */
void emit_fixup(struct lower *l, unsigned what, uint64_t offset);
/* Returns a new virtual register without a name. */
uint32_t temp_reg(struct lower *l, enum reg_class cls);
/* Clears the current guard and returns it; the caller restores the guard. Instructions that only prepare a hidden
 * register need no guard, and without a guard the register's live range is shorter. */
uint32_t pause_guard(struct lower *l);
/* Emits d = a, for registers of class `cls`. */
void emit_move(struct lower *l, opnd_t d, opnd_t a, enum reg_class cls);
/* Emits a move of register `a` to `d`: truncates a wider value, and zero- or sign-extends a narrower one. Sizes are in
 * bytes. */
void emit_resize(struct lower *l, opnd_t d, unsigned dbytes, opnd_t a, unsigned abytes, bool is_signed);
/* Emit a load or a store of a hidden variable at byte `offset` of the current frame. */
void emit_frame_load(struct lower *l, opnd_t d, unsigned bytes, uint64_t offset);
void emit_frame_store(struct lower *l, uint64_t offset, unsigned bytes, opnd_t value);

/* lower_name.c: reads operands as written. bad_operand() reports that the instruction expects `expected` in place of
 * `o`. */
void bad_operand(struct lower *l, const struct operand *o, const char *expected);
/* Returns the opcode of the current instruction, as written. */
const char *opcode_text(const struct lower *l);
/* lower_words.c: returns true if the opcode contains this word after a dot. */
bool has_word(const struct lower *l, const char *word);
/* Reports an error at the opcode: why the instruction is invalid. Returns false. */
bool refuse_opcode(struct lower *l, const char *why);
/* Appends a register to the operand lists (ir.lists). */
void add_to_list(struct lower *l, opnd_t reg);
/* Returns true if the instruction has `min` to `max` operands; reports an error otherwise. */
bool operand_count(struct lower *l, int min, int max);
/* Returns the register that `o` names, or NULL after reporting an error. */
const struct symbol *find_reg(struct lower *l, const struct operand *o);
/* Returns the symbol that `o` names if its kind is in the set `kinds` (bits 1 << symbol_kind), or NULL after reporting
 * that a `what` is expected. */
struct symbol *find_symbol(struct lower *l, const struct operand *o, unsigned kinds, const char *what);

/* lower_address.c: address_of() lowers the address operand of an access to space `wanted`, and returns false after an
 * error. */
bool address_of(struct lower *l, const struct operand *o, enum space wanted, struct address *out);
/* Returns the address of a symbol plus `addend` as a register or constant of type `t`. `d`: the destination, or
 * OPND_SINK if any register may be used. */
opnd_t symbol_value(struct lower *l, const struct operand *o, struct symbol *s, int64_t addend, enum type t, opnd_t d);
/* Returns the address of array[%r] or array[%r + constant] in a register of type `t`. The index counts elements. */
opnd_t element_address(struct lower *l, const struct operand *o, struct symbol *s, enum type t);
/* Sets the address operands of the last instruction, `in`. */
void set_address(struct lower *l, struct inst *in, const struct address *a);

/* lower_operand.c: lower a source or destination operand of type `t`. */
opnd_t source(struct lower *l, const struct operand *o, enum type t);
opnd_t dest(struct lower *l, const struct operand *o, enum type t);
/* Lower an operand of ld, st or cvt, whose register may be wider than `t`. *bytes gets the size of the register, or the
 * size of `t` for an immediate or `_`. */
opnd_t wide_source(struct lower *l, const struct operand *o, enum type t, unsigned *bytes);
opnd_t wide_dest(struct lower *l, const struct operand *o, enum type t, unsigned *bytes);
/* Converts an immediate to the bits of type `t`; a wider integer is truncated. Reports an error and returns false if
 * `o` is not an immediate. */
bool immediate(struct lower *l, const struct operand *o, enum type t, uint64_t *bits);
/* Returns the value of a special register in a register of `bytes` bytes (2, 4 or 8). `d`: the destination, or
 * OPND_SINK if any register may be used. */
opnd_t read_special(struct lower *l, enum special s, unsigned bytes, opnd_t d);
/* Fills `out` with the elements of {a, b} or of a vector register, at most `max`; any other operand is one element.
 * Returns the number of elements. */
int elements(struct lower *l, const struct operand *o, struct operand *out, int max);

/* Lower the current instruction: a load, a store, an atomic, an operation on an mbarrier, a copy or a prefetch
 * (lower_memory.c). */
void lower_load(struct lower *l);
void lower_store(struct lower *l);
void lower_atomic(struct lower *l);
void lower_mbarrier(struct lower *l); /* lower_mbarrier.c */
void lower_copy(struct lower *l);     /* lower_copy.c: cp.async */
void lower_prefetch(struct lower *l);
void lower_bulk(struct lower *l); /* lower_bulk.c: instructions of isa/bulk.h */
/* Returns the address as one operand of asize bytes: its register if it has no offset, else a constant or a sum. */
opnd_t address_value(struct lower *l, const struct address *a);
void lower_policy(struct lower *l); /* createpolicy */

/* lower_variable.c: allocates variables. declare_variables() declares the variables of one statement in a function. */
void declare_variables(struct lower *l, const struct variable *v);
/* Declares the formal parameters and results of a function; for an entry, fills program.params too. */
void declare_parameters(struct lower *l, const struct function *f);
/* Layout of a function's frame, in bytes: the formal parameters, followed by the results. */
struct formals {
    uint32_t n;
    uint64_t *offset, *bytes;
    uint64_t end; /* total size */
};
/* Computes the layout; reports an error and returns false for a bad parameter. */
bool formal_layout(struct lower *l, const struct function *f, struct formals *out);
enum type formal_type(const struct variable *v);
/* Returns the number of registers of a formal parameter or result that is declared .reg: the elements of a vector,
 * otherwise 1. */
unsigned formal_parts(const struct variable *v);
/* Allocates a module-scope .shared or .local variable at its first use. Returns its symbol for this kernel. */
struct symbol *place_symbol(struct lower *l, struct symbol *s);
/* Allocates `bytes` in the current frame and returns the offset. Reports an error if the frame gets too large. */
uint64_t allocate_in_frame(struct lower *l, uint64_t bytes, uint64_t align, struct loc loc);

/* lower_move.c, lower_row.c, lower_video.c, lower_tex.c, lower_control.c, lower_call.c: lower the current
 * instruction. */
void lower_row(struct lower *l);
void lower_lop3(struct lower *l);
void lower_mov(struct lower *l);
void lower_video(struct lower *l);
void lower_stack(struct lower *l); /* lower_stack.c: alloca, stacksave, stackrestore */
void lower_texture(struct lower *l);
void lower_matrix(struct lower *l);  /* lower_matrix.c: wmma, mma, ldmatrix, stmatrix, movmatrix */
void lower_wgmma(struct lower *l);   /* lower_wgmma.c */
void lower_tcgen05(struct lower *l); /* lower_tcgen05.c */
void lower_launch(struct lower *l);  /* lower_launch.c: clusterlaunchcontrol */
void lower_branch(struct lower *l);
void lower_brx(struct lower *l);
void lower_return(struct lower *l);
void lower_barrier(struct lower *l);
void lower_call(struct lower *l);
void resolve_indirect_calls(struct lower *l);

/* lower_target.c: returns true if the module's .target and .version have the current instruction; otherwise reports an
 * error. */
bool instruction_exists(struct lower *l, const struct opcode *opcode);
/* Returns true if the module's .target and .version have a form that depends on operands, which targets.def writes as a
 * word of the opcode, such as "tcgen05.mma.scale-input-d". Otherwise reports an error and returns false. */
bool form_exists(struct lower *l, const char *form);
/* Reports an error if the module's .target or .version does not have the special register `s`, or if the kernel needs
 * warps of 32 lanes because it uses `s`. */
void check_special(struct lower *l, struct loc loc, const struct symbol *s);

/* lower_warp_size.c: report an error if the machine's warps do not have 32 lanes, but the kernel needs 32 because it
 * uses the special register `s`, WARP_SZ, or the current instruction. */
void check_special_size(struct lower *l, struct loc loc, const struct symbol *s);
void check_constant_size(struct lower *l, struct loc loc);
void check_instruction_size(struct lower *l);

/* lower_function.c: returns the index of function `id` in ir->functions, and adds the function if it is missing.
 * Returns UINT32_MAX if the function has no body. */
uint32_t require_function(struct lower *l, uint32_t id);

/* lower.c: makes labels and lowers whole kernels. lower_kernel() lowers a kernel and every function it can reach, and
 * returns false after an error. */
uint32_t new_label(struct lower *l);
void bind_label(struct lower *l, uint32_t label);
bool lower_kernel(struct lower *l, const char *kernel);
#endif
