#ifndef ISA_AFFINE_ENGINE_PARTS_H
#define ISA_AFFINE_ENGINE_PARTS_H
/* Shared by the files of the affine engine: engine.c (control flow), send.c (queue entries), operation.c (decoding),
 * stream_liveness.c (live registers), memo.c (results that all batches share), compute*.c (values; see
 * compute_parts.h). */
#include "engine.h"
#include "isa/exec/exec.h"
#include "rule.h"
#include "stream.h"

/* How a register's values differ between the CTAs of a batch: equal, linear in the CTA's index, arbitrary. */
enum by_cta { CTA_SAME, CTA_LINEAR, CTA_EACH };

struct affine_reg {
    uint32_t offset;           /* in bank 0 */
    uint8_t bits;              /* 0: a predicate */
    uint8_t by_cta;            /* enum by_cta */
    uint32_t sent;             /* predicate: number of the enq that sent this value; 0: not sent */
    struct affine_cell *cells; /* by CTA; NULL for predicates */
    lanemask_t *pred;          /* by warp of the batch */
    uint8_t *compare;          /* likewise: enum affine_compare */
    uint32_t uniform;          /* predicate: bit c: all threads of CTA c have the same value */
    uint32_t tag;              /* identifies a value that all CTAs of the launch share; 0: none */
};

enum { NO_REG = UINT16_MAX, MAX_SOURCES = 4, MAX_DESTS = 8 };
/* Tags of results start at 1, tags of special registers at TAG_SPECIAL. MEMO_TRIES: results recorded for an operation,
 * at most. */
enum { TAG_SPECIAL = 1 << 30, MEMO_TRIES = 3 };

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

/* The last result of an operation whose sources are equal in all CTAs: parameters, sizes, thread indices, and results
 * of these. Most such operations are computed once in a launch. */
struct affine_memo {
    uint8_t tries;              /* results that may still be recorded; in a loop each one differs */
    uint8_t class, compare;     /* step class; affine_compare of a predicate */
    uint32_t from[MAX_SOURCES]; /* tags of the sources; 0: a constant */
    uint32_t tag;               /* of the result; 0: none recorded */
    struct affine_tuple value;  /* a predicate has its value, 0 or 1, in `base` */
};

/* A decoded instruction of the affine stream. */
struct affine_op {
    struct inst in; /* without its guard */
    uint16_t guard; /* NO_REG: none */
    bool guard_not;
    bool plain;       /* a computation or load without guard, which statistics count */
    bool linear;      /* the rule computes the base, too; else the row's executor does */
    uint8_t relation; /* comparison of two integers, not combined with a predicate: CMP_EQ to CMP_HS; else CMP_NONE */
    bool ends;        /* the relation is an order: the ends of a row may decide */
    uint8_t rule;     /* enum affine_rule */
    uint8_t n_sources, n_dests;
    bool is_signed;                           /* source a has a signed type */
    uint8_t from_bits;                        /* bits of source a's type */
    struct affine_source source[MAX_SOURCES]; /* a b c e */
    struct affine_dest dest[MAX_DESTS];
};

/* A register of the stream. bits 0: a predicate. */
struct affine_place {
    uint32_t offset;
    uint8_t bits;
};

/* The decoded affine stream of a program. It is created with the program, and shared by all engines. */
struct affine_stream {
    uint32_t begin, end; /* PCs; end is exclusive */
    struct affine_op *ops;
    uint16_t *reg_at; /* register number by offset / 4 */
    struct affine_place *regs;
    uint32_t n_regs, reg_words;
    uint64_t *live_regs; /* by instruction: registers live before it, one bit each; reg_words words */
};

/* The threads that execute an instruction. */
struct affine_group {
    const lanemask_t *lanes; /* by warp of the batch */
    uint32_t some, whole;    /* CTAs, one bit each: with any of the threads; with all threads that have not exited */
};

struct stack_entry {
    uint32_t pc, rpc;
    lanemask_t *lanes; /* by warp of the batch */
};

/* The result for one combination of the sources' variants. */
enum { MAX_PIECES = 16 };
struct affine_piece {
    struct affine_tuple t;
    lanemask_t lanes[MAX_CTA_WARPS];
};

struct affine_engine {
    const struct launch *launch;
    const struct program *program;
    struct affine_shape shape;
    uint32_t first, max_ctas, n_ctas, n_warps; /* n_ctas, n_warps: of the current batch */
    struct affine_stream stream;               /* the program's, or the engine's own if owns_stream */
    bool owns_stream;
    struct affine_memo *memos; /* by instruction of the stream */
    struct affine_reg *regs;
    struct affine_cell *cells; /* n_cells cells of all registers */
    size_t n_cells;
    lanemask_t *preds; /* masks of all predicates */
    uint8_t *compares; /* likewise */
    /* The executing warp: a CTA in each lane, or one warp of a CTA. */
    struct cta cta;
    struct warp warp;
    unsigned char *bank;
    struct effects fx;
    struct affine_piece *pieces;
    /* Control. */
    struct stack_entry *stack;
    uint32_t depth, cap_depth;
    lanemask_t *live, *rest, *taken; /* by warp of the batch */
    lanemask_t *no_lanes;            /* all 0 */
    struct affine_group top;         /* group of the stack's top entry, if top_known */
    bool top_known;
    struct affine_entry *entries;
    struct supply *to; /* see engine_send_to() */
    uint32_t to_first; /* first warp of the CTA that `to` belongs to */
    bool has_exact;    /* an entry has `exact` addresses to free */
    /* Barriers passed: by warp of the batch; in addition by thread, where lanes of a warp differ. */
    uint32_t *markers, *thread_markers;
    bool has_thread_markers;
    uint32_t sent; /* predicates sent */
    uint32_t tags; /* last tag assigned */
    bool out_of_memory;
};

/* stream_liveness.c: computes live_regs of a decoded stream; it must be zero. False: out of memory. */
bool affine_find_liveness(struct affine_stream *s);
/* Returns true if the results of `op`, the next instruction, are dead in all threads that wait lower on the stack. */
bool engine_is_dead_elsewhere(const struct affine_engine *e, const struct affine_op *op);
static inline struct affine_memo *engine_memo(const struct affine_engine *e, const struct affine_op *op) {
    return &e->memos[op - e->stream.ops];
}
/* memo.c: if an earlier execution recorded the operation's result for the same sources, writes it for these threads,
 * and fills `step`. False: it must be computed. */
bool engine_recall(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                   struct affine_step *step);
/* Records the computed result if it is equal in all CTAs of the launch. */
void engine_remember(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                     const struct affine_step *step);
/* send.c: executes an enq for these threads. Fills step->entries, or the queues of engine_send_to(); these add
 * predicates to `compared`, by enum affine_compare. Requires step->pc. False: e->out_of_memory. */
bool engine_send(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                 uint32_t compared[N_COMPARES], struct affine_step *step);
/* compute.c: executes a computation or load for these threads. False: e->fx.fault or e->out_of_memory; step->fault_cta
 * and fault_lane are set. */
bool engine_compute(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                    struct affine_step *step);
#endif
