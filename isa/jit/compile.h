#ifndef ISA_JIT_COMPILE_H
#define ISA_JIT_COMPILE_H
/* One block on its way to machine code. Internal to isa/jit.
 *
 * A register of a warp is an array of 32 lanes in its bank; LINE bytes of it, aligned, are a line. While a block is
 * compiled, lines are held in vector registers: loaded at their first use, and stored when the register is needed for
 * another, before a call, and where the code is left. */
#include "emit.h"
#include "isa/decode.h"
#include "jit.h"

enum {
    LINE = 64,
    N_VECTORS = 32,
    FIRST_LINE = 4,   /* vector registers 0 to 3 are scratch */
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
};

struct held_line {
    uint32_t key;  /* byte offset in its bank, + 1 for bank 1; NO_LINE: the register is free */
    bool dirty;    /* differs from memory */
    bool any_nan;  /* f32 of which a NaN has not been made the canonical one yet */
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
    struct seen *seen;             /* likewise */
    size_t inside;                 /* where in the code other code goes on into it */
    const struct inst *first;      /* of the block */
    uint32_t n;                    /* instructions */
    uint32_t at;                   /* the one at hand */
    struct done done;              /* before it, without lanes of guarded ones */
    uint32_t native;               /* compiled without a call */
    bool is_native[MAX_NATIVE];
    struct held_line held[N_VECTORS];
    uint32_t keys[N_VECTORS]; /* once more, side by side: they are searched for each operand */
    uint32_t pinned;          /* bit v: vector register v is in use by the instruction at hand */
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

/* The vector register with line `i` of an operand, for reading, until unpin(). `any_nan`: NaNs may be any. */
unsigned line_get(struct compiler *c, opnd_t o, unsigned i, bool any_nan);
/* One that the instruction is about to write as a whole, of line `i` of d; likewise. */
unsigned line_new(struct compiler *c, opnd_t d, unsigned i, bool any_nan);
/* The line is rewritten where it is, which line_get() gave. */
void line_changed(struct compiler *c, opnd_t d, unsigned i);
void unpin(struct compiler *c);
/* Makes the NaNs of an f32 vector canonical. Uses k7, which nothing else does. */
void canonical_nan(struct emit *e, unsigned v);

/* A way out before the instruction at hand, as lines are held now; NULL when memory is out. */
struct way_out *way_out(struct compiler *c, uint32_t reason);
/* Jumps there on a condition. */
void leave_if(struct compiler *c, struct way_out *out, unsigned condition);

/* Mask register k holds the guard's lanes of line `i`, of elements of `size` bytes. */
void guard_mask(struct compiler *c, unsigned k, unsigned i, unsigned size);
void predicate_mask(struct compiler *c, unsigned k, opnd_t p, unsigned i, unsigned size);

/* ---- ops.c: arithmetic ---- */
/* Is there code for it? Guarded instructions never leave. */
bool op_is_native(const struct compiler *c, const struct inst *in);
void compile_op(struct compiler *c);
/* ---- access.c: loads and stores; likewise ---- */
bool access_is_native(const struct compiler *c, const struct inst *in);
void compile_access(struct compiler *c);
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
#define V_COPY32      VECTOR(1, 1, 0, 0x6f) /* vmovdqa32; with a mask it merges */
#define V_COPY64      VECTOR(1, 1, 1, 0x6f)
#define V_SAME32      (VECTOR(2, 1, 0, 0x18) | VECTOR_ELEMENT) /* vbroadcastss from memory */
#define V_SAME64      (VECTOR(2, 1, 1, 0x19) | VECTOR_ELEMENT) /* vbroadcastsd */
#define V_SPREAD32    (VECTOR(2, 1, 0, 0x58) | VECTOR_ELEMENT) /* vpbroadcastd from a vector or memory */
#define V_SPREAD64    (VECTOR(2, 1, 1, 0x59) | VECTOR_ELEMENT)
#define V_XOR         VECTOR(1, 1, 0, 0xef)
#define V_AND         VECTOR(1, 1, 0, 0xdb)
#define V_OR          VECTOR(1, 1, 0, 0xeb)
#define V_LOGIC       VECTOR(3, 1, 0, 0x25) /* vpternlogd, imm */
#define V_TEST        VECTOR(2, 1, 0, 0x27) /* vptestmd */
#define V_ADD32       VECTOR(1, 1, 0, 0xfe)
#define V_SUB32       VECTOR(1, 1, 0, 0xfa)
#define V_ADD64       VECTOR(1, 1, 1, 0xd4)
#define V_SUB64       VECTOR(1, 1, 1, 0xfb)
#define V_LOW32       VECTOR(2, 1, 0, 0x35)                /* vpmovzxdq */
#define V_LOW32S      VECTOR(2, 1, 0, 0x25)                /* vpmovsxdq */
#define V_HALF        VECTOR(3, 1, 1, 0x3b)                /* vextracti64x4, imm */
#define V_JOIN        VECTOR(3, 1, 1, 0x3a)                /* vinserti64x4, imm */
#define V_CUT64       VECTOR(2, 2, 0, 0x35)                /* vpmovqd: reg is the source */
#define V_TO_GPR32    (VECTOR(1, 1, 0, 0x7e) | VECTOR_128) /* vmovd; reg is the source */
#define V_TO_GPR64    (VECTOR(1, 1, 1, 0x7e) | VECTOR_128)
#define V_CMP_F32     VECTOR(1, 0, 0, 0xc2)
#define V_CMP_F64     VECTOR(1, 1, 1, 0xc2)
#define V_CMP_U32     VECTOR(3, 1, 0, 0x1e)
#define V_CMP_U64     VECTOR(3, 1, 1, 0x1e)
#define V_GATHER32    VECTOR(2, 1, 0, 0x90) /* vpgatherdd */
#define V_GATHER64    VECTOR(2, 1, 1, 0x91) /* vpgatherqq */
#define V_GATHERQ32   VECTOR(2, 1, 0, 0x91) /* vpgatherqd */
#define V_FROM_GPR32  VECTOR(2, 1, 0, 0x7c) /* vpbroadcastd from a general register */
#define V_FROM_GPR64  VECTOR(2, 1, 1, 0x7c)
#define CMP_UNORDERED 3
#define CMP_ABOVE     6

/* Masks. */
#define K_LOAD16 VECTOR(1, 0, 0, 0x90)
#define K_LOAD8  VECTOR(1, 1, 0, 0x90)
#define K_TO32   VECTOR(1, 3, 0, 0x93)
#define K_NOT16  VECTOR(1, 0, 0, 0x44)
#define K_OR16   VECTOR(1, 0, 0, 0x45)
#define K_ALL16  VECTOR(1, 0, 0, 0x46) /* kxnorw */
#define K_TEST16 VECTOR(1, 0, 0, 0x98) /* kortestw */
#define K_JOIN8  VECTOR(1, 1, 0, 0x4b) /* kunpckbw: second above third */
#define K_JOIN16 VECTOR(1, 0, 0, 0x4b) /* kunpckwd */
#endif
