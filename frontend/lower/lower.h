#ifndef FRONTEND_LOWER_H
#define FRONTEND_LOWER_H
/* From statements to instructions on virtual registers: what the lower_*.c files share. Internal to frontend/.
 *
 * An error is reported where it is found and the operand at hand becomes harmless (OPND_ZERO, OPND_SINK), so that one
 * walk finds all errors of a function. */
#include "frontend/analysis/ir.h"
#include "image.h"

struct lower {
    struct ir *ir;
    const struct image *img;
    const struct module *module;
    struct diags *d;
    struct names names;
    uint32_t fn;            /* index of the function at hand in ir->functions */
    uint64_t frame;         /* bytes of its frame so far */
    uint64_t shared, local; /* bytes of static shared memory, and of local variables of module scope, so far */
    uint32_t *fn_of_id;     /* image function id -> index in ir->functions + 1 */
    struct {
        uint32_t caller, inst;
        const struct function *proto;
        struct loc loc;
    } * indirect; /* calls through pointers, resolved when all functions are known */
    uint32_t n_indirect, cap_indirect;
    bool any_indirect;                   /* functions whose addresses initialisers hold have been added */
    uint32_t special_reg[N_SPECIALS][2]; /* virtual registers of 32 and 64 bits; 0: none yet */
    /* the function at hand */
    uint32_t carry;     /* hidden predicate, 0: none yet */
    uint32_t *label_at; /* label -> instruction; NO_INST: not yet */
    uint32_t n_labels, cap_labels;
    uint32_t ret_label;
    bool ret_used;
    uint32_t src_file, src_line; /* of the last .loc */
    bool yields;                 /* .pragma "heddle yield" waits for its instruction */
    /* the instruction at hand */
    const struct statement *st;
    const struct decoded *dec;
    uint32_t guard; /* virtual register or NO_GUARD */
    bool guard_not;
    uint32_t line; /* of the last place asked for, from 0 */
};

/* Where an access goes. */
struct address {
    opnd_t base;   /* register or OPND_ZERO */
    uint8_t asize; /* its bytes a lane */
    int64_t imm;
    enum space space;
    bool fixup;   /* imm is relative to what `what` says */
    uint8_t what; /* FIX_ */
};

/* lower_emit.c: adds instructions. */
struct inst *emit(struct lower *l, const struct isa_row *row);
/* Like emit() for a row that lowering needs by its key; `operands` of a plain operation may be filled by the caller. */
struct inst *emit_op(struct lower *l, enum op_id op, enum type t0, enum type t1, uint64_t form);
/* Call when the operands of the last instruction are set: notes which registers it reads and writes. */
void emit_done(struct lower *l);
/* The instruction's address depends on the layout of frames or shared memory. */
void emit_fixup(struct lower *l, unsigned what, uint64_t offset);
uint32_t temp_reg(struct lower *l, enum reg_class cls);
/* Instructions that only prepare a hidden register need no guard, and live shorter without. Returns the guard, which
 * the caller puts back. */
uint32_t pause_guard(struct lower *l);
void emit_move(struct lower *l, opnd_t d, opnd_t a, enum reg_class cls);
/* d = low part or zero/sign extension of a. */
void emit_resize(struct lower *l, opnd_t d, unsigned dbytes, opnd_t a, unsigned abytes, bool is_signed);
/* Loads and stores of hidden variables in the frame at hand. */
void emit_frame_load(struct lower *l, opnd_t d, unsigned bytes, uint64_t offset);
void emit_frame_store(struct lower *l, uint64_t offset, unsigned bytes, opnd_t value);

/* lower_operand.c: written operands. */
void bad_operand(struct lower *l, const struct operand *o, const char *expected);
/* True when so many operands are written; else reports. */
bool operand_count(struct lower *l, int min, int max);
/* The register that a name means; NULL (reported) when it means none. */
const struct symbol *find_reg(struct lower *l, const struct operand *o);
struct symbol *find_symbol(struct lower *l, const struct operand *o, unsigned kinds, const char *what);
opnd_t source(struct lower *l, const struct operand *o, enum type t);
opnd_t dest(struct lower *l, const struct operand *o, enum type t);
/* The same for ld, st, cvt: the register may be wider; *bytes is its size (that of the type for immediates and sinks).
 */
opnd_t wide_source(struct lower *l, const struct operand *o, enum type t, unsigned *bytes);
opnd_t wide_dest(struct lower *l, const struct operand *o, enum type t, unsigned *bytes);
/* An immediate as bits of type `t`, the lower ones of a wider integer; false (reported) when it is none. */
bool immediate(struct lower *l, const struct operand *o, enum type t, uint64_t *bits);
/* The value of a special register in a register of `bytes` bytes (2, 4, 8); d: where to put it, or OPND_SINK for any.
 */
opnd_t read_special(struct lower *l, enum special s, unsigned bytes, opnd_t d);
/* The elements of {a, b} or of a vector register, up to `max`; 1 for anything else. */
int elements(struct lower *l, const struct operand *o, struct operand *out, int max);

/* lower_memory.c */
bool address_of(struct lower *l, const struct operand *o, enum space wanted, struct address *out);
/* The value of a symbol's address plus `addend` in a register or constant of type `t`; d as in read_special. */
opnd_t symbol_value(struct lower *l, const struct operand *o, struct symbol *s, int64_t addend, enum type t, opnd_t d);
/* The address of array[%r] or array[%r + constant] in a register of type `t`: the index counts elements. */
opnd_t element_address(struct lower *l, const struct operand *o, struct symbol *s, enum type t);
void set_address(struct lower *l, struct inst *in, const struct address *a);
void lower_load(struct lower *l);
void lower_store(struct lower *l);
void lower_atomic(struct lower *l);
void lower_mbarrier(struct lower *l); /* lower_mbarrier.c */
void lower_copy(struct lower *l);     /* lower_copy.c: cp.async */
void lower_prefetch(struct lower *l);

/* lower_variable.c: where variables live. */
void declare_variables(struct lower *l, const struct variable *v);
/* Offsets of formal parameters and results; for an entry also program.params. */
void declare_parameters(struct lower *l, const struct function *f);
/* Where the formal parameters, then the results, of a function lie in its frame. */
struct formals {
    uint32_t n;
    uint64_t *offset, *bytes;
    uint64_t end; /* bytes of all of them */
};
bool formal_layout(struct lower *l, const struct function *f, struct formals *out);
enum type formal_type(const struct variable *v);
/* Registers that a formal declared .reg is: elements of a vector, 1 for a scalar (and for all that is no register). */
unsigned formal_parts(const struct variable *v);
/* A module-scope variable used for the first time gets its place. */
struct symbol *place_symbol(struct lower *l, struct symbol *s);
uint64_t frame_room(struct lower *l, uint64_t bytes, uint64_t align, struct loc loc);

/* lower_move.c, lower_row.c, lower_video.c, lower_tex.c, lower_control.c, lower_call.c: one instruction each. */
void lower_row(struct lower *l);
void lower_lop3(struct lower *l);
void lower_mov(struct lower *l);
void lower_video(struct lower *l);
void lower_stack(struct lower *l); /* lower_stack.c: alloca, stacksave, stackrestore */
void lower_texture(struct lower *l);
void lower_matrix(struct lower *l); /* lower_matrix.c: wmma, mma, ldmatrix, stmatrix, movmatrix */
void lower_branch(struct lower *l);
void lower_brx(struct lower *l);
void lower_return(struct lower *l);
void lower_barrier(struct lower *l);
void lower_call(struct lower *l);
void resolve_indirect_calls(struct lower *l);
/* Index in ir->functions of a function that will be needed. */
uint32_t need_function(struct lower *l, uint32_t id);

/* lower.c */
uint32_t new_label(struct lower *l);
void bind_label(struct lower *l, uint32_t label);
bool lower_kernel(struct lower *l, const char *kernel);
const char *opcode_text(const struct lower *l);
#endif
