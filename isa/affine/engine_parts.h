#ifndef ISA_AFFINE_ENGINE_PARTS_H
#define ISA_AFFINE_ENGINE_PARTS_H
/* What the files of the affine engine share: engine.c (control flow), send.c (sending), operation.c (the stream
 * decoded), lives.c (what is read again), memo.c (results that all batches share), compute*.c (values; they share
 * compute_parts.h). */
#include "engine.h"
#include "isa/exec/exec.h"
#include "rule.h"
#include "stream.h"

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
    uint32_t tag;              /* of its value, when all CTAs of all batches of the launch have that; 0: they may not */
};

enum { NO_REG = UINT16_MAX, MAX_SOURCES = 4, MAX_DESTS = 8 };
/* Tags: 1 and up are results', TAG_SPECIAL and up special registers'; results noted of one operation at most. */
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

/* The last result of an operation whose sources were the same in all CTAs: parameters, sizes, places of threads and
 * what is computed of these. Most of such operations compute once a launch. */
struct affine_memo {
    uint8_t tries;              /* results that may yet be noted: one in a loop is another one each time */
    uint8_t class, compare;     /* of the step; of a predicate */
    uint32_t from[MAX_SOURCES]; /* tags of the sources; 0: a constant */
    uint32_t tag;               /* of the result; 0: there is none */
    struct affine_tuple value;  /* a predicate's: base, 0 or 1 */
};

/* An instruction of the stream. */
struct affine_op {
    struct inst in; /* without its guard */
    uint16_t guard; /* NO_REG: none */
    bool guard_not;
    bool plain;       /* it computes or loads, without a guard, and is counted */
    bool linear;      /* the rule says the base, too; else the row's executor does */
    uint8_t relation; /* of two integers and nothing else: CMP_EQ to CMP_HS; CMP_NONE */
    bool ends;        /* that is < <= > >=: both ends of a row may decide */
    uint8_t rule;     /* enum affine_rule */
    uint8_t n_sources, n_dests;
    bool is_signed;    /* the type of source a */
    uint8_t from_bits; /* of the type that RULE_WIDEN, RULE_MUL_WIDE and RULE_MAD_WIDE begin with */
    struct affine_source source[MAX_SOURCES]; /* at its place: a b c e */
    struct affine_dest dest[MAX_DESTS];
};

/* A register of the stream: where it is in bank 0, and of how many bits; 0: a predicate. */
struct affine_place {
    uint32_t offset;
    uint8_t bits;
};

/* The affine stream of a program, decoded: made once with the program, and read by all engines. */
struct affine_stream {
    uint32_t begin, end; /* its instructions */
    struct affine_op *ops;
    uint16_t *reg_at; /* by offset / 4 */
    struct affine_place *regs;
    uint32_t n_regs, reg_words;
    uint64_t *live_regs; /* by instruction of the stream: what is read there or behind, by bit; reg_words each */
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
    struct affine_stream stream;               /* the program's, or its own: owns_stream */
    bool owns_stream;
    struct affine_memo *memos; /* by instruction of the stream */
    struct affine_reg *regs;
    struct affine_cell *cells; /* of all registers, n_cells */
    size_t n_cells;
    lanemask_t *preds; /* of all predicates */
    uint8_t *compares; /* likewise */
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
    struct supply *to; /* engine_send_to() */
    uint32_t to_first; /* the first warp of the CTA that it is for */
    bool has_exact;    /* one of them has memory of its own */
    /* barriers that have been passed: by warp of the batch, and what single threads have passed beside */
    uint32_t *markers, *thread_markers;
    bool has_thread_markers;
    uint32_t sent; /* predicates */
    uint32_t tags; /* given to values so far */
    bool out_of_memory;
};

/* lives.c: finds out what is read where, of a stream that is decoded; live_regs is zero. False: memory is out. */
bool affine_find_lives(struct affine_stream *s);
/* Is what `op`, the next instruction, writes read by none of the threads that wait elsewhere (on the stack, below its
 * last entry) before they write it themselves? */
bool engine_owns_results(const struct affine_engine *e, const struct affine_op *op);
static inline struct affine_memo *engine_memo(const struct affine_engine *e, const struct affine_op *op) {
    return &e->memos[op - e->stream.ops];
}
/* memo.c: the operation's result is known from an earlier batch, or an earlier time in this one: it is written for
 * these threads, and the step says what it said then. False: it is to be computed. */
bool engine_recall(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                   struct affine_step *step);
/* It has been computed for these threads: its result is remembered, if the next batch will have the same. */
void engine_remember(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                     const struct affine_step *step);
/* send.c: an enq, for these threads: step->entries, or the queues of engine_send_to(), whose predicates are added to
 * `compared` by how they came about. Requires step->pc. False: e->out_of_memory. */
bool engine_send(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                 uint32_t compared[N_COMPARES], struct affine_step *step);
/* compute.c: executes an operation that computes or loads, for these threads. False: e->fx.fault, or
 * e->out_of_memory; step->fault_cta and fault_lane are filled. */
bool engine_compute(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                    struct affine_step *step);
#endif
