#ifndef ISA_AFFINE_ENGINE_PARTS_H
#define ISA_AFFINE_ENGINE_PARTS_H
/* What the files of the affine engine share: engine.c (control flow and sending), operation.c (the stream decoded),
 * lives.c (what is read again), compute*.c (values; they share compute_parts.h). */
#include "engine.h"
#include "isa/exec/exec.h"
#include "rule.h"

/* How a register's values differ between the CTAs of a batch. */
enum by_cta { CTA_SAME, CTA_LINEAR, CTA_EACH };

struct affine_reg {
    uint32_t offset;           /* in bank 0 */
    uint8_t bits;              /* 0: a predicate */
    uint8_t by_cta;            /* enum by_cta */
    uint32_t sent;             /* predicate: number of the enq that sent this value; 0: none has */
    struct affine_cell *cells; /* by CTA; NULL for predicates */
    lanemask_t *pred;          /* by warp of the batch */
    uint8_t *compare;          /* likewise: enum affine_compare */
    uint32_t uniform;          /* predicate: bit c, all threads of CTA c have the same */
};

enum { NO_REG = UINT16_MAX, MAX_SOURCES = 4, MAX_DESTS = 8 };

struct affine_source {
    uint16_t reg; /* NO_REG: a constant */
    uint8_t bits; /* 0: a predicate */
    opnd_t at;
    struct affine_tuple constant;
};

struct affine_dest {
    uint16_t reg;
    uint8_t bits;
    opnd_t at;
};

/* An instruction of the stream. */
struct affine_op {
    struct inst in; /* without its guard */
    uint16_t guard; /* NO_REG: none */
    bool guard_not;
    bool linear;  /* the rule says the base, too; else the row's executor does */
    bool ends;    /* compares by < <= > >=, without another predicate: both ends of a row may decide */
    uint8_t rule; /* enum affine_rule */
    uint8_t n_sources, n_dests;
    bool is_signed;    /* the type of source a */
    uint8_t from_bits; /* of the type that RULE_WIDEN, RULE_MUL_WIDE and RULE_MAD_WIDE begin with */
    struct affine_source source[MAX_SOURCES]; /* at its place: a b c e */
    struct affine_dest dest[MAX_DESTS];
};

/* Threads that an instruction is for. */
struct affine_group {
    const lanemask_t *lanes; /* by warp of the batch */
    uint32_t some, whole;    /* CTAs, by bit: with any of them; with all threads that have not exited */
};

struct stack_entry {
    uint32_t pc, rpc;
    lanemask_t *lanes; /* by warp of the batch */
};

/* What one combination of the sources' variants gives. */
enum { MAX_PIECES = 16 };
struct affine_piece {
    struct affine_tuple t;
    lanemask_t lanes[MAX_CTA_WARPS];
};

struct affine_engine {
    const struct launch *launch;
    const struct program *program;
    struct affine_shape shape;
    uint32_t first, max_ctas, n_ctas, n_warps; /* n_warps: of the batch */
    uint32_t begin, end;                       /* the stream's instructions */
    struct affine_op *ops;
    uint16_t *reg_at; /* by offset / 4 */
    struct affine_reg *regs;
    uint32_t n_regs, cap_regs;
    uint64_t *live_regs; /* by instruction of the stream: what is read there or behind, by bit; reg_words each */
    uint32_t reg_words;
    /* executes: a CTA a lane, or a warp */
    struct cta cta;
    struct warp warp;
    unsigned char *bank;
    struct effects fx;
    struct affine_piece *pieces;
    /* control */
    struct stack_entry *stack;
    uint32_t depth, cap_depth;
    lanemask_t *live, *rest, *taken; /* by warp of the batch */
    lanemask_t *nobody;              /* likewise; all 0 */
    struct affine_group top;         /* of the stack's last entry */
    bool top_known;
    struct affine_entry *entries;
    bool has_exact; /* one of them has memory of its own */
    /* barriers that have been passed: by warp of the batch, and what single threads have passed beside */
    uint32_t *markers, *thread_markers;
    bool has_thread_markers;
    uint32_t sent; /* predicates */
    bool out_of_memory;
};

/* operation.c: decodes the stream and gives its registers numbers. False: memory is out. */
bool engine_decode(struct affine_engine *e);
/* lives.c: finds out what is read where, of a stream that is decoded. False: memory is out. */
bool engine_find_lives(struct affine_engine *e);
/* Is what `op`, the next instruction, writes read by none of the threads that wait elsewhere (on the stack, below its
 * last entry) before they write it themselves? */
bool engine_owns_results(const struct affine_engine *e, const struct affine_op *op);
/* compute.c: executes an operation that computes or loads, for these threads. False: e->fx.fault, or
 * e->out_of_memory; step->fault_cta and fault_lane are filled. */
bool engine_compute(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                    struct affine_step *step);
#endif
