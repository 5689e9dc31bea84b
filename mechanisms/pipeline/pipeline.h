#ifndef MECHANISMS_PIPELINE_H
#define MECHANISMS_PIPELINE_H
/* Software pipelining of loops of one block, in three parts: what depends on what (pipeline_graph.c), when each
 * instruction begins (pipeline_schedule.c), and the code (pipeline_emit.c); pipeline.c is the pass. Internal to
 * frontend/. The terms are those of B. R. Rau, "Iterative modulo scheduling: an algorithm for software pipelining
 * loops", MICRO 1994: an iteration of the loop begins every II cycles (the initiation interval); an iteration is cut
 * into stages of II cycles, and the kernel does one stage each of as many iterations.
 *
 * One instruction issues a cycle. The branch is the last of its iteration's first stage, so that no instruction is
 * executed that the loop would not have executed: nothing is speculative. Each lane takes its own way out, so lanes may
 * differ in how often they go round. */
#include "frontend/analysis/defuse.h"
#include "frontend/passes/edit.h"

enum {
    PIPE_MOST_OPS = 128,  /* instructions of a loop */
    PIPE_MOST_ROUNDS = 4, /* iterations that the kernel is unrolled to, for registers that live longer than II */
    PIPE_MOST_STAGES = 8,
};
#define NO_VALUE UINT32_MAX

/* A value: what an instruction writes in each iteration and others read, in this iteration or the next. It lasts from a
 * write by all lanes to the next such write, with the guarded writes in between. */
struct pipe_value {
    uint32_t vreg;
    uint32_t op;                    /* that begins it */
    uint32_t words;                 /* 32-bit registers */
    bool last;                      /* what the register holds when the iteration ends */
    bool live_out;                  /* the value is read behind the loop, too */
    bool is_guarded;                /* guarded writes belong to it */
    uint32_t copies;                /* registers that iterations use in turn; set by the schedule */
    uint32_t reg[PIPE_MOST_ROUNDS]; /* those: iteration i has reg[i % copies] */
};

/* An instruction's access to a value. Other registers are the same in all iterations. */
struct pipe_ref {
    uint32_t op, vreg, value;
    uint32_t distance; /* 1: the value is that of the iteration before */
    bool write;
};

/* `to` of iteration i + distance begins at least `latency` cycles after `from` of iteration i. */
struct pipe_edge {
    uint32_t from, to, distance;
    unsigned latency;
    bool of_load; /* the latency is that of a load: what is assumed of memory */
};

struct pipe_graph {
    struct ir *ir;
    const struct defuse *defuse;
    uint32_t block, first, n; /* instructions first ... first + n; the last is the branch */
    struct pipe_value *values;
    uint32_t n_values, cap_values;
    struct pipe_ref *refs; /* by instruction, in program order */
    uint32_t n_refs, cap_refs;
    struct pipe_edge *edges;
    uint32_t n_edges, cap_edges;
};

/* Why the loop of this block must be left alone; NULL: it need not. `*inst`: the instruction at fault. */
const char *pipe_refuse(const struct ir *ir, uint32_t block, uint32_t *inst);
/* Requires: pipe_refuse() is NULL. */
struct pipe_graph pipe_graph_of(struct ir *ir, const struct defuse *d, uint32_t block);
/* The value that instruction `op` reads or writes in register `vreg`; NULL: the register holds none. */
const struct pipe_ref *pipe_ref_of(const struct pipe_graph *g, uint32_t op, uint32_t vreg, bool write);
/* Returns the row of the instruction that copies a register of this class, or NULL if none does: such a register keeps
 * its name in all iterations. */
const struct isa_row *pipe_move_row(enum reg_class cls);

struct pipe_wish {
    unsigned load;      /* cycles that a load takes, as assumed */
    unsigned stages;    /* most */
    uint32_t registers; /* most words beyond those of the plain loop */
};

struct pipe_schedule {
    uint32_t ii, stages, rounds; /* rounds: iterations that the kernel is unrolled to */
    uint32_t res_mii, rec_mii;   /* lower bounds of II: by issue slots, by recurrences */
    uint32_t load;               /* cycles that loads were counted as */
    uint32_t *time;              /* of each instruction */
    uint32_t *copies;            /* of each value */
    int32_t words;               /* registers beyond those of the plain loop */
    double cycles, plain;        /* of an iteration, in order: of the kernel and of the plain loop */
};

/* Finds the best schedule within the limits and writes g->values[].copies. NULL, or why there is none; `s` then has the
 * bounds found so far. */
const char *pipe_schedule(struct pipe_graph *g, const struct pipe_wish *wish, struct pipe_schedule *s);

/* Replaces the loop by its pipelined form. */
void pipe_emit(struct edit *e, struct pipe_graph *g, const struct pipe_schedule *s);
#endif
