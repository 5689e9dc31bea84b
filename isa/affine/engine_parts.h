#ifndef ISA_AFFINE_ENGINE_PARTS_H
#define ISA_AFFINE_ENGINE_PARTS_H
/* Shared by the files of the affine engine: engine.c (control flow), send.c (queue entries), operation.c (decoding),
 * stream_liveness.c (live registers), memo.c (results that all batches share), compute*.c (values; see
 * compute_parts.h). */
#include "engine.h"
#include "isa/exec/exec.h"
#include "rule.h"
#include "stream.h"

/* How the values of a register differ between the CTAs of a batch: they are equal, linear in the CTA index, or
 * arbitrary. */
enum by_cta { CTA_SAME, CTA_LINEAR, CTA_EACH };

struct affine_reg {
    uint32_t offset;           /* in bank 0 */
    uint8_t bits;              /* 0: a predicate */
    uint8_t by_cta;            /* enum by_cta */
    uint32_t sent;             /* for a predicate: number of the enq that sent this value; 0 if it was not sent */
    struct affine_cell *cells; /* CTA of the batch -> value of the register; NULL for predicates */
    rowmask_t *pred;           /* warp of the batch -> lanes in which the predicate is true */
    uint8_t *compare;          /* warp of the batch -> enum affine_compare of its predicate */
    uint32_t uniform;          /* for a predicate: bit c is set if all threads of CTA c have the same value */
    uint32_t tag;              /* tag of a value that all CTAs of the launch share; 0 if there is none */
};

enum { NO_REG = UINT16_MAX, MAX_SOURCES = 4, MAX_DESTS = 8 };
/* Tags of results start at 1, and tags of special registers start at TAG_SPECIAL (see memo.c). MEMO_TRIES is the
 * maximum number of times that a result is recorded for an operation. */
enum { TAG_SPECIAL = 1 << 30, MEMO_TRIES = 3 };

struct affine_source {
    uint16_t reg; /* NO_REG for a constant */
    uint8_t bits; /* 0: a predicate */
    opnd_t at;
    struct affine_tuple constant;
};

struct affine_dest {
    uint16_t reg;
    uint8_t bits;
    opnd_t at;
};

/* The last result of an operation with sources that are equal in all CTAs: parameters, sizes, thread indices, and
 * values computed from them. Most such operations are computed once in a launch. */
struct affine_memo {
    /* number of results that may still be recorded. It is limited, because an operation in a loop may have another
     * result in each iteration. */
    uint8_t tries;
    uint8_t class, compare;     /* class of the step; enum affine_compare of a predicate */
    uint32_t from[MAX_SOURCES]; /* tags of the sources; 0 for a constant */
    uint32_t tag;               /* tag of the result; 0 if none is recorded */
    struct affine_tuple value;  /* the result; for a predicate, `base` is 0 or 1 */
};

/* A decoded instruction of the affine stream. */
struct affine_op {
    struct inst in; /* without its guard */
    uint16_t guard; /* register of the guard; NO_REG if there is none */
    bool guard_not;
    bool plain;  /* true for a computation or a load that has no guard and that statistics count */
    bool linear; /* true if the rule also computes the base; else the executor of the instruction computes the base */
    uint8_t relation; /* comparison of two integers: CMP_EQ to CMP_HS; else CMP_NONE */
    bool combined;    /* the result of `relation` is combined with predicate c */
    uint8_t rule;     /* enum affine_rule */
    uint8_t n_sources, n_dests;
    bool is_signed;                           /* true if source a has a signed type */
    uint8_t from_bits;                        /* number of bits of source a's type */
    struct affine_source source[MAX_SOURCES]; /* a b c e */
    struct affine_dest dest[MAX_DESTS];
};

/* A register of the stream: its offset in bank 0, and its bits (0: a predicate). */
struct affine_place {
    uint32_t offset;
    uint8_t bits;
};

/* The decoded affine stream of a program. It is created with the program, and shared by all engines. */
struct affine_stream {
    uint32_t begin, end; /* PCs; end is exclusive */
    struct affine_op *ops;
    uint16_t *reg_at; /* offset in bank 0, divided by 4 -> register number */
    struct affine_place *regs;
    uint32_t n_regs, reg_words;
    /* for each instruction, the registers live before it: reg_words words with one bit per register */
    uint64_t *live_regs;
};

/* The threads that execute an instruction. */
struct affine_group {
    const rowmask_t *lanes; /* warp of the batch -> its lanes in the group */
    /* some: set of the CTAs with at least one thread in the group; whole: set of the CTAs with all their live threads
     * in the group (one bit per CTA) */
    uint32_t some, whole;
};

struct stack_entry {
    uint32_t pc, rpc;
    rowmask_t *lanes; /* warp of the batch -> its lanes on this path */
};

enum { MAX_PIECES = 16 };
/* The result for one combination of the sources' variants, and the lanes that have this combination. */
struct affine_piece {
    struct affine_tuple t;
    rowmask_t lanes[MAX_CTA_WARPS];
};

struct affine_engine {
    const struct launch *launch;
    const struct program *program;
    struct affine_shape shape;
    uint32_t first, max_ctas, n_ctas, n_warps; /* n_ctas and n_warps describe the current batch */
    struct affine_stream stream;               /* stream of the program, or a stream of the engine if owns_stream */
    bool owns_stream;
    struct affine_memo *memos; /* instruction of the stream -> its recorded result */
    struct affine_reg *regs;
    struct affine_cell *cells; /* the cells of all registers; their number is n_cells */
    size_t n_cells;
    rowmask_t *preds;  /* memory for affine_reg.pred of all predicates */
    uint8_t *compares; /* memory for affine_reg.compare of all predicates */
    /* The warp that executes operations. Its lanes stand for different CTAs, or for the threads of one warp of a
     * CTA. */
    struct cta cta;
    struct warp warp;
    unsigned char *bank;
    struct effects fx;
    struct affine_piece *pieces;
    uint32_t selects; /* number of warps whose lanes the current operation compares (compute_select()) */
    /* Control. */
    struct stack_entry *stack;
    uint32_t depth, cap_depth;
    rowmask_t *live, *rest, *taken; /* each: warp of the batch -> a set of its lanes */
    rowmask_t *no_lanes;            /* all 0 */
    struct affine_group top;        /* group of the stack's top entry, if top_known */
    bool top_known;
    struct affine_entry *entries;
    struct supply *to; /* see engine_send_to() */
    uint32_t to_first; /* first warp of the CTA that `to` belongs to */
    bool has_exact;    /* true if an entry has `exact` addresses to free */
    /* Counts of barrier markers. markers: warp of the batch -> number of markers that all its lanes passed together.
     * thread_markers: thread -> number of markers that it passed when other lanes of its warp did not */
    uint32_t *markers, *thread_markers;
    bool has_thread_markers;
    uint32_t sent; /* predicates sent */
    uint32_t tags; /* last tag assigned */
    bool out_of_memory;
};

/* stream_liveness.c: computes live_regs of a decoded stream. live_regs must be zero before the call. Returns false when
 * memory runs out. */
bool affine_find_liveness(struct affine_stream *s);
/* Returns true if the results of `op`, the next instruction, are dead in all threads that wait lower on the stack. */
bool engine_is_dead_elsewhere(const struct affine_engine *e, const struct affine_op *op);
static inline struct affine_memo *engine_memo(const struct affine_engine *e, const struct affine_op *op) {
    return &e->memos[op - e->stream.ops];
}
/* memo.c: if an earlier execution recorded the operation's result for the same sources, writes this result for the
 * threads of group `g`, and fills `step`. Returns false if the result must be computed. */
bool engine_recall(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                   struct affine_step *step);
/* Records the result that was just computed if it is equal in all CTAs of the launch. */
void engine_remember(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                     const struct affine_step *step);
/* send.c: executes an enq for the threads of a group. Fills step->entries, or the queues of engine_send_to(); in the
 * second case, counts predicates in `compared`, by enum affine_compare. Requires step->pc. Returns false and sets
 * e->out_of_memory when memory runs out. */
bool engine_send(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                 uint32_t compared[N_COMPARES], struct affine_step *step);
/* compute.c: executes a computation or load for the threads of group `g`. Returns false after a fault (e->fx.fault,
 * with step->fault_cta and fault_lane) or with e->out_of_memory. */
bool engine_compute(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                    struct affine_step *step);
#endif
