#ifndef ISA_JIT_COMPILE_H
#define ISA_JIT_COMPILE_H
/* One block on its way to machine code. Internal to isa/jit.
 *
 * A register of a warp is an array of 32 lanes in its bank; as many bytes of it as a vector register has are a line.
 * While a block is compiled, lines are held in vector registers: loaded at their first use, and stored when the
 * register is needed for another, before a call, and where the code is left. */
#include "isa/decode.h"
#include "jit.h"
#include "jit_emit.h"

enum {
    N_VECTORS = 32,   /* at most */
    MAX_LINES = 8,    /* of a register of the warp */
    MAX_NATIVE = 256, /* instructions of a block that are compiled; the rest is interpreted */
    N_GROUPS = 3,
    MAX_JUMPS = 12, /* that leave at one instruction, for one reason */
};
/* What registers are for while code runs. RAX, RCX, RDX, RSI and RDI are free; R8 to R11, R14 and R15 are groups'. */
#define BANK0  RBX
#define FRAME  RBP
#define BANK1  R12
#define TABLES R13

/* How the 32 addresses of an access lie, as was seen: by half of the warp, one address or one element behind the
 * other. */
enum access_shape {
    ACCESS_SAME_SAME, /* bit h: half h is a row */
    ACCESS_ROW_SAME,
    ACCESS_SAME_ROW,
    ACCESS_ROW_ROW,
    ACCESS_ANY,  /* gathered */
    ACCESS_CALL, /* left to the interpreter's function */
    ACCESS_UNSEEN,
};
/* What is known of instructions from running them; by PC. */
struct seen {
    _Atomic uint8_t shape; /* enum access_shape */
    _Atomic uint8_t space; /* enum space: where generic addresses led */
    atomic_bool call_part; /* with a part of the lanes it is left to the interpreter's function */
};

struct held_line {
    uint32_t key;  /* byte offset in its bank, + 1 for bank 1; NO_LINE: the register is free */
    bool dirty;    /* differs from memory */
    bool any_nan;  /* f32 of which a NaN has not been made the canonical one yet */
    uint8_t index; /* when dirty: which line it is */
    uint8_t size;  /* likewise: of elements of so many bytes */
    uint32_t used; /* when */
};
#define NO_LINE 0xffffffffu

/* What has been executed and is not counted yet: lanes of instructions, and loads that statistics count. */
struct done {
    uint32_t lanes, loads;
};

/* A way out: what must be stored, and which jumps lead to it. */
struct way_out {
    uint32_t index, reason; /* instructions that were executed */
    struct done done;
    jump_t jumps[MAX_JUMPS];
    unsigned n_jumps;
    struct held_line held[N_VECTORS];
};

/* Accesses off one base register whose bounds were checked together: a host address for each half of the warp. */
struct group {
    opnd_t base;
    bool live;
    uint8_t shape, space, msize;
    bool writes;
    int64_t low, high; /* the offsets that were checked, to and with */
    uint32_t used;
};

/* Where an access finds its allocation. */
struct site {
    uint32_t index; /* in the block */
    uint32_t hint;  /* index in memory.list; of the code as it runs, by any thread */
};

struct compiler {
    struct emit e;
    const struct program *program;
    const struct jit_entry *entry; /* by PC */
    bool part;                     /* only the frame's active lanes execute: see store_line() */
    struct seen *seen;             /* likewise */
    size_t inside;                 /* where in the code other code goes on into it */
    const struct inst *first;      /* of the block */
    uint32_t n;                    /* instructions */
    uint32_t at;                   /* the one at hand */
    struct done done;              /* before it, without lanes of guarded ones */
    uint32_t native;               /* compiled without a call */
    bool is_native[MAX_NATIVE];
    const struct rule *rule[MAX_NATIVE]; /* NULL for accesses */
    unsigned strip, strips;              /* the part of the lanes that is compiled for, of so many */
    struct held_line held[N_VECTORS];
    uint32_t keys[N_VECTORS]; /* once more, side by side: they are searched for each operand */
    uint32_t pinned;          /* bit v: vector register v is in use by the instruction at hand */
    uint32_t vectors;         /* likewise: it is for lines */
    struct group groups[N_GROUPS];
    uint32_t clock; /* counts uses */
    struct way_out *outs;
    uint32_t n_outs, cap_outs;
    struct site *sites; /* n of them: the code holds their addresses */
    uint32_t n_sites;
};

/* ---- compile.c ---- */

static inline const struct inst *inst_of(const struct compiler *c) { return &c->first[c->at]; }
static inline struct place frame_at(size_t offset) { return at(FRAME, (int64_t)offset); }
static inline struct place table_at(size_t offset) { return at(TABLES, (int64_t)offset); }
/* Where an operand is. */
static inline struct place operand_at(opnd_t o, unsigned offset) {
    return at(o & 1 ? BANK1 : BANK0, (o >> 1) + offset);
}

/* Bytes of a line. */
static inline unsigned line_bytes(const struct compiler *c) { return c->e.vex ? 32 : 64; }
/* Lines of a register of the warp that has elements of `size` bytes: at most MAX_LINES. */
static inline unsigned lines_of(const struct compiler *c, unsigned size) { return WARP_LANES * size / line_bytes(c); }

/* Those that are compiled for now: from the first one up to, not including, the end. */
static inline unsigned line_first(const struct compiler *c, unsigned size) {
    return lines_of(c, size) * c->strip / c->strips;
}
static inline unsigned line_end(const struct compiler *c, unsigned size) {
    return lines_of(c, size) * (c->strip + 1) / c->strips;
}

/* The vector register with line `i` of an operand, for reading, until unpin(). `any_nan`: NaNs may be any. */
unsigned line_get(struct compiler *c, opnd_t o, unsigned i, bool any_nan);
/* One that the instruction is about to write as a whole, of line `i` of d; likewise. */
unsigned line_new(struct compiler *c, opnd_t d, unsigned i, bool any_nan);
/* The line is rewritten where it is, which line_get() gave. */
void line_changed(struct compiler *c, opnd_t d, unsigned i);
/* One for a value that is to become line `i` of a register when nothing can go wrong any more. */
unsigned line_apart(struct compiler *c, unsigned i);
/* That moment: v, which line_apart() gave, is line i of d. */
void line_becomes(struct compiler *c, unsigned v, opnd_t d, unsigned i);
void unpin(struct compiler *c);

/* A way out before the instruction at hand, as lines are held now; NULL when memory is out. */
struct way_out *way_out(struct compiler *c, uint32_t reason);
/* Jumps there on a condition. */
void leave_if(struct compiler *c, struct way_out *out, unsigned condition);

/* `to`: the lanes that execute the instruction, of those that are active. */
void guard_mask(struct compiler *c, const struct inst *in, enum gpr to);

/* ---- lanes.c: what AVX-512 and AVX2 do in two ways ----
 * Vector registers 0 to 3 are scratch, and no line. Masks are 1 and 2: mask registers, or vector registers in which all
 * bits of a lane are alike (4, which holds no line then, and 3); they live until a line is taken. */

/* The vector registers that lines may be in, as bits. */
uint32_t lanes_vectors(const struct emit *e);
/* d = op of a and b (one source: b), whatever it takes; uses 2 and 3, before d is written. */
void lanes_op(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b);
/* d = ~a */
void lanes_not(struct emit *e, unsigned d, unsigned a);
/* d |= a ^ b; uses 2, which a may be. */
void lanes_differ(struct emit *e, unsigned d, unsigned a, unsigned b);
/* d: the upper half of v in its lower half. */
void lanes_upper(struct emit *e, unsigned d, unsigned v);
/* d: the lower half of `low`, and that of `high` above. */
void lanes_join(struct emit *e, unsigned d, unsigned low, unsigned high);
/* d: the lower words of elements of 64 bits; uses 1 and 2. */
void lanes_cut(struct emit *e, unsigned d, unsigned low, unsigned high);
/* All lanes of d: a general register. */
void lanes_spread(struct emit *e, bool wide, unsigned d, enum gpr from);
/* d: what is at base + index, by lane: all lanes, or, for `part`, the active ones of line i of elements of `size`
 * bytes. Uses mask 1; d is neither 3 nor the index. */
void lanes_gather(struct emit *e, uint32_t op, unsigned d, enum gpr base, unsigned index, bool part, unsigned i,
                  unsigned size);
/* Mask m: where a comparison of floats holds; `how`: by number, as in the manual. */
void lanes_compare(struct emit *e, uint32_t op, unsigned m, unsigned a, unsigned b, unsigned how);
/* Words of d become those of v where m is. */
void lanes_merge(struct emit *e, unsigned m, unsigned d, unsigned v);
/* Line i, with elements of `size` bytes: d is `yes` in the lanes of predicate p, else `no`. Uses mask 1. */
void lanes_choose(struct compiler *c, unsigned d, unsigned yes, unsigned no, opnd_t p, unsigned i, unsigned size);
/* Comparison by line, from the last one down to 0: then EAX has the lanes of the warp where it holds. Uses RCX, and 1
 * to 3. */
void lanes_compare_line(struct emit *e, uint32_t op, unsigned how, unsigned i, unsigned lines, unsigned a, unsigned b);
/* Leaves if v has a bit; if one of n vectors of f64 (an even number) has a NaN. */
void lanes_leave_if_any(struct compiler *c, unsigned v, struct way_out *out);
/* Mask m: the active lanes of line i with elements of `size` bytes. */
void lanes_active(struct emit *e, unsigned m, unsigned i, unsigned size);
/* Stores those lanes of v; in the others v becomes what is there. Uses mask 1, or a mask register that nothing else
 * uses. */
void lanes_store_active(struct emit *e, unsigned v, struct place p, unsigned i, unsigned size);
/* d |= v: in those lanes, or, if not `part`, in all. Uses mask 1 and 2, which v may be. */
void lanes_or_active(struct emit *e, bool part, unsigned d, unsigned v, unsigned i, unsigned size);
void lanes_leave_if_nan(struct compiler *c, const unsigned *v, unsigned n, struct way_out *out);
/* Makes the NaNs of an f32 vector canonical. Uses mask 1, or a mask register that nothing else uses. */
void canonical_nan(struct emit *e, unsigned v);

/* ---- ops.c: arithmetic ---- */
/* The code that there is for it; NULL: none. Guarded instructions never leave. */
const struct rule *op_rule(const struct compiler *c, const struct inst *in);
/* Does it take from each lane what it gives to that lane, and never leave? */
bool rule_is_lanewise(const struct rule *r);
/* By c->rule. */
void compile_op(struct compiler *c);
/* ---- access.c: loads and stores; likewise ---- */
bool access_is_native(const struct compiler *c, const struct inst *in);
void compile_access(struct compiler *c);
/* Checks the addresses of the load at hand, if need be. False: it is no load of rows. */
bool access_prepare(struct compiler *c);
/* A load of rows whose addresses have been checked, by one of the groups in `live`. */
bool access_is_checked(const struct compiler *c, const struct inst *in, unsigned live);
/* The groups in `live` that are there when d has been written. */
unsigned groups_left(const struct compiler *c, unsigned live, opnd_t d);
/* The registers of groups have been lost. */
void forget_groups(struct compiler *c);
/* The instruction at hand has written d. */
void groups_written(struct compiler *c, opnd_t d);
/* An access whose plain addresses a queue sends, without more from one: jit_frame.row is for it. */
bool access_is_queued(const struct compiler *c, const struct inst *in);
/* How `addr` lie for elements of `bytes` bytes. */
enum access_shape shape_of(const uint64_t addr[WARP_LANES], unsigned bytes);

/* The whole block; false when memory is out. The code is in c->e. */
bool compile_block(struct compiler *c);

#define WHOLE ((struct lanes){0, false})

/* Vector instructions. */
#define V_LOAD        VECTOR(1, 0, 0, 0x10) /* vmovups */
#define V_STORE       VECTOR(1, 0, 0, 0x11)
#define V_LOAD64      VECTOR(1, 1, 1, 0x10) /* vmovupd: masks are of 64 bits */
#define V_COPY32      VECTOR(1, 1, 0, 0x6f) /* vmovdqa32; with a mask it merges */
#define V_COPY64      VECTOR(1, 1, 1, 0x6f)
#define V_SAME32      (VECTOR(2, 1, 0, 0x18) | VECTOR_ELEMENT)                 /* vbroadcastss from memory */
#define V_SAME64      (VECTOR(2, 1, 1, 0x19) | VECTOR_ELEMENT | VECTOR_EVEX_W) /* vbroadcastsd */
#define V_SPREAD32    (VECTOR(2, 1, 0, 0x58) | VECTOR_ELEMENT) /* vpbroadcastd from a vector or memory */
#define V_SPREAD64    (VECTOR(2, 1, 1, 0x59) | VECTOR_ELEMENT | VECTOR_EVEX_W)
#define V_XOR         VECTOR(1, 1, 0, 0xef)
#define V_AND         VECTOR(1, 1, 0, 0xdb)
#define V_OR          VECTOR(1, 1, 0, 0xeb)
#define V_OR64        VECTOR(1, 1, 1, 0xeb) /* vporq: for masks */
#define V_ADD32       VECTOR(1, 1, 0, 0xfe)
#define V_SUB32       VECTOR(1, 1, 0, 0xfa)
#define V_ADD64       VECTOR(1, 1, 1, 0xd4)
#define V_SUB64       VECTOR(1, 1, 1, 0xfb)
#define V_MUL32       VECTOR(2, 1, 0, 0x40)                   /* vpmulld */
#define V_MUL64       VECTOR(2, 1, 1, 0x40)                   /* vpmullq */
#define V_WIDE_U32    VECTOR(1, 1, 1, 0xf4)                   /* vpmuludq */
#define V_WIDE_S32    (VECTOR(2, 1, 1, 0x28) | VECTOR_EVEX_W) /* vpmuldq */
#define V_SHR64       VECTOR(2, 1, 1, 0x45)                   /* vpsrlvq */
#define V_SHR64S      VECTOR(2, 1, 1, 0x46)                   /* vpsravq */
#define V_SHIFT32     VECTOR(1, 1, 0, 0x72) /* by an immediate; reg: SHIFT_, second: the destination */
#define V_SHIFT64     VECTOR(1, 1, 1, 0x73)
#define V_ABS64       VECTOR(2, 1, 1, 0x1f)                /* vpabsq */
#define V_F32_S32     VECTOR(1, 0, 0, 0x5b)                /* vcvtdq2ps */
#define V_F32_U32     VECTOR(1, 3, 0, 0x7a)                /* vcvtudq2ps */
#define V_FMA231      VECTOR(2, 1, 0, 0xb8)                /* reg = second * third + reg; with W for f64 */
#define V_FMA213      VECTOR(2, 1, 0, 0xa8)                /* reg = second * reg + third */
#define V_LOW32       VECTOR(2, 1, 0, 0x35)                /* vpmovzxdq */
#define V_LOW32S      VECTOR(2, 1, 0, 0x25)                /* vpmovsxdq */
#define V_TO_GPR32    (VECTOR(1, 1, 0, 0x7e) | VECTOR_128) /* vmovd; reg is the source */
#define V_TO_GPR64    (VECTOR(1, 1, 1, 0x7e) | VECTOR_128)
#define V_CMP_F32     VECTOR(1, 0, 0, 0xc2)
#define V_CMP_F64     VECTOR(1, 1, 1, 0xc2)
#define V_CMP_U32     VECTOR(3, 1, 0, 0x1e)
#define V_CMP_U64     VECTOR(3, 1, 1, 0x1e)
#define V_CMP_S32     VECTOR(3, 1, 0, 0x1f)
#define V_CMP_S64     VECTOR(3, 1, 1, 0x1f)
#define V_GATHER32    VECTOR(2, 1, 0, 0x90) /* vpgatherdd */
#define V_GATHER64    VECTOR(2, 1, 1, 0x91) /* vpgatherqq */
#define V_GATHERQ32   VECTOR(2, 1, 0, 0x91) /* vpgatherqd */
#define V_TO_SCATTER  0x100000u /* from the opcode of a gather to that of a scatter: 0x10 further; reg is the source */
#define CMP_UNORDERED 3
enum { SHIFT_RIGHT = 2, SHIFT_LEFT = 6 };
#endif
