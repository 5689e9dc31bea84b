#ifndef MECHANISMS_PIPELINE_H
#define MECHANISMS_PIPELINE_H
/* Software pipelining of loops of one block, in three parts: dependences (pipeline_graph.c), the schedule
 * (pipeline_schedule.c), and the code (pipeline_emit.c); pipeline.c is the pass. Internal to frontend/. The terms are
 * from B. R. Rau, "Iterative modulo scheduling: an algorithm for software pipelining loops", MICRO 1994: an iteration
 * of the loop begins every II cycles (the initiation interval). An iteration is divided into stages of II cycles, and
 * the kernel executes one stage each of as many iterations.
 *
 * One instruction issues a cycle. The branch is the last instruction of its iteration's first stage. So no instruction
 * executes that the loop would not have executed: nothing is speculative. Each lane leaves the loop on its own, so
 * lanes may have different iteration counts. */
#include "frontend/analysis/defuse.h"
#include "frontend/passes/edit.h"

enum {
    PIPE_MOST_OPS = 128,  /* instructions of a loop */
    PIPE_MOST_ROUNDS = 4, /* most iterations that the kernel is unrolled to, for registers that live longer than II */
    PIPE_MOST_STAGES = 8,
};
#define NO_VALUE UINT32_MAX

/* A value: the result of an instruction in each iteration, which others read in this iteration or the next. It lasts
 * from a write by all lanes to the next such write, and includes the guarded writes in between. */
struct pipe_value {
    uint32_t vreg;
    uint32_t op;                    /* instruction that begins it */
    uint32_t words;                 /* 32-bit registers */
    bool last;                      /* it is the content of its register when the iteration ends */
    bool live_out;                  /* it is read after the loop, too */
    bool is_guarded;                /* it includes guarded writes */
    uint32_t copies;                /* registers that iterations use in turn; set by the schedule */
    uint32_t reg[PIPE_MOST_ROUNDS]; /* these registers: iteration i has reg[i % copies] */
};

/* An instruction's access to a value. Registers without values are the same in all iterations. */
struct pipe_ref {
    uint32_t op, vreg, value;
    uint32_t distance; /* 1: the value of the previous iteration */
    bool write;
};

/* `to` of iteration i + distance begins at least `latency` cycles after `from` of iteration i. */
struct pipe_edge {
    uint32_t from, to, distance;
    unsigned latency;
    bool of_load; /* the latency is the one assumed for loads */
};

struct pipe_graph {
    struct ir *ir;
    const struct defuse *defuse;
    uint32_t block, first, n; /* instructions [first, first + n); the last one is the branch */
    struct pipe_value *values;
    uint32_t n_values, cap_values;
    struct pipe_ref *refs; /* indexed by instruction, in program order */
    uint32_t n_refs, cap_refs;
    struct pipe_edge *edges;
    uint32_t n_edges, cap_edges;
};

/* Returns why the loop of this block cannot be pipelined; NULL: it can. `*inst`: the instruction that prevents it. */
const char *pipe_refuse(const struct ir *ir, uint32_t block, uint32_t *inst);
/* Returns the dependence graph. Requires that pipe_refuse() returned NULL. */
struct pipe_graph pipe_graph_of(struct ir *ir, const struct defuse *d, uint32_t block);
/* Returns the value that instruction `op` reads or writes in register `vreg`; NULL: none. */
const struct pipe_ref *pipe_ref_of(const struct pipe_graph *g, uint32_t op, uint32_t vreg, bool write);
/* Returns the row of the instruction that copies a register of this class, or NULL if none does: such a register keeps
 * its name in all iterations. */
const struct isa_row *pipe_move_row(enum reg_class cls);

struct pipe_wish {
    unsigned load;      /* assumed cycles of a load */
    unsigned stages;    /* most stages */
    uint32_t registers; /* most 32-bit registers beyond the unpipelined loop */
};

struct pipe_schedule {
    uint32_t ii, stages, rounds; /* rounds: iterations that the kernel is unrolled to */
    uint32_t res_mii, rec_mii;   /* lower bounds of II: by issue slots, by recurrences */
    uint32_t load;               /* cycles assumed for a load */
    uint32_t *time;              /* cycle of each instruction */
    uint32_t *copies;            /* registers of each value */
    int32_t words;               /* 32-bit registers beyond the unpipelined loop */
    double cycles, plain; /* cycles of an iteration, issued in order: of the kernel, and of the unpipelined loop */
};

/* Finds the best schedule within the limits and sets g->values[].copies. Returns NULL, or why there is none; `s` then
 * has the bounds found so far. */
const char *pipe_schedule(struct pipe_graph *g, const struct pipe_wish *wish, struct pipe_schedule *s);

/* Replaces the loop by its pipelined form. */
void pipe_emit(struct edit *e, struct pipe_graph *g, const struct pipe_schedule *s);
#endif
